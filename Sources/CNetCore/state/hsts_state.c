#include "state/hsts_state.h"

#include "base/error.h"
#include "http/url_text.h"
#include "state/connection_pool_record.h"
#include "state/engine_record.h"
#include "state/transfer_state.h"
#include "trust/handshake.h"
#include "trust/policy.h"

static void write_file(nc_buf *out, const nc_engine *engine) {
    nc_hsts_write(&engine->hsts.list, out, nc_engine_now_s(engine));
}

static nc_status read_file(nc_engine *engine, nc_slice text, size_t *line) {
    return nc_hsts_read(&engine->hsts.list, text, nc_engine_now_s(engine), line);
}

nc_status nc_hsts_state_read(nc_engine *engine, nc_error *err) {
    static const nc_state_file_kind kind = {"HSTS file", "host and date", read_file, write_file};
    const char *path = engine->state.uses_hsts ? engine->state.hsts_file : NULL;
    return nc_state_file_writer_load(&engine->hsts.file, engine, path, &kind, err);
}

void nc_hsts_state_deinit(nc_hsts_state *hsts) {
    nc_hsts_deinit(&hsts->list);
    nc_state_file_writer_deinit(&hsts->file);
}

/// Returns true if the URL has a host that is a name. Addresses have no HSTS policy.
static bool has_name(const nc_url *url) {
    return url->status == NC_OK && url->origin.host.kind == NC_HOST_NAME;
}

void nc_hsts_state_learn(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    const nc_url *url = &transfer->target.url;
    nc_slice field;
    // RFC 6797, 8.1: a field from a server that was not authenticated is ignored.
    if (!engine->state.uses_hsts || !has_name(url) || !url->origin.is_secure ||
        nc_trust_skips_authentication(transfer->trust) ||
        !nc_response_find_header(transfer->response, nc_slice_of("Strict-Transport-Security"), &field)) {
        return;
    }
    if (nc_hsts_record(&engine->hsts.list, url->origin.host.text, field, nc_engine_now_s(engine))) {
        nc_state_file_writer_mark_changed(&engine->hsts.file);
    }
}

static nc_status append_secure(nc_buf *out, const nc_engine *engine, const nc_url *url) {
    if (!engine->state.uses_hsts || url->origin.is_secure || !has_name(url) ||
        !nc_hsts_covers(&engine->hsts.list, url->origin.host.text, nc_engine_now_s(engine))) {
        return NC_OK;
    }
    nc_hsts_upgrade(out, url->text);
    nc_buf_append_byte(out, 0); // libcurl needs a NUL
    nc_status status = nc_buf_status(out);
    out->length -= status == NC_OK ? 1 : 0; // the NUL stays after it
    return status;
}

nc_status nc_hsts_state_secure(nc_buf *out, const nc_engine *engine, nc_slice url) {
    nc_url parsed;
    if (!engine->state.uses_hsts || engine->hsts.list.count == 0) {
        return NC_OK;
    }
    nc_status status = nc_url_parse(&parsed, url, NULL);
    return status == NC_ERR_NO_MEMORY ? status : append_secure(out, engine, &parsed);
}

nc_status nc_hsts_state_apply(nc_transfer *transfer) {
    nc_buf_reset(&transfer->next_url);
    nc_status status = append_secure(&transfer->next_url, transfer->engine, &transfer->target.url);
    if (status != NC_OK || transfer->next_url.length == 0) {
        return status;
    }
    nc_buf plain = transfer->redirected_url;
    transfer->redirected_url = transfer->next_url;
    transfer->next_url = plain;
    return nc_transfer_parse_url(transfer);
}

/* --- refused http requests --- */

nc_status nc_plaintext_check(nc_transfer *transfer) {
    const nc_engine *engine = transfer->engine;
    const nc_url *url = &transfer->target.url;
    const nc_origin *origin = &url->origin;
    if (origin->is_secure || (!engine->refuses_plaintext && !nc_trust_has_rules(transfer->trust))) {
        return NC_OK;
    }
    // The rules cannot be checked for a host without a canonical form, so no request is sent to it.
    if (url->status != NC_OK) {
        nc_url again;
        nc_error detail;
        nc_status status = nc_url_parse(&again, url->text, &detail);
        return nc_transfer_record_error(transfer, status, 0, "%s: %.*s", detail.message,
                                        nc_url_shown(url->host_and_port), (const char *)url->host_and_port.data);
    }
    nc_host_name host = nc_host_certificate_name(&origin->host);
    bool is_pinned = nc_trust_forbids_plaintext(transfer->trust, &host, origin->port, nc_engine_now_s(engine));
    if (!is_pinned && !engine->refuses_plaintext) {
        return NC_OK;
    }
    nc_report_plaintext(transfer->trust, &transfer->conn_pool->reports, &host, origin->port, nc_engine_now(engine));
    bool is_ipv6 = origin->host.kind == NC_HOST_IPV6;
    return nc_transfer_record_error(transfer, NC_ERR_PLAINTEXT_REFUSED, 0, "%s: %s%.*s%s:%u",
                                    nc_status_text(NC_ERR_PLAINTEXT_REFUSED), is_ipv6 ? "[" : "",
                                    (int)origin->host.text.length, (const char *)origin->host.text.data,
                                    is_ipv6 ? "]" : "", (unsigned)origin->port);
}
