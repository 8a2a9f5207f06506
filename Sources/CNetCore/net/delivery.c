#include "net/delivery.h"

#include "base/trace.h"
#include "body/coding_list.h"
#include "net/download_decide.h"
#include "net/engine_state.h"
#include "net/files.h"
#include "net/handle.h"
#include "net/head.h"
#include "net/limits.h"
#include "net/proof.h"
#include "net/response.h"
#include "net/tls_hook.h"

#include <string.h>

/// A redirect's body up to this size is read to its end. With a larger one the connection is closed.
static const uint64_t max_discarded_bytes = 64u * 1024u;

/// Pieces that a decoder emits before the mailbox is read again. A few bytes may decode to hundreds of MiB. Meanwhile
/// no transfer could be cancelled, or make progress.
enum { MAX_PIECES_A_TURN = 64 };

/// Maximum number of content coding fields, independent of the requested limit.
enum { MAX_CODING_FIELDS = 16 };

/* --- delivery --- */

uint64_t nc_delivery_max_bytes(const nc_transfer *transfer) {
    const nc_extras *extras = transfer->description.extras;
    uint64_t limit = transfer->description.limits.max_body_bytes;
    bool is_beside_file = extras != NULL && extras->save_path != NULL && !transfer->is_saving;
    return is_beside_file && limit > NC_DEFAULT_MAX_BODY_BYTES ? NC_DEFAULT_MAX_BODY_BYTES : limit;
}

nc_status nc_delivery_hand_over(nc_transfer *transfer, nc_slice bytes) {
    if (transfer->is_saving) {
        return nc_files_write(transfer->files, bytes);
    }
    if (transfer->has_sink && transfer->sink.on_body != NULL) {
        nc_verdict verdict = transfer->sink.on_body(transfer->sink.ctx, transfer->id, bytes);
        if (verdict == NC_PAUSE) {
            nc_flow_rest_reading(transfer);
        }
        return verdict == NC_STOP
                   ? nc_transfer_note(transfer, NC_ERR_STOPPED_BY_CALLER, 0, "the body callback stopped the transfer")
                   : NC_OK;
    }
    nc_status status = nc_response_append_body(transfer->response, bytes);
    return status == NC_OK ? NC_OK : nc_transfer_note(transfer, status, 0, "no memory for a response body");
}

static nc_status give_out(nc_transfer *transfer, nc_slice bytes) {
    uint64_t max_bytes = nc_delivery_max_bytes(transfer);
    if (bytes.length > max_bytes - transfer->body_bytes) {
        return nc_transfer_note(transfer, NC_ERR_BODY_TOO_LARGE, CURLE_FILESIZE_EXCEEDED,
                                "the body is larger than the limit of %llu bytes", (unsigned long long)max_bytes);
    }
    transfer->body_bytes += bytes.length;
    nc_status status = transfer->is_saving || transfer->is_download
                           ? nc_gather_take(&transfer->engine->loop.gather, transfer, bytes)
                           : nc_delivery_hand_over(transfer, bytes);
    return status == NC_OK ? nc_proof_take(transfer, bytes) : status;
}

/* --- content codings --- */

/// Decodes and delivers until the decoder needs more, the reader pauses or the turn is over.
static nc_status decode(nc_transfer *transfer) {
    nc_coding *coding = transfer->delivery.coding;
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
    } while (status == NC_OK && piece.length > 0 && (transfer->flow.receive_rests & NC_REST_CALLER) == 0 &&
             ++pieces < MAX_PIECES_A_TURN);
    if (pieces == MAX_PIECES_A_TURN) {
        nc_flow_end_turn(transfer);
    }
    if (status == NC_OK && nc_coding_has_input(coding)) {
        status = nc_coding_keep(coding, &err);
    }
    return status == NC_OK ? NC_OK : nc_transfer_note(transfer, status, CURLE_BAD_CONTENT_ENCODING, "%s", err.message);
}

static nc_status take_content(nc_transfer *transfer, nc_slice bytes) {
    nc_coding *coding = transfer->delivery.coding;
    nc_error err;
    atomic_fetch_add_explicit(&transfer->received_bytes, bytes.length, memory_order_relaxed);
    nc_limits_get_on(transfer);
    if (transfer->leads_on) {
        transfer->body_bytes += bytes.length;
        transfer->ends_early = transfer->body_bytes > max_discarded_bytes;
        return transfer->ends_early ? NC_ERR_STOPPED_BY_CALLER : NC_OK;
    }
    if (coding == NULL) {
        return give_out(transfer, bytes);
    }
    nc_status status = nc_coding_feed(coding, bytes, &err);
    if (status != NC_OK) {
        return nc_transfer_note(transfer, status, CURLE_BAD_CONTENT_ENCODING, "%s", err.message);
    }
    return decode(transfer);
}

