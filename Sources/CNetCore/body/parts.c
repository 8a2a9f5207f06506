#include "base/alloc.h"
#include "base/ascii.h"
#include "base/error.h"
#include "body/parts_boundary.h"
#include "body/parts_head.h"

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
    size_t given;   // of these, bytes that are no content: delivered, or the CR LF of the previous line
    size_t padding_bytes;
    uint64_t part_count;
    uint64_t taken_bytes; // of the body
    uint64_t start;       // of the head, or of the content
    uint64_t part_bytes;  // delivered content; in the preamble, dropped bytes
    size_t line_start;    // in `head`
    nc_buf head;
    nc_header *fields;
    nc_error failure;
};

/// The result of a step.
typedef enum step {
    STEP_ON,    // the state has changed
    STEP_EVENT, // there is an event to return
    STEP_ENDED, // an error
} step;

typedef struct reading {
    nc_parts *parts;
    nc_slice in;
    nc_parts_event *event;
} reading;

/* --- steps --- */

static void skip(reading *at, size_t count) {
    at->in = nc_slice_make(at->in.data + count, at->in.length - count);
    at->parts->taken_bytes += count;
}

static step fail_at(reading *at, nc_status status, uint64_t offset, const char *what) {
    nc_parts *parts = at->parts;
    (void)nc_error_set(&parts->failure, status, 0, (int64_t)offset, "%s at byte %llu of the parts", what,
                       (unsigned long long)offset);
    return STEP_ENDED;
}

static step refuse(reading *at, const char *what) {
    return fail_at(at, NC_ERR_BAD_RESPONSE, at->parts->taken_bytes, what);
}

static step expect(reading *at, uint8_t byte, parts_state next, const char *otherwise) {
    if (at->in.data[0] != byte) {
        return refuse(at, otherwise);
    }
    skip(at, 1);
    at->parts->state = next;
    return STEP_ON;
}

static step give(reading *at, nc_parts_kind kind) {
    at->event->kind = kind;
    return STEP_EVENT;
}

/// Handles bytes that are no boundary: content, or dropped in the preamble.
static step pass_on(reading *at, nc_slice bytes) {
    nc_parts *parts = at->parts;
    if (parts->state == IN_PREAMBLE) {
        parts->part_bytes += bytes.length;
        return parts->part_bytes > NC_PARTS_MAX_PREAMBLE_BYTES
                   ? fail_at(at, NC_ERR_TOO_LARGE, NC_PARTS_MAX_PREAMBLE_BYTES, "no boundary until")
                   : STEP_ON;
    }
    parts->part_bytes += bytes.length;
    at->event->bytes = bytes;
    return give(at, NC_PARTS_CONTENT);
}

/// Returns the number of bytes that fit into the part; 0 once it is full. The preamble is limited separately.
static size_t room_for(const nc_parts *parts, size_t count) {
    uint64_t room = parts->options.max_part_bytes - parts->part_bytes;
    return parts->state == IN_PREAMBLE || count < room ? count : (size_t)room;
}

static step fail_full(reading *at) {
    nc_parts *parts = at->parts;
    return fail_at(at, NC_ERR_TOO_LARGE, parts->start + parts->options.max_part_bytes,
                   "a part is larger than its limit");
}

/// Returns true if `byte` continues the boundary.
static bool matches(nc_parts *parts, uint8_t byte) {
    if (parts->boundary.is_lenient && parts->matched == 0 && byte == '\n') {
        // A line without CR: only the LF is held back.
        parts->matched = parts->given = 1;
    }
    if (parts->boundary.shared > 0 && parts->matched == parts->boundary.shared) {
        parts->delimiter = byte == '-' ? &parts->boundary.full : &parts->boundary.brief;
    }
    return byte == parts->delimiter->bytes[parts->matched];
}

