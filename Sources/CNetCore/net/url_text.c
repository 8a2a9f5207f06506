#include "net/url_text.h"

#include <string.h>

bool nc_url_has_web_scheme(nc_slice url, bool *is_secure) {
    *is_secure =
        url.length >= 8 && nc_slice_is_equal_ignoring_case(nc_slice_make(url.data, 8), nc_slice_of("https://"));
    return *is_secure ||
           (url.length >= 7 && nc_slice_is_equal_ignoring_case(nc_slice_make(url.data, 7), nc_slice_of("http://")));
}

static size_t find_byte(nc_slice text, size_t from, uint8_t byte) {
    const uint8_t *found = from < text.length ? memchr(text.data + from, byte, text.length - from) : NULL;
    return found != NULL ? (size_t)(found - text.data) : text.length;
}

/// The whole authority, credentials included: from "//" to the first '/', '?' or '#'.
static nc_slice find_authority(nc_slice url) {
    size_t at = find_byte(url, 0, ':');
    while (at + 2 < url.length && !(url.data[at + 1] == '/' && url.data[at + 2] == '/')) {
        at = find_byte(url, at + 1, ':');
    }
    if (at + 3 > url.length) {
        return nc_slice_make(url.data, 0);
    }
    at += 3;
    size_t end = at;
    while (end < url.length && url.data[end] != '/' && url.data[end] != '?' && url.data[end] != '#') {
        end++;
    }
    return nc_slice_make(url.data + at, end - at);
}

/// How much of an authority is "user:password@": up to its last '@'.
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

nc_slice nc_url_authority(nc_slice url) {
    nc_slice authority = find_authority(url);
    size_t length = credentials_length(authority);
    return nc_slice_make(authority.data + length, authority.length - length);
}
