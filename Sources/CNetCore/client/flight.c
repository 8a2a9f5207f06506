#include "base/alloc.h"
#include "base/error.h"
#include "client/internal.h"

/// The largest number of response fields that are searched for Retry-After and Date.
enum { MAX_FIELDS = 1024 };

/* --- ending --- */

static void free_flight(nc_flight *flight) {
    nc_client *client = flight->client;
    nc_list_remove(&flight->link);
    nc_timers_clear(&client->timers, &flight->timer);
    nc_timers_withdraw(&client->timers);
    if (flight->free_use != NULL) {
        flight->free_use(flight->use);
    }
    nc_request_template_deinit(flight->request);
    nc_free(flight->request);
    nc_buf_deinit(&flight->shared_key);
    nc_response_release(flight->response);
    nc_free(flight);
    nc_client_leave(client);
}

/// Ends the calls with the result of the last attempt.
static void finish(nc_flight *flight) {
    nc_response *response = flight->response;
    bool has_head = response != NULL && nc_response_hop_count(response) > 0;
    for (nc_link *link; (link = nc_list_take_first(&flight->calls)) != NULL;) {
        nc_call *call = NC_CONTAINER_OF(link, nc_call, link);
        if (flight->use != NULL) {
            nc_call_set_cache_report(call, &flight->cache_report);
        }
        nc_call_finish(call, has_head ? response : NULL, &flight->error);
    }
    free_flight(flight);
}

/// Returns true if the request has to be sent again, because the result cannot be used.
static bool conclude(nc_flight *flight) {
    bool is_again = flight->conclude != NULL && flight->conclude(flight);
    return is_again && !flight->is_cancelled;
}

static void record(nc_flight *flight) {
    for (nc_link *link = flight->calls.next; link != &flight->calls; link = link->next) {
        nc_call_record(NC_CONTAINER_OF(link, nc_call, link), flight->sent_count - 1, &flight->attempt);
    }
}

/* --- attempts --- */

static void take_result(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    nc_flight *flight = ctx;
    (void)id;
    flight->response = nc_response_retain(response);
    flight->error = *error;
    nc_client_post(flight->client, &flight->done);
}

static uint64_t elapsed_ms(const nc_flight *flight) {
    return nc_client_now_ms(flight->client) - flight->began_ms;
}

static uint64_t left_ms(const nc_flight *flight) {
    uint64_t elapsed = elapsed_ms(flight);
    if (flight->total_ms == NC_RETRY_NO_LIMIT) {
        return NC_RETRY_NO_LIMIT;
    }
    return elapsed < flight->total_ms ? flight->total_ms - elapsed : 0;
}

/// Sends the request. The time that is left limits the attempt. Returns an error if the request was not sent.
static nc_status send_attempt(nc_flight *flight) {
    const nc_sink sink = {.ctx = flight, .on_done = take_result};
    nc_request request = flight->request->request;
    uint64_t left = left_ms(flight);
    nc_response_release(flight->response);
    flight->response = NULL;
    flight->attempt = (nc_call_attempt){.started_ms = elapsed_ms(flight)};
    if (left == 0) {
        return nc_error_set(&flight->error, NC_ERR_TOTAL_TIMED_OUT, 0, -1, "%s",
                            nc_status_text(NC_ERR_TOTAL_TIMED_OUT));
    }
    request.limits.total_ms = left < NC_UNLIMITED ? (uint32_t)left : NC_UNLIMITED;
    // The engine's thread may call take_result() before the submission returns, so the submission has its own error.
    nc_error failure;
    nc_status status = nc_engine_submit(flight->client->engine, &request, &sink, &flight->transfer, &failure);
    if (status != NC_OK) {
        flight->error = failure;
    }
    flight->is_sent = status == NC_OK;
    flight->sent_count += status == NC_OK ? 1 : 0;
    return status;
}

void nc_flight_send(nc_flight *flight) {
    while (send_attempt(flight) != NC_OK) {
        if (!conclude(flight)) {
            finish(flight);
            return;
        }
    }
}

static void fire(nc_timer *timer) {
    nc_flight *flight = NC_CONTAINER_OF(timer, nc_flight, timer);
    const nc_body_source *source = &flight->request->request.body_source;
    uint64_t offset = flight->request->request.body_offset;
    if (source->pull != NULL && !source->seek(source->ctx, flight->transfer, offset)) {
        (void)nc_error_set(&flight->error, NC_ERR_NOT_REWINDABLE, 0, -1, "%s", nc_status_text(NC_ERR_NOT_REWINDABLE));
        (void)conclude(flight);
        finish(flight);
        return;
    }
    flight->retries++;
    nc_flight_send(flight);
}

/* --- deciding --- */

static double random_part(nc_client *client) {
    uint64_t bits = 0;
    uint8_t bytes[8];
    if (!client->random.fill(client->random.ctx, bytes, sizeof bytes)) {
        return 1; // without random bytes the delay is the whole interval
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        bits = bits << 8 | bytes[i];
    }
    return (double)(bits >> 11) * 0x1p-53;
}

static size_t copy_fields(nc_header *out, const nc_response *response) {
    size_t count = nc_response_header_count(response);
    count = count < MAX_FIELDS ? count : MAX_FIELDS;
    for (size_t i = 0; i < count; i++) {
        out[i] = nc_response_header_at(response, i);
    }
    return count;
}

