#include "http/http_date.h"

#include "base/ascii.h"

#include <stdio.h>
#include <string.h>

enum { MAX_WORDS = 6, DAY_S = 86400 };

/// The seconds since 1970 that can be written: the year of a date has four digits.
#define FIRST_SECOND INT64_C(-62135596800)
#define LAST_SECOND INT64_C(253402300799)

static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
static const char *const days[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
static const char *const long_days[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

/// A text that is split into words.
typedef struct words {
    nc_slice at[MAX_WORDS];
    size_t count; // MAX_WORDS + 1 for more words
    bool ignores_case;
} words;

static bool is_same(const words *all, nc_slice word, const char *name) {
    return all->ignores_case ? nc_slice_is_equal_ignoring_case(word, nc_slice_of(name))
                             : nc_slice_is_equal(word, nc_slice_of(name));
}

static int find(const words *all, nc_slice word, const char *const *names, int count) {
    for (int i = 0; i < count; i++) {
        if (is_same(all, word, names[i])) {
            return i;
        }
    }
    return -1;
}

static size_t split(nc_slice *out, size_t max_count, nc_slice text, uint8_t mark) {
    size_t count = 0;
    size_t start = 0;
    for (size_t i = 0; i <= text.length; i++) {
        if (i < text.length && text.data[i] != mark) {
            continue;
        }
        if (count == max_count) {
            return max_count + 1;
        }
        out[count++] = nc_slice_make(text.length > 0 ? text.data + start : NULL, i - start);
        start = i + 1;
    }
    return count;
}

static bool read_number(int64_t *out, nc_slice text, size_t digits) {
    int64_t value = 0;
    if (text.length != digits) {
        return false;
    }
    for (size_t i = 0; i < digits; i++) {
        if (!nc_ascii_is_digit(text.data[i])) {
            return false;
        }
        value = value * 10 + (text.data[i] - '0');
    }
    *out = value;
    return true;
}

static int64_t month_length(int month, int64_t year) {
    static const uint8_t lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 1 && is_leap ? 29 : lengths[month];
}

// The calculation uses years that begin in March, so that a leap day is the last day of its year.
int64_t nc_epoch_day(int64_t year, int64_t month, int64_t day) {
    year -= month <= 2 ? 1 : 0;
    int64_t era = year / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static bool read_time(int64_t *seconds, nc_slice text) {
    nc_slice parts[3];
    int64_t hour;
    int64_t minute;
    int64_t second;
    if (split(parts, 3, text, ':') != 3 || !read_number(&hour, parts[0], 2) || !read_number(&minute, parts[1], 2) ||
        !read_number(&second, parts[2], 2) || hour > 23 || minute > 59 || second > 60) {
        return false;
    }
    *seconds = (hour * 60 + minute) * 60 + second;
    return true;
}

/// Converts day, month, year and time to seconds since 1970. The day may have one digit only if `pads_day` is set.
static bool to_seconds(int64_t *out, const words *all, const nc_slice parts[4], bool pads_day) {
    int64_t day;
    int64_t year;
    int64_t time;
    int month = find(all, parts[1], months, 12);
    size_t day_digits = pads_day && parts[0].length == 1 ? 1 : 2;
    if (month < 0 || !read_number(&day, parts[0], day_digits) || !read_number(&year, parts[2], 4) || year < 1 ||
        !read_time(&time, parts[3]) || day < 1 || day > month_length(month, year)) {
        return false;
    }
    *out = nc_epoch_day(year, month + 1, day) * DAY_S + time;
    return true;
}

static nc_slice without_comma(nc_slice word) {
    bool has_comma = word.length > 0 && word.data[word.length - 1] == ',';
    return nc_slice_make(word.data, has_comma ? word.length - 1 : 0);
}

/// Reads `Sunday, 06-Nov-94 08:49:37 GMT`. Two-digit years from 70 are in the 20th century, the others in the 21st.
static bool read_rfc_850(int64_t *out, const words *all) {
    nc_slice date[3];
    int64_t short_year;
    char year[4] = {'2', '0', 0, 0};
    if (split(date, 3, all->at[1], '-') != 3 || !read_number(&short_year, date[2], 2)) {
        return false;
    }
    if (short_year >= 70) {
        memcpy(year, "19", 2);
    }
    memcpy(year + 2, date[2].data, 2);
    const nc_slice parts[4] = {date[0], date[1], nc_slice_make(year, sizeof year), all->at[2]};
    return to_seconds(out, all, parts, false);
}

static bool read(int64_t *out, nc_slice text, bool ignores_case) {
    words all = {.ignores_case = ignores_case};
    all.count = split(all.at, MAX_WORDS, text, ' ');
    // Only the form "Sun Nov  6 08:49:37 1994" pads a one-digit day with a space.
    if (all.count == 6 && all.at[2].length == 0 && all.at[3].length == 1) {
        memmove(&all.at[2], &all.at[3], 3 * sizeof all.at[0]);
        all.count = 5;
    }
    if (all.count == 6 && is_same(&all, all.at[5], "GMT") && find(&all, without_comma(all.at[0]), days, 7) >= 0) {
        return to_seconds(out, &all, &all.at[1], false);
    }
    if (all.count == 4 && is_same(&all, all.at[3], "GMT") && find(&all, without_comma(all.at[0]), long_days, 7) >= 0) {
        return read_rfc_850(out, &all);
    }
    if (all.count == 5 && find(&all, all.at[0], days, 7) >= 0) {
        const nc_slice parts[4] = {all.at[2], all.at[1], all.at[4], all.at[3]};
        return to_seconds(out, &all, parts, true);
    }
    return false;
}

bool nc_http_date_read(int64_t *out, nc_slice text) {
    return read(out, text, false);
}

bool nc_http_date_read_any_case(int64_t *out, nc_slice text) {
    return read(out, text, true);
}

void nc_http_date_write(char out[NC_HTTP_DATE_BYTES], int64_t seconds) {
    seconds = seconds < FIRST_SECOND ? FIRST_SECOND : seconds > LAST_SECOND ? LAST_SECOND : seconds;
    int64_t day = (seconds - (seconds % DAY_S + DAY_S) % DAY_S) / DAY_S;
    int64_t time = seconds - day * DAY_S;
    // The inverse of nc_epoch_day().
    int64_t shifted = day + 719468;
    int64_t era = shifted / 146097; // not negative from the year 1 on
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t from_march = (5 * day_of_year + 2) / 153;
    int64_t month = from_march < 10 ? from_march + 2 : from_march - 10;
    int64_t year = year_of_era + era * 400 + (month < 2 ? 1 : 0);
    char text[64];
    (void)snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[(day % 7 + 10) % 7],
                   (int)(day_of_year - (153 * from_march + 2) / 5 + 1), months[month], (int)year, (int)(time / 3600),
                   (int)(time / 60 % 60), (int)(time % 60));
    memcpy(out, text, NC_HTTP_DATE_BYTES);
}
