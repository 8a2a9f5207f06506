/// Cookies as text in the Netscape format, as curl -c writes it. Values are bytes and stay unchanged. Pure.
#ifndef NETCORE_PRIVATE_COOKIE_LINES_H
#define NETCORE_PRIVATE_COOKIE_LINES_H

#include "http/cookie_jar.h"

/// The position of a malformed line.
typedef struct nc_cookie_fault {
    size_t line;   // from 1
    size_t offset; // of the line's first byte
} nc_cookie_fault;

/// Returns true if each line is a cookie, a comment or blank, or with `allows_fields` a "Set-Cookie: …" with a domain.
bool nc_cookie_lines_are_good(nc_slice text, bool allows_fields, nc_cookie_fault *fault);

/// Removes and returns the next line with a cookie. Returns false at the end.
bool nc_cookie_lines_next(nc_slice *line, nc_slice *rest);

/// Stores the cookie of a valid line in a jar. Returns NC_OK, or NC_ERR_NO_MEMORY with an unchanged jar.
///
/// Skips a cookie that no server could set or receive. Such a cookie has no name, is too long, has a control byte or a
/// semicolon, or violates the conditions of its prefix.
NC_NODISCARD nc_status nc_cookie_lines_put(nc_cookie_jar *jar, nc_slice line, int64_t now_s, bool *has_changed);

/// Appends a cookie as a line.
void nc_cookie_lines_append(nc_buf *out, const nc_cookie *cookie);

#endif
