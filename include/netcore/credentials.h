/// Who asks: a name and a password, or a token, and the ways in which they may be shown.
///
/// Credentials belong to the origin of the URL they were given with. They are copied when they are given, never
/// appear in messages, traces or listings, and never go to another origin, whatever a redirect says; within the
/// origin they go along, those in the URL too, unless the redirect's own URL has some.
///
///     request.credentials = (nc_credentials){
///         .schemes = NC_AUTH_BASIC | NC_AUTH_DIGEST, .user = nc_slice_of("me"), .password = nc_slice_of("secret")};
#ifndef NETCORE_CREDENTIALS_H
#define NETCORE_CREDENTIALS_H

#include <netcore/base.h>
#include <netcore/bytes.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Ways to prove who asks; may be combined.
enum {
    /// Name and password, readable (RFC 7617); sent at once when it stands alone.
    NC_AUTH_BASIC = 1,
    /// A challenge answered with a digest (RFC 7616). One that covers the body ("auth-int" alone) is proven where there
    /// is no body, and ends other requests with NC_ERR_AUTHENTICATION.
    NC_AUTH_DIGEST = 2,
    /// A token (RFC 6750), sent at once.
    NC_AUTH_BEARER = 4,
    /// NTLM, where libcurl has it.
    NC_AUTH_NTLM = 8,
    /// Negotiate (SPNEGO, RFC 4559), where libcurl has it.
    NC_AUTH_NEGOTIATE = 16,
};

/// Who asks. Never sent to another origin than the URL's, whatever a redirect says.
typedef struct nc_credentials {
    /// NC_AUTH_ bits; 0 is none. With several the strongest that the server offers is used. A challenge to HEAD with a
    /// body cannot be answered, and ends it with NC_ERR_AUTHENTICATION.
    uint32_t schemes;
    /// Name, without NUL; for NC_AUTH_BASIC without a colon, for NC_AUTH_DIGEST without control characters. Where it
    /// and the password are empty, NC_AUTH_BASIC and NC_AUTH_DIGEST take both from the netrc file, if the engine uses
    /// one.
    nc_slice user;
    /// Password, without NUL.
    nc_slice password;
    /// Token, for NC_AUTH_BEARER: visible ASCII alone, no space.
    nc_slice token;
} nc_credentials;

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
