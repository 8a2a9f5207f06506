#include "net/proof.h"

#include "base/error.h"
#include "body/content_type.h"
#include "net/response.h"

#include <string.h>

/// The first error of a transfer counts; it keeps its position.
static nc_status note(nc_transfer *transfer, const nc_error *err) {
    if (transfer->error.status == NC_OK) {
        transfer->error = *err;
    }
    return err->status;
}

/// Returns the charset in a response's type, if it is not UTF-8.
static bool names_another_charset(const nc_transfer *transfer, nc_slice *charset) {
    nc_slice type = {0};
    (void)nc_response_find_header(transfer->response, nc_slice_of("Content-Type"), &type);
    return nc_content_type_parameter(charset, type, "charset") && charset->length > 0 &&
           !nc_slice_is_equal_ignoring_case(*charset, nc_slice_of("utf-8")) &&
           !nc_slice_is_equal_ignoring_case(*charset, nc_slice_of("utf8")) &&
           !nc_slice_is_equal_ignoring_case(*charset, nc_slice_of("us-ascii"));
}

/// Records the result of a check.
///
/// JSON is UTF-8, and a charset in its type has no effect (RFC 8259, 8.1 and 11). The charset is only reported if it
/// explains an invalid byte, such as one of ISO-8859-1 or the NULs of UTF-16.
static nc_status note_fault(nc_transfer *transfer, nc_json *check, nc_error *err) {
    static const char byte[] = "byte ";
    nc_slice charset;
    const nc_json_failure *failure = nc_json_failure_of(check);
    bool is_no_json_byte =
        failure->fault == NC_JSON_FAULT_UTF8 ||
        (failure->fault != NC_JSON_FAULT_NONE && strncmp(failure->found, byte, sizeof byte - 1) == 0);
    if (err->status == NC_ERR_BAD_JSON && is_no_json_byte && names_another_charset(transfer, &charset)) {
        (void)nc_error_set(err, NC_ERR_BAD_CHARSET, 0, err->offset, "JSON is UTF-8, the response says '%.*s'",
                           charset.length < 64 ? (int)charset.length : 64, (const char *)charset.data);
    }
    return note(transfer, err);
}

bool nc_proof_allows_saving(const nc_transfer *transfer) {
    const nc_expectation *expectation = transfer->expectation;
    nc_slice type = {0};
    (void)nc_response_find_header(transfer->response, nc_slice_of("Content-Type"), &type);
    return expectation == NULL ||
           (nc_expectation_speaks_of_status(expectation, nc_response_status(transfer->response)) &&
            nc_expectation_speaks_of_type(expectation, type));
}

nc_status nc_proof_begin(nc_transfer *transfer) {
    nc_response *response = transfer->response;
    const nc_expectation *expectation = transfer->expectation;
    nc_json *check = NULL;
    nc_error err;
    nc_response_take_check(response, NULL, false);
    if (expectation == NULL || transfer->description.is_head ||
        !nc_expectation_speaks_of_status(expectation, nc_response_status(response))) {
        return NC_OK;
    }
    nc_slice type = {0};
    (void)nc_response_find_header(response, nc_slice_of("Content-Type"), &type);
    bool is_checked = nc_expectation_speaks_of_type(expectation, type);
    const nc_expectation_options *options = nc_expectation_options_of(expectation);
    nc_status status = options->shape == NULL
                           ? nc_json_new(&check, &options->json, &err)
                           : nc_json_new_matching(&check, options->shape, &options->matching, &options->json, &err);
    if (status != NC_OK) {
        return note(transfer, &err);
    }
    nc_response_take_check(response, check, is_checked);
    return NC_OK;
}

nc_status nc_proof_take(nc_transfer *transfer, nc_slice bytes) {
    nc_error err;
    if (transfer->expectation == NULL || !nc_response_was_checked(transfer->response)) {
        return NC_OK;
    }
    nc_json *check = nc_response_check(transfer->response);
    return nc_json_feed(check, bytes, &err) == NC_OK ? NC_OK : note_fault(transfer, check, &err);
}

void nc_proof_end(nc_transfer *transfer) {
    nc_error err;
    nc_json *check = transfer->expectation != NULL ? nc_response_check(transfer->response) : NULL;
    if (check == NULL || transfer->error.status != NC_OK || transfer->leads_on) {
        return;
    }
    bool is_blank = nc_json_is_blank(check);
    if (is_blank && nc_expectation_options_of(transfer->expectation)->allows_empty) {
        return;
    }
    if (!nc_response_was_checked(transfer->response) && transfer->body_bytes > 0) {
        return; // The expectation does not cover its type.
    }
    if (nc_json_finish(check, &err) == NC_OK) {
        return;
    }
    if (is_blank) {
        (void)nc_error_set(&err, NC_ERR_BAD_JSON, 0, err.offset, "the body is empty where JSON is expected");
    }
    (void)note_fault(transfer, check, &err);
}
