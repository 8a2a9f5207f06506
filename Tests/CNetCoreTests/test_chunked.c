/// The decoder of the chunked coding (RFC 9112, section 7.1). Each result is the same for every split of the input.
#include "harness.h"

#include "body/chunked.h"

#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/// The output: content and trailer lines in order, separated by "|".
typedef struct output {
    nc_buf text;
    nc_status status;
    int64_t offset;
    bool is_whole;
    bool has_trailer;
} output;

static output output_init(void) {
    return (output){.text = nc_buf_init(1 << 20), .status = NC_OK, .offset = -1};
}

/// Feeds a piece until there is no more output. Bytes after the end are not consumed.
static void feed(nc_chunked *chunked, nc_slice *in, output *out) {
    nc_chunked_event event = {NC_CHUNKED_CONTENT, {0}};
    nc_error err;
    while (out->status == NC_OK && event.kind != NC_CHUNKED_NEEDS_MORE && event.kind != NC_CHUNKED_END) {
        out->status = nc_chunked_next(chunked, in, &event, &err);
        if (out->status != NC_OK) {
            assert_int_equal(err.status, out->status);
            out->offset = err.offset;
            return;
        }
        if (event.kind == NC_CHUNKED_TRAILER && !out->has_trailer) {
            nc_buf_append_byte(&out->text, '|');
            out->has_trailer = true;
        }
        if (event.kind == NC_CHUNKED_CONTENT || event.kind == NC_CHUNKED_TRAILER) {
            nc_buf_append(&out->text, event.bytes);
        }
    }
    out->is_whole = nc_chunked_is_whole(chunked);
}

static output read_in_pieces(nc_slice text, size_t piece) {
    nc_chunked chunked = nc_chunked_init();
    output out = output_init();
    while (text.length > 0 && out.status == NC_OK && !out.is_whole) {
        size_t count = text.length < piece ? text.length : piece;
        guarded copy = guarded_copy(nc_slice_make(text.data, count));
        nc_slice in = copy.slice;
        feed(&chunked, &in, &out);
        guarded_deinit(&copy);
        text = nc_slice_make(text.data + count, text.length - count);
    }
    nc_chunked_deinit(&chunked);
    return out;
}

typedef struct row {
    const char *text;
    size_t length;
    nc_status status;
    int64_t offset; // of the first invalid byte
    const char *output;
    bool is_whole;
} row;

#define WHOLE(text, output)                                                                                            \
    { (text), sizeof(text) - 1, NC_OK, -1, (output), true }
#define CUT(text, output)                                                                                              \
    { (text), sizeof(text) - 1, NC_OK, -1, (output), false }
#define BAD(text, offset, output)                                                                                      \
    { (text), sizeof(text) - 1, NC_ERR_BAD_RESPONSE, (offset), (output), false }

