/// Writes parameters as JSON text (RFC 8259), for the body of a request.
///
/// Integers and number texts are written digit for digit, doubles with the fewest digits that read back as the same
/// double. JSON cannot represent sets, bytes, numbers that are not finite, and text that is not UTF-8. Such a value is
/// refused, and the error contains its path.
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

/// Formatting. A zeroed struct is the default: compact, in insertion order, as in AFNetworking's JSON requests.
typedef struct nc_json_style {
    /// True sorts the names of each object by UTF-16 code units. Equal names keep their order.
    bool is_sorted;
    /// True writes each value on its own line, indented by two spaces per enclosing container.
    bool is_pretty;
    /// True writes "/" unescaped. The default is "\/", as Foundation's encoders write it.
    bool keeps_slashes;
} nc_json_style;

/// Appends the parameters as JSON text: an object or an array.
///
/// Strings escape '"', '\\', control characters, and '/' unless `keeps_slashes` is set.
/// - style: NULL means the default.
/// Returns NC_OK; NC_ERR_BAD_PARAMETER with the value's path in the message ("a.b[2]"), and for invalid text the byte's
/// offset in that text; NC_ERR_USAGE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY, or the tree's sticky error. After an error
/// `out` is unchanged.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_json_write(nc_buf *out, const nc_params *params,
                                            const nc_json_style *NC_NULLABLE style, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
