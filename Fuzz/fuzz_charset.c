/// Covers: text/charset.c text/charset_decoder.c text/charset_jis.c text/charset_tables.c base/utf8.c
///
/// The result of nc_charset_to_utf8() is always UTF-8, and a rejection reports the right byte.
/// Input: the charset's number (255: its name follows), a maximum (two bytes), the text.
#include "input.h"

#include <netcore/charset.h>
#include <string.h>

static const char *const charsets[] = {
    "utf-8",        "UTF8",         "gb18030",     "GBK",      "GB2312",  "Shift_JIS",    "EUC-JP",     "ISO-2022-JP",
    "Big5",         "BIG5-HKSCS",   "EUC-KR",      "UHC",      "UTF-16",  "UTF-16LE",     "UTF-16BE",   "UTF-32",
    "UTF-32LE",     "UCS-4",        "UTF-7",       "latin1",   "KOI8-R",  "iso-8859-15",  "iso-8859-8", "windows-1252",
    "windows-1251", "windows-1255", "windows-874", "TIS-620",  "IBM037",  "ISO-2022-KR",  "HZ",         "EUC-TW",
    "x-sjis",       "TCVN5712-1",   "JOHAB",       "US-ASCII", "UCS-2BE", "windows-1258",
};

enum { CHARSET_COUNT = sizeof charsets / sizeof *charsets, OWN_NAME = 255 };

static void check_accepted(nc_slice out, nc_slice text, nc_slice charset) {
    CHECK(utf8_span_by_decoding(out) == out.length);
    bool is_utf8 = nc_slice_is_equal_ignoring_case(charset, nc_slice_of("utf-8")) ||
                   nc_slice_is_equal_ignoring_case(charset, nc_slice_of("utf8"));
    CHECK(!is_utf8 || nc_slice_is_equal(out, text));
}

/// Checks that the text before the rejected byte is valid. It may end within a character or a shift sequence (UTF-7).
static void check_refused(const nc_error *err, nc_slice text, nc_slice charset) {
    if (err->offset < 0) {
        return;
    }
    nc_slice before = nc_slice_make(text.data, (size_t)err->offset);
    nc_buf out = nc_buf_init(1 << 20);
    nc_error cut;
    nc_status status = nc_charset_to_utf8(&out, before, charset, &cut);
    CHECK(status == NC_OK || strstr(cut.message, "ends inside") != NULL);
    check_accepted(nc_buf_slice(&out), before, charset);
    nc_buf_deinit(&out);
    if (nc_slice_is_equal_ignoring_case(charset, nc_slice_of("utf-8"))) {
        CHECK(utf8_span_by_decoding(text) == before.length);
    }
}

/// Checks that a buffer of the exact size suffices, and that a smaller one is never overrun.
static void check_bounded(nc_slice whole, nc_slice text, nc_slice charset, size_t max_bytes) {
    nc_buf small = nc_buf_init(max_bytes);
    nc_error err;
    nc_status status = nc_charset_to_utf8(&small, text, charset, &err);
    check_error(&err, status, text.length);
    CHECK(small.length <= max_bytes && small.capacity <= max_bytes);
    if (max_bytes >= whole.length) {
        // Even an empty result may need one byte of room.
        CHECK(status == NC_OK || max_bytes == 0);
    }
    if (status == NC_OK) {
        CHECK(nc_slice_is_equal(nc_buf_slice(&small), whole));
    } else {
        CHECK(status == NC_ERR_TOO_LARGE && small.length == 0);
    }
    nc_buf_deinit(&small);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    uint8_t number = input_byte(&in);
    size_t max_bytes = input_number(&in);
    nc_slice charset = number == OWN_NAME ? input_piece(&in) : nc_slice_of(charsets[number % CHARSET_COUNT]);
    nc_slice text = input_rest(&in);
    nc_buf out = nc_buf_init(1 << 20);
    nc_error err;
    nc_buf_append_byte(&out, '>');
    nc_status status = nc_charset_to_utf8(&out, text, charset, &err);
    check_error(&err, status, text.length);
    CHECK(out.data[0] == '>');
    if (status == NC_OK) {
        nc_slice result = nc_slice_make(out.data + 1, out.length - 1);
        check_accepted(result, text, charset);
        check_bounded(result, text, charset, max_bytes % (result.length + 8));
    } else {
        CHECK(status == NC_ERR_BAD_CHARSET && out.length == 1);
        check_refused(&err, text, charset);
    }
    nc_buf_deinit(&out);
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