static const row rows[] = {
    WHOLE("0\r\n\r\n", ""),
    WHOLE("2\r\nhi\r\n0\r\n\r\n", "hi"),
    WHOLE("1\r\nh\r\n1\r\ni\r\n0000000000000000\r\n\r\n", "hi"),
    WHOLE("A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"),
    WHOLE("2\r\n\r\n\r\n0\r\n\r\n", "\r\n"),
    WHOLE("2;a;b=c;d=\"e;\\\"\";\x80\xff\t \r\nhi\r\n0;z\r\n\r\n", "hi"),
    WHOLE("2 \t\r\nhi\r\n0 ;z\r\n\r\n", "hi"),
    WHOLE("1\r\nh\r\n0\r\nA: b\r\nC: \td\r\n\r\n", "h|A: b\r\nC: \td\r\n"),
    WHOLE("0\r\nno colon\r\n\r\n", "|no colon\r\n"), // the caller parses fields
    WHOLE("1\r\nh\r\n0\r\n\r\n5\r\nbelow\r\n", "h"),
    CUT("", ""),
    CUT("2", ""),
    CUT("2;", ""),
    CUT("2\r", ""),
    CUT("2\r\n", ""),
    CUT("2\r\nh", "h"),
    CUT("2\r\nhi", "hi"),
    CUT("2\r\nhi\r", "hi"),
    CUT("2\r\nhi\r\n", "hi"),
    CUT("2\r\nhi\r\n0\r\n", "hi"),
    CUT("2\r\nhi\r\n0\r\nA: b", "hi"),
    CUT("2\r\nhi\r\n0\r\nA: b\r\n", "hi|A: b\r\n"),
    CUT("2\r\nhi\r\n0\r\n\r", "hi"),
    CUT("7fffffffffffffff\r\nhi", "hi"),
    // A size is one to 16 hexadecimal digits.
    BAD("\r\n", 0, ""),
    BAD(";a\r\n", 0, ""),
    BAD(" 2\r\nhi", 0, ""),
    BAD("-2\r\nhi", 0, ""),
    BAD("+2\r\nhi", 0, ""),
    BAD("g\r\n", 0, ""),
    BAD("0x2\r\nhi", 1, ""),
    BAD("2h\r\nhi", 1, ""),
    BAD("2,\r\nhi", 1, ""),
    BAD("2 3\r\nhi", 2, ""),
    BAD("2\0\r\nhi", 1, ""),
    BAD("8000000000000000\r\n", 15, ""),
    BAD("ffffffffffffffff\r\n", 15, ""),
    BAD("00000000000000002\r\n", 16, ""),
    BAD("10000000000000000\r\n", 16, ""),
    // Every line ends with CR LF.
    BAD("2\nhi\r\n0\r\n\r\n", 1, ""),
    BAD("2\rhi", 2, ""),
    BAD("2\r\r\nhi", 2, ""),
    BAD("2;a\nhi", 3, ""),
    BAD("2;a\r;b\r\nhi", 4, ""),
    BAD("2;a\x01\r\nhi", 3, ""),
    BAD("2;a\0\r\nhi", 3, ""),
    BAD("2;a\x7f\r\nhi", 3, ""),
    BAD("2\r\nhi\n0\r\n\r\n", 5, "hi"),
    BAD("2\r\nhi0\r\n\r\n", 5, "hi"),
    BAD("2\r\nhi!\r\n0\r\n\r\n", 5, "hi"),
    BAD("2\r\nhi\r0\r\n\r\n", 6, "hi"),
    BAD("3\r\nhi\r\n0\r\n\r\n", 6, "hi\r"),
    BAD("2\r\nhi\r\n\r\n0\r\n\r\n", 7, "hi"),
    BAD("0\n\r\n", 1, ""),
    BAD("0\r\n\n", 3, ""),
    BAD("0\r\nA: b\n\r\n", 7, ""),
    BAD("0\r\nA: b\rC: d\r\n", 7, ""),
    BAD("0\r\nA: b\r\r\n\r\n", 7, ""),
    BAD("0\r\nA: \0\r\n\r\n", 6, ""),
    BAD("0\r\nA: \0\n", 6, ""),
    BAD("0\r\nA: b\r\nC\n", 10, "|A: b\r\n"),
};

static void expect_row(const row *one, const output *out) {
    assert_status(out->status, one->status);
    assert_int_equal(out->offset, one->offset);
    assert_slice_equals(nc_buf_slice(&out->text), one->output);
    assert_int_equal(out->is_whole, one->is_whole);
}

static void chunked__every_split_decodes_or_rejects_alike(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (size_t piece = 1; piece <= rows[i].length + 1; piece++) {
            output out = read_in_pieces(nc_slice_make(rows[i].text, rows[i].length), piece);
            expect_row(&rows[i], &out);
            nc_buf_deinit(&out.text);
        }
    }
}

