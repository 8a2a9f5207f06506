#include "base/ascii.h"
#include "http/cache_parts.h"
#include "http/http_date.h"

#include <netcore/cache_functions.h>
#include <string.h>

/* --- entity tags --- */

static nc_slice opaque(nc_slice tag) {
    bool is_weak = tag.length >= 2 && memcmp(tag.data, "W/", 2) == 0;
    return is_weak ? nc_slice_make(tag.data + 2, tag.length - 2) : tag;
}

bool nc_entity_tag_is_same(nc_slice a, nc_slice b) {
    return nc_slice_is_equal(opaque(a), opaque(b));
}

static bool is_equal(const nc_header *a, nc_slice value) {
    return a != NULL && nc_slice_is_equal(a->value, value);
}

/* --- revalidation --- */

bool nc_cache_has_validator(const nc_cache_stored *stored) {
    nc_fields fields = {stored->headers, stored->header_count};
    return nc_fields_has(fields, "ETag") || nc_fields_has(fields, "Last-Modified");
}

size_t nc_cache_conditions(nc_header *out, const nc_cache_stored *stored) {
    nc_fields fields = {stored->headers, stored->header_count};
    const nc_header *tag = nc_fields_find(fields, "ETag");
    const nc_header *modified = nc_fields_find(fields, "Last-Modified");
    size_t count = 0;
    if (tag != NULL) {
        out[count++] = (nc_header){nc_slice_of("If-None-Match"), tag->value};
    }
    if (modified != NULL) {
        out[count++] = (nc_header){nc_slice_of("If-Modified-Since"), modified->value};
    }
    return count;
}

bool nc_cache_confirms(const nc_cache_stored *stored, const nc_cache_response *not_modified) {
    nc_fields olds = {stored->headers, stored->header_count};
    nc_fields news = {not_modified->headers, not_modified->header_count};
    const nc_header *tag = nc_fields_find(news, "ETag");
    if (tag != NULL) {
        const nc_header *known = nc_fields_find(olds, "ETag");
        return known == NULL || nc_entity_tag_is_same(tag->value, known->value);
    }
    const nc_header *date = nc_fields_find(news, "Last-Modified");
    const nc_header *known = nc_fields_find(olds, "Last-Modified");
    if (date == NULL || known == NULL || is_equal(date, known->value)) {
        return true;
    }
    int64_t at;
    int64_t known_at;
    return nc_http_date_read_any_case(&at, date->value) && nc_http_date_read_any_case(&known_at, known->value) &&
           at == known_at;
}

/// Returns the only field with this name; NULL if there is none or several.
static const nc_header *find_only(nc_fields fields, const char *name) {
    const nc_header *found = nc_fields_find(fields, name);
    size_t next = found != NULL ? (size_t)(found - fields.at) + 1 : fields.count;
    bool is_only = !nc_fields_has((nc_fields){fields.at + next, fields.count - next}, name);
    return is_only ? found : NULL;
}

bool nc_cache_confirms_own(const nc_cache_stored *stored, const nc_cache_response *not_modified,
                           const nc_cache_request *request) {
    nc_fields olds = {stored->headers, stored->header_count};
    nc_fields news = {not_modified->headers, not_modified->header_count};
    nc_fields asked = {request->headers, request->header_count};
    const nc_header *known_tag = nc_fields_find(olds, "ETag");
    const nc_header *known_date = nc_fields_find(olds, "Last-Modified");
    const nc_header *tag = nc_fields_find(news, "ETag");
    const nc_header *modified = nc_fields_find(news, "Last-Modified");
    if (tag != NULL) {
        return known_tag != NULL && nc_entity_tag_is_same(known_tag->value, tag->value);
    }
    if (modified != NULL) {
        return is_equal(known_date, modified->value);
    }
    if (nc_fields_has(asked, "If-None-Match")) {
        const nc_header *only = find_only(asked, "If-None-Match");
        return only != NULL && known_tag != NULL && nc_entity_tag_is_same(known_tag->value, only->value);
    }
    const nc_header *since = nc_fields_find(asked, "If-Modified-Since");
    return since != NULL && is_equal(known_date, since->value);
}

bool nc_cache_is_same_version(const nc_cache_stored *stored, const nc_cache_response *head) {
    static const char *const names[] = {"Content-Length", "ETag", "Last-Modified"};
    nc_fields olds = {stored->headers, stored->header_count};
    nc_fields news = {head->headers, head->header_count};
    bool is_same = stored->status == 200 && head->status == 200;
    for (size_t i = 0; is_same && i < sizeof names / sizeof names[0]; i++) {
        const nc_header *mine = nc_fields_find(olds, names[i]);
        const nc_header *other = nc_fields_find(news, names[i]);
        is_same = mine == NULL || other == NULL || nc_slice_is_equal(mine->value, other->value);
    }
    return is_same;
}

/* --- the caller's own conditions --- */

