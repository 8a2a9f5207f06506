
#include "base/ascii.h"
#include "http/cookie.h"
#include "http/cookie_jar.h"
#include "http/set_cookie.h"
#include "text/host.h"

#include <stdio.h>
#include <string.h>

enum { DOMAIN, REACHES_BELOW, PATH, IS_SECURE, EXPIRES, NAME, VALUE, FIELDS };

static const char http_only[] = "#HttpOnly_";
static const char set_cookie[] = "Set-Cookie:";

static bool begins_with(nc_slice text, const char *prefix) {
    size_t length = strlen(prefix);
    return text.length >= length &&
           nc_slice_is_equal_ignoring_case(nc_slice_make(text.data, length), nc_slice_of(prefix));
}

/// Removes and returns the next line, without its end.
static nc_slice cut_line(nc_slice *rest) {
    const uint8_t *end = memchr(rest->data, '\n', rest->length);
    size_t length = end != NULL ? (size_t)(end - rest->data) : rest->length;
    nc_slice line = nc_slice_make(rest->data, length);
    size_t taken = end != NULL ? length + 1 : length;
    *rest = nc_slice_make(rest->data + taken, rest->length - taken);
    while (line.length > 0 && line.data[line.length - 1] == '\r') {
        line.length--;
    }
    return line;
}

static bool holds_cookie(nc_slice line) {
    return line.length > 0 && (line.data[0] != '#' || begins_with(line, http_only));
}

bool nc_cookie_lines_next(nc_slice *line, nc_slice *rest) {
    while (rest->length > 0) {
        *line = cut_line(rest);
        if (holds_cookie(*line)) {
            return true;
        }
    }
    return false;
}

/* --- validation --- */

/// Splits a line at its tabs. Returns the number of fields, FIELDS + 1 for too many.
static size_t split_at_tabs(nc_slice *fields, nc_slice line) {
    size_t count = 0;
    if (begins_with(line, http_only)) {
        line = nc_slice_make(line.data + strlen(http_only), line.length - strlen(http_only));
    }
    for (;;) {
        const uint8_t *tab = memchr(line.data, '\t', line.length);
        size_t length = tab != NULL ? (size_t)(tab - line.data) : line.length;
        if (count == FIELDS) {
            return FIELDS + 1;
        }
        fields[count++] = nc_slice_make(line.data, length);
        if (tab == NULL) {
            return count;
        }
        line = nc_slice_make(tab + 1, line.length - length - 1);
    }
}

static bool is_flag(nc_slice field) {
    return nc_slice_is_equal_ignoring_case(field, nc_slice_of("TRUE")) ||
           nc_slice_is_equal_ignoring_case(field, nc_slice_of("FALSE"));
}

/// Parses seconds since 1970. Returns false if the field is not a number. A number that overflows becomes INT64_MAX,
/// because libcurl writes up to 19 digits if the server set such an expiry.
static bool parse_seconds(nc_slice field, int64_t *out) {
    bool is_negative = field.length > 1 && field.data[0] == '-';
    *out = 0;
    for (size_t i = is_negative ? 1 : 0; i < field.length; i++) {
        if (!nc_ascii_is_digit(field.data[i])) {
            return false;
        }
        int digit = field.data[i] - '0';
        bool has_room = *out < INT64_MAX / 10 || (*out == INT64_MAX / 10 && digit <= INT64_MAX % 10);
        *out = has_room ? *out * 10 + digit : INT64_MAX;
    }
    *out = is_negative ? -*out : *out;
    return field.length > 0;
}

/// Returns true if the text can be a domain. Leading dots are skipped: libcurl removes a leading dot, and ignores a
/// domain that consists of dots.
static bool names_domain(nc_slice text) {
    size_t dots = 0;
    while (dots < text.length && text.data[dots] == '.') {
        dots++;
    }
    return dots < text.length && memchr("; \t", text.data[dots], 3) == NULL;
}

static bool is_netscape(nc_slice line) {
    nc_slice fields[FIELDS];
    int64_t expires_s;
    size_t count = split_at_tabs(fields, line);
    // A cookie without a value may lack the last tab too.
    return (count == FIELDS || count == VALUE) && names_domain(fields[DOMAIN]) && is_flag(fields[REACHES_BELOW]) &&
           is_flag(fields[IS_SECURE]) && parse_seconds(fields[EXPIRES], &expires_s);
}

static void skip_blanks(nc_slice *text) {
    while (text->length > 0 && (text->data[0] == ' ' || text->data[0] == '\t')) {
        *text = nc_slice_make(text->data + 1, text->length - 1);
    }
}

/// Returns true if `attribute` begins with "domain=" and a value that is not empty. Sets `value` to the text after "=".
static bool takes_domain(nc_slice attribute, nc_slice *value) {
    static const char domain[] = "domain";
    if (!begins_with(attribute, domain)) {
        return false;
    }
    *value = nc_slice_make(attribute.data + strlen(domain), attribute.length - strlen(domain));
    skip_blanks(value);
    if (value->length < 2 || value->data[0] != '=' || value->data[1] == ';') {
        return false;
    }
    *value = nc_slice_make(value->data + 1, value->length - 1);
    return true;
}

/// Returns true for a "Set-Cookie: …" line with a domain. libcurl would send a cookie without a domain to every host.
/// If the line has several domains, libcurl uses the last one.
static bool is_field_with_domain(nc_slice line) {
    if (!begins_with(line, set_cookie)) {
        return false;
    }
    bool has_domain = false;
    for (const uint8_t *at = memchr(line.data, ';', line.length); at != NULL;) {
        nc_slice rest = nc_slice_make(at + 1, line.length - (size_t)(at + 1 - line.data));
        nc_slice value;
        skip_blanks(&rest);
        if (takes_domain(rest, &value)) {
            has_domain = names_domain(value);
        }
        at = memchr(rest.data, ';', rest.length);
    }
    return has_domain;
}

