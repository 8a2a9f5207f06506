#include <netcore/transfers.h>

#include "base/error.h"
#include "base/trace.h"
#include "net/engine_state.h"
#include "net/orders.h"
#include "net/url_text.h"

/* --- from any thread --- */

/// Returns the earlier commands that a new one cancels. The later one of a pause and a resume counts. A resume for
/// other reasons stays.
static uint8_t outdated(uint8_t order) {
    if (order == NC_ORDER_PAUSE) {
        return NC_REST_PAUSED;
    }
    return (order & NC_REST_PAUSED) != 0 ? NC_ORDER_PAUSE : 0;
}

/// Queues a command for a transfer.
static void leave_order(nc_engine *engine, nc_transfer_id id, uint8_t order, nc_priority priority) {
    bool needs_wake = false;
    pthread_mutex_lock(&engine->shared.mutex);
    nc_transfer *transfer = nc_registry_find(&engine->shared.registry, id);
    if (transfer != NULL && !transfer->is_finished) {
        if (transfer->orders == 0) {
            nc_list_append(&engine->shared.mailbox.ordered, &transfer->order_link);
        }
        if (order == NC_ORDER_PRIORITY) {
            transfer->ordered_priority = priority;
        }
        transfer->orders = (uint8_t)((transfer->orders & ~outdated(order)) | order);
        needs_wake = nc_mailbox_needs_wake(engine);
    }
    pthread_mutex_unlock(&engine->shared.mutex);
    if (needs_wake) {
        nc_mailbox_wake(&engine->shared.mailbox);
    }
}

void nc_engine_pause(nc_engine *engine, nc_transfer_id id) {
    leave_order(engine, id, NC_ORDER_PAUSE, NC_PRIORITY_NORMAL);
}

void nc_engine_resume(nc_engine *engine, nc_transfer_id id) {
    leave_order(engine, id, NC_ORDER_RESUME, NC_PRIORITY_NORMAL);
}

void nc_engine_resume_from(nc_engine *engine, nc_transfer_id id, nc_rest reason) {
    if (reason == NC_REST_PAUSED || reason == NC_REST_VERDICT || reason == NC_REST_SOURCE) {
        leave_order(engine, id, (uint8_t)reason, NC_PRIORITY_NORMAL);
    }
}

void nc_engine_set_priority(nc_engine *engine, nc_transfer_id id, nc_priority priority) {
    if (priority == NC_PRIORITY_NORMAL || priority == NC_PRIORITY_HIGH || priority == NC_PRIORITY_LOW) {
        leave_order(engine, id, NC_ORDER_PRIORITY, priority);
    }
}

void nc_engine_set_suspended(nc_engine *engine, bool is_suspended) {
    pthread_mutex_lock(&engine->shared.mutex);
    engine->shared.mailbox.is_suspended = is_suspended;
    bool needs_wake = nc_mailbox_needs_wake(engine);
    pthread_mutex_unlock(&engine->shared.mutex);
    if (needs_wake) {
        nc_mailbox_wake(&engine->shared.mailbox);
    }
}

static nc_transfer_state state_of(unsigned phase) {
    switch (phase) {
    case NC_PHASE_SUBMITTED:
    case NC_PHASE_SLOT:
        return NC_TRANSFER_WAITING;
    case NC_PHASE_SEND:
        return NC_TRANSFER_SENDING;
    case NC_PHASE_REPLY:
        return NC_TRANSFER_AWAITING_REPLY;
    case NC_PHASE_BODY:
    case NC_PHASE_DONE:
        return NC_TRANSFER_RECEIVING;
    default:
        return NC_TRANSFER_CONNECTING;
    }
}

static nc_transfer_info describe(const nc_transfer *transfer, uint64_t now_ns) {
    uint64_t submitted_ns = transfer->submitted_ns;
    return (nc_transfer_info){
        .id = transfer->id,
        .state = state_of(atomic_load_explicit(&transfer->shown_phase, memory_order_relaxed)),
        .priority = (nc_priority)atomic_load_explicit(&transfer->shown_priority, memory_order_relaxed),
        .is_paused = atomic_load_explicit(&transfer->is_paused, memory_order_relaxed),
        .age_ns = now_ns > submitted_ns ? now_ns - submitted_ns : 0,
        .sent_bytes = atomic_load_explicit(&transfer->upload.sent, memory_order_relaxed),
        .received_bytes = atomic_load_explicit(&transfer->received_bytes, memory_order_relaxed),
    };
}

