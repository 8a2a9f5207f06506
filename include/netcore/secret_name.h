/// Recognizes names of secrets: fields, parameters, members and cookies whose values must not be shown.
///
/// Logs, curl command lines, archives, recordings, queues and cache keys all use the same list. A name is split into
/// words at "-", "_", ".", brackets and changes of case. X-Api-Key, api_key and apiKey are therefore the same name, and
/// "monkey" and "tokenizer" are not secrets.
///
///     if (nc_secret_name_matches(nc_slice_of("X-Api-Key"), NC_SECRET_FIELD)) { hide(value); }
#ifndef NETCORE_SECRET_NAME_H
#define NETCORE_SECRET_NAME_H

#include <netcore/bytes.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Where a name occurs. Some words mark a secret in one location only.
typedef NC_ENUM(nc_secret_location){
    /// The name of a header field.
    NC_SECRET_FIELD = 0,
    /// The name of a parameter in a URL's path, query or fragment, or of a form field. Its escapes are decoded.
    NC_SECRET_PARAMETER = 1,
    /// The name of a member of a JSON object. Its escapes are decoded.
    NC_SECRET_MEMBER = 2,
    /// The name of a cookie.
    NC_SECRET_COOKIE = 3,
} nc_secret_location;

/// Returns true if the value of this name is a secret. The value of a name of more than 1,024 bytes always is.
/// Pure; call from any thread.
NC_API bool nc_secret_name_matches(nc_slice name, nc_secret_location location);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
