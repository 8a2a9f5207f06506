#include "text/url_parts.h"

#include "base/ascii.h"
#include "base/error.h"

#include <netcore/url.h>
#include <string.h>

static nc_slice slice_from(nc_slice text, size_t start) {
    return nc_slice_make(text.length == start ? NULL : text.data + start, text.length - start);
}

static nc_slice slice_until(nc_slice text, size_t end) {
    return nc_slice_make(text.data, end);
}

/// Cuts off the text from the first `mark` on, and sets `tail` to what follows the mark. Returns false if there is
/// none.
static bool cut_tail(nc_slice *text, nc_slice *tail, char mark) {
    const uint8_t *found = text->length > 0 ? memchr(text->data, mark, text->length) : NULL;
    if (found == NULL) {
        return false;
    }
    size_t end = (size_t)(found - text->data);
    *tail = slice_from(*text, end + 1);
    text->length = end;
    return true;
}

/// Returns the length of the scheme without its colon; 0 if the text has no scheme.
static size_t scheme_length(nc_slice text) {
    for (size_t i = 0; i < text.length; i++) {
        uint8_t c = text.data[i];
        if (c == ':') {
            return i;
        }
        bool is_inner = i > 0 && (nc_ascii_is_digit(c) || c == '+' || c == '-' || c == '.');
        if (!nc_ascii_is_alpha(c) && !is_inner) {
            return 0;
        }
    }
    return 0;
}

static bool starts_with(nc_slice text, const char *prefix) {
    size_t length = strlen(prefix);
    return text.length >= length && memcmp(text.data, prefix, length) == 0;
}

/// Returns the length of the host at the start of "host:port". If its ']' is missing, or is followed by more
/// than a port, the whole text is the host.
static size_t host_length(nc_slice text) {
    bool is_literal = text.length > 0 && text.data[0] == '[';
    const uint8_t *mark = text.length > 0 ? memchr(text.data, is_literal ? ']' : ':', text.length) : NULL;
    size_t end = mark == NULL ? text.length : (size_t)(mark - text.data) + (is_literal ? 1 : 0);
    return end < text.length && text.data[end] != ':' ? text.length : end;
}

/// Splits the authority (RFC 3986, 3.2).
static void split_authority(nc_url_parts *out) {
    nc_slice authority = out->authority;
    const uint8_t *at = authority.length > 0 ? memchr(authority.data, '@', authority.length) : NULL;
    size_t start = at != NULL ? authority.length : 0;
    while (start > 0 && authority.data[start - 1] != '@') {
        start--;
    }
    out->has_userinfo = start > 0;
    out->userinfo = slice_until(authority, start > 0 ? start - 1 : 0);
    nc_slice rest = slice_from(authority, start);
    size_t end = host_length(rest);
    out->host = slice_until(rest, end);
    out->has_port = end < rest.length;
    out->port = out->has_port ? slice_from(rest, end + 1) : slice_from(rest, end);
}

nc_url_parts nc_url_split(nc_slice text) {
    nc_url_parts out = {0};
    size_t scheme = scheme_length(text);
    if (scheme != 0) {
        out.scheme = slice_until(text, scheme);
        text = slice_from(text, scheme + 1);
    }
    out.has_fragment = cut_tail(&text, &out.fragment, '#');
    out.has_query = cut_tail(&text, &out.query, '?');
    if (text.length >= 2 && text.data[0] == '/' && text.data[1] == '/') {
        text = slice_from(text, 2);
        const uint8_t *slash = text.length > 0 ? memchr(text.data, '/', text.length) : NULL;
        out.has_authority = true;
        out.authority = slice_until(text, slash != NULL ? (size_t)(slash - text.data) : text.length);
        text = slice_from(text, out.authority.length);
        split_authority(&out);
    }
    out.path = text;
    return out;
}

