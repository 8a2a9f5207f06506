/// The parser of HTTP/2 frame heads: its reports for valid frames in every split, and the position of errors.
#include "harness.h"
#include "http/h2_frames.h"
#include "torture.h"

#include <string.h>

enum { MAX_FRAMES = 16, MAX_CONTENT_BYTES = 128 };

/// The output of a reader; equal for every split.
typedef struct frame_list {
    nc_h2_frame frames[MAX_FRAMES];
    size_t count;
    char content[MAX_CONTENT_BYTES]; // of all frames that have any
    size_t content_bytes;
    bool is_broken;
} frame_list;

typedef struct text {
    const uint8_t *bytes;
    size_t length;
    frame_list *out;
} text;

static void read_text(void *ctx, size_t at, uint8_t *out, size_t count) {
    const text *from = ctx;
    assert_true(at + count <= from->length);
    memcpy(out, from->bytes + at, count);
}

static void take_content(void *ctx, const nc_h2_frame *frame, size_t at, size_t count) {
    text *from = ctx;
    assert_true(count > 0 && at + count <= from->length);
    assert_true(frame->type == NC_H2_DATA || frame->type == NC_H2_HEADERS || frame->type == NC_H2_CONTINUATION);
    if (from->out != NULL) {
        assert_true(count <= MAX_CONTENT_BYTES - from->out->content_bytes);
        memcpy(from->out->content + from->out->content_bytes, from->bytes + at, count);
        from->out->content_bytes += count;
    }
}

static void feed(nc_h2_reader *reader, frame_list *out, const uint8_t *bytes, size_t length) {
    text from = {bytes, length, out};
    const nc_h2_piece piece = {read_text, take_content, &from, length};
    nc_h2_frame frame;
    size_t at = 0;
    while (nc_h2_reader_next(reader, &piece, &at, &frame)) {
        assert_true(out->count < MAX_FRAMES);
        out->frames[out->count++] = frame;
    }
    assert_true(at == length || reader->is_broken);
    out->is_broken = reader->is_broken;
}

static frame_list read_whole(const char *bytes, size_t length) {
    nc_h2_reader reader = nc_h2_reader_init();
    frame_list out = {0};
    feed(&reader, &out, (const uint8_t *)bytes, length);
    return out;
}

#define HEAD(length, type, flags, stream) "\0\0" length type flags "\0\0\0" stream
#define READ(literal) read_whole((literal), sizeof(literal) - 1)

static const char conversation[] =
    HEAD("\6", "\4", "\0", "\0") "\0\3\0\0\0\x64" HEAD("\1", "\1", "\4", "\1") "\x88" HEAD(
        "\3", "\0", "\0", "\1") "abc" HEAD("\6", "\0", "\x08", "\1") "\2abc\0\0" HEAD("\4", "\x42", "\xff",
                                                                                      "\7") "none" HEAD("\0", "\4",
                                                                                                        "\1", "\0")
        HEAD("\2", "\1", "\1", "\3") "\x88\x88" HEAD("\1", "\x9", "\0", "\3") "\x88" HEAD(
            "\1", "\x9", "\4", "\3") "\x88" HEAD("\4", "\3", "\0",
                                                 "\5") "\0\0\0\x08" HEAD("\x0a", "\7", "\0",
                                                                         "\0") "\0\0\0\5\0\0\0\x0b!!" HEAD("\0", "\0",
                                                                                                           "\1", "\1");

static void assert_frame(const nc_h2_frame *one, uint8_t type, uint32_t stream, uint32_t content_bytes,
                         bool ends_stream) {
    assert_int_equal(one->type, type);
    assert_int_equal(one->stream, stream);
    assert_int_equal(one->content_bytes, content_bytes);
    assert_int_equal(one->ends_stream, ends_stream);
}

