/// Hex and base64.
#include "harness.h"

#include <string.h>

typedef nc_status decoder(nc_buf *out, nc_slice text, nc_error *err);

static nc_status decode_hex(nc_buf *out, nc_slice text, nc_error *err) {
    return nc_hex_decode(out, text, err);
}

static nc_status decode_plain(nc_buf *out, nc_slice text, nc_error *err) {
    return nc_base64_decode(out, text, NC_BASE64, err);
}

static nc_status decode_url(nc_buf *out, nc_slice text, nc_error *err) {
    return nc_base64_decode(out, text, NC_BASE64URL, err);
}

static nc_status decode_padded_url(nc_buf *out, nc_slice text, nc_error *err) {
    return nc_base64_decode(out, text, NC_BASE64URL_PADDED, err);
}

static decoder *const decoders[] = {decode_plain, decode_url, decode_padded_url};

static void assert_decodes(decoder *decode, const char *text, nc_slice expected) {
    guarded copy = guarded_copy(nc_slice_of(text));
    nc_buf out = nc_buf_init(expected.length);
    nc_error err;
    assert_status(decode(&out, copy.slice, &err), NC_OK);
    assert_true(nc_slice_is_equal(nc_buf_slice(&out), expected));
    nc_buf_deinit(&out);
    guarded_deinit(&copy);
}

static void assert_refuses(decoder *decode, const char *text, int64_t offset) {
    guarded copy = guarded_copy(nc_slice_of(text));
    nc_buf out = nc_buf_init(100);
    nc_error err;
    nc_buf_append_byte(&out, '>');
    assert_status(decode(&out, copy.slice, &err), NC_ERR_BAD_CODING);
    assert_int_equal(err.offset, offset);
    assert_slice_equals(nc_buf_slice(&out), ">");
    nc_buf_deinit(&out);
    guarded_deinit(&copy);
}

static void base64__agrees_with_rfc_4648(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        {"", "", ""},
        {"f", "Zg==", "Zg"},
        {"fo", "Zm8=", "Zm8"},
        {"foo", "Zm9v", "Zm9v"},
        {"foob", "Zm9vYg==", "Zm9vYg"},
        {"fooba", "Zm9vYmE=", "Zm9vYmE"},
        {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
        {"\xFB\xFF\xBF", "+/+/", "-_-_"},
        {"\xFF\xEF", "/+8=", "_-8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nc_slice bytes = nc_slice_of(rows[i][0]);
        for (nc_base64_kind kind = NC_BASE64; kind <= NC_BASE64URL; kind++) {
            const char *text = rows[i][1 + (size_t)kind];
            guarded copy = guarded_copy(bytes);
            nc_buf out = nc_buf_init(strlen(text));
            nc_base64_encode(&out, copy.slice, kind);
            assert_slice_equals(nc_buf_slice(&out), text);
            assert_decodes(decoders[kind], text, bytes);
            nc_buf_deinit(&out);
            guarded_deinit(&copy);
        }
    }
    assert_decodes(decode_padded_url, "_-8=", nc_slice_of("\xFF\xEF"));
    nc_buf out = nc_buf_init(4);
    nc_base64_encode(&out, nc_slice_of("\xFF\xEF"), NC_BASE64URL_PADDED);
    assert_slice_equals(nc_buf_slice(&out), "_-8=");
    nc_buf_deinit(&out);
}

static void base64__round_trips(void **state) {
    (void)state;
    uint8_t bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 167);
    }
    for (size_t length = 0; length <= sizeof bytes; length++) {
        for (nc_base64_kind kind = NC_BASE64; kind <= NC_BASE64URL_PADDED; kind++) {
            nc_slice whole = nc_slice_make(bytes, length);
            nc_buf text = nc_buf_init(500);
            nc_buf back = nc_buf_init(length);
            nc_base64_encode(&text, whole, kind);
            assert_status(nc_base64_decode(&back, nc_buf_slice(&text), kind, NULL), NC_OK);
            assert_true(nc_slice_is_equal(nc_buf_slice(&back), whole));
            nc_buf_deinit(&text);
            nc_buf_deinit(&back);
        }
    }
}