static nc_retry_decision decide(nc_flight *flight) {
    nc_client *client = flight->client;
    nc_header fields[MAX_FIELDS];
    nc_retry_attempt attempt = nc_retry_attempt_of(&flight->request->request, flight->response, flight->error.status);
    attempt.headers = fields;
    attempt.header_count = copy_fields(fields, flight->response);
    attempt.retries = flight->retries;
    attempt.elapsed_ms = elapsed_ms(flight);
    attempt.left_ms = left_ms(flight);
    attempt.now_ms = client->clock.realtime_ns(client->clock.ctx) / 1000000;
    attempt.random = random_part(client);
    nc_retry_decision decision = nc_retry_decide(&flight->retry, &attempt);
    if (decision.is_retry && client->budget != NULL && !nc_retry_budget_take(client->budget)) {
        return (nc_retry_decision){.reason = NC_RETRY_NO_BUDGET};
    }
    return decision;
}

static void arrive(nc_message *message) {
    nc_flight *flight = NC_CONTAINER_OF(message, nc_flight, done);
    nc_retry_decision decision = {.reason = NC_RETRY_NOT_NEEDED};
    flight->is_sent = false;
    if (flight->has_retry && !flight->is_cancelled) {
        decision = decide(flight);
    }
    flight->attempt.status = flight->error.status;
    flight->attempt.http_status = nc_response_status(flight->response);
    flight->attempt.ended_ms = elapsed_ms(flight);
    flight->attempt.reason = decision.reason;
    flight->attempt.delay_ms = decision.delay_ms;
    record(flight);
    if (!decision.is_retry && conclude(flight)) {
        nc_flight_send(flight);
        return;
    }
    if (!decision.is_retry) {
        finish(flight);
        return;
    }
    uint64_t delay_ns = decision.delay_ms < UINT32_MAX ? decision.delay_ms * 1000000u : (uint64_t)UINT32_MAX * 1000000u;
    nc_timers_set(&flight->client->timers, &flight->timer,
                  flight->client->clock.monotonic_ns(flight->client->clock.ctx) + delay_ns);
}

/* --- calls --- */

nc_flight *nc_flight_new(nc_client *client, nc_request_template *request) {
    nc_flight *flight = nc_alloc_zeroed(1, sizeof *flight);
    if (flight == NULL || nc_timers_announce(&client->timers) != NC_OK) {
        nc_free(flight);
        return NULL;
    }
    uint32_t total_ms = request->request.limits.total_ms;
    flight->client = client;
    flight->request = request;
    flight->began_ms = nc_client_now_ms(client);
    flight->total_ms = total_ms == NC_UNLIMITED ? NC_RETRY_NO_LIMIT : total_ms == 0 ? NC_DEFAULT_TOTAL_MS : total_ms;
    flight->timer.fire = fire;
    flight->done.arrive = arrive;
    flight->shared_key = nc_buf_init(SIZE_MAX / 2);
    nc_list_init(&flight->calls);
    nc_list_append(&client->flights, &flight->link);
    nc_client_enter_more(client);
    if (client->budget != NULL) {
        nc_retry_budget_add(client->budget);
    }
    return flight;
}

void nc_flight_attach(nc_flight *flight, nc_call *call) {
    call->flight = flight;
    nc_list_append(&flight->calls, &call->link);
}

nc_flight *nc_flight_find(nc_client *client, nc_slice shared_key) {
    for (nc_link *link = client->flights.next; link != &client->flights; link = link->next) {
        nc_flight *flight = NC_CONTAINER_OF(link, nc_flight, link);
        if (!flight->is_cancelled && flight->shared_key.length > 0 &&
            nc_slice_is_equal(nc_buf_slice(&flight->shared_key), shared_key)) {
            return flight;
        }
    }
    return NULL;
}

void nc_flight_begin(nc_call *call) {
    nc_flight *flight = nc_flight_new(call->client, call->request);
    if (flight == NULL) {
        nc_error error;
        (void)nc_error_set(&error, NC_ERR_NO_MEMORY, 0, -1, "no memory for a call");
        nc_call_finish(call, NULL, &error);
        return;
    }
    call->request = NULL;
    flight->retry = call->retry;
    flight->has_retry = call->has_retry;
    nc_flight_attach(flight, call);
    nc_flight_send(flight);
}

static void cancel(nc_flight *flight) {
    flight->is_cancelled = true;
    if (flight->is_sent) {
        nc_engine_cancel(flight->client->engine, flight->transfer); // its end arrives as a message
    } else {
        free_flight(flight);
    }
}

void nc_flight_leave(nc_call *call, const nc_error *error) {
    nc_flight *flight = call->flight;
    if (call->is_finished || flight == NULL) {
        return;
    }
    call->flight = NULL;
    nc_list_remove(&call->link);
    nc_call_finish(call, NULL, error);
    if (nc_list_is_empty(&flight->calls) && !flight->is_cancelled && !flight->is_background) {
        cancel(flight);
    }
}

void nc_flight_cancel_all(nc_client *client) {
    nc_error error;
    (void)nc_error_set(&error, NC_ERR_CANCELLED, 0, -1, "the client was closed");
    nc_link *next;
    for (nc_link *link = client->flights.next; link != &client->flights; link = next) {
        nc_flight *flight = NC_CONTAINER_OF(link, nc_flight, link);
        for (nc_link *one; (one = nc_list_take_first(&flight->calls)) != NULL;) {
            nc_call_finish(NC_CONTAINER_OF(one, nc_call, link), NULL, &error);
        }
        next = link->next;
        if (!flight->is_cancelled) {
            cancel(flight);
        }
    }
}
