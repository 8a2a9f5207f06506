#include "net/alternatives.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fnv.h"
#include "http/origin.h"
#include "net/engine_state.h"
#include "net/handle.h"
#include "net/response.h"
#include "net/upload.h"
#include "net/url_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/// Limit of a head's joined fields.
enum { MAX_FIELD_BYTES = 64 * 1024 };
/// RFC 9110, 15.5.20: this server is not authoritative for the origin.
enum { MISDIRECTED_REQUEST = 421 };

struct nc_detour {
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

nc_status nc_alternatives_read(nc_engine *engine, nc_error *err) {
    nc_saved_file *file = &engine->alternatives.file;
    nc_saved_file_init(file, engine, engine->state.uses_alt_svc ? engine->state.alt_svc_file : NULL, write_file);
    return nc_saved_file_take_in(file, read_file, "Alt-Svc file", "alternative", err);
}

void nc_alternatives_deinit(nc_alternatives *alternatives) {
    nc_alt_svc_deinit(&alternatives->list);
    nc_saved_file_deinit(&alternatives->file);
}

/* --- learning --- */

/// Finds the origin of the hop's URL. Returns false for http, and for an invalid host.
static bool find_origin(nc_alt_place *out, const nc_transfer *transfer) {
    nc_slice url = nc_transfer_url(transfer);
    bool is_secure = false;
    if (!nc_url_has_web_scheme(url, &is_secure) || !is_secure) {
        return false;
    }
    nc_origin origin;
    char bracketed[NC_ALT_SVC_HOST_BYTES];
    if (nc_origin_read(&origin, url, NULL) != NC_OK) {
        return false;
    }
    nc_slice host = origin.host.text;
    if (origin.host.kind == NC_HOST_IPV6) {
        int length = snprintf(bracketed, sizeof bracketed, "[%.*s]", (int)host.length, (const char *)host.data);
        host = nc_slice_make(bracketed, (size_t)length);
    }
    return nc_alt_place_make(out, host, origin.port);
}

/// Joins the head's Alt-Svc fields. Returns true if there are any.
static bool join_fields(nc_buf *out, const nc_response *response) {
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

void nc_alternatives_learn(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    nc_alternatives *known = &engine->alternatives;
    nc_alt_place origin;
    if (!engine->state.uses_alt_svc) {
        return;
    }
    if (nc_response_status(transfer->response) ==
        MISDIRECTED_REQUEST) { // Then its Alt-Svc fields are not authoritative either.
        if (transfer->detour != NULL) {
            nc_alt_svc_avoid(&known->list, &transfer->detour->to, nc_engine_now_s(engine));
        }
        return;
    }
    // RFC 7838, 2.1: never over a connection whose server was not authenticated.
    if (nc_trust_believes_anybody(transfer->trust)) {
        return;
    }
    nc_buf field = nc_buf_init(MAX_FIELD_BYTES);
    if (join_fields(&field, transfer->response) && find_origin(&origin, transfer) &&
        nc_alt_svc_note(&known->list, &origin, nc_buf_slice(&field), nc_engine_now_s(engine))) {
        nc_saved_file_note_change(&known->file);
    }
    nc_buf_deinit(&field);
}

/* --- choosing a route --- */

/// Returns the protocols that the hop may use.
static uint8_t protocols_of(const nc_transfer *transfer) {
    const nc_capabilities *can = &transfer->engine->capabilities;
    uint8_t any =
        (uint8_t)(NC_ALT_HTTP_1_1 | (can->has_http2 ? NC_ALT_HTTP_2 : 0) | (can->has_http3 ? NC_ALT_HTTP_3 : 0));
    switch (transfer->description.http) {
    case NC_HTTP_AUTO:
        return any;
    case NC_HTTP_1_1:
        return NC_ALT_HTTP_1_1;
    case NC_HTTP_2_PRIOR_KNOWLEDGE:
        return NC_ALT_HTTP_2;
    case NC_HTTP_3:
        return NC_ALT_HTTP_3;
    default:
        return 0;
    }
}

/// An explicit destination takes precedence, and behind a proxy the proxy chooses the route.
static bool may_take_one(const nc_transfer *transfer) {
    return transfer->engine->state.uses_alt_svc && transfer->engine->alternatives.list.count > 0 &&
           !transfer->has_left_detour && transfer->description.connect_to == NULL &&
           nc_transfer_unix_socket(transfer) == NULL && nc_handle_proxy(transfer)->choice == NC_PROXY_NONE;
}

static bool names_service(const nc_description *asked) {
    for (size_t i = 0; i < asked->header_count; i++) {
        static const char name[] = "alt-used";
        const char *text = asked->headers[i].node.data;
        size_t length = strcspn(text, ":;");
        if (nc_slice_is_equal_ignoring_case(nc_slice_make(text, length), nc_slice_of(name))) {
            return true;
        }
    }
    return false;
}

static nc_detour *make(const nc_alternative *to, bool says_so) {
    nc_detour *detour = nc_alloc_zeroed(1, sizeof *detour);
    if (detour == NULL) {
        return NULL;
    }
    detour->to = *to;
    // For every origin: the handle requests only one, and libcurl may spell its host differently.
    (void)snprintf(detour->connect_to_text, sizeof detour->connect_to_text, "::%s:%u", to->place.host,
                   (unsigned)to->place.port);
    (void)snprintf(detour->used_text, sizeof detour->used_text, "Alt-Used: %s:%u", to->place.host,
                   (unsigned)to->place.port);
    detour->connect_to.data = detour->connect_to_text;
    detour->used.data = says_so ? detour->used_text : NULL;
    return detour;
}

nc_status nc_alternatives_choose(nc_transfer *transfer) {
    nc_alt_place origin;
    if (!may_take_one(transfer) || !find_origin(&origin, transfer)) {
        return NC_OK;
    }
    const nc_alternative *one = nc_alt_svc_find(&transfer->engine->alternatives.list, &origin, protocols_of(transfer),
                                                nc_engine_now_s(transfer->engine));
    if (one == NULL) {
        return NC_OK;
    }
    transfer->detour = make(one, !names_service(&transfer->description));
    return transfer->detour != NULL ? NC_OK : NC_ERR_NO_MEMORY;
}

/// Returns true if not even a socket could be opened, which proves nothing about the alternative.
static bool is_short_of_means(const nc_transfer *transfer) {
    return transfer->socket_error == EMFILE || transfer->socket_error == ENFILE || transfer->socket_error == ENOMEM ||
           transfer->socket_error == ENOBUFS;
}

bool nc_alternatives_leave(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    // If libcurl resends by itself, part of a response may have been delivered already.
    bool is_answered = transfer->has_head && !transfer->is_head_held;
    if (transfer->detour == NULL || transfer->was_connected || is_answered ||
        transfer->error.status == NC_ERR_NO_MEMORY || !nc_upload_can_begin(transfer)) {
        return false;
    }
    if (!is_short_of_means(transfer)) {
        nc_alt_svc_avoid(&engine->alternatives.list, &transfer->detour->to, nc_engine_now_s(engine));
    }
    transfer->has_left_detour = true;
    transfer->lost_ns = engine->loop.now_ns - transfer->phase_began_ns;
    transfer->asks_anew = true;
    (void)nc_error_clear(&transfer->error); // The error concerned the alternative; the origin has not been tried.
    nc_response_repeat_hop(transfer->response);
    return true;
}

/* --- options for libcurl --- */

struct curl_slist *nc_detour_connect_to(nc_detour *detour) {
    return &detour->connect_to;
}

struct curl_slist *nc_detour_link_headers(nc_detour *detour, struct curl_slist *headers) {
    detour->used.next = headers;
    return detour->used.data != NULL ? &detour->used : headers;
}

uint64_t nc_detour_key(const nc_detour *detour) {
    uint64_t sum = nc_fnv_add(NC_FNV_START ^ detour->to.place.port, nc_slice_of(detour->to.place.host));
    return sum != 0 ? sum : 1;
}

bool nc_detour_is_http3(const nc_detour *detour) {
    return detour->to.protocol == NC_ALT_HTTP_3;
}

void nc_detour_free(nc_detour *detour) {
    nc_free(detour);
}
