#include "transfer/internal.h"

#include "base/trace.h"
#include "curl/auth_response.h"
#include "curl/easy_handle.h"
#include "curl/quirks.h"
#include "http/challenge.h"
#include "http/framing.h"
#include "http/url_text.h"
#include "request/request_copy.h"
#include "request/response.h"
#include "state/alt_svc_cache.h"
#include "state/cookies.h"
#include "state/engine_record.h"
#include "state/hsts_state.h"
#include "state/time_limits.h"
#include "state/transfer_state.h"
#include "transfer/body_pipeline.h"
#include "transfer/flow_control.h"
#include <netcore/redirect.h>

#include <netcore/url.h>
#include <string.h>

static nc_status take_field(nc_transfer *transfer, nc_slice line) {
    nc_status status;
    bool is_fold = line.data[0] == ' ' || line.data[0] == '\t';
    if (is_fold && transfer->hop.framing.follows_dropped_line) {
        return nc_transfer_record_error(
            transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
            "a line of the response head is not a header field, and the next line is folded");
    }
    transfer->hop.framing.follows_dropped_line = false;
    if (is_fold) {
        status = nc_response_extend_field(transfer->response, nc_head_line_trim(line));
        size_t count = nc_response_header_count(transfer->response);
        nc_framing_take_fold(&transfer->hop.framing,
                             nc_response_header_at(transfer->response, count > 0 ? count - 1 : 0).name);
    } else {
        const uint8_t *colon = memchr(line.data, ':', line.length);
        size_t name_length = colon != NULL ? (size_t)(colon - line.data) : 0;
        transfer->hop.head_fields++;
        if (transfer->hop.head_fields > transfer->request.limits.max_head_fields) {
            return nc_transfer_record_error(transfer, NC_ERR_HEAD_TOO_LARGE, CURLE_RECV_ERROR,
                                            "the response head has more than %u fields (limits.max_head_fields)",
                                            transfer->request.limits.max_head_fields);
        }
        if (!nc_head_line_is_name(nc_slice_make(line.data, name_length))) {
            return nc_head_drop_line(transfer, line, "response head");
        }
        nc_slice value = nc_head_line_trim(nc_slice_make(colon + 1, line.length - name_length - 1));
        nc_slice name = nc_slice_make(line.data, name_length);
        nc_framing_take(&transfer->hop.framing, name, value);
        if (name.length == 7 && nc_slice_is_equal_ignoring_case(name, nc_slice_of("Trailer")) &&
            nc_response_http_version(transfer->response) >= NC_HTTP_VERSION_2) {
            nc_easy_handle_check_length(transfer->handle, false); // has an effect only if Content-Length follows later
        }
        status = nc_response_add_field(transfer->response, name, value);
    }
    if (status == NC_ERR_BAD_RESPONSE) {
        return nc_transfer_record_error(transfer, status, CURLE_WEIRD_SERVER_REPLY,
                                        "the response head begins with a folded line");
    }
    return status == NC_OK ? NC_OK : nc_transfer_record_error(transfer, status, 0, "no memory for a response head");
}

static nc_status check_framing(nc_transfer *transfer) {
    const nc_framing *framing = &transfer->hop.framing;
    uint32_t max_codings = transfer->request.limits.max_codings;
    uint32_t codings = framing->transfer_coding_count + (transfer->request.accepts_codings ? framing->coding_count : 0);
    bool is_unrequested = framing->transfer_coding_count > 0 && !transfer->request.accepts_transfer_codings;
    const char *fault = framing->fault != NULL ? framing->fault
                        : is_unrequested       ? "its Transfer-Encoding is not just chunked"
                                               : nc_trailer_fault(transfer);
    if (fault != NULL) {
        return nc_transfer_record_error(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                        "the length of the response body is ambiguous: %s", fault);
    }
    // RFC 9112, 6.1: HTTP/1.0 has no transfer codings, so an intermediary may not have understood this one.
    if (framing->has_transfer_coding && nc_response_http_version(transfer->response) == NC_HTTP_VERSION_1_0) {
        return nc_transfer_record_error(
            transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
            "the length of the response body is ambiguous: HTTP/1.0 with Transfer-Encoding");
    }
    // Each coding multiplies the bytes of the one before.
    if (codings > max_codings && nc_transfer_expects_content(transfer)) {
        return nc_transfer_record_error(transfer, NC_ERR_BAD_CODING, CURLE_BAD_CONTENT_ENCODING,
                                        "the body has %u codings, more than the limit of %u (limits.max_codings)",
                                        codings, max_codings);
    }
    return NC_OK;
}

