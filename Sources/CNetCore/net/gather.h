/// The write buffer for bodies that are saved to files.
///
/// libcurl delivers in pieces of 16 KiB, and one large write costs less than many small ones. Bytes stay here only
/// while libcurl or a decoder runs. Event loop thread only.
#ifndef NETCORE_PRIVATE_GATHER_H
#define NETCORE_PRIVATE_GATHER_H

#include <netcore/bytes.h>

typedef struct nc_transfer nc_transfer;

typedef struct nc_gather {
    nc_transfer *transfer; // the owner of the buffered bytes; NULL if empty
    uint8_t *bytes;        // NULL until needed
    size_t length;
    bool has_failed;
} nc_gather;

void nc_gather_deinit(nc_gather *gather);

/// Buffers a piece of the transfer's body. Writes the bytes of another transfer first. Returns NC_OK, or the error that
/// was recorded in this transfer.
NC_NODISCARD nc_status nc_gather_take(nc_gather *gather, nc_transfer *transfer, nc_slice bytes);
/// Writes the buffered bytes. A failure is recorded in their transfer.
void nc_gather_give_out(nc_gather *gather);
/// Returns true if a write has failed since the last call.
bool nc_gather_take_failure(nc_gather *gather);

#endif
