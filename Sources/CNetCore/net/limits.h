/// When a transfer must have moved on, and what becomes of it when it has not.
#ifndef NETCORE_PRIVATE_LIMITS_H
#define NETCORE_PRIVATE_LIMITS_H

#include "net/transfer.h"

/// A limit begins to count: sets the timer when it is to ring earlier than was known.
void nc_limits_arm(nc_transfer *transfer);
/// Its caller gives the transfer up: a connection that is dead is left with it.
void nc_limits_cancelled(const nc_transfer *transfer);
/// Ends the transfer when its time is over; sets the timer anew when something moved meanwhile.
void nc_limits_timer_due(nc_timer *timer);

/// The exchange got on: content moved, a phase began, a head was whole, or a pause ended. Head lines, trailers and the
/// extensions of chunks do not count, however many come.
void nc_limits_get_on(nc_transfer *transfer);

#endif
