#include "http/cookie_date.h"

#include "base/ascii.h"

#include <string.h>

typedef struct date {
    bool has_time, has_day, has_month, has_year;
    int hour, minute, second, day, month, year; // month from 0
} date;

/// The grammar's delimiter. A colon, digits, letters and non-ASCII bytes belong to tokens.
static bool is_delimiter(uint8_t c) {
    return c == '\t' || (c >= 0x20 && c <= 0x2f) || (c >= 0x3b && c <= 0x40) || (c >= 0x5b && c <= 0x60) ||
           (c >= 0x7b && c <= 0x7e);
}

/// Removes a number of `least` to `most` digits. Returns false if there are fewer or more.
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

/// A token is the first of time, day, month and year that it can be and that is still missing.
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

/// Returns the days since 1970 in the proleptic Gregorian calendar. The year begins in March, so that the leap day is
/// its last.
static int64_t days_of(const date *one) {
    int64_t year = one->month < 2 ? one->year - 1 : one->year;
    int64_t month = (one->month + 10) % 12;
    int64_t days_in_year = (153 * month + 2) / 5 + one->day - 1;
    return year * 365 + year / 4 - year / 100 + year / 400 + days_in_year - 719468;
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
    *out = days_of(&found) * 86400 + found.hour * 3600 + found.minute * 60 + found.second;
    return true;
}
