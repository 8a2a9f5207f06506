/// Percent-escaping (RFC 3986, 2.1): each byte that does not stand for itself becomes '%' and two upper-case digits.
///
/// Bytes in, bytes out: text is not looked at as UTF-8, and nothing is seen as already escaped ('%' becomes "%25").
/// The fastest way that the processor has is chosen at run time.
///
///     nc_buf out = nc_buf_init(8192);
///     nc_percent_append(&out, nc_slice_of("a b"), NC_PERCENT_QUERY);   // a%20b
#ifndef NETCORE_PERCENT_H
#define NETCORE_PERCENT_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Which bytes stand for themselves.
typedef NC_ENUM(nc_percent_style){
    /// Letters, digits and `-._~/?`: what may stand in names and values of a query (RFC 3986, 3.4) without harm.
    NC_PERCENT_QUERY = 0,
    /// As NC_PERCENT_QUERY, and a space becomes '+' (WHATWG URL, 5.2).
    NC_PERCENT_QUERY_PLUS = 1,
    /// Letters, digits and `-._~` alone (RFC 3986, 2.3).
    NC_PERCENT_COMPONENT = 2,
    /// As NC_PERCENT_COMPONENT, and a space becomes '+'.
    NC_PERCENT_COMPONENT_PLUS = 3,
} nc_percent_style;

/// The bytes that nc_percent_escape() may write to for a text of `length` bytes; more than it ever tells to have used.
#define NC_PERCENT_ROOM(length) (3 * (length) + 32)

/// Escapes into the caller's memory.
///
/// - out:   NC_PERCENT_ROOM(text.length) bytes, all of which may be overwritten; not those of `text`.
/// - style: an unknown one is taken for NC_PERCENT_COMPONENT.
/// Returns how many bytes the escaped text has: `text.length` to three times as many. Pure; call from any thread.
NC_API size_t nc_percent_escape(uint8_t *out, nc_slice text, nc_percent_style style);

/// Appends the escaped text; on failure (NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY), which sticks, the content stays as it
/// was.
///
/// - text: not the buffer's own bytes.
/// Confined: one thread at a time.
NC_API void nc_percent_append(nc_buf *out, nc_slice text, nc_percent_style style);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
