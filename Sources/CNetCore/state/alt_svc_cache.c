#include "state/alt_svc_cache.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fnv.h"
#include "http/alt_svc.h"
#include "request/response.h"
#include "state/easy_handle_record.h"
#include "state/engine_record.h"
#include "state/quic.h"
#include "state/state_file_writer.h"
#include "state/transfer_state.h"
#include "trust/policy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/// RFC 9110, 15.5.20: the server is not authoritative for the origin.
enum { MISDIRECTED_REQUEST = 421 };

struct nc_alt_svc_route {
    nc_alternative to;
    struct curl_slist connect_to;
    struct curl_slist used;
    char connect_to_text[NC_ALT_SVC_HOST_BYTES + 8];
    char used_text[NC_ALT_SVC_HOST_BYTES + 24];
};

/* --- the file --- */

static void write_file(nc_buf *out, const nc_engine *engine) {
    nc_alt_svc_write(&engine->alternatives.list, out, nc_engine_now_s(engine));
}

static nc_status read_file(nc_engine *engine, nc_slice text, size_t *line) {
    return nc_alt_svc_read(&engine->alternatives.list, text, nc_engine_now_s(engine), line);
}

nc_status nc_alt_svc_cache_read(nc_engine *engine, nc_error *err) {
    static const nc_state_file_kind kind = {"Alt-Svc file", "alternative", read_file, write_file};
    const char *path = engine->state.uses_alt_svc ? engine->state.alt_svc_file : NULL;
    return nc_state_file_writer_load(&engine->alternatives.file, engine, path, &kind, err);
}

void nc_alt_svc_cache_deinit(nc_alt_svc_cache *alternatives) {
    nc_alt_svc_deinit(&alternatives->list);
    nc_alt_svc_deinit(&alternatives->races);
    nc_state_file_writer_deinit(&alternatives->file);
}

/* --- learning --- */

bool nc_alt_svc_cache_find_origin(nc_alt_svc_endpoint *out, const nc_transfer *transfer) {
    const nc_url *url = &transfer->target.url;
    return url->status == NC_OK && url->origin.is_secure &&
           nc_alt_svc_endpoint_make(out, url->origin.host.text, url->origin.port);
}

bool nc_alt_svc_cache_join_fields(nc_buf *out, const nc_response *response) {
    bool has_any = false;
    for (size_t i = 0; i < nc_response_header_count(response); i++) {
        nc_header header = nc_response_header_at(response, i);
        if (nc_slice_is_equal_ignoring_case(header.name, nc_slice_of("Alt-Svc"))) {
            nc_buf_append(out, nc_slice_of(has_any ? "," : ""));
            nc_buf_append(out, header.value);
            has_any = true;
        }
    }
    return has_any && nc_buf_status(out) == NC_OK;
}

void nc_alt_svc_cache_learn(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    nc_alt_svc_cache *known = &engine->alternatives;
    nc_alt_svc_endpoint origin;
    if (!engine->state.uses_alt_svc) {
        return;
    }
    if (nc_response_status(transfer->response) ==
        MISDIRECTED_REQUEST) { // The Alt-Svc fields are not authoritative either.
        if (transfer->alt_route != NULL) {
            nc_alt_svc_avoid(&known->list, &transfer->alt_route->to, nc_engine_now_s(engine));
        }
        return;
    }
    // RFC 7838, 2.1: fields from a server that was not authenticated are ignored.
    if (nc_trust_skips_authentication(transfer->trust)) {
        return;
    }
    nc_buf field = nc_buf_init(NC_ALT_SVC_MAX_FIELD_BYTES);
    if (nc_alt_svc_cache_join_fields(&field, transfer->response) && nc_alt_svc_cache_find_origin(&origin, transfer) &&
        nc_alt_svc_record(&known->list, &origin, nc_buf_slice(&field), nc_engine_now_s(engine))) {
        nc_state_file_writer_mark_changed(&known->file);
    }
    nc_buf_deinit(&field);
}

/* --- choosing a route --- */

/// Returns the protocols that the hop may use.
static uint8_t protocols_of(const nc_transfer *transfer) {
    bool has_http2 = transfer->engine->capabilities.has_http2;
    uint8_t any = (uint8_t)(NC_ALT_HTTP_1_1 | (has_http2 ? NC_ALT_HTTP_2 : 0) |
                            (nc_quic_is_possible(transfer) ? NC_ALT_HTTP_3 : 0));
    switch (transfer->request.http) {
    case NC_HTTP_AUTO:
        return any;
    case NC_HTTP_1_1:
        return NC_ALT_HTTP_1_1;
    case NC_HTTP_2_PRIOR_KNOWLEDGE:
        return NC_ALT_HTTP_2;
    case NC_HTTP_3_ONLY:
        return any & NC_ALT_HTTP_3;
    case NC_HTTP_3_IF_POSSIBLE:
        return (any & NC_ALT_HTTP_3) != 0 ? NC_ALT_HTTP_3 : any;
    default:
        return 0;
    }
}

