#include "base/alloc.h"
#include "base/ascii.h"
#include "base/error.h"
#include "body/multipart_syntax.h"

#include <netcore/parts.h>
#include <string.h>

typedef enum parts_state {
    AT_TOP,
    IN_PREAMBLE,
    BEHIND_BOUNDARY,
    AT_SECOND_HYPHEN,
    IN_PADDING,
    AT_LF,
    IN_HEAD,
    IN_CONTENT,
    IN_LAST_PADDING,
    AT_LAST_LF,
    IN_EPILOGUE,
} parts_state;

struct nc_parts {
    nc_parts_options options;
    nc_parts_boundary boundary;
    const nc_parts_delimiter *delimiter; // the expected form, or the form found so far
    parts_state state;
    size_t matched; // matched bytes of the delimiter
    size_t emitted; // of these, the bytes that are not pending content: already delivered, or the previous line's CR LF
    size_t padding_bytes;
    uint64_t part_count;
    uint64_t taken_bytes; // consumed bytes of the body
    uint64_t start;       // offset of the current head or content
    uint64_t part_bytes;  // delivered bytes of content; in the preamble, dropped bytes
    size_t line_start;    // offset in `head` of the current line
    nc_buf head;
    nc_header *fields;
    nc_error failure;
};

/// The result of a step.
typedef enum step {
    STEP_CONTINUE, // continue with the next step
    STEP_EVENT,    // there is an event to return
    STEP_FAILED,   // an error
} step;

typedef struct parts_reading {
    nc_parts *parts;
    nc_slice in;
    nc_parts_event *event;
} parts_reading;

/* --- steps --- */

static void skip(parts_reading *at, size_t count) {
    at->in = nc_slice_make(at->in.data + count, at->in.length - count);
    at->parts->taken_bytes += count;
}

static step fail_at(parts_reading *at, nc_status status, uint64_t offset, const char *what) {
    nc_parts *parts = at->parts;
    (void)nc_error_set(&parts->failure, status, 0, (int64_t)offset, "%s at byte %llu of the multipart body", what,
                       (unsigned long long)offset);
    return STEP_FAILED;
}

static step refuse(parts_reading *at, const char *what) {
    return fail_at(at, NC_ERR_BAD_RESPONSE, at->parts->taken_bytes, what);
}

static step expect(parts_reading *at, uint8_t byte, parts_state next, const char *otherwise) {
    if (at->in.data[0] != byte) {
        return refuse(at, otherwise);
    }
    skip(at, 1);
    at->parts->state = next;
    return STEP_CONTINUE;
}

static step emit(parts_reading *at, nc_parts_kind kind) {
    at->event->kind = kind;
    return STEP_EVENT;
}

/// Handles bytes that do not belong to a boundary: emits them as content, or drops them in the preamble.
static step emit_or_drop(parts_reading *at, nc_slice bytes) {
    nc_parts *parts = at->parts;
    if (parts->state == IN_PREAMBLE) {
        parts->part_bytes += bytes.length;
        return parts->part_bytes > NC_PARTS_MAX_PREAMBLE_BYTES
                   ? fail_at(at, NC_ERR_TOO_LARGE, NC_PARTS_MAX_PREAMBLE_BYTES, "no boundary found")
                   : STEP_CONTINUE;
    }
    parts->part_bytes += bytes.length;
    at->event->bytes = bytes;
    return emit(at, NC_PARTS_CONTENT);
}

/// Returns how many of `count` bytes the limit of the part allows; 0 if it is reached. The preamble has its own limit.
static size_t room_for(const nc_parts *parts, size_t count) {
    uint64_t room = parts->options.max_part_bytes - parts->part_bytes;
    return parts->state == IN_PREAMBLE || count < room ? count : (size_t)room;
}

static step fail_full(parts_reading *at) {
    nc_parts *parts = at->parts;
    return fail_at(at, NC_ERR_TOO_LARGE, parts->start + parts->options.max_part_bytes, "a part exceeds its size limit");
}

