/// The fields before a part's content and their escaping. Pure.
#ifndef NETCORE_PRIVATE_PART_HEAD_H
#define NETCORE_PRIVATE_PART_HEAD_H

#include <netcore/multipart.h>
#include <string.h>

#define NC_FIELD_HEAD "Content-Disposition: form-data; name=\""

enum {
    NC_ESCAPED_BYTES = 3,     // per byte at most
    NC_FIELD_HEAD_BYTES = 48, // of a field's head without its name
};

/// Copies bytes and returns the end of the copy.
static inline uint8_t *nc_part_put(uint8_t *at, const void *bytes, size_t length) {
    if (length > 0) {
        memcpy(at, bytes, length);
    }
    return at + length;
}

/// The values of a part's head: slices of the part and of static text.
typedef struct nc_part_head {
    const nc_part *part;
    nc_slice file_name; // NULL data means none
    nc_slice type;      // empty means none
} nc_part_head;

/// Checks a part's fields and determines a missing name and type. `system_type` stores a type of the system's list;
/// NULL does not use that list. Returns NC_OK, NC_ERR_BAD_PART, and the errors of nc_media_type_of_system().
NC_NODISCARD nc_status nc_part_head_describe(nc_part_head *out, const nc_part *part, nc_buf *system_type,
                                             nc_error *err);
/// Returns the largest size of nc_part_head_put(); 0 on overflow.
size_t nc_part_head_max_bytes(const nc_part_head *head);
/// Writes the head with its empty line and returns the end.
uint8_t *nc_part_head_put(uint8_t *at, const nc_part_head *head);
/// Writes the rest of a field's head after NC_FIELD_HEAD: its name and the empty line.
uint8_t *nc_part_head_put_name(uint8_t *at, nc_slice name);

#endif
