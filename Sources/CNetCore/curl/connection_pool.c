#include "curl/connection_pool.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/list.h"
#include "base/trace.h"
#include "base/worker.h"
#include "curl/easy_handle.h"
#include "curl/quirks.h"
#include "event_loop/sockets.h"
#include "event_loop/timers.h"
#include "request/response.h"
#include "state/engine_record.h"
#include "state/mailbox.h"
#include "state/time_limits.h"
#include "state/transfer_state.h"
#include "trust/identity.h"
#include "trust/policy.h"
#include "trust/verified_chain_cache.h"

#include <errno.h>

/// Pools that an engine keeps. The one that was idle for longest is closed first.
enum { MAX_CONN_POOLS = 16 };

/* --- callbacks of libcurl --- */

/// Counts the sockets that libcurl waits for while a transfer connects.
static void count_socket(nc_conn_pool *conn_pool, nc_easy_handle *handle, bool was_wanted, bool is_wanted) {
    handle->fd_count += (is_wanted ? 1 : 0) - (was_wanted ? 1 : 0);
    if (handle->fd_count == 0 && handle->transfer != NULL && handle->transfer->phase == NC_PHASE_CONNECT) {
        nc_list_remove(&handle->socketless);
        nc_list_append(&conn_pool->socketless, &handle->socketless);
    }
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *socket_data) {
    nc_conn_pool *conn_pool = data;
    nc_sockets *sockets = &conn_pool->engine->loop.sockets;
    int wanted = what == CURL_POLL_INOUT ? NC_WANT_READ | NC_WANT_WRITE
                 : what == CURL_POLL_IN  ? NC_WANT_READ
                 : what == CURL_POLL_OUT ? NC_WANT_WRITE
                                         : 0;
    nc_easy_handle *handle = nc_easy_handle_of(easy);
    (void)socket_data;
    if (handle == NULL && conn_pool->is_removing_hop && wanted == 0) {
        nc_quirk_end_cancelled_query(fd);
    }
    if (handle != NULL) {
        count_socket(conn_pool, handle, nc_sockets_is_wanted(sockets, fd), wanted != 0);
    }
    if (handle != NULL && wanted != 0) {
        handle->fd = fd; // CURLINFO_ACTIVESOCKET reports it only after the transfer's end.
        handle->connection_id = nc_sockets_connection(sockets, fd);
        if (handle->transfer != NULL && handle->connection_id != 0 && (wanted & NC_WANT_READ) != 0) {
            nc_metrics_record_tcp(handle->transfer); // libcurl reads only after TCP is connected.
        }
    }
    return nc_sockets_want(sockets, fd, wanted, conn_pool) == NC_OK ? 0 : -1;
}

static int on_timer(CURLM *multi, long timeout_ms, void *data) {
    nc_conn_pool *conn_pool = data;
    nc_timers *timers = &conn_pool->engine->loop.timers;
    (void)multi;
    // While a connection has decrypted bytes, or receives bytes faster than they are consumed, libcurl asks to be
    // called again immediately. It is called in the next round, after the mailbox, limits and other sockets.
    uint64_t wait_ns =
        timeout_ms == 0 && conn_pool->is_firing ? NC_TIMERS_NEXT_PASS_NS : (uint64_t)timeout_ms * 1000000u;
    if (timeout_ms < 0) {
        nc_timers_clear(timers, &conn_pool->timer);
    } else {
        nc_timers_set(timers, &conn_pool->timer, conn_pool->engine->loop.now_ns + wait_ns);
    }
    return 0;
}

void nc_conn_pool_perform(nc_conn_pool *conn_pool, curl_socket_t fd, int events) {
    int running;
    conn_pool->has_unread_messages = true;
    conn_pool->step_count++;
    conn_pool->call_count++;
    nc_engine_enter_libcurl(conn_pool->engine);
    CURLMcode code = curl_multi_socket_action(conn_pool->multi, fd, events, &running);
    nc_engine_leave_libcurl(conn_pool->engine);
    // Without memory libcurl loses track of its sockets, and transfers would wait for events that never come.
    conn_pool->is_broken = conn_pool->is_broken || code == CURLM_OUT_OF_MEMORY || code == CURLM_ABORTED_BY_CALLBACK;
}

bool nc_conn_pool_is_exhausted(const nc_conn_pool *conn_pool) {
    return conn_pool->is_broken && conn_pool->active_count == 0 && conn_pool->roots_state != NC_ROOTS_LOADING;
}

static void have_run(nc_transfer *transfer) {
    nc_engine_enter_libcurl(transfer->engine);
    nc_quirk_open_next_address(transfer->handle->easy, transfer->flow.pause_mask);
    nc_engine_leave_libcurl(transfer->engine);
}

