/// Parses a Content-Type field (RFC 9110, 8.3.1).
#ifndef NETCORE_PRIVATE_CONTENT_TYPE_H
#define NETCORE_PRIVATE_CONTENT_TYPE_H

#include <netcore/bytes.h>

/// Returns the type without parameters and surrounding white space.
nc_slice nc_content_type_essence(nc_slice value);
/// Finds a parameter's value, without its quotes but with its quoted pairs. Returns false if it is missing. The case of
/// `name` and blanks at "=" are ignored.
bool nc_content_type_parameter(nc_slice *out, nc_slice value, const char *name);

#endif
