/// A compiled shape: nodes, members and values that refer to one another by index, in one allocation each.
#ifndef NETCORE_PRIVATE_JSON_SHAPE_NODE_H
#define NETCORE_PRIVATE_JSON_SHAPE_NODE_H

#include "json/decimal.h"

#include <netcore/shape.h>
#include <stdatomic.h>
#include <string.h>

/// Kinds of values; a node's `types` says which may stand there.
enum {
    NC_TYPE_OBJECT = 1,
    NC_TYPE_ARRAY = 2,
    NC_TYPE_STRING = 4,
    NC_TYPE_INTEGER = 8,
    NC_TYPE_FRACTION = 16, // numbers that are no integers
    NC_TYPE_BOOLEAN = 32,
    NC_TYPE_NULL = 64,
    NC_TYPE_NUMBER = NC_TYPE_INTEGER | NC_TYPE_FRACTION,
    NC_TYPE_ANY = 127,
};

/// What is asked of a node beside its type.
enum {
    NC_ASKS_MIN = 1,
    NC_ASKS_MAX = 2,
    NC_ASKS_MIN_LENGTH = 4,
    NC_ASKS_MAX_LENGTH = 8,
    NC_ASKS_MIN_ITEMS = 16,
    NC_ASKS_MAX_ITEMS = 32,
    NC_ASKS_ENUM = 64,
    NC_ASKS_MEMBERS = 128, // members are listed, or it is closed
    NC_ASKS_ITEM = 256,
    NC_ASKS_CLOSED = 512,
    NC_ASKS_TYPE = 1024, // $type was given
};

#define NC_NO_INDEX UINT32_MAX

/// Bytes that a closed object's stranger may need to be named.
enum { NC_SHAPE_LEAST_TEXT = 256 };

/// Beside the kinds of nc_json_kind: a number that is nothing but digits and a sign.
enum { NC_KIND_DIGITS = 10 };

/// A piece of the shape's text.
typedef struct nc_shape_text {
    uint32_t at;
    uint32_t length;
} nc_shape_text;

typedef struct nc_shape_node nc_shape_node;

/// A member's name tells itself by eight bytes at its beginning and eight at its end, masked where it is shorter.
typedef struct nc_shape_member {
    uint64_t first;
    uint64_t last;
    uint64_t mask;
    uint32_t length;  // of the name; NC_NO_INDEX behind the last member, and for a name that never looks as written
    uint32_t last_at; // where the last eight bytes begin
    const nc_shape_node *target;
    const uint8_t *bytes; // of the name
    uint16_t free;        // of the target
    bool is_optional;
    bool is_rest_optional;    // this one, and all behind it
    uint32_t required_before; // members that stand before it and are not optional
    nc_shape_text name;
    uint32_t node;
    uint32_t next; // in the chain of its hash
} nc_shape_member;

/// A number of $min, $max or $enum, or another value of $enum.
typedef struct nc_shape_value {
    uint8_t kind; // an nc_json_kind
    nc_shape_text text;
    nc_decimal decimal;
} nc_shape_value;

struct nc_shape_node {
    uint16_t types;
    uint16_t asks;
    nc_shape_text wanted; // the types in words
    uint32_t member_at;   // its members lie side by side
    uint32_t member_count;
    uint32_t required_count;
    uint32_t chain_at; // where its chains begin
    uint32_t chain_mask;
    uint32_t item; // an element's node
    uint32_t min;  // values
    uint32_t max;
    uint32_t enum_at;
    uint32_t enum_count;
    nc_shape_text enum_text; // as it is written
    uint64_t min_length;
    uint64_t max_length;
    uint64_t min_items;
    uint64_t max_items;
    // Known when the shape is complete:
    // Kinds of values that are right at sight, a bit for each nc_json_kind and NC_KIND_DIGITS: scalars, and those of
    // NC_JSON_OBJECT and NC_JSON_ARRAY when they are empty.
    uint16_t free;
    uint16_t texts;          // kinds whose text has to be looked at
    uint16_t enters;         // containers whose members or elements have to be looked at
    uint8_t name_signs[256]; // 1 at nc_shape_sign() of every member's name; all of them when it is closed
    uint16_t element_free;   // none where elements are counted
    const nc_shape_node *element;
    const nc_shape_member *members;
    const uint32_t *chains;
};

