#include "request/request_copy.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/error.h"
#include "body/multipart.h"

#include <string.h>

/// Returns true if the library, an intermediary or a server needs the field before the body (RFC 9110, 6.5.1): framing,
/// connections and routing; request modifiers; authentication and cookies; type and coding of the content; control
/// data.
static bool is_forbidden(nc_slice name) {
    static const char *const names[] = {
        "Content-Length",
        "Transfer-Encoding",
        "Trailer",
        "TE",
        "Connection",
        "Keep-Alive",
        "Proxy-Connection",
        "Upgrade",
        "HTTP2-Settings",
        "Host",
        "Forwarded",
        "Via",
        "Max-Forwards",
        "Cache-Control",
        "Expect",
        "Pragma",
        "Range",
        "Prefer",
        "Origin",
        "Access-Control-Request-Method",
        "X-HTTP-Method-Override",
        "Authorization",
        "Proxy-Authorization",
        "WWW-Authenticate",
        "Proxy-Authenticate",
        "Cookie",
        "Cookie2",
        "Set-Cookie",
        "Set-Cookie2",
        "Content-Encoding",
        "Content-Type",
        "Content-Range",
        "Age",
        "Date",
        "Expires",
        "Location",
        "Retry-After",
        "Vary",
        "Warning",
        "Realm",
        "Access-Control-Request-Headers",
    };
    // Conditions, content negotiation, and the addresses that a proxy reports.
    static const char *const prefixes[] = {"If-", "Accept", "X-Forwarded-", "Sec-", "Proxy-"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (nc_slice_is_equal_ignoring_case(name, nc_slice_of(names[i]))) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (name.length >= length &&
            nc_slice_is_equal_ignoring_case(nc_slice_make(name.data, length), nc_slice_of(prefixes[i]))) {
            return true;
        }
    }
    return false;
}

/// Returns the part of a name that an error message shows.
static int shown(nc_slice name) {
    return (int)(name.length < 64 ? name.length : 64);
}

nc_status nc_check_field(const nc_header *header, nc_error *err) {
    nc_slice value = header->value;
    nc_status status = nc_check_header(header, err);
    if (status != NC_OK || value.length == 0 ||
        !(nc_ascii_is_blank(value.data[0]) || nc_ascii_is_blank(value.data[value.length - 1]))) {
        return status;
    }
    // libcurl would silently omit a field whose value is only white space.
    size_t at = nc_ascii_is_blank(value.data[0]) ? 0 : value.length - 1;
    return nc_error_set(err, NC_ERR_BAD_HEADER, 0, (int64_t)at, "white space around the value of header %.*s",
                        shown(header->name), (const char *)header->name.data);
}

static nc_status check_one(const nc_header *field, bool is_computed, nc_error *err) {
    nc_status status = nc_check_field(field, err);
    if (status == NC_OK && is_forbidden(field->name)) {
        status = nc_error_set(err, NC_ERR_BAD_HEADER, 0, -1,
                              "%.*s cannot be a trailer: it is needed before the body, so send it as a header",
                              shown(field->name), (const char *)field->name.data);
    }
    if (status == NC_OK && is_computed && field->value.length > 0) {
        status = nc_error_set(err, NC_ERR_USAGE, 0, -1, "the trailer %.*s has both a value and a callback",
                              shown(field->name), (const char *)field->name.data);
    }
    return status;
}

/// Rejects header fields about the framing, which the library determines.
static nc_status check_header_names(const nc_request *request, nc_error *err) {
    static const char *const names[] = {"Trailer", "Content-Length"};
    for (size_t i = 0; i < request->header_count; i++) {
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            if (nc_slice_is_equal_ignoring_case(request->headers[i].name, nc_slice_of(names[k]))) {
                return nc_error_set(err, NC_ERR_BAD_HEADER, 0, -1,
                                    "%s of a request with trailers is set by the library: remove the header", names[k]);
            }
        }
    }
    return NC_OK;
}

/// Checks that the request has a body, and a protocol whose trailers libcurl sends; see nc_quirk_drops_trailers().
static nc_status check_request(const nc_request *request, nc_error *err) {
    bool has_body = request->has_body || request->body.length > 0 || request->body_file.length > 0 ||
                    request->body_source.pull != NULL || request->multipart != NULL;
    if (!has_body) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "trailers require a request body");
    }
    if (request->http == NC_HTTP_1_0) {
        return nc_error_set(err, NC_ERR_UNSUPPORTED, 0, -1, "trailers need HTTP/1.1, because HTTP/1.0 has no trailers");
    }
    if (request->http == NC_HTTP_2_PRIOR_KNOWLEDGE || request->http == NC_HTTP_3_ONLY) {
        return nc_error_set(err, NC_ERR_UNSUPPORTED, 0, -1,
                            "trailers need HTTP/1.1, because libcurl sends none over HTTP/%d",
                            request->http == NC_HTTP_3_ONLY ? 3 : 2);
    }
    return check_header_names(request, err);
}

nc_status nc_check_trailers(const nc_request *request, nc_error *err) {
    const nc_trailers *trailers = &request->trailers;
    size_t total = 0;
    if (trailers->count == 0) {
        return trailers->compute == NULL
                   ? NC_OK
                   : nc_error_set(err, NC_ERR_USAGE, 0, -1, "the callback for trailers has no fields");
    }
    if (trailers->count > NC_MAX_TRAILERS) {
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "more than %u trailers", NC_MAX_TRAILERS);
    }
    for (size_t i = 0; i < trailers->count; i++) {
        const nc_header *field = &trailers->fields[i];
        nc_status status = check_one(field, trailers->compute != NULL, err);
        bool fits = status == NC_OK && nc_size_add(&total, total, field->name.length) &&
                    nc_size_add(&total, total, field->value.length) && total <= NC_MAX_TRAILER_BYTES;
        if (!fits) {
            return status != NC_OK ? status
                                   : nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "the trailers exceed %u bytes",
                                                  NC_MAX_TRAILER_BYTES);
        }
    }
    return check_request(request, err);
}

/* --- the copy --- */

static const char announcement_name[] = "Trailer: ";

size_t nc_trailers_size(const nc_trailers *trailers) {
    size_t total = trailers->count > 0 ? sizeof announcement_name : 0;
    for (size_t i = 0; i < trailers->count; i++) {
        // Twice the name, with ", " in the announcement, and two NULs.
        total += 2 * trailers->fields[i].name.length + trailers->fields[i].value.length + 4;
    }
    return total;
}

static char *put(char *at, nc_slice text) {
    if (text.length > 0) {
        memcpy(at, text.data, text.length);
    }
    return at + text.length;
}

void nc_copied_trailers_fill(nc_copied_trailers *out, const nc_trailers *from, char **storage) {
    char *at = *storage;
    *out = (nc_copied_trailers){.count = from->count, .texts = at, .compute = from->compute, .ctx = from->ctx};
    for (size_t i = 0; i < from->count; i++) {
        at = put(at, from->fields[i].name);
        *at++ = '\0';
        at = put(at, from->fields[i].value);
        *at++ = '\0';
    }
    out->announcement = at;
    at = put(at, nc_slice_of(announcement_name));
    for (size_t i = 0; i < from->count; i++) {
        at = put(at, nc_slice_of(i > 0 ? ", " : ""));
        at = put(at, from->fields[i].name);
    }
    *at++ = '\0';
    *storage = at;
}
