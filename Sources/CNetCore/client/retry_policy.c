#include "base/ascii.h"
#include "body/multipart.h"
#include "http/field_list.h"
#include "http/http_date.h"

#include <netcore/method.h>
#include <netcore/retry.h>

/// The longest Retry-After in seconds. No caller waits that long.
#define LONGEST_S (INT64_C(1) << 40)

/* --- Retry-After --- */

static bool read_seconds(int64_t *out, nc_slice text) {
    int64_t value = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (!nc_ascii_is_digit(text.data[i])) {
            return false;
        }
        value = value >= LONGEST_S ? LONGEST_S : value * 10 + (text.data[i] - '0');
    }
    *out = value < LONGEST_S ? value : LONGEST_S;
    return text.length > 0;
}

bool nc_retry_after(uint64_t *delay_ms, const nc_header *headers, size_t header_count, int64_t now_ms) {
    nc_fields fields = {headers, header_count};
    const nc_header *field = nc_fields_find(fields, "Retry-After");
    const nc_header *date = nc_fields_find(fields, "Date");
    int64_t seconds;
    int64_t sent_s;
    if (field == NULL) {
        return false;
    }
    nc_slice text = nc_ascii_trim(field->value);
    if (read_seconds(&seconds, text)) {
        *delay_ms = (uint64_t)seconds * 1000;
        return true;
    }
    if (!nc_http_date_read(&seconds, text)) {
        return false;
    }
    if (date != NULL && nc_http_date_read(&sent_s, nc_ascii_trim(date->value))) {
        now_ms = sent_s * 1000;
    }
    int64_t left_ms;
    if (__builtin_sub_overflow(seconds * 1000, now_ms, &left_ms) || left_ms <= 0) {
        return false;
    }
    *delay_ms = (uint64_t)left_ms;
    return true;
}

/* --- may the request be sent again? --- */

static bool is_any_of(nc_status status, const nc_status *all, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (all[i] == status) {
            return true;
        }
    }
    return false;
}

/// Returns true if no redirect was followed. After a redirect, a server has acted on the request.
static bool is_of_first_hop(const nc_retry_attempt *attempt) {
    return attempt->hop_count <= 1 && attempt->http_status == 0;
}

static bool never_reached_server(const nc_retry_attempt *attempt) {
    static const nc_status statuses[] = {NC_ERR_RESOLVE,     NC_ERR_CONNECT,           NC_ERR_REFUSED,
                                         NC_ERR_UNREACHABLE, NC_ERR_CONNECT_TIMED_OUT, NC_ERR_SLOT_TIMED_OUT};
    return is_any_of(attempt->status, statuses, sizeof statuses / sizeof statuses[0]) && is_of_first_hop(attempt);
}

/// Returns true if the server closed a reused connection before it sent the first byte of a response. A new connection
/// does not count: there the server may have acted on the request before it closed the connection.
static bool lost_reused_connection(const nc_retry_attempt *attempt) {
    static const nc_status statuses[] = {NC_ERR_EMPTY_REPLY, NC_ERR_RESET, NC_ERR_SEND, NC_ERR_RECEIVE};
    return is_any_of(attempt->status, statuses, sizeof statuses / sizeof statuses[0]) && is_of_first_hop(attempt) &&
           attempt->hop_count == 1 && attempt->is_reused && !attempt->has_first_byte;
}

/// Returns true for errors of usage, resources and control.
static bool is_local(nc_status status) {
    return (status >= 1 && status < 40) || (status >= 150 && status < 200);
}

static bool has_status(const nc_retry_policy *policy, uint16_t status) {
    for (size_t i = 0; i < NC_RETRY_MAX_STATUSES; i++) {
        if (policy->statuses[i] == status && status != 0) {
            return true;
        }
    }
    return false;
}

/// Returns true if a proxy refused the credentials for a tunnel. It will refuse them again.
static bool was_refused_by_proxy(const nc_retry_attempt *attempt) {
    return attempt->status == NC_ERR_PROXY && attempt->http_status == 407;
}

static bool is_temporary(const nc_retry_policy *policy, const nc_retry_attempt *attempt) {
    if (attempt->status == NC_OK) {
        return has_status(policy, attempt->http_status);
    }
    return (nc_status_is_retryable(attempt->status) && !was_refused_by_proxy(attempt)) ||
           (policy->retries_any_error && !is_local(attempt->status)) || never_reached_server(attempt) ||
           lost_reused_connection(attempt);
}

