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

/// Reads whole lines that nc_parts_line_check() has passed, the empty one at their end included. Folded lines become
/// one line in `text` itself; `fields` has room for NC_PARTS_MAX_FIELDS and views `text`.
nc_parts_fault nc_parts_head_read(uint8_t *text, size_t length, nc_header *fields, size_t *count);

#endif
