/// The functions of the cache rules; see <netcore/cache_rules.h> for their types.
///
///     nc_header conditions[NC_CACHE_MAX_CONDITIONS];
///     if (decision.action == NC_CACHE_REVALIDATE)
///         count = nc_cache_conditions(conditions, &stored);       // If-None-Match, If-Modified-Since
///     if (status == 304 && nc_cache_confirms(&stored, &response))
///         count = nc_cache_merge(fields, room, &stored, &response); // the fields to store from now on
#ifndef NETCORE_CACHE_FUNCTIONS_H
#define NETCORE_CACHE_FUNCTIONS_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/cache_rules.h>
#include <netcore/header.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Parses the Cache-Control fields of a message.
///
/// Pure; call from any thread.
NC_API nc_cache_control nc_cache_control_parse(const nc_header *NC_NULLABLE headers, size_t header_count);

/// Computes the freshness of a response at its arrival (RFC 9111, 4.2).
///
/// Pure; call from any thread.
NC_API nc_cache_freshness nc_cache_freshness_of(const nc_cache_response *response, const nc_cache_policy *policy);

/// Returns the current age in milliseconds, or NC_CACHE_NONE if the clock was set back to a time before the arrival.
///
/// Pure; call from any thread.
NC_API int64_t nc_cache_age_ms(const nc_cache_freshness *freshness, int64_t now_ms);

/// Decides what to do for a request (RFC 9111, 4).
///
/// - stored: the response under the request's URL; NULL if nothing is stored.
/// Pure; call from any thread.
NC_API nc_cache_decision nc_cache_decide(const nc_cache_request *request, const nc_cache_stored *NC_NULLABLE stored,
                                         const nc_cache_policy *policy, int64_t now_ms);

/// Decides whether the stored response is used after a failure (RFC 5861, 4).
///
/// - status: the server's status; 0 if the network failed. Only those of nc_cache_is_failure() count. With
///           NC_CACHE_MODE_NETWORK_FIRST, only a failure of the network counts.
/// Returns the action NC_CACHE_USE, or NC_CACHE_FETCH if the failure is the result of the request.
/// Pure; call from any thread.
NC_API nc_cache_decision nc_cache_decide_after_failure(const nc_cache_request *request,
                                                       const nc_cache_stored *NC_NULLABLE stored,
                                                       const nc_cache_policy *policy, int64_t now_ms, uint16_t status);

/// Returns true for a failure of the server (500, 502, 503, 504), and for 0, a failure of the network.
///
/// Pure; call from any thread.
NC_API bool nc_cache_is_failure(uint16_t status);

/// Returns the name of a reason, such as "stale-while-revalidate".
///
/// Returns a static string; "unknown" for another number.
/// Pure; call from any thread.
NC_API const char *nc_cache_reason_name(nc_cache_reason reason);

/// Whether a response may be stored.
typedef NC_ENUM(nc_cache_storability){
    /// It may be stored.
    NC_CACHE_STORABLE = 0,
    /// The mode is NC_CACHE_MODE_NO_STORE, or the request has no-store.
    NC_CACHE_NOT_BY_REQUEST = 1,
    /// The method is neither GET nor POST.
    NC_CACHE_NOT_BY_METHOD = 2,
    /// An interim response, a 304, or an unknown status with must-understand.
    NC_CACHE_NOT_BY_STATUS = 3,
    /// The body is a part of the representation.
    NC_CACHE_NOT_A_PART = 4,
    /// The response has no-store without must-understand.
    NC_CACHE_NOT_BY_SERVER = 5,
    /// Vary contains "*", or more than 64 names.
    NC_CACHE_NOT_BY_VARY = 6,
    /// There is no lifetime, and no validator with a status that allows storing.
    NC_CACHE_NOT_WITHOUT_LIFETIME = 7,
    /// A response to POST without an explicit lifetime, or whose Content-Location is not the request's URL (RFC 9110,
    /// 9.3.3).
    NC_CACHE_NOT_OF_POST = 8,
} nc_cache_storability;

/// Returns whether a private cache may store a response (RFC 9111, 3), or the first reason against it.
///
/// - freshness: receives the result of nc_cache_freshness_of(), if the response may be stored. NULL if not needed.
/// Pure; call from any thread.
NC_API nc_cache_storability nc_cache_may_store(const nc_cache_request *request, const nc_cache_response *response,
                                               const nc_cache_policy *policy,
                                               nc_cache_freshness *NC_NULLABLE freshness);

/// Returns true if a new response that is not stored makes the stored one obsolete, so that it has to be removed.
///
/// Returns false for methods other than GET, for server errors, and for 206, 304, 407, 408, 421, 425 and 429.
/// Pure; call from any thread.
NC_API bool nc_cache_supersedes(const nc_cache_request *request, uint16_t status);

