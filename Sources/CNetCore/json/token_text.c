#include "json/token_text.h"

#include <string.h>

/// Emits a code point as UTF-8.
static void emit_code_point(uint32_t point, nc_text_fn emit, void *ctx) {
    uint8_t bytes[4];
    size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0x00, 0xC0, 0xE0, 0xF0};
    for (size_t i = length - 1; i > 0; i--) {
        bytes[i] = (uint8_t)(0x80 | (point & 0x3F));
        point >>= 6;
    }
    bytes[0] = (uint8_t)(lead[length] | point);
    emit(ctx, (nc_slice){bytes, length});
}

/// Emits half of a surrogate pair.
static void emit_lone_surrogate(nc_text_decoder *decoder, uint16_t surrogate, nc_text_fn emit, void *ctx) {
    emit_code_point(decoder->keeps_lone_surrogates ? surrogate : 0xFFFD, emit, ctx);
}

/// Emits the pending high surrogate, if there is one. Called when no low surrogate follows it.
static void flush_high(nc_text_decoder *decoder, nc_text_fn emit, void *ctx) {
    if (decoder->high != 0) {
        emit_lone_surrogate(decoder, decoder->high, emit, ctx);
        decoder->high = 0;
    }
}

/// Adds a UTF-16 unit. Emits its code point, or that of a surrogate pair. A high surrogate stays pending until the next
/// unit.
static void add_unit(nc_text_decoder *decoder, nc_text_fn emit, void *ctx) {
    uint16_t unit = decoder->unit;
    bool is_low = unit >= 0xDC00 && unit <= 0xDFFF;
    if (is_low && decoder->high != 0) {
        emit_code_point(0x10000u + (((uint32_t)decoder->high - 0xD800u) << 10) + ((uint32_t)unit - 0xDC00u), emit, ctx);
        decoder->high = 0;
        return;
    }
    flush_high(decoder, emit, ctx);
    if (unit >= 0xD800 && unit <= 0xDBFF) {
        decoder->high = unit;
    } else if (is_low) {
        emit_lone_surrogate(decoder, unit, emit, ctx);
    } else {
        emit_code_point(unit, emit, ctx);
    }
}

static void add_digit(nc_text_decoder *decoder, uint8_t byte, nc_text_fn emit, void *ctx) {
    uint16_t digit = byte <= '9' ? (uint16_t)(byte - '0') : (uint16_t)((byte | 0x20) - 'a' + 10);
    decoder->unit = (uint16_t)(decoder->unit << 4 | digit);
    if (--decoder->digits_left == 0) {
        add_unit(decoder, emit, ctx);
    }
}

/// Decodes the character after a '\'.
static void decode_escape(nc_text_decoder *decoder, uint8_t byte, nc_text_fn emit, void *ctx) {
    decoder->is_escaped = false;
    if (byte == 'u') {
        decoder->digits_left = 4;
        decoder->unit = 0;
        return;
    }
    flush_high(decoder, emit, ctx);
    uint8_t c = byte == 'b'   ? '\b'
                : byte == 'f' ? '\f'
                : byte == 'n' ? '\n'
                : byte == 'r' ? '\r'
                : byte == 't' ? '\t'
                              : byte;
    emit(ctx, (nc_slice){&c, 1});
}

// Text between escapes is emitted without a copy.
void nc_text_decode(nc_text_decoder *decoder, nc_slice part, nc_text_fn emit, void *ctx) {
    size_t at = 0;
    while (at < part.length) {
        uint8_t byte = part.data[at];
        if (decoder->digits_left > 0) {
            add_digit(decoder, byte, emit, ctx);
            at++;
        } else if (decoder->is_escaped) {
            decode_escape(decoder, byte, emit, ctx);
            at++;
        } else if (byte == '\\') {
            decoder->is_escaped = true;
            at++;
        } else {
            const uint8_t *from = part.data + at;
            const uint8_t *escape = memchr(from, '\\', part.length - at);
            size_t length = escape == NULL ? part.length - at : (size_t)(escape - from);
            flush_high(decoder, emit, ctx);
            emit(ctx, (nc_slice){from, length});
            at += length;
        }
    }
}

