/// The reader of WebSocket frames (RFC 6455, 5) and permessage-deflate (RFC 7692). Each result is the same for every
/// split of the input.
#include "harness.h"

#include "websocket/frame.h"
#include "websocket/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* --- reading --- */

/// What was read: "T(" and "B(" begin a message, ")" ends one, "p<…>", "o<…>" and "c1000<…>" are control frames.
typedef struct output {
    nc_buf text;
    nc_ws_fault fault;
} output;

static void print_event(output *out, const nc_ws_event *event) {
    char head[16];
    if (event->kind == NC_WS_DATA) {
        nc_buf_append(&out->text, nc_slice_of(!event->is_first ? "" : event->is_text ? "T(" : "B("));
        nc_buf_append(&out->text, event->bytes);
        nc_buf_append(&out->text, nc_slice_of(event->is_last ? ")" : ""));
        return;
    }
    (void)snprintf(head, sizeof head, "c%u<", event->close_code);
    nc_buf_append(&out->text, nc_slice_of(event->kind == NC_WS_GOT_PING   ? "p<"
                                          : event->kind == NC_WS_GOT_PONG ? "o<"
                                                                          : head));
    nc_buf_append(&out->text, event->bytes);
    nc_buf_append_byte(&out->text, '>');
}

static void feed(nc_ws_reader *reader, nc_slice in, output *out) {
    nc_ws_event event = {.kind = NC_WS_DATA};
    while (out->fault == NC_WS_FAULT_NONE && event.kind != NC_WS_NEEDS_MORE) {
        out->fault = nc_ws_reader_next(reader, &in, &event);
        if (out->fault == NC_WS_FAULT_NONE && event.kind != NC_WS_NEEDS_MORE) {
            print_event(out, &event);
        }
    }
    assert_true(out->fault != NC_WS_FAULT_NONE || in.length == 0);
}

typedef struct options {
    uint64_t max_frame_bytes;
    uint64_t max_message_bytes;
    bool resets;
    uint8_t bits; // 0: without compression
} options;

static nc_ws_reader reader_init(options chosen) {
    return (nc_ws_reader){
        .max_frame_bytes = chosen.max_frame_bytes != 0 ? chosen.max_frame_bytes : 1 << 20,
        .max_message_bytes = chosen.max_message_bytes != 0 ? chosen.max_message_bytes : 1 << 20,
        .terms = {.is_agreed = chosen.bits != 0, .server_resets = chosen.resets, .server_bits = chosen.bits},
    };
}

static output read_in_pieces(options chosen, nc_slice text, size_t piece) {
    nc_ws_reader reader = reader_init(chosen);
    output out = {.text = nc_buf_init(SIZE_MAX)};
    while (text.length > 0 && out.fault == NC_WS_FAULT_NONE) {
        size_t count = text.length < piece ? text.length : piece;
        guarded copy = guarded_copy(nc_slice_make(text.data, count));
        feed(&reader, copy.slice, &out);
        guarded_deinit(&copy);
        text = nc_slice_make(text.data + count, text.length - count);
    }
    nc_ws_reader_deinit(&reader);
    return out;
}

typedef struct row {
    const char *bytes;
    size_t length;
    const char *output;
    nc_ws_fault fault;
    options chosen;
} row;

#define ROW(bytes, output)                                                                                             \
    {                                                                                                                  \
        (bytes), sizeof(bytes) - 1, (output), NC_WS_FAULT_NONE, {                                                      \
            0                                                                                                          \
        }                                                                                                              \
    }
#define BAD(bytes, output, fault)                                                                                      \
    {                                                                                                                  \
        (bytes), sizeof(bytes) - 1, (output), NC_WS_FAULT_##fault, {                                                   \
            0                                                                                                          \
        }                                                                                                              \
    }
