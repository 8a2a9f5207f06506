#include "schema/compile.h"

#include "schema/value_hash.h"

/* --- numbers --- */

/// Adds a number to the table. Returns its index, or NC_SCHEMA_NONE after an error.
static uint32_t add_number(nc_compiler *c, const nc_tree_value *value) {
    nc_schema_number number = {.text = nc_compiler_copy(c, value->text)};
    if (value->kind != NC_JSON_NUMBER) {
        (void)nc_compiler_fail(c, value, "it must be a number");
        return NC_SCHEMA_NONE;
    }
    nc_decimal_feed(&number.decimal, value->text);
    nc_decimal_end(&number.decimal);
    if (number.decimal.has_more) {
        (void)nc_compiler_fail(c, value, "the number has more than %d digits", NC_SHAPE_MAX_DIGITS);
        return NC_SCHEMA_NONE;
    }
    nc_buf_append(&c->schema->numbers, nc_slice_make(&number, sizeof number));
    return nc_compiler_check(c, &c->schema->numbers) ? (uint32_t)(c->schema->numbers.length / sizeof number) - 1
                                                     : NC_SCHEMA_NONE;
}

/// Adds the number of multipleOf.
static uint32_t add_divisor(nc_compiler *c, const nc_tree_value *value) {
    uint32_t index = add_number(c, value);
    if (index == NC_SCHEMA_NONE) {
        return index;
    }
    nc_schema_number *number = (nc_schema_number *)(void *)c->schema->numbers.data + index;
    const nc_decimal *decimal = &number->decimal;
    if (decimal->last_nonzero == 0 || decimal->is_negative || decimal->last_nonzero > 19) {
        (void)nc_compiler_fail(c, value, "it must be greater than 0 and have at most 19 digits");
        return NC_SCHEMA_NONE;
    }
    for (uint64_t i = 0; i < decimal->last_nonzero; i++) {
        number->digits = number->digits * 10 + decimal->digits[i];
    }
    number->exponent = decimal->exponent - (int64_t)decimal->last_nonzero;
    return index;
}

/// Reads an integer from 0 on, such as 2 or 2.0. Larger ones than 10^18 have no effect as a limit.
static uint64_t read_count(nc_compiler *c, const nc_tree_value *value) {
    nc_decimal decimal = {0};
    uint64_t count = 0;
    nc_decimal_feed(&decimal, value->text);
    nc_decimal_end(&decimal);
    bool is_negative = decimal.is_negative && decimal.last_nonzero > 0;
    if (value->kind != NC_JSON_NUMBER || is_negative || !nc_decimal_is_integral(&decimal)) {
        (void)nc_compiler_fail(c, value, "it must be an integer from 0 on");
        return 0;
    }
    if (decimal.last_nonzero == 0) {
        return 0;
    }
    if (decimal.exponent > 18) {
        return UINT64_MAX;
    }
    for (int64_t i = 0; i < decimal.exponent; i++) {
        count = count * 10 + (i < NC_SHAPE_MAX_DIGITS ? decimal.digits[i] : 0);
    }
    return count;
}

/* --- types --- */

static void add_type(nc_compiler *c, uint16_t *types, const nc_tree_value *name) {
    static const struct {
        const char *name;
        uint16_t types;
    } known[] = {
        {"object", NC_TYPE_OBJECT},   {"array", NC_TYPE_ARRAY},   {"string", NC_TYPE_STRING},
        {"integer", NC_TYPE_INTEGER}, {"number", NC_TYPE_NUMBER}, {"boolean", NC_TYPE_BOOLEAN},
        {"null", NC_TYPE_NULL},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0] && name->kind == NC_JSON_STRING; i++) {
        if (nc_slice_is_equal(name->text, nc_slice_of(known[i].name))) {
            *types |= known[i].types;
            return;
        }
    }
    (void)nc_compiler_fail(c, name, "it must be one of object, array, string, integer, number, boolean and null");
}

static uint16_t read_types(nc_compiler *c, const nc_tree_value *value) {
    uint16_t types = 0;
    if (value->kind != NC_JSON_ARRAY) {
        add_type(c, &types, value);
        return types;
    }
    for (const nc_tree_value *one = value->first; one != NULL; one = one->next) {
        add_type(c, &types, one);
    }
    return types;
}

/* --- const and enum --- */

/// Returns the hash of a value. The depth of a tree is limited, so recursion is too.
static nc_hash128 hash_of(nc_hash128 key, const nc_tree_value *value) {
    nc_value_hash hash;
    switch (value->kind) {
    case NC_JSON_STRING:
        return nc_value_hash_string(key, value->text);
    case NC_JSON_NUMBER:
        return nc_value_hash_number(key, value->text);
    case NC_JSON_OBJECT:
    case NC_JSON_ARRAY:
        nc_value_hash_begin(&hash, key, value->kind == NC_JSON_OBJECT);
        for (const nc_tree_value *child = value->first; child != NULL; child = child->next) {
            nc_value_hash_add(&hash, key, child->name, hash_of(key, child));
        }
        return nc_value_hash_end(&hash, key);
    default:
        return nc_value_hash_literal(key, value->kind);
    }
}

static void add_hash(nc_compiler *c, uint16_t *types, const nc_tree_value *value) {
    nc_hash128 hash = hash_of(c->schema->key, value);
    nc_buf_append(&c->schema->hashes, nc_slice_make(&hash, sizeof hash));
    *types |= nc_schema_types_of(value->kind);
}

static uint32_t hash_count(const nc_compiler *c) {
    return (uint32_t)(c->schema->hashes.length / sizeof(nc_hash128));
}

