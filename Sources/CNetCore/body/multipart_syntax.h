/// The syntax of multipart bodies: the boundary of a Content-Type, and the fields of a part.
#ifndef NETCORE_PRIVATE_MULTIPART_SYNTAX_H
#define NETCORE_PRIVATE_MULTIPART_SYNTAX_H

#include <netcore/header.h>
#include <netcore/multipart.h>
#include <netcore/parts.h>

/// Sizes of CR LF with two hyphens, and of CR LF.
enum { NC_PARTS_MARK_BYTES = 4, NC_PARTS_LINE_END_BYTES = 2 };

typedef struct nc_parts_delimiter {
    uint8_t bytes[NC_PARTS_MARK_BYTES + NC_MULTIPART_MAX_BOUNDARY_BYTES];
    size_t length;
} nc_parts_delimiter;

typedef struct nc_parts_boundary {
    /// CR LF, two hyphens and the boundary (RFC 2046, 5.1.1).
    nc_parts_delimiter full;
    /// CR LF and the boundary, for a boundary that was declared with the hyphens. Empty if this form is not accepted.
    nc_parts_delimiter brief;
    /// The number of bytes with which both forms begin; 0 if only `full` is accepted. The byte behind them is a hyphen
    /// in `full` only.
    size_t shared;
    /// True for multipart/x-mixed-replace, which is parsed leniently, as in browsers.
    bool is_lenient;
} nc_parts_boundary;

/// Reads the boundary of a Content-Type. Returns NC_ERR_BAD_RESPONSE for another type or an invalid boundary.
NC_NODISCARD nc_status nc_parts_boundary_read(nc_parts_boundary *out, nc_slice content_type, nc_error *err);

/// An error in the head of a part, and its position.
typedef struct nc_parts_fault {
    nc_status status; // NC_OK without an error
    size_t at;
    const char *what;
} nc_parts_fault;

/// Checks a line of a head. Returns the offset of the first byte that it must not contain; the line's length if there
/// is none.
size_t nc_parts_line_check(nc_slice line);

/// Returns true if a line that passed nc_parts_line_check() is a field, or continues the field before it.
bool nc_parts_line_is_field(nc_slice line, bool is_first);

/// Returns true if a head of valid lines has a field whose name begins with "Content-". Other fields of a part have no
/// meaning (RFC 2046, 5.1), so lines without such a field are taken for text.
bool nc_parts_head_describes(nc_slice head);

/// Parses the lines of a head, each of which passed nc_parts_line_check(), with the empty line at the end. Folded lines
/// are joined in `text` itself. `fields` must have room for NC_PARTS_MAX_FIELDS; their slices are borrowed from `text`.
nc_parts_fault nc_parts_head_read(uint8_t *text, size_t length, nc_header *fields, size_t *count);

#endif
