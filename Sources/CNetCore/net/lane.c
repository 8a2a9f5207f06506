#include "net/lane.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/trace.h"
#include "net/engine_state.h"
#include "net/flow.h"
#include "net/metrics.h"
#include "net/response.h"
#include "net/stalled.h"
#include "trust/identity.h"
#include "trust/policy.h"

#include <errno.h>
#include <sys/socket.h>

/// Pools that an engine keeps. The one that was idle for longest is closed first.
enum { MAX_LANES = 16 };
/// How often in a row libcurl may request an immediate call without any effect.
enum { MAX_IDLE_TURNS = 8 };

/* --- callbacks of libcurl --- */

/// Counts the sockets that libcurl waits for while a transfer connects.
static void count_socket(nc_lane *lane, nc_handle *handle, bool was_wanted, bool is_wanted) {
    handle->fd_count += (is_wanted ? 1 : 0) - (was_wanted ? 1 : 0);
    if (handle->fd_count == 0 && handle->transfer != NULL && handle->transfer->phase == NC_PHASE_CONNECT) {
        nc_list_remove(&handle->socketless);
        nc_list_append(&lane->socketless, &handle->socketless);
    }
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *socket_data) {
    nc_lane *lane = data;
    nc_sockets *sockets = &lane->engine->loop.sockets;
    int wanted = what == CURL_POLL_INOUT ? NC_WANT_READ | NC_WANT_WRITE
                 : what == CURL_POLL_IN  ? NC_WANT_READ
                 : what == CURL_POLL_OUT ? NC_WANT_WRITE
                                         : 0;
    nc_handle *handle = nc_handle_of(easy);
    (void)socket_data;
    if (handle == NULL && lane->is_leaving && wanted == 0) {
        // libcurl 7.88 keeps the connection of a cancelled DNS query, and takes its late response for the next one.
        (void)shutdown(fd, SHUT_RDWR);
    }
    if (handle != NULL) {
        count_socket(lane, handle, nc_sockets_is_wanted(sockets, fd), wanted != 0);
    }
    if (handle != NULL && wanted != 0) {
        handle->fd = fd; // CURLINFO_ACTIVESOCKET reports it only after the transfer's end.
        handle->connection_id = nc_sockets_connection(sockets, fd);
        if (handle->transfer != NULL && handle->connection_id != 0 && (wanted & NC_WANT_READ) != 0) {
            nc_metrics_note_tcp(handle->transfer); // Nothing comes before.
        }
    }
    return nc_sockets_want(sockets, fd, wanted, lane) == NC_OK ? 0 : -1;
}

static int on_timer(CURLM *multi, long timeout_ms, void *data) {
    nc_lane *lane = data;
    nc_timers *timers = &lane->engine->loop.timers;
    (void)multi;
    // 8.x requests immediate calls while a complete response is paused, which would block everything else.
    timeout_ms = timeout_ms == 0 && lane->idle_turns > MAX_IDLE_TURNS ? 1 : timeout_ms;
    // libcurl requests the next turn immediately while a connection has decrypted bytes, or receives them faster than
    // they are consumed. The mailbox, limits and other sockets come first.
    uint64_t wait_ns = timeout_ms == 0 && lane->is_firing ? NC_TIMERS_NEXT_PASS_NS : (uint64_t)timeout_ms * 1000000u;
    if (timeout_ms < 0) {
        nc_timers_clear(timers, &lane->timer);
    } else {
        nc_timers_set(timers, &lane->timer, lane->engine->loop.now_ns + wait_ns);
    }
    return 0;
}

