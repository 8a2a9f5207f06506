/// The time limits of a transfer: which applies in its phase, and when it ends. transfer/timeouts.c acts on them.
///
/// Event loop thread only.
#ifndef NETCORE_PRIVATE_TIME_LIMITS_H
#define NETCORE_PRIVATE_TIME_LIMITS_H

#include "state/transfer_record.h"

/// A time limit that applies now. `status` is the error when it ends; with NC_OK the transfer then succeeds with the
/// bytes that have arrived.
typedef struct nc_deadline {
    nc_status status;
    uint32_t limit_ms;
    uint64_t from_ns;
} nc_deadline;

/// Returns the limit that ends first.
nc_deadline nc_deadline_earliest(const nc_transfer *transfer);
/// Returns the end of a limit in nanoseconds; UINT64_MAX for none.
uint64_t nc_deadline_end_ns(nc_deadline deadline);
/// Sets the transfer's timer, if it must fire earlier than before.
void nc_deadline_arm(nc_transfer *transfer);
/// Records progress: bytes of a body moved, a phase began, a head was complete, or a pause ended. Head lines, trailers
/// and chunk extensions are not progress.
void nc_deadline_progressed(nc_transfer *transfer);
/// Records that bytes moved, or that a phase begins.
void nc_deadline_enter_phase(nc_transfer *transfer, nc_phase phase);

#endif
