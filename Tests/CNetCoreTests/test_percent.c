#include "harness.h"

#include "text/percent.h"

#include <stdlib.h>
#include <string.h>

/// The unescaped characters of each style: RFC 3986, section 2.3, and '/' and '?' for a query.
static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

static bool is_kept(uint8_t byte, nc_percent_style style) {
    bool has_slash = style == NC_PERCENT_QUERY || style == NC_PERCENT_QUERY_PLUS;
    return byte != 0 && (strchr(unreserved, byte) != NULL || (has_slash && (byte == '/' || byte == '?')));
}

/// The rule, byte by byte, without the library.
static size_t expect(char *out, nc_slice text, nc_percent_style style) {
    static const char digits[] = "0123456789ABCDEF";
    bool has_plus = style == NC_PERCENT_QUERY_PLUS || style == NC_PERCENT_COMPONENT_PLUS;
    size_t used = 0;
    for (size_t i = 0; i < text.length; i++) {
        uint8_t byte = text.data[i];
        if (is_kept(byte, style)) {
            out[used++] = (char)byte;
        } else if (byte == ' ' && has_plus) {
            out[used++] = '+';
        } else {
            out[used++] = '%';
            out[used++] = digits[byte >> 4];
            out[used++] = digits[byte & 15];
        }
    }
    out[used] = 0;
    return used;
}

enum { LONGEST = 200, STYLES = 4 };

/// Escapes with one implementation, from memory before a guard page to memory of the declared size.
static void check_way(const nc_percent_named_kernel *way, nc_slice text, nc_percent_style style) {
    char expected[3 * LONGEST + 1];
    size_t length = expect(expected, text, style);
    guarded in = guarded_copy(text);
    uint8_t *out = malloc(NC_PERCENT_ROOM(text.length));
    assert_non_null(out);
    size_t written = way->escape(out, in.slice.data, text.length, nc_percent_set_of(style));
    if (written != length || memcmp(out, expected, length) != 0) {
        fail_msg("%s, style %d: '%.*s' is not '%s'", way->name, (int)style, (int)written, (const char *)out, expected);
    }
    free(out);
    guarded_deinit(&in);
}

static void check_each_way(nc_slice text) {
    nc_percent_named_kernel ways[4];
    size_t count = nc_percent_kernels(ways);
    for (size_t i = 0; i < count; i++) {
        for (unsigned style = 0; style < STYLES; style++) {
            check_way(&ways[i], text, (nc_percent_style)style);
        }
    }
}

static void percent__each_kernel_escapes_each_byte_at_each_position(void **state) {
    (void)state;
    uint8_t text[33];
    for (unsigned byte = 0; byte < 256; byte++) {
        memset(text, 'a', sizeof text);
        for (size_t place = 0; place < sizeof text; place += place < 17 ? 1 : 5) {
            text[place] = (uint8_t)byte;
            check_each_way(nc_slice_make(text, sizeof text));
            text[place] = 'a';
        }
    }
}

static void percent__each_kernel_escapes_texts_of_each_length(void **state) {
    (void)state;
    // The average number of unescaped bytes in four.
    for (unsigned share = 0; share <= 4; share++) {
        uint8_t text[LONGEST];
        uint32_t chance = 12345 + share;
        for (size_t i = 0; i < sizeof text; i++) {
            chance = chance * 1103515245u + 12345u;
            bool keeps = (chance >> 16) % 4 < share;
            text[i] = keeps ? (uint8_t)unreserved[(chance >> 20) % 66] : (uint8_t)(chance >> 20);
        }
        for (size_t length = 0; length <= sizeof text; length += length < 70 ? 1 : 13) {
            check_each_way(nc_slice_make(text, length));
        }
    }
}

static void percent__each_kernel_escapes_all_bytes_in_a_row(void **state) {
    (void)state;
    uint8_t text[LONGEST];
    for (unsigned first = 0; first < 256; first += 56) {
        for (size_t i = 0; i < sizeof text; i++) {
            text[i] = (uint8_t)(first + i);
        }
        check_each_way(nc_slice_make(text, sizeof text));
    }
}

static void percent__prints_the_tested_kernels(void **state) {
    (void)state;
    nc_percent_named_kernel ways[4];
    size_t count = nc_percent_kernels(ways);
    assert_string_equal(ways[0].name, "scalar");
    for (size_t i = 0; i < count; i++) {
        print_message("way: %s\n", ways[i].name);
    }
#if defined(__x86_64__) || defined(__aarch64__)
    assert_true(count >= 2); // SSE2 and NEON are part of these architectures
#endif
}

static void assert_escaped(const char *text, nc_percent_style style, const char *expected) {
    uint8_t out[NC_PERCENT_ROOM(64)];
    size_t length = nc_percent_escape(out, nc_slice_of(text), style);
    assert_slice_equals(nc_slice_make(out, length), expected);
    nc_buf buf = nc_buf_init(1000);
    nc_buf_append(&buf, nc_slice_of(">"));
    nc_percent_append(&buf, nc_slice_of(text), style);
    assert_int_equal(buf.data[0], '>');
    assert_slice_equals(nc_slice_make(buf.data + 1, buf.length - 1), expected);
    nc_buf_deinit(&buf);
}

