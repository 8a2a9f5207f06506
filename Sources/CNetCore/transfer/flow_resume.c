#include "transfer/flow_control.h"

#include "base/list.h"
#include "base/trace.h"
#include "body/multipart.h"
#include "curl/connection_pool.h"
#include "curl/easy_handle.h"
#include "event_loop/timers.h"
#include "http/rate_limit.h"
#include "state/engine_record.h"
#include "state/time_limits.h"
#include "state/transfer_state.h"
#include "transfer/body_pipeline.h"
#include "transfer/transfer.h"

/// Pauses or resumes each direction in libcurl, if that has changed. libcurl may then call nc_body_pipeline_receive()
/// and nc_upload_read().
static void apply_pauses(nc_transfer *transfer) {
    nc_flow_control *flow = &transfer->flow;
    bool is_pending = nc_transfer_has_pending_body(transfer);
    bool receives = transfer->hop.has_head && !transfer->hop.is_head_held;
    // Receiving is paused only after the head, because libcurl would buffer header lines and deliver them as one.
    // Before a connection exists, curl_easy_pause() fails, and the callbacks pause by their result instead.
    int pause_mask = (receives && (flow->receive_pauses != 0 || is_pending) ? CURLPAUSE_RECV : 0) |
                     (flow->send_pauses != 0 ? CURLPAUSE_SEND : 0);
    if (transfer->handle == NULL || !transfer->hop.was_connected || pause_mask == flow->pause_mask) {
        return;
    }
    // Set before the call: within it, libcurl delivers the bytes that it kept, and the callback may pause again.
    flow->pause_mask = pause_mask;
    transfer->conn_pool->has_unread_messages = true;
    nc_engine_enter_libcurl(transfer->engine);
    CURLcode code = curl_easy_pause(transfer->handle->easy, pause_mask);
    nc_engine_leave_libcurl(transfer->engine);
    nc_write_buffer_emit(&transfer->engine->loop.write_buffer);
    if (code == CURLE_BAD_FUNCTION_ARGUMENT) {
        flow->pause_mask = 0; // There is no connection yet, or it has ended. The callbacks return PAUSE themselves.
    } else if (code != CURLE_OK && transfer->error.status == NC_OK && !nc_hop_is_stopped(transfer)) {
        (void)nc_transfer_record_error(transfer, NC_ERR_NO_MEMORY, 0, "no memory to resume a paused transfer");
    }
}

/// Continues after a reason to pause has ended. First the bytes in the body pipeline are delivered, then those that
/// libcurl kept.
static void continue_transfer(nc_transfer *transfer) {
    nc_flow_control *flow = &transfer->flow;
    if (transfer->is_ending) {
        return; // The transfer has ended. Only its files are still open.
    }
    nc_deadline_enter_phase(transfer, transfer->phase);
    nc_deadline_progressed(transfer);
    nc_deadline_arm(transfer); // While it was paused, only the total limit counted.
    if (transfer->handle == NULL) {
        return; // The transfer is between two hops, so there is nothing to continue.
    }
    // If the response is complete and only its reader was paused, no other event would end the hop.
    transfer->conn_pool->has_unread_messages = true;
    if (flow->receive_pauses == 0 && nc_transfer_has_pending_body(transfer) &&
        nc_body_pipeline_continue(transfer) != NC_OK) {
        nc_transfer_fail(transfer, &transfer->error);
        return;
    }
    if (!flow->is_hop_done) {
        apply_pauses(transfer);
        if (transfer->error.status != NC_OK) {
            nc_transfer_fail(transfer, &transfer->error);
        } else if (nc_hop_is_stopped(transfer)) {
            nc_transfer_hop_done(transfer, CURLE_WRITE_ERROR);
        }
    } else if (!nc_transfer_has_pending_body(transfer)) {
        nc_transfer_hop_done(transfer, flow->code);
    }
}

