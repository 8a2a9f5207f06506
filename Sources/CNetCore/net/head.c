#include "net/head.h"

#include "base/trace.h"
#include "net/challenge.h"
#include "net/engine_state.h"
#include "net/handle.h"
#include "net/head_line.h"
#include "net/limits.h"
#include "net/metrics.h"
#include "net/proof.h"
#include "net/response.h"
#include "net/url_text.h"

#include <netcore/url.h>
#include <string.h>

/// Drops and counts a malformed line with a colon, because many servers send one. A line that another reader could take
/// for the body's framing is rejected, and so is a line without a colon.
static nc_status drop_line(nc_transfer *transfer, nc_slice line, const char *place) {
    bool has_colon = memchr(line.data, ':', line.length) != NULL;
    bool has_nul = memchr(line.data, 0, line.length) != NULL;
    if (!has_colon || has_nul || transfer->description.refuses_malformed_fields || nc_framing_hides_in(line)) {
        return nc_transfer_note(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY, "a line of the %s is no field",
                                place);
    }
    nc_response_hop(transfer->response)->dropped_fields++;
    transfer->framing.is_behind_dropped = true;
    return NC_OK;
}

static nc_status take_field(nc_transfer *transfer, nc_slice line) {
    nc_status status;
    bool is_fold = line.data[0] == ' ' || line.data[0] == '\t';
    if (is_fold && transfer->framing.is_behind_dropped) {
        return nc_transfer_note(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                "a line of the response head is no field, and is folded");
    }
    transfer->framing.is_behind_dropped = false;
    if (is_fold) {
        status = nc_response_extend_field(transfer->response, nc_head_line_trim(line));
        size_t count = nc_response_header_count(transfer->response);
        nc_framing_take_fold(&transfer->framing,
                             nc_response_header_at(transfer->response, count > 0 ? count - 1 : 0).name);
    } else {
        const uint8_t *colon = memchr(line.data, ':', line.length);
        size_t name_length = colon != NULL ? (size_t)(colon - line.data) : 0;
        transfer->head_fields++;
        if (transfer->head_fields > transfer->description.limits.max_head_fields) {
            return nc_transfer_note(transfer, NC_ERR_HEAD_TOO_LARGE, CURLE_RECV_ERROR,
                                    "the response head has more than %u fields",
                                    transfer->description.limits.max_head_fields);
        }
        if (!nc_head_line_is_name(nc_slice_make(line.data, name_length))) {
            return drop_line(transfer, line, "response head");
        }
        nc_slice value = nc_head_line_trim(nc_slice_make(colon + 1, line.length - name_length - 1));
        nc_slice name = nc_slice_make(line.data, name_length);
        nc_framing_take(&transfer->framing, name, value);
        if (name.length == 7 && nc_slice_is_equal_ignoring_case(name, nc_slice_of("Trailer")) &&
            nc_response_http_version(transfer->response) >= NC_HTTP_VERSION_2) {
            nc_handle_heed_length(transfer->handle, false); // in time if the length follows later
        }
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
    // RFC 9112, 6.1: HTTP/1.0 has no transfer codings, so an intermediary may not have understood this one.
    if (framing->has_transfer_coding && nc_response_http_version(transfer->response) == NC_HTTP_VERSION_1_0) {
        return nc_transfer_note(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                "the response head leaves open where the body ends: HTTP/1.0 with Transfer-Encoding");
    }
    // Each coding multiplies the bytes of the one before.
    if (framing->coding_count > max_codings && transfer->description.accepts_codings &&
        nc_delivery_has_content(transfer)) {
        return nc_transfer_note(transfer, NC_ERR_BAD_CODING, CURLE_BAD_CONTENT_ENCODING,
                                "the body has %u content codings, more than the limit of %u", framing->coding_count,
                                max_codings);
    }
    return NC_OK;
}

static nc_status check_length(nc_transfer *transfer) {
    uint64_t max_bytes = nc_delivery_max_bytes(transfer);
    if (transfer->framing.has_length && transfer->framing.length > INT64_MAX) {
        return nc_transfer_note(transfer, NC_ERR_BODY_TOO_LARGE, CURLE_FILESIZE_EXCEEDED,
                                "the body of more than %lld bytes is larger than any limit", (long long)INT64_MAX);
    }
    if (!transfer->framing.has_length || transfer->framing.length <= max_bytes) {
        return NC_OK;
    }
    return nc_transfer_note(transfer, NC_ERR_BODY_TOO_LARGE, CURLE_FILESIZE_EXCEEDED,
                            "the body of %llu bytes is larger than the limit of %llu",
                            (unsigned long long)transfer->framing.length, (unsigned long long)max_bytes);
}

/// Rejects a body with a too large announced length before it arrives, unless it must be decoded.
static nc_status expect_body(nc_transfer *transfer) {
    const nc_framing *framing = &transfer->framing;
    bool has_none = !nc_delivery_has_content(transfer);
    nc_http_version version = nc_response_http_version(transfer->response);
    if (!has_none && !framing->has_length && !framing->is_chunked && version < NC_HTTP_VERSION_2) {
        nc_response_mark_close_delimited(transfer->response);
    }
    bool is_decoded_first = framing->coding_count > 0 && framing->length <= INT64_MAX;
    if (has_none || is_decoded_first || !framing->has_length) {
        return NC_OK;
    }
    if (check_length(transfer) != NC_OK) {
        return transfer->error.status;
    }
    if (transfer->has_sink && transfer->sink.on_body != NULL) {
        return NC_OK;
    }
    nc_status reserved = nc_response_expect_body(transfer->response, framing->length);
    return reserved == NC_OK ? NC_OK : nc_transfer_note(transfer, reserved, 0, "no memory for a response body");
}

/// RFC 6797, 8.3: http to an HSTS host means https, so it is no downgrade, and possibly not cross-origin.
static nc_status decide_securely(nc_transfer *transfer, nc_redirect_question question, nc_error *err) {
    nc_buf_reset(&transfer->next_url);
    nc_status status = nc_redirect_decide(&transfer->answer, &transfer->next_url, &question, err);
    bool is_refused = status == NC_ERR_REDIRECT_REFUSED;
    if (!is_refused && (status != NC_OK || !transfer->answer.leads_on)) {
        return status;
    }
    nc_buf secure = nc_buf_init(NC_URL_MAX_BYTES + 2);
    size_t length = transfer->next_url.length - (is_refused ? 1 : 0); // before its NUL
    nc_slice next = nc_slice_make(transfer->next_url.data, length);
    if (nc_strict_secure(&secure, transfer->engine, next) == NC_OK && secure.length > 0) {
        nc_buf_reset(&transfer->next_url);
        question.location = nc_buf_slice(&secure);
        status = nc_redirect_decide(&transfer->answer, &transfer->next_url, &question, err);
    }
    nc_buf_deinit(&secure);
    return status;
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
        .keeps_dot_segments = asked->extras != NULL && asked->extras->keeps_dot_segments,
        .choice = asked->redirects,
        .followed = transfer->followed,
        .max_redirects = asked->limits.max_redirects,
    };
    nc_status status = decide_securely(transfer, question, &err);
    if (status == NC_OK && transfer->answer.leads_on && !transfer->answer.changes_origin) {
        status = nc_redirect_keep_credentials(&transfer->next_url, question.url, &err);
    }
    if (status != NC_OK) {
        nc_trace_pass(&transfer->engine->trace, NC_TRACE_REDIRECT_REFUSED, transfer->id);
        return nc_transfer_note(transfer, status, err.native_code, "%s", err.message);
    }
    transfer->leads_on = transfer->answer.leads_on;
    transfer->led_on_ns = transfer->engine->loop.now_ns;
    return NC_OK;
}

