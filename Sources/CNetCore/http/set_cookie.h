/// Parses the Set-Cookie field (RFC 6265bis, 5.6): name, value and attributes.
///
/// Pairs without a name are ignored (RFC 6265, 5.2), because "=sid=1" would be sent as "sid=1", a different cookie.
/// Pairs with a tab are ignored, because the Netscape format cannot store them.
#ifndef NETCORE_PRIVATE_SET_COOKIE_H
#define NETCORE_PRIVATE_SET_COOKIE_H

#include <netcore/bytes.h>

enum {
    NC_COOKIE_MAX_PAIR_BYTES = 4096,            // of name and value together
    NC_COOKIE_MAX_ATTRIBUTE_BYTES = 1024,       // of an attribute's value; a longer attribute is ignored
    NC_COOKIE_MAX_LIFETIME_S = 400 * 24 * 3600, // the longest lifetime that a server can request
};

typedef struct nc_set_cookie {
    nc_slice name;
    nc_slice value;
    nc_slice domain; // of the last Domain attribute, without one leading dot; empty means none
    nc_slice path;   // of the last Path attribute; empty means the default path
    bool has_path;   // there is a Path attribute
    bool is_persistent;
    int64_t expires_s; // of a persistent cookie: seconds since 1970, INT64_MIN for an expired one
    bool is_secure;
    bool is_http_only;
} nc_set_cookie;

/// Parses a field value. The slices of `out` point into `field`. Returns false if the field must be ignored. Pure; call
/// from any thread.
bool nc_set_cookie_read(nc_set_cookie *out, nc_slice field, int64_t now_s);

/// Returns true if a cookie satisfies the conditions of the prefix __Secure- or __Host- of its name (5.7). The prefix
/// is case-insensitive. A name without such a prefix has no conditions. `is_at_root` means that a Path attribute has
/// set the path to "/". Pure; call from any thread.
bool nc_cookie_prefix_holds(nc_slice name, bool is_secure, bool is_host_only, bool is_at_root);

/// Returns true if the bytes can be part of a cookie: no control byte, tab or semicolon. Pure; call from any thread.
bool nc_cookie_text_is_plain(nc_slice text);

/// Parses the value of an Expires attribute.
///
/// Years of two digits are 1970 to 2069. Returns false for an invalid date, including a day that does not exist.
/// Otherwise sets `out` to the seconds since 1970, which are negative for earlier dates. Pure; call from any thread.
bool nc_cookie_date_read(nc_slice text, int64_t *out);

#endif
