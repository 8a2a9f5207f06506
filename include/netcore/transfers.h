/// What is under way: looking at it, holding it up, letting it go on, changing who goes first.
///
/// Transfers are named by id; an id that is unknown or has ended is ignored, so that nobody needs to know which of two
/// threads was faster.
///
///     nc_transfer_info info[64];
///     size_t count = nc_engine_list(engine, info, 64);
#ifndef NETCORE_TRANSFERS_H
#define NETCORE_TRANSFERS_H

#include <netcore/engine.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Stops receiving and sending a transfer's body until nc_engine_resume(); idleness and the wait for a slot are then
/// not counted.
///
/// What is under way may still come. Unknown and finished ids are ignored. Never blocks. Thread-safe.
NC_API void nc_engine_pause(nc_engine *engine, nc_transfer_id id);

/// Goes on after nc_engine_pause(), NC_PAUSE and NC_PULL_LATER, whichever of them it was.
///
/// One that comes before the pause it answers to (from another thread) is not lost. A download's transfers wait for
/// their file's place all the same. Unknown and finished ids are ignored. Never blocks. Thread-safe.
NC_API void nc_engine_resume(nc_engine *engine, nc_transfer_id id);

/// Why a transfer's body rests; it goes on when no reason is left.
typedef NC_ENUM(nc_rest){
    /// nc_engine_pause().
    NC_REST_PAUSED = 1,
    /// A callback answered NC_PAUSE.
    NC_REST_VERDICT = 2,
    /// The request body's source answered NC_PULL_LATER.
    NC_REST_SOURCE = 4,
} nc_rest;

/// As nc_engine_resume(), but takes one reason away and leaves the others.
///
/// For callbacks that hold up what is theirs: a reader that has caught up, or a source that has something again, does
/// not undo somebody else's nc_engine_pause(). A reason that is none of the three is ignored, as unknown and finished
/// ids are. Never blocks. Thread-safe.
NC_API void nc_engine_resume_from(nc_engine *engine, nc_transfer_id id, nc_rest reason);

/// Moves a transfer that waits; the next hop of one that does not wait follows it too.
///
/// Unknown and finished ids are ignored. Never blocks. Thread-safe.
NC_API void nc_engine_set_priority(nc_engine *engine, nc_transfer_id id, nc_priority priority);

/// Keeps what waits from starting, or lets it start again; what runs goes on, to the end of its
/// redirects too. Waiting limits go on too.
///
/// Never blocks. Thread-safe.
NC_API void nc_engine_set_suspended(nc_engine *engine, bool is_suspended);

/// What a transfer is doing.
typedef NC_ENUM(nc_transfer_state){
    /// It waits for a slot.
    NC_TRANSFER_WAITING = 0,
    /// It connects.
    NC_TRANSFER_CONNECTING = 1,
    /// Its request is on the way.
    NC_TRANSFER_SENDING = 2,
    /// The server thinks.
    NC_TRANSFER_AWAITING_REPLY = 3,
    /// Its response comes in.
    NC_TRANSFER_RECEIVING = 4,
} nc_transfer_state;

/// One transfer, as it was a moment ago.
typedef struct nc_transfer_info {
    /// Its id.
    nc_transfer_id id;
    /// What it is doing.
    nc_transfer_state state;
    /// Its place among those that wait.
    nc_priority priority;
    /// It rests because of nc_engine_pause() or NC_PAUSE.
    bool is_paused;
    /// Since submit, in nanoseconds.
    uint64_t age_ns;
    /// Body bytes sent in the hop under way.
    uint64_t sent_bytes;
    /// Body bytes received in the hop under way, before decoding.
    uint64_t received_bytes;
} nc_transfer_info;

/// Lists the transfers that have not ended, in no order.
///
/// - out: room for `capacity` of them; may be NULL when that is 0.
/// Returns how many there are, also when there was not room for all. Never blocks on the network. Thread-safe.
NC_API size_t nc_engine_list(nc_engine *engine, nc_transfer_info *NC_NULLABLE out, size_t capacity);

/// Gives the first URL of a transfer that has not ended, without its credentials.
///
/// - out: appended to. Returns NC_OK, NC_ERR_USAGE for an unknown or finished id, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_describe(nc_engine *engine, nc_transfer_id id, nc_buf *out);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
