/// The names of secrets: which field, parameter, member or cookie holds what only its owner may see.
///
/// One list is for everything that shows, stores or compares requests: logs, curl lines, archives, recordings, queues,
/// and the identity of cached responses. A name is read by its words: "-", "_", ".", brackets and changes of case
/// separate them, so that X-Api-Key, api_key and apiKey are one, and neither "monkey" nor "tokenizer" is a secret.
///
///     if (nc_secret_name_matches(nc_slice_of("X-Api-Key"), NC_SECRET_FIELD)) { hide(value); }
#ifndef NETCORE_SECRET_NAME_H
#define NETCORE_SECRET_NAME_H

#include <netcore/bytes.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Where a name stands. Some words are secrets in one place only.
typedef NC_ENUM(nc_secret_place){
    /// The name of a header field.
    NC_SECRET_FIELD = 0,
    /// The name of a parameter in a URL's path, query or fragment, or of a field of a form: its escapes are undone.
    NC_SECRET_PARAMETER = 1,
    /// The name of a member of a JSON object: its escapes are undone.
    NC_SECRET_MEMBER = 2,
    /// The name of a cookie.
    NC_SECRET_COOKIE = 3,
} nc_secret_place;

/// Whether the value under a name is a secret. A name of more than 1,024 bytes counts as one.
/// Pure; call from any thread.
NC_API bool nc_secret_name_matches(nc_slice name, nc_secret_place place);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
