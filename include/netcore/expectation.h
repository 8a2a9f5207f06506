/// What a response's body has to be, checked in the engine's loop while it arrives.
///
/// The first byte that is wrong ends the transfer: NC_ERR_BAD_JSON or NC_ERR_SHAPE_MISMATCH, with the place in the
/// error and in the response, which also keeps its head and the body so far (a sink's on_body has had the piece that
/// holds the wrong byte; a file that was to be saved is removed). An expectation speaks only of responses with an
/// acceptable status and content type: any other arrives whole and unchecked, as if nothing were expected, and is not
/// saved to a file. A type of JSON with a charset that is not UTF-8 is NC_ERR_BAD_CHARSET (RFC 8259, 8.1).
///
///     nc_expectation *expectation = NULL;
///     nc_expectation_options options = {.shape = shape};
///     if (nc_expectation_new(&expectation, &options, &err) == NC_OK) request.expectation = expectation;
#ifndef NETCORE_EXPECTATION_H
#define NETCORE_EXPECTATION_H

#include <netcore/response.h>
#include <netcore/shape.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// What is expected, and of which responses; all zero is JSON of any shape from a status 200 to 299.
typedef struct nc_expectation_options {
    /// The shape; NULL expects JSON and nothing more. Retained.
    nc_shape *NC_NULLABLE shape;
    /// How it is matched.
    nc_shape_options matching;
    /// What JSON is accepted. The body's own limit is nc_limits.max_body_bytes, as ever.
    nc_json_options json;
    /// The first status that it speaks of; 0 means 200.
    uint16_t min_status;
    /// The last status that it speaks of; 0 means 299.
    uint16_t max_status;
    /// Content types that it speaks of, without parameters, letter case ignored: "text/json", "application/*",
    /// "*/*" (a response without any type as well), "*+json" for a suffix (RFC 6839) or "" for a response without a
    /// type. Copied.
    const nc_slice *NC_NULLABLE types;
    /// Number of types; 0 means application/json, text/json, text/javascript and *+json.
    size_t type_count;
    /// True lets an empty body pass, and one of white space alone. Without it an empty body is wrong whatever its
    /// content type, that of a 204 too; a reply to HEAD has none, and is never checked.
    bool allows_empty;
} nc_expectation_options;

/// An expectation: immutable, shared by reference.
typedef struct nc_expectation nc_expectation;

/// Makes an expectation.
///
/// - out: one reference, the caller's; drop it with nc_expectation_release(). A request retains it while needed.
/// Returns NC_OK, NC_ERR_USAGE (statuses or limits out of range, a type that is none), NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_expectation_new(nc_expectation *NC_NULLABLE *NC_NONNULL out,
                                                 const nc_expectation_options *options, nc_error *NC_NULLABLE err);

/// Adds a reference and returns its argument.
///
/// Thread-safe.
NC_API nc_expectation *nc_expectation_retain(nc_expectation *expectation);

/// Drops a reference; the last one frees the expectation. NULL is harmless.
///
/// Thread-safe.
NC_API void nc_expectation_release(nc_expectation *NC_NULLABLE expectation);

/// Tells whether the body was checked against an expectation, whatever came of it.
///
/// Thread-safe.
NC_API bool nc_response_was_checked(const nc_response *response);

/// Copies what is wrong with the body as JSON; its fault is NC_JSON_FAULT_NONE when nothing is, or nothing was checked.
///
/// Thread-safe.
NC_API nc_json_failure nc_response_json_failure(const nc_response *response);

/// Counts the places where the body is not as the expected shape wants it.
///
/// Thread-safe.
NC_API size_t nc_response_mismatch_count(const nc_response *response);

/// Gives one of them; all zero when `index` is out of range. Its slices are borrowed from the response.
///
/// Thread-safe.
NC_API nc_shape_mismatch nc_response_mismatch_at(const nc_response *response, size_t index);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