static bool sends_head_with_body(const nc_transfer *transfer) {
    return transfer->description.is_head && transfer->description.has_body; // No redirect changes it to GET.
}

static long request_bytes(const nc_transfer *transfer) {
    long bytes = 0;
    (void)curl_easy_getinfo(transfer->handle->easy, CURLINFO_REQUEST_SIZE, &bytes);
    return bytes;
}

/// Returns true if only the expectation is refused (RFC 9110, 15.5.18), and the request can be sent without it. libcurl
/// would resend on the same connection, which servers then close, often without announcing it. A body that can be sent
/// only once would be lost.
static bool refuses_expectation(const nc_transfer *transfer, uint16_t code) {
    return code == 417 && transfer->description.expects_continue && nc_upload_can_begin(transfer);
}

/// libcurl sends a request without its body if it expects a challenge. Any response other than a challenge belongs to
/// that request, and the caller's request is then sent as it is. libcurl would do that only after a success.
static bool is_unchallenged(nc_transfer *transfer, uint16_t code) {
    bool waits = transfer->description.has_body && transfer->upload.length > 0 && !transfer->is_get;
    if (!waits || transfer->upload.has_begun || code == 401 || code == 407) {
        return false;
    }
    uint8_t known = (uint8_t)(transfer->met | transfer->at_once);
    uint8_t awaited = nc_auth_awaited_parties(transfer) & (uint8_t)~known;
    transfer->at_once |= awaited;
    return awaited != 0;
}

