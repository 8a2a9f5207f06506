/// The engine: accepts requests from any thread, runs them on one event loop thread, and reports their results.
///
/// For each accepted request the loop thread calls on_head once for each hop, then on_body, then on_done. on_done is
/// the last call and is made exactly once, even if the request was cancelled. nc_engine_submit() itself never calls
/// back. Callbacks must not block. A program without an event loop passes no sink and calls nc_engine_wait().
///
///     nc_engine *engine;  nc_transfer_id id;  nc_response *response;
///     if (nc_engine_new(&engine, NULL, &err) == NC_OK &&
///         nc_engine_submit(engine, &request, NULL, &id, &err) == NC_OK &&
///         nc_engine_wait(engine, id, 30000, &response, &err) == NC_OK) …
///     nc_engine_close(engine, NC_UNLIMITED);
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

/// One event loop thread with its connections.
typedef struct nc_engine nc_engine;

/// The action that a callback returns.
typedef NC_ENUM(nc_action){
    /// Continue.
    NC_ACTION_CONTINUE = 0,
    /// End the transfer with NC_ERR_STOPPED_BY_CALLER.
    NC_ACTION_STOP = 1,
    /// Count these bytes as received, and pause until nc_engine_resume(). No byte is lost or delivered twice.
    NC_ACTION_PAUSE = 2,
} nc_action;

/// Progress of a transfer. Bytes are those of the current hop's bodies on the wire, that is, encoded.
typedef struct nc_progress {
    /// Bytes sent.
    uint64_t sent_bytes;
    /// Bytes to send; NC_LENGTH_UNKNOWN if unknown.
    uint64_t send_total_bytes;
    /// Bytes received.
    uint64_t received_bytes;
    /// Bytes to receive; NC_LENGTH_UNKNOWN if unknown.
    uint64_t receive_total_bytes;
    /// Bytes per second in both directions together, over the last seconds.
    uint64_t bytes_per_s;
    /// Remaining time at that rate, in milliseconds; UINT64_MAX if unknown.
    uint64_t left_ms;
    /// The part of a form that is being sent. Its `count` is 0 if the body is not a form.
    nc_part_progress part;
} nc_progress;

/// Receives a response head. `is_last` is false for a redirect that will be followed. The response's body is still
/// empty.
typedef nc_action (*nc_head_fn)(void *NC_NULLABLE ctx, nc_transfer_id id, const nc_response *response, bool is_last);
/// Receives a piece of the last hop's decoded body, borrowed for the call.
typedef nc_action (*nc_body_fn)(void *NC_NULLABLE ctx, nc_transfer_id id, nc_slice bytes);
/// Receives the result. `error->status` is NC_OK or the reason of the failure. `response` is borrowed; retain it to
/// keep it. Its status is 0 if no head arrived.
typedef void (*nc_done_fn)(void *NC_NULLABLE ctx, nc_transfer_id id, nc_response *response, const nc_error *error);

/// Receives the progress, at most ten times per second and once at the end of a hop.
typedef void (*nc_progress_fn)(void *NC_NULLABLE ctx, nc_transfer_id id, const nc_progress *progress);

/// The callbacks of a transfer.
typedef struct nc_sink {
    /// Passed to each callback. The engine keeps this pointer until on_done has returned. It keeps no other pointer of
    /// the caller.
    void *NC_NULLABLE ctx;
    /// May be NULL. When it is called, the hop's metrics are filled in, except `ended_ns`.
    nc_head_fn NC_NULLABLE on_head;
    /// May be NULL: the body is then collected in the response, up to limits.max_body_bytes.
    nc_body_fn NC_NULLABLE on_body;
    /// Called exactly once for each accepted request.
    nc_done_fn on_done;
    /// May be NULL.
    nc_progress_fn NC_NULLABLE on_progress;
} nc_sink;

/// Initializes libcurl and OpenSSL for the process, as the first nc_engine_new() otherwise does. It takes about a
/// millisecond. A program that starts often can call it on another thread while it reads its arguments.
/// Returns NC_OK, NC_ERR_NO_MEMORY, NC_ERR_INTERNAL. A later call tries again after an error.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_prepare(nc_error *NC_NULLABLE err);