static nc_status check_length(nc_transfer *transfer) {
    uint64_t max_bytes = nc_transfer_max_body_bytes(transfer);
    if (transfer->hop.framing.has_length && transfer->hop.framing.length > INT64_MAX) {
        return nc_transfer_record_error(transfer, NC_ERR_BODY_TOO_LARGE, CURLE_FILESIZE_EXCEEDED,
                                        "the body of more than %lld bytes is larger than any limit",
                                        (long long)INT64_MAX);
    }
    if (!transfer->hop.framing.has_length || transfer->hop.framing.length <= max_bytes) {
        return NC_OK;
    }
    return nc_transfer_record_error(
        transfer, NC_ERR_BODY_TOO_LARGE, CURLE_FILESIZE_EXCEEDED,
        "the body of %llu bytes is larger than the limit of %llu bytes (limits.max_body_bytes)",
        (unsigned long long)transfer->hop.framing.length, (unsigned long long)max_bytes);
}

/// Rejects a body with a too large announced length before it arrives, unless it must be decoded.
static nc_status expect_body(nc_transfer *transfer) {
    const nc_framing *framing = &transfer->hop.framing;
    bool has_none = !nc_transfer_expects_content(transfer);
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
    return reserved == NC_OK ? NC_OK : nc_transfer_record_error(transfer, reserved, 0, "no memory for a response body");
}

/// Decides about a redirect. If its URL has http: and its host has HSTS, the URL is changed to https: first (RFC 6797,
/// 8.3). The redirect is then not a downgrade, and possibly not cross-origin.
static nc_status decide_securely(nc_transfer *transfer, nc_redirect_question question, nc_error *err) {
    nc_buf_reset(&transfer->next_url);
    nc_status status = nc_redirect_decide(&transfer->redirect, &transfer->next_url, &question, err);
    bool is_refused = status == NC_ERR_REDIRECT_REFUSED;
    if (!is_refused && (status != NC_OK || !transfer->redirect.is_redirect)) {
        return status;
    }
    nc_buf secure = nc_buf_init(NC_URL_MAX_BYTES + 2);
    if (nc_hsts_state_secure(&secure, transfer->engine, nc_buf_slice(&transfer->next_url)) == NC_OK &&
        secure.length > 0) {
        nc_buf_reset(&transfer->next_url);
        question.location = nc_buf_slice(&secure);
        status = nc_redirect_decide(&transfer->redirect, &transfer->next_url, &question, err);
    }
    nc_buf_deinit(&secure);
    return status;
}

/// Servers redirect a WebSocket to a URL with the scheme ws or wss, too. Appends the URL with http or https.
static void append_web_location(nc_buf *out, nc_slice location) {
    static const char *const schemes[] = {"ws://", "wss://"};
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(schemes[i]);
        if (location.length > length &&
            nc_slice_is_equal_ignoring_case(nc_slice_make(location.data, length), nc_slice_of(schemes[i]))) {
            nc_buf_append(out, nc_slice_of("http"));
            location = nc_slice_make(location.data + 2, location.length - 2);
            break;
        }
    }
    nc_buf_append(out, location);
}

