#include "net/flow.h"

#include "base/error.h"
#include "base/trace.h"
#include "net/engine_state.h"
#include "net/files.h"
#include "net/handle.h"
#include "net/limits.h"
#include "net/progress.h"
#include "net/response.h"

/// What a redirect's own body may weigh before its connection is given up instead of read to the end.
static const uint64_t max_discarded_bytes = 64u * 1024u;

/// What a decoder gives out before mail is read again. A few bytes may decode to hundreds of MiB, and meanwhile nobody
/// could cancel, nor any other transfer move.
enum { MAX_PIECES_A_TURN = 64 };

/* --- telling libcurl --- */

/// Tells libcurl which directions rest. May call back into nc_flow_receive() and nc_upload_read().
static void tell(nc_transfer *transfer) {
    nc_flow *flow = &transfer->flow;
    bool decodes = flow->coding != NULL && nc_coding_has_input(flow->coding);
    bool receives = transfer->has_head && !transfer->is_head_held;
    // Within a head libcurl would keep its lines and later give them all as one, so that rest begins with the body,
    // and before there is a connection it takes no orders: the callbacks rest by themselves when they are called.
    int wanted = (receives && (flow->receive_rests != 0 || decodes) ? CURLPAUSE_RECV : 0) |
                 (flow->send_rests != 0 ? CURLPAUSE_SEND : 0);
    if (transfer->handle == NULL || !transfer->was_connected || wanted == flow->told) {
        return;
    }
    flow->told = wanted; // Before the call: what libcurl gives again in it may rest anew.
    transfer->lane->is_dirty = true;
    CURLcode code = curl_easy_pause(transfer->handle->easy, wanted);
    if (code == CURLE_BAD_FUNCTION_ARGUMENT) {
        flow->told = 0; // There is no connection yet, or none any more; the callbacks rest by themselves.
    } else if (code != CURLE_OK && transfer->error.status == NC_OK && !transfer->ends_early) {
        (void)nc_transfer_note(transfer, NC_ERR_NO_MEMORY, 0, "no memory to go on with a paused transfer");
    }
    nc_jar_settle(transfer->lane);
}

/* --- pacing --- */

static void set_alarm(nc_transfer *transfer, uint64_t at_ns) {
    nc_flow *flow = &transfer->flow;
    if (flow->timer.place == 0 || at_ns < flow->timer.at_ns) {
        nc_timers_set(&transfer->engine->loop.timers, &flow->timer, at_ns);
    }
}

/// When both the transfer's own debt and the engine's are paid; 0 when there is none.
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
        flow->told |= CURLPAUSE_SEND;
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
        flow->told |= CURLPAUSE_SEND;
        set_alarm(transfer, ready_ns(&flow->send_pace, &engine->loop.send_pace, now_ns));
    }
    return room < capacity ? room : capacity;
}

void nc_flow_rest_sending(nc_transfer *transfer) {
    transfer->flow.send_rests |= NC_REST_SOURCE;
    transfer->flow.told |= CURLPAUSE_SEND;
}

void nc_flow_sent(nc_transfer *transfer, size_t bytes) {
    nc_engine *engine = transfer->engine;
    if (transfer->flow.has_timer) {
        uint64_t now_ns = engine->clock.monotonic_ns(engine->clock.ctx);
        nc_pace_spend(&transfer->flow.send_pace, bytes, now_ns);
        nc_pace_spend(&engine->loop.send_pace, bytes, now_ns);
    }
}

/* --- giving out --- */

uint64_t nc_flow_max_body_bytes(const nc_transfer *transfer) {
    const nc_extras *extras = transfer->description.extras;
    uint64_t limit = transfer->description.limits.max_body_bytes;
    bool is_beside_file = extras != NULL && extras->save_path != NULL && !transfer->is_saving;
    return is_beside_file && limit > NC_DEFAULT_MAX_BODY_BYTES ? NC_DEFAULT_MAX_BODY_BYTES : limit;
}