static void on_timer_due(nc_timer *timer) {
    nc_lane *lane = NC_CONTAINER_OF(timer, nc_lane, timer);
    lane->is_firing = true;
    nc_lane_act(lane, CURL_SOCKET_TIMEOUT, 0);
    lane->is_firing = false;
    // The round's time is older than libcurl's, so the timer may have fired early. libcurl then finds nothing due, and
    // does not repeat its request: query it.
    long left_ms = -1;
    if (timer->place == 0 && curl_multi_timeout(lane->multi, &left_ms) == CURLM_OK && left_ms >= 0) {
        (void)on_timer(lane->multi, left_ms > 0 ? left_ms : 1, lane);
    }
    bool is_again = timer->place != 0 && timer->at_ns <= lane->engine->loop.now_ns + 1000000u;
    lane->idle_turns = is_again ? lane->idle_turns + 1 : 0;
}

/// Ends the transfers whose file could not be written. libcurl does not know: it delivered their bytes before.
static void fail_refused(nc_lane *lane) {
    nc_link *next;
    for (nc_link *link = lane->running.next; link != &lane->running; link = next) {
        nc_transfer *transfer = NC_CONTAINER_OF(link, nc_transfer, link);
        next = link->next;
        if (transfer->error.status != NC_OK) {
            nc_transfer_fail(transfer, &transfer->error);
        }
    }
}

void nc_lane_act(nc_lane *lane, curl_socket_t fd, int events) {
    int running;
    lane->is_dirty = true;
    lane->steps++;
    lane->acts++;
    CURLMcode code = curl_multi_socket_action(lane->multi, fd, events, &running);
    // Without memory libcurl loses track of its sockets, and transfers would wait for events that never come.
    lane->is_broken = lane->is_broken || code == CURLM_OUT_OF_MEMORY || code == CURLM_ABORTED_BY_CALLBACK;
    nc_gather_give_out(&lane->engine->loop.gather);
    if (nc_gather_take_failure(&lane->engine->loop.gather)) {
        fail_refused(lane);
    }
}

static void fail_running(nc_lane *lane) {
    nc_error err;
    (void)nc_error_set(&err, NC_ERR_NO_MEMORY, 0, -1, "no memory to go on with the connections");
    while (!nc_list_is_empty(&lane->running)) {
        nc_transfer_fail(NC_CONTAINER_OF(lane->running.next, nc_transfer, link), &err);
    }
}

bool nc_lane_is_spent(const nc_lane *lane) {
    return lane->is_broken && lane->active_count == 0 && lane->roots_state != NC_ROOTS_ASKED;
}

bool nc_lane_is_shared_by_others(const nc_lane *lane, const nc_transfer *transfer) {
    for (nc_link *link = lane->running.next; link != &lane->running; link = link->next) {
        const nc_transfer *other = NC_CONTAINER_OF(link, nc_transfer, link);
        if (other != transfer && other->may_be_multiplexed && other->socket_key == transfer->socket_key) {
            return true;
        }
    }
    return false;
}

void nc_lane_doubt_streams(nc_lane *lane) {
    for (nc_link *link = lane->running.next; link != &lane->running; link = link->next) {
        nc_transfer *transfer = NC_CONTAINER_OF(link, nc_transfer, link);
        if (transfer->may_be_multiplexed) {
            transfer->handle->is_unsure = true;
            lane->has_unsure = true;
        }
    }
}

void nc_lane_end_streams(nc_lane *lane) {
    nc_lane_doubt_streams(lane);
    lane->has_over = true;
}

/// Makes libcurl try the next address. If one has not responded, 7.88 closes its socket, and opens the next one only in
/// its next call, which it does not schedule.
static void open_next(nc_lane *lane) {
    nc_link *link;
    while ((link = nc_list_take_first(&lane->socketless)) != NULL) {
        nc_handle *handle = NC_CONTAINER_OF(link, nc_handle, socketless);
        if (handle->fd_count == 0 && handle->transfer != NULL && handle->transfer->phase == NC_PHASE_CONNECT) {
            nc_flow_have_run(handle->transfer);
        }
    }
}

enum { MAX_NUDGES = 8 };

