#include "body/chunked.h"

#include "base/ascii.h"
#include "base/error.h"

#include <string.h>

enum { MAX_DIGITS = 16 };

/// The result of a step.
typedef enum step {
    STEP_CONTINUE, // continue with the next step
    STEP_EVENT,    // there is an event to return
    STEP_FAILED,   // an error
} step;

typedef struct chunked_reading {
    nc_chunked *chunked;
    nc_slice in;
    nc_chunked_event *event;
    nc_error *err;
} chunked_reading;

static void skip(chunked_reading *at, size_t count) {
    at->in = nc_slice_make(at->in.data + count, at->in.length - count);
    at->chunked->taken_bytes += count;
}

static step fail(chunked_reading *at, nc_status status, const char *what) {
    at->chunked->failure = nc_error_set(at->err, status, 0, (int64_t)at->chunked->taken_bytes, "%s at byte %llu", what,
                                        (unsigned long long)at->chunked->taken_bytes);
    return STEP_FAILED;
}

static step refuse(chunked_reading *at, const char *what) {
    return fail(at, NC_ERR_BAD_RESPONSE, what);
}

/// Consumes one byte and changes to the state `next`. If the byte is not `byte`, fails with the message `otherwise`.
static step expect(chunked_reading *at, uint8_t byte, nc_chunked_state next, const char *otherwise) {
    if (at->in.data[0] != byte) {
        return refuse(at, otherwise);
    }
    skip(at, 1);
    at->chunked->state = next;
    return STEP_CONTINUE;
}

static step take_size(chunked_reading *at) {
    nc_chunked *chunked = at->chunked;
    while (at->in.length > 0) {
        int value = nc_ascii_hex(at->in.data[0]);
        if (value < 0) {
            break;
        }
        if (chunked->digits == MAX_DIGITS || chunked->left > INT64_MAX >> 4) {
            return refuse(at, "the size of a chunk exceeds 64 bits");
        }
        chunked->left = chunked->left << 4 | (uint64_t)value;
        chunked->digits++;
        skip(at, 1);
    }
    if (at->in.length == 0) {
        return STEP_CONTINUE;
    }
    if (chunked->digits == 0) {
        return refuse(at, "a chunk without a size");
    }
    chunked->state = NC_CHUNKED_BEHIND_SIZE;
    return STEP_CONTINUE;
}

/// Skips one byte of extensions or padding, if the allowance permits it.
static step skip_allowed(chunked_reading *at) {
    nc_chunked *chunked = at->chunked;
    if (chunked->allowance == 0) {
        return refuse(at, "the chunk extensions are too large for the size of the content");
    }
    chunked->allowance--;
    skip(at, 1);
    return STEP_CONTINUE;
}

/// Skips blanks behind a size: servers that reserve space for the size pad it.
static step take_blanks(chunked_reading *at) {
    uint8_t byte = at->in.data[0];
    if (byte == ' ' || byte == '\t') {
        return skip_allowed(at);
    }
    if (byte == '\r') {
        return expect(at, '\r', NC_CHUNKED_AT_SIZE_LF, "");
    }
    at->chunked->state = NC_CHUNKED_IN_EXTENSION;
    return byte == ';' ? skip_allowed(at) : refuse(at, "the size of a chunk is not a hexadecimal number");
}

/// Skips an extension. A recipient must ignore extensions that it does not know (RFC 9112, 7.1.1).
static step take_extension(chunked_reading *at) {
    uint8_t byte = at->in.data[0];
    if (byte == '\r') {
        return expect(at, '\r', NC_CHUNKED_AT_SIZE_LF, "");
    }
    bool is_control = (byte < ' ' && byte != '\t') || byte == 0x7f;
    return is_control ? refuse(at, "a control character in a chunk extension") : skip_allowed(at);
}

static step take_content(chunked_reading *at) {
    nc_chunked *chunked = at->chunked;
    size_t count = at->in.length < chunked->left ? at->in.length : (size_t)chunked->left;
    *at->event = (nc_chunked_event){NC_CHUNKED_CONTENT, nc_slice_make(at->in.data, count)};
    chunked->left -= count;
    // Each byte of content allows one more byte of extensions, up to the limit.
    uint32_t remaining_allowance = NC_CHUNKED_EXTENSION_MAX_BYTES - chunked->allowance;
    chunked->allowance += count < remaining_allowance ? (uint32_t)count : remaining_allowance;
    chunked->state = chunked->left == 0 ? NC_CHUNKED_AT_CONTENT_CR : NC_CHUNKED_IN_CONTENT;
    skip(at, count);
    return STEP_EVENT;
}