/// Writes a time as an HTTP date, such as "Sun, 06 Nov 1994 08:49:37 GMT", without a NUL.
///
/// - out: NC_CACHE_DATE_BYTES bytes.
/// Pure; call from any thread.
NC_API void nc_cache_write_date(char *out, int64_t at_ms);

/// Selects the fields of a response to store (RFC 9111, 3.1): not those of the connection or a proxy, not Age, and not
/// those that no-cache="…" names.
///
/// A response without Date should get one with the time of arrival (RFC 9110, 6.6.1): nc_cache_write_date().
/// - out: at least `header_count` elements. The slices are borrowed from `headers`.
/// Returns the number of fields in `out`.
/// Pure; call from any thread.
NC_API size_t nc_cache_stored_fields(nc_header *out, const nc_header *NC_NULLABLE headers, size_t header_count);

/// Writes the conditions of a revalidation: If-None-Match from ETag, If-Modified-Since from Last-Modified.
///
/// - out: NC_CACHE_MAX_CONDITIONS elements, borrowed from the stored fields.
/// Returns their number. Add them only to a GET without conditions of its own.
/// Pure; call from any thread.
NC_API size_t nc_cache_conditions(nc_header *out, const nc_cache_stored *stored);

/// Returns true if a 304 response refers to the stored response (RFC 9111, 4.3.4). After false, send the request again
/// without conditions.
///
/// An ETag in the 304 must match the stored one by the weak comparison. Without an ETag, the Last-Modified must match.
/// A validator that only one of them has is not compared. Pure; call from any thread.
NC_API bool nc_cache_confirms(const nc_cache_stored *stored, const nc_cache_response *not_modified);

/// Returns true if a 304 response to the caller's own condition confirms the stored response. It may instead confirm
/// another version that the caller has.
///
/// Pure; call from any thread.
NC_API bool nc_cache_confirms_own(const nc_cache_stored *stored, const nc_cache_response *not_modified,
                                  const nc_cache_request *request);

/// Returns true if the response to HEAD describes the stored response of GET: validators and lengths that both have are
/// equal (RFC 9111, 4.3.5). Otherwise the stored response has to be removed.
///
/// Pure; call from any thread.
NC_API bool nc_cache_is_same_version(const nc_cache_stored *stored, const nc_cache_response *head);

/// Updates the stored fields with those of a 304 response or a response to HEAD (RFC 9111, 3.2). Fields that describe
/// the stored body stay.
///
/// - out:  the updated fields, borrowed from both.
/// - room: number of elements of `out`; the sum of both counts is enough.
/// Returns the number of fields in `out`. Compute the new freshness from these fields and the new Age.
/// Pure; call from any thread.
NC_API size_t nc_cache_merge(nc_header *out, size_t room, const nc_cache_stored *stored,
                             const nc_cache_response *update);

/// Returns true if a field of the stored response is part of a 304 response (RFC 9110, 15.4.5).
///
/// Pure; call from any thread.
NC_API bool nc_cache_keeps_in_304(nc_slice name);

/// Appends the selecting fields of a request: for each name in Vary, the name and the request's normalized value, each
/// with its length. Two requests select the same response if and only if these bytes are equal.
///
/// Several fields with one name are one list. Blanks around its members are ignored, and for Accept-Language also the
/// letter case and the order (of up to 64 members).
/// - response_headers: the fields of the response with Vary.
/// Returns NC_OK, NC_ERR_USAGE for "*" or more than 64 names, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY. After an error `out`
/// is unchanged.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_cache_select(nc_buf *out, const nc_cache_request *request,
                                              const nc_header *NC_NULLABLE response_headers, size_t header_count);

/// The URLs that a response invalidates.
typedef struct nc_cache_invalidation {
    /// The URLs: the request's, Location and Content-Location. The last two are borrowed from `room`.
    nc_slice urls[3];
    /// Number of URLs.
    size_t count;
} nc_cache_invalidation;

/// Determines which stored responses a response makes invalid (RFC 9111, 4.4): after an unsafe method and a status of
/// 200 to 399, those of the request's URL and of same-origin URLs in Location and Content-Location.
///
/// Call it for each response of a chain of redirects, with the URL and the method of its request.
/// - room: a buffer for the resolved URLs, emptied first. A URL that does not fit or is malformed is left out.
/// Returns NC_OK or NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_cache_invalidates(nc_cache_invalidation *out, nc_buf *room,
                                                   const nc_cache_request *request, const nc_cache_response *response);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
