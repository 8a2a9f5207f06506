#include "state/state_file_writer.h"

#include "base/error.h"
#include "base/file.h"
#include "base/worker.h"
#include "state/engine_record.h"
#include "state/mailbox.h"

#include <netcore/state_file.h>

enum { MAX_TEXT_BYTES = 16 * 1024 * 1024, MODE = 0600 };

void nc_state_file_writer_init(nc_state_file_writer *file, nc_engine *engine, const char *path,
                               nc_state_file_writer_write_fn write) {
    *file = (nc_state_file_writer){.engine = engine, .path = path, .write = write, .text = nc_buf_init(MAX_TEXT_BYTES)};
}

void nc_state_file_writer_deinit(nc_state_file_writer *file) {
    nc_buf_deinit(&file->text);
}

void nc_state_file_writer_write_on_worker(nc_state_file_writer *file, nc_state_file_writer_write_async_fn write) {
    file->write_async = write;
}

nc_status nc_state_file_writer_read(nc_state_file_writer *file, nc_error *err) {
    if (file->path == NULL) {
        return NC_OK;
    }
    int fd = -1;
    const nc_file_ops *files = &file->engine->files;
    nc_status status = nc_state_file_open_at(&fd, file->path, files, err);
    return status == NC_OK && fd >= 0 ? nc_file_read_and_close(&file->text, files, fd, file->path, err) : status;
}

nc_status nc_state_file_writer_load(nc_state_file_writer *file, nc_engine *engine, const char *path,
                                    const nc_state_file_kind *kind, nc_error *notified) {
    nc_error own;
    nc_error *err = notified != NULL ? notified : &own;
    size_t number = 0;
    nc_state_file_writer_init(file, engine, path, kind->write);
    nc_status status = nc_state_file_writer_read(file, err);
    if (status != NC_OK) {
        return status;
    }
    status = kind->read(engine, nc_buf_slice(&file->text), &number);
    nc_buf_reset(&file->text);
    if (status == NC_ERR_FILE) {
        return nc_error_set(err, NC_ERR_FILE, 0, -1, "'%.96s' is not a valid %s: line %zu is not a valid %s",
                            file->path, kind->name, number, kind->line);
    }
    return status == NC_OK ? NC_OK : nc_error_set(err, status, 0, -1, "%s", nc_status_text(status));
}

static bool write_text(nc_state_file_writer *file) {
    nc_buf_reset(&file->text);
    nc_status status = NC_OK;
    if (file->write_async != NULL) {
        status = file->write_async(&file->text, file->engine);
    } else {
        file->write(&file->text, file->engine);
    }
    status = status == NC_OK ? nc_buf_status(&file->text) : status;
    if (status != NC_OK) {
        (void)nc_error_set(&file->failure, status, 0, -1, "'%.96s' cannot be on_saved: %s", file->path,
                           nc_status_text(status));
    }
    return status == NC_OK;
}

static void replace(nc_state_file_writer *file) {
    nc_slice text = nc_buf_slice(&file->text);
    file->failure.status = nc_file_replace(&file->engine->files, file->path, text, MODE, &file->failure);
}

/// Handles the result of a save. After a failure the state counts as unsaved: it is saved again when it changes, and
/// when the engine ends.
static void handle_result(nc_state_file_writer *file) {
    const nc_loop_client *client = &file->engine->client;
    bool has_failed = file->failure.status != NC_OK;
    file->has_changed = file->has_changed || has_failed;
    if (has_failed && !file->has_notified && client->save_failed != NULL) {
        client->save_failed(client->ctx, &file->failure);
    }
    file->has_notified = has_failed;
}

static void save(nc_work *work) {
    nc_state_file_writer *file = NC_CONTAINER_OF(work, nc_state_file_writer, work);
    if (file->write_async == NULL || write_text(file)) {
        replace(file);
    }
    nc_mailbox_put_result(file->engine, &file->result);
}

static void begin_saving(nc_state_file_writer *file);

static void on_saved(nc_worker_result *result) {
    nc_state_file_writer *file = NC_CONTAINER_OF(result, nc_state_file_writer, result);
    bool has_changed = file->has_changed;
    file->is_saving = false;
    handle_result(file);
    if (has_changed) {
        begin_saving(file);
    }
}

static void begin_saving(nc_state_file_writer *file) {
    if (file->path == NULL || file->is_saving || !file->has_changed || file->engine->worker == NULL) {
        return;
    }
    if (file->write_async == NULL && !write_text(file)) {
        handle_result(file);
        return;
    }
    file->work.run = save;
    file->result.arrive = on_saved;
    file->is_saving = nc_worker_submit(file->engine->worker, &file->work) == NC_OK;
    file->has_changed = !file->is_saving;
}

void nc_state_file_writer_mark_changed(nc_state_file_writer *file) {
    file->has_changed = true;
    begin_saving(file);
}

void nc_state_file_writer_save_at_end(nc_state_file_writer *file) {
    if (file->path == NULL || !file->has_changed) {
        return;
    }
    if (write_text(file)) {
        replace(file);
    }
    handle_result(file);
}
