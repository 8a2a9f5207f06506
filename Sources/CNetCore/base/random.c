#include <netcore/hooks.h>

#include <errno.h>
#if defined(__linux__)
#include <sys/random.h>
#else
#include <stdlib.h>
#endif

static bool system_fill(void *ctx, uint8_t *bytes, size_t length) {
    (void)ctx;
#if defined(__linux__)
    size_t filled = 0;
    while (filled < length) {
        ssize_t got = getrandom(bytes + filled, length - filled, 0);
        if (got > 0) {
            filled += (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            return false;
        }
    }
#else
    arc4random_buf(bytes, length);
#endif
    return true;
}

nc_random nc_random_system(void) {
    return (nc_random){NULL, system_fill};
}
