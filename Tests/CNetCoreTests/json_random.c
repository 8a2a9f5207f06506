#include "json_random.h"

#include "torture.h"

#include <stdio.h>
#include <string.h>

static uint64_t below(uint64_t *state, uint64_t count) {
    return torture_next(state) % count;
}

static void put(nc_buf *out, const char *text) {
    nc_buf_append(out, nc_slice_of(text));
}

static void put_space(nc_buf *out, uint64_t *state) {
    static const char *const spaces[] = {"", "", "", "", " ", "\n", "\t", "\r\n", "        ", "\n    "};
    put(out, spaces[below(state, 10)]);
}

static void put_number(nc_buf *out, uint64_t *state) {
    static const char *const odd[] = {"-0", "0.0", "1e999", "-1E-400", "9007199254740993", "0e0", "1.5E+07"};
    if (below(state, 4) == 0) {
        put(out, odd[below(state, 7)]);
        return;
    }
    char digits[64];
    uint64_t value = torture_next(state) >> below(state, 64);
    snprintf(digits, sizeof digits, "%s%llu", below(state, 3) == 0 ? "-" : "", (unsigned long long)value);
    put(out, digits);
    if (below(state, 3) == 0) {
        snprintf(digits, sizeof digits, ".%0*llu", 1 + (int)below(state, 16), (unsigned long long)below(state, 1000));
        put(out, digits);
    }
    if (below(state, 5) == 0) {
        snprintf(digits, sizeof digits, "e%s%d", below(state, 2) == 0 ? "-" : "+", (int)below(state, 400));
        put(out, digits);
    }
}

static void put_string(nc_buf *out, uint64_t *state) {
    static const char *const pieces[] = {
        "a",
        "name",
        "value with words",
        "\\n",
        "\\\"",
        "\\\\",
        "\\/",
        "\\u00e9",
        "\\u0000",
        "\\ud83d\\ude00",
        "\\ud83d",
        "\\udc00",
        "é",
        "日本語",
        "😀",
        "{[:,]}",
        " ",
        "x",
        "0123456789abcdef0123456789abcdef",
        "\\b\\f\\r\\t",
        "\x7f",
        "\xed\x9f\xbf",
        "\xf4\x8f\xbf\xbf",
        "~",
    };
    nc_buf_append_byte(out, '"');
    for (uint64_t left = below(state, 8); left > 0; left--) {
        put(out, pieces[below(state, 24)]);
    }
    nc_buf_append_byte(out, '"');
}

static void put_value(nc_buf *out, uint64_t *state, int depth);

static void put_container(nc_buf *out, uint64_t *state, int depth, bool is_object) {
    nc_buf_append_byte(out, is_object ? '{' : '[');
    put_space(out, state);
    for (uint64_t left = below(state, 6); left > 0 && out->length < JSON_RANDOM_MAX_BYTES / 2; left--) {
        if (is_object) {
            put_string(out, state);
            put_space(out, state);
            nc_buf_append_byte(out, ':');
        }
        put_value(out, state, depth + 1);
        if (left > 1 && out->length < JSON_RANDOM_MAX_BYTES / 2) {
            nc_buf_append_byte(out, ',');
            put_space(out, state);
        }
    }
    nc_buf_append_byte(out, is_object ? '}' : ']');
}

static void put_value(nc_buf *out, uint64_t *state, int depth) {
    static const char *const words[] = {"true", "false", "null"};
    put_space(out, state);
    switch (below(state, depth > 6 ? 4 : 8)) {
    case 0:
        put(out, words[below(state, 3)]);
        break;
    case 1:
        put_number(out, state);
        break;
    case 2:
    case 3:
        put_string(out, state);
        break;
    default:
        put_container(out, state, depth, below(state, 2) == 0);
    }
    put_space(out, state);
}

static void insert(nc_buf *out, size_t at, nc_slice bytes) {
    if (nc_buf_reserve(out, bytes.length) == NC_OK) {
        memmove(out->data + at + bytes.length, out->data + at, out->length - at);
        memcpy(out->data + at, bytes.data, bytes.length);
        out->length += bytes.length;
    }
}

static void mutate(nc_buf *out, uint64_t *state) {
    static const char *const tokens[] = {
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\\",
        "0",
        "-",
        ".",
        "e",
        "+",
        "1",
        "true",
        "nul",
        "NaN",
        "Infinity",
        "-Infinity",
        "\\u",
        "\\ud83d",
        "\\x",
        "\x01",
        "\x1f",
        "\n",
        "\t",
        "\x0b",
        "\x0c",
        "\xff",
        "\x80",
        "\xc3",
        "\xed\xa0\x80",
        "\xc0\xaf",
        "\xf4\x90\x80\x80",
        "\xef\xbb\xbf",
        "é",
        "//",
        "'",
        "00",
        "01",
        "a",
    };
    size_t at = out->length == 0 ? 0 : (size_t)below(state, out->length);
    size_t left = out->length - at;
    switch (below(state, 6)) {
    case 0:
        if (left > 0) {
            out->data[at] = (uint8_t)below(state, 256);
        }
        break;
    case 1:
        out->length = at;
        break;
    case 2: {
        size_t removed = left < 4 ? left : (size_t)below(state, 4);
        memmove(out->data + at, out->data + at + removed, left - removed);
        out->length -= removed;
        break;
    }
    case 3:
        insert(out, at, nc_slice_make("\0", 1));
        break;
    default:
        insert(out, at, nc_slice_of(tokens[below(state, sizeof tokens / sizeof *tokens)]));
    }
}

void json_random(nc_buf *out, uint64_t *state) {
    nc_buf_reset(out);
    put_value(out, state, (int)below(state, 7));
    if (below(state, 5) >= 3) {
        for (uint64_t left = 1 + below(state, 3); left > 0 && out->length > 0; left--) {
            mutate(out, state);
        }
    }
}
