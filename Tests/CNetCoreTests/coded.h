/// Coded bodies for the tests of body/coding.h, and ways to decode them.
#ifndef NETCORE_TEST_CODED_H
#define NETCORE_TEST_CODED_H

#include "harness.h"

#include "body/coding.h"

/// deflateInit2()'s words for a format.
enum { CODED_GZIP = 15 + 16, CODED_ZLIB = 15, CODED_RAW = -15 };

/// How many formats coded_body() has.
enum { CODED_FORMATS = 5 };

/// The plain text of all the bodies: repeated words, then bytes that do not repeat.
nc_slice coded_text(void);

/// A body of coded_text() and the coding that it is in.
typedef struct coded_body {
    const char *coding;
    nc_buf bytes;
} coded_body;

/// Makes the body in a format from 0 to CODED_FORMATS - 1: gzip, zlib, raw deflate, br and zstd.
/// Without a decoder for br or zstd in the process, gzip stands in for it.
coded_body coded_body_make(size_t format);

/// Compresses with zlib; free the buffer with nc_buf_deinit().
nc_buf coded_deflate(nc_slice plain, int window_bits);

/// A buffer with a copy of a literal's bytes.
#define coded_bytes(literal) coded_copy(nc_slice_make(literal, sizeof(literal) - 1))
nc_buf coded_copy(nc_slice bytes);

/// Makes the chain for one Content-Encoding value; NULL when memory ran out.
nc_coding *coded_chain(const char *codings);

/// Appends all that the chain gives now.
nc_status coded_drain(nc_coding *coding, nc_buf *out, nc_error *err);

/// Decodes a whole body, fed `step` bytes at a time in guarded copies, and finishes it.
nc_status coded_decode(nc_buf *out, const char *codings, nc_slice body, size_t step, nc_error *err);

/// Fails unless the body decodes to exactly `plain`, fed whole and byte by byte.
void coded_assert_plain(const char *codings, nc_slice body, nc_slice plain);

/// Fails unless decoding ends with `status`, fed whole and byte by byte.
void coded_assert_status(const char *codings, nc_slice body, nc_status status);

#endif