#define DEFLATED(bytes, output, fault, ...)                                                                            \
    {                                                                                                                  \
        (bytes), sizeof(bytes) - 1, (output), NC_WS_FAULT_##fault, {                                                   \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

static const row rows[] = {
    // Messages.
    ROW("", ""),
    ROW("\x81\x05Hello", "T(Hello)"),
    ROW("\x82\x02\x00\xff", "B("),
    ROW("\x81\x00", "T()"),
    ROW("\x82\x00\x81\x01x", "B()T(x)"),
    ROW("\x01\x03Hel\x80\x02lo", "T(Hello)"),
    ROW("\x01\x03Hel\x00\x00\x00\x01l\x80\x00", "T(Hell)"),
    ROW("\x01\x03Hel\x89\x02hi\x80\x02lo", "T(Hel"
                                           "p<hi>"
                                           "lo)"),
    ROW("\x01\x00\x8a\x00\x80\x01x", "o<>T(x)"),
    ROW("\x81\x03"
        "a",
        "T(a"),
    // Text in pieces.
    ROW("\x01\x01\xc3\x80\x01\xa9", "T(\xc3\xa9)"),
    ROW("\x01\x02\xf0\x9f\x00\x01\x92\x80\x01\xa9", "T(\xf0\x9f\x92\xa9)"),
    BAD("\x81\x01\xff", "", TEXT),
    BAD("\x81\x01\xc3", "", TEXT),
    BAD("\x01\x02\xe0\x9f", "", TEXT),
    BAD("\x01\x02\xed\xa0", "", TEXT),
    BAD("\x01\x02\xf0\x8f", "", TEXT),
    BAD("\x01\x02\xf4\x90", "", TEXT),
    BAD("\x01\x01\xf5", "", TEXT),
    BAD("\x01\x01\xc1", "", TEXT),
    BAD("\x01\x01\x80", "", TEXT),
    ROW("\x82\x01\xff", "B(\xff)"),
    // Control frames.
    ROW("\x89\x00\x8a\x03"
        "abc",
        "p<>o<abc>"),
    ROW("\x88\x00", "c1005<>"),
    ROW("\x88\x02\x03\xe8", "c1000<>"),
    ROW("\x88\x05\x03\xe9"
        "bye",
        "c1001<bye>"),
    ROW("\x88\x02\x0f\xa0\xff\xff\xff", "c4000<>"), // what follows is ignored
    BAD("\x88\x01\x03", "", CLOSE_LENGTH),
    BAD("\x88\x02\x03\xe7", "", CLOSE_CODE),
    BAD("\x88\x02\x03\xec", "", CLOSE_CODE),
    BAD("\x88\x02\x03\xed", "", CLOSE_CODE),
    BAD("\x88\x02\x03\xee", "", CLOSE_CODE),
    BAD("\x88\x02\x03\xf7", "", CLOSE_CODE),
    BAD("\x88\x02\x0b\xb7", "", CLOSE_CODE),
    BAD("\x88\x02\x13\x88", "", CLOSE_CODE),
    BAD("\x88\x02\x00\x00", "", CLOSE_CODE),
    BAD("\x88\x03\x03\xe8\xff", "", CLOSE_TEXT),
    BAD("\x88\x03\x03\xe8\xc3", "", CLOSE_TEXT),
    BAD("\x89\x7e", "", CONTROL_LENGTH),
    BAD("\x09\x00", "", CONTROL_FRAGMENT),
    BAD("\x08\x00", "", CONTROL_FRAGMENT),
    // Heads.
    BAD("\x83\x00", "", OPCODE),
    BAD("\x87\x00", "", OPCODE),
    BAD("\x8b\x00", "", OPCODE),
    BAD("\x8f\x00", "", OPCODE),
    BAD("\xc1\x00", "", RESERVED_BITS), // compression was not negotiated
    BAD("\xa1\x00", "", RESERVED_BITS),
    BAD("\x91\x00", "", RESERVED_BITS),
    BAD("\xf9\x00", "", RESERVED_BITS),
    BAD("\x81\x85", "", MASKED),
    BAD("\x89\x80", "", MASKED),
    BAD("\x80\x00", "", CONTINUATION),
    BAD("\x81\x01x\x80\x00", "T(x)", CONTINUATION),
    BAD("\x01\x01x\x81\x01y", "T(x", INTERLEAVED),
    BAD("\x01\x01x\x02\x01y", "T(x", INTERLEAVED),
    BAD("\x82\x7e\x00\x7d", "", LENGTH_FORM),
    BAD("\x82\x7f\x00\x00\x00\x00\x00\x00\xff\xff", "", LENGTH_FORM),
    BAD("\x82\x7f\x80\x00\x00\x00\x00\x00\x00\x00", "", LENGTH_RANGE),
    BAD("\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", "", FRAME_SIZE),
    // Limits.
    DEFLATED("\x82\x05"
             "12345",
             "B(12345)", NONE, .max_frame_bytes = 5),
    DEFLATED("\x82\x06", "", FRAME_SIZE, .max_frame_bytes = 5),
    DEFLATED("\x02\x03"
             "123\x80\x02"
             "45",
             "B(12345)", NONE, .max_message_bytes = 5),
    DEFLATED("\x02\x03"
             "123\x80\x03",
             "B(123", MESSAGE_SIZE, .max_message_bytes = 5),
    DEFLATED("\x02\x03"
             "123\x00\x02"
             "45\x80\x00",
             "B(12345)", NONE, .max_message_bytes = 5),
    // The examples of RFC 7692, 7.2.3.
    DEFLATED("\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00", "T(Hello)", NONE, .bits = 15),
    DEFLATED("\x41\x03\xf2\x48\xcd\x80\x04\xc9\xc9\x07\x00", "T(Hello)", NONE, .bits = 15),
    DEFLATED("\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00\xc1\x05\xf2\x00\x11\x00\x00", "T(Hello)T(Hello)", NONE, .bits = 15),
    DEFLATED("\xc1\x0b\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00", "T(Hello)", NONE, .bits = 15),
    DEFLATED("\xc1\x08\xf3\x48\xcd\xc9\xc9\x07\x00\x00", "T(Hello)", NONE, .bits = 15), // a final block
    DEFLATED("\xc1\x0d\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00", "T(Hello)", NONE, .bits = 15),
    DEFLATED("\xc1\x01\x00", "T()", NONE, .bits = 15),
    DEFLATED("\x41\x00\x00\x00\x80\x01\x00", "T()", NONE, .bits = 15),
    DEFLATED("\x81\x05Hello\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00", "T(Hello)T(Hello)", NONE, .bits = 15),
    DEFLATED("\x41\x03\xf2\x48\xcd\x89\x01x\x80\x04\xc9\xc9\x07\x00", "T(Hep<x>llo)", NONE, .bits = 9),
    DEFLATED("\xc2\x07\xf2\x48\xcd\xc9\xc9\x07\x00", "B(Hello)", NONE, .bits = 8, .max_message_bytes = 5),
    DEFLATED("\xc2\x07\xf2\x48\xcd\xc9\xc9\x07\x00", "", MESSAGE_SIZE, .bits = 8, .max_message_bytes = 4),
    // The second message refers to the window that the terms reset.
    DEFLATED("\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00\xc1\x05\xf2\x00\x11\x00\x00", "T(Hello)", DEFLATE, .bits = 15,
             .resets = true),
    DEFLATED("\xc2\x01\xff", "", DEFLATE, .bits = 15),
    DEFLATED("\xc2\x00", "", DEFLATE, .bits = 15),                         // no block at all
    DEFLATED("\xc2\x06\xf2\x48\xcd\xc9\xc9\x07", "", DEFLATE, .bits = 15), // the block does not end
    DEFLATED("\x41\x01\x00\xc0\x00", "", RESERVED_BITS, .bits = 15),
    DEFLATED("\xc9\x00", "", RESERVED_BITS, .bits = 15),
};

/// Compares only how the output begins, because a fault may hide bytes that arrived in the same piece. Bytes of a
/// damaged or too large message may have been delivered before the fault.
static void check_output(const row *expected, output *got) {
    size_t length = strlen(expected->output);
    if (got->fault != expected->fault) {
        fail_msg("row %zu: fault %d instead of %d", (size_t)(expected - rows), got->fault, expected->fault);
    }
    if (got->text.length < length || (length > 0 && memcmp(got->text.data, expected->output, length) != 0)) {
        fail_msg("row %zu: \"%.*s\" instead of \"%s\"", (size_t)(expected - rows), (int)got->text.length,
                 got->text.length > 0 ? (const char *)got->text.data : "", expected->output);
    }
    nc_buf_deinit(&got->text);
}

static void reader__every_split_gives_the_result_of_the_table(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        nc_slice bytes = nc_slice_make(rows[i].bytes, rows[i].length);
        for (size_t piece = 1; piece <= bytes.length + 1; piece++) {
            output got = read_in_pieces(rows[i].chosen, bytes, piece);
            check_output(&rows[i], &got);
        }
    }
}

