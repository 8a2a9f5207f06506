/// A compiled schema: a table of nodes. The nodes refer to each other, and to the other tables, by index.
#ifndef NETCORE_PRIVATE_SCHEMA_NODE_H
#define NETCORE_PRIVATE_SCHEMA_NODE_H

#include "schema/format.h"
#include "schema/keywords.h"
#include "schema/regex.h"
#include "json/shape.h"
#include "json/siphash.h"

#include <netcore/schema.h>
#include <stdatomic.h>

#define NC_SCHEMA_NONE UINT32_MAX

/// The largest total size of all patterns of a schema: the sum of their nc_regex_scratch().
#define NC_SCHEMA_MAX_PATTERN_STEPS 2000000u

/// A range of nc_schema.lists.
typedef struct nc_schema_list {
    uint32_t at;
    uint32_t count;
} nc_schema_list;

/// The result of a schema for a value of which only the kind is known.
typedef enum nc_schema_verdict {
    NC_SCHEMA_DEPENDS, // the result depends on the value
    NC_SCHEMA_VALID,
    NC_SCHEMA_INVALID,
} nc_schema_verdict;

/// A name that a node mentions. The members of a node are sorted by length, and then by bytes.
typedef struct nc_schema_member {
    nc_slice name;
    uint32_t property; // the node of its value; NC_SCHEMA_NONE if `properties` does not list it
    uint32_t tracked;  // index of its bit, if its presence matters (a tracked name); otherwise NC_SCHEMA_NONE
    uint32_t next;     // the member that follows it in `properties`, as an index from the node's member_at
} nc_schema_member;

/// A number of the schema.
typedef struct nc_schema_number {
    nc_slice text;
    nc_decimal decimal;
    uint64_t digits; // its value is digits * 10^exponent, for multipleOf
    int64_t exponent;
} nc_schema_number;

/// Groups of keywords that a node has.
enum {
    NC_NODE_IN_PLACE = 1,     // applies other schemas to the same value
    NC_NODE_MEMBERS = 2,      // checks each member
    NC_NODE_ELEMENTS = 4,     // checks each element
    NC_NODE_VALUES = 8,       // const or enum
    NC_NODE_STRING = 16,      // minLength, maxLength, pattern or format
    NC_NODE_NUMBER = 32,      // limits, multipleOf, or the type integer without number
    NC_NODE_ENDS_OBJECT = 64, // required, minProperties or dependentRequired
};

/// Kinds of values: those of nc_json_kind, and NC_KIND_DIGITS.
enum { NC_SCHEMA_KINDS = NC_KIND_DIGITS + 1 };

typedef struct nc_schema_node {
    uint16_t types; // NC_TYPE_ bits that are allowed
    uint16_t flags;
    uint8_t verdicts[NC_SCHEMA_KINDS]; // nc_schema_verdict
    bool is_false;
    bool is_unique;
    bool has_enum;
    uint16_t value_types; // NC_TYPE_ bits of the values of const and enum
    uint32_t resource;    // the schema resource that it belongs to
    nc_slice pointer;     // '#' and its JSON Pointer; after the document's URI if that is not the main document
    // Applied to the same value.
    uint32_t reference;
    nc_slice dynamic_name;      // name in $dynamicRef; empty if it is resolved like $ref
    uint32_t dynamic_reference; // its initial target
    nc_schema_list all_of;
    nc_schema_list any_of;
    nc_schema_list one_of;
    uint32_t negated;
    uint32_t condition; // if
    uint32_t consequence;
    uint32_t alternative;
    // Values.
    nc_schema_list values; // enum: a range of nc_schema.hashes
    nc_schema_list const_value;
    uint32_t minimum; // indices of nc_schema.numbers
    uint32_t maximum;
    uint32_t exclusive_minimum;
    uint32_t exclusive_maximum;
    uint32_t multiple_of;
    uint64_t min_length;
    uint64_t max_length;
    uint32_t pattern; // index of nc_schema.patterns
    nc_schema_format format;
    // Objects.
    uint32_t member_at; // index of its first member in nc_schema.members
    uint32_t member_count;
    uint32_t first_member; // the first one in `properties`, as an index from member_at
    uint32_t tracked_count;
    uint64_t name_keys[4];             // a bit at nc_schema_name_key() of each name
    nc_schema_list required;           // tracked indices
    nc_schema_list dependent_required; // for each key: its tracked index, a count, tracked indices
    nc_schema_list dependent_schemas;  // pairs: tracked index, node
    nc_schema_list pattern_properties; // pairs: pattern, node
    uint32_t additional;
    uint32_t property_names;
    uint32_t unevaluated_properties;
    uint64_t min_properties;
    uint64_t max_properties;
    // Arrays.
    nc_schema_list prefix_items;
    uint32_t items;
    uint32_t contains;
    uint64_t min_contains;
    uint64_t max_contains;
    uint64_t min_items;
    uint64_t max_items;
    uint32_t unevaluated_items;
} nc_schema_node;

