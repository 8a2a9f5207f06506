#include "net/verdict.h"

#include "net/engine_state.h"
#include "net/h2_refused.h"
#include "net/handle.h"
#include "net/outcome.h"
#include "net/quirks.h"
#include "net/response.h"
#include "net/tls_hook.h"
#include "net/upload.h"
#include "net/url_text.h"

#include <string.h>

static CURLcode plain_end(const nc_transfer *transfer, CURLcode code) {
    if (code != CURLE_RECV_ERROR || strstr(transfer->handle->detail, "unexpected eof") == NULL) {
        return code;
    }
    if (!transfer->has_head) {
        return transfer->is_in_head ? code : CURLE_GOT_NOTHING;
    }
    return nc_response_is_close_delimited(transfer->response) && transfer->tls_end != NULL ? CURLE_OK : code;
}

CURLcode nc_verdict_end(nc_transfer *transfer, CURLcode code) {
    return nc_h2_refused_is_readable(transfer) ? nc_h2_refused_deliver(transfer) : plain_end(transfer, code);
}

static bool is_idempotent(const nc_transfer *transfer) {
    static const char *const methods[] = {"GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PUT", "DELETE"};
    const char *method = transfer->is_get ? NULL : transfer->description.method; // NULL means GET
    bool is_known = method == NULL;
    for (size_t i = 0; !is_known && i < sizeof methods / sizeof *methods; i++) {
        is_known = strcmp(method, methods[i]) == 0;
    }
    return is_known;
}

/// As often as libcurl resends a refused request.
enum { MAX_REPEATS = 5 };

static bool is_on_kept_connection(const nc_transfer *transfer) {
    long opened = 1;
    return curl_easy_getinfo(transfer->handle->easy, CURLINFO_NUM_CONNECTS, &opened) == CURLE_OK && opened == 0;
}

/// Returns true if an idle connection ended without a response after only a part of the body was sent. Nothing can have
/// been processed then. libcurl resends by itself there, but not while it waits for the body's source.
static bool is_stale(const nc_transfer *transfer, CURLcode code) {
    return code == CURLE_GOT_NOTHING && nc_flow_awaits_source(transfer) && is_on_kept_connection(transfer);
}

bool nc_verdict_is_of_connection(const nc_transfer *transfer, CURLcode code) {
    return code == CURLE_PARTIAL_FILE && transfer->may_be_multiplexed;
}

/// Returns the tap of the connection's frames; NULL if they are unknown.
static const nc_h2_tap *tap_of(const nc_transfer *transfer) {
    const nc_h2_tap *tap = nc_tls_tap(transfer->tls_end);
    return tap != NULL && nc_h2_tap_is_reliable(tap) ? tap : NULL;
}

/// Returns true if the HTTP/2 connection ended, and neither side broke a rule or reset the stream. libcurl 8 also
/// reports the end as an HTTP/2 error.
static bool is_ended(const nc_transfer *transfer, CURLcode code) {
    const nc_h2_tap *tap = tap_of(transfer);
    bool is_broken = code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR;
    if (tap == NULL) {
        return is_broken && transfer->may_be_multiplexed;
    }
    const nc_h2_stream *stream = &transfer->stream;
    return (is_broken || code == CURLE_HTTP2) && !nc_h2_tap_has_failed(tap) && !stream->is_reset && !stream->is_refused;
}

/// Returns true if an idle HTTP/2 connection ended without a response. libcurl 7.88 resends by itself if it was reset,
/// but not if it was closed; 8.21 does not in either case. An idempotent request is resent once over each idle
/// connection.
static bool is_stale_stream(const nc_transfer *transfer, CURLcode code) {
    return (nc_verdict_is_of_connection(transfer, code) || is_ended(transfer, code)) && is_idempotent(transfer) &&
           is_on_kept_connection(transfer);
}

bool nc_verdict_is_unprocessed(const nc_transfer *transfer) {
    const nc_h2_tap *tap = tap_of(transfer);
    return tap != NULL && nc_h2_tap_is_refused(tap, &transfer->stream);
}

/// Returns true if the server closed, or reset the stream without an error: then 7.88 loses the part of the response
/// that arrived with the reset. Without the frames, libcurl 7.88 shows it by an empty error text.
static bool is_left(const nc_transfer *transfer) {
    const nc_h2_tap *tap = tap_of(transfer);
    const nc_h2_stream *stream = &transfer->stream;
    return tap == NULL ? transfer->handle->detail[0] == '\0'
                       : nc_h2_tap_is_leaving(tap) || (stream->is_reset && stream->reset_code == 0);
}