static step meet_boundary(reading *at) {
    nc_parts *parts = at->parts;
    bool is_part = parts->state == IN_CONTENT;
    parts->matched = parts->given = 0;
    parts->state = BEHIND_BOUNDARY;
    // The first boundary determines the form, so that two readers never see different parts.
    parts->boundary.shared = parts->boundary.is_lenient ? parts->boundary.shared : 0;
    return is_part ? give(at, NC_PARTS_PART_END) : STEP_ON;
}

/// Continues a partly matched boundary. Only its first two bytes can be CR and LF, so a failed match contains no other
/// start.
static step go_on_matching(reading *at) {
    nc_parts *parts = at->parts;
    while (at->in.length > 0 && matches(parts, at->in.data[0])) {
        skip(at, 1);
        if (++parts->matched == parts->delimiter->length) {
            return meet_boundary(at);
        }
    }
    if (at->in.length == 0) {
        return STEP_ON;
    }
    size_t held = parts->matched - parts->given;
    size_t count = room_for(parts, held);
    if (count == 0 && held > 0) {
        return fail_full(at);
    }
    nc_slice bytes = nc_slice_make(parts->delimiter->bytes + parts->given, count);
    parts->given += count;
    if (parts->given == parts->matched) {
        parts->matched = parts->given = 0;
    }
    return count == 0 ? STEP_ON : pass_on(at, bytes);
}

/// Returns the common start of all forms of the boundary, without the CR where it is optional.
static nc_slice needle_of(const nc_parts *parts) {
    size_t length = parts->boundary.shared > 0 ? parts->boundary.shared : parts->delimiter->length;
    size_t first = parts->boundary.is_lenient ? 1 : 0;
    return nc_slice_make(parts->delimiter->bytes + first, length - first);
}

/// Returns the number of bytes at the end of `text` that may begin `needle`.
static size_t tail_of(nc_slice needle, nc_slice text) {
    size_t most = text.length < needle.length - 1 ? text.length : needle.length - 1;
    for (size_t count = most; count > 0; count--) {
        if (memcmp(text.data + text.length - count, needle.data, count) == 0) {
            return count;
        }
    }
    return 0;
}

/// Returns the number of bytes that are certainly before the next boundary.
static size_t bytes_before_boundary(const nc_parts *parts, nc_slice text) {
    nc_slice needle = needle_of(parts);
    const uint8_t *found = memmem(text.data, text.length, needle.data, needle.length);
    size_t count = found != NULL ? (size_t)(found - text.data) : text.length - tail_of(needle, text);
    bool has_return = parts->boundary.is_lenient && count > 0 && text.data[count - 1] == '\r';
    return has_return ? count - 1 : count;
}

static step take_content(reading *at) {
    nc_parts *parts = at->parts;
    if (parts->matched > 0) {
        return go_on_matching(at);
    }
    size_t count = bytes_before_boundary(parts, at->in);
    if (count == 0) {
        return go_on_matching(at);
    }
    size_t fits = room_for(parts, count);
    if (fits == 0) {
        return fail_full(at);
    }
    nc_slice bytes = nc_slice_make(at->in.data, fits);
    skip(at, fits);
    return pass_on(at, bytes);
}

static step take_blanks(reading *at, parts_state at_end, const char *otherwise) {
    nc_parts *parts = at->parts;
    uint8_t byte = at->in.data[0];
    if ((byte == ' ' || byte == '\t') && parts->padding_bytes < NC_PARTS_MAX_PADDING_BYTES) {
        parts->padding_bytes++;
        skip(at, 1);
        return STEP_ON;
    }
    if (parts->boundary.is_lenient && byte == '\n') {
        parts->state = at_end;
        return STEP_ON;
    }
    return expect(at, '\r', at_end, otherwise);
}

static step count_part(reading *at) {
    nc_parts *parts = at->parts;
    if (parts->part_count == parts->options.max_parts) {
        return fail_at(at, NC_ERR_TOO_LARGE, parts->taken_bytes, "there are more parts than may be");
    }
    parts->part_count++;
    return STEP_ON;
}

