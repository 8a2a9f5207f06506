#include "net/flow.h"

#include "base/error.h"
#include "base/trace.h"
#include "body/multipart.h"
#include "net/engine_state.h"
#include "net/files.h"
#include "net/handle.h"
#include "net/limits.h"
#include "net/progress.h"
#include "net/proof.h"
#include "net/response.h"

/* --- pausing libcurl --- */

/// Passes the paused directions to libcurl. May call back into nc_flow_receive() and nc_upload_read().
static void tell(nc_transfer *transfer) {
    nc_flow *flow = &transfer->flow;
    bool is_pending = nc_delivery_is_pending(transfer);
    bool receives = transfer->has_head && !transfer->is_head_held;
    // Pause only after the head: libcurl buffers header lines while paused, and delivers them as one. Before a
    // connection exists curl_easy_pause() fails; the callbacks return PAUSE themselves.
    int wanted = (receives && (flow->receive_rests != 0 || is_pending) ? CURLPAUSE_RECV : 0) |
                 (flow->send_rests != 0 ? CURLPAUSE_SEND : 0);
    if (transfer->handle == NULL || !transfer->was_connected || wanted == flow->pause_mask) {
        return;
    }
    flow->pause_mask = wanted; // Before the call: bytes that libcurl delivers again within it may pause it again.
    transfer->lane->is_dirty = true;
    CURLcode code = curl_easy_pause(transfer->handle->easy, wanted);
    nc_gather_give_out(&transfer->engine->loop.gather);
    if (code == CURLE_BAD_FUNCTION_ARGUMENT) {
        flow->pause_mask = 0; // There is no connection yet, or it has ended. The callbacks return PAUSE themselves.
    } else if (code != CURLE_OK && transfer->error.status == NC_OK && !transfer->ends_early) {
        (void)nc_transfer_note(transfer, NC_ERR_NO_MEMORY, 0, "no memory to go on with a paused transfer");
    }
}

/* --- pacing --- */

static void set_alarm(nc_transfer *transfer, uint64_t at_ns) {
    nc_flow *flow = &transfer->flow;
    if (flow->timer.place == 0 || at_ns < flow->timer.at_ns) {
        nc_timers_set(&transfer->engine->loop.timers, &flow->timer, at_ns);
    }
}

/// Returns when the debts of the transfer and of the engine are paid; 0 if there are none.
static uint64_t ready_ns(nc_pace *own, nc_pace *shared, uint64_t now_ns) {
    uint64_t at_ns = 0;
    if (nc_pace_room(own, now_ns) == 0) {
        at_ns = nc_pace_ready_ns(own);
    }
    if (nc_pace_room(shared, now_ns) == 0 && nc_pace_ready_ns(shared) > at_ns) {
        at_ns = nc_pace_ready_ns(shared);
    }
    return at_ns;
}

/// Pauses until the debts for the received `bytes` are paid. Before the first bytes, pauses for the debts of other
/// transfers.
static void pace_receiving(nc_transfer *transfer, size_t bytes) {
    nc_engine *engine = transfer->engine;
    nc_flow *flow = &transfer->flow;
    if (!flow->has_timer) {
        return;
    }
    uint64_t now_ns = engine->clock.monotonic_ns(engine->clock.ctx);
    nc_pace_spend(&flow->receive_pace, bytes, now_ns);
    nc_pace_spend(&engine->loop.receive_pace, bytes, now_ns);
    uint64_t at_ns = ready_ns(&flow->receive_pace, &engine->loop.receive_pace, now_ns);
    if (at_ns > now_ns) {
        flow->receive_rests |= NC_REST_PACE;
        set_alarm(transfer, at_ns);
    }
}

