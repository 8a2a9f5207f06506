/// The rules of a private HTTP cache (RFC 9111, RFC 5861, RFC 8246), without a store and without a network.
///
/// The functions decide whether a stored response may be used, which conditions a revalidation sends, how a 304
/// response changes the stored fields, and which responses may be stored. Times are in milliseconds since 1970,
/// durations in milliseconds. Texts are borrowed for the call, unless a function says otherwise.
///
///     nc_cache_policy policy = NC_CACHE_POLICY_INIT;
///     nc_cache_stored stored = {.status = 200, .headers = fields, .header_count = count, .body_bytes = length};
///     stored.freshness = nc_cache_freshness_of(&response, &policy);                     // when it arrived
///     nc_cache_decision decision = nc_cache_decide(&request, &stored, &policy, now_ms);  // for a later request
///     if (decision.action == NC_CACHE_USE) use(&stored);
#ifndef NETCORE_CACHE_RULES_H
#define NETCORE_CACHE_RULES_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/header.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// In a duration: unknown, or not allowed.
#define NC_CACHE_NONE (-1)
/// The largest number of seconds. Longer times are limited to it.
#define NC_CACHE_LONGEST_S (INT64_C(1) << 40)
/// The largest number of conditions that a revalidation adds.
#define NC_CACHE_MAX_CONDITIONS 2
/// The size of a written date (RFC 9110, 5.6.7), in bytes.
#define NC_CACHE_DATE_BYTES 29

/// The order in which cache and network are used.
typedef NC_ENUM(nc_cache_mode){
    /// Uses the stored response if the rules allow it, otherwise the network.
    NC_CACHE_MODE_DEFAULT = 0,
    /// Ignores stored responses. The new response is stored.
    NC_CACHE_MODE_RELOAD = 1,
    /// Uses the stored response, also a stale one unless the server forbids that. Sends nothing.
    NC_CACHE_MODE_CACHE_ONLY = 2,
    /// Neither uses nor stores a response. An unsafe request still invalidates stored responses.
    NC_CACHE_MODE_NO_STORE = 3,
    /// Uses the network. If it fails, uses the stored response at any age. Also stores responses without a lifetime
    /// and without a validator.
    NC_CACHE_MODE_NETWORK_FIRST = 4,
} nc_cache_mode;

/// The caller's policy. Start with NC_CACHE_POLICY_INIT.
typedef struct nc_cache_policy {
    /// The order of cache and network.
    nc_cache_mode mode;
    /// How long a stale response may be used while a new one is fetched (RFC 5861, 3). If the server also sets a time,
    /// the longer one applies. 0 leaves it to the server.
    int64_t stale_while_revalidate_ms;
    /// How long a stale response may be used after a failure of the network or the server (RFC 5861, 4). If the server
    /// or the request also sets a time, the longest one applies. 0 leaves it to them.
    int64_t stale_if_error_ms;
    /// The lifetime of a response without an explicit one, as a fraction of the time between Last-Modified and Date
    /// (0.1; RFC 9111, 4.2.2). 0 allows no heuristic lifetime.
    double heuristic_fraction;
    /// The longest heuristic lifetime (one day).
    int64_t heuristic_max_ms;
} nc_cache_policy;

/// The default policy.
#define NC_CACHE_POLICY_INIT                                                                                           \
    { NC_CACHE_MODE_DEFAULT, 0, 0, 0.1, 86400000 }

/// The directives of the Cache-Control fields of a message (RFC 9111, 5.2; RFC 5861; RFC 8246). Unknown ones are
/// ignored. If a directive with a time occurs several times, the first one applies. Times are in seconds, at most
/// NC_CACHE_LONGEST_S; NC_CACHE_NONE without the directive. An invalid time counts as 0.
typedef struct nc_cache_control {
    /// no-store.
    bool no_store;
    /// no-cache without field names. With field names it does not set this; those fields are not stored.
    bool no_cache;
    /// must-revalidate.
    bool must_revalidate;
    /// must-understand.
    bool must_understand;
    /// public.
    bool is_public;
    /// immutable.
    bool immutable;
    /// only-if-cached.
    bool only_if_cached;
    /// max-age.
    int64_t max_age_s;
    /// min-fresh.
    int64_t min_fresh_s;
    /// max-stale; INT64_MAX without an argument.
    int64_t max_stale_s;
    /// stale-while-revalidate.
    int64_t stale_while_revalidate_s;
    /// stale-if-error.
    int64_t stale_if_error_s;
} nc_cache_control;

/// A request.
typedef struct nc_cache_request {
    /// Empty means GET. Case-sensitive (RFC 9110, 9.1).
    nc_slice method;
    /// Absolute URL.
    nc_slice url;
    /// Header fields.
    const nc_header *NC_NULLABLE headers;
    /// Number of header fields.
    size_t header_count;
    /// True: the caller follows redirects, so that a stored redirect is not a response to it.
    bool follows_redirects;
} nc_cache_request;

/// A response from the network.
typedef struct nc_cache_response {
    /// Status code.
    uint16_t status;
    /// Header fields.
    const nc_header *NC_NULLABLE headers;
    /// Number of header fields.
    size_t header_count;
    /// When its request was sent.
    int64_t sent_at_ms;
    /// When it arrived.
    int64_t received_at_ms;
} nc_cache_response;

