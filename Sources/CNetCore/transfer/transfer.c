#include "transfer/transfer.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/list.h"
#include "base/pool.h"
#include "base/trace.h"
#include "curl/auth_response.h"
#include "curl/connection_pool.h"
#include "curl/easy_handle.h"
#include "curl/quirks.h"
#include "curl/tls_hook.h"
#include "event_loop/timers.h"
#include "http/h2_tap.h"
#include "http/url_text.h"
#include "request/request_copy.h"
#include "request/response.h"
#include "state/alt_svc_cache.h"
#include "state/engine_record.h"
#include "state/hsts_state.h"
#include "state/quic.h"
#include "state/quic_race.h"
#include "state/registry.h"
#include "state/time_limits.h"
#include "state/transfer_state.h"
#include "transfer/body_files.h"
#include "transfer/body_pipeline.h"
#include "transfer/flow_control.h"
#include "transfer/hop_result.h"
#include "transfer/host_queue.h"
#include "transfer/internal.h"
#include "trust/policy.h"

#include <assert.h>
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
    size_t storage = nc_request_copy_size(request);
    size_t total = 0;
    nc_transfer *transfer =
        storage > 0 && nc_size_add(&total, sizeof *transfer, storage) ? nc_pool_acquire(engine->pool, total) : NULL;
    if (transfer == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a request");
    }
    *transfer = (nc_transfer){.engine = engine, .bytes = total, .has_sink = sink != NULL};
    transfer->sink = sink != NULL ? *sink : (nc_sink){0};
    // Room for a NUL, and for the "s" that an HSTS upgrade adds.
    transfer->redirected_url = nc_buf_init(NC_URL_MAX_BYTES + 2);
    transfer->auth_responses = nc_auth_responses_init();
    transfer->next_url = nc_buf_init(NC_URL_MAX_BYTES + 2);
    (void)nc_error_clear(&transfer->error);
    nc_request_copy_fill(&transfer->request, request, transfer + 1);
    if (request->trailers.count > 0 && nc_quirk_drops_trailers(NC_HTTP_VERSION_2)) {
        transfer->request.http = NC_HTTP_1_1;
    }
    transfer->response = nc_transfer_parse_url(transfer) == NC_OK ? nc_response_new(engine->pool) : NULL;
    if (transfer->response == NULL) {
        nc_pool_put(engine->pool, transfer, total);
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a response");
    }
    transfer->schedule.priority = request->priority;
    atomic_init(&transfer->published_priority, (unsigned)request->priority);
    transfer->upload.fd = -1;
    transfer->upload.trailer_lines = nc_buf_init(NC_MAX_TRAILER_BYTES + 4 * NC_MAX_TRAILERS);
    transfer->upload.length = transfer->request.body_length;
    status = nc_form_upload_new(transfer, err);
    if (status == NC_OK) {
        status = nc_files_new(&transfer->files, transfer, err);
    }
    if (status != NC_OK) {
        nc_form_upload_free(transfer->form);
        nc_response_release(transfer->response);
        nc_pool_put(engine->pool, transfer, total);
        return status;
    }
    transfer->trust = nc_trust_retain(request->trust != NULL ? request->trust : engine->trust);
    transfer->expectation = request->expectation != NULL ? nc_expectation_retain(request->expectation) : NULL;
    *out = transfer;
    return NC_OK;
}

void nc_transfer_make_socket(nc_transfer *transfer) {
    nc_request_copy_make_socket(&transfer->request);
}

void nc_transfer_free(nc_transfer *transfer) {
    nc_files_free(transfer->files);
    nc_form_upload_free(transfer->form);
    nc_response_release(transfer->response);
    nc_trust_release(transfer->trust);
    nc_expectation_release(transfer->expectation);
    nc_auth_responses_deinit(&transfer->auth_responses);
    nc_buf_deinit(&transfer->upload.trailer_lines);
    nc_buf_deinit(&transfer->redirected_url);
    nc_buf_deinit(&transfer->next_url);
    nc_pool_put(transfer->engine->pool, transfer, transfer->bytes);
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
    if (transfer->pending_commands != 0) {
        nc_list_remove(&transfer->command_link);
        transfer->pending_commands = 0;
    }
    bool has_sink = transfer->has_sink;
    if (has_sink) {
        nc_registry_remove(&engine->shared.registry, transfer->id);
    } else {
        // From here on, the transfer belongs to the thread that waits for it.
        pthread_cond_broadcast(&engine->shared.condition);
    }
    pthread_mutex_unlock(&engine->shared.mutex);
    if (has_sink) {
        engine->loop.has_ended_some = true;
        transfer->sink.on_done(transfer->sink.ctx, transfer->id, transfer->response, &transfer->error);
        nc_transfer_free(transfer);
    }
}