/* --- chunks --- */

static bool must_wait(const nc_transfer *transfer) {
    return (transfer->flow.receive_rests & (NC_REST_CALLER | NC_REST_TURN)) != 0 ||
           nc_coding_has_input(transfer->delivery.coding);
}

static nc_status take_chunks(nc_transfer *transfer, nc_slice *in) {
    nc_chunked_event event;
    nc_error err;
    nc_status status = NC_OK;
    while (status == NC_OK && in->length > 0 && !must_wait(transfer)) {
        if (nc_chunked_next(&transfer->delivery.chunked, in, &event, &err) != NC_OK) {
            return nc_transfer_note(transfer, err.status, CURLE_RECV_ERROR, "%s", err.message);
        }
        switch (event.kind) {
        case NC_CHUNKED_CONTENT:
            status = take_content(transfer, event.bytes);
            break;
        case NC_CHUNKED_TRAILER:
            status = nc_head_take_line(transfer, event.bytes);
            break;
        case NC_CHUNKED_END:
            if (in->length > 0) {
                nc_handle_forbid_reuse(transfer->handle);
            }
            *in = nc_slice_make(NULL, 0); // Bytes after the body are dropped.
            break;
        default:
            break;
        }
    }
    return status;
}

nc_status nc_delivery_keep(nc_transfer *transfer, nc_slice bytes) {
    nc_delivery *delivery = &transfer->delivery;
    nc_buf_reset(&delivery->kept);
    nc_buf_append(&delivery->kept, bytes);
    delivery->kept_at = 0;
    nc_status status = nc_buf_status(&delivery->kept);
    return status == NC_OK ? NC_OK : nc_transfer_note(transfer, status, 0, "no memory for a response body");
}

nc_status nc_delivery_take(nc_transfer *transfer, nc_slice bytes) {
    nc_delivery *delivery = &transfer->delivery;
    if (!delivery->is_chunked) {
        return take_content(transfer, bytes);
    }
    nc_status status = take_chunks(transfer, &bytes);
    if (status == NC_OK && bytes.length > 0) {
        nc_handle_watch_excess(transfer->handle); // libcurl may be done before these are read.
        status = nc_delivery_keep(transfer, bytes);
    }
    return status;
}

/* --- body lifecycle --- */

bool nc_delivery_is_pending(const nc_transfer *transfer) {
    const nc_delivery *delivery = &transfer->delivery;
    return delivery->kept_at < delivery->kept.length || nc_coding_has_input(delivery->coding);
}

nc_status nc_delivery_go_on(nc_transfer *transfer) {
    nc_delivery *delivery = &transfer->delivery;
    nc_status status = nc_coding_has_input(delivery->coding) ? decode(transfer) : NC_OK;
    if (status == NC_OK && delivery->kept_at < delivery->kept.length) {
        nc_slice rest =
            nc_slice_make(delivery->kept.data + delivery->kept_at, delivery->kept.length - delivery->kept_at);
        if (delivery->is_chunked) {
            status = take_chunks(transfer, &rest);
        } else {
            status = take_content(transfer, rest);
            rest.length = 0;
        }
        delivery->kept_at = delivery->kept.length - rest.length;
    }
    nc_gather_give_out(&transfer->engine->loop.gather);
    return status == NC_OK ? transfer->error.status : status;
}

void nc_delivery_reset(nc_transfer *transfer) {
    nc_delivery *delivery = &transfer->delivery;
    nc_chunked_deinit(&delivery->chunked);
    nc_buf_deinit(&delivery->kept);
    nc_coding_free(delivery->coding);
    *delivery = (nc_delivery){.kept = nc_buf_init(SIZE_MAX)};
}

nc_status nc_delivery_check_saving(nc_transfer *transfer) {
    nc_download_facts facts;
    if (!transfer->is_saving || nc_description_asks_range(&transfer->description)) {
        return NC_OK;
    }
    nc_download_read_facts(&facts, transfer->response);
    if (!nc_download_is_part(&facts)) {
        return NC_OK;
    }
    transfer->is_saving = false;
    return nc_transfer_note(transfer, NC_ERR_BAD_RANGE, CURLE_RANGE_ERROR,
                            "the server sends a part of the file, but all was asked for");
}

bool nc_delivery_has_content(const nc_transfer *transfer) {
    uint16_t status = nc_response_status(transfer->response);
    return !transfer->description.is_head && status != 204 && status != 304;
}

/// Returns true if a field names a coding, known or unknown.
static bool names_coding(nc_slice value) {
    const nc_decoder_kind *kind = NULL;
    nc_error err;
    nc_coding_list list = nc_coding_list_init(&value, 1);
    return nc_coding_list_next(&list, &kind, &err) != NC_OK || kind != NULL;
}

