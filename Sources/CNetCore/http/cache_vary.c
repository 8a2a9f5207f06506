#include "base/ascii.h"
#include "http/cache_parts.h"

#include <netcore/cache_functions.h>
#include <stdio.h>
#include <string.h>

/// Members of Accept-Language up to this number are compared in any order; more of them in the order of the fields.
enum { MAX_SORTED_MEMBERS = 64 };

static const char accept_language[] = "Accept-Language";

/* --- the names in Vary --- */

/// Compares two texts without case.
static int compare(nc_slice a, nc_slice b) {
    size_t shorter = a.length < b.length ? a.length : b.length;
    for (size_t i = 0; i < shorter; i++) {
        int difference = (int)nc_ascii_lower(a.data[i]) - (int)nc_ascii_lower(b.data[i]);
        if (difference != 0) {
            return difference;
        }
    }
    return a.length < b.length ? -1 : a.length > b.length ? 1 : 0;
}

void nc_vary_read(nc_vary *out, nc_fields response) {
    nc_members members = nc_members_of(response, "Vary");
    *out = (nc_vary){.count = 0};
    for (nc_slice name; nc_members_next(&name, &members);) {
        size_t place = out->count;
        while (place > 0 && compare(out->names[place - 1], name) > 0) {
            place--;
        }
        if (place > 0 && compare(out->names[place - 1], name) == 0) {
            continue;
        }
        if (out->count == NC_VARY_MAX_NAMES || nc_slice_is_equal(name, nc_slice_of("*"))) {
            out->is_any = true;
            return;
        }
        memmove(&out->names[place + 1], &out->names[place], (out->count - place) * sizeof name);
        out->names[place] = name;
        out->count++;
    }
}

/* --- the values of a request --- */

/// The members of the fields with one name.
typedef struct values {
    nc_fields request;
    nc_slice name;
    size_t next;
    nc_slice rest;
    bool is_language;
} values;

static values values_of(nc_fields request, nc_slice name) {
    return (values){.request = request,
                    .name = name,
                    .is_language = nc_slice_is_equal_ignoring_case(name, nc_slice_of(accept_language))};
}

static bool next_value(nc_slice *member, values *all) {
    while (!nc_list_next(member, &all->rest)) {
        while (all->next < all->request.count &&
               !nc_slice_is_equal_ignoring_case(all->request.at[all->next].name, all->name)) {
            all->next++;
        }
        if (all->next == all->request.count) {
            return false;
        }
        all->rest = all->request.at[all->next++].value;
    }
    return true;
}

static bool has_field(nc_fields request, nc_slice name) {
    for (size_t i = 0; i < request.count; i++) {
        if (nc_slice_is_equal_ignoring_case(request.at[i].name, name)) {
            return true;
        }
    }
    return false;
}

/// Appends a member. A language range is written in lower case without blanks. Only ASCII letters are changed, because
/// otherwise two different bytes could become equal.
static void append_member(nc_buf *out, nc_slice member, bool is_language) {
    for (size_t i = 0; i < member.length; i++) {
        if (!is_language) {
            nc_buf_append_byte(out, member.data[i]);
        } else if (!nc_ascii_is_blank(member.data[i])) {
            nc_buf_append_byte(out, nc_ascii_lower(member.data[i]));
        }
    }
}

/// Compares two members as append_member() writes them.
static int compare_members(nc_slice a, nc_slice b, bool is_language) {
    size_t i = 0;
    size_t j = 0;
    for (;; i++, j++) {
        while (is_language && i < a.length && nc_ascii_is_blank(a.data[i])) {
            i++;
        }
        while (is_language && j < b.length && nc_ascii_is_blank(b.data[j])) {
            j++;
        }
        if (i == a.length || j == b.length) {
            return i < a.length ? 1 : j < b.length ? -1 : 0;
        }
        int left = is_language ? nc_ascii_lower(a.data[i]) : a.data[i];
        int right = is_language ? nc_ascii_lower(b.data[j]) : b.data[j];
        if (left != right) {
            return left - right;
        }
    }
}

