/// A client: sends requests through an engine, with retries (retry.h) and a private cache (http_cache.h).
///
/// A call is one request with all its attempts. The body of the response is collected in memory or saved to a file
/// (nc_request.save_path). Callbacks run on the client's own thread, one at a time. Equal requests that use the cache
/// share one transfer.
///
///     nc_retry_policy policy = NC_RETRY_POLICY_INIT;
///     nc_client *client;  nc_call *call;  nc_response *response;
///     if (nc_client_new(&client, engine, &(nc_client_options){.retry = &policy}, &err) == NC_OK &&
///         nc_client_send(client, &request, NULL, NULL, &call, &err) == NC_OK) {
///         nc_status status = nc_call_wait(call, 30000, &response, &err);  …
///         nc_call_release(call);
///     }
///     nc_client_close(client);
#ifndef NETCORE_CLIENT_H
#define NETCORE_CLIENT_H

#include <netcore/base.h>
#include <netcore/cache_rules.h>
#include <netcore/engine.h>
#include <netcore/hooks.h>
#include <netcore/http_cache.h>
#include <netcore/request.h>
#include <netcore/response.h>
#include <netcore/retry.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The number of attempts that a call records. Further attempts are counted only.
#define NC_CALL_MAX_ATTEMPTS 16

/// A client. Thread-safe, except nc_client_close(). Not for use in a forked child.
typedef struct nc_client nc_client;
/// One request with all its attempts. Reference-counted, thread-safe.
typedef struct nc_call nc_call;

/// Options of a client, copied. All zero is a client without retries.
typedef struct nc_client_options {
    /// When requests are sent again; copied. NULL sends each request once.
    const nc_retry_policy *NC_NULLABLE retry;
    /// The budget of retries; borrowed until the client is closed. NULL is no limit.
    nc_retry_budget *NC_NULLABLE budget;
    /// The cache; borrowed until the client is closed. NULL is no cache. A call that is answered by the cache waits for
    /// the disk of its store on the client's thread.
    nc_http_cache *NC_NULLABLE cache;
    /// Clock; copied. NULL means the system's. A delay ends by this clock, but the client's thread sleeps by the
    /// system's clock.
    const nc_clock *NC_NULLABLE clock;
    /// Source of the random numbers for jitter; copied. NULL means the system's.
    const nc_random *NC_NULLABLE random;
} nc_client_options;

/// Options of one call. All zero uses the client's settings.
typedef struct nc_call_options {
    /// When this request is sent again; copied. NULL means the client's policy.
    const nc_retry_policy *NC_NULLABLE retry;
    /// True: the request is sent once.
    bool is_sent_once;
    /// Uses the client's cache with this policy; copied. NULL uses no cache, except that an unsafe request invalidates
    /// stored responses. Requests with `save_path` or `expectation`, and safe requests with a body, are not cached.
    const nc_cache_policy *NC_NULLABLE cache;
    /// True: `cache_scope` names the owner of the response, instead of the request's credentials and cookies.
    bool has_cache_scope;
    /// The owner, such as a user ID; copied. Empty: all users share the response.
    nc_slice cache_scope;
} nc_call_options;

/// Receives the result of a call, on the client's thread. `error->status` is NC_OK or the reason of the failure. The
/// response is borrowed; retain it to keep it. It is NULL if there is none.
typedef void (*nc_call_done_fn)(void *NC_NULLABLE ctx, nc_call *call, nc_response *NC_NULLABLE response,
                                const nc_error *error);

/// The callback of a call.
typedef struct nc_call_sink {
    /// Passed to the callback.
    void *NC_NULLABLE ctx;
    /// Called exactly once for each accepted call, also if it was cancelled. It must not wait for another call.
    nc_call_done_fn on_done;
} nc_call_sink;

/// One attempt of a call.
typedef struct nc_call_attempt {
    /// Result of the transfer.
    nc_status status;
    /// Status of its response; 0 without one.
    uint16_t http_status;
    /// Start, in milliseconds since the start of the call.
    uint64_t started_ms;
    /// End, in milliseconds since the start of the call.
    uint64_t ended_ms;
    /// Why the request was sent again after this attempt, or why not.
    nc_retry_reason reason;
    /// Delay before the next attempt, in milliseconds; 0 after the last one.
    uint64_t delay_ms;
} nc_call_attempt;

/// The source of a call's response.
typedef NC_ENUM(nc_cache_outcome){
    /// The call did not use the cache.
    NC_CACHE_OUTCOME_UNUSED = 0,
    /// A fresh response from the cache.
    NC_CACHE_OUTCOME_HIT = 1,
    /// A stale response from the cache.
    NC_CACHE_OUTCOME_STALE_HIT = 2,
    /// A response from the cache that the server has revalidated (304).
    NC_CACHE_OUTCOME_REVALIDATED = 3,
    /// A response from the network.
    NC_CACHE_OUTCOME_NETWORK = 4,
    /// No response: the request was not allowed to use the network.
    NC_CACHE_OUTCOME_NONE = 5,
} nc_cache_outcome;