bool nc_cookie_lines_are_good(nc_slice text, bool allows_fields, nc_cookie_fault *fault) {
    nc_slice rest = text;
    for (size_t number = 1; rest.length > 0; number++) {
        size_t offset = text.length - rest.length;
        nc_slice line = cut_line(&rest);
        bool is_good = !holds_cookie(line) || is_netscape(line) || (allows_fields && is_field_with_domain(line));
        if (!is_good || (line.length > 0 && memchr(line.data, 0, line.length) != NULL)) {
            *fault = (nc_cookie_fault){number, offset};
            return false;
        }
    }
    return true;
}

/* --- conversion from and to a jar --- */

/// Stores a "Set-Cookie: …" line as if the host named by its domain had sent it over TLS.
static nc_status put_field(nc_cookie_jar *jar, nc_slice field, int64_t now_s, bool *has_changed) {
    nc_set_cookie asked;
    nc_canonical_host host;
    nc_error err;
    if (!nc_set_cookie_read(&asked, field, now_s)) {
        return NC_OK;
    }
    nc_status status = nc_host_read(&host, asked.domain, &err);
    if (status != NC_OK) {
        return status == NC_ERR_NO_MEMORY ? status : NC_OK;
    }
    const nc_cookie_context context = {.host = host.text, .is_secure = true, .now_s = now_s};
    return nc_cookie_jar_store(jar, &context, field, has_changed);
}

static bool is_true(nc_slice field) {
    return nc_slice_is_equal_ignoring_case(field, nc_slice_of("TRUE"));
}

/// Parses the fields except the domain. Returns false if the cookie must be skipped: see nc_cookie_lines_put().
static bool read_fields(nc_cookie *out, const nc_slice *fields, size_t count) {
    static const nc_slice root = {(const uint8_t *)"/", 1};
    nc_slice path = fields[PATH].length > 0 ? fields[PATH] : root;
    (void)parse_seconds(fields[EXPIRES], &out->expires_s);
    out->is_persistent = out->expires_s != 0;
    out->is_secure = is_true(fields[IS_SECURE]);
    out->is_host_only = !is_true(fields[REACHES_BELOW]);
    out->path = path;
    out->is_loose = path.length > 1 && path.data[path.length - 1] == '/';
    out->name = fields[NAME];
    out->value = count > VALUE ? fields[VALUE] : nc_slice_of("");
    return out->name.length > 0 && out->name.length + out->value.length <= NC_COOKIE_MAX_PAIR_BYTES &&
           path.data[0] == '/' && nc_cookie_text_is_plain(path) && nc_cookie_text_is_plain(out->name) &&
           nc_cookie_text_is_plain(out->value) &&
           nc_cookie_prefix_holds(out->name, out->is_secure, out->is_host_only, nc_slice_is_equal(path, root));
}

static nc_slice without_dots(nc_slice domain) {
    while (domain.length > 0 && domain.data[0] == '.') {
        domain = nc_slice_make(domain.data + 1, domain.length - 1);
    }
    return domain;
}

nc_status nc_cookie_lines_put(nc_cookie_jar *jar, nc_slice line, int64_t now_s, bool *has_changed) {
    nc_slice fields[FIELDS];
    nc_canonical_host host;
    nc_error err;
    size_t prefix = strlen(set_cookie);
    if (begins_with(line, set_cookie)) {
        return put_field(jar, nc_slice_make(line.data + prefix, line.length - prefix), now_s, has_changed);
    }
    nc_cookie found = {.is_http_only = begins_with(line, http_only)};
    size_t count = split_at_tabs(fields, line);
    if (count <= NAME || count > FIELDS || !read_fields(&found, fields, count)) {
        return NC_OK;
    }
    nc_status status = nc_host_read(&host, without_dots(fields[DOMAIN]), &err);
    if (status != NC_OK) {
        return status == NC_ERR_NO_MEMORY ? status : NC_OK; // no host has such a name
    }
    found.domain = host.text;
    nc_cookie *cookie = nc_cookie_new(&found);
    return cookie != NULL ? nc_cookie_jar_put(jar, cookie, now_s, has_changed) : NC_ERR_NO_MEMORY;
}

void nc_cookie_lines_append(nc_buf *out, const nc_cookie *cookie) {
    char seconds[24];
    // 0 means a session cookie, so an expiry at or before 1970 is stored as 1.
    int64_t end_s = !cookie->is_persistent ? 0 : cookie->expires_s > 0 ? cookie->expires_s : 1;
    (void)snprintf(seconds, sizeof seconds, "%lld", (long long)end_s);
    nc_buf_append(out, nc_slice_of(cookie->is_http_only ? http_only : ""));
    nc_buf_append(out, nc_slice_of(cookie->is_host_only ? "" : "."));
    nc_buf_append(out, cookie->domain);
    nc_buf_append(out, nc_slice_of(cookie->is_host_only ? "\tFALSE\t" : "\tTRUE\t"));
    nc_buf_append(out, cookie->path);
    nc_buf_append(out, nc_slice_of(cookie->is_secure ? "\tTRUE\t" : "\tFALSE\t"));
    nc_buf_append(out, nc_slice_of(seconds));
    nc_buf_append_byte(out, '\t');
    nc_buf_append(out, cookie->name);
    nc_buf_append_byte(out, '\t');
    nc_buf_append(out, cookie->value);
    nc_buf_append_byte(out, '\n');
}
