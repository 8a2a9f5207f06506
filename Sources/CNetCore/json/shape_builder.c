#include "json/shape_builder.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- errors and text --- */

/// Appends a name to a JSON Pointer. `~` and `/` in the name become `~0` and `~1` (RFC 6901, 3).
static void write_pointer_token(nc_buf *out, nc_slice raw) {
    nc_buf name = nc_buf_init(out->max_bytes);
    nc_json_unescape(&name, raw);
    nc_buf_append_byte(out, '/');
    for (size_t i = 0; i < name.length; i++) {
        bool is_marked = name.data[i] == '~' || name.data[i] == '/';
        nc_buf_append_byte(out, is_marked ? '~' : name.data[i]);
        if (is_marked) {
            nc_buf_append_byte(out, name.data[i] == '~' ? '0' : '1');
        }
    }
    nc_buf_deinit(&name);
}

/// Writes the JSON Pointer of the current position in the shape document.
static void write_pointer(const nc_shape_builder *builder, nc_buf *out) {
    for (uint32_t i = 0; i < builder->depth; i++) {
        const nc_builder_frame *frame = &builder->frames[i];
        char index[16];
        snprintf(index, sizeof index, "/%u", frame->count - 1);
        if (frame->is_object && frame->name.data != NULL) {
            write_pointer_token(out, frame->name);
        } else if (!frame->is_object && frame->count > 0) {
            nc_buf_append(out, nc_slice_of(index));
        }
    }
}

bool nc_builder_fail(nc_shape_builder *builder, uint64_t offset, const char *format, ...) {
    char message[NC_ERROR_MESSAGE_BYTES];
    // A long pointer is truncated: appends beyond the maximum do nothing.
    nc_buf pointer = nc_buf_init(120);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    write_pointer(builder, &pointer);
    builder->status = nc_error_set(builder->err, NC_ERR_BAD_SHAPE, 0, (int64_t)offset, "at \"%.*s\": %s",
                                   (int)pointer.length, (const char *)pointer.data, message);
    nc_buf_deinit(&pointer);
    return false;
}

nc_shape_text nc_builder_store(nc_shape_builder *builder, nc_slice text) {
    nc_shape_text stored = {(uint32_t)builder->shape->text.length, (uint32_t)text.length};
    nc_buf_append(&builder->shape->text, text);
    return stored;
}

/* --- types and names --- */

/// Returns the types that a word of a shape names, or 0 for an unknown word.
static uint16_t type_of(nc_slice word) {
    static const struct {
        const char *word;
        uint16_t types;
    } known[] = {
        {"any", NC_TYPE_ANY},         {"string", NC_TYPE_STRING},   {"number", NC_TYPE_NUMBER},
        {"integer", NC_TYPE_INTEGER}, {"boolean", NC_TYPE_BOOLEAN}, {"null", NC_TYPE_NULL},
        {"object", NC_TYPE_OBJECT},   {"array", NC_TYPE_ARRAY},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (nc_slice_is_equal(word, nc_slice_of(known[i].word))) {
            return known[i].types;
        }
    }
    return 0;
}

bool nc_builder_parse_types(uint16_t *out, nc_slice text) {
    uint16_t types = 0;
    if (text.length > 0 && text.data[text.length - 1] == '?') {
        types = NC_TYPE_NULL;
        text.length--;
    }
    size_t at = 0;
    for (;;) {
        if (at >= text.length) {
            return false; // an empty alternative, as in "string|"
        }
        const uint8_t *bar = memchr(text.data + at, '|', text.length - at);
        size_t end = bar == NULL ? text.length : (size_t)(bar - text.data);
        uint16_t type = type_of(nc_slice_make(text.data + at, end - at));
        if (type == 0) {
            return false;
        }
        types |= type;
        if (bar == NULL) {
            *out = types;
            return true;
        }
        at = end + 1;
    }
}

