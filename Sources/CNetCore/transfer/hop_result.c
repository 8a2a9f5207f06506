#include "transfer/hop_result.h"

#include "curl/curl_error.h"
#include "curl/easy_handle.h"
#include "curl/quirks.h"
#include "curl/tls_hook.h"
#include "http/h2_tap.h"
#include "http/url_text.h"
#include "request/response.h"
#include "state/engine_record.h"
#include "state/transfer_state.h"
#include "transfer/internal.h"

#include <netcore/method.h>

/// Returns the TCP connection below the hop's TLS; NULL without TLS.
static const nc_tls_wire *tcp_of(const nc_transfer *transfer) {
    return nc_tls_wire_of(transfer->hop.was_connected ? transfer->hop.tls_connection : transfer->handle->origin_tls);
}

static CURLcode plain_end(const nc_transfer *transfer, CURLcode code) {
    if (code != CURLE_RECV_ERROR || !nc_tls_wire_is_cut(tcp_of(transfer))) {
        return code;
    }
    bool is_close_delimited =
        nc_response_is_close_delimited(transfer->response) && transfer->hop.tls_connection != NULL;
    return nc_quirk_end_without_close_notify(transfer->hop.has_head, transfer->hop.is_in_head, is_close_delimited,
                                             code);
}

CURLcode nc_hop_result_end(nc_transfer *transfer, CURLcode code) {
    return nc_h2_refused_is_readable(transfer) ? nc_h2_refused_deliver(transfer) : plain_end(transfer, code);
}

static bool is_idempotent(const nc_transfer *transfer) {
    const char *method = transfer->is_get ? NULL : transfer->request.method; // NULL means GET
    return nc_method_is_idempotent(nc_slice_of(method != NULL ? method : ""));
}

/// How often the engine begins a hop again. libcurl resends a refused request as many times.
enum { MAX_REPEATS = 5 };

static bool is_on_reused_connection(const nc_transfer *transfer) {
    long opened = 1;
    return curl_easy_getinfo(transfer->handle->easy, CURLINFO_NUM_CONNECTS, &opened) == CURLE_OK && opened == 0;
}

/// Returns true if an idle connection ended without a response after only a part of the body was sent. The server
/// cannot have processed the request then. libcurl resends such a request by itself, but not while it waits for the
/// body's source.
static bool is_stale(const nc_transfer *transfer, CURLcode code) {
    return code == CURLE_GOT_NOTHING && nc_transfer_awaits_source(transfer) && is_on_reused_connection(transfer);
}

bool nc_hop_result_is_connection_error(const nc_transfer *transfer, CURLcode code) {
    return code == CURLE_PARTIAL_FILE && transfer->hop.may_be_multiplexed;
}

/// Returns the tap of the connection's frames; NULL if they are unknown.
static const nc_h2_tap *tap_of(const nc_transfer *transfer) {
    const nc_h2_tap *tap = nc_tls_tap(transfer->hop.tls_connection);
    return tap != NULL && nc_h2_tap_is_reliable(tap) ? tap : NULL;
}

/// Returns true if the HTTP/2 connection ended, and neither side broke a rule or reset the stream.
static bool is_connection_end(const nc_transfer *transfer, CURLcode code) {
    const nc_h2_tap *tap = tap_of(transfer);
    bool is_broken = code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR || code == CURLE_HTTP3;
    if (tap == NULL) {
        return is_broken && transfer->hop.may_be_multiplexed;
    }
    const nc_h2_stream *stream = &transfer->hop.stream;
    return nc_quirk_may_be_connection_end(code) && !nc_h2_tap_has_failed(tap) && !stream->is_reset &&
           !stream->is_refused;
}

/// Returns true if an idle HTTP/2 connection ended without a response. An idempotent request is resent once over each
/// idle connection.
static bool is_stale_stream(const nc_transfer *transfer, CURLcode code) {
    return (nc_hop_result_is_connection_error(transfer, code) || is_connection_end(transfer, code)) &&
           is_idempotent(transfer) && is_on_reused_connection(transfer);
}

bool nc_hop_result_is_unprocessed(const nc_transfer *transfer) {
    const nc_h2_tap *tap = tap_of(transfer);
    return tap != NULL && nc_h2_tap_is_refused(tap, &transfer->hop.stream);
}

/// Returns true if the server sent GOAWAY, or reset the stream without an error. libcurl may then lose the part of the
/// response that arrived with the reset.
static bool is_closed_by_server(const nc_transfer *transfer) {
    const nc_h2_tap *tap = tap_of(transfer);
    const nc_h2_stream *stream = &transfer->hop.stream;
    return tap == NULL ? nc_quirk_text_is_missing(transfer->handle->detail)
                       : nc_h2_tap_has_goaway(tap) || (stream->is_reset && stream->reset_code == 0);
}

/// Returns true if libcurl refuses to send chunks, because the server responded in HTTP/1.0 over the idle connection
/// before. On a new connection libcurl uses HTTP/1.1.
static bool had_http_1_0_response(const nc_transfer *transfer, CURLcode code) {
    return code == CURLE_UPLOAD_FAILED && is_on_reused_connection(transfer);
}