/// A $dynamicAnchor.
typedef struct nc_schema_anchor {
    uint32_t resource;
    nc_slice name;
    uint32_t node;
} nc_schema_anchor;

struct nc_schema {
    atomic_uint references;
    nc_hash128 key;       // random key for the hashes of values
    nc_buf nodes;         // nc_schema_node; the first is the root
    nc_buf lists;         // uint32_t
    nc_buf members;       // nc_schema_member
    nc_buf hashes;        // nc_hash128
    nc_buf numbers;       // nc_schema_number
    nc_buf patterns;      // nc_regex *
    nc_buf anchors;       // nc_schema_anchor
    nc_buf texts;         // uint8_t *: copies of names and pointers
    size_t scratch;       // number of uint32_t that a match of the largest pattern needs
    size_t pattern_steps; // total size of all patterns
};

static inline nc_schema_node *nc_schema_node_at(const nc_schema *schema, uint32_t index) {
    return (nc_schema_node *)(void *)schema->nodes.data + index;
}
static inline const uint32_t *nc_schema_list_of(const nc_schema *schema, nc_schema_list list) {
    return (const uint32_t *)(const void *)schema->lists.data + list.at;
}
static inline nc_schema_member *nc_schema_member_at(const nc_schema *schema, uint32_t index) {
    return (nc_schema_member *)(void *)schema->members.data + index;
}
static inline const nc_hash128 *nc_schema_hash_at(const nc_schema *schema, uint32_t index) {
    return (const nc_hash128 *)(const void *)schema->hashes.data + index;
}
static inline const nc_schema_number *nc_schema_number_at(const nc_schema *schema, uint32_t index) {
    return (const nc_schema_number *)(const void *)schema->numbers.data + index;
}
static inline const nc_regex *nc_schema_pattern_at(const nc_schema *schema, uint32_t index) {
    return ((nc_regex *const *)(const void *)schema->patterns.data)[index];
}

/// Returns a number below 256 for a name. With nc_schema_node.name_keys, it excludes most names that a node does not
/// mention.
static inline unsigned nc_schema_name_key(nc_slice name) {
    return name.length == 0 ? 0 : nc_shape_name_key(name.data[0], name.data[name.length - 1], name.length);
}

/// Returns the index of the member with a name, counted from the node's member_at; NC_SCHEMA_NONE if there is none.
uint32_t nc_schema_find_member(const nc_schema *schema, const nc_schema_node *node, nc_slice name);

/// Returns the NC_TYPE_ bits of a kind. A number with a fraction or an exponent may still be an integer.
static inline uint16_t nc_schema_types_of(unsigned kind) {
    static const uint16_t types[NC_SCHEMA_KINDS] = {
        [NC_JSON_OBJECT] = NC_TYPE_OBJECT, [NC_JSON_ARRAY] = NC_TYPE_ARRAY,    [NC_JSON_STRING] = NC_TYPE_STRING,
        [NC_JSON_NUMBER] = NC_TYPE_NUMBER, [NC_JSON_TRUE] = NC_TYPE_BOOLEAN,   [NC_JSON_FALSE] = NC_TYPE_BOOLEAN,
        [NC_JSON_NULL] = NC_TYPE_NULL,     [NC_KIND_DIGITS] = NC_TYPE_INTEGER,
    };
    return types[kind];
}

#endif