void nc_builder_parse_name(nc_buf *out, bool *is_optional, nc_slice key) {
    size_t at = key.length > 0 && key.data[0] == '$' ? 1 : 0; // "$$name" names the member "$name"
    *is_optional = false;
    for (; at < key.length; at++) {
        bool is_mark = key.data[at] == '?';
        bool is_last = at + 1 == key.length;
        if (is_mark && is_last) {
            *is_optional = true;
            return;
        }
        if (is_mark && key.data[at + 1] == '?') {
            at++;
        }
        nc_buf_append_byte(out, key.data[at]);
    }
}

/* --- directives --- */

/// Returns the node of the innermost container. The pointer is invalid after the next node is added.
static nc_shape_node *node_of(nc_shape_builder *builder) {
    return nc_shape_node_at(builder->shape, nc_builder_top(builder)->node);
}

bool nc_builder_find_directive(nc_shape_slot *out, nc_slice name) {
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
static bool store_number(nc_shape_builder *builder, uint32_t *out, const nc_json_token *token) {
    nc_shape_value value = {.kind = NC_JSON_NUMBER};
    nc_decimal_feed(&value.decimal, token->text);
    nc_decimal_end(&value.decimal);
    if (value.decimal.has_more || value.decimal.written_exponent > 1000000000) {
        return nc_builder_fail(builder, token->offset, "a number of more than %u digits or with a huge exponent",
                               NC_SHAPE_MAX_DIGITS);
    }
    value.text = nc_builder_store(builder, token->text);
    *out = (uint32_t)(builder->shape->values.length / sizeof value);
    nc_buf_append(&builder->shape->values, nc_slice_make(&value, sizeof value));
    return true;
}

/// Reads $min or $max.
static bool read_bound(nc_shape_builder *builder, const nc_json_token *token, bool is_max) {
    uint32_t index;
    if (token->kind != NC_JSON_NUMBER) {
        return nc_builder_fail(builder, token->offset, "expected a number");
    }
    if (!store_number(builder, &index, token)) {
        return false;
    }
    nc_shape_node *node = node_of(builder);
    node->constraints |= is_max ? NC_HAS_MAX : NC_HAS_MIN;
    if (is_max) {
        node->max = index;
    } else {
        node->min = index;
    }
    return true;
}

/// Reads a limit of characters or items. The value of at most 18 digits cannot overflow.
static bool read_count(nc_shape_builder *builder, const nc_json_token *token, uint64_t *out, uint16_t constraint) {
    uint64_t count = 0;
    bool is_count = token->kind == NC_JSON_NUMBER && token->text.length <= 18;
    for (size_t i = 0; i < token->text.length && is_count; i++) {
        is_count = token->text.data[i] >= '0' && token->text.data[i] <= '9';
        count = count * 10 + (uint64_t)(token->text.data[i] - '0');
    }
    if (!is_count) {
        return nc_builder_fail(builder, token->offset, "expected a count of at most 18 digits");
    }
    *out = count;
    node_of(builder)->constraints |= constraint;
    return true;
}

/// Reads $type. Its text is stored for the descriptions of mismatches.
static bool read_type(nc_shape_builder *builder, const nc_json_token *token) {
    nc_shape_node *node = node_of(builder);
    if (token->kind != NC_JSON_STRING) {
        return nc_builder_fail(builder, token->offset, "$type must be a string, such as \"string|number?\"");
    }
    nc_buf_reset(&builder->scratch);
    nc_json_unescape(&builder->scratch, token->text);
    nc_slice text = nc_buf_slice(&builder->scratch);
    if (!nc_builder_parse_types(&node->types, text)) {
        return nc_builder_fail(builder, token->offset, "unknown type \"%.*s\"",
                               (int)(text.length < 64 ? text.length : 64), (const char *)text.data);
    }
    node->constraints |= NC_HAS_TYPE;
    node->type_text = nc_builder_store(builder, text);
    return true;
}

/// Reads $closed. Even with false, the shape then requires an object.
static bool read_closed(nc_shape_builder *builder, const nc_json_token *token) {
    if (token->kind != NC_JSON_TRUE && token->kind != NC_JSON_FALSE) {
        return nc_builder_fail(builder, token->offset, "$closed must be true or false");
    }
    if (token->kind == NC_JSON_TRUE) {
        node_of(builder)->constraints |= NC_HAS_CLOSED;
    }
    node_of(builder)->constraints |= NC_HAS_MEMBERS;
    return true;
}

bool nc_builder_read_directive(nc_shape_builder *builder, const nc_json_token *token) {
    nc_shape_node *node = node_of(builder);
    switch (nc_builder_top(builder)->slot) {
    case NC_SLOT_TYPE:
        return read_type(builder, token);
    case NC_SLOT_CLOSED:
        return read_closed(builder, token);
    case NC_SLOT_MIN:
    case NC_SLOT_MAX:
        return read_bound(builder, token, nc_builder_top(builder)->slot == NC_SLOT_MAX);
    case NC_SLOT_MIN_LENGTH:
        return read_count(builder, token, &node->min_length, NC_HAS_MIN_LENGTH);
    case NC_SLOT_MAX_LENGTH:
        return read_count(builder, token, &node->max_length, NC_HAS_MAX_LENGTH);
    case NC_SLOT_MIN_ITEMS:
        return read_count(builder, token, &node->min_items, NC_HAS_MIN_ITEMS);
    case NC_SLOT_MAX_ITEMS:
        return read_count(builder, token, &node->max_items, NC_HAS_MAX_ITEMS);
    default:
        return nc_builder_fail(builder, token->offset,
                               "$enum must be an array of strings, numbers, true, false and null");
    }
}

bool nc_builder_read_enum(nc_shape_builder *builder, const nc_json_token *token) {
    nc_shape *shape = builder->shape;
    uint32_t index = 0;
    if (token->kind == NC_JSON_NUMBER) {
        if (!store_number(builder, &index, token)) {
            return false;
        }
    } else if (token->kind >= NC_JSON_STRING) {
        nc_buf_reset(&builder->scratch);
        nc_json_unescape(&builder->scratch, token->text);
        nc_shape_value value = {.kind = (uint8_t)token->kind};
        value.text = nc_builder_store(builder, nc_buf_slice(&builder->scratch));
        if (value.text.length > shape->max_text_bytes) {
            shape->max_text_bytes = value.text.length;
        }
        nc_buf_append(&shape->values, nc_slice_make(&value, sizeof value));
    } else {
        return nc_builder_fail(builder, token->offset, "$enum can contain only strings, numbers, true, false and null");
    }
    node_of(builder)->enum_count++;
    return true;
}

/* --- derived properties --- */

/// Returns the types of the values that $enum lists.
static uint16_t types_of_enum(const nc_shape_builder *builder, const nc_shape_node *node) {
    uint16_t types = 0;
    for (uint32_t i = 0; i < node->enum_count; i++) {
        const nc_shape_value *value = nc_shape_value_at(builder->shape, node->enum_at + i);
        types |= value->kind == NC_JSON_STRING             ? NC_TYPE_STRING
                 : value->kind == NC_JSON_NULL             ? NC_TYPE_NULL
                 : value->kind != NC_JSON_NUMBER           ? NC_TYPE_BOOLEAN
                 : nc_decimal_is_integral(&value->decimal) ? NC_TYPE_INTEGER
                                                           : NC_TYPE_FRACTION;
    }
    return types;
}

/// Returns the types that the constraints apply to.
static uint16_t types_of_constraints(uint16_t constraints) {
    uint16_t types = 0;
    types |= (constraints & (NC_HAS_MIN | NC_HAS_MAX)) != 0 ? NC_TYPE_NUMBER : 0;
    types |= (constraints & (NC_HAS_MIN_LENGTH | NC_HAS_MAX_LENGTH)) != 0 ? NC_TYPE_STRING : 0;
    types |= (constraints & (NC_HAS_MIN_ITEMS | NC_HAS_MAX_ITEMS | NC_HAS_ITEM)) != 0 ? NC_TYPE_ARRAY : 0;
    types |= (constraints & NC_HAS_MEMBERS) != 0 ? NC_TYPE_OBJECT : 0;
    return types;
}

/// Stores the types as a shape would spell them, for the descriptions of mismatches.
static void describe_types(nc_shape_builder *builder, nc_shape_node *node) {
    static const struct {
        uint16_t types;
        const char *word;
    } names[] = {
        {NC_TYPE_OBJECT, "object"},   {NC_TYPE_ARRAY, "array"},     {NC_TYPE_STRING, "string"},
        {NC_TYPE_NUMBER, "number"},   {NC_TYPE_INTEGER, "integer"}, {NC_TYPE_FRACTION, "number"},
        {NC_TYPE_BOOLEAN, "boolean"}, {NC_TYPE_NULL, "null"},
    };
    char line[64] = "";
    size_t length = 0;
    uint16_t remaining = node->types;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (remaining != 0 && (remaining & names[i].types) == names[i].types) {
            int more = snprintf(line + length, sizeof line - length, "%s%s", length > 0 ? "|" : "", names[i].word);
            length += more > 0 ? (size_t)more : 0;
            remaining &= (uint16_t)~names[i].types;
        }
    }
    node->type_text = nc_builder_store(builder, nc_slice_of(line));
}

