#include "net/poller.h"

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