static nc_status give_out(nc_transfer *transfer, nc_slice bytes) {
    uint64_t max_bytes = nc_flow_max_body_bytes(transfer);
    if (bytes.length > max_bytes - transfer->body_bytes) {
        return nc_transfer_note(transfer, NC_ERR_BODY_TOO_LARGE, CURLE_FILESIZE_EXCEEDED,
                                "the body is larger than the limit of %llu bytes", (unsigned long long)max_bytes);
    }
    transfer->body_bytes += bytes.length;
    if (transfer->is_saving) {
        return nc_files_write(transfer->files, bytes);
    }
    if (transfer->has_sink && transfer->sink.on_body != NULL) {
        nc_verdict verdict = transfer->sink.on_body(transfer->sink.ctx, transfer->id, bytes);
        if (verdict == NC_PAUSE) {
            nc_flow_rest_reading(transfer);
        }
        return verdict == NC_STOP
                   ? nc_transfer_note(transfer, NC_ERR_STOPPED_BY_CALLER, 0, "the body callback stopped the transfer")
                   : NC_OK;
    }
    nc_status status = nc_response_append_body(transfer->response, bytes);
    return status == NC_OK ? NC_OK : nc_transfer_note(transfer, status, 0, "no memory for a response body");
}

static void end_turn(nc_transfer *transfer) {
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

/// Decodes and gives out until the decoder wants more, the reader rests or the turn is over.
static nc_status decode(nc_transfer *transfer) {
    nc_flow *flow = &transfer->flow;
    nc_slice piece;
    nc_error err;
    nc_status status = NC_OK;
    int pieces = 0;
    do {
        status = nc_coding_next(flow->coding, &piece, &err);
        if (status == NC_OK && piece.length > 0) {
            status = give_out(transfer, piece);
            if (status != NC_OK) {
                return status;
            }
        }
    } while (status == NC_OK && piece.length > 0 && (flow->receive_rests & NC_REST_CALLER) == 0 &&
             ++pieces < MAX_PIECES_A_TURN);
    if (pieces == MAX_PIECES_A_TURN) {
        end_turn(transfer);
    }
    if (status == NC_OK && nc_coding_has_input(flow->coding)) {
        status = nc_coding_keep(flow->coding, &err);
    }
    return status == NC_OK ? NC_OK : nc_transfer_note(transfer, status, CURLE_BAD_CONTENT_ENCODING, "%s", err.message);
}

static nc_status take(nc_transfer *transfer, nc_slice bytes) {
    nc_flow *flow = &transfer->flow;
    nc_error err;
    if (transfer->leads_on) {
        transfer->body_bytes += bytes.length;
        transfer->ends_early = transfer->body_bytes > max_discarded_bytes;
        return transfer->ends_early ? NC_ERR_STOPPED_BY_CALLER : NC_OK;
    }
    if (flow->coding == NULL) {
        return give_out(transfer, bytes);
    }
    nc_status status = nc_coding_feed(flow->coding, bytes, &err);
    if (status != NC_OK) {
        return nc_transfer_note(transfer, status, CURLE_BAD_CONTENT_ENCODING, "%s", err.message);
    }
    return decode(transfer);
}

size_t nc_flow_receive(nc_transfer *transfer, nc_slice bytes) {
    nc_flow *flow = &transfer->flow;
    bool decodes = flow->coding != NULL && nc_coding_has_input(flow->coding);
    if (flow->receive_rests != 0 || decodes) {
        flow->told |= CURLPAUSE_RECV;
        return CURL_WRITEFUNC_PAUSE;
    }
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_BODY_CHUNK, transfer->id);
    nc_transfer_enter(transfer, NC_PHASE_BODY);
    atomic_fetch_add_explicit(&transfer->received_bytes, bytes.length, memory_order_relaxed);
    if (take(transfer, bytes) != NC_OK) {
        return bytes.length + 1;
    }
    pace_receiving(transfer, bytes.length);
    nc_progress_note(transfer, false);
    return bytes.length;
}

/* --- resting and going on --- */

