/// Request parameters: an ordered tree of named values, for a query, a form, a JSON body, a multipart body or a cache
/// key.
///
/// It is built by calls or from JSON text. It is one allocation with a maximum size, and keeps the order and the exact
/// digits. Encoding is separate (query.h, json_writer.h, multipart.h). Errors are sticky, as in nc_buf: add without
/// checking, and check the status once. Strings may contain any bytes; the encoders check them.
///
///     nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
///     nc_params_add_string(&params, nc_slice_of("name"), nc_slice_of("bang"));
///     nc_params_begin(&params, nc_slice_of("phone"), NC_PARAMS_OBJECT);
///     nc_params_add_null(&params, nc_slice_of("home"));
///     nc_params_end(&params);
#ifndef NETCORE_PARAMS_H
#define NETCORE_PARAMS_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The largest depth of nested containers, including the root.
#define NC_PARAMS_MAX_DEPTH 256u
/// The default maximum of a tree, in bytes.
#define NC_PARAMS_DEFAULT_MAX_BYTES (64u * 1024u * 1024u)
/// The size of the text of any integer or double.
#define NC_PARAMS_NUMBER_BYTES 32u

/// The type of a value.
typedef NC_ENUM(nc_params_kind){
    /// Null; a bare key in a query.
    NC_PARAMS_NULL = 0,
    /// True or false.
    NC_PARAMS_BOOLEAN = 1,
    /// A signed 64-bit integer.
    NC_PARAMS_INTEGER = 2,
    /// A double, written with the fewest digits that read back as the same double.
    NC_PARAMS_DOUBLE = 3,
    /// A number as decimal text (RFC 8259, 6), written digit for digit.
    NC_PARAMS_NUMBER = 4,
    /// UTF-8 text.
    NC_PARAMS_STRING = 5,
    /// Bytes without a charset.
    NC_PARAMS_BYTES = 6,
    /// Ordered named values. A name may occur several times.
    NC_PARAMS_OBJECT = 7,
    /// Ordered values.
    NC_PARAMS_ARRAY = 8,
    /// Unordered values.
    NC_PARAMS_SET = 9,
} nc_params_kind;

/// A tree in the caller's storage. The fields are private.
typedef struct nc_params {
    /// The nodes in order, with the sticky error and the maximum.
    nc_buf nodes;
    /// Offset of the innermost open container's node, plus 1; 0 is the root.
    size_t open;
    /// Number of open containers, including the root.
    uint32_t depth;
    /// NC_PARAMS_OBJECT, NC_PARAMS_ARRAY or NC_PARAMS_SET.
    nc_params_kind root;
} nc_params;

/// One value of a tree, borrowed from it until it changes.
typedef struct nc_params_item {
    /// Its type.
    nc_params_kind kind;
    /// Value of an NC_PARAMS_BOOLEAN.
    bool boolean;
    /// Value of an NC_PARAMS_INTEGER.
    int64_t integer;
    /// Value of an NC_PARAMS_DOUBLE; may be infinite or NaN.
    double number;
    /// Its name in an object; empty in arrays and sets and for the root.
    nc_slice name;
    /// Text of NC_PARAMS_NUMBER and NC_PARAMS_STRING, bytes of NC_PARAMS_BYTES. For a container its nodes, for
    /// nc_params_children(); empty if it has none.
    nc_slice content;
} nc_params_item;

/// A position among the values of one container.
typedef struct nc_params_cursor {
    /// The remaining nodes.
    nc_slice rest;
} nc_params_cursor;

/// A buffer for nc_params_text().
typedef struct nc_params_digits {
    /// Digits, not NUL-terminated.
    uint8_t bytes[NC_PARAMS_NUMBER_BYTES];
} nc_params_digits;

/* --- building --- */

/// Returns an empty tree of at most `max_bytes`. Allocates nothing.
///
/// - root:      NC_PARAMS_OBJECT, NC_PARAMS_ARRAY or NC_PARAMS_SET; others are the sticky NC_ERR_USAGE.
/// - max_bytes: 0 means NC_PARAMS_DEFAULT_MAX_BYTES. A value takes 16 bytes, its name and its text, rounded up to 8.
/// Confined: one thread at a time.
NC_API nc_params nc_params_init(nc_params_kind root, size_t max_bytes);

/// Frees the contents and leaves the tree empty with its root and maximum. Allowed on a zeroed tree, and repeatedly.
///
/// Confined: one thread at a time.
NC_API void nc_params_deinit(nc_params *NC_NULLABLE params);