static void visit_split(void *ctx, nc_slice head, nc_slice tail) {
    nc_chunked chunked = nc_chunked_init();
    output out = output_init();
    feed(&chunked, &head, &out);
    if (out.status == NC_OK && !out.is_whole) {
        feed(&chunked, &tail, &out);
    }
    expect_row(ctx, &out);
    nc_buf_deinit(&out.text);
    nc_chunked_deinit(&chunked);
}

static void chunked__every_split_in_two_gives_the_same_result(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        row copy = rows[i];
        each_split(nc_slice_make(copy.text, copy.length), visit_split, &copy);
    }
}

static void chunked__only_a_digit_space_or_semicolon_may_follow_a_size(void **state) {
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        char text[] = "2_\r\nhi\r\n0\r\n\r\n";
        text[1] = (char)byte;
        output out = read_in_pieces(nc_slice_make(text, sizeof text - 1), 3);
        bool is_digit = strchr("0123456789abcdefABCDEF", byte) != NULL && byte != 0;
        bool is_skipped = byte == ' ' || byte == '\t' || byte == ';';
        assert_int_equal(out.is_whole, is_skipped);
        // A digit is valid: it makes the chunk longer than its data. After a CR, the CR that follows is the error.
        assert_int_equal(out.offset, is_skipped || is_digit ? -1 : byte == '\r' ? 2 : 1);
        nc_buf_deinit(&out.text);
    }
}

static void chunked__bytes_after_the_end_are_not_consumed(void **state) {
    (void)state;
    nc_chunked chunked = nc_chunked_init();
    output out = output_init();
    nc_slice in = nc_slice_of("1\r\nx\r\n0\r\n\r\nrest");
    feed(&chunked, &in, &out);
    assert_true(out.is_whole);
    assert_slice_equals(in, "rest");
    feed(&chunked, &in, &out); // a second call consumes nothing either
    assert_slice_equals(in, "rest");
    nc_buf_deinit(&out.text);
    nc_chunked_deinit(&chunked);
}

static void chunked__a_failure_is_sticky(void **state) {
    (void)state;
    nc_chunked chunked = nc_chunked_init();
    nc_chunked_event event;
    nc_error err;
    nc_slice in = nc_slice_of("x");
    assert_status(nc_chunked_next(&chunked, &in, &event, &err), NC_ERR_BAD_RESPONSE);
    assert_string_equal(err.message, "a chunk without a size at byte 0");
    in = nc_slice_of("0\r\n\r\n");
    assert_status(nc_chunked_next(&chunked, &in, &event, &err), NC_ERR_BAD_RESPONSE);
    assert_int_equal(err.offset, 0);
    nc_chunked_deinit(&chunked);
}

/// Appends "SIZE;eeee…" with that many bytes of extension, and content if there is any.
static void append_chunk(nc_buf *out, size_t size, size_t extension) {
    char line[32];
    (void)snprintf(line, sizeof line, "%zx", size);
    nc_buf_append(out, nc_slice_of(line));
    for (size_t i = 0; i < extension; i++) {
        nc_buf_append_byte(out, i == 0 ? ';' : 'e');
    }
    nc_buf_append(out, nc_slice_of("\r\n"));
    for (size_t i = 0; i < size; i++) {
        nc_buf_append_byte(out, 'c');
    }
    nc_buf_append(out, nc_slice_of("\r\n"));
}

static output read_chunks(size_t count, size_t size, size_t extension, size_t piece) {
    nc_buf text = nc_buf_init(64u << 20);
    for (size_t i = 0; i < count; i++) {
        append_chunk(&text, size, extension);
    }
    append_chunk(&text, 0, 0);
    output out = read_in_pieces(nc_buf_slice(&text), piece);
    nc_buf_deinit(&text);
    return out;
}

