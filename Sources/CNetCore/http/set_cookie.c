#include "http/set_cookie.h"

#include "base/ascii.h"
#include "http/cookie_date.h"

#include <string.h>

static bool is_blank(uint8_t c) {
    return c == ' ' || c == '\t';
}

static nc_slice trim(nc_slice text) {
    while (text.length > 0 && is_blank(text.data[0])) {
        text = nc_slice_make(text.data + 1, text.length - 1);
    }
    while (text.length > 0 && is_blank(text.data[text.length - 1])) {
        text.length--;
    }
    return text;
}

/// Removes and returns the text before `mark`, and removes the mark; all of `text` if there is none.
static nc_slice cut(nc_slice *text, char mark) {
    if (text->length == 0) {
        return *text;
    }
    const uint8_t *end = memchr(text->data, mark, text->length);
    size_t length = end != NULL ? (size_t)(end - text->data) : text->length;
    nc_slice front = nc_slice_make(text->data, length);
    size_t taken = end != NULL ? length + 1 : length;
    *text = nc_slice_make(text->data + taken, text->length - taken);
    return front;
}

bool nc_cookie_text_is_plain(nc_slice text) {
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] < 0x20 || text.data[i] == 0x7f || text.data[i] == ';') {
            return false;
        }
    }
    return true;
}

/// A control byte except tab invalidates the whole field (5.6, step 1).
static bool has_control(nc_slice text) {
    for (size_t i = 0; i < text.length; i++) {
        if ((text.data[i] < 0x20 && text.data[i] != '\t') || text.data[i] == 0x7f) {
            return true;
        }
    }
    return false;
}

static int64_t end_of(int64_t seconds, int64_t now_s) {
    int64_t latest_s = now_s < INT64_MAX - NC_COOKIE_MAX_LIFETIME_S ? now_s + NC_COOKIE_MAX_LIFETIME_S : INT64_MAX;
    return seconds > latest_s ? latest_s : seconds;
}

/// Max-Age (5.6.2): ignored unless it is a number. The lifetime is limited, so larger numbers need no exact value.
static bool read_max_age(nc_slice value, int64_t now_s, int64_t *out) {
    bool is_negative = value.length > 0 && value.data[0] == '-';
    size_t at = is_negative ? 1 : 0;
    int64_t seconds = 0;
    if (at == value.length) {
        return false;
    }
    for (; at < value.length; at++) {
        if (!nc_ascii_is_digit(value.data[at])) {
            return false;
        }
        seconds = seconds * 10 + (value.data[at] - '0');
        seconds = seconds > NC_COOKIE_MAX_LIFETIME_S ? NC_COOKIE_MAX_LIFETIME_S : seconds;
    }
    *out = is_negative || seconds == 0 ? INT64_MIN : end_of(now_s + seconds, now_s);
    return true;
}

static bool is_named(nc_slice name, const char *expected) {
    return nc_slice_is_equal_ignoring_case(name, nc_slice_of(expected));
}

/// With `has_max_age` an Expires before or after it is ignored.
static void take_attribute(nc_set_cookie *out, nc_slice text, int64_t now_s, bool *has_max_age) {
    nc_slice value = text;
    nc_slice name = trim(cut(&value, '='));
    int64_t seconds = 0;
    value = trim(value);
    if (value.length > NC_COOKIE_MAX_ATTRIBUTE_BYTES) {
        return;
    }
    if (is_named(name, "Max-Age") && read_max_age(value, now_s, &seconds)) {
        *has_max_age = true;
        out->is_persistent = true;
        out->expires_s = seconds;
    } else if (is_named(name, "Expires") && !*has_max_age && nc_cookie_date_read(value, &seconds)) {
        out->is_persistent = true;
        out->expires_s = end_of(seconds, now_s);
    } else if (is_named(name, "Domain") && value.length > 0) { // an empty one is ignored (RFC 6265, 5.2.3)
        bool has_dot = value.length > 0 && value.data[0] == '.';
        out->domain = has_dot ? nc_slice_make(value.data + 1, value.length - 1) : value;
    } else if (is_named(name, "Path")) {
        out->has_path = true;
        out->path = value.length > 0 && value.data[0] == '/' ? value : nc_slice_of("");
    } else if (is_named(name, "Secure")) {
        out->is_secure = true;
    } else if (is_named(name, "HttpOnly")) {
        out->is_http_only = true;
    }
}

bool nc_set_cookie_read(nc_set_cookie *out, nc_slice field, int64_t now_s) {
    bool has_max_age = false;
    *out = (nc_set_cookie){0};
    if (has_control(field)) {
        return false;
    }
    out->value = cut(&field, ';');
    bool has_name = out->value.length > 0 && memchr(out->value.data, '=', out->value.length) != NULL;
    out->name = trim(cut(&out->value, '='));
    out->value = trim(out->value);
    if (!has_name || out->name.length == 0 || out->name.length + out->value.length > NC_COOKIE_MAX_PAIR_BYTES ||
        !nc_cookie_text_is_plain(out->name) || !nc_cookie_text_is_plain(out->value)) {
        return false;
    }
    while (field.length > 0) {
        take_attribute(out, cut(&field, ';'), now_s, &has_max_age);
    }
    return nc_cookie_text_is_plain(out->path);
}

static bool begins_with(nc_slice text, const char *prefix) {
    size_t length = strlen(prefix);
    return text.length >= length && is_named(nc_slice_make(text.data, length), prefix);
}

bool nc_cookie_prefix_holds(nc_slice name, bool is_secure, bool is_host_only, bool is_at_root) {
    if (begins_with(name, "__Host-")) {
        return is_secure && is_host_only && is_at_root;
    }
    return is_secure || !begins_with(name, "__Secure-");
}
