/// Progress reports of a transfer, at most ten per second. Event loop thread only.
#ifndef NETCORE_PRIVATE_PROGRESS_H
#define NETCORE_PRIVATE_PROGRESS_H

#include "net/speed.h"

#include <netcore/engine.h>

typedef struct nc_transfer nc_transfer;

typedef struct nc_progress_state {
    uint64_t told_ns; // time of the last callback
    nc_speed speed;
} nc_progress_state;

/// Records movement. `is_last`: the hop is over too.
void nc_progress_note(nc_transfer *transfer, bool is_last);

#endif
