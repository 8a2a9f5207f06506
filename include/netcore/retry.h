/// Decides whether a request is sent again after a temporary failure, and when.
///
/// nc_retry_decide() is a pure function for callers that send requests themselves. A client (client.h) applies it. A
/// request is sent again after a temporary network error, an exceeded time limit, or one of the policy's statuses, if
/// one of these holds:
/// - its method is idempotent (RFC 9110, 9.2.2), or it has an Idempotency-Key field
/// - nothing of it reached a server
/// - it was sent on a reused connection that the server closed before the first byte of a response
///
/// A body that can be read only once is never sent again. A proxy that refused the credentials for a tunnel (407) is no
/// temporary error.
///
///     nc_retry_policy policy = NC_RETRY_POLICY_INIT;
///     nc_retry_attempt attempt = nc_retry_attempt_of(&request, response, status);
///     attempt.retries = 0;  attempt.random = 0.5;
///     nc_retry_decision decision = nc_retry_decide(&policy, &attempt);
///     if (decision.is_retry) send_again_in(decision.delay_ms);
#ifndef NETCORE_RETRY_H
#define NETCORE_RETRY_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/header.h>
#include <netcore/request.h>
#include <netcore/response.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// No limit, as a value of nc_retry_attempt.left_ms.
#define NC_RETRY_NO_LIMIT UINT64_MAX
/// The largest number of statuses in a policy.
#define NC_RETRY_MAX_STATUSES 16

/// When requests are sent again. Start with NC_RETRY_POLICY_INIT.
typedef struct nc_retry_policy {
    /// Attempts after the first one (3).
    uint32_t max_retries;
    /// Upper limit of the first delay, in milliseconds (200). It doubles for each further delay.
    uint32_t base_delay_ms;
    /// Upper limit of every delay, in milliseconds (20,000), except for delays from Retry-After.
    uint32_t max_delay_ms;
    /// The longest Retry-After to wait for, in milliseconds (60,000). If the server sends a longer one, there is no
    /// further attempt.
    uint32_t max_server_delay_ms;
    /// No further attempt is decided when this time has passed since the start of the first one, in milliseconds. The
    /// delay before an attempt may end later. 0 is no limit.
    uint64_t max_elapsed_ms;
    /// Statuses after which the request is sent again (408, 429, 500, 502, 503, 504). Unused elements are 0.
    uint16_t statuses[NC_RETRY_MAX_STATUSES];
    /// True: requests with any method are sent again, even if the server may have received them.
    bool retries_any_method;
    /// True: requests are sent again after any error except a local one (usage, resources, control).
    bool retries_any_error;
    /// True: the delay is the whole interval. False: it is a random part of the interval (full jitter), so that clients
    /// do not all retry at the same time.
    bool has_no_jitter;
} nc_retry_policy;

/// The default policy.
#define NC_RETRY_POLICY_INIT                                                                                           \
    { 3, 200, 20000, 60000, 0, {408, 429, 500, 502, 503, 504}, false, false, false }

/// One attempt and its result. Texts are borrowed for the call.
typedef struct nc_retry_attempt {
    /// Method; empty means GET.
    nc_slice method;
    /// True: the request has an Idempotency-Key field.
    bool has_idempotency_key;
    /// True: the body can be read again, or there is none.
    bool is_repeatable;
    /// NC_OK, or the error of the attempt.
    nc_status status;
    /// Status of the response; 0 without one.
    uint16_t http_status;
    /// Fields of the response.
    const nc_header *NC_NULLABLE headers;
    /// Number of fields.
    size_t header_count;
    /// Hops of the transfer (nc_response_hop_count()).
    size_t hop_count;
    /// True: the last hop used an open connection.
    bool is_reused;
    /// True: the first byte of a response arrived on the last hop.
    bool has_first_byte;
    /// Retries before this attempt.
    uint32_t retries;
    /// Time since the start of the first attempt, in milliseconds.
    uint64_t elapsed_ms;
    /// Time that is left for all attempts and delays, in milliseconds; NC_RETRY_NO_LIMIT without a limit.
    uint64_t left_ms;
    /// The current time, in milliseconds since 1970, for a Retry-After date in a response without Date.
    int64_t now_ms;
    /// A random number from 0 to 1, for the jitter.
    double random;
} nc_retry_attempt;

