/// Functions with which the event loop fills a response, before the caller gets it.
#ifndef NETCORE_PRIVATE_RESPONSE_H
#define NETCORE_PRIVATE_RESPONSE_H

#include "base/pool.h"
#include "http/url_text.h"

#include <netcore/expectation.h>

enum { NC_INLINE_FIELDS = 16 };

/// A field, as offsets into a text that may move while it grows.
typedef struct nc_field {
    uint32_t name_at;
    uint32_t name_length;
    uint32_t value_at;
    uint32_t value_length;
} nc_field;

typedef struct nc_hop {
    nc_hop_metrics metrics; // nc_response_hop_at() fills in the url
    uint32_t url_at;
    uint32_t url_length;
} nc_hop;

/// Creates an empty response that allocates from `pool`.
NC_NODISCARD nc_response *nc_response_new(nc_pool *pool);

/// Begins a hop: stores its URL without credentials, and drops the previous head and body.
NC_NODISCARD nc_status nc_response_begin_hop(nc_response *response, const nc_url *url);
/// Makes the next hop replace the current one, which is removed from the list of hops.
void nc_response_repeat_hop(nc_response *response);
/// Returns the current hop; NULL before the first.
nc_hop_metrics *nc_response_hop(nc_response *response);

/// Begins a head, and drops the previous one, which was an interim head.
void nc_response_begin_head(nc_response *response, uint16_t status, nc_http_version version);
/// Adds a field to the head. Name and value are in one line, with the value after the name.
NC_NODISCARD nc_status nc_response_add_field(nc_response *response, nc_slice name, nc_slice value);
/// Adds a trailer field in the same way; no field of the head may follow.
NC_NODISCARD nc_status nc_response_add_trailer(nc_response *response, nc_slice name, nc_slice value);
/// Extends the last field's value after an obsolete line fold, which counts as a space (RFC 9112, 5.2).
NC_NODISCARD nc_status nc_response_extend_field(nc_response *response, nc_slice more);

/// Stores the evaluation result of a rejected certificate; stores nothing if memory is exhausted.
void nc_response_set_trust_result(nc_response *response, const nc_trust_result *result);

/// Records that only the end of the connection delimits the body.
void nc_response_mark_close_delimited(nc_response *response);
/// Reserves memory for a body of an announced length, up to a limit.
NC_NODISCARD nc_status nc_response_expect_body(nc_response *response, uint64_t bytes);
NC_NODISCARD nc_status nc_response_append_body(nc_response *response, nc_slice bytes);
/// Sets a body that is not copied. Takes a reference of its owner, and releases it with the response or by
/// nc_response_drop_body(). Such a body must not be appended to.
void nc_response_share_body(nc_response *response, nc_slice body, void *owner, void (*release)(void *owner));
/// Drops the body, which was that of a redirect or of a repeated attempt.
void nc_response_drop_body(nc_response *response);

/// Takes ownership of the body check; NULL removes the previous one.
void nc_response_take_check(nc_response *response, nc_json *check, bool is_checked);
/// Returns the body check; NULL if there is none.
nc_json *nc_response_check(nc_response *response);

/* --- expectations --- */

/// Returns true if the expectation applies to a response with this status.
bool nc_expectation_applies_to_status(const nc_expectation *expectation, uint16_t status);
/// Returns true if the expectation applies to this content type, which may have parameters.
bool nc_expectation_applies_to_type(const nc_expectation *expectation, nc_slice content_type);
/// Returns the expectation's options, whose `types` must not be used.
const nc_expectation_options *nc_expectation_options_of(const nc_expectation *expectation);

#endif
