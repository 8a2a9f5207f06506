/// Covers: body/multipart_parser.c body/multipart_syntax.c
///
/// A multipart body, cut at random, read by the library and by a second reader that has the whole body. Both report the
/// same parts, or the same first wrong byte, independent of the cuts. Input: a byte that sets how pieces are cut, a
/// byte that sets the limits, the boundary, then the body.
#include "input.h"

#include <stdlib.h>
#include <string.h>

typedef struct outcome {
    /// The events as bytes. Each part is 1, its fields, 4, its content, 5. Each field is its name, 2, its value, 3.
    /// After the last part comes 6.
    nc_buf text;
    nc_status status;
    int64_t offset;
} outcome;

static void put(outcome *out, uint8_t byte) {
    nc_buf_append_byte(&out->text, byte);
}

/* --- the library --- */

static void put_event(outcome *out, const nc_parts_event *event) {
    if (event->kind == NC_PARTS_HEAD) {
        put(out, 1);
        for (size_t i = 0; i < event->field_count; i++) {
            nc_buf_append(&out->text, event->fields[i].name);
            put(out, 2);
            nc_buf_append(&out->text, event->fields[i].value);
            put(out, 3);
        }
        put(out, 4);
    } else if (event->kind == NC_PARTS_CONTENT) {
        CHECK(event->bytes.length > 0);
        nc_buf_append(&out->text, event->bytes);
    } else if (event->kind != NC_PARTS_NEEDS_MORE) {
        put(out, event->kind == NC_PARTS_PART_END ? 5 : 6);
    }
}

/// Feeds pieces of `step` bytes, each in its own block; 0 is one piece.
static outcome read_in_pieces(nc_parts *parts, nc_slice text, size_t step) {
    outcome out = {nc_buf_init(SIZE_MAX), NC_OK, -1};
    nc_error err;
    while (text.length > 0 && out.status == NC_OK) {
        size_t count = step != 0 && step < text.length ? step : text.length;
        uint8_t *copy = malloc(count);
        CHECK(copy != NULL);
        memcpy(copy, text.data, count);
        nc_slice in = nc_slice_make(copy, count);
        nc_parts_event event = {.kind = NC_PARTS_HEAD};
        while (out.status == NC_OK && event.kind != NC_PARTS_NEEDS_MORE) {
            out.status = nc_parts_next(parts, &in, &event, &err);
            if (out.status == NC_OK) {
                put_event(&out, &event);
            }
        }
        CHECK(out.status != NC_OK || in.length == 0);
        free(copy);
        text = nc_slice_make(text.data + count, text.length - count);
    }
    if (out.status == NC_OK) {
        out.status = nc_parts_finish(parts, &err);
    }
    out.offset = err.offset;
    check_error(&err, out.status, SIZE_MAX / 2);
    nc_parts_free(parts);
    return out;
}

/* --- the second reader --- */

typedef struct second {
    nc_slice text;
    size_t at;
    nc_slice boundary;
    nc_parts_options limits;
    outcome out;
} second;

static bool refuse(second *reader, nc_status status, size_t at) {
    reader->out.status = status;
    reader->out.offset = (int64_t)at;
    return false;
}

static bool is_cut(second *reader) {
    return refuse(reader, NC_ERR_CUT_SHORT, reader->text.length);
}

/// Returns true if a boundary delimiter begins at `at`, without its CR LF.
static bool is_mark(const second *reader, size_t at) {
    nc_slice text = reader->text;
    return at + 2 + reader->boundary.length <= text.length && memcmp(text.data + at, "--", 2) == 0 &&
           memcmp(text.data + at + 2, reader->boundary.data, reader->boundary.length) == 0;
}

/// Finds the next delimiter from `at` on; the CR LF before it may end at `at`. Writes the end of the content before the
/// delimiter to `*end`, and the offset behind the delimiter to `*behind`. Returns false if there is no delimiter.
static bool find_mark(const second *reader, size_t at, size_t *end, size_t *behind) {
    const uint8_t *data = reader->text.data;
    size_t mark = 2 + reader->boundary.length;
    if (is_mark(reader, at)) {
        *end = at;
        *behind = at + mark;
        return true;
    }
    for (size_t i = at; i + 2 <= reader->text.length; i++) {
        if (data[i] == '\r' && data[i + 1] == '\n' && is_mark(reader, i + 2)) {
            *end = i;
            *behind = i + 2 + mark;
            return true;
        }
    }
    return false;
}

/// Returns the number of bytes from `at` on that cannot belong to a delimiter, whatever bytes follow.
static size_t certain_bytes(const second *reader, size_t at) {
    size_t length = reader->text.length;
    nc_buf mark = nc_buf_init(SIZE_MAX);
    nc_buf_append(&mark, nc_slice_of("\r\n--"));
    nc_buf_append(&mark, reader->boundary);
    size_t found = length - at;
    for (size_t i = at; i < length; i++) {
        if (length - i < mark.length && memcmp(mark.data, reader->text.data + i, length - i) == 0) {
            found = i - at;
            break;
        }
    }
    if (length - at < mark.length - 2 && memcmp(mark.data + 2, reader->text.data + at, length - at) == 0) {
        found = 0;
    }
    nc_buf_deinit(&mark);
    return found;
}