void nc_text_decode_end(nc_text_decoder *decoder, nc_text_fn emit, void *ctx) {
    flush_high(decoder, emit, ctx);
    *decoder = (nc_text_decoder){.keeps_lone_surrogates = decoder->keeps_lone_surrogates};
}

static void append(void *ctx, nc_slice characters) {
    nc_buf_append(ctx, characters);
}

void nc_json_unescape(nc_buf *out, nc_slice raw) {
    nc_text_decoder decoder = {0};
    nc_text_decode(&decoder, raw, append, out);
    nc_text_decode_end(&decoder, append, out);
}

/* --- decimal numbers --- */

/// Larger exponents are not accumulated. They matter only for a number with even more digits, which no text can
/// contain.
static const int64_t max_exponent = INT64_C(1000000000000000000);

/// Adds a digit of the exponent or of the value. Leading zeros of the value are not stored; behind the point they
/// decrease the exponent.
static void add_decimal_digit(nc_decimal *decimal, uint8_t digit) {
    if (decimal->is_in_exponent) {
        if (decimal->written_exponent < max_exponent / 10) {
            decimal->written_exponent = decimal->written_exponent * 10 + digit;
        }
        return;
    }
    if (decimal->significant == 0 && digit == 0) {
        decimal->exponent -= decimal->is_after_point ? 1 : 0;
        return;
    }
    if (decimal->significant < NC_SHAPE_MAX_DIGITS) {
        decimal->digits[decimal->significant] = digit;
    } else if (digit != 0) {
        decimal->has_more = true;
    }
    decimal->significant++;
    decimal->exponent += decimal->is_after_point ? 0 : 1;
    if (digit != 0) {
        decimal->last_nonzero = decimal->significant;
    }
}

void nc_decimal_feed(nc_decimal *decimal, nc_slice part) {
    for (size_t i = 0; i < part.length; i++) {
        uint8_t byte = part.data[i];
        if (byte >= '0' && byte <= '9') {
            add_decimal_digit(decimal, (uint8_t)(byte - '0'));
        } else if (byte == '.') {
            decimal->is_after_point = true;
        } else if (byte == 'e' || byte == 'E') {
            decimal->is_in_exponent = true;
        } else if (byte == '-' && decimal->is_in_exponent) {
            decimal->is_exponent_negative = true;
        } else if (byte == '-') {
            decimal->is_negative = true;
        }
    }
}

void nc_decimal_end(nc_decimal *decimal) {
    int64_t written = decimal->is_exponent_negative ? -decimal->written_exponent : decimal->written_exponent;
    decimal->exponent += written;
}

bool nc_decimal_is_integral(const nc_decimal *decimal) {
    return decimal->last_nonzero == 0 ||
           (decimal->exponent > 0 && (uint64_t)decimal->exponent >= decimal->last_nonzero);
}

/// Compares the absolute values of two numbers other than zero.
static int compare_magnitudes(const nc_decimal *a, const nc_decimal *b) {
    if (a->exponent != b->exponent) {
        return a->exponent < b->exponent ? -1 : 1;
    }
    for (uint64_t i = 0; i < NC_SHAPE_MAX_DIGITS; i++) {
        // Digits behind the last one are 0.
        if (a->digits[i] != b->digits[i]) {
            return a->digits[i] < b->digits[i] ? -1 : 1;
        }
    }
    return a->has_more ? 1 : 0;
}

// -0 equals 0, also as a bound.
int nc_decimal_compare(const nc_decimal *a, const nc_decimal *b) {
    bool is_a_zero = a->last_nonzero == 0;
    bool is_b_zero = b->last_nonzero == 0;
    if (is_a_zero || is_b_zero) {
        int sign_of_a = is_a_zero ? 0 : a->is_negative ? -1 : 1;
        int sign_of_b = is_b_zero ? 0 : b->is_negative ? -1 : 1;
        return sign_of_a - sign_of_b;
    }
    if (a->is_negative != b->is_negative) {
        return a->is_negative ? -1 : 1;
    }
    int order = compare_magnitudes(a, b);
    return a->is_negative ? -order : order;
}