/// The freshness of a response, computed once when it arrives. Store it with the response.
typedef struct nc_cache_freshness {
    /// Freshness lifetime; NC_CACHE_NONE if unknown.
    int64_t lifetime_ms;
    /// Age at the arrival.
    int64_t initial_age_ms;
    /// When it arrived.
    int64_t received_at_ms;
    /// How long it may be used when stale, while a new one is fetched; NC_CACHE_NONE if the server does not allow it.
    int64_t stale_while_revalidate_ms;
    /// How long it may be used when stale, after a failure; NC_CACHE_NONE if the server does not allow it.
    int64_t stale_if_error_ms;
    /// True: it must be revalidated before each use.
    bool no_cache;
    /// True: it must not be used when stale.
    bool must_revalidate;
    /// True: the resource does not change while the response is fresh.
    bool immutable;
    /// True: the lifetime is heuristic.
    bool is_heuristic;
} nc_cache_freshness;

/// A stored response.
typedef struct nc_cache_stored {
    /// Status code.
    uint16_t status;
    /// Stored fields (nc_cache_stored_fields()).
    const nc_header *NC_NULLABLE headers;
    /// Number of stored fields.
    size_t header_count;
    /// Length of the stored body.
    uint64_t body_bytes;
    /// Its freshness.
    nc_cache_freshness freshness;
    /// Fields of the request that it was stored for, compared for Vary. NULL skips the comparison.
    const nc_header *NC_NULLABLE request_headers;
    /// Number of these fields.
    size_t request_header_count;
} nc_cache_stored;

/// What to do for a request.
typedef NC_ENUM(nc_cache_action){
    /// Use the stored response.
    NC_CACHE_USE = 0,
    /// Send the request with the conditions of nc_cache_conditions().
    NC_CACHE_REVALIDATE = 1,
    /// Send the request unchanged.
    NC_CACHE_FETCH = 2,
    /// Send nothing and fail, because the mode is NC_CACHE_MODE_CACHE_ONLY.
    NC_CACHE_FAIL = 3,
    /// Send nothing and respond with 504, because of only-if-cached (RFC 9111, 5.2.1.7).
    NC_CACHE_GATEWAY_TIMEOUT = 4,
} nc_cache_action;

/// The reason for a decision.
typedef NC_ENUM(nc_cache_reason){
    /// The stored response is fresh.
    NC_CACHE_REASON_FRESH = 0,
    /// Stale; used while the caller fetches a new response.
    NC_CACHE_REASON_STALE_WHILE_REVALIDATE = 1,
    /// Stale; used because the network or the server has failed.
    NC_CACHE_REASON_STALE_IF_ERROR = 2,
    /// Stale; the request allows that (max-stale, or NC_CACHE_MODE_CACHE_ONLY).
    NC_CACHE_REASON_STALE_ALLOWED = 3,
    /// Nothing is stored.
    NC_CACHE_REASON_ABSENT = 4,
    /// The policy ignores stored responses.
    NC_CACHE_REASON_IGNORED = 5,
    /// The policy uses the network first.
    NC_CACHE_REASON_NETWORK_FIRST = 6,
    /// Stale (RFC 9111, 4.2), or the clock was set back to a time before the arrival.
    NC_CACHE_REASON_STALE = 7,
    /// The server requires a revalidation (no-cache).
    NC_CACHE_REASON_NO_CACHE = 8,
    /// The request requires the server's response (no-cache, max-age, min-fresh, Pragma).
    NC_CACHE_REASON_REQUEST_DIRECTIVE = 9,
    /// Stored for other values of the fields in Vary (RFC 9111, 4.1).
    NC_CACHE_REASON_VARIES = 10,
    /// A stored redirect, and the request follows redirects.
    NC_CACHE_REASON_REDIRECT = 11,
    /// A stored response cannot answer the request, because of its method, a range, a condition, no-store, or
    /// NC_CACHE_MODE_NO_STORE. A client also sets it if the user of the request is unknown.
    NC_CACHE_REASON_UNCACHEABLE = 12,
    /// The stored response belongs to another user. Set by a client, never by nc_cache_decide().
    NC_CACHE_REASON_OTHER_USER = 13,
} nc_cache_reason;

/// The part of a stored response that answers the request.
typedef NC_ENUM(nc_cache_form){
    /// The whole response.
    NC_CACHE_FORM_WHOLE = 0,
    /// Its head, for HEAD.
    NC_CACHE_FORM_HEAD = 1,
    /// A 304 response with the fields of nc_cache_keeps_in_304(), because the caller has this version already.
    NC_CACHE_FORM_NOT_MODIFIED = 2,
    /// A 206 response with the bytes `first` to `last`.
    NC_CACHE_FORM_PART = 3,
} nc_cache_form;

/// A decision.
typedef struct nc_cache_decision {
    /// What to do.
    nc_cache_action action;
    /// Why.
    nc_cache_reason reason;
    /// Which part of the stored response, if `action` is NC_CACHE_USE.
    nc_cache_form form;
    /// Position of the first byte of NC_CACHE_FORM_PART.
    uint64_t first;
    /// Position of the last byte of NC_CACHE_FORM_PART (inclusive).
    uint64_t last;
    /// Age of the stored response; NC_CACHE_NONE without one, or if the clock was set back.
    int64_t age_ms;
} nc_cache_decision;

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
