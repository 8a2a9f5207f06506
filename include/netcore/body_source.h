/// A body, or a part of a form, that the library reads piece by piece.
///
/// The library reads a piece only when the network can send it. Memory use is therefore constant for any length.
///
///     nc_body_source source = {.ctx = file, .pull = read_more, .seek = go_to};
///     request.body_source = source;
///     request.body_length = NC_LENGTH_UNKNOWN;
#ifndef NETCORE_BODY_SOURCE_H
#define NETCORE_BODY_SOURCE_H

#include <netcore/base.h>
#include <netcore/trace.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// An unknown length. Such a body is chunked over HTTP/1.1, and has no Content-Length over HTTP/2.
#define NC_LENGTH_UNKNOWN UINT64_MAX

/// The result of a pull callback.
typedef NC_ENUM(nc_pull){
    /// `*filled` bytes, at least one. More may follow.
    NC_PULL_MORE = 0,
    /// `*filled` bytes, possibly none. The body ends after them.
    NC_PULL_END = 1,
    /// No bytes yet. The source is called again after nc_engine_resume().
    NC_PULL_LATER = 2,
    /// Failure. The transfer ends with NC_ERR_BODY_SOURCE.
    NC_PULL_FAIL = 3,
} nc_pull;

/// Writes the next bytes of the body, at most `capacity`, to `bytes` and their number to `filled`. Called on the loop
/// thread; must not block.
typedef nc_pull (*nc_pull_fn)(void *NC_NULLABLE ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity,
                              size_t *filled);
/// Moves the source, so that the next pull returns the bytes from `offset` on. `offset` is 0 or nc_request.body_offset;
/// for the part of a form it is 0. Called when the body is sent, and again when it is resent, such as after a redirect.
/// Returns false if the source cannot be moved; the transfer then ends with NC_ERR_NOT_REWINDABLE. Called on the loop
/// thread; must not block.
typedef bool (*nc_seek_fn)(void *NC_NULLABLE ctx, nc_transfer_id id, uint64_t offset);

/// A request body that is read piece by piece.
///
/// If its length is known, a source with more or fewer bytes ends the transfer with NC_ERR_BODY_LENGTH. The last byte
/// is therefore sent only when the source has ended. If the length is 0, the source is called once before anything is
/// sent; NC_PULL_LATER then counts as its end.
///
/// The response may be complete before the body was sent. If the source then has no bytes ready, the transfer ends, and
/// an HTTP/1.1 connection is closed. If it has bytes, the body is sent to its end, unless the server closes the
/// connection.
typedef struct nc_body_source {
    /// Passed to both functions, which are not called after on_done.
    void *NC_NULLABLE ctx;
    /// NULL means that there is no source.
    nc_pull_fn NC_NULLABLE pull;
    /// NULL means that the body can be sent only once, from its first byte.
    nc_seek_fn NC_NULLABLE seek;
} nc_body_source;

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
