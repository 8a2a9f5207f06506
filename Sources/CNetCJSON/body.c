#if defined(NETKIT_CJSON) || !defined(SWIFT_PACKAGE)
/// The body of a response as a tree, and parameters as a tree.
#include "internal.h"

#include <netcore/charset.h>
#include <netcore/expectation.h>
#include <netcore/json_writer.h>
#include <netcore/media_type.h>

enum { MAX_QUOTED = 64 };

static bool is_json(nc_slice type) {
    static const char *const patterns[] = {"application/json", "text/json", "text/javascript", "*+json"};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        if (nc_media_type_matches(type, nc_slice_of(patterns[i]))) {
            return true;
        }
    }
    return false;
}

/// Returns the error that the request's expectation found while the body arrived.
static nc_status status_of_check(const nc_response *response, nc_error *err) {
    nc_json_failure failure = nc_response_json_failure(response);
    if (failure.fault != NC_JSON_FAULT_NONE) {
        return nc_cjson_fail(err, NC_ERR_BAD_JSON, (int64_t)failure.offset,
                             "line %llu, column %llu: expected %s, found %s", (unsigned long long)failure.line,
                             (unsigned long long)failure.column, failure.wanted, failure.found);
    }
    if (nc_response_mismatch_count(response) > 0) {
        nc_shape_mismatch first = nc_response_mismatch_at(response, 0);
        return nc_cjson_fail(err, NC_ERR_SHAPE_MISMATCH, (int64_t)first.offset, "at %.*s: expected %.*s, found %.*s",
                             (int)first.pointer.length, (const char *)first.pointer.data, (int)first.wanted.length,
                             (const char *)first.wanted.data, (int)first.found.length, (const char *)first.found.data);
    }
    return NC_OK;
}

/// Reads a text that is not UTF-8.
static nc_status read_converted(nc_slice body, nc_slice charset, const nc_cjson_options *options, cJSON **out,
                                nc_error *err) {
    nc_buf text = nc_buf_init(SIZE_MAX);
    nc_status status = nc_charset_to_utf8(&text, body, charset, err);
    if (status == NC_OK) {
        status = nc_cjson_read(nc_buf_slice(&text), options, out, err);
    }
    nc_buf_deinit(&text);
    return status;
}

nc_status nc_cjson_body(const nc_response *response, const nc_cjson_options *options, cJSON **out, nc_error *err) {
    *out = NULL;
    nc_slice type = {NULL, 0};
    (void)nc_response_find_header(response, nc_slice_of("Content-Type"), &type);
    if (!is_json(type)) {
        return nc_cjson_fail(err, NC_ERR_BAD_JSON, -1, "the content type \"%.*s\" is not that of JSON",
                             (int)(type.length < MAX_QUOTED ? type.length : MAX_QUOTED),
                             type.length > 0 ? (const char *)type.data : "");
    }
    nc_status status = status_of_check(response, err);
    if (status != NC_OK) {
        return status;
    }
    nc_slice body = nc_response_body(response);
    status = nc_cjson_read(body, options, out, err);
    nc_slice charset = {NULL, 0};
    // JSON is UTF-8 whatever the type says (RFC 8259, 8.1 and 11), so the charset counts only if the text is not.
    if (status == NC_ERR_BAD_JSON && nc_media_type_parameter(type, nc_slice_of("charset"), &charset) &&
        !nc_slice_is_equal_ignoring_case(charset, nc_slice_of("utf-8"))) {
        return read_converted(body, charset, options, out, err);
    }
    return status;
}

nc_status nc_cjson_of_params(const nc_params *params, const nc_cjson_options *options, cJSON **out, nc_error *err) {
    *out = NULL;
    nc_buf text = nc_buf_init(SIZE_MAX);
    nc_json_style style = {.keeps_slashes = true};
    nc_status status = nc_json_write(&text, params, &style, err);
    if (status == NC_OK) {
        status = nc_cjson_read(nc_buf_slice(&text), options, out, err);
    }
    nc_buf_deinit(&text);
    return status;
}
#endif
