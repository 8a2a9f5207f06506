/// Parts of the cache rules that several files use. Pure.
#ifndef NETCORE_PRIVATE_CACHE_PARTS_H
#define NETCORE_PRIVATE_CACHE_PARTS_H

#include "http/field_list.h"

#include <netcore/cache_rules.h>

/// Parses a number of seconds (RFC 9111, 1.2.2): digits only. A number that is too large becomes NC_CACHE_LONGEST_S.
/// Returns false for other text.
bool nc_delta_seconds_read(int64_t *out, nc_slice text);

/// Returns true for statuses that are cacheable without an explicit lifetime (RFC 9110, 15.1).
bool nc_cache_status_is_heuristic(uint16_t status);

/// Returns true if `no-cache="…"` names this field.
bool nc_cache_control_names(nc_fields fields, nc_slice field_name);

/// What a decision depends on, except for the stored response. The directives of the request are parsed once.
typedef struct nc_decision_input {
    const nc_cache_request *request;
    const nc_cache_policy *policy;
    nc_cache_control control;
    int64_t now_ms;
} nc_decision_input;

/// Returns true if the stored response may be used by its age and its directives. The reason is set in both cases.
bool nc_cache_is_usable(nc_cache_reason *reason, const nc_decision_input *input, const nc_cache_stored *stored);
/// Returns true if the stored response may be used because the network or the server has failed (RFC 5861, 4).
bool nc_cache_may_replace_failure(const nc_decision_input *input, const nc_cache_stored *stored);
/// Computes the freshness of a response with these directives; see nc_cache_freshness_of().
nc_cache_freshness nc_cache_freshness_by(const nc_cache_control *control, const nc_cache_response *response,
                                         const nc_cache_policy *policy);

/// The largest number of different names in the Vary fields of a response.
enum { NC_VARY_MAX_NAMES = 64 };
/// The different names of Vary fields, sorted without case.
typedef struct nc_vary {
    nc_slice names[NC_VARY_MAX_NAMES];
    size_t count;
    bool is_any; // "*", or too many names
} nc_vary;

void nc_vary_read(nc_vary *out, nc_fields response);
/// Returns true if two requests have equivalent fields for these names.
bool nc_vary_matches(const nc_vary *vary, nc_fields a, nc_fields b);

/// Returns true if two entity tags are equal by the weak comparison (RFC 9110, 8.8.3.2).
bool nc_entity_tag_is_same(nc_slice a, nc_slice b);
/// Returns true if the stored response has a validator, so that it can be revalidated.
bool nc_cache_has_validator(const nc_cache_stored *stored);
/// Returns true if a request is conditional or requests a range.
bool nc_cache_has_conditions(nc_fields request);
/// Sets the form of the response to a request, whose method is GET or HEAD. Returns false if only the server can
/// respond to it.
bool nc_cache_choose_form(nc_cache_decision *out, const nc_cache_request *request, const nc_cache_stored *stored);

#endif