/// Reads blanks and CR LF. After the last delimiter the text may also end.
static bool read_line_end(second *reader, bool may_end) {
    size_t at = reader->at;
    nc_slice text = reader->text;
    for (size_t blanks = 0; at < text.length && blanks < NC_PARTS_MAX_PADDING_BYTES; blanks++, at++) {
        if (text.data[at] != ' ' && text.data[at] != '\t') {
            break;
        }
    }
    if (at < text.length && text.data[at] != '\r') {
        return refuse(reader, NC_ERR_BAD_RESPONSE, at);
    }
    if (at + 1 < text.length && text.data[at + 1] != '\n') {
        return refuse(reader, NC_ERR_BAD_RESPONSE, at + 1);
    }
    reader->at = at + 2;
    return at + 1 < text.length || may_end ? true : is_cut(reader);
}

static bool is_name_byte(uint8_t byte) {
    return byte > ' ' && byte < 0x7f && strchr("()<>@,;:\\\"/[]?={}", byte) == NULL;
}

static bool is_blank(uint8_t byte) {
    return byte == ' ' || byte == '\t';
}

/// Finds the head's end, after the empty line. Lines are checked as they come.
static bool find_head_end(second *reader, size_t *end) {
    nc_slice text = reader->text;
    size_t line = reader->at;
    for (size_t i = line; i < text.length; i++) {
        if (i - reader->at == reader->limits.max_head_bytes) {
            return refuse(reader, NC_ERR_HEAD_TOO_LARGE, i);
        }
        if (text.data[i] != '\n') {
            continue;
        }
        size_t stop = i > line && text.data[i - 1] == '\r' ? i - 1 : i;
        for (size_t k = line; k < stop; k++) {
            if ((text.data[k] < ' ' && text.data[k] != '\t') || text.data[k] == 0x7f) {
                return refuse(reader, NC_ERR_BAD_RESPONSE, k);
            }
        }
        if (stop == i) {
            return refuse(reader, NC_ERR_BAD_RESPONSE, i);
        }
        if (stop == line) {
            *end = i + 1;
            return true;
        }
        line = i + 1;
    }
    return is_cut(reader);
}

static bool read_field(second *reader, size_t from, size_t to) {
    const uint8_t *data = reader->text.data;
    size_t colon = from;
    while (colon < to && is_name_byte(data[colon])) {
        colon++;
    }
    // In a folded value, the CR LF of the fold is replaced by two blanks.
    if (colon == to || data[colon] != ':' || colon == from) {
        return refuse(reader, NC_ERR_BAD_RESPONSE, colon);
    }
    nc_buf_append(&reader->out.text, nc_slice_make(data + from, colon - from));
    put(&reader->out, 2);
    size_t begin = colon + 1;
    while (begin < to && (is_blank(data[begin]) || data[begin] == '\r' || data[begin] == '\n')) {
        begin++;
    }
    while (to > begin && (is_blank(data[to - 1]) || data[to - 1] == '\r' || data[to - 1] == '\n')) {
        to--;
    }
    for (size_t i = begin; i < to; i++) {
        put(&reader->out, data[i] == '\r' || data[i] == '\n' ? ' ' : data[i]);
    }
    put(&reader->out, 3);
    return true;
}

static bool read_head(second *reader) {
    size_t end = 0;
    if (!find_head_end(reader, &end)) {
        return false;
    }
    size_t length_before = reader->out.text.length;
    put(&reader->out, 1);
    size_t count = 0;
    for (size_t at = reader->at; at + 2 < end; count++) {
        size_t stop = at;
        while (reader->text.data[stop] != '\r' || is_blank(reader->text.data[stop + 2])) {
            stop++;
        }
        bool is_read =
            count < NC_PARTS_MAX_FIELDS ? read_field(reader, at, stop) : refuse(reader, NC_ERR_HEAD_TOO_LARGE, at);
        if (!is_read) {
            reader->out.text.length = length_before; // a head is reported completely or not at all
            return false;
        }
        at = stop + 2;
    }
    put(&reader->out, 4);
    reader->at = end;
    return true;
}

static bool read_content(second *reader) {
    size_t end = 0;
    size_t behind = 0;
    size_t start = reader->at;
    bool is_found = find_mark(reader, start, &end, &behind);
    uint64_t count = is_found ? end - start : certain_bytes(reader, start);
    bool fits = count <= reader->limits.max_part_bytes;
    size_t notified = fits ? (size_t)count : (size_t)reader->limits.max_part_bytes;
    nc_buf_append(&reader->out.text, nc_slice_make(reader->text.data + start, notified));
    if (!fits) {
        return refuse(reader, NC_ERR_TOO_LARGE, start + notified);
    }
    if (!is_found) {
        return is_cut(reader);
    }
    put(&reader->out, 5);
    reader->at = behind;
    return true;
}

