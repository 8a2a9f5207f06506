/// Shapes: schemas of JSON texts. A shape is compiled once and matched while a text is validated.
///
/// A shape document is JSON:
///
///     "string"                  a type: any, string, number, integer, boolean, null, object, array
///     "string|number?"          one of several; a trailing ? allows null too
///     {"id": "integer", "note?": "string?", "odd??": "any"}
///                               an object with these members; a name that ends with ? may be absent, ?? means a
///                               literal ?; other members are ignored, unless the shape has "$closed": true
///     []                        any array
///     ["number"]                an array of such elements
///     {"$type": "integer", "$min": 1, "$max": 10}
///                               with inclusive limits: $min $max (numbers, compared exactly),
///                               $minLength $maxLength (strings, in characters), $minItems $maxItems (arrays),
///                               $enum (an array of strings, numbers, true, false, null; numbers equal by value)
///     {"$type": "object?", "id": "integer"}     {"$type": "array?", "$items": "string"}
///                               members or elements combined with other types; without $type the rest implies it
///
/// If a member's name begins with $, write it with $$. 1.0 and 1e2 are integers, 1.5 is not; true is not a number.
/// Names are compared exactly, after unescaping. There is no $pattern, because matching a regular expression would
/// require to buffer the text.
#ifndef NETCORE_SHAPE_H
#define NETCORE_SHAPE_H

#include <netcore/json.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The largest depth of nested shapes.
#define NC_SHAPE_MAX_DEPTH 128u
/// The largest shape document, in bytes.
#define NC_SHAPE_MAX_BYTES (4u * 1024u * 1024u)
/// The largest number of digits of a number in $min, $max or $enum.
#define NC_SHAPE_MAX_DIGITS 64u
/// The largest value of nc_shape_options.max_mismatches.
#define NC_SHAPE_MAX_MISMATCHES 1000u

/// A compiled shape: immutable and reference-counted.
typedef struct nc_shape nc_shape;

/// Compiles a shape document.
///
/// - out: owned by the caller; release it with nc_shape_release().
/// Returns NC_OK, NC_ERR_BAD_SHAPE (err->message has a JSON Pointer and the reason, err->offset is the byte; also if
/// the document is not JSON or has a duplicate name), NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_shape_parse(nc_shape *NC_NULLABLE *NC_NONNULL out, nc_slice document,
                                             nc_error *NC_NULLABLE err);

/// Adds a reference and returns its argument.
///
/// Thread-safe.
NC_API nc_shape *nc_shape_retain(nc_shape *shape);

/// Drops a reference. The last one frees the shape. NULL is allowed.
///
/// Thread-safe.
NC_API void nc_shape_release(nc_shape *NC_NULLABLE shape);

/// Options of matching. All zero, or NULL, selects the defaults.
typedef struct nc_shape_options {
    /// Number of mismatches after which the validation ends. 0 means 1; at most NC_SHAPE_MAX_MISMATCHES.
    uint32_t max_mismatches;
    /// True matches with the lenient rules of YTKNetwork: any member may be null, and a boolean is a valid number or
    /// integer.
    bool is_lenient;
} nc_shape_options;

/// A position where a text does not match the shape.
typedef struct nc_shape_mismatch {
    /// Offset, from 0, of a byte that depends on the mismatch:
    ///
    /// - wrong value: its first byte
    /// - missing value: the `}` or `]` of its container
    /// - extra element: its first byte
    /// - unknown member of a closed object: its name
    uint64_t offset;
    /// Line of that byte, from 1.
    uint64_t line;
    /// Its column, from 1, in characters.
    uint64_t column;
    /// JSON Pointer (RFC 6901) to the value; empty for the whole text. Truncated to 4 KiB. A name that the shape does
    /// not contain is truncated to 256 bytes, or to the length of the longest text in the shape if that is larger.
    nc_slice pointer;
    /// What was expected, such as "string|number", "at most 10" or "a known member".
    nc_slice wanted;
    /// What was found: "object", "array", "string", "number", "boolean" or "null"; "nothing" if the value is missing;
    /// "an unknown member" in a closed object. If a limit is exceeded, the number or length follows.
    nc_slice found;
} nc_shape_mismatch;

/// Creates a validator as nc_json_new() does, which also matches a shape.
///
/// nc_json_feed() returns NC_ERR_SHAPE_MISMATCH when `max_mismatches` have been found. If there were fewer,
/// nc_json_finish() returns it. err->message is "at /pointer: expected …, found …", and err->offset is that of the
/// first mismatch. If the text is not JSON, the status is NC_ERR_BAD_JSON; the mismatches before the error are kept.
///
/// - shape:   retained until the validator is freed.
/// - options: NULL means the defaults; copied.
/// - json:    as in nc_json_new().
/// Returns NC_OK, NC_ERR_USAGE for limits out of range, NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_json_new_matching(nc_json *NC_NULLABLE *NC_NONNULL out, nc_shape *shape,
                                                   const nc_shape_options *NC_NULLABLE options,
                                                   const nc_json_options *NC_NULLABLE json, nc_error *NC_NULLABLE err);

/// Returns the number of mismatches so far.
///
/// Confined: one thread at a time.
NC_API size_t nc_json_mismatch_count(const nc_json *json);

/// Returns one mismatch, in the order of the text; all zero if `index` is out of range.
///
/// Its slices are borrowed from the validator until it is fed, reset or freed.
/// Confined: one thread at a time.
NC_API nc_shape_mismatch nc_json_mismatch_at(const nc_json *json, size_t index);

/// Validates and matches a whole text. nc_json_new_matching() has the details of an error.
///
/// Returns NC_OK, NC_ERR_BAD_JSON, NC_ERR_SHAPE_MISMATCH, NC_ERR_USAGE, NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_shape_check(nc_shape *shape, nc_slice text,
                                             const nc_shape_options *NC_NULLABLE options,
                                             const nc_json_options *NC_NULLABLE json, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
