/// Syntax of one line of a head (RFC 9112, 2 to 5). Stricter than libcurl, which accepts many invalid heads. Pure.
#ifndef NETCORE_PRIVATE_HEAD_LINE_H
#define NETCORE_PRIVATE_HEAD_LINE_H

#include <netcore/bytes.h>
#include <netcore/response.h>

/// Returns the text without leading blanks, trailing blanks and line end.
nc_slice nc_head_line_trim(nc_slice text);
/// Parses a status line. Returns false if it is invalid.
bool nc_head_line_parse_status(nc_slice line, uint16_t *status, nc_http_version *version);
/// Returns true if a CR is not part of the line end.
bool nc_head_line_has_stray_cr(nc_slice line);
/// Returns true if it is a valid field name.
bool nc_head_line_is_name(nc_slice name);

#endif
