/// Covers: text/query.c text/flatten.c text/order.c text/params.c text/number.c text/percent.c
///
/// A query is parsed as a server would do it. The pairs must equal those of a second, independent walk over the tree.
/// Input: the styles (a byte each: arrays, nested, order, booleans, spaces), a maximum (two bytes), a URL, then steps
/// that build a tree: a byte for the kind, a name, and what the kind needs.
#include "input.h"

#include <netcore/query.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PAIRS = 4096 };

/// A pair that a server reads, or should read. Texts are offsets into one growing buffer.
typedef struct pair {
    size_t name;
    size_t name_length;
    size_t value;
    size_t value_length;
    bool has_value;
} pair;

typedef struct pairs {
    pair list[MAX_PAIRS];
    size_t count;
    nc_buf text;
    /// Whether a value cannot be written.
    bool is_bad;
    /// Whether the tree has a set, whose values are in canonical order.
    bool has_set;
} pairs;

/* --- the expected pairs --- */

static void append_text(nc_buf *out, const nc_params_item *item, const nc_query_options *options, bool *is_bad) {
    char line[64] = {0};
    nc_params_digits digits;
    if (item->kind == NC_PARAMS_BOOLEAN) {
        bool has_words = options->booleans == NC_BOOLEANS_WORDS;
        nc_buf_append(out, nc_slice_of(has_words ? item->boolean ? "true" : "false" : item->boolean ? "1" : "0"));
        return;
    }
    nc_slice text = nc_params_text(item, &digits);
    if (item->kind == NC_PARAMS_STRING && utf8_span_by_decoding(text) != text.length) {
        *is_bad = true;
    } else if (item->kind == NC_PARAMS_DOUBLE) {
        *is_bad = *is_bad || item->number - item->number != 0;
        memcpy(line, text.data, text.length);
        CHECK(text.length == 0 || strtod(line, NULL) == item->number);
    } else if (item->kind == NC_PARAMS_INTEGER) {
        memcpy(line, text.data, text.length);
        CHECK(strtoll(line, NULL, 10) == item->integer);
    } else if (item->kind == NC_PARAMS_NUMBER) {
        // A number is valid if it is a JSON number.
        nc_buf json = nc_buf_init(text.length + 2);
        nc_buf_append_byte(&json, '[');
        nc_buf_append(&json, text);
        nc_buf_append_byte(&json, ']');
        bool is_number = text.length > 0 && (text.data[0] == '-' || (text.data[0] >= '0' && text.data[0] <= '9')) &&
                         !holds_any(text, ", \t\r\n") && nc_json_check(nc_buf_slice(&json), NULL, NULL, NULL) == NC_OK;
        *is_bad = *is_bad || !is_number;
        nc_buf_deinit(&json);
    }
    nc_buf_append(out, text);
}

static void expect_pair(pairs *out, nc_slice name, const nc_params_item *item, const nc_query_options *options) {
    CHECK(out->count < MAX_PAIRS);
    pair *one = &out->list[out->count++];
    *one = (pair){.name = out->text.length, .name_length = name.length, .has_value = item->kind != NC_PARAMS_NULL};
    nc_buf_append(&out->text, name);
    one->value = out->text.length;
    if (item->kind == NC_PARAMS_ARRAY) {
        nc_params_cursor cursor = nc_params_children(item);
        nc_params_item child;
        for (bool is_first = true; nc_params_next(&cursor, &child); is_first = false) {
            if (!is_first) {
                nc_buf_append_byte(&out->text, ',');
            }
            out->is_bad = out->is_bad || child.kind >= NC_PARAMS_OBJECT;
            append_text(&out->text, &child, options, &out->is_bad);
        }
    } else {
        append_text(&out->text, item, options, &out->is_bad);
    }
    one->value_length = out->text.length - one->value;
}

