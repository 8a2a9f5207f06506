#include "base/ascii.h"
#include "base/error.h"
#include "base/utf8.h"

#include <errno.h>
#include <iconv.h>
#include <netcore/charset.h>
#include <string.h>

#define MAX_NAME_BYTES 63u
/// The least that iconv is offered at a time; no character of any charset becomes longer.
#define LEAST_ROOM 64u

/// A name's own bytes, NUL-terminated for iconv_open(3).
typedef struct charset_name {
    char text[MAX_NAME_BYTES + 1];
} charset_name;

/// '/' is left out on purpose: "//TRANSLIT" and "//IGNORE" turn errors into wrong text.
static bool is_name_byte(uint8_t c) {
    return nc_ascii_is_alpha(c) || nc_ascii_is_digit(c) || c == '.' || c == '_' || c == ':' || c == '-';
}

static bool is_one_of(nc_slice name, const char *const *list) {
    for (; *list != NULL; list++) {
        if (nc_slice_is_equal_ignoring_case(name, nc_slice_of(*list))) {
            return true;
        }
    }
    return false;
}

static bool parse_name(charset_name *out, nc_slice name) {
    // Names that iconv takes and IANA does not know: they mean the locale's charset or the machine's own words.
    static const char *const refused[] = {"char", "wchar_t", "internal", NULL};
    if (name.length == 0 || name.length > MAX_NAME_BYTES || is_one_of(name, refused)) {
        return false;
    }
    for (size_t i = 0; i < name.length; i++) {
        if (!is_name_byte(name.data[i])) {
            return false;
        }
    }
    memcpy(out->text, name.data, name.length);
    out->text[name.length] = '\0';
    return true;
}

/// What iconv is asked for. Its own Shift_JIS reads the backslash as a yen sign and the tilde as an overline, which it
/// writes as they are: everybody else means Windows' table (WHATWG Encoding, 4.2).
static const char *iconv_name(const charset_name *name) {
    static const char *const shift_jis[] = {"shift_jis", "shift-jis", "sjis", "ms_kanji", "csshiftjis", "x-sjis", NULL};
    return is_one_of(nc_slice_of(name->text), shift_jis) ? "CP932" : name->text;
}

static nc_status fail_at(nc_error *err, size_t offset, nc_slice text, const char *charset) {
    if (offset >= text.length) {
        return nc_error_set(err, NC_ERR_BAD_CHARSET, 0, (int64_t)offset, "the text ends inside a character of %s",
                            charset);
    }
    return nc_error_set(err, NC_ERR_BAD_CHARSET, 0, (int64_t)offset, "byte 0x%02x at byte %zu is not valid %s",
                        text.data[offset], offset, charset);
}

static nc_status fail_full(nc_error *err, const nc_buf *out) {
    return nc_error_set(err, out->status, 0, -1, "the converted text does not fit: %s", nc_status_text(out->status));
}

static nc_status copy_utf8(nc_buf *out, nc_slice text, nc_error *err) {
    size_t valid = nc_utf8_span(text.data, text.length);
    if (valid != text.length) {
        return fail_at(err, valid, text, "UTF-8");
    }
    nc_buf_append(out, text);
    return out->status == NC_OK ? nc_error_clear(err) : fail_full(err, out);
}

/// Offers iconv the free end of `out`, and makes more room when it asks; errno is returned, 0 when all is converted.
static int convert(iconv_t converter, nc_buf *out, char **input, size_t *input_left) {
    for (;;) {
        char *into = (char *)out->data + out->length;
        size_t room = out->capacity - out->length;
        size_t room_before = room;
        // The last call, without input, writes what a stateful charset still holds back.
        bool is_last = *input_left == 0;
        size_t result = iconv(converter, is_last ? NULL : input, is_last ? NULL : input_left, &into, &room);
        int code = result == (size_t)-1 ? errno : 0;
        out->length += room_before - room;
        if (code == 0 && is_last) {
            return 0;
        }
        if (code == 0) {
            continue;
        }
        if (code != E2BIG) {
            return code;
        }
        // What is left of the maximum may be less than the usual step, and still be enough.
        size_t left = out->max_bytes - out->capacity;
        size_t step = (out->capacity - out->length) + (left < LEAST_ROOM ? left : LEAST_ROOM);
        if (nc_buf_reserve(out, left == 0 ? step + 1 : step) != NC_OK) {
            return E2BIG;
        }
    }
}

/// Finds the input byte whose character was written at `written` bytes, by converting again into just that much room.
static size_t offset_of_output(iconv_t converter, nc_slice text, uint8_t *scratch, size_t written) {
    char *input = (char *)(uintptr_t)text.data;
    size_t input_left = text.length;
    char *into = (char *)scratch;
    (void)iconv(converter, NULL, NULL, NULL, NULL);
    (void)iconv(converter, &input, &input_left, &into, &written);
    return text.length - input_left;
}

