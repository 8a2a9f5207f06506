/// Time limits of transfers.
#ifndef NETCORE_PRIVATE_LIMITS_H
#define NETCORE_PRIVATE_LIMITS_H

#include "net/transfer.h"

/// Starts a limit: sets the timer if it must fire earlier than before.
void nc_limits_arm(nc_transfer *transfer);
/// Handles a cancel by the caller: a dead connection is not reused.
void nc_limits_cancelled(const nc_transfer *transfer);
/// Ends the transfer if its time is over; sets the timer again if there was progress.
void nc_limits_timer_due(nc_timer *timer);

/// Records progress: content moved, a phase began, a head was complete, or a pause ended. Head lines, trailers and
/// chunk extensions do not count.
void nc_limits_get_on(nc_transfer *transfer);

#endif
