#include "text/charset.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/error.h"
#include "base/utf8.h"

#include <errno.h>
#include <string.h>

/* --- names --- */

/// '/' is excluded, because iconv would read a suffix "//TRANSLIT" or "//IGNORE" and replace or drop characters.
static bool is_name_byte(uint8_t c) {
    return nc_ascii_is_alpha(c) || nc_ascii_is_digit(c) || strchr("._:-", c) != NULL;
}

static bool is_one_of(nc_slice name, const char *const *list) {
    for (; *list != NULL; list++) {
        if (nc_slice_is_equal_ignoring_case(name, nc_slice_of(*list))) {
            return true;
        }
    }
    return false;
}

static bool is_name(nc_slice name) {
    // iconv accepts these names, but they depend on the locale or the machine.
    static const char *const refused[] = {"char", "wchar_t", "internal", NULL};
    if (name.length == 0 || name.length > CHARSET_MAX_NAME || is_one_of(name, refused)) {
        return false;
    }
    for (size_t i = 0; i < name.length; i++) {
        if (name.data[i] == 0 || !is_name_byte(name.data[i])) {
            return false;
        }
    }
    return true;
}

nc_status nc_charset_name_parse(charset_name *out, nc_slice label, nc_error *err) {
    nc_slice name = nc_charset_label_trim(label);
    if (!is_name(name)) {
        return nc_error_set(err, NC_ERR_BAD_CHARSET, 0, -1, "'%.*s' is not the name of a charset",
                            label.length > CHARSET_MAX_NAME ? (int)CHARSET_MAX_NAME : (int)label.length,
                            label.length == 0 ? "" : (const char *)label.data);
    }
    memcpy(out->text, name.data, name.length);
    out->text[name.length] = '\0';
    // Two additions to the standard's labels: an alias of UTF-8 that IANA registered, and iconv's names for the
    // standard's EUC-KR.
    static const char *const korean[] = {"uhc", "cp949", "949", "ms949", NULL};
    bool is_iana_utf8 = nc_slice_is_equal_ignoring_case(name, nc_slice_of("csutf8"));
    out->encoding = nc_charset_find_label(is_iana_utf8              ? nc_slice_of("utf-8")
                                          : is_one_of(name, korean) ? nc_slice_of("euc-kr")
                                                                    : name);
    return NC_OK;
}

/* --- errors --- */

nc_status nc_charset_fail_full(nc_error *err, const nc_buf *out) {
    return nc_error_set(err, out->status, 0, -1, "cannot store the converted text: %s", nc_status_text(out->status));
}

static nc_status fail_at(const nc_charset_decoder *decoder, const uint8_t *bytes, size_t at, nc_error *err) {
    int64_t offset = decoder->offset + (int64_t)at;
    return nc_error_set(err, NC_ERR_BAD_CHARSET, 0, offset, "byte 0x%02x at byte %lld is not valid %s", bytes[at],
                        (long long)offset, decoder->name.text);
}

static nc_status fail_at_end(const nc_charset_decoder *decoder, size_t at, nc_error *err) {
    return nc_error_set(err, NC_ERR_BAD_CHARSET, 0, decoder->offset + (int64_t)at,
                        "the text ends inside a character of %s", decoder->name.text);
}

/* --- the converters; each advances `*bytes` past the converted characters and returns false at an invalid one --- */

static void skip(nc_slice *bytes, size_t count) {
    bytes->data += count;
    bytes->length -= count;
}

/// Appends the ASCII text at the start of `*bytes`.
static void take_ascii(nc_buf *out, nc_slice *bytes) {
    size_t count = 0;
    while (count < bytes->length && bytes->data[count] < 0x80) {
        count++;
    }
    nc_buf_append(out, nc_slice_make(bytes->data, count));
    skip(bytes, count);
}

static bool decode_utf8(nc_buf *out, nc_slice *bytes, bool is_last) {
    size_t valid = nc_utf8_span(bytes->data, bytes->length);
    nc_buf_append(out, nc_slice_make(bytes->data, valid));
    skip(bytes, valid);
    return bytes->length == 0 || (bytes->length < 4 && !is_last);
}

