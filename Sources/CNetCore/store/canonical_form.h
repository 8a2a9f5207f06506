/// The binary layout of a canonical form (cache_key.h), shared by its writer and its reader.
///
/// It begins with "NK" and the version. The parts that the request has follow, in the order of the first six tags
/// below.
///
/// - A text is a tag, a length and the bytes.
/// - A container is a tag, the length of its content in four bytes (big-endian), and the content. In an object and
///   among fields, a name (a length and the bytes) precedes each value.
/// - A length is a LEB128 number in the shortest form: 7 bits in each byte, low bits first, the eighth bit set in all
///   bytes except the last.
#ifndef NETCORE_PRIVATE_CANONICAL_FORM_H
#define NETCORE_PRIVATE_CANONICAL_FORM_H

#include <netcore/cache_key.h>

enum {
    CANONICAL_FORM_HEAD_BYTES = 3,
    /// A container's tag and length.
    CONTAINER_HEAD_BYTES = 5,
    /// The longest encoding of a length, which has at most 32 bits.
    MAX_LENGTH_BYTES = 5,
};

typedef enum canonical_tag {
    TAG_METHOD = 'm',
    TAG_URL = 'u',
    TAG_HEADERS = 'h',
    TAG_PARAMETERS = 'p',
    TAG_BODY = 'b',
    TAG_SCOPE = 'w',

    TAG_NULL = 'z',
    TAG_TRUE = 't',
    TAG_FALSE = 'f',
    TAG_NUMBER = 'n',
    TAG_STRING = 's',
    TAG_BYTES = 'x',
    TAG_OBJECT = 'o',
    TAG_ARRAY = 'a',
    TAG_SET = 'e',
} canonical_tag;

/// Reads a length. Returns the number of bytes read, or 0 if it is incomplete, not in the shortest form or above 32
/// bits.
size_t nc_canonical_form_length(uint32_t *out, nc_slice rest);

/// Sorts the content of a container into canonical order: for TAG_OBJECT and TAG_HEADERS by name (stable), for TAG_SET
/// by the bytes of the values.
NC_NODISCARD nc_status nc_canonical_form_sort(uint8_t *bytes, size_t length, canonical_tag kind);

#endif
