#include <netcore/hooks.h>
#include <time.h>

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