static bool decode_bytes(const nc_charset_decoder *decoder, nc_buf *out, nc_slice *bytes) {
    for (;;) {
        take_ascii(out, bytes);
        if (bytes->length == 0 || out->status != NC_OK) {
            return true;
        }
        uint16_t character = decoder->table[bytes->data[0] - 0x80];
        if (character == 0) {
            return false;
        }
        nc_utf8_append(out, character);
        skip(bytes, 1);
    }
}

/// Returns the offset of the input byte whose conversion starts at offset `written` of the output. Converts `text`
/// again, into a buffer of exactly that size.
static size_t offset_of_output(iconv_t converter, nc_slice text, uint8_t *scratch, size_t written) {
    char *input = (char *)(uintptr_t)text.data;
    size_t input_left = text.length;
    char *into = (char *)scratch;
    (void)iconv(converter, NULL, NULL, NULL, NULL);
    (void)iconv(converter, &input, &input_left, &into, &written);
    return text.length - input_left;
}

static bool decode_iconv(const nc_charset_decoder *decoder, nc_buf *out, nc_slice *bytes, bool is_last) {
    nc_slice whole = *bytes;
    size_t start = out->length;
    size_t room = whole.length < out->max_bytes - start ? whole.length : out->max_bytes - start;
    if (nc_buf_reserve(out, room) != NC_OK) {
        return true;
    }
    int code = nc_charset_run(decoder->iconv, out, bytes, is_last);
    if (out->status != NC_OK) {
        return true;
    }
    // Some converters (UCS-4) accept values above U+10FFFF and write invalid UTF-8 of five bytes. If iconv stopped at
    // another byte, that byte follows later.
    size_t valid = nc_utf8_span(out->data + start, out->length - start);
    if (valid != out->length - start) {
        size_t at = offset_of_output(decoder->iconv, whole, out->data + start, valid);
        *bytes = nc_slice_make(whole.data + at, whole.length - at);
        return false;
    }
    if (code != 0 && code != EINVAL && bytes->length == 0 && whole.length > 0) {
        // A few converters stop after the invalid sequence, not before it. Report the last byte then.
        *bytes = nc_slice_make(whole.data + whole.length - 1, 1);
    }
    return code == 0 || code == EINVAL;
}

/// Converts runs of characters by iconv. The characters between the runs, which iconv converts wrongly, are those of
/// nc_charset_fix().
static bool decode_with_fixes(const nc_charset_decoder *decoder, nc_buf *out, nc_slice *bytes) {
    while (bytes->length > 0 && out->status == NC_OK) {
        size_t end = 0;
        size_t length = 0;
        uint32_t fix = 0;
        while (end < bytes->length && fix == 0) {
            length = nc_charset_sequence(decoder->kind, bytes->data + end, bytes->length - end);
            fix = length == 0 ? 0 : nc_charset_fix(decoder->kind, bytes->data + end, length);
            if (length == 0) {
                break;
            }
            end += fix == 0 ? length : 0;
        }
        nc_slice run = nc_slice_make(bytes->data, end);
        // `is_last` is true, because the Big5 converter holds back a letter that an accent may follow. The standard
        // decodes each character separately.
        bool is_valid = end == 0 || (decode_iconv(decoder, out, &run, true) && run.length == 0);
        skip(bytes, end - run.length);
        if (!is_valid || fix == CHARSET_NO_CHARACTER) {
            return out->status != NC_OK;
        }
        if (fix == 0) {
            return true;
        }
        nc_utf8_append(out, fix);
        skip(bytes, length);
    }
    return true;
}

static bool decode_jis(nc_charset_decoder *decoder, nc_buf *out, nc_slice *bytes) {
    int length = 1;
    while (length > 0 && bytes->length > 0 && out->status == NC_OK) {
        length = decoder->kind == CHARSET_EUC_JP ? nc_charset_euc_jp_step(decoder, out, *bytes)
                                                 : nc_charset_iso_2022_jp_step(decoder, out, *bytes);
        skip(bytes, length > 0 ? (size_t)length : 0);
    }
    return length >= 0;
}

