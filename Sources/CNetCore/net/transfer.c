#include "net/transfer.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/trace.h"
#include "net/access.h"
#include "net/alternatives.h"
#include "net/apart.h"
#include "net/engine_state.h"
#include "net/files.h"
#include "net/form_upload.h"
#include "net/handle.h"
#include "net/head.h"
#include "net/limits.h"
#include "net/metrics.h"
#include "net/plaintext.h"
#include "net/proof.h"
#include "net/response.h"
#include "net/tls_hook.h"
#include "net/tunnel.h"
#include "net/url_text.h"
#include "net/verdict.h"
#include "trust/policy.h"

#include <netcore/url.h>
#include <stdarg.h>
#include <stdio.h>

/* --- creation --- */

nc_status nc_transfer_new(nc_transfer **out, nc_engine *engine, const nc_request *request, const nc_sink *sink,
                          nc_error *err) {
    nc_status status = nc_request_check(request, err);
    if (status != NC_OK) {
        return status;
    }
    size_t storage = nc_description_size(request);
    size_t total = 0;
    nc_transfer *transfer =
        storage > 0 && nc_size_add(&total, sizeof *transfer, storage) ? nc_pool_take(engine->pool, total) : NULL;
    if (transfer == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a request");
    }
    *transfer = (nc_transfer){.engine = engine, .bytes = total, .has_sink = sink != NULL};
    transfer->sink = sink != NULL ? *sink : (nc_sink){0};
    // Room for the NUL, and for the additional letter of https.
    transfer->redirected_url = nc_buf_init(NC_URL_MAX_BYTES + 2);
    transfer->answers = nc_auth_answers_init();
    transfer->next_url = nc_buf_init(NC_URL_MAX_BYTES + 2);
    (void)nc_error_clear(&transfer->error);
    nc_description_fill(&transfer->description, request, transfer + 1);
    transfer->response = nc_response_new(engine->pool);
    if (transfer->response == NULL) {
        nc_pool_give(engine->pool, transfer, total);
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a response");
    }
    transfer->priority = request->priority;
    atomic_init(&transfer->shown_priority, (unsigned)request->priority);
    transfer->upload.fd = -1;
    transfer->upload.length = transfer->description.body_length;
    status = nc_form_upload_new(transfer, err);
    if (status == NC_OK) {
        status = nc_files_new(&transfer->files, transfer, err);
    }
    if (status != NC_OK) {
        nc_form_upload_free(transfer->form);
        nc_response_release(transfer->response);
        nc_pool_give(engine->pool, transfer, total);
        return status;
    }
    transfer->trust = nc_trust_retain(request->trust != NULL ? request->trust : engine->trust);
    transfer->expectation = request->expectation != NULL ? nc_expectation_retain(request->expectation) : NULL;
    *out = transfer;
    return NC_OK;
}

void nc_transfer_free(nc_transfer *transfer) {
    nc_files_free(transfer->files);
    nc_form_upload_free(transfer->form);
    nc_response_release(transfer->response);
    nc_trust_release(transfer->trust);
    nc_expectation_release(transfer->expectation);
    nc_auth_answers_deinit(&transfer->answers);
    nc_buf_deinit(&transfer->redirected_url);
    nc_buf_deinit(&transfer->next_url);
    nc_pool_give(transfer->engine->pool, transfer, transfer->bytes);
}

nc_slice nc_transfer_url(const nc_transfer *transfer) {
    if (transfer->redirected_url.length > 0) {
        return nc_buf_slice(&transfer->redirected_url);
    }
    return nc_slice_make(transfer->description.url, transfer->description.url_length);
}

const char *nc_transfer_unix_socket(const nc_transfer *transfer) {
    const nc_extras *extras = transfer->description.extras;
    return extras != NULL && !transfer->is_elsewhere ? extras->unix_socket : NULL;
}

/// Returns true if a status is about the response (format, network), so that its source matters.
static bool is_of_reply(nc_status status) {
    return (status >= NC_ERR_BAD_RESPONSE && status < NC_ERR_TLS_HANDSHAKE) ||
           (status >= NC_ERR_RESOLVE && status < NC_ERR_CANCELLED);
}