/// After a reason to rest has gone: what waits in the decoder first, then what libcurl has.
static void go_on(nc_transfer *transfer) {
    nc_flow *flow = &transfer->flow;
    if (transfer->is_ending) {
        return; // It has ended but for its files.
    }
    nc_transfer_enter(transfer, transfer->phase);
    nc_limits_arm(transfer); // While it was held only the total limit counted.
    if (transfer->lane != NULL) {
        transfer->lane->is_dirty = true; // The response may be whole, and only its reader have been waited for.
    }
    if (flow->receive_rests == 0 && flow->coding != NULL && nc_coding_has_input(flow->coding) &&
        decode(transfer) != NC_OK) {
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
    } else if (flow->coding == NULL || !nc_coding_has_input(flow->coding)) {
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
        return; // Only its files are left, and nobody rests from closing them.
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
    bool decodes = flow->coding != NULL && nc_coding_has_input(flow->coding);
    return flow->receive_rests == 0 && (flow->told & CURLPAUSE_RECV) == 0 && !decodes;
}

static void alarm_rings(nc_timer *timer) {
    nc_flow *flow = NC_CONTAINER_OF(timer, nc_flow, timer);
    nc_transfer *transfer = NC_CONTAINER_OF(flow, nc_transfer, flow);
    uint64_t now_ns = transfer->engine->loop.now_ns;
    uint64_t receive_ns = ready_ns(&flow->receive_pace, &transfer->engine->loop.receive_pace, now_ns);
    uint64_t send_ns = ready_ns(&flow->send_pace, &transfer->engine->loop.send_pace, now_ns);
    // Others may have spent meanwhile what this one was waiting for.
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

void nc_flow_take_turns(nc_engine *engine) {
    nc_link turns;
    nc_link *link;
    nc_list_init(&turns);
    nc_list_move_all(&turns, &engine->loop.turns); // Whoever is not done yet comes again in the next round.
    while ((link = nc_list_take_first(&turns)) != NULL) {
        nc_flow *flow = NC_CONTAINER_OF(link, nc_flow, turn_link);
        flow->receive_rests &= (uint8_t)~NC_REST_TURN;
        go_on(NC_CONTAINER_OF(flow, nc_transfer, flow));
    }
}

/* --- a transfer's and a hop's course --- */

nc_status nc_flow_init(nc_transfer *transfer) {
    nc_engine *engine = transfer->engine;
    const nc_limits *limits = &transfer->description.limits;
    nc_flow *flow = &transfer->flow;
    bool is_paced = limits->max_send_bytes_per_s != 0 || limits->max_receive_bytes_per_s != 0 ||
                    engine->loop.send_pace.bytes_per_s != 0 || engine->loop.receive_pace.bytes_per_s != 0;
    if (!is_paced) {
        return NC_OK;
    }
    if (nc_timers_announce(&engine->loop.timers) != NC_OK) {
        return NC_ERR_NO_MEMORY;
    }
    flow->has_timer = true;
    flow->timer.fire = alarm_rings;
    flow->send_pace = nc_pace_make(limits->max_send_bytes_per_s, nc_engine_now(engine));
    flow->receive_pace = nc_pace_make(limits->max_receive_bytes_per_s, nc_engine_now(engine));
    return NC_OK;
}

void nc_flow_deinit(nc_transfer *transfer) {
    nc_flow *flow = &transfer->flow;
    forget_turn(flow);
    nc_coding_free(flow->coding);
    flow->coding = NULL;
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
    flow->told = 0;
    flow->is_over = false;
    nc_coding_free(flow->coding);
    flow->coding = NULL;
}

nc_status nc_flow_begin_body(nc_transfer *transfer) {
    enum { MAX_FIELDS = 16 };
    nc_slice values[MAX_FIELDS];
    size_t count = 0;
    nc_error err;
    const nc_response *response = transfer->response;
    if (transfer->framing.coding_count == 0 || !transfer->description.accepts_codings) {
        return NC_OK;
    }
    for (size_t i = 0; i < nc_response_header_count(response); i++) {
        nc_header field = nc_response_header_at(response, i);
        if (nc_slice_is_equal_ignoring_case(field.name, nc_slice_of("Content-Encoding")) && count < MAX_FIELDS) {
            values[count++] = field.value;
        }
    }
    nc_coding_free(transfer->flow.coding);
    transfer->flow.coding = NULL;
    nc_status status =
        nc_coding_new(&transfer->flow.coding, values, count, transfer->description.limits.max_codings, &err);
    return status == NC_OK ? NC_OK : nc_transfer_note(transfer, status, CURLE_BAD_CONTENT_ENCODING, "%s", err.message);
}

bool nc_flow_end_body(nc_transfer *transfer, CURLcode code) {
    nc_flow *flow = &transfer->flow;
    nc_error err;
    if (flow->coding == NULL || transfer->error.status != NC_OK || transfer->leads_on) {
        return true;
    }
    // Only a pace can have left something here.
    if (nc_coding_has_input(flow->coding) && flow->receive_rests == 0 && decode(transfer) != NC_OK) {
        return true;
    }
    if (nc_coding_has_input(flow->coding)) {
        flow->is_over = true;
        flow->code = code;
        return false;
    }
    if (code == CURLE_OK && nc_coding_finish(flow->coding, &err) != NC_OK) {
        (void)nc_transfer_note(transfer, err.status, CURLE_BAD_CONTENT_ENCODING, "%s", err.message);
    }
    return true;
}
