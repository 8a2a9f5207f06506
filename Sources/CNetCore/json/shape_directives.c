#include "json/shape_build.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static nc_shape_node *node_of(nc_build *build) {
    return nc_shape_node_at(build->shape, nc_build_top(build)->node);
}

bool nc_build_find_directive(nc_shape_slot *out, nc_slice name) {
    static const struct {
        const char *name;
        nc_shape_slot slot;
    } known[] = {
        {"$items", NC_SLOT_ITEMS},
        {"$type", NC_SLOT_TYPE},
        {"$closed", NC_SLOT_CLOSED},
        {"$min", NC_SLOT_MIN},
        {"$max", NC_SLOT_MAX},
        {"$minLength", NC_SLOT_MIN_LENGTH},
        {"$maxLength", NC_SLOT_MAX_LENGTH},
        {"$minItems", NC_SLOT_MIN_ITEMS},
        {"$maxItems", NC_SLOT_MAX_ITEMS},
        {"$enum", NC_SLOT_ENUM},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (nc_slice_is_equal(name, nc_slice_of(known[i].name))) {
            *out = known[i].slot;
            return true;
        }
    }
    return false;
}

/* --- values --- */

/// Reads a number into the shape. Returns false if it has too many digits for an exact comparison.
static bool keep_number(nc_build *build, uint32_t *out, const nc_json_token *token) {
    nc_shape_value value = {.kind = NC_JSON_NUMBER};
    nc_decimal_feed(&value.decimal, token->text);
    nc_decimal_end(&value.decimal);
    if (value.decimal.has_more || value.decimal.written_exponent > 1000000000) {
        return nc_build_fail(build, token->offset, "a number of more than %u digits or a vast exponent",
                             NC_SHAPE_MAX_DIGITS);
    }
    value.text = nc_build_keep(build, token->text);
    *out = (uint32_t)(build->shape->values.length / sizeof value);
    nc_buf_append(&build->shape->values, nc_slice_make(&value, sizeof value));
    return true;
}

static bool take_bound(nc_build *build, const nc_json_token *token, bool is_max) {
    uint32_t index;
    if (token->kind != NC_JSON_NUMBER) {
        return nc_build_fail(build, token->offset, "a number is wanted");
    }
    if (!keep_number(build, &index, token)) {
        return false;
    }
    nc_shape_node *node = node_of(build);
    node->asks |= is_max ? NC_ASKS_MAX : NC_ASKS_MIN;
    if (is_max) {
        node->max = index;
    } else {
        node->min = index;
    }
    return true;
}

static bool take_count(nc_build *build, const nc_json_token *token, uint64_t *out, uint16_t asks) {
    uint64_t count = 0;
    bool is_count = token->kind == NC_JSON_NUMBER && token->text.length <= 18;
    for (size_t i = 0; i < token->text.length && is_count; i++) {
        is_count = token->text.data[i] >= '0' && token->text.data[i] <= '9';
        count = count * 10 + (uint64_t)(token->text.data[i] - '0');
    }
    if (!is_count) {
        return nc_build_fail(build, token->offset, "a count is wanted: digits, at most 18");
    }
    *out = count;
    node_of(build)->asks |= asks;
    return true;
}

static bool take_type(nc_build *build, const nc_json_token *token) {
    nc_shape_node *node = node_of(build);
    if (token->kind != NC_JSON_STRING) {
        return nc_build_fail(build, token->offset, "$type is a string, such as \"string|number?\"");
    }
    nc_buf_reset(&build->scratch);
    nc_json_unescape(&build->scratch, token->text);
    nc_slice text = nc_buf_slice(&build->scratch);
    if (!nc_shape_parse_types(&node->types, text)) {
        return nc_build_fail(build, token->offset, "unknown type \"%.*s\"", (int)(text.length < 64 ? text.length : 64),
                             (const char *)text.data);
    }
    node->asks |= NC_ASKS_TYPE;
    node->wanted = nc_build_keep(build, text);
    return true;
}

static bool take_closed(nc_build *build, const nc_json_token *token) {
    if (token->kind != NC_JSON_TRUE && token->kind != NC_JSON_FALSE) {
        return nc_build_fail(build, token->offset, "$closed is true or false");
    }
    if (token->kind == NC_JSON_TRUE) {
        node_of(build)->asks |= NC_ASKS_CLOSED;
    }
    node_of(build)->asks |= NC_ASKS_MEMBERS;
    return true;
}

bool nc_build_directive(nc_build *build, const nc_json_token *token) {
    nc_shape_node *node = node_of(build);
    switch (nc_build_top(build)->slot) {
    case NC_SLOT_TYPE:
        return take_type(build, token);
    case NC_SLOT_CLOSED:
        return take_closed(build, token);
    case NC_SLOT_MIN:
    case NC_SLOT_MAX:
        return take_bound(build, token, nc_build_top(build)->slot == NC_SLOT_MAX);
    case NC_SLOT_MIN_LENGTH:
        return take_count(build, token, &node->min_length, NC_ASKS_MIN_LENGTH);
    case NC_SLOT_MAX_LENGTH:
        return take_count(build, token, &node->max_length, NC_ASKS_MAX_LENGTH);
    case NC_SLOT_MIN_ITEMS:
        return take_count(build, token, &node->min_items, NC_ASKS_MIN_ITEMS);
    case NC_SLOT_MAX_ITEMS:
        return take_count(build, token, &node->max_items, NC_ASKS_MAX_ITEMS);
    default:
        return nc_build_fail(build, token->offset, "$enum is an array of strings, numbers, true, false and null");
    }
}