/// Returns true if libcurl refuses to send chunks because the idle connection responded in HTTP/1.0 before. On another
/// one it uses HTTP/1.1.
static bool is_too_old(const nc_transfer *transfer, CURLcode code) {
    return code == CURLE_UPLOAD_FAILED && is_on_kept_connection(transfer);
}

/// Returns true if an idle connection had other bytes before the response, such as the two bytes that some servers send
/// after a 204. Nothing of it was accepted; on another connection the response comes first.
static bool is_behind_junk(const nc_transfer *transfer, CURLcode code) {
    return (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY) && !transfer->has_head &&
           !transfer->is_in_head && is_idempotent(transfer) && is_on_kept_connection(transfer);
}

bool nc_verdict_is_of_used_connection(CURLcode code) {
    return code == CURLE_UPLOAD_FAILED || code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY;
}

bool nc_verdict_may_be_sent_again(const nc_transfer *transfer) {
    return is_idempotent(transfer) || transfer->phase == NC_PHASE_SEND;
}

bool nc_verdict_may_go_afresh(const nc_transfer *transfer) {
    return transfer->repeats < MAX_REPEATS && nc_upload_can_begin(transfer);
}

/// Returns the fatal alert that ended the hop's connection; 0 for none.
static int alert_of(const nc_transfer *transfer) {
    const nc_handle *handle = transfer->handle;
    int alert = nc_tls_alert(transfer->was_connected ? transfer->tls_end : handle->origin_end);
    return alert != 0 ? alert : nc_tls_alert(handle->proxy_end);
}

/// Returns true if nghttp2 rejected the head of the response, and the hop may be resent over HTTP/1.1. nghttp2 rejects
/// some valid responses, and not all of these can be delivered (h2_refused.h).
static bool is_refused_here(const nc_transfer *transfer, CURLcode code) {
    return code != CURLE_OK && transfer->stream.is_refused && !transfer->has_head && !transfer->needs_http1 &&
           transfer->error.status == NC_OK && is_idempotent(transfer) && nc_upload_can_begin(transfer) &&
           transfer->detour == NULL;
}

bool nc_verdict_is_calmed(nc_transfer *transfer) {
    const nc_h2_tap *tap = nc_tls_tap(transfer->tls_end);
    if (tap == NULL || !nc_h2_tap_is_told_to_calm(tap)) {
        return false;
    }
    (void)nc_transfer_note(transfer, NC_ERR_HTTP2, CURLE_HTTP2,
                           "the server asks for less load: GOAWAY, ENHANCE_YOUR_CALM");
    return true;
}

bool nc_verdict_asks_anew(nc_transfer *transfer, CURLcode code) {
    if (is_refused_here(transfer, code)) {
        transfer->needs_http1 = true;
        transfer->quirk = nc_h2_refused_quirk(transfer);
        return true;
    }
    if (alert_of(transfer) != 0 && !is_on_kept_connection(transfer)) {
        return false; // The next connection would get the same alert.
    }
    bool is_of_http2 = code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM;
    bool is_harmless = nc_verdict_is_unprocessed(transfer) || (is_left(transfer) && is_idempotent(transfer));
    bool may_repeat = (is_of_http2 && is_harmless) || is_stale(transfer, code) || is_stale_stream(transfer, code) ||
                      is_too_old(transfer, code) || is_behind_junk(transfer, code);
    return may_repeat && transfer->error.status == NC_OK && transfer->first_byte_ns == 0 &&
           transfer->repeats < MAX_REPEATS && nc_upload_can_begin(transfer) && !nc_verdict_is_calmed(transfer);
}

enum { ALERT_NO_APPLICATION_PROTOCOL = 120 };

/// Records that nghttp2 rejects the server's HTTP/2 responses, if that is why the hop failed.
static bool is_refused_for_quirk(nc_transfer *transfer, CURLcode code) {
    const char *quirk = nc_h2_refused_quirk(transfer);
    if (quirk != NULL) {
        (void)nc_transfer_note(transfer, NC_ERR_HTTP2, (int32_t)code,
                               "libcurl refuses the server's HTTP/2 response: %s", quirk);
        return true;
    }
    bool is_unanswered = transfer->first_byte_ns == 0 &&
                         (transfer->was_connected || alert_of(transfer) == ALERT_NO_APPLICATION_PROTOCOL);
    if (!transfer->needs_http1 || transfer->quirk == NULL || !is_unanswered) {
        return false;
    }
    (void)nc_transfer_note(
        transfer, NC_ERR_HTTP2, (int32_t)code,
        "libcurl refuses the server's HTTP/2 response (%s), and the server does not answer over HTTP/1.1",
        transfer->quirk);
    return true;
}

