#include "http/cache_parts.h"

#include "base/ascii.h"
#include "http/http_date.h"

#include <netcore/cache_functions.h>
#include <netcore/content_range.h>
#include <netcore/url.h>

/* --- which responses may be stored (RFC 9111, 3) --- */

static bool contains(const uint16_t *statuses, size_t count, uint16_t status) {
    for (size_t i = 0; i < count; i++) {
        if (statuses[i] == status) {
            return true;
        }
    }
    return false;
}

/// Returns true for statuses whose caching rules are implemented here, for must-understand (RFC 9111, 5.2.2.3).
static bool is_understood(uint16_t status) {
    static const uint16_t statuses[] = {201, 202, 302, 303, 307, 400, 401, 402, 403, 406, 407, 408, 409, 411,
                                        412, 413, 415, 416, 417, 421, 422, 426, 500, 502, 503, 504, 505};
    return nc_cache_status_is_heuristic(status) || contains(statuses, sizeof statuses / sizeof statuses[0], status);
}

/// Returns true if a Content-Location is the URL of the request, as a whole or as a path with its query.
static bool is_same_url(nc_slice reference, nc_slice url) {
    nc_url_parts parts = nc_url_split(url);
    nc_slice whole = url;
    whole.length -= parts.has_fragment ? parts.fragment.length + 1 : 0;
    if (nc_slice_is_equal(reference, whole)) {
        return true;
    }
    if (reference.length == 0 || reference.data[0] != '/' || reference.length > whole.length) {
        return false;
    }
    size_t rest = whole.length - reference.length;
    parts = nc_url_split(nc_slice_make(whole.data, rest));
    return nc_slice_is_equal(reference, nc_slice_make(whole.data + rest, reference.length)) && parts.host.length > 0 &&
           parts.path.length == 0 && !parts.has_query;
}

static nc_cache_storability may_store_post(const nc_cache_request *request, nc_fields fields, bool is_explicit) {
    // Under these conditions, the response to POST can be used for GET (RFC 9110, 9.3.3).
    const nc_header *location = nc_fields_find(fields, "Content-Location");
    return is_explicit && location != NULL && is_same_url(location->value, request->url) ? NC_CACHE_STORABLE
                                                                                         : NC_CACHE_NOT_OF_POST;
}

static nc_cache_storability may_store_at_all(const nc_cache_request *request, const nc_cache_response *response,
                                             const nc_cache_control *control, const nc_cache_policy *policy) {
    nc_vary vary;
    nc_vary_read(&vary, (nc_fields){response->headers, response->header_count});
    if (policy->mode == NC_CACHE_MODE_NO_STORE ||
        nc_cache_control_parse(request->headers, request->header_count).no_store) {
        return NC_CACHE_NOT_BY_REQUEST;
    }
    if (response->status < 200 || response->status == 304 ||
        (control->must_understand && !is_understood(response->status))) {
        return NC_CACHE_NOT_BY_STATUS;
    }
    if (nc_content_range_is_part(response->status, response->headers, response->header_count)) {
        return NC_CACHE_NOT_A_PART;
    }
    if (control->no_store && !control->must_understand) {
        return NC_CACHE_NOT_BY_SERVER;
    }
    return vary.is_any ? NC_CACHE_NOT_BY_VARY : NC_CACHE_STORABLE;
}

static bool is_method(const nc_cache_request *request, const char *name) {
    return nc_slice_is_equal(request->method.length > 0 ? request->method : nc_slice_of("GET"), nc_slice_of(name));
}

nc_cache_storability nc_cache_may_store(const nc_cache_request *request, const nc_cache_response *response,
                                        const nc_cache_policy *policy, nc_cache_freshness *freshness) {
    nc_fields fields = {response->headers, response->header_count};
    nc_cache_control control = nc_cache_control_parse(response->headers, response->header_count);
    nc_cache_storability result = may_store_at_all(request, response, &control, policy);
    if (result != NC_CACHE_STORABLE) {
        return result;
    }
    nc_cache_freshness own = nc_cache_freshness_by(&control, response, policy);
    bool has_lifetime = own.lifetime_ms != NC_CACHE_NONE;
    if (freshness != NULL) {
        *freshness = own;
    }
    if (is_method(request, "POST")) {
        return may_store_post(request, fields, has_lifetime && !own.is_heuristic);
    }
    if (!is_method(request, "GET")) {
        return NC_CACHE_NOT_BY_METHOD;
    }
    bool can_be_revalidated = policy->mode == NC_CACHE_MODE_NETWORK_FIRST || nc_fields_has(fields, "ETag") ||
                              nc_fields_has(fields, "Last-Modified");
    bool is_cacheable = nc_cache_status_is_heuristic(response->status) || control.is_public;
    return has_lifetime || (can_be_revalidated && is_cacheable) ? NC_CACHE_STORABLE : NC_CACHE_NOT_WITHOUT_LIFETIME;
}