/// Returns true if `byte` is the next byte of the boundary.
static bool matches(nc_parts *parts, uint8_t byte) {
    if (parts->boundary.is_lenient && parts->matched == 0 && byte == '\n') {
        // The line ends without CR: the match starts at the LF.
        parts->matched = parts->emitted = 1;
    }
    if (parts->boundary.shared > 0 && parts->matched == parts->boundary.shared) {
        parts->delimiter = byte == '-' ? &parts->boundary.full : &parts->boundary.brief;
    }
    return byte == parts->delimiter->bytes[parts->matched];
}

static step meet_boundary(parts_reading *at) {
    nc_parts *parts = at->parts;
    bool is_part = parts->state == IN_CONTENT;
    parts->matched = parts->emitted = 0;
    parts->state = BEHIND_BOUNDARY;
    // From now on only the form of the first boundary is accepted, so that two readers cannot see different parts.
    parts->boundary.shared = parts->boundary.is_lenient ? parts->boundary.shared : 0;
    return is_part ? emit(at, NC_PARTS_PART_END) : STEP_CONTINUE;
}

/// Continues to match a boundary. If the match fails, the bytes matched so far are content. Only the first two bytes of
/// a boundary are CR and LF, so another boundary cannot begin within them.
static step continue_matching(parts_reading *at) {
    nc_parts *parts = at->parts;
    while (at->in.length > 0 && matches(parts, at->in.data[0])) {
        skip(at, 1);
        if (++parts->matched == parts->delimiter->length) {
            return meet_boundary(at);
        }
    }
    if (at->in.length == 0) {
        return STEP_CONTINUE;
    }
    size_t held = parts->matched - parts->emitted;
    size_t count = room_for(parts, held);
    if (count == 0 && held > 0) {
        return fail_full(at);
    }
    nc_slice bytes = nc_slice_make(parts->delimiter->bytes + parts->emitted, count);
    parts->emitted += count;
    if (parts->emitted == parts->matched) {
        parts->matched = parts->emitted = 0;
    }
    return count == 0 ? STEP_CONTINUE : emit_or_drop(at, bytes);
}

/// Returns the bytes to search for: the common start of all accepted forms of the boundary, without the CR if that is
/// optional.
static nc_slice needle_of(const nc_parts *parts) {
    size_t length = parts->boundary.shared > 0 ? parts->boundary.shared : parts->delimiter->length;
    size_t first = parts->boundary.is_lenient ? 1 : 0;
    return nc_slice_make(parts->delimiter->bytes + first, length - first);
}

/// Returns the number of bytes at the end of `text` that may be the start of `needle`.
static size_t partial_match_length(nc_slice needle, nc_slice text) {
    size_t longest = text.length < needle.length - 1 ? text.length : needle.length - 1;
    for (size_t count = longest; count > 0; count--) {
        if (memcmp(text.data + text.length - count, needle.data, count) == 0) {
            return count;
        }
    }
    return 0;
}

/// Returns the number of bytes at the start of `text` that cannot belong to a boundary.
static size_t bytes_before_boundary(const nc_parts *parts, nc_slice text) {
    nc_slice needle = needle_of(parts);
    const uint8_t *found = memmem(text.data, text.length, needle.data, needle.length);
    size_t count = found != NULL ? (size_t)(found - text.data) : text.length - partial_match_length(needle, text);
    bool has_return = parts->boundary.is_lenient && count > 0 && text.data[count - 1] == '\r';
    return has_return ? count - 1 : count;
}

static step take_content(parts_reading *at) {
    nc_parts *parts = at->parts;
    if (parts->matched > 0) {
        return continue_matching(at);
    }
    size_t count = bytes_before_boundary(parts, at->in);
    if (count == 0) {
        return continue_matching(at);
    }
    size_t fits = room_for(parts, count);
    if (fits == 0) {
        return fail_full(at);
    }
    nc_slice bytes = nc_slice_make(at->in.data, fits);
    skip(at, fits);
    return emit_or_drop(at, bytes);
}

