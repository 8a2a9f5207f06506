#include "state/transfer_state.h"

#include "base/error.h"
#include "body/chunked.h"
#include "body/coding.h"
#include "http/url_text.h"
#include "request/response.h"
#include "state/easy_handle_record.h"
#include "state/engine_record.h"

#include <stdarg.h>
#include <stdio.h>

nc_status nc_transfer_parse_url(nc_transfer *transfer) {
    nc_slice original = nc_slice_make(transfer->request.url, transfer->request.url_length);
    bool is_redirected = transfer->redirected_url.length > 0;
    nc_status status =
        nc_url_parse(&transfer->target.url, is_redirected ? nc_buf_slice(&transfer->redirected_url) : original, NULL);
    // libcurl reports what is wrong with a URL without an origin.
    return status == NC_ERR_NO_MEMORY ? status : NC_OK;
}

nc_slice nc_transfer_url(const nc_transfer *transfer) {
    return transfer->target.url.text;
}

const char *nc_transfer_unix_socket(const nc_transfer *transfer) {
    const nc_copied_options *options = transfer->request.options;
    return options != NULL && !transfer->is_cross_origin ? options->unix_socket : NULL;
}

/// Returns true if a status is about the response or the network, so that the message includes the host.
static bool names_host(nc_status status) {
    return (status >= NC_ERR_BAD_RESPONSE && status < NC_ERR_TLS_HANDSHAKE) ||
           (status >= NC_ERR_RESOLVE && status < NC_ERR_CANCELLED);
}

nc_status nc_transfer_record_error(nc_transfer *transfer, nc_status status, int32_t native_code, const char *format,
                                   ...) {
    if (transfer->error.status == NC_OK) {
        char message[NC_ERROR_MESSAGE_BYTES];
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(message, sizeof message, format, arguments);
        va_end(arguments);
        nc_slice place = names_host(status) ? transfer->target.url.host_and_port : nc_slice_of("");
        (void)nc_error_set(&transfer->error, status, native_code, -1, "%s%s%.*s", message, place.length > 0 ? ": " : "",
                           nc_url_shown(place), (const char *)place.data);
    }
    return status;
}

nc_easy_handle *nc_easy_handle_of(CURL *easy) {
    nc_easy_handle *handle = NULL;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&handle) == CURLE_OK ? handle : NULL;
}

const nc_copied_proxy *nc_transfer_proxy(const nc_transfer *transfer) {
    const nc_copied_options *options = transfer->request.options;
    return options != NULL && options->has_proxy ? &options->proxy : &transfer->engine->state.proxy;
}

uint64_t nc_transfer_max_body_bytes(const nc_transfer *transfer) {
    const nc_copied_options *options = transfer->request.options;
    uint64_t limit = transfer->request.limits.max_body_bytes;
    bool is_beside_file = options != NULL && options->save_path != NULL && !transfer->hop.is_saving;
    return is_beside_file && limit > NC_DEFAULT_MAX_BODY_BYTES ? NC_DEFAULT_MAX_BODY_BYTES : limit;
}

bool nc_transfer_has_pending_body(const nc_transfer *transfer) {
    const nc_body_pipeline *pipeline = &transfer->pipeline;
    return pipeline->pending_at < pipeline->pending.length || nc_coding_has_input(pipeline->coding);
}

void nc_transfer_reset_body(nc_transfer *transfer) {
    nc_body_pipeline *pipeline = &transfer->pipeline;
    nc_chunked_deinit(&pipeline->chunked);
    nc_buf_deinit(&pipeline->pending);
    nc_coding_free(pipeline->coding);
    *pipeline = (nc_body_pipeline){.pending = nc_buf_init(SIZE_MAX)};
}

bool nc_transfer_expects_content(const nc_transfer *transfer) {
    uint16_t status = nc_response_status(transfer->response);
    return !transfer->request.is_head && status != 204 && status != 304;
}

bool nc_transfer_sends_trailers(const nc_transfer *transfer) {
    const nc_copied_options *options = transfer->request.options;
    return options != NULL && options->trailers.count > 0 && !transfer->is_get && !transfer->is_cross_origin;
}

bool nc_transfer_is_sending(const nc_transfer *transfer) {
    curl_off_t sent = 0;
    if (nc_transfer_sends_trailers(transfer)) {
        return !transfer->upload.has_trailers;
    }
    if (!transfer->request.has_body || transfer->is_get || transfer->upload.has_source_ended ||
        transfer->request.is_socket) {
        return false;
    }
    return curl_easy_getinfo(transfer->handle->easy, CURLINFO_SIZE_UPLOAD_T, &sent) != CURLE_OK ||
           (uint64_t)sent != transfer->upload.length;
}

bool nc_transfer_is_held_back(const nc_transfer *transfer) {
    return ((transfer->flow.receive_pauses | transfer->flow.send_pauses) & NC_PAUSE_INTENDED) != 0;
}

bool nc_transfer_has_source(const nc_transfer *transfer) {
    const nc_copied_options *options = transfer->request.options;
    return transfer->request.source.pull != NULL || (options != NULL && options->trailers.compute != NULL);
}

bool nc_transfer_awaits_source(const nc_transfer *transfer) {
    return (transfer->flow.send_pauses & NC_PAUSE_SOURCE) != 0;
}

bool nc_transfer_is_drained(const nc_transfer *transfer) {
    const nc_flow_control *flow = &transfer->flow;
    return flow->receive_pauses == 0 && (flow->pause_mask & CURLPAUSE_RECV) == 0 &&
           !nc_transfer_has_pending_body(transfer);
}

/// Returns true if libcurl does not end the body at its Content-Length: over HTTP/2 and HTTP/3, and with
/// "Transfer-Encoding: identity", where libcurl waits for the end of the connection.
static bool is_length_unchecked(const nc_transfer *transfer) {
    return nc_response_http_version(transfer->response) >= NC_HTTP_VERSION_2 ||
           transfer->hop.framing.has_transfer_coding;
}

/// Returns true if libcurl stops sending the request body, which it does after a redirect or an error status.
static bool ends_upload(const nc_transfer *transfer) {
    return nc_response_status(transfer->response) >= 300;
}

/// Returns true if all bytes of the body have arrived, but libcurl may not end it. Some versions do not read the chunks
/// of a body that also has another transfer coding.
static bool has_all_bytes(const nc_transfer *transfer) {
    const nc_framing *framing = &transfer->hop.framing;
    if (framing->transfer_coding_count > 0) {
        return transfer->pipeline.is_chunked && nc_chunked_is_whole(&transfer->pipeline.chunked);
    }
    return framing->has_length && is_length_unchecked(transfer) &&
           atomic_load_explicit(&transfer->received_bytes, memory_order_relaxed) == framing->length;
}

bool nc_transfer_awaits_end(const nc_transfer *transfer) {
    if (!transfer->hop.has_head || !has_all_bytes(transfer) || transfer->hop.is_head_held ||
        !nc_transfer_is_drained(transfer)) {
        return false;
    }
    return ends_upload(transfer) || !nc_transfer_is_sending(transfer);
}

bool nc_transfer_can_send_body_again(const nc_transfer *transfer) {
    const nc_body_source *source = &transfer->request.source;
    return !transfer->upload.has_begun || source->pull == NULL || source->seek != NULL;
}