/// Removes dot segments in place (RFC 3986, 5.2.4) and returns the new length. The output is never longer than the
/// input read so far, so writing does not overwrite unread bytes.
static size_t remove_dot_segments(uint8_t *path, size_t length) {
    size_t in = 0;
    size_t out = 0;
    while (in < length) {
        nc_slice rest = nc_slice_make(path + in, length - in);
        bool is_up = starts_with(rest, "/../") || nc_slice_is_equal(rest, nc_slice_of("/.."));
        bool is_here = starts_with(rest, "/./") || nc_slice_is_equal(rest, nc_slice_of("/."));
        if (starts_with(rest, "../")) {
            in += 3;
        } else if (starts_with(rest, "./")) {
            in += 2;
        } else if (nc_slice_is_equal(rest, nc_slice_of(".")) || nc_slice_is_equal(rest, nc_slice_of(".."))) {
            in = length;
        } else if (is_up || is_here) {
            in += is_up ? 2 : 1;
            // "/.." and "/." at the end become '/', which is written over the last dot.
            if (in + 1 == length) {
                path[in] = '/';
            } else {
                in++;
            }
            while (is_up && out > 0 && path[--out] != '/') {
            }
        } else {
            do {
                path[out++] = path[in++];
            } while (in < length && path[in] != '/');
        }
    }
    return out;
}

/// Determines the parts of the target URL (RFC 3986, 5.2.2, strict). The path of the target is `*directory` followed by
/// the target's `path`.
static nc_url_parts target_parts(const nc_url_parts *base, const nc_url_parts *reference, nc_slice *directory) {
    nc_url_parts target = *reference;
    *directory = nc_slice_make(NULL, 0);
    if (reference->scheme.length != 0) {
        return target;
    }
    target.scheme = base->scheme;
    if (reference->has_authority) {
        return target;
    }
    target.authority = base->authority;
    target.has_authority = base->has_authority;
    if (reference->path.length == 0) {
        target.path = base->path;
        target.query = reference->has_query ? reference->query : base->query;
        target.has_query = reference->has_query || base->has_query;
    } else if (reference->path.data[0] != '/') {
        size_t end = base->path.length;
        while (end > 0 && base->path.data[end - 1] != '/') {
            end--;
        }
        bool is_rootless = base->has_authority && base->path.length == 0;
        *directory = is_rootless ? nc_slice_of("/") : slice_until(base->path, end);
    }
    return target;
}

/// Changes `*directory` to its parent; the root stays (RFC 3986, 5.2.4). Returns false for a directory named "." or
/// "..", because removing its name would not give its parent.
static bool move_to_parent(nc_slice *directory) {
    size_t start = directory->length > 0 ? directory->length - 1 : 0;
    nc_slice above = slice_until(*directory, start);
    while (start > 0 && above.data[start - 1] != '/') {
        start--;
    }
    nc_slice name = slice_from(above, start);
    if (nc_slice_is_equal(name, nc_slice_of(".")) || nc_slice_is_equal(name, nc_slice_of(".."))) {
        return false;
    }
    directory->length = start > 0 ? start : directory->length;
    return true;
}

/// Resolves "./" and "../" at the start of a relative path, as libcurl does when it keeps dot segments
/// (CURLOPT_PATH_AS_IS).
static void resolve_leading_dots(nc_slice *directory, nc_slice *path) {
    if (starts_with(*path, "./")) {
        *path = slice_from(*path, 2);
    }
    while (starts_with(*path, "../") && move_to_parent(directory)) {
        *path = slice_from(*path, 3);
    }
}

static void append_path(nc_buf *out, nc_slice directory, const nc_url_parts *target, bool keeps_dots) {
    size_t start = out->length;
    nc_buf_append(out, directory);
    nc_buf_append(out, target->path);
    if (out->status != NC_OK || out->length == start) {
        return;
    }
    size_t length = out->length - start;
    if (!keeps_dots) {
        length = remove_dot_segments(out->data + start, length);
        out->length = start + length;
    }
    // Without an authority a path must not begin with "//" (RFC 3986, 3.3): "..//b" at "a:/x" would give "a://b", with
    // the host b.
    if (!target->has_authority && length >= 2 && memcmp(out->data + start, "//", 2) == 0) {
        nc_buf_append(out, nc_slice_of("/."));
        if (out->status == NC_OK) {
            memmove(out->data + start + 2, out->data + start, length);
            memcpy(out->data + start, "/.", 2);
        }
    }
}

