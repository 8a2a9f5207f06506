/// A complete copy of a request, from which it can be sent more than once.
#ifndef NETCORE_PRIVATE_REQUEST_TEMPLATE_H
#define NETCORE_PRIVATE_REQUEST_TEMPLATE_H

#include <netcore/proxy.h>
#include <netcore/request.h>

typedef struct nc_request_template {
    nc_request request; // its views point into `storage`
    nc_proxy proxy;
    nc_header *headers; // with room for fields that are added later
    void *storage;
} nc_request_template;

/// Copies a request with its texts and its body. Retains trust policy, form and expectation; a body source is copied as
/// it is. `more_fields`: fields that may be added to `headers`. The template must not be moved. Returns NC_OK or
/// NC_ERR_NO_MEMORY; after an error `out` is empty.
NC_NODISCARD nc_status nc_request_template_init(nc_request_template *out, const nc_request *request,
                                                size_t more_fields);
/// Changes the request to a GET of the whole representation: removes its conditions and its range.
void nc_request_drop_conditions(nc_request_template *copy);
/// Releases the copy. Does nothing if it is empty.
void nc_request_template_deinit(nc_request_template *copy);

#endif