bool nc_build_enum(nc_build *build, const nc_json_token *token) {
    nc_shape *shape = build->shape;
    uint32_t index = 0;
    if (token->kind == NC_JSON_NUMBER) {
        if (!keep_number(build, &index, token)) {
            return false;
        }
    } else if (token->kind >= NC_JSON_STRING) {
        nc_buf_reset(&build->scratch);
        nc_json_unescape(&build->scratch, token->text);
        nc_shape_value value = {.kind = (uint8_t)token->kind};
        value.text = nc_build_keep(build, nc_buf_slice(&build->scratch));
        if (value.text.length > shape->max_text_bytes) {
            shape->max_text_bytes = value.text.length;
        }
        nc_buf_append(&shape->values, nc_slice_make(&value, sizeof value));
    } else {
        return nc_build_fail(build, token->offset, "$enum holds strings, numbers, true, false and null only");
    }
    node_of(build)->enum_count++;
    return true;
}

/* --- derived properties --- */

static uint16_t types_of_enum(const nc_build *build, const nc_shape_node *node) {
    uint16_t types = 0;
    for (uint32_t i = 0; i < node->enum_count; i++) {
        const nc_shape_value *value = nc_shape_value_at(build->shape, node->enum_at + i);
        types |= value->kind == NC_JSON_STRING             ? NC_TYPE_STRING
                 : value->kind == NC_JSON_NULL             ? NC_TYPE_NULL
                 : value->kind != NC_JSON_NUMBER           ? NC_TYPE_BOOLEAN
                 : nc_decimal_is_integral(&value->decimal) ? NC_TYPE_INTEGER
                                                           : NC_TYPE_FRACTION;
    }
    return types;
}

/// Returns the types that a directive applies to.
static uint16_t types_of_asks(uint16_t asks) {
    uint16_t types = 0;
    types |= (asks & (NC_ASKS_MIN | NC_ASKS_MAX)) != 0 ? NC_TYPE_NUMBER : 0;
    types |= (asks & (NC_ASKS_MIN_LENGTH | NC_ASKS_MAX_LENGTH)) != 0 ? NC_TYPE_STRING : 0;
    types |= (asks & (NC_ASKS_MIN_ITEMS | NC_ASKS_MAX_ITEMS | NC_ASKS_ITEM)) != 0 ? NC_TYPE_ARRAY : 0;
    types |= (asks & NC_ASKS_MEMBERS) != 0 ? NC_TYPE_OBJECT : 0;
    return types;
}

static void name_types(nc_build *build, nc_shape_node *node) {
    static const struct {
        uint16_t types;
        const char *word;
    } words[] = {
        {NC_TYPE_OBJECT, "object"},   {NC_TYPE_ARRAY, "array"},     {NC_TYPE_STRING, "string"},
        {NC_TYPE_NUMBER, "number"},   {NC_TYPE_INTEGER, "integer"}, {NC_TYPE_FRACTION, "number"},
        {NC_TYPE_BOOLEAN, "boolean"}, {NC_TYPE_NULL, "null"},
    };
    char line[64] = "";
    size_t length = 0;
    uint16_t left = node->types;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (left != 0 && (left & words[i].types) == words[i].types) {
            int more = snprintf(line + length, sizeof line - length, "%s%s", length > 0 ? "|" : "", words[i].word);
            length += more > 0 ? (size_t)more : 0;
            left &= (uint16_t)~words[i].types;
        }
    }
    node->wanted = nc_build_keep(build, nc_slice_of(line));
}

static bool is_empty_range(const nc_build *build, const nc_shape_node *node) {
    const uint16_t bounds = NC_ASKS_MIN | NC_ASKS_MAX;
    const uint16_t lengths = NC_ASKS_MIN_LENGTH | NC_ASKS_MAX_LENGTH;
    const uint16_t items = NC_ASKS_MIN_ITEMS | NC_ASKS_MAX_ITEMS;
    return ((node->asks & bounds) == bounds &&
            nc_decimal_compare(&nc_shape_value_at(build->shape, node->min)->decimal,
                               &nc_shape_value_at(build->shape, node->max)->decimal) > 0) ||
           ((node->asks & lengths) == lengths && node->min_length > node->max_length) ||
           ((node->asks & items) == items && node->min_items > node->max_items);
}

bool nc_build_close_node(nc_build *build, uint32_t index, uint64_t offset) {
    nc_shape_node *node = nc_shape_node_at(build->shape, index);
    if (build->shape->values.status != NC_OK) {
        return false;
    }
    uint16_t spoken = types_of_asks(node->asks);
    uint16_t listed = types_of_enum(build, node);
    bool has_enum = (node->asks & NC_ASKS_ENUM) != 0;
    if ((node->asks & NC_ASKS_TYPE) == 0) {
        node->types = (uint16_t)(spoken | listed);
        if (node->types == 0) {
            node->types = NC_TYPE_OBJECT;
        }
        name_types(build, node);
    }
    if ((spoken & ~node->types & ~NC_TYPE_FRACTION) != 0) {
        return nc_build_fail(build, offset, "a limit, members or items for a type that is not among \"%.*s\"",
                             (int)node->wanted.length, (const char *)nc_shape_slice(build->shape, node->wanted).data);
    }
    if (has_enum && (node->enum_count == 0 || (listed & ~node->types) != 0 || (node->types & 3) != 0)) {
        return nc_build_fail(build, offset, "$enum and the types contradict each other, or it is empty");
    }
    if (is_empty_range(build, node)) {
        return nc_build_fail(build, offset, "a minimum is above its maximum");
    }
    return true;
}
