/// Word of how far a transfer is, ten times a second at most. Confined to the loop thread.
#ifndef NETCORE_PRIVATE_PROGRESS_H
#define NETCORE_PRIVATE_PROGRESS_H

#include "net/speed.h"

#include <netcore/engine.h>

typedef struct nc_transfer nc_transfer;

typedef struct nc_progress_state {
    uint64_t told_ns; // when the callback was last called
    nc_speed speed;
} nc_progress_state;

/// Something moved; `is_last`: and the hop is over.
void nc_progress_note(nc_transfer *transfer, bool is_last);

#endif