/// libcurl responds as long as a server calls each nonce stale, with the whole body each time.
///
/// It computes a digest over the body (auth-int) from an empty body, and the server rejects it. It knows HEAD with a
/// body only as a method name, and would wait for the challenge's body before it responds.
static nc_status check_challenge(nc_transfer *transfer, uint16_t code) {
    if (transfer->challenges > NC_MAX_CHALLENGES) {
        return nc_transfer_note(transfer, NC_ERR_AUTHENTICATION, CURLE_AUTH_ERROR,
                                "the server has taken none of %d proofs", NC_MAX_CHALLENGES);
    }
    if (sends_head_with_body(transfer)) {
        return nc_transfer_note(transfer, NC_ERR_AUTHENTICATION, CURLE_AUTH_ERROR,
                                "libcurl cannot answer a challenge to HEAD with a body");
    }
    const char *name = code == 407 ? "Proxy-Authenticate" : "WWW-Authenticate";
    const nc_extras *extras = transfer->description.extras;
    uint32_t schemes = code == 407      ? nc_handle_proxy(transfer)->credentials.schemes
                       : extras != NULL ? extras->credentials.schemes
                                        : 0;
    bool has_body = transfer->description.has_body && transfer->upload.length > 0 && !transfer->is_get;
    for (size_t i = 0; has_body && i < nc_response_header_count(transfer->response); i++) {
        nc_header field = nc_response_header_at(transfer->response, i);
        if ((schemes & NC_AUTH_DIGEST) != 0 && nc_slice_is_equal_ignoring_case(field.name, nc_slice_of(name)) &&
            nc_challenge_covers_body(field.value)) {
            return nc_transfer_note(transfer, NC_ERR_AUTHENTICATION, CURLE_AUTH_ERROR,
                                    "the digest is to cover the body (qop=auth-int), which libcurl cannot do");
        }
    }
    return NC_OK;
}

/// Saves the body of a 2xx; other bodies go to the caller.
static void decide_saving(nc_transfer *transfer) {
    const nc_extras *extras = transfer->description.extras;
    uint16_t code = nc_response_status(transfer->response);
    transfer->is_saving = transfer->files != NULL && extras != NULL && extras->save_path != NULL && code >= 200 &&
                          code < 300 && !transfer->leads_on && nc_proof_allows_saving(transfer);
}

/// Returns true if libcurl is done with the response at the end of its head.
static bool is_whole(const nc_transfer *transfer) {
    return !nc_delivery_has_content(transfer) || (transfer->framing.has_length && transfer->framing.length == 0);
}

/// Returns true if a redirect's body only ends with the connection, which may never happen. Reading it is useless,
/// because the connection is not reused. A server that responds early may still need the request's body.
static bool is_read_in_vain(const nc_transfer *transfer) {
    return transfer->leads_on && nc_response_http_version(transfer->response) < NC_HTTP_VERSION_2 &&
           nc_delivery_has_content(transfer) && !transfer->framing.has_length && !transfer->framing.is_chunked &&
           !nc_flow_is_held(transfer) && !nc_delivery_is_sending(transfer);
}