void nc_verdict_judge(nc_transfer *transfer, CURLcode code) {
    curl_off_t lookup_us = 0;
    long os_error = 0;
    long verify_result = 0;
    long proxy_verify_result = 0;
    long proxy_said = CURLPX_OK;
    if (transfer->error.status != NC_OK || transfer->ends_early) {
        return;
    }
    if (code == CURLE_OK) {
        // libcurl reports a success for a connection that ends within the head.
        if (!transfer->has_head) {
            (void)nc_transfer_note(transfer, NC_ERR_CUT_SHORT, CURLE_PARTIAL_FILE,
                                   "the connection ended within the response head");
        } else if (nc_response_is_close_delimited(transfer->response) && transfer->tls_end != NULL &&
                   !nc_tls_has_close_notify(transfer->tls_end)) {
            // RFC 9112, 9.8. libcurl 7.88 accepts an end without close_notify.
            (void)nc_transfer_note(transfer, NC_ERR_CUT_SHORT, CURLE_PARTIAL_FILE,
                                   "the connection ended without close_notify, and with it a body of unknown length");
        }
        return;
    }
    if (nc_verdict_is_calmed(transfer)) {
        return;
    }
    if (nc_tls_is_flooded(transfer->tls_end)) {
        (void)nc_transfer_note(
            transfer, NC_ERR_BAD_RESPONSE, (int32_t)code,
            "the server sent more than 16 MiB, or 32,768 frames, without a byte of a response in it");
        return;
    }
    if (is_refused_for_quirk(transfer, code)) {
        return;
    }
    (void)curl_easy_getinfo(transfer->handle->easy, CURLINFO_NAMELOOKUP_TIME_T, &lookup_us);
    (void)curl_easy_getinfo(transfer->handle->easy, CURLINFO_OS_ERRNO, &os_error);
    (void)curl_easy_getinfo(transfer->handle->easy, CURLINFO_SSL_VERIFYRESULT, &verify_result);
    (void)curl_easy_getinfo(transfer->handle->easy, CURLINFO_PROXY_SSL_VERIFYRESULT, &proxy_verify_result);
    (void)curl_easy_getinfo(transfer->handle->easy, CURLINFO_PROXY_ERROR, &proxy_said);
    long used_proxy = nc_quirk_used_proxy(transfer->handle->easy, transfer->engine->libcurl_version);
    const nc_kept_proxy *proxy = nc_handle_proxy(transfer);
    const nc_state *known = &transfer->engine->state;
    const nc_outcome outcome = {
        .code = code,
        .detail = transfer->handle->detail,
        .place = nc_url_authority(nc_transfer_url(transfer)),
        .os_error = os_error,
        .verify_result = verify_result,
        .has_proxy = proxy->choice != NC_PROXY_NONE,
        .proxy = nc_url_authority(nc_slice_of(proxy->url != NULL ? proxy->url : "")),
        .proxy_verify_result = proxy_verify_result,
        .proxy_said = (CURLproxycode)proxy_said,
        .used_proxy = used_proxy,
        .is_tunnel_answered = transfer->has_tunnel_status,
        .socket_error = transfer->socket_error,
        .is_connected = transfer->was_connected,
        .has_frames = tap_of(transfer) != NULL,
        .is_unprocessed = nc_verdict_is_unprocessed(transfer),
        .is_reset = tap_of(transfer) != NULL && transfer->stream.is_reset,
        .is_stream = nc_response_http_version(transfer->response) >= NC_HTTP_VERSION_2,
        .is_in_head = transfer->is_in_head || transfer->phase == NC_PHASE_REPLY,
        .has_no_head = transfer->first_byte_ns == 0,
        .insists_on_http2 = transfer->description.http == NC_HTTP_2_PRIOR_KNOWLEDGE,
        .alert = alert_of(transfer),
        .shows_no_identity = transfer->shows_no_identity,
        .unix_socket = nc_transfer_unix_socket(transfer),
        .name_server = nc_url_authority(nc_slice_of(known->doh_url != NULL ? known->doh_url : "")),
        .family = known->family,
        .has_no_address = lookup_us == 0,
        .netrc_file = !known->uses_netrc          ? NULL
                      : known->netrc_file != NULL ? known->netrc_file
                                                  : "~/.netrc",
    };
    (void)nc_outcome_judge(&outcome, &transfer->error);
}
