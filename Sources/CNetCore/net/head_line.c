#include "net/head_line.h"

#include "base/ascii.h"

#include <string.h>

static bool is_white(uint8_t byte) {
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

nc_slice nc_head_line_trim(nc_slice text) {
    while (text.length > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text = nc_slice_make(text.data + 1, text.length - 1);
    }
    while (text.length > 0 && is_white(text.data[text.length - 1])) {
        text.length--;
    }
    return text;
}

/// "HTTP/1.1 200 OK" or "HTTP/2 200". libcurl accepts others ("HTTP/HTTP/1.1 100"), and reads another code from them.
bool nc_head_line_parse_status(nc_slice line, uint16_t *status, nc_http_version *version) {
    const uint8_t *space = memchr(line.data, ' ', line.length);
    size_t at = space != NULL ? (size_t)(space - line.data) : 0;
    bool is_short = at == 6;
    bool is_long = at == 8 && line.data[6] == '.' && nc_ascii_is_digit(line.data[7]);
    // RFC 9112, 2.3: the protocol's name is case-sensitive.
    if (!(is_short || is_long) || memcmp(line.data, "HTTP/", 5) != 0 || !nc_ascii_is_digit(line.data[5]) ||
        line.length < at + 4) {
        return false;
    }
    const uint8_t *digits = line.data + at + 1;
    if (line.length > at + 4 && (!is_white(digits[3]) || digits[3] == '\t')) {
        return false; // "200OK"; RFC 9112, 4: one space, and no tab
    }
    uint8_t major = line.data[5];
    uint8_t minor = at >= 8 ? line.data[7] : '0';
    *version = major == '2'   ? NC_HTTP_VERSION_2
               : major == '3' ? NC_HTTP_VERSION_3
               : minor == '0' ? NC_HTTP_VERSION_1_0
                              : NC_HTTP_VERSION_1_1;
    if (!nc_ascii_is_digit(digits[0]) || !nc_ascii_is_digit(digits[1]) || !nc_ascii_is_digit(digits[2])) {
        return false;
    }
    *status = (uint16_t)((digits[0] - '0') * 100 + (digits[1] - '0') * 10 + (digits[2] - '0'));
    return *status >= 100;
}

/// RFC 9112, 2.2: a CR that does not end a line is invalid. libcurl treats it as any other byte.
bool nc_head_line_has_stray_cr(nc_slice line) {
    size_t length = line.length;
    while (length > 0 && (line.data[length - 1] == '\n' || line.data[length - 1] == '\r')) {
        length--;
    }
    return length > 0 && memchr(line.data, '\r', length) != NULL;
}

/// RFC 9112, 5.1: a token, immediately followed by the colon. libcurl accepts any name before a colon. A length with a
/// name that only other readers understand leads to two different ends of one body.
bool nc_head_line_is_name(nc_slice name) {
    const uint8_t *at = name.data;
    const uint8_t *end = name.data + name.length;
    while (at < end && nc_ascii_is_token(*at)) {
        at++;
    }
    return at == end && name.length > 0;
}
