#include "http/set_cookie.h"

#include "http/http_date.h"

#include "base/ascii.h"

#include <string.h>

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

/// Parses Max-Age (5.6.2). Returns false if it is not a number; it is then ignored. A number above the maximum lifetime
/// becomes the maximum.
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

/// Processes one attribute. A valid Max-Age takes precedence over Expires: it replaces an earlier Expires, and sets
/// `has_max_age` so that a later Expires is ignored.
static void take_attribute(nc_set_cookie *out, nc_slice text, int64_t now_s, bool *has_max_age) {
    nc_slice value = text;
    nc_slice name = nc_ascii_trim(cut(&value, '='));
    int64_t seconds = 0;
    value = nc_ascii_trim(value);
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
    } else if (is_named(name, "Domain") && value.length > 0) { // an empty Domain is ignored (RFC 6265, 5.2.3)
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
    out->name = nc_ascii_trim(cut(&out->value, '='));
    out->value = nc_ascii_trim(out->value);
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

/* --- dates --- */

typedef struct date {
    bool has_time, has_day, has_month, has_year;
    int hour, minute, second, day, month, year; // month from 0
} date;

/// Returns true for a delimiter of the date grammar. A colon, digits, letters and non-ASCII bytes belong to tokens.
static bool is_delimiter(uint8_t c) {
    return c == '\t' || (c >= 0x20 && c <= 0x2f) || (c >= 0x3b && c <= 0x40) || (c >= 0x5b && c <= 0x60) ||
           (c >= 0x7b && c <= 0x7e);
}

/// Removes a number from the beginning of the text. Returns false if it has fewer than `least` or more than `most`
/// digits.
static bool take_number(nc_slice *text, size_t least, size_t most, int *out) {
    size_t count = 0;
    int value = 0;
    while (count < text->length && nc_ascii_is_digit(text->data[count])) {
        if (count == most) {
            return false;
        }
        value = value * 10 + (text->data[count++] - '0');
    }
    *text = nc_slice_make(text->data + count, text->length - count);
    *out = value;
    return count >= least;
}

static bool take_colon(nc_slice *text) {
    if (text->length == 0 || text->data[0] != ':') {
        return false;
    }
    *text = nc_slice_make(text->data + 1, text->length - 1);
    return true;
}

static bool take_time(date *out, nc_slice token) {
    return take_number(&token, 1, 2, &out->hour) && take_colon(&token) && take_number(&token, 1, 2, &out->minute) &&
           take_colon(&token) && take_number(&token, 1, 2, &out->second);
}

static bool take_month(date *out, nc_slice token) {
    static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    for (int month = 0; token.length >= 3 && month < 12; month++) {
        const char *name = names + 3 * month;
        if (nc_slice_is_equal_ignoring_case(nc_slice_make(token.data, 3), nc_slice_make(name, 3))) {
            out->month = month;
            return true;
        }
    }
    return false;
}

/// Processes a token of a date. The token sets the first of time, day, month and year that is still missing and that
/// the token can be parsed as.
static void take_token(date *out, nc_slice token) {
    nc_slice rest = token;
    if (!out->has_time && take_time(out, token)) {
        out->has_time = true;
    } else if (!out->has_day && take_number(&rest, 1, 2, &out->day)) {
        out->has_day = true;
    } else if (!out->has_month && take_month(out, token)) {
        out->has_month = true;
    } else {
        rest = token;
        out->has_year = out->has_year || take_number(&rest, 2, 4, &out->year);
    }
}

static bool is_leap(int year) {
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static bool exists(const date *one) {
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int length = lengths[one->month] + (one->month == 1 && is_leap(one->year) ? 1 : 0);
    return one->year >= 1601 && one->day >= 1 && one->day <= length && one->hour <= 23 && one->minute <= 59 &&
           one->second <= 59;
}

bool nc_cookie_date_read(nc_slice text, int64_t *out) {
    date found = {0};
    for (size_t at = 0; at < text.length;) {
        size_t begin = at;
        while (at < text.length && !is_delimiter(text.data[at])) {
            at++;
        }
        if (at > begin) {
            take_token(&found, nc_slice_make(text.data + begin, at - begin));
        } else {
            at++;
        }
    }
    if (found.year >= 0 && found.year <= 99) {
        found.year += found.year >= 70 ? 1900 : 2000;
    }
    if (!found.has_time || !found.has_day || !found.has_month || !found.has_year || !exists(&found)) {
        return false;
    }
    *out = nc_epoch_day(found.year, found.month + 1, found.day) * 86400 + found.hour * 3600 + found.minute * 60 +
           found.second;
    return true;
}
