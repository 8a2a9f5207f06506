/// Pieces of a body on their way to a file, put together.
///
/// libcurl gives out what it has read at once in pieces of 16 KiB, and a file system asks less for one large write than
/// for many small ones. Nothing waits here but while libcurl or a decoder is at it. Confined to the loop thread.
#ifndef NETCORE_PRIVATE_GATHER_H
#define NETCORE_PRIVATE_GATHER_H

#include <netcore/bytes.h>

typedef struct nc_transfer nc_transfer;

typedef struct nc_gather {
    nc_transfer *transfer; // whose bytes wait; NULL when none do
    uint8_t *bytes;        // NULL until they are needed
    size_t length;
    bool has_failed;
} nc_gather;

void nc_gather_deinit(nc_gather *gather);

/// Takes a piece of the transfer's body, after what waits of another's; NC_OK, or what was noted in this transfer.
NC_NODISCARD nc_status nc_gather_take(nc_gather *gather, nc_transfer *transfer, nc_slice bytes);
/// Writes what waits. A failure is noted in the transfer whose bytes they were.
void nc_gather_give_out(nc_gather *gather);
/// Whether a write has failed since this was last asked.
bool nc_gather_take_failure(nc_gather *gather);

#endif
