/// Conversion from UTF-8 to other charsets.
#include "harness.h"

#include <string.h>

static const struct {
    const char *text;
    const char *charset;
    const char *bytes;
} rows[] = {
    {"héllo €", "windows-1252", "h\xE9llo \x80"},
    {"äß", "ISO-8859-1", "\xE4\xDF"},
    {"中文", "gb18030", "\xD6\xD0\xCE\xC4"},
    {"😀", "GB18030", "\x94\x39\xFC\x36"},
    {"カ", "Shift_JIS", "\x83\x4A"},
    {"\\n ~①", "csShiftJIS", "\\n ~\x87\x40"},
    {"カ", "ISO-2022-JP", "\x1B$B%+\x1B(B"},
    {"aé", "UTF-8", "aé"},
    {"€™", "x-cp1252", "\x80\x99"},
    {"ğ", "latin5", "\xF0"},
    {"\u20AC", "dos-874", "\x80"},
    {"ў", "koi8-u", "\xAE"},
    {"\uF781", "x-user-defined", "\x81"},
    {"中€", "gb2312", "\xD6\xD0\x80"},
    {"", "Shift_JIS", ""},
};

static void charset__text_is_written_in_each_charset(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        guarded text = guarded_copy(nc_slice_of(rows[i].text));
        nc_buf out = nc_buf_init(100);
        nc_error err;
        nc_buf_append_byte(&out, '>');
        assert_status(nc_charset_from_utf8(&out, text.slice, nc_slice_of(rows[i].charset), &err), NC_OK);
        assert_slice_equals(nc_slice_make(out.data + 1, out.length - 1), rows[i].bytes);
        nc_buf_deinit(&out);
        guarded_deinit(&text);
    }
}

static void charset__written_text_reads_back(void **state) {
    (void)state;
    static const char *const charsets[] = {"gb18030", "UTF-16LE", "UTF-16", "UTF-32BE", "utf-8"};
    static const char text[] = "a\x01\xC2\x80\xEF\xBF\xBD\xF0\x9F\x98\x80z";
    for (size_t i = 0; i < sizeof charsets / sizeof charsets[0]; i++) {
        nc_buf bytes = nc_buf_init(1000);
        nc_buf back = nc_buf_init(1000);
        assert_status(nc_charset_from_utf8(&bytes, nc_slice_of(text), nc_slice_of(charsets[i]), NULL), NC_OK);
        assert_status(nc_charset_to_utf8(&back, nc_buf_slice(&bytes), nc_slice_of(charsets[i]), NULL), NC_OK);
        assert_slice_equals(nc_buf_slice(&back), text);
        nc_buf_deinit(&bytes);
        nc_buf_deinit(&back);
    }
}

static void assert_refused(nc_slice text, const char *charset, int64_t offset) {
    nc_buf out = nc_buf_init(100);
    nc_error err;
    nc_buf_append_byte(&out, '>');
    assert_status(nc_charset_from_utf8(&out, text, nc_slice_of(charset), &err), NC_ERR_BAD_CHARSET);
    assert_int_equal(err.offset, offset);
    assert_slice_equals(nc_buf_slice(&out), ">");
    nc_buf_deinit(&out);
}

static void charset__an_unmappable_character_is_reported_by_its_offset(void **state) {
    (void)state;
    assert_refused(nc_slice_of("ab中"), "ISO-8859-1", 2);
    assert_refused(nc_slice_of("é中"), "windows-1252", 2);
    assert_refused(nc_slice_of("a\xFFz"), "ISO-8859-1", 1);
    // Strict decoders and those of WHATWG read these bytes as different characters, so they are never written.
    assert_refused(nc_slice_of("ab€"), "ISO-8859-1", 2);
    assert_refused(nc_slice_of("ab\xC2\x80"), "latin1", 2);
    assert_refused(nc_slice_of("é"), "us-ascii", 0);
    assert_refused(nc_slice_of("€"), "tis-620", 0);
    assert_refused(nc_slice_of("a\xED\xA0\x80"), "UTF-16", 1);
    assert_refused(nc_slice_of("a"), "no-such-charset", -1);
    assert_refused(nc_slice_of("a"), "latin1//TRANSLIT", -1);
    nc_buf out = nc_buf_init(3);
    assert_status(nc_charset_from_utf8(&out, nc_slice_of("abcd"), nc_slice_of("latin1"), NULL), NC_ERR_TOO_LARGE);
    assert_int_equal(out.length, 0);
    nc_buf_deinit(&out);
}

static void write_one(void *ctx) {
    (void)ctx;
    nc_buf out = nc_buf_init(1000);
    nc_slice text = nc_slice_of("a text that is long enough for more than one step of the buffer: 中文中文中文中文");
    nc_status status = nc_charset_from_utf8(&out, text, nc_slice_of("UTF-32"), NULL);
    assert_status(status, harness_has_failed_allocation() ? NC_ERR_NO_MEMORY : NC_OK);
    nc_buf_deinit(&out);
}

static void charset__writing_survives_each_allocation_failure(void **state) {
    (void)state;
    assert_true(each_allocation_failure(write_one, NULL) >= 2);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(charset__text_is_written_in_each_charset),
        harness_case(charset__written_text_reads_back),
        harness_case(charset__an_unmappable_character_is_reported_by_its_offset),
        harness_case(charset__writing_survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