/// The members of one field, sorted if it is Accept-Language and has few enough.
typedef struct member_list {
    nc_slice sorted[MAX_SORTED_MEMBERS];
    size_t count;
    bool is_sorted;
    values from; // the members in the order of the fields, if they are not sorted
} member_list;

static void read_members(member_list *out, nc_fields request, nc_slice name) {
    values all = values_of(request, name);
    *out = (member_list){.from = all, .is_sorted = all.is_language};
    for (nc_slice member; out->is_sorted && next_value(&member, &all);) {
        size_t place = out->count;
        if (place == MAX_SORTED_MEMBERS) {
            out->is_sorted = false;
            return;
        }
        while (place > 0 && compare_members(out->sorted[place - 1], member, true) > 0) {
            place--;
        }
        memmove(&out->sorted[place + 1], &out->sorted[place], (out->count - place) * sizeof member);
        out->sorted[place] = member;
        out->count++;
    }
}

static bool next_member(nc_slice *member, member_list *list, size_t place) {
    if (!list->is_sorted) {
        return next_value(member, &list->from);
    }
    *member = place < list->count ? list->sorted[place] : nc_slice_of("");
    return place < list->count;
}

static bool has_same_members(nc_fields a, nc_fields b, nc_slice name) {
    member_list left;
    member_list right;
    read_members(&left, a, name);
    read_members(&right, b, name);
    if (has_field(a, name) != has_field(b, name) || left.is_sorted != right.is_sorted) {
        return false;
    }
    for (size_t place = 0;; place++) {
        nc_slice one;
        nc_slice other;
        bool has_one = next_member(&one, &left, place);
        bool has_other = next_member(&other, &right, place);
        if (!has_one || !has_other) {
            return has_one == has_other;
        }
        if (compare_members(one, other, left.from.is_language) != 0) {
            return false;
        }
    }
}

bool nc_vary_matches(const nc_vary *vary, nc_fields a, nc_fields b) {
    for (size_t i = 0; i < vary->count; i++) {
        if (!has_same_members(a, b, vary->names[i])) {
            return false;
        }
    }
    return !vary->is_any;
}

/* --- selecting fields as bytes --- */

static void append_length(nc_buf *out, size_t length) {
    char text[24];
    int count = snprintf(text, sizeof text, "%zu:", length);
    nc_buf_append(out, nc_slice_make(text, (size_t)count));
}

/// Returns the length of the members as they are written. Writes them only if `is_written`: the caller needs the length
/// first.
static size_t write_members(nc_buf *out, nc_fields request, nc_slice name, bool is_written) {
    member_list list;
    size_t length = 0;
    nc_slice member;
    read_members(&list, request, name);
    for (size_t place = 0; next_member(&member, &list, place); place++) {
        if (place > 0 && is_written) {
            nc_buf_append_byte(out, ',');
        }
        length += place > 0 ? 1 : 0;
        if (is_written) {
            append_member(out, member, list.from.is_language);
        }
        for (size_t i = 0; i < member.length; i++) {
            length += list.from.is_language && nc_ascii_is_blank(member.data[i]) ? 0 : 1;
        }
    }
    return length;
}

nc_status nc_cache_select(nc_buf *out, const nc_cache_request *request, const nc_header *response_headers,
                          size_t header_count) {
    nc_vary vary;
    nc_fields asked = {request->headers, request->header_count};
    size_t start = out->length;
    nc_vary_read(&vary, (nc_fields){response_headers, header_count});
    if (vary.is_any) {
        return NC_ERR_USAGE;
    }
    for (size_t i = 0; i < vary.count; i++) {
        append_length(out, vary.names[i].length);
        for (size_t k = 0; k < vary.names[i].length; k++) {
            nc_buf_append_byte(out, nc_ascii_lower(vary.names[i].data[k]));
        }
        if (has_field(asked, vary.names[i])) {
            append_length(out, write_members(out, asked, vary.names[i], false));
            (void)write_members(out, asked, vary.names[i], true);
        } else {
            nc_buf_append_byte(out, '-'); // an absent field differs from an empty one
        }
    }
    nc_status status = nc_buf_status(out);
    if (status != NC_OK) {
        out->length = start;
    }
    return status;
}
