#include "net/poller.h"

#if defined(__linux__)
#include "base/alloc.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { MAX_EVENTS = 128 };

typedef struct epoll_poller {
    nc_poller base;
    int fd;
} epoll_poller;

static nc_poller *make(nc_status *status) {
    epoll_poller *poller = nc_alloc_zeroed(1, sizeof *poller);
    if (poller == NULL) {
        *status = NC_ERR_NO_MEMORY;
        return NULL;
    }
    poller->fd = epoll_create1(EPOLL_CLOEXEC);
    if (poller->fd < 0) {
        *status = errno == ENOMEM ? NC_ERR_NO_MEMORY : NC_ERR_DESCRIPTORS;
        nc_free(poller);
        return NULL;
    }
    poller->base.kind = &nc_poller_epoll;
    return &poller->base;
}

static void unmake(nc_poller *base) {
    epoll_poller *poller = (epoll_poller *)base;
    (void)close(poller->fd);
    nc_free(poller);
}

static nc_status change(nc_poller *base, int fd, int before, int after) {
    epoll_poller *poller = (epoll_poller *)base;
    struct epoll_event event = {0};
    event.data.fd = fd;
    event.events = ((after & NC_WANT_READ) != 0 ? EPOLLIN : 0u) | ((after & NC_WANT_WRITE) != 0 ? EPOLLOUT : 0u);
    if (after == 0) {
        // A descriptor that was closed meanwhile has left the set by itself.
        (void)epoll_ctl(poller->fd, EPOLL_CTL_DEL, fd, &event);
        return NC_OK;
    }
    int operation = before == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (epoll_ctl(poller->fd, operation, fd, &event) == 0) {
        return NC_OK;
    }
    // libcurl closes its resolver's descriptors without a word, so a number may have a past that is not ours.
    int other = errno == EEXIST ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if ((errno == EEXIST || errno == ENOENT) && epoll_ctl(poller->fd, other, fd, &event) == 0) {
        return NC_OK;
    }
    return errno == ENOMEM || errno == ENOSPC ? NC_ERR_NO_MEMORY : NC_ERR_INTERNAL;
}

static size_t wait_for(nc_poller *base, nc_poll_event *events, size_t capacity, int timeout_ms) {
    epoll_poller *poller = (epoll_poller *)base;
    struct epoll_event ready[MAX_EVENTS];
    int limit = capacity < MAX_EVENTS ? (int)capacity : MAX_EVENTS;
    int count = epoll_wait(poller->fd, ready, limit, timeout_ms);
    for (int i = 0; i < count; i++) {
        events[i] = (nc_poll_event){
            .fd = ready[i].data.fd,
            .is_readable = (ready[i].events & (EPOLLIN | EPOLLHUP)) != 0,
            .is_writable = (ready[i].events & EPOLLOUT) != 0,
            .has_error = (ready[i].events & EPOLLERR) != 0,
        };
    }
    return count > 0 ? (size_t)count : 0;
}

const nc_poller_kind nc_poller_epoll = {make, unmake, change, wait_for};
#else
typedef int nc_poller_epoll_is_for_linux;
#endif
