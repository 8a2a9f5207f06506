#include "net/list_text.h"

#include "base/ascii.h"
#include "net/field_text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { DATE_BYTES = 17 };

/// 9999-12-31 23:59:59.
static const int64_t latest_s = INT64_C(253402300799);

bool nc_list_text_take(nc_slice *line, nc_slice *text, size_t *number) {
    while (text->length > 0) {
        const uint8_t *end = memchr(text->data, '\n', text->length);
        size_t length = end != NULL ? (size_t)(end - text->data) : text->length;
        size_t used = length + (end != NULL ? 1 : 0);
        *line = nc_field_trim(nc_slice_make(text->data, length));
        *text = nc_slice_make(text->data + used, text->length - used);
        ++*number;
        if (line->length > 0 && line->data[0] != '#') {
            return true;
        }
    }
    return false;
}

bool nc_list_date_read(int64_t *at_s, nc_slice text) {
    static const char form[] = "dddddddd dd:dd:dd";
    static const uint8_t field_of[DATE_BYTES] = {0, 0, 0, 0, 1, 1, 2, 2, 9, 3, 3, 9, 4, 4, 9, 5, 5};
    int fields[6] = {0};
    if (text.length != DATE_BYTES) {
        return false;
    }
    for (size_t i = 0; i < DATE_BYTES; i++) {
        if (form[i] != 'd' ? text.data[i] != form[i] : !nc_ascii_is_digit(text.data[i])) {
            return false;
        }
        if (form[i] == 'd') {
            fields[field_of[i]] = fields[field_of[i]] * 10 + (text.data[i] - '0');
        }
    }
    struct tm parts = {.tm_year = fields[0] - 1900,
                       .tm_mon = fields[1] - 1,
                       .tm_mday = fields[2],
                       .tm_hour = fields[3],
                       .tm_min = fields[4],
                       .tm_sec = fields[5]};
    *at_s = timegm(&parts);
    return fields[1] >= 1 && fields[1] <= 12 && fields[2] >= 1 && fields[2] <= 31 && fields[3] < 24 && fields[4] < 60 &&
           fields[5] < 60;
}

void nc_list_date_write(char out[NC_LIST_DATE_BYTES], int64_t at_s) {
    struct tm parts = {0};
    time_t at = (time_t)(at_s < latest_s ? at_s : latest_s);
    (void)gmtime_r(&at, &parts);
    (void)snprintf(out, NC_LIST_DATE_BYTES, "%04d%02d%02d %02d:%02d:%02d", (parts.tm_year + 1900) % 10000,
                   parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}
