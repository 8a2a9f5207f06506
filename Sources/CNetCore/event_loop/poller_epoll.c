#include "event_loop/poller.h"

#if defined(__linux__)
#include "base/alloc.h"
#include "base/error.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/// For a wait below MIN_ALARM_NS, setting the alarm takes more time than it saves.
enum { MAX_EVENTS = 128, MIN_ALARM_NS = 20000000 };

/// An epoll(7) poller that replaces the timeout of epoll_wait() by an alarm (timerfd).
///
/// A timeout makes each epoll_wait() set and clear a kernel timer. In a virtual machine where that traps to the
/// hypervisor, it takes longer than the rest of the call. Time limits are usually far in the future and move with each
/// event. Therefore one alarm is set and left alone until it fires. It may fire early, without effect, once in
/// thousands of calls.
typedef struct epoll_poller {
    nc_poller base;
    int fd;
    int alarm_fd;
    uint64_t alarm_at_ns; // 0: not set
} epoll_poller;

static void destroy(nc_poller *base) {
    epoll_poller *poller = (epoll_poller *)base;
    if (poller->alarm_fd >= 0) {
        (void)close(poller->alarm_fd);
    }
    if (poller->fd >= 0) {
        (void)close(poller->fd);
    }
    nc_free(poller);
}

static nc_status create(nc_poller **out, nc_error *err) {
    epoll_poller *poller = nc_alloc_zeroed(1, sizeof *poller);
    if (poller == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    poller->base.kind = &nc_poller_epoll;
    poller->fd = epoll_create1(EPOLL_CLOEXEC);
    poller->alarm_fd = poller->fd < 0 ? -1 : timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = poller->alarm_fd};
    if (poller->alarm_fd < 0 || epoll_ctl(poller->fd, EPOLL_CTL_ADD, poller->alarm_fd, &event) != 0) {
        nc_status status =
            nc_error_of_system(err, poller->fd < 0         ? "an engine cannot be started: epoll_create1"
                                    : poller->alarm_fd < 0 ? "an engine cannot be started: timerfd_create"
                                                           : "an engine cannot be started: epoll_ctl");
        destroy(&poller->base);
        return status;
    }
    *out = &poller->base;
    return NC_OK;
}

static nc_status change(nc_poller *base, int fd, int before, int after) {
    epoll_poller *poller = (epoll_poller *)base;
    struct epoll_event event = {0};
    event.data.fd = fd;
    event.events = ((after & NC_WANT_READ) != 0 ? EPOLLIN : 0u) | ((after & NC_WANT_WRITE) != 0 ? EPOLLOUT : 0u) |
                   ((after & NC_WANT_EDGE) != 0 ? EPOLLET : 0u);
    if (after == 0) {
        // If the descriptor was closed in the meantime, the kernel has already removed it.
        (void)epoll_ctl(poller->fd, EPOLL_CTL_DEL, fd, &event);
        return NC_OK;
    }
    int operation = before == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (epoll_ctl(poller->fd, operation, fd, &event) == 0) {
        return NC_OK;
    }
    // libcurl closes descriptors of its resolver without notice, so `before` may describe an earlier descriptor with
    // this number.
    int other = errno == EEXIST ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if ((errno == EEXIST || errno == ENOENT) && epoll_ctl(poller->fd, other, fd, &event) == 0) {
        return NC_OK;
    }
    return errno == ENOMEM || errno == ENOSPC ? NC_ERR_NO_MEMORY : NC_ERR_INTERNAL;
}

/// Ensures that the alarm fires at `at_ns` or before. Returns false if epoll_wait() needs a timeout instead.
static bool is_alarm_set(epoll_poller *poller, uint64_t now_ns, uint64_t at_ns) {
    if (at_ns == UINT64_MAX || (poller->alarm_at_ns > now_ns && poller->alarm_at_ns <= at_ns)) {
        return true;
    }
    if (at_ns <= now_ns || at_ns - now_ns < MIN_ALARM_NS) {
        return false;
    }
    // A relative time, because the engine's clock may differ from the system's.
    uint64_t left_ns = at_ns - now_ns;
    struct itimerspec alarm = {
        .it_value = {.tv_sec = (time_t)(left_ns / 1000000000u), .tv_nsec = (long)(left_ns % 1000000000u)}};
    bool is_set = timerfd_settime(poller->alarm_fd, 0, &alarm, NULL) == 0;
    poller->alarm_at_ns = is_set ? at_ns : 0;
    return is_set;
}

static size_t wait_for(nc_poller *base, nc_poll_event *events, size_t capacity, uint64_t now_ns, uint64_t at_ns) {
    epoll_poller *poller = (epoll_poller *)base;
    struct epoll_event ready[MAX_EVENTS];
    int limit = capacity < MAX_EVENTS ? (int)capacity : MAX_EVENTS;
    int timeout_ms = is_alarm_set(poller, now_ns, at_ns) ? -1 : nc_poller_timeout_ms(now_ns, at_ns);
    int found = epoll_wait(poller->fd, ready, limit, timeout_ms);
    size_t count = 0;
    for (int i = 0; i < found; i++) {
        if (ready[i].data.fd == poller->alarm_fd) {
            poller->alarm_at_ns = 0;
            continue;
        }
        events[count++] = (nc_poll_event){
            .fd = ready[i].data.fd,
            .is_readable = (ready[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0,
            .is_writable = (ready[i].events & EPOLLOUT) != 0,
            .has_error = (ready[i].events & EPOLLERR) != 0,
        };
    }
    return count;
}

const nc_poller_kind nc_poller_epoll = {true, create, destroy, change, wait_for};
#else
typedef int nc_poller_epoll_is_for_linux;
#endif
