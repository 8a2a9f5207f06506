#include <netcore/hooks.h>

#include <errno.h>
#include <time.h>
#if defined(__linux__)
#include <sys/random.h>
#else
#include <stdlib.h>
#endif

#define NS_PER_S 1000000000

static int64_t read_ns(clockid_t which) {
    struct timespec now = {0, 0};
    // Neither clock can fail on a supported system.
    (void)clock_gettime(which, &now);
    return (int64_t)now.tv_sec * NS_PER_S + (int64_t)now.tv_nsec;
}

static uint64_t system_monotonic_ns(void *ctx) {
    (void)ctx;
    return (uint64_t)read_ns(CLOCK_MONOTONIC);
}

static int64_t system_realtime_ns(void *ctx) {
    (void)ctx;
    return read_ns(CLOCK_REALTIME);
}

nc_clock nc_clock_system(void) {
    return (nc_clock){NULL, system_monotonic_ns, system_realtime_ns};
}

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
