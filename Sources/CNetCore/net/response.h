/// How the loop fills a response before anybody else sees it.
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
    nc_hop_metrics metrics; // Its url is filled in by the getter.
    uint32_t url_at;
    uint32_t url_length;
} nc_hop;

/// Makes an empty response that takes its memory from `pool`.
NC_NODISCARD nc_response *nc_response_new(nc_pool *pool);

/// Begins a hop: keeps its URL (credentials left out) and forgets the head and body of the one before.
NC_NODISCARD nc_status nc_response_begin_hop(nc_response *response, nc_slice url);
/// The hop under way asked nobody: the next one takes its place.
void nc_response_repeat_hop(nc_response *response);
/// The hop under way, NULL before the first.
nc_hop_metrics *nc_response_hop(nc_response *response);

/// Begins a head, forgetting an interim one.
void nc_response_begin_head(nc_response *response, uint16_t status, nc_http_version version);
/// Adds a field to the head. Name and value are of one line, the value behind the name.
NC_NODISCARD nc_status nc_response_add_field(nc_response *response, nc_slice name, nc_slice value);
/// Adds a trailer field, as above; no field of the head may follow.
NC_NODISCARD nc_status nc_response_add_trailer(nc_response *response, nc_slice name, nc_slice value);
/// Continues the last field's value after an obsolete line fold (RFC 9112, 5.2: as a space).
NC_NODISCARD nc_status nc_response_extend_field(nc_response *response, nc_slice more);

/// Keeps the judgement that refused a certificate; without memory there is none.
void nc_response_set_verdict(nc_response *response, const nc_trust_verdict *verdict);

/// Nothing but the connection's end tells where the body ends.
void nc_response_mark_close_delimited(nc_response *response);
/// Makes room for a body of a known length, as far as a stranger's word is worth it.
NC_NODISCARD nc_status nc_response_expect_body(nc_response *response, uint64_t bytes);
NC_NODISCARD nc_status nc_response_append_body(nc_response *response, nc_slice bytes);
/// Forgets the body (of a redirect, or of an attempt that is made again).
void nc_response_drop_body(nc_response *response);

/// Takes over the check that the body goes through; NULL takes the one before away.
void nc_response_take_check(nc_response *response, nc_json *check, bool is_checked);
/// The check, NULL when there is none.
nc_json *nc_response_check(nc_response *response);

#endif
