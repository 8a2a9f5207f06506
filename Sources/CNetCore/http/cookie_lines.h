/// Cookies as lines of text: the Netscape format, as curl -c writes it. Values are bytes and stay as they are. Pure.
#ifndef NETCORE_PRIVATE_COOKIE_LINES_H
#define NETCORE_PRIVATE_COOKIE_LINES_H

#include "http/cookie_jar.h"

/// Where a text is none.
typedef struct nc_cookie_fault {
    size_t line;   // from 1
    size_t offset; // of its first byte
} nc_cookie_fault;

/// Whether each line is a cookie, a comment or blank; `allows_fields`: or "Set-Cookie: …" with a domain.
bool nc_cookie_lines_are_good(nc_slice text, bool allows_fields, nc_cookie_fault *fault);

/// Takes the next line that holds a cookie off `rest`; false when there is none left.
bool nc_cookie_lines_next(nc_slice *line, nc_slice *rest);

/// Puts the cookie of a line that is good into a jar. A cookie that no server could set or be sent is left out: without
/// a name, longer than the limit, with a control byte or a semicolon, with a prefix that does not hold.
/// Returns NC_OK, NC_ERR_NO_MEMORY: the jar is as it was.
NC_NODISCARD nc_status nc_cookie_lines_put(nc_cookie_jar *jar, nc_slice line, int64_t now_s, bool *has_changed);

/// Appends a cookie as a line.
void nc_cookie_lines_append(nc_buf *out, const nc_cookie *cookie);

#endif
