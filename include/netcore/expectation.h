/// Requirements on a response's body, checked on the loop thread while the body arrives.
///
/// The first wrong byte ends the transfer with NC_ERR_BAD_JSON or NC_ERR_SHAPE_MISMATCH. The error and the response
/// contain its position. The response keeps its head and the body that had arrived. A sink's on_body has already
/// received the piece with the wrong byte. If the body was being saved to a file, the file is removed.
///
/// A response is checked if its status and content type match the options. Other responses are delivered unchecked, but
/// are not saved to a file. If the content type is JSON with another charset than UTF-8, the transfer ends with
/// NC_ERR_BAD_CHARSET (RFC 8259, 8.1).
///
///     nc_expectation *expectation = NULL;
///     nc_expectation_options options = {.shape = shape};
///     if (nc_expectation_new(&expectation, &options, &err) == NC_OK) request.expectation = expectation;
#ifndef NETCORE_EXPECTATION_H
#define NETCORE_EXPECTATION_H

#include <netcore/request.h>
#include <netcore/response.h>
#include <netcore/schema.h>
#include <netcore/shape.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Options of an expectation. A zeroed struct requires any JSON if the status is 200 to 299.
typedef struct nc_expectation_options {
    /// The required shape; NULL requires any JSON. Retained.
    nc_shape *NC_NULLABLE shape;
    /// Options of shape matching.
    nc_shape_options matching;
    /// Options of JSON parsing. The limit of the body is nc_limits.max_body_bytes.
    nc_json_options json;
    /// The lowest status to check; 0 means 200.
    uint16_t min_status;
    /// The highest status to check; 0 means 299.
    uint16_t max_status;
    /// The content types to check, without parameters, case-insensitive; copied. Examples: "text/json";
    /// "application/*"; "*+json" for a suffix (RFC 6839); "" for a response without a type; "*/*" for all responses,
    /// also without a type.
    const nc_slice *NC_NULLABLE types;
    /// Number of types; 0 means application/json, text/json, text/javascript and *+json.
    size_t type_count;
    /// True accepts a body that is empty or consists of white space. False refuses such a body regardless of the
    /// content type, and also with status 204. A response to HEAD is never checked.
    bool allows_empty;
    /// The schema to apply instead of a shape; NULL applies none. Retained.
    nc_schema *NC_NULLABLE schema;
    /// Limits of applying the schema.
    nc_schema_limits schema_limits;
} nc_expectation_options;

/// Creates an expectation.
///
/// - out: owned by the caller; release it with nc_expectation_release(). A request retains it while needed.
/// Returns NC_OK, NC_ERR_USAGE (a status or limit out of range, a malformed type, both a shape and a schema),
/// NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_expectation_new(nc_expectation *NC_NULLABLE *NC_NONNULL out,
                                                 const nc_expectation_options *options, nc_error *NC_NULLABLE err);

/// Adds a reference and returns its argument.
///
/// Thread-safe.
NC_API nc_expectation *nc_expectation_retain(nc_expectation *expectation);

/// Drops a reference. The last one frees the expectation. NULL is allowed.
///
/// Thread-safe.
NC_API void nc_expectation_release(nc_expectation *NC_NULLABLE expectation);

/// Returns true if the body was checked by an expectation, even if the check failed.
///
/// Thread-safe.
NC_API bool nc_response_was_checked(const nc_response *response);

/// Returns the JSON error of the body. Its `fault` is NC_JSON_FAULT_NONE if there is no error or the body was not
/// checked.
///
/// Thread-safe.
NC_API nc_json_failure nc_response_json_failure(const nc_response *response);

/// Returns the number of mismatches between the body and the shape.
///
/// Thread-safe.
NC_API size_t nc_response_mismatch_count(const nc_response *response);

/// Returns the reason why the body does not match the schema; all zero if it does, or without a schema. Its slices are
/// borrowed from the response.
///
/// Thread-safe.
NC_API nc_schema_failure nc_response_schema_failure(const nc_response *response);

/// Returns one mismatch; all zero if `index` is out of range. Its slices are borrowed from the response.
///
/// Thread-safe.
NC_API nc_shape_mismatch nc_response_mismatch_at(const nc_response *response, size_t index);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