void nc_lane_collect(nc_lane *lane) {
    int nudges = 0;
    if (lane->is_dirty) {
        open_next(lane);
    }
    while (lane->is_dirty) {
        CURLMsg *message;
        int left;
        lane->is_dirty = false;
        // Ending a hop calls libcurl again, which may finish others. So the outer loop is needed.
        while ((message = curl_multi_info_read(lane->multi, &left)) != NULL) {
            if (message->msg == CURLMSG_DONE) {
                nc_transfer_hop_done(nc_handle_of(message->easy_handle)->transfer, message->data.result);
            }
        }
        if (lane->source_count > 0) {
            nc_stalled_end_answered(lane);
        }
        if (!lane->is_dirty && nc_stalled_may_be_forgotten(lane) && nudges++ < MAX_NUDGES) {
            nc_stalled_nudge(lane);
        }
        if (!lane->is_dirty && lane->has_over && !nc_stalled_may_be_forgotten(lane)) {
            nc_stalled_end_over(lane);
        }
    }
    if (nc_stalled_may_be_forgotten(lane)) {
        nc_timers_set(&lane->engine->loop.timers, &lane->timer, lane->engine->loop.now_ns + NC_TIMERS_NEXT_PASS_NS);
    }
    if (lane->is_broken) {
        fail_running(lane);
    }
}

/* --- authorities --- */

static void load_roots(nc_work *work) {
    nc_lane *lane = NC_CONTAINER_OF(work, nc_lane, work);
    const nc_file_ops *files = &lane->engine->files;
    lane->loaded_roots = NULL;
    lane->loaded_identity = NULL;
    nc_status status = nc_trust_load_identity(&lane->loaded_identity, lane->trust, files, &lane->load_error);
    if (status == NC_OK && !lane->trust->options.accepts_anything) {
        status = nc_trust_load_roots(&lane->loaded_roots, lane->trust, files, &lane->load_error);
        if (status == NC_ERR_TLS_ROOTS && !nc_trust_needs_roots(lane->trust)) {
            status = nc_error_clear(&lane->load_error); // It would only be used to verify a proxy's certificate.
        }
        lane->loaded_roots = status == NC_OK ? lane->loaded_roots : NULL;
    }
    nc_mailbox_put_answer(lane->engine, &lane->answer);
}

static void go_on(nc_lane *lane) {
    nc_link *link;
    while ((link = nc_list_take_first(&lane->awaiting_roots)) != NULL) {
        nc_transfer *transfer = NC_CONTAINER_OF(link, nc_transfer, link);
        if (lane->roots_state == NC_ROOTS_READY) {
            nc_transfer_launch(transfer);
        } else {
            nc_transfer_fail(transfer, &lane->roots_error);
        }
    }
}

static void roots_answered(nc_answer *answer) {
    nc_lane *lane = NC_CONTAINER_OF(answer, nc_lane, answer);
    lane->roots = lane->loaded_roots;
    lane->identity = lane->loaded_identity;
    lane->loaded_roots = NULL;
    lane->loaded_identity = NULL;
    lane->roots_error = lane->load_error;
    lane->roots_state = lane->load_error.status == NC_OK ? NC_ROOTS_READY : NC_ROOTS_FAILED;
    nc_trace_pass(&lane->engine->trace, NC_TRACE_ROOTS_READY, 0);
    go_on(lane);
}

bool nc_lane_needs_roots(const nc_lane *lane) {
    bool needs_any = !lane->trust->options.accepts_anything || nc_trust_has_identity(lane->trust);
    return needs_any && lane->roots_state != NC_ROOTS_READY;
}