/// Collects the fields that name a coding. Fields without one are ignored, in any number.
static nc_status find_codings(nc_transfer *transfer, nc_slice *values, size_t *count) {
    const nc_response *response = transfer->response;
    *count = 0;
    for (size_t i = 0; i < nc_response_header_count(response); i++) {
        nc_header field = nc_response_header_at(response, i);
        if (!nc_slice_is_equal_ignoring_case(field.name, nc_slice_of("Content-Encoding")) ||
            !names_coding(field.value)) {
            continue;
        }
        if (*count == MAX_CODING_FIELDS) {
            return nc_transfer_note(transfer, NC_ERR_BAD_CODING, CURLE_BAD_CONTENT_ENCODING,
                                    "more than %d fields name content codings", MAX_CODING_FIELDS);
        }
        values[(*count)++] = field.value;
    }
    return NC_OK;
}

static nc_status begin_coding(nc_transfer *transfer) {
    nc_slice values[MAX_CODING_FIELDS];
    size_t count = 0;
    nc_error err;
    bool is_empty = transfer->framing.has_length && transfer->framing.length == 0;
    if (transfer->framing.coding_count == 0 || !transfer->description.accepts_codings || is_empty ||
        !nc_delivery_has_content(transfer)) {
        return NC_OK; // Without content there is nothing to decode, even with an unknown coding.
    }
    if (find_codings(transfer, values, &count) != NC_OK) {
        return transfer->error.status;
    }
    nc_status status =
        nc_coding_new(&transfer->delivery.coding, values, count, transfer->description.limits.max_codings, &err);
    return status == NC_OK ? NC_OK : nc_transfer_note(transfer, status, CURLE_BAD_CONTENT_ENCODING, "%s", err.message);
}

nc_status nc_delivery_begin(nc_transfer *transfer) {
    nc_delivery_reset(transfer);
    if (transfer->framing.is_chunked && nc_response_http_version(transfer->response) < NC_HTTP_VERSION_2 &&
        nc_response_status(transfer->response) >= 200 && nc_delivery_has_content(transfer)) {
        transfer->delivery.is_chunked = true;
        transfer->delivery.chunked = nc_chunked_init();
    }
    return transfer->leads_on ? NC_OK : begin_coding(transfer);
}

bool nc_delivery_is_sending(const nc_transfer *transfer) {
    curl_off_t sent = 0;
    if (!transfer->description.has_body || transfer->is_get || transfer->upload.is_over) {
        return false;
    }
    return curl_easy_getinfo(transfer->handle->easy, CURLINFO_SIZE_UPLOAD_T, &sent) != CURLE_OK ||
           (uint64_t)sent != transfer->upload.length;
}

/// With "Transfer-Encoding: identity" libcurl ignores Content-Length, and waits for the connection's end.
static bool is_length_unheeded(const nc_transfer *transfer) {
    return nc_response_http_version(transfer->response) >= NC_HTTP_VERSION_2 || transfer->framing.has_transfer_coding;
}

/// After a redirect or an error libcurl sends no more of the body.
static bool ends_upload(const nc_transfer *transfer) {
    return nc_response_status(transfer->response) >= 300;
}

bool nc_delivery_awaits_end(const nc_transfer *transfer) {
    if (!transfer->has_head || !transfer->framing.has_length ||
        atomic_load_explicit(&transfer->received_bytes, memory_order_relaxed) != transfer->framing.length ||
        !is_length_unheeded(transfer) || transfer->is_head_held || !nc_flow_is_drained(transfer)) {
        return false;
    }
    return ends_upload(transfer) || !nc_delivery_is_sending(transfer);
}

/// RFC 9113, 8.1. Without the frames, only libcurl's error text names the reset, and only if it is an error.
static bool is_clean_reset(const nc_transfer *transfer, CURLcode code) {
    const nc_h2_tap *tap = nc_tls_tap(transfer->tls_end);
    const nc_h2_stream *stream = &transfer->stream;
    bool is_error = tap != NULL && nc_h2_tap_is_reliable(tap)
                        ? stream->is_reset && stream->reset_code != 0
                        : strstr(transfer->handle->detail, "not closed cleanly") != NULL;
    return code == CURLE_HTTP2_STREAM && !is_error;
}

/// If the server has already ended its side, the last piece of a request body closes the stream. libcurl 8.14 then
/// reports a send failure. It also does so if the connection breaks after a complete response.
static bool is_closed_by_upload(const nc_transfer *transfer, CURLcode code) {
    const nc_upload *upload = &transfer->upload;
    return code == CURLE_SEND_ERROR && (upload->is_over || upload->sent == upload->length);
}