void nc_transfer_finish_now(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    transfer->phase = NC_PHASE_DONE;
    if (transfer->has_timer_room) {
        nc_timers_withdraw(&engine->loop.timers);
    }
    nc_list_append(&engine->loop.ended, &transfer->link);
}

void nc_transfer_deliver_ended(nc_engine *engine) {
    nc_link *link;
    assert(engine->loop.libcurl_calls == 0);
    while ((link = nc_list_take_first(&engine->loop.ended)) != NULL) {
        engine->loop.transfer_count--;
        deliver(NC_CONTAINER_OF(link, nc_transfer, link));
    }
}

/// Ends a transfer that is in neither libcurl nor the queue. Its files are closed first, on the worker thread.
static void finish(nc_transfer *transfer) {
    nc_files *files = transfer->files;
    transfer->is_ending = true;
    nc_timers_clear(&transfer->engine->loop.timers, &transfer->timer);
    nc_flow_control_deinit(transfer);
    if (files != NULL && files->is_working) {
        transfer->phase = NC_PHASE_FILES; // They are being opened, and are closed after that.
    } else if (files != NULL && files->is_open) {
        transfer->phase = NC_PHASE_FILES;
        nc_files_close(files, transfer->hop.is_saving && transfer->error.status == NC_OK);
    } else {
        nc_transfer_finish_now(transfer);
    }
}

/// Removes the hop from libcurl and its pool (or from its queue), and returns the slot.
static void hop_end(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    nc_list_remove(&transfer->link);
    if (transfer->handle != NULL) {
        transfer->conn_pool->source_count -= nc_transfer_has_source(transfer) ? 1 : 0;
        nc_engine_read_clock(engine);
        nc_metrics_record(transfer);
        nc_progress_record(transfer, true);
        bool is_drained = nc_flow_control_hop_end(transfer);
        transfer->handle->may_have_buffered_data = false;
        // Optional settings (including secrets) are most reliably removed with the handle.
        bool is_kept =
            !nc_quirk_forbids_handle_reuse(transfer->hop.attempts) && !transfer->handle->has_options && is_drained;
        nc_conn_pool_reclaim(transfer->conn_pool, transfer->handle, is_kept);
        transfer->handle = NULL;
    }
    nc_h2_stream_leave(&transfer->hop.stream);
    nc_tls_release(transfer->hop.tls_connection);
    transfer->hop.tls_connection = NULL;
    nc_alt_svc_route_free(transfer->alt_route);
    transfer->alt_route = NULL;
    if (transfer->conn_pool != NULL) {
        nc_conn_pool_remove(transfer->conn_pool);
        transfer->conn_pool = NULL;
    }
    nc_queue_release_slot(&engine->loop.queue, transfer);
}

void nc_transfer_fail(nc_transfer *transfer, const nc_error *err) {
    if (transfer->is_ending) {
        return; // The transfer has ended. Only its files are still open.
    }
    if (transfer->error.status == NC_OK) {
        transfer->error = *err;
    }
    if (transfer->phase == NC_PHASE_SLOT) {
        nc_queue_remove(&transfer->engine->loop.queue, transfer);
    } else {
        hop_end(transfer);
    }
    finish(transfer);
}

static void fail(nc_transfer *transfer, nc_status status, const char *what) {
    nc_error err;
    (void)nc_error_set(&err, status, 0, -1, "%s", what);
    nc_transfer_fail(transfer, &err);
}

/* --- phases --- */

void nc_transfer_enqueue(nc_transfer *transfer, bool is_first) {
    nc_engine *engine = transfer->engine;
    nc_trace_pass(&engine->trace, NC_TRACE_QUEUED, transfer->id);
    nc_status status = nc_hsts_state_apply(transfer);
    transfer->is_exclusive = nc_conn_exclusive_is_better(transfer);
    status = status == NC_OK ? nc_queue_add(&engine->loop.queue, transfer, is_first) : status;
    if (status == NC_OK) {
        nc_deadline_enter_phase(transfer, NC_PHASE_SLOT);
    } else {
        fail(transfer, status,
             status == NC_ERR_TOO_LARGE ? "too many transfers wait for a slot" : "no memory to queue");
    }
}

static void hop_start(nc_transfer *transfer) {
    nc_engine_read_clock(transfer->engine);
    transfer->hop = (nc_hop_state){.began_ns = transfer->engine->loop.now_ns};
    atomic_store_explicit(&transfer->received_bytes, 0, memory_order_relaxed);
    nc_flow_control_hop_start(transfer);
}

