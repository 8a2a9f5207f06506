#include "body/multipart.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* --- files --- */

/// Opens and measures a part's file. O_NONBLOCK, because opening a FIFO without a writer would block.
static nc_status open_file(const nc_file_ops *ops, const char *path, int *fd, uint64_t *length, nc_error *err) {
    struct stat info;
    int opened = -1;
    do {
        opened = ops->open(ops->ctx, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
    } while (opened < 0 && errno == EINTR);
    if (opened < 0) {
        return nc_file_fail(err, path, "opened", errno);
    }
    nc_status status = NC_OK;
    if (ops->status(ops->ctx, opened, &info) != 0) {
        status = nc_file_fail(err, path, "examined", errno);
    } else if (!S_ISREG(info.st_mode)) {
        status = nc_error_set(err, NC_ERR_FILE, S_ISDIR(info.st_mode) ? EISDIR : ESPIPE, -1,
                              "'%s' is no regular file: give it as a source", path);
    }
    if (status != NC_OK) {
        (void)ops->close(ops->ctx, opened);
        return status;
    }
    *fd = opened;
    *length = (uint64_t)info.st_size;
    return NC_OK;
}

static nc_status measure_file(const nc_file_ops *ops, const char *path, uint64_t *length, nc_error *err) {
    int fd = -1;
    nc_status status = open_file(ops, path, &fd, length, err);
    if (status == NC_OK) {
        (void)ops->close(ops->ctx, fd);
    }
    return status;
}

nc_status nc_part_file_refuse_length(nc_error *err, const char *path, bool is_long) {
    return nc_error_set(err, NC_ERR_BODY_LENGTH, 0, -1, "'%s' became %s while it was sent", path,
                        is_long ? "longer" : "shorter");
}

void nc_part_opening_run(nc_part_opening *opening) {
    const nc_file_ops *ops = &opening->form->files;
    const char *path = opening->form->inserts[opening->insert].path;
    uint64_t length = 0;
    if (opening->old_fd >= 0) {
        (void)ops->close(ops->ctx, opening->old_fd);
        opening->old_fd = -1;
    }
    (void)nc_error_clear(&opening->error);
    if (open_file(ops, path, &opening->fd, &length, &opening->error) == NC_OK && length != opening->length) {
        (void)nc_part_file_refuse_length(&opening->error, path, length > opening->length);
        (void)ops->close(ops->ctx, opening->fd);
        opening->fd = -1;
    }
}

/* --- creating and freeing --- */

nc_status nc_multipart_reader_make(nc_multipart_reader **out, nc_multipart *form, nc_error *err) {
    size_t bytes = 0;
    bool fits = nc_size_mul(&bytes, form->insert_count, sizeof(uint64_t)) &&
                nc_size_add(&bytes, bytes, sizeof(nc_multipart_reader));
    nc_multipart_reader *reader = fits ? nc_alloc_zeroed(1, bytes) : NULL;
    if (reader == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory to read a form");
    }
    atomic_store_explicit(&form->is_sealed, true, memory_order_release);
    reader->form = nc_multipart_retain(form);
    reader->length = NC_LENGTH_UNKNOWN;
    reader->fd = -1;
    (void)nc_error_clear(&reader->error);
    for (size_t i = 0; i < form->insert_count; i++) {
        reader->lengths[i] = form->inserts[i].length;
    }
    *out = reader;
    return NC_OK;
}

nc_status nc_multipart_reader_measure(nc_multipart_reader *reader, nc_error *err) {
    const nc_multipart *form = reader->form;
    uint64_t total = form->count > 0 ? form->text.length + form->closing_length : 0;
    for (size_t i = 0; i < form->insert_count; i++) {
        const nc_insert *insert = &form->inserts[i];
        if (insert->kind == NC_INSERT_FILE) {
            nc_status status = measure_file(&form->files, insert->path, &reader->lengths[i], err);
            if (status != NC_OK) {
                return status;
            }
        }
        uint64_t length = reader->lengths[i] == NC_LENGTH_UNKNOWN ? 0 : reader->lengths[i];
        if (length > INT64_MAX - total) {
            return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "the form is longer than 2^63 bytes");
        }
        total += length;
    }
    reader->length = form->has_endless_source ? NC_LENGTH_UNKNOWN : total;
    return nc_error_clear(err);
}

