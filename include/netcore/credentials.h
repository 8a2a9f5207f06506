/// Credentials of a request: a name and a password, or a token, and the schemes that may use them.
///
/// Credentials belong to the origin of the request's URL. They are copied, and never appear in messages, traces or
/// listings. A redirect within the origin keeps them, those of the URL too, unless its own URL has some. A cross-origin
/// redirect drops them.
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
    /// A digest for the server's challenge (RFC 7616). A challenge with "auth-int" only covers the body. It is
    /// supported for requests without a body and ends others with NC_ERR_AUTHENTICATION.
    NC_AUTH_DIGEST = 2,
    /// A bearer token (RFC 6750), sent with the first request.
    NC_AUTH_BEARER = 4,
    /// NTLM, if libcurl supports it.
    NC_AUTH_NTLM = 8,
    /// Negotiate (SPNEGO, RFC 4559), if libcurl supports it.
    NC_AUTH_NEGOTIATE = 16,
};

/// Credentials. Never sent to another origin than the URL's.
typedef struct nc_credentials {
    /// NC_AUTH_ bits; 0 sends none. With several, the strongest that the server offers is used. A challenge to a HEAD
    /// request with a body cannot be answered, and ends it with NC_ERR_AUTHENTICATION.
    uint32_t schemes;
    /// Name, without NUL. For NC_AUTH_BASIC without a colon, for NC_AUTH_DIGEST without control characters. If it and
    /// the password are empty, NC_AUTH_BASIC and NC_AUTH_DIGEST use the netrc file, if the engine has one.
    nc_slice user;
    /// Password, without NUL.
    nc_slice password;
    /// Token for NC_AUTH_BEARER: visible ASCII without spaces.
    nc_slice token;
} nc_credentials;

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