/// Returns the connection pool for a key. If only some servers of the host support HTTP/2, the pool is exclusive to the
/// request, because libcurl could send an authorization response over another connection to the host.
static nc_conn_pool *find_conn_pool(const nc_transfer *transfer, nc_conn_pool_key key, nc_error *err) {
    nc_conn_pool *conn_pool = nc_conn_pool_find_or_create(transfer->engine, key, err);
    if (conn_pool == NULL || key.is_exclusive || !nc_protocol_has_mixed_servers(transfer, conn_pool)) {
        return conn_pool;
    }
    key.is_exclusive = true;
    return nc_conn_pool_find_or_create(transfer->engine, key, err);
}

/// Returns the connection pool of the hop. After a cross-origin redirect, it is one without a client certificate.
static nc_conn_pool *conn_pool_for(nc_transfer *transfer, nc_error *err) {
    nc_engine *engine = transfer->engine;
    nc_conn_pool_key key = {
        .trust = transfer->trust,
        .is_exclusive = transfer->is_exclusive || nc_conn_exclusive_is_only_choice(transfer),
        .dscp = transfer->request.dscp,
        .proxy_key = nc_auth_options_proxy_key(&engine->state, transfer->request.options),
        .user_key = transfer->is_cross_origin ? 0 : nc_auth_options_user_key(&engine->state, transfer->request.options),
        .endpoint_key = nc_quic_key(transfer) ^ (transfer->alt_route != NULL ? nc_alt_svc_route_key(transfer->alt_route)
                                                                             : transfer->request.endpoints_key),
        .epoch = transfer->schedule.host != NULL ? transfer->schedule.host->epoch : 0,
    };
    if (!transfer->is_cross_origin && !transfer->request.is_cross_origin) {
        return find_conn_pool(transfer, key, err);
    }
    key.trust = nc_trust_without_identity(transfer->trust);
    nc_conn_pool *conn_pool = find_conn_pool(transfer, key, err);
    nc_trust_release(key.trust);
    return conn_pool;
}

void nc_transfer_start(nc_transfer *transfer) {
    nc_error err;
    if (transfer->files != NULL && !transfer->files->is_open) {
        nc_deadline_enter_phase(transfer, NC_PHASE_FILES);
        nc_files_open(transfer->files);
        return;
    }
    transfer->phase = NC_PHASE_ROOTS; // It is not in the queue any more.
    hop_start(transfer);
    if (!nc_upload_begin_hop(transfer)) {
        nc_transfer_fail(transfer, &transfer->error);
        return;
    }
    if (nc_response_begin_hop(transfer->response, &transfer->target.url) != NC_OK ||
        nc_alt_svc_cache_choose(transfer) != NC_OK) {
        fail(transfer, NC_ERR_NO_MEMORY, "no memory for a response");
        return;
    }
    nc_quic_race_choose(transfer);
    nc_conn_pool *conn_pool = conn_pool_for(transfer, &err);
    if (conn_pool == NULL && transfer->alt_route != NULL && err.status == NC_ERR_DESCRIPTORS) {
        nc_alt_svc_route_free(transfer->alt_route);
        transfer->alt_route = NULL;
        // The alternative is given up, because the origin may have an open connection, which needs no new descriptor.
        conn_pool = conn_pool_for(transfer, &err);
    }
    if (conn_pool == NULL) {
        nc_transfer_fail(transfer, &err);
        return;
    }
    transfer->conn_pool = conn_pool;
    nc_conn_pool_add(conn_pool);
    bool is_secure = transfer->target.url.origin.is_secure || nc_protocol_may_need_tls(transfer);
    if (nc_plaintext_check(transfer) != NC_OK || nc_quic_check(transfer) != NC_OK ||
        nc_easy_handle_check_netrc(transfer) != NC_OK) {
        nc_transfer_fail(transfer, &transfer->error);
    } else if (is_secure && !transfer->engine->capabilities.has_trust_policies &&
               !nc_trust_checks_nothing(transfer->trust)) {
        fail(transfer, NC_ERR_TLS_BACKEND, "this libcurl has no OpenSSL backend, so trust cannot be checked");
    } else if (is_secure && nc_conn_pool_needs_roots(conn_pool)) {
        if (!nc_conn_pool_await_roots(conn_pool, transfer)) {
            nc_transfer_fail(transfer, &conn_pool->roots_error);
        }
    } else {
        nc_transfer_launch(transfer);
    }
}