static bool may_send_twice(const nc_retry_policy *policy, const nc_retry_attempt *attempt) {
    return policy->retries_any_method || attempt->has_idempotency_key || nc_method_is_idempotent(attempt->method) ||
           never_reached_server(attempt) || lost_reused_connection(attempt);
}

/* --- when? --- */

static uint64_t backoff_ms(const nc_retry_policy *policy, const nc_retry_attempt *attempt) {
    // A factor of 2^40 exceeds every limit.
    uint64_t factor = UINT64_C(1) << (attempt->retries < 40 ? attempt->retries : 40);
    uint64_t longest = policy->max_delay_ms;
    uint64_t delay = policy->base_delay_ms > longest / factor ? longest : policy->base_delay_ms * factor;
    double part = attempt->random >= 0 ? attempt->random : 0; // also for NaN
    part = part < 1 ? part : 1;
    return policy->has_no_jitter ? delay : (uint64_t)((double)delay * part);
}

/// Returns the time that is left by both limits.
static uint64_t time_left(const nc_retry_policy *policy, const nc_retry_attempt *attempt) {
    uint64_t left = attempt->left_ms;
    if (policy->max_elapsed_ms > 0) {
        uint64_t most = policy->max_elapsed_ms;
        uint64_t rest = attempt->elapsed_ms < most ? most - attempt->elapsed_ms : 0;
        left = rest < left ? rest : left;
    }
    return left;
}

static nc_retry_decision refuse(nc_retry_reason reason) {
    return (nc_retry_decision){.reason = reason};
}

nc_retry_decision nc_retry_decide(const nc_retry_policy *policy, const nc_retry_attempt *attempt) {
    uint64_t left = time_left(policy, attempt);
    if (!is_temporary(policy, attempt)) {
        return refuse(NC_RETRY_NOT_NEEDED);
    }
    if (attempt->retries >= policy->max_retries) {
        return refuse(NC_RETRY_NO_ATTEMPTS_LEFT);
    }
    if (!attempt->is_repeatable) {
        return refuse(NC_RETRY_NOT_REPEATABLE);
    }
    if (!may_send_twice(policy, attempt)) {
        return refuse(NC_RETRY_NOT_IDEMPOTENT);
    }
    if (left == 0) {
        return refuse(NC_RETRY_NO_TIME_LEFT);
    }
    nc_retry_decision out = {.is_retry = true, .reason = NC_RETRY_BACKOFF, .delay_ms = backoff_ms(policy, attempt)};
    uint64_t server_delay_ms;
    if (attempt->status == NC_OK &&
        nc_retry_after(&server_delay_ms, attempt->headers, attempt->header_count, attempt->now_ms)) {
        if (server_delay_ms > policy->max_server_delay_ms || server_delay_ms > left) {
            return refuse(NC_RETRY_SERVER_DELAY_TOO_LONG);
        }
        out.reason = NC_RETRY_SERVER_DELAY;
        out.delay_ms = server_delay_ms;
    }
    return out.delay_ms < attempt->left_ms ? out : refuse(NC_RETRY_NO_TIME_LEFT);
}

/* --- filling an attempt --- */

/// Returns true if the body can be read from its start again.
static bool is_repeatable(const nc_request *request) {
    if (request->multipart != NULL) {
        return nc_multipart_is_repeatable(request->multipart);
    }
    return request->body_source.pull == NULL || request->body_source.seek != NULL;
}

nc_retry_attempt nc_retry_attempt_of(const nc_request *request, const nc_response *response, nc_status status) {
    nc_fields fields = {request->headers, request->header_count};
    nc_retry_attempt out = {
        .method = request->method,
        .has_idempotency_key = nc_fields_has(fields, "Idempotency-Key"),
        .is_repeatable = is_repeatable(request),
        .status = status,
        .left_ms = NC_RETRY_NO_LIMIT,
    };
    if (response != NULL) {
        size_t count = nc_response_hop_count(response);
        nc_hop_metrics hop = nc_response_hop_at(response, count > 0 ? count - 1 : 0);
        out.http_status = nc_response_status(response);
        out.hop_count = count;
        out.is_reused = hop.is_reused;
        out.has_first_byte = hop.first_byte_ns != 0;
    }
    return out;
}