void nc_conn_pool_open_next(nc_conn_pool *conn_pool) {
    nc_link *link;
    while ((link = nc_list_take_first(&conn_pool->socketless)) != NULL) {
        nc_easy_handle *handle = NC_CONTAINER_OF(link, nc_easy_handle, socketless);
        if (handle->fd_count == 0 && handle->transfer != NULL && handle->transfer->phase == NC_PHASE_CONNECT) {
            have_run(handle->transfer);
        }
    }
}

/* --- authorities --- */

static void load_roots(nc_work *work) {
    nc_conn_pool *conn_pool = NC_CONTAINER_OF(work, nc_conn_pool, work);
    const nc_file_ops *files = &conn_pool->engine->files;
    conn_pool->loaded_roots = NULL;
    conn_pool->loaded_identity = NULL;
    nc_status status =
        nc_trust_load_identity(&conn_pool->loaded_identity, conn_pool->trust, files, &conn_pool->load_error);
    if (status == NC_OK && !conn_pool->trust->options.accepts_anything) {
        status = nc_trust_load_roots(&conn_pool->loaded_roots, conn_pool->trust, files, &conn_pool->load_error);
        if (status == NC_ERR_TLS_ROOTS && !nc_trust_needs_roots(conn_pool->trust)) {
            // The missing authorities would only be used to verify a proxy's certificate.
            status = nc_error_clear(&conn_pool->load_error);
        }
        conn_pool->loaded_roots = status == NC_OK ? conn_pool->loaded_roots : NULL;
    }
    nc_mailbox_put_result(conn_pool->engine, &conn_pool->result);
}

static void roots_loaded(nc_worker_result *result) {
    nc_conn_pool *conn_pool = NC_CONTAINER_OF(result, nc_conn_pool, result);
    conn_pool->roots = conn_pool->loaded_roots;
    conn_pool->identity = conn_pool->loaded_identity;
    conn_pool->loaded_roots = NULL;
    conn_pool->loaded_identity = NULL;
    conn_pool->roots_error = conn_pool->load_error;
    conn_pool->roots_state = conn_pool->load_error.status == NC_OK ? NC_ROOTS_READY : NC_ROOTS_FAILED;
    nc_trace_pass(&conn_pool->engine->trace, NC_TRACE_ROOTS_READY, 0);
    conn_pool->engine->events->roots_ready(conn_pool);
}

bool nc_conn_pool_needs_roots(const nc_conn_pool *conn_pool) {
    bool needs_any = !conn_pool->trust->options.accepts_anything || nc_trust_has_identity(conn_pool->trust);
    return needs_any && conn_pool->roots_state != NC_ROOTS_READY;
}

bool nc_conn_pool_await_roots(nc_conn_pool *conn_pool, nc_transfer *transfer) {
    // A failure is not cached: the file may exist the next time.
    if (conn_pool->roots_state == NC_ROOTS_NOT_LOADED || conn_pool->roots_state == NC_ROOTS_FAILED) {
        conn_pool->roots_state = NC_ROOTS_LOADING;
        nc_trace_pass(&conn_pool->engine->trace, NC_TRACE_ROOTS_REQUESTED, transfer->id);
        // An earlier attempt may have loaded the identity, but not the authorities.
        nc_identity_free(conn_pool->identity);
        conn_pool->identity = NULL;
        conn_pool->work.run = load_roots;
        conn_pool->result.arrive = roots_loaded;
        if (nc_worker_submit(conn_pool->engine->worker, &conn_pool->work) != NC_OK) {
            conn_pool->roots_state = NC_ROOTS_FAILED;
            (void)nc_error_set(&conn_pool->roots_error, NC_ERR_THREAD, 0, -1,
                               "cannot start a thread to read the trusted authorities");
            return false;
        }
    }
    nc_list_append(&conn_pool->awaiting_roots, &transfer->link);
    nc_deadline_enter_phase(transfer, NC_PHASE_ROOTS);
    return true;
}

/* --- creation --- */

/// Sets libcurl's limit of open connections. libcurl also counts connections in use. If more than the limit are in use,
/// it would close each connection when its transfer ends.
static bool keep_connections(nc_conn_pool *conn_pool) {
    size_t idle = conn_pool->engine->max_idle_connections;
    long kept = (long)(conn_pool->active_count > idle ? conn_pool->active_count : idle);
    if (kept == conn_pool->kept_connections) {
        return true;
    }
    conn_pool->kept_connections = kept;
    return curl_multi_setopt(conn_pool->multi, CURLMOPT_MAXCONNECTS, kept) == CURLM_OK;
}