struct nc_shape {
    atomic_uint references;
    nc_buf nodes;   // of nc_shape_node; the first is the whole text's
    nc_buf members; // of nc_shape_member
    nc_buf values;  // of nc_shape_value
    nc_buf chains;  // of uint32_t: members, by hash
    nc_buf text;
    uint32_t depth;          // frames that a match takes
    uint32_t max_text_bytes; // the longest name or string to compare with, and at least NC_SHAPE_LEAST_TEXT
    size_t seen_words;       // bits for all members of all nodes: no way down takes more
};

static inline nc_shape_node *nc_shape_node_at(const nc_shape *shape, uint32_t index) {
    return (nc_shape_node *)(void *)shape->nodes.data + index;
}
static inline nc_shape_member *nc_shape_member_at(const nc_shape *shape, uint32_t index) {
    return (nc_shape_member *)(void *)shape->members.data + index;
}
static inline nc_shape_value *nc_shape_value_at(const nc_shape *shape, uint32_t index) {
    return (nc_shape_value *)(void *)shape->values.data + index;
}
static inline uint32_t *nc_shape_chain_at(const nc_shape *shape, uint32_t index) {
    return (uint32_t *)(void *)shape->chains.data + index;
}
static inline nc_slice nc_shape_slice(const nc_shape *shape, nc_shape_text text) {
    return (nc_slice){text.length == 0 ? NULL : shape->text.data + text.at, text.length};
}

static inline uint64_t nc_shape_load(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/// The bytes of a word that a shorter name fills.
static inline uint64_t nc_shape_mask(size_t length) {
    if (length >= 8) {
        return UINT64_MAX;
    }
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (UINT64_C(1) << (length * 8)) - 1;
#else
    return ~(UINT64_MAX >> (length * 8));
#endif
}

/// One of 256 signs, by which most strangers are told from an object's members. Both bytes of an empty name are quotes.
static inline unsigned nc_shape_sign(uint8_t first, uint8_t last, size_t length) {
    return (first + last * 8u + (unsigned)length * 37u) & 255u;
}

/// Which chain a name is in, of which eight bytes may be read from its beginning on. Only the shape decides how long
/// chains are, and the shape is trusted.
static inline uint32_t nc_shape_hash(const uint8_t *name, size_t length) {
    uint64_t first = nc_shape_load(name) & nc_shape_mask(length);
    uint64_t last = nc_shape_load(name + (length >= 8 ? length - 8 : 0)) & nc_shape_mask(length);
    uint64_t hash = (first ^ (last << 29 | last >> 35)) + length;
    return (uint32_t)((hash * UINT64_C(0xD6E8FEB86659FD93)) >> 32);
}

/// Whether this is the member's name, of which eight bytes may be read from its beginning on.
static inline bool nc_shape_is_named(const nc_shape_member *member, const uint8_t *name, size_t length) {
    if (member->length != length) {
        return false;
    }
    uint64_t differs = (nc_shape_load(name) ^ member->first) | (nc_shape_load(name + member->last_at) ^ member->last);
    if ((differs & member->mask) != 0 || length <= 16) {
        return (differs & member->mask) == 0;
    }
    if (length > 32) {
        return memcmp(member->bytes + 8, name + 8, length - 16) == 0;
    }
    const uint8_t *bytes = member->bytes;
    return ((nc_shape_load(name + 8) ^ nc_shape_load(bytes + 8)) |
            (nc_shape_load(name + length - 16) ^ nc_shape_load(bytes + length - 16))) == 0;
}

/// A member whom no name is.
extern const nc_shape_member nc_shape_nobody;
/// A member that nothing is said about.
extern const nc_shape_member nc_shape_stranger;
/// The node of a value that nothing is said about.
extern const nc_shape_node nc_shape_anything;

/// The shape is complete: fills in what is known only then.
void nc_shape_settle(nc_shape *shape);
/// Reads a list of types, such as "string|number?"; false when it is none.
NC_NODISCARD bool nc_shape_parse_types(uint16_t *out, nc_slice text);
/// Reads how a member's name is written, appending the name itself to `out`.
void nc_shape_parse_name(nc_buf *out, bool *is_optional, nc_slice written);

#endif
