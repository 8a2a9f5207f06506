/// Computes MD5, SHA-256 and SHA-512/256 with OpenSSL, and encodes bytes as hex and base64.
///
/// Use MD5 only for names, such as those of cache entries, and for signatures that old services require, because
/// collisions can be constructed. No function here runs in constant time.
///
///     nc_digest *digest = NULL;
///     uint8_t md5[NC_MD5_BYTES];
///     if (nc_digest_new(&digest, NC_DIGEST_MD5, &err) == NC_OK)
///         status = nc_digest_of(md5, digest, nc_slice_of("abc"), &err); // may be repeated; allocates nothing
///     nc_digest_free(digest);
///
/// If OpenSSL is restricted to FIPS algorithms, MD5 uses a separate context with OpenSSL's default provider. If that
/// provider is missing too, the status is NC_ERR_UNSUPPORTED.
#ifndef NETCORE_DIGEST_H
#define NETCORE_DIGEST_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The size of an MD5 digest, in bytes (RFC 1321).
#define NC_MD5_BYTES 16
/// The size of a SHA-256 digest, in bytes (FIPS 180-4).
#define NC_SHA256_BYTES 32
/// The size of a SHA-512/256 digest, in bytes (FIPS 180-4).
#define NC_SHA512_256_BYTES 32
/// The size of the longest digest, in bytes.
#define NC_DIGEST_MAX_BYTES 32

/// The digest algorithm.
typedef NC_ENUM(nc_digest_kind){
    /// MD5 (RFC 1321); 16 bytes. For names, never for security.
    NC_DIGEST_MD5 = 1,
    /// SHA-256 (FIPS 180-4); 32 bytes.
    NC_DIGEST_SHA256 = 2,
    /// SHA-512/256 (FIPS 180-4), the "SHA-512-256" of RFC 7616; 32 bytes.
    NC_DIGEST_SHA512_256 = 3,
} nc_digest_kind;

/// A reusable digest computation.
typedef struct nc_digest nc_digest;

/// Creates an empty digest.
///
/// The process fetches each algorithm once. Each `nc_digest` has its own OpenSSL context.
/// - out: owned by the caller; release it with nc_digest_free().
/// Returns NC_OK, NC_ERR_USAGE for an unknown kind, NC_ERR_UNSUPPORTED if no provider has the algorithm,
/// NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_digest_new(nc_digest *NC_NULLABLE *NC_NONNULL out, nc_digest_kind kind,
                                            nc_error *NC_NULLABLE err);

/// Frees a digest; NULL is allowed.
///
/// Confined: one thread at a time.
NC_API void nc_digest_free(nc_digest *NC_NULLABLE digest);

/// Returns the size of a digest of this kind in bytes; 0 for an unknown kind.
///
/// Pure; call from any thread.
NC_API size_t nc_digest_bytes(nc_digest_kind kind);

/// Returns the algorithm of a digest.
///
/// Pure; call from any thread.
NC_API nc_digest_kind nc_digest_kind_of(const nc_digest *digest);

/// Adds bytes. If this fails, nc_digest_finish() returns the error.
///
/// Confined: one thread at a time.
NC_API void nc_digest_update(nc_digest *digest, nc_slice bytes);

/// Writes the digest of all added bytes. Then, or after an error, resets `digest` for other bytes.
///
/// - out: nc_digest_bytes() bytes; written on success only.
/// Returns NC_OK, NC_ERR_INTERNAL with OpenSSL's error number in native_code, NC_ERR_NO_MEMORY.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_digest_finish(uint8_t *out, nc_digest *digest, nc_error *NC_NULLABLE err);

/// Discards the added bytes.
///
/// Confined: one thread at a time.
NC_API void nc_digest_reset(nc_digest *digest);

/// Writes the digest of these bytes only. Bytes added before are discarded.
///
/// The function itself allocates nothing. For MD5, OpenSSL 3.0 reallocates 92 bytes, as in each EVP_Digest().
/// - out: as for nc_digest_finish().
/// Returns the statuses of nc_digest_finish(), and NC_ERR_USAGE if `bytes` has a length but is NULL.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_digest_of(uint8_t *out, nc_digest *digest, nc_slice bytes, nc_error *NC_NULLABLE err);

/* --- bytes as text --- */

/// The alphabets of base64 (RFC 4648).
typedef NC_ENUM(nc_base64_kind){
    /// Section 4: '+' and '/', padded with '='.
    NC_BASE64 = 0,
    /// Section 5: '-' and '_', without padding, as in JWT and WebPush.
    NC_BASE64URL = 1,
    /// Section 5 with padding.
    NC_BASE64URL_PADDED = 2,
} nc_base64_kind;

/// Appends two lower-case hex digits for each byte.
///
/// An error is sticky in `out`, as with nc_buf_append().
/// Pure; call from any thread.
NC_API void nc_hex_encode(nc_buf *out, nc_slice bytes);

/// Decodes hex digits of either case and appends the bytes.
///
/// Returns NC_OK, NC_ERR_BAD_CODING with the offset of a wrong digit, or for an odd number of digits; NC_ERR_USAGE,
/// NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY. After an error `out` is unchanged.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_hex_decode(nc_buf *out, nc_slice text, nc_error *NC_NULLABLE err);

/// Appends bytes as base64 on one line.
///
/// An error is sticky in `out`, as with nc_buf_append().
/// Pure; call from any thread.
NC_API void nc_base64_encode(nc_buf *out, nc_slice bytes, nc_base64_kind kind);

/// Decodes base64 and appends the bytes. Strict: exactly one text is accepted for given bytes.
///
/// It refuses white space, characters of the other alphabet, missing, wrong or unexpected padding, and bits after the
/// last byte that are not 0 (RFC 4648, 3.5).
/// Returns NC_OK, NC_ERR_BAD_CODING with the offset of the wrong character, NC_ERR_USAGE, NC_ERR_TOO_LARGE,
/// NC_ERR_NO_MEMORY. After an error `out` is unchanged.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_base64_decode(nc_buf *out, nc_slice text, nc_base64_kind kind,
                                               nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