size_t nc_flow_send_room(nc_transfer *transfer, size_t capacity) {
    nc_engine *engine = transfer->engine;
    nc_flow *flow = &transfer->flow;
    if (flow->send_rests != 0) {
        flow->pause_mask |= CURLPAUSE_SEND;
        return 0;
    }
    if (!flow->has_timer) {
        return capacity;
    }
    uint64_t now_ns = engine->clock.monotonic_ns(engine->clock.ctx);
    size_t own = nc_pace_room(&flow->send_pace, now_ns);
    size_t shared = nc_pace_room(&engine->loop.send_pace, now_ns);
    size_t room = own < shared ? own : shared;
    if (room == 0) {
        flow->send_rests |= NC_REST_PACE;
        flow->pause_mask |= CURLPAUSE_SEND;
        set_alarm(transfer, ready_ns(&flow->send_pace, &engine->loop.send_pace, now_ns));
    }
    return room < capacity ? room : capacity;
}

void nc_flow_rest_sending(nc_transfer *transfer) {
    transfer->flow.send_rests |= NC_REST_SOURCE;
    transfer->flow.pause_mask |= CURLPAUSE_SEND;
}

void nc_flow_sent(nc_transfer *transfer, size_t bytes) {
    nc_engine *engine = transfer->engine;
    if (transfer->flow.has_timer) {
        uint64_t now_ns = engine->clock.monotonic_ns(engine->clock.ctx);
        nc_pace_spend(&transfer->flow.send_pace, bytes, now_ns);
        nc_pace_spend(&engine->loop.send_pace, bytes, now_ns);
    }
}

/* --- receiving --- */

void nc_flow_end_turn(nc_transfer *transfer) {
    nc_flow *flow = &transfer->flow;
    if ((flow->receive_rests & NC_REST_TURN) == 0) {
        flow->receive_rests |= NC_REST_TURN;
        nc_list_append(&transfer->engine->loop.turns, &flow->turn_link);
    }
}

static void forget_turn(nc_flow *flow) {
    flow->receive_rests &= (uint8_t)~NC_REST_TURN;
    nc_list_remove(&flow->turn_link);
}

size_t nc_flow_receive(nc_transfer *transfer, nc_slice bytes) {
    nc_flow *flow = &transfer->flow;
    pace_receiving(transfer, 0);
    if (flow->receive_rests != 0 || nc_delivery_is_pending(transfer)) {
        flow->pause_mask |= CURLPAUSE_RECV;
        return CURL_WRITEFUNC_PAUSE;
    }
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_BODY_CHUNK, transfer->id);
    nc_transfer_enter(transfer, NC_PHASE_BODY);
    if (nc_delivery_take(transfer, bytes) != NC_OK) {
        return bytes.length + 1;
    }
    pace_receiving(transfer, bytes.length);
    nc_progress_note(transfer, false);
    if (nc_delivery_awaits_end(transfer)) {
        nc_limits_arm(transfer);
    }
    return bytes.length;
}

/* --- pausing and resuming --- */

/// Continues after a reason to pause has gone: first with bytes in the decoder, then with libcurl's.
static void go_on(nc_transfer *transfer) {
    nc_flow *flow = &transfer->flow;
    if (transfer->is_ending) {
        return; // It has ended except for its files.
    }
    nc_transfer_enter(transfer, transfer->phase);
    nc_limits_get_on(transfer);
    nc_limits_arm(transfer); // While it was paused, only the total limit counted.
    if (transfer->handle == NULL) {
        return; // Between two hops: remaining bytes of the last one do not count for the next.
    }
    transfer->lane->is_dirty = true; // The response may be complete, and only its reader was paused.
    if (flow->receive_rests == 0 && nc_delivery_is_pending(transfer) && nc_delivery_go_on(transfer) != NC_OK) {
        nc_transfer_fail(transfer, &transfer->error);
        return;
    }
    if (!flow->is_over) {
        tell(transfer);
        if (transfer->error.status != NC_OK) {
            nc_transfer_fail(transfer, &transfer->error);
        } else if (transfer->ends_early) {
            nc_transfer_hop_done(transfer, CURLE_WRITE_ERROR);
        }
    } else if (!nc_delivery_is_pending(transfer)) {
        nc_transfer_hop_done(transfer, flow->code);
    }
}

