#include "net/head.h"

#include "base/ascii.h"
#include "base/trace.h"
#include "net/engine_state.h"
#include "net/handle.h"
#include "net/metrics.h"
#include "net/response.h"
#include "net/url_text.h"

#include <string.h>

static bool is_white(uint8_t byte) {
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static nc_slice trim(nc_slice text) {
    while (text.length > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text = nc_slice_make(text.data + 1, text.length - 1);
    }
    while (text.length > 0 && is_white(text.data[text.length - 1])) {
        text.length--;
    }
    return text;
}

/// "HTTP/1.1 200 OK" or "HTTP/2 200". libcurl lets others pass ("HTTP/HTTP/1.1 100"), and reads another code there.
static bool parse_status_line(nc_slice line, uint16_t *status, nc_http_version *version) {
    const uint8_t *space = memchr(line.data, ' ', line.length);
    size_t at = space != NULL ? (size_t)(space - line.data) : 0;
    bool is_short = at == 6;
    bool is_long = at == 8 && line.data[6] == '.' && nc_ascii_is_digit(line.data[7]);
    // RFC 9112, 2.3: the protocol's name is spelled so and not otherwise.
    if (!(is_short || is_long) || memcmp(line.data, "HTTP/", 5) != 0 || !nc_ascii_is_digit(line.data[5]) ||
        line.length < at + 4) {
        return false;
    }
    const uint8_t *digits = line.data + at + 1;
    if (line.length > at + 4 && !is_white(digits[3])) {
        return false; // "200OK"
    }
    uint8_t major = line.data[5];
    uint8_t minor = at >= 8 ? line.data[7] : '0';
    *version = major == '2'   ? NC_HTTP_VERSION_2
               : major == '3' ? NC_HTTP_VERSION_3
               : minor == '0' ? NC_HTTP_VERSION_1_0
                              : NC_HTTP_VERSION_1_1;
    if (!nc_ascii_is_digit(digits[0]) || !nc_ascii_is_digit(digits[1]) || !nc_ascii_is_digit(digits[2])) {
        return false;
    }
    *status = (uint16_t)((digits[0] - '0') * 100 + (digits[1] - '0') * 10 + (digits[2] - '0'));
    return *status >= 100;
}

/// RFC 9112, 2.2: a CR that does not end a line is invalid. To libcurl it is a byte like any other.
static bool has_stray_cr(nc_slice line) {
    size_t length = line.length;
    while (length > 0 && (line.data[length - 1] == '\n' || line.data[length - 1] == '\r')) {
        length--;
    }
    return length > 0 && memchr(line.data, '\r', length) != NULL;
}

/// RFC 9112, 5.1: a token, and the colon follows at once. libcurl takes whatever stands before a colon for a name; a
/// length behind a name that only others understand is how two readers come to see two ends of one body.
static bool is_field_name(nc_slice name) {
    for (size_t i = 0; i < name.length; i++) {
        if (!nc_ascii_is_token(name.data[i])) {
            return false;
        }
    }
    return name.length > 0;
}

static nc_status take_field(nc_transfer *transfer, nc_slice line) {
    nc_status status;
    if (line.data[0] == ' ' || line.data[0] == '\t') {
        status = nc_response_extend_field(transfer->response, trim(line));
        size_t count = nc_response_header_count(transfer->response);
        nc_framing_take_fold(&transfer->framing,
                             nc_response_header_at(transfer->response, count > 0 ? count - 1 : 0).name);
    } else {
        const uint8_t *colon = memchr(line.data, ':', line.length);
        size_t name_length = colon != NULL ? (size_t)(colon - line.data) : 0;
        if (!is_field_name(nc_slice_make(line.data, name_length))) {
            return nc_transfer_note(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                    "a line of the response head is no field");
        }
        transfer->head_fields++;
        if (transfer->head_fields > transfer->description.limits.max_head_fields) {
            return nc_transfer_note(transfer, NC_ERR_HEAD_TOO_LARGE, CURLE_RECV_ERROR,
                                    "the response head has more than %u fields",
                                    transfer->description.limits.max_head_fields);
        }
        nc_slice value = trim(nc_slice_make(colon + 1, line.length - name_length - 1));
        nc_slice name = nc_slice_make(line.data, name_length);
        nc_framing_take(&transfer->framing, name, value);
        transfer->lane->has_unlearnt = transfer->lane->has_unlearnt || transfer->framing.has_cookies;
        status = nc_response_add_field(transfer->response, name, value);
    }
    if (status == NC_ERR_BAD_RESPONSE) {
        return nc_transfer_note(transfer, status, CURLE_WEIRD_SERVER_REPLY, "the response head begins with a fold");
    }
    return status == NC_OK ? NC_OK : nc_transfer_note(transfer, status, 0, "no memory for a response head");
}

static nc_status check_framing(nc_transfer *transfer) {
    const nc_framing *framing = &transfer->framing;
    uint32_t max_codings = transfer->description.limits.max_codings;
    if (framing->fault != NULL) {
        return nc_transfer_note(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                "the response head leaves open where the body ends: %s", framing->fault);
    }
    // RFC 9112, 6.1: HTTP/1.0 has no transfer codings, so somebody on the way may not have understood this one.
    if (framing->has_transfer_coding && nc_response_http_version(transfer->response) == NC_HTTP_VERSION_1_0) {
        return nc_transfer_note(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                "the response head leaves open where the body ends: HTTP/1.0 with Transfer-Encoding");
    }
    // Each coding multiplies what the one before made of a few bytes.
    if (framing->coding_count > max_codings && transfer->description.accepts_codings) {
        return nc_transfer_note(transfer, NC_ERR_BAD_CODING, CURLE_BAD_CONTENT_ENCODING,
                                "the body has %u content codings, more than the limit of %u", framing->coding_count,
                                max_codings);
    }
    return NC_OK;
}

/// A body that is announced as too large is refused before it comes, unless it is still to be decoded.
static nc_status expect_body(nc_transfer *transfer) {
    const nc_framing *framing = &transfer->framing;
    uint16_t status = nc_response_status(transfer->response);
    bool has_none = transfer->description.is_head || status == 204 || status == 304;
    nc_http_version version = nc_response_http_version(transfer->response);
    if (!has_none && !framing->has_length && !framing->is_chunked && version < NC_HTTP_VERSION_2) {
        nc_response_mark_close_delimited(transfer->response);
    }
    if (has_none || framing->coding_count > 0 || !framing->has_length) {
        return NC_OK;
    }
    if (framing->length > nc_flow_max_body_bytes(transfer)) {
        return nc_transfer_note(transfer, NC_ERR_BODY_TOO_LARGE, CURLE_FILESIZE_EXCEEDED,
                                "the body of %llu bytes is larger than the limit of %llu",
                                (unsigned long long)framing->length,
                                (unsigned long long)nc_flow_max_body_bytes(transfer));
    }
    if (transfer->has_sink && transfer->sink.on_body != NULL) {
        return NC_OK;
    }
    nc_status reserved = nc_response_expect_body(transfer->response, framing->length);
    return reserved == NC_OK ? NC_OK : nc_transfer_note(transfer, reserved, 0, "no memory for a response body");
}

static nc_status decide_redirect(nc_transfer *transfer) {
    const nc_description *asked = &transfer->description;
    nc_error err;
    nc_slice location = {0};
    if (!transfer->framing.has_location ||
        !nc_response_find_header(transfer->response, nc_slice_of("Location"), &location)) {
        return NC_OK;
    }
    nc_redirect_question question = {
        .status = nc_response_status(transfer->response),
        .url = nc_transfer_url(transfer),
        .location = location,
        .is_head = asked->is_head,
        .is_post = asked->method != NULL && strcmp(asked->method, "POST") == 0 && !transfer->is_get,
        .choice = asked->redirects,
        .followed = transfer->followed,
        .max_redirects = asked->limits.max_redirects,
    };
    nc_buf_reset(&transfer->next_url);
    nc_status status = nc_redirect_decide(&transfer->answer, &transfer->next_url, &question, &err);
    if (status != NC_OK) {
        nc_trace_pass(&transfer->engine->trace, NC_TRACE_REDIRECT_REFUSED, transfer->id);
        return nc_transfer_note(transfer, status, err.native_code, "%s", err.message);
    }
    transfer->leads_on = transfer->answer.leads_on;
    return NC_OK;
}

static long request_bytes(const nc_transfer *transfer) {
    long bytes = 0;
    (void)curl_easy_getinfo(transfer->handle->easy, CURLINFO_REQUEST_SIZE, &bytes);
    return bytes;
}

/// Heads that libcurl may answer with another request of its own: a challenge that it has credentials for, or the
/// refusal of an expectation.
static bool may_be_answered(const nc_transfer *transfer, uint16_t code) {
    switch (code) {
    case 401:
    case 407:
        return nc_handle_answers_challenges(transfer);
    case 417:
        return transfer->description.expects_continue;
    default:
        return false;
    }
}

/// A plain 2xx is saved; other bodies are for the caller's eyes.
static void decide_saving(nc_transfer *transfer) {
    uint16_t code = nc_response_status(transfer->response);
    transfer->is_saving = transfer->files != NULL && transfer->description.extras->save_path != NULL && code >= 200 &&
                          code < 300 && !transfer->leads_on;
}

/// A final head is whole: what follows from it is decided, and its reader told.
static nc_status accept_head(nc_transfer *transfer) {
    nc_status status = check_framing(transfer);
    if (status == NC_OK) {
        status = decide_redirect(transfer);
    }
    if (status == NC_OK && !transfer->leads_on) {
        decide_saving(transfer);
        status = nc_flow_begin_body(transfer);
    }
    if (status == NC_OK && !transfer->leads_on) {
        status = expect_body(transfer);
    }
    if (status == NC_OK && transfer->has_sink && transfer->sink.on_head != NULL) {
        nc_metrics_note(transfer);
        nc_verdict verdict =
            transfer->sink.on_head(transfer->sink.ctx, transfer->id, transfer->response, !transfer->leads_on);
        if (verdict == NC_STOP) {
            status = nc_transfer_note(transfer, NC_ERR_STOPPED_BY_CALLER, 0, "the head callback stopped the transfer");
        } else if (verdict == NC_PAUSE) {
            nc_flow_rest_reading(transfer);
        }
    }
    if (status == NC_OK && transfer->description.is_head && transfer->description.has_body && !transfer->is_get) {
        // libcurl cannot send a body with HEAD, so it was sent by name; it would now wait for a body in return.
        transfer->ends_early = true;
        return NC_ERR_STOPPED_BY_CALLER;
    }
    return status;
}

static nc_status finish_head(nc_transfer *transfer) {
    transfer->is_in_head = false;
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_HEAD_DONE, transfer->id);
    if (transfer->lane->has_unlearnt) {
        nc_jar_learn(transfer->lane, transfer->handle->easy);
    }
    uint16_t code = nc_response_status(transfer->response);
    if (code < 200 && code != 101) {
        return NC_OK; // An interim head; the final one follows.
    }
    // RFC 9110, 7.8: a server may not switch to what nobody asked for. libcurl would hand out whatever follows.
    if (code == 101 && (!transfer->description.expects_upgrade || transfer->is_elsewhere)) {
        return nc_transfer_note(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                "the server switches to a protocol that was not asked for");
    }
    transfer->has_head = true;
    if (may_be_answered(transfer, code)) {
        transfer->is_head_held = true;
        transfer->asked_bytes = (uint64_t)request_bytes(transfer);
        nc_trace_pass(&transfer->engine->trace, NC_TRACE_CHALLENGED, transfer->id);
        if (code == 417 && nc_handle_stop_expecting(transfer) != NC_OK) {
            return nc_transfer_note(transfer, NC_ERR_NO_MEMORY, 0, "no memory to ask without an expectation");
        }
        return NC_OK;
    }
    return accept_head(transfer);
}

