#include "transfer/internal.h"

#include "base/error.h"
#include "request/request_copy.h"
#include "state/easy_handle_record.h"
#include "state/transfer_state.h"

#include <string.h>

/// The name and the value of a trailer in the request's copy.
typedef struct trailer_text {
    nc_slice name;
    nc_slice value;
} trailer_text;

static trailer_text text_at(const nc_copied_trailers *trailers, size_t index) {
    const char *at = trailers->texts;
    for (size_t i = 0; i < 2 * index; i++) {
        at += strlen(at) + 1;
    }
    nc_slice name = nc_slice_of(at);
    return (trailer_text){name, nc_slice_of(at + name.length + 1)};
}

static nc_status refuse(nc_transfer *transfer, const char *what, nc_slice name) {
    return nc_transfer_record_error(transfer, NC_ERR_BODY_SOURCE, 0, "the callback for the trailer %.*s %s",
                                    (int)(name.length < 64 ? name.length : 64), (const char *)name.data, what);
}

/// Appends "Name: value" and a NUL to the prepared lines. Returns NC_OK, or the recorded error.
static nc_status append_line(nc_transfer *transfer, trailer_text text) {
    nc_buf *lines = &transfer->upload.trailer_lines;
    nc_error err;
    nc_status status = nc_check_field(&(nc_header){text.name, text.value}, &err);
    if (status != NC_OK) {
        return nc_transfer_record_error(transfer, status, 0, "%s", err.message);
    }
    nc_buf_append(lines, text.name);
    nc_buf_append(lines, nc_slice_of(": "));
    nc_buf_append(lines, text.value);
    nc_buf_append_byte(lines, 0);
    status = nc_buf_status(lines);
    if (status == NC_ERR_TOO_LARGE) {
        return nc_transfer_record_error(transfer, status, 0, "the trailers exceed %u bytes", NC_MAX_TRAILER_BYTES);
    }
    return status == NC_OK ? NC_OK : nc_transfer_record_error(transfer, status, 0, "no memory for a trailer");
}

/// Calls the callback for one field, and appends its line. Returns false if it has no value yet, or has failed.
static bool compute(nc_transfer *transfer, const nc_copied_trailers *trailers, size_t *result) {
    size_t index = transfer->upload.trailer_count;
    trailer_text text = text_at(trailers, index);
    nc_buf value = nc_buf_init(NC_MAX_TRAILER_BYTES);
    nc_trailer_result computed = trailers->compute(trailers->ctx, transfer->id, index, &value);
    nc_status status = NC_OK;
    switch (computed) {
    case NC_TRAILER_SEND:
        status = nc_buf_status(&value);
        text.value = nc_buf_slice(&value);
        status = status == NC_OK ? append_line(transfer, text)
                                 : nc_transfer_record_error(transfer, status, 0, "the value of the trailer %.*s: %s",
                                                            (int)(text.name.length < 64 ? text.name.length : 64),
                                                            (const char *)text.name.data, nc_status_text(status));
        break;
    case NC_TRAILER_OMIT:
    case NC_TRAILER_LATER:
        break;
    case NC_TRAILER_FAIL:
        status = refuse(transfer, "failed", text.name);
        break;
    default:
        status = refuse(transfer, "returned an invalid result", text.name);
        break;
    }
    nc_buf_deinit(&value);
    *result = status == NC_OK ? CURL_READFUNC_PAUSE : CURL_READFUNC_ABORT;
    return status == NC_OK && computed != NC_TRAILER_LATER;
}

size_t nc_request_trailers_prepare(nc_transfer *transfer) {
    nc_upload *upload = &transfer->upload;
    const nc_copied_trailers *trailers = &transfer->request.options->trailers;
    size_t result = CURL_READFUNC_ABORT;
    while (upload->trailer_count < trailers->count) {
        bool is_ready = trailers->compute != NULL
                            ? compute(transfer, trailers, &result)
                            : append_line(transfer, text_at(trailers, upload->trailer_count)) == NC_OK;
        if (!is_ready) {
            return result;
        }
        upload->trailer_count++;
    }
    upload->has_trailers = true;
    transfer->hop.has_sent_trailers = true;
    return 0;
}

void nc_request_trailers_reset(nc_transfer *transfer) {
    nc_buf_reset(&transfer->upload.trailer_lines);
    transfer->upload.trailer_count = 0;
    transfer->upload.has_trailers = false;
}

int nc_request_trailers_on_end(struct curl_slist **list, void *data) {
    nc_transfer *transfer = ((nc_easy_handle *)data)->transfer;
    nc_slice lines = nc_buf_slice(&transfer->upload.trailer_lines);
    for (size_t at = 0; at < lines.length;) {
        const char *line = (const char *)lines.data + at;
        struct curl_slist *longer = curl_slist_append(*list, line);
        if (longer == NULL) {
            (void)nc_transfer_record_error(transfer, NC_ERR_NO_MEMORY, 0, "no memory for a trailer");
            return CURL_TRAILERFUNC_ABORT; // libcurl frees the list.
        }
        *list = longer;
        at += strlen(line) + 1;
    }
    return CURL_TRAILERFUNC_OK;
}
