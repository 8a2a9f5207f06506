/// Functions of the event loop that fill a response before it is published.
#ifndef NETCORE_PRIVATE_RESPONSE_H
#define NETCORE_PRIVATE_RESPONSE_H

#include "base/pool.h"

#include <netcore/expectation.h>

enum { NC_INLINE_FIELDS = 16 };

/// A field as offsets into the text, which may move while it grows.
typedef struct nc_field {
    uint32_t name_at;
    uint32_t name_length;
    uint32_t value_at;
    uint32_t value_length;
} nc_field;

typedef struct nc_hop {
    nc_hop_metrics metrics; // The getter fills in its url.
    uint32_t url_at;
    uint32_t url_length;
} nc_hop;

/// Creates an empty response that allocates from `pool`.
NC_NODISCARD nc_response *nc_response_new(nc_pool *pool);

/// Begins a hop: stores its URL without credentials, and drops the previous head and body.
NC_NODISCARD nc_status nc_response_begin_hop(nc_response *response, nc_slice url);
/// Replaces the current hop, which sent nothing, by the next one.
void nc_response_repeat_hop(nc_response *response);
/// Returns the current hop; NULL before the first.
nc_hop_metrics *nc_response_hop(nc_response *response);

/// Begins a head, and drops an interim one.
void nc_response_begin_head(nc_response *response, uint16_t status, nc_http_version version);
/// Adds a field to the head. Name and value are in one line, with the value after the name.
NC_NODISCARD nc_status nc_response_add_field(nc_response *response, nc_slice name, nc_slice value);
/// Adds a trailer field in the same way; no field of the head may follow.
NC_NODISCARD nc_status nc_response_add_trailer(nc_response *response, nc_slice name, nc_slice value);
/// Extends the last field's value after an obsolete line fold (RFC 9112, 5.2: as a space).
NC_NODISCARD nc_status nc_response_extend_field(nc_response *response, nc_slice more);

/// Stores the evaluation result of a rejected certificate; none if memory is exhausted.
void nc_response_set_verdict(nc_response *response, const nc_trust_verdict *verdict);

/// Marks a body that only the end of the connection delimits.
void nc_response_mark_close_delimited(nc_response *response);
/// Reserves memory for a body of an announced length, up to a limit.
NC_NODISCARD nc_status nc_response_expect_body(nc_response *response, uint64_t bytes);
NC_NODISCARD nc_status nc_response_append_body(nc_response *response, nc_slice bytes);
/// Drops the body (of a redirect, or of an attempt that is repeated).
void nc_response_drop_body(nc_response *response);

/// Takes ownership of the body check; NULL removes the previous one.
void nc_response_take_check(nc_response *response, nc_json *check, bool is_checked);
/// Returns the body check; NULL if there is none.
nc_json *nc_response_check(nc_response *response);

#endif
