/// The engine: takes requests from any thread, moves their bytes on one thread of its own, says how each ended.
///
/// For each accepted request events come on the loop thread in the order on_head (once a hop), on_body, on_done;
/// on_done comes exactly once, last, also after a cancel, and never inside submit. Callbacks must not block.
/// A program without an event loop passes no sink and calls nc_engine_wait().
///
///     nc_engine *engine;  nc_transfer_id id;  nc_response *response;
///     if (nc_engine_new(&engine, NULL, &err) == NC_OK &&
///         nc_engine_submit(engine, &request, NULL, &id, &err) == NC_OK &&
///         nc_engine_wait(engine, id, 30000, &response, &err) == NC_OK) …
///     nc_engine_release(engine);
#ifndef NETCORE_ENGINE_H
#define NETCORE_ENGINE_H

#include <netcore/base.h>
#include <netcore/engine_options.h>
#include <netcore/multipart.h>
#include <netcore/request.h>
#include <netcore/response.h>
#include <netcore/trace.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// One loop thread with its connections.
typedef struct nc_engine nc_engine;

/// What a callback wants next.
typedef NC_ENUM(nc_verdict){
    /// Go on.
    NC_CONTINUE = 0,
    /// End the transfer; it ends with NC_ERR_STOPPED_BY_CALLER.
    NC_STOP = 1,
    /// These bytes are taken, no more until nc_engine_resume(); nothing is lost or told twice.
    NC_PAUSE = 2,
} nc_verdict;

/// How far a transfer is; body bytes of the hop under way, as they are on the wire.
typedef struct nc_progress {
    /// Sent.
    uint64_t sent_bytes;
    /// To send; NC_LENGTH_UNKNOWN when nobody knows.
    uint64_t send_total_bytes;
    /// Received.
    uint64_t received_bytes;
    /// To receive; NC_LENGTH_UNKNOWN when nobody knows.
    uint64_t receive_total_bytes;
    /// Bytes a second, both ways together, over the last seconds.
    uint64_t bytes_per_s;
    /// Time left at that rate, in milliseconds; UINT64_MAX when nobody knows.
    uint64_t left_ms;
    /// Where in a form the sending is; its count is 0 without one.
    nc_part_progress part;
} nc_progress;

/// A head arrived: a redirect's when `is_last` is false. The response's body is still empty.
typedef nc_verdict (*nc_head_fn)(void *NC_NULLABLE ctx, nc_transfer_id id, const nc_response *response, bool is_last);
/// A piece of the last hop's decoded body arrived; borrowed for the call.
typedef nc_verdict (*nc_body_fn)(void *NC_NULLABLE ctx, nc_transfer_id id, nc_slice bytes);
/// The transfer is over; `error->status` is NC_OK or what ended it. `response` is borrowed (retain it to keep it); its
/// status is 0 when no head arrived.
typedef void (*nc_done_fn)(void *NC_NULLABLE ctx, nc_transfer_id id, nc_response *response, const nc_error *error);

/// Something moved; called at most ten times a second, and once at the end of a hop.
typedef void (*nc_progress_fn)(void *NC_NULLABLE ctx, nc_transfer_id id, const nc_progress *progress);

/// Where a transfer's events go.
typedef struct nc_sink {
    /// Handed to each callback; the only pointer of the caller's that the engine keeps, until on_done returns.
    void *NC_NULLABLE ctx;
    /// May be NULL. The hop's metrics tell by then what it cost so far, but for ended_ns.
    nc_head_fn NC_NULLABLE on_head;
    /// May be NULL: the body is then collected into the response, up to limits.max_body_bytes.
    nc_body_fn NC_NULLABLE on_body;
    /// Called exactly once for each accepted request.
    nc_done_fn on_done;
    /// May be NULL.
    nc_progress_fn NC_NULLABLE on_progress;
} nc_sink;

