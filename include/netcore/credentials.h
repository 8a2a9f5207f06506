/// Credentials of a request: a name and a password, or a token, and the schemes that may use them.
///
/// Credentials belong to the origin of the request's URL. They are copied, and never appear in messages, traces or
/// listings. A same-origin redirect keeps them, including a name and password in the URL, unless the redirect's URL has
/// its own. A cross-origin redirect drops them.
///
///     request.credentials = (nc_credentials){
///         .schemes = NC_AUTH_BASIC | NC_AUTH_DIGEST, .user = nc_slice_of("me"), .password = nc_slice_of("secret")};
#ifndef NETCORE_CREDENTIALS_H
#define NETCORE_CREDENTIALS_H

#include <netcore/base.h>
#include <netcore/bytes.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Authentication schemes; bits that can be combined.
enum {
    /// Name and password in clear (RFC 7617). Sent with the first request if no other bit is set.
    NC_AUTH_BASIC = 1,
    /// A digest for the server's challenge (RFC 7616). If the server offers only "auth-int", which also covers the
    /// body, a request with a body ends with NC_ERR_AUTHENTICATION.
    NC_AUTH_DIGEST = 2,
    /// A bearer token (RFC 6750), sent with the first request.
    NC_AUTH_BEARER = 4,
    /// NTLM, if libcurl supports it.
    NC_AUTH_NTLM = 8,
    /// Negotiate (SPNEGO, RFC 4559), if libcurl supports it.
    NC_AUTH_NEGOTIATE = 16,
};

/// Credentials, sent only to the origin of the URL.
typedef struct nc_credentials {
    /// NC_AUTH_ bits; 0 sends no credentials. With several bits, the strongest scheme that the server offers is used. A
    /// HEAD request with a body cannot respond to a challenge and then ends with NC_ERR_AUTHENTICATION.
    uint32_t schemes;
    /// User name, without NUL. For NC_AUTH_BASIC it must not contain a colon, for NC_AUTH_DIGEST no control characters.
    /// If name and password are empty, NC_AUTH_BASIC and NC_AUTH_DIGEST use the engine's netrc file, if it has one.
    nc_slice user;
    /// Password, without NUL.
    nc_slice password;
    /// Token for NC_AUTH_BEARER: visible ASCII without spaces.
    nc_slice token;
} nc_credentials;

/// One challenge of a WWW-Authenticate or Proxy-Authenticate field (RFC 9110, 11.6.1), as views into the field's value.
typedef struct nc_challenge {
    /// The scheme, such as "Basic"; case-insensitive.
    nc_slice scheme;
    /// The parameters, for nc_challenge_parameter().
    nc_slice parameters;
} nc_challenge;

/// Takes the next challenge from `*rest`, the rest of a field's value. Malformed members of the list are skipped.
///
/// Returns false at the end.
/// Pure; call from any thread.
NC_API bool nc_challenge_next(nc_slice *rest, nc_challenge *out);

/// Appends the value of a challenge's first parameter with this name, such as "realm". Its quotes and escapes are
/// removed.
///
/// - name: case-insensitive.
/// Returns false if there is no such parameter, or if `out` cannot hold its value (see nc_buf_status()).
/// Pure; call from any thread.
NC_API bool nc_challenge_parameter(nc_buf *out, const nc_challenge *challenge, nc_slice name);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
