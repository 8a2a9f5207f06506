#include "transfer/body_pipeline.h"

#include "base/alloc.h"
#include "base/trace.h"
#include "body/chunked.h"
#include "body/coding.h"
#include "curl/easy_handle.h"
#include "curl/quirks.h"
#include "curl/tls_hook.h"
#include "http/h2_tap.h"
#include "request/request_copy.h"
#include "request/response.h"
#include "request/resume_rules.h"
#include "state/engine_record.h"
#include "state/time_limits.h"
#include "state/transfer_state.h"
#include "transfer/body_files.h"
#include "transfer/flow_control.h"
#include "transfer/internal.h"

#include <string.h>

/// A redirect's body up to this size is read to its end, so that the connection can be reused. If the body is larger,
/// the connection is closed.
static const uint64_t max_discarded_bytes = 64u * 1024u;

/// Maximum number of pieces that a decoder emits in its turn, before the event loop reads its mailbox again. A few
/// bytes may decode to hundreds of MiB. Without the limit, no transfer could be cancelled or make progress meanwhile.
enum { MAX_PIECES_A_TURN = 64 };

/// Maximum number of content coding fields, independent of the requested limit.
enum { MAX_CODING_FIELDS = 16 };

/* --- delivery --- */

static nc_status hand_over(nc_transfer *transfer, nc_slice bytes) {
    if (transfer->hop.is_saving) {
        return nc_files_write(transfer->files, bytes);
    }
    if (transfer->has_sink && transfer->sink.on_body != NULL) {
        nc_action action = transfer->sink.on_body(transfer->sink.ctx, transfer->id, bytes);
        if (action == NC_ACTION_PAUSE) {
            nc_flow_control_pause_reading(transfer);
        }
        return action == NC_ACTION_STOP ? nc_transfer_record_error(transfer, NC_ERR_STOPPED_BY_CALLER, 0,
                                                                   "the body callback stopped the transfer")
                                        : NC_OK;
    }
    nc_status status = nc_response_append_body(transfer->response, bytes);
    return status == NC_OK ? NC_OK : nc_transfer_record_error(transfer, status, 0, "no memory for a response body");
}

/* --- write buffer --- */

/// Larger writes cost less per byte. On ext4, writes above 128 KiB save nothing more.
enum { CAPACITY = 256 * 1024 };

void nc_write_buffer_deinit(nc_write_buffer *write_buffer) {
    nc_free(write_buffer->bytes);
    *write_buffer = (nc_write_buffer){0};
}

static nc_status write_out(nc_write_buffer *write_buffer, nc_transfer *transfer, nc_slice bytes) {
    nc_status status = hand_over(transfer, bytes);
    write_buffer->has_failed = write_buffer->has_failed || status != NC_OK;
    return status;
}

void nc_write_buffer_emit(nc_write_buffer *write_buffer) {
    nc_transfer *transfer = write_buffer->transfer;
    if (transfer != NULL) {
        write_buffer->transfer = NULL;
        (void)write_out(write_buffer, transfer, nc_slice_make(write_buffer->bytes, write_buffer->length));
        write_buffer->length = 0;
    }
}

nc_status nc_write_buffer_append(nc_write_buffer *write_buffer, nc_transfer *transfer, nc_slice bytes) {
    if (write_buffer->transfer != transfer || bytes.length > CAPACITY - write_buffer->length) {
        nc_write_buffer_emit(write_buffer);
    }
    if (transfer->error.status != NC_OK) {
        return transfer->error.status;
    }
    if (write_buffer->bytes == NULL) {
        write_buffer->bytes = nc_alloc(CAPACITY);
    }
    if (write_buffer->bytes == NULL || bytes.length > CAPACITY) {
        return write_out(write_buffer, transfer, bytes);
    }
    if (bytes.length > 0) {
        memcpy(write_buffer->bytes + write_buffer->length, bytes.data, bytes.length);
    }
    write_buffer->transfer = transfer;
    write_buffer->length += bytes.length;
    return NC_OK;
}

bool nc_write_buffer_take_failure(nc_write_buffer *write_buffer) {
    bool has_failed = write_buffer->has_failed;
    write_buffer->has_failed = false;
    return has_failed;
}

/* --- limit --- */

