/// Shapes: what a JSON text has to look like, compiled once and matched while the text is checked.
///
/// A shape document is JSON itself:
///
///     "string"                  a type: any, string, number, integer, boolean, null, object, array
///     "string|number?"          one of several; a trailing ? allows null too
///     {"id": "integer", "note?": "string?", "odd??": "any"}
///                               an object that has these members; one whose name ends in ? may be absent, ?? stands
///                               for ?; others are ignored, unless "$closed": true is a member of the shape
///     []                        any array
///     ["number"]                an array of such elements
///     {"$type": "integer", "$min": 1, "$max": 10}
///                               with limits, all of them inclusive: $min $max (numbers, compared exactly),
///                               $minLength $maxLength (strings, in characters), $minItems $maxItems (arrays),
///                               $enum (an array of strings, numbers, true, false, null; numbers equal by value)
///     {"$type": "object?", "id": "integer"}     {"$type": "array?", "$items": "string"}
///                               members or elements together with other types; without $type it follows from the rest
///
/// A member whose own name begins with $ is written with two. 1.0 and 1e2 are integers, 1.5 is not; true is no number.
/// Names compare exactly, after unescaping. There is no $pattern: a regular expression would have to remember the text.
#ifndef NETCORE_SHAPE_H
#define NETCORE_SHAPE_H

#include <netcore/json.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Shapes within one another at most.
#define NC_SHAPE_MAX_DEPTH 128u
/// Bytes of a shape document at most.
#define NC_SHAPE_MAX_BYTES (4u * 1024u * 1024u)
/// Digits of a $min, $max or number of $enum at most.
#define NC_SHAPE_MAX_DIGITS 64u
/// Mismatches collected at most.
#define NC_SHAPE_MAX_MISMATCHES 1000u

/// A compiled shape: immutable, shared by reference.
typedef struct nc_shape nc_shape;

/// Compiles a shape document.
///
/// - out: one reference, the caller's; drop it with nc_shape_release().
/// Returns NC_OK, NC_ERR_BAD_SHAPE (err->message names the place by JSON Pointer and what is wrong, err->offset is the
/// byte; also when the document is no JSON, or names a member twice), NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_shape_parse(nc_shape *NC_NULLABLE *NC_NONNULL out, nc_slice document,
                                             nc_error *NC_NULLABLE err);

/// Adds a reference and returns its argument.
///
/// Thread-safe.
NC_API nc_shape *nc_shape_retain(nc_shape *shape);

/// Drops a reference; the last one frees the shape. NULL is harmless.
///
/// Thread-safe.
NC_API void nc_shape_release(nc_shape *NC_NULLABLE shape);

/// How a shape is matched; all zero is the default, and NULL means the same.
typedef struct nc_shape_options {
    /// Mismatches to collect before the check ends; 0 means 1, at most NC_SHAPE_MAX_MISMATCHES.
    uint32_t max_mismatches;
    /// True is as lenient as YTKNetwork: null passes as the value of any member, a boolean as a number or an integer.
    bool is_lenient;
} nc_shape_options;

/// One place where a text is not as the shape wants it.
typedef struct nc_shape_mismatch {
    /// The value's first byte, counted from 0; for what is missing the `}` or `]` that ends its container, for an
    /// element too many that element, for a member that a closed object refuses its name.
    uint64_t offset;
    /// The line of that byte, counted from 1.
    uint64_t line;
    /// Its column, counted from 1 in characters.
    uint64_t column;
    /// JSON Pointer (RFC 6901) to the value; empty for the whole text. Cut at 4 KiB; a
    /// name that the shape does not know is cut at 256 bytes, or at the longest text that the shape compares with.
    nc_slice pointer;
    /// What was wanted, such as "string|number", "at most 10" or "no such member".
    nc_slice wanted;
    /// What was there: "object", "array", "string", "number", "boolean", "null", "nothing" for a missing member or "a
    /// member" for one that a closed object refuses; a number or a length behind it where a limit is passed.
    nc_slice found;
} nc_shape_mismatch;

/// Begins a check of a text that also has to have a shape; otherwise as nc_json_new().
///
/// nc_json_feed() and nc_json_finish() then return NC_ERR_SHAPE_MISMATCH too: the former as soon as `max_mismatches`
/// were found, the latter when there were fewer. A text that is not JSON is NC_ERR_BAD_JSON in any case, with the
/// mismatches before the fault kept. err->message is "at /pointer: wanted …, found …", err->offset the first's.
///
/// - shape:   retained until the check is freed.
/// - options: NULL means the defaults; copied. - json: as in nc_json_new().
/// Returns NC_OK, NC_ERR_USAGE for limits out of range, NC_ERR_NO_MEMORY. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_json_new_matching(nc_json *NC_NULLABLE *NC_NONNULL out, nc_shape *shape,
                                                   const nc_shape_options *NC_NULLABLE options,
                                                   const nc_json_options *NC_NULLABLE json, nc_error *NC_NULLABLE err);

/// Counts the mismatches found so far.
///
/// Confined: one thread at a time.
NC_API size_t nc_json_mismatch_count(const nc_json *json);

/// Gives one mismatch, in the order of the text; all zero when `index` is out of range.
///
/// Its slices are borrowed from the check, until it is fed, reset or freed. Confined: one thread at a time.
NC_API nc_shape_mismatch nc_json_mismatch_at(const nc_json *json, size_t index);

/// Checks and matches a whole text at once; for details use nc_json_new_matching().
///
/// Returns NC_OK, NC_ERR_BAD_JSON, NC_ERR_SHAPE_MISMATCH, NC_ERR_USAGE, NC_ERR_NO_MEMORY. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_shape_check(nc_shape *shape, nc_slice text,
                                             const nc_shape_options *NC_NULLABLE options,
                                             const nc_json_options *NC_NULLABLE json, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
