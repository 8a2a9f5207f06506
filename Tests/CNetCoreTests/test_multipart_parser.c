/// The parser of multipart bodies (RFC 2046, section 5.1.1). Each result is the same for every split of the input.
#include "harness.h"

#include <netcore/parts.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define MIXED "multipart/mixed; boundary=b"

/// The output: "{name=value,}" for a head, the content, "}" at a part's end, "." at the last boundary.
typedef struct output {
    nc_buf text;
    nc_status status;
    int64_t offset;
} output;

static void put(output *out, const char *text) {
    nc_buf_append(&out->text, nc_slice_of(text));
}

static void put_event(output *out, const nc_parts_event *event) {
    switch (event->kind) {
    case NC_PARTS_HEAD:
        put(out, "{");
        for (size_t i = 0; i < event->field_count; i++) {
            nc_buf_append(&out->text, event->fields[i].name);
            put(out, "=");
            nc_buf_append(&out->text, event->fields[i].value);
            put(out, ",");
        }
        put(out, "|");
        break;
    case NC_PARTS_CONTENT:
        assert_true(event->bytes.length > 0);
        nc_buf_append(&out->text, event->bytes);
        break;
    default:
        put(out, event->kind == NC_PARTS_PART_END ? "}" : event->kind == NC_PARTS_END ? "." : "");
    }
}

static void feed(nc_parts *parts, nc_slice in, output *out) {
    guarded copy = guarded_copy(in);
    nc_slice remaining = copy.slice;
    nc_parts_event event = {.kind = NC_PARTS_HEAD};
    nc_error err;
    while (out->status == NC_OK && event.kind != NC_PARTS_NEEDS_MORE) {
        out->status = nc_parts_next(parts, &remaining, &event, &err);
        if (out->status == NC_OK) {
            put_event(out, &event);
        } else {
            assert_int_equal(err.status, out->status);
            out->offset = err.offset;
        }
    }
    assert_true(out->status != NC_OK || remaining.length == 0);
    guarded_deinit(&copy);
}

static void finish(nc_parts *parts, output *out) {
    nc_error err;
    if (out->status == NC_OK) {
        out->status = nc_parts_finish(parts, &err);
        out->offset = err.offset;
    } else {
        // Further input fails in the same way.
        nc_slice more = nc_slice_of("\r\n--b--");
        nc_parts_event event;
        assert_status(nc_parts_next(parts, &more, &event, &err), out->status);
        assert_int_equal(err.offset, out->offset);
        assert_status(nc_parts_finish(parts, NULL), out->status);
    }
    nc_parts_free(parts);
}

static nc_parts *begin(const char *type, const nc_parts_options *options) {
    nc_parts *parts = NULL;
    nc_error err;
    assert_status(nc_parts_new(&parts, nc_slice_of(type), options, &err), NC_OK);
    return parts;
}

static output read_in_pieces(const char *type, const nc_parts_options *options, nc_slice text, size_t piece) {
    nc_parts *parts = begin(type, options);
    output out = {nc_buf_init(1 << 20), NC_OK, -1};
    while (text.length > 0 && out.status == NC_OK) {
        size_t count = text.length < piece ? text.length : piece;
        feed(parts, nc_slice_make(text.data, count), &out);
        text = nc_slice_make(text.data + count, text.length - count);
    }
    finish(parts, &out);
    return out;
}

typedef struct row {
    const char *text;
    size_t length;
    const char *output;
    nc_status status;
    int64_t offset;
} row;

#define WHOLE(text, output)                                                                                            \
    { (text), sizeof(text) - 1, (output), NC_OK, -1 }
#define CUT(text, output)                                                                                              \
    { (text), sizeof(text) - 1, (output), NC_ERR_CUT_SHORT, sizeof(text) - 1 }
#define BAD(text, offset, output)                                                                                      \
    { (text), sizeof(text) - 1, (output), NC_ERR_BAD_RESPONSE, (offset) }

