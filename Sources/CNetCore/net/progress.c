#include "net/progress.h"

#include "net/delivery.h"
#include "net/engine_state.h"
#include "net/form_upload.h"

enum { NS_PER_MS = 1000000, INTERVAL_NS = 100 * NS_PER_MS };

static uint64_t left_of(uint64_t done, uint64_t total) {
    return total == NC_LENGTH_UNKNOWN || done > total ? 0 : total - done;
}

/// If no body follows, the length in a head is that of another response (RFC 9110, 8.6).
static uint64_t receive_total_bytes(const nc_transfer *transfer) {
    if (transfer->has_head && !nc_delivery_has_content(transfer)) {
        return 0;
    }
    return transfer->has_head && transfer->framing.has_length ? transfer->framing.length : NC_LENGTH_UNKNOWN;
}

void nc_progress_note(nc_transfer *transfer, bool is_last) {
    nc_progress_state *state = &transfer->progress;
    nc_engine *engine = transfer->engine;
    if (!transfer->has_sink || transfer->sink.on_progress == NULL) {
        return;
    }
    uint64_t now_ns = engine->clock.monotonic_ns(engine->clock.ctx);
    if (!is_last && state->told_ns != 0 && now_ns - state->told_ns < INTERVAL_NS) {
        return;
    }
    state->told_ns = now_ns;
    bool sends = transfer->description.has_body && !transfer->is_get;
    nc_progress progress = {
        .sent_bytes = atomic_load_explicit(&transfer->upload.sent, memory_order_relaxed),
        .send_total_bytes = sends ? transfer->upload.length : 0,
        .received_bytes = atomic_load_explicit(&transfer->received_bytes, memory_order_relaxed),
        .part = nc_form_upload_progress(sends ? transfer->form : NULL),
        .receive_total_bytes = receive_total_bytes(transfer),
    };
    if (state->speed.since_ns == 0) {
        state->speed.since_ns = transfer->hop_began_ns;
    }
    nc_speed_note(&state->speed, progress.sent_bytes + progress.received_bytes, now_ns);
    progress.bytes_per_s = state->speed.bytes_per_s;
    bool is_open = progress.receive_total_bytes == NC_LENGTH_UNKNOWN || progress.send_total_bytes == NC_LENGTH_UNKNOWN;
    double left = (double)left_of(progress.received_bytes, progress.receive_total_bytes) +
                  (double)left_of(progress.sent_bytes, progress.send_total_bytes);
    progress.left_ms = is_open ? UINT64_MAX : nc_speed_left_ms(&state->speed, left);
    transfer->sink.on_progress(transfer->sink.ctx, transfer->id, &progress);
}
