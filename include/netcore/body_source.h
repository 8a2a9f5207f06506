/// A body, or a part of a form, that the library reads piece by piece.
///
/// The library reads when the network can send, so memory use is constant for any length.
///
///     nc_body_source source = {.ctx = file, .pull = read_more, .rewind = go_to_start};
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
    /// `*filled` bytes, possibly none, and the end.
    NC_PULL_END = 1,
    /// No bytes yet. The source is called again after nc_engine_resume().
    NC_PULL_LATER = 2,
    /// Failure. The transfer ends with NC_ERR_BODY_SOURCE.
    NC_PULL_FAIL = 3,
} nc_pull;

/// Writes at most `capacity` bytes of a request body. Called on the loop thread; must not block.
typedef nc_pull (*nc_pull_fn)(void *NC_NULLABLE ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity,
                              size_t *filled);
/// Rewinds to the first byte, for a redirect or a resend. Returns false if that is not possible.
typedef bool (*nc_rewind_fn)(void *NC_NULLABLE ctx, nc_transfer_id id);

/// A request body that is read piece by piece.
///
/// If a response is complete while the source has no bytes ready, the transfer ends, and an HTTP/1.1 connection is
/// closed. A source with bytes is sent to its end, unless the server closes the connection.
typedef struct nc_body_source {
    /// Passed to both functions, until on_done.
    void *NC_NULLABLE ctx;
    /// NULL means that there is no source.
    nc_pull_fn NC_NULLABLE pull;
    /// NULL means that the body can be sent only once.
    nc_rewind_fn NC_NULLABLE rewind;
} nc_body_source;

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