size_t nc_engine_list(nc_engine *engine, nc_transfer_info *out, size_t capacity) {
    uint64_t now_ns = engine->clock.monotonic_ns(engine->clock.ctx);
    size_t count = 0;
    pthread_mutex_lock(&engine->shared.mutex);
    for (uint32_t place = 0; place < engine->shared.registry.count; place++) {
        const nc_transfer *transfer = engine->shared.registry.slots[place].transfer;
        if (transfer == NULL || transfer->is_finished) {
            continue;
        }
        if (count < capacity) {
            out[count] = describe(transfer, now_ns);
        }
        count++;
    }
    pthread_mutex_unlock(&engine->shared.mutex);
    return count;
}

nc_status nc_engine_describe(nc_engine *engine, nc_transfer_id id, nc_buf *out) {
    nc_status status = NC_ERR_USAGE;
    pthread_mutex_lock(&engine->shared.mutex);
    const nc_transfer *transfer = nc_registry_find(&engine->shared.registry, id);
    if (transfer != NULL && !transfer->is_finished) {
        size_t at = 0;
        size_t length = 0;
        nc_slice url = nc_slice_make(transfer->description.url, transfer->description.url_length);
        nc_url_find_credentials(url, &at, &length);
        nc_buf_append(out, nc_slice_make(url.data, at));
        nc_buf_append(out, nc_slice_make(url.data + at + length, url.length - at - length));
        status = nc_buf_status(out);
    }
    pthread_mutex_unlock(&engine->shared.mutex);
    return status;
}

/* --- on the loop --- */

void nc_orders_read_on(nc_engine *engine, nc_transfer_id id) {
    leave_order(engine, id, NC_ORDER_READ_ON, NC_PRIORITY_NORMAL);
}

/// Returns the reasons to pause that have ended. A download's transfer is paused from its head until its file is open,
/// which only the download knows. A caller that resumes everything in nc_engine_list() must not start the body earlier.
static uint8_t over(const nc_transfer *transfer, uint8_t orders) {
    uint8_t reasons = orders & NC_ORDER_RESUME;
    if (transfer->is_download) {
        reasons &= (uint8_t)~NC_REST_VERDICT;
    }
    return (orders & NC_ORDER_READ_ON) != 0 ? (uint8_t)(reasons | NC_REST_VERDICT) : reasons;
}

void nc_orders_carry_out(nc_engine *engine, nc_link *ordered) {
    for (;;) {
        pthread_mutex_lock(&engine->shared.mutex);
        nc_link *link = nc_list_take_first(ordered);
        nc_transfer *transfer = link != NULL ? NC_CONTAINER_OF(link, nc_transfer, order_link) : NULL;
        uint8_t orders = transfer != NULL ? transfer->orders : 0;
        nc_priority priority = transfer != NULL ? transfer->ordered_priority : NC_PRIORITY_NORMAL;
        if (transfer != NULL) {
            transfer->orders = 0;
        }
        pthread_mutex_unlock(&engine->shared.mutex);
        if (transfer == NULL) {
            return;
        }
        if ((orders & NC_ORDER_PRIORITY) != 0) {
            nc_queue_set_priority(&engine->loop.queue, transfer, priority);
        }
        // Resuming may end the transfer, so it comes last. A paused transfer does not continue first.
        if ((orders & NC_ORDER_PAUSE) != 0) {
            nc_flow_pause(transfer);
        }
        uint8_t reasons = over(transfer, orders);
        if (reasons != 0) {
            nc_flow_resume(transfer, reasons);
        }
    }
}

void nc_orders_set_receive_rate(nc_engine *engine, nc_transfer_id id, uint64_t bytes_per_s) {
    pthread_mutex_lock(&engine->shared.mutex);
    nc_transfer *transfer = nc_registry_find(&engine->shared.registry, id);
    bool is_there = transfer != NULL && !transfer->is_finished;
    pthread_mutex_unlock(&engine->shared.mutex);
    if (is_there) {
        nc_flow_set_receive_rate(transfer, bytes_per_s); // It only ends on this thread.
    }
}