static nc_status give_out(nc_transfer *transfer, nc_slice bytes) {
    uint64_t max_bytes = nc_transfer_max_body_bytes(transfer);
    if (bytes.length > max_bytes - transfer->hop.body_bytes) {
        return nc_transfer_record_error(transfer, NC_ERR_BODY_TOO_LARGE, CURLE_FILESIZE_EXCEEDED,
                                        "the body is larger than the limit of %llu bytes (limits.max_body_bytes)",
                                        (unsigned long long)max_bytes);
    }
    transfer->hop.body_bytes += bytes.length;
    nc_status status = transfer->hop.is_saving || transfer->is_download
                           ? nc_write_buffer_append(&transfer->engine->loop.write_buffer, transfer, bytes)
                           : hand_over(transfer, bytes);
    return status == NC_OK ? nc_json_check_feed(transfer, bytes) : status;
}

/* --- content codings --- */

/// Decodes and delivers bytes until the decoder needs more input, the reader pauses, or the decoder's turn is over.
static nc_status decode(nc_transfer *transfer) {
    nc_coding *coding = transfer->pipeline.coding;
    nc_slice piece;
    nc_error err;
    nc_status status = NC_OK;
    int pieces = 0;
    do {
        status = nc_coding_next(coding, &piece, &err);
        if (status == NC_OK && piece.length > 0) {
            status = give_out(transfer, piece);
            if (status != NC_OK) {
                return status;
            }
        }
    } while (status == NC_OK && piece.length > 0 && (transfer->flow.receive_pauses & NC_PAUSE_READER) == 0 &&
             ++pieces < MAX_PIECES_A_TURN);
    if (pieces == MAX_PIECES_A_TURN) {
        nc_flow_control_end_turn(transfer);
    }
    if (status == NC_OK && nc_coding_has_input(coding)) {
        status = nc_coding_keep(coding, &err);
    }
    return status == NC_OK ? NC_OK
                           : nc_transfer_record_error(transfer, status, CURLE_BAD_CONTENT_ENCODING, "%s", err.message);
}

static nc_status take_content(nc_transfer *transfer, nc_slice bytes) {
    nc_coding *coding = transfer->pipeline.coding;
    nc_error err;
    atomic_fetch_add_explicit(&transfer->received_bytes, bytes.length, memory_order_relaxed);
    nc_deadline_progressed(transfer);
    if (nc_hop_is_redirect(transfer)) {
        transfer->hop.body_bytes += bytes.length;
        if (transfer->hop.body_bytes <= max_discarded_bytes) {
            return NC_OK;
        }
        nc_hop_stop(transfer);
        return NC_ERR_STOPPED_BY_CALLER;
    }
    if (coding == NULL) {
        return give_out(transfer, bytes);
    }
    nc_status status = nc_coding_feed(coding, bytes, &err);
    if (status != NC_OK) {
        return nc_transfer_record_error(transfer, status, CURLE_BAD_CONTENT_ENCODING, "%s", err.message);
    }
    return decode(transfer);
}

/* --- chunks --- */

static bool must_wait(const nc_transfer *transfer) {
    return (transfer->flow.receive_pauses & (NC_PAUSE_READER | NC_PAUSE_DECODER)) != 0 ||
           nc_coding_has_input(transfer->pipeline.coding);
}

static nc_status take_chunks(nc_transfer *transfer, nc_slice *in) {
    nc_chunked_event event;
    nc_error err;
    nc_status status = NC_OK;
    while (status == NC_OK && in->length > 0 && !must_wait(transfer)) {
        if (nc_chunked_next(&transfer->pipeline.chunked, in, &event, &err) != NC_OK) {
            return nc_transfer_record_error(transfer, err.status, CURLE_RECV_ERROR, "%s", err.message);
        }
        switch (event.kind) {
        case NC_CHUNKED_CONTENT:
            status = take_content(transfer, event.bytes);
            break;
        case NC_CHUNKED_TRAILER:
            status = nc_trailer_take(transfer, event.bytes);
            break;
        case NC_CHUNKED_END:
            if (in->length > 0) {
                nc_easy_handle_forbid_reuse(transfer->handle);
            }
            *in = nc_slice_make(NULL, 0); // Bytes after the body are dropped.
            break;
        default:
            break;
        }
    }
    return status;
}

nc_status nc_body_pipeline_keep(nc_transfer *transfer, nc_slice bytes) {
    nc_body_pipeline *pipeline = &transfer->pipeline;
    nc_buf_reset(&pipeline->pending);
    nc_buf_append(&pipeline->pending, bytes);
    pipeline->pending_at = 0;
    nc_status status = nc_buf_status(&pipeline->pending);
    return status == NC_OK ? NC_OK : nc_transfer_record_error(transfer, status, 0, "no memory for a response body");
}