static void begin_head(nc_parts *parts) {
    nc_buf_reset(&parts->head);
    parts->line_start = 0;
    parts->start = parts->taken_bytes;
}

static step begin_part(reading *at) {
    if (at->in.data[0] != '\n') {
        return refuse(at, "the line of a boundary does not end with CR LF");
    }
    if (count_part(at) == STEP_ENDED) {
        return STEP_ENDED;
    }
    skip(at, 1);
    begin_head(at->parts);
    at->parts->state = IN_HEAD;
    return STEP_ON;
}

/// Handles a complete head.
static step end_head(reading *at) {
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
    // The empty line's CR LF may belong to a boundary: a part without content (RFC 2046, 5.1.1).
    parts->matched = parts->given = NC_PARTS_LINE_END_BYTES;
    return give(at, NC_PARTS_HEAD);
}

/// Adds the missing CR of a line, if that is allowed.
static void complete_line(nc_parts *parts) {
    size_t length = parts->head.length;
    bool has_return = length >= parts->line_start + 2 && parts->head.data[length - 2] == '\r';
    if (parts->boundary.is_lenient && !has_return) {
        parts->head.length--;
        nc_buf_append(&parts->head, nc_slice_of("\r\n"));
    }
}

/// Appends input up to the end of a line to the head. `*line` is the complete line, or empty.
static step take_line(reading *at, nc_slice *line) {
    nc_parts *parts = at->parts;
    const uint8_t *end = memchr(at->in.data, '\n', at->in.length);
    size_t count = end != NULL ? (size_t)(end - at->in.data) + 1 : at->in.length;
    *line = nc_slice_make(NULL, 0);
    if (count > parts->options.max_head_bytes || parts->head.length > parts->options.max_head_bytes - count) {
        return fail_at(at, NC_ERR_HEAD_TOO_LARGE, parts->start + parts->options.max_head_bytes,
                       "the fields of a part are larger than their limit");
    }
    nc_buf_append(&parts->head, nc_slice_make(at->in.data, count));
    if (end != NULL && nc_buf_status(&parts->head) == NC_OK) {
        complete_line(parts);
    }
    if (nc_buf_status(&parts->head) != NC_OK) {
        return fail_at(at, NC_ERR_NO_MEMORY, parts->taken_bytes, "no memory for the fields of a part");
    }
    skip(at, count);
    if (end != NULL) {
        *line = nc_slice_make(parts->head.data + parts->line_start, parts->head.length - parts->line_start);
        parts->line_start = parts->head.length;
    }
    return STEP_ON;
}

static step take_head(reading *at) {
    nc_parts *parts = at->parts;
    nc_slice line;
    if (take_line(at, &line) == STEP_ENDED) {
        return STEP_ENDED;
    }
    if (line.length == 0) {
        return STEP_ON;
    }
    size_t wrong = nc_parts_line_check(line);
    if (wrong < line.length) {
        return fail_at(at, NC_ERR_BAD_RESPONSE, parts->start + (uint64_t)(line.data - parts->head.data) + wrong,
                       "a forbidden byte in the fields of a part");
    }
    return line.length == 2 ? end_head(at) : STEP_ON;
}

/// The input was no part: drops it and searches for a boundary.
static step begin_preamble(reading *at, bool is_at_line_start) {
    nc_parts *parts = at->parts;
    parts->part_bytes = parts->head.length;
    parts->state = IN_PREAMBLE;
    parts->matched = parts->given = is_at_line_start ? NC_PARTS_LINE_END_BYTES : 0;
    return STEP_ON;
}

