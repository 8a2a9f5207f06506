#include "base/error.h"
#include "base/file.h"
#include "body/multipart.h"

#include <errno.h>
#include <string.h>

/// The result of a step.
typedef enum step {
    STEP_ON,    // there may be more
    STEP_LATER, // no bytes now
    STEP_FAIL,
} step;

static step refuse(nc_multipart_reader *reader, nc_status status, const char *what) {
    nc_error error;
    (void)nc_error_set(&error, status, 0, -1, "part %zu: %s", reader->form->inserts[reader->insert].part + 1, what);
    nc_multipart_reader_fail(reader, &error);
    return STEP_FAIL;
}

static step end_insert(nc_multipart_reader *reader) {
    reader->insert++;
    reader->done = 0;
    reader->is_source_over = false;
    reader->phase = NC_MULTIPART_TEXT;
    return STEP_ON;
}

static size_t least(uint64_t a, size_t b) {
    return a < b ? (size_t)a : b;
}

static step read_text(nc_multipart_reader *reader, uint8_t *bytes, size_t room, size_t *count) {
    const nc_multipart *form = reader->form;
    bool has_insert = reader->insert < form->insert_count;
    size_t stop = has_insert ? form->inserts[reader->insert].at : form->text.length;
    *count = least(stop - reader->text_at, room);
    if (*count > 0) {
        memcpy(bytes, form->text.data + reader->text_at, *count);
        reader->text_at += *count;
    }
    if (reader->text_at == stop) {
        reader->phase = has_insert ? NC_MULTIPART_CONTENT : NC_MULTIPART_CLOSING;
    }
    return STEP_ON;
}

static step read_closing(nc_multipart_reader *reader, uint8_t *bytes, size_t room, size_t *count) {
    const nc_multipart *form = reader->form;
    size_t length = form->count > 0 ? form->closing_length : 0;
    *count = least(length - reader->closing_at, room);
    if (*count > 0) {
        memcpy(bytes, form->closing + reader->closing_at, *count);
        reader->closing_at += *count;
    }
    if (reader->closing_at == length) {
        reader->phase = NC_MULTIPART_OVER;
    }
    return STEP_ON;
}

static step read_bytes(nc_multipart_reader *reader, uint8_t *bytes, size_t room, size_t *count) {
    const nc_insert *insert = &reader->form->inserts[reader->insert];
    *count = least(insert->length - reader->done, room);
    if (*count > 0) {
        memcpy(bytes, insert->bytes + reader->done, *count);
        reader->done += *count;
    }
    return reader->done == insert->length ? end_insert(reader) : STEP_ON;
}

/// Makes sure that the insert's file is open. Returns STEP_LATER if another thread opens it.
static step need_file(nc_multipart_reader *reader) {
    reader->wants_file = reader->fd < 0 || reader->fd_insert != reader->insert;
    if (!reader->wants_file) {
        return STEP_ON;
    }
    if (reader->opens_elsewhere) {
        return STEP_LATER;
    }
    nc_part_opening opening;
    (void)nc_multipart_reader_wants_file(reader, &opening);
    nc_part_opening_run(&opening);
    nc_multipart_reader_take_file(reader, &opening);
    return reader->phase == NC_MULTIPART_FAILED ? STEP_FAIL : STEP_ON;
}

/// Reads that begin and end at a page boundary of the file are faster. The head before the content would shift all of
/// them.
static size_t aligned(size_t room, uint64_t left) {
    enum { PAGE_BYTES = 4096 };
    return room < left && room > 4 * PAGE_BYTES ? room - room % PAGE_BYTES : room;
}

/// Reads directly into the caller's memory. After the measured size it tries one more byte, because a file that has
/// grown would otherwise be truncated without an error.
static step read_file(nc_multipart_reader *reader, uint8_t *bytes, size_t room, size_t *count) {
    const nc_file_ops *ops = &reader->form->files;
    const char *path = reader->form->inserts[reader->insert].path;
    uint64_t left = reader->lengths[reader->insert] - reader->done;
    uint8_t aside;
    ssize_t got = 0;
    nc_error error;
    step opened = need_file(reader);
    if (opened != STEP_ON) {
        return opened;
    }
    size_t wanted = left > 0 ? aligned(least(left, room), left) : 1;
    do {
        got = ops->read_at(ops->ctx, reader->fd, left > 0 ? bytes : &aside, wanted, (off_t)reader->done);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        (void)nc_file_fail(&error, path, "read", errno);
    } else if ((got == 0) != (left == 0)) {
        (void)nc_part_file_refuse_length(&error, path, left == 0);
    } else if (left == 0) {
        return end_insert(reader);
    } else {
        *count = (size_t)got;
        reader->done += *count;
        return STEP_ON;
    }
    nc_multipart_reader_fail(reader, &error);
    return STEP_FAIL;
}

