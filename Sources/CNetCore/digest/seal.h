/// Encrypts files in pieces with AES-256-GCM. All keys are derived from one key of the caller.
///
/// Each file has its own key, derived by HMAC-SHA-256 from the caller's key and the file's salt. The nonce of a piece
/// is its number, which never repeats under the same file key (NIST SP 800-38D, 8.2.1).
#ifndef NETCORE_PRIVATE_SEAL_H
#define NETCORE_PRIVATE_SEAL_H

#include <netcore/bytes.h>

enum { NC_SEAL_KEY_BYTES = 32, NC_SEAL_TAG_BYTES = 16, NC_SEAL_ID_BYTES = 8, NC_SEAL_NAME_BYTES = 16 };

/// The caller's key. Immutable and thread-safe.
typedef struct nc_seal nc_seal;

/// Copies the key. Returns NC_OK, NC_ERR_UNSUPPORTED if OpenSSL lacks an algorithm, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_seal_new(nc_seal **out, const uint8_t key[NC_SEAL_KEY_BYTES], nc_error *err);
/// Wipes and frees the key. NULL is allowed.
void nc_seal_free(nc_seal *seal);
/// Returns NC_SEAL_ID_BYTES that identify the key.
const uint8_t *nc_seal_id(const nc_seal *seal);
/// Writes a name for `text`. Without the key the name discloses nothing about the text. Returns NC_OK, NC_ERR_INTERNAL.
NC_NODISCARD nc_status nc_seal_name(uint8_t out[NC_SEAL_NAME_BYTES], const nc_seal *seal, nc_slice text, nc_error *err);

/// Encrypts or decrypts the pieces of one file. Confined: one thread at a time.
typedef struct nc_cipher nc_cipher;

/// One piece of a file, encrypted or decrypted in place.
typedef struct nc_piece {
    /// Its number, which must be unique among the pieces of the file.
    uint64_t number;
    /// Associated data: the piece can be decrypted only with the same bytes.
    nc_slice associated_data;
    uint8_t *bytes;
    size_t length;
    /// NC_SEAL_TAG_BYTES, written by encryption and read by decryption.
    uint8_t *tag;
} nc_piece;

/// Derives the key of a file with this salt. The cipher encrypts if `encrypts` is true, otherwise it decrypts.
/// Returns NC_OK, NC_ERR_INTERNAL, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_cipher_new(nc_cipher **out, const nc_seal *seal, nc_slice salt, bool encrypts, nc_error *err);
void nc_cipher_free(nc_cipher *cipher);
/// Encrypts or decrypts one piece. Returns NC_OK, NC_ERR_BAD_CODING if a piece to decrypt is not authentic,
/// NC_ERR_INTERNAL if OpenSSL fails.
NC_NODISCARD nc_status nc_cipher_run(nc_cipher *cipher, const nc_piece *piece, nc_error *err);

#endif