static void show_paused(nc_transfer *transfer) {
    bool is_paused = (transfer->flow.receive_rests & NC_REST_CALLER) != 0;
    atomic_store_explicit(&transfer->is_paused, is_paused, memory_order_relaxed);
}

static void rest_reading(nc_transfer *transfer, uint8_t reason) {
    nc_flow *flow = &transfer->flow;
    if ((flow->receive_rests & NC_REST_CALLER) == 0) {
        nc_trace_pass(&transfer->engine->trace, NC_TRACE_PAUSED, transfer->id);
    }
    flow->receive_rests |= reason;
    show_paused(transfer);
}

void nc_flow_rest_reading(nc_transfer *transfer) {
    rest_reading(transfer, NC_REST_VERDICT);
}

void nc_flow_pause(nc_transfer *transfer) {
    if (transfer->is_ending) {
        return; // Only its files are left, and closing them does not pause.
    }
    rest_reading(transfer, NC_REST_PAUSED);
    transfer->flow.send_rests |= NC_REST_PAUSED;
    if (!transfer->flow.is_over) {
        tell(transfer);
    }
}

void nc_flow_resume(nc_transfer *transfer, uint8_t reasons) {
    nc_flow *flow = &transfer->flow;
    if (transfer->is_ending) {
        return;
    }
    bool rested = ((flow->receive_rests | flow->send_rests) & reasons) != 0;
    flow->receive_rests &= (uint8_t)~reasons;
    flow->send_rests &= (uint8_t)~reasons;
    show_paused(transfer);
    if (rested) {
        nc_trace_pass(&transfer->engine->trace, NC_TRACE_RESUMED, transfer->id);
        go_on(transfer);
    }
}

bool nc_flow_is_held(const nc_transfer *transfer) {
    return ((transfer->flow.receive_rests | transfer->flow.send_rests) & NC_REST_HELD) != 0;
}

bool nc_flow_awaits_source(const nc_transfer *transfer) {
    return (transfer->flow.send_rests & NC_REST_SOURCE) != 0;
}

bool nc_flow_is_drained(const nc_transfer *transfer) {
    const nc_flow *flow = &transfer->flow;
    return flow->receive_rests == 0 && (flow->pause_mask & CURLPAUSE_RECV) == 0 && !nc_delivery_is_pending(transfer);
}

static void alarm_rings(nc_timer *timer) {
    nc_flow *flow = NC_CONTAINER_OF(timer, nc_flow, timer);
    nc_transfer *transfer = NC_CONTAINER_OF(flow, nc_transfer, flow);
    uint64_t now_ns = transfer->engine->loop.now_ns;
    uint64_t receive_ns = ready_ns(&flow->receive_pace, &transfer->engine->loop.receive_pace, now_ns);
    uint64_t send_ns = ready_ns(&flow->send_pace, &transfer->engine->loop.send_pace, now_ns);
    // Other transfers may have used the budget that this one waited for.
    if ((flow->receive_rests & NC_REST_PACE) != 0 && receive_ns > now_ns) {
        set_alarm(transfer, receive_ns);
    } else {
        flow->receive_rests &= (uint8_t)~NC_REST_PACE;
    }
    if ((flow->send_rests & NC_REST_PACE) != 0 && send_ns > now_ns) {
        set_alarm(transfer, send_ns);
    } else {
        flow->send_rests &= (uint8_t)~NC_REST_PACE;
    }
    go_on(transfer);
}

void nc_flow_set_receive_rate(nc_transfer *transfer, uint64_t bytes_per_s) {
    nc_flow *flow = &transfer->flow;
    // For a transfer that the event loop has not started yet.
    transfer->description.limits.max_receive_bytes_per_s = bytes_per_s;
    if (!flow->has_timer) {
        return;
    }
    nc_pace_set_rate(&flow->receive_pace, bytes_per_s, nc_engine_now(transfer->engine));
    if ((flow->receive_rests & NC_REST_PACE) != 0) {
        set_alarm(transfer, nc_pace_ready_ns(&flow->receive_pace)); // If it fires too early, it is set again.
    }
}

