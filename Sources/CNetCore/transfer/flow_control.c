#include "transfer/flow_control.h"

#include "base/error.h"
#include "base/list.h"
#include "base/trace.h"
#include "body/multipart.h"
#include "curl/easy_handle.h"
#include "event_loop/timers.h"
#include "http/rate_limit.h"
#include "request/response.h"
#include "state/engine_record.h"
#include "state/transfer_state.h"
#include "transfer/body_files.h"
#include "transfer/internal.h"
#include "transfer/transfer.h"

/* --- pacing --- */

void nc_flow_control_set_timer(nc_transfer *transfer, uint64_t at_ns) {
    nc_flow_control *flow = &transfer->flow;
    if (flow->timer.heap_index == 0 || at_ns < flow->timer.at_ns) {
        nc_timers_set(&transfer->engine->loop.timers, &flow->timer, at_ns);
    }
}

/// Both limits must allow more bytes, so the later time counts.
uint64_t nc_flow_control_ready_ns(nc_pace *own, nc_pace *shared, uint64_t now_ns) {
    uint64_t at_ns = 0;
    if (nc_pace_room(own, now_ns) == 0) {
        at_ns = nc_pace_ready_ns(own);
    }
    if (nc_pace_room(shared, now_ns) == 0 && nc_pace_ready_ns(shared) > at_ns) {
        at_ns = nc_pace_ready_ns(shared);
    }
    return at_ns;
}

/// A transfer without received bytes may have to pause too, because other transfers have used up the engine's limit.
void nc_flow_control_received(nc_transfer *transfer, size_t bytes) {
    nc_engine *engine = transfer->engine;
    nc_flow_control *flow = &transfer->flow;
    if (!flow->has_timer) {
        return;
    }
    uint64_t now_ns = engine->clock.monotonic_ns(engine->clock.ctx);
    nc_pace_spend(&flow->receive_pace, bytes, now_ns);
    nc_pace_spend(&engine->loop.receive_pace, bytes, now_ns);
    uint64_t at_ns = nc_flow_control_ready_ns(&flow->receive_pace, &engine->loop.receive_pace, now_ns);
    if (at_ns > now_ns) {
        flow->receive_pauses |= NC_PAUSE_RATE;
        nc_flow_control_set_timer(transfer, at_ns);
    }
}

size_t nc_flow_control_send_room(nc_transfer *transfer, size_t capacity) {
    nc_engine *engine = transfer->engine;
    nc_flow_control *flow = &transfer->flow;
    if (flow->send_pauses != 0) {
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
        flow->send_pauses |= NC_PAUSE_RATE;
        flow->pause_mask |= CURLPAUSE_SEND;
        nc_flow_control_set_timer(transfer,
                                  nc_flow_control_ready_ns(&flow->send_pace, &engine->loop.send_pace, now_ns));
    }
    return room < capacity ? room : capacity;
}

void nc_flow_control_pause_sending(nc_transfer *transfer) {
    transfer->flow.send_pauses |= NC_PAUSE_SOURCE;
    transfer->flow.pause_mask |= CURLPAUSE_SEND;
}

void nc_flow_control_sent(nc_transfer *transfer, size_t bytes) {
    nc_engine *engine = transfer->engine;
    if (transfer->flow.has_timer) {
        uint64_t now_ns = engine->clock.monotonic_ns(engine->clock.ctx);
        nc_pace_spend(&transfer->flow.send_pace, bytes, now_ns);
        nc_pace_spend(&engine->loop.send_pace, bytes, now_ns);
    }
}

/* --- receiving --- */

void nc_flow_control_end_turn(nc_transfer *transfer) {
    nc_flow_control *flow = &transfer->flow;
    if ((flow->receive_pauses & NC_PAUSE_DECODER) == 0) {
        flow->receive_pauses |= NC_PAUSE_DECODER;
        nc_list_append(&transfer->engine->loop.turns, &flow->turn_link);
    }
}

static void forget_turn(nc_flow_control *flow) {
    flow->receive_pauses &= (uint8_t)~NC_PAUSE_DECODER;
    nc_list_remove(&flow->turn_link);
}

/* --- pausing and resuming --- */

void nc_flow_control_publish_paused(nc_transfer *transfer) {
    bool is_paused = (transfer->flow.receive_pauses & NC_PAUSE_READER) != 0;
    atomic_store_explicit(&transfer->is_paused, is_paused, memory_order_relaxed);
}

void nc_flow_control_pause_for(nc_transfer *transfer, uint8_t reason) {
    nc_flow_control *flow = &transfer->flow;
    if ((flow->receive_pauses & NC_PAUSE_READER) == 0) {
        nc_trace_pass(&transfer->engine->trace, NC_TRACE_PAUSED, transfer->id);
    }
    flow->receive_pauses |= reason;
    nc_flow_control_publish_paused(transfer);
}

void nc_flow_control_pause_reading(nc_transfer *transfer) {
    nc_flow_control_pause_for(transfer, NC_PAUSE_CALLBACK);
}

void nc_flow_control_set_receive_rate(nc_transfer *transfer, uint64_t bytes_per_s) {
    nc_flow_control *flow = &transfer->flow;
    // nc_flow_control_init() reads this value if the event loop has not accepted the transfer yet.
    transfer->request.limits.max_receive_bytes_per_s = bytes_per_s;
    if (!flow->has_timer) {
        return;
    }
    nc_pace_set_rate(&flow->receive_pace, bytes_per_s, nc_engine_now(transfer->engine));
    if ((flow->receive_pauses & NC_PAUSE_RATE) != 0) {
        nc_flow_control_set_timer(transfer,
                                  nc_pace_ready_ns(&flow->receive_pace)); // If it fires too early, it is set again.
    }
}

/* --- transfer and hop lifecycle --- */

void nc_flow_control_deinit(nc_transfer *transfer) {
    nc_flow_control *flow = &transfer->flow;
    forget_turn(flow);
    nc_transfer_reset_body(transfer);
    if (flow->has_timer) {
        nc_timers_clear(&transfer->engine->loop.timers, &flow->timer);
        nc_timers_withdraw(&transfer->engine->loop.timers);
        flow->has_timer = false;
    }
}

void nc_flow_control_hop_start(nc_transfer *transfer) {
    nc_flow_control *flow = &transfer->flow;
    forget_turn(flow);
    flow->receive_pauses &= NC_PAUSE_READER;
    flow->send_pauses &= NC_PAUSE_READER;
    flow->pause_mask = 0;
    flow->is_hop_done = false;
    flow->discards_rest = false;
    nc_transfer_reset_body(transfer);
}

bool nc_flow_control_hop_end(nc_transfer *transfer) {
    nc_flow_control *flow = &transfer->flow;
    bool is_paused = (flow->pause_mask & CURLPAUSE_RECV) != 0;
    flow->discards_rest = true;
    if (!is_paused) {
        return true;
    }
    nc_engine_enter_libcurl(transfer->engine);
    CURLcode code = curl_easy_pause(transfer->handle->easy, flow->pause_mask & CURLPAUSE_SEND);
    nc_engine_leave_libcurl(transfer->engine);
    return code == CURLE_OK;
}