bool nc_cache_has_conditions(nc_fields request) {
    static const char *const names[] = {"Range",    "If-Range",           "If-None-Match", "If-Modified-Since",
                                        "If-Match", "If-Unmodified-Since"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (nc_fields_has(request, names[i])) {
            return true;
        }
    }
    return false;
}

/// Returns true if If-None-Match contains this tag, or "*". Without a tag, only a field "*" matches.
static bool is_named(nc_fields request, const nc_header *tag) {
    nc_members members = nc_members_of(request, "If-None-Match");
    for (nc_slice member; tag != NULL && nc_members_next(&member, &members);) {
        if (nc_slice_is_equal(member, nc_slice_of("*")) || nc_entity_tag_is_same(member, tag->value)) {
            return true;
        }
    }
    for (size_t i = 0; tag == NULL && i < request.count; i++) {
        if (nc_slice_is_equal_ignoring_case(request.at[i].name, nc_slice_of("If-None-Match")) &&
            nc_slice_is_equal(request.at[i].value, nc_slice_of("*"))) {
            return true;
        }
    }
    return false;
}

/// Returns true if the caller has the stored version already. If-None-Match decides if it is present, otherwise
/// If-Modified-Since (RFC 9110, 13.2.2). Conditions apply to successful responses only (13.2.1).
static bool is_current(nc_fields request, const nc_cache_stored *stored) {
    nc_fields fields = {stored->headers, stored->header_count};
    const nc_header *since = nc_fields_find(request, "If-Modified-Since");
    const nc_header *modified = nc_fields_find(fields, "Last-Modified");
    int64_t since_at;
    int64_t modified_at;
    if (stored->status < 200 || stored->status > 299) {
        return false;
    }
    if (nc_fields_has(request, "If-None-Match")) {
        return is_named(request, nc_fields_find(fields, "ETag"));
    }
    modified = modified != NULL ? modified : nc_fields_find(fields, "Date");
    return since != NULL && modified != NULL && nc_http_date_read_any_case(&since_at, since->value) &&
           nc_http_date_read_any_case(&modified_at, modified->value) && modified_at <= since_at;
}

/* --- a range --- */

static bool starts_with_bytes(nc_slice text) {
    nc_slice unit = nc_slice_of("bytes=");
    return text.length >= unit.length && nc_slice_is_equal_ignoring_case(nc_slice_make(text.data, unit.length), unit);
}

/// Reads one range of bytes (RFC 9110, 14.1.2). Returns false for several ranges, for malformed text, and for a range
/// that begins after the end.
static bool read_range(uint64_t *out_first, uint64_t *out_last, nc_slice text, uint64_t count) {
    if (!starts_with_bytes(text) || count == 0) {
        return false;
    }
    text = nc_ascii_trim(nc_slice_make(text.data + 6, text.length - 6));
    const uint8_t *dash = text.length > 0 ? memchr(text.data, '-', text.length) : NULL;
    if (dash == NULL) {
        return false;
    }
    nc_slice first = nc_slice_make(text.data, (size_t)(dash - text.data));
    nc_slice last = nc_slice_make(dash + 1, text.length - first.length - 1);
    int64_t start = 0;
    int64_t end = 0;
    if (first.length == 0) {
        bool is_suffix = nc_delta_seconds_read(&end, last) && end > 0;
        *out_first = (uint64_t)end < count ? count - (uint64_t)end : 0;
        *out_last = count - 1;
        return is_suffix;
    }
    if (!nc_delta_seconds_read(&start, first) || (uint64_t)start >= count ||
        (last.length > 0 && (!nc_delta_seconds_read(&end, last) || end < start))) {
        return false;
    }
    *out_first = (uint64_t)start;
    *out_last = last.length == 0 || (uint64_t)end >= count ? count - 1 : (uint64_t)end;
    return true;
}

/* --- the form of the response --- */

bool nc_cache_choose_form(nc_cache_decision *out, const nc_cache_request *request, const nc_cache_stored *stored) {
    nc_fields asked = {request->headers, request->header_count};
    bool is_head = nc_slice_is_equal(request->method, nc_slice_of("HEAD"));
    out->form = is_head ? NC_CACHE_FORM_HEAD : NC_CACHE_FORM_WHOLE;
    if (!nc_cache_has_conditions(asked)) {
        return true;
    }
    if (is_head || nc_fields_has(asked, "If-Match") || nc_fields_has(asked, "If-Unmodified-Since") ||
        nc_fields_has(asked, "If-Range")) {
        return false;
    }
    const nc_header *range = nc_fields_find(asked, "Range");
    if (range == NULL) {
        out->form = is_current(asked, stored) ? NC_CACHE_FORM_NOT_MODIFIED : NC_CACHE_FORM_WHOLE;
        return true;
    }
    out->form = NC_CACHE_FORM_PART;
    return stored->status == 200 &&
           !nc_fields_has((nc_fields){stored->headers, stored->header_count}, "Content-Encoding") &&
           !nc_fields_has(asked, "If-None-Match") && !nc_fields_has(asked, "If-Modified-Since") &&
           read_range(&out->first, &out->last, range->value, stored->body_bytes);
}
