#include "schema/evaluator.h"

#include <inttypes.h>
#include <stdio.h>

/* --- where --- */

/// Appends the JSON Pointer of a value with `depth` open containers around it.
static void write_pointer(nc_evaluator *e, uint32_t depth) {
    const nc_evaluator_level *levels = (const nc_evaluator_level *)(const void *)e->levels.data;
    uint32_t count = nc_level_count(e);
    nc_buf pointer = nc_buf_init(NC_EVALUATOR_MAX_POINTER);
    for (uint32_t i = 0; i < depth && i < count; i++) {
        char index[24];
        snprintf(index, sizeof index, "/%" PRIu64, levels[i].count == 0 ? 0 : levels[i].count - 1);
        if (levels[i].is_object) {
            size_t end = i + 1 < count ? levels[i + 1].name_at : e->path.length;
            nc_slice name =
                nc_slice_make(e->path.data == NULL ? NULL : e->path.data + levels[i].name_at, end - levels[i].name_at);
            nc_tree_write_token(&pointer, name);
        } else {
            nc_buf_append(&pointer, nc_slice_of(index));
        }
    }
    // A long pointer is truncated: appends beyond the maximum do nothing.
    nc_buf_append(&e->description, nc_buf_slice(&pointer));
    nc_buf_deinit(&pointer);
}

static void write_keyword(nc_evaluator *e) {
    const nc_reason *reason = &e->reason;
    nc_buf_append(&e->description, reason->node->pointer);
    if (reason->keyword != NC_KEYWORD_NONE) {
        nc_buf_append_byte(&e->description, '/');
        nc_buf_append(&e->description, nc_slice_of(nc_keyword_info_of(reason->keyword)->name));
    }
}

/* --- what was expected --- */

static void write_text(nc_evaluator *e, const char *text) {
    nc_buf_append(&e->description, nc_slice_of(text));
}

/// Appends "PREFIX COUNT NOUN", with a plural if that is necessary.
static void write_count(nc_evaluator *e, const char *prefix, uint64_t count, const char *noun, const char *plural) {
    char text[96];
    snprintf(text, sizeof text, "%s%s%" PRIu64 " %s", prefix, prefix[0] == '\0' ? "" : " ", count,
             count == 1 ? noun : plural);
    write_text(e, text);
}

static void write_number(nc_evaluator *e, const char *prefix, uint32_t number) {
    write_text(e, prefix);
    nc_buf_append(&e->description, nc_schema_number_at(e->schema, number)->text);
}

static void write_types(nc_evaluator *e, uint16_t types) {
    static const struct {
        uint16_t types;
        const char *name;
    } names[] = {
        {NC_TYPE_OBJECT, "object"}, {NC_TYPE_ARRAY, "array"},     {NC_TYPE_STRING, "string"},
        {NC_TYPE_NUMBER, "number"}, {NC_TYPE_INTEGER, "integer"}, {NC_TYPE_BOOLEAN, "boolean"},
        {NC_TYPE_NULL, "null"},
    };
    const char *separator = "";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((types & names[i].types) == names[i].types) {
            write_text(e, separator);
            write_text(e, names[i].name);
            separator = " or ";
            types &= (uint16_t)~names[i].types;
        }
    }
}

/// Appends the name of the tracked member `amount`.
static void write_missing(nc_evaluator *e) {
    const nc_schema_node *node = e->reason.node;
    for (uint32_t i = 0; i < node->member_count; i++) {
        const nc_schema_member *member = nc_schema_member_at(e->schema, node->member_at + i);
        if (member->tracked == e->reason.amount) {
            size_t shown = member->name.length < NC_EVALUATOR_MAX_NAME ? member->name.length : NC_EVALUATOR_MAX_NAME;
            write_text(e, "a member \"");
            nc_buf_append(&e->description, nc_slice_make(member->name.data, shown));
            write_text(e, "\"");
            return;
        }
    }
}

static void write_wanted_limit(nc_evaluator *e, const nc_schema_node *node) {
    switch (e->reason.keyword) {
    case NC_KEYWORD_MINIMUM:
        write_number(e, "at least ", node->minimum);
        break;
    case NC_KEYWORD_MAXIMUM:
        write_number(e, "at most ", node->maximum);
        break;
    case NC_KEYWORD_EXCLUSIVE_MINIMUM:
        write_number(e, "more than ", node->exclusive_minimum);
        break;
    case NC_KEYWORD_EXCLUSIVE_MAXIMUM:
        write_number(e, "less than ", node->exclusive_maximum);
        break;
    case NC_KEYWORD_MULTIPLE_OF:
        write_number(e, "a multiple of ", node->multiple_of);
        break;
    case NC_KEYWORD_MIN_LENGTH:
        write_count(e, "at least", node->min_length, "character", "characters");
        break;
    case NC_KEYWORD_MAX_LENGTH:
        write_count(e, "at most", node->max_length, "character", "characters");
        break;
    case NC_KEYWORD_MIN_ITEMS:
        write_count(e, "at least", node->min_items, "element", "elements");
        break;
    case NC_KEYWORD_MAX_ITEMS:
        write_count(e, "at most", node->max_items, "element", "elements");
        break;
    case NC_KEYWORD_MIN_PROPERTIES:
        write_count(e, "at least", node->min_properties, "member", "members");
        break;
    case NC_KEYWORD_MAX_PROPERTIES:
        write_count(e, "at most", node->max_properties, "member", "members");
        break;
    case NC_KEYWORD_MIN_CONTAINS:
        write_count(e, "at least", node->min_contains, "element that matches", "elements that match");
        break;
    default:
        write_count(e, "at most", node->max_contains, "element that matches", "elements that match");
    }
}

