#include "event_loop/poller.h"

#include <limits.h>

int nc_poller_timeout_ms(uint64_t now_ns, uint64_t at_ns) {
    if (at_ns == UINT64_MAX) {
        return -1;
    }
    uint64_t wait_ms = at_ns <= now_ns ? 0 : (at_ns - now_ns - 1) / 1000000 + 1;
    return wait_ms > INT_MAX ? INT_MAX : (int)wait_ms;
}

const nc_poller_kind *nc_poller_choose(nc_poller_choice choice) {
    switch (choice) {
    case NC_POLLER_POLL:
        return &nc_poller_poll;
#if defined(__linux__)
    case NC_POLLER_AUTO:
    case NC_POLLER_EPOLL:
        return &nc_poller_epoll;
#elif defined(__APPLE__) || defined(__FreeBSD__)
    case NC_POLLER_AUTO:
    case NC_POLLER_KQUEUE:
        return &nc_poller_kqueue;
#else
    case NC_POLLER_AUTO:
        return &nc_poller_poll;
#endif
    default:
        return NULL;
    }
}
