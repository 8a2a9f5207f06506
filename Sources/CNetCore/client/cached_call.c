#include "base/alloc.h"
#include "base/error.h"
#include "client/cache_use.h"
#include "client/internal.h"
#include "http/cache_parts.h"
#include "request/response.h"

#include <netcore/cache_functions.h>
#include <netcore/method.h>
#include <netcore/redirect.h>
#include <netcore/url.h>
#include <stdio.h>

static int64_t now_ms(const nc_client *client) {
    return client->clock.realtime_ns(client->clock.ctx) / 1000000;
}

static void free_use(void *ctx) {
    nc_cache_use *use = ctx;
    nc_cache_use_deinit(use);
    nc_free(use);
}

/* --- results --- */

/// Returns the report about the stored response of the lookup.
static nc_call_cache report_of(const nc_cache_use *use, nc_cache_outcome outcome) {
    const nc_cached *cached = use->cached;
    return (nc_call_cache){.outcome = outcome,
                           .action = use->decision.action,
                           .reason = use->decision.reason,
                           .age_ms = use->decision.age_ms,
                           .lifetime_ms = cached != NULL ? cached->stored.freshness.lifetime_ms : NC_CACHE_NONE};
}

static nc_call_cache report_hit(const nc_cache_use *use) {
    nc_call_cache report = report_of(use, NC_CACHE_OUTCOME_STALE_HIT);
    if (report.age_ms != NC_CACHE_NONE && report.age_ms < report.lifetime_ms) {
        report.outcome = NC_CACHE_OUTCOME_HIT;
    }
    return report;
}

/// Returns an error if the stored body exceeds the limit of the request. The request that it was stored for may have
/// had another limit.
static nc_status check_limit(const nc_request *request, const nc_response *response, nc_error *err) {
    uint64_t limit = request->limits.max_body_bytes;
    limit = limit == 0 ? NC_DEFAULT_MAX_BODY_BYTES : limit == NC_NO_BODY ? 0 : limit;
    if (nc_response_body(response).length <= limit) {
        return nc_error_clear(err);
    }
    return nc_error_set(err, NC_ERR_BODY_TOO_LARGE, 0, -1,
                        "the stored body exceeds the limit of %llu bytes (limits.max_body_bytes)",
                        (unsigned long long)limit);
}

/// Ends a call whose request is not sent. Releases the response.
static void finish_call(nc_call *call, nc_response *response, const nc_call_cache *report, nc_status status) {
    nc_error error;
    (void)nc_error_clear(&error);
    if (status != NC_OK) {
        (void)nc_error_set(&error, status, 0, -1, "not in the cache (cache-only request): %s",
                           nc_cache_reason_name(report->reason));
    } else if (response == NULL) {
        (void)nc_error_set(&error, NC_ERR_NO_MEMORY, 0, -1, "no memory for a response from the cache");
    } else if (check_limit(&call->request->request, response, &error) != NC_OK) {
        nc_response_release(response);
        response = NULL;
    }
    nc_call_set_cache_report(call, report);
    nc_call_finish(call, response, &error);
    nc_response_release(response);
}

/* --- the end of a flight --- */

/// Replaces the result of the flight by the stored response. Keeps the result if memory is exhausted.
static void use_stored(nc_flight *flight, const nc_cache_decision *decision, const nc_call_cache *report) {
    const nc_cache_use *use = flight->use;
    nc_response *response = nc_cached_response(flight->client->pool, use->cached, decision, now_ms(flight->client));
    if (response == NULL) {
        return;
    }
    nc_response_release(flight->response);
    flight->response = response;
    flight->cache_report = *report;
    if (check_limit(&use->asked, response, &flight->error) != NC_OK) {
        nc_response_release(response);
        flight->response = NULL;
    }
}

/// Uses the stored response instead of a failure, if that is allowed.
static void replace_failure(nc_flight *flight, uint16_t status) {
    nc_cache_use *use = flight->use;
    nc_cache_decision decision = nc_cache_decide_after_failure(&use->request, nc_cache_use_stored(use), &use->policy,
                                                               now_ms(flight->client), status);
    if (decision.action == NC_CACHE_USE) {
        nc_call_cache report;
        use->decision = decision;
        report = report_hit(use);
        use_stored(flight, &decision, &report);
    }
}

