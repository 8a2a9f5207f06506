/// AES-256-GCM over files in pieces, under keys derived from one key of the caller's.
///
/// Each file has a key of its own, derived with HMAC-SHA-256 from the caller's and the file's salt, so that the number
/// of a piece is a nonce that never comes twice under one key (NIST SP 800-38D, 8.2.1).
#ifndef NETCORE_PRIVATE_DIGEST_SEAL_H
#define NETCORE_PRIVATE_DIGEST_SEAL_H

#include <netcore/bytes.h>

enum { NC_SEAL_KEY_BYTES = 32, NC_SEAL_TAG_BYTES = 16, NC_SEAL_ID_BYTES = 8, NC_SEAL_NAME_BYTES = 16 };

/// The caller's key. Thread-safe: it does not change.
typedef struct nc_seal nc_seal;

/// Copies the key. NC_OK, NC_ERR_UNSUPPORTED when OpenSSL lacks an algorithm, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_seal_new(nc_seal **out, const uint8_t key[NC_SEAL_KEY_BYTES], nc_error *err);
/// Wipes and frees the key; NULL is harmless.
void nc_seal_free(nc_seal *seal);
/// Eight bytes that tell whether something was sealed under the same key.
const uint8_t *nc_seal_id(const nc_seal *seal);
/// A name that tells nothing of `text` to who lacks the key. NC_OK, NC_ERR_INTERNAL.
NC_NODISCARD nc_status nc_seal_name(uint8_t out[NC_SEAL_NAME_BYTES], const nc_seal *seal, nc_slice text, nc_error *err);

/// What closes or opens the pieces of one file. Confined: one thread at a time.
typedef struct nc_cipher nc_cipher;

/// One piece, changed in place.
typedef struct nc_piece {
    /// Never twice for one file that is being closed.
    uint64_t number;
    /// What the piece is bound to: it opens with the same bytes alone.
    nc_slice bound;
    uint8_t *bytes;
    size_t length;
    /// NC_SEAL_TAG_BYTES, written when closing and read when opening.
    uint8_t *tag;
} nc_piece;

/// Derives the file's key; closes pieces, or opens them. NC_OK, NC_ERR_INTERNAL, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_cipher_new(nc_cipher **out, const nc_seal *seal, nc_slice salt, bool is_closing,
                                     nc_error *err);
void nc_cipher_free(nc_cipher *cipher);
/// NC_OK, NC_ERR_BAD_CODING for a piece that does not open, NC_ERR_INTERNAL when OpenSSL fails.
NC_NODISCARD nc_status nc_cipher_run(nc_cipher *cipher, const nc_piece *piece, nc_error *err);

#endif
