/// Parameters as JSON text (RFC 8259), for the body of a request.
///
/// Numbers are written as they are held: integers and texts of numbers digit for digit, doubles with the fewest digits
/// that read back. What JSON cannot say is refused, with the path to it: sets, bytes, numbers that are not finite and
/// text that is not UTF-8.
///
///     nc_buf body = nc_buf_init(1 << 20);
///     nc_json_write(&body, &params, NULL, &err);      // {"name":"bang","phone":{"home":"xx"}}
#ifndef NETCORE_JSON_WRITER_H
#define NETCORE_JSON_WRITER_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/params.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// How the text looks; all zero is the default, what AFNetworking's JSON requests are: compact, in the order given.
typedef struct nc_json_style {
    /// True writes the names of each object in the order of their UTF-16 code units, equal ones as they were given.
    bool is_sorted;
    /// True begins a line for each value, two spaces deeper in each container.
    bool is_pretty;
    /// True writes "/" as it is. By default it is "\/", as Foundation's encoders write it.
    bool keeps_slashes;
} nc_json_style;

/// Appends the parameters as JSON text: an object or an array.
///
/// In strings '"', '\\', the control characters and, unless the style keeps it, '/' are escaped, and nothing else is.
/// - style: NULL means the default.
/// Returns NC_OK; NC_ERR_BAD_PARAMETER, with the path in the message ("a.b[2]") and for text the offset in it;
/// NC_ERR_USAGE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY, the tree's sticky failure. On failure `out` holds what it held.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_json_write(nc_buf *out, const nc_params *params,
                                            const nc_json_style *NC_NULLABLE style, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