static bool is_server_failure(uint16_t status) {
    return status == 500 || status == 502 || status == 503 || status == 504;
}

/// Handles a 304 response to the condition of the cache. Returns true if it is for another response, so that the
/// request has to be sent without a condition.
static bool revalidated(nc_flight *flight, const nc_arrived *arrived) {
    nc_cache_use *use = flight->use;
    if (!nc_cache_confirms(&use->cached->stored, &arrived->head)) {
        flight->request->request.header_count = use->asked.header_count;
        use->is_unconditional = true;
        use->sent_at_ms = now_ms(flight->client);
        return true;
    }
    nc_call_cache report = report_of(use, NC_CACHE_OUTCOME_REVALIDATED);
    nc_cache_decision whole = {.action = NC_CACHE_USE};
    report.is_stored = nc_cache_use_freshen(use, arrived);
    use_stored(flight, &whole, &report);
    return false;
}

/// Returns true if only the server can evaluate the request. Its response is not stored, and removes nothing.
static bool is_for_server(const nc_cache_use *use) {
    nc_fields asked = {use->request.headers, use->request.header_count};
    return nc_fields_has(asked, "Range") || nc_fields_has(asked, "If-Match") ||
           nc_fields_has(asked, "If-Unmodified-Since") || nc_fields_has(asked, "If-Range");
}

/// Updates or removes the stored response by a response to HEAD, or by a 304 to the caller's own condition.
static void update_stored(nc_cache_use *use, const nc_arrived *arrived) {
    bool is_head = nc_slice_is_equal(use->request.method, nc_slice_of("HEAD"));
    if (is_head && arrived->head.status == 200 && use->is_own) {
        // If status, length or validators differ, the stored response is obsolete (RFC 9111, 4.3.5).
        if (nc_cache_is_same_version(&use->cached->stored, &arrived->head)) {
            (void)nc_cache_use_freshen(use, arrived);
        } else {
            nc_cache_use_invalidate(use, use->request.url);
        }
    }
    if (!is_head && arrived->head.status == 304 && use->is_own &&
        nc_cache_confirms_own(&use->cached->stored, &arrived->head, &use->request)) {
        (void)nc_cache_use_freshen(use, arrived);
    }
}

static bool conclude_safe(nc_flight *flight, nc_arrived *arrived) {
    nc_cache_use *use = flight->use;
    flight->cache_report = report_of(use, NC_CACHE_OUTCOME_NETWORK);
    if (flight->error.status != NC_OK) {
        if (nc_status_is_retryable(flight->error.status)) {
            replace_failure(flight, 0);
        }
        return false;
    }
    nc_arrived_read(arrived, flight->response, use->sent_at_ms, now_ms(flight->client));
    if (is_server_failure(arrived->head.status)) {
        replace_failure(flight, arrived->head.status);
        if (flight->cache_report.outcome != NC_CACHE_OUTCOME_NETWORK) {
            return false;
        }
    }
    if (arrived->head.status == 304 && use->decision.action == NC_CACHE_REVALIDATE && !use->is_unconditional) {
        return revalidated(flight, arrived);
    }
    if (!is_for_server(use)) {
        update_stored(use, arrived);
        flight->cache_report.is_stored = nc_cache_use_store(use, arrived);
    }
    return false;
}

/* --- unsafe methods --- */

static void invalidate_final(nc_cache_use *use, const nc_arrived *arrived, nc_slice url, nc_slice method) {
    nc_cache_invalidation found;
    nc_buf room = nc_buf_init(4 * NC_URL_MAX_BYTES);
    const nc_cache_request request = {.method = method, .url = url};
    if (nc_cache_invalidates(&found, &room, &request, &arrived->head) == NC_OK) {
        for (size_t i = 0; i < found.count; i++) {
            nc_cache_use_invalidate(use, found.urls[i]);
        }
    }
    nc_buf_deinit(&room);
}

