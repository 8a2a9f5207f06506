/// The boundary of a multipart body, and the forms of its lines.
#ifndef NETCORE_PRIVATE_PARTS_BOUNDARY_H
#define NETCORE_PRIVATE_PARTS_BOUNDARY_H

#include <netcore/bytes.h>
#include <netcore/multipart.h>
#include <stdbool.h>

/// CR LF and two hyphens.
enum { NC_PARTS_MARK_BYTES = 4, NC_PARTS_LINE_END_BYTES = 2 };

typedef struct nc_parts_delimiter {
    uint8_t bytes[NC_PARTS_MARK_BYTES + NC_MULTIPART_MAX_BOUNDARY_BYTES];
    size_t length;
} nc_parts_delimiter;

typedef struct nc_parts_boundary {
    /// CR LF, two hyphens and the boundary (RFC 2046, 5.1.1).
    nc_parts_delimiter full;
    /// CR LF and a boundary that was declared with its hyphens.
    nc_parts_delimiter brief;
    /// The number of bytes that both forms begin with; 0 if only the full form is possible. The next byte is a hyphen
    /// in the full form only.
    size_t shared;
    /// multipart/x-mixed-replace, which browsers parse leniently.
    bool is_lenient;
} nc_parts_boundary;

/// Reads the boundary of a Content-Type. Returns NC_ERR_BAD_RESPONSE for another type or an invalid boundary.
NC_NODISCARD nc_status nc_parts_boundary_read(nc_parts_boundary *out, nc_slice content_type, nc_error *err);

#endif
