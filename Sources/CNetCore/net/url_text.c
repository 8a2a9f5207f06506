#include "net/url_text.h"

#include <string.h>

bool nc_url_has_web_scheme(nc_slice url, bool *is_secure) {
    *is_secure =
        url.length >= 8 && nc_slice_is_equal_ignoring_case(nc_slice_make(url.data, 8), nc_slice_of("https://"));
    return *is_secure ||
           (url.length >= 7 && nc_slice_is_equal_ignoring_case(nc_slice_make(url.data, 7), nc_slice_of("http://")));
}

/// The whole authority, credentials included: from "//" to the first '/', '?' or '#'.
static nc_slice find_authority(nc_slice url) {
    size_t at = 0;
    while (at + 2 < url.length && !(url.data[at] == ':' && url.data[at + 1] == '/' && url.data[at + 2] == '/')) {
        at++;
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

void nc_url_find_credentials(nc_slice url, size_t *at, size_t *length) {
    nc_slice authority = find_authority(url);
    *at = 0;
    *length = 0;
    for (size_t i = authority.length; i > 0; i--) {
        if (authority.data[i - 1] == '@') {
            *at = (size_t)(authority.data - url.data);
            *length = i;
            return;
        }
    }
}

nc_slice nc_url_authority(nc_slice url) {
    nc_slice authority = find_authority(url);
    size_t at = 0;
    size_t length = 0;
    nc_url_find_credentials(url, &at, &length);
    return nc_slice_make(authority.data + length, authority.length - length);
}