static void expect_children(pairs *out, const nc_params_item *container, const nc_query_options *options,
                            nc_slice prefix, bool is_root) {
    nc_params_cursor cursor = nc_params_children(container);
    nc_params_item item;
    char index[32];
    for (size_t at = 0; nc_params_next(&cursor, &item); at++) {
        nc_buf name = nc_buf_init(1 << 22);
        nc_buf_append(&name, prefix);
        (void)snprintf(index, sizeof index, "[%zu]", at);
        if (container->kind == NC_PARAMS_OBJECT) {
            bool has_dots = options->names.nested == NC_NESTED_DOTS;
            nc_buf_append(&name, nc_slice_of(is_root ? "" : has_dots ? "." : "["));
            nc_buf_append(&name, item.name);
            nc_buf_append(&name, nc_slice_of(is_root || has_dots ? "" : "]"));
            out->is_bad = out->is_bad || utf8_span_by_decoding(item.name) != item.name.length;
        } else if (container->kind == NC_PARAMS_ARRAY && options->names.arrays == NC_ARRAYS_BRACKETS) {
            nc_buf_append(&name, nc_slice_of("[]"));
        } else if (container->kind == NC_PARAMS_ARRAY && options->names.arrays == NC_ARRAYS_INDEXED) {
            nc_buf_append(&name, nc_slice_of(index));
        }
        out->has_set = out->has_set || item.kind == NC_PARAMS_SET;
        nc_params_cursor inside = nc_params_children(&item);
        bool is_joined = item.kind == NC_PARAMS_ARRAY && options->names.arrays == NC_ARRAYS_COMMA;
        if (item.kind < NC_PARAMS_OBJECT || (is_joined && inside.rest.length > 0)) {
            expect_pair(out, nc_buf_slice(&name), &item, options);
        } else if (!is_joined) {
            expect_children(out, &item, options, nc_buf_slice(&name), false);
        }
        nc_buf_deinit(&name);
    }
}

/* --- the pairs of the query --- */

static unsigned digit_of(uint8_t byte) {
    CHECK((byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'F'));
    return byte <= '9' ? byte - '0' : byte - 'A' + 10u;
}

/// Parses application/x-www-form-urlencoded by WHATWG URL, 5.1.
static void parse_query(pairs *out, nc_slice query, bool has_plus, bool has_commas) {
    nc_slice rest = query;
    // Some parsers would skip a leading '?'.
    CHECK(query.length == 0 || query.data[0] != '?');
    while (rest.length > 0) {
        CHECK(out->count < MAX_PAIRS);
        pair *one = &out->list[out->count++];
        *one = (pair){.name = out->text.length};
        size_t at = 0;
        for (; at < rest.length && rest.data[at] != '&'; at++) {
            uint8_t byte = rest.data[at];
            if (byte == '=') {
                CHECK(!one->has_value);
                one->has_value = true;
                one->name_length = out->text.length - one->name;
                one->value = out->text.length;
                continue;
            }
            if (byte == '%') {
                CHECK(rest.length - at >= 3);
                byte = (uint8_t)(digit_of(rest.data[at + 1]) << 4 | digit_of(rest.data[at + 2]));
                bool is_first = rest.data + at == query.data && byte == '?';
                CHECK(byte == 0 || is_first ||
                      strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?", byte) == NULL);
                CHECK(byte != ' ' || !has_plus);
                at += 2;
            } else if (byte == '+') {
                CHECK(has_plus);
                byte = ' ';
            } else {
                CHECK(strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?", byte) != NULL ||
                      (byte == ',' && has_commas && one->has_value));
            }
            nc_buf_append_byte(&out->text, byte);
        }
        if (!one->has_value) {
            one->name_length = out->text.length - one->name;
            one->value = out->text.length;
        }
        one->value_length = out->text.length - one->value;
        CHECK(at == rest.length || at + 1 < rest.length || one->name_length + one->value_length + 1 > 0);
        bool has_more = at < rest.length;
        rest = nc_slice_make(rest.data + at + (has_more ? 1 : 0), rest.length - at - (has_more ? 1 : 0));
        // A pair of an empty name without a value is written as nothing.
        if (has_more && rest.length == 0) {
            out->list[out->count++] = (pair){.name = out->text.length, .value = out->text.length};
        }
    }
}

/* --- comparison --- */

static nc_slice name_of(const pairs *in, size_t at) {
    return nc_slice_make(in->text.data + in->list[at].name, in->list[at].name_length);
}

static nc_slice value_of(const pairs *in, size_t at) {
    return nc_slice_make(in->text.data + in->list[at].value, in->list[at].value_length);
}

static bool is_same(const pairs *a, size_t i, const pairs *b, size_t j) {
    return a->list[i].has_value == b->list[j].has_value && nc_slice_is_equal(name_of(a, i), name_of(b, j)) &&
           nc_slice_is_equal(value_of(a, i), value_of(b, j));
}

/// Each pair of one list is in the other, in the same order where that is guaranteed.
static void compare(const pairs *expected, const pairs *read, bool has_order) {
    static bool is_taken[MAX_PAIRS];
    memset(is_taken, 0, sizeof is_taken);
    CHECK(expected->count == read->count);
    for (size_t i = 0; i < read->count; i++) {
        size_t j = has_order ? i : 0;
        while (!has_order && j < expected->count && (is_taken[j] || !is_same(read, i, expected, j))) {
            j++;
        }
        CHECK(j < expected->count && is_same(read, i, expected, j));
        is_taken[j] = true;
    }
}

/// Decodes UTF-16 units, which define the order of the root's names.
static uint32_t unit_at(nc_slice text, size_t *at, uint32_t *pending) {
    if (*pending != 0) {
        uint32_t low = *pending;
        *pending = 0;
        return low;
    }
    uint8_t lead = text.data[*at];
    size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    uint32_t code = length == 1 ? lead : lead & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        code = code << 6 | (text.data[*at + i] & 63);
    }
    *at += length;
    if (code >= 0x10000) {
        *pending = 0xDC00 + ((code - 0x10000) & 0x3FF);
        return 0xD800 + ((code - 0x10000) >> 10);
    }
    return code;
}