nc_status nc_transfer_note(nc_transfer *transfer, nc_status status, int32_t native_code, const char *format, ...) {
    if (transfer->error.status == NC_OK) {
        char message[NC_ERROR_MESSAGE_BYTES];
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(message, sizeof message, format, arguments);
        va_end(arguments);
        nc_slice place = is_of_reply(status) ? nc_url_authority(nc_transfer_url(transfer)) : nc_slice_of("");
        (void)nc_error_set(&transfer->error, status, native_code, -1, "%s%s%.*s", message, place.length > 0 ? ": " : "",
                           nc_url_shown(place), (const char *)place.data);
    }
    return status;
}

/* --- end --- */

static void deliver(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    nc_trace_pass(&engine->trace, NC_TRACE_DONE, transfer->id);
    pthread_mutex_lock(&engine->shared.mutex);
    transfer->is_finished = true;
    if (transfer->is_cancel_listed) {
        nc_list_remove(&transfer->cancel_link);
        transfer->is_cancel_listed = false;
    }
    if (transfer->orders != 0) {
        nc_list_remove(&transfer->order_link);
        transfer->orders = 0;
    }
    bool has_sink = transfer->has_sink;
    if (has_sink) {
        nc_registry_remove(&engine->shared.registry, transfer->id);
    } else {
        // From here on it belongs to its waiter.
        pthread_cond_broadcast(&engine->shared.condition);
    }
    pthread_mutex_unlock(&engine->shared.mutex);
    if (has_sink) {
        engine->loop.has_ended_some = true;
        transfer->sink.on_done(transfer->sink.ctx, transfer->id, transfer->response, &transfer->error);
        nc_transfer_free(transfer);
    }
}

static void finish_now(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    transfer->phase = NC_PHASE_DONE;
    if (transfer->has_timer_room) {
        nc_timers_withdraw(&engine->loop.timers);
    }
    engine->loop.transfer_count--;
    deliver(transfer);
}

/// The transfer is in neither libcurl nor the queue. Only its files are left, whose closing may take a moment.
static void finish(nc_transfer *transfer) {
    nc_files *files = transfer->files;
    transfer->is_ending = true;
    nc_timers_clear(&transfer->engine->loop.timers, &transfer->timer);
    nc_flow_deinit(transfer);
    if (files != NULL && files->is_working) {
        transfer->phase = NC_PHASE_FILES; // They are being opened, and are closed after that.
    } else if (files != NULL && files->is_open) {
        transfer->phase = NC_PHASE_FILES;
        nc_files_close(files, transfer->is_saving && transfer->error.status == NC_OK);
    } else {
        finish_now(transfer);
    }
}

void nc_transfer_files_closed(nc_transfer *transfer) {
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_FILES_CLOSED, transfer->id);
    if (transfer->error.status == NC_OK && transfer->is_saving && transfer->files->error.status != NC_OK) {
        transfer->error = transfer->files->error;
    }
    finish_now(transfer);
}

/// Removes the hop from libcurl and its pool (or from its queue), and returns the slot.
static void leave_hop(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    nc_list_remove(&transfer->link);
    if (transfer->handle != NULL) {
        transfer->lane->source_count -= transfer->description.source.pull != NULL ? 1 : 0;
        nc_engine_read_clock(engine);
        nc_metrics_record(transfer);
        nc_progress_note(transfer, true);
        bool is_drained = nc_flow_leave_hop(transfer);
        transfer->handle->is_unsure = false;
        // A handle is not reused in three cases. libcurl 7.88 counts retries on dead connections for a handle's
        // lifetime, and fails at the sixth. A handle that was removed before it had a connection keeps its buffer,
        // whose size is then fixed. Optional settings (including secrets) are most reliably removed with the handle.
        bool is_kept = transfer->attempts == 1 && !transfer->handle->has_extras && is_drained;
        nc_lane_take_back(transfer->lane, transfer->handle, is_kept);
        transfer->handle = NULL;
    }
    nc_h2_stream_leave(&transfer->stream);
    nc_tls_release_end(transfer->tls_end);
    transfer->tls_end = NULL;
    nc_detour_free(transfer->detour);
    transfer->detour = NULL;
    if (transfer->lane != NULL) {
        nc_lane_leave(transfer->lane);
        transfer->lane = NULL;
    }
    nc_queue_release_slot(&engine->loop.queue, transfer);
}