bool nc_head_is_followed_by_body(const nc_transfer *transfer) {
    return (uint64_t)request_bytes(transfer) == transfer->asked_bytes;
}

nc_status nc_head_release(nc_transfer *transfer) {
    transfer->is_head_held = false;
    return accept_head(transfer);
}

/// RFC 9110, 6.5: kept apart from the head, because most fields may not be taken from there.
static nc_status take_trailer(nc_transfer *transfer, nc_slice line) {
    const uint8_t *colon = memchr(line.data, ':', line.length);
    if (line.length == 0 || line.data[0] == '\r' || line.data[0] == '\n') {
        return NC_OK;
    }
    size_t name_length = colon != NULL ? (size_t)(colon - line.data) : 0;
    if (!is_field_name(nc_slice_make(line.data, name_length))) {
        return nc_transfer_note(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                "a line of the trailer is no field");
    }
    if (++transfer->head_fields > transfer->description.limits.max_head_fields) {
        return nc_transfer_note(transfer, NC_ERR_HEAD_TOO_LARGE, CURLE_RECV_ERROR,
                                "head and trailer have more than %u fields",
                                transfer->description.limits.max_head_fields);
    }
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_TRAILER, transfer->id);
    nc_status status = nc_response_add_trailer(transfer->response, nc_slice_make(line.data, name_length),
                                               trim(nc_slice_make(colon + 1, line.length - name_length - 1)));
    return status == NC_OK ? NC_OK : nc_transfer_note(transfer, status, 0, "no memory for a trailer");
}

