#include "net/strict.h"

#include "base/error.h"
#include "http/origin.h"
#include "net/engine_state.h"
#include "net/url_text.h"

static void write_file(nc_buf *out, const nc_engine *engine) {
    nc_hsts_write(&engine->strict.list, out, nc_engine_now_s(engine));
}

static nc_status read_file(nc_engine *engine, nc_slice text, size_t *line) {
    return nc_hsts_read(&engine->strict.list, text, nc_engine_now_s(engine), line);
}

nc_status nc_strict_read(nc_engine *engine, nc_error *err) {
    nc_saved_file *file = &engine->strict.file;
    nc_saved_file_init(file, engine, engine->state.uses_hsts ? engine->state.hsts_file : NULL, write_file);
    return nc_saved_file_take_in(file, read_file, "HSTS file", "host and date", err);
}

void nc_strict_deinit(nc_strict *strict) {
    nc_hsts_deinit(&strict->list);
    nc_saved_file_deinit(&strict->file);
}

/// Finds the name in an http or https URL for the HSTS cache; empty for an address. A URL without a host is never sent.
static nc_status find_host(nc_origin *origin, nc_slice url) {
    nc_status status = nc_origin_read(origin, url, NULL);
    if (status != NC_OK || origin->host.kind != NC_HOST_NAME) {
        origin->host.text = nc_slice_make(NULL, 0);
    }
    return status == NC_ERR_NO_MEMORY ? status : NC_OK;
}

void nc_strict_learn(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    nc_slice url = nc_transfer_url(transfer);
    nc_slice field;
    bool is_secure = false;
    // RFC 6797, 8.1: never over a connection whose server was not authenticated.
    if (!engine->state.uses_hsts || !nc_url_has_web_scheme(url, &is_secure) || !is_secure ||
        nc_trust_believes_anybody(transfer->trust) ||
        !nc_response_find_header(transfer->response, nc_slice_of("Strict-Transport-Security"), &field)) {
        return;
    }
    nc_origin origin;
    if (find_host(&origin, url) == NC_OK &&
        nc_hsts_note(&engine->strict.list, origin.host.text, field, nc_engine_now_s(engine))) {
        nc_saved_file_note_change(&engine->strict.file);
    }
}

nc_status nc_strict_secure(nc_buf *out, const nc_engine *engine, nc_slice url) {
    bool is_secure = false;
    if (!engine->state.uses_hsts || engine->strict.list.count == 0 || !nc_url_has_web_scheme(url, &is_secure) ||
        is_secure) {
        return NC_OK;
    }
    nc_origin origin;
    nc_status status = find_host(&origin, url);
    if (status == NC_OK && nc_hsts_covers(&engine->strict.list, origin.host.text, nc_engine_now_s(engine))) {
        nc_hsts_upgrade(out, url);
        nc_buf_append_byte(out, 0); // for libcurl
        status = nc_buf_status(out);
        out->length -= status == NC_OK ? 1 : 0; // the NUL stays after it
    }
    return status;
}

nc_status nc_strict_upgrade(nc_transfer *transfer) {
    nc_buf_reset(&transfer->next_url);
    nc_status status = nc_strict_secure(&transfer->next_url, transfer->engine, nc_transfer_url(transfer));
    if (status == NC_OK && transfer->next_url.length > 0) {
        nc_buf plain = transfer->redirected_url;
        transfer->redirected_url = transfer->next_url;
        transfer->next_url = plain;
    }
    return status;
}