void nc_transfer_fail(nc_transfer *transfer, const nc_error *err) {
    if (transfer->is_ending) {
        return; // It has ended except for its files.
    }
    if (transfer->error.status == NC_OK) {
        transfer->error = *err;
    }
    if (transfer->phase == NC_PHASE_SLOT) {
        nc_queue_remove(&transfer->engine->loop.queue, transfer);
    } else {
        leave_hop(transfer);
    }
    finish(transfer);
}

static void fail(nc_transfer *transfer, nc_status status, const char *what) {
    nc_error err;
    (void)nc_error_set(&err, status, 0, -1, "%s", what);
    nc_transfer_fail(transfer, &err);
}

/* --- phases --- */

void nc_transfer_enter(nc_transfer *transfer, nc_phase phase) {
    nc_engine *engine = transfer->engine;
    bool is_same = transfer->phase == phase;
    transfer->phase = phase;
    atomic_store_explicit(&transfer->shown_phase, (unsigned)phase, memory_order_relaxed);
    transfer->phase_began_ns = engine->loop.now_ns;
    if (!is_same) {
        nc_limits_get_on(transfer);
        nc_limits_arm(transfer); // In the same phase the timer finds out by itself that there is more time.
    }
}

static void enqueue(nc_transfer *transfer, bool is_first) {
    nc_engine *engine = transfer->engine;
    nc_trace_pass(&engine->trace, NC_TRACE_QUEUED, transfer->id);
    nc_status status = nc_strict_upgrade(transfer);
    transfer->is_apart = nc_apart_is_better(transfer);
    status = status == NC_OK ? nc_queue_add(&engine->loop.queue, transfer, is_first) : status;
    if (status == NC_OK) {
        nc_transfer_enter(transfer, NC_PHASE_SLOT);
    } else {
        fail(transfer, status,
             status == NC_ERR_TOO_LARGE ? "too many transfers wait for a slot" : "no memory to queue");
    }
}

void nc_transfer_accept(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    engine->loop.transfer_count++;
    transfer->timer.fire = nc_limits_timer_due;
    if (nc_timers_announce(&engine->loop.timers) != NC_OK) {
        fail(transfer, NC_ERR_NO_MEMORY, "no memory for a time limit");
        return;
    }
    transfer->has_timer_room = true;
    if (nc_flow_init(transfer) != NC_OK) {
        fail(transfer, NC_ERR_NO_MEMORY, "no memory for a rate");
        return;
    }
    enqueue(transfer, false);
}

static void begin_hop(nc_transfer *transfer) {
    transfer->leads_on = false;
    transfer->was_connected = false;
    transfer->tcp_at_ns = 0;
    transfer->has_tunnel_status = false;
    transfer->has_tunnel_field = false;
    transfer->has_heard = false;
    transfer->socket_key = 0;
    transfer->attempts = 0;
    transfer->opened = 0;
    transfer->is_in_head = false;
    transfer->has_head = false;
    transfer->ends_early = false;
    transfer->asks_anew = false;
    transfer->socket_error = 0;
    transfer->is_head_held = false;
    transfer->met = 0;
    transfer->challenges = 0;
    transfer->challenge_bytes = 0;
    transfer->is_saving = false;
    transfer->shows_no_identity = false;
    transfer->framing = (nc_framing){0};
    transfer->stream = (nc_h2_stream){0};
    transfer->progress = (nc_progress_state){0};
    atomic_store_explicit(&transfer->received_bytes, 0, memory_order_relaxed);
    nc_flow_begin_hop(transfer);
    transfer->head_bytes = 0;
    transfer->head_fields = 0;
    transfer->body_bytes = 0;
    transfer->first_byte_ns = 0;
    nc_engine_read_clock(transfer->engine);
    transfer->hop_began_ns = transfer->engine->loop.now_ns;
}

/// If members differ, each request has its own connection. libcurl sends an authorization response over any shared one.
static nc_lane *find_lane(const nc_transfer *transfer, nc_lane_key key, nc_error *err) {
    nc_lane *lane = nc_lane_for(transfer->engine, key, err);
    if (lane == NULL || key.is_apart || !nc_apart_has_unlike_members(transfer, lane)) {
        return lane;
    }
    key.is_apart = true;
    return nc_lane_for(transfer->engine, key, err);
}