static step refuse_source_length(nc_multipart_reader *reader, bool is_long) {
    return refuse(reader, NC_ERR_BODY_LENGTH,
                  is_long ? "the source gave more than the bytes announced"
                          : "the source gave fewer than the bytes announced");
}

/// Checks the result of a source. After the announced length the source is called again for its end.
static step judge_pull(nc_multipart_reader *reader, nc_pull pulled, size_t filled, size_t wanted) {
    uint64_t length = reader->lengths[reader->insert];
    if (pulled == NC_PULL_LATER) {
        return STEP_LATER;
    }
    if (pulled == NC_PULL_FAIL) {
        return refuse(reader, NC_ERR_BODY_SOURCE, "the source failed");
    }
    if ((pulled != NC_PULL_MORE && pulled != NC_PULL_END) || filled > wanted ||
        (pulled == NC_PULL_MORE && filled == 0)) {
        return refuse(reader, NC_ERR_BODY_SOURCE, "the source answered out of range");
    }
    if (length != NC_LENGTH_UNKNOWN && filled > length - reader->done) {
        return refuse_source_length(reader, true);
    }
    reader->done += filled;
    reader->is_source_over = pulled == NC_PULL_END;
    if (reader->is_source_over && length != NC_LENGTH_UNKNOWN && reader->done < length) {
        return refuse_source_length(reader, false);
    }
    return STEP_ON;
}

static bool rewind_source(nc_insert *insert, nc_transfer_id id) {
    bool is_rewound = insert->source.rewind != NULL && insert->source.rewind(insert->source.ctx, id);
    insert->was_pulled = insert->was_pulled && !is_rewound;
    return is_rewound;
}

static step read_source(nc_multipart_reader *reader, nc_transfer_id id, uint8_t *bytes, size_t room, size_t *count) {
    const nc_body_source *source = &reader->form->inserts[reader->insert].source;
    uint64_t left = reader->lengths[reader->insert] - reader->done; // very large if unknown
    uint8_t aside;
    size_t filled = 0;
    size_t wanted = left > 0 ? least(left, room) : 1;
    nc_pull pulled = source->pull(source->ctx, id, left > 0 ? bytes : &aside, wanted, &filled);
    step judged = judge_pull(reader, pulled, filled, wanted);
    if (judged != STEP_ON) {
        return judged;
    }
    *count = filled;
    return reader->is_source_over ? end_insert(reader) : STEP_ON;
}

/// Starts an insert. A source that an earlier reader has used is rewound.
static step begin_content(nc_multipart_reader *reader, nc_transfer_id id) {
    nc_insert *insert = &reader->form->inserts[reader->insert];
    reader->begun = reader->insert + 1;
    if (insert->kind == NC_INSERT_SOURCE) {
        if (insert->was_pulled && !rewind_source(insert, id)) {
            return refuse(reader, NC_ERR_NOT_REWINDABLE, "its source cannot be read a second time");
        }
        insert->was_pulled = true;
    }
    return STEP_ON;
}

static step read_content(nc_multipart_reader *reader, nc_transfer_id id, uint8_t *bytes, size_t room, size_t *count) {
    if (reader->begun <= reader->insert && begin_content(reader, id) != STEP_ON) {
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

static step read_on(nc_multipart_reader *reader, nc_transfer_id id, uint8_t *bytes, size_t room, size_t *count) {
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
        step taken = read_on(reader, id, bytes + at, capacity - at, &count);
        at += count;
        // The remaining space is too small for a read, which would also be unaligned to the file's pages.
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
            (void)refuse(reader, NC_ERR_NOT_REWINDABLE, "its source cannot be read a second time");
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
    reader->wants_file = false;
    (void)nc_error_clear(&reader->error);
    return true;
}
