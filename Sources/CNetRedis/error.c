#if defined(NETKIT_REDIS) || !defined(SWIFT_PACKAGE)
/// Errors and time.
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

nc_status nc_redis_fail(nc_error *err, nc_status status, int32_t native_code, const char *format, ...) {
    if (err != NULL) {
        *err = (nc_error){.status = status, .native_code = native_code, .offset = -1};
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(err->message, sizeof err->message, format, arguments);
        va_end(arguments);
        for (char *c = err->message; *c != '\0'; c++) {
            *c = (unsigned char)*c < 0x20 || *c == 0x7f
                     ? '?'
                     : *c; // A text of the server may try to move the cursor of a terminal.
        }
    }
    return status;
}

nc_status nc_redis_succeed(nc_error *err) {
    if (err != NULL) {
        *err = (nc_error){.offset = -1};
    }
    return NC_OK;
}

uint64_t nc_redis_now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
