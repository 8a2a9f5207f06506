/// The layout of a cache key's description, as its writer and its reader know it.
///
/// "NK", the version, then the parts that there are, in the order of the tags below. A text is its tag, its length and
/// its bytes; a container its tag, the length of all that it holds in four bytes, big end first, and that. In an object
/// and among the fields each value stands behind its name: a length and the bytes. A length is a number of 7 bits in
/// each byte, low end first, the eighth bit set in all but the last, and never longer than need be.
#ifndef NETCORE_PRIVATE_DESCRIPTION_H
#define NETCORE_PRIVATE_DESCRIPTION_H

#include <netcore/cache_key.h>

enum {
    DESCRIPTION_HEAD_BYTES = 3,
    /// A container's tag and length.
    CONTAINER_HEAD_BYTES = 5,
    /// The longest length: 32 bits.
    MAX_LENGTH_BYTES = 5,
};

typedef enum description_tag {
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
} description_tag;

/// Reads a length; returns how many bytes it has, 0 when none is there that is canonical and within 32 bits.
size_t nc_description_length(uint32_t *out, nc_slice rest);

/// Measures the value at the beginning of `rest`, its containers not looked into; 0 when there is none.
size_t nc_description_value_bytes(nc_slice rest);

/// Puts what a container of this kind holds into canonical order: by name for TAG_OBJECT and TAG_HEADERS, equal names
/// staying as they are, and by all bytes for TAG_SET. Nothing is done when it is in order.
NC_NODISCARD nc_status nc_description_sort(uint8_t *bytes, size_t length, description_tag kind);

#endif