/// Returns the offset of the first invalid byte of a line that ends with LF; the line's length if there is none.
/// Invalid are a NUL, a CR that no LF follows, and an LF that no CR precedes.
static size_t find_wrong(nc_slice line) {
    size_t last = line.length - 1;
    for (size_t i = 0; i < last; i++) {
        if (line.data[i] == '\0' || (line.data[i] == '\r' && i + 1 != last)) {
            return i;
        }
    }
    return last > 0 && line.data[last - 1] == '\r' ? line.length : last;
}

/// Handles a complete line of the trailer section. An empty line ends the body.
static step end_line(chunked_reading *at, nc_slice line) {
    nc_chunked *chunked = at->chunked;
    size_t wrong = find_wrong(line);
    if (wrong < line.length) {
        chunked->taken_bytes -= line.length - wrong;
        return refuse(at, "a line of the trailer does not end with CR LF");
    }
    bool is_last = line.length == 2;
    chunked->state = is_last ? NC_CHUNKED_IS_OVER : NC_CHUNKED_IN_TRAILER;
    *at->event = (nc_chunked_event){is_last ? NC_CHUNKED_END : NC_CHUNKED_TRAILER, line};
    return STEP_EVENT;
}

static step take_trailer(chunked_reading *at) {
    nc_chunked *chunked = at->chunked;
    const uint8_t *end = memchr(at->in.data, '\n', at->in.length);
    nc_slice piece = nc_slice_make(at->in.data, end != NULL ? (size_t)(end - at->in.data) + 1 : at->in.length);
    size_t room = NC_CHUNKED_LINE_MAX_BYTES - chunked->line.length;
    if (piece.length > room) {
        skip(at, room);
        return fail(at, NC_ERR_HEAD_TOO_LARGE, "a line of the trailer is too long");
    }
    skip(at, piece.length);
    if (end != NULL && chunked->line.length == 0) {
        return end_line(at, piece);
    }
    nc_buf_append(&chunked->line, piece);
    if (nc_buf_status(&chunked->line) != NC_OK) {
        return fail(at, NC_ERR_NO_MEMORY, "no memory for a trailer");
    }
    return end != NULL ? end_line(at, nc_buf_slice(&chunked->line)) : STEP_CONTINUE;
}

static step take_step(chunked_reading *at) {
    switch (at->chunked->state) {
    case NC_CHUNKED_IN_SIZE:
        return take_size(at);
    case NC_CHUNKED_BEHIND_SIZE:
        return take_blanks(at);
    case NC_CHUNKED_IN_EXTENSION:
        return take_extension(at);
    case NC_CHUNKED_AT_SIZE_LF:
        return expect(at, '\n', at->chunked->left == 0 ? NC_CHUNKED_IN_TRAILER : NC_CHUNKED_IN_CONTENT,
                      "the line with a chunk's size does not end with CR LF");
    case NC_CHUNKED_IN_CONTENT:
        return take_content(at);
    case NC_CHUNKED_AT_CONTENT_CR:
        return expect(at, '\r', NC_CHUNKED_AT_CONTENT_LF, "CR LF is missing after a chunk's content");
    case NC_CHUNKED_AT_CONTENT_LF:
        at->chunked->digits = 0;
        return expect(at, '\n', NC_CHUNKED_IN_SIZE, "CR LF is missing after a chunk's content");
    default:
        return take_trailer(at);
    }
}

/* --- public functions --- */

nc_chunked nc_chunked_init(void) {
    return (nc_chunked){
        .allowance = NC_CHUNKED_EXTENSION_MAX_BYTES,
        .line = nc_buf_init(NC_CHUNKED_LINE_MAX_BYTES),
        .failure = NC_OK,
    };
}

void nc_chunked_deinit(nc_chunked *chunked) {
    nc_buf_deinit(&chunked->line);
}

nc_status nc_chunked_next(nc_chunked *chunked, nc_slice *in, nc_chunked_event *event, nc_error *err) {
    chunked_reading at = {chunked, *in, event, err};
    if (chunked->failure != NC_OK) {
        return nc_error_set(err, chunked->failure, 0, (int64_t)chunked->taken_bytes,
                            "the chunked body is invalid at byte %llu", (unsigned long long)chunked->taken_bytes);
    }
    if (chunked->state == NC_CHUNKED_IS_OVER) {
        *event = (nc_chunked_event){.kind = NC_CHUNKED_END};
        return nc_error_clear(err);
    }
    if (chunked->line.length > 0 && chunked->line.data[chunked->line.length - 1] == '\n') {
        nc_buf_reset(&chunked->line); // the last call returned it; it is no longer borrowed
    }
    *event = (nc_chunked_event){.kind = NC_CHUNKED_NEEDS_MORE};
    step taken = STEP_CONTINUE;
    while (taken == STEP_CONTINUE && at.in.length > 0) {
        taken = take_step(&at);
    }
    *in = at.in;
    return taken == STEP_FAILED ? chunked->failure : nc_error_clear(err);
}
