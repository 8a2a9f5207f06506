/// The layout of a cache key's canonical form, shared by its writer and its reader.
///
/// "NK", the version, then the present parts in the order of the tags below. A text is a tag, a length and the bytes. A
/// container is a tag, the length of its content in four bytes (big-endian), and the content. In objects and among
/// fields, each value follows its name: a length and the bytes. A length is LEB128: 7 bits a byte, low bits first, the
/// eighth bit set in all bytes except the last, in the shortest form.
#ifndef NETCORE_PRIVATE_DESCRIPTION_H
#define NETCORE_PRIVATE_DESCRIPTION_H

#include <netcore/cache_key.h>

enum {
    DESCRIPTION_HEAD_BYTES = 3,
    /// A container's tag and length.
    CONTAINER_HEAD_BYTES = 5,
    /// The longest encoding of a length: 32 bits.
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

/// Reads a length. Returns its number of bytes, or 0 if it is incomplete, not canonical or above 32 bits.
size_t nc_description_length(uint32_t *out, nc_slice rest);

/// Returns the size of the value at the beginning of `rest`, without checking the content of containers; 0 if there is
/// none.
size_t nc_description_value_bytes(nc_slice rest);

/// Sorts the content of a container into canonical order: by name (stable) for TAG_OBJECT and TAG_HEADERS, by all bytes
/// for TAG_SET. Does nothing if it is sorted.
NC_NODISCARD nc_status nc_description_sort(uint8_t *bytes, size_t length, description_tag kind);

#endif