/// What the cache did for a call.
typedef struct nc_call_cache {
    /// The source of the response.
    nc_cache_outcome outcome;
    /// The decision before anything was sent; NC_CACHE_USE if the stored response replaced a failure.
    nc_cache_action action;
    /// The reason for the decision; NC_CACHE_REASON_STALE_IF_ERROR if the stored response replaced a failure.
    nc_cache_reason reason;
    /// Age of the stored response in milliseconds; NC_CACHE_NONE without one.
    int64_t age_ms;
    /// Its freshness lifetime in milliseconds; NC_CACHE_NONE if it has none.
    int64_t lifetime_ms;
    /// True: the response from the network was stored.
    bool is_stored;
} nc_call_cache;

/// Creates a client and its thread.
///
/// - out:     owned by the caller; release it with nc_client_close().
/// - engine:  borrowed until the client is closed.
/// - options: NULL means all zero.
/// Returns NC_OK, NC_ERR_USAGE, NC_ERR_NO_MEMORY, NC_ERR_THREAD.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_client_new(nc_client *NC_NULLABLE *NC_NONNULL out, nc_engine *engine,
                                            const nc_client_options *NC_NULLABLE options, nc_error *NC_NULLABLE err);

/// Cancels all calls, waits until they have ended, and frees the client. NULL is allowed. Close it before its engine.
///
/// Returns NC_OK, or NC_ERR_USAGE on the client's thread or on the loop thread, which leaves the client unchanged.
/// Confined: one thread at a time, after all other calls with this client.
NC_API nc_status nc_client_close(nc_client *NC_NULLABLE client);

/// Starts a call. Never waits for the network and never calls back itself.
///
/// The limit limits.total_ms of the request applies to all attempts and delays together. The other limits apply to
/// each attempt. Before each further attempt, a body source is moved to its first byte (`seek`) on the client's thread.
/// - request: copied with its body. Only the `ctx` of a body source must stay valid until the call has ended.
/// - options: NULL means all zero; copied.
/// - sink:    copied. NULL keeps the result for nc_call_wait().
/// - out:     a reference for the caller; release it with nc_call_release(). NULL if it is not needed.
/// Returns NC_OK, the errors of nc_request_check(), NC_ERR_USAGE for a cache policy with an unknown mode, a negative
/// time or a fraction that is not 0 to 1, NC_ERR_CLOSED, NC_ERR_NO_MEMORY. After an error on_done is never called.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_client_send(nc_client *client, const nc_request *request,
                                             const nc_call_options *NC_NULLABLE options,
                                             const nc_call_sink *NC_NULLABLE sink,
                                             nc_call *NC_NULLABLE *NC_NULLABLE out, nc_error *NC_NULLABLE err);

/// Waits until no call and no revalidation in the background is in progress. Do not call it on the loop thread.
///
/// - timeout_ms: NC_UNLIMITED waits without a limit.
/// Returns NC_OK, NC_ERR_WAIT_TIMED_OUT, or NC_ERR_USAGE on the client's thread.
/// Thread-safe.
NC_API nc_status nc_client_wait_idle(nc_client *client, uint32_t timeout_ms);

/// Adds a reference and returns its argument.
///
/// Thread-safe.
NC_API nc_call *nc_call_retain(nc_call *call);

/// Drops a reference. The call continues if it has not ended. NULL is allowed.
///
/// Thread-safe.
NC_API void nc_call_release(nc_call *NC_NULLABLE call);

/// Cancels a call: it ends with NC_ERR_CANCELLED, also during a delay. Does nothing if it has ended. Never blocks.
///
/// Thread-safe.
NC_API void nc_call_cancel(nc_call *call);

/// Waits for the end of a call, and returns its result. May be called more than once and by several threads. Do not
/// call it on the loop thread: the call cannot end while that thread waits.
///
/// - timeout_ms: NC_UNLIMITED waits until the call ends.
/// - out:        a reference for the caller; release it with nc_response_release(). NULL if there is no response.
/// Returns the status of the call; NC_ERR_WAIT_TIMED_OUT, and the call continues; or NC_ERR_USAGE on the client's
/// thread while the call is in progress.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_call_wait(nc_call *call, uint32_t timeout_ms, nc_response *NC_NULLABLE *NC_NONNULL out,
                                           nc_error *NC_NULLABLE err);

/// Returns the number of attempts that have ended.
///
/// Thread-safe.
NC_API size_t nc_call_attempt_count(nc_call *call);

/// Returns one attempt that has ended; all zero if `index` is out of range or NC_CALL_MAX_ATTEMPTS or more.
///
/// Thread-safe.
NC_API nc_call_attempt nc_call_attempt_at(nc_call *call, size_t index);

/// Returns what the cache did for a call that has ended, also in its on_done; NC_CACHE_OUTCOME_UNUSED before.
///
/// Thread-safe.
NC_API nc_call_cache nc_call_cache_report(nc_call *call);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
