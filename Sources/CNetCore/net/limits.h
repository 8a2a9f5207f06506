/// When a transfer must have moved on, and what becomes of it when it has not.
#ifndef NETCORE_PRIVATE_LIMITS_H
#define NETCORE_PRIVATE_LIMITS_H

#include "net/transfer.h"

/// The earliest moment at which one of its limits is over; UINT64_MAX when none ever is.
uint64_t nc_limits_deadline(const nc_transfer *transfer);
/// Brings the timer forward when a limit counts again that did not while the transfer rested.
void nc_limits_shorten(nc_transfer *transfer);
/// Ends the transfer when its time is over; sets the timer anew when something moved meanwhile.
void nc_limits_timer_due(nc_timer *timer);

#endif