static void chunked__extensions_may_not_exceed_the_content(void **state) {
    (void)state;
    static const struct {
        size_t count;
        size_t size;
        size_t extension;
        nc_status status;
    } loads[] = {
        {1, 1, NC_CHUNKED_EXTENSION_MAX_BYTES, NC_OK},
        {1, 1, NC_CHUNKED_EXTENSION_MAX_BYTES + 1, NC_ERR_BAD_RESPONSE},
        // Only received content counts, not the announced length.
        {1, 100000, NC_CHUNKED_EXTENSION_MAX_BYTES + 1, NC_ERR_BAD_RESPONSE},
        // Content resets the limit of extensions only once.
        {2, NC_CHUNKED_EXTENSION_MAX_BYTES, NC_CHUNKED_EXTENSION_MAX_BYTES, NC_OK},
        {2, 2 * NC_CHUNKED_EXTENSION_MAX_BYTES, NC_CHUNKED_EXTENSION_MAX_BYTES + 1, NC_ERR_BAD_RESPONSE},
        {NC_CHUNKED_EXTENSION_MAX_BYTES - 1, 1, 2, NC_OK},
        {NC_CHUNKED_EXTENSION_MAX_BYTES, 1, 2, NC_ERR_BAD_RESPONSE},
        {10000, 85, 85, NC_OK},
    };
    for (size_t i = 0; i < COUNT_OF(loads); i++) {
        output out = read_chunks(loads[i].count, loads[i].size, loads[i].extension, 1 << 14);
        assert_status(out.status, loads[i].status);
        assert_int_equal(out.is_whole, out.status == NC_OK);
        nc_buf_deinit(&out.text);
    }
}

static void chunked__a_trailer_line_has_a_limit(void **state) {
    (void)state;
    for (size_t length = NC_CHUNKED_LINE_MAX_BYTES - 1; length <= NC_CHUNKED_LINE_MAX_BYTES + 1; length++) {
        for (size_t piece = 1; piece < 10000; piece += 1234) {
            nc_buf text = nc_buf_init(1 << 16);
            nc_buf_append(&text, nc_slice_of("0\r\n"));
            for (size_t i = 0; i < length - 2; i++) {
                nc_buf_append_byte(&text, i == 1 ? ':' : 'x');
            }
            nc_buf_append(&text, nc_slice_of("\r\n\r\n"));
            output out = read_in_pieces(nc_buf_slice(&text), piece);
            bool fits = length <= NC_CHUNKED_LINE_MAX_BYTES;
            assert_status(out.status, fits ? NC_OK : NC_ERR_HEAD_TOO_LARGE);
            assert_int_equal(out.offset, fits ? -1 : 3 + NC_CHUNKED_LINE_MAX_BYTES);
            nc_buf_deinit(&out.text);
            nc_buf_deinit(&text);
        }
    }
}

static void read_without_memory(void *ctx) {
    nc_chunked chunked = nc_chunked_init();
    nc_chunked_event event;
    nc_error err;
    nc_status status = NC_OK;
    (void)ctx;
    static const char *const pieces[] = {"1\r\nx\r\n0\r\nA", ": b", "\r\n\r\n"};
    for (size_t i = 0; i < COUNT_OF(pieces) && status == NC_OK; i++) {
        nc_slice in = nc_slice_of(pieces[i]);
        while (status == NC_OK && in.length > 0) {
            status = nc_chunked_next(&chunked, &in, &event, &err);
        }
    }
    assert_true(status == NC_ERR_NO_MEMORY ? harness_has_failed_allocation() : nc_chunked_is_whole(&chunked));
    nc_chunked_deinit(&chunked);
}

static void chunked__survives_each_allocation_failure(void **state) {
    (void)state;
    assert_true(each_allocation_failure(read_without_memory, NULL) > 0);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(chunked__every_split_decodes_or_rejects_alike),
        harness_case(chunked__every_split_in_two_gives_the_same_result),
        harness_case(chunked__only_a_digit_space_or_semicolon_may_follow_a_size),
        harness_case(chunked__bytes_after_the_end_are_not_consumed),
        harness_case(chunked__a_failure_is_sticky),
        harness_case(chunked__extensions_may_not_exceed_the_content),
        harness_case(chunked__a_trailer_line_has_a_limit),
        harness_case(chunked__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