static void h2_frames__a_frame_is_reported_with_its_header_fields(void **state) {
    (void)state;
    const frame_list seen = READ(conversation);
    assert_int_equal(seen.count, 12);
    assert_false(seen.is_broken);
    assert_frame(&seen.frames[0], NC_H2_SETTINGS, 0, 0, false);
    assert_frame(&seen.frames[1], NC_H2_HEADERS, 1, 0, false);
    assert_frame(&seen.frames[2], NC_H2_DATA, 1, 3, false);
    assert_frame(&seen.frames[3], NC_H2_DATA, 1, 3, false); // without its padding
    assert_frame(&seen.frames[4], 0x42, 7, 0, false);
    assert_frame(&seen.frames[5], NC_H2_SETTINGS, 0, 0, false);
    assert_frame(&seen.frames[6], NC_H2_HEADERS, 3, 0, false); // the field block continues
    assert_frame(&seen.frames[7], NC_H2_CONTINUATION, 3, 0, false);
    assert_frame(&seen.frames[8], NC_H2_CONTINUATION, 3, 0, true);
    assert_frame(&seen.frames[9], NC_H2_RST_STREAM, 5, 0, false);
    assert_int_equal(seen.frames[9].code, 8);
    assert_frame(&seen.frames[10], NC_H2_GOAWAY, 0, 0, false);
    assert_int_equal(seen.frames[10].code, NC_H2_ENHANCE_YOUR_CALM);
    assert_int_equal(seen.frames[10].last_stream, 5);
    assert_frame(&seen.frames[11], NC_H2_DATA, 1, 0, true);
    for (size_t i = 0; i < seen.count; i++) {
        assert_int_equal(seen.frames[i].ends_block, i == 1 || i == 8);
    }
}

static void h2_frames__content_is_reported_without_padding_and_priority(void **state) {
    (void)state;
    const frame_list seen = READ(conversation);
    assert_int_equal(seen.content_bytes, 11);
    assert_memory_equal(seen.content,
                        "\x88"
                        "abcabc"
                        "\x88\x88\x88\x88",
                        11);
    const frame_list all = READ(HEAD("\x0a", "\1", "\x2c", "\1") "\2-----hi\0\0" HEAD(
        "\5", "\1", "\x24", "\3") "-----" HEAD("\4", "\0", "\x08", "\1") "\3\0\0\0");
    assert_false(all.is_broken);
    assert_int_equal(all.count, 3);
    assert_int_equal(all.content_bytes, 2);
    assert_memory_equal(all.content, "hi", 2);
}

static void h2_frames__every_split_gives_the_same_reports(void **state) {
    uint64_t chance = 20261128;
    (void)state;
    const frame_list whole = READ(conversation);
    for (size_t round = 0; round < 2000; round++) {
        nc_h2_reader reader = nc_h2_reader_init();
        frame_list split = {0};
        size_t most = 1 + torture_next(&chance) % 24;
        for (size_t at = 0; at < sizeof conversation - 1;) {
            size_t left = sizeof conversation - 1 - at;
            size_t count = torture_next(&chance) % (most + 1); // may be 0
            count = count < left ? count : left;
            feed(&reader, &split, (const uint8_t *)conversation + at, count);
            at += count;
        }
        assert_int_equal(split.count, whole.count);
        assert_memory_equal(split.frames, whole.frames, sizeof whole.frames);
        assert_int_equal(split.content_bytes, whole.content_bytes);
        assert_memory_equal(split.content, whole.content, whole.content_bytes);
    }
}

static void h2_frames__a_truncated_frame_is_not_reported(void **state) {
    (void)state;
    for (size_t length = 0; length < 12; length++) {
        const frame_list seen = read_whole(HEAD("\3", "\0", "\1", "\1") "abc", length);
        assert_int_equal(seen.count, 0);
        assert_false(seen.is_broken);
    }
}