nc_status nc_head_take_line(nc_transfer *transfer, nc_slice line) {
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_HEAD_LINE, transfer->id);
    if (transfer->first_byte_ns == 0) {
        transfer->first_byte_ns = nc_engine_now(transfer->engine);
    }
    nc_transfer_enter(transfer, NC_PHASE_BODY);
    // Interim heads and trailers count as well: an endless row of small ones is as large as one large head.
    if (line.length > transfer->description.limits.max_head_bytes - transfer->head_bytes) {
        return nc_transfer_note(transfer, NC_ERR_HEAD_TOO_LARGE, CURLE_RECV_ERROR,
                                "the response head is larger than the limit of %u bytes",
                                transfer->description.limits.max_head_bytes);
    }
    transfer->head_bytes += (uint32_t)line.length;
    if (has_stray_cr(line)) {
        return nc_transfer_note(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                "a CR within a line of the response");
    }
    bool is_answered =
        transfer->is_head_held && !transfer->is_in_head && line.length > 5 && memcmp(line.data, "HTTP/", 5) == 0;
    if (is_answered) {
        transfer->is_head_held = false;
        transfer->has_head = false;
        transfer->head_bytes = (uint32_t)line.length;
        transfer->head_fields = 0;
    }
    if (transfer->has_head) {
        return take_trailer(transfer, line);
    }
    if (!transfer->is_in_head) {
        uint16_t status;
        nc_http_version version;
        if (!parse_status_line(line, &status, &version)) {
            return nc_transfer_note(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                    "the status line is malformed");
        }
        if (version >= NC_HTTP_VERSION_2 && !transfer->may_be_multiplexed) {
            // It would be believed to have no need for a length, and further requests would wait for its connection.
            return nc_transfer_note(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                    "a reply in HTTP/1.1 calls itself HTTP/%c", line.data[5]);
        }
        nc_response_begin_head(transfer->response, status, version);
        transfer->framing = (nc_framing){0};
        transfer->is_in_head = true;
        return NC_OK;
    }
    if (line.length == 0 || line.data[0] == '\r' || line.data[0] == '\n') {
        return finish_head(transfer);
    }
    return take_field(transfer, line);
}