static void write_wanted(nc_evaluator *e) {
    const nc_schema_node *node = e->reason.node;
    switch (e->reason.keyword) {
    case NC_KEYWORD_NONE:
        write_text(e, "nothing here");
        break;
    case NC_KEYWORD_TYPE:
        write_types(e, node->types);
        break;
    case NC_KEYWORD_CONST:
        write_text(e, "the value of the schema");
        break;
    case NC_KEYWORD_ENUM:
        write_text(e, "one of the values that the schema lists");
        break;
    case NC_KEYWORD_PATTERN:
        write_text(e, "a string that matches the pattern");
        break;
    case NC_KEYWORD_FORMAT:
        write_text(e, "a string of the format ");
        write_text(e, nc_format_name(node->format));
        break;
    case NC_KEYWORD_REQUIRED:
    case NC_KEYWORD_DEPENDENT_REQUIRED:
        write_missing(e);
        break;
    case NC_KEYWORD_ANY_OF:
        write_text(e, "a value that one of the alternatives allows");
        break;
    case NC_KEYWORD_ONE_OF:
        write_text(e, "a value that exactly one of the alternatives allows");
        break;
    case NC_KEYWORD_NOT:
        write_text(e, "a value that the schema does not exclude");
        break;
    case NC_KEYWORD_THEN:
    case NC_KEYWORD_ELSE:
    case NC_KEYWORD_DEPENDENT_SCHEMAS:
        write_text(e, "a value that meets the condition's schema");
        break;
    case NC_KEYWORD_CONTAINS:
        write_text(e, "an element that matches");
        break;
    case NC_KEYWORD_UNIQUE_ITEMS:
        write_text(e, "different elements");
        break;
    case NC_KEYWORD_UNEVALUATED_PROPERTIES:
        write_text(e, "no other members");
        break;
    case NC_KEYWORD_UNEVALUATED_ITEMS:
        write_text(e, "no other elements");
        break;
    default:
        write_wanted_limit(e, node);
    }
}

/* --- what was found --- */

static const char *kind_name(unsigned kind) {
    static const char *const names[NC_SCHEMA_KINDS] = {
        [NC_JSON_OBJECT] = "object", [NC_JSON_ARRAY] = "array",   [NC_JSON_STRING] = "string",
        [NC_JSON_NUMBER] = "number", [NC_JSON_TRUE] = "boolean",  [NC_JSON_FALSE] = "boolean",
        [NC_JSON_NULL] = "null",     [NC_KIND_DIGITS] = "number",
    };
    return names[kind] == NULL ? "nothing" : names[kind];
}

static void write_found(nc_evaluator *e) {
    const nc_reason *reason = &e->reason;
    switch (reason->keyword) {
    case NC_KEYWORD_MINIMUM:
    case NC_KEYWORD_MAXIMUM:
    case NC_KEYWORD_EXCLUSIVE_MINIMUM:
    case NC_KEYWORD_EXCLUSIVE_MAXIMUM:
    case NC_KEYWORD_MULTIPLE_OF:
        nc_buf_append(&e->description, nc_slice_make(e->scalar.data, e->scalar.length < 64 ? e->scalar.length : 64));
        break;
    case NC_KEYWORD_MIN_LENGTH:
    case NC_KEYWORD_MAX_LENGTH:
    case NC_KEYWORD_MIN_ITEMS:
    case NC_KEYWORD_MAX_ITEMS:
    case NC_KEYWORD_MIN_PROPERTIES:
    case NC_KEYWORD_MAX_PROPERTIES:
    case NC_KEYWORD_CONTAINS:
    case NC_KEYWORD_MIN_CONTAINS:
    case NC_KEYWORD_MAX_CONTAINS:
        write_count(e, "", reason->amount, "", "");
        e->description.length--; // the space
        break;
    case NC_KEYWORD_ONE_OF:
        write_text(e, reason->amount > 1 ? "one that several allow" : kind_name(reason->kind));
        break;
    case NC_KEYWORD_REQUIRED:
    case NC_KEYWORD_DEPENDENT_REQUIRED:
        write_text(e, "nothing");
        break;
    case NC_KEYWORD_UNIQUE_ITEMS:
        write_text(e, "two equal ones");
        break;
    default:
        write_text(e, kind_name(reason->kind));
    }
}

void nc_evaluator_describe(nc_evaluator *e) {
    e->description.length = 0;
    write_pointer(e, e->reason.depth);
    e->description_at[0] = e->description.length;
    write_keyword(e);
    e->description_at[1] = e->description.length;
    write_wanted(e);
    e->description_at[2] = e->description.length;
    write_found(e);
    e->description_at[3] = e->description.length;
    (void)nc_evaluator_check(e, &e->description, "");
}