static const row rows[] = {
    WHOLE("--b\r\n\r\nhi\r\n--b--", "{|hi}."),
    WHOLE("--b\r\nA: 1\r\nContent-Type:text/plain \r\n\r\nhi\r\n--b\r\n\r\nyou\r\n--b--\r\n",
          "{A=1,Content-Type=text/plain,|hi}{|you}."),
    WHOLE("a preamble\r\n\r\n--b\r\n\r\n1\r\n--b--\r\nan epilogue\r\n--b\r\n", "{|1}."),
    WHOLE("--b \t\r\n\r\n1\r\n--b-- \t", "{|1}."),
    WHOLE("--b\r\n\r\n\r\n--b--", "{|}."),
    WHOLE("--b\r\n\r\n--b--", "{|}."),
    WHOLE("--b\r\nA: 1\r\n\r\n--b--", "{A=1,|}."), // only fields
    WHOLE("--b\r\n\r\n\r\n\r\n--b--", "{|\r\n}."),
    WHOLE("--b\r\n\r\n\r\r\n-\r\n--\r\n--c\n--b--\r\r\n--b--", "{|\r\r\n-\r\n--\r\n--c\n--b--\r}."),
    WHOLE("--b\r\nA: 1\r\n  2\r\n\t3\r\nB:\r\n\r\n\r\n--b--", "{A=1    2  \t3,B=,|}."),
    WHOLE("--b\r\nA: \xC3\xA9\t\"x\"\r\n\r\n--b--", "{A=\xC3\xA9\t\"x\",|}."),
    WHOLE("x\r\n--\r\n--b\r\n\r\n--b--", "{|}."),
    CUT("", ""),
    CUT("--", ""),
    CUT("--b", ""),
    CUT("no boundary at all", ""),
    CUT("--b\r\n", ""),
    CUT("--b\r\nA: 1\r\n", ""),
    CUT("--b\r\nA: 1\r\n\r\n", "{A=1,|"),
    CUT("--b\r\n\r\nhi", "{|hi"),
    CUT("--b\r\n\r\nhi\r", "{|hi"),
    CUT("--b\r\n\r\nhi\r\n--", "{|hi"),
    CUT("--b\r\n\r\nhi\r\n--b", "{|hi}"),
    CUT("--b\r\n\r\nhi\r\n--b\r\n", "{|hi}"),
    CUT("--b\r\n\r\nhi\r\n--b-", "{|hi}"),
    // A boundary line has no other text.
    BAD("--bb\r\n\r\nhi\r\n--b--", 3, ""),
    BAD("--bb\r\n--b\r\n\r\n1\r\n--b--", 3, ""),
    BAD("--b \t \r\n\r\n1\r\n--b\t--", 17, "{|1}"),
    BAD("--b x\r\n\r\nhi\r\n--b--", 4, ""),
    BAD("--b-\r\n\r\nhi\r\n--b--", 4, ""),
    BAD("--b\r\n\r\nhi\r\n--bc", 14, "{|hi}"),
    BAD("--b\r\n\r\nhi\r\n--b-x", 15, "{|hi}"),
    BAD("--b\r\n\r\nhi\r\n--b--x", 16, "{|hi}."),
    BAD("--b\r\n\r\nhi\r\n--b--\rx", 17, "{|hi}."),
    BAD("--b\n\nhi\n--b--", 3, ""),
    BAD("--b\r\r\n", 4, ""),
    BAD("--b--", 3 + 1, ""), // RFC 2046: one part at least
    // Fields.
    BAD("--b\r\n--b--\r\n\r\n", 5 + 5, ""),
    BAD("--b\r\nA 1\r\n\r\n", 6, ""),
    BAD("--b\r\nA : 1\r\n\r\n", 6, ""),
    BAD("--b\r\n: 1\r\n\r\n", 5, ""),
    BAD("--b\r\n A: 1\r\n\r\n", 5, ""),
    BAD("--b\r\nA: 1\n\r\n", 9, ""),
    BAD("--b\r\nA: 1\rB: 2\r\n\r\n", 9, ""),
    BAD("--b\r\nA: 1\r\r\n\r\n", 9, ""),
    BAD("--b\r\nA: \0\r\n\r\n", 8, ""),
    BAD("--b\r\nA: \x7f\r\n\r\n", 8, ""),
    BAD("--b\r\nA: 1\r\n\n", 11, ""),
    BAD("--b\r\nA: 1\r\nB\r\n\r\n", 12, ""),
};

static void expect_row(const row *one, const output *out) {
    nc_slice text = nc_buf_slice(&out->text);
    if (out->status != one->status || out->offset != one->offset ||
        !nc_slice_is_equal(text, nc_slice_of(one->output))) {
        fail_msg("'%s': %s at %lld, \"%.*s\"", one->text, nc_status_name(out->status), (long long)out->offset,
                 (int)text.length, (const char *)text.data);
    }
}

