#include "net/cookie_lines.h"

#include "base/alloc.h"
#include "base/ascii.h"

#include <netcore/cookies.h>
#include <stdlib.h>
#include <string.h>

enum { DOMAIN, REACHES_BELOW, PATH, IS_SECURE, EXPIRES, NAME, VALUE, FIELDS };

static const char http_only[] = "#HttpOnly_";
static const char set_cookie[] = "Set-Cookie:";

static bool begins_with(nc_slice text, const char *prefix) {
    size_t length = strlen(prefix);
    return text.length >= length &&
           nc_slice_is_equal_ignoring_case(nc_slice_make(text.data, length), nc_slice_of(prefix));
}

/// Cuts the next line off, without its end.
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

/* --- judging --- */

/// Parts a line at its tabs; the number of fields, FIELDS + 1 for too many.
static size_t part(nc_slice *fields, nc_slice line) {
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

/// Seconds since 1970; false for what is no such number. What is beyond counting ends as late as can be counted:
/// libcurl itself writes 19 digits, for a server that asked for them.
static bool parse_seconds(nc_slice field, int64_t *out) {
    *out = 0;
    for (size_t i = 0; i < field.length; i++) {
        if (!nc_ascii_is_digit(field.data[i])) {
            return false;
        }
        int digit = field.data[i] - '0';
        bool has_room = *out < INT64_MAX / 10 || (*out == INT64_MAX / 10 && digit <= INT64_MAX % 10);
        *out = has_room ? *out * 10 + digit : INT64_MAX;
    }
    return field.length > 0;
}

/// libcurl drops a dot at the beginning, and a domain of dots alone with it.
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
    size_t count = part(fields, line);
    // A cookie without a value may lack the last tab too.
    return (count == FIELDS || count == VALUE) && names_domain(fields[DOMAIN]) && is_flag(fields[REACHES_BELOW]) &&
           is_flag(fields[IS_SECURE]) && parse_seconds(fields[EXPIRES], &expires_s);
}

void nc_cookie_lines_copy(nc_buf *out, nc_slice line) {
    nc_slice fields[FIELDS];
    int64_t expires_s = 0;
    size_t count = part(fields, line);
    bool has_end = count > EXPIRES && count <= FIELDS && parse_seconds(fields[EXPIRES], &expires_s);
    if (!has_end || expires_s != INT64_MAX) {
        nc_buf_append(out, line);
        return;
    }
    size_t before = (size_t)(fields[EXPIRES].data - line.data);
    size_t behind = before + fields[EXPIRES].length;
    nc_buf_append(out, nc_slice_make(line.data, before));
    nc_buf_append(out, nc_slice_of("9223372036854775807"));
    nc_buf_append(out, nc_slice_make(line.data + behind, line.length - behind));
}

static void skip_blanks(nc_slice *text) {
    while (text->length > 0 && (text->data[0] == ' ' || text->data[0] == '\t')) {
        *text = nc_slice_make(text->data + 1, text->length - 1);
    }
}

/// Whether `attribute` is "domain=" with something behind it, which `value` then is.
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

/// libcurl would hand a cookie without a domain to every host. Of several domains it takes the last.
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

/* --- bounds --- */

typedef struct entry {
    nc_slice line;
    nc_slice domain;
    size_t place;
    bool goes;
} entry;

static int compare_domains(const nc_slice *a, const nc_slice *b) {
    if (a->length != b->length) {
        return a->length < b->length ? -1 : 1;
    }
    for (size_t i = 0; i < a->length; i++) {
        int difference = nc_ascii_lower(a->data[i]) - nc_ascii_lower(b->data[i]);
        if (difference != 0) {
            return difference;
        }
    }
    return 0;
}

static int by_domain_and_age(const void *a, const void *b) {
    const entry *one = a;
    const entry *two = b;
    int order = compare_domains(&one->domain, &two->domain);
    return order != 0 ? order : one->place < two->place ? -1 : 1;
}

static int by_age(const void *a, const void *b) {
    return ((const entry *)a)->place < ((const entry *)b)->place ? -1 : 1;
}

/// The entries from `begin` on that have one domain.
static size_t run_length(const entry *entries, size_t count, size_t begin) {
    size_t end = begin + 1;
    while (end < count && compare_domains(&entries[begin].domain, &entries[end].domain) == 0) {
        end++;
    }
    return end - begin;
}

static size_t count_capped(const entry *entries, size_t count, size_t cap) {
    size_t total = 0;
    for (size_t i = 0; i < count;) {
        size_t run = run_length(entries, count, i);
        total += run < cap ? run : cap;
        i += run;
    }
    return total;
}

/// Marks what has to go. Those domains give way that have the most, so that no server displaces another one's cookies.
static void mark_surplus(entry *entries, size_t count) {
    size_t cap = NC_MAX_COOKIES_PER_DOMAIN;
    while (cap > 1 && count_capped(entries, count, cap) > NC_MAX_COOKIES) {
        cap--;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count;) {
        size_t run = run_length(entries, count, i);
        for (size_t j = 0; j < run; j++) {
            bool stays = run - j <= cap && kept < NC_MAX_COOKIES;
            entries[i + j].goes = !stays;
            kept += stays ? 1 : 0;
        }
        i += run;
    }
}

