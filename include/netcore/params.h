/// An ordered tree of named values: what a query, a form, a JSON body, a multipart body or a cache key is made of.
///
/// It is built by calls or from JSON text, lies in one allocation that grows up to a maximum, and keeps the order and
/// the exact digits that it was given. It knows nothing of how it will be written: query.h and its neighbours do.
/// Failure is sticky, as with nc_buf: add freely, ask once. Strings may hold any bytes; who writes them checks them.
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

/// How deep containers may lie in one another, the root included.
#define NC_PARAMS_MAX_DEPTH 256u
/// What a tree may take, in bytes, when its maker does not say.
#define NC_PARAMS_DEFAULT_MAX_BYTES (64u * 1024u * 1024u)
/// Room for the text of any integer or double.
#define NC_PARAMS_NUMBER_BYTES 32u

/// What a value is.
typedef NC_ENUM(nc_params_kind){
    /// Nothing; a bare key in a query.
    NC_PARAMS_NULL = 0,
    /// True or false.
    NC_PARAMS_BOOLEAN = 1,
    /// A signed number of 64 bits.
    NC_PARAMS_INTEGER = 2,
    /// A binary floating-point number; written with the fewest digits that read back.
    NC_PARAMS_DOUBLE = 3,
    /// A number as its decimal text (RFC 8259, 6), written digit for digit.
    NC_PARAMS_NUMBER = 4,
    /// Text in UTF-8.
    NC_PARAMS_STRING = 5,
    /// Bytes without a charset.
    NC_PARAMS_BYTES = 6,
    /// Named values in order; a name may occur several times.
    NC_PARAMS_OBJECT = 7,
    /// Values in order.
    NC_PARAMS_ARRAY = 8,
    /// Values whose order means nothing.
    NC_PARAMS_SET = 9,
} nc_params_kind;

/// A tree in its caller's storage; the fields are the module's own.
typedef struct nc_params {
    /// The nodes, one behind the other; also the sticky failure and the maximum.
    nc_buf nodes;
    /// Where the innermost open container's node begins, plus 1; 0 is the root.
    size_t open;
    /// Containers that are open, the root included.
    uint32_t depth;
    /// NC_PARAMS_OBJECT, NC_PARAMS_ARRAY or NC_PARAMS_SET.
    nc_params_kind root;
} nc_params;

/// One value of a tree, as it is read; borrowed from the tree until that is next changed.
typedef struct nc_params_item {
    /// What it is.
    nc_params_kind kind;
    /// The value of a NC_PARAMS_BOOLEAN.
    bool boolean;
    /// The value of a NC_PARAMS_INTEGER.
    int64_t integer;
    /// The value of a NC_PARAMS_DOUBLE; may be infinite or not a number.
    double number;
    /// Its name in an object; empty in arrays and sets, and for the root.
    nc_slice name;
    /// The text of NC_PARAMS_NUMBER and NC_PARAMS_STRING, the bytes of NC_PARAMS_BYTES; of a container, its nodes,
    /// which only nc_params_children() understands, and which are empty when it is.
    nc_slice content;
} nc_params_item;

/// A place among the values of one container.
typedef struct nc_params_cursor {
    /// The nodes still to come.
    nc_slice rest;
} nc_params_cursor;

/// Where nc_params_text() writes digits.
typedef struct nc_params_digits {
    /// The digits, not NUL-terminated.
    uint8_t bytes[NC_PARAMS_NUMBER_BYTES];
} nc_params_digits;

/* --- building --- */

/// Makes an empty tree that will take at most `max_bytes`; allocates nothing.
///
/// - root:      NC_PARAMS_OBJECT, NC_PARAMS_ARRAY or NC_PARAMS_SET; anything else is the sticky NC_ERR_USAGE.
/// - max_bytes: 0 means NC_PARAMS_DEFAULT_MAX_BYTES; a value takes 16 bytes, its name and its text, rounded up to 8.
/// Confined: one thread at a time.
NC_API nc_params nc_params_init(nc_params_kind root, size_t max_bytes);

/// Frees what the tree holds and leaves it empty, root and maximum kept; harmless on a zeroed tree and when repeated.
///
/// Confined: one thread at a time.
NC_API void nc_params_deinit(nc_params *NC_NULLABLE params);

/// Empties the tree, clears its failure and keeps its capacity.
///
/// Confined: one thread at a time.
NC_API void nc_params_reset(nc_params *params, nc_params_kind root);

