/// Percent-encoding (RFC 3986, 2.1): a byte outside the chosen set becomes '%' and two upper-case digits.
///
/// The functions encode bytes; they do not check UTF-8. They do not recognize text that is already encoded: '%' becomes
/// "%25". The fastest implementation for the processor is selected at run time.
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

/// The set of bytes that are not encoded.
typedef NC_ENUM(nc_percent_style){
    /// Letters, digits and `-._~/?`, which are safe in names and values of a query (RFC 3986, 3.4).
    NC_PERCENT_QUERY = 0,
    /// The same as NC_PERCENT_QUERY, except that a space becomes '+' (WHATWG URL, 5.2).
    NC_PERCENT_QUERY_PLUS = 1,
    /// Letters, digits and `-._~` only (RFC 3986, 2.3).
    NC_PERCENT_COMPONENT = 2,
    /// The same as NC_PERCENT_COMPONENT, except that a space becomes '+'.
    NC_PERCENT_COMPONENT_PLUS = 3,
} nc_percent_style;

/// The size of the output memory that nc_percent_escape() needs for a text of `length` bytes. The result is shorter.
#define NC_PERCENT_ROOM(length) (3 * (length) + 32)

/// Encodes into the caller's memory.
///
/// - out:   NC_PERCENT_ROOM(text.length) bytes, all of which may be overwritten; must not overlap `text`.
/// - style: an unknown value means NC_PERCENT_COMPONENT.
/// Returns the length of the result: `text.length` to three times that.
/// Pure; call from any thread.
NC_API size_t nc_percent_escape(uint8_t *out, nc_slice text, nc_percent_style style);

/// Appends the encoded text. An error (NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY) is sticky and leaves the contents unchanged.
///
/// - text: must not be in the buffer.
/// Confined: one thread at a time.
NC_API void nc_percent_append(nc_buf *out, nc_slice text, nc_percent_style style);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
