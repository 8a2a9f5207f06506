/// A request body, or a part of one, that is asked for piece by piece.
///
/// The library asks when the network has room, so that memory stays constant, whatever the length.
///
///     nc_body_source source = {.ctx = file, .pull = read_more, .rewind = go_to_start};
#ifndef NETCORE_BODY_SOURCE_H
#define NETCORE_BODY_SOURCE_H

#include <netcore/base.h>
#include <netcore/trace.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// A body whose length is not known before: chunked over HTTP/1.1, without a length over HTTP/2.
#define NC_LENGTH_UNKNOWN UINT64_MAX

/// What a pull callback gave.
typedef NC_ENUM(nc_pull){
    /// `*filled` bytes, at least one; there may be more.
    NC_PULL_MORE = 0,
    /// `*filled` bytes, perhaps none, and these were the last.
    NC_PULL_END = 1,
    /// Nothing now; it is asked again after nc_engine_resume().
    NC_PULL_LATER = 2,
    /// It failed; the transfer ends with NC_ERR_BODY_SOURCE.
    NC_PULL_FAIL = 3,
} nc_pull;

/// Fills at most `capacity` bytes of a request body; runs on the loop thread and must not block.
typedef nc_pull (*nc_pull_fn)(void *NC_NULLABLE ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity,
                              size_t *filled);
/// Goes back to the body's first byte, for a redirect or a connection that died; returns whether it can.
typedef bool (*nc_rewind_fn)(void *NC_NULLABLE ctx, nc_transfer_id id);

/// A request body that is asked for piece by piece.
///
/// A response that is whole while the source has nothing to give ends the transfer: the source is not asked any more,
/// and an HTTP/1.1 connection is closed. A source that goes on giving is sent to its end, unless the server hangs up.
typedef struct nc_body_source {
    /// Handed to both functions, until on_done.
    void *NC_NULLABLE ctx;
    /// NULL: there is no source.
    nc_pull_fn NC_NULLABLE pull;
    /// NULL: the body can be sent once only.
    nc_rewind_fn NC_NULLABLE rewind;
} nc_body_source;

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
