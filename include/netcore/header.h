/// A header field of a request, a response, a proxy or a part of a form.
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
    /// A token (RFC 9110, 5.1). Compared without case, sent as written.
    nc_slice name;
    /// Any bytes except CR, LF and NUL, without surrounding white space.
    nc_slice value;
} nc_header;

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
