/// Covers: websocket/reader.c, websocket/deflate.c
///
/// Frames of a WebSocket server, cut at random, read by the library and by a second reader that has all bytes. Both
/// report the same messages, control frames and fault. Compressed messages are only compared between two ways to cut.
/// Input: a byte that chooses cuts and compression, a byte for the limit of a message, then the frames.
#include "input.h"

#include "websocket/reader.h"

#include <stdlib.h>
#include <string.h>

typedef struct outcome {
    nc_buf text; // complete messages and control frames: a letter, the bytes and a NUL each
    nc_buf message;
    nc_ws_fault fault;
} outcome;

static outcome outcome_init(void) {
    return (outcome){.text = nc_buf_init(SIZE_MAX), .message = nc_buf_init(SIZE_MAX)};
}

static void outcome_deinit(outcome *one) {
    nc_buf_deinit(&one->text);
    nc_buf_deinit(&one->message);
}

static void put(outcome *out, uint8_t letter, nc_slice bytes) {
    nc_buf_append_byte(&out->text, letter);
    nc_buf_append(&out->text, bytes);
    nc_buf_append_byte(&out->text, 0);
}

/* --- the library --- */

typedef struct choice {
    size_t step;
    bool is_compressed;
    bool resets;
    uint64_t max_bytes;
} choice;

static void take(outcome *out, const nc_ws_event *event, uint64_t max_bytes) {
    static const uint8_t letters[] = {[NC_WS_GOT_PING] = 'p', [NC_WS_GOT_PONG] = 'o', [NC_WS_GOT_CLOSE] = 'c'};
    if (event->kind == NC_WS_DATA) {
        nc_buf_append(&out->message, event->bytes);
        CHECK(out->message.length <= max_bytes);
        if (event->is_last) {
            put(out, event->is_text ? 'T' : 'B', nc_buf_slice(&out->message));
            nc_buf_reset(&out->message);
        }
    } else {
        put(out, letters[event->kind], event->bytes);
    }
}

static outcome read_in_pieces(nc_slice text, choice chosen, size_t step) {
    nc_ws_reader reader = {
        .max_frame_bytes = 1 << 16,
        .max_message_bytes = chosen.max_bytes,
        .terms = {.is_agreed = chosen.is_compressed, .server_resets = chosen.resets, .server_bits = 10}};
    outcome out = outcome_init();
    while (text.length > 0 && out.fault == NC_WS_FAULT_NONE) {
        size_t count = step != 0 && step < text.length ? step : text.length;
        uint8_t *copy = malloc(count);
        CHECK(copy != NULL);
        memcpy(copy, text.data, count);
        nc_slice in = nc_slice_make(copy, count);
        nc_ws_event event = {.kind = NC_WS_DATA};
        while (out.fault == NC_WS_FAULT_NONE && event.kind != NC_WS_NEEDS_MORE) {
            out.fault = nc_ws_reader_next(&reader, &in, &event);
            if (out.fault == NC_WS_FAULT_NONE && event.kind != NC_WS_NEEDS_MORE) {
                take(&out, &event, chosen.max_bytes);
            }
        }
        CHECK(out.fault != NC_WS_FAULT_NONE || in.length == 0);
        free(copy);
        text = nc_slice_make(text.data + count, text.length - count);
    }
    nc_ws_reader_deinit(&reader);
    return out;
}

/* --- the second reader --- */

/// Returns true if some bytes after `text` make it well-formed.
static bool can_become_utf8(nc_slice text) {
    static const uint8_t tries[] = {0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf};
    uint8_t last[7] = {0};
    size_t valid = utf8_span_by_decoding(text);
    size_t rest = text.length - valid;
    if (rest == 0) {
        return true;
    }
    if (rest > 3) {
        return false;
    }
    memcpy(last, text.data + valid, rest);
    for (size_t i = 0; i < 6 * 6 * 6; i++) {
        last[rest] = tries[i % 6];
        last[rest + 1] = tries[i / 6 % 6];
        last[rest + 2] = tries[i / 36];
        if (utf8_span_by_decoding(nc_slice_make(last, rest + 3)) > rest) {
            return true;
        }
    }
    return false;
}

typedef struct second {
    nc_slice text;
    size_t at;
    uint64_t max_bytes;
    uint8_t kind; // opcode of the message that is not complete; 0 for none
    unsigned empty;
    outcome out;
} second;

static bool fail(second *reader, nc_ws_fault fault) {
    reader->out.fault = fault;
    return false;
}

static bool has(const second *reader, size_t count) {
    return reader->text.length - reader->at >= count;
}

static bool read_control(second *reader, uint8_t opcode, nc_slice payload) {
    if (opcode != 8) {
        put(&reader->out, opcode == 9 ? 'p' : 'o', payload);
        return true;
    }
    unsigned code = payload.length >= 2 ? (unsigned)(payload.data[0] * 256 + payload.data[1]) : 1000u;
    if (payload.length == 1) {
        return fail(reader, NC_WS_FAULT_CLOSE_LENGTH);
    }
    if (code < 1000 || code > 4999 || (code > 1014 && code < 3000) || (code >= 1004 && code <= 1006)) {
        return fail(reader, NC_WS_FAULT_CLOSE_CODE);
    }
    nc_slice reason = payload.length >= 2 ? nc_slice_make(payload.data + 2, payload.length - 2) : nc_slice_of("");
    if (utf8_span_by_decoding(reason) != reason.length) {
        return fail(reader, NC_WS_FAULT_CLOSE_TEXT);
    }
    put(&reader->out, 'c', reason);
    return false;
}