static void reader__every_fault_has_a_status_a_close_code_and_a_text(void **state) {
    (void)state;
    for (nc_ws_fault fault = NC_WS_FAULT_RESERVED_BITS; fault <= NC_WS_FAULT_MEMORY; fault++) {
        assert_int_not_equal(nc_ws_fault_status(fault), NC_OK);
        assert_true(nc_ws_close_code_is_valid(nc_ws_fault_close_code(fault)));
        for (nc_ws_fault other = fault + 1; other <= NC_WS_FAULT_MEMORY; other++) {
            assert_string_not_equal(nc_ws_fault_text(fault), nc_ws_fault_text(other));
        }
    }
}

static void reader__lengths_of_16_and_64_bits_are_read(void **state) {
    (void)state;
    static const size_t lengths[] = {125, 126, 127, 255, 256, 65535, 65536, 70000};
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        size_t length = lengths[i];
        nc_buf frame = nc_buf_init(SIZE_MAX);
        nc_buf_append_byte(&frame, 0x82);
        size_t count = length < 126 ? 0 : length < 65536 ? 2 : 8;
        nc_buf_append_byte(&frame, count == 0 ? (uint8_t)length : count == 2 ? 126 : 127);
        for (size_t at = count; at > 0; at--) {
            nc_buf_append_byte(&frame, (uint8_t)((uint64_t)length >> (8 * (at - 1))));
        }
        for (size_t at = 0; at < length; at++) {
            nc_buf_append_byte(&frame, 'x');
        }
        output got = read_in_pieces((options){0}, nc_buf_slice(&frame), 1000);
        assert_int_equal(got.fault, NC_WS_FAULT_NONE);
        assert_int_equal(got.text.length, length + 3);
        nc_buf_deinit(&got.text);
        nc_buf_deinit(&frame);
    }
}

