#include "text/charset.h"

#include "base/error.h"

#include <errno.h>

/// The smallest free output space for a call of iconv(3). The output for one character of any charset fits.
#define MIN_ROOM 64u

nc_status nc_charset_open(iconv_t *out, const char *to, const char *from, const char *charset, nc_error *err) {
    *out = iconv_open(to, from);
    if (*out != (iconv_t)-1) {
        return NC_OK;
    }
    nc_status status = errno == ENOMEM ? NC_ERR_NO_MEMORY : NC_ERR_BAD_CHARSET;
    return nc_error_set(err, status, errno, -1, "the system's iconv does not support the charset '%s'", charset);
}

/// Grows the buffer. If less than MIN_ROOM remains to its maximum, it grows by the rest, which may be enough.
static bool grow(nc_buf *out) {
    size_t left = out->max_bytes - out->capacity;
    size_t step = (out->capacity - out->length) + (left < MIN_ROOM ? left : MIN_ROOM);
    return nc_buf_reserve(out, left == 0 ? step + 1 : step) == NC_OK;
}

int nc_charset_run(iconv_t converter, nc_buf *out, nc_slice *input, bool is_last) {
    char *from = (char *)(uintptr_t)input->data; // iconv(3) does not write to it
    char none;
    for (;;) {
        char *into = out->data == NULL ? &none : (char *)out->data + out->length;
        size_t room = out->capacity - out->length;
        size_t room_before = room;
        bool is_flush = input->length == 0;
        if (is_flush && !is_last) {
            return 0;
        }
        size_t result = iconv(converter, is_flush ? NULL : &from, is_flush ? NULL : &input->length, &into, &room);
        int code = result == (size_t)-1 ? errno : 0;
        out->length += room_before - room;
        input->data = (const uint8_t *)from;
        if (code == 0 && is_flush) {
            return 0;
        }
        if (code != 0 && code != E2BIG) {
            return code;
        }
        if (code == E2BIG && !grow(out)) {
            return E2BIG;
        }
    }
}
