#include "body/multipart.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* --- files --- */

/// Opens a part's file and determines its length. Uses O_NONBLOCK, because opening a FIFO without a writer would block.
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
                              "'%s' is not a regular file: send it with a body source", path);
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

static nc_status refuse_file_length(nc_error *err, const char *path, bool is_long) {
    return nc_error_set(err, NC_ERR_BODY_LENGTH, 0, -1, "'%s' became %s while it was sent", path,
                        is_long ? "longer" : "shorter");
}

void nc_part_open_task_run(nc_part_open_task *opening) {
    const nc_file_ops *ops = &opening->form->files;
    const char *path = opening->form->inserts[opening->insert].path;
    uint64_t length = 0;
    if (opening->old_fd >= 0) {
        (void)ops->close(ops->ctx, opening->old_fd);
        opening->old_fd = -1;
    }
    (void)nc_error_clear(&opening->error);
    if (open_file(ops, path, &opening->fd, &length, &opening->error) == NC_OK && length != opening->length) {
        (void)refuse_file_length(&opening->error, path, length > opening->length);
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

bool nc_multipart_reader_needs_file(nc_multipart_reader *reader, nc_part_open_task *out) {
    if (!reader->needs_file) {
        return false;
    }
    *out = (nc_part_open_task){
        .form = reader->form,
        .insert = reader->insert,
        .length = reader->lengths[reader->insert],
        .old_fd = reader->fd,
        .fd = -1,
    };
    reader->fd = -1;
    reader->needs_file = false;
    return true;
}

/// Ends the reader with an error, which all later reads return.
static void fail(nc_multipart_reader *reader, const nc_error *error) {
    reader->error = *error;
    reader->phase = NC_MULTIPART_FAILED;
}

void nc_multipart_reader_set_file(nc_multipart_reader *reader, nc_part_open_task *opening) {
    const nc_file_ops *ops = &reader->form->files;
    bool is_wanted = reader->phase == NC_MULTIPART_CONTENT && reader->insert == opening->insert;
    if (is_wanted && opening->fd >= 0) {
        close_fd(reader);
        reader->fd = opening->fd;
        reader->fd_insert = opening->insert;
    } else if (opening->fd >= 0) {
        (void)ops->close(ops->ctx, opening->fd);
    } else if (is_wanted) {
        fail(reader, &opening->error);
    }
    opening->fd = -1;
}

nc_status nc_multipart_reader_error(const nc_multipart_reader *reader, nc_error *err) {
    if (err != NULL) {
        *err = reader->error;
    }
    return reader->error.status;
}

/* --- reading --- */

/// The result of a step.
typedef enum step {
    STEP_CONTINUE, // continue with the next step
    STEP_LATER,    // no bytes are available now
    STEP_FAIL,
} step;

static step refuse(nc_multipart_reader *reader, nc_status status, const char *what) {
    nc_error error;
    (void)nc_error_set(&error, status, 0, -1, "part %zu: %s", reader->form->inserts[reader->insert].part + 1, what);
    fail(reader, &error);
    return STEP_FAIL;
}

static step end_insert(nc_multipart_reader *reader) {
    reader->insert++;
    reader->done = 0;
    reader->is_source_over = false;
    reader->phase = NC_MULTIPART_TEXT;
    return STEP_CONTINUE;
}

static size_t smaller(uint64_t a, size_t b) {
    return a < b ? (size_t)a : b;
}

static step read_text(nc_multipart_reader *reader, uint8_t *bytes, size_t room, size_t *count) {
    const nc_multipart *form = reader->form;
    bool has_insert = reader->insert < form->insert_count;
    size_t stop = has_insert ? form->inserts[reader->insert].at : form->text.length;
    *count = smaller(stop - reader->text_at, room);
    if (*count > 0) {
        memcpy(bytes, form->text.data + reader->text_at, *count);
        reader->text_at += *count;
    }
    if (reader->text_at == stop) {
        reader->phase = has_insert ? NC_MULTIPART_CONTENT : NC_MULTIPART_CLOSING;
    }
    return STEP_CONTINUE;
}

static step read_closing(nc_multipart_reader *reader, uint8_t *bytes, size_t room, size_t *count) {
    const nc_multipart *form = reader->form;
    size_t length = form->count > 0 ? form->closing_length : 0;
    *count = smaller(length - reader->closing_at, room);
    if (*count > 0) {
        memcpy(bytes, form->closing + reader->closing_at, *count);
        reader->closing_at += *count;
    }
    if (reader->closing_at == length) {
        reader->phase = NC_MULTIPART_OVER;
    }
    return STEP_CONTINUE;
}

static step read_bytes(nc_multipart_reader *reader, uint8_t *bytes, size_t room, size_t *count) {
    const nc_insert *insert = &reader->form->inserts[reader->insert];
    *count = smaller(insert->length - reader->done, room);
    if (*count > 0) {
        memcpy(bytes, insert->bytes + reader->done, *count);
        reader->done += *count;
    }
    return reader->done == insert->length ? end_insert(reader) : STEP_CONTINUE;
}

/// Opens the file of the current insert, if it is not open. Returns STEP_LATER if another thread must open it.
static step need_file(nc_multipart_reader *reader) {
    reader->needs_file = reader->fd < 0 || reader->fd_insert != reader->insert;
    if (!reader->needs_file) {
        return STEP_CONTINUE;
    }
    if (reader->opens_files_async) {
        return STEP_LATER;
    }
    nc_part_open_task opening;
    (void)nc_multipart_reader_needs_file(reader, &opening);
    nc_part_open_task_run(&opening);
    nc_multipart_reader_set_file(reader, &opening);
    return reader->phase == NC_MULTIPART_FAILED ? STEP_FAIL : STEP_CONTINUE;
}

/// Rounds the size of a read down to whole pages. Reads that begin and end at page boundaries of the file are faster;
/// the head before the content would otherwise shift all of them.
static size_t aligned(size_t room, uint64_t left) {
    enum { PAGE_BYTES = 4096 };
    return room < left && room > 4 * PAGE_BYTES ? room - room % PAGE_BYTES : room;
}

/// Reads a file directly into the caller's memory. At the measured length tries to read one more byte: if the file has
/// grown, sending only the measured part would truncate it without an error.
static step read_file(nc_multipart_reader *reader, uint8_t *bytes, size_t room, size_t *count) {
    const nc_file_ops *ops = &reader->form->files;
    const char *path = reader->form->inserts[reader->insert].path;
    uint64_t left = reader->lengths[reader->insert] - reader->done;
    uint8_t extra;
    ssize_t got = 0;
    nc_error error;
    step opened = need_file(reader);
    if (opened != STEP_CONTINUE) {
        return opened;
    }
    size_t wanted = left > 0 ? aligned(smaller(left, room), left) : 1;
    do {
        got = ops->read_at(ops->ctx, reader->fd, left > 0 ? bytes : &extra, wanted, (off_t)reader->done);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        (void)nc_file_fail(&error, path, "read", errno);
    } else if ((got == 0) != (left == 0)) {
        (void)refuse_file_length(&error, path, left == 0);
    } else if (left == 0) {
        return end_insert(reader);
    } else {
        *count = (size_t)got;
        reader->done += *count;
        return STEP_CONTINUE;
    }
    fail(reader, &error);
    return STEP_FAIL;
}

static step refuse_source_length(nc_multipart_reader *reader, bool is_long) {
    return refuse(reader, NC_ERR_BODY_LENGTH,
                  is_long ? "the body source returned more than the bytes announced"
                          : "the body source returned fewer than the bytes announced");
}

/// Checks the result of a source. When all announced bytes have arrived, the source is called again and must report its
/// end.
static step check_pull(nc_multipart_reader *reader, nc_pull pulled, size_t filled, size_t wanted) {
    uint64_t length = reader->lengths[reader->insert];
    if (pulled == NC_PULL_LATER) {
        return STEP_LATER;
    }
    if (pulled == NC_PULL_FAIL) {
        return refuse(reader, NC_ERR_BODY_SOURCE, "the body source failed");
    }
    if ((pulled != NC_PULL_MORE && pulled != NC_PULL_END) || filled > wanted ||
        (pulled == NC_PULL_MORE && filled == 0)) {
        return refuse(reader, NC_ERR_BODY_SOURCE, "the body source returned an invalid result or byte count");
    }
    if (length != NC_LENGTH_UNKNOWN && filled > length - reader->done) {
        return refuse_source_length(reader, true);
    }
    reader->done += filled;
    reader->is_source_over = pulled == NC_PULL_END;
    if (reader->is_source_over && length != NC_LENGTH_UNKNOWN && reader->done < length) {
        return refuse_source_length(reader, false);
    }
    return STEP_CONTINUE;
}

static bool rewind_source(nc_insert *insert, nc_transfer_id id) {
    bool is_rewound = insert->source.seek != NULL && insert->source.seek(insert->source.ctx, id, 0);
    insert->was_pulled = insert->was_pulled && !is_rewound;
    return is_rewound;
}

static step read_source(nc_multipart_reader *reader, nc_transfer_id id, uint8_t *bytes, size_t room, size_t *count) {
    const nc_body_source *source = &reader->form->inserts[reader->insert].source;
    uint64_t left = reader->lengths[reader->insert] - reader->done; // if the length is unknown, a very large number
    uint8_t extra;
    size_t filled = 0;
    size_t wanted = left > 0 ? smaller(left, room) : 1;
    nc_pull pulled = source->pull(source->ctx, id, left > 0 ? bytes : &extra, wanted, &filled);
    step checked = check_pull(reader, pulled, filled, wanted);
    if (checked != STEP_CONTINUE) {
        return checked;
    }
    *count = filled;
    return reader->is_source_over ? end_insert(reader) : STEP_CONTINUE;
}

/// Starts an insert. If an earlier reader has used the source, it is rewound.
static step begin_content(nc_multipart_reader *reader, nc_transfer_id id) {
    nc_insert *insert = &reader->form->inserts[reader->insert];
    reader->begun = reader->insert + 1;
    if (insert->kind == NC_INSERT_SOURCE) {
        if (insert->was_pulled && !rewind_source(insert, id)) {
            return refuse(reader, NC_ERR_NOT_REWINDABLE, "its body source cannot be read again");
        }
        insert->was_pulled = true;
    }
    return STEP_CONTINUE;
}

static step read_content(nc_multipart_reader *reader, nc_transfer_id id, uint8_t *bytes, size_t room, size_t *count) {
    if (reader->begun <= reader->insert && begin_content(reader, id) != STEP_CONTINUE) {
        return STEP_FAIL;
    }
    switch (reader->form->inserts[reader->insert].kind) {
    case NC_INSERT_BYTES:
        return read_bytes(reader, bytes, room, count);
    case NC_INSERT_FILE:
        return read_file(reader, bytes, room, count);
    default:
        return read_source(reader, id, bytes, room, count);
    }
}

static step read_phase(nc_multipart_reader *reader, nc_transfer_id id, uint8_t *bytes, size_t room, size_t *count) {
    switch (reader->phase) {
    case NC_MULTIPART_TEXT:
        return read_text(reader, bytes, room, count);
    case NC_MULTIPART_CONTENT:
        return read_content(reader, id, bytes, room, count);
    case NC_MULTIPART_CLOSING:
        return read_closing(reader, bytes, room, count);
    default:
        return STEP_FAIL;
    }
}

nc_pull nc_multipart_read(nc_multipart_reader *reader, nc_transfer_id id, uint8_t *bytes, size_t capacity,
                          size_t *filled) {
    enum { SMALL_BYTES = 4096 };
    size_t at = 0;
    bool is_last = false;
    *filled = 0;
    while (at < capacity && reader->phase != NC_MULTIPART_OVER && !is_last) {
        size_t count = 0;
        bool was_content = reader->phase == NC_MULTIPART_CONTENT;
        step taken = read_phase(reader, id, bytes + at, capacity - at, &count);
        at += count;
        // Stop if the remaining space is below a page: a small read is slow and would make the next ones unaligned.
        is_last =
            was_content && reader->phase == NC_MULTIPART_CONTENT && capacity - at < SMALL_BYTES && count >= SMALL_BYTES;
        if (taken == STEP_FAIL) {
            return NC_PULL_FAIL;
        }
        if (taken == STEP_LATER) {
            *filled = at;
            return at > 0 ? NC_PULL_MORE : NC_PULL_LATER;
        }
    }
    *filled = at;
    return reader->phase == NC_MULTIPART_OVER ? NC_PULL_END : NC_PULL_MORE;
}

bool nc_multipart_rewind(nc_multipart_reader *reader, nc_transfer_id id) {
    for (size_t i = 0; i < reader->begun; i++) {
        nc_insert *insert = &reader->form->inserts[i];
        if (insert->kind == NC_INSERT_SOURCE && !rewind_source(insert, id)) {
            reader->insert = i;
            (void)refuse(reader, NC_ERR_NOT_REWINDABLE, "its body source cannot be read again");
            return false;
        }
    }
    reader->phase = NC_MULTIPART_TEXT;
    reader->text_at = 0;
    reader->insert = 0;
    reader->done = 0;
    reader->begun = 0;
    reader->is_source_over = false;
    reader->closing_at = 0;
    reader->needs_file = false;
    (void)nc_error_clear(&reader->error);
    return true;
}

/* --- progress --- */

/// Returns the index of the part whose head or content includes offset `at` of the text.
static size_t part_at(const nc_multipart *form, size_t at) {
    size_t low = 0;
    size_t high = form->count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (form->part_ranges[middle].end < at) {
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
    // An insert is at the end of its part's text, so the current part's insert is the next or the previous one.
    for (size_t i = reader->insert > 0 ? reader->insert - 1 : 0; i <= reader->insert && i < form->insert_count; i++) {
        if (form->inserts[i].part == progress.index) {
            bool is_over = i < reader->insert;
            progress.total_bytes = reader->lengths[i];
            progress.sent_bytes = is_over ? progress.total_bytes : reader->done;
            return progress;
        }
    }
    const nc_part_range *range = &form->part_ranges[progress.index];
    progress.total_bytes = range->end - range->begin;
    progress.sent_bytes = reader->text_at > range->begin ? reader->text_at - range->begin : 0;
    return progress;
}
