/// A compiled shape: nodes, members and values that refer to one another by index. Each kind has one allocation.
#ifndef NETCORE_PRIVATE_JSON_SHAPE_NODE_H
#define NETCORE_PRIVATE_JSON_SHAPE_NODE_H

#include "json/decimal.h"

#include <netcore/shape.h>
#include <stdatomic.h>
#include <string.h>

/// Types of values. A node's `types` is the set that it allows.
enum {
    NC_TYPE_OBJECT = 1,
    NC_TYPE_ARRAY = 2,
    NC_TYPE_STRING = 4,
    NC_TYPE_INTEGER = 8,
    NC_TYPE_FRACTION = 16, // numbers that are not integers
    NC_TYPE_BOOLEAN = 32,
    NC_TYPE_NULL = 64,
    NC_TYPE_NUMBER = NC_TYPE_INTEGER | NC_TYPE_FRACTION,
    NC_TYPE_ANY = 127,
};

/// Constraints of a node besides its type.
enum {
    NC_ASKS_MIN = 1,
    NC_ASKS_MAX = 2,
    NC_ASKS_MIN_LENGTH = 4,
    NC_ASKS_MAX_LENGTH = 8,
    NC_ASKS_MIN_ITEMS = 16,
    NC_ASKS_MAX_ITEMS = 32,
    NC_ASKS_ENUM = 64,
    NC_ASKS_MEMBERS = 128, // members are listed, or the object is closed
    NC_ASKS_ITEM = 256,
    NC_ASKS_CLOSED = 512,
    NC_ASKS_TYPE = 1024, // $type is present
};

#define NC_NO_INDEX UINT32_MAX

/// Bytes that the name of an unlisted member of a closed object may need in a report.
enum { NC_SHAPE_LEAST_TEXT = 256 };

/// A kind besides those of nc_json_kind: a number of only digits and a sign.
enum { NC_KIND_DIGITS = 10 };

/// A range of the shape's text.
typedef struct nc_shape_text {
    uint32_t at;
    uint32_t length;
} nc_shape_text;

typedef struct nc_shape_node nc_shape_node;

/// A member's name is compared by its first and its last eight bytes, masked if it is shorter.
typedef struct nc_shape_member {
    uint64_t first;
    uint64_t last;
    uint64_t mask;
    uint32_t length;  // of the name; NC_NO_INDEX after the last member, and if it never matches as written
    uint32_t last_at; // offset of the last eight bytes
    const nc_shape_node *target;
    const uint8_t *bytes; // of the name
    uint16_t free;        // of the target
    bool is_optional;
    bool is_rest_optional;    // this member and all after it are optional
    uint32_t required_before; // number of required members before this one
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
    nc_shape_text wanted; // the types, as text
    uint32_t member_at;   // index of the first member; they are contiguous
    uint32_t member_count;
    uint32_t required_count;
    uint32_t chain_at; // index of the first chain
    uint32_t chain_mask;
    uint32_t item; // node of an element
    uint32_t min;  // index of a value
    uint32_t max;
    uint32_t enum_at;
    uint32_t enum_count;
    nc_shape_text enum_text; // as written
    uint64_t min_length;
    uint64_t max_length;
    uint64_t min_items;
    uint64_t max_items;
    // Derived when the shape is complete.
    //
    // Kinds of values that are valid without further checks: a bit for each nc_json_kind and NC_KIND_DIGITS.
    // NC_JSON_OBJECT and NC_JSON_ARRAY stand for empty containers.
    uint16_t free;
    uint16_t texts;          // kinds whose text must be checked
    uint16_t enters;         // containers whose members or elements must be checked
    uint8_t name_signs[256]; // 1 at nc_shape_sign() of every member's name; all 1 if it is closed
    uint16_t element_free;   // none if elements are counted
    const nc_shape_node *element;
    const nc_shape_member *members;
    const uint32_t *chains;
};

struct nc_shape {
    atomic_uint references;
    nc_buf nodes;   // nc_shape_node; the first is that of the whole text
    nc_buf members; // nc_shape_member
    nc_buf values;  // nc_shape_value
    nc_buf chains;  // uint32_t: members, by hash
    nc_buf text;
    uint32_t depth;          // frames that a match needs
    uint32_t max_text_bytes; // the longest name or string to compare, at least NC_SHAPE_LEAST_TEXT
    size_t seen_words;       // bits for all members of all nodes: no path needs more
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

/// Returns the mask of the bytes that a name of this length fills.
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

/// Returns one of 256 signs, which excludes most names that an object does not list. For an empty name both bytes are
/// quotes.
static inline unsigned nc_shape_sign(uint8_t first, uint8_t last, size_t length) {
    return (first + last * 8u + (unsigned)length * 37u) & 255u;
}

/// Returns the hash chain of a name, with eight readable bytes. Only the shape, which is trusted, determines
/// the lengths of chains.
static inline uint32_t nc_shape_hash(const uint8_t *name, size_t length) {
    uint64_t first = nc_shape_load(name) & nc_shape_mask(length);
    uint64_t last = nc_shape_load(name + (length >= 8 ? length - 8 : 0)) & nc_shape_mask(length);
    uint64_t hash = (first ^ (last << 29 | last >> 35)) + length;
    return (uint32_t)((hash * UINT64_C(0xD6E8FEB86659FD93)) >> 32);
}

/// Returns true if this is the member's name. Eight bytes are readable.
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

/// A member that matches no name.
extern const nc_shape_member nc_shape_nobody;
/// A member that the shape does not describe.
extern const nc_shape_member nc_shape_stranger;
/// The node of a value that the shape does not describe.
extern const nc_shape_node nc_shape_anything;

/// Completes the shape: derives what depends on all of it.
void nc_shape_settle(nc_shape *shape);
/// Parses a list of types, such as "string|number?". Returns false if it is invalid.
NC_NODISCARD bool nc_shape_parse_types(uint16_t *out, nc_slice text);
/// Parses a member's name as the shape writes it, and appends the name itself to `out`.
void nc_shape_parse_name(nc_buf *out, bool *is_optional, nc_slice written);

#endif