void nc_transfer_launch(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    nc_deadline_enter_phase(transfer, NC_PHASE_CONNECT);
    nc_easy_handle *handle = nc_easy_handle_acquire(transfer->conn_pool, transfer);
    if (handle == NULL) {
        fail(transfer, NC_ERR_NO_MEMORY, "no memory for a transfer");
        return;
    }
    nc_status status = nc_easy_handle_configure(handle, transfer);
    CURLMcode code = status == NC_OK ? curl_multi_add_handle(transfer->conn_pool->multi, handle->easy) : CURLM_OK;
    if (status != NC_OK || code != CURLM_OK) {
        // Its options are unknown now, so it is not reused.
        nc_easy_handle_free(handle);
        bool is_memory = status == NC_ERR_NO_MEMORY || code == CURLM_OUT_OF_MEMORY;
        fail(transfer, is_memory ? NC_ERR_NO_MEMORY : NC_ERR_UNSUPPORTED, "libcurl rejected the request");
        return;
    }
    transfer->handle = handle;
    nc_list_append(&transfer->conn_pool->running, &transfer->link);
    transfer->conn_pool->source_count += nc_transfer_has_source(transfer) ? 1 : 0;
    nc_trace_pass(&engine->trace, NC_TRACE_TRANSFER_STARTED, transfer->id);
}

/// Prepares the next hop: takes the redirect's URL, and records whether the origin or the method changes.
static void follow(nc_transfer *transfer) {
    nc_buf previous = transfer->redirected_url;
    transfer->redirected_url = transfer->next_url;
    transfer->next_url = previous;
    nc_auth_responses_reset(&transfer->auth_responses);
    transfer->redirect_count++;
    transfer->target = (nc_target){0};
    transfer->is_cross_origin = transfer->is_cross_origin || transfer->redirect.changes_origin;
    transfer->is_get = transfer->is_get || transfer->redirect.becomes_get;
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_REDIRECT_FOLLOWED, transfer->id);
    if (nc_transfer_parse_url(transfer) != NC_OK) {
        fail(transfer, NC_ERR_NO_MEMORY, "no memory for a redirect");
        return;
    }
    nc_transfer_enqueue(transfer, true);
}

/// Makes later hops to the host use another pool.
static void abandon_connections(const nc_transfer *transfer) {
    nc_host *host = transfer->schedule.host;
    if (host != NULL && host->epoch == transfer->conn_pool->epoch) {
        host->epoch++;
    }
}

void nc_transfer_hop_done(nc_transfer *transfer, CURLcode code) {
    code = nc_hop_result_end(transfer, code);
    if (nc_quirk_keeps_dead_quic_connection(transfer->hop.is_quic, code)) {
        abandon_connections(transfer);
    }
    if (nc_hop_result_is_connection_error(transfer, code)) {
        nc_conn_streams_recheck(transfer->conn_pool);
    }
    if (nc_hop_result_will_retry(transfer, code)) {
        transfer->hop.outcome = NC_HOP_RETRIES;
        transfer->target.on_new_connection = nc_hop_result_is_reused_connection_error(code);
        transfer->target.repeats++;
        nc_response_repeat_hop(transfer->response);
    }
    if (nc_tunnel_will_retry(transfer, code)) {
        transfer->hop.outcome = NC_HOP_RETRIES;
    }
    if ((code != CURLE_OK && code != CURLE_OUT_OF_MEMORY && nc_alt_svc_cache_abandon(transfer)) ||
        (transfer->hop.outcome == NC_HOP_RETRIES && transfer->error.status == NC_OK)) {
        hop_end(transfer);
        nc_transfer_enqueue(transfer, true);
        return;
    }
    if (transfer->hop.is_head_held && transfer->error.status == NC_OK &&
        nc_response_head_accept_challenge(transfer) != NC_OK) {
        transfer->hop.is_head_held = false; // Its error was recorded.
    }
    // An error in the body of a redirect does not matter.
    if (nc_hop_is_redirect(transfer) && transfer->error.status == NC_OK) {
        nc_hop_stop(transfer);
    }
    code = nc_body_pipeline_is_whole_before_reset(transfer, code) ? CURLE_OK : code;
    if (!nc_body_pipeline_end(transfer, code)) {
        return; // The reader is paused, and bytes are pending for it.
    }
    nc_hop_result_evaluate(transfer, code);
    nc_json_check_end(transfer);
    nc_http_version version = nc_response_http_version(transfer->response);
    if (version != NC_HTTP_VERSION_UNKNOWN && transfer->handle->shares_connections) {
        nc_queue_found_version(&transfer->engine->loop.queue, transfer, version);
    }
    nc_quic_race_learn(transfer);
    hop_end(transfer);
    if (transfer->error.status == NC_OK && nc_hop_is_redirect(transfer)) {
        follow(transfer);
    } else {
        finish(transfer);
    }
}
