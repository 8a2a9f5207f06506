#include "websocket/handshake.h"

#include "base/error.h"
#include "digest/digest.h"
#include "http/field_list.h"

#include <netcore/digest.h>
#include <string.h>

enum { NONCE_BYTES = 16 };

/// The constant of RFC 6455, 1.3.
static const char accept_suffix[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

nc_status nc_ws_key_make(char key[NC_WS_KEY_BYTES], const nc_random *random, nc_error *err) {
    uint8_t nonce[NONCE_BYTES];
    nc_buf text = nc_buf_init(NC_WS_KEY_BYTES);
    if (!random->fill(random->ctx, nonce, sizeof nonce)) {
        return nc_error_set(err, NC_ERR_UNSUPPORTED, 0, -1, "the source of random bytes failed");
    }
    nc_base64_encode(&text, nc_slice_make(nonce, sizeof nonce), NC_BASE64);
    nc_buf_append_byte(&text, 0);
    nc_status status = nc_buf_status(&text);
    if (status == NC_OK) {
        memcpy(key, text.data, NC_WS_KEY_BYTES);
    }
    nc_buf_deinit(&text);
    return status == NC_OK ? nc_error_clear(err)
                           : nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a WebSocket key");
}

nc_status nc_ws_accept_make(nc_buf *out, const char *key, nc_error *err) {
    uint8_t digest[NC_SHA1_BYTES];
    char text[NC_WS_KEY_BYTES + sizeof accept_suffix];
    size_t length = strnlen(key, NC_WS_KEY_BYTES - 1);
    memcpy(text, key, length);
    memcpy(text + length, accept_suffix, sizeof accept_suffix);
    if (!nc_sha1(digest, nc_slice_of(text))) {
        return nc_error_set(err, NC_ERR_UNSUPPORTED, 0, -1, "OpenSSL cannot compute SHA-1, which WebSocket requires");
    }
    nc_base64_encode(out, nc_slice_make(digest, sizeof digest), NC_BASE64);
    nc_buf_append_byte(out, 0);
    return nc_buf_status(out) == NC_OK ? nc_error_clear(err)
                                       : nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a handshake");
}

/// Visits the response's fields with one name. Returns false at the end.
static bool next_value(const nc_response *response, size_t *at, const char *name, nc_slice *value) {
    while (*at < nc_response_header_count(response)) {
        nc_header field = nc_response_header_at(response, (*at)++);
        if (nc_slice_is_equal_ignoring_case(field.name, nc_slice_of(name))) {
            *value = field.value;
            return true;
        }
    }
    return false;
}

/// Returns true if a member of the fields with this name equals `text`, without case.
static bool has_member(const nc_response *response, const char *name, const char *text) {
    size_t at = 0;
    nc_slice value;
    while (next_value(response, &at, name, &value)) {
        nc_slice member;
        while (nc_list_next(&member, &value)) {
            if (nc_slice_is_equal_ignoring_case(member, nc_slice_of(text))) {
                return true;
            }
        }
    }
    return false;
}

/// Returns the only field with this name; false without one, or if there are several.
static bool find_only(const nc_response *response, const char *name, nc_slice *value) {
    size_t at = 0;
    nc_slice other;
    return next_value(response, &at, name, value) && !next_value(response, &at, name, &other);
}

static nc_status check_accept(const nc_ws_offer *offer, const nc_response *response, nc_error *err) {
    nc_slice accept;
    nc_buf expected = nc_buf_init(64);
    nc_status status = nc_ws_accept_make(&expected, offer->key, err);
    if (status == NC_OK && (!find_only(response, "Sec-WebSocket-Accept", &accept) ||
                            !nc_slice_is_equal(accept, nc_slice_of((const char *)expected.data)))) {
        status = nc_error_set(err, NC_ERR_BAD_UPGRADE, 0, -1,
                              "the server's Sec-WebSocket-Accept does not belong to the key that was sent");
    }
    nc_buf_deinit(&expected);
    return status;
}

static nc_status check_protocol(const nc_ws_offer *offer, const nc_response *response, nc_error *err) {
    size_t at = 0;
    nc_slice value;
    nc_slice member;
    nc_slice offered = offer->protocols;
    if (!next_value(response, &at, "Sec-WebSocket-Protocol", &value)) {
        return NC_OK;
    }
    bool is_only = !next_value(response, &at, "Sec-WebSocket-Protocol", &member);
    while (is_only && nc_list_next(&member, &offered)) {
        if (nc_slice_is_equal(member, value)) {
            return NC_OK;
        }
    }
    return nc_error_set(err, NC_ERR_BAD_UPGRADE, 0, -1, "the server chose a subprotocol that was not offered: %.*s",
                        (int)(value.length < 64 ? value.length : 64), (const char *)value.data);
}

static nc_status check_extensions(const nc_ws_offer *offer, const nc_response *response, nc_ws_deflate_terms *terms,
                                  nc_error *err) {
    size_t at = 0;
    nc_slice value = {0};
    nc_slice second;
    bool has_any = next_value(response, &at, "Sec-WebSocket-Extensions", &value);
    if (has_any && next_value(response, &at, "Sec-WebSocket-Extensions", &second)) {
        return nc_error_set(err, NC_ERR_BAD_UPGRADE, 0, -1, "the server accepted more than one extension");
    }
    return nc_ws_deflate_parse(terms, value, offer->offers_deflate, err);
}

nc_status nc_ws_handshake_check(const nc_ws_offer *offer, const nc_response *response, nc_ws_deflate_terms *terms,
                                nc_error *err) {
    if (!has_member(response, "Upgrade", "websocket")) {
        return nc_error_set(err, NC_ERR_BAD_UPGRADE, 0, -1, "the server's Upgrade field is not \"websocket\"");
    }
    if (!has_member(response, "Connection", "upgrade")) {
        return nc_error_set(err, NC_ERR_BAD_UPGRADE, 0, -1, "the server's Connection field is not \"upgrade\"");
    }
    nc_status status = check_accept(offer, response, err);
    status = status == NC_OK ? check_protocol(offer, response, err) : status;
    return status == NC_OK ? check_extensions(offer, response, terms, err) : status;
}
