/// The head of a part of a form: the fields before its content, and their escaping. Pure.
#ifndef NETCORE_PRIVATE_FORM_PART_HEAD_H
#define NETCORE_PRIVATE_FORM_PART_HEAD_H

#include <netcore/multipart.h>
#include <string.h>

#define NC_FIELD_HEAD "Content-Disposition: form-data; name=\""

enum {
    NC_ESCAPED_BYTES = 3,     // the longest escape of one byte
    NC_FIELD_HEAD_BYTES = 48, // more than the size of a field's head without its name
};

/// Copies bytes and returns the end of the copy.
static inline uint8_t *nc_part_put(uint8_t *at, const void *bytes, size_t length) {
    if (length > 0) {
        memcpy(at, bytes, length);
    }
    return at + length;
}

/// The values of a part's head. The slices are borrowed from the part, from `system_type` or from static text.
typedef struct nc_form_part_head {
    const nc_part *part;
    nc_slice file_name; // NULL data means none
    nc_slice type;      // empty means none
} nc_form_part_head;

/// Checks a part's fields, and determines its file name and type if the part does not set them. If `system_type` is not
/// NULL, the system's list of types is used too, and a type from it is stored there. Returns NC_OK, NC_ERR_BAD_PART, or
/// an error of nc_media_type_of_system().
NC_NODISCARD nc_status nc_form_part_head_describe(nc_form_part_head *out, const nc_part *part, nc_buf *system_type,
                                                  nc_error *err);
/// Returns the largest size of nc_form_part_head_put(); 0 on overflow.
size_t nc_form_part_head_max_bytes(const nc_form_part_head *head);
/// Writes the head and the empty line after it. Returns the end.
uint8_t *nc_form_part_head_put(uint8_t *at, const nc_form_part_head *head);
/// Writes the remainder of a field's head behind NC_FIELD_HEAD: the escaped name, the closing quote and the empty line.
/// Returns the end.
uint8_t *nc_form_part_head_put_name(uint8_t *at, nc_slice name);

#endif