static int compare_units(nc_slice a, nc_slice b) {
    size_t i = 0, j = 0;
    uint32_t more_a = 0, more_b = 0;
    while ((i < a.length || more_a != 0) && (j < b.length || more_b != 0)) {
        uint32_t left = unit_at(a, &i, &more_a);
        uint32_t right = unit_at(b, &j, &more_b);
        if (left != right) {
            return left < right ? -1 : 1;
        }
    }
    bool has_a = i < a.length || more_a != 0;
    bool has_b = j < b.length || more_b != 0;
    return has_a ? 1 : has_b ? -1 : 0;
}

/// Checks that the pairs of a root without containers are sorted by name, and that equal names keep their order.
static void check_sorted(const nc_params_item *root, const pairs *expected, const pairs *read) {
    nc_params_cursor cursor = nc_params_children(root);
    nc_params_item item;
    while (nc_params_next(&cursor, &item)) {
        if (item.kind >= NC_PARAMS_OBJECT) {
            return;
        }
    }
    size_t from = 0;
    for (size_t i = 0; i < read->count; i++) {
        int order = i == 0 ? -1 : compare_units(name_of(read, i - 1), name_of(read, i));
        CHECK(order <= 0);
        from = order == 0 ? from : 0;
        while (from < expected->count && !nc_slice_is_equal(name_of(expected, from), name_of(read, i))) {
            from++;
        }
        CHECK(from < expected->count && is_same(read, i, expected, from));
        from++;
    }
}

/* --- the tree --- */

static void build(nc_params *params, input *in) {
    for (int steps = 0; in->left.length > 0 && steps < 20 && params->nodes.status == NC_OK; steps++) {
        uint8_t kind = input_byte(in);
        nc_slice name = nc_slice_of("");
        if (kind % 11 != 10) {
            name = input_piece(in);
        }
        uint64_t bits = 0;
        double number;
        switch (kind % 11) {
        case 0:
            nc_params_add_null(params, name);
            break;
        case 1:
            nc_params_add_boolean(params, name, kind & 16);
            break;
        case 2:
        case 3:
            for (int i = 0; i < 8; i++) {
                bits = bits << 8 | input_byte(in);
            }
            memcpy(&number, &bits, sizeof number);
            if (kind % 11 == 2) {
                nc_params_add_integer(params, name, (int64_t)bits);
            } else {
                nc_params_add_double(params, name, kind & 16 ? (double)(int64_t)bits / 1000 : number);
            }
            break;
        case 4:
            nc_params_add_number(params, name, input_piece(in));
            break;
        case 5:
            nc_params_add_string(params, name, input_piece(in));
            break;
        case 6:
            nc_params_add_bytes(params, name, input_piece(in));
            break;
        case 10:
            if (params->depth > 1) {
                nc_params_end(params);
            }
            break;
        default:
            nc_params_begin(params, name, (nc_params_kind)(NC_PARAMS_OBJECT + kind % 11 - 7));
        }
    }
    while (params->depth > 1) {
        nc_params_end(params);
    }
}

