#include "body/multipart_syntax.h"

#include "base/ascii.h"
#include "base/error.h"
#include "body/media_type.h"

#include <netcore/media_type.h>
#include <string.h>

/* --- the boundary --- */

/// Returns true for a bchar (RFC 2046, 5.1.1); if lenient, for any visible ASCII character, because cameras use others
/// too.
static bool is_boundary_byte(uint8_t byte, bool is_lenient) {
    bool is_sign = byte != 0 && strchr("'()+_,-./:=? ", byte) != NULL;
    return nc_ascii_is_alpha(byte) || nc_ascii_is_digit(byte) || is_sign || (is_lenient && byte > ' ' && byte < 0x7F);
}

/// Copies the boundary from a parameter's value and resolves backslash escapes (RFC 9110, 5.6.4). Returns false if it
/// is not a valid boundary. A boundary must not end with a space.
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

/// Adds a second form of the delimiter, without the two additional hyphens. Some servers declare "--b" and also send
/// "--b", which Chromium accepts. If the boundary consists of hyphens only, this form is not accepted, because the
/// closing line would be ambiguous.
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
        return nc_error_set(err, NC_ERR_BAD_RESPONSE, 0, -1, "a body of type \"%.*s\" is not multipart",
                            (int)(type.length < 64 ? type.length : 64), type.length > 0 ? (const char *)type.data : "");
    }
    out->is_lenient = nc_slice_is_equal_ignoring_case(type, nc_slice_of("multipart/x-mixed-replace"));
    if (!nc_media_type_parameter(content_type, nc_slice_of("boundary"), &value) ||
        !copy_boundary(&out->full, value, out->is_lenient)) {
        return nc_error_set(err, NC_ERR_BAD_RESPONSE, 0, -1,
                            "the multipart content type has no valid boundary parameter");
    }
    add_brief_form(out);
    return NC_OK;
}

/* --- the head of a part --- */

size_t nc_parts_line_check(nc_slice line) {
    bool has_end = line.length >= 2 && line.data[line.length - 2] == '\r';
    size_t end = has_end ? line.length - 2 : line.length - 1;
    for (size_t i = 0; i < end; i++) {
        uint8_t byte = line.data[i];
        if ((byte < ' ' && byte != '\t') || byte == 0x7f) {
            return i;
        }
    }
    return has_end ? line.length : end;
}

bool nc_parts_line_is_field(nc_slice line, bool is_first) {
    size_t colon = 0;
    while (colon < line.length && nc_ascii_is_token(line.data[colon])) {
        colon++;
    }
    return (!is_first && nc_ascii_is_blank(line.data[0])) || (colon > 0 && line.data[colon] == ':');
}

bool nc_parts_head_describes(nc_slice head) {
    static const char prefix[] = "content-";
    for (size_t at = 0; at + sizeof prefix < head.length; at++) {
        bool is_line_start = at == 0 || head.data[at - 1] == '\n';
        if (is_line_start &&
            nc_slice_is_equal_ignoring_case(nc_slice_make(head.data + at, sizeof prefix - 1), nc_slice_of(prefix))) {
            return true;
        }
    }
    return false;
}

/// Joins folded lines in place (RFC 5322, 2.2.3): if a line begins with a blank, the CR LF before it is replaced by two
/// blanks.
static void unfold(uint8_t *text, size_t length) {
    for (size_t i = 0; i + 2 < length; i++) {
        if (text[i] == '\r' && nc_ascii_is_blank(text[i + 2])) {
            text[i] = text[i + 1] = ' ';
        }
    }
}

static nc_slice trim(const uint8_t *begin, const uint8_t *end) {
    while (begin < end && nc_ascii_is_blank(*begin)) {
        begin++;
    }
    while (end > begin && nc_ascii_is_blank(end[-1])) {
        end--;
    }
    return nc_slice_make(begin, (size_t)(end - begin));
}

static nc_parts_fault read_field(nc_header *field, const uint8_t *text, size_t from, size_t to) {
    size_t colon = from;
    while (colon < to && nc_ascii_is_token(text[colon])) {
        colon++;
    }
    if (colon == to || text[colon] != ':' || colon == from) {
        return (nc_parts_fault){NC_ERR_BAD_RESPONSE, colon, "a header line of a part has no colon after its name"};
    }
    field->name = nc_slice_make(text + from, colon - from);
    field->value = trim(text + colon + 1, text + to);
    return (nc_parts_fault){NC_OK, 0, ""};
}

nc_parts_fault nc_parts_head_read(uint8_t *text, size_t length, nc_header *fields, size_t *count) {
    *count = 0;
    unfold(text, length);
    size_t at = 0;
    while (at + 2 < length) {
        const uint8_t *end = memchr(text + at, '\r', length - at);
        if (*count == NC_PARTS_MAX_FIELDS) {
            return (nc_parts_fault){NC_ERR_HEAD_TOO_LARGE, at, "a part has too many header fields"};
        }
        nc_parts_fault fault = read_field(&fields[*count], text, at, (size_t)(end - text));
        if (fault.status != NC_OK) {
            return fault;
        }
        ++*count;
        at = (size_t)(end - text) + 2;
    }
    return (nc_parts_fault){NC_OK, 0, ""};
}