/// Reads the payload of a data frame, of which `payload` may be only a part.
static bool read_data(second *reader, uint8_t opcode, bool is_final, uint64_t length, nc_slice payload) {
    nc_buf *message = &reader->out.message;
    if (opcode != 0) {
        nc_buf_reset(message);
        reader->kind = opcode;
        reader->empty = 0;
    }
    reader->empty = length == 0 && !is_final ? reader->empty + 1 : 0;
    if (reader->empty > NC_WS_MAX_EMPTY_FRAGMENTS) {
        return fail(reader, NC_WS_FAULT_EMPTY_FRAGMENTS);
    }
    if (message->length + length > reader->max_bytes) {
        return fail(reader, NC_WS_FAULT_MESSAGE_SIZE);
    }
    nc_buf_append(message, payload);
    bool is_whole = is_final && payload.length == length;
    nc_slice text = nc_buf_slice(message);
    if (reader->kind == 1 && !(is_whole ? utf8_span_by_decoding(text) == text.length : can_become_utf8(text))) {
        return fail(reader, NC_WS_FAULT_TEXT);
    }
    if (is_whole) {
        put(&reader->out, reader->kind == 1 ? 'T' : 'B', text);
        nc_buf_reset(message);
        reader->kind = 0;
    }
    return payload.length == length;
}

static bool read_frame(second *reader) {
    const uint8_t *bytes = reader->text.data + reader->at;
    if (!has(reader, 1)) {
        return false;
    }
    uint8_t opcode = bytes[0] % 16;
    bool is_final = bytes[0] >= 128;
    if (bytes[0] % 128 >= 16) {
        return fail(reader, NC_WS_FAULT_RESERVED_BITS);
    }
    if ((opcode > 2 && opcode < 8) || opcode > 10) {
        return fail(reader, NC_WS_FAULT_OPCODE);
    }
    if (opcode >= 8 && !is_final) {
        return fail(reader, NC_WS_FAULT_CONTROL_FRAGMENT);
    }
    if (opcode < 8 && (opcode == 0) == (reader->kind == 0)) {
        return fail(reader, opcode == 0 ? NC_WS_FAULT_CONTINUATION : NC_WS_FAULT_INTERLEAVED);
    }
    if (!has(reader, 2)) {
        return false;
    }
    if (bytes[1] >= 128) {
        return fail(reader, NC_WS_FAULT_MASKED);
    }
    if (opcode >= 8 && bytes[1] > 125) {
        return fail(reader, NC_WS_FAULT_CONTROL_LENGTH);
    }
    size_t more = bytes[1] == 126 ? 2 : bytes[1] == 127 ? 8 : 0;
    if (!has(reader, 2 + more)) {
        return false;
    }
    uint64_t length = more == 0 ? bytes[1] : 0;
    for (size_t i = 0; i < more; i++) {
        length = length * 256 + bytes[2 + i];
    }
    if ((more == 2 && length < 126) || (more == 8 && length < 65536)) {
        return fail(reader, NC_WS_FAULT_LENGTH_FORM);
    }
    if (length >= (uint64_t)1 << 63) {
        return fail(reader, NC_WS_FAULT_LENGTH_RANGE);
    }
    if (length > 1 << 16) {
        return fail(reader, NC_WS_FAULT_FRAME_SIZE);
    }
    reader->at += 2 + more;
    size_t count = has(reader, (size_t)length) ? (size_t)length : reader->text.length - reader->at;
    nc_slice payload = nc_slice_make(reader->text.data + reader->at, count);
    reader->at += count;
    if (opcode >= 8) {
        return count == length && read_control(reader, opcode, payload);
    }
    return read_data(reader, opcode, is_final, length, payload);
}

static outcome read_again(nc_slice text, uint64_t max_bytes) {
    second reader = {.text = text, .max_bytes = max_bytes, .out = outcome_init()};
    while (read_frame(&reader)) {
    }
    return reader.out;
}

static void compare(const outcome *a, const outcome *b) {
    CHECK(a->fault == b->fault);
    CHECK(nc_slice_is_equal(nc_buf_slice(&a->text), nc_buf_slice(&b->text)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    uint8_t first = input_byte(&in);
    choice chosen = {.step = first % 16,
                     .is_compressed = (first & 0x20) != 0,
                     .resets = (first & 0x40) != 0,
                     .max_bytes = (uint64_t)input_byte(&in) * 64};
    nc_slice text = input_rest(&in);
    outcome whole = read_in_pieces(text, chosen, 0);
    outcome cut = read_in_pieces(text, chosen, chosen.step == 0 ? 1 : chosen.step);
    compare(&whole, &cut);
    if (!chosen.is_compressed) {
        outcome again = read_again(text, chosen.max_bytes);
        compare(&whole, &again);
        outcome_deinit(&again);
    }
    outcome_deinit(&whole);
    outcome_deinit(&cut);
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