/// Empties the tree, clears its error and keeps its capacity.
///
/// Confined: one thread at a time.
NC_API void nc_params_reset(nc_params *params, nc_params_kind root);

/// Reserves about `more_bytes`, so that the next calls do not reallocate.
///
/// Returns NC_OK or the sticky error.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_params_reserve(nc_params *params, size_t more_bytes);

/// Adds a null to the innermost open container.
///
/// For this function and those below: name and text are copied and must not be in this tree. The name is ignored in an
/// array or a set. They do nothing after an error (NC_ERR_NO_MEMORY, or NC_ERR_TOO_LARGE, also for a name of 4 GiB
/// or more).
/// Confined: one thread at a time.
NC_API void nc_params_add_null(nc_params *params, nc_slice name);

/// Adds true or false; otherwise as nc_params_add_null(). Confined: one thread at a time.
NC_API void nc_params_add_boolean(nc_params *params, nc_slice name, bool value);

/// Adds an integer; otherwise as nc_params_add_null(). Confined: one thread at a time.
NC_API void nc_params_add_integer(nc_params *params, nc_slice name, int64_t value);

/// Adds a double. One that is not finite is kept; the encoders refuse it.
///
/// Otherwise as nc_params_add_null(). Confined: one thread at a time.
NC_API void nc_params_add_double(nc_params *params, nc_slice name, double value);

/// Adds a number as text (RFC 8259, 6), such as one with more digits than 64 bits hold. The encoders refuse a malformed
/// one.
///
/// Otherwise as nc_params_add_null(). Confined: one thread at a time.
NC_API void nc_params_add_number(nc_params *params, nc_slice name, nc_slice digits);

/// Adds text. The encoders refuse text that is not UTF-8.
///
/// Otherwise as nc_params_add_null(). Confined: one thread at a time.
NC_API void nc_params_add_string(nc_params *params, nc_slice name, nc_slice text);

/// Adds bytes; otherwise as nc_params_add_null(). Confined: one thread at a time.
NC_API void nc_params_add_bytes(nc_params *params, nc_slice name, nc_slice bytes);

/// Opens a container. Later values are added to it until its nc_params_end().
///
/// - kind: NC_PARAMS_OBJECT, NC_PARAMS_ARRAY or NC_PARAMS_SET; others are the sticky NC_ERR_USAGE.
/// Beyond NC_PARAMS_MAX_DEPTH the sticky error is NC_ERR_TOO_LARGE. Confined: one thread at a time.
NC_API void nc_params_begin(nc_params *params, nc_slice name, nc_params_kind kind);

/// Closes the innermost container. The sticky error is NC_ERR_USAGE if only the root is open.
///
/// Confined: one thread at a time.
NC_API void nc_params_end(nc_params *params);

/// Replaces the tree with a JSON text (RFC 8259, strict): an object or an array with its values.
///
/// Numbers keep their digits, names their `\u0000`, objects their order and their duplicate names. Half of a surrogate
/// pair is refused.
/// Returns NC_OK; NC_ERR_BAD_JSON with line and column for any other text, also beyond NC_PARAMS_MAX_DEPTH;
/// NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY, NC_ERR_USAGE. All errors have an offset and are sticky.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_params_parse_json(nc_params *params, nc_slice text, nc_error *NC_NULLABLE err);

/// Returns NC_OK for a complete tree, the first error since init or reset, or NC_ERR_USAGE while a container is open.
///
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_params_status(const nc_params *params);

/* --- reading --- */

/// Returns the root; an empty one unless nc_params_status() is NC_OK.
///
/// Confined: one thread at a time.
NC_API nc_params_item nc_params_root(const nc_params *params);

/// Returns a cursor at the first value of a container. Other values have none.
///
/// Confined: one thread at a time.
NC_API nc_params_cursor nc_params_children(const nc_params_item *container);

/// Reads the next value, in insertion order. Returns false at the end and leaves `item` unchanged.
///
/// Confined: one thread at a time.
NC_API bool nc_params_next(nc_params_cursor *cursor, nc_params_item *item);

/// Returns the text of a value that is no container, independent of the locale.
///
/// A double has the fewest digits that read back as the same double: plain from 1e-6 to below 1e21, otherwise with an
/// exponent without '+'. A boolean is "true" or "false". A null and a double that is not finite are empty.
/// Returns a slice of the item's content, of `digits`, or of static storage.
/// Pure; call from any thread.
NC_API nc_slice nc_params_text(const nc_params_item *item, nc_params_digits *digits);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
