#include "base/alloc.h"
#include "base/ascii.h"
#include "base/error.h"

#include <netcore/digest.h>

static const char hex_digits[] = "0123456789abcdef";
static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char base64url_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The value of a character that is not a digit.
enum { NO_DIGIT = 0xFF };

static nc_status check(const nc_buf *out, nc_slice text, nc_error *err) {
    if (out == NULL || (text.data == NULL && text.length > 0)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a buffer or slice is NULL");
    }
    return NC_OK;
}

static nc_status fail_full(nc_error *err, const nc_buf *out) {
    return nc_error_set(err, out->status, 0, -1, "cannot store the decoded bytes: %s", nc_status_text(out->status));
}

static nc_status fail_at(nc_error *err, nc_slice text, size_t at, const char *what) {
    return nc_error_set(err, NC_ERR_BAD_CODING, 0, (int64_t)at, "unexpected byte 0x%02x at byte %zu of %s",
                        text.data[at], at, what);
}

void nc_hex_encode(nc_buf *out, nc_slice bytes) {
    size_t length;
    if (!nc_size_mul(&length, bytes.length, 2)) {
        length = SIZE_MAX;
    }
    if (nc_buf_reserve(out, length) != NC_OK) {
        return;
    }
    for (size_t i = 0; i < bytes.length; i++) {
        out->data[out->length++] = (uint8_t)hex_digits[bytes.data[i] >> 4];
        out->data[out->length++] = (uint8_t)hex_digits[bytes.data[i] & 15];
    }
}

nc_status nc_hex_decode(nc_buf *out, nc_slice text, nc_error *err) {
    nc_status status = check(out, text, err);
    if (status != NC_OK) {
        return status;
    }
    for (size_t i = 0; i < text.length; i++) {
        if (nc_ascii_hex(text.data[i]) < 0) {
            return fail_at(err, text, i, "the hex digits");
        }
    }
    if (text.length % 2 != 0) {
        return nc_error_set(err, NC_ERR_BAD_CODING, 0, (int64_t)text.length,
                            "%zu hex digits: the number of digits must be even", text.length);
    }
    if (nc_buf_reserve(out, text.length / 2) != NC_OK) {
        return fail_full(err, out);
    }
    for (size_t i = 0; i < text.length; i += 2) {
        out->data[out->length++] = (uint8_t)(nc_ascii_hex(text.data[i]) << 4 | nc_ascii_hex(text.data[i + 1]));
    }
    return nc_error_clear(err);
}

void nc_base64_encode(nc_buf *out, nc_slice bytes, nc_base64_kind kind) {
    const char *digits = kind == NC_BASE64 ? base64_digits : base64url_digits;
    size_t rest = bytes.length % 3;
    size_t length;
    if (!nc_size_mul(&length, bytes.length / 3, 4) || !nc_size_add(&length, length,
                                                                   rest == 0              ? 0
                                                                   : kind == NC_BASE64URL ? rest + 1
                                                                                          : 4)) {
        length = SIZE_MAX;
    }
    if (nc_buf_reserve(out, length) != NC_OK) {
        return;
    }
    for (size_t at = 0; at < bytes.length; at += 3) {
        size_t count = bytes.length - at < 3 ? bytes.length - at : 3;
        uint32_t bits = (uint32_t)bytes.data[at] << 16;
        bits |= count > 1 ? (uint32_t)bytes.data[at + 1] << 8 : 0;
        bits |= count > 2 ? bytes.data[at + 2] : 0;
        for (size_t i = 0; i <= count; i++) {
            out->data[out->length++] = (uint8_t)digits[bits >> (18 - 6 * i) & 63];
        }
        for (size_t i = count; i < 3 && kind != NC_BASE64URL; i++) {
            out->data[out->length++] = '=';
        }
    }
}

static uint8_t base64_value(uint8_t c, nc_base64_kind kind) {
    if (c >= 'A' && c <= 'Z') {
        return (uint8_t)(c - 'A');
    }
    if (c >= 'a' && c <= 'z') {
        return (uint8_t)(c - 'a' + 26);
    }
    if (c >= '0' && c <= '9') {
        return (uint8_t)(c - '0' + 52);
    }
    bool is_plain = kind == NC_BASE64;
    if (c == (is_plain ? '+' : '-')) {
        return 62;
    }
    return c == (is_plain ? '/' : '_') ? 63 : (uint8_t)NO_DIGIT;
}

/// Counts the base64 digits and checks the padding behind them.
static nc_status measure(size_t *digits, nc_slice text, nc_base64_kind kind, nc_error *err) {
    size_t count = 0;
    while (count < text.length && base64_value(text.data[count], kind) != NO_DIGIT) {
        count++;
    }
    size_t expected = kind == NC_BASE64URL ? count : (count + 3) / 4 * 4;
    for (size_t i = count; i < text.length; i++) {
        if (text.data[i] != '=' || i >= expected || count % 4 < 2) {
            return fail_at(err, text, i, "the base64 text");
        }
    }
    if (count % 4 == 1 || text.length != expected) {
        return nc_error_set(err, NC_ERR_BAD_CODING, 0, (int64_t)text.length, "the base64 text is incomplete");
    }
    *digits = count;
    return NC_OK;
}

nc_status nc_base64_decode(nc_buf *out, nc_slice text, nc_base64_kind kind, nc_error *err) {
    size_t digits = 0;
    nc_status status = check(out, text, err);
    if (status == NC_OK) {
        status = measure(&digits, text, kind, err);
    }
    if (status != NC_OK) {
        return status;
    }
    size_t spare_bits = digits % 4 == 2 ? 4 : digits % 4 == 3 ? 2 : 0;
    if (spare_bits > 0 && (base64_value(text.data[digits - 1], kind) & ((1u << spare_bits) - 1)) != 0) {
        return fail_at(err, text, digits - 1, "the base64 text (its unused last bits are not 0)");
    }
    if (nc_buf_reserve(out, digits / 4 * 3 + (digits % 4) * 3 / 4) != NC_OK) {
        return fail_full(err, out);
    }
    uint32_t bits = 0;
    for (size_t i = 0; i < digits; i++) {
        bits = bits << 6 | base64_value(text.data[i], kind);
        // Each digit except the first of four completes a byte.
        if (i % 4 != 0) {
            out->data[out->length++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
        }
    }
    return nc_error_clear(err);
}