static void h2_frames__a_connection_error_ends_parsing(void **state) {
    static const char last[] = HEAD("\0", "\0", "\1", "\1");
    static const struct {
        const char *name;
        const char *bytes;
        size_t length;
    } rows[] = {
#define ROW(name, literal) {name, literal, sizeof(literal) - 1}
        ROW("a frame of 16,385 bytes", "\0\x40\1\x42\0\0\0\0\1"),
        ROW("PING of 7 bytes", HEAD("\7", "\6", "\0", "\0")),
        ROW("PING on a stream", HEAD("\x08", "\6", "\0", "\1")),
        ROW("SETTINGS of 5 bytes", HEAD("\5", "\4", "\0", "\0")),
        ROW("SETTINGS with an acknowledgement and a value", HEAD("\6", "\4", "\1", "\0")),
        ROW("SETTINGS on a stream", HEAD("\0", "\4", "\0", "\1")),
        ROW("GOAWAY of 7 bytes", HEAD("\7", "\7", "\0", "\0")),
        ROW("GOAWAY on a stream", HEAD("\x08", "\7", "\0", "\1")),
        ROW("RST_STREAM of 5 bytes", HEAD("\5", "\3", "\0", "\1")),
        ROW("RST_STREAM on stream 0", HEAD("\4", "\3", "\0", "\0")),
        ROW("WINDOW_UPDATE of 3 bytes", HEAD("\3", "\x08", "\0", "\1")),
        ROW("WINDOW_UPDATE of 0 for the connection", HEAD("\4", "\x08", "\0", "\0") "\0\0\0\0"),
        ROW("DATA on stream 0", HEAD("\1", "\0", "\0", "\0")),
        ROW("DATA without its padding's length", HEAD("\0", "\0", "\x08", "\1")),
        ROW("DATA shorter than its padding", HEAD("\2", "\0", "\x08", "\1") "\2"),
        ROW("HEADERS on stream 0", HEAD("\1", "\1", "\4", "\0")),
        ROW("HEADERS shorter than its padding and priority", HEAD("\7", "\1", "\x2c", "\1") "\2"),
        ROW("PUSH_PROMISE", HEAD("\5", "\5", "\4", "\1")),
        ROW("CONTINUATION alone", HEAD("\1", "\x9", "\4", "\1")),
        ROW("a header block with DATA in it", HEAD("\0", "\1", "\0", "\1") HEAD("\1", "\0", "\1", "\1")),
        ROW("a header block of two streams", HEAD("\0", "\1", "\0", "\1") HEAD("\1", "\x9", "\4", "\3")),
#undef ROW
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char bytes[64];
        memcpy(bytes, rows[i].bytes, rows[i].length);
        memcpy(bytes + rows[i].length, last, sizeof last - 1);
        const frame_list seen = read_whole(bytes, rows[i].length + sizeof last - 1);
        bool has_end = seen.count > 0 && seen.frames[seen.count - 1].ends_stream;
        if (!seen.is_broken || has_end) {
            fail_msg("%s: %sbroken, %zu frames", rows[i].name, seen.is_broken ? "" : "not ", seen.count);
        }
    }
}

/// For any input, the parser terminates and reads only within the piece.
static void h2_frames__random_frames_are_parsed_or_rejected(void **state) {
    uint64_t chance = 4711;
    (void)state;
    for (size_t round = 0; round < 20000; round++) {
        uint8_t bytes[96];
        nc_h2_reader reader = nc_h2_reader_init();
        for (size_t i = 0; i < sizeof bytes; i++) {
            uint64_t next = torture_next(&chance);
            bytes[i] = (uint8_t)(next % 3 == 0 ? next >> 8 & 0xff
                                               : next >> 8 & 0x0b); // mostly small numbers, as in real frame heads
        }
        text from = {bytes, sizeof bytes, NULL};
        const nc_h2_piece piece = {read_text, take_content, &from, sizeof bytes};
        nc_h2_frame frame;
        size_t at = 0;
        while (nc_h2_reader_next(&reader, &piece, &at, &frame)) {
            assert_true(at <= sizeof bytes && frame.content_bytes <= 16384);
        }
        assert_true(at == sizeof bytes || reader.is_broken);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(h2_frames__a_frame_is_reported_with_its_header_fields),
        harness_case(h2_frames__content_is_reported_without_padding_and_priority),
        harness_case(h2_frames__every_split_gives_the_same_reports),
        harness_case(h2_frames__a_truncated_frame_is_not_reported),
        harness_case(h2_frames__a_connection_error_ends_parsing),
        harness_case(h2_frames__random_frames_are_parsed_or_rejected),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
