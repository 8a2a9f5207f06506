#include "body/form_part_head.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/error.h"

#include <netcore/media_type.h>

#define PUT_TEXT(at, text) nc_part_put((at), (text), sizeof(text) - 1)

/// FRAME_BYTES: room for the constant text of a head (Content-Disposition, Content-Type, quotes, line ends), with a
/// margin. SHOWN_NAME_BYTES: a name is truncated to this length in a message.
enum { FRAME_BYTES = 128, SHOWN_NAME_BYTES = 64 };

/// Escapes '"', CR and LF, and nothing else, not even '%' (WHATWG HTML, "multipart/form-data encoding algorithm").
static uint8_t *put_escaped(uint8_t *at, nc_slice text) {
    for (size_t i = 0; i < text.length; i++) {
        uint8_t byte = text.data[i];
        switch (byte) {
        case '"':
            at = PUT_TEXT(at, "%22");
            break;
        case '\r':
            at = PUT_TEXT(at, "%0D");
            break;
        case '\n':
            at = PUT_TEXT(at, "%0A");
            break;
        default:
            *at++ = byte;
        }
    }
    return at;
}

/* --- checking --- */

/// Refuses a value with a CR, LF or NUL, or with surrounding white space, which a receiver would remove.
static nc_status check_value(nc_slice value, const char *what, nc_slice name, nc_error *err) {
    int shown = (int)(name.length < SHOWN_NAME_BYTES ? name.length : SHOWN_NAME_BYTES);
    for (size_t i = 0; i < value.length; i++) {
        uint8_t byte = value.data[i];
        bool is_edge = i == 0 || i + 1 == value.length;
        if (byte == '\r' || byte == '\n' || byte == 0 || (is_edge && nc_ascii_is_blank(byte))) {
            return nc_error_set(err, NC_ERR_BAD_PART, 0, (int64_t)i, "forbidden byte 0x%02x in the %s%.*s at byte %zu",
                                byte, what, shown, (const char *)name.data, i);
        }
    }
    return NC_OK;
}

static nc_status check_header(const nc_header *header, const nc_part *part, nc_error *err) {
    nc_slice name = header->name;
    if (name.length == 0) {
        return nc_error_set(err, NC_ERR_BAD_PART, 0, 0, "a header field of a part has no name");
    }
    for (size_t i = 0; i < name.length; i++) {
        if (!nc_ascii_is_token(name.data[i])) {
            return nc_error_set(err, NC_ERR_BAD_PART, 0, (int64_t)i,
                                "forbidden byte 0x%02x in the header field name of a part at byte %zu", name.data[i],
                                i);
        }
    }
    bool is_ours = nc_slice_is_equal_ignoring_case(name, nc_slice_of("Content-Disposition")) ||
                   nc_slice_is_equal_ignoring_case(name, nc_slice_of("Content-Type"));
    if (is_ours && !part->is_bare) {
        return nc_error_set(err, NC_ERR_BAD_PART, 0, -1,
                            "%.*s of a part is set by the library: remove the header field", (int)name.length,
                            (const char *)name.data);
    }
    return check_value(header->value, "part's field ", name, err);
}

static nc_slice last_component(nc_slice path) {
    size_t at = path.length;
    while (at > 0 && path.data[at - 1] != '/') {
        at--;
    }
    return nc_slice_make(path.data + at, path.length - at);
}

static nc_status find_type(nc_form_part_head *head, nc_buf *system_type, nc_error *err) {
    head->type = nc_media_type_of(head->file_name);
    if (head->type.length == 0 && system_type != NULL) {
        nc_status status = nc_media_type_of_system(system_type, head->file_name, NULL, err);
        if (status != NC_OK) {
            return status;
        }
        head->type = nc_buf_slice(system_type);
    }
    if (head->type.length == 0) {
        head->type = nc_slice_of(NC_MEDIA_TYPE_UNKNOWN);
    }
    return NC_OK;
}

nc_status nc_form_part_head_describe(nc_form_part_head *out, const nc_part *part, nc_buf *system_type, nc_error *err) {
    nc_slice no_name = {NULL, 0};
    *out = (nc_form_part_head){.part = part, .file_name = part->file_name, .type = part->type};
    nc_status status = check_value(part->type, "type of a part", no_name, err);
    for (size_t i = 0; i < part->header_count && status == NC_OK; i++) {
        status = check_header(&part->headers[i], part, err);
    }
    if (status != NC_OK || part->is_bare) {
        return status;
    }
    if (out->file_name.data == NULL && part->path.data != NULL && !part->is_field) {
        out->file_name = last_component(part->path);
    }
    bool needs_type = out->type.length == 0 && out->file_name.data != NULL;
    return needs_type ? find_type(out, system_type, err) : NC_OK;
}

/* --- writing --- */

size_t nc_form_part_head_max_bytes(const nc_form_part_head *head) {
    const nc_part *part = head->part;
    size_t total = FRAME_BYTES;
    size_t escaped = 0;
    bool fits = nc_size_add(&escaped, part->name.length, head->file_name.length) &&
                nc_size_mul(&escaped, escaped, NC_ESCAPED_BYTES) && nc_size_add(&total, total, escaped) &&
                nc_size_add(&total, total, head->type.length);
    for (size_t i = 0; i < part->header_count && fits; i++) {
        fits = nc_size_add(&total, total, part->headers[i].name.length) &&
               nc_size_add(&total, total, part->headers[i].value.length) && nc_size_add(&total, total, 4);
    }
    return fits ? total : 0;
}

uint8_t *nc_form_part_head_put_name(uint8_t *at, nc_slice name) {
    at = put_escaped(at, name);
    return PUT_TEXT(at, "\"\r\n\r\n");
}

uint8_t *nc_form_part_head_put(uint8_t *at, const nc_form_part_head *head) {
    const nc_part *part = head->part;
    if (!part->is_bare) {
        at = put_escaped(PUT_TEXT(at, NC_FIELD_HEAD), part->name);
        if (head->file_name.data != NULL) {
            at = put_escaped(PUT_TEXT(at, "\"; filename=\""), head->file_name);
        }
        at = PUT_TEXT(at, "\"\r\n");
        if (head->type.length > 0) {
            at = nc_part_put(PUT_TEXT(at, "Content-Type: "), head->type.data, head->type.length);
            at = PUT_TEXT(at, "\r\n");
        }
    }
    for (size_t i = 0; i < part->header_count; i++) {
        at = nc_part_put(at, part->headers[i].name.data, part->headers[i].name.length);
        at = nc_part_put(PUT_TEXT(at, ": "), part->headers[i].value.data, part->headers[i].value.length);
        at = PUT_TEXT(at, "\r\n");
    }
    return PUT_TEXT(at, "\r\n");
}
