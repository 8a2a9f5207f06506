#include "harness.h"

#include "base/utf8.h"

#include <string.h>

typedef struct row {
    const char *charset;
    const char *bytes;
    size_t length;
    /// NULL if the bytes are rejected at `offset`.
    const char *expected;
    int64_t offset;
} row;

#define GOOD(charset, bytes, expected)                                                                                 \
    { charset, bytes, sizeof bytes - 1, expected, -1 }
#define BAD(charset, bytes, offset)                                                                                    \
    { charset, bytes, sizeof bytes - 1, NULL, offset }

static const row rows[] = {
    GOOD("utf-8", "", ""),
    GOOD("UTF8", "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x8E\x89", "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x8E\x89"),
    GOOD("gb18030", "\xC4\xE3\xBA\xC3", "\xE4\xBD\xA0\xE5\xA5\xBD"),
    GOOD("GB18030", "\x95\x32\x82\x36", "\xF0\xA0\x80\x80"),
    GOOD("Shift_JIS", "\x93\xFA\x96\x7B", "\xE6\x97\xA5\xE6\x9C\xAC"),
    GOOD("Shift_JIS", "C:\\~\x87\x40", "C:\\~\xE2\x91\xA0"),
    GOOD("x-sjis", "\\n\xB1", "\\n\xEF\xBD\xB1"),
    GOOD("Big5", "\xA4\xA4\xA4\xE5", "\xE4\xB8\xAD\xE6\x96\x87"),
    GOOD("EUC-KR", "\xC7\xD1\xB1\xDB", "\xED\x95\x9C\xEA\xB8\x80"),
    GOOD("windows-1252", "\x80\xE4", "\xE2\x82\xAC\xC3\xA4"),
    GOOD("ISO-8859-1", "\xE4", "\xC3\xA4"),
    GOOD("us-ascii", "plain \xE9 \x80", "plain \xC3\xA9 \xE2\x82\xAC"),
    GOOD("windows-1252", "a\x81", "a\xC2\x81"),
    GOOD("gb2312", "\xE9\x46", "\xE9\x95\x95"),
    GOOD("euc-kr", "\x8C\x63", "\xEB\x98\xA0"),
    GOOD("tis-620", "\x80", "\xE2\x82\xAC"),
    GOOD("ISO-2022-JP", "\x1B$B\x46\x7C\x1B(B!", "\xE6\x97\xA5!"),
    GOOD("utf-16le", "\x3D\xD8\x89\xDF", "\xF0\x9F\x9E\x89"),
    /* --- rejected at this offset --- */
    BAD("us-ascii//IGNORE", "ab", -1),
    BAD("windows-1253", "a\xD2", 1),
    BAD("gb18030", "a\xC4", 1),
    BAD("Shift_JIS", "abc\x93", 3),
    BAD("EUC-KR", "\xC7\xD1\xFF\xFF", 2),
    BAD("EUC-KR", "\xC7\xD1\xA2\xE8", 2),
    BAD("UHC", "\xC7\xD1\xA2\xE8", 2),
    BAD("utf-16le",
        "a\0\x3D\xD8"
        "b\0",
        2),
    BAD("utf-16be", "\0a\0", 2),
    BAD("utf-32le", "a\0\0\0\0\0\x11\0", 4),
    BAD("ucs-4le", "a\0\0\0\0\0\x11\0", 4),
    /* --- the library's own UTF-8 check --- */
    BAD("utf-8", "ab\x80", 2),
    BAD("utf-8", "\xC0\x80", 0),
    BAD("utf-8", "\xC1\xBF", 0),
    BAD("utf-8", "a\xC3", 1),
    BAD("utf-8", "\xC3(", 0),
    BAD("utf-8", "a\xE0\x9F\xBF", 1),
    BAD("utf-8", "\xED\xA0\x80", 0),
    BAD("utf-8", "\xED\xBF\xBF", 0),
    BAD("utf-8", "12345678\xF0\x8F\xBF\xBF", 8),
    BAD("utf-8", "1234567\xF4\x90\x80\x80", 7),
    BAD("utf-8", "\xF5\x80\x80\x80", 0),
    BAD("utf-8", "\xF0\x9F\x8E", 0),
    BAD("utf-8", "\xFE", 0),
    BAD("utf-8", "\xFF", 0),
};