static bool skip_preamble(second *reader) {
    size_t end = 0;
    size_t behind = 0;
    bool is_found = find_mark(reader, 0, &end, &behind);
    size_t count = is_found ? end : certain_bytes(reader, 0);
    if (count > NC_PARTS_MAX_PREAMBLE_BYTES) {
        return refuse(reader, NC_ERR_TOO_LARGE, NC_PARTS_MAX_PREAMBLE_BYTES);
    }
    reader->at = behind;
    return is_found ? true : is_cut(reader);
}

/// Returns the boundary up to its first quote, which ends it in the content type. The bytes behind the quote are other
/// parameters, or make the type invalid.
static nc_slice until_quote(nc_slice boundary) {
    const uint8_t *quote = boundary.length == 0 ? NULL : memchr(boundary.data, '"', boundary.length);
    return quote == NULL ? boundary : nc_slice_make(boundary.data, (size_t)(quote - boundary.data));
}

static outcome read_again(nc_slice text, nc_slice boundary, nc_parts_options limits) {
    second reader = {text, 0, boundary, limits, {nc_buf_init(SIZE_MAX), NC_OK, -1}};
    bool has_more = skip_preamble(&reader);
    for (uint64_t count = 0; has_more; count++) {
        if (reader.at == text.length) {
            has_more = is_cut(&reader);
        } else if (text.data[reader.at] == '-') {
            bool is_last = reader.at + 1 < text.length && text.data[reader.at + 1] == '-' && count > 0;
            if (reader.at + 1 == text.length) {
                has_more = is_cut(&reader);
            } else if (!is_last) {
                has_more = refuse(&reader, NC_ERR_BAD_RESPONSE, reader.at + 1);
            } else {
                put(&reader.out, 6);
                reader.at += 2;
                (void)read_line_end(&reader, true);
                break;
            }
        } else if (!read_line_end(&reader, false)) {
            has_more = false;
        } else if (count == limits.max_parts) {
            has_more = refuse(&reader, NC_ERR_TOO_LARGE, reader.at - 1);
        } else {
            has_more = read_head(&reader) && read_content(&reader);
        }
    }
    return reader.out;
}

static void compare(const outcome *a, const outcome *b) {
    CHECK(a->status == b->status && a->offset == b->offset);
    CHECK(nc_slice_is_equal(nc_buf_slice(&a->text), nc_buf_slice(&b->text)));
}

/// Returns true if a boundary contains no backslash and does not begin with "--". The second reader supports no other
/// boundary: it resolves no escapes, and does not accept delimiters without the two additional hyphens (parts.h).
static bool is_plain(nc_slice boundary) {
    return boundary.length > 0 && memchr(boundary.data, '\\', boundary.length) == NULL &&
           (boundary.length < 2 || memcmp(boundary.data, "--", 2) != 0);
}

/// Reads the text whole and in pieces, and compares. Returns false if the type is rejected. The caller frees `*whole`.
static bool read_twice(outcome *whole, nc_slice type, const nc_parts_options *options, nc_slice text, size_t step) {
    nc_parts *parts = NULL;
    nc_parts *others = NULL;
    nc_error err;
    nc_status status = nc_parts_new(&parts, type, options, &err);
    check_error(&err, status, 0);
    if (status != NC_OK) {
        return false;
    }
    CHECK(nc_parts_new(&others, type, options, NULL) == NC_OK);
    *whole = read_in_pieces(parts, text, 0);
    outcome cut = read_in_pieces(others, text, step);
    compare(whole, &cut);
    nc_buf_deinit(&cut.text);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    size_t step = input_byte(&in);
    uint8_t limits = input_byte(&in);
    nc_slice boundary = input_piece(&in);
    nc_slice text = input_rest(&in);
    nc_parts_options options = {
        .max_parts = limits % 4 == 0 ? 1000 : limits % 4,
        .max_part_bytes = limits / 4 % 4 == 0 ? 1 << 20 : limits,
        .max_head_bytes = limits / 16 % 4 == 0 ? 1 << 14 : limits,
    };
    static const char *const types[] = {"multipart/mixed; boundary=\"", "multipart/x-mixed-replace; boundary=\""};
    for (size_t i = 0; i < 2; i++) {
        outcome whole;
        nc_buf type = nc_buf_init(1 << 16);
        nc_buf_append(&type, nc_slice_of(types[i]));
        nc_buf_append(&type, boundary);
        nc_buf_append_byte(&type, '"');
        if (read_twice(&whole, nc_buf_slice(&type), &options, text, step % 7 == 0 ? 1 : step)) {
            if (i == 0 && is_plain(boundary)) {
                outcome again = read_again(text, until_quote(boundary), options);
                compare(&whole, &again);
                nc_buf_deinit(&again.text);
            }
            nc_buf_deinit(&whole.text);
        }
        nc_buf_deinit(&type);
    }
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
