#include "body/parts_head.h"

#include "base/ascii.h"

#include <string.h>

static bool is_blank(uint8_t byte) {
    return byte == ' ' || byte == '\t';
}

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
    return (!is_first && is_blank(line.data[0])) || (colon > 0 && line.data[colon] == ':');
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

/// RFC 5322, 2.2.3: a line that begins with a blank continues the previous one. The first line may not, and the empty
/// line at the end has no successor.
static void unfold(uint8_t *text, size_t length) {
    for (size_t i = 0; i + 2 < length; i++) {
        if (text[i] == '\r' && is_blank(text[i + 2])) {
            text[i] = text[i + 1] = ' ';
        }
    }
}

static nc_slice trim(const uint8_t *begin, const uint8_t *end) {
    while (begin < end && is_blank(*begin)) {
        begin++;
    }
    while (end > begin && is_blank(end[-1])) {
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
        return (nc_parts_fault){NC_ERR_BAD_RESPONSE, colon, "a field of a part has no name that ends with a colon"};
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
            return (nc_parts_fault){NC_ERR_HEAD_TOO_LARGE, at, "a part has too many fields"};
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
