#include <netcore/redirect.h>

#include "base/ascii.h"
#include "base/error.h"
#include "http/url_text.h"

#include <curl/curl.h>
#include <netcore/url.h>
#include <string.h>

static bool is_redirect_status(uint16_t status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/// RFC 9110, 15.4: 303 requires a GET; 301 and 302 change a POST to a GET by convention; 307 and 308 change nothing.
bool nc_redirect_becomes_get(uint16_t status, bool is_head, bool is_post) {
    return status == 303 ? !is_head : (status == 301 || status == 302) && is_post;
}

/// Servers send spaces and raw UTF-8 in Location. Both are percent-encoded, as in browsers, before the reference is
/// resolved.
static nc_status escape_location(nc_buf *out, nc_slice location, nc_error *err) {
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < location.length; i++) {
        uint8_t byte = location.data[i];
        if (byte < ' ' || byte == 0x7f) {
            return nc_error_set(err, NC_ERR_BAD_REDIRECT, 0, (int64_t)i,
                                "forbidden byte 0x%02x in the Location field at byte %zu", byte, i);
        }
        if (byte == ' ' || byte >= 0x80) {
            const uint8_t escaped[3] = {'%', (uint8_t)hex[byte >> 4], (uint8_t)hex[byte & 15]};
            nc_buf_append(out, nc_slice_make(escaped, sizeof escaped));
        } else {
            nc_buf_append_byte(out, byte);
        }
    }
    nc_buf_append_byte(out, 0);
    if (nc_buf_status(out) == NC_ERR_NO_MEMORY) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a redirect");
    }
    if (nc_buf_status(out) != NC_OK) {
        return nc_error_set(err, NC_ERR_BAD_REDIRECT, 0, -1, "the Location field is longer than %u bytes",
                            NC_URL_MAX_BYTES);
    }
    return NC_OK;
}

/// Resolves the Location field against the requested URL. RFC 9110, 10.2.2: a Location without a fragment inherits the
/// fragment of the requested URL.
static nc_status resolve(nc_buf *out, const nc_redirect_question *question, nc_slice reference, nc_error *err) {
    nc_slice base = question->url;
    nc_status status = question->keeps_dot_segments ? nc_url_resolve_as_is(out, base, reference, err)
                                                    : nc_url_resolve(out, base, reference, err);
    const uint8_t *fragment = memchr(base.data, '#', base.length);
    if (status == NC_OK && fragment != NULL && memchr(reference.data, '#', reference.length) == NULL) {
        nc_buf_append(out, nc_slice_make(fragment, base.length - (size_t)(fragment - base.data)));
    }
    if (status == NC_OK) {
        nc_buf_append_byte(out, 0); // for libcurl; the caller removes it
        status = nc_buf_status(out);
    }
    if (status == NC_ERR_NO_MEMORY) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a redirect");
    }
    return status == NC_OK ? NC_OK
                           : nc_error_set(err, NC_ERR_BAD_REDIRECT, 0, -1, "the Location field is not a valid URL");
}

/// Refuses schemes other than http and https, and URLs without a host. libcurl would parse "http:/x" and "http:///x" as
/// the host x, and some other schemes as a host with an invalid port.
static nc_status check_target(nc_slice next, nc_error *err) {
    nc_url_parts parts = nc_url_split(next);
    nc_slice scheme = parts.scheme;
    if (!nc_url_is_web_scheme(scheme)) {
        return nc_error_set(err, NC_ERR_REDIRECT_REFUSED, CURLE_UNSUPPORTED_PROTOCOL, -1,
                            "redirect to the scheme '%.*s' is refused", (int)(scheme.length < 32 ? scheme.length : 32),
                            (const char *)scheme.data);
    }
    if (nc_url_host_and_port(&parts).length == 0) {
        return nc_error_set(err, NC_ERR_BAD_REDIRECT, CURLE_URL_MALFORMAT, -1, "the Location field has no host");
    }
    return NC_OK;
}

/// Removes the credentials from a cross-origin Location (RFC 9110, 4.2.4). The redirecting server has chosen them. If
/// they were sent, they would sign the user in at the other origin as a different user.
static void remove_credentials(nc_buf *url) {
    size_t at = 0;
    size_t length = 0;
    nc_url_find_credentials(nc_buf_slice(url), &at, &length);
    memmove(url->data + at, url->data + at + length, url->length - at - length);
    url->length -= length;
}

