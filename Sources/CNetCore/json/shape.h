/// A compiled shape. It consists of nodes, members and values. Each of these is one array, whose elements refer to
/// others by index.
#ifndef NETCORE_PRIVATE_JSON_SHAPE_H
#define NETCORE_PRIVATE_JSON_SHAPE_H

#include "json/token_text.h"

#include <netcore/shape.h>
#include <stdatomic.h>
#include <string.h>

/// nc_shape_mismatch.found for an unlisted member of a closed object.
#define NC_SHAPE_UNKNOWN_MEMBER "an unknown member"

/// Types of values, as bits. A node's `types` are those that it allows.
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
    NC_HAS_MIN = 1,
    NC_HAS_MAX = 2,
    NC_HAS_MIN_LENGTH = 4,
    NC_HAS_MAX_LENGTH = 8,
    NC_HAS_MIN_ITEMS = 16,
    NC_HAS_MAX_ITEMS = 32,
    NC_HAS_ENUM = 64,
    NC_HAS_MEMBERS = 128, // members are listed, or the object is closed
    NC_HAS_ITEM = 256,
    NC_HAS_CLOSED = 512,
    NC_HAS_TYPE = 1024, // $type is present
};

#define NC_NO_INDEX UINT32_MAX

/// The smallest nc_shape.max_text_bytes: room to report the name of an unlisted member of a closed object.
enum { NC_SHAPE_MIN_TEXT_BYTES = 256 };

/// A kind in addition to those of nc_json_kind: a number that consists of digits and perhaps a sign.
enum { NC_KIND_DIGITS = 10 };

/// A range of nc_shape.text.
typedef struct nc_shape_text {
    uint32_t at;
    uint32_t length;
} nc_shape_text;

typedef struct nc_shape_node nc_shape_node;

/// A listed member of an object. Names are compared by their first and their last eight bytes; if a name is shorter,
/// the other bytes are masked.
typedef struct nc_shape_member {
    uint64_t first;
    uint64_t last;
    uint64_t mask;
    uint32_t length;  // of the name; NC_NO_INDEX or NC_NO_INDEX - 1 if no name as written in a text matches
    uint32_t last_at; // offset of the name's last eight bytes
    const nc_shape_node *target;
    const uint8_t *bytes; // of the name
    uint16_t accepted;    // of the target
    bool is_optional;
    bool is_rest_optional;    // true if this member and all members after it are optional
    uint32_t required_before; // number of required members before this one
    nc_shape_text name;
    uint32_t node;
    uint32_t next; // index of the next member in the same hash bucket
} nc_shape_member;

/// A number of $min, $max or $enum, or another value of $enum.
typedef struct nc_shape_value {
    uint8_t kind; // an nc_json_kind
    nc_shape_text text;
    nc_decimal decimal;
} nc_shape_value;

struct nc_shape_node {
    uint16_t types;
    uint16_t constraints;
    nc_shape_text type_text; // the types, as text
    uint32_t member_at;      // index of the first member; the others follow it
    uint32_t member_count;
    uint32_t required_count;
    uint32_t bucket_at; // index of the first bucket
    uint32_t bucket_mask;
    uint32_t item; // node of an element
    uint32_t min;  // index of the nc_shape_value of $min
    uint32_t max;
    uint32_t enum_at;
    uint32_t enum_count;
    nc_shape_text enum_text; // as written
    uint64_t min_length;
    uint64_t max_length;
    uint64_t min_items;
    uint64_t max_items;
    // The members below are derived by nc_shape_finalize().
    //
    // Kinds of values that are valid without further checks: a bit for each nc_json_kind and NC_KIND_DIGITS.
    // NC_JSON_OBJECT and NC_JSON_ARRAY stand for empty containers.
    uint16_t accepted;
    uint16_t text_kinds;        // kinds whose text must be checked
    uint16_t entered_kinds;     // containers whose members or elements must be checked
    uint8_t name_keys[256];     // 1 at nc_shape_name_key() of each listed name; all 1 for a closed object
    uint16_t accepted_elements; // of the elements of an array; 0 if elements must be counted
    const nc_shape_node *element;
    const nc_shape_member *members;
    const uint32_t *buckets;
};

struct nc_shape {
    atomic_uint references;
    nc_buf nodes;   // nc_shape_node; the first is that of the whole text
    nc_buf members; // nc_shape_member
    nc_buf values;  // nc_shape_value
    nc_buf buckets; // uint32_t: members, by hash
    nc_buf text;
    uint32_t depth;          // number of frames that a match needs
    uint32_t max_text_bytes; // length of the longest name or string to compare, at least NC_SHAPE_MIN_TEXT_BYTES
    size_t seen_words;       // words with a bit for each member of each node, which is enough for any path
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
static inline uint32_t *nc_shape_bucket_at(const nc_shape *shape, uint32_t index) {
    return (uint32_t *)(void *)shape->buckets.data + index;
}
static inline nc_slice nc_shape_slice(const nc_shape *shape, nc_shape_text text) {
    return (nc_slice){text.length == 0 ? NULL : shape->text.data + text.at, text.length};
}

static inline uint64_t nc_shape_load(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/// Returns a mask of those of eight bytes that a name of this length has.
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

/// Returns a key below 256 that is computed from the first byte, the last byte and the length of a name. It excludes
/// most names that an object does not list. For an empty name both bytes are quotes.
static inline unsigned nc_shape_name_key(uint8_t first, uint8_t last, size_t length) {
    return (first + last * 8u + (unsigned)length * 37u) & 255u;
}

/// Returns the hash of a name; eight bytes must be readable. A weak hash is enough, because only the names of the
/// shape, which is trusted, are in the buckets.
static inline uint32_t nc_shape_hash(const uint8_t *name, size_t length) {
    uint64_t first = nc_shape_load(name) & nc_shape_mask(length);
    uint64_t last = nc_shape_load(name + (length >= 8 ? length - 8 : 0)) & nc_shape_mask(length);
    uint64_t hash = (first ^ (last << 29 | last >> 35)) + length;
    return (uint32_t)((hash * UINT64_C(0xD6E8FEB86659FD93)) >> 32);
}

/// Returns true if `name` is the member's name. Eight bytes must be readable.
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
extern const nc_shape_member nc_shape_no_member;
/// The member for a name that the shape does not list.
extern const nc_shape_member nc_shape_unlisted_member;
/// The node of a value that the shape does not describe.
extern const nc_shape_node nc_shape_any;

/// Completes the shape: sets the pointers and the derived members of its nodes.
void nc_shape_finalize(nc_shape *shape);

#endif
