/// Digest access authentication (RFC 7616): reads a challenge and writes the answer to it. Pure.
///
///     nc_digest_challenge challenge;
///     if (nc_digest_challenge_read(&challenge, &texts, value))
///         status = nc_digest_answer_write(&out, &challenge, &question, &err);
#ifndef NETCORE_PRIVATE_DIGEST_AUTH_H
#define NETCORE_PRIVATE_DIGEST_AUTH_H

#include <netcore/bytes.h>
#include <netcore/digest.h>

/// A challenge that can be answered; its texts are in the reader's buffer, escapes undone.
typedef struct nc_digest_challenge {
    nc_slice realm;
    nc_slice nonce;
    nc_slice opaque;
    bool has_opaque;
    nc_slice algorithm; // as the server spells it; empty where it names none
    nc_digest_kind kind;
    bool is_session; // "-sess"
    bool has_qop;
    bool offers_auth;
    bool offers_auth_int;
    bool is_stale;
    bool hashes_user;
} nc_digest_challenge;

/// Who asks for what.
typedef struct nc_digest_question {
    nc_slice user;
    nc_slice password;
    nc_slice method;
    nc_slice target; // the path and query, or the host and port of a CONNECT
    nc_slice cnonce; // hexadecimal
    bool has_body;
} nc_digest_question;

/// Reads the first Digest challenge of a field's value whose algorithm is known and whose qop can be met; false for
/// none. Texts are appended to `texts`, whose status says when memory was short.
bool nc_digest_challenge_read(nc_digest_challenge *out, nc_buf *texts, nc_slice value);
/// Whether the first Digest challenge of a field is written so that every libcurl reads it as it is meant: no blank
/// around "=", no empty list member, no long or escaped value, an algorithm that libcurl computes, no challenge beside
/// it. libcurl 7.88 takes what else it meets for other values, or for no challenge.
bool nc_digest_is_plain(nc_slice value);
/// Appends "Digest username=…". NC_OK, or the digest's or the buffer's failure; NC_ERR_AUTHENTICATION where the digest
/// is to cover a body.
NC_NODISCARD nc_status nc_digest_answer_write(nc_buf *out, const nc_digest_challenge *challenge,
                                              const nc_digest_question *question, nc_error *err);

#endif