static nc_status decide_redirect(nc_transfer *transfer) {
    const nc_request_copy *request = &transfer->request;
    nc_error err;
    nc_slice location = {0};
    if (!transfer->hop.framing.has_location ||
        !nc_response_find_header(transfer->response, nc_slice_of("Location"), &location)) {
        return NC_OK;
    }
    nc_redirect_question question = {
        .status = nc_response_status(transfer->response),
        .url = nc_transfer_url(transfer),
        .location = location,
        .is_head = request->is_head,
        .is_post = request->method != NULL && strcmp(request->method, "POST") == 0 && !transfer->is_get,
        .keeps_dot_segments = request->options != NULL && request->options->keeps_dot_segments,
        .choice = request->redirects,
        .followed = transfer->redirect_count,
        .max_redirects = request->limits.max_redirects,
    };
    nc_buf web = nc_buf_init(SIZE_MAX);
    if (request->is_socket) {
        append_web_location(&web, location);
        question.location = nc_buf_slice(&web);
    }
    nc_status status = nc_buf_status(&web) == NC_OK ? decide_securely(transfer, question, &err)
                                                    : nc_error_set(&err, NC_ERR_NO_MEMORY, 0, -1, "no memory");
    nc_buf_deinit(&web);
    transfer->redirect.becomes_get = transfer->redirect.becomes_get && !request->is_socket;
    if (status == NC_OK && transfer->redirect.is_redirect && !transfer->redirect.changes_origin) {
        status = nc_redirect_keep_credentials(&transfer->next_url, question.url, &err);
    }
    if (status != NC_OK) {
        nc_trace_pass(&transfer->engine->trace, NC_TRACE_REDIRECT_REFUSED, transfer->id);
        return nc_transfer_record_error(transfer, status, err.native_code, "%s", err.message);
    }
    if (transfer->redirect.is_redirect) {
        transfer->hop.outcome = NC_HOP_REDIRECTS;
    }
    transfer->hop.redirected_ns = transfer->engine->loop.now_ns;
    return NC_OK;
}

static bool sends_head_with_body(const nc_transfer *transfer) {
    return transfer->request.is_head && transfer->request.has_body; // No redirect changes it to GET.
}

static long request_bytes(const nc_transfer *transfer) {
    long bytes = 0;
    (void)curl_easy_getinfo(transfer->handle->easy, CURLINFO_REQUEST_SIZE, &bytes);
    return bytes;
}

/// Returns true if the server refuses only the expectation (RFC 9110, 15.5.18), and the engine can resend the request
/// without it. libcurl would resend it on the same connection, which servers then close, often without announcing it. A
/// body that can be sent only once would be lost.
static bool refuses_expectation(const nc_transfer *transfer, uint16_t code) {
    return code == 417 && transfer->request.expects_continue && nc_transfer_can_send_body_again(transfer);
}

/// If libcurl expects a challenge, it first sends the request without its body. Returns true if the response to that
/// request is not a challenge, so that the request must be sent again with its body. libcurl would do that only after a
/// success.
static bool is_unchallenged(nc_transfer *transfer, uint16_t code) {
    bool waits = transfer->request.has_body && transfer->upload.length > 0 && !transfer->is_get;
    if (!waits || transfer->request.is_socket || transfer->upload.has_begun || code == 401 || code == 407) {
        return false;
    }
    uint8_t known = (uint8_t)(transfer->hop.challengers | transfer->target.sends_body_immediately);
    uint8_t awaited = nc_auth_awaited_parties(transfer) & (uint8_t)~known;
    transfer->target.sends_body_immediately |= awaited;
    return awaited != 0;
}