/// Compares the origins of the requested URL and the next URL, and fills the decision. `url` is the next URL; its
/// length includes a NUL.
static nc_status compare(nc_redirect_decision *decision, nc_buf *url, const nc_redirect_question *question,
                         nc_error *err) {
    nc_origin from;
    nc_origin to;
    nc_error detail;
    nc_status status = nc_origin_read(&to, nc_slice_make(url->data, url->length - 1), &detail);
    if (status != NC_OK) {
        bool is_short = status == NC_ERR_NO_MEMORY;
        return nc_error_set(err, is_short ? status : NC_ERR_BAD_REDIRECT, is_short ? 0 : CURLE_URL_MALFORMAT, -1,
                            "the Location field is not a valid URL: %s", detail.message);
    }
    status = nc_origin_read(&from, question->url, &detail);
    if (status == NC_ERR_NO_MEMORY) {
        return nc_error_set(err, status, 0, -1, "no memory for a redirect");
    }
    if (!to.is_secure && from.is_secure && question->choice != NC_REDIRECTS_FOLLOW_DOWNGRADE) {
        return nc_error_set(err, NC_ERR_REDIRECT_REFUSED, 0, -1, "redirect from https to http://%.*s is refused",
                            nc_url_shown(to.host.text), (const char *)to.host.text.data);
    }
    decision->is_redirect = true;
    decision->becomes_get = nc_redirect_becomes_get(question->status, question->is_head, question->is_post);
    // If the origin of the requested URL cannot be parsed, the redirect counts as cross-origin.
    decision->changes_origin = status != NC_OK || !nc_origin_is_equal(&from, &to);
    if (decision->changes_origin) {
        remove_credentials(url);
    }
    return NC_OK;
}

static nc_status decide(nc_redirect_decision *out, nc_buf *url, const nc_redirect_question *question, nc_error *err) {
    nc_buf escaped = nc_buf_init(NC_URL_MAX_BYTES + 1);
    nc_status status = escape_location(&escaped, question->location, err);
    if (status == NC_OK) {
        status = resolve(url, question, nc_slice_make(escaped.data, escaped.length - 1), err);
    }
    if (status == NC_OK) {
        status = check_target(nc_slice_make(url->data, url->length - 1), err);
    }
    if (status == NC_OK) {
        status = compare(out, url, question, err);
    }
    nc_buf_deinit(&escaped);
    bool has_url = status == NC_OK || status == NC_ERR_REDIRECT_REFUSED;
    url->length = has_url ? url->length - 1 : 0; // The NUL stays in memory after the URL.
    return status;
}

nc_status nc_redirect_decide(nc_redirect_decision *out, nc_buf *url, const nc_redirect_question *question,
                             nc_error *err) {
    if (out == NULL || url == NULL || url->length > 0 || question == NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "an argument is NULL, or the buffer for the URL is not empty");
    }
    *out = (nc_redirect_decision){0};
    if (!is_redirect_status(question->status) || question->location.length == 0 ||
        question->choice == NC_REDIRECTS_RETURN) {
        return nc_error_clear(err);
    }
    if (question->max_redirects == NC_NO_REDIRECTS || question->followed >= question->max_redirects) {
        uint32_t limit = question->max_redirects == NC_NO_REDIRECTS ? 0 : question->max_redirects;
        return nc_error_set(err, NC_ERR_TOO_MANY_REDIRECTS, CURLE_TOO_MANY_REDIRECTS, -1,
                            "redirected more than %u times (limits.max_redirects), last by %.*s", limit,
                            (int)nc_url_authority(question->url).length,
                            (const char *)nc_url_authority(question->url).data);
    }
    nc_status status = decide(out, url, question, err);
    return status == NC_OK ? nc_error_clear(err) : status;
}

nc_status nc_redirect_keep_credentials(nc_buf *url, nc_slice asked, nc_error *err) {
    size_t from = 0;
    size_t length = 0;
    size_t at = 0;
    size_t own_length = 0;
    nc_url_find_credentials(asked, &from, &length);
    nc_url_find_credentials(nc_buf_slice(url), &at, &own_length);
    if (length == 0 || own_length > 0) {
        return nc_error_clear(err);
    }
    if (url->length + length > NC_URL_MAX_BYTES) {
        return nc_error_set(err, NC_ERR_BAD_REDIRECT, 0, -1, "the next URL is longer than %u bytes", NC_URL_MAX_BYTES);
    }
    at = (size_t)(nc_url_authority(nc_buf_slice(url)).data - url->data);
    size_t behind = url->length - at;
    nc_buf_append(url, nc_slice_make(asked.data + from, length));
    nc_buf_append_byte(url, 0);
    if (nc_buf_status(url) != NC_OK) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a redirect");
    }
    url->length--; // The NUL stays in memory after the URL.
    memmove(url->data + at + length, url->data + at, behind);
    memcpy(url->data + at, asked.data + from, length);
    return nc_error_clear(err);
}

bool nc_redirect_keeps_field(nc_slice name) {
    static const char *const kept[] = {
        "Accept",           "Accept-Charset",   "Accept-Encoding", "Accept-Language", "Cache-Control",
        "Content-Encoding", "Content-Language", "Content-Length",  "Content-Type",    "Expect",
        "If-Range",         "Last-Event-ID",    "Pragma",          "Range",           "User-Agent",
    };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (nc_slice_is_equal_ignoring_case(name, nc_slice_of(kept[i]))) {
            return true;
        }
    }
    return false;
}

bool nc_redirect_describes_body(nc_slice name) {
    static const char prefix[] = "Content-";
    enum { PREFIX_BYTES = sizeof prefix - 1 };
    bool is_content = name.length > PREFIX_BYTES &&
                      nc_slice_is_equal_ignoring_case(nc_slice_make(name.data, PREFIX_BYTES), nc_slice_of(prefix));
    return is_content || nc_slice_is_equal_ignoring_case(name, nc_slice_of("Expect"));
}
