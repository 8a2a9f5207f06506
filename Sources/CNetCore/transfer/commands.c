#include "transfer/transfer.h"

#include "base/error.h"
#include "base/list.h"
#include "base/thread.h"
#include "base/trace.h"
#include "http/url_text.h"
#include "state/engine_record.h"
#include "state/mailbox.h"
#include "state/registry.h"
#include "transfer/flow_control.h"
#include "transfer/host_queue.h"

#include <netcore/transfers.h>

/* --- from any thread --- */

nc_status nc_commands_submit(nc_transfer *transfer, bool is_for_download, nc_transfer_id *out) {
    nc_engine *engine = transfer->engine;
    bool needs_wake = false;
    transfer->is_download = is_for_download;
    transfer->submitted_ns = engine->clock.monotonic_ns(engine->clock.ctx);
    pthread_mutex_lock(&engine->shared.mutex);
    bool is_open = !engine->shared.mailbox.is_closing && (is_for_download || !engine->shared.mailbox.is_finishing);
    nc_status status = !is_open ? NC_ERR_CLOSED : nc_registry_add(&engine->shared.registry, transfer);
    if (status == NC_OK) {
        *out = transfer->id;
        nc_list_append(&engine->shared.mailbox.submitted, &transfer->link);
        // on_done may release the caller's reference before this call returns.
        atomic_fetch_add_explicit(&engine->references, 1, memory_order_relaxed);
        needs_wake = nc_mailbox_needs_wake(engine);
    }
    pthread_mutex_unlock(&engine->shared.mutex);
    if (status == NC_OK) {
        nc_trace_pass(&engine->trace, NC_TRACE_SUBMITTED, *out);
    }
    if (needs_wake) {
        nc_mailbox_wake(&engine->shared.mailbox);
    }
    return status;
}

void nc_engine_cancel(nc_engine *engine, nc_transfer_id id) {
    bool needs_wake = false;
    bool is_new = false;
    pthread_mutex_lock(&engine->shared.mutex);
    nc_transfer *transfer = nc_registry_find(&engine->shared.registry, id);
    if (transfer != NULL && !transfer->is_finished && !transfer->is_cancel_listed) {
        is_new = true;
        transfer->is_cancel_listed = true;
        nc_list_append(&engine->shared.mailbox.cancelled, &transfer->cancel_link);
        needs_wake = nc_mailbox_needs_wake(engine);
    }
    pthread_mutex_unlock(&engine->shared.mutex);
    if (is_new) {
        nc_trace_pass(&engine->trace, NC_TRACE_CANCEL_REQUESTED, id);
    }
    if (needs_wake) {
        nc_mailbox_wake(&engine->shared.mailbox);
    }
}

/// Waits until the transfer has ended and removes it from the registry. The caller holds the mutex.
static nc_status wait_and_take(nc_engine *engine, nc_transfer_id id, uint32_t timeout_ms, nc_transfer **out) {
    uint64_t deadline_ns = 0;
    for (;;) {
        nc_transfer *transfer = nc_registry_find(&engine->shared.registry, id);
        if (transfer == NULL || transfer->has_sink) {
            return NC_ERR_USAGE;
        }
        if (transfer->is_finished) {
            nc_registry_remove(&engine->shared.registry, id);
            *out = transfer;
            return NC_OK;
        }
        if (!nc_condition_wait(&engine->shared.condition, &engine->shared.mutex, timeout_ms, &deadline_ns)) {
            return NC_ERR_WAIT_TIMED_OUT;
        }
    }
}

nc_status nc_commands_wait(nc_engine *engine, nc_transfer_id id, uint32_t timeout_ms, nc_response **out,
                           nc_error *err) {
    nc_transfer *transfer = NULL;
    pthread_mutex_lock(&engine->shared.mutex);
    nc_status status = wait_and_take(engine, id, timeout_ms, &transfer);
    pthread_mutex_unlock(&engine->shared.mutex);
    if (status == NC_ERR_USAGE) {
        (void)nc_error_set(err, status, 0, -1, "unknown transfer id %llu, or the transfer has a sink",
                           (unsigned long long)id);
    } else if (status != NC_OK) {
        (void)nc_error_set(err, status, 0, -1, "the transfer is still running after %u ms", timeout_ms);
    } else {
        *out = nc_response_retain(transfer->response);
        status = transfer->error.status;
        if (err != NULL) {
            *err = transfer->error;
        }
        nc_transfer_free(transfer);
    }
    return status;
}