/// Invalidates the stored responses for the URLs of all hops that changed a resource (RFC 9111, 4.4).
static void invalidate_hops(nc_cache_use *use, const nc_arrived *arrived) {
    size_t count = nc_response_hop_count(arrived->response);
    nc_slice method = use->request.method;
    nc_slice url = use->request.url;
    for (size_t i = 0; i + 1 < count; i++) {
        uint16_t status = nc_response_hop_at(arrived->response, i).status;
        nc_slice next = nc_response_hop_at(arrived->response, i + 1).url;
        if (status >= 200 && status < 400) {
            nc_cache_use_invalidate(use, url);
            // The next URL comes from the Location field of this hop.
            if (nc_url_is_same_origin(next, url)) {
                nc_cache_use_invalidate(use, next);
            }
        }
        // A GET changes nothing, and neither do the hops after it.
        if (nc_redirect_becomes_get(status, false, nc_slice_is_equal(method, nc_slice_of("POST")))) {
            return;
        }
        url = next;
    }
    invalidate_final(use, arrived, url, method);
}

static bool conclude_unsafe(nc_flight *flight, nc_arrived *arrived) {
    nc_cache_use *use = flight->use;
    flight->cache_report = report_of(use, NC_CACHE_OUTCOME_NETWORK);
    if (flight->response == NULL) {
        return false;
    }
    // If an error occurred after the head, the status may show that the server changed the resource.
    nc_arrived_read(arrived, flight->response, use->sent_at_ms, now_ms(flight->client));
    invalidate_hops(use, arrived);
    bool is_post = nc_slice_is_equal(use->request.method, nc_slice_of("POST"));
    if (is_post && flight->error.status == NC_OK && arrived->head.status >= 200 && arrived->head.status < 400) {
        use->moment = nc_http_cache_begin(use->cache); // the response describes the state after the invalidation
        flight->cache_report.is_stored = nc_cache_use_store(use, arrived);
    }
    return false;
}

static bool conclude(nc_flight *flight) {
    nc_cache_use *use = flight->use;
    nc_arrived *arrived = nc_alloc(sizeof *arrived);
    if (arrived == NULL) {
        flight->cache_report = report_of(use, NC_CACHE_OUTCOME_NETWORK);
        return false;
    }
    bool is_again =
        nc_method_is_safe(use->request.method) ? conclude_safe(flight, arrived) : conclude_unsafe(flight, arrived);
    nc_free(arrived);
    return is_again;
}

/* --- equal requests --- */

static void append_number(nc_buf *out, uint64_t number) {
    nc_buf_append(out, nc_slice_make(&number, sizeof number));
}

static void append_text(nc_buf *out, nc_slice text) {
    append_number(out, text.length);
    nc_buf_append(out, text);
}

/// Writes what must be equal for two requests to share a transfer. Writes nothing for a request that shares none.
static void write_shared_key(nc_buf *out, const nc_cache_use *use, const nc_call *call) {
    const nc_request *request = &use->asked;
    const nc_limits *limits = &request->limits;
    const uint64_t numbers[] = {
        (uint64_t)use->policy.mode,
        (uint64_t)use->policy.stale_while_revalidate_ms,
        (uint64_t)use->policy.stale_if_error_ms,
        (uint64_t)(use->policy.heuristic_fraction * 1e9),
        (uint64_t)use->policy.heuristic_max_ms,
        limits->total_ms,
        limits->first_byte_ms,
        limits->idle_ms,
        limits->connect_ms,
        limits->max_body_bytes,
        limits->max_redirects,
        (uint64_t)request->redirects,
        (uint64_t)request->http,
        request->cookie_use,
        request->refuses_malformed_fields,
    };
    bool is_get = request->method.length == 0 || nc_slice_is_equal(request->method, nc_slice_of("GET"));
    bool may_share = use->has_key && is_get && !call->has_own_retry && request->proxy == NULL &&
                     !nc_cache_has_conditions((nc_fields){request->headers, request->header_count});
    if (!may_share) {
        return;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        append_number(out, numbers[i]);
    }
    append_text(out, nc_buf_slice(&use->key));
    append_text(out, nc_slice_make(use->identity.owner, use->identity.owner_length));
    append_text(out, request->credentials.user);
    append_text(out, request->credentials.password);
    append_text(out, request->credentials.token);
    append_text(out, request->url);
    for (size_t i = 0; i < request->header_count; i++) {
        append_text(out, request->headers[i].name);
        append_text(out, request->headers[i].value);
    }
}