static bool has_expired(nc_slice line, int64_t now_s) {
    nc_slice fields[FIELDS];
    int64_t expires_s = 0;
    size_t count = part(fields, line);
    return count > EXPIRES && parse_seconds(fields[EXPIRES], &expires_s) && expires_s != 0 && expires_s <= now_s;
}

/// Fills `entries`, which has room for all lines, with the living ones.
static size_t list(entry *entries, nc_slice rest, int64_t now_s) {
    size_t count = 0;
    nc_slice line;
    nc_slice fields[FIELDS];
    while (nc_cookie_lines_next(&line, &rest)) {
        if (!has_expired(line, now_s)) {
            (void)part(fields, line);
            entries[count] = (entry){.line = line, .domain = fields[DOMAIN], .place = count};
            count++;
        }
    }
    return count;
}

/// Writes what stays over the text it stands in: each line moves towards the beginning, if at all.
static void compact(nc_buf *text, const entry *entries, size_t count) {
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        if (!entries[i].goes) {
            memmove(text->data + length, entries[i].line.data, entries[i].line.length);
            length += entries[i].line.length;
            text->data[length++] = '\n';
        }
    }
    text->length = length;
}

nc_status nc_cookie_lines_bound(nc_buf *text, int64_t now_s, bool *is_shorter) {
    *is_shorter = false;
    // The last line may lack its end, and gets one.
    if (nc_buf_reserve(text, 1) != NC_OK) {
        return nc_buf_status(text);
    }
    nc_slice rest = nc_buf_slice(text);
    nc_slice line;
    size_t lines = 0;
    while (nc_cookie_lines_next(&line, &rest)) {
        lines++;
    }
    entry *entries = lines > 0 ? nc_alloc_zeroed(lines, sizeof *entries) : NULL;
    if (entries == NULL) {
        return lines > 0 ? NC_ERR_NO_MEMORY : NC_OK;
    }
    size_t count = list(entries, nc_buf_slice(text), now_s);
    if (count > NC_MAX_COOKIES_PER_DOMAIN) {
        qsort(entries, count, sizeof *entries, by_domain_and_age);
        mark_surplus(entries, count);
        qsort(entries, count, sizeof *entries, by_age);
        for (size_t i = 0; i < count; i++) {
            *is_shorter = *is_shorter || entries[i].goes;
        }
    }
    compact(text, entries, count);
    nc_free(entries);
    return NC_OK;
}

/* --- changes --- */

static int by_text(const void *a, const void *b) {
    const nc_slice *one = a;
    const nc_slice *two = b;
    if (one->length != two->length) {
        return one->length < two->length ? -1 : 1;
    }
    return memcmp(one->data, two->data, one->length);
}

nc_status nc_cookie_lines_subtract(nc_buf *out, nc_slice text, nc_slice known) {
    nc_slice rest = known;
    nc_slice line;
    size_t count = 0;
    while (nc_cookie_lines_next(&line, &rest)) {
        count++;
    }
    nc_slice *lines = nc_alloc_zeroed(count + 1, sizeof *lines);
    if (lines == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    rest = known;
    for (size_t i = 0; i < count && nc_cookie_lines_next(&lines[i], &rest);) {
        i++;
    }
    qsort(lines, count, sizeof *lines, by_text);
    while (nc_cookie_lines_next(&line, &text)) {
        if (bsearch(&line, lines, count, sizeof *lines, by_text) == NULL) {
            nc_buf_append(out, line);
            nc_buf_append_byte(out, '\n');
        }
    }
    nc_free(lines);
    return nc_buf_status(out);
}

/// libcurl writes an empty path where a server did, and reads it as the root.
static nc_slice path_of(const nc_slice *fields) {
    return fields[PATH].length > 0 ? fields[PATH] : nc_slice_of("/");
}

/// Whether two lines are of one cookie (RFC 6265, 5.3, 11): of one name, domain and path.
static bool is_same_cookie(nc_slice one, nc_slice two) {
    nc_slice fields[2][FIELDS] = {0};
    size_t counts[2] = {part(fields[0], one), part(fields[1], two)};
    return counts[0] > NAME && counts[1] > NAME && compare_domains(&fields[0][DOMAIN], &fields[1][DOMAIN]) == 0 &&
           nc_slice_is_equal(path_of(fields[0]), path_of(fields[1])) &&
           nc_slice_is_equal(fields[0][NAME], fields[1][NAME]);
}

static bool is_among(nc_slice line, nc_slice lines, int64_t now_s) {
    nc_slice one;
    while (nc_cookie_lines_next(&one, &lines)) {
        // What has expired was not taken back by anybody, and may have been set anew.
        if (is_same_cookie(line, one) && !has_expired(one, now_s)) {
            return true;
        }
    }
    return false;
}

nc_status nc_cookie_lines_leave_out(nc_buf *out, nc_slice text, nc_slice gone, int64_t now_s) {
    nc_slice line;
    while (nc_cookie_lines_next(&line, &text)) {
        if (!is_among(line, gone, now_s)) {
            nc_buf_append(out, line);
            nc_buf_append_byte(out, '\n');
        }
    }
    return nc_buf_status(out);
}
