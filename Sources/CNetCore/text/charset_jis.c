#include "text/charset.h"

#include "base/utf8.h"

#include <string.h>

enum { ESCAPE = 0x1B, ROW_CELLS = 94, SHIFT_JIS_CELLS = 188 };

static bool convert(iconv_t converter, nc_buf *out, const uint8_t *bytes, size_t count) {
    nc_slice input = nc_slice_make(bytes, count);
    return nc_charset_run(converter, out, &input, false) == 0 || out->status != NC_OK;
}

/// Appends the character of JIS X 0208 at this row and cell, both from 0. Shift_JIS has the same cells, but its rows
/// are twice as long. Its table also contains the vendors' rows.
static bool append_kanji(const nc_charset_decoder *decoder, nc_buf *out, unsigned row, unsigned cell) {
    unsigned pointer = row * ROW_CELLS + cell;
    unsigned lead = pointer / SHIFT_JIS_CELLS;
    unsigned trail = pointer % SHIFT_JIS_CELLS;
    uint8_t bytes[] = {(uint8_t)(lead + (lead < 0x1F ? 0x81 : 0xC1)), (uint8_t)(trail + (trail < 0x3F ? 0x40 : 0x41))};
    return convert(decoder->iconv, out, bytes, sizeof bytes);
}

static bool is_within(uint8_t byte, uint8_t first, uint8_t last) {
    return byte >= first && byte <= last;
}

int nc_charset_euc_jp_step(nc_charset_decoder *decoder, nc_buf *out, nc_slice bytes) {
    uint8_t lead = bytes.data[0];
    if (lead < 0x80) {
        nc_buf_append_byte(out, lead);
        return 1;
    }
    bool is_supplement = lead == 0x8F;
    bool is_katakana = lead == 0x8E;
    if (!is_supplement && !is_katakana && !is_within(lead, 0xA1, 0xFE)) {
        return -1;
    }
    size_t length = is_supplement ? 3 : 2;
    for (size_t i = 1; i < length; i++) {
        if (i >= bytes.length) {
            return 0;
        }
        if (!is_within(bytes.data[i], 0xA1, is_katakana ? 0xDF : 0xFE)) {
            return -1;
        }
    }
    bool is_valid = true;
    if (is_katakana) {
        nc_utf8_append(out, 0xFF61u + bytes.data[1] - 0xA1u);
    } else if (is_supplement) {
        is_valid = convert(decoder->second, out, bytes.data, 3);
    } else {
        is_valid = append_kanji(decoder, out, lead - 0xA1u, bytes.data[1] - 0xA1u);
    }
    return is_valid ? (int)length : -1;
}

static int take_escape(nc_charset_decoder *decoder, nc_slice bytes) {
    static const struct {
        const char *text;
        charset_jis_set set;
    } escapes[] = {
        {"\x1B(B", JIS_ASCII}, {"\x1B(J", JIS_ROMAN}, {"\x1B(I", JIS_KATAKANA},
        {"\x1B$@", JIS_KANJI}, {"\x1B$B", JIS_KANJI},
    };
    size_t compared = bytes.length < 3 ? bytes.length : 3;
    for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
        if (memcmp(bytes.data, escapes[i].text, compared) != 0) {
            continue;
        }
        if (compared < 3) {
            return 0;
        }
        // The standard refuses two escape sequences without a character between them, because they can hide text from
        // filters.
        if (decoder->is_after_escape) {
            return -1;
        }
        decoder->is_after_escape = true;
        decoder->jis_set = escapes[i].set;
        return 3;
    }
    return -1;
}

static int take_single(nc_charset_decoder *decoder, nc_buf *out, uint8_t byte) {
    if (decoder->jis_set == JIS_KATAKANA) {
        if (!is_within(byte, 0x21, 0x5F)) {
            return -1;
        }
        nc_utf8_append(out, 0xFF61u + byte - 0x21u);
        return 1;
    }
    if (byte > 0x7F || byte == 0x0E || byte == 0x0F) {
        return -1;
    }
    bool is_roman = decoder->jis_set == JIS_ROMAN;
    nc_utf8_append(out, is_roman && byte == 0x5C ? 0xA5u : is_roman && byte == 0x7E ? 0x203Eu : byte);
    return 1;
}

int nc_charset_iso_2022_jp_step(nc_charset_decoder *decoder, nc_buf *out, nc_slice bytes) {
    if (bytes.data[0] == ESCAPE) {
        return take_escape(decoder, bytes);
    }
    int length = 0;
    if (decoder->jis_set != JIS_KANJI) {
        length = take_single(decoder, out, bytes.data[0]);
    } else if (!is_within(bytes.data[0], 0x21, 0x7E)) {
        length = -1;
    } else if (bytes.length < 2) {
        return 0;
    } else if (!is_within(bytes.data[1], 0x21, 0x7E)) {
        length = -1;
    } else {
        length = append_kanji(decoder, out, bytes.data[0] - 0x21u, bytes.data[1] - 0x21u) ? 2 : -1;
    }
    decoder->is_after_escape = decoder->is_after_escape && length < 0;
    return length;
}