/// Processes a piece of the body from libcurl. Returns NC_OK, the recorded error, or NC_ERR_STOPPED_BY_CALLER if the
/// hop must end early.
static nc_status feed(nc_transfer *transfer, nc_slice bytes) {
    nc_body_pipeline *pipeline = &transfer->pipeline;
    if (!pipeline->is_chunked) {
        return take_content(transfer, bytes);
    }
    nc_status status = take_chunks(transfer, &bytes);
    if (status == NC_OK && bytes.length > 0) {
        // libcurl may finish the hop before take_chunks() reads these bytes and finds others after the body.
        nc_easy_handle_watch_excess(transfer->handle);
        status = nc_body_pipeline_keep(transfer, bytes);
    }
    return status;
}

/* --- body lifecycle --- */

nc_status nc_body_pipeline_continue(nc_transfer *transfer) {
    nc_body_pipeline *pipeline = &transfer->pipeline;
    nc_status status = nc_coding_has_input(pipeline->coding) ? decode(transfer) : NC_OK;
    if (status == NC_OK && pipeline->pending_at < pipeline->pending.length) {
        nc_slice rest = nc_slice_make(pipeline->pending.data + pipeline->pending_at,
                                      pipeline->pending.length - pipeline->pending_at);
        if (pipeline->is_chunked) {
            status = take_chunks(transfer, &rest);
        } else {
            status = take_content(transfer, rest);
            rest.length = 0;
        }
        pipeline->pending_at = pipeline->pending.length - rest.length;
    }
    nc_write_buffer_emit(&transfer->engine->loop.write_buffer);
    return status == NC_OK ? transfer->error.status : status;
}

nc_status nc_body_pipeline_check_saving(nc_transfer *transfer) {
    nc_download_facts facts;
    if (!transfer->hop.is_saving || nc_request_copy_has_range(&transfer->request)) {
        return NC_OK;
    }
    nc_download_read_facts(&facts, transfer->response);
    if (!nc_download_is_part(&facts)) {
        return NC_OK;
    }
    transfer->hop.is_saving = false;
    return nc_transfer_record_error(transfer, NC_ERR_BAD_RANGE, CURLE_RANGE_ERROR,
                                    "the server sent a partial response to a request without a Range header");
}

/// Collects the values of Content-Encoding fields that name a coding. Fields without one do not count for the limit.
static nc_status find_content_codings(nc_transfer *transfer, nc_slice *values, size_t *count) {
    const nc_response *response = transfer->response;
    for (size_t i = 0; i < nc_response_header_count(response); i++) {
        nc_header field = nc_response_header_at(response, i);
        if (!nc_slice_is_equal_ignoring_case(field.name, nc_slice_of("Content-Encoding")) ||
            !nc_coding_is_named(field.value)) {
            continue;
        }
        if (*count == MAX_CODING_FIELDS) {
            return nc_transfer_record_error(transfer, NC_ERR_BAD_CODING, CURLE_BAD_CONTENT_ENCODING,
                                            "more than %d header fields name content codings", MAX_CODING_FIELDS);
        }
        values[(*count)++] = field.value;
    }
    return NC_OK;
}

/// Appends the transfer codings, which the server applied after the content codings. There is one such field at most.
static void find_transfer_codings(const nc_transfer *transfer, nc_slice *values, size_t *count) {
    for (size_t i = 0; i < nc_response_header_count(transfer->response); i++) {
        nc_header field = nc_response_header_at(transfer->response, i);
        if (nc_slice_is_equal_ignoring_case(field.name, nc_slice_of("Transfer-Encoding"))) {
            values[(*count)++] = nc_framing_transfer_codings(field.value);
            return;
        }
    }
}

static nc_status begin_coding(nc_transfer *transfer) {
    nc_slice values[MAX_CODING_FIELDS + 1];
    size_t count = 0;
    nc_error err;
    const nc_framing *framing = &transfer->hop.framing;
    bool has_content_codings = framing->coding_count > 0 && transfer->request.accepts_codings;
    bool has_transfer_codings = framing->transfer_coding_count > 0;
    bool is_empty = framing->has_length && framing->length == 0;
    if (!(has_content_codings || has_transfer_codings) || is_empty || !nc_transfer_expects_content(transfer)) {
        return NC_OK; // Without content there is nothing to decode, even with an unknown coding.
    }
    if (has_content_codings && find_content_codings(transfer, values, &count) != NC_OK) {
        return transfer->error.status;
    }
    if (has_transfer_codings) {
        find_transfer_codings(transfer, values, &count);
    }
    nc_status status =
        nc_coding_new(&transfer->pipeline.coding, values, count, transfer->request.limits.max_codings, &err);
    return status == NC_OK ? NC_OK
                           : nc_transfer_record_error(transfer, status, CURLE_BAD_CONTENT_ENCODING, "%s", err.message);
}

