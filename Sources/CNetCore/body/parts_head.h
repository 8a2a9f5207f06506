/// Parses the fields of a part in place.
#ifndef NETCORE_PRIVATE_PARTS_HEAD_H
#define NETCORE_PRIVATE_PARTS_HEAD_H

#include <netcore/header.h>
#include <netcore/parts.h>

/// An error of a head and its position.
typedef struct nc_parts_fault {
    nc_status status; // NC_OK without an error
    size_t at;
    const char *what;
} nc_parts_fault;

/// Returns the offset of the first byte that a line of a head must not contain, before its CR LF; the line's length if
/// there is none.
size_t nc_parts_line_check(nc_slice line);

/// Returns true if a line that nc_parts_line_check() accepts is a field or continues the previous one.
bool nc_parts_line_is_field(nc_slice line, bool is_first);

/// Returns true if a head of valid lines has a field that begins with "Content-". Other fields of a part have no
/// meaning (RFC 2046, 5.1). Without such a field it is text.
bool nc_parts_head_describes(nc_slice head);

/// Parses complete lines that nc_parts_line_check() accepts, including the empty one at the end. Folded lines are
/// joined in `text` itself. `fields` has room for NC_PARTS_MAX_FIELDS, which are borrowed from `text`.
nc_parts_fault nc_parts_head_read(uint8_t *text, size_t length, nc_header *fields, size_t *count);

#endif