/// Returns true if an idle connection had other bytes before the response, such as the two bytes that some servers send
/// after a 204. Nothing of the response was accepted, so the request can be resent on another connection.
static bool had_bytes_before_response(const nc_transfer *transfer, CURLcode code) {
    return (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY) && !transfer->hop.has_head &&
           !transfer->hop.is_in_head && is_idempotent(transfer) && is_on_reused_connection(transfer);
}

bool nc_hop_result_is_reused_connection_error(CURLcode code) {
    return code == CURLE_UPLOAD_FAILED || code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY;
}

bool nc_hop_result_can_resend(const nc_transfer *transfer) {
    return is_idempotent(transfer) || transfer->phase == NC_PHASE_SEND;
}

bool nc_hop_result_can_use_new_connection(const nc_transfer *transfer) {
    return transfer->target.repeats < MAX_REPEATS && nc_transfer_can_send_body_again(transfer);
}

/// Returns the fatal alert that ended the hop's connection; 0 for none.
static int alert_of(const nc_transfer *transfer) {
    const nc_easy_handle *handle = transfer->handle;
    int alert = nc_tls_alert(transfer->hop.was_connected ? transfer->hop.tls_connection : handle->origin_tls);
    return alert != 0 ? alert : nc_tls_alert(handle->proxy_tls);
}

/// Returns true if nghttp2 rejected the head of the response, and the hop may be resent over HTTP/1.1. nghttp2 rejects
/// some valid responses, and not all of these can be delivered (h2_refused_response.c).
static bool is_rejected_by_nghttp2(const nc_transfer *transfer, CURLcode code) {
    return code != CURLE_OK && transfer->hop.stream.is_refused && !transfer->hop.has_head &&
           !transfer->target.needs_http1 && transfer->error.status == NC_OK && is_idempotent(transfer) &&
           nc_transfer_can_send_body_again(transfer) && transfer->alt_route == NULL;
}

bool nc_hop_result_is_enhance_your_calm(nc_transfer *transfer) {
    const nc_h2_tap *tap = nc_tls_tap(transfer->hop.tls_connection);
    if (tap == NULL || !nc_h2_tap_is_enhance_your_calm(tap)) {
        return false;
    }
    (void)nc_transfer_record_error(
        transfer, NC_ERR_HTTP2, CURLE_HTTP2,
        "the server reports too much load from this client (GOAWAY, ENHANCE_YOUR_CALM): send fewer requests");
    return true;
}

bool nc_hop_result_will_retry(nc_transfer *transfer, CURLcode code) {
    if (is_rejected_by_nghttp2(transfer, code)) {
        transfer->target.needs_http1 = true;
        transfer->target.quirk = nc_h2_refused_quirk(transfer);
        return true;
    }
    if (alert_of(transfer) != 0 && !is_on_reused_connection(transfer)) {
        return false; // The next connection would get the same alert.
    }
    bool is_http2_error = code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM;
    bool can_resend =
        nc_hop_result_is_unprocessed(transfer) || (is_closed_by_server(transfer) && is_idempotent(transfer));
    bool may_repeat = (is_http2_error && can_resend) || is_stale(transfer, code) || is_stale_stream(transfer, code) ||
                      had_http_1_0_response(transfer, code) || had_bytes_before_response(transfer, code);
    return may_repeat && transfer->error.status == NC_OK && transfer->hop.first_byte_ns == 0 &&
           transfer->target.repeats < MAX_REPEATS && nc_transfer_can_send_body_again(transfer) &&
           !nc_hop_result_is_enhance_your_calm(transfer);
}

enum { ALERT_NO_APPLICATION_PROTOCOL = 120 };

/// Records that nghttp2 rejects the server's HTTP/2 responses, and returns true, if that is why the hop failed.
static bool record_rejection_by_nghttp2(nc_transfer *transfer, CURLcode code) {
    const char *quirk = nc_h2_refused_quirk(transfer);
    if (quirk != NULL) {
        (void)nc_transfer_record_error(transfer, NC_ERR_HTTP2, (int32_t)code,
                                       "libcurl rejected the server's HTTP/2 response: %s", quirk);
        return true;
    }
    bool has_no_response = transfer->hop.first_byte_ns == 0 &&
                           (transfer->hop.was_connected || alert_of(transfer) == ALERT_NO_APPLICATION_PROTOCOL);
    if (!transfer->target.needs_http1 || transfer->target.quirk == NULL || !has_no_response) {
        return false;
    }
    (void)nc_transfer_record_error(
        transfer, NC_ERR_HTTP2, (int32_t)code,
        "libcurl rejected the server's HTTP/2 response (%s), and the server does not respond over HTTP/1.1",
        transfer->target.quirk);
    return true;
}