static void set_const(nc_compiler *c, nc_schema_node *node, const nc_tree_value *value) {
    uint16_t types = 0;
    node->const_value = (nc_schema_list){hash_count(c), 1};
    add_hash(c, &types, value);
    node->value_types &= types;
    node->flags |= NC_NODE_VALUES;
    (void)nc_compiler_check(c, &c->schema->hashes);
}

static void set_enum(nc_compiler *c, nc_schema_node *node, const nc_tree_value *value) {
    uint16_t types = 0;
    if (value->kind != NC_JSON_ARRAY) {
        (void)nc_compiler_fail(c, value, "it must be an array");
        return;
    }
    node->has_enum = true;
    node->values = (nc_schema_list){hash_count(c), value->count};
    for (const nc_tree_value *one = value->first; one != NULL; one = one->next) {
        add_hash(c, &types, one);
    }
    node->value_types &= types;
    node->flags |= NC_NODE_VALUES;
    (void)nc_compiler_check(c, &c->schema->hashes);
}

/* --- strings --- */

uint32_t nc_compiler_pattern(nc_compiler *c, const nc_tree_value *at, nc_slice pattern) {
    char reason[NC_REGEX_REASON_BYTES] = "";
    nc_regex *regex = NULL;
    nc_status status = nc_regex_compile(&regex, pattern, reason);
    if (status != NC_OK) {
        (void)nc_library_fail(&c->library, status, at, "%s", reason[0] != '\0' ? reason : nc_status_text(status));
        return NC_SCHEMA_NONE;
    }
    nc_buf_append(&c->schema->patterns, nc_slice_make(&regex, sizeof regex));
    if (!nc_compiler_check(c, &c->schema->patterns)) {
        nc_regex_free(regex);
        return NC_SCHEMA_NONE;
    }
    size_t scratch = nc_regex_scratch(regex);
    c->schema->scratch = scratch > c->schema->scratch ? scratch : c->schema->scratch;
    c->schema->pattern_steps += scratch;
    if (c->schema->pattern_steps > NC_SCHEMA_MAX_PATTERN_STEPS) {
        (void)nc_library_fail(&c->library, NC_ERR_TOO_LARGE, at, "all patterns together are too large");
    }
    return (uint32_t)(c->schema->patterns.length / sizeof regex) - 1;
}

static void set_format(nc_compiler *c, nc_schema_node *node, const nc_tree_value *value) {
    uint32_t vocabularies = nc_library_resource_at(&c->library, node->resource)->vocabularies;
    bool is_asserted = c->library.options->asserts_formats || (vocabularies & NC_VOCABULARY_FORMAT_ASSERTION) != 0;
    if (value->kind == NC_JSON_STRING && is_asserted) {
        node->format = nc_format_find(value->text);
        node->flags |= node->format != NC_FORMAT_NONE ? NC_NODE_STRING : 0;
    }
}

static void set_pattern(nc_compiler *c, nc_schema_node *node, const nc_tree_value *value) {
    if (value->kind != NC_JSON_STRING) {
        (void)nc_compiler_fail(c, value, "it must be a string");
        return;
    }
    node->pattern = nc_compiler_pattern(c, value, value->text);
    node->flags |= NC_NODE_STRING;
}

void nc_compiler_value(nc_compiler *c, nc_schema_node *node, nc_schema_keyword keyword, const nc_tree_value *value) {
    uint32_t *const number = keyword == NC_KEYWORD_MINIMUM             ? &node->minimum
                             : keyword == NC_KEYWORD_MAXIMUM           ? &node->maximum
                             : keyword == NC_KEYWORD_EXCLUSIVE_MINIMUM ? &node->exclusive_minimum
                             : keyword == NC_KEYWORD_EXCLUSIVE_MAXIMUM ? &node->exclusive_maximum
                                                                       : NULL;
    uint64_t *const count = keyword == NC_KEYWORD_MIN_LENGTH       ? &node->min_length
                            : keyword == NC_KEYWORD_MAX_LENGTH     ? &node->max_length
                            : keyword == NC_KEYWORD_MIN_ITEMS      ? &node->min_items
                            : keyword == NC_KEYWORD_MAX_ITEMS      ? &node->max_items
                            : keyword == NC_KEYWORD_MIN_PROPERTIES ? &node->min_properties
                            : keyword == NC_KEYWORD_MAX_PROPERTIES ? &node->max_properties
                            : keyword == NC_KEYWORD_MIN_CONTAINS   ? &node->min_contains
                            : keyword == NC_KEYWORD_MAX_CONTAINS   ? &node->max_contains
                                                                   : NULL;
    if (number != NULL) {
        *number = add_number(c, value);
        node->flags |= NC_NODE_NUMBER;
    } else if (count != NULL) {
        *count = read_count(c, value);
        node->flags |= keyword == NC_KEYWORD_MIN_LENGTH || keyword == NC_KEYWORD_MAX_LENGTH ? NC_NODE_STRING : 0;
    } else if (keyword == NC_KEYWORD_TYPE) {
        node->types = read_types(c, value);
    } else if (keyword == NC_KEYWORD_MULTIPLE_OF) {
        node->multiple_of = add_divisor(c, value);
        node->flags |= NC_NODE_NUMBER;
    } else if (keyword == NC_KEYWORD_CONST) {
        set_const(c, node, value);
    } else if (keyword == NC_KEYWORD_ENUM) {
        set_enum(c, node, value);
    } else if (keyword == NC_KEYWORD_PATTERN) {
        set_pattern(c, node, value);
    } else if (keyword == NC_KEYWORD_FORMAT) {
        set_format(c, node, value);
    } else if (keyword == NC_KEYWORD_UNIQUE_ITEMS) {
        node->is_unique = value->kind == NC_JSON_TRUE;
    }
}
