/// JSON as trees of cJSON: a checked text becomes a tree, and a tree becomes parameters or the body of a request.
///
/// A library of its own, libnetcore_cjson; libnetcore does not need cJSON. A text is read by the strict parser of
/// <netcore/json.h>, which refuses what cJSON_Parse() accepts, such as leading zeros, control characters in strings,
/// and invalid UTF-8. If a value cannot be stored in cJSON without loss, reading fails and names the value.
///
///     cJSON *tree = NULL;
///     if (nc_cjson_body(response, NULL, &tree, &err) == NC_OK) {
///         puts(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(tree, "name")));
///     }
///     cJSON_Delete(tree);
#ifndef NETCORE_CJSON_H
#define NETCORE_CJSON_H

#include <cjson/cJSON.h>
#include <netcore/hooks.h>
#include <netcore/json.h>
#include <netcore/params.h>
#include <netcore/response.h>
#include <netcore/shape.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The largest depth of a tree: cJSON_Delete() calls itself for each level. nc_json_options.max_depth cannot be larger.
#define NC_CJSON_MAX_DEPTH 1000u

/// Options of reading. All zero, or NULL, selects the defaults.
typedef struct nc_cjson_options {
    /// Options of the parser. If a name occurs several times in an object, the last value is used, at the position of
    /// the first one, unless `refuses_duplicate_names` is set.
    nc_json_options json;
    /// True stores a value that cJSON cannot represent as a cJSON_Raw with the text of the value. False refuses it.
    ///
    /// Such values are:
    /// - an integer beyond 2^53, because cJSON stores numbers as doubles
    /// - a number beyond the range of a double, such as 1e999
    /// - a string with U+0000, because cJSON's strings end there
    /// - an object with U+0000 in a name
    bool keeps_raw;
} nc_cjson_options;

/// Reads a JSON text (RFC 8259) in UTF-8 as a tree.
///
/// - options: NULL means the defaults.
/// - out:     the caller releases the tree with cJSON_Delete(). NULL after an error.
/// Returns NC_OK; the statuses of nc_json_check(); NC_ERR_BAD_PARAMETER for a value that cJSON cannot represent (the
/// message has its JSON Pointer, RFC 6901, and err->offset its first byte); NC_ERR_USAGE for a depth above
/// NC_CJSON_MAX_DEPTH; NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_cjson_read(nc_slice text, const nc_cjson_options *NC_NULLABLE options,
                                            cJSON *NC_NULLABLE *NC_NONNULL out, nc_error *NC_NULLABLE err);

/// Reads the body of a response as a tree.
///
/// The response must have a JSON type: application/json, text/json, text/javascript or *+json. A body in another
/// charset (the parameter "charset") is converted. If the body was already refused by the request's expectation, that
/// error is returned at once. The status of the response is not examined.
///
/// Returns the statuses of nc_cjson_read() and nc_charset_to_utf8(); NC_ERR_BAD_JSON also for another content type or
/// none, and for an empty body; NC_ERR_SHAPE_MISMATCH if the body does not have the shape that the request expected.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_cjson_body(const nc_response *response, const nc_cjson_options *NC_NULLABLE options,
                                            cJSON *NC_NULLABLE *NC_NONNULL out, nc_error *NC_NULLABLE err);

/// Appends a tree as compact JSON text, for example for nc_request.body.
///
/// A number has the fewest digits that read back as the same double. Text that nc_json_check() would refuse is never
/// written.
/// Returns NC_OK; NC_ERR_BAD_PARAMETER for a number that is not finite, invalid UTF-8, a cJSON_Raw that is not JSON, or
/// a malformed item; NC_ERR_TOO_LARGE beyond the buffer's maximum or NC_CJSON_MAX_DEPTH, which includes a tree that
/// contains itself; NC_ERR_NO_MEMORY. After an error `out` is unchanged. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_cjson_write(nc_buf *out, const cJSON *tree, nc_error *NC_NULLABLE err);

/// Compares a tree with a shape.
///
/// Returns NC_OK; NC_ERR_SHAPE_MISMATCH (err->message is "at /pointer: expected …, found …"; err->offset is -1); the
/// statuses of nc_cjson_write(); NC_ERR_USAGE for limits out of range.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_cjson_matches(const cJSON *tree, nc_shape *shape,
                                               const nc_shape_options *NC_NULLABLE options, nc_error *NC_NULLABLE err);

/// Adds a tree to the innermost open container of parameters.
///
/// - name: as for nc_params_add_null().
/// Returns NC_OK; NC_ERR_BAD_PARAMETER for a malformed item, a number that is not finite, or a cJSON_Raw that is not
/// JSON; the sticky error of `params`. After an error the parameters contain a part of the tree.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_params_add_cjson(nc_params *params, nc_slice name, const cJSON *tree,
                                                  nc_error *NC_NULLABLE err);

/// Creates a tree from parameters: what nc_json_write() writes, read as by nc_cjson_read().
///
/// Returns the statuses of both functions.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_cjson_of_params(const nc_params *params, const nc_cjson_options *NC_NULLABLE options,
                                                 cJSON *NC_NULLABLE *NC_NONNULL out, nc_error *NC_NULLABLE err);

/// Makes cJSON use an allocator, for example the one passed to nc_set_allocator(). It calls cJSON_InitHooks().
///
/// Call it before the first use of cJSON: a tree is freed by the allocator that is set at that moment.
/// - allocator: copied; NULL restores malloc.
/// Confined: one thread at a time, before all other calls.
NC_API void nc_cjson_set_allocator(const nc_allocator *NC_NULLABLE allocator);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