nc_status nc_multipart_reader_new(nc_multipart_reader **out, nc_multipart *form, nc_error *err) {
    nc_multipart_reader *reader = NULL;
    nc_status status = nc_multipart_reader_make(&reader, form, err);
    if (status != NC_OK) {
        return status;
    }
    status = nc_multipart_reader_measure(reader, err);
    if (status != NC_OK) {
        nc_multipart_reader_free(reader);
        return status;
    }
    *out = reader;
    return NC_OK;
}

static void close_fd(nc_multipart_reader *reader) {
    if (reader->fd >= 0) {
        (void)reader->form->files.close(reader->form->files.ctx, reader->fd);
        reader->fd = -1;
    }
}

void nc_multipart_reader_free(nc_multipart_reader *reader) {
    if (reader == NULL) {
        return;
    }
    close_fd(reader);
    nc_multipart_release(reader->form);
    nc_free(reader);
}

uint64_t nc_multipart_reader_length(const nc_multipart_reader *reader) {
    return reader->length;
}

/* --- files that another thread opens --- */

bool nc_multipart_reader_wants_file(nc_multipart_reader *reader, nc_part_opening *out) {
    if (!reader->wants_file) {
        return false;
    }
    *out = (nc_part_opening){
        .form = reader->form,
        .insert = reader->insert,
        .length = reader->lengths[reader->insert],
        .old_fd = reader->fd,
        .fd = -1,
    };
    reader->fd = -1;
    reader->wants_file = false;
    return true;
}

void nc_multipart_reader_fail(nc_multipart_reader *reader, const nc_error *error) {
    reader->error = *error;
    reader->phase = NC_MULTIPART_FAILED;
}

void nc_multipart_reader_take_file(nc_multipart_reader *reader, nc_part_opening *opening) {
    const nc_file_ops *ops = &reader->form->files;
    bool is_wanted = reader->phase == NC_MULTIPART_CONTENT && reader->insert == opening->insert;
    if (is_wanted && opening->fd >= 0) {
        close_fd(reader);
        reader->fd = opening->fd;
        reader->fd_insert = opening->insert;
    } else if (opening->fd >= 0) {
        (void)ops->close(ops->ctx, opening->fd);
    } else if (is_wanted) {
        nc_multipart_reader_fail(reader, &opening->error);
    }
    opening->fd = -1;
}

nc_status nc_multipart_reader_error(const nc_multipart_reader *reader, nc_error *err) {
    if (err != NULL) {
        *err = reader->error;
    }
    return reader->error.status;
}

/* --- progress --- */

/// Returns the part whose head or content is at `at`.
static size_t part_at(const nc_multipart *form, size_t at) {
    size_t low = 0;
    size_t high = form->count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (form->places[middle].end < at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

nc_part_progress nc_multipart_reader_progress(const nc_multipart_reader *reader) {
    const nc_multipart *form = reader->form;
    if (form->count == 0) {
        return (nc_part_progress){0};
    }
    nc_part_progress progress = {.index = part_at(form, reader->text_at), .count = form->count};
    // An insert is at the end of its part's text: it is the next one or the previous one.
    for (size_t i = reader->insert > 0 ? reader->insert - 1 : 0; i <= reader->insert && i < form->insert_count; i++) {
        if (form->inserts[i].part == progress.index) {
            bool is_over = i < reader->insert;
            progress.total_bytes = reader->lengths[i];
            progress.sent_bytes = is_over ? progress.total_bytes : reader->done;
            return progress;
        }
    }
    const nc_part_place *place = &form->places[progress.index];
    progress.total_bytes = place->end - place->begin;
    progress.sent_bytes = reader->text_at > place->begin ? reader->text_at - place->begin : 0;
    return progress;
}
