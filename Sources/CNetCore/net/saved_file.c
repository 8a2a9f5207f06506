#include "net/saved_file.h"

#include "base/error.h"
#include "base/file.h"
#include "net/engine_state.h"

#include <netcore/state_file.h>

enum { MAX_TEXT_BYTES = 16 * 1024 * 1024, MODE = 0600 };

void nc_saved_file_init(nc_saved_file *file, nc_engine *engine, const char *path, nc_saved_file_write_fn write) {
    *file = (nc_saved_file){.engine = engine, .path = path, .write = write, .text = nc_buf_init(MAX_TEXT_BYTES)};
}

void nc_saved_file_deinit(nc_saved_file *file) {
    nc_buf_deinit(&file->text);
}

void nc_saved_file_write_on_worker(nc_saved_file *file, nc_saved_file_write_elsewhere_fn write) {
    file->write_elsewhere = write;
}

nc_status nc_saved_file_read(nc_saved_file *file, nc_error *err) {
    if (file->path == NULL) {
        return NC_OK;
    }
    int fd = -1;
    const nc_file_ops *files = &file->engine->files;
    nc_status status = nc_state_file_open_at(&fd, file->path, files, err);
    return status == NC_OK && fd >= 0 ? nc_file_read_and_close(&file->text, files, fd, file->path, err) : status;
}

nc_status nc_saved_file_take_in(nc_saved_file *file, nc_saved_file_read_fn read, const char *kind, const char *line,
                                nc_error *told) {
    nc_error own;
    nc_error *err = told != NULL ? told : &own;
    size_t number = 0;
    nc_status status = nc_saved_file_read(file, err);
    if (status != NC_OK) {
        return status;
    }
    status = read(file->engine, nc_buf_slice(&file->text), &number);
    nc_buf_reset(&file->text);
    if (status == NC_ERR_FILE) {
        return nc_error_set(err, NC_ERR_FILE, 0, -1, "'%.96s' is no %s: line %zu is no %s", file->path, kind, number,
                            line);
    }
    return status == NC_OK ? NC_OK : nc_error_set(err, status, 0, -1, "%s", nc_status_text(status));
}

static bool write_text(nc_saved_file *file) {
    nc_buf_reset(&file->text);
    nc_status status = NC_OK;
    if (file->write_elsewhere != NULL) {
        status = file->write_elsewhere(&file->text, file->engine);
    } else {
        file->write(&file->text, file->engine);
    }
    status = status == NC_OK ? nc_buf_status(&file->text) : status;
    if (status != NC_OK) {
        (void)nc_error_set(&file->failure, status, 0, -1, "'%.96s' cannot be saved: %s", file->path,
                           nc_status_text(status));
    }
    return status == NC_OK;
}

static void replace(nc_saved_file *file) {
    nc_slice text = nc_buf_slice(&file->text);
    file->failure.status = nc_file_replace(&file->engine->files, file->path, text, MODE, &file->failure);
}

/// After a failure the state stays in memory. It is saved again when it changes, and when the engine ends.
static void judge(nc_saved_file *file) {
    const nc_loop_client *client = &file->engine->client;
    bool has_failed = file->failure.status != NC_OK;
    file->has_changed = file->has_changed || has_failed;
    if (has_failed && !file->has_told && client->save_failed != NULL) {
        client->save_failed(client->ctx, &file->failure);
    }
    file->has_told = has_failed;
}

static void save(nc_work *work) {
    nc_saved_file *file = NC_CONTAINER_OF(work, nc_saved_file, work);
    if (file->write_elsewhere == NULL || write_text(file)) {
        replace(file);
    }
    nc_mailbox_put_answer(file->engine, &file->answer);
}

static void begin_saving(nc_saved_file *file);

static void saved(nc_answer *answer) {
    nc_saved_file *file = NC_CONTAINER_OF(answer, nc_saved_file, answer);
    bool has_changed = file->has_changed;
    file->is_saving = false;
    judge(file);
    if (has_changed) {
        begin_saving(file);
    }
}

static void begin_saving(nc_saved_file *file) {
    if (file->path == NULL || file->is_saving || !file->has_changed || file->engine->worker == NULL) {
        return;
    }
    if (file->write_elsewhere == NULL && !write_text(file)) {
        judge(file);
        return;
    }
    file->work.run = save;
    file->answer.arrive = saved;
    file->is_saving = nc_worker_submit(file->engine->worker, &file->work) == NC_OK;
    file->has_changed = !file->is_saving;
}

void nc_saved_file_note_change(nc_saved_file *file) {
    file->has_changed = true;
    begin_saving(file);
}

void nc_saved_file_save_at_end(nc_saved_file *file) {
    if (file->path == NULL || !file->has_changed) {
        return;
    }
    if (write_text(file)) {
        replace(file);
    }
    judge(file);
}