static void reader__too_many_empty_fragments_are_a_fault(void **state) {
    (void)state;
    nc_ws_reader reader = reader_init((options){0});
    output out = {.text = nc_buf_init(SIZE_MAX)};
    feed(&reader, nc_slice_make("\x01\x01x", 3), &out);
    for (size_t i = 0; i < NC_WS_MAX_EMPTY_FRAGMENTS; i++) {
        feed(&reader, nc_slice_make("\x00\x00", 2), &out);
        assert_int_equal(out.fault, NC_WS_FAULT_NONE);
    }
    feed(&reader, nc_slice_make("\x00\x00", 2), &out);
    assert_int_equal(out.fault, NC_WS_FAULT_EMPTY_FRAGMENTS);
    nc_ws_reader_deinit(&reader);
    nc_buf_deinit(&out.text);
}

/* --- compression --- */

static nc_buf server_message(nc_ws_deflater *deflater, nc_slice text) {
    nc_buf payload = nc_buf_init(SIZE_MAX);
    nc_buf frame = nc_buf_init(SIZE_MAX);
    nc_ws_deflater_add(deflater, text, true, &payload);
    nc_buf_append(&frame, nc_slice_make("\xc2\x7f\x00\x00\x00\x00", 6));
    for (size_t at = 4; at > 0; at--) {
        nc_buf_append_byte(&frame, (uint8_t)(payload.length >> (8 * (at - 1))));
    }
    if (payload.length < 65536) { // the shortest form
        nc_buf_reset(&frame);
        bool is_short = payload.length < 126;
        nc_buf_append_byte(&frame, 0xc2);
        nc_buf_append_byte(&frame, is_short ? (uint8_t)payload.length : 126);
        if (!is_short) {
            nc_buf_append_byte(&frame, (uint8_t)(payload.length >> 8));
            nc_buf_append_byte(&frame, (uint8_t)payload.length);
        }
    }
    nc_buf_append(&frame, nc_buf_slice(&payload));
    nc_buf_deinit(&payload);
    return frame;
}

static void reader__a_bomb_ends_at_the_limit(void **state) {
    (void)state;
    enum { BOMB_BYTES = 8 << 20, MAX_BYTES = 100000 };
    const nc_ws_deflate_terms terms = {.is_agreed = true, .client_bits = 15};
    nc_ws_deflater *deflater = nc_ws_deflater_new(&terms);
    uint8_t *zeros = calloc(1, BOMB_BYTES);
    nc_buf frame = server_message(deflater, nc_slice_make(zeros, BOMB_BYTES));
    assert_true(frame.length < MAX_BYTES);
    output got = read_in_pieces((options){.bits = 15, .max_message_bytes = MAX_BYTES}, nc_buf_slice(&frame), SIZE_MAX);
    assert_int_equal(got.fault, NC_WS_FAULT_MESSAGE_SIZE);
    assert_true(got.text.length <= MAX_BYTES + 2);
    nc_buf_deinit(&got.text);
    nc_buf_deinit(&frame);
    free(zeros);
    nc_ws_deflater_free(deflater);
}