static void check_bounded(const nc_params *params, const nc_query_options *options, nc_slice query, size_t max_bytes) {
    nc_buf small = nc_buf_init(max_bytes);
    nc_error err;
    nc_buf_append_byte(&small, '>');
    nc_status status = nc_query_append(&small, params, options, &err);
    check_error(&err, status, 0);
    CHECK(small.capacity <= max_bytes);
    CHECK(status == (query.length + 1 <= max_bytes ? NC_OK : NC_ERR_TOO_LARGE));
    CHECK(small.length == (status == NC_OK ? query.length + 1 : 1));
    CHECK(status != NC_OK || nc_slice_is_equal(nc_slice_make(small.data + 1, small.length - 1), query));
    nc_buf_deinit(&small);
}

/// Checks that attaching a query leaves the rest of the URL unchanged, and adds no '?' for an empty query.
static void check_attached(nc_slice url, nc_slice query) {
    nc_buf out = nc_buf_init(1 << 26);
    CHECK(nc_query_attach(&out, url, query, NULL) == NC_OK);
    size_t fragment = 0;
    while (fragment < url.length && url.data[fragment] != '#') {
        fragment++;
    }
    size_t before = fragment;
    bool has_query = false;
    for (size_t i = 0; i < fragment && !has_query; i++) {
        has_query = url.data[i] == '?';
        before = has_query && i + 1 == fragment ? i : before;
    }
    size_t rest = url.length - fragment;
    CHECK(out.length >= before + query.length + rest);
    size_t marks = out.length - before - query.length - rest;
    CHECK(marks == (query.length > 0 ? 1 : 0));
    CHECK(nc_slice_is_equal(nc_slice_make(out.data, before), nc_slice_make(url.data, before)));
    CHECK(marks == 0 || out.data[before] == (has_query && before == fragment ? '&' : '?'));
    CHECK(nc_slice_is_equal(nc_slice_make(out.data + before + marks, query.length), query));
    CHECK(
        nc_slice_is_equal(nc_slice_make(out.data + out.length - rest, rest), nc_slice_make(url.data + fragment, rest)));
    nc_buf_deinit(&out);
}

/// A custom encoder: keeps the URL as it is, and returns a status.
typedef struct own {
    nc_slice text;
    nc_status status;
    bool tells;
} own;

static nc_status encode(void *ctx, nc_buf *out, const nc_params *params, nc_error *err) {
    const own *in = ctx;
    CHECK(nc_params_status(params) == NC_OK);
    nc_buf_append(out, in->text);
    if (in->tells && in->status != NC_OK) {
        *err = (nc_error){.status = in->status, .offset = -1, .message = "told"};
    }
    return in->status;
}

static void check_own_encoder(nc_params *params, nc_slice text, uint32_t number) {
    own mine = {text, number & 1 ? NC_ERR_STOPPED_BY_CALLER : NC_OK, number & 2};
    nc_query_options options = {.encode = encode, .ctx = &mine};
    nc_buf out = nc_buf_init(number >> 2 & 63);
    nc_error err;
    nc_status status = nc_query_append(&out, params, &options, &err);
    check_error(&err, status, 0);
    bool fits = text.length <= out.max_bytes;
    CHECK(status == (mine.status != NC_OK ? mine.status : fits ? NC_OK : NC_ERR_TOO_LARGE));
    CHECK(status == NC_OK ? nc_slice_is_equal(nc_buf_slice(&out), text) : out.length == 0);
    nc_buf_deinit(&out);
    nc_buf attached = nc_buf_init(number & 127);
    status = nc_query_attach(&attached, nc_slice_of("http://a/?"), text, &err);
    check_error(&err, status, text.length);
    bool is_bad = false;
    for (size_t i = 0; i < text.length; i++) {
        is_bad = is_bad || text.data[i] <= ' ' || text.data[i] == '#' || text.data[i] == 0x7F;
    }
    size_t needed = 9 + text.length + (text.length > 0 ? 1 : 0);
    CHECK(status == (is_bad ? NC_ERR_BAD_PARAMETER : needed <= attached.max_bytes ? NC_OK : NC_ERR_TOO_LARGE));
    CHECK(attached.length == (status == NC_OK ? needed : 0));
    nc_buf_deinit(&attached);
    // Incomplete parameters are not written by any encoder.
    options.encode = number & 4 ? encode : NULL;
    options.names.arrays = (nc_array_style)(number & 8 ? 4 : 0);
    options.spaces = (nc_space_style)(number & 16 ? 2 : 0);
    nc_params_begin(params, nc_slice_of(""), NC_PARAMS_ARRAY);
    CHECK(nc_query_append(&attached, params, &options, &err) == NC_ERR_USAGE);
    check_error(&err, NC_ERR_USAGE, 0);
    nc_params_reset(params, NC_PARAMS_SET);
    CHECK(number & 28 || nc_query_append(&attached, params, &options, &err) == NC_ERR_BAD_PARAMETER);
}

