#include "text/charset.h"

#include "base/error.h"
#include "base/utf8.h"

#include <errno.h>

static nc_status prepare(charset_name *name, const nc_buf *out, nc_slice text, nc_slice charset, nc_error *err) {
    if (out == NULL || (text.data == NULL && text.length != 0) || (charset.data == NULL && charset.length != 0)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a buffer or slice is NULL");
    }
    nc_status status = nc_charset_name_parse(name, charset, err);
    return status == NC_OK && out->status != NC_OK ? nc_charset_fail_full(err, out) : status;
}

nc_status nc_charset_to_utf8(nc_buf *out, nc_slice text, nc_slice charset, nc_error *err) {
    charset_name name;
    nc_charset_decoder decoder;
    nc_status status = prepare(&name, out, text, charset, err);
    if (status != NC_OK) {
        return status;
    }
    size_t length_before = out->length;
    status = nc_charset_decoder_init(&decoder, &name, err);
    if (status == NC_OK) {
        status = nc_charset_decode(&decoder, out, &text, true, err);
    }
    if (status != NC_OK) {
        out->length = length_before;
    }
    nc_charset_decoder_deinit(&decoder);
    return status;
}

/* --- from UTF-8 --- */

static nc_status fail_unencodable(nc_error *err, size_t offset, const char *charset) {
    return nc_error_set(err, NC_ERR_BAD_CHARSET, 0, (int64_t)offset, "%s cannot encode the character at byte %zu",
                        charset, offset);
}

/// Returns the character that these `length` bytes of well-formed UTF-8 encode.
static uint32_t character_at(const uint8_t *bytes, size_t length) {
    uint32_t character = length == 1 ? bytes[0] : bytes[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        character = character << 6 | (bytes[i] & 0x3Fu);
    }
    return character;
}

/// Returns the byte that encodes a character above ASCII; 0 if the encoding does not contain the character.
static uint8_t byte_of(const uint16_t table[128], uint32_t character) {
    for (unsigned i = 0; i < 128; i++) {
        if (table[i] == character) {
            return (uint8_t)(0x80 + i);
        }
    }
    return 0;
}

static nc_status write_single_bytes(nc_buf *out, nc_slice text, const charset_name *name, nc_error *err) {
    uint16_t table[128];
    nc_status status = nc_charset_fill_table(table, name->encoding);
    if (status != NC_OK) {
        return nc_error_set(err, status, errno, -1, "the system's iconv does not support the charset '%s'", name->text);
    }
    size_t at = 0;
    while (at < text.length && out->status == NC_OK) {
        size_t length = nc_utf8_sequence(text.data + at, text.length - at);
        uint8_t byte = length == 1 ? text.data[at] : byte_of(table, character_at(text.data + at, length));
        if (length > 1 && (byte == 0 || nc_charset_label_lacks(nc_slice_of(name->text), name->encoding, byte))) {
            return fail_unencodable(err, at, name->text);
        }
        nc_buf_append_byte(out, byte);
        at += length;
    }
    return out->status == NC_OK ? nc_error_clear(err) : nc_charset_fail_full(err, out);
}

static nc_status write_iconv(nc_buf *out, nc_slice text, const charset_name *name, nc_error *err) {
    iconv_t converter;
    const charset_encoding *encoding = name->encoding;
    // If the name has no byte order, iconv writes a byte order mark.
    bool has_mark = encoding != NULL && encoding->kind == CHARSET_UTF16 &&
                    !nc_slice_is_equal_ignoring_case(nc_slice_of(name->text), nc_slice_of("utf-16le"));
    const char *write_as = has_mark ? "UTF-16" : encoding == NULL ? name->text : encoding->write_as;
    nc_status status = nc_charset_open(&converter, write_as, "UTF-8", name->text, err);
    if (status != NC_OK) {
        return status;
    }
    nc_slice left = text;
    int code = nc_charset_run(converter, out, &left, true);
    iconv_close(converter);
    if (out->status != NC_OK) {
        return nc_charset_fail_full(err, out);
    }
    return code == 0 ? nc_error_clear(err) : fail_unencodable(err, text.length - left.length, name->text);
}

static nc_status write_text(nc_buf *out, nc_slice text, const charset_name *name, nc_error *err) {
    switch (name->encoding == NULL ? CHARSET_ICONV : name->encoding->kind) {
    case CHARSET_UTF8:
        nc_buf_append(out, text);
        return out->status == NC_OK ? nc_error_clear(err) : nc_charset_fail_full(err, out);
    case CHARSET_BYTES:
        return write_single_bytes(out, text, name, err);
    case CHARSET_REPLACEMENT:
        return nc_error_set(err, NC_ERR_BAD_CHARSET, 0, -1, "text cannot be encoded in '%s'", name->text);
    default:
        return write_iconv(out, text, name, err);
    }
}

nc_status nc_charset_from_utf8(nc_buf *out, nc_slice text, nc_slice charset, nc_error *err) {
    charset_name name;
    nc_status status = prepare(&name, out, text, charset, err);
    if (status != NC_OK || text.length == 0) {
        return status == NC_OK ? nc_error_clear(err) : status;
    }
    size_t valid = nc_utf8_span(text.data, text.length);
    if (valid < text.length) {
        return nc_error_set(err, NC_ERR_BAD_CHARSET, 0, (int64_t)valid, "byte 0x%02x at byte %zu is not valid UTF-8",
                            text.data[valid], valid);
    }
    size_t length_before = out->length;
    status = write_text(out, text, &name, err);
    if (status != NC_OK) {
        out->length = length_before;
    }
    return status;
}
