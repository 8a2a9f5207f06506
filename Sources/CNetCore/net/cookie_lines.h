/// A jar as text: Netscape lines, as curl -c writes them. Pure.
#ifndef NETCORE_PRIVATE_COOKIE_LINES_H
#define NETCORE_PRIVATE_COOKIE_LINES_H

#include <netcore/bytes.h>

/// Where a text is none.
typedef struct nc_cookie_fault {
    size_t line;   // from 1
    size_t offset; // of its first byte
} nc_cookie_fault;

/// Whether each line is a cookie, a comment or blank; `allows_fields`: or "Set-Cookie: …" with a domain.
bool nc_cookie_lines_are_good(nc_slice text, bool allows_fields, nc_cookie_fault *fault);

/// Takes the next line that holds a cookie off `rest`; false when there is none left.
bool nc_cookie_lines_next(nc_slice *line, nc_slice *rest);

/// Appends a line in a form that libcurl reads: it drops a cookie whose end is beyond 63 bits.
void nc_cookie_lines_copy(nc_buf *out, nc_slice line);

/// Takes out cookies that have expired, and the oldest of those domains that have too many; `is_shorter` tells whether
/// a living one had to go. NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_cookie_lines_bound(nc_buf *text, int64_t now_s, bool *is_shorter);

/// Appends the lines of `text` that `known` has not. NC_OK, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
NC_NODISCARD nc_status nc_cookie_lines_subtract(nc_buf *out, nc_slice text, nc_slice known);
/// Appends the lines of `text` but for the cookies of `gone` that had not expired, whatever their value is now. NC_OK,
/// NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
NC_NODISCARD nc_status nc_cookie_lines_leave_out(nc_buf *out, nc_slice text, nc_slice gone, int64_t now_s);

#endif
