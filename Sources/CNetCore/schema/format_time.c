#include "schema/format_rules.h"

#include "base/ascii.h"

/// A text that is read from its start.
typedef struct reader {
    nc_slice text;
    size_t at;
} reader;

/// Reads exactly `count` digits. Returns -1 if there are fewer.
static int read_digits(reader *r, size_t count) {
    int value = 0;
    for (size_t i = 0; i < count; i++, r->at++) {
        if (r->at >= r->text.length || !nc_ascii_is_digit(r->text.data[r->at])) {
            return -1;
        }
        value = value * 10 + (r->text.data[r->at] - '0');
    }
    return value;
}

static bool accept(reader *r, char letter) {
    if (r->at < r->text.length && nc_ascii_lower(r->text.data[r->at]) == (uint8_t)letter) {
        r->at++;
        return true;
    }
    return false;
}

/// Skips digits. Returns their number.
static size_t skip_digits(reader *r) {
    size_t from = r->at;
    while (r->at < r->text.length && nc_ascii_is_digit(r->text.data[r->at])) {
        r->at++;
    }
    return r->at - from;
}

static bool is_at_end(const reader *r) {
    return r->at == r->text.length;
}

static bool read_date(reader *r) {
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = read_digits(r, 4);
    bool has_month = accept(r, '-');
    int month = read_digits(r, 2);
    bool has_day = accept(r, '-');
    int day = read_digits(r, 2);
    if (year < 0 || !has_month || month < 1 || month > 12 || !has_day || day < 1) {
        return false;
    }
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day <= days[month - 1] + (month == 2 && is_leap ? 1 : 0);
}

/// Reads "Z" or "+hh:mm". `*minutes` becomes the offset.
static bool read_offset(reader *r, int *minutes) {
    *minutes = 0;
    if (accept(r, 'z')) {
        return true;
    }
    bool is_negative = accept(r, '-');
    if (!is_negative && !accept(r, '+')) {
        return false;
    }
    int hour = read_digits(r, 2);
    bool has_minute = accept(r, ':');
    int minute = read_digits(r, 2);
    *minutes = (hour * 60 + minute) * (is_negative ? -1 : 1);
    return hour >= 0 && hour <= 23 && has_minute && minute >= 0 && minute <= 59;
}

static bool read_time(reader *r) {
    int hour = read_digits(r, 2);
    bool has_minute = accept(r, ':');
    int minute = read_digits(r, 2);
    bool has_second = accept(r, ':');
    int second = read_digits(r, 2);
    int offset;
    if (hour < 0 || hour > 23 || !has_minute || minute < 0 || minute > 59 || !has_second || second < 0 || second > 60 ||
        (accept(r, '.') && skip_digits(r) == 0) || !read_offset(r, &offset)) {
        return false;
    }
    int utc = (hour * 60 + minute - offset + 2 * 1440) % 1440;
    return second < 60 || utc == 1439;
}

bool nc_format_is_date(nc_slice text) {
    reader r = {text, 0};
    return read_date(&r) && is_at_end(&r);
}

bool nc_format_is_time(nc_slice text) {
    reader r = {text, 0};
    return read_time(&r) && is_at_end(&r);
}

bool nc_format_is_date_time(nc_slice text) {
    reader r = {text, 0};
    return read_date(&r) && accept(&r, 't') && read_time(&r) && is_at_end(&r);
}

/// Reads numbers with the units of a list, each at most once and without a gap. Returns how many there are; -1 if
/// another text follows a number.
static int read_units(reader *r, const char *units) {
    int count = 0;
    const char *next = units;
    while (r->at < r->text.length && nc_ascii_is_digit(r->text.data[r->at])) {
        (void)skip_digits(r);
        const char *unit = r->at < r->text.length ? strchr(next, r->text.data[r->at]) : NULL;
        if (unit == NULL || *unit == '\0' || (count > 0 && unit != next)) {
            return -1;
        }
        r->at++;
        next = unit + 1;
        count++;
    }
    return count;
}

bool nc_format_is_duration(nc_slice text) {
    reader r = {text, 1};
    if (text.length == 0 || text.data[0] != 'P') {
        return false;
    }
    if (skip_digits(&r) > 0 && r.at < text.length && text.data[r.at] == 'W') {
        return r.at + 1 == text.length;
    }
    r.at = 1;
    int days = read_units(&r, "YMD");
    bool has_time = r.at < text.length && text.data[r.at] == 'T';
    r.at += has_time ? 1 : 0;
    int hours = has_time ? read_units(&r, "HMS") : 0;
    return days >= 0 && hours >= 0 && days + hours > 0 && (!has_time || hours > 0) && is_at_end(&r);
}