/* --- the start of a call --- */

static bool is_cacheable(const nc_request *request) {
    bool has_body = request->body.length > 0 || request->has_body || request->body_file.length > 0 ||
                    request->body_source.pull != NULL || request->multipart != NULL;
    return !has_body && request->save_path.length == 0 && request->expectation == NULL;
}

/// Starts a flight that uses the cache. It owns `use` and the request then. Returns NULL if memory is exhausted.
static nc_flight *start(nc_client *client, nc_request_template *request, nc_cache_use *use) {
    nc_flight *flight = nc_flight_new(client, request);
    if (flight == NULL) {
        return NULL;
    }
    flight->use = use;
    flight->free_use = free_use;
    flight->conclude = conclude;
    flight->has_retry = client->has_retry;
    flight->retry = client->retry;
    use->sent_at_ms = now_ms(client);
    if (use->decision.action == NC_CACHE_REVALIDATE) {
        // The template has room for them, and the stored response lives as long as the flight.
        size_t count = nc_cache_conditions(request->headers + use->asked.header_count, &use->cached->stored);
        request->request.header_count = use->asked.header_count + count;
    }
    return flight;
}

/// Fetches a new response in the background: the whole representation, even if the request is for a part.
static void refresh(nc_call *call, nc_cache_use *use) {
    nc_client *client = call->client;
    nc_request_template *request = nc_alloc_zeroed(1, sizeof *request);
    nc_cache_use *own = nc_alloc_zeroed(1, sizeof *own);
    nc_buf shared = nc_buf_init(SIZE_MAX / 2);
    nc_flight *flight = NULL;
    bool has_request = request != NULL && own != NULL &&
                       nc_request_template_init(request, &use->asked, NC_CACHE_MAX_CONDITIONS) == NC_OK;
    if (has_request) {
        nc_request_drop_conditions(request);
        own->cache = use->cache;
        own->policy = use->policy;
        own->scope = nc_buf_init(NC_URL_MAX_BYTES);
        nc_buf_append(&own->scope, nc_buf_slice(&use->scope));
        nc_cache_use_init(own, client->engine, &request->request, use->question.has_scope);
        nc_cache_use_find(own);
        own->decision = (nc_cache_decision){.action = NC_CACHE_FETCH, .reason = use->decision.reason};
        if (own->is_own && nc_cache_has_validator(&own->cached->stored)) {
            own->decision.action = NC_CACHE_REVALIDATE;
        }
        write_shared_key(&shared, own, call);
        bool is_known = nc_buf_status(&shared) == NC_OK && shared.length > 0 &&
                        nc_flight_find(client, nc_buf_slice(&shared)) != NULL;
        flight = is_known ? NULL : start(client, request, own);
    }
    if (flight != NULL) {
        flight->is_background = true;
        nc_buf_append(&flight->shared_key, nc_buf_slice(&shared));
        nc_flight_send(flight);
    } else {
        if (has_request) {
            nc_cache_use_deinit(own);
            nc_request_template_deinit(request);
        }
        nc_free(request);
        nc_free(own);
    }
    nc_buf_deinit(&shared);
}