/// The reason for a decision.
typedef NC_ENUM(nc_retry_reason){
    /// The result is final: a success, or a status or an error that is not temporary.
    NC_RETRY_NOT_NEEDED = 0,
    /// Sent again after the delay of the backoff.
    NC_RETRY_BACKOFF = 1,
    /// Sent again after the delay of Retry-After.
    NC_RETRY_SERVER_DELAY = 2,
    /// Not sent again: there were max_retries retries.
    NC_RETRY_NO_ATTEMPTS_LEFT = 3,
    /// Not sent again: the time (`max_elapsed_ms` or `left_ms`) is used up, or the delay would exceed `left_ms`.
    NC_RETRY_NO_TIME_LEFT = 4,
    /// Not sent again: the server may have received it, and its method is not idempotent.
    NC_RETRY_NOT_IDEMPOTENT = 5,
    /// Not sent again: the body can be read only once.
    NC_RETRY_NOT_REPEATABLE = 6,
    /// Not sent again: Retry-After is longer than max_server_delay_ms or than the time that is left.
    NC_RETRY_SERVER_DELAY_TOO_LONG = 7,
    /// Not sent again: the budget is used up. Set by a client, never by nc_retry_decide().
    NC_RETRY_NO_BUDGET = 8,
} nc_retry_reason;

/// A decision.
typedef struct nc_retry_decision {
    /// True: send the request again after `delay_ms`.
    bool is_retry;
    /// The reason.
    nc_retry_reason reason;
    /// Delay in milliseconds.
    uint64_t delay_ms;
} nc_retry_decision;

/// Decides whether a request is sent again.
///
/// Pure; call from any thread.
NC_API nc_retry_decision nc_retry_decide(const nc_retry_policy *policy, const nc_retry_attempt *attempt);

/// Fills an attempt from a request and its response. `retries`, `elapsed_ms`, `now_ms`, `random` are 0 and `left_ms` is
/// NC_RETRY_NO_LIMIT; `headers` is NULL, because a response has no array of fields: set it for Retry-After.
///
/// - request: a request with `body_source` and without `seek` is not repeatable, nor is a form with such a source.
/// - response: NULL without one.
/// - status: the result of the transfer.
/// Pure; call from any thread.
NC_API nc_retry_attempt nc_retry_attempt_of(const nc_request *request, const nc_response *NC_NULLABLE response,
                                            nc_status status);

/// Returns the delay that a Retry-After field requires, in milliseconds (RFC 9110, 10.2.3).
///
/// A date is compared with the response's Date field, because both come from the server's clock.
/// - now_ms: the current time in milliseconds since 1970, for a response without Date.
/// - delay_ms: written only on success.
/// Returns false without the field, for other text and for a date in the past.
/// Pure; call from any thread.
NC_API bool nc_retry_after(uint64_t *delay_ms, const nc_header *NC_NULLABLE headers, size_t header_count,
                           int64_t now_ms);

/// Limits the number of retries in proportion to the number of calls, so that clients do not multiply the load of a
/// failing server. Thread-safe.
typedef struct nc_retry_budget nc_retry_budget;

/// Creates a full budget.
///
/// - out:      owned by the caller; release it with nc_retry_budget_free() after the last client that uses it.
/// - per_call: retries that each call adds, from 0 to 1000. For example, 0.2 is one retry for five calls.
/// - reserve:  retries at the beginning. The budget never contains more.
/// Returns NC_OK, NC_ERR_USAGE, NC_ERR_NO_MEMORY.
/// Call from any thread.
NC_API NC_NODISCARD nc_status nc_retry_budget_new(nc_retry_budget *NC_NULLABLE *NC_NONNULL out, double per_call,
                                                  uint32_t reserve);

/// Frees a budget. NULL is allowed.
///
/// Confined: one thread at a time.
NC_API void nc_retry_budget_free(nc_retry_budget *NC_NULLABLE budget);

/// Adds `per_call` retries, up to `reserve`.
///
/// Thread-safe.
NC_API void nc_retry_budget_add(nc_retry_budget *budget);

/// Takes one retry. Returns false if there is none.
///
/// Thread-safe.
NC_API bool nc_retry_budget_take(nc_retry_budget *budget);

/// Returns the number of whole retries that are left.
///
/// Thread-safe.
NC_API uint32_t nc_retry_budget_remaining(const nc_retry_budget *budget);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
