/// Requirements on a response's body, checked on the loop thread while the body arrives.
///
/// The first wrong byte ends the transfer with NC_ERR_BAD_JSON or NC_ERR_SHAPE_MISMATCH, and its position is in the
/// error and in the response. The response keeps its head and the body so far. A sink's on_body has received the piece
/// with the wrong byte. A file to save is removed.
///
/// Only responses with an acceptable status and content type are checked. Others arrive unchecked, as without an
/// expectation, and are not saved to a file. A JSON type with a charset other than UTF-8 is NC_ERR_BAD_CHARSET (RFC
/// 8259, 8.1).
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

/// Options of an expectation. All zero requires JSON of any shape if the status is 200 to 299.
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
    /// The content types to check, without parameters, case-insensitive: "text/json", "application/*", "*/*" (responses
    /// without a type too), "*+json" for a suffix (RFC 6839), or "" for a response without a type. Copied.
    const nc_slice *NC_NULLABLE types;
    /// Number of types; 0 means application/json, text/json, text/javascript and *+json.
    size_t type_count;
    /// True accepts a body that is empty or consists of white space. False refuses it with any content type, also with
    /// status 204. A response to HEAD is never checked.
    bool allows_empty;
} nc_expectation_options;

/// An immutable, reference-counted expectation.
typedef struct nc_expectation nc_expectation;

/// Creates an expectation.
///
/// - out: owned by the caller; release it with nc_expectation_release(). A request retains it while needed.
/// Returns NC_OK, NC_ERR_USAGE (a status or limit out of range, a malformed type), NC_ERR_NO_MEMORY.
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

/// Returns true if the body was checked by an expectation, with any result.
///
/// Thread-safe.
NC_API bool nc_response_was_checked(const nc_response *response);

/// Returns the JSON error of the body; its fault is NC_JSON_FAULT_NONE if there is none or the body was not checked.
///
/// Thread-safe.
NC_API nc_json_failure nc_response_json_failure(const nc_response *response);

/// Returns the number of mismatches between the body and the shape.
///
/// Thread-safe.
NC_API size_t nc_response_mismatch_count(const nc_response *response);

/// Returns one mismatch; all zero if `index` is out of range. Its slices are borrowed from the response.
///
/// Thread-safe.
NC_API nc_shape_mismatch nc_response_mismatch_at(const nc_response *response, size_t index);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