static step take_blanks(parts_reading *at, parts_state at_end, const char *otherwise) {
    nc_parts *parts = at->parts;
    uint8_t byte = at->in.data[0];
    if ((byte == ' ' || byte == '\t') && parts->padding_bytes < NC_PARTS_MAX_PADDING_BYTES) {
        parts->padding_bytes++;
        skip(at, 1);
        return STEP_CONTINUE;
    }
    if (parts->boundary.is_lenient && byte == '\n') {
        parts->state = at_end;
        return STEP_CONTINUE;
    }
    return expect(at, '\r', at_end, otherwise);
}

static step count_part(parts_reading *at) {
    nc_parts *parts = at->parts;
    if (parts->part_count == parts->options.max_parts) {
        return fail_at(at, NC_ERR_TOO_LARGE, parts->taken_bytes, "there are more parts than the limit");
    }
    parts->part_count++;
    return STEP_CONTINUE;
}

static void begin_head(nc_parts *parts) {
    nc_buf_reset(&parts->head);
    parts->line_start = 0;
    parts->start = parts->taken_bytes;
}

static step begin_part(parts_reading *at) {
    if (at->in.data[0] != '\n') {
        return refuse(at, "the boundary line does not end with CR LF");
    }
    if (count_part(at) == STEP_FAILED) {
        return STEP_FAILED;
    }
    skip(at, 1);
    begin_head(at->parts);
    at->parts->state = IN_HEAD;
    return STEP_CONTINUE;
}

/// Parses the complete head of a part and emits it.
static step end_head(parts_reading *at) {
    nc_parts *parts = at->parts;
    size_t count = 0;
    nc_parts_fault fault = nc_parts_head_read(parts->head.data, parts->head.length, parts->fields, &count);
    if (fault.status != NC_OK) {
        return fail_at(at, fault.status, parts->start + fault.at, fault.what);
    }
    at->event->fields = parts->fields;
    at->event->field_count = count;
    parts->state = IN_CONTENT;
    parts->start = parts->taken_bytes;
    parts->part_bytes = 0;
    // The CR LF of the empty line may already be the start of the next boundary: a part without content (RFC 2046,
    // 5.1.1).
    parts->matched = parts->emitted = NC_PARTS_LINE_END_BYTES;
    return emit(at, NC_PARTS_HEAD);
}

/// Inserts a missing CR before the LF of a line, if the body is parsed leniently.
static void complete_line(nc_parts *parts) {
    size_t length = parts->head.length;
    bool has_return = length >= parts->line_start + 2 && parts->head.data[length - 2] == '\r';
    if (parts->boundary.is_lenient && !has_return) {
        parts->head.length--;
        nc_buf_append(&parts->head, nc_slice_of("\r\n"));
    }
}

/// Appends input up to the next LF to the head. Sets `*line` to the line if it is complete; otherwise it is empty.
static step take_line(parts_reading *at, nc_slice *line) {
    nc_parts *parts = at->parts;
    const uint8_t *end = memchr(at->in.data, '\n', at->in.length);
    size_t count = end != NULL ? (size_t)(end - at->in.data) + 1 : at->in.length;
    *line = nc_slice_make(NULL, 0);
    if (count > parts->options.max_head_bytes || parts->head.length > parts->options.max_head_bytes - count) {
        return fail_at(at, NC_ERR_HEAD_TOO_LARGE, parts->start + parts->options.max_head_bytes,
                       "the header fields of a part exceed their size limit");
    }
    nc_buf_append(&parts->head, nc_slice_make(at->in.data, count));
    if (end != NULL && nc_buf_status(&parts->head) == NC_OK) {
        complete_line(parts);
    }
    if (nc_buf_status(&parts->head) != NC_OK) {
        return fail_at(at, NC_ERR_NO_MEMORY, parts->taken_bytes, "no memory for the header fields of a part");
    }
    skip(at, count);
    if (end != NULL) {
        *line = nc_slice_make(parts->head.data + parts->line_start, parts->head.length - parts->line_start);
        parts->line_start = parts->head.length;
    }
    return STEP_CONTINUE;
}

