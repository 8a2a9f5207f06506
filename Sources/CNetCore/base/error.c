#include "base/error.h"

#include <errno.h>
#include <netcore/printable.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// Room for the longest path together with a message about it.
enum { LINE_BYTES = 4096 + NC_ERROR_MESSAGE_BYTES };

static bool is_inside_character(char c) {
    return ((uint8_t)c & 0xC0) == 0x80;
}

/// Copies a line. If it is too long, its middle is cut out: the start names the object, the end the reason.
static void copy_shortened(char *out, size_t capacity, const char *line) {
    static const char gap[] = " ... ";
    size_t length = strlen(line);
    if (length < capacity) {
        memcpy(out, line, length + 1);
        return;
    }
    size_t room = capacity - sizeof gap;
    size_t head = room / 2;
    size_t tail = length - (room - head);
    while (is_inside_character(line[head])) {
        head--;
    }
    while (is_inside_character(line[tail])) {
        tail++;
    }
    memcpy(out, line, head);
    memcpy(out + head, gap, sizeof gap - 1);
    memcpy(out + head + sizeof gap - 1, line + tail, length - tail + 1);
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

nc_status nc_error_of_file(int code) {
    return code == EMFILE || code == ENFILE ? NC_ERR_DESCRIPTORS : code == ENOMEM ? NC_ERR_NO_MEMORY : NC_ERR_FILE;
}

nc_status nc_error_set(nc_error *err, nc_status status, int32_t native_code, int64_t offset, const char *format, ...) {
    if (err == NULL) {
        return status;
    }
    // A separate buffer, because an argument may be the old message of `err`.
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length >= 0) {
        line[nc_printable(line, strlen(line), '?')] = '\0';
    }
    copy_shortened(err->message, sizeof err->message, length >= 0 ? line : nc_status_text(status));
    err->status = status;
    err->native_code = native_code;
    err->offset = offset;
    return status;
}

nc_status nc_error_of_system(nc_error *err, const char *what) {
    int code = errno;
    nc_status status = nc_error_of_file(code);
    return nc_error_set(err, status == NC_ERR_FILE ? NC_ERR_UNSUPPORTED : status, code, -1, "%s: %s", what,
                        strerror(code));
}