static void multipart_parser__every_split_parses_or_rejects_alike(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        nc_slice text = nc_slice_make(rows[i].text, rows[i].length);
        static const size_t pieces[] = {1, 2, 3, 7, SIZE_MAX};
        for (size_t p = 0; p < COUNT_OF(pieces); p++) {
            output out = read_in_pieces(MIXED, NULL, text, pieces[p]);
            expect_row(&rows[i], &out);
            nc_buf_deinit(&out.text);
        }
    }
}

static void expect_split(void *ctx, nc_slice head, nc_slice tail) {
    output out = {nc_buf_init(1 << 20), NC_OK, -1};
    nc_parts *parts = begin(MIXED, NULL);
    feed(parts, head, &out);
    feed(parts, tail, &out);
    finish(parts, &out);
    expect_row(ctx, &out);
    nc_buf_deinit(&out.text);
}

static void multipart_parser__every_split_in_two_gives_the_same_events(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        each_split(nc_slice_make(rows[i].text, rows[i].length), expect_split, (void *)(uintptr_t)&rows[i]);
    }
}

#define REPLACE "multipart/x-mixed-replace;boundary="

/// Streams as cameras send them, and similar bodies that are not streams.
static const struct {
    const char *type;
    row row;
} streams[] = {
    // A boundary that was declared with its hyphens, in both forms.
    {REPLACE "--b", WHOLE("--b\r\nA: 1\r\n\r\nhi\r\n--b\r\n\r\nyou\r\n--b--\r\n", "{A=1,|hi}{|you}.")},
    {REPLACE "--b", WHOLE("----b\r\n\r\nhi\r\n----b\r\n\r\nyou\r\n----b--\r\n", "{|hi}{|you}.")},
    {REPLACE "--b", WHOLE("--b\r\n\r\nhi\r\n----b\r\n\r\nyou\r\n--b--\r\n", "{|hi}{|you}.")},
    {REPLACE "\"--b c\"", WHOLE("x\r\n--b c\r\n\r\n--b \r\n---b c\r\n--b c--", "{|--b \r\n---b c}.")},
    {REPLACE "---b", WHOLE("---b\r\n\r\n--b\r\n----b\r\n---b--", "{|--b\r\n----b}.")},
    {REPLACE "----", WHOLE("------\r\n\r\n----\r\n\r\n--------", "{|----\r\n}.")},
    {"multipart/mixed; boundary=--b", WHOLE("--b\r\n\r\nhi\r\n----b\r\n--b--", "{|hi\r\n----b}.")},
    {"multipart/mixed; boundary=--b", WHOLE("----b\r\n\r\nhi\r\n--b\r\n----b--", "{|hi\r\n--b}.")},
    {"multipart/mixed; boundary=b", WHOLE("b\r\n--b\r\n\r\nb\r\n\r\n--b--", "{|b\r\n}.")},
    // A first part without a boundary before it.
    {REPLACE "b", WHOLE("Content-Type: a\r\n\r\n1\r\n--b\r\n\r\n2\r\n--b--", "{Content-Type=a,|1}{|2}.")},
    {REPLACE "b", WHOLE("\r\n\r\nX: 1\r\ncontent-length: 1\r\n 2\r\n\r\n\r\n--b--", "{X=1,content-length=1   2,|}.")},
    {REPLACE "--b", WHOLE("Content-Type: a\r\n\r\n1\r\n--b\r\n\r\n2\r\n--b--", "{Content-Type=a,|1}{|2}.")},
    {REPLACE "b", WHOLE("Content-Type: a\r\n\r\n--b\r\n\r\n2\r\n--b--", "{Content-Type=a,|}{|2}.")},
    {REPLACE "b", CUT("Content-Type: a\r\n\r\n1\r\n", "{Content-Type=a,|1")},
    {REPLACE "b", CUT("Content-Type: a\r\n", "")},
    // A preamble is no part.
    {REPLACE "b", WHOLE("Note: a preamble\r\n\r\n--b\r\n\r\n1\r\n--b--", "{|1}.")},
    {REPLACE "b", WHOLE("Content-Type: a\r\nwords\r\n\r\n--b\r\n\r\n1\r\n--b--", "{|1}.")},
    {REPLACE "b", WHOLE("Content-Type: a\r\n--b\r\n\r\n1\r\n--b--", "{|1}.")},
    {REPLACE "b", WHOLE("no fields\r\nContent-Type: a\r\n\r\n--b\r\n\r\n1\r\n--b--", "{|1}.")},
    {REPLACE "b", WHOLE("\r\n-\r\n--\r\n--b\r\n\r\n1\r\n--b--", "{|1}.")},
    {REPLACE "b", WHOLE("x: \x01\r\n\r\n--b\r\n\r\n1\r\n--b--", "{|1}.")},
    {MIXED, WHOLE("Content-Type: a\r\n\r\n1\r\n--b\r\n\r\n2\r\n--b--", "{|2}.")},
    // Lines that end with LF only.
    {REPLACE "b", WHOLE("--b\nA: 1\nB: 2\n\nhi\nyou\n--b \n\n\n--b--\n", "{A=1,B=2,|hi\nyou}{|}.")},
    {REPLACE "b",
     WHOLE("Content-Type: a\n\n\r\r\n\n\r\n--b\r\nA: 1\n\r\n2\n--b--", "{Content-Type=a,|\r\r\n\n}{A=1,|2}.")},
    {REPLACE "b", BAD("--b\nA: 1\rB: 2\n\nhi\n--b--", 8, "")},
    // Blanks and quotes round the boundary.
    {"Multipart/X-Mixed-Replace ; Boundary = b", WHOLE("--b \t\r\n\r\nhi\r\n--b-- \r\n", "{|hi}.")},
    {"multipart/mixed; boundary\t=\t\"b\"", WHOLE("--b\r\n\r\nhi\r\n--b--", "{|hi}.")},
    {"multipart/mixed; boundary=\"\\a\\-b\"", WHOLE("--a-b\r\n\r\nhi\r\n--a-b--", "{|hi}.")},
    {REPLACE "<<a*b>>", WHOLE("--<<a*b>>\r\n\r\nhi\r\n--<<a*b>>--", "{|hi}.")},
};