static step take_head(parts_reading *at) {
    nc_parts *parts = at->parts;
    nc_slice line;
    if (take_line(at, &line) == STEP_FAILED) {
        return STEP_FAILED;
    }
    if (line.length == 0) {
        return STEP_CONTINUE;
    }
    size_t wrong = nc_parts_line_check(line);
    if (wrong < line.length) {
        return fail_at(at, NC_ERR_BAD_RESPONSE, parts->start + (uint64_t)(line.data - parts->head.data) + wrong,
                       "a forbidden byte in the header fields of a part");
    }
    return line.length == 2 ? end_head(at) : STEP_CONTINUE;
}

/// The input so far was not the head of a part. Drops it as preamble and searches for a boundary.
static step begin_preamble(parts_reading *at, bool is_at_line_start) {
    nc_parts *parts = at->parts;
    parts->part_bytes = parts->head.length;
    parts->state = IN_PREAMBLE;
    parts->matched = parts->emitted = is_at_line_start ? NC_PARTS_LINE_END_BYTES : 0;
    return STEP_CONTINUE;
}

/// Handles the start of a multipart/x-mixed-replace body. Some servers send the fields of the first part without a
/// boundary before them; browsers accept that.
static step take_leading_head(parts_reading *at) {
    nc_parts *parts = at->parts;
    size_t room = parts->options.max_head_bytes - parts->head.length;
    const uint8_t *end = memchr(at->in.data, '\n', at->in.length);
    size_t count = end != NULL ? (size_t)(end - at->in.data) + 1 : at->in.length;
    bool is_at_line_start = parts->head.length == parts->line_start;
    if ((is_at_line_start && at->in.data[0] == '-') || count >= room) {
        return begin_preamble(at, is_at_line_start);
    }
    nc_slice line;
    if (take_line(at, &line) == STEP_FAILED) {
        return STEP_FAILED;
    }
    if (line.length == 0) {
        return STEP_CONTINUE;
    }
    bool is_first = line.data == parts->head.data;
    if (line.length == 2 && is_first) {
        begin_head(parts);
        return STEP_CONTINUE;
    }
    if (nc_parts_line_check(line) < line.length || (line.length > 2 && !nc_parts_line_is_field(line, is_first))) {
        return begin_preamble(at, true);
    }
    if (line.length > 2) {
        return STEP_CONTINUE;
    }
    if (!nc_parts_head_describes(nc_buf_slice(&parts->head))) {
        return begin_preamble(at, true);
    }
    return count_part(at) == STEP_FAILED ? STEP_FAILED : end_head(at);
}

static step end_parts(parts_reading *at) {
    nc_parts *parts = at->parts;
    if (parts->part_count == 0) {
        return refuse(at, "the body has no parts: its first boundary is the closing one");
    }
    if (at->in.data[0] != '-') {
        return refuse(at, "unexpected bytes after a boundary");
    }
    skip(at, 1);
    parts->padding_bytes = 0;
    parts->state = IN_LAST_PADDING;
    return emit(at, NC_PARTS_END);
}

static step take_step(parts_reading *at) {
    static const char *const message = "unexpected bytes after a boundary";
    nc_parts *parts = at->parts;
    switch (parts->state) {
    case AT_TOP:
        return take_leading_head(at);
    case BEHIND_BOUNDARY:
        parts->padding_bytes = 0;
        parts->state = at->in.data[0] == '-' ? AT_SECOND_HYPHEN : IN_PADDING;
        if (parts->state == AT_SECOND_HYPHEN) {
            skip(at, 1);
        }
        return STEP_CONTINUE;
    case AT_SECOND_HYPHEN:
        return end_parts(at);
    case IN_PADDING:
        return take_blanks(at, AT_LF, message);
    case AT_LF:
        return begin_part(at);
    case IN_HEAD:
        return take_head(at);
    case IN_LAST_PADDING:
        return take_blanks(at, AT_LAST_LF, message);
    case AT_LAST_LF:
        return expect(at, '\n', IN_EPILOGUE, "the boundary line does not end with CR LF");
    case IN_EPILOGUE:
        skip(at, at->in.length);
        return STEP_CONTINUE;
    default:
        return take_content(at);
    }
}