/// Handles a complete final head: decides what follows from it, and notifies its reader.
static nc_status accept_head(nc_transfer *transfer) {
    nc_status status = decide_redirect(transfer);
    if (status == NC_OK && !transfer->leads_on) {
        decide_saving(transfer);
        status = nc_delivery_check_saving(transfer);
    }
    if (status == NC_OK) {
        status = nc_delivery_begin(transfer);
    }
    if (status == NC_OK && !transfer->leads_on) {
        status = nc_proof_begin(transfer);
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
    bool is_awaited = transfer->leads_on && !is_whole(transfer);
    if (status == NC_OK && (is_awaited || nc_delivery_awaits_end(transfer))) {
        nc_limits_arm(transfer); // No further event may do it.
    }
    // libcurl cannot send a body with HEAD, so the method was sent by name. libcurl would now wait for a response body.
    if (status == NC_OK && (sends_head_with_body(transfer) || is_read_in_vain(transfer))) {
        transfer->ends_early = true;
        return NC_ERR_STOPPED_BY_CALLER;
    }
    return status;
}

/// A server that responds before the body may still read it, and would take the next request for its rest (RFC 9112,
/// 9.3). libcurl 7.88 keeps the connection if the response is a success and the body has waited for 100 Continue.
static void give_up_connection(nc_transfer *transfer) {
    bool is_plain = nc_response_http_version(transfer->response) < NC_HTTP_VERSION_2;
    if (is_plain && transfer->description.expects_continue && nc_delivery_is_sending(transfer)) {
        nc_handle_forbid_reuse(transfer->handle);
    }
}

/// RFC 9110, 7.8: a server must not switch to a protocol that was not requested. libcurl would deliver all bytes that
/// follow.
static nc_status switch_protocols(nc_transfer *transfer) {
    if (!transfer->description.expects_upgrade || transfer->is_elsewhere) {
        return nc_transfer_note(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                "the server switches to a protocol that was not asked for");
    }
    // RFC 9110, 8.6: it has no length, and a present one is meaningless.
    transfer->framing.has_length = false;
    transfer->framing.is_chunked = false;
    return NC_OK;
}

/// After a challenge that libcurl has credentials for, it may send another request by itself. It drops the body in
/// between without a callback: nc_exchange_on_progress() counts it.
static nc_status hold_challenge(nc_transfer *transfer, uint16_t code) {
    transfer->challenges++;
    if (check_challenge(transfer, code) != NC_OK ||
        (nc_delivery_has_content(transfer) && check_length(transfer) != NC_OK)) {
        return transfer->error.status;
    }
    nc_status status =
        nc_auth_answer_head(transfer, code == 407 ? NC_PARTY_PROXY : NC_PARTY_HOST, NC_AUTH_WHERE_MISREAD);
    if (status != NC_OK || transfer->asks_anew) {
        return status != NC_OK ? status : NC_ERR_STOPPED_BY_CALLER;
    }
    if (transfer->framing.has_cookies && nc_handle_set_cookies(transfer->handle, transfer) != NC_OK) {
        return nc_transfer_note(transfer, NC_ERR_NO_MEMORY, 0, "no memory for cookies");
    }
    nc_handle_watch_progress(transfer->handle);
    transfer->is_head_held = true;
    transfer->met |= code == 407 ? NC_PARTY_PROXY : NC_PARTY_HOST;
    transfer->asked_bytes = (uint64_t)request_bytes(transfer);
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_CHALLENGED, transfer->id);
    return NC_OK;
}

static nc_status finish_head(nc_transfer *transfer) {
    transfer->is_in_head = false;
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_HEAD_DONE, transfer->id);
    uint16_t code = nc_response_status(transfer->response);
    bool is_interim = code < 200 && code != 101;
    if (!is_interim && check_framing(transfer) != NC_OK) {
        return transfer->error.status;
    }
    if (is_interim) {
        return NC_OK; // The final one follows.
    }
    if (code == 101 && switch_protocols(transfer) != NC_OK) {
        return transfer->error.status;
    }
    if (nc_cookies_store(transfer) != NC_OK) {
        return nc_transfer_note(transfer, NC_ERR_NO_MEMORY, 0, "no memory for a cookie");
    }
    nc_strict_learn(transfer);
    nc_alternatives_learn(transfer);
    if (refuses_expectation(transfer, code)) {
        nc_description_stop_expecting(&transfer->description);
        transfer->asks_anew = true;
        nc_response_repeat_hop(transfer->response);
        return NC_ERR_STOPPED_BY_CALLER;
    }
    if (is_unchallenged(transfer, code)) {
        transfer->asks_anew = true;
        nc_response_repeat_hop(transfer->response);
        return NC_ERR_STOPPED_BY_CALLER;
    }
    nc_limits_get_on(transfer);
    give_up_connection(transfer);
    if (is_whole(transfer) && nc_response_http_version(transfer->response) < NC_HTTP_VERSION_2) {
        nc_handle_watch_excess(transfer->handle);
    }
    transfer->has_head = true;
    if ((code == 401 || code == 407) && nc_auth_answers_challenges(transfer)) {
        return hold_challenge(transfer, code);
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

/// RFC 9110, 6.5: trailers are separate from the head, because most fields may only be used in a head.
static nc_status take_trailer(nc_transfer *transfer, nc_slice line) {
    const uint8_t *colon = memchr(line.data, ':', line.length);
    if (line.length == 0 || line.data[0] == '\r' || line.data[0] == '\n') {
        return NC_OK;
    }
    size_t name_length = colon != NULL ? (size_t)(colon - line.data) : 0;
    if (++transfer->head_fields > transfer->description.limits.max_head_fields) {
        return nc_transfer_note(transfer, NC_ERR_HEAD_TOO_LARGE, CURLE_RECV_ERROR,
                                "head and trailer have more than %u fields",
                                transfer->description.limits.max_head_fields);
    }
    if (!nc_head_line_is_name(nc_slice_make(line.data, name_length))) {
        return drop_line(transfer, line, "trailer");
    }
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_TRAILER, transfer->id);
    nc_status status =
        nc_response_add_trailer(transfer->response, nc_slice_make(line.data, name_length),
                                nc_head_line_trim(nc_slice_make(colon + 1, line.length - name_length - 1)));
    return status == NC_OK ? NC_OK : nc_transfer_note(transfer, status, 0, "no memory for a trailer");
}