static void multipart_parser__streams_are_parsed_as_browsers_do(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(streams); i++) {
        for (size_t piece = 1; piece <= streams[i].row.length; piece++) {
            nc_slice text = nc_slice_make(streams[i].row.text, streams[i].row.length);
            output out = read_in_pieces(streams[i].type, NULL, text, piece);
            expect_row(&streams[i].row, &out);
            nc_buf_deinit(&out.text);
        }
    }
}

/// A picture is complete as soon as the boundary after it has arrived, without the rest of its line.
static void multipart_parser__a_streams_part_ends_with_the_last_byte_of_the_boundary(void **state) {
    (void)state;
    static const struct {
        const char *type;
        const char *first;
    } starts[] = {
        {REPLACE "b", "--b\r\nContent-Type: a\r\n\r\nhi\r\n--b"},
        {REPLACE "--b", "--b\r\nContent-Type: a\r\n\r\nhi\r\n--b"},
        {REPLACE "--b", "----b\r\nContent-Type: a\r\n\r\nhi\r\n----b"},
        {REPLACE "b", "Content-Type: a\r\n\r\nhi\r\n--b"},
        {REPLACE "b", "Content-Type: a\n\nhi\n--b"},
    };
    for (size_t i = 0; i < COUNT_OF(starts); i++) {
        nc_parts *parts = begin(starts[i].type, NULL);
        output out = {nc_buf_init(1000), NC_OK, -1};
        nc_slice text = nc_slice_of(starts[i].first);
        for (size_t at = 0; at < text.length; at++) {
            assert_null(memchr(out.text.data == NULL ? (const uint8_t *)"" : out.text.data, '}', out.text.length));
            feed(parts, nc_slice_make(text.data + at, 1), &out);
        }
        assert_slice_equals(nc_buf_slice(&out.text), "{Content-Type=a,|hi}");
        nc_parts_free(parts);
        nc_buf_deinit(&out.text);
    }
}

static void multipart_parser__limits_of_streams_are_enforced(void **state) {
    (void)state;
    const nc_parts_options small = {.max_parts = 1, .max_head_bytes = 20, .max_part_bytes = 4};
    static const struct {
        const char *text;
        nc_status status;
    } texts[] = {
        {"Content-Type:a\n\n1234\n--b--", NC_OK},
        {"Content-Type:a\n\n12345\n--b--", NC_ERR_TOO_LARGE},
        {"Content-Type:a\n\n1\n--b\n\n2\n--b--", NC_ERR_TOO_LARGE},
        {"Content-Type:abcdefghijkl\n\n--b\n\n2\n--b--", NC_OK}, // longer than the limit of a head: a preamble
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        for (size_t piece = 1; piece < 40; piece++) {
            output out = read_in_pieces(REPLACE "b", &small, nc_slice_of(texts[i].text), piece);
            assert_status(out.status, texts[i].status);
            nc_buf_deinit(&out.text);
        }
    }
}