/// Returns the earlier commands that the new command `command` replaces. Of a pause and a resume by the caller, the
/// later one counts. A command that ends another reason to pause remains.
static uint8_t replaced_by(uint8_t command) {
    if (command == NC_COMMAND_PAUSE) {
        return NC_PAUSE_EXPLICIT;
    }
    return (command & NC_PAUSE_EXPLICIT) != 0 ? NC_COMMAND_PAUSE : 0;
}

/// Queues a command for a transfer.
static void queue_command(nc_engine *engine, nc_transfer_id id, uint8_t command, nc_priority priority) {
    bool needs_wake = false;
    pthread_mutex_lock(&engine->shared.mutex);
    nc_transfer *transfer = nc_registry_find(&engine->shared.registry, id);
    if (transfer != NULL && !transfer->is_finished) {
        if (transfer->pending_commands == 0) {
            nc_list_append(&engine->shared.mailbox.commanded, &transfer->command_link);
        }
        if (command == NC_COMMAND_PRIORITY) {
            transfer->commanded_priority = priority;
        }
        transfer->pending_commands = (uint8_t)((transfer->pending_commands & ~replaced_by(command)) | command);
        needs_wake = nc_mailbox_needs_wake(engine);
    }
    pthread_mutex_unlock(&engine->shared.mutex);
    if (needs_wake) {
        nc_mailbox_wake(&engine->shared.mailbox);
    }
}

void nc_engine_pause(nc_engine *engine, nc_transfer_id id) {
    queue_command(engine, id, NC_COMMAND_PAUSE, NC_PRIORITY_NORMAL);
}

void nc_engine_resume(nc_engine *engine, nc_transfer_id id) {
    queue_command(engine, id, NC_COMMAND_RESUME, NC_PRIORITY_NORMAL);
}

void nc_engine_resume_from(nc_engine *engine, nc_transfer_id id, nc_pause_reason reason) {
    if (reason == NC_PAUSE_EXPLICIT || reason == NC_PAUSE_CALLBACK || reason == NC_PAUSE_SOURCE) {
        queue_command(engine, id, (uint8_t)reason, NC_PRIORITY_NORMAL);
    }
}