/// RFC 9112, 9.5: after a complete response, only the upload itself can fail during an upload.
static bool is_broken_upload(const nc_transfer *transfer, CURLcode code) {
    return (code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR) && nc_delivery_is_sending(transfer);
}

static uint64_t delivered_bytes(const nc_transfer *transfer) {
    return atomic_load_explicit(&transfer->received_bytes, memory_order_relaxed);
}

bool nc_delivery_has_stream_end(const nc_transfer *transfer) {
    const nc_h2_tap *tap = nc_tls_tap(transfer->tls_end);
    return tap != NULL && nc_h2_tap_is_whole(tap, &transfer->stream, delivered_bytes(transfer));
}

/// Returns true if an HTTP/2 connection failed after the stream's end. If libcurl has not delivered the trailers, they
/// are missing, and the response is incomplete.
static bool is_failed_behind_end(const nc_transfer *transfer, CURLcode code) {
    bool is_of_connection = code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM || code == CURLE_SEND_ERROR ||
                            code == CURLE_RECV_ERROR || code == CURLE_PARTIAL_FILE;
    bool misses_trailers = transfer->stream.ends_with_block && transfer->stream.data_bytes > 0 &&
                           nc_response_trailer_count(transfer->response) == 0;
    return is_of_connection && !misses_trailers && nc_delivery_has_stream_end(transfer);
}

/// After its response, a server may end the stream or connection of an upload that it does not need, and the response
/// is valid. libcurl reports an error. A response without a body, with its announced length or with its last chunk is
/// complete all the same. Over HTTP/2 without a length, the frames show whether the body is complete.
bool nc_delivery_is_whole_before_reset(const nc_transfer *transfer, CURLcode code) {
    if (!transfer->has_head || transfer->is_head_held) {
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
    return !nc_delivery_has_content(transfer) ||
           (transfer->delivery.is_chunked && nc_chunked_is_whole(&transfer->delivery.chunked)) ||
           (transfer->framing.has_length &&
            atomic_load_explicit(&transfer->received_bytes, memory_order_relaxed) == transfer->framing.length);
}

/// RFC 9113, 8.1: without a length, only END_STREAM proves that the body of a stream is complete. libcurl does not
/// report it: 7.88 treats most connection errors as a success, and every version RST_STREAM with NO_ERROR.
static bool is_end_missing(const nc_transfer *transfer) {
    return nc_response_http_version(transfer->response) == NC_HTTP_VERSION_2 && nc_delivery_has_content(transfer) &&
           !transfer->framing.has_length && !nc_delivery_has_stream_end(transfer);
}

static void note_missing_end(nc_transfer *transfer) {
    const nc_h2_tap *tap = nc_tls_tap(transfer->tls_end);
    if (tap == NULL || !nc_h2_tap_is_reliable(tap)) {
        (void)nc_transfer_note(transfer, NC_ERR_CUT_SHORT, CURLE_PARTIAL_FILE,
                               "an HTTP/2 body without a length, and it is unknown whether its stream has ended");
    } else if (transfer->stream.is_reset) {
        (void)nc_transfer_note(transfer, NC_ERR_HTTP2, CURLE_HTTP2_STREAM,
                               "the server reset the stream before the end of the body: RST_STREAM, error %u",
                               (unsigned)transfer->stream.reset_code);
    } else {
        (void)nc_transfer_note(transfer, NC_ERR_CUT_SHORT, CURLE_PARTIAL_FILE,
                               "the HTTP/2 connection ended before the end of the body");
    }
}

void nc_delivery_finish(nc_transfer *transfer) {
    const nc_delivery *delivery = &transfer->delivery;
    nc_error err;
    if (transfer->error.status != NC_OK || transfer->ends_early) {
        return;
    }
    if (is_end_missing(transfer)) {
        note_missing_end(transfer);
    } else if (transfer->framing.has_length && nc_delivery_has_content(transfer) &&
               atomic_load_explicit(&transfer->received_bytes, memory_order_relaxed) != transfer->framing.length) {
        (void)nc_transfer_note(transfer, NC_ERR_CUT_SHORT, CURLE_PARTIAL_FILE, "the body is not as long as announced");
    } else if (delivery->is_chunked && !nc_chunked_is_whole(&delivery->chunked)) {
        (void)nc_transfer_note(transfer, NC_ERR_CUT_SHORT, CURLE_PARTIAL_FILE,
                               "the connection ended within the last chunk or the trailer");
    } else if (delivery->coding != NULL && nc_coding_finish(delivery->coding, &err) != NC_OK) {
        (void)nc_transfer_note(transfer, err.status, CURLE_BAD_CONTENT_ENCODING, "%s", err.message);
    }
}
