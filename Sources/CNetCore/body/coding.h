/// Undoes content codings (RFC 9110, 8.4) piece by piece: gzip, deflate and, where libcurl brought them, br and zstd.
///
/// libcurl undoes codings too, but it neither notices a gzip body that ends within its stream nor can it be paused
/// while it inflates. Here the caller pulls: each piece has at most NC_CODING_PIECE_BYTES, so a body that swells is
/// stopped at any point with one buffer per coding in use. The module keeps no limit on the decoded length, and it
/// never guesses: a coding that it does not know is an error.
///
///     if (nc_coding_feed(coding, received, err) == NC_OK)
///         while (nc_coding_next(coding, &piece, err) == NC_OK && piece.length != 0) write(piece);
///     nc_coding_finish(coding, err);    // when the body is over
#ifndef NETCORE_PRIVATE_CODING_H
#define NETCORE_PRIVATE_CODING_H

#include <netcore/bytes.h>

enum {
    /// The longest piece that is given out, and the longest that one coding hands to the next.
    NC_CODING_PIECE_BYTES = 16 * 1024,
    /// Coded bytes that may be taken without anything decoded from them: padding, empty members, skippable frames.
    /// Honest encoders need less than 256 KiB (a zstd block and its header) for each coding; without an end to it, a
    /// bomb inside a bomb keeps nc_coding_next() busy for ever without ever reaching the limit of the body.
    NC_CODING_SILENT_MAX_BYTES = 4 * 1024 * 1024,
    /// Input that is kept at most while the reader pauses: as much as libcurl holds back for a paused transfer.
    NC_CODING_KEPT_MAX_BYTES = 64 * 1024 * 1024,
};

/// A chain of decoders for one body. Confined: one thread at a time.
typedef struct nc_coding nc_coding;

/// Tells what can be undone here, as the value of Accept-Encoding: "gzip, deflate, br, zstd" or less.
///
/// Returns a static string. Pure; call from any thread.
const char *nc_coding_accepted(void);
/// Tells whether a brotli decoder is in the process. Pure; call from any thread.
bool nc_coding_has_brotli(void);
/// Tells whether a zstd decoder is in the process. Pure; call from any thread.
bool nc_coding_has_zstd(void);

/// Makes the chain that undoes the codings of a body.
///
/// - values: of the Content-Encoding fields in their order, each a list; undone from the last to the first. "identity"
///   and empty members count for nothing; a chain without codings hands on what it is fed.
/// - max_codings: how many there may be.
/// - out: owned by the caller; release with nc_coding_free().
/// Returns NC_OK, NC_ERR_BAD_CODING for an unknown coding or too many of them, NC_ERR_NO_MEMORY, NC_ERR_USAGE.
NC_NODISCARD nc_status nc_coding_new(nc_coding **out, const nc_slice *values, size_t count, uint32_t max_codings,
                                     nc_error *err);
/// Frees the chain; NULL is harmless.
void nc_coding_free(nc_coding *coding);
/// Tells how many codings the chain undoes; 0 when it only hands on.
size_t nc_coding_count(const nc_coding *coding);

/// Gives coded bytes, borrowed until they are taken (nc_coding_next() gave an empty piece) or kept.
///
/// Kept input that is not yet taken is added to. A failure is for good, as with the calls below.
/// Returns NC_OK, NC_ERR_USAGE while borrowed input is left, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
NC_NODISCARD nc_status nc_coding_feed(nc_coding *coding, nc_slice bytes, nc_error *err);

/// Decodes the next piece, borrowed until the next call with this chain; empty when more input is needed.
///
/// Returns NC_OK, NC_ERR_BAD_CODING, NC_ERR_NO_MEMORY. What was decoded before the fault is given out first.
NC_NODISCARD nc_status nc_coding_next(nc_coding *coding, nc_slice *piece, nc_error *err);

/// Copies the input that is left, so that what was fed may go away; call it before a pause.
///
/// Returns NC_OK, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE above NC_CODING_KEPT_MAX_BYTES.
NC_NODISCARD nc_status nc_coding_keep(nc_coding *coding, nc_error *err);

/// Tells whether nc_coding_next() may have more to give without being fed.
bool nc_coding_has_input(const nc_coding *coding);

/// Judges the end of the body; everything decoded must have been taken out before.
///
/// Returns NC_OK when every coding came to its end or nothing at all was fed (an answer to HEAD), NC_ERR_CUT_SHORT
/// when one did not, NC_ERR_USAGE while nc_coding_has_input(), or the failure of an earlier call.
NC_NODISCARD nc_status nc_coding_finish(const nc_coding *coding, nc_error *err);

#endif
