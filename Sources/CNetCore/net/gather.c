#include "net/gather.h"

#include "base/alloc.h"
#include "net/transfer.h"

#include <string.h>

/// On ext4, the cost of a write does not fall further above 128 KiB.
enum { CAPACITY = 256 * 1024 };

void nc_gather_deinit(nc_gather *gather) {
    nc_free(gather->bytes);
    *gather = (nc_gather){0};
}

static nc_status write_out(nc_gather *gather, nc_transfer *transfer, nc_slice bytes) {
    nc_status status = nc_delivery_hand_over(transfer, bytes);
    gather->has_failed = gather->has_failed || status != NC_OK;
    return status;
}

void nc_gather_give_out(nc_gather *gather) {
    nc_transfer *transfer = gather->transfer;
    if (transfer != NULL) {
        gather->transfer = NULL;
        (void)write_out(gather, transfer, nc_slice_make(gather->bytes, gather->length));
        gather->length = 0;
    }
}

nc_status nc_gather_take(nc_gather *gather, nc_transfer *transfer, nc_slice bytes) {
    if (gather->transfer != transfer || bytes.length > CAPACITY - gather->length) {
        nc_gather_give_out(gather);
    }
    if (transfer->error.status != NC_OK) {
        return transfer->error.status;
    }
    if (gather->bytes == NULL) {
        gather->bytes = nc_alloc(CAPACITY);
    }
    if (gather->bytes == NULL || bytes.length > CAPACITY) {
        return write_out(gather, transfer, bytes);
    }
    if (bytes.length > 0) {
        memcpy(gather->bytes + gather->length, bytes.data, bytes.length);
    }
    gather->transfer = transfer;
    gather->length += bytes.length;
    return NC_OK;
}

bool nc_gather_take_failure(nc_gather *gather) {
    bool has_failed = gather->has_failed;
    gather->has_failed = false;
    return has_failed;
}