nc_status nc_body_pipeline_begin(nc_transfer *transfer) {
    nc_transfer_reset_body(transfer);
    if (transfer->hop.framing.is_chunked && nc_response_http_version(transfer->response) < NC_HTTP_VERSION_2 &&
        nc_response_status(transfer->response) >= 200 && nc_transfer_expects_content(transfer)) {
        transfer->pipeline.is_chunked = true;
        transfer->pipeline.chunked = nc_chunked_init();
    }
    return nc_hop_is_redirect(transfer) ? NC_OK : begin_coding(transfer);
}

/// Returns true if the server reset the stream without an error, as it may after a complete response (RFC 9113, 8.1).
static bool is_clean_reset(const nc_transfer *transfer, CURLcode code) {
    const nc_h2_tap *tap = nc_tls_tap(transfer->hop.tls_connection);
    const nc_h2_stream *stream = &transfer->hop.stream;
    bool is_error = tap != NULL && nc_h2_tap_is_reliable(tap)
                        ? stream->is_reset && stream->reset_code != 0
                        : nc_quirk_text_is_reset_with_error(transfer->handle->detail);
    return code == CURLE_HTTP2_STREAM && !is_error;
}

/// Returns true if the whole request body was sent, and libcurl's error may only mean that this ended the stream. If
/// the server has already ended its side, the last piece of a request body closes the stream. The connection may also
/// break after a complete response.
static bool is_closed_by_upload(const nc_transfer *transfer, CURLcode code) {
    const nc_upload *upload = &transfer->upload;
    return nc_quirk_may_be_end_of_upload(code) && (upload->has_source_ended || upload->sent == upload->length);
}

/// Returns true if sending or receiving failed during an upload. If the response is complete, only the upload itself
/// can have failed (RFC 9112, 9.5).
static bool is_broken_upload(const nc_transfer *transfer, CURLcode code) {
    return (code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR) && nc_transfer_is_sending(transfer);
}

static uint64_t delivered_bytes(const nc_transfer *transfer) {
    return atomic_load_explicit(&transfer->received_bytes, memory_order_relaxed);
}

/// Returns true if the HTTP/2 frames show that the stream has ended (END_STREAM), and that all its bytes were
/// delivered.
static bool has_stream_end(const nc_transfer *transfer) {
    const nc_h2_tap *tap = nc_tls_tap(transfer->hop.tls_connection);
    return tap != NULL && nc_h2_tap_is_whole(tap, &transfer->hop.stream, delivered_bytes(transfer));
}

/// Returns true if an HTTP/2 connection failed after the stream's end. Returns false if the stream ended with trailers
/// that libcurl has not delivered: they are lost, so the response is incomplete.
static bool is_failed_behind_end(const nc_transfer *transfer, CURLcode code) {
    bool is_of_connection = code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM || code == CURLE_SEND_ERROR ||
                            code == CURLE_RECV_ERROR || code == CURLE_PARTIAL_FILE;
    bool misses_trailers = transfer->hop.stream.ends_with_block && transfer->hop.stream.data_bytes > 0 &&
                           nc_response_trailer_count(transfer->response) == 0;
    return is_of_connection && !misses_trailers && has_stream_end(transfer);
}

/// If a server does not need the rest of an upload, it may end the stream or connection after its response. The
/// response is valid, but libcurl reports an error. The response is complete if it has no body, its announced length,
/// or its last chunk. Over HTTP/2 without a length, the frames show whether the body is complete.
bool nc_body_pipeline_is_whole_before_reset(const nc_transfer *transfer, CURLcode code) {
    if (!transfer->hop.has_head || transfer->hop.is_head_held) {
        return false;
    }
    if (is_failed_behind_end(transfer, code)) {
        return true;
    }
    bool is_stream = nc_response_http_version(transfer->response) >= NC_HTTP_VERSION_2;
    if (!(is_stream ? is_clean_reset(transfer, code) || is_closed_by_upload(transfer, code)
                    : is_broken_upload(transfer, code))) {
        return false;
    }
    return !nc_transfer_expects_content(transfer) ||
           (transfer->pipeline.is_chunked && nc_chunked_is_whole(&transfer->pipeline.chunked)) ||
           (transfer->hop.framing.has_length &&
            atomic_load_explicit(&transfer->received_bytes, memory_order_relaxed) == transfer->hop.framing.length);
}

