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

/// Parses a field value; the slices are borrowed from it. False means that it must be ignored. Pure; call from any
/// thread.
bool nc_set_cookie_read(nc_set_cookie *out, nc_slice field, int64_t now_s);

/// Returns true if a name with the prefix __Secure- or __Host-, in any case, satisfies the prefix (5.7). `is_at_root`
/// means that the path is "/" by an attribute. Pure; call from any thread.
bool nc_cookie_prefix_holds(nc_slice name, bool is_secure, bool is_host_only, bool is_at_root);

/// Returns true if the bytes can be part of a cookie: no control byte, tab or semicolon. Pure; call from any thread.
bool nc_cookie_text_is_plain(nc_slice text);

#endif
