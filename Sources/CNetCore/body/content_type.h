/// A Content-Type field in parts (RFC 9110, 8.3.1).
#ifndef NETCORE_PRIVATE_CONTENT_TYPE_H
#define NETCORE_PRIVATE_CONTENT_TYPE_H

#include <netcore/bytes.h>

/// The type alone, without parameters and white space around it.
nc_slice nc_content_type_essence(nc_slice value);
/// A parameter's value, without the quotes around it and with its quoted pairs; false when it is not there. Letter case
/// of `name` and blanks at "=" are ignored.
bool nc_content_type_parameter(nc_slice *out, nc_slice value, const char *name);

#endif
