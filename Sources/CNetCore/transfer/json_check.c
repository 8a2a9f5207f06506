#include "transfer/internal.h"

#include "base/error.h"
#include "request/response.h"
#include "state/transfer_state.h"

#include <netcore/media_type.h>
#include <string.h>

/// Records an error with its position in the JSON text, unless the transfer already has an error.
static nc_status record_error(nc_transfer *transfer, const nc_error *err) {
    if (transfer->error.status == NC_OK) {
        transfer->error = *err;
    }
    return err->status;
}

/// Returns the charset in a response's type, if it is not UTF-8.
static bool names_another_charset(const nc_transfer *transfer, nc_slice *charset) {
    nc_slice type = {0};
    (void)nc_response_find_header(transfer->response, nc_slice_of("Content-Type"), &type);
    return nc_media_type_parameter(type, nc_slice_of("charset"), charset) && charset->length > 0 &&
           !nc_slice_is_equal_ignoring_case(*charset, nc_slice_of("utf-8")) &&
           !nc_slice_is_equal_ignoring_case(*charset, nc_slice_of("utf8")) &&
           !nc_slice_is_equal_ignoring_case(*charset, nc_slice_of("us-ascii"));
}

/// Records the result of a check.
///
/// JSON is UTF-8, and a charset in its type has no effect (RFC 8259, 8.1 and 11). The charset is only reported if it
/// explains an invalid byte, such as one of ISO-8859-1 or the NULs of UTF-16.
static nc_status record_fault(nc_transfer *transfer, nc_json *check, nc_error *err) {
    static const char byte[] = "byte ";
    nc_slice charset;
    const nc_json_failure *failure = nc_json_failure_of(check);
    bool is_no_json_byte =
        failure->fault == NC_JSON_FAULT_UTF8 ||
        (failure->fault != NC_JSON_FAULT_NONE && strncmp(failure->found, byte, sizeof byte - 1) == 0);
    if (err->status == NC_ERR_BAD_JSON && is_no_json_byte && names_another_charset(transfer, &charset)) {
        (void)nc_error_set(err, NC_ERR_BAD_CHARSET, 0, err->offset,
                           "JSON must be UTF-8, but the charset of the response is '%.*s'",
                           charset.length < 64 ? (int)charset.length : 64, (const char *)charset.data);
    }
    return record_error(transfer, err);
}

bool nc_json_check_allows_saving(const nc_transfer *transfer) {
    const nc_expectation *expectation = transfer->expectation;
    nc_slice type = {0};
    (void)nc_response_find_header(transfer->response, nc_slice_of("Content-Type"), &type);
    return expectation == NULL ||
           (nc_expectation_applies_to_status(expectation, nc_response_status(transfer->response)) &&
            nc_expectation_applies_to_type(expectation, type));
}

static nc_status new_check(nc_json **out, const nc_expectation_options *options, nc_error *err) {
    if (options->schema != NULL) {
        return nc_json_new_with_schema(out, options->schema, &options->schema_limits, &options->json, err);
    }
    return options->shape == NULL ? nc_json_new(out, &options->json, err)
                                  : nc_json_new_matching(out, options->shape, &options->matching, &options->json, err);
}

nc_status nc_json_check_begin(nc_transfer *transfer) {
    nc_response *response = transfer->response;
    const nc_expectation *expectation = transfer->expectation;
    nc_json *check = NULL;
    nc_error err;
    nc_response_take_check(response, NULL, false);
    if (expectation == NULL || transfer->request.is_head ||
        !nc_expectation_applies_to_status(expectation, nc_response_status(response))) {
        return NC_OK;
    }
    nc_slice type = {0};
    (void)nc_response_find_header(response, nc_slice_of("Content-Type"), &type);
    bool is_checked = nc_expectation_applies_to_type(expectation, type);
    nc_status status = new_check(&check, nc_expectation_options_of(expectation), &err);
    if (status != NC_OK) {
        return record_error(transfer, &err);
    }
    nc_response_take_check(response, check, is_checked);
    return NC_OK;
}

nc_status nc_json_check_feed(nc_transfer *transfer, nc_slice bytes) {
    nc_error err;
    if (transfer->expectation == NULL || !nc_response_was_checked(transfer->response)) {
        return NC_OK;
    }
    nc_json *check = nc_response_check(transfer->response);
    return nc_json_feed(check, bytes, &err) == NC_OK ? NC_OK : record_fault(transfer, check, &err);
}

void nc_json_check_end(nc_transfer *transfer) {
    nc_error err;
    nc_json *check = transfer->expectation != NULL ? nc_response_check(transfer->response) : NULL;
    if (check == NULL || transfer->error.status != NC_OK || nc_hop_is_redirect(transfer)) {
        return;
    }
    bool is_blank = nc_json_is_blank(check);
    if (is_blank && nc_expectation_options_of(transfer->expectation)->allows_empty) {
        return;
    }
    if (!nc_response_was_checked(transfer->response) && transfer->hop.body_bytes > 0) {
        return; // The expectation does not cover the response's type.
    }
    if (nc_json_finish(check, &err) == NC_OK) {
        return;
    }
    if (is_blank) {
        (void)nc_error_set(&err, NC_ERR_BAD_JSON, 0, err.offset, "the body is empty, but JSON is expected");
    }
    (void)record_fault(transfer, check, &err);
}