/// A client certificate is never sent after a cross-origin redirect.
static nc_lane *lane_for(nc_transfer *transfer, nc_error *err) {
    nc_engine *engine = transfer->engine;
    nc_lane_key key = {
        .trust = transfer->trust,
        .is_apart = transfer->is_apart || nc_apart_is_all_there_is(transfer),
        .dscp = transfer->description.dscp,
        .proxy_key = nc_access_proxy_key(&engine->state, transfer->description.extras),
        .user_key = transfer->is_elsewhere ? 0 : nc_access_user_key(&engine->state, transfer->description.extras),
        .place_key = transfer->detour != NULL ? nc_detour_key(transfer->detour) : transfer->description.places_key,
        .epoch = transfer->host != NULL ? transfer->host->epoch : 0,
    };
    if (!transfer->is_elsewhere && !transfer->description.is_elsewhere) {
        return find_lane(transfer, key, err);
    }
    key.trust = nc_trust_without_identity(transfer->trust);
    nc_lane *lane = find_lane(transfer, key, err);
    nc_trust_release(key.trust);
    return lane;
}

void nc_transfer_files_opened(nc_transfer *transfer) {
    nc_files *files = transfer->files;
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_FILES_OPENED, transfer->id);
    if (transfer->is_ending) {
        nc_files_close(files, false);
        return;
    }
    transfer->upload.fd = files->upload_fd;
    if (files->upload_fd >= 0) {
        transfer->upload.length = files->upload_bytes;
    } else if (transfer->form != NULL) {
        transfer->upload.length = nc_form_upload_length(transfer->form);
    }
    if (files->error.status != NC_OK) {
        nc_transfer_fail(transfer, &files->error);
    } else {
        nc_transfer_start(transfer);
    }
}

void nc_transfer_part_opened(nc_transfer *transfer) {
    if (transfer->is_ending) {
        nc_files_close(transfer->files, transfer->is_saving && transfer->error.status == NC_OK);
    } else {
        nc_flow_resume(transfer, NC_REST_SOURCE);
    }
}

void nc_transfer_start(nc_transfer *transfer) {
    bool is_secure;
    nc_error err;
    if (transfer->files != NULL && !transfer->files->is_open) {
        nc_transfer_enter(transfer, NC_PHASE_FILES);
        nc_files_open(transfer->files);
        return;
    }
    transfer->phase = NC_PHASE_ROOTS; // It is not in the queue any more.
    begin_hop(transfer);
    if (!nc_upload_begin_hop(transfer)) {
        nc_transfer_fail(transfer, &transfer->error);
        return;
    }
    if (nc_response_begin_hop(transfer->response, nc_transfer_url(transfer)) != NC_OK ||
        nc_alternatives_choose(transfer) != NC_OK) {
        fail(transfer, NC_ERR_NO_MEMORY, "no memory for a response");
        return;
    }
    nc_lane *lane = lane_for(transfer, &err);
    if (lane == NULL && transfer->detour != NULL && err.status == NC_ERR_DESCRIPTORS) {
        nc_detour_free(transfer->detour);
        transfer->detour = NULL;
        lane = lane_for(transfer, &err); // The origin may have a connection.
    }
    if (lane == NULL) {
        nc_transfer_fail(transfer, &err);
        return;
    }
    transfer->lane = lane;
    nc_lane_enter(lane);
    (void)nc_url_has_web_scheme(nc_transfer_url(transfer), &is_secure);
    is_secure = is_secure || nc_handle_may_need_tls(transfer);
    if (nc_plaintext_check(transfer) != NC_OK || nc_handle_check_netrc(transfer) != NC_OK) {
        nc_transfer_fail(transfer, &transfer->error);
    } else if (is_secure && !transfer->engine->capabilities.has_trust_policies &&
               !nc_trust_checks_nothing(transfer->trust)) {
        fail(transfer, NC_ERR_TLS_BACKEND, "this libcurl has no OpenSSL backend, so trust cannot be checked");
    } else if (is_secure && nc_lane_needs_roots(lane)) {
        nc_lane_await_roots(lane, transfer);
    } else {
        nc_transfer_launch(transfer);
    }
}