#define ROW_COUNT (sizeof rows / sizeof rows[0])

static void charset__converts_or_reports_the_offset(void **state) {
    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        guarded text = guarded_copy(nc_slice_make(rows[i].bytes, rows[i].length));
        guarded name = guarded_copy(nc_slice_of(rows[i].charset));
        nc_buf out = nc_buf_init(100);
        nc_buf_append(&out, nc_slice_of("kept"));
        nc_error err;
        nc_status status = nc_charset_to_utf8(&out, text.slice, name.slice, &err);
        if (rows[i].offset != err.offset) {
            print_error("row %zu (%s): offset %lld\n", i, rows[i].charset, (long long)err.offset);
        }
        assert_int_equal(err.offset, rows[i].offset);
        assert_status(status, rows[i].expected == NULL ? NC_ERR_BAD_CHARSET : NC_OK);
        assert_status(err.status, status);
        assert_status(out.status, NC_OK);
        nc_slice converted = nc_slice_make(out.data + 4, out.length - 4);
        assert_slice_equals(converted, rows[i].expected == NULL ? "" : rows[i].expected);
        nc_buf_deinit(&out);
        guarded_deinit(&text);
        guarded_deinit(&name);
    }
}

/// A slow reference implementation: decodes the character and checks its value.
static bool is_utf8_scalar(const uint8_t *b, size_t length) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t value = length == 2 ? b[0] & 0x1Fu : length == 3 ? b[0] & 0x0Fu : b[0] & 0x07u;
    bool has_lead = length == 2 ? (b[0] & 0xE0) == 0xC0 : length == 3 ? (b[0] & 0xF0) == 0xE0 : (b[0] & 0xF8) == 0xF0;
    for (size_t i = 1; i < length; i++) {
        has_lead = has_lead && (b[i] & 0xC0) == 0x80;
        value = value << 6 | (b[i] & 0x3Fu);
    }
    return has_lead && value >= least[length] && value <= 0x10FFFF && !(value >= 0xD800 && value <= 0xDFFF);
}

static void utf8__sequences_agree_with_the_definition(void **state) {
    (void)state;
    static const uint8_t ends[] = {0x00, 0x7F, 0x80, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF};
    for (unsigned lead = 0; lead < 256; lead++) {
        for (unsigned second = 0; second < 256; second++) {
            for (size_t k = 0; k < sizeof ends * sizeof ends; k++) {
                uint8_t bytes[] = {(uint8_t)lead, (uint8_t)second, ends[k % 8], ends[k / 8]};
                size_t expected = lead < 0x80 ? 1 : 0;
                for (size_t length = 2; length <= 4 && expected == 0; length++) {
                    expected = is_utf8_scalar(bytes, length) ? length : 0;
                }
                assert_int_equal(nc_utf8_sequence(bytes, 4), expected);
                for (size_t length = 0; length < expected; length++) {
                    assert_int_equal(nc_utf8_sequence(bytes, length), 0);
                }
            }
        }
    }
}

static void charset__maps_latin_1_as_windows_1252(void **state) {
    (void)state;
    uint8_t bytes[256];
    nc_buf expected = nc_buf_init(1000);
    for (unsigned c = 0; c < 256; c++) {
        bytes[c] = (uint8_t)c;
        if (c >= 0x80 && c < 0xA0) {
            bytes[c] = 'x';
            nc_buf_append_byte(&expected, 'x');
            continue;
        }
        if (c >= 0x80) {
            nc_buf_append_byte(&expected, (uint8_t)(0xC0 | c >> 6));
        }
        nc_buf_append_byte(&expected, (uint8_t)(c < 0x80 ? c : 0x80 | (c & 0x3F)));
    }
    nc_buf out = nc_buf_init(1000);
    assert_status(nc_charset_to_utf8(&out, nc_slice_make(bytes, 256), nc_slice_of("iso-8859-1"), NULL), NC_OK);
    assert_true(nc_slice_is_equal(nc_buf_slice(&out), nc_buf_slice(&expected)));
    nc_buf_deinit(&out);
    nc_buf_deinit(&expected);
}

