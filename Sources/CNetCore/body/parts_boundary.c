#include "body/parts_boundary.h"

#include "base/ascii.h"
#include "base/error.h"
#include "body/content_type.h"

#include <string.h>

/// Returns true for bchars (RFC 2046, 5.1.1). Cameras use other visible characters too.
static bool is_boundary_byte(uint8_t byte, bool is_lenient) {
    bool is_sign = byte != 0 && strchr("'()+_,-./:=? ", byte) != NULL;
    return nc_ascii_is_alpha(byte) || nc_ascii_is_digit(byte) || is_sign || (is_lenient && byte > ' ' && byte < 0x7F);
}

/// Copies a parameter's value without its quoted pairs (RFC 9110, 5.6.4). Returns false if it is no valid boundary,
/// which must not end with a space.
static bool copy_boundary(nc_parts_delimiter *out, nc_slice value, bool is_lenient) {
    uint8_t *boundary = out->bytes + NC_PARTS_MARK_BYTES;
    size_t length = 0;
    for (size_t i = 0; i < value.length; i++) {
        i += value.data[i] == '\\' && i + 1 < value.length ? 1 : 0;
        if (length == NC_MULTIPART_MAX_BOUNDARY_BYTES || !is_boundary_byte(value.data[i], is_lenient)) {
            return false;
        }
        boundary[length++] = value.data[i];
    }
    memcpy(out->bytes, "\r\n--", NC_PARTS_MARK_BYTES);
    out->length = NC_PARTS_MARK_BYTES + length;
    return length > 0 && boundary[length - 1] != ' ';
}

/// Adds the form without further hyphens, for servers that declare "--b" and send "--b" (Chromium accepts it too). A
/// boundary of hyphens only has no such form, because its last line would be ambiguous.
static void add_brief_form(nc_parts_boundary *out) {
    const uint8_t *boundary = out->full.bytes + NC_PARTS_MARK_BYTES;
    size_t length = out->full.length - NC_PARTS_MARK_BYTES;
    size_t hyphens = 0;
    while (hyphens < length && boundary[hyphens] == '-') {
        hyphens++;
    }
    if (hyphens < 2 || hyphens == length) {
        return;
    }
    memcpy(out->brief.bytes, "\r\n", NC_PARTS_LINE_END_BYTES);
    memcpy(out->brief.bytes + NC_PARTS_LINE_END_BYTES, boundary, length);
    out->brief.length = NC_PARTS_LINE_END_BYTES + length;
    out->shared = NC_PARTS_LINE_END_BYTES + hyphens;
}

nc_status nc_parts_boundary_read(nc_parts_boundary *out, nc_slice content_type, nc_error *err) {
    static const char prefix[] = "multipart/";
    nc_slice type = nc_content_type_essence(content_type);
    nc_slice value = {NULL, 0};
    memset(out, 0, sizeof *out);
    if (type.length < sizeof prefix ||
        !nc_slice_is_equal_ignoring_case(nc_slice_make(type.data, sizeof prefix - 1), nc_slice_of(prefix))) {
        return nc_error_set(err, NC_ERR_BAD_RESPONSE, 0, -1, "a body of type \"%.*s\" has no parts",
                            (int)(type.length < 64 ? type.length : 64), type.length > 0 ? (const char *)type.data : "");
    }
    out->is_lenient = nc_slice_is_equal_ignoring_case(type, nc_slice_of("multipart/x-mixed-replace"));
    if (!nc_content_type_parameter(&value, content_type, "boundary") ||
        !copy_boundary(&out->full, value, out->is_lenient)) {
        return nc_error_set(err, NC_ERR_BAD_RESPONSE, 0, -1, "the multipart type has no valid boundary parameter");
    }
    add_brief_form(out);
    return NC_OK;
}