void nc_transfer_launch(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    nc_transfer_enter(transfer, NC_PHASE_CONNECT);
    nc_handle *handle = nc_handle_take(transfer->lane, transfer);
    if (handle == NULL) {
        fail(transfer, NC_ERR_NO_MEMORY, "no memory for a transfer");
        return;
    }
    nc_status status = nc_handle_configure(handle, transfer);
    CURLMcode code = status == NC_OK ? curl_multi_add_handle(transfer->lane->multi, handle->easy) : CURLM_OK;
    if (status != NC_OK || code != CURLM_OK) {
        // Its options are unknown now, so it is not reused.
        nc_handle_free(handle);
        bool is_memory = status == NC_ERR_NO_MEMORY || code == CURLM_OUT_OF_MEMORY;
        fail(transfer, is_memory ? NC_ERR_NO_MEMORY : NC_ERR_UNSUPPORTED, "libcurl does not take the request");
        return;
    }
    transfer->handle = handle;
    nc_list_append(&transfer->lane->running, &transfer->link);
    transfer->lane->source_count += transfer->description.source.pull != NULL ? 1 : 0;
    nc_trace_pass(&engine->trace, NC_TRACE_TRANSFER_STARTED, transfer->id);
}

/// Moves the redirect's URL and its changes to the next hop.
static void follow(nc_transfer *transfer) {
    nc_buf previous = transfer->redirected_url;
    transfer->redirected_url = transfer->next_url;
    transfer->next_url = previous;
    nc_auth_answers_reset(&transfer->answers);
    transfer->followed++;
    transfer->repeats = 0;
    transfer->has_left_detour = false;
    transfer->lost_ns = 0;
    transfer->is_afresh = false;
    transfer->needs_http1 = false;
    transfer->at_once = 0;
    transfer->is_elsewhere = transfer->is_elsewhere || transfer->answer.changes_origin;
    transfer->is_get = transfer->is_get || transfer->answer.becomes_get;
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_REDIRECT_FOLLOWED, transfer->id);
    enqueue(transfer, true);
}

void nc_transfer_hop_done(nc_transfer *transfer, CURLcode code) {
    code = nc_verdict_end(transfer, code);
    if (nc_verdict_is_of_connection(transfer, code)) {
        nc_lane_doubt_streams(transfer->lane);
    }
    if (nc_verdict_asks_anew(transfer, code)) {
        transfer->asks_anew = true;
        transfer->is_afresh = nc_verdict_is_of_used_connection(code);
        transfer->repeats++;
        nc_response_repeat_hop(transfer->response);
    }
    transfer->asks_anew = transfer->asks_anew || nc_tunnel_asks_again(transfer, code);
    if ((code != CURLE_OK && code != CURLE_OUT_OF_MEMORY && nc_alternatives_leave(transfer)) ||
        (transfer->asks_anew && transfer->error.status == NC_OK)) {
        leave_hop(transfer);
        enqueue(transfer, true);
        return;
    }
    if (transfer->is_head_held && transfer->error.status == NC_OK && nc_head_release(transfer) != NC_OK) {
        transfer->is_head_held = false; // Its error was recorded.
    }
    // The head is a redirect; an error in its body does not matter.
    transfer->ends_early = transfer->ends_early || (transfer->leads_on && transfer->error.status == NC_OK);
    code = nc_delivery_is_whole_before_reset(transfer, code) ? CURLE_OK : code;
    if (!nc_flow_end_body(transfer, code)) {
        return; // The reader is paused, and bytes are pending for it.
    }
    nc_verdict_judge(transfer, code);
    nc_proof_end(transfer);
    nc_http_version version = nc_response_http_version(transfer->response);
    if (version != NC_HTTP_VERSION_UNKNOWN && transfer->handle->shares_connections) {
        nc_queue_found_version(&transfer->engine->loop.queue, transfer, version);
    }
    leave_hop(transfer);
    if (transfer->error.status == NC_OK && transfer->leads_on) {
        follow(transfer);
    } else {
        finish(transfer);
    }
}
