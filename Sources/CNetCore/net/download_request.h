/// A complete copy of a request, so that it can be sent more than once.
#ifndef NETCORE_PRIVATE_DOWNLOAD_REQUEST_H
#define NETCORE_PRIVATE_DOWNLOAD_REQUEST_H

#include <netcore/request.h>

/// Fields that a download adds: Range, If-Range, Accept-Encoding.
enum { NC_KEPT_MORE_FIELDS = 3 };

typedef struct nc_kept_request {
    nc_request request; // its views point into `storage`; the fields have room for NC_KEPT_MORE_FIELDS more
    nc_proxy proxy;
    nc_header *headers;
    void *storage;
} nc_kept_request;

/// Copies a request and retains its trust policy. Returns NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_kept_request_init(nc_kept_request *out, const nc_request *from);
void nc_kept_request_deinit(nc_kept_request *kept);

#endif
