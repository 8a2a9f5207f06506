/// Controls the transfers of an engine: lists, pauses, resumes and prioritizes them.
///
/// Transfers are identified by id. Unknown ids and finished transfers are ignored, so callers need no synchronization
/// with the end of a transfer.
///
///     nc_transfer_info info[64];
///     size_t count = nc_engine_list(engine, info, 64);
#ifndef NETCORE_TRANSFERS_H
#define NETCORE_TRANSFERS_H

#include <netcore/engine.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Pauses a transfer's body in both directions until nc_engine_resume(). The idle and slot limits do not apply
/// meanwhile.
///
/// Bytes in flight may still arrive. Unknown ids and finished transfers are ignored. Never blocks.
/// Thread-safe.
NC_API void nc_engine_pause(nc_engine *engine, nc_transfer_id id);

/// Resumes a transfer after nc_engine_pause(), NC_PAUSE or NC_PULL_LATER.
///
/// A call from another thread that overtakes the NC_PAUSE it belongs to is not lost. The transfers of a download still
/// wait for their destination. Unknown ids and finished transfers are ignored. Never blocks.
/// Thread-safe.
NC_API void nc_engine_resume(nc_engine *engine, nc_transfer_id id);

/// The reasons why a transfer's body is paused. It resumes when no reason is left.
typedef NC_ENUM(nc_rest){
    /// nc_engine_pause().
    NC_REST_PAUSED = 1,
    /// A callback returned NC_PAUSE.
    NC_REST_VERDICT = 2,
    /// The body source returned NC_PULL_LATER.
    NC_REST_SOURCE = 4,
} nc_rest;

/// Removes one reason for a pause, as nc_engine_resume() removes all.
///
/// For a reader that has caught up or a source that has bytes again: neither undoes the nc_engine_pause() of another
/// caller. Other reasons than these three, unknown ids and finished transfers are ignored. Never blocks.
/// Thread-safe.
NC_API void nc_engine_resume_from(nc_engine *engine, nc_transfer_id id, nc_rest reason);

/// Changes the priority of a waiting transfer, and of the next hops of one in flight.
///
/// Unknown ids and finished transfers are ignored. Never blocks.
/// Thread-safe.
NC_API void nc_engine_set_priority(nc_engine *engine, nc_transfer_id id, nc_priority priority);

/// Stops or resumes the start of waiting transfers. Those in flight continue, including their redirects. Limits on
/// waiting still apply.
///
/// Never blocks.
/// Thread-safe.
NC_API void nc_engine_set_suspended(nc_engine *engine, bool is_suspended);

/// The state of a transfer.
typedef NC_ENUM(nc_transfer_state){
    /// Waiting for a slot.
    NC_TRANSFER_WAITING = 0,
    /// Connecting.
    NC_TRANSFER_CONNECTING = 1,
    /// Sending the request.
    NC_TRANSFER_SENDING = 2,
    /// Waiting for the response.
    NC_TRANSFER_AWAITING_REPLY = 3,
    /// Receiving the response.
    NC_TRANSFER_RECEIVING = 4,
} nc_transfer_state;

/// A snapshot of one transfer.
typedef struct nc_transfer_info {
    /// Its id.
    nc_transfer_id id;
    /// Its state.
    nc_transfer_state state;
    /// Its priority among waiting transfers.
    nc_priority priority;
    /// True if paused by nc_engine_pause() or NC_PAUSE.
    bool is_paused;
    /// Time since submit, in nanoseconds.
    uint64_t age_ns;
    /// Body bytes sent in the current hop.
    uint64_t sent_bytes;
    /// Body bytes received in the current hop, before decoding.
    uint64_t received_bytes;
} nc_transfer_info;

/// Lists the transfers that have not ended, in no order.
///
/// - out: room for `capacity` entries; may be NULL if that is 0.
/// Returns their number, even if it exceeds `capacity`. Never blocks on the network.
/// Thread-safe.
NC_API size_t nc_engine_list(nc_engine *engine, nc_transfer_info *NC_NULLABLE out, size_t capacity);

/// Appends the first URL of a transfer that has not ended, without credentials.
///
/// - out: appended to.
/// Returns NC_OK, NC_ERR_USAGE for an unknown id or a finished transfer, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_describe(nc_engine *engine, nc_transfer_id id, nc_buf *out);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