/// The start of a stream of pictures. Some servers send the first part's fields without a boundary before them, and
/// browsers accept that as a part.
static step take_top(reading *at) {
    nc_parts *parts = at->parts;
    size_t room = parts->options.max_head_bytes - parts->head.length;
    const uint8_t *end = memchr(at->in.data, '\n', at->in.length);
    size_t count = end != NULL ? (size_t)(end - at->in.data) + 1 : at->in.length;
    bool is_at_line_start = parts->head.length == parts->line_start;
    if ((is_at_line_start && at->in.data[0] == '-') || count >= room) {
        return begin_preamble(at, is_at_line_start);
    }
    nc_slice line;
    if (take_line(at, &line) == STEP_ENDED) {
        return STEP_ENDED;
    }
    if (line.length == 0) {
        return STEP_ON;
    }
    bool is_first = line.data == parts->head.data;
    if (line.length == 2 && is_first) {
        begin_head(parts);
        return STEP_ON;
    }
    if (nc_parts_line_check(line) < line.length || (line.length > 2 && !nc_parts_line_is_field(line, is_first))) {
        return begin_preamble(at, true);
    }
    if (line.length > 2) {
        return STEP_ON;
    }
    if (!nc_parts_head_describes(nc_buf_slice(&parts->head))) {
        return begin_preamble(at, true);
    }
    return count_part(at) == STEP_ENDED ? STEP_ENDED : end_head(at);
}

static step end_parts(reading *at) {
    nc_parts *parts = at->parts;
    if (parts->part_count == 0) {
        return refuse(at, "the last boundary is the first one");
    }
    if (at->in.data[0] != '-') {
        return refuse(at, "a line that begins with the boundary goes on");
    }
    skip(at, 1);
    parts->padding_bytes = 0;
    parts->state = IN_LAST_PADDING;
    return give(at, NC_PARTS_END);
}

static step take_step(reading *at) {
    static const char *const goes_on = "a line that begins with the boundary goes on";
    nc_parts *parts = at->parts;
    switch (parts->state) {
    case AT_TOP:
        return take_top(at);
    case BEHIND_BOUNDARY:
        parts->padding_bytes = 0;
        parts->state = at->in.data[0] == '-' ? AT_SECOND_HYPHEN : IN_PADDING;
        if (parts->state == AT_SECOND_HYPHEN) {
            skip(at, 1);
        }
        return STEP_ON;
    case AT_SECOND_HYPHEN:
        return end_parts(at);
    case IN_PADDING:
        return take_blanks(at, AT_LF, goes_on);
    case AT_LF:
        return begin_part(at);
    case IN_HEAD:
        return take_head(at);
    case IN_LAST_PADDING:
        return take_blanks(at, AT_LAST_LF, goes_on);
    case AT_LAST_LF:
        return expect(at, '\n', IN_EPILOGUE, "the line of a boundary does not end with CR LF");
    case IN_EPILOGUE:
        skip(at, at->in.length);
        return STEP_ON;
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
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory to read parts");
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
    // The body may begin with the first boundary.
    parts->matched = parts->given = NC_PARTS_LINE_END_BYTES;
    // One more byte, for a CR that a line may get.
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
    nc_parts_event told = {.kind = NC_PARTS_NEEDS_MORE};
    reading at = {parts, *in, &told};
    step taken = STEP_ON;
    while (taken == STEP_ON && at.in.length > 0) {
        taken = take_step(&at);
    }
    *in = at.in;
    if (taken == STEP_ENDED) {
        return fail_again(parts, err);
    }
    *event = told;
    return nc_error_clear(err);
}

nc_status nc_parts_finish(const nc_parts *parts, nc_error *err) {
    if (parts->failure.status != NC_OK) {
        return fail_again(parts, err);
    }
    if (parts->state < IN_LAST_PADDING) {
        return nc_error_set(err, NC_ERR_CUT_SHORT, 0, (int64_t)parts->taken_bytes,
                            "the parts ended at byte %llu, before their last boundary",
                            (unsigned long long)parts->taken_bytes);
    }
    return nc_error_clear(err);
}
