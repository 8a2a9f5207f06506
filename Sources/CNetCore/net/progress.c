#include "net/progress.h"

#include "net/engine_state.h"
#include "net/form_upload.h"

enum { NS_PER_MS = 1000000, INTERVAL_NS = 100 * NS_PER_MS, WINDOW_NS = 1000 * NS_PER_MS };

static const double ns_per_s = 1e9;

static uint64_t rate_of(uint64_t bytes, uint64_t passed_ns) {
    return passed_ns == 0 ? 0 : (uint64_t)((double)bytes * ns_per_s / (double)passed_ns);
}

/// A second's bytes, smoothed with those before, so that the time left does not jump.
static void measure(nc_transfer *transfer, uint64_t moved, uint64_t now_ns) {
    nc_progress_state *state = &transfer->progress;
    if (state->window_ns == 0) {
        state->window_ns = transfer->hop_began_ns;
    }
    uint64_t passed_ns = now_ns > state->window_ns ? now_ns - state->window_ns : 0;
    uint64_t since = moved > state->window_bytes ? moved - state->window_bytes : 0;
    if (passed_ns >= WINDOW_NS) {
        uint64_t fresh = rate_of(since, passed_ns);
        state->bytes_per_s = state->bytes_per_s == 0 ? fresh : (state->bytes_per_s + fresh) / 2;
        state->window_ns = now_ns;
        state->window_bytes = moved;
    } else if (state->bytes_per_s == 0 || state->window_bytes == 0) {
        state->bytes_per_s = rate_of(since, passed_ns); // Not a second has passed yet.
    }
}

static uint64_t left_of(uint64_t done, uint64_t total) {
    return total == NC_LENGTH_UNKNOWN || done > total ? 0 : total - done;
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
        .receive_total_bytes =
            transfer->has_head && transfer->framing.has_length ? transfer->framing.length : NC_LENGTH_UNKNOWN,
    };
    measure(transfer, progress.sent_bytes + progress.received_bytes, now_ns);
    progress.bytes_per_s = state->bytes_per_s;
    bool is_open = progress.receive_total_bytes == NC_LENGTH_UNKNOWN || progress.send_total_bytes == NC_LENGTH_UNKNOWN;
    uint64_t left = left_of(progress.received_bytes, progress.receive_total_bytes) +
                    left_of(progress.sent_bytes, progress.send_total_bytes);
    progress.left_ms =
        is_open || state->bytes_per_s == 0 ? UINT64_MAX : (uint64_t)((double)left * 1000 / (double)state->bytes_per_s);
    transfer->sink.on_progress(transfer->sink.ctx, transfer->id, &progress);
}