void nc_conn_pool_add(nc_conn_pool *conn_pool) {
    conn_pool->active_count++;
    (void)keep_connections(conn_pool);
}

void nc_conn_pool_remove(nc_conn_pool *conn_pool) {
    conn_pool->active_count--;
    (void)keep_connections(conn_pool);
}

static bool prepare_libcurl(nc_conn_pool *conn_pool) {
    nc_engine *engine = conn_pool->engine;
    long multiplexing = conn_pool->is_exclusive ? CURLPIPE_NOTHING : CURLPIPE_MULTIPLEX;
    conn_pool->multi = curl_multi_init();
    conn_pool->share = curl_share_init();
    return conn_pool->multi != NULL && conn_pool->share != NULL &&
           curl_share_setopt(conn_pool->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS) == CURLSHE_OK &&
           curl_share_setopt(conn_pool->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) == CURLSHE_OK &&
           curl_multi_setopt(conn_pool->multi, CURLMOPT_SOCKETFUNCTION, on_socket) == CURLM_OK &&
           curl_multi_setopt(conn_pool->multi, CURLMOPT_SOCKETDATA, conn_pool) == CURLM_OK &&
           curl_multi_setopt(conn_pool->multi, CURLMOPT_TIMERFUNCTION, on_timer) == CURLM_OK &&
           curl_multi_setopt(conn_pool->multi, CURLMOPT_TIMERDATA, conn_pool) == CURLM_OK &&
           curl_multi_setopt(conn_pool->multi, CURLMOPT_PIPELINING, multiplexing) == CURLM_OK &&
           curl_multi_setopt(conn_pool->multi, CURLMOPT_MAX_CONCURRENT_STREAMS, (long)engine->max_streams) ==
               CURLM_OK &&
           keep_connections(conn_pool);
}

void nc_conn_pool_reclaim(nc_conn_pool *conn_pool, nc_easy_handle *handle, bool is_kept) {
    conn_pool->is_removing_hop = true;
    nc_engine_enter_libcurl(conn_pool->engine);
    (void)curl_multi_remove_handle(conn_pool->multi, handle->easy);
    nc_engine_leave_libcurl(conn_pool->engine);
    nc_list_remove(&handle->socketless); // that call may have added it
    if (is_kept) {
        nc_easy_handle_release(conn_pool, handle);
    } else {
        nc_easy_handle_free(handle);
    }
    conn_pool->is_removing_hop = false;
    conn_pool->has_unread_messages = true;
}

void nc_conn_pool_close(nc_conn_pool *conn_pool) {
    nc_engine *engine = conn_pool->engine;
    while (conn_pool->free_handles != NULL) {
        nc_easy_handle *handle = conn_pool->free_handles;
        conn_pool->free_handles = handle->next;
        nc_easy_handle_free(handle);
    }
    if (conn_pool->multi != NULL) {
        (void)curl_multi_cleanup(conn_pool->multi);
    }
    if (conn_pool->share != NULL) {
        (void)curl_share_cleanup(conn_pool->share);
    }
    nc_sockets_forget_owner(&engine->loop.sockets, conn_pool);
    nc_timers_clear(&engine->loop.timers, &conn_pool->timer);
    nc_timers_withdraw(&engine->loop.timers);
    nc_verified_chain_cache_deinit(&conn_pool->verified_chains);
    nc_trust_free_roots(conn_pool->roots);
    nc_identity_free(conn_pool->identity);
    nc_trust_release(conn_pool->trust);
    nc_list_remove(&conn_pool->link);
    engine->loop.conn_pool_count--;
    nc_trace_pass(&engine->trace, NC_TRACE_POOL_CLOSED, 0);
    nc_free(conn_pool);
}

/// Detects that the wall clock was set back. Earlier connection pools then accept no new transfers, because libcurl
/// would use their cached addresses for too long.
static void detect_clock_set_back(nc_engine *engine) {
    uint64_t steady_ns = engine->clock.monotonic_ns(engine->clock.ctx);
    int64_t ahead_s = nc_engine_now_s(engine) - (int64_t)(steady_ns / 1000000000u);
    int64_t most_s = engine->loop.clock_ahead_s;
    bool is_set_back = nc_quirk_keeps_expired_addresses(ahead_s, most_s);
    engine->loop.clock_set_back += is_set_back ? 1 : 0;
    engine->loop.clock_ahead_s = is_set_back || ahead_s > most_s ? ahead_s : most_s;
}