bool nc_cache_supersedes(const nc_cache_request *request, uint16_t status) {
    static const uint16_t others[] = {206, 304, 407, 408, 421, 425, 429};
    return is_method(request, "GET") && status >= 200 && status < 500 &&
           !contains(others, sizeof others / sizeof others[0], status);
}

/* --- the stored fields --- */

static bool is_one_of(nc_slice name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (nc_slice_is_equal_ignoring_case(name, nc_slice_of(names[i]))) {
            return true;
        }
    }
    return false;
}

/// Returns true for fields that apply to one connection or to a proxy (RFC 9111, 3.1), and for Age, which is computed
/// for each use.
static bool is_never_stored(nc_slice name) {
    static const char *const names[] = {"Age",
                                        "Connection",
                                        "Keep-Alive",
                                        "Proxy-Authenticate",
                                        "Proxy-Authentication-Info",
                                        "Proxy-Authorization",
                                        "Proxy-Connection",
                                        "TE",
                                        "Transfer-Encoding",
                                        "Upgrade"};
    return is_one_of(name, names, sizeof names / sizeof names[0]);
}

/// Returns true for fields that describe the stored body, which a 304 response does not change (RFC 9111, 3.2). Some
/// servers send another Content-Type in 304 responses.
static bool describes_body(nc_slice name) {
    static const char *const names[] = {"Content-Length", "Content-Encoding", "Content-Range", "Content-Type"};
    return is_one_of(name, names, sizeof names / sizeof names[0]);
}

static bool is_stored(nc_fields fields, nc_slice name) {
    return !is_never_stored(name) && !nc_members_contain(fields, "Connection", name) &&
           !nc_cache_control_names(fields, name);
}

size_t nc_cache_stored_fields(nc_header *out, const nc_header *headers, size_t header_count) {
    nc_fields fields = {headers, header_count};
    size_t count = 0;
    for (size_t i = 0; i < header_count; i++) {
        if (is_stored(fields, headers[i].name)) {
            out[count++] = headers[i];
        }
    }
    return count;
}

/// Writes fields to the caller's array, as long as there is room.
typedef struct field_writer {
    nc_header *out;
    size_t room;
    size_t count;
} field_writer;

static void put(field_writer *writer, nc_header field) {
    if (writer->count < writer->room) {
        writer->out[writer->count++] = field;
    }
}

static bool updates(nc_fields news, nc_slice name) {
    return !describes_body(name) && is_stored(news, name);
}

/// Writes all new fields with this name.
static void put_updates(field_writer *writer, nc_fields news, nc_slice name) {
    for (size_t i = 0; i < news.count; i++) {
        if (nc_slice_is_equal_ignoring_case(news.at[i].name, name)) {
            put(writer, news.at[i]);
        }
    }
}

static bool has_name(nc_fields fields, nc_slice name) {
    for (size_t i = 0; i < fields.count; i++) {
        if (nc_slice_is_equal_ignoring_case(fields.at[i].name, name)) {
            return true;
        }
    }
    return false;
}

size_t nc_cache_merge(nc_header *out, size_t room, const nc_cache_stored *stored, const nc_cache_response *update) {
    field_writer writer = {.out = out, .room = room};
    nc_fields news = {update->headers, update->header_count};
    nc_fields olds = {stored->headers, stored->header_count};
    for (size_t i = 0; i < olds.count; i++) {
        nc_slice name = olds.at[i].name;
        bool is_first = !has_name((nc_fields){olds.at, i}, name);
        if (!has_name(news, name) || !updates(news, name)) {
            put(&writer, olds.at[i]);
        } else if (is_first) {
            put_updates(&writer, news, name); // at the position of the first old one
        }
    }
    for (size_t i = 0; i < news.count; i++) {
        if (!has_name(olds, news.at[i].name) && updates(news, news.at[i].name)) {
            put(&writer, news.at[i]);
        }
    }
    return writer.count;
}

bool nc_cache_keeps_in_304(nc_slice name) {
    static const char *const names[] = {"Age",  "Cache-Control", "Content-Location", "Date",
                                        "ETag", "Expires",       "Last-Modified",    "Vary"};
    return is_one_of(name, names, sizeof names / sizeof names[0]);
}

void nc_cache_write_date(char *out, int64_t at_ms) {
    nc_http_date_write(out, at_ms / 1000 - (at_ms % 1000 < 0 ? 1 : 0));
}
