/// Waiting for descriptors: one seam, several systems.
///
/// A poller is level-triggered, but where an edge is asked for, and keeps no memory of its own about a descriptor
/// beyond what the system keeps; sockets.h decides what to ask for. Confined to the loop thread.
#ifndef NETCORE_PRIVATE_POLLER_H
#define NETCORE_PRIVATE_POLLER_H

#include <netcore/engine.h>

/// NC_WANT_EDGE beside another: told once for each new arrival, where the kind has edges.
enum { NC_WANT_READ = 1, NC_WANT_WRITE = 2, NC_WANT_EDGE = 4 };

typedef struct nc_poll_event {
    int fd;
    bool is_readable; // also at its end, and when only reading tells what went wrong
    bool is_writable;
    bool has_error;
} nc_poll_event;

typedef struct nc_poller nc_poller;

typedef struct nc_poller_kind {
    /// NC_WANT_EDGE is understood; elsewhere what woke the loop has to be read away.
    bool has_edges;
    /// Where a system call fails, `err` tells which.
    nc_status (*make)(nc_poller **out, nc_error *err);
    void (*unmake)(nc_poller *poller);
    /// Changes what is waited for on `fd` from `before` to `after` (NC_WANT_ bits; 0 is nothing).
    nc_status (*change)(nc_poller *poller, int fd, int before, int after);
    /// Waits until `at_ns` at most (UINT64_MAX: for ever), where `now_ns` is now; returns the number of events written.
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

/// Milliseconds from one moment to another, rounded up; -1 when it never comes.
int nc_poller_timeout_ms(uint64_t now_ns, uint64_t at_ns);

/// The kind that a choice means here; NULL when this system has none such.
const nc_poller_kind *nc_poller_choose(nc_poller_choice choice);

#endif
