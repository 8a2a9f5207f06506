/// One header field, as requests, proxies and the parts of a form carry it.
///
///     nc_header field = {nc_slice_of("Accept"), nc_slice_of("text/html")};
#ifndef NETCORE_HEADER_H
#define NETCORE_HEADER_H

#include <netcore/base.h>
#include <netcore/bytes.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// One header field.
typedef struct nc_header {
    /// A token (RFC 9110, 5.1); compared without case, sent as spelled here.
    nc_slice name;
    /// Any bytes but CR, LF and NUL, without surrounding white space.
    nc_slice value;
} nc_header;

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