static nc_status begin_head(nc_transfer *transfer, nc_slice line) {
    uint16_t status;
    nc_http_version version;
    if (!nc_head_line_parse_status(line, &status, &version)) {
        return nc_transfer_note(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                "the status line is malformed");
    }
    if (version >= NC_HTTP_VERSION_2 && !transfer->may_be_multiplexed) {
        // Otherwise it would count as multiplexed without a need for a length, and other requests would wait for its
        // connection.
        return nc_transfer_note(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                "a reply in HTTP/1.1 calls itself HTTP/%c", line.data[5]);
    }
    // At the announced length libcurl stops reading a stream, before its trailers and before the reset that rejects the
    // rest of an upload. nghttp2 and nc_delivery_finish() check the length. For other streams the length stays in
    // force: libcurl 7.88 resets every stream that it reads to the last frame, which servers treat as an attack.
    nc_handle_heed_length(transfer->handle, version < NC_HTTP_VERSION_2 || !nc_delivery_is_sending(transfer));
    nc_response_begin_head(transfer->response, status, version);
    transfer->framing = (nc_framing){0};
    transfer->is_in_head = true;
    transfer->head_fields = 0; // Hints may be many heads of many fields; their bytes count together.
    return NC_OK;
}

/// libcurl 8.18 and later deliver a line that the end of the connection has cut off. A CR alone would look like the
/// head's end.
static bool is_cut_off(nc_slice line) {
    return line.length == 0 || line.data[line.length - 1] != '\n';
}

nc_status nc_head_take_line(nc_transfer *transfer, nc_slice line) {
    if (is_cut_off(line)) {
        return NC_OK; // How the connection ended is known later: nc_verdict_judge().
    }
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_HEAD_LINE, transfer->id);
    if (transfer->first_byte_ns == 0) {
        transfer->first_byte_ns = nc_engine_now(transfer->engine);
    }
    nc_transfer_enter(transfer, NC_PHASE_BODY);
    bool is_answered =
        transfer->is_head_held && !transfer->is_in_head && line.length > 5 && memcmp(line.data, "HTTP/", 5) == 0;
    if (is_answered) {
        transfer->is_head_held = false;
        transfer->has_head = false;
        transfer->head_bytes = 0;
        transfer->head_fields = 0;
    }
    // Interim heads and trailers count too: an endless series of small ones is as large as one large head.
    if (line.length > transfer->description.limits.max_head_bytes - transfer->head_bytes) {
        return nc_transfer_note(transfer, NC_ERR_HEAD_TOO_LARGE, CURLE_RECV_ERROR,
                                "the response head is larger than the limit of %u bytes",
                                transfer->description.limits.max_head_bytes);
    }
    transfer->head_bytes += (uint32_t)line.length;
    if (nc_head_line_has_stray_cr(line)) {
        return nc_transfer_note(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                "a CR within a line of the response");
    }
    if (transfer->has_head) {
        return take_trailer(transfer, line);
    }
    if (!transfer->is_in_head) {
        return begin_head(transfer, line);
    }
    if (line.length == 0 || line.data[0] == '\r' || line.data[0] == '\n') {
        return finish_head(transfer);
    }
    return take_field(transfer, line);
}
