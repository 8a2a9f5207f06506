#include "transfer/internal.h"

#include "http/rate_limit.h"
#include "state/engine_record.h"
#include "state/transfer_state.h"
#include "transfer/body_pipeline.h"

enum { NS_PER_MS = 1000000, INTERVAL_NS = 100 * NS_PER_MS };

static uint64_t left_of(uint64_t done, uint64_t total) {
    return total == NC_LENGTH_UNKNOWN || done > total ? 0 : total - done;
}

/// Returns the announced length of the body, or NC_LENGTH_UNKNOWN. If no body follows, a length in the head is that of
/// another response, such as that to a GET (RFC 9110, 8.6).
static uint64_t receive_total_bytes(const nc_transfer *transfer) {
    if (transfer->hop.has_head && !nc_transfer_expects_content(transfer)) {
        return 0;
    }
    return transfer->hop.has_head && transfer->hop.framing.has_length ? transfer->hop.framing.length
                                                                      : NC_LENGTH_UNKNOWN;
}

void nc_progress_record(nc_transfer *transfer, bool is_last) {
    nc_progress_state *state = &transfer->hop.progress;
    nc_engine *engine = transfer->engine;
    if (!transfer->has_sink || transfer->sink.on_progress == NULL) {
        return;
    }
    uint64_t now_ns = engine->clock.monotonic_ns(engine->clock.ctx);
    if (!is_last && state->notified_ns != 0 && now_ns - state->notified_ns < INTERVAL_NS) {
        return;
    }
    state->notified_ns = now_ns;
    bool sends = transfer->request.has_body && !transfer->is_get;
    nc_progress progress = {
        .sent_bytes = atomic_load_explicit(&transfer->upload.sent, memory_order_relaxed),
        .send_total_bytes = sends ? transfer->upload.length : 0,
        .received_bytes = atomic_load_explicit(&transfer->received_bytes, memory_order_relaxed),
        .part = nc_form_upload_progress(sends ? transfer->form : NULL),
        .receive_total_bytes = receive_total_bytes(transfer),
    };
    if (state->speed.since_ns == 0) {
        state->speed.since_ns = transfer->hop.began_ns;
    }
    nc_speed_record(&state->speed, progress.sent_bytes + progress.received_bytes, now_ns);
    progress.bytes_per_s = state->speed.bytes_per_s;
    bool is_open = progress.receive_total_bytes == NC_LENGTH_UNKNOWN || progress.send_total_bytes == NC_LENGTH_UNKNOWN;
    double left = (double)left_of(progress.received_bytes, progress.receive_total_bytes) +
                  (double)left_of(progress.sent_bytes, progress.send_total_bytes);
    progress.left_ms = is_open ? UINT64_MAX : nc_speed_left_ms(&state->speed, left);
    transfer->sink.on_progress(transfer->sink.ctx, transfer->id, &progress);
}
