/// Covers: text/params_json.c
///
/// A tree read from JSON text, compared with the text by a recursive descent parser in this file, value by value.
/// Input: a maximum (two bytes), the text.
#include "input.h"

#include <netcore/params.h>
#include <stdlib.h>
#include <string.h>

/// The second reader. It is used only for texts that the library has accepted, so it does not check the grammar.
typedef struct reader {
    nc_slice text;
    size_t at;
} reader;

static uint8_t peek(reader *in) {
    while (in->at < in->text.length && strchr(" \t\r\n", in->text.data[in->at]) != NULL && in->text.data[in->at] != 0) {
        in->at++;
    }
    CHECK(in->at < in->text.length);
    return in->text.data[in->at];
}

static uint8_t next(reader *in) {
    uint8_t byte = peek(in);
    in->at++;
    return byte;
}

static uint32_t read_unit(reader *in) {
    char digits[5] = {0};
    CHECK(in->text.length - in->at >= 4);
    memcpy(digits, in->text.data + in->at, 4);
    in->at += 4;
    return (uint32_t)strtoul(digits, NULL, 16);
}

static void put_scalar(nc_buf *out, uint32_t code) {
    if (code < 0x80) {
        nc_buf_append_byte(out, (uint8_t)code);
    } else if (code < 0x800) {
        nc_buf_append_byte(out, (uint8_t)(0xC0 | code >> 6));
    } else if (code < 0x10000) {
        nc_buf_append_byte(out, (uint8_t)(0xE0 | code >> 12));
        nc_buf_append_byte(out, (uint8_t)(0x80 | (code >> 6 & 63)));
    } else {
        nc_buf_append_byte(out, (uint8_t)(0xF0 | code >> 18));
        nc_buf_append_byte(out, (uint8_t)(0x80 | (code >> 12 & 63)));
        nc_buf_append_byte(out, (uint8_t)(0x80 | (code >> 6 & 63)));
    }
    if (code >= 0x80) {
        nc_buf_append_byte(out, (uint8_t)(0x80 | (code & 63)));
    }
}

static void read_escape(reader *in, nc_buf *out) {
    static const char spelled[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    uint8_t letter = in->text.data[in->at++];
    if (letter == 'u') {
        uint32_t code = read_unit(in);
        if (code >= 0xD800 && code < 0xDC00) {
            in->at += 2;
            uint32_t low = read_unit(in);
            CHECK(low >= 0xDC00 && low < 0xE000);
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
        CHECK(code < 0xD800 || code >= 0xE000);
        put_scalar(out, code);
        return;
    }
    const char *found = strchr(spelled, letter);
    CHECK(letter != 0 && found != NULL);
    nc_buf_append_byte(out, (uint8_t)meant[found - spelled]);
}

/// Reads a string and compares it.
static void check_string(reader *in, nc_slice expected) {
    nc_buf out = nc_buf_init(1 << 20);
    CHECK(next(in) == '"');
    for (uint8_t byte; (byte = in->text.data[in->at++]) != '"';) {
        if (byte == '\\') {
            read_escape(in, &out);
        } else {
            nc_buf_append_byte(&out, byte);
        }
    }
    CHECK(nc_slice_is_equal(nc_buf_slice(&out), expected));
    CHECK(utf8_span_by_decoding(expected) == expected.length);
    nc_buf_deinit(&out);
}

static void check_word(reader *in, const char *word) {
    (void)peek(in);
    CHECK(in->text.length - in->at >= strlen(word) && memcmp(in->text.data + in->at, word, strlen(word)) == 0);
    in->at += strlen(word);
}

static void check_number(reader *in, nc_slice digits) {
    (void)peek(in);
    CHECK(digits.length > 0 && in->text.length - in->at >= digits.length);
    CHECK(memcmp(in->text.data + in->at, digits.data, digits.length) == 0);
    in->at += digits.length;
    CHECK(in->at == in->text.length || strchr("0123456789+-.eE", in->text.data[in->at]) == NULL ||
          in->text.data[in->at] == 0);
}

static void check_children(reader *in, const nc_params_item *container);

static void check_value(reader *in, const nc_params_item *item) {
    switch (item->kind) {
    case NC_PARAMS_NULL:
        check_word(in, "null");
        break;
    case NC_PARAMS_BOOLEAN:
        check_word(in, item->boolean ? "true" : "false");
        break;
    case NC_PARAMS_NUMBER:
        check_number(in, item->content);
        break;
    case NC_PARAMS_STRING:
        check_string(in, item->content);
        break;
    default:
        check_children(in, item);
    }
}

static void check_children(reader *in, const nc_params_item *container) {
    bool is_object = container->kind == NC_PARAMS_OBJECT;
    CHECK(is_object || container->kind == NC_PARAMS_ARRAY);
    CHECK(next(in) == (is_object ? '{' : '['));
    nc_params_cursor cursor = nc_params_children(container);
    nc_params_item item;
    for (bool is_first = true; nc_params_next(&cursor, &item); is_first = false) {
        CHECK(is_first || next(in) == ',');
        CHECK(is_object || item.name.length == 0);
        if (is_object) {
            check_string(in, item.name);
            CHECK(next(in) == ':');
        }
        check_value(in, &item);
    }
    CHECK(next(in) == (is_object ? '}' : ']'));
}

/// With less room the tree fails with a status, or is the same.
static void check_bounded(nc_slice text, const nc_params *whole, size_t max_bytes) {
    nc_params small = nc_params_init(NC_PARAMS_OBJECT, max_bytes);
    nc_error err;
    nc_status status = nc_params_parse_json(&small, text, &err);
    check_error(&err, status, text.length);
    CHECK(small.nodes.capacity <= max_bytes);
    CHECK(status == (whole->nodes.length <= max_bytes ? NC_OK : NC_ERR_TOO_LARGE));
    CHECK(status != NC_OK || nc_slice_is_equal(nc_buf_slice(&small.nodes), nc_buf_slice(&whole->nodes)));
    nc_params_deinit(&small);
}

static bool is_container(nc_slice text) {
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] > ' ') {
            return text.data[i] == '{' || text.data[i] == '[';
        }
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    uint32_t number = input_number(&in);
    nc_slice text = input_rest(&in);
    nc_params params = nc_params_init(NC_PARAMS_SET, 1 << 26);
    nc_error err;
    nc_status status = nc_params_parse_json(&params, text, &err);
    check_error(&err, status, text.length);
    CHECK(nc_params_status(&params) == status);
    nc_params_item root = nc_params_root(&params);
    const nc_json_options options = {.max_depth = NC_PARAMS_MAX_DEPTH};
    bool is_right = nc_json_check(text, &options, NULL, NULL) == NC_OK && is_container(text);
    CHECK(status == (is_right ? NC_OK : NC_ERR_BAD_JSON));
    if (status == NC_OK) {
        reader again = {text, 0};
        check_children(&again, &root);
        check_bounded(text, &params, 1 + number % (params.nodes.length + 16));
    } else {
        CHECK(root.content.length == 0);
    }
    nc_params_deinit(&params);
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