/// Makes room for about `more_bytes`, so that the following calls do not reallocate.
///
/// Returns NC_OK, or the sticky failure. Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_params_reserve(nc_params *params, size_t more_bytes);

/// Adds a null to the innermost open container.
///
/// Of this and the calls below: the name and the text, which may not lie in this tree, are copied; in an array or a set
/// the name is dropped. After a failure (NC_ERR_NO_MEMORY; NC_ERR_TOO_LARGE, for a name from 4 GiB up too) they do
/// nothing. Confined: one thread at a time.
NC_API void nc_params_add_null(nc_params *params, nc_slice name);

/// Adds true or false; otherwise as nc_params_add_null(). Confined: one thread at a time.
NC_API void nc_params_add_boolean(nc_params *params, nc_slice name, bool value);

/// Adds an integer; otherwise as nc_params_add_null(). Confined: one thread at a time.
NC_API void nc_params_add_integer(nc_params *params, nc_slice name, int64_t value);

/// Adds a floating-point number; one that is not finite is kept, and refused by who writes it.
///
/// Otherwise as nc_params_add_null(). Confined: one thread at a time.
NC_API void nc_params_add_double(nc_params *params, nc_slice name, double value);

/// Adds a number as text (RFC 8259, 6), such as one with more digits than 64 bits hold; refused by who writes it when
/// it is none. Otherwise as nc_params_add_null(). Confined: one thread at a time.
NC_API void nc_params_add_number(nc_params *params, nc_slice name, nc_slice digits);

/// Adds text; what is not UTF-8 is refused by who writes it.
///
/// Otherwise as nc_params_add_null(). Confined: one thread at a time.
NC_API void nc_params_add_string(nc_params *params, nc_slice name, nc_slice text);

/// Adds bytes; otherwise as nc_params_add_null(). Confined: one thread at a time.
NC_API void nc_params_add_bytes(nc_params *params, nc_slice name, nc_slice bytes);

/// Opens a container; what is added until its nc_params_end() lies in it.
///
/// - kind: NC_PARAMS_OBJECT, NC_PARAMS_ARRAY or NC_PARAMS_SET; anything else is the sticky NC_ERR_USAGE.
/// The sticky failure is NC_ERR_TOO_LARGE below NC_PARAMS_MAX_DEPTH too. Confined: one thread at a time.
NC_API void nc_params_begin(nc_params *params, nc_slice name, nc_params_kind kind);

/// Closes the innermost container; the sticky NC_ERR_USAGE when only the root is open. Confined: one thread at a time.
NC_API void nc_params_end(nc_params *params);

/// Replaces the tree by what a JSON text says (RFC 8259, strictly): an object or an array with its values.
///
/// Numbers keep their digits, names their `\u0000`, objects their order and their repeated names. Half a surrogate pair
/// is no text.
/// Returns NC_OK; NC_ERR_BAD_JSON, with line and column, for anything else, and below NC_PARAMS_MAX_DEPTH;
/// NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY, NC_ERR_USAGE. All have the offset, and all stick. Confined: one thread at a
/// time.
NC_API NC_NODISCARD nc_status nc_params_parse_json(nc_params *params, nc_slice text, nc_error *NC_NULLABLE err);

/// Tells whether the tree is whole: NC_OK, the first failure since init or reset, or NC_ERR_USAGE while a container is
/// open. Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_params_status(const nc_params *params);

/* --- reading --- */

/// Views the root; an empty one while nc_params_status() is not NC_OK.
///
/// Confined: one thread at a time.
NC_API nc_params_item nc_params_root(const nc_params *params);

/// Begins at the first value of a container; there is none in any other value.
///
/// Confined: one thread at a time.
NC_API nc_params_cursor nc_params_children(const nc_params_item *container);

/// Reads the next value, in the order of adding; false, and `item` as it was, when there is none left.
///
/// Confined: one thread at a time.
NC_API bool nc_params_next(nc_params_cursor *cursor, nc_params_item *item);

/// Gives the text of a value that is no container, in the C locale's digits whatever the locale.
///
/// A double is written with the fewest digits that read back as the same double: plainly from 1e-6 up to 1e21, else
/// with an exponent that has no '+'. A boolean is "true" or "false", a null is empty, and so is a double that is not
/// finite. Returns a slice of the item's own content, of `digits`, or of static storage. Pure; call from any thread.
NC_API nc_slice nc_params_text(const nc_params_item *item, nc_params_digits *digits);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