static void base64__rejects_every_other_spelling(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t offset;
    } plain[] = {
        {"Z", 1},     {"Zg", 2},     {"Zg=", 3},  {"Zg===", 4},       {"Zh==", 1},     {"Zm9=", 2},
        {"=", 0},     {"====", 0},   {"Z===", 1}, {"Zm9v=", 4},       {"Zm9v====", 4}, {"Zg==Zg==", 4},
        {"Zm 9v", 2}, {"Zm9v\n", 4}, {"-_-_", 0}, {"Z\xC3\xA4==", 1}, {"Zg=x", 3},     {"Zg= =", 3},
    };
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        assert_refuses(decode_plain, plain[i].text, plain[i].offset);
    }
    assert_refuses(decode_url, "Zg==", 2);
    assert_refuses(decode_url, "+/+/", 0);
    assert_refuses(decode_url, "Z", 1);
    assert_refuses(decode_url, "Zh", 1);
    assert_refuses(decode_padded_url, "Zg", 2);
    assert_refuses(decode_padded_url, "+g==", 0);
}

static void base64__accepts_only_its_alphabet(void **state) {
    (void)state;
    for (int c = 1; c < 256; c++) {
        char text[] = {'A', 'A', 'A', (char)c, 0};
        bool is_alnum = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        for (size_t kind = 0; kind < 3; kind++) {
            bool is_digit = is_alnum || (kind == 0 ? c == '+' || c == '/' : c == '-' || c == '_');
            bool is_padding = c == '=' && kind != 1;
            nc_buf out = nc_buf_init(3);
            nc_status status = decoders[kind](&out, nc_slice_of(text), NULL);
            assert_status(status, is_digit || is_padding ? NC_OK : NC_ERR_BAD_CODING);
            nc_buf_deinit(&out);
        }
    }
}

static void hex__is_written_in_lower_case_and_read_in_any_case(void **state) {
    (void)state;
    nc_buf out = nc_buf_init(8);
    nc_hex_encode(&out, nc_slice_make("\x00\x9F\xA0\xFF", 4));
    assert_slice_equals(nc_buf_slice(&out), "009fa0ff");
    nc_buf_deinit(&out);
    assert_decodes(decode_hex, "009fA0Ff", nc_slice_make("\x00\x9F\xA0\xFF", 4));
    assert_decodes(decode_hex, "", nc_slice_make(NULL, 0));
}

static void hex__rejects_incomplete_or_invalid_pairs(void **state) {
    (void)state;
    assert_refuses(decode_hex, "a", 1);
    assert_refuses(decode_hex, "abc", 3);
    assert_refuses(decode_hex, "0x", 1);
    assert_refuses(decode_hex, "ab ", 2);
    for (int c = 1; c < 256; c++) {
        char text[] = {'0', (char)c, 0};
        bool is_digit = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
        if (is_digit) {
            assert_decodes(decode_hex, text,
                           nc_slice_make((uint8_t[]){(uint8_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10)}, 1));
        } else {
            assert_refuses(decode_hex, text, 1);
        }
    }
}

static void base64_and_hex__output_that_does_not_fit_is_rejected(void **state) {
    (void)state;
    nc_buf out = nc_buf_init(3);
    nc_error err;
    nc_hex_encode(&out, nc_slice_of("ab"));
    assert_status(nc_buf_status(&out), NC_ERR_TOO_LARGE);
    nc_buf_reset(&out);
    nc_base64_encode(&out, nc_slice_of("a"), NC_BASE64);
    assert_status(nc_buf_status(&out), NC_ERR_TOO_LARGE);
    nc_buf_reset(&out);
    assert_status(nc_base64_decode(&out, nc_slice_of("AAAAAA=="), NC_BASE64, &err), NC_ERR_TOO_LARGE);
    nc_buf_reset(&out);
    assert_status(nc_hex_decode(&out, nc_slice_of("00112233"), &err), NC_ERR_TOO_LARGE);
    assert_status(nc_hex_decode(&out, nc_slice_make(NULL, 2), &err), NC_ERR_USAGE);
    assert_int_equal(out.length, 0);
    nc_buf_deinit(&out);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(base64__agrees_with_rfc_4648),
        harness_case(base64__round_trips),
        harness_case(base64__rejects_every_other_spelling),
        harness_case(base64__accepts_only_its_alphabet),
        harness_case(hex__is_written_in_lower_case_and_read_in_any_case),
        harness_case(hex__rejects_incomplete_or_invalid_pairs),
        harness_case(base64_and_hex__output_that_does_not_fit_is_rejected),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