/// Recomposes the parts (RFC 3986, 5.3).
static void append_target(nc_buf *out, const nc_url_parts *target, nc_slice directory, bool keeps_dots) {
    nc_buf_append(out, target->scheme);
    nc_buf_append_byte(out, ':');
    if (target->has_authority) {
        nc_buf_append(out, nc_slice_of("//"));
        nc_buf_append(out, target->authority);
    }
    append_path(out, directory, target, keeps_dots);
    if (target->has_query) {
        nc_buf_append_byte(out, '?');
        nc_buf_append(out, target->query);
    }
    if (target->has_fragment) {
        nc_buf_append_byte(out, '#');
        nc_buf_append(out, target->fragment);
    }
}

void nc_url_append_resolved(nc_buf *out, const nc_url_parts *base, const nc_url_parts *reference) {
    nc_slice directory;
    nc_url_parts target = target_parts(base, reference, &directory);
    append_target(out, &target, directory, false);
}

static void append_as_is(nc_buf *out, const nc_url_parts *base, const nc_url_parts *reference) {
    nc_slice directory;
    nc_url_parts target = target_parts(base, reference, &directory);
    if (directory.length > 0) {
        resolve_leading_dots(&directory, &target.path);
    }
    append_target(out, &target, directory, true);
}

static nc_status check_bytes(nc_slice text, const char *role, nc_error *err) {
    if (text.length > NC_URL_MAX_BYTES) {
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "the %s has %zu bytes, more than %u", role, text.length,
                            NC_URL_MAX_BYTES);
    }
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] <= 0x20 || text.data[i] == 0x7F) {
            return nc_error_set(err, NC_ERR_BAD_URL, 0, (int64_t)i, "unexpected byte 0x%02x at byte %zu of the %s",
                                text.data[i], i, role);
        }
    }
    return NC_OK;
}

static nc_status check_inputs(const nc_buf *out, nc_slice base, nc_slice reference, nc_error *err) {
    if (out == NULL || (base.data == NULL && base.length != 0) || (reference.data == NULL && reference.length != 0)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a buffer or slice is NULL");
    }
    nc_status status = check_bytes(base, "base", err);
    if (status == NC_OK) {
        status = check_bytes(reference, "reference", err);
    }
    if (status == NC_OK && scheme_length(base) == 0) {
        status = nc_error_set(err, NC_ERR_BAD_URL, 0, 0, "the base URL has no scheme");
    }
    return status;
}

static nc_status resolve(nc_buf *out, nc_slice base, nc_slice reference, bool keeps_dots, nc_error *err) {
    nc_status status = check_inputs(out, base, reference, err);
    if (status != NC_OK) {
        return status;
    }
    nc_url_parts base_parts = nc_url_split(base);
    nc_url_parts reference_parts = nc_url_split(reference);
    size_t length_before = out->length;
    (keeps_dots ? append_as_is : nc_url_append_resolved)(out, &base_parts, &reference_parts);
    if (out->status == NC_OK && out->length - length_before > NC_URL_MAX_BYTES) {
        out->status = NC_ERR_TOO_LARGE;
    }
    if (out->status != NC_OK) {
        out->length = length_before;
        return nc_error_set(err, out->status, 0, -1, "cannot store the resolved URL: %s", nc_status_text(out->status));
    }
    return nc_error_clear(err);
}

nc_status nc_url_resolve(nc_buf *out, nc_slice base, nc_slice reference, nc_error *err) {
    return resolve(out, base, reference, false, err);
}

nc_status nc_url_resolve_as_is(nc_buf *out, nc_slice base, nc_slice reference, nc_error *err) {
    return resolve(out, base, reference, true, err);
}