/// Removes a byte order mark, and selects big-endian conversion if the mark requires it.
static nc_status begin_utf16(nc_charset_decoder *decoder, nc_slice *bytes, nc_error *err) {
    bool is_big = bytes->data[0] == 0xFE && bytes->data[1] == 0xFF;
    bool is_little = bytes->data[0] == 0xFF && bytes->data[1] == 0xFE;
    decoder->has_begun = true;
    if (is_big || is_little) {
        skip(bytes, 2);
    }
    if (!is_big) {
        return NC_OK;
    }
    iconv_close(decoder->iconv);
    decoder->is_open = false;
    nc_status status = nc_charset_open(&decoder->iconv, "UTF-8", "UTF-16BE", decoder->name.text, err);
    decoder->is_open = status == NC_OK;
    return status;
}

static bool decode_kind(nc_charset_decoder *decoder, nc_buf *out, nc_slice *bytes, bool is_last) {
    switch (decoder->kind) {
    case CHARSET_UTF8:
        return decode_utf8(out, bytes, is_last);
    case CHARSET_BYTES:
        return decode_bytes(decoder, out, bytes);
    case CHARSET_ICONV:
    case CHARSET_UTF16:
        return decode_iconv(decoder, out, bytes, is_last);
    case CHARSET_GB18030:
    case CHARSET_BIG5:
    case CHARSET_SHIFT_JIS:
    case CHARSET_EUC_KR:
        return decode_with_fixes(decoder, out, bytes);
    case CHARSET_EUC_JP:
    case CHARSET_ISO_2022_JP:
        return decode_jis(decoder, out, bytes);
    case CHARSET_REPLACEMENT:
        break;
    }
    return bytes->length == 0;
}

nc_status nc_charset_decode(nc_charset_decoder *decoder, nc_buf *out, nc_slice *bytes, bool is_last, nc_error *err) {
    nc_slice whole = *bytes;
    nc_status status = NC_OK;
    if (decoder->kind == CHARSET_UTF16 && !decoder->has_begun) {
        if (bytes->length < 2 && !is_last) {
            return NC_OK;
        }
        status = bytes->length < 2 ? NC_OK : begin_utf16(decoder, bytes, err);
        if (status != NC_OK) {
            return status;
        }
    }
    bool is_valid = decode_kind(decoder, out, bytes, is_last);
    size_t at = whole.length - bytes->length;
    if (out->status != NC_OK) {
        status = nc_charset_fail_full(err, out);
    } else if (decoder->kind == CHARSET_REPLACEMENT && !is_valid) {
        status = nc_error_set(err, NC_ERR_BAD_CHARSET, 0, 0,
                              "text in '%s' is rejected: this charset can hide ASCII from filters", decoder->name.text);
    } else if (!is_valid && at < whole.length) {
        status = fail_at(decoder, whole.data, at, err);
    } else if (!is_valid || (is_last && at < whole.length)) {
        status = fail_at_end(decoder, at, err);
    }
    decoder->offset += (int64_t)at;
    return status == NC_OK ? nc_error_clear(err) : status;
}

/* --- creating and freeing --- */

nc_status nc_charset_decoder_init(nc_charset_decoder *decoder, const charset_name *name, nc_error *err) {
    memset(decoder, 0, sizeof *decoder);
    decoder->name = *name;
    const charset_encoding *encoding = name->encoding;
    decoder->kind = encoding == NULL ? CHARSET_ICONV : encoding->kind;
    // With the label "utf-16le" a byte order mark is part of the text.
    decoder->has_begun = nc_slice_is_equal_ignoring_case(nc_slice_of(name->text), nc_slice_of("utf-16le"));
    if (decoder->kind == CHARSET_BYTES) {
        nc_status status = nc_charset_fill_table(decoder->table, encoding);
        return status == NC_OK ? NC_OK
                               : nc_error_set(err, status, errno, -1,
                                              "the system's iconv does not support the charset '%s'", name->text);
    }
    const char *read_as = encoding == NULL ? name->text : encoding->read_as;
    if (decoder->kind == CHARSET_UTF8 || decoder->kind == CHARSET_REPLACEMENT) {
        return NC_OK;
    }
    nc_status status = nc_charset_open(&decoder->iconv, "UTF-8", read_as, name->text, err);
    decoder->is_open = status == NC_OK;
    if (status == NC_OK && decoder->kind == CHARSET_EUC_JP) {
        status = nc_charset_open(&decoder->second, "UTF-8", "EUC-JP", name->text, err);
        decoder->has_second = status == NC_OK;
    }
    return status;
}

