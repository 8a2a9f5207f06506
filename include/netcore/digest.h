/// MD5, SHA-256 and SHA-512/256 through OpenSSL, and the three alphabets in which bytes are written as text.
///
/// MD5 names things here (cache entries, signatures that old services ask for) and never proves anything: whoever can
/// choose what is digested can make two texts with one MD5. Nothing here compares in constant time.
///
///     nc_digest *digest = NULL;
///     uint8_t md5[NC_MD5_BYTES];
///     if (nc_digest_new(&digest, NC_DIGEST_MD5, &err) == NC_OK)
///         status = nc_digest_of(md5, digest, nc_slice_of("abc"), &err);   // as often as one likes, without allocating
///     nc_digest_free(digest);
///
/// Where OpenSSL is told to use FIPS algorithms alone, MD5 comes from a context of its own with OpenSSL's default
/// provider in it; where there is none either, the status is NC_ERR_UNSUPPORTED.
#ifndef NETCORE_DIGEST_H
#define NETCORE_DIGEST_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Bytes of an MD5 digest (RFC 1321).
#define NC_MD5_BYTES 16
/// Bytes of a SHA-256 digest (FIPS 180-4).
#define NC_SHA256_BYTES 32
/// Bytes of a SHA-512/256 digest (FIPS 180-4).
#define NC_SHA512_256_BYTES 32
/// Bytes of the longest digest.
#define NC_DIGEST_MAX_BYTES 32

/// Which digest.
typedef NC_ENUM(nc_digest_kind){
    /// RFC 1321; 16 bytes. For names, never for proof.
    NC_DIGEST_MD5 = 1,
    /// FIPS 180-4; 32 bytes.
    NC_DIGEST_SHA256 = 2,
    /// FIPS 180-4, the "SHA-512-256" of RFC 7616; 32 bytes.
    NC_DIGEST_SHA512_256 = 3,
} nc_digest_kind;

/// A digest that is being computed, and is used again for the next one.
typedef struct nc_digest nc_digest;

/// Makes a digest that has seen nothing yet.
///
/// The algorithm is fetched once for the process and shared; each digest has a working context of its own.
/// - out: owned by the caller; release with nc_digest_free().
/// Returns NC_OK, NC_ERR_USAGE for an unknown kind, NC_ERR_UNSUPPORTED when no provider has the algorithm,
/// NC_ERR_NO_MEMORY. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_digest_new(nc_digest *NC_NULLABLE *NC_NONNULL out, nc_digest_kind kind,
                                            nc_error *NC_NULLABLE err);

/// Frees a digest; NULL is allowed.
///
/// Confined: one thread at a time.
NC_API void nc_digest_free(nc_digest *NC_NULLABLE digest);

/// Tells how many bytes a digest of this kind has; 0 for an unknown kind.
///
/// Pure; call from any thread.
NC_API size_t nc_digest_bytes(nc_digest_kind kind);

/// Tells which digest it is.
///
/// Pure; call from any thread.
NC_API nc_digest_kind nc_digest_kind_of(const nc_digest *digest);

/// Adds bytes to what is digested. A failure is kept, and told by nc_digest_finish().
///
/// Confined: one thread at a time.
NC_API void nc_digest_update(nc_digest *digest, nc_slice bytes);

/// Writes the digest of all that was added, and begins anew; after a failure too.
///
/// - out: nc_digest_bytes() of room; written on success alone.
/// Returns NC_OK, NC_ERR_INTERNAL with OpenSSL's number when OpenSSL fails, NC_ERR_NO_MEMORY.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_digest_finish(uint8_t *out, nc_digest *digest, nc_error *NC_NULLABLE err);

/// Forgets what was added, and begins anew.
///
/// Confined: one thread at a time.
NC_API void nc_digest_reset(nc_digest *digest);

/// Writes the digest of these bytes alone; what was added before is forgotten.
///
/// Allocates nothing itself; OpenSSL 3.0 replaces its 92 bytes of MD5's state, as in any EVP_Digest().
/// - out: as for nc_digest_finish(), as are the statuses. NC_ERR_USAGE for a slice that is NULL.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_digest_of(uint8_t *out, nc_digest *digest, nc_slice bytes, nc_error *NC_NULLABLE err);

/* --- bytes as text --- */

/// Base64's alphabets (RFC 4648).
typedef NC_ENUM(nc_base64_kind){
    /// Section 4: '+' and '/', padded with '='.
    NC_BASE64 = 0,
    /// Section 5: '-' and '_', without padding, as JWT and WebPush have it.
    NC_BASE64URL = 1,
    /// Section 5 with padding.
    NC_BASE64URL_PADDED = 2,
} nc_base64_kind;

/// Appends two lower-case hex digits for each byte.
///
/// A failure is kept in `out`, as nc_buf_append() does. Pure; call from any thread.
NC_API void nc_hex_encode(nc_buf *out, nc_slice bytes);

/// Appends the bytes that hex digits of either case spell.
///
/// Returns NC_OK, NC_ERR_BAD_CODING with the offset of what is no digit, or for an odd number of them; NC_ERR_USAGE,
/// NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY; `out` is then as it was. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_hex_decode(nc_buf *out, nc_slice text, nc_error *NC_NULLABLE err);

/// Appends bytes in base64, on one line.
///
/// A failure is kept in `out`, as nc_buf_append() does. Pure; call from any thread.
NC_API void nc_base64_encode(nc_buf *out, nc_slice bytes, nc_base64_kind kind);

/// Appends the bytes that a text in base64 spells. Strict: one text alone stands for given bytes.
///
/// Refused are white space, the other alphabet, padding that is missing, wrong or not the kind's, and bits behind the
/// last byte that are not 0 (RFC 4648, 3.5).
/// Returns NC_OK, NC_ERR_BAD_CODING with the offset of the offender, NC_ERR_USAGE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY;
/// `out` is then as it was. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_base64_decode(nc_buf *out, nc_slice text, nc_base64_kind kind,
                                               nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