/* --- public functions --- */

nc_status nc_parts_new(nc_parts **out, nc_slice content_type, const nc_parts_options *options, nc_error *err) {
    nc_parts_boundary boundary;
    nc_status status = nc_parts_boundary_read(&boundary, content_type, err);
    if (status != NC_OK) {
        return status;
    }
    nc_parts *parts = nc_alloc_zeroed(1, sizeof *parts);
    nc_header *fields = nc_alloc_zeroed(NC_PARTS_MAX_FIELDS, sizeof *fields);
    if (parts == NULL || fields == NULL) {
        nc_free(parts);
        nc_free(fields);
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory to read a multipart body");
    }
    parts->options = options != NULL ? *options : (nc_parts_options){0};
    parts->options.max_parts = parts->options.max_parts > 0 ? parts->options.max_parts : NC_PARTS_DEFAULT_MAX_PARTS;
    parts->options.max_part_bytes =
        parts->options.max_part_bytes > 0 ? parts->options.max_part_bytes : NC_PARTS_DEFAULT_MAX_PART_BYTES;
    parts->options.max_head_bytes =
        parts->options.max_head_bytes > 0 ? parts->options.max_head_bytes : NC_PARTS_DEFAULT_MAX_HEAD_BYTES;
    parts->boundary = boundary;
    parts->delimiter = &parts->boundary.full;
    parts->state = boundary.is_lenient ? AT_TOP : IN_PREAMBLE;
    // The body may begin with a boundary, without CR LF before it.
    parts->matched = parts->emitted = NC_PARTS_LINE_END_BYTES;
    // One more byte, for a CR that complete_line() may insert.
    parts->head = nc_buf_init(parts->options.max_head_bytes < SIZE_MAX ? parts->options.max_head_bytes + 1 : SIZE_MAX);
    parts->fields = fields;
    *out = parts;
    return nc_error_clear(err);
}

void nc_parts_free(nc_parts *parts) {
    if (parts == NULL) {
        return;
    }
    nc_buf_deinit(&parts->head);
    nc_free(parts->fields);
    nc_free(parts);
}

static nc_status fail_again(const nc_parts *parts, nc_error *err) {
    if (err != NULL) {
        *err = parts->failure;
    }
    return parts->failure.status;
}

nc_status nc_parts_next(nc_parts *parts, nc_slice *in, nc_parts_event *event, nc_error *err) {
    if (parts->failure.status != NC_OK) {
        return fail_again(parts, err);
    }
    nc_parts_event next_event = {.kind = NC_PARTS_NEEDS_MORE};
    parts_reading at = {parts, *in, &next_event};
    step taken = STEP_CONTINUE;
    while (taken == STEP_CONTINUE && at.in.length > 0) {
        taken = take_step(&at);
    }
    *in = at.in;
    if (taken == STEP_FAILED) {
        return fail_again(parts, err);
    }
    *event = next_event;
    return nc_error_clear(err);
}

nc_status nc_parts_finish(const nc_parts *parts, nc_error *err) {
    if (parts->failure.status != NC_OK) {
        return fail_again(parts, err);
    }
    if (parts->state < IN_LAST_PADDING) {
        return nc_error_set(err, NC_ERR_CUT_SHORT, 0, (int64_t)parts->taken_bytes,
                            "the multipart body is incomplete: it ended at byte %llu, before the closing boundary",
                            (unsigned long long)parts->taken_bytes);
    }
    return nc_error_clear(err);
}