static void make_way(nc_engine *engine) {
    nc_conn_pool *oldest = NULL;
    for (nc_link *link = engine->loop.conn_pools.next; link != &engine->loop.conn_pools; link = link->next) {
        nc_conn_pool *conn_pool = NC_CONTAINER_OF(link, nc_conn_pool, link);
        bool is_idle = conn_pool->active_count == 0 && conn_pool->roots_state != NC_ROOTS_LOADING;
        if (is_idle && (oldest == NULL || conn_pool->used_ns < oldest->used_ns)) {
            oldest = conn_pool;
        }
    }
    if (oldest != NULL && engine->loop.conn_pool_count >= MAX_CONN_POOLS) {
        nc_conn_pool_close(oldest);
    }
}

static nc_conn_pool *make(nc_engine *engine, nc_conn_pool_key key) {
    nc_conn_pool *conn_pool = nc_alloc_zeroed(1, sizeof *conn_pool);
    if (conn_pool == NULL || nc_timers_announce(&engine->loop.timers) != NC_OK) {
        nc_free(conn_pool);
        return NULL;
    }
    conn_pool->engine = engine;
    conn_pool->trust = nc_trust_retain(key.trust);
    conn_pool->is_exclusive = key.is_exclusive;
    conn_pool->dscp = key.dscp;
    conn_pool->proxy_key = key.proxy_key;
    conn_pool->user_key = key.user_key;
    conn_pool->endpoint_key = key.endpoint_key;
    conn_pool->epoch = key.epoch;
    conn_pool->clock_set_back = engine->loop.clock_set_back;
    conn_pool->timer.fire = engine->events->pool_timer_due;
    nc_list_init(&conn_pool->awaiting_roots);
    nc_list_init(&conn_pool->running);
    nc_list_init(&conn_pool->socketless);
    nc_list_append(&engine->loop.conn_pools, &conn_pool->link);
    engine->loop.conn_pool_count++;
    if (!prepare_libcurl(conn_pool)) {
        int error = errno;
        nc_conn_pool_close(conn_pool);
        errno = error;
        return NULL;
    }
    nc_trace_pass(&engine->trace, NC_TRACE_POOL_CREATED, 0);
    return conn_pool;
}

static bool has_key(const nc_conn_pool *conn_pool, nc_conn_pool_key key) {
    return conn_pool->clock_set_back == conn_pool->engine->loop.clock_set_back &&
           conn_pool->is_exclusive == key.is_exclusive && conn_pool->dscp == key.dscp &&
           conn_pool->proxy_key == key.proxy_key && conn_pool->user_key == key.user_key &&
           conn_pool->endpoint_key == key.endpoint_key && conn_pool->epoch == key.epoch &&
           nc_trust_is_equal(conn_pool->trust, key.trust);
}

nc_conn_pool *nc_conn_pool_find_or_create(nc_engine *engine, nc_conn_pool_key key, nc_error *err) {
    detect_clock_set_back(engine);
    for (nc_link *link = engine->loop.conn_pools.next; link != &engine->loop.conn_pools; link = link->next) {
        nc_conn_pool *conn_pool = NC_CONTAINER_OF(link, nc_conn_pool, link);
        if (!conn_pool->is_broken && has_key(conn_pool, key)) {
            conn_pool->used_ns = engine->loop.now_ns;
            return conn_pool;
        }
    }
    make_way(engine);
    errno = 0;
    nc_conn_pool *conn_pool = make(engine, key);
    if (conn_pool == NULL) {
        int error = errno;
        nc_status status = nc_quirk_multi_init_error(error);
        bool is_memory = status == NC_ERR_NO_MEMORY;
        (void)nc_error_set(err, status, is_memory ? 0 : error, -1,
                           is_memory ? "no memory for a connection pool" : "no file descriptor for a connection pool");
        return NULL;
    }
    conn_pool->used_ns = engine->loop.now_ns;
    return conn_pool;
}

nc_easy_handle *nc_conn_pool_next_done(nc_conn_pool *conn_pool, CURLcode *code) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(conn_pool->multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            *code = message->data.result;
            return nc_easy_handle_of(message->easy_handle);
        }
    }
    return NULL;
}

/// The timer is set from the time at which the round began, which is earlier than libcurl's time. So it may fire early.
/// libcurl then finds nothing due, and does not ask for the timer again.
void nc_conn_pool_update_timer(nc_conn_pool *conn_pool) {
    long left_ms = -1;
    if (conn_pool->timer.heap_index == 0 && curl_multi_timeout(conn_pool->multi, &left_ms) == CURLM_OK &&
        left_ms >= 0) {
        (void)on_timer(conn_pool->multi, left_ms > 0 ? left_ms : 1, conn_pool);
    }
}
