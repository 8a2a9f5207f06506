/// The Set-Cookie field (RFC 6265bis, 5.6): its name, value and attributes, as they stand there.
///
/// Pairs without a name are ignored (RFC 6265, 5.2): "=sid=1" would be sent as "sid=1", and be taken for another
/// cookie. So are pairs with a tab inside, which the Netscape format has no place for.
#ifndef NETCORE_PRIVATE_SET_COOKIE_H
#define NETCORE_PRIVATE_SET_COOKIE_H

#include <netcore/bytes.h>

enum {
    NC_COOKIE_MAX_PAIR_BYTES = 4096,            // of name and value together
    NC_COOKIE_MAX_ATTRIBUTE_BYTES = 1024,       // of an attribute's value; longer attributes are ignored
    NC_COOKIE_MAX_LIFETIME_S = 400 * 24 * 3600, // that a server can ask for
};

typedef struct nc_set_cookie {
    nc_slice name;
    nc_slice value;
    nc_slice domain; // of the last Domain attribute, without one dot in front; empty: none
    nc_slice path;   // of the last Path attribute; empty: the default path
    bool has_path;   // there is a Path attribute
    bool is_persistent;
    int64_t expires_s; // of a persistent one: seconds since 1970, INT64_MIN for "has ended"
    bool is_secure;
    bool is_http_only;
} nc_set_cookie;

/// Reads a field value; the slices lie in it. False: to be ignored. Pure; call from any thread.
bool nc_set_cookie_read(nc_set_cookie *out, nc_slice field, int64_t now_s);

/// Whether a name with the prefix __Secure- or __Host-, in any case, has what the prefix promises (5.7). `is_at_root`:
/// the path is "/" and was not guessed. Pure; call from any thread.
bool nc_cookie_prefix_holds(nc_slice name, bool is_secure, bool is_host_only, bool is_at_root);

/// Whether bytes can be part of a cookie: no control byte, no tab and no semicolon. Pure; call from any thread.
bool nc_cookie_text_is_plain(nc_slice text);

#endif
