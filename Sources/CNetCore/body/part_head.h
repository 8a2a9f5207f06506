/// The fields before a part's content: what stands in them, and how it is escaped. Pure.
#ifndef NETCORE_PRIVATE_PART_HEAD_H
#define NETCORE_PRIVATE_PART_HEAD_H

#include <netcore/multipart.h>
#include <string.h>

#define NC_FIELD_HEAD "Content-Disposition: form-data; name=\""

enum {
    NC_ESCAPED_BYTES = 3,     // of one byte at most
    NC_FIELD_HEAD_BYTES = 48, // of a field's head, without its name
};

/// Copies bytes and returns their end.
static inline uint8_t *nc_part_put(uint8_t *at, const void *bytes, size_t length) {
    if (length > 0) {
        memcpy(at, bytes, length);
    }
    return at + length;
}

/// A part's head, described: views of the part, and of static text.
typedef struct nc_part_head {
    const nc_part *part;
    nc_slice file_name; // NULL data: none
    nc_slice type;      // empty: none
} nc_part_head;

/// Checks a part's fields and finds the name and the type that it was not given. `system_type` keeps a type of the
/// system's list; NULL does not ask for it. NC_OK, NC_ERR_BAD_PART, and what nc_media_type_of_system() tells.
NC_NODISCARD nc_status nc_part_head_describe(nc_part_head *out, const nc_part *part, nc_buf *system_type,
                                             nc_error *err);
/// The bytes that nc_part_head_put() writes at most; 0 when that overflows.
size_t nc_part_head_max_bytes(const nc_part_head *head);
/// Writes the head, the empty line behind it included; returns its end.
uint8_t *nc_part_head_put(uint8_t *at, const nc_part_head *head);
/// Writes the rest of a field's head, which begins with NC_FIELD_HEAD: its name and the empty line.
uint8_t *nc_part_head_put_name(uint8_t *at, nc_slice name);

#endif
