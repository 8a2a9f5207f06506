#include "base/ascii.h"
#include "http/cache_parts.h"

#include <netcore/cache_functions.h>

static bool is_get_or_head(nc_slice method) {
    return method.length == 0 || nc_slice_is_equal(method, nc_slice_of("GET")) ||
           nc_slice_is_equal(method, nc_slice_of("HEAD"));
}

static bool is_redirect(const nc_cache_stored *stored) {
    const nc_header *location = nc_fields_find((nc_fields){stored->headers, stored->header_count}, "Location");
    uint16_t status = stored->status;
    return (status == 301 || status == 302 || status == 303 || status == 307 || status == 308) && location != NULL &&
           location->value.length > 0;
}

/// Returns true if the stored response may have been a response to this request, so that it may be used by its age or
/// revalidated. Otherwise `reason` is set.
static bool is_for(nc_cache_reason *reason, const nc_cache_request *request, const nc_cache_stored *stored) {
    nc_vary vary;
    if (stored->request_headers != NULL) {
        nc_vary_read(&vary, (nc_fields){stored->headers, stored->header_count});
        if (!nc_vary_matches(&vary, (nc_fields){stored->request_headers, stored->request_header_count},
                             (nc_fields){request->headers, request->header_count})) {
            *reason = NC_CACHE_REASON_VARIES;
            return false;
        }
    }
    *reason = NC_CACHE_REASON_REDIRECT;
    return !request->follows_redirects || !is_redirect(stored);
}

/// Returns true if the policy and the request allow the use of a stored response, and there is one that matches.
static bool is_own(nc_cache_reason *reason, const nc_decision_input *input, const nc_cache_stored *stored) {
    nc_cache_mode mode = input->policy->mode;
    if (!is_get_or_head(input->request->method) || mode == NC_CACHE_MODE_NO_STORE || input->control.no_store) {
        *reason = NC_CACHE_REASON_UNCACHEABLE;
        return false;
    }
    if (mode == NC_CACHE_MODE_RELOAD) {
        *reason = NC_CACHE_REASON_IGNORED;
        return false;
    }
    *reason = NC_CACHE_REASON_ABSENT;
    return stored != NULL && is_for(reason, input->request, stored);
}

/// Returns true if conditions may be added: to GET without conditions of its own. A HEAD is sent as it is.
static bool can_be_conditional(const nc_cache_request *request) {
    bool is_get = request->method.length == 0 || nc_slice_is_equal(request->method, nc_slice_of("GET"));
    return is_get && !nc_cache_has_conditions((nc_fields){request->headers, request->header_count});
}

/// Sets the action if the stored response is not used.
static void choose_network(nc_cache_decision *out, const nc_decision_input *input, bool may_revalidate) {
    nc_cache_mode mode = input->policy->mode;
    if (mode == NC_CACHE_MODE_CACHE_ONLY) {
        out->action = NC_CACHE_FAIL;
    } else if (input->control.only_if_cached && mode != NC_CACHE_MODE_NO_STORE &&
               is_get_or_head(input->request->method)) {
        out->action = NC_CACHE_GATEWAY_TIMEOUT;
    } else {
        out->action = may_revalidate && can_be_conditional(input->request) ? NC_CACHE_REVALIDATE : NC_CACHE_FETCH;
    }
}

/// Chooses the form of a usable response. Returns false if only the server can respond.
static bool use(nc_cache_decision *out, const nc_decision_input *input, const nc_cache_stored *stored) {
    out->action = NC_CACHE_USE;
    if (nc_cache_choose_form(out, input->request, stored)) {
        return true;
    }
    out->first = 0;
    out->last = 0;
    // RFC 9111, 5.2.1.7: the whole response is better than a 504. A server may ignore a range or a condition too.
    bool is_head = nc_slice_is_equal(input->request->method, nc_slice_of("HEAD"));
    out->form = is_head ? NC_CACHE_FORM_HEAD : NC_CACHE_FORM_WHOLE;
    return input->control.only_if_cached && input->policy->mode != NC_CACHE_MODE_CACHE_ONLY;
}

