#include "base/ascii.h"
#include "http/cache_parts.h"
#include "http/http_date.h"

#include <netcore/cache_functions.h>
#include <string.h>

/* --- arithmetic that is limited to the range of the type --- */

static int64_t add(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static int64_t subtract(int64_t a, int64_t b) {
    int64_t difference;
    return __builtin_sub_overflow(a, b, &difference) ? (a < 0 ? INT64_MIN : INT64_MAX) : difference;
}

static int64_t from_zero(int64_t value) {
    return value > 0 ? value : 0;
}

static int64_t in_ms(int64_t seconds) {
    return seconds == NC_CACHE_NONE ? NC_CACHE_NONE : seconds * 1000;
}

/* --- age and lifetime of an arriving response --- */

/// The age at the arrival (RFC 9111, 4.2.3): the larger one of the time since Date, and the Age field plus the time
/// between request and response.
static int64_t initial_age(nc_fields fields, bool has_date, int64_t date_ms, const nc_cache_response *response) {
    int64_t apparent = has_date ? from_zero(subtract(response->received_at_ms, date_ms)) : 0;
    int64_t delay = from_zero(subtract(response->received_at_ms, response->sent_at_ms));
    const nc_header *field = nc_fields_find(fields, "Age");
    nc_slice text = field != NULL ? field->value : nc_slice_of("");
    int64_t age = 0;
    // If the field contains several values, the first one applies (RFC 9111, 5.1).
    while (text.length > 0 && text.data[0] == ',') {
        text = nc_slice_make(text.data + 1, text.length - 1);
    }
    const uint8_t *comma = text.length > 0 ? memchr(text.data, ',', text.length) : NULL;
    text.length = comma != NULL ? (size_t)(comma - text.data) : text.length;
    if (!nc_delta_seconds_read(&age, nc_ascii_trim(text))) {
        age = 0;
    }
    // Date has a resolution of one second, so an apparent age below one second counts as 0.
    int64_t corrected = add(age * 1000, delay);
    apparent = apparent < 1000 ? 0 : apparent;
    return apparent > corrected ? apparent : corrected;
}

static bool read_date(int64_t *out_ms, nc_fields fields, const char *name) {
    const nc_header *field = nc_fields_find(fields, name);
    int64_t seconds;
    if (field == NULL || !nc_http_date_read_any_case(&seconds, field->value)) {
        return false;
    }
    *out_ms = seconds * 1000;
    return true;
}

/// A heuristic lifetime (RFC 9111, 4.2.2); NC_CACHE_NONE if none is allowed.
static int64_t heuristic_lifetime(nc_fields fields, uint16_t status, bool is_public, int64_t date_ms,
                                  const nc_cache_policy *policy) {
    int64_t modified_ms;
    double fraction = policy->heuristic_fraction < 1 ? policy->heuristic_fraction : 1;
    if (!(fraction > 0) || (!nc_cache_status_is_heuristic(status) && !is_public) ||
        !read_date(&modified_ms, fields, "Last-Modified")) {
        return NC_CACHE_NONE;
    }
    double limit = (double)from_zero(policy->heuristic_max_ms);
    double lifetime = (double)from_zero(subtract(date_ms, modified_ms)) * fraction;
    lifetime = lifetime < limit ? lifetime : limit;
    return lifetime < 9e18 ? (int64_t)lifetime : INT64_MAX;
}

nc_cache_freshness nc_cache_freshness_of(const nc_cache_response *response, const nc_cache_policy *policy) {
    nc_cache_control control = nc_cache_control_parse(response->headers, response->header_count);
    return nc_cache_freshness_by(&control, response, policy);
}

nc_cache_freshness nc_cache_freshness_by(const nc_cache_control *control, const nc_cache_response *response,
                                         const nc_cache_policy *policy) {
    nc_fields fields = {response->headers, response->header_count};
    int64_t date_ms = response->received_at_ms;
    bool has_date = read_date(&date_ms, fields, "Date");
    nc_cache_freshness out = {
        .lifetime_ms = in_ms(control->max_age_s),
        .initial_age_ms = initial_age(fields, has_date, date_ms, response),
        .received_at_ms = response->received_at_ms,
        .stale_while_revalidate_ms = in_ms(control->stale_while_revalidate_s),
        .stale_if_error_ms = in_ms(control->stale_if_error_s),
        .no_cache = control->no_cache,
        .must_revalidate = control->must_revalidate,
        .immutable = control->immutable,
    };
    if (out.lifetime_ms != NC_CACHE_NONE) {
        return out;
    }
    if (nc_fields_has(fields, "Expires")) {
        // An invalid date means that the response is stale already (RFC 9111, 5.3).
        int64_t end_ms;
        out.lifetime_ms = read_date(&end_ms, fields, "Expires") ? from_zero(subtract(end_ms, date_ms)) : 0;
        return out;
    }
    out.lifetime_ms = heuristic_lifetime(fields, response->status, control->is_public, date_ms, policy);
    out.is_heuristic = out.lifetime_ms != NC_CACHE_NONE;
    return out;
}

int64_t nc_cache_age_ms(const nc_cache_freshness *freshness, int64_t now_ms) {
    int64_t resident;
    if (__builtin_sub_overflow(now_ms, freshness->received_at_ms, &resident) || resident < 0) {
        return NC_CACHE_NONE;
    }
    return add(from_zero(freshness->initial_age_ms), resident);
}

/* --- deciding by age and lifetime --- */

/// Returns true if the response is older than the request allows (`max-age`), or will be stale sooner than the request
/// allows (`min-fresh`).
static bool is_too_old(int64_t age, const nc_cache_control *request, const nc_cache_freshness *stored) {
    int64_t lifetime = from_zero(stored->lifetime_ms);
    int64_t max_age = request->max_age_s;
    if (max_age == 0) {
        // max-age=0, as in a reload, does not require a revalidation of a fresh immutable response (RFC 8246, 2).
        if (!stored->immutable || lifetime <= age) {
            return true;
        }
    } else if (max_age != NC_CACHE_NONE && age > max_age * 1000) {
        return true;
    }
    return request->min_fresh_s != NC_CACHE_NONE && subtract(lifetime, age) < request->min_fresh_s * 1000;
}

/// Returns true with the reason if the response may be used, given the time since it became stale.
static bool may_use(nc_cache_reason *reason, int64_t age, const nc_cache_control *request,
                    const nc_cache_freshness *stored, const nc_cache_policy *policy) {
    int64_t stale = subtract(age, from_zero(stored->lifetime_ms));
    int64_t window = stored->stale_while_revalidate_ms > policy->stale_while_revalidate_ms
                         ? stored->stale_while_revalidate_ms
                         : policy->stale_while_revalidate_ms;
    bool allows_any = request->max_stale_s == INT64_MAX;
    if (stale < 0) {
        *reason = NC_CACHE_REASON_FRESH;
        return true;
    }
    *reason = NC_CACHE_REASON_STALE;
    if (stored->must_revalidate) {
        return false;
    }
    if (request->max_stale_s != NC_CACHE_NONE && (allows_any || stale <= request->max_stale_s * 1000)) {
        *reason = NC_CACHE_REASON_STALE_ALLOWED;
        return true;
    }
    if (stale < window) {
        *reason = NC_CACHE_REASON_STALE_WHILE_REVALIDATE;
        return true;
    }
    if (policy->mode == NC_CACHE_MODE_CACHE_ONLY) {
        *reason = NC_CACHE_REASON_STALE_ALLOWED;
        return true;
    }
    return false;
}

/// Pragma is ignored if there is a Cache-Control field (RFC 9111, 5.4).
static bool has_pragma(nc_fields fields) {
    return !nc_fields_has(fields, "Cache-Control") && nc_members_contain(fields, "Pragma", nc_slice_of("no-cache"));
}

bool nc_cache_is_usable(nc_cache_reason *reason, const nc_decision_input *input, const nc_cache_stored *stored) {
    nc_fields asked = {input->request->headers, input->request->header_count};
    const nc_cache_control *control = &input->control;
    int64_t age = nc_cache_age_ms(&stored->freshness, input->now_ms);
    if (age == NC_CACHE_NONE) {
        *reason = NC_CACHE_REASON_STALE;
        return false;
    }
    if (stored->freshness.no_cache) {
        *reason = NC_CACHE_REASON_NO_CACHE;
        return false;
    }
    if (control->no_cache || has_pragma(asked) || is_too_old(age, control, &stored->freshness)) {
        *reason = NC_CACHE_REASON_REQUEST_DIRECTIVE;
        return false;
    }
    return may_use(reason, age, control, &stored->freshness, input->policy);
}

bool nc_cache_may_replace_failure(const nc_decision_input *input, const nc_cache_stored *stored) {
    const nc_cache_policy *policy = input->policy;
    const nc_cache_freshness *freshness = &stored->freshness;
    int64_t age = nc_cache_age_ms(freshness, input->now_ms);
    int64_t window = freshness->stale_if_error_ms;
    int64_t asked = in_ms(input->control.stale_if_error_s);
    if (age == NC_CACHE_NONE || freshness->no_cache || freshness->must_revalidate) {
        return false;
    }
    window = window > asked ? window : asked;
    // 0 in the policy means that it sets no time. A time of 0 by request or server allows the use of a fresh response.
    window = policy->stale_if_error_ms > 0 && policy->stale_if_error_ms > window ? policy->stale_if_error_ms : window;
    return window != NC_CACHE_NONE && subtract(age, from_zero(freshness->lifetime_ms)) < window;
}