static void percent__escapes_by_style(void **state) {
    (void)state;
    assert_escaped("", NC_PERCENT_QUERY, "");
    assert_escaped("a b+c/d?e", NC_PERCENT_QUERY, "a%20b%2Bc/d?e");
    assert_escaped("a b+c/d?e", NC_PERCENT_QUERY_PLUS, "a+b%2Bc/d?e");
    assert_escaped("a b+c/d?e", NC_PERCENT_COMPONENT, "a%20b%2Bc%2Fd%3Fe");
    assert_escaped("a b+c/d?e", NC_PERCENT_COMPONENT_PLUS, "a+b%2Bc%2Fd%3Fe");
    assert_escaped("a b/", (nc_percent_style)99, "a%20b%2F");
    assert_escaped("100%25", NC_PERCENT_QUERY, "100%2525");
    assert_escaped("\xC3\xA4 and \xF0\x9F\x98\x80 in a text", NC_PERCENT_QUERY,
                   "%C3%A4%20and%20%F0%9F%98%80%20in%20a%20text");
}

static void percent__text_that_does_not_fit_is_rejected(void **state) {
    (void)state;
    nc_slice text = nc_slice_of("some words, of which some & others are escaped");
    char expected[3 * LONGEST + 1];
    size_t length = expect(expected, text, NC_PERCENT_QUERY);
    for (size_t max = 0; max <= length + 150; max++) {
        nc_buf buf = nc_buf_init(max);
        nc_percent_append(&buf, text, NC_PERCENT_QUERY);
        assert_status(nc_buf_status(&buf), max < length ? NC_ERR_TOO_LARGE : NC_OK);
        assert_true(buf.capacity <= max);
        assert_int_equal(buf.length, max < length ? 0 : length);
        nc_buf_deinit(&buf);
    }
}

static void percent__appends_long_texts_piece_by_piece(void **state) {
    (void)state;
    size_t length = 3 * 4096 + 100;
    uint8_t *text = malloc(length);
    char *expected = malloc(3 * length + 1);
    assert_true(text != NULL && expected != NULL);
    for (size_t i = 0; i < length; i++) {
        text[i] = (uint8_t)(i * i / 7);
    }
    size_t escaped = expect(expected, nc_slice_make(text, length), NC_PERCENT_QUERY);
    nc_buf buf = nc_buf_init(1 << 20);
    nc_percent_append(&buf, nc_slice_make(text, length), NC_PERCENT_QUERY);
    assert_true(nc_slice_is_equal(nc_buf_slice(&buf), nc_slice_make(expected, escaped)));
    nc_buf_deinit(&buf);
    // If the last piece does not fit, the first ones are removed again.
    nc_buf small = nc_buf_init(escaped);
    nc_buf_append(&small, nc_slice_of("kept"));
    nc_percent_append(&small, nc_slice_make(text, length), NC_PERCENT_QUERY);
    assert_status(nc_buf_status(&small), NC_ERR_TOO_LARGE);
    assert_slice_equals(nc_buf_slice(&small), "kept");
    nc_percent_append(&small, nc_slice_of("more"), NC_PERCENT_QUERY);
    assert_int_equal(small.length, strlen("kept"));
    nc_buf_deinit(&small);
    free(expected);
    free(text);
}

static void append_while_memory_runs_out(void *ctx) {
    (void)ctx;
    nc_buf buf = nc_buf_init(1 << 20);
    uint8_t text[9000] = {0};
    nc_percent_append(&buf, nc_slice_make(text, sizeof text), NC_PERCENT_QUERY);
    assert_int_equal(buf.length, nc_buf_status(&buf) == NC_OK ? 3 * sizeof text : 0);
    nc_buf_deinit(&buf);
    buf = nc_buf_init(3 * sizeof text);
    nc_percent_append(&buf, nc_slice_make(text, sizeof text), NC_PERCENT_QUERY);
    assert_int_equal(buf.length, nc_buf_status(&buf) == NC_OK ? 3 * sizeof text : 0);
    nc_buf_deinit(&buf);
}

static void percent__survives_each_failing_allocation(void **state) {
    (void)state;
    assert_true(each_allocation_failure(append_while_memory_runs_out, NULL) > 3);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(percent__each_kernel_escapes_each_byte_at_each_position),
        harness_case(percent__each_kernel_escapes_texts_of_each_length),
        harness_case(percent__each_kernel_escapes_all_bytes_in_a_row),
        harness_case(percent__prints_the_tested_kernels),
        harness_case(percent__escapes_by_style),
        harness_case(percent__text_that_does_not_fit_is_rejected),
        harness_case(percent__appends_long_texts_piece_by_piece),
        harness_case(percent__survives_each_failing_allocation),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