static void multipart_parser__a_body_truncated_after_any_byte_is_incomplete(void **state) {
    (void)state;
    static const char text[] = "x\r\n--b\r\nA: 1\r\n\r\nhi\r\nyou\r\n--b \r\n\r\n\r\n--b--";
    for (size_t length = 0; length < sizeof text - 1; length++) {
        output out = read_in_pieces(MIXED, NULL, nc_slice_make(text, length), 5);
        assert_status(out.status, NC_ERR_CUT_SHORT);
        assert_int_equal(out.offset, length);
        nc_buf_deinit(&out.text);
    }
}

static void multipart_parser__the_boundary_is_read_from_the_content_type(void **state) {
    (void)state;
    static const struct {
        const char *type;
        const char *boundary; // NULL: refused
    } types[] = {
        {"multipart/x-mixed-replace;boundary=b", "b"},
        {"Multipart/Form-Data; a=\"x;boundary=c\"; BOUNDARY=\"b ?=\" ; z=1", "b ?="},
        {"multipart/mixed; boundary='()+_,-./:=?aZ9", "'()+_,-./:=?aZ9"},
        {"multipart/mixed; boundary=1234567890123456789012345678901234567890123456789012345678901234567890",
         "1234567890123456789012345678901234567890123456789012345678901234567890"},
        {"multipart/mixed; boundary=12345678901234567890123456789012345678901234567890123456789012345678901", NULL},
        {"multipart/mixed", NULL},
        {"multipart/mixed; boundary=", NULL},
        {"multipart/mixed; boundary=\"\"", NULL},
        {"multipart/mixed; boundary=\"b \"", NULL},
        {"multipart/mixed; boundary=\"b\xC3\xA9\"", NULL},
        {"multipart/mixed; boundary=a*b", NULL},
        {"multipart/; boundary=b", NULL},
        {"text/html; boundary=b", NULL},
        {"multipartx/mixed; boundary=b", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        nc_parts *parts = NULL;
        nc_error err;
        nc_status status = nc_parts_new(&parts, nc_slice_of(types[i].type), NULL, &err);
        assert_status(status, types[i].boundary != NULL ? NC_OK : NC_ERR_BAD_RESPONSE);
        nc_parts_free(parts);
        if (types[i].boundary != NULL) {
            char text[256];
            int length = snprintf(text, sizeof text, "--%s\r\n\r\nhi\r\n--%s--", types[i].boundary, types[i].boundary);
            output out = read_in_pieces(types[i].type, NULL, nc_slice_make(text, (size_t)length), 4);
            assert_status(out.status, NC_OK);
            assert_slice_equals(nc_buf_slice(&out.text), "{|hi}.");
            nc_buf_deinit(&out.text);
        }
    }
}

static void expect_limit(const nc_parts_options *options, const char *text, nc_status status, int64_t offset) {
    for (size_t piece = 1; piece < 40; piece++) {
        output out = read_in_pieces(MIXED, options, nc_slice_of(text), piece);
        if (out.status != status || out.offset != offset) {
            fail_msg("'%s': %s at %lld", text, nc_status_name(out.status), (long long)out.offset);
        }
        nc_buf_deinit(&out.text);
    }
}

static void multipart_parser__limits_are_enforced(void **state) {
    (void)state;
    const nc_parts_options two = {.max_parts = 2};
    expect_limit(&two, "--b\r\n\r\n--b\r\n\r\n--b--", NC_OK, -1);
    expect_limit(&two, "--b\r\n\r\n--b\r\n\r\n--b\r\n\r\n--b--", NC_ERR_TOO_LARGE, 18);
    const nc_parts_options small = {.max_part_bytes = 4};
    expect_limit(&small, "--b\r\n\r\n1234\r\n--b\r\n\r\n\r\n--\r\n--b--", NC_OK, -1);
    expect_limit(&small, "--b\r\n\r\n12345\r\n--b--", NC_ERR_TOO_LARGE, 11);
    expect_limit(&small, "--b\r\n\r\n123\r\n-\r\n--b--", NC_ERR_TOO_LARGE, 11);
    expect_limit(&small, "--b\r\n\r\n1234\r\n-\r\n--b--", NC_ERR_TOO_LARGE, 11);
    const nc_parts_options brief = {.max_head_bytes = 8};
    expect_limit(&brief, "--b\r\nA: 1\r\n\r\n--b--", NC_OK, -1);
    expect_limit(&brief, "--b\r\nA: 12\r\n\r\n--b--", NC_ERR_HEAD_TOO_LARGE, 13);
    expect_limit(&brief, "--b\r\nA: \0012345678\r\n\r\n--b--", NC_ERR_HEAD_TOO_LARGE, 13);
}

static output read_repeated(const char *front, const char *piece, size_t count, const char *back) {
    nc_buf text = nc_buf_init(1 << 20);
    nc_buf_append(&text, nc_slice_of(front));
    for (size_t i = 0; i < count; i++) {
        nc_buf_append(&text, nc_slice_of(piece));
    }
    nc_buf_append(&text, nc_slice_of(back));
    assert_status(nc_buf_status(&text), NC_OK);
    output out = read_in_pieces(MIXED, NULL, nc_buf_slice(&text), 1000);
    nc_buf_deinit(&text);
    nc_buf_deinit(&out.text);
    return out;
}

static void multipart_parser__padding_preamble_and_fields_are_bounded(void **state) {
    (void)state;
    static const char end[] = "\r\n\r\nhi\r\n--b--";
    assert_status(read_repeated("--b", " ", NC_PARTS_MAX_PADDING_BYTES, end).status, NC_OK);
    output padded = read_repeated("--b", " ", NC_PARTS_MAX_PADDING_BYTES + 1, end);
    assert_status(padded.status, NC_ERR_BAD_RESPONSE);
    assert_int_equal(padded.offset, 3 + NC_PARTS_MAX_PADDING_BYTES);
    assert_status(read_repeated("", "p", NC_PARTS_MAX_PREAMBLE_BYTES, "\r\n--b\r\n\r\n--b--").status, NC_OK);
    output preamble = read_repeated("", "p", NC_PARTS_MAX_PREAMBLE_BYTES + 1, "\r\n--b\r\n\r\n--b--");
    assert_status(preamble.status, NC_ERR_TOO_LARGE);
    assert_int_equal(preamble.offset, NC_PARTS_MAX_PREAMBLE_BYTES);
    assert_status(read_repeated("--b\r\n", "A:1\r\n", NC_PARTS_MAX_FIELDS, end).status, NC_OK);
    output fields = read_repeated("--b\r\n", "A:1\r\n", NC_PARTS_MAX_FIELDS + 1, end);
    assert_status(fields.status, NC_ERR_HEAD_TOO_LARGE);
    assert_int_equal(fields.offset, 5 + 5 * NC_PARTS_MAX_FIELDS);
}

static void read_without_memory(void *ctx) {
    (void)ctx;
    nc_parts *parts = NULL;
    nc_error err;
    nc_status status = nc_parts_new(&parts, nc_slice_of(MIXED), NULL, &err);
    nc_parts_event event;
    static const char *const pieces[] = {"--b\r\nA", ": 1\r\nB: 2\r\n\r\nh", "i\r\n--b--"};
    for (size_t i = 0; i < COUNT_OF(pieces) && status == NC_OK; i++) {
        nc_slice in = nc_slice_of(pieces[i]);
        while (status == NC_OK && in.length > 0) {
            status = nc_parts_next(parts, &in, &event, &err);
        }
    }
    assert_true(status == NC_ERR_NO_MEMORY ? harness_has_failed_allocation() : nc_parts_finish(parts, &err) == NC_OK);
    nc_parts_free(parts);
}

static void multipart_parser__survives_each_allocation_failure(void **state) {
    (void)state;
    assert_true(each_allocation_failure(read_without_memory, NULL) > 2);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(multipart_parser__every_split_parses_or_rejects_alike),
        harness_case(multipart_parser__every_split_in_two_gives_the_same_events),
        harness_case(multipart_parser__streams_are_parsed_as_browsers_do),
        harness_case(multipart_parser__a_streams_part_ends_with_the_last_byte_of_the_boundary),
        harness_case(multipart_parser__limits_of_streams_are_enforced),
        harness_case(multipart_parser__a_body_truncated_after_any_byte_is_incomplete),
        harness_case(multipart_parser__the_boundary_is_read_from_the_content_type),
        harness_case(multipart_parser__limits_are_enforced),
        harness_case(multipart_parser__padding_preamble_and_fields_are_bounded),
        harness_case(multipart_parser__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