/// Returns true if the hop may use an alternative. An explicit destination takes precedence, and with a proxy, the
/// proxy connects to the server.
static bool may_use_alternative(const nc_transfer *transfer) {
    return transfer->engine->state.uses_alt_svc && transfer->engine->alternatives.list.count > 0 &&
           !transfer->target.has_abandoned_route && transfer->request.connect_to == NULL &&
           nc_transfer_unix_socket(transfer) == NULL && nc_transfer_proxy(transfer)->choice == NC_PROXY_NONE;
}

static bool has_alt_used_field(const nc_request_copy *request) {
    for (size_t i = 0; i < request->header_count; i++) {
        static const char name[] = "alt-used";
        const char *text = request->headers[i].node.data;
        size_t length = strcspn(text, ":;");
        if (nc_slice_is_equal_ignoring_case(nc_slice_make(text, length), nc_slice_of(name))) {
            return true;
        }
    }
    return false;
}

static nc_alt_svc_route *make_route(const nc_alternative *to, bool sends_alt_used) {
    nc_alt_svc_route *alt_route = nc_alloc_zeroed(1, sizeof *alt_route);
    if (alt_route == NULL) {
        return NULL;
    }
    alt_route->to = *to;
    // The entry matches every origin. The handle requests only one, and libcurl may spell its host differently.
    (void)snprintf(alt_route->connect_to_text, sizeof alt_route->connect_to_text, "::%s:%u", to->endpoint.host,
                   (unsigned)to->endpoint.port);
    (void)snprintf(alt_route->used_text, sizeof alt_route->used_text, "Alt-Used: %s:%u", to->endpoint.host,
                   (unsigned)to->endpoint.port);
    alt_route->connect_to.data = alt_route->connect_to_text;
    alt_route->used.data = sends_alt_used ? alt_route->used_text : NULL;
    return alt_route;
}

nc_status nc_alt_svc_cache_choose(nc_transfer *transfer) {
    nc_alt_svc_endpoint origin;
    if (!may_use_alternative(transfer) || !nc_alt_svc_cache_find_origin(&origin, transfer)) {
        return NC_OK;
    }
    const nc_alternative *one = nc_alt_svc_find(&transfer->engine->alternatives.list, &origin, protocols_of(transfer),
                                                nc_engine_now_s(transfer->engine));
    // On the origin's own port QUIC races with TCP.
    if (one == NULL || (transfer->request.http == NC_HTTP_3_IF_POSSIBLE && nc_alt_svc_is_at_origin(one))) {
        return NC_OK;
    }
    transfer->alt_route = make_route(one, !has_alt_used_field(&transfer->request));
    return transfer->alt_route != NULL ? NC_OK : NC_ERR_NO_MEMORY;
}

/// Returns true if no socket could be opened, which proves nothing about the alternative.
static bool is_out_of_resources(const nc_transfer *transfer) {
    return transfer->hop.socket_error == EMFILE || transfer->hop.socket_error == ENFILE ||
           transfer->hop.socket_error == ENOMEM || transfer->hop.socket_error == ENOBUFS;
}

bool nc_alt_svc_cache_abandon(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    // If libcurl has resent the request by itself, part of a response may have been delivered already.
    bool is_answered = transfer->hop.has_head && !transfer->hop.is_head_held;
    if (transfer->alt_route == NULL || transfer->hop.was_connected || is_answered ||
        transfer->error.status == NC_ERR_NO_MEMORY || !nc_transfer_can_send_body_again(transfer)) {
        return false;
    }
    if (!is_out_of_resources(transfer)) {
        nc_alt_svc_avoid(&engine->alternatives.list, &transfer->alt_route->to, nc_engine_now_s(engine));
    }
    transfer->target.has_abandoned_route = true;
    transfer->target.lost_ns = engine->loop.now_ns - transfer->phase_began_ns;
    transfer->hop.outcome = NC_HOP_RETRIES;
    (void)nc_error_clear(&transfer->error); // The error is about the alternative, and the origin was not tried.
    nc_response_repeat_hop(transfer->response);
    return true;
}

/* --- options for libcurl --- */

struct curl_slist *nc_alt_svc_route_connect_to(nc_alt_svc_route *alt_route) {
    return &alt_route->connect_to;
}

struct curl_slist *nc_alt_svc_route_link_headers(nc_alt_svc_route *alt_route, struct curl_slist *headers) {
    alt_route->used.next = headers;
    return alt_route->used.data != NULL ? &alt_route->used : headers;
}

uint64_t nc_alt_svc_route_key(const nc_alt_svc_route *alt_route) {
    uint64_t sum = nc_fnv_add(NC_FNV_START ^ alt_route->to.endpoint.port, nc_slice_of(alt_route->to.endpoint.host));
    return sum != 0 ? sum : 1;
}

bool nc_alt_svc_route_is_http3(const nc_alt_svc_route *alt_route) {
    return alt_route->to.protocol == NC_ALT_HTTP_3;
}

void nc_alt_svc_route_free(nc_alt_svc_route *alt_route) {
    nc_free(alt_route);
}
