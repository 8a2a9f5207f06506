#include "http/field_list.h"

#include "base/ascii.h"

/// Returns the position of the comma that ends the first member, or the length. A comma in quotes ends no member.
static size_t member_end(nc_slice text) {
    bool is_quoted = false;
    bool is_escaped = false;
    for (size_t i = 0; i < text.length; i++) {
        uint8_t byte = text.data[i];
        if (byte == ',' && !is_quoted) {
            return i;
        }
        if (byte == '"' && !is_escaped) {
            is_quoted = !is_quoted;
        }
        is_escaped = is_quoted && byte == '\\' && !is_escaped;
    }
    return text.length;
}

bool nc_list_next(nc_slice *member, nc_slice *rest) {
    while (rest->length > 0) {
        size_t end = member_end(*rest);
        size_t taken = end < rest->length ? end + 1 : end;
        *member = nc_ascii_trim(nc_slice_make(rest->data, end));
        *rest = nc_slice_make(rest->data + taken, rest->length - taken);
        if (member->length > 0) {
            return true;
        }
    }
    return false;
}

const nc_header *nc_fields_find(nc_fields fields, const char *name) {
    for (size_t i = 0; i < fields.count; i++) {
        if (nc_slice_is_equal_ignoring_case(fields.at[i].name, nc_slice_of(name))) {
            return &fields.at[i];
        }
    }
    return NULL;
}

bool nc_fields_has(nc_fields fields, const char *name) {
    return nc_fields_find(fields, name) != NULL;
}

nc_members nc_members_of(nc_fields fields, const char *name) {
    return (nc_members){.fields = fields, .name = name};
}

bool nc_members_next(nc_slice *member, nc_members *members) {
    while (!nc_list_next(member, &members->rest)) {
        nc_fields left = {members->fields.at + members->next, members->fields.count - members->next};
        const nc_header *field = left.count > 0 ? nc_fields_find(left, members->name) : NULL;
        if (field == NULL) {
            return false;
        }
        members->next = (size_t)(field - members->fields.at) + 1;
        members->rest = field->value;
    }
    return true;
}

bool nc_members_contain(nc_fields fields, const char *name, nc_slice text) {
    nc_members members = nc_members_of(fields, name);
    for (nc_slice member; nc_members_next(&member, &members);) {
        if (nc_slice_is_equal_ignoring_case(member, text)) {
            return true;
        }
    }
    return false;
}
