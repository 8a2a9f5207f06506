#include "event_loop/poller.h"

#if defined(__APPLE__) || defined(__FreeBSD__)
// Untested: the project has no machine with this system.
#include "base/alloc.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/event.h>
#include <unistd.h>

enum { MAX_EVENTS = 128 };

typedef struct kqueue_poller {
    nc_poller base;
    int fd;
} kqueue_poller;

static nc_status create(nc_poller **out, nc_error *err) {
    kqueue_poller *poller = nc_alloc_zeroed(1, sizeof *poller);
    if (poller == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    poller->fd = kqueue();
    if (poller->fd < 0 || fcntl(poller->fd, F_SETFD, FD_CLOEXEC) != 0) {
        nc_status status = nc_error_of_system(err, "an engine cannot be started: kqueue");
        if (poller->fd >= 0) {
            (void)close(poller->fd);
        }
        nc_free(poller);
        return status;
    }
    poller->base.kind = &nc_poller_kqueue;
    *out = &poller->base;
    return NC_OK;
}

static void destroy(nc_poller *base) {
    kqueue_poller *poller = (kqueue_poller *)base;
    (void)close(poller->fd);
    nc_free(poller);
}

static nc_status change(nc_poller *base, int fd, int before, int after) {
    kqueue_poller *poller = (kqueue_poller *)base;
    const struct {
        int bit;
        int16_t filter;
    } kinds[] = {{NC_WANT_READ, EVFILT_READ}, {NC_WANT_WRITE, EVFILT_WRITE}};
    for (size_t i = 0; i < 2; i++) {
        if ((before & kinds[i].bit) == (after & kinds[i].bit)) {
            continue;
        }
        struct kevent one;
        EV_SET(&one, (uintptr_t)fd, kinds[i].filter, (after & kinds[i].bit) != 0 ? EV_ADD : EV_DELETE, 0, 0, NULL);
        if (kevent(poller->fd, &one, 1, NULL, 0, NULL) != 0 && (after & kinds[i].bit) != 0) {
            return errno == ENOMEM ? NC_ERR_NO_MEMORY : NC_ERR_INTERNAL;
        }
    }
    return NC_OK;
}

static size_t wait_for(nc_poller *base, nc_poll_event *events, size_t capacity, uint64_t now_ns, uint64_t at_ns) {
    kqueue_poller *poller = (kqueue_poller *)base;
    struct kevent ready[MAX_EVENTS];
    int timeout_ms = nc_poller_timeout_ms(now_ns, at_ns);
    struct timespec timeout = {.tv_sec = timeout_ms / 1000, .tv_nsec = (long)(timeout_ms % 1000) * 1000000};
    int limit = capacity < MAX_EVENTS ? (int)capacity : MAX_EVENTS;
    int count = kevent(poller->fd, NULL, 0, ready, limit, timeout_ms < 0 ? NULL : &timeout);
    for (int i = 0; i < count; i++) {
        events[i] = (nc_poll_event){
            .fd = (int)ready[i].ident,
            .is_readable = ready[i].filter == EVFILT_READ,
            .is_writable = ready[i].filter == EVFILT_WRITE,
            .has_error = (ready[i].flags & EV_ERROR) != 0,
        };
    }
    return count > 0 ? (size_t)count : 0;
}

const nc_poller_kind nc_poller_kqueue = {false, create, destroy, change, wait_for};
#else
typedef int nc_poller_kqueue_is_for_bsd;
#endif
