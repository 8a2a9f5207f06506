/// Controls the transfers of an engine: lists, pauses, resumes and prioritizes them.
///
/// Transfers are identified by id. Unknown ids and finished transfers are ignored, so a caller may use an id without
/// knowing whether its transfer has ended.
///
///     nc_transfer_info info[64];
///     size_t count = nc_engine_list(engine, info, 64);
#ifndef NETCORE_TRANSFERS_H
#define NETCORE_TRANSFERS_H

#include <netcore/engine.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Pauses the bodies of a transfer in both directions until nc_engine_resume(). The idle and slot limits do not apply
/// during a pause.
///
/// Bytes that are already on their way may still be delivered. Unknown ids and finished transfers are ignored. Never
/// blocks.
/// Thread-safe.
NC_API void nc_engine_pause(nc_engine *engine, nc_transfer_id id);

/// Resumes a transfer after nc_engine_pause(), NC_ACTION_PAUSE or NC_PULL_LATER.
///
/// A call from another thread may arrive before the callback has returned the NC_ACTION_PAUSE that it is meant for. It
/// is not lost: the pause then ends immediately. It does not resume a download that waits for its destination. Unknown
/// ids and finished transfers are ignored. Never blocks.
/// Thread-safe.
NC_API void nc_engine_resume(nc_engine *engine, nc_transfer_id id);

/// The reasons for which a transfer can be paused. It resumes when none of them applies any more.
typedef NC_ENUM(nc_pause_reason){
    /// nc_engine_pause().
    NC_PAUSE_EXPLICIT = 1,
    /// A callback returned NC_ACTION_PAUSE.
    NC_PAUSE_CALLBACK = 2,
    /// The body source returned NC_PULL_LATER.
    NC_PAUSE_SOURCE = 4,
} nc_pause_reason;

/// Removes one reason for a pause. nc_engine_resume() removes all of them.
///
/// A reader of the body and a body source use it to continue without undoing another caller's nc_engine_pause(). Other
/// values of `reason`, unknown ids and finished transfers are ignored. Never blocks.
/// Thread-safe.
NC_API void nc_engine_resume_from(nc_engine *engine, nc_transfer_id id, nc_pause_reason reason);

/// Changes the priority of a transfer. If the transfer is already in flight, the change applies to its next hops.
///
/// Unknown ids and finished transfers are ignored. Never blocks.
/// Thread-safe.
NC_API void nc_engine_set_priority(nc_engine *engine, nc_transfer_id id, nc_priority priority);

/// If `is_suspended` is true, no waiting transfer is started until a call with false. Transfers in flight continue,
/// including their redirects. The slot and total limits of waiting transfers still apply.
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
    /// True if paused by nc_engine_pause() or NC_ACTION_PAUSE.
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
/// - out: an array of `capacity` entries; may be NULL if `capacity` is 0.
/// Returns the number of transfers, which may exceed `capacity`. Never blocks on the network.
/// Thread-safe.
NC_API size_t nc_engine_list(nc_engine *engine, nc_transfer_info *NC_NULLABLE out, size_t capacity);

/// Appends the URL of a transfer's first hop, without credentials. The transfer must not have ended.
///
/// - out: appended to.
/// Returns NC_OK, NC_ERR_USAGE for an unknown id or a finished transfer, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_describe(nc_engine *engine, nc_transfer_id id, nc_buf *out);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