void nc_lane_await_roots(nc_lane *lane, nc_transfer *transfer) {
    nc_list_append(&lane->awaiting_roots, &transfer->link);
    nc_transfer_enter(transfer, NC_PHASE_ROOTS);
    // A failure is not cached: the file may exist the next time.
    if (lane->roots_state == NC_ROOTS_NOT_ASKED || lane->roots_state == NC_ROOTS_FAILED) {
        lane->roots_state = NC_ROOTS_ASKED;
        nc_trace_pass(&lane->engine->trace, NC_TRACE_ROOTS_REQUESTED, transfer->id);
        // From an earlier attempt: an identity without its authorities.
        nc_identity_free(lane->identity);
        lane->identity = NULL;
        lane->work.run = load_roots;
        lane->answer.arrive = roots_answered;
        if (nc_worker_submit(lane->engine->worker, &lane->work) != NC_OK) {
            lane->roots_state = NC_ROOTS_FAILED;
            (void)nc_error_set(&lane->roots_error, NC_ERR_THREAD, 0, -1, "no thread to read the authorities");
            go_on(lane);
        }
    } else if (lane->roots_state == NC_ROOTS_READY) {
        go_on(lane);
    }
}

/* --- creation --- */

/// libcurl counts connections in use against its limit. If more are in use, it would close each one as it ends.
static bool keep_connections(nc_lane *lane) {
    size_t idle = lane->engine->max_idle_connections;
    long kept = (long)(lane->active_count > idle ? lane->active_count : idle);
    if (kept == lane->kept_connections) {
        return true;
    }
    lane->kept_connections = kept;
    return curl_multi_setopt(lane->multi, CURLMOPT_MAXCONNECTS, kept) == CURLM_OK;
}

void nc_lane_enter(nc_lane *lane) {
    lane->active_count++;
    (void)keep_connections(lane);
}

void nc_lane_leave(nc_lane *lane) {
    lane->active_count--;
    (void)keep_connections(lane);
}

static bool prepare_libcurl(nc_lane *lane) {
    nc_engine *engine = lane->engine;
    long multiplexing = lane->is_apart ? CURLPIPE_NOTHING : CURLPIPE_MULTIPLEX;
    lane->multi = curl_multi_init();
    lane->share = curl_share_init();
    return lane->multi != NULL && lane->share != NULL &&
           curl_share_setopt(lane->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS) == CURLSHE_OK &&
           curl_share_setopt(lane->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) == CURLSHE_OK &&
           curl_multi_setopt(lane->multi, CURLMOPT_SOCKETFUNCTION, on_socket) == CURLM_OK &&
           curl_multi_setopt(lane->multi, CURLMOPT_SOCKETDATA, lane) == CURLM_OK &&
           curl_multi_setopt(lane->multi, CURLMOPT_TIMERFUNCTION, on_timer) == CURLM_OK &&
           curl_multi_setopt(lane->multi, CURLMOPT_TIMERDATA, lane) == CURLM_OK &&
           curl_multi_setopt(lane->multi, CURLMOPT_PIPELINING, multiplexing) == CURLM_OK &&
           curl_multi_setopt(lane->multi, CURLMOPT_MAX_CONCURRENT_STREAMS, (long)engine->max_streams) == CURLM_OK &&
           keep_connections(lane);
}

void nc_lane_take_back(nc_lane *lane, nc_handle *handle, bool is_kept) {
    lane->is_leaving = true;
    (void)curl_multi_remove_handle(lane->multi, handle->easy);
    nc_list_remove(&handle->socketless); // that call may have added it
    if (is_kept) {
        nc_handle_give(lane, handle);
    } else {
        nc_handle_free(handle);
    }
    lane->is_leaving = false;
    lane->is_dirty = true;
}

void nc_lane_close(nc_lane *lane) {
    nc_engine *engine = lane->engine;
    while (lane->free_handles != NULL) {
        nc_handle *handle = lane->free_handles;
        lane->free_handles = handle->next;
        nc_handle_free(handle);
    }
    if (lane->multi != NULL) {
        (void)curl_multi_cleanup(lane->multi);
    }
    if (lane->share != NULL) {
        (void)curl_share_cleanup(lane->share);
    }
    nc_sockets_forget_owner(&engine->loop.sockets, lane);
    nc_timers_clear(&engine->loop.timers, &lane->timer);
    nc_timers_withdraw(&engine->loop.timers);
    nc_known_chains_deinit(&lane->known);
    nc_trust_free_roots(lane->roots);
    nc_identity_free(lane->identity);
    nc_trust_release(lane->trust);
    nc_list_remove(&lane->link);
    engine->loop.lane_count--;
    nc_trace_pass(&engine->trace, NC_TRACE_LANE_CLOSED, 0);
    nc_free(lane);
}

