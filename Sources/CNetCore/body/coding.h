/// Decodes content codings (RFC 9110, 8.4) piece by piece: gzip, deflate and, if libcurl loaded their libraries, br and
/// zstd.
///
/// libcurl's own decoding is not used, because it does not report a truncated gzip body, and because it cannot be
/// paused within one received piece. Here the caller pulls decoded pieces of at most NC_CODING_PIECE_BYTES and can stop
/// at any point, for example at a decompression bomb. The memory needed is one buffer for each coding. The decoded
/// length is not limited here. An unknown coding is an error.
///
///     if (nc_coding_feed(coding, received, err) == NC_OK)
///         while (nc_coding_next(coding, &piece, err) == NC_OK && piece.length != 0) write(piece);
///     nc_coding_finish(coding, err); // when the whole body has been fed
#ifndef NETCORE_PRIVATE_CODING_H
#define NETCORE_PRIVATE_CODING_H

#include <netcore/bytes.h>

enum {
    /// The longest piece that is returned, or passed from one coding to the next.
    NC_CODING_PIECE_BYTES = 16 * 1024,
    /// The largest number of encoded bytes that may be decoded without output. Padding, empty members and skippable
    /// frames produce none. Ordinary encoders need less than 256 KiB for each coding (a zstd block with its header).
    /// Without this limit a nested bomb could keep nc_coding_next() busy and never reach the limit of the body.
    NC_CODING_SILENT_MAX_BYTES = 4 * 1024 * 1024,
    /// The largest input that is kept during a pause; the same as libcurl's limit for a paused transfer.
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

/// Returns true if a member of Content-Encoding stands for no coding: empty, "identity", or "none", which a few servers
/// send. Pure.
bool nc_coding_is_none(nc_slice name);
/// Returns true if a Content-Encoding value names a coding, known or unknown. Pure.
bool nc_coding_is_named(nc_slice value);

/// Creates the decoders for the codings of a body.
///
/// - values: the values of the Content-Encoding fields, in order; each is a list. The last coding is decoded first.
///   "identity" and empty members are ignored. Without codings the chain returns its input unchanged.
/// - max_codings: the largest number of codings.
/// - out: owned by the caller; release it with nc_coding_free().
/// Returns NC_OK, NC_ERR_BAD_CODING for an unknown coding or too many, NC_ERR_NO_MEMORY, NC_ERR_USAGE.
NC_NODISCARD nc_status nc_coding_new(nc_coding **out, const nc_slice *values, size_t count, uint32_t max_codings,
                                     nc_error *err);
/// Frees the chain. NULL is allowed.
void nc_coding_free(nc_coding *coding);
/// Returns the number of codings; 0 if the chain returns its input unchanged.
size_t nc_coding_count(const nc_coding *coding);

/// Adds encoded bytes. They are borrowed until nc_coding_next() returns an empty piece or nc_coding_keep() has copied
/// them.
///
/// If kept input remains, they are appended to it. Errors of this function and those below are permanent.
/// Returns NC_OK, NC_ERR_USAGE while borrowed input remains, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
NC_NODISCARD nc_status nc_coding_feed(nc_coding *coding, nc_slice bytes, nc_error *err);

/// Decodes the next piece, borrowed until the next call with this chain. It is empty if more input is needed.
///
/// Returns NC_OK, NC_ERR_BAD_CODING, NC_ERR_NO_MEMORY. The bytes decoded before an error are returned before the error.
NC_NODISCARD nc_status nc_coding_next(nc_coding *coding, nc_slice *piece, nc_error *err);

/// Copies the remaining input, so that the caller's buffer may be reused. Call it before a pause.
///
/// Returns NC_OK, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE above NC_CODING_KEPT_MAX_BYTES.
NC_NODISCARD nc_status nc_coding_keep(nc_coding *coding, nc_error *err);

/// Returns true if nc_coding_next() may return more without further input.
bool nc_coding_has_input(const nc_coding *coding);

/// Ends the body. All decoded pieces must have been taken.
///
/// Returns NC_OK if the stream of each coding is complete, or if there was no input (a response to HEAD). Returns
/// NC_ERR_CUT_SHORT if a stream is incomplete, NC_ERR_USAGE while nc_coding_has_input(), or an earlier error.
NC_NODISCARD nc_status nc_coding_finish(const nc_coding *coding, nc_error *err);

#endif