/// Sends the request of a call, or joins the flight of an equal request. Takes `use` if it starts a flight. Returns
/// false if memory is exhausted.
static bool send_or_join(nc_call *call, nc_cache_use *use) {
    nc_client *client = call->client;
    nc_buf shared = nc_buf_init(SIZE_MAX / 2);
    write_shared_key(&shared, use, call);
    bool is_shared = nc_buf_status(&shared) == NC_OK && shared.length > 0;
    nc_flight *flight = is_shared ? nc_flight_find(client, nc_buf_slice(&shared)) : NULL;
    if (flight != NULL) {
        nc_flight_attach(flight, call);
        nc_buf_deinit(&shared);
        free_use(use);
        return true;
    }
    flight = start(client, call->request, use);
    if (flight == NULL) {
        nc_buf_deinit(&shared);
        return false;
    }
    call->request = NULL;
    flight->has_retry = call->has_retry;
    flight->retry = call->retry;
    if (is_shared) {
        nc_buf_append(&flight->shared_key, nc_buf_slice(&shared));
    }
    nc_buf_deinit(&shared);
    nc_flight_attach(flight, call);
    nc_flight_send(flight);
    return true;
}

/// Ends the call without the network, if the decision is to do so. Returns false otherwise.
static bool answer(nc_call *call, nc_cache_use *use) {
    nc_client *client = call->client;
    if (use->decision.action == NC_CACHE_USE) {
        nc_call_cache report = report_hit(use);
        nc_response *response = nc_cached_response(client->pool, use->cached, &use->decision, now_ms(client));
        if (use->decision.reason == NC_CACHE_REASON_STALE_WHILE_REVALIDATE) {
            refresh(call, use);
        }
        finish_call(call, response, &report, NC_OK);
        return true;
    }
    nc_call_cache report = report_of(use, NC_CACHE_OUTCOME_NONE);
    if (use->decision.action == NC_CACHE_GATEWAY_TIMEOUT) {
        finish_call(call, nc_cached_gateway_timeout(client->pool, use->request.url), &report, NC_OK);
        return true;
    }
    if (use->decision.action == NC_CACHE_FAIL) {
        finish_call(call, NULL, &report, NC_ERR_NOT_CACHED);
        return true;
    }
    return false;
}

static nc_cache_use *new_use(nc_call *call) {
    nc_cache_use *use = nc_alloc_zeroed(1, sizeof *use);
    if (use != NULL) {
        use->cache = call->client->cache;
        use->policy = call->cache;
        use->scope = call->scope;
        call->scope = nc_buf_init(0);
        nc_cache_use_init(use, call->client->engine, &call->request->request, call->has_scope);
    }
    return use;
}

static void decide(nc_cache_use *use, int64_t at_ms) {
    bool looks = use->policy.mode != NC_CACHE_MODE_NO_STORE && use->policy.mode != NC_CACHE_MODE_RELOAD &&
                 nc_method_is_safe(use->request.method);
    if (looks) {
        nc_cache_use_find(use);
    }
    use->decision = nc_cache_decide(&use->request, nc_cache_use_stored(use), &use->policy, at_ms);
    if (use->decision.reason == NC_CACHE_REASON_ABSENT) {
        use->decision.reason = use->has_key ? use->miss : NC_CACHE_REASON_UNCACHEABLE;
    }
}

void nc_cached_call_begin(nc_call *call) {
    const nc_request *request = &call->request->request;
    const nc_call_cache none = {.outcome = NC_CACHE_OUTCOME_NONE,
                                .action = NC_CACHE_FAIL,
                                .reason = NC_CACHE_REASON_UNCACHEABLE,
                                .age_ms = NC_CACHE_NONE,
                                .lifetime_ms = NC_CACHE_NONE};
    bool may_use = call->client->cache != NULL && (is_cacheable(request) || !nc_method_is_safe(request->method));
    if (!may_use && call->cache.mode == NC_CACHE_MODE_CACHE_ONLY) {
        finish_call(call, NULL, &none, NC_ERR_NOT_CACHED);
        return;
    }
    nc_cache_use *use = may_use ? new_use(call) : NULL;
    if (use == NULL) { // without memory, the call continues without the cache
        nc_flight_begin(call);
        return;
    }
    decide(use, now_ms(call->client));
    if (answer(call, use)) {
        free_use(use);
    } else if (!send_or_join(call, use)) {
        free_use(use);
        nc_flight_begin(call);
    }
}
