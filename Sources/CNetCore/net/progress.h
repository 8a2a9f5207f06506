/// Word of how far a transfer is, ten times a second at most. Confined to the loop thread.
#ifndef NETCORE_PRIVATE_PROGRESS_H
#define NETCORE_PRIVATE_PROGRESS_H

#include <netcore/engine.h>

typedef struct nc_transfer nc_transfer;

typedef struct nc_progress_state {
    uint64_t told_ns;   // when the callback was last called
    uint64_t window_ns; // since when the rate is counted
    uint64_t window_bytes;
    uint64_t bytes_per_s;
} nc_progress_state;

/// Something moved; `is_last`: and the hop is over.
void nc_progress_note(nc_transfer *transfer, bool is_last);

#endif