static void charset__each_single_byte_is_converted_or_rejected(void **state) {
    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        uint8_t byte = (uint8_t)c;
        nc_buf out = nc_buf_init(10);
        nc_slice text = nc_slice_make(&byte, 1);
        nc_status expected = c < 0x80 ? NC_OK : NC_ERR_BAD_CHARSET;
        assert_status(nc_charset_to_utf8(&out, text, nc_slice_of("utf-8"), NULL), expected);
        assert_status(nc_charset_to_utf8(&out, text, nc_slice_of("us-ascii"), NULL), NC_OK);
        nc_buf_deinit(&out);
    }
}

static void charset__a_name_with_other_bytes_is_rejected(void **state) {
    (void)state;
    static const char *const refused[] = {
        "",     "no-such-charset", "utf-8//TRANSLIT", "us-ascii//IGNORE", "/",         "latin1,utf8", " utf 8", "utf 8",
        "char", "WCHAR_T",         "Internal",        "utf-8\n.",         "\"utf-8\"", "utf-8/",
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        nc_buf out = nc_buf_init(10);
        nc_error err;
        nc_slice name = nc_slice_of(refused[i]);
        assert_status(nc_charset_to_utf8(&out, nc_slice_of("a"), name, &err), NC_ERR_BAD_CHARSET);
        assert_status(nc_charset_to_utf8(&out, nc_slice_of(""), name, &err), NC_ERR_BAD_CHARSET);
        assert_int_equal(err.offset, -1);
        assert_int_equal(out.length, 0);
        nc_buf_deinit(&out);
    }
    for (unsigned c = 0; c < 256; c++) {
        char name[] = {'u', 't', 'f', (char)c, '8'};
        nc_buf out = nc_buf_init(10);
        nc_status status = nc_charset_to_utf8(&out, nc_slice_of("a"), nc_slice_make(name, 5), NULL);
        assert_true((status == NC_OK) == (c == '-') || c == '_');
        nc_buf_deinit(&out);
    }
}

static void charset__a_name_may_have_63_bytes(void **state) {
    (void)state;
    char name[64];
    memset(name, 'x', sizeof name);
    nc_buf out = nc_buf_init(10);
    nc_error err;
    assert_status(nc_charset_to_utf8(&out, nc_slice_of("a"), nc_slice_make(name, 63), &err), NC_ERR_BAD_CHARSET);
    assert_non_null(strstr(err.message, "iconv does not support"));
    assert_status(nc_charset_to_utf8(&out, nc_slice_of("a"), nc_slice_make(name, 64), &err), NC_ERR_BAD_CHARSET);
    assert_non_null(strstr(err.message, "not the name"));
    nc_buf_deinit(&out);
}

static void charset__a_missing_argument_is_rejected(void **state) {
    (void)state;
    nc_buf out = nc_buf_init(10);
    nc_slice missing = {NULL, 3};
    assert_status(nc_charset_to_utf8(&out, missing, nc_slice_of("utf-8"), NULL), NC_ERR_USAGE);
    assert_status(nc_charset_to_utf8(&out, nc_slice_of("a"), missing, NULL), NC_ERR_USAGE);
    nc_buf_deinit(&out);
}

