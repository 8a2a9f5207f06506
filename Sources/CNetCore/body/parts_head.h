/// The fields of a part, read in place.
#ifndef NETCORE_PRIVATE_PARTS_HEAD_H
#define NETCORE_PRIVATE_PARTS_HEAD_H

#include <netcore/header.h>
#include <netcore/parts.h>

/// What is wrong with a head, and where.
typedef struct nc_parts_fault {
    nc_status status; // NC_OK when nothing is
    size_t at;
    const char *what;
} nc_parts_fault;

/// The first byte that no line of a head may hold, the line's own CR LF left out; its length when there is none.
size_t nc_parts_line_check(nc_slice line);

/// Whether a line, which nc_parts_line_check() has passed, is a field, or continues the one before.
bool nc_parts_line_is_field(nc_slice line, bool is_first);

/// Whether a head, whose lines nc_parts_line_is_field() has passed, has a field that begins with "Content-". No other
/// field of a part has a meaning (RFC 2046, 5.1), so that without one it is text.
bool nc_parts_head_describes(nc_slice head);

/// Reads whole lines that nc_parts_line_check() has passed, the empty one at their end included. Folded lines become
/// one line in `text` itself; `fields` has room for NC_PARTS_MAX_FIELDS and views `text`.
nc_parts_fault nc_parts_head_read(uint8_t *text, size_t length, nc_header *fields, size_t *count);

#endif
