#include "net/download_text.h"

#include "base/ascii.h"

#include <netcore/body_source.h>
#include <string.h>

static bool is_blank(uint8_t c) {
    return c == ' ' || c == '\t';
}

static nc_slice trim(nc_slice text) {
    while (text.length > 0 && is_blank(text.data[0])) {
        text = nc_slice_make(text.data + 1, text.length - 1);
    }
    while (text.length > 0 && is_blank(text.data[text.length - 1])) {
        text.length--;
    }
    return text;
}

bool nc_decimal_read(uint64_t *out, nc_slice text) {
    uint64_t value = 0;
    if (text.length == 0 || text.length > 19) { // Nineteen digits fit, and no file is longer.
        return false;
    }
    for (size_t i = 0; i < text.length; i++) {
        if (!nc_ascii_is_digit(text.data[i])) {
            return false;
        }
        value = value * 10 + (uint64_t)(text.data[i] - '0');
    }
    *out = value;
    return value <= INT64_MAX;
}

/// Cuts the text before `mark` off. Returns false if there is none.
static bool cut(nc_slice *head, nc_slice *text, char mark) {
    const uint8_t *at = text->length > 0 ? memchr(text->data, mark, text->length) : NULL;
    if (at == NULL) {
        return false;
    }
    *head = nc_slice_make(text->data, (size_t)(at - text->data));
    *text = nc_slice_make(at + 1, text->length - head->length - 1);
    return true;
}

bool nc_content_range_parse(nc_content_range *out, nc_slice text) {
    nc_content_range range = {.total = NC_LENGTH_UNKNOWN};
    nc_slice unit;
    nc_slice place;
    nc_slice first;
    text = trim(text);
    if (!cut(&unit, &text, ' ') || !nc_slice_is_equal_ignoring_case(unit, nc_slice_of("bytes"))) {
        return false;
    }
    text = trim(text);
    if (!cut(&place, &text, '/')) {
        return false;
    }
    bool has_total = !nc_slice_is_equal(text, nc_slice_of("*"));
    if (has_total && !nc_decimal_read(&range.total, text)) {
        return false;
    }
    if (nc_slice_is_equal(place, nc_slice_of("*"))) {
        range.is_unsatisfied = true;
        *out = range;
        return has_total;
    }
    if (!cut(&first, &place, '-') || !nc_decimal_read(&range.first, first) || !nc_decimal_read(&range.last, place) ||
        range.first > range.last || (has_total && range.last >= range.total)) {
        return false;
    }
    *out = range;
    return true;
}

/* --- digests --- */

/// Reads a member's value: base64 between colons (RFC 9651, 3.3.5) or bare, or hex in some servers' Digest.
static bool read_digest(uint8_t *out, size_t length, nc_slice value, bool is_structured) {
    nc_buf bytes = nc_buf_init(NC_DIGEST_MAX_BYTES + 4);
    if (is_structured) {
        if (value.length < 2 || value.data[0] != ':' || value.data[value.length - 1] != ':') {
            return false;
        }
        value = nc_slice_make(value.data + 1, value.length - 2);
    }
    bool is_hex = !is_structured && value.length == 2 * length;
    nc_status status = is_hex ? nc_hex_decode(&bytes, value, NULL) : nc_base64_decode(&bytes, value, NC_BASE64, NULL);
    bool is_read = status == NC_OK && bytes.length == length;
    if (is_read) {
        memcpy(out, bytes.data, length);
    }
    nc_buf_deinit(&bytes);
    return is_read;
}

void nc_digests_take(nc_download_digests *digests, nc_slice field, bool is_structured) {
    while (field.length > 0) {
        nc_slice member = field;
        nc_slice name;
        if (!cut(&member, &field, ',')) {
            field.length = 0;
        }
        nc_slice value = trim(member);
        nc_slice rest;
        if (!cut(&name, &value, '=')) {
            continue;
        }
        name = trim(name);
        if (cut(&rest, &value, ';')) {
            value = rest; // Parameters are ignored.
        }
        value = trim(value);
        if (nc_slice_is_equal_ignoring_case(name, nc_slice_of("sha-256"))) {
            digests->has_sha256 =
                read_digest(digests->sha256, NC_SHA256_BYTES, value, is_structured) || digests->has_sha256;
        } else if (nc_slice_is_equal_ignoring_case(name, nc_slice_of("md5"))) {
            digests->has_md5 = read_digest(digests->md5, NC_MD5_BYTES, value, is_structured) || digests->has_md5;
        }
    }
}

bool nc_digests_agree(const nc_download_digests *a, const nc_download_digests *b) {
    bool has_sha256 = a->has_sha256 && b->has_sha256;
    bool has_md5 = a->has_md5 && b->has_md5;
    return (!has_sha256 || memcmp(a->sha256, b->sha256, NC_SHA256_BYTES) == 0) &&
           (!has_md5 || memcmp(a->md5, b->md5, NC_MD5_BYTES) == 0);
}
