#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"
#include "client/internal.h"

#include <netcore/url.h>

/* --- lifetime --- */

nc_call *nc_call_new(nc_client *client) {
    nc_call *call = nc_alloc_zeroed(1, sizeof *call);
    if (call == NULL) {
        return NULL;
    }
    if (pthread_mutex_init(&call->mutex, NULL) != 0) {
        nc_free(call);
        return NULL;
    }
    if (!nc_condition_init(&call->changed)) {
        pthread_mutex_destroy(&call->mutex);
        nc_free(call);
        return NULL;
    }
    atomic_init(&call->references, 1);
    call->client = client;
    call->scope = nc_buf_init(NC_URL_MAX_BYTES);
    return call;
}

nc_call *nc_call_retain(nc_call *call) {
    atomic_fetch_add_explicit(&call->references, 1, memory_order_relaxed);
    return call;
}

void nc_call_release(nc_call *call) {
    if (call == NULL || atomic_fetch_sub_explicit(&call->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    if (call->request != NULL) {
        nc_request_template_deinit(call->request);
        nc_free(call->request);
    }
    nc_buf_deinit(&call->scope);
    nc_response_release(call->response);
    pthread_cond_destroy(&call->changed);
    pthread_mutex_destroy(&call->mutex);
    nc_free(call);
}

/* --- the result, written by the client's thread --- */

void nc_call_record(nc_call *call, size_t index, const nc_call_attempt *attempt) {
    pthread_mutex_lock(&call->mutex);
    call->attempt_count = index + 1;
    if (index < NC_CALL_MAX_ATTEMPTS) {
        call->attempts[index] = *attempt;
    }
    pthread_mutex_unlock(&call->mutex);
}

void nc_call_set_cache_report(nc_call *call, const nc_call_cache *report) {
    pthread_mutex_lock(&call->mutex);
    call->cache_report = *report;
    pthread_mutex_unlock(&call->mutex);
}

void nc_call_finish(nc_call *call, nc_response *response, const nc_error *error) {
    if (call->is_finished) {
        return;
    }
    call->is_finished = true;
    // The sink is called before the waiting threads continue, so that its ctx may be freed after nc_call_wait().
    if (call->sink.on_done != NULL) {
        call->sink.on_done(call->sink.ctx, call, response, error);
    }
    pthread_mutex_lock(&call->mutex);
    call->is_done = true;
    call->response = response != NULL ? nc_response_retain(response) : NULL;
    call->error = *error;
    nc_client *client = call->client;
    call->client = NULL;
    pthread_cond_broadcast(&call->changed);
    pthread_mutex_unlock(&call->mutex);
    nc_call_release(call);
    nc_client_leave(client);
}

/* --- any thread --- */

void nc_call_cancel(nc_call *call) {
    // While the call has not ended, its client exists: nc_client_close() waits for all calls.
    pthread_mutex_lock(&call->mutex);
    if (!call->is_done && !call->is_cancel_posted) {
        call->is_cancel_posted = true;
        (void)nc_call_retain(call); // for the message
        nc_client_post(call->client, &call->cancelled);
    }
    pthread_mutex_unlock(&call->mutex);
}

nc_status nc_call_wait(nc_call *call, uint32_t timeout_ms, nc_response **out, nc_error *err) {
    uint64_t deadline_ns = 0;
    bool has_time = true;
    *out = NULL;
    pthread_mutex_lock(&call->mutex);
    if (!call->is_done && pthread_equal(call->client->thread, pthread_self()) != 0) {
        pthread_mutex_unlock(&call->mutex);
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the client's thread cannot wait for a call");
    }
    while (!call->is_done && has_time) {
        has_time = nc_condition_wait(&call->changed, &call->mutex, timeout_ms, &deadline_ns);
    }
    bool is_done = call->is_done;
    nc_error error = call->error;
    *out = is_done && call->response != NULL ? nc_response_retain(call->response) : NULL;
    pthread_mutex_unlock(&call->mutex);
    if (!is_done) {
        return nc_error_set(err, NC_ERR_WAIT_TIMED_OUT, 0, -1, "the call has not ended within %u ms", timeout_ms);
    }
    if (err != NULL) {
        *err = error;
    }
    return error.status;
}

size_t nc_call_attempt_count(nc_call *call) {
    pthread_mutex_lock(&call->mutex);
    size_t count = call->attempt_count;
    pthread_mutex_unlock(&call->mutex);
    return count;
}

nc_call_attempt nc_call_attempt_at(nc_call *call, size_t index) {
    nc_call_attempt attempt = {.status = NC_OK};
    pthread_mutex_lock(&call->mutex);
    if (index < call->attempt_count && index < NC_CALL_MAX_ATTEMPTS) {
        attempt = call->attempts[index];
    }
    pthread_mutex_unlock(&call->mutex);
    return attempt;
}

nc_call_cache nc_call_cache_report(nc_call *call) {
    pthread_mutex_lock(&call->mutex);
    nc_call_cache report = call->cache_report;
    pthread_mutex_unlock(&call->mutex);
    return report;
}
