/// JSON Schema 2020-12: schemas are compiled once, and applied to a text while it arrives.
///
/// The check ends at the first byte that decides the result. It builds no tree: its memory depends on the depth of the
/// text and on the schema, and every part of it has a limit.
///
///     nc_schema *schema = NULL;
///     nc_error err;
///     if (nc_schema_compile(&schema, schema_text, NULL, &err) == NC_OK &&
///         nc_schema_check(schema, text, NULL, NULL, &err) != NC_OK)
///         fprintf(stderr, "%s\n", err.message); // at /age: expected at least 0, found -1 (#/properties/age/minimum)
///     nc_schema_release(schema);
///
/// - All vocabularies of 2020-12 are implemented. Content keywords are annotations, and so is `format` unless an option
///   or the meta-schema makes it an assertion. `dependencies` works as in earlier drafts.
/// - The library loads nothing: a reference may point into the same document, to the meta-schema of 2020-12, or to a
///   document that the caller passes.
/// - Patterns are matched in linear time. Backreferences and look-around are refused when the schema is compiled.
/// - Numbers are compared exactly, digit by digit. A number in a schema has at most NC_SHAPE_MAX_DIGITS digits.
/// - If a member name occurs twice in a text, the schema applies to both members. A schema with such a name is refused.
#ifndef NETCORE_SCHEMA_H
#define NETCORE_SCHEMA_H

#include <netcore/json.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The largest schema document, in bytes.
#define NC_SCHEMA_MAX_BYTES (4u * 1024u * 1024u)
/// The default of nc_schema_limits.max_frames.
#define NC_SCHEMA_DEFAULT_MAX_FRAMES 20000u
/// The default of nc_schema_limits.max_text_bytes.
#define NC_SCHEMA_DEFAULT_MAX_TEXT_BYTES (8u * 1024u * 1024u)
/// The default of nc_schema_limits.max_state_bytes.
#define NC_SCHEMA_DEFAULT_MAX_STATE_BYTES (32u * 1024u * 1024u)
/// The default of nc_schema_limits.steps_per_byte.
#define NC_SCHEMA_DEFAULT_STEPS_PER_BYTE 2000u

/// A compiled schema: immutable and reference-counted. Threads may share it.
typedef struct nc_schema nc_schema;

/// A document that references may point to.
typedef struct nc_schema_document {
    /// Its absolute URI, without a fragment.
    nc_slice uri;
    /// Its text.
    nc_slice text;
} nc_schema_document;

/// Options of compiling. All zero, or NULL, selects the defaults.
typedef struct nc_schema_options {
    /// The absolute URI of the schema: its references are relative to it. Empty if it has none.
    nc_slice uri;
    /// The documents that references may point to. A document is read only if a reference points to it.
    const nc_schema_document *NC_NULLABLE documents;
    /// Number of documents.
    size_t document_count;
    /// True makes `format` an assertion: a value that does not have the format is refused.
    bool asserts_formats;
} nc_schema_options;

/// Compiles a schema.
///
/// - out:     owned by the caller; release it with nc_schema_release(). It does not borrow the text or the documents.
/// - options: NULL means the defaults.
/// Returns NC_OK, NC_ERR_BAD_SHAPE (err->message has the location and the reason: not JSON, a keyword with a wrong
/// value, a reference without a target, an unsupported pattern, endless recursion), NC_ERR_TOO_LARGE,
/// NC_ERR_NO_MEMORY. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_schema_compile(nc_schema *NC_NULLABLE *NC_NONNULL out, nc_slice text,
                                                const nc_schema_options *NC_NULLABLE options,
                                                nc_error *NC_NULLABLE err);

/// Adds a reference and returns its argument.
///
/// Thread-safe.
NC_API nc_schema *nc_schema_retain(nc_schema *schema);

/// Drops a reference. The last one frees the schema. NULL is allowed.
///
/// Thread-safe.
NC_API void nc_schema_release(nc_schema *NC_NULLABLE schema);

/// Limits of a check. 0 selects a default. A text that exceeds one is refused with NC_ERR_TOO_LARGE.
typedef struct nc_schema_limits {
    /// Largest number of schemas that are applied to open values at the same time.
    uint32_t max_frames;
    /// Largest number of elements in all open arrays with `uniqueItems`. 0 means NC_JSON_DEFAULT_MAX_NAMES. Each takes
    /// 24 bytes.
    uint32_t max_unique_items;
    /// Longest string, name or number that is stored because a keyword needs all of it, in bytes.
    size_t max_text_bytes;
    /// Largest size of the records of evaluated members and elements, which `unevaluatedProperties` and
    /// `unevaluatedItems` need, in bytes.
    size_t max_state_bytes;
    /// Average number of steps that the check may take for each byte, in addition to 10 million.
    uint32_t steps_per_byte;
} nc_schema_limits;

/// The reason why a text does not match a schema.
typedef struct nc_schema_failure {
    /// Offset, from 0, of the byte or token that decided the result.
    uint64_t offset;
    /// Line of that byte, from 1.
    uint64_t line;
    /// Its column, from 1, in characters.
    uint64_t column;
    /// The location of the value: a JSON Pointer (RFC 6901), empty for the whole text. Truncated to 4 KiB.
    nc_slice instance;
    /// The location of the keyword: '#' and a JSON Pointer, after the URI of the document if that is not the main one.
    nc_slice keyword;
    /// What the keyword expects, such as "at least 0".
    nc_slice wanted;
    /// What was found, such as "-1" or "object".
    nc_slice found;
} nc_schema_failure;

/// Creates a validator as nc_json_new() does, which also applies a schema.
///
/// nc_json_feed() returns NC_ERR_SHAPE_MISMATCH at the first byte that shows that the text does not match.
/// err->message is "at /pointer: expected …, found … (location of the keyword)". If the text is not JSON, the status is
/// NC_ERR_BAD_JSON. nc_json_mismatch_at() also describes the failure.
///
/// - schema: retained until the validator is freed.
/// - limits: NULL means the defaults; copied.
/// - json:   as in nc_json_new().
/// Returns NC_OK, NC_ERR_USAGE for limits out of range, NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_json_new_with_schema(nc_json *NC_NULLABLE *NC_NONNULL out, nc_schema *schema,
                                                      const nc_schema_limits *NC_NULLABLE limits,
                                                      const nc_json_options *NC_NULLABLE json,
                                                      nc_error *NC_NULLABLE err);

/// Returns the failure of a validator from nc_json_new_with_schema(); all zero if there is none.
///
/// Its slices are borrowed from the validator until it is fed, reset or freed.
/// Confined: one thread at a time.
NC_API nc_schema_failure nc_json_schema_failure(const nc_json *json);

/// Validates a whole text and applies a schema. nc_json_new_with_schema() has the details of an error.
///
/// Returns NC_OK, NC_ERR_BAD_JSON, NC_ERR_SHAPE_MISMATCH, NC_ERR_TOO_LARGE, NC_ERR_USAGE, NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_schema_check(nc_schema *schema, nc_slice text,
                                              const nc_schema_limits *NC_NULLABLE limits,
                                              const nc_json_options *NC_NULLABLE json, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
