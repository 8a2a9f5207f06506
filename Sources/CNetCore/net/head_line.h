/// What one line of a head may look like (RFC 9112, 2 to 5): stricter than libcurl, which takes much for a head. Pure.
#ifndef NETCORE_PRIVATE_HEAD_LINE_H
#define NETCORE_PRIVATE_HEAD_LINE_H

#include <netcore/bytes.h>
#include <netcore/response.h>

/// Leaves blanks out at the beginning, blanks and the line's end at its end.
nc_slice nc_head_line_trim(nc_slice text);
/// Reads a status line; false when it is none.
bool nc_head_line_parse_status(nc_slice line, uint16_t *status, nc_http_version *version);
/// Whether a CR is where no line ends.
bool nc_head_line_has_stray_cr(nc_slice line);
/// Whether it is a field's name.
bool nc_head_line_is_name(nc_slice name);

#endif