/// Empty blocks have no content, so only their own length can be limited.
static void reader__endless_empty_blocks_end_at_the_limit(void **state) {
    (void)state;
    nc_ws_reader reader = reader_init((options){.bits = 15, .max_message_bytes = 1000});
    output out = {.text = nc_buf_init(SIZE_MAX)};
    feed(&reader, nc_slice_make("\x42\x05\x00\x00\x00\xff\xff", 7), &out);
    for (size_t i = 0; i < 10000 && out.fault == NC_WS_FAULT_NONE; i++) {
        feed(&reader, nc_slice_make("\x00\x05\x00\x00\x00\xff\xff", 7), &out);
    }
    assert_int_equal(out.fault, NC_WS_FAULT_MESSAGE_SIZE);
    nc_ws_reader_deinit(&reader);
    nc_buf_deinit(&out.text);
}

static void deflater__what_it_writes_is_read_back(void **state) {
    (void)state;
    static const size_t lengths[] = {0, 1, 5, 4095, 4096, 16384, 16385, 50000};
    for (uint8_t bits = 9; bits <= 15; bits++) {
        for (int resets = 0; resets < 2; resets++) {
            const nc_ws_deflate_terms terms = {.is_agreed = true,
                                               .client_bits = bits,
                                               .client_resets = resets != 0,
                                               .server_bits = bits,
                                               .server_resets = resets != 0};
            nc_ws_deflater *deflater = nc_ws_deflater_new(&terms);
            nc_ws_reader reader = reader_init((options){.bits = bits, .resets = resets != 0});
            for (size_t i = 0; i < COUNT_OF(lengths); i++) {
                uint8_t *text = malloc(lengths[i] + 1);
                for (size_t at = 0; at < lengths[i]; at++) {
                    text[at] = (uint8_t)(at * at >> 7);
                }
                output out = {.text = nc_buf_init(SIZE_MAX)};
                nc_buf frame = server_message(deflater, nc_slice_make(text, lengths[i]));
                feed(&reader, nc_buf_slice(&frame), &out);
                assert_int_equal(out.fault, NC_WS_FAULT_NONE);
                assert_int_equal(out.text.length, lengths[i] + 3);
                assert_memory_equal(out.text.data + 2, text, lengths[i]);
                nc_buf_deinit(&out.text);
                nc_buf_deinit(&frame);
                free(text);
            }
            nc_ws_reader_deinit(&reader);
            nc_ws_deflater_free(deflater);
        }
    }
}

static void read_compressed_twice(void *ctx) {
    const nc_ws_deflate_terms terms = {.is_agreed = true, .client_bits = 15};
    nc_ws_deflater *deflater = nc_ws_deflater_new(&terms);
    nc_buf compressed = nc_buf_init(SIZE_MAX);
    (void)ctx;
    if (deflater != NULL) {
        nc_ws_deflater_add(deflater, nc_slice_of("Hello"), true, &compressed);
        assert_true(nc_buf_status(&compressed) == NC_OK || nc_buf_status(&compressed) == NC_ERR_NO_MEMORY);
    }
    output got =
        read_in_pieces((options){.bits = 15}, nc_slice_make("\xc1\x08\xf3\x48\xcd\xc9\xc9\x07\x00\x00", 10), 3);
    assert_true(got.fault == NC_WS_FAULT_NONE || got.fault == NC_WS_FAULT_MEMORY);
    nc_buf_deinit(&got.text);
    nc_buf_deinit(&compressed);
    nc_ws_deflater_free(deflater);
}

static void reader__an_allocation_that_fails_ends_the_message(void **state) {
    (void)state;
    assert_true(each_allocation_failure(read_compressed_twice, NULL) > 3);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(reader__every_split_gives_the_result_of_the_table),
        harness_case(reader__every_fault_has_a_status_a_close_code_and_a_text),
        harness_case(reader__lengths_of_16_and_64_bits_are_read),
        harness_case(reader__too_many_empty_fragments_are_a_fault),
        harness_case(reader__a_bomb_ends_at_the_limit),
        harness_case(reader__endless_empty_blocks_end_at_the_limit),
        harness_case(deflater__what_it_writes_is_read_back),
        harness_case(reader__an_allocation_that_fails_ends_the_message),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
