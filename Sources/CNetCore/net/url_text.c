#include "net/url_text.h"

#include <string.h>

static bool begins_with(nc_slice url, const char *scheme, size_t length) {
    // The usual spelling first, before a comparison letter by letter.
    return url.length >= length &&
           (memcmp(url.data, scheme, length) == 0 ||
            nc_slice_is_equal_ignoring_case(nc_slice_make(url.data, length), nc_slice_make(scheme, length)));
}

bool nc_url_has_web_scheme(nc_slice url, bool *is_secure) {
    *is_secure = begins_with(url, "https://", 8);
    return *is_secure || begins_with(url, "http://", 7);
}

static size_t find_byte(nc_slice text, size_t from, uint8_t byte) {
    const uint8_t *found = from < text.length ? memchr(text.data + from, byte, text.length - from) : NULL;
    return found != NULL ? (size_t)(found - text.data) : text.length;
}

/// Returns the whole authority including credentials: from "//" to the first '/', '?' or '#'.
static nc_slice find_authority(nc_slice url) {
    size_t at = find_byte(url, 0, ':');
    while (at + 2 < url.length && !(url.data[at + 1] == '/' && url.data[at + 2] == '/')) {
        at = find_byte(url, at + 1, ':');
    }
    if (at + 3 > url.length) {
        return nc_slice_make(url.data, 0);
    }
    const uint8_t *begin = url.data + at + 3;
    const uint8_t *stop = url.data + url.length;
    const uint8_t *end = begin;
    while (end < stop && *end != '/' && *end != '?' && *end != '#') {
        end++;
    }
    return nc_slice_make(begin, (size_t)(end - begin));
}

/// Returns the length of "user:password@" in an authority: up to its last '@'.
static size_t credentials_length(nc_slice authority) {
    size_t length = find_byte(authority, 0, '@') < authority.length ? authority.length : 0;
    while (length > 0 && authority.data[length - 1] != '@') {
        length--;
    }
    return length;
}

void nc_url_find_credentials(nc_slice url, size_t *at, size_t *length) {
    nc_slice authority = find_authority(url);
    *length = credentials_length(authority);
    *at = *length > 0 ? (size_t)(authority.data - url.data) : 0;
}

/// Returns where path, query or fragment begins.
static size_t authority_end(nc_slice url) {
    nc_slice authority = find_authority(url);
    return authority.length > 0 ? (size_t)(authority.data - url.data) + authority.length : 0;
}

size_t nc_url_escaped_length(nc_slice url) {
    size_t length = url.length;
    for (size_t i = authority_end(url); i < url.length; i++) {
        length += url.data[i] >= 0x80 ? 2 : 0;
    }
    return length;
}

char *nc_url_escape(char *out, nc_slice url) {
    static const char hex[] = "0123456789ABCDEF";
    size_t end = authority_end(url);
    for (size_t i = 0; i < url.length; i++) {
        uint8_t byte = url.data[i];
        if (i < end || byte < 0x80) {
            *out++ = (char)byte;
            continue;
        }
        *out++ = '%';
        *out++ = hex[byte >> 4];
        *out++ = hex[byte & 15];
    }
    return out;
}

nc_slice nc_url_authority(nc_slice url) {
    nc_slice authority = find_authority(url);
    size_t length = credentials_length(authority);
    return nc_slice_make(authority.data + length, authority.length - length);
}