static void make_way(nc_engine *engine) {
    nc_lane *oldest = NULL;
    for (nc_link *link = engine->loop.lanes.next; link != &engine->loop.lanes; link = link->next) {
        nc_lane *lane = NC_CONTAINER_OF(link, nc_lane, link);
        bool is_idle = lane->active_count == 0 && lane->roots_state != NC_ROOTS_ASKED;
        if (is_idle && (oldest == NULL || lane->used_ns < oldest->used_ns)) {
            oldest = lane;
        }
    }
    if (oldest != NULL && engine->loop.lane_count >= MAX_LANES) {
        nc_lane_close(oldest);
    }
}

static nc_lane *make(nc_engine *engine, nc_lane_key key) {
    nc_lane *lane = nc_alloc_zeroed(1, sizeof *lane);
    if (lane == NULL || nc_timers_announce(&engine->loop.timers) != NC_OK) {
        nc_free(lane);
        return NULL;
    }
    lane->engine = engine;
    lane->trust = nc_trust_retain(key.trust);
    lane->is_apart = key.is_apart;
    lane->dscp = key.dscp;
    lane->proxy_key = key.proxy_key;
    lane->user_key = key.user_key;
    lane->place_key = key.place_key;
    lane->epoch = key.epoch;
    lane->made_at = engine->loop.clock_set_back;
    lane->timer.fire = on_timer_due;
    nc_list_init(&lane->awaiting_roots);
    nc_list_init(&lane->running);
    nc_list_init(&lane->socketless);
    nc_list_append(&engine->loop.lanes, &lane->link);
    engine->loop.lane_count++;
    if (!prepare_libcurl(lane)) {
        int error = errno;
        nc_lane_close(lane);
        errno = error;
        return NULL;
    }
    nc_trace_pass(&engine->trace, NC_TRACE_LANE_CREATED, 0);
    return lane;
}

static bool has_key(const nc_lane *lane, nc_lane_key key) {
    return lane->made_at == lane->engine->loop.clock_set_back && lane->is_apart == key.is_apart &&
           lane->dscp == key.dscp && lane->proxy_key == key.proxy_key && lane->user_key == key.user_key &&
           lane->place_key == key.place_key && lane->epoch == key.epoch && nc_trust_is_equal(lane->trust, key.trust);
}

nc_lane *nc_lane_for(nc_engine *engine, nc_lane_key key, nc_error *err) {
    nc_engine_heed_clock(engine);
    for (nc_link *link = engine->loop.lanes.next; link != &engine->loop.lanes; link = link->next) {
        nc_lane *lane = NC_CONTAINER_OF(link, nc_lane, link);
        if (!lane->is_broken && has_key(lane, key)) {
            lane->used_ns = engine->loop.now_ns;
            return lane;
        }
    }
    make_way(engine);
    errno = 0;
    nc_lane *lane = make(engine, key);
    if (lane == NULL) {
        // Since 8.16 curl_multi_init() needs file descriptors, and returns no error code.
        bool is_memory = errno != EMFILE && errno != ENFILE;
        (void)nc_error_set(err, is_memory ? NC_ERR_NO_MEMORY : NC_ERR_DESCRIPTORS, is_memory ? 0 : errno, -1,
                           is_memory ? "no memory for a set of connections"
                                     : "no file descriptor for a set of connections");
        return NULL;
    }
    lane->used_ns = engine->loop.now_ns;
    return lane;
}