static void charset__text_that_does_not_fit_leaves_the_buffer_unchanged(void **state) {
    (void)state;
    char text[300];
    memset(text, (char)0xE4, sizeof text);
    for (size_t length = 1; length <= sizeof text; length += 13) {
        for (size_t max_bytes = 2 * length - 1; max_bytes <= 2 * length; max_bytes++) {
            nc_buf out = nc_buf_init(max_bytes + 4);
            nc_buf_append(&out, nc_slice_of("kept"));
            nc_error err;
            nc_status status = nc_charset_to_utf8(&out, nc_slice_make(text, length), nc_slice_of("latin1"), &err);
            assert_status(status, max_bytes < 2 * length ? NC_ERR_TOO_LARGE : NC_OK);
            assert_int_equal(out.length, max_bytes < 2 * length ? 4 : max_bytes + 4);
            assert_status(err.status, status);
            nc_buf_deinit(&out);
        }
    }
    nc_buf full = nc_buf_init(1);
    assert_status(nc_charset_to_utf8(&full, nc_slice_of("ab"), nc_slice_of("utf-8"), NULL), NC_ERR_TOO_LARGE);
    nc_buf_deinit(&full);
}

static void charset__converts_a_large_text(void **state) {
    (void)state;
    enum { PAIRS = 200000 };
    nc_buf text = nc_buf_init(2 * PAIRS);
    for (size_t i = 0; i < PAIRS; i++) {
        nc_buf_append(&text, nc_slice_of("\xC4\xE3"));
    }
    nc_buf out = nc_buf_init(3 * PAIRS);
    assert_status(nc_charset_to_utf8(&out, nc_buf_slice(&text), nc_slice_of("gb18030"), NULL), NC_OK);
    assert_int_equal(out.length, 3 * PAIRS);
    for (size_t i = 0; i < PAIRS; i++) {
        assert_memory_equal(out.data + 3 * i, "\xE4\xBD\xA0", 3);
    }
    nc_buf_deinit(&out);
    nc_buf_deinit(&text);
}

static void charset__the_first_of_two_invalid_offsets_is_reported_regression_1(void **state) {
    // The first number is above U+10FFFF, which iconv accepts. iconv rejects the second one.
    (void)state;
    guarded text = guarded_copy(nc_slice_make("\0\0\0A\x01\0\x01\0\xD1\0\0\0", 12));
    nc_buf out = nc_buf_init(100);
    nc_error err;
    assert_status(nc_charset_to_utf8(&out, text.slice, nc_slice_of("UCS-4"), &err), NC_ERR_BAD_CHARSET);
    assert_int_equal(err.offset, 4);
    assert_int_equal(out.length, 0);
    nc_buf_deinit(&out);
    guarded_deinit(&text);
}

static void convert_some(void *ctx) {
    (void)ctx;
    char text[1000];
    memset(text, (char)0x80, sizeof text);
    nc_buf out = nc_buf_init(1 << 20);
    nc_error err;
    nc_status status = nc_charset_to_utf8(&out, nc_slice_make(text, sizeof text), nc_slice_of("windows-1252"), &err);
    assert_status(status, harness_has_failed_allocation() ? NC_ERR_NO_MEMORY : NC_OK);
    assert_status(err.status, status);
    assert_int_equal(out.length, status == NC_OK ? 3000 : 0);
    nc_buf_deinit(&out);
}

static void charset__survives_each_allocation_failure(void **state) {
    (void)state;
    assert_true(each_allocation_failure(convert_some, NULL) >= 2);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(charset__converts_or_reports_the_offset),
        harness_case(utf8__sequences_agree_with_the_definition),
        harness_case(charset__maps_latin_1_as_windows_1252),
        harness_case(charset__each_single_byte_is_converted_or_rejected),
        harness_case(charset__a_name_with_other_bytes_is_rejected),
        harness_case(charset__a_name_may_have_63_bytes),
        harness_case(charset__a_missing_argument_is_rejected),
        harness_case(charset__text_that_does_not_fit_leaves_the_buffer_unchanged),
        harness_case(charset__converts_a_large_text),
        harness_case(charset__the_first_of_two_invalid_offsets_is_reported_regression_1),
        harness_case(charset__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
