/// Test bodies for body/coding.h in each content coding, and helpers that decode them.
#ifndef NETCORE_TEST_CODED_H
#define NETCORE_TEST_CODED_H

#include "harness.h"

#include "body/coding.h"

/// Values of `windowBits` for deflateInit2().
enum { ENCODED_GZIP = 15 + 16, ENCODED_ZLIB = 15, ENCODED_RAW = -15 };

/// The number of formats of encoded_body_make().
enum { ENCODED_FORMATS = 5 };

/// The plain text of all bodies: repeated words, then bytes that do not repeat.
nc_slice encoded_text(void);

/// An encoded copy of encoded_text() and its coding.
typedef struct encoded_body {
    const char *coding;
    nc_buf bytes;
} encoded_body;

/// Encodes the text in a format from 0 to ENCODED_FORMATS - 1: gzip, zlib, raw deflate, br and zstd. Uses gzip if the
/// process has no decoder for br or zstd.
encoded_body encoded_body_make(size_t format);

/// Compresses with zlib; free the buffer with nc_buf_deinit().
nc_buf encoded_deflate(nc_slice plain, int window_bits);

/// A buffer with a copy of a literal's bytes.
#define encoded_bytes(literal) encoded_copy(nc_slice_make(literal, sizeof(literal) - 1))
nc_buf encoded_copy(nc_slice bytes);

/// Creates the decoders for one Content-Encoding value. Returns NULL if there is no memory.
nc_coding *encoded_chain(const char *codings);

/// Appends all bytes that the chain can produce now.
nc_status encoded_drain(nc_coding *coding, nc_buf *out, nc_error *err);

/// Decodes a whole body in guarded copies of `step` bytes, and finishes it.
nc_status encoded_decode(nc_buf *out, const char *codings, nc_slice body, size_t step, nc_error *err);

/// Fails unless the body decodes to exactly `plain`, both whole and byte by byte.
void encoded_assert_plain(const char *codings, nc_slice body, nc_slice plain);

/// Fails unless decoding ends with `status`, both whole and byte by byte.
void encoded_assert_status(const char *codings, nc_slice body, nc_status status);

#endif
