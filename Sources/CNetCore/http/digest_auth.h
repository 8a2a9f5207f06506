/// Digest access authentication (RFC 7616): parses a challenge and writes the authorization response. Pure.
///
///     nc_digest_challenge challenge;
///     if (nc_digest_challenge_read(&challenge, &texts, value))
///         status = nc_digest_response_write(&out, &challenge, &question, &err);
#ifndef NETCORE_PRIVATE_DIGEST_AUTH_H
#define NETCORE_PRIVATE_DIGEST_AUTH_H

#include <netcore/bytes.h>
#include <netcore/digest.h>

/// A supported challenge. Its texts are in the reader's buffer, with escapes decoded.
typedef struct nc_digest_challenge {
    nc_slice realm;
    nc_slice nonce;
    nc_slice opaque;
    bool has_opaque;
    nc_slice algorithm; // as the server spells it; empty if absent
    nc_digest_kind kind;
    bool is_session; // "-sess"
    bool has_qop;
    bool offers_auth;
    bool offers_auth_int;
    bool is_stale;
    bool hashes_user;
} nc_digest_challenge;

/// The user and the request.
typedef struct nc_digest_question {
    nc_slice user;
    nc_slice password;
    nc_slice method;
    nc_slice target; // path and query, or host and port of a CONNECT
    nc_slice cnonce; // hexadecimal
    bool has_body;
} nc_digest_question;

/// Parses the first Digest challenge of a field's value with a known algorithm and a supported qop. Returns false if
/// there is none. Texts are appended to `texts`, whose status shows if memory was exhausted.
bool nc_digest_challenge_read(nc_digest_challenge *out, nc_buf *texts, nc_slice value);
/// Returns true if every version of libcurl reads the first Digest challenge of a field correctly: no blank around "=",
/// no empty list member, no long or escaped value, an algorithm that libcurl supports, no other challenge in the field.
/// libcurl may misread other forms, or find no challenge.
bool nc_digest_is_plain(nc_slice value);
/// Appends the authorization response: "Digest username=…". Returns NC_OK, the failure of the digest or the buffer, or
/// NC_ERR_AUTHENTICATION if the digest must cover a body.
NC_NODISCARD nc_status nc_digest_response_write(nc_buf *out, const nc_digest_challenge *challenge,
                                                const nc_digest_question *question, nc_error *err);

#endif