/// Rejects challenges that libcurl would answer without end, or wrongly.
///
/// If a server calls every nonce stale, libcurl sends the whole body again each time. It computes a digest over the
/// body (auth-int) from an empty body, and the server rejects it. In a HEAD request with a body, HEAD is set only as a
/// method name, so libcurl would wait for a body of the challenge, which never arrives, before it responds.
static nc_status check_challenge(nc_transfer *transfer, uint16_t code) {
    if (transfer->hop.challenges > NC_MAX_CHALLENGES) {
        return nc_transfer_record_error(transfer, NC_ERR_AUTHENTICATION, CURLE_AUTH_ERROR,
                                        "the server rejected the credentials after %d challenges", NC_MAX_CHALLENGES);
    }
    if (sends_head_with_body(transfer)) {
        return nc_transfer_record_error(
            transfer, NC_ERR_AUTHENTICATION, CURLE_AUTH_ERROR,
            "libcurl cannot respond to an authentication challenge for a HEAD request with a body");
    }
    const char *name = code == 407 ? "Proxy-Authenticate" : "WWW-Authenticate";
    const nc_copied_options *options = transfer->request.options;
    uint32_t schemes = code == 407       ? nc_transfer_proxy(transfer)->credentials.schemes
                       : options != NULL ? options->credentials.schemes
                                         : 0;
    bool has_body =
        transfer->request.has_body && transfer->upload.length > 0 && !transfer->is_get && !transfer->request.is_socket;
    for (size_t i = 0; has_body && i < nc_response_header_count(transfer->response); i++) {
        nc_header field = nc_response_header_at(transfer->response, i);
        if ((schemes & NC_AUTH_DIGEST) != 0 && nc_slice_is_equal_ignoring_case(field.name, nc_slice_of(name)) &&
            nc_challenge_covers_body(field.value)) {
            return nc_transfer_record_error(
                transfer, NC_ERR_AUTHENTICATION, CURLE_AUTH_ERROR,
                "the server requires a Digest response over the body (qop=auth-int), which libcurl does not support");
        }
    }
    return NC_OK;
}

/// Decides if the body is saved to the requested file. Only the body of a 2xx is saved; others are delivered to the
/// caller.
static void decide_saving(nc_transfer *transfer) {
    const nc_copied_options *options = transfer->request.options;
    uint16_t code = nc_response_status(transfer->response);
    transfer->hop.is_saving = transfer->files != NULL && options != NULL && options->save_path != NULL && code >= 200 &&
                              code < 300 && !nc_hop_is_redirect(transfer) && nc_json_check_allows_saving(transfer);
}

/// Returns true if the response ends with its head.
static bool is_whole(const nc_transfer *transfer) {
    return !nc_transfer_expects_content(transfer) ||
           (transfer->hop.framing.has_length && transfer->hop.framing.length == 0);
}

/// Returns true if a redirect's body ends only with the connection. Reading it is useless, because it may never end,
/// and the connection cannot be reused. Returns false while the request's body is sent, because the server may need it.
static bool is_read_in_vain(const nc_transfer *transfer) {
    return nc_hop_is_redirect(transfer) && nc_response_http_version(transfer->response) < NC_HTTP_VERSION_2 &&
           nc_transfer_expects_content(transfer) && !transfer->hop.framing.has_length &&
           !transfer->hop.framing.is_chunked && !nc_transfer_is_held_back(transfer) &&
           !nc_transfer_is_sending(transfer);
}

/// Handles a complete final head: decides what follows from it, and notifies its reader.
static nc_status accept_head(nc_transfer *transfer) {
    nc_status status = decide_redirect(transfer);
    if (status == NC_OK && !nc_hop_is_redirect(transfer)) {
        decide_saving(transfer);
        status = nc_body_pipeline_check_saving(transfer);
    }
    if (status == NC_OK) {
        status = nc_body_pipeline_begin(transfer);
    }
    if (status == NC_OK && !nc_hop_is_redirect(transfer)) {
        status = nc_json_check_begin(transfer);
    }
    if (status == NC_OK && !nc_hop_is_redirect(transfer)) {
        status = expect_body(transfer);
    }
    if (status == NC_OK && transfer->has_sink && transfer->sink.on_head != NULL) {
        nc_metrics_add(transfer);
        nc_action action =
            transfer->sink.on_head(transfer->sink.ctx, transfer->id, transfer->response, !nc_hop_is_redirect(transfer));
        if (action == NC_ACTION_STOP) {
            status = nc_transfer_record_error(transfer, NC_ERR_STOPPED_BY_CALLER, 0,
                                              "the head callback stopped the transfer");
        } else if (action == NC_ACTION_PAUSE) {
            nc_flow_control_pause_reading(transfer);
        }
    }
    bool is_awaited = nc_hop_is_redirect(transfer) && !is_whole(transfer);
    if (status == NC_OK && (is_awaited || nc_transfer_awaits_end(transfer))) {
        nc_deadline_arm(transfer); // There may be no later event that sets the timer.
    }
    // libcurl sends no body with its own HEAD, so for HEAD with a body only the method name was set. libcurl does not
    // know that no response body follows, and would wait for it.
    if (status == NC_OK && (sends_head_with_body(transfer) || is_read_in_vain(transfer))) {
        nc_hop_stop(transfer);
        return NC_ERR_STOPPED_BY_CALLER;
    }
    return status;
}

