/// Decodes content codings (RFC 9110, 8.4) piece by piece: gzip, deflate and, if libcurl loaded their libraries, br and
/// zstd.
///
/// libcurl decodes too, but it does not detect a gzip body that ends within its stream, and it cannot be paused while
/// it inflates. Here the caller pulls pieces of at most NC_CODING_PIECE_BYTES. A decompression bomb can be stopped at
/// any point, with one buffer per coding. The module does not limit the decoded length. An unknown coding is an error.
///
///     if (nc_coding_feed(coding, received, err) == NC_OK)
///         while (nc_coding_next(coding, &piece, err) == NC_OK && piece.length != 0) write(piece);
///     nc_coding_finish(coding, err);    // when the body is over
#ifndef NETCORE_PRIVATE_CODING_H
#define NETCORE_PRIVATE_CODING_H

#include <netcore/bytes.h>

enum {
    /// The longest piece that is returned, and the longest between two codings.
    NC_CODING_PIECE_BYTES = 16 * 1024,
    /// The largest number of coded bytes without output: padding, empty members, skippable frames. Honest encoders need
    /// less than 256 KiB (a zstd block and its header) for each coding. Without this limit a nested bomb could keep
    /// nc_coding_next() busy without ever reaching the limit of the body.
    NC_CODING_SILENT_MAX_BYTES = 4 * 1024 * 1024,
    /// The largest input that is kept while the reader is paused; libcurl buffers as much for a paused transfer.
    NC_CODING_KEPT_MAX_BYTES = 64 * 1024 * 1024,
};

/// A chain of decoders for one body. Confined: one thread at a time.
typedef struct nc_coding nc_coding;

/// Returns the supported codings as an Accept-Encoding value: "gzip, deflate, br, zstd" or fewer.
///
/// Returns a static string. Pure; call from any thread.
const char *nc_coding_accepted(void);
/// Returns true if the process has a brotli decoder. Pure; call from any thread.
bool nc_coding_has_brotli(void);
/// Returns true if the process has a zstd decoder. Pure; call from any thread.
bool nc_coding_has_zstd(void);

/// Creates the decoders for the codings of a body.
///
/// - values: of the Content-Encoding fields in their order, each a list. They are decoded from the last to the first.
///   "identity" and empty members are ignored. A chain without codings returns its input.
/// - max_codings: the largest number of codings.
/// - out: owned by the caller; release it with nc_coding_free().
/// Returns NC_OK, NC_ERR_BAD_CODING for an unknown coding or too many, NC_ERR_NO_MEMORY, NC_ERR_USAGE.
NC_NODISCARD nc_status nc_coding_new(nc_coding **out, const nc_slice *values, size_t count, uint32_t max_codings,
                                     nc_error *err);
/// Frees the chain. NULL is allowed.
void nc_coding_free(nc_coding *coding);
/// Returns the number of codings; 0 if the chain returns its input.
size_t nc_coding_count(const nc_coding *coding);

/// Adds coded bytes. They are borrowed until they are consumed (nc_coding_next() returned an empty piece) or kept.
///
/// If kept input is left, they are appended to it. Errors of this function and those below are permanent.
/// Returns NC_OK, NC_ERR_USAGE while borrowed input is left, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
NC_NODISCARD nc_status nc_coding_feed(nc_coding *coding, nc_slice bytes, nc_error *err);

/// Decodes the next piece, borrowed until the next call with this chain. It is empty if more input is needed.
///
/// Returns NC_OK, NC_ERR_BAD_CODING, NC_ERR_NO_MEMORY. Bytes before an error are returned first.
NC_NODISCARD nc_status nc_coding_next(nc_coding *coding, nc_slice *piece, nc_error *err);

/// Copies the remaining input, so that the caller's buffer may be reused. Call it before a pause.
///
/// Returns NC_OK, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE above NC_CODING_KEPT_MAX_BYTES.
NC_NODISCARD nc_status nc_coding_keep(nc_coding *coding, nc_error *err);

/// Returns true if nc_coding_next() may return more without further input.
bool nc_coding_has_input(const nc_coding *coding);

/// Ends the body. All decoded pieces must have been taken.
///
/// Returns NC_OK if every coding has ended, or if there was no input (a response to HEAD). Returns NC_ERR_CUT_SHORT if
/// a coding has not ended, NC_ERR_USAGE while nc_coding_has_input(), or an earlier error.
NC_NODISCARD nc_status nc_coding_finish(const nc_coding *coding, nc_error *err);

#endif