void nc_flow_control_pause(nc_transfer *transfer) {
    if (transfer->is_ending) {
        return; // The transfer has ended. Closing its files cannot be paused.
    }
    nc_flow_control_pause_for(transfer, NC_PAUSE_EXPLICIT);
    transfer->flow.send_pauses |= NC_PAUSE_EXPLICIT;
    if (!transfer->flow.is_hop_done) {
        apply_pauses(transfer);
    }
}

void nc_flow_control_resume(nc_transfer *transfer, uint8_t reasons) {
    nc_flow_control *flow = &transfer->flow;
    if (transfer->is_ending) {
        return;
    }
    bool was_paused = ((flow->receive_pauses | flow->send_pauses) & reasons) != 0;
    flow->receive_pauses &= (uint8_t)~reasons;
    flow->send_pauses &= (uint8_t)~reasons;
    nc_flow_control_publish_paused(transfer);
    if (was_paused) {
        nc_trace_pass(&transfer->engine->trace, NC_TRACE_RESUMED, transfer->id);
        continue_transfer(transfer);
    }
}

static void rate_timer_due(nc_timer *timer) {
    nc_flow_control *flow = NC_CONTAINER_OF(timer, nc_flow_control, timer);
    nc_transfer *transfer = NC_CONTAINER_OF(flow, nc_transfer, flow);
    uint64_t now_ns = transfer->engine->loop.now_ns;
    uint64_t receive_ns = nc_flow_control_ready_ns(&flow->receive_pace, &transfer->engine->loop.receive_pace, now_ns);
    uint64_t send_ns = nc_flow_control_ready_ns(&flow->send_pace, &transfer->engine->loop.send_pace, now_ns);
    // Other transfers may have used the budget that this one waited for.
    if ((flow->receive_pauses & NC_PAUSE_RATE) != 0 && receive_ns > now_ns) {
        nc_flow_control_set_timer(transfer, receive_ns);
    } else {
        flow->receive_pauses &= (uint8_t)~NC_PAUSE_RATE;
    }
    if ((flow->send_pauses & NC_PAUSE_RATE) != 0 && send_ns > now_ns) {
        nc_flow_control_set_timer(transfer, send_ns);
    } else {
        flow->send_pauses &= (uint8_t)~NC_PAUSE_RATE;
    }
    continue_transfer(transfer);
}

void nc_flow_control_take_turns(nc_engine *engine) {
    nc_link turns;
    nc_link *link;
    nc_list_init(&turns);
    // Decoders that need another turn are added to the engine's list again, for the next round.
    nc_list_move_all(&turns, &engine->loop.turns);
    while ((link = nc_list_take_first(&turns)) != NULL) {
        nc_flow_control *flow = NC_CONTAINER_OF(link, nc_flow_control, turn_link);
        flow->receive_pauses &= (uint8_t)~NC_PAUSE_DECODER;
        continue_transfer(NC_CONTAINER_OF(flow, nc_transfer, flow));
    }
}

nc_status nc_flow_control_init(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    const nc_limits *limits = &transfer->request.limits;
    nc_flow_control *flow = &transfer->flow;
    bool is_paced = limits->max_send_bytes_per_s != 0 || limits->max_receive_bytes_per_s != 0 ||
                    engine->loop.send_pace.bytes_per_s != 0 || engine->loop.receive_pace.bytes_per_s != 0;
    const nc_multipart *form = transfer->request.multipart;
    bool is_throttled = form != NULL && (form->packet_bytes != 0 || form->delay_ms != 0);
    if (!is_paced && !is_throttled) {
        return NC_OK;
    }
    if (nc_timers_announce(&engine->loop.timers) != NC_OK) {
        return NC_ERR_NO_MEMORY;
    }
    flow->has_timer = true;
    flow->timer.fire = rate_timer_due;
    flow->send_pace = nc_pace_make(limits->max_send_bytes_per_s, nc_engine_now(engine));
    flow->receive_pace = nc_pace_make(limits->max_receive_bytes_per_s, nc_engine_now(engine));
    if (is_throttled) {
        nc_pace_set_packets(&flow->send_pace, form->packet_bytes, form->delay_ms);
    }
    return NC_OK;
}