/// Returns true if a minimum is above its maximum, so that no value could match.
static bool is_empty_range(const nc_shape_builder *builder, const nc_shape_node *node) {
    const uint16_t bounds = NC_HAS_MIN | NC_HAS_MAX;
    const uint16_t lengths = NC_HAS_MIN_LENGTH | NC_HAS_MAX_LENGTH;
    const uint16_t items = NC_HAS_MIN_ITEMS | NC_HAS_MAX_ITEMS;
    return ((node->constraints & bounds) == bounds &&
            nc_decimal_compare(&nc_shape_value_at(builder->shape, node->min)->decimal,
                               &nc_shape_value_at(builder->shape, node->max)->decimal) > 0) ||
           ((node->constraints & lengths) == lengths && node->min_length > node->max_length) ||
           ((node->constraints & items) == items && node->min_items > node->max_items);
}

bool nc_builder_close_node(nc_shape_builder *builder, uint32_t index, uint64_t offset) {
    nc_shape_node *node = nc_shape_node_at(builder->shape, index);
    if (builder->shape->values.status != NC_OK) {
        return false;
    }
    uint16_t constrained = types_of_constraints(node->constraints);
    uint16_t enumerated = types_of_enum(builder, node);
    bool has_enum = (node->constraints & NC_HAS_ENUM) != 0;
    if ((node->constraints & NC_HAS_TYPE) == 0) {
        node->types = (uint16_t)(constrained | enumerated);
        // The shape {} allows any object.
        if (node->types == 0) {
            node->types = NC_TYPE_OBJECT;
        }
        describe_types(builder, node);
    }
    // $min and $max may be combined with the type "integer", which does not include NC_TYPE_FRACTION.
    if ((constrained & ~node->types & ~NC_TYPE_FRACTION) != 0) {
        return nc_builder_fail(builder, offset, "a limit, members or items for a type that is not among \"%.*s\"",
                               (int)node->type_text.length,
                               (const char *)nc_shape_slice(builder->shape, node->type_text).data);
    }
    if (has_enum && (node->enum_count == 0 || (enumerated & ~node->types) != 0 ||
                     (node->types & (NC_TYPE_OBJECT | NC_TYPE_ARRAY)) != 0)) {
        return nc_builder_fail(builder, offset, "$enum and the types contradict each other, or it is empty");
    }
    if (is_empty_range(builder, node)) {
        return nc_builder_fail(builder, offset, "a minimum is above its maximum");
    }
    return true;
}