/// Returns 1 if the hop used its proxy, 0 if it did not, -1 if that is unknown. A proxy without exceptions is always
/// used.
static long used_proxy(const nc_transfer *transfer) {
    const nc_copied_proxy *proxy = nc_transfer_proxy(transfer);
    bool has_no_choice =
        proxy->choice == NC_PROXY_URL && proxy->except == NULL && nc_transfer_unix_socket(transfer) == NULL;
    long used = nc_quirk_used_proxy(transfer->handle->easy, transfer->engine->libcurl_version);
    return used < 0 && has_no_choice ? 1 : used;
}

void nc_hop_result_evaluate(nc_transfer *transfer, CURLcode code) {
    curl_off_t lookup_us = 0;
    long os_error = 0;
    long verify_result = 0;
    long proxy_verify_result = 0;
    long proxy_code = CURLPX_OK;
    if (transfer->error.status != NC_OK || nc_hop_is_stopped(transfer)) {
        return;
    }
    if (code == CURLE_OK) {
        // libcurl reports a success for a connection that ends within the head.
        if (!transfer->hop.has_head) {
            (void)nc_transfer_record_error(transfer, NC_ERR_CUT_SHORT, CURLE_PARTIAL_FILE,
                                           "the connection closed within the response head");
        } else if (nc_response_is_close_delimited(transfer->response) && transfer->hop.tls_connection != NULL &&
                   !nc_tls_has_close_notify(transfer->hop.tls_connection)) {
            // RFC 9112, 9.8: see nc_quirk_end_without_close_notify().
            (void)nc_transfer_record_error(
                transfer, NC_ERR_CUT_SHORT, CURLE_PARTIAL_FILE,
                "the connection closed without close_notify, so a body of unknown length may be incomplete");
        }
        return;
    }
    if (nc_hop_result_is_enhance_your_calm(transfer)) {
        return;
    }
    if (nc_tls_is_flooded(transfer->hop.tls_connection)) {
        (void)nc_transfer_record_error(
            transfer, NC_ERR_BAD_RESPONSE, (int32_t)code,
            "the server sent more than 16 MiB or 32,768 frames without any byte of a response");
        return;
    }
    if (record_rejection_by_nghttp2(transfer, code)) {
        return;
    }
    (void)curl_easy_getinfo(transfer->handle->easy, CURLINFO_NAMELOOKUP_TIME_T, &lookup_us);
    (void)curl_easy_getinfo(transfer->handle->easy, CURLINFO_OS_ERRNO, &os_error);
    (void)curl_easy_getinfo(transfer->handle->easy, CURLINFO_SSL_VERIFYRESULT, &verify_result);
    (void)curl_easy_getinfo(transfer->handle->easy, CURLINFO_PROXY_SSL_VERIFYRESULT, &proxy_verify_result);
    (void)curl_easy_getinfo(transfer->handle->easy, CURLINFO_PROXY_ERROR, &proxy_code);
    const nc_copied_proxy *proxy = nc_transfer_proxy(transfer);
    const nc_engine_config *config = &transfer->engine->state;
    const nc_curl_error outcome = {
        .code = code,
        .detail = transfer->handle->detail,
        .endpoint = transfer->target.url.host_and_port,
        .os_error = os_error,
        .verify_result = verify_result,
        .has_proxy = proxy->choice != NC_PROXY_NONE,
        .proxy = nc_url_authority(nc_slice_of(proxy->url != NULL ? proxy->url : "")),
        .proxy_verify_result = proxy_verify_result,
        .proxy_code = (CURLproxycode)proxy_code,
        .used_proxy = used_proxy(transfer),
        .has_tunnel_response = transfer->hop.has_tunnel_status,
        .wire_error = nc_tls_wire_error(tcp_of(transfer)),
        .is_cut = nc_tls_wire_is_cut(tcp_of(transfer)),
        .socket_error = transfer->hop.socket_error,
        .is_connected = transfer->hop.was_connected,
        .has_frames = tap_of(transfer) != NULL,
        .is_unprocessed = nc_hop_result_is_unprocessed(transfer),
        .is_reset = tap_of(transfer) != NULL && transfer->hop.stream.is_reset,
        .is_stream = nc_response_http_version(transfer->response) >= NC_HTTP_VERSION_2,
        .is_in_head = transfer->hop.is_in_head || transfer->phase == NC_PHASE_REPLY,
        .has_no_head = transfer->hop.first_byte_ns == 0,
        .insists_on_http2 = transfer->request.http == NC_HTTP_2_PRIOR_KNOWLEDGE,
        .insists_on_http3 = transfer->request.http == NC_HTTP_3_ONLY,
        .is_quic = transfer->hop.is_quic,
        .alert = alert_of(transfer),
        .shows_no_identity = transfer->hop.shows_no_identity,
        .unix_socket = nc_transfer_unix_socket(transfer),
        .name_server = nc_url_authority(nc_slice_of(config->doh_url != NULL ? config->doh_url : "")),
        .family = config->family,
        .has_no_address = lookup_us == 0,
        .netrc_file = !config->uses_netrc          ? NULL
                      : config->netrc_file != NULL ? config->netrc_file
                                                   : "~/.netrc",
    };
    (void)nc_curl_error_map(&outcome, &transfer->error);
}