void nc_charset_decoder_deinit(nc_charset_decoder *decoder) {
    if (decoder->is_open) {
        iconv_close(decoder->iconv);
    }
    if (decoder->has_second) {
        iconv_close(decoder->second);
    }
    decoder->is_open = decoder->has_second = false;
}

nc_status nc_charset_decoder_new(nc_charset_decoder **out, nc_slice charset, nc_error *err) {
    charset_name name;
    if (out == NULL || (charset.data == NULL && charset.length != 0)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a pointer or slice is NULL");
    }
    *out = NULL;
    nc_status status = nc_charset_name_parse(&name, charset, err);
    if (status != NC_OK) {
        return status;
    }
    nc_charset_decoder *decoder = nc_alloc_zeroed(1, sizeof *decoder);
    if (decoder == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "%s", nc_status_text(NC_ERR_NO_MEMORY));
    }
    status = nc_charset_decoder_init(decoder, &name, err);
    if (status != NC_OK) {
        nc_charset_decoder_free(decoder);
        return status;
    }
    *out = decoder;
    return nc_error_clear(err);
}

/// Completes the character that started in the last piece, by adding one byte at a time.
static nc_status complete_part(nc_charset_decoder *decoder, nc_buf *out, nc_slice *bytes, nc_error *err) {
    while (decoder->part_count > 0 && bytes->length > 0) {
        if (decoder->part_count == sizeof decoder->part) {
            return fail_at(decoder, decoder->part, 0, err);
        }
        decoder->part[decoder->part_count++] = bytes->data[0];
        skip(bytes, 1);
        nc_slice part = nc_slice_make(decoder->part, decoder->part_count);
        nc_status status = nc_charset_decode(decoder, out, &part, false, err);
        if (status != NC_OK) {
            return status;
        }
        memmove(decoder->part, part.data, part.length);
        decoder->part_count = part.length;
    }
    return NC_OK;
}

nc_status nc_charset_decoder_feed(nc_charset_decoder *decoder, nc_buf *out, nc_slice bytes, nc_error *err) {
    if (decoder == NULL || out == NULL || (bytes.data == NULL && bytes.length != 0)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a decoder, buffer or slice is NULL");
    }
    nc_status status = out->status == NC_OK ? complete_part(decoder, out, &bytes, err) : nc_charset_fail_full(err, out);
    if (status != NC_OK || bytes.length == 0) {
        return status == NC_OK ? nc_error_clear(err) : status;
    }
    status = nc_charset_decode(decoder, out, &bytes, false, err);
    if (status == NC_OK && bytes.length > sizeof decoder->part) {
        return fail_at(decoder, bytes.data, 0, err);
    }
    if (status == NC_OK) {
        memcpy(decoder->part, bytes.data, bytes.length);
        decoder->part_count = bytes.length;
    }
    return status;
}

nc_status nc_charset_decoder_finish(nc_charset_decoder *decoder, nc_buf *out, nc_error *err) {
    if (decoder == NULL || out == NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a decoder or buffer is NULL");
    }
    nc_slice part = nc_slice_make(decoder->part, decoder->part_count);
    return out->status == NC_OK ? nc_charset_decode(decoder, out, &part, true, err) : nc_charset_fail_full(err, out);
}

void nc_charset_decoder_free(nc_charset_decoder *decoder) {
    if (decoder != NULL) {
        nc_charset_decoder_deinit(decoder);
        nc_free(decoder);
    }
}
