#include "transfer/transfer.h"

#include "base/error.h"
#include "base/trace.h"
#include "event_loop/timers.h"
#include "state/transfer_state.h"
#include "transfer/body_files.h"
#include "transfer/flow_control.h"
#include "transfer/internal.h"

/* --- from the mailbox --- */

static void fail_without_memory(nc_transfer *transfer, const char *message) {
    nc_error err;
    (void)nc_error_set(&err, NC_ERR_NO_MEMORY, 0, -1, "%s", message);
    nc_transfer_fail(transfer, &err);
}

void nc_transfer_events_accept(nc_link *submitted) {
    nc_transfer *transfer = NC_CONTAINER_OF(submitted, nc_transfer, link);
    nc_engine *engine = transfer->engine;
    engine->loop.transfer_count++;
    transfer->timer.fire = nc_timeouts_timer_due;
    if (nc_timers_announce(&engine->loop.timers) != NC_OK) {
        fail_without_memory(transfer, "no memory for a time limit");
        return;
    }
    transfer->has_timer_room = true;
    if (nc_flow_control_init(transfer) != NC_OK) {
        fail_without_memory(transfer, "no memory for a rate limit");
        return;
    }
    nc_transfer_enqueue(transfer, false);
}

/* --- from the worker thread --- */

static void files_opened(nc_transfer *transfer) {
    nc_files *files = transfer->files;
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_FILES_OPENED, transfer->id);
    if (transfer->is_ending) {
        nc_files_close(files, false);
        return;
    }
    transfer->upload.fd = files->upload_fd;
    if (files->upload_fd >= 0) {
        transfer->upload.length = files->upload_bytes;
    } else if (transfer->form != NULL) {
        transfer->upload.length = nc_form_upload_length(transfer->form);
    }
    if (files->error.status != NC_OK) {
        nc_transfer_fail(transfer, &files->error);
    } else {
        nc_transfer_start(transfer);
    }
}

static void part_opened(nc_transfer *transfer) {
    if (transfer->is_ending) {
        nc_files_close(transfer->files, transfer->hop.is_saving && transfer->error.status == NC_OK);
    } else {
        nc_flow_control_resume(transfer, NC_PAUSE_SOURCE);
    }
}

static void files_closed(nc_transfer *transfer) {
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_FILES_CLOSED, transfer->id);
    if (transfer->error.status == NC_OK && transfer->hop.is_saving && transfer->files->error.status != NC_OK) {
        transfer->error = transfer->files->error;
    }
    nc_transfer_finish_now(transfer);
}

const nc_transfer_events nc_transfer_events_all = {
    .on_header = nc_callbacks_on_header,
    .on_body = nc_callbacks_on_body,
    .on_upload = nc_callbacks_on_upload,
    .on_seek = nc_callbacks_on_seek,
    .on_trailers = nc_request_trailers_on_end,
    .on_debug = nc_callbacks_on_debug,
    .on_progress = nc_callbacks_on_progress,
    .on_connected = nc_callbacks_on_connected,
    .open_socket = nc_callbacks_open_socket,
    .close_socket = nc_callbacks_close_socket,
    .pool_timer_due = nc_conn_events_timer_due,
    .roots_ready = nc_conn_events_roots_ready,
    .files_opened = files_opened,
    .files_closed = files_closed,
    .part_opened = part_opened,
};
