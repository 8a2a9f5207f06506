#include "body/content_type.h"

static nc_slice trim(nc_slice text) {
    while (text.length > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text = nc_slice_make(text.data + 1, text.length - 1);
    }
    while (text.length > 0 && (text.data[text.length - 1] == ' ' || text.data[text.length - 1] == '\t')) {
        text.length--;
    }
    return text;
}

/// Removes and returns the part of `*rest` before the next unquoted ';'.
static nc_slice take_part(nc_slice *rest) {
    bool is_quoted = false;
    size_t end = 0;
    for (; end < rest->length && (is_quoted || rest->data[end] != ';'); end++) {
        if (rest->data[end] == '"') {
            is_quoted = !is_quoted;
        } else if (is_quoted && rest->data[end] == '\\' && end + 1 < rest->length) {
            end++;
        }
    }
    nc_slice part = nc_slice_make(rest->data, end);
    size_t next = end < rest->length ? end + 1 : end;
    *rest = nc_slice_make(rest->length == 0 ? NULL : rest->data + next, rest->length - next);
    return trim(part);
}

nc_slice nc_content_type_essence(nc_slice value) {
    return take_part(&value);
}

bool nc_content_type_parameter(nc_slice *out, nc_slice value, const char *name) {
    (void)take_part(&value);
    while (value.length > 0) {
        nc_slice part = take_part(&value);
        size_t at = 0;
        while (at < part.length && part.data[at] != '=') {
            at++;
        }
        if (at == part.length ||
            !nc_slice_is_equal_ignoring_case(trim(nc_slice_make(part.data, at)), nc_slice_of(name))) {
            continue;
        }
        nc_slice found = trim(nc_slice_make(part.data + at + 1, part.length - at - 1));
        if (found.length >= 2 && found.data[0] == '"' && found.data[found.length - 1] == '"') {
            found = nc_slice_make(found.data + 1, found.length - 2);
        }
        *out = found;
        return true;
    }
    return false;
}
