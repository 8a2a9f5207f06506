/// The interface to the system calls that wait for events of file descriptors.
///
/// A poller is level-triggered, except with NC_WANT_EDGE. sockets.h determines which events to wait for. Event loop
/// thread only.
#ifndef NETCORE_PRIVATE_POLLER_H
#define NETCORE_PRIVATE_POLLER_H

#include <netcore/engine.h>

/// The events to wait for. With NC_WANT_EDGE in addition, each arrival of bytes is reported once (if the poller has
/// edges).
enum { NC_WANT_READ = 1, NC_WANT_WRITE = 2, NC_WANT_EDGE = 4 };

typedef struct nc_poll_event {
    int fd;
    bool is_readable; // also at the end of input, and after an error that a read would return
    bool is_writable;
    bool has_error;
} nc_poll_event;

typedef struct nc_poller nc_poller;

typedef struct nc_poller_kind {
    /// True if NC_WANT_EDGE is supported. Otherwise the bytes of a wake-up must be read.
    bool has_edges;
    /// Creates a poller. If a system call fails, `err` names it.
    nc_status (*create)(nc_poller **out, nc_error *err);
    void (*destroy)(nc_poller *poller);
    /// Changes the events to wait for on `fd` from `before` to `after` (NC_WANT_* bits; 0 means none).
    nc_status (*change)(nc_poller *poller, int fd, int before, int after);
    /// Waits for events until `at_ns` at the latest; UINT64_MAX means without limit. `now_ns` is the current time.
    /// Returns the number of events written.
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

/// Returns the timeout of poll(2) for a wait from `now_ns` to `at_ns`: milliseconds, rounded up; -1 if `at_ns` is
/// UINT64_MAX.
int nc_poller_timeout_ms(uint64_t now_ns, uint64_t at_ns);

/// Returns the poller for a choice; NULL if this system does not have it.
const nc_poller_kind *nc_poller_choose(nc_poller_choice choice);

#endif
