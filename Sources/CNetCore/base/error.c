#include "base/error.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// C0, DEL and, as two bytes, C1: all of them are orders to some terminal.
static bool is_control(const uint8_t *bytes, size_t length) {
    return length == 1 ? bytes[0] < 0x20 || bytes[0] == 0x7F
                       : length == 2 && bytes[0] == 0xC2 && bytes[1] >= 0x80 && bytes[1] <= 0x9F;
}

/// Copies a line so that what arrives is UTF-8 without control characters; each byte that is neither becomes '?'.
static void copy_line(char *out, size_t capacity, const char *text, size_t length) {
    const uint8_t *bytes = (const uint8_t *)text;
    size_t used = 0;
    size_t at = 0;
    while (at < length) {
        size_t step = nc_utf8_sequence(bytes + at, length - at);
        bool is_shown = step != 0 && !is_control(bytes + at, step);
        size_t taken = is_shown ? step : 1;
        if (capacity - used <= taken) {
            break;
        }
        if (is_shown) {
            memcpy(out + used, text + at, step);
        } else {
            out[used] = '?';
        }
        used += taken;
        at += step == 0 ? 1 : step;
    }
    out[used] = '\0';
}

nc_status nc_error_clear(nc_error *err) {
    if (err != NULL) {
        err->status = NC_OK;
        err->native_code = 0;
        err->offset = -1;
        err->message[0] = '\0';
    }
    return NC_OK;
}

nc_status nc_error_set(nc_error *err, nc_status status, int32_t native_code, int64_t offset, const char *format, ...) {
    if (err == NULL) {
        return status;
    }
    // Longer than the message, so that a sequence cut by vsnprintf lies beyond what is copied; and storage of its own,
    // because an argument may be the old message of `err`.
    char line[NC_ERROR_MESSAGE_BYTES + 8];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const char *text = length < 0 ? nc_status_text(status) : line;
    copy_line(err->message, sizeof err->message, text, strlen(text));
    err->status = status;
    err->native_code = native_code;
    err->offset = offset;
    return status;
}