/// A failure persists through all later calls.
static void check_sticky(nc_params *params, nc_slice text, uint32_t number) {
    nc_params_reset(params, number & 1 ? NC_PARAMS_OBJECT : NC_PARAMS_STRING);
    nc_status expected = number & 1 ? NC_OK : NC_ERR_USAGE;
    CHECK(nc_params_reserve(params, number) == expected);
    if (number & 2) {
        nc_params_end(params);
        expected = NC_ERR_USAGE;
    } else if (number & 4) {
        nc_params_begin(params, text, NC_PARAMS_NUMBER);
        expected = NC_ERR_USAGE;
    } else if (number & 8) {
        nc_params_add_string(params, text, nc_slice_make(text.data, SIZE_MAX));
        expected = expected == NC_OK ? NC_ERR_TOO_LARGE : expected;
    }
    nc_params_add_null(params, text);
    nc_params_begin(params, text, NC_PARAMS_SET);
    nc_params_end(params);
    CHECK(nc_params_status(params) == expected);
    nc_params_item root = nc_params_root(params);
    CHECK((root.content.length > 0) == (expected == NC_OK));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static pairs expected;
    static pairs read;
    input in = input_init(data, size);
    nc_query_options options = {.names = {.arrays = (nc_array_style)(input_byte(&in) % 4),
                                          .nested = (nc_nested_style)(input_byte(&in) % 2),
                                          .order = (nc_order)(input_byte(&in) % 2)},
                                .booleans = (nc_boolean_style)(input_byte(&in) % 2),
                                .spaces = (nc_space_style)(input_byte(&in) % 2)};
    uint32_t number = input_number(&in);
    nc_slice url = input_piece(&in);
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 1 << 22);
    build(&params, &in);
    CHECK(nc_params_status(&params) == NC_OK);
    nc_params_item root = nc_params_root(&params);
    expected.count = read.count = 0;
    expected.is_bad = expected.has_set = false;
    expected.text = nc_buf_init(1 << 26);
    read.text = nc_buf_init(1 << 26);
    expect_children(&expected, &root, &options, nc_slice_of(""), true);
    nc_buf query = nc_buf_init(1 << 26);
    nc_error err;
    nc_status status = nc_query_append(&query, &params, &options, &err);
    check_error(&err, status, size);
    CHECK(status == (expected.is_bad ? NC_ERR_BAD_PARAMETER : NC_OK));
    if (status == NC_OK) {
        parse_query(&read, nc_buf_slice(&query), options.spaces == NC_SPACES_PLUS,
                    options.names.arrays == NC_ARRAYS_COMMA);
        // A single pair with an empty name and no value is written as an empty text, which has no pairs.
        if (query.length == 0 && expected.count == 1) {
            CHECK(!expected.list[0].has_value && expected.list[0].name_length == 0);
        } else {
            compare(&expected, &read, options.names.order == NC_ORDER_AS_GIVEN && !expected.has_set);
            if (options.names.order == NC_ORDER_SORTED) {
                check_sorted(&root, &expected, &read);
            }
        }
        check_attached(url, nc_buf_slice(&query));
        check_bounded(&params, &options, nc_buf_slice(&query), 1 + number % (query.length + 40));
    } else {
        CHECK(query.length == 0);
    }
    check_own_encoder(&params, url, number);
    check_sticky(&params, url, number >> 8);
    nc_buf_deinit(&query);
    nc_buf_deinit(&expected.text);
    nc_buf_deinit(&read.text);
    nc_params_deinit(&params);
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
