/// The timers of an event loop, as a binary heap. Memory for a timer is reserved by nc_timers_announce(), so setting it
/// never fails. Event loop thread only.
#ifndef NETCORE_PRIVATE_TIMERS_H
#define NETCORE_PRIVATE_TIMERS_H

#include <netcore/base.h>
#include <netcore/status.h>

/// A timer that is set to the current time plus this value fires in the next iteration of the loop, after the sockets
/// were handled.
enum { NC_TIMERS_NEXT_PASS_NS = 1 };

typedef struct nc_timer {
    uint64_t at_ns;
    size_t heap_index; // index + 1 in the heap; 0 if not set
    void (*fire)(struct nc_timer *timer);
} nc_timer;

typedef struct nc_timers {
    nc_timer **heap;
    size_t count;
    size_t capacity;
    size_t announced;
} nc_timers;

void nc_timers_deinit(nc_timers *timers);
/// Reserves room for one more timer, until nc_timers_withdraw().
NC_NODISCARD nc_status nc_timers_announce(nc_timers *timers);
void nc_timers_withdraw(nc_timers *timers);
/// Sets or moves a timer.
void nc_timers_set(nc_timers *timers, nc_timer *timer, uint64_t at_ns);
/// Clears a timer. Allowed if it is not set.
void nc_timers_clear(nc_timers *timers, nc_timer *timer);
/// Clears and returns the earliest timer that is due at `now_ns`; NULL if none is.
nc_timer *nc_timers_take_due(nc_timers *timers, uint64_t now_ns);
/// Returns the time at which the earliest timer is due; UINT64_MAX if none is set.
uint64_t nc_timers_next_ns(const nc_timers *timers);

#endif