/// A server that responds before it has received the whole request body may still read it. It would then take the next
/// request for the rest of that body.
static void give_up_connection(nc_transfer *transfer) {
    if (nc_quirk_keeps_unread_body_connection(nc_response_http_version(transfer->response),
                                              transfer->request.expects_continue, nc_transfer_is_sending(transfer))) {
        nc_easy_handle_forbid_reuse(transfer->handle);
    }
}

/// Handles a 101. A server must not switch to a protocol that was not requested (RFC 9110, 7.8), but libcurl would
/// deliver all bytes that follow.
static nc_status switch_protocols(nc_transfer *transfer) {
    if (transfer->request.is_socket) {
        transfer->hop.is_upgraded = true;
        nc_easy_handle_forbid_reuse(transfer->handle);
    } else if (!transfer->request.expects_upgrade || transfer->is_cross_origin) {
        return nc_transfer_record_error(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                        "the server switched to a protocol that was not requested");
    }
    // RFC 9110, 8.6: a 101 must not announce a length. If it does, the length has no meaning.
    transfer->hop.framing.has_length = false;
    transfer->hop.framing.is_chunked = false;
    return NC_OK;
}

/// After a challenge that libcurl has credentials for, it may send another request by itself. It then drops the body of
/// the challenge without calling the write callback. nc_callbacks_on_progress() counts that body.
static nc_status hold_challenge(nc_transfer *transfer, uint16_t code) {
    transfer->hop.challenges++;
    if (check_challenge(transfer, code) != NC_OK ||
        (nc_transfer_expects_content(transfer) && check_length(transfer) != NC_OK)) {
        return transfer->error.status;
    }
    // libcurl would wait for the end of a WebSocket's endless body before it responds.
    bool is_lost = transfer->request.is_socket ||
                   (transfer->hop.has_sent_trailers && nc_quirk_sends_trailers_once(transfer->engine->libcurl_version));
    nc_status status = nc_auth_response_head(transfer, code == 407 ? NC_PARTY_PROXY : NC_PARTY_HOST,
                                             is_lost ? NC_AUTH_REASON_LOST : NC_AUTH_REASON_MISREAD);
    if (status != NC_OK || transfer->hop.outcome == NC_HOP_RETRIES) {
        return status != NC_OK ? status : NC_ERR_STOPPED_BY_CALLER;
    }
    if (transfer->request.is_socket) {
        return accept_head(transfer); // The engine cannot respond, so the server has refused the handshake.
    }
    if (transfer->hop.framing.has_cookies && nc_easy_handle_set_cookies(transfer->handle, transfer) != NC_OK) {
        return nc_transfer_record_error(transfer, NC_ERR_NO_MEMORY, 0, "no memory for cookies");
    }
    nc_easy_handle_watch_progress(transfer->handle);
    transfer->hop.is_head_held = true;
    transfer->hop.challengers |= code == 407 ? NC_PARTY_PROXY : NC_PARTY_HOST;
    transfer->hop.challenged_request_bytes = (uint64_t)request_bytes(transfer);
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_CHALLENGED, transfer->id);
    return NC_OK;
}