static nc_decision_input input_of(const nc_cache_request *request, const nc_cache_policy *policy, int64_t now_ms) {
    return (nc_decision_input){.request = request,
                               .policy = policy,
                               .control = nc_cache_control_parse(request->headers, request->header_count),
                               .now_ms = now_ms};
}

nc_cache_decision nc_cache_decide(const nc_cache_request *request, const nc_cache_stored *stored,
                                  const nc_cache_policy *policy, int64_t now_ms) {
    nc_decision_input input = input_of(request, policy, now_ms);
    nc_cache_decision out = {.action = NC_CACHE_FETCH, .age_ms = NC_CACHE_NONE};
    bool is_candidate = is_own(&out.reason, &input, stored);
    if (stored != NULL) {
        out.age_ms = nc_cache_age_ms(&stored->freshness, now_ms);
    }
    if (!is_candidate) {
        choose_network(&out, &input, false);
        return out;
    }
    if (policy->mode == NC_CACHE_MODE_NETWORK_FIRST && !input.control.only_if_cached) {
        out.reason = NC_CACHE_REASON_NETWORK_FIRST;
        choose_network(&out, &input, nc_cache_has_validator(stored));
        return out;
    }
    bool is_usable = nc_cache_is_usable(&out.reason, &input, stored);
    if (is_usable && use(&out, &input, stored)) {
        return out;
    }
    if (is_usable) {
        out.reason = NC_CACHE_REASON_UNCACHEABLE;
    }
    choose_network(&out, &input, nc_cache_has_validator(stored));
    return out;
}

bool nc_cache_is_failure(uint16_t status) {
    return status == 0 || status == 500 || status == 502 || status == 503 || status == 504;
}

nc_cache_decision nc_cache_decide_after_failure(const nc_cache_request *request, const nc_cache_stored *stored,
                                                const nc_cache_policy *policy, int64_t now_ms, uint16_t status) {
    nc_decision_input input = input_of(request, policy, now_ms);
    nc_cache_decision out = {.action = NC_CACHE_FETCH, .age_ms = NC_CACHE_NONE};
    bool is_first = policy->mode == NC_CACHE_MODE_NETWORK_FIRST;
    if (stored != NULL) {
        out.age_ms = nc_cache_age_ms(&stored->freshness, now_ms);
    }
    // In the mode that uses the network first, an error status is a response of the network.
    if (!is_own(&out.reason, &input, stored) || !nc_cache_is_failure(status) || (is_first && status != 0)) {
        return out;
    }
    out.reason = NC_CACHE_REASON_STALE;
    if (!is_first && !nc_cache_may_replace_failure(&input, stored)) {
        return out;
    }
    if (nc_cache_choose_form(&out, request, stored)) {
        out.action = NC_CACHE_USE;
        out.reason = NC_CACHE_REASON_STALE_IF_ERROR;
    }
    return out;
}

const char *nc_cache_reason_name(nc_cache_reason reason) {
    static const char *const names[] = {
        [NC_CACHE_REASON_FRESH] = "fresh",
        [NC_CACHE_REASON_STALE_WHILE_REVALIDATE] = "stale-while-revalidate",
        [NC_CACHE_REASON_STALE_IF_ERROR] = "stale-if-error",
        [NC_CACHE_REASON_STALE_ALLOWED] = "stale-allowed",
        [NC_CACHE_REASON_ABSENT] = "absent",
        [NC_CACHE_REASON_IGNORED] = "ignored",
        [NC_CACHE_REASON_NETWORK_FIRST] = "network-first",
        [NC_CACHE_REASON_STALE] = "stale",
        [NC_CACHE_REASON_NO_CACHE] = "no-cache",
        [NC_CACHE_REASON_REQUEST_DIRECTIVE] = "request-directive",
        [NC_CACHE_REASON_VARIES] = "varies",
        [NC_CACHE_REASON_REDIRECT] = "redirect",
        [NC_CACHE_REASON_UNCACHEABLE] = "uncacheable",
        [NC_CACHE_REASON_OTHER_USER] = "other-user",
    };
    size_t number = (size_t)reason;
    return number < sizeof names / sizeof names[0] ? names[number] : "unknown";
}