static nc_status convert_text(nc_buf *out, iconv_t converter, nc_slice text, const char *charset, nc_error *err) {
    if (text.length == 0) {
        return nc_error_clear(err);
    }
    size_t start = out->length;
    size_t room = text.length < out->max_bytes - start ? text.length : out->max_bytes - start;
    if (nc_buf_reserve(out, room == 0 ? 1 : room) != NC_OK) {
        return fail_full(err, out);
    }
    char *input = (char *)(uintptr_t)text.data;
    size_t input_left = text.length;
    int code = convert(converter, out, &input, &input_left);
    if (out->status != NC_OK) {
        return fail_full(err, out);
    }
    // Some converters (UCS-4) let through numbers above U+10FFFF, as the five-byte forms of old. Such a one comes
    // before the byte that iconv stopped at, if it stopped.
    size_t valid = nc_utf8_span(out->data + start, out->length - start);
    if (valid != out->length - start) {
        return fail_at(err, offset_of_output(converter, text, out->data + start, valid), text, charset);
    }
    if (code == EINVAL) {
        return nc_error_set(err, NC_ERR_BAD_CHARSET, 0, (int64_t)(text.length - input_left),
                            "the text ends inside a character of %s", charset);
    }
    if (code != 0) {
        return fail_at(err, text.length - input_left, text, charset);
    }
    return nc_error_clear(err);
}

/// Checks the arguments and the name; `*is_utf8` tells whether there is nothing to convert.
static nc_status prepare(charset_name *name, bool *is_utf8, const nc_buf *out, nc_slice text, nc_slice charset,
                         nc_error *err) {
    static const char *const utf8_names[] = {"utf-8", "utf8", "csutf8", NULL};
    if (out == NULL || (text.data == NULL && text.length != 0) || (charset.data == NULL && charset.length != 0)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a buffer or slice is NULL");
    }
    if (!parse_name(name, charset)) {
        return nc_error_set(err, NC_ERR_BAD_CHARSET, 0, -1, "'%.*s' is not the name of a charset",
                            charset.length > MAX_NAME_BYTES ? (int)MAX_NAME_BYTES : (int)charset.length,
                            charset.length == 0 ? "" : (const char *)charset.data);
    }
    *is_utf8 = is_one_of(charset, utf8_names);
    return out->status != NC_OK ? fail_full(err, out) : NC_OK;
}

static nc_status open_converter(iconv_t *out, const char *to, const char *from, const char *charset, nc_error *err) {
    *out = iconv_open(to, from);
    if (*out != (iconv_t)-1) {
        return NC_OK;
    }
    nc_status status = errno == ENOMEM ? NC_ERR_NO_MEMORY : NC_ERR_BAD_CHARSET;
    return nc_error_set(err, status, errno, -1, "no converter for the charset '%s'", charset);
}

nc_status nc_charset_to_utf8(nc_buf *out, nc_slice text, nc_slice charset, nc_error *err) {
    charset_name name;
    iconv_t converter;
    bool is_utf8 = false;
    nc_status status = prepare(&name, &is_utf8, out, text, charset, err);
    if (status == NC_OK && is_utf8) {
        return copy_utf8(out, text, err);
    }
    if (status == NC_OK) {
        status = open_converter(&converter, "UTF-8", iconv_name(&name), name.text, err);
    }
    if (status != NC_OK) {
        return status;
    }
    size_t length_before = out->length;
    status = convert_text(out, converter, text, name.text, err);
    if (status != NC_OK) {
        out->length = length_before;
    }
    iconv_close(converter);
    return status;
}

static nc_status write_text(nc_buf *out, iconv_t converter, nc_slice text, const char *charset, nc_error *err) {
    char *input = (char *)(uintptr_t)text.data;
    size_t input_left = text.length;
    if (nc_buf_reserve(out, 1) != NC_OK) {
        return fail_full(err, out);
    }
    int code = convert(converter, out, &input, &input_left);
    if (out->status != NC_OK) {
        return fail_full(err, out);
    }
    if (code != 0) {
        return nc_error_set(err, NC_ERR_BAD_CHARSET, 0, (int64_t)(text.length - input_left),
                            "%s has not the character at byte %zu", charset, text.length - input_left);
    }
    return nc_error_clear(err);
}

nc_status nc_charset_from_utf8(nc_buf *out, nc_slice text, nc_slice charset, nc_error *err) {
    charset_name name;
    iconv_t converter;
    bool is_utf8 = false;
    nc_status status = prepare(&name, &is_utf8, out, text, charset, err);
    if (status == NC_OK && (is_utf8 || text.length == 0)) {
        return copy_utf8(out, text, err);
    }
    size_t valid = status == NC_OK ? nc_utf8_span(text.data, text.length) : text.length;
    if (valid < text.length) {
        return fail_at(err, valid, text, "UTF-8");
    }
    if (status == NC_OK) {
        status = open_converter(&converter, iconv_name(&name), "UTF-8", name.text, err);
    }
    if (status != NC_OK) {
        return status;
    }
    size_t length_before = out->length;
    status = write_text(out, converter, text, name.text, err);
    if (status != NC_OK) {
        out->length = length_before;
    }
    iconv_close(converter);
    return status;
}