void nc_engine_set_priority(nc_engine *engine, nc_transfer_id id, nc_priority priority) {
    if (priority == NC_PRIORITY_NORMAL || priority == NC_PRIORITY_HIGH || priority == NC_PRIORITY_LOW) {
        queue_command(engine, id, NC_COMMAND_PRIORITY, priority);
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
        .state = state_of(atomic_load_explicit(&transfer->published_phase, memory_order_relaxed)),
        .priority = (nc_priority)atomic_load_explicit(&transfer->published_priority, memory_order_relaxed),
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
    for (uint32_t index = 0; index < engine->shared.registry.count; index++) {
        const nc_transfer *transfer = engine->shared.registry.slots[index].transfer;
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
        nc_slice url = nc_slice_make(transfer->request.url, transfer->request.url_length);
        nc_url_find_credentials(url, &at, &length);
        nc_buf_append(out, nc_slice_make(url.data, at));
        nc_buf_append(out, nc_slice_make(url.data + at + length, url.length - at - length));
        status = nc_buf_status(out);
    }
    pthread_mutex_unlock(&engine->shared.mutex);
    return status;
}

/* --- on the event loop --- */

void nc_commands_cancel_all(nc_engine *engine) {
    nc_error err;
    (void)nc_error_set(&err, NC_ERR_CANCELLED, 0, -1, "the engine was released");
    for (uint32_t index = 0;; index++) {
        pthread_mutex_lock(&engine->shared.mutex);
        bool is_past_end = index >= engine->shared.registry.count;
        nc_transfer *transfer = is_past_end ? NULL : engine->shared.registry.slots[index].transfer;
        // A finished transfer belongs to the thread that waits for it. Any other transfer can only end on this thread,
        // so it can be used without the mutex.
        bool is_running = transfer != NULL && !transfer->is_finished;
        pthread_mutex_unlock(&engine->shared.mutex);
        if (is_past_end) {
            return;
        }
        if (is_running) {
            nc_transfer_fail(transfer, &err);
            nc_transfer_deliver_ended(engine);
        }
    }
}

void nc_commands_apply_cancels(nc_engine *engine, nc_link *cancelled) {
    nc_error err;
    if (nc_list_is_empty(cancelled)) {
        return; // The usual case: the loop calls this function in every round.
    }
    (void)nc_error_set(&err, NC_ERR_CANCELLED, 0, -1, "%s", nc_status_text(NC_ERR_CANCELLED));
    for (;;) {
        // If another transfer ends, its callback may end one of this list. That one is removed under the mutex.
        pthread_mutex_lock(&engine->shared.mutex);
        nc_link *link = nc_list_take_first(cancelled);
        pthread_mutex_unlock(&engine->shared.mutex);
        if (link == NULL) {
            return;
        }
        nc_transfer *transfer = NC_CONTAINER_OF(link, nc_transfer, cancel_link);
        nc_trace_pass(&engine->trace, NC_TRACE_CANCEL_APPLIED, transfer->id);
        nc_timeouts_cancelled(transfer);
        nc_transfer_fail(transfer, &err);
        nc_transfer_deliver_ended(engine);
    }
}

void nc_commands_continue_reading(nc_engine *engine, nc_transfer_id id) {
    queue_command(engine, id, NC_COMMAND_CONTINUE_READING, NC_PRIORITY_NORMAL);
}

/// Returns the reasons to pause that `commands` end. A download's transfer is paused after its head until the download
/// has opened its file. A caller that resumes every transfer of nc_engine_list() must not start the body earlier.
static uint8_t ended_pauses(const nc_transfer *transfer, uint8_t commands) {
    uint8_t reasons = commands & NC_COMMAND_RESUME;
    if (transfer->is_download) {
        reasons &= (uint8_t)~NC_PAUSE_CALLBACK;
    }
    return (commands & NC_COMMAND_CONTINUE_READING) != 0 ? (uint8_t)(reasons | NC_PAUSE_CALLBACK) : reasons;
}

void nc_commands_execute(nc_engine *engine, nc_link *commanded) {
    for (;;) {
        pthread_mutex_lock(&engine->shared.mutex);
        nc_link *link = nc_list_take_first(commanded);
        nc_transfer *transfer = link != NULL ? NC_CONTAINER_OF(link, nc_transfer, command_link) : NULL;
        uint8_t commands = transfer != NULL ? transfer->pending_commands : 0;
        nc_priority priority = transfer != NULL ? transfer->commanded_priority : NC_PRIORITY_NORMAL;
        if (transfer != NULL) {
            transfer->pending_commands = 0;
        }
        pthread_mutex_unlock(&engine->shared.mutex);
        if (transfer == NULL) {
            return;
        }
        if ((commands & NC_COMMAND_PRIORITY) != 0) {
            nc_queue_set_priority(&engine->loop.queue, transfer, priority);
        }
        // A pause is executed before a resume, so that the transfer does not continue in between. Resuming may end the
        // transfer, so it comes last.
        if ((commands & NC_COMMAND_PAUSE) != 0) {
            nc_flow_control_pause(transfer);
        }
        uint8_t reasons = ended_pauses(transfer, commands);
        if (reasons != 0) {
            nc_flow_control_resume(transfer, reasons);
        }
    }
}

void nc_commands_set_receive_rate(nc_engine *engine, nc_transfer_id id, uint64_t bytes_per_s) {
    pthread_mutex_lock(&engine->shared.mutex);
    nc_transfer *transfer = nc_registry_find(&engine->shared.registry, id);
    bool is_running = transfer != NULL && !transfer->is_finished;
    pthread_mutex_unlock(&engine->shared.mutex);
    if (is_running) {
        // The mutex is not needed, because the transfer can only end on this thread.
        nc_flow_control_set_receive_rate(transfer, bytes_per_s);
    }
}
