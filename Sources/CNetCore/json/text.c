#include "json/text.h"

#include <string.h>

/// Emits a code point as UTF-8.
static void put(uint32_t point, nc_text_fn take, void *ctx) {
    uint8_t bytes[4];
    size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0x00, 0xC0, 0xE0, 0xF0};
    for (size_t i = length - 1; i > 0; i--) {
        bytes[i] = (uint8_t)(0x80 | (point & 0x3F));
        point >>= 6;
    }
    bytes[0] = (uint8_t)(lead[length] | point);
    take(ctx, (nc_slice){bytes, length});
}

/// Emits a high surrogate that has no low surrogate.
static void put_half(nc_text *text, uint16_t half, nc_text_fn take, void *ctx) {
    put(text->keeps_halves ? half : 0xFFFD, take, ctx);
}

static void flush_high(nc_text *text, nc_text_fn take, void *ctx) {
    if (text->high != 0) {
        put_half(text, text->high, take, ctx);
        text->high = 0;
    }
}

static void take_unit(nc_text *text, nc_text_fn take, void *ctx) {
    uint16_t unit = text->unit;
    bool is_low = unit >= 0xDC00 && unit <= 0xDFFF;
    if (is_low && text->high != 0) {
        put(0x10000u + (((uint32_t)text->high - 0xD800u) << 10) + ((uint32_t)unit - 0xDC00u), take, ctx);
        text->high = 0;
        return;
    }
    flush_high(text, take, ctx);
    if (unit >= 0xD800 && unit <= 0xDBFF) {
        text->high = unit;
    } else if (is_low) {
        put_half(text, unit, take, ctx);
    } else {
        put(unit, take, ctx);
    }
}

static void take_digit(nc_text *text, uint8_t byte, nc_text_fn take, void *ctx) {
    uint16_t digit = byte <= '9' ? (uint16_t)(byte - '0') : (uint16_t)((byte | 0x20) - 'a' + 10);
    text->unit = (uint16_t)(text->unit << 4 | digit);
    if (--text->left == 0) {
        take_unit(text, take, ctx);
    }
}

/// Decodes the letter after a '\'.
static void take_escape(nc_text *text, uint8_t byte, nc_text_fn take, void *ctx) {
    text->is_escaped = false;
    if (byte == 'u') {
        text->left = 4;
        text->unit = 0;
        return;
    }
    flush_high(text, take, ctx);
    uint8_t c = byte == 'b'   ? '\b'
                : byte == 'f' ? '\f'
                : byte == 'n' ? '\n'
                : byte == 'r' ? '\r'
                : byte == 't' ? '\t'
                              : byte;
    take(ctx, (nc_slice){&c, 1});
}

void nc_text_feed(nc_text *text, nc_slice part, nc_text_fn take, void *ctx) {
    size_t at = 0;
    while (at < part.length) {
        uint8_t byte = part.data[at];
        if (text->left > 0) {
            take_digit(text, byte, take, ctx);
            at++;
        } else if (text->is_escaped) {
            take_escape(text, byte, take, ctx);
            at++;
        } else if (byte == '\\') {
            text->is_escaped = true;
            at++;
        } else {
            const uint8_t *from = part.data + at;
            const uint8_t *escape = memchr(from, '\\', part.length - at);
            size_t length = escape == NULL ? part.length - at : (size_t)(escape - from);
            flush_high(text, take, ctx);
            take(ctx, (nc_slice){from, length});
            at += length;
        }
    }
}

void nc_text_end(nc_text *text, nc_text_fn take, void *ctx) {
    flush_high(text, take, ctx);
    *text = (nc_text){.keeps_halves = text->keeps_halves};
}

static void append(void *ctx, nc_slice characters) {
    nc_buf_append(ctx, characters);
}

void nc_json_unescape(nc_buf *out, nc_slice raw) {
    nc_text text = {0};
    nc_text_feed(&text, raw, append, out);
    nc_text_end(&text, append, out);
}