/// Starts an engine and its thread.
///
/// - out:     owned by the caller; release it with nc_engine_release() or nc_engine_close().
/// - options: NULL means all zero; copied. loop_client.release is called on success only.
/// Returns NC_OK, NC_ERR_USAGE, NC_ERR_UNSUPPORTED (libcurl below 7.88, or a poller that this system lacks or refuses),
/// NC_ERR_NO_MEMORY, NC_ERR_DESCRIPTORS, NC_ERR_THREAD, NC_ERR_CLOSED (the process is exiting).
/// The state files of cookies, HSTS and Alt-Svc are read here. If one of them cannot be read or is malformed, it stays
/// unchanged, and the status is NC_ERR_FILE. If one exceeds 16 MiB, the status is NC_ERR_TOO_LARGE. If the netrc file
/// cannot be read, the status is NC_ERR_FILE.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_new(nc_engine *NC_NULLABLE *NC_NONNULL out,
                                            const nc_engine_options *NC_NULLABLE options, nc_error *NC_NULLABLE err);

/// Submits a request. It never blocks on the network and never calls back.
///
/// - request: borrowed for the call.
/// - sink:    copied; NULL keeps the result for nc_engine_wait().
/// - out:     the transfer's id.
/// Returns NC_OK, the errors of nc_request_check(), NC_ERR_CLOSED, NC_ERR_NO_MEMORY. After an error on_done is never
/// called.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_submit(nc_engine *engine, const nc_request *request,
                                               const nc_sink *NC_NULLABLE sink, nc_transfer_id *out,
                                               nc_error *NC_NULLABLE err);

/// Cancels a transfer. It ends with NC_ERR_CANCELLED unless it has already ended.
///
/// Ignores unknown ids and finished transfers. Never blocks.
/// Thread-safe.
NC_API void nc_engine_cancel(nc_engine *engine, nc_transfer_id id);

/// Waits for a transfer that was submitted without a sink, and returns its result.
///
/// - timeout_ms: NC_UNLIMITED waits until the transfer ends. The transfer's own limits still apply.
/// - out:        owned by the caller; release it with nc_response_release(). Its status is 0 if no head arrived. NULL
///   if the wait itself failed.
/// Returns the transfer's status; NC_ERR_WAIT_TIMED_OUT (the transfer continues, and a later call can wait for it); or
/// NC_ERR_USAGE (the id is unknown, its result was already returned, it has a sink, or the caller is the loop thread).
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_engine_wait(nc_engine *engine, nc_transfer_id id, uint32_t timeout_ms,
                                             nc_response *NC_NULLABLE *NC_NONNULL out, nc_error *NC_NULLABLE err);

/// Makes the loop thread call loop_client.drain. Never blocks.
///
/// Returns false if the loop has ended. The caller must then run its jobs itself.
/// Thread-safe.
NC_API bool nc_engine_wake(nc_engine *engine);

/// Returns true if the caller runs on the engine's loop thread.
///
/// Thread-safe.
NC_API bool nc_engine_is_on_loop(const nc_engine *engine);

/// Refuses new requests from now on. The loop ends after the last transfer in flight.
///
/// loop_client.release reports the end. `engine` stays valid until nc_engine_release() or nc_engine_close(). Never
/// blocks.
/// Thread-safe.
NC_API void nc_engine_finish(nc_engine *engine);

/// Releases the engine. Every transfer is cancelled, the loop makes the pending callbacks, and the engine is freed.
/// NULL is allowed.
///
/// Never blocks; legal on any thread, including the loop's own callbacks. The pointer is invalid after the call. The
/// thread may still run when the call has returned; nc_engine_close() waits for it.
NC_API void nc_engine_release(nc_engine *NC_NULLABLE engine);

/// Releases the engine as nc_engine_release() does, waits until the loop has ended, and joins its thread.
///
/// - timeout_ms: NC_UNLIMITED waits without a timeout. A callback that blocks delays the end of the loop.
/// Returns NC_OK (the thread has ended), NC_ERR_WAIT_TIMED_OUT (the loop ends later), or NC_ERR_USAGE on the loop
/// thread. NC_ERR_USAGE leaves the engine unchanged. In the other cases the pointer is invalid after the call.
NC_API nc_status nc_engine_close(nc_engine *NC_NULLABLE engine, uint32_t timeout_ms);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
