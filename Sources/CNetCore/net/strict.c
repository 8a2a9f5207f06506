#include "net/strict.h"

#include "base/ascii.h"
#include "base/error.h"
#include "net/engine_state.h"
#include "net/origin.h"
#include "net/url_text.h"

#include <netcore/url.h>

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

/// Whether an authority spells its host as the list does, but for case: as nearly all do.
static bool is_plain(nc_slice authority) {
    for (size_t i = 0; i < authority.length; i++) {
        uint8_t c = authority.data[i];
        if (!nc_ascii_is_alpha(c) && !nc_ascii_is_digit(c) && c != '.' && c != '-' && c != '_' && c != ':') {
            return false;
        }
    }
    return true;
}

/// The host that a NUL-terminated URL means, whose name may be spelled in percent codes or another script: in the URL
/// itself, or in `storage`. Empty when there is none.
static nc_status find_host(nc_slice *host, nc_buf *storage, nc_slice url) {
    *host = nc_url_authority(url);
    if (is_plain(*host)) {
        return NC_OK;
    }
    nc_status status = nc_origin_host(storage, NULL, (const char *)url.data);
    *host = nc_buf_slice(storage);
    return status == NC_ERR_BAD_URL ? NC_OK : status; // Nothing is sent there either.
}

void nc_strict_learn(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    nc_slice url = nc_transfer_url(transfer);
    nc_slice field;
    bool is_secure = false;
    // RFC 6797, 8.1: never over a connection that anybody could have answered.
    if (!engine->state.uses_hsts || !nc_url_has_web_scheme(url, &is_secure) || !is_secure ||
        nc_trust_believes_anybody(transfer->trust) ||
        !nc_response_find_header(transfer->response, nc_slice_of("Strict-Transport-Security"), &field)) {
        return;
    }
    nc_buf storage = nc_buf_init(NC_URL_MAX_BYTES);
    nc_slice host;
    if (find_host(&host, &storage, url) == NC_OK &&
        nc_hsts_note(&engine->strict.list, host, field, nc_engine_now_s(engine))) {
        nc_saved_file_note_change(&engine->strict.file);
    }
    nc_buf_deinit(&storage);
}

nc_status nc_strict_secure(nc_buf *out, const nc_engine *engine, nc_slice url) {
    bool is_secure = false;
    if (!engine->state.uses_hsts || engine->strict.list.count == 0 || !nc_url_has_web_scheme(url, &is_secure) ||
        is_secure) {
        return NC_OK;
    }
    nc_buf storage = nc_buf_init(NC_URL_MAX_BYTES);
    nc_slice host;
    nc_status status = find_host(&host, &storage, url);
    if (status == NC_OK && nc_hsts_covers(&engine->strict.list, host, nc_engine_now_s(engine))) {
        nc_hsts_upgrade(out, url);
        nc_buf_append_byte(out, 0); // for libcurl
        status = nc_buf_status(out);
        out->length -= status == NC_OK ? 1 : 0; // the NUL stays behind it
    }
    nc_buf_deinit(&storage);
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