static nc_status finish_head(nc_transfer *transfer) {
    transfer->hop.is_in_head = false;
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_HEAD_DONE, transfer->id);
    uint16_t code = nc_response_status(transfer->response);
    bool is_interim = code < 200 && code != 101;
    if (!is_interim && check_framing(transfer) != NC_OK) {
        return transfer->error.status;
    }
    if (is_interim) {
        return NC_OK; // The final head follows.
    }
    if (code == 101 && switch_protocols(transfer) != NC_OK) {
        return transfer->error.status;
    }
    if (nc_cookies_store(transfer) != NC_OK) {
        return nc_transfer_record_error(transfer, NC_ERR_NO_MEMORY, 0, "no memory for a cookie");
    }
    nc_hsts_state_learn(transfer);
    nc_alt_svc_cache_learn(transfer);
    if (refuses_expectation(transfer, code)) {
        nc_request_copy_stop_expecting(&transfer->request);
        transfer->hop.outcome = NC_HOP_RETRIES;
        nc_response_repeat_hop(transfer->response);
        return NC_ERR_STOPPED_BY_CALLER;
    }
    if (is_unchallenged(transfer, code)) {
        transfer->hop.outcome = NC_HOP_RETRIES;
        nc_response_repeat_hop(transfer->response);
        return NC_ERR_STOPPED_BY_CALLER;
    }
    nc_deadline_progressed(transfer);
    give_up_connection(transfer);
    if (is_whole(transfer) && nc_response_http_version(transfer->response) < NC_HTTP_VERSION_2) {
        nc_easy_handle_watch_excess(transfer->handle);
    }
    transfer->hop.has_head = true;
    if ((code == 401 || code == 407) && nc_auth_can_respond(transfer)) {
        return hold_challenge(transfer, code);
    }
    return accept_head(transfer);
}

bool nc_response_head_is_followed_by_body(const nc_transfer *transfer) {
    return (uint64_t)request_bytes(transfer) == transfer->hop.challenged_request_bytes;
}

nc_status nc_response_head_accept_challenge(nc_transfer *transfer) {
    transfer->hop.is_head_held = false;
    return accept_head(transfer);
}

static nc_status begin_head(nc_transfer *transfer, nc_slice line) {
    uint16_t status;
    nc_http_version version;
    if (!nc_head_line_parse_status(line, &status, &version)) {
        return nc_transfer_record_error(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                        "the status line is malformed");
    }
    if (version >= NC_HTTP_VERSION_2 && !transfer->hop.may_be_multiplexed) {
        // If it were accepted, NetKit would treat the connection as HTTP/2: the body would need no length, and other
        // requests would wait to share the connection.
        return nc_transfer_record_error(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                        "a response over HTTP/1.1 has the version HTTP/%c in its status line",
                                        line.data[5]);
    }
    // If libcurl checks the length, it stops reading a stream there. It then misses the trailers, and a reset by which
    // the server rejects the rest of an upload. nghttp2 and nc_body_pipeline_finish() check the length too.
    nc_easy_handle_check_length(transfer->handle,
                                nc_quirk_resets_streams_read_to_their_end(version, nc_transfer_is_sending(transfer)));
    nc_response_begin_head(transfer->response, status, version);
    transfer->hop.framing = (nc_framing){0};
    transfer->hop.is_in_head = true;
    transfer->hop.head_fields = 0; // Counted for each head, because many 103 heads may come first. Bytes are added up.
    return NC_OK;
}

nc_status nc_response_head_take_line(nc_transfer *transfer, nc_slice line) {
    if (nc_quirk_is_cut_off_line(line)) {
        return NC_OK; // nc_hop_result_evaluate() reports later how the connection ended.
    }
    if (transfer->hop.first_byte_ns == 0) {
        transfer->hop.first_byte_ns = nc_engine_now(transfer->engine);
    }
    nc_deadline_enter_phase(transfer, NC_PHASE_BODY);
    bool is_answered = transfer->hop.is_head_held && !transfer->hop.is_in_head && line.length > 5 &&
                       memcmp(line.data, "HTTP/", 5) == 0;
    if (is_answered) {
        transfer->hop.is_head_held = false;
        transfer->hop.has_head = false;
        transfer->hop.head_bytes = 0;
        transfer->hop.head_fields = 0;
    }
    if (transfer->hop.has_head) {
        return nc_trailer_take(transfer, line);
    }
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_HEAD_LINE, transfer->id);
    if (nc_head_count_line(transfer, line) != NC_OK) {
        return transfer->error.status;
    }
    if (!transfer->hop.is_in_head) {
        return begin_head(transfer, line);
    }
    if (line.length == 0 || line.data[0] == '\r' || line.data[0] == '\n') {
        return finish_head(transfer);
    }
    return take_field(transfer, line);
}
