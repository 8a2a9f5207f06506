/// Waits for descriptors: one interface, several systems.
///
/// A poller is level-triggered, except with NC_WANT_EDGE. It stores nothing about a descriptor besides what the system
/// stores; sockets.h decides what to wait for. Event loop thread only.
#ifndef NETCORE_PRIVATE_POLLER_H
#define NETCORE_PRIVATE_POLLER_H

#include <netcore/engine.h>

/// NC_WANT_EDGE together with another: reports each arrival once, if the kind supports edges.
enum { NC_WANT_READ = 1, NC_WANT_WRITE = 2, NC_WANT_EDGE = 4 };

typedef struct nc_poll_event {
    int fd;
    bool is_readable; // also at its end, and if only a read shows the error
    bool is_writable;
    bool has_error;
} nc_poll_event;

typedef struct nc_poller nc_poller;

typedef struct nc_poller_kind {
    /// NC_WANT_EDGE is supported; otherwise a wake-up must be read.
    bool has_edges;
    /// If a system call fails, `err` names it.
    nc_status (*make)(nc_poller **out, nc_error *err);
    void (*unmake)(nc_poller *poller);
    /// Changes the events to wait for on `fd` from `before` to `after` (NC_WANT_* bits; 0 is none).
    nc_status (*change)(nc_poller *poller, int fd, int before, int after);
    /// Waits until `at_ns` at most (UINT64_MAX: without limit); `now_ns` is now. Returns the number of events written.
    size_t (*wait)(nc_poller *poller, nc_poll_event *events, size_t capacity, uint64_t now_ns, uint64_t at_ns);
} nc_poller_kind;

struct nc_poller {
    const nc_poller_kind *kind;
};

extern const nc_poller_kind nc_poller_poll;
#if defined(__linux__)
extern const nc_poller_kind nc_poller_epoll;
#endif
#if defined(__APPLE__) || defined(__FreeBSD__)
extern const nc_poller_kind nc_poller_kqueue;
#endif

/// Returns the milliseconds from one time to another, rounded up; -1 for no limit.
int nc_poller_timeout_ms(uint64_t now_ns, uint64_t at_ns);

/// Returns the kind of a choice on this system; NULL if it does not exist.
const nc_poller_kind *nc_poller_choose(nc_poller_choice choice);

#endif
