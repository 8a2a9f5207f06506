/// Covers: body/chunked.c
///
/// A chunked body, cut at random, read by the library and by a second reader that has the whole body. Both report the
/// same content and trailer, or the same first wrong byte, independent of the cuts.
/// Input: a byte that sets how pieces are cut, then the body.
#include "input.h"

#include "body/chunked.h"

#include <stdlib.h>
#include <string.h>

typedef struct outcome {
    nc_buf content;
    nc_buf trailer;
    nc_status status;
    int64_t offset;
    bool is_whole;
    size_t left;
} outcome;

static outcome outcome_init(void) {
    return (outcome){.content = nc_buf_init(SIZE_MAX), .trailer = nc_buf_init(SIZE_MAX), .offset = -1};
}

static void outcome_deinit(outcome *one) {
    nc_buf_deinit(&one->content);
    nc_buf_deinit(&one->trailer);
}

/* --- the library --- */

static void feed(nc_chunked *chunked, nc_slice *in, outcome *out) {
    nc_chunked_event event = {NC_CHUNKED_CONTENT, {0}};
    nc_error err;
    while (event.kind != NC_CHUNKED_NEEDS_MORE && event.kind != NC_CHUNKED_END) {
        size_t before = in->length;
        out->status = nc_chunked_next(chunked, in, &event, &err);
        if (out->status != NC_OK) {
            check_error(&err, out->status, SIZE_MAX / 2);
            out->offset = err.offset;
            return;
        }
        CHECK(in->length < before || event.kind == NC_CHUNKED_NEEDS_MORE || event.kind == NC_CHUNKED_END);
        CHECK(event.kind != NC_CHUNKED_CONTENT || event.bytes.length > 0);
        if (event.kind == NC_CHUNKED_CONTENT) {
            CHECK(out->trailer.length == 0);
            nc_buf_append(&out->content, event.bytes);
        } else if (event.kind == NC_CHUNKED_TRAILER) {
            nc_buf_append(&out->trailer, event.bytes);
        }
    }
    CHECK(event.kind == NC_CHUNKED_END || in->length == 0);
    out->is_whole = event.kind == NC_CHUNKED_END;
    CHECK(out->is_whole == nc_chunked_is_whole(chunked));
}

/// Feeds pieces of `step` bytes, each in its own block; 0 is one piece.
static outcome read_in_pieces(nc_slice text, size_t step) {
    nc_chunked chunked = nc_chunked_init();
    outcome out = outcome_init();
    while (text.length > 0 && out.status == NC_OK && !out.is_whole) {
        size_t count = step != 0 && step < text.length ? step : text.length;
        uint8_t *copy = malloc(count);
        CHECK(copy != NULL);
        memcpy(copy, text.data, count);
        nc_slice in = nc_slice_make(copy, count);
        feed(&chunked, &in, &out);
        free(copy);
        out.left = text.length - count + in.length;
        text = nc_slice_make(text.data + count, text.length - count);
    }
    nc_chunked_deinit(&chunked);
    return out;
}

/* --- the second reader --- */

typedef struct second {
    const uint8_t *text;
    size_t length;
    size_t at;
    size_t allowance;
    outcome out;
} second;

static bool refuse(second *reader, nc_status status, size_t at) {
    reader->out.status = status;
    reader->out.offset = (int64_t)at;
    return false;
}

static bool has(const second *reader, size_t at) {
    return at < reader->length;
}

/// Reads the line of a size. Returns false if it is truncated or wrong.
static bool read_size(second *reader, uint64_t *size) {
    static const char digits[] = "0123456789abcdef";
    size_t at = reader->at;
    *size = 0;
    for (; has(reader, at) && reader->text[at] != 0 && strchr("0123456789abcdefABCDEF", reader->text[at]) != NULL;
         at++) {
        const char *digit = strchr(digits, reader->text[at] | 0x20);
        if (at - reader->at == 16 || *size >= (uint64_t)1 << 59) {
            return refuse(reader, NC_ERR_BAD_RESPONSE, at);
        }
        *size = *size * 16 + (uint64_t)(digit - digits);
    }
    if (has(reader, at) && at == reader->at) {
        return refuse(reader, NC_ERR_BAD_RESPONSE, at);
    }
    bool has_semicolon = false;
    for (; has(reader, at) && reader->text[at] != '\r'; at++) {
        uint8_t byte = reader->text[at];
        has_semicolon = has_semicolon || byte == ';';
        bool is_legal = has_semicolon ? (byte >= ' ' && byte != 0x7f) || byte == '\t' : byte == ' ' || byte == '\t';
        if (!is_legal || reader->allowance == 0) {
            return refuse(reader, NC_ERR_BAD_RESPONSE, at);
        }
        reader->allowance--;
    }
    if (has(reader, at + 1) && reader->text[at + 1] != '\n') {
        return refuse(reader, NC_ERR_BAD_RESPONSE, at + 1);
    }
    reader->at = at + 2;
    return has(reader, at + 1);
}