/// RFC 9113, 8.1: without a length, only END_STREAM proves that the body of a stream is complete.
static bool is_end_missing(const nc_transfer *transfer) {
    return nc_quirk_hides_stream_end(nc_response_http_version(transfer->response)) &&
           nc_transfer_expects_content(transfer) && !transfer->hop.framing.has_length && !has_stream_end(transfer);
}

static void record_missing_end(nc_transfer *transfer) {
    const nc_h2_tap *tap = nc_tls_tap(transfer->hop.tls_connection);
    if (tap == NULL || !nc_h2_tap_is_reliable(tap)) {
        (void)nc_transfer_record_error(
            transfer, NC_ERR_CUT_SHORT, CURLE_PARTIAL_FILE,
            "an HTTP/2 body without a length may be incomplete: it is unknown whether its stream has ended");
    } else if (transfer->hop.stream.is_reset) {
        (void)nc_transfer_record_error(
            transfer, NC_ERR_HTTP2, CURLE_HTTP2_STREAM,
            "the server reset the HTTP/2 stream before the end of the body: RST_STREAM, error %u",
            (unsigned)transfer->hop.stream.reset_code);
    } else {
        (void)nc_transfer_record_error(transfer, NC_ERR_CUT_SHORT, CURLE_PARTIAL_FILE,
                                       "the HTTP/2 connection ended before the end of the body");
    }
}

void nc_body_pipeline_finish(nc_transfer *transfer) {
    const nc_body_pipeline *pipeline = &transfer->pipeline;
    nc_error err;
    if (transfer->error.status != NC_OK || nc_hop_is_stopped(transfer)) {
        return;
    }
    if (is_end_missing(transfer)) {
        record_missing_end(transfer);
    } else if (transfer->hop.framing.has_length && nc_transfer_expects_content(transfer) &&
               atomic_load_explicit(&transfer->received_bytes, memory_order_relaxed) != transfer->hop.framing.length) {
        (void)nc_transfer_record_error(transfer, NC_ERR_CUT_SHORT, CURLE_PARTIAL_FILE,
                                       "the length of the body differs from the announced length");
    } else if (pipeline->is_chunked && !nc_chunked_is_whole(&pipeline->chunked)) {
        (void)nc_transfer_record_error(transfer, NC_ERR_CUT_SHORT, CURLE_PARTIAL_FILE,
                                       "the connection closed within the last chunk or the trailer");
    } else if (pipeline->coding != NULL && nc_coding_finish(pipeline->coding, &err) != NC_OK) {
        (void)nc_transfer_record_error(transfer, err.status, CURLE_BAD_CONTENT_ENCODING, "%s", err.message);
    }
}

size_t nc_body_pipeline_receive(nc_transfer *transfer, nc_slice bytes) {
    nc_flow_control *flow = &transfer->flow;
    nc_flow_control_received(transfer, 0);
    if (flow->receive_pauses != 0 || nc_transfer_has_pending_body(transfer)) {
        flow->pause_mask |= CURLPAUSE_RECV;
        return CURL_WRITEFUNC_PAUSE;
    }
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_BODY_CHUNK, transfer->id);
    nc_deadline_enter_phase(transfer, NC_PHASE_BODY);
    if (feed(transfer, bytes) != NC_OK) {
        return bytes.length + 1;
    }
    nc_flow_control_received(transfer, bytes.length);
    nc_progress_record(transfer, false);
    if (nc_transfer_awaits_end(transfer)) {
        nc_deadline_arm(transfer);
    }
    return bytes.length;
}

bool nc_body_pipeline_end(nc_transfer *transfer, CURLcode code) {
    nc_flow_control *flow = &transfer->flow;
    if (transfer->error.status != NC_OK) {
        return true;
    }
    // Bytes may be kept although nothing is paused now, such as those of nc_h2_refused_deliver().
    if (nc_transfer_has_pending_body(transfer) && flow->receive_pauses == 0 &&
        nc_body_pipeline_continue(transfer) != NC_OK) {
        return true;
    }
    if (nc_transfer_has_pending_body(transfer)) {
        flow->is_hop_done = true;
        flow->code = code;
        return false;
    }
    if (code == CURLE_OK) {
        nc_body_pipeline_finish(transfer);
    }
    return true;
}