void nc_flow_take_turns(nc_engine *engine) {
    nc_link turns;
    nc_link *link;
    nc_list_init(&turns);
    nc_list_move_all(&turns, &engine->loop.turns); // Decoders that are not done continue in the next round.
    while ((link = nc_list_take_first(&turns)) != NULL) {
        nc_flow *flow = NC_CONTAINER_OF(link, nc_flow, turn_link);
        flow->receive_rests &= (uint8_t)~NC_REST_TURN;
        go_on(NC_CONTAINER_OF(flow, nc_transfer, flow));
    }
}

/* --- transfer and hop lifecycle --- */

nc_status nc_flow_init(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    const nc_limits *limits = &transfer->description.limits;
    nc_flow *flow = &transfer->flow;
    bool is_paced = limits->max_send_bytes_per_s != 0 || limits->max_receive_bytes_per_s != 0 ||
                    engine->loop.send_pace.bytes_per_s != 0 || engine->loop.receive_pace.bytes_per_s != 0;
    const nc_multipart *form = transfer->description.multipart;
    bool is_throttled = form != NULL && (form->packet_bytes != 0 || form->delay_ms != 0);
    if (!is_paced && !is_throttled) {
        return NC_OK;
    }
    if (nc_timers_announce(&engine->loop.timers) != NC_OK) {
        return NC_ERR_NO_MEMORY;
    }
    flow->has_timer = true;
    flow->timer.fire = alarm_rings;
    flow->send_pace = nc_pace_make(limits->max_send_bytes_per_s, nc_engine_now(engine));
    flow->receive_pace = nc_pace_make(limits->max_receive_bytes_per_s, nc_engine_now(engine));
    if (is_throttled) {
        nc_pace_set_packets(&flow->send_pace, form->packet_bytes, form->delay_ms);
    }
    return NC_OK;
}

void nc_flow_deinit(nc_transfer *transfer) {
    nc_flow *flow = &transfer->flow;
    forget_turn(flow);
    nc_delivery_reset(transfer);
    if (flow->has_timer) {
        nc_timers_clear(&transfer->engine->loop.timers, &flow->timer);
        nc_timers_withdraw(&transfer->engine->loop.timers);
        flow->has_timer = false;
    }
}

void nc_flow_begin_hop(nc_transfer *transfer) {
    nc_flow *flow = &transfer->flow;
    forget_turn(flow);
    flow->receive_rests &= NC_REST_CALLER;
    flow->send_rests &= NC_REST_CALLER;
    flow->pause_mask = 0;
    flow->is_over = false;
    flow->is_left = false;
    nc_delivery_reset(transfer);
}

bool nc_flow_end_body(nc_transfer *transfer, CURLcode code) {
    nc_flow *flow = &transfer->flow;
    if (transfer->error.status != NC_OK) {
        return true;
    }
    // Only a rate can have left bytes here.
    if (nc_delivery_is_pending(transfer) && flow->receive_rests == 0 && nc_delivery_go_on(transfer) != NC_OK) {
        return true;
    }
    if (nc_delivery_is_pending(transfer)) {
        flow->is_over = true;
        flow->code = code;
        return false;
    }
    if (code == CURLE_OK) {
        nc_delivery_finish(transfer);
    }
    return true;
}

void nc_flow_have_run(nc_transfer *transfer) {
    CURL *easy = transfer->handle->easy;
    // libcurl runs a transfer immediately when it is unpaused. Without a connection that has no other effect.
    (void)curl_easy_pause(easy, CURLPAUSE_ALL);
    (void)curl_easy_pause(easy, transfer->flow.pause_mask);
}

bool nc_flow_leave_hop(nc_transfer *transfer) {
    nc_flow *flow = &transfer->flow;
    bool rests = (flow->pause_mask & CURLPAUSE_RECV) != 0;
    flow->is_left = true;
    return !rests || curl_easy_pause(transfer->handle->easy, flow->pause_mask & CURLPAUSE_SEND) == CURLE_OK;
}