static bool read_content(second *reader, uint64_t size) {
    size_t left = reader->length - reader->at;
    size_t count = left < size ? left : (size_t)size;
    nc_buf_append(&reader->out.content, nc_slice_make(reader->text + reader->at, count));
    reader->allowance += count;
    reader->allowance =
        reader->allowance < NC_CHUNKED_EXTENSION_MAX_BYTES ? reader->allowance : NC_CHUNKED_EXTENSION_MAX_BYTES;
    reader->at += count;
    for (size_t i = 0; i < 2; i++, reader->at++) {
        if (!has(reader, reader->at)) {
            return false;
        }
        if (reader->text[reader->at] != (i == 0 ? '\r' : '\n')) {
            return refuse(reader, NC_ERR_BAD_RESPONSE, reader->at);
        }
    }
    return true;
}

/// Reads one line of the trailer. Returns false at the end.
static bool read_trailer(second *reader) {
    size_t end = reader->at;
    while (has(reader, end) && reader->text[end] != '\n') {
        end++;
    }
    size_t length = end - reader->at + (has(reader, end) ? 1 : 0);
    if (length > NC_CHUNKED_LINE_MAX_BYTES) {
        return refuse(reader, NC_ERR_HEAD_TOO_LARGE, reader->at + NC_CHUNKED_LINE_MAX_BYTES);
    }
    if (!has(reader, end)) {
        return false;
    }
    for (size_t i = reader->at; i < end; i++) {
        if (reader->text[i] == 0 || (reader->text[i] == '\r' && i + 1 != end)) {
            return refuse(reader, NC_ERR_BAD_RESPONSE, i);
        }
    }
    if (end == reader->at || reader->text[end - 1] != '\r') {
        return refuse(reader, NC_ERR_BAD_RESPONSE, end);
    }
    if (length > 2) {
        nc_buf_append(&reader->out.trailer, nc_slice_make(reader->text + reader->at, length));
    }
    reader->at = end + 1;
    reader->out.is_whole = length == 2;
    return length > 2;
}

static outcome read_again(nc_slice text) {
    second reader = {text.data, text.length, 0, NC_CHUNKED_EXTENSION_MAX_BYTES, outcome_init()};
    uint64_t size = 1;
    bool has_more = true;
    while (has_more && size != 0) {
        has_more = read_size(&reader, &size) && (size == 0 || read_content(&reader, size));
    }
    while (has_more) {
        has_more = read_trailer(&reader);
    }
    reader.out.left = reader.length - reader.at;
    return reader.out;
}

static void compare(const outcome *a, const outcome *b) {
    CHECK(a->status == b->status && a->offset == b->offset && a->is_whole == b->is_whole);
    CHECK(nc_slice_is_equal(nc_buf_slice(&a->content), nc_buf_slice(&b->content)));
    CHECK(nc_slice_is_equal(nc_buf_slice(&a->trailer), nc_buf_slice(&b->trailer)));
    CHECK(!a->is_whole || a->left == b->left);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    size_t step = input_byte(&in);
    nc_slice text = input_rest(&in);
    outcome whole = read_in_pieces(text, 0);
    outcome cut = read_in_pieces(text, step % 7 == 0 ? 1 : step);
    outcome again = read_again(text);
    compare(&whole, &cut);
    compare(&whole, &again);
    outcome_deinit(&whole);
    outcome_deinit(&cut);
    outcome_deinit(&again);
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