/// Starts an engine and its thread.
///
/// - out:     owned by the caller; give it up with nc_engine_release() or nc_engine_close().
/// - options: NULL means all zero; copied.
/// Returns NC_OK, NC_ERR_USAGE, NC_ERR_UNSUPPORTED (libcurl below 7.88, a poller of another system, or one that
/// this system refuses), NC_ERR_NO_MEMORY, NC_ERR_DESCRIPTORS, NC_ERR_THREAD, NC_ERR_CLOSED (the process ends); for a
/// file of cookies, of HSTS or of Alt-Svc, which is read here, NC_ERR_FILE (it cannot be read, or is none: it is not
/// touched) and NC_ERR_TOO_LARGE (over 16 MiB); for one of netrc NC_ERR_FILE. The client's release is called on success
/// only. Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_new(nc_engine *NC_NULLABLE *NC_NONNULL out,
                                            const nc_engine_options *NC_NULLABLE options, nc_error *NC_NULLABLE err);

/// Hands a request to the engine; never blocks on the network and calls nothing back.
///
/// - request: borrowed for the call.
/// - sink:    copied; NULL keeps the result for nc_engine_wait().
/// - out:     the transfer's id.
/// Returns NC_OK, what nc_request_check() refuses, NC_ERR_CLOSED, NC_ERR_NO_MEMORY;
/// on failure on_done is never called. Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_submit(nc_engine *engine, const nc_request *request,
                                               const nc_sink *NC_NULLABLE sink, nc_transfer_id *out,
                                               nc_error *NC_NULLABLE err);

/// Asks for the end of a transfer; it ends with NC_ERR_CANCELLED unless it ended before.
///
/// Unknown and finished ids are ignored. Never blocks. Thread-safe.
NC_API void nc_engine_cancel(nc_engine *engine, nc_transfer_id id);

/// Waits for a transfer that was submitted without a sink, and takes its result.
///
/// - timeout_ms: NC_UNLIMITED waits for ever (each transfer's own limits are finite).
/// - out:        owned by the caller; release with nc_response_release(). Its status is 0 when no head arrived.
/// Returns the transfer's own status, NC_ERR_WAIT_TIMED_OUT (it goes on and may be waited for again), NC_ERR_USAGE for
/// an id that is unknown, taken or has a sink, and on the loop thread. `out` becomes NULL when the wait itself failed.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_wait(nc_engine *engine, nc_transfer_id id, uint32_t timeout_ms,
                                             nc_response *NC_NULLABLE *NC_NONNULL out, nc_error *NC_NULLABLE err);

/// Asks the loop to call its client's drain soon.
///
/// Returns false when the loop has ended: the caller must run its jobs itself. Never blocks. Thread-safe.
NC_API bool nc_engine_wake(nc_engine *engine);

/// Tells whether the caller runs on the engine's loop thread.
///
/// Thread-safe.
NC_API bool nc_engine_is_on_loop(const nc_engine *engine);

/// Takes no more requests and lets the loop end by itself with the last transfer under way.
///
/// The client's release tells when it has. The pointer stays valid until it is released or closed. Never blocks.
/// Thread-safe.
NC_API void nc_engine_finish(nc_engine *engine);

/// Gives the engine up: cancels everything, lets the loop deliver what is due and free itself. NULL is harmless.
///
/// Never blocks; legal on any thread, the loop's own callbacks too. The pointer is invalid afterwards.
NC_API void nc_engine_release(nc_engine *NC_NULLABLE engine);

/// As nc_engine_release(), and waits until the loop has ended.
///
/// Returns NC_OK, NC_ERR_WAIT_TIMED_OUT (the loop goes on ending by itself), NC_ERR_USAGE on the loop thread, which
/// leaves the engine as it was. Otherwise the pointer is invalid afterwards.
NC_API nc_status nc_engine_close(nc_engine *NC_NULLABLE engine, uint32_t timeout_ms);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
