#include "curl/curl_error.h"

#include "base/error.h"
#include "curl/quirks.h"
#include "http/url_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/// X509_V_ERR_* numbers (openssl/x509_vfy.h), which are part of OpenSSL's ABI. The header may not be included in this
/// directory.
enum {
    NOT_VERIFIED = 1, // libcurl's initial value before the handshake
    CERTIFICATE_NOT_YET_VALID = 9,
    CERTIFICATE_HAS_EXPIRED = 10,
    SELF_SIGNED_LEAF = 18,
    SELF_SIGNED_IN_CHAIN = 19,
    ISSUER_NOT_FOUND_LOCALLY = 20,
    FIRST_NOT_VERIFIABLE = 21,
};

static nc_status certificate_status(const nc_curl_error *outcome) {
    switch (outcome->verify_result) {
    case 0: // The chain is valid, so libcurl rejected the name.
        return NC_ERR_TLS_NAME;
    case NOT_VERIFIED:
        return nc_quirk_text_is_about_name(outcome->detail) ? NC_ERR_TLS_NAME : NC_ERR_TLS_CERTIFICATE;
    case CERTIFICATE_NOT_YET_VALID:
        return NC_ERR_TLS_NOT_YET_VALID;
    case CERTIFICATE_HAS_EXPIRED:
        return NC_ERR_TLS_EXPIRED;
    case SELF_SIGNED_LEAF:
    case SELF_SIGNED_IN_CHAIN:
    case ISSUER_NOT_FOUND_LOCALLY:
    case FIRST_NOT_VERIFIABLE:
        return NC_ERR_TLS_UNTRUSTED;
    default:
        return NC_ERR_TLS_CERTIFICATE;
    }
}

static nc_status connect_status(const nc_curl_error *outcome) {
    int number = outcome->socket_error != 0 ? outcome->socket_error : (int)outcome->os_error;
    switch (number) {
    case ECONNREFUSED:
        return NC_ERR_REFUSED;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
    case EADDRNOTAVAIL:
        return NC_ERR_UNREACHABLE;
    case ETIMEDOUT:
        return NC_ERR_CONNECT_TIMED_OUT;
    case ECONNRESET:
        return NC_ERR_RESET;
    case EMFILE:
    case ENFILE:
        return NC_ERR_DESCRIPTORS;
    case ENOMEM:
    case ENOBUFS:
        return NC_ERR_NO_MEMORY;
    default:
        return NC_ERR_CONNECT;
    }
}

static nc_status broken_pipe_status(const nc_curl_error *outcome, nc_status otherwise) {
    if (outcome->os_error == ECONNRESET || outcome->os_error == EPIPE || outcome->wire_error == ECONNRESET) {
        return NC_ERR_RESET;
    }
    return outcome->is_cut ? NC_ERR_CUT_SHORT : otherwise;
}

enum { ALERT_HANDSHAKE_FAILURE = 40 };

/// Returns the name of an alert by which a server rejects the client's certificate, or reports that there is none (RFC
/// 8446, 6); NULL for other alerts. TLS 1.3 sends it after the handshake. TLS 1.2 has no alert for a missing
/// certificate. It sends handshake_failure, which may have other causes until this side has completed the handshake.
static const char *identity_alert(const nc_curl_error *outcome) {
    static const struct {
        int alert;
        const char *name;
    } table[] = {
        {42, "bad_certificate"},     {43, "unsupported_certificate"}, {44, "certificate_revoked"},
        {45, "certificate_expired"}, {46, "certificate_unknown"},     {48, "unknown_ca"},
        {49, "access_denied"},       {116, "certificate_required"},
    };
    if (outcome->alert == ALERT_HANDSHAKE_FAILURE && (outcome->shows_no_identity || outcome->is_connected)) {
        return "handshake_failure";
    }
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].alert == outcome->alert) {
            return table[i].name;
        }
    }
    return NULL;
}

/// Returns the status of codes with only one meaning.
static nc_status plain_status(CURLcode code) {
    static const struct {
        CURLcode code;
        nc_status status;
    } table[] = {
        {CURLE_OK, NC_OK},
        {CURLE_COULDNT_RESOLVE_HOST, NC_ERR_RESOLVE},
        {CURLE_COULDNT_RESOLVE_PROXY, NC_ERR_PROXY},
        {CURLE_PROXY, NC_ERR_PROXY},
        {CURLE_AUTH_ERROR, NC_ERR_AUTHENTICATION},
        {CURLE_LOGIN_DENIED, NC_ERR_AUTHENTICATION},
        {CURLE_SEND_FAIL_REWIND, NC_ERR_NOT_REWINDABLE},
        {CURLE_SSL_CERTPROBLEM, NC_ERR_TLS_IDENTITY},
        {CURLE_SSL_CLIENTCERT, NC_ERR_TLS_IDENTITY},
        {CURLE_SSL_CACERT_BADFILE, NC_ERR_TLS_ROOTS},
        {CURLE_WEIRD_SERVER_REPLY, NC_ERR_BAD_RESPONSE},
        {CURLE_GOT_NOTHING, NC_ERR_EMPTY_REPLY},
        {CURLE_HTTP2_STREAM, NC_ERR_HTTP2},
        {CURLE_HTTP3, NC_ERR_HTTP3},
        {CURLE_QUIC_CONNECT_ERROR, NC_ERR_CONNECT},
        {CURLE_BAD_CONTENT_ENCODING, NC_ERR_BAD_CODING},
        // The engine's own rejections are handled before, so only a failed decoder can cause this.
        {CURLE_WRITE_ERROR, NC_ERR_BAD_CODING},
        {CURLE_FILESIZE_EXCEEDED, NC_ERR_BODY_TOO_LARGE},
        {CURLE_NOT_BUILT_IN, NC_ERR_UNSUPPORTED},
        {CURLE_UPLOAD_FAILED, NC_ERR_UNSUPPORTED}, // Over HTTP: a chunked upload to an HTTP/1.0 server.
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].code == code) {
            return table[i].status;
        }
    }
    return NC_ERR_INTERNAL;
}

/// Returns true if the server has not processed the request: REFUSED_STREAM or GOAWAY (RFC 9113, 8.7).
static bool is_refusal(const nc_curl_error *outcome) {
    return outcome->has_frames
               ? outcome->is_unprocessed
               : outcome->code == CURLE_RECV_ERROR && nc_quirk_text_is_refusal(outcome->detail, outcome->is_stream);
}

static bool is_large_head(const nc_curl_error *outcome) {
    return nc_quirk_text_is_large_head(outcome->detail, outcome->is_in_head);
}

/// Returns the status of CURLE_RECV_ERROR. libcurl also reports it for malformed chunks and HTTP/2 errors.
static nc_status receive_status(const nc_curl_error *outcome) {
    if (outcome->is_reset || is_refusal(outcome)) {
        return NC_ERR_HTTP2;
    }
    if (nc_quirk_text_is_nghttp2s(outcome->detail)) {
        return is_large_head(outcome) ? NC_ERR_HEAD_TOO_LARGE : NC_ERR_HTTP2;
    }
    bool is_chunk = nc_quirk_text_is_about_chunks(outcome->detail);
    return broken_pipe_status(outcome, is_chunk ? NC_ERR_BAD_RESPONSE : NC_ERR_RECEIVE);
}

/// Returns true if the netrc file could not be read. Before there is a connection, libcurl reads no other file.
static bool is_netrc_error(const nc_curl_error *outcome) {
    return outcome->code == CURLE_READ_ERROR && outcome->netrc_file != NULL && !outcome->is_connected;
}

/// Returns true if the QUIC connection, or its HTTP/3, failed. A UDP socket has no errors of its own here.
static bool is_http3_error(const nc_curl_error *outcome) {
    return (outcome->is_connected ? outcome->is_quic : outcome->insists_on_http3) &&
           (outcome->code == CURLE_RECV_ERROR || outcome->code == CURLE_SEND_ERROR ||
            outcome->code == CURLE_GOT_NOTHING || outcome->code == CURLE_QUIC_CONNECT_ERROR);
}

static nc_status status_of(const nc_curl_error *outcome) {
    // libcurl's text is that of its first failure, which is often not the alert. Its code depends on timing.
    if (outcome->code != CURLE_OK && identity_alert(outcome) != NULL) {
        return NC_ERR_TLS_IDENTITY;
    }
    if (is_http3_error(outcome)) {
        return outcome->is_connected ? NC_ERR_HTTP3 : NC_ERR_CONNECT;
    }
    switch ((int)outcome->code) {
    case CURLE_URL_MALFORMAT: // URLs were checked before, so this is a proxy of the environment.
        return outcome->insists_on_http3 ? NC_ERR_UNSUPPORTED : NC_ERR_BAD_URL;
    case CURLE_UNSUPPORTED_PROTOCOL: // Schemes were checked before, so this is an HTTP/0.9 response.
        return outcome->is_connected ? NC_ERR_BAD_RESPONSE : NC_ERR_BAD_SCHEME;
    case CURLE_COULDNT_CONNECT:
        return connect_status(outcome);
    case CURLE_BAD_FUNCTION_ARGUMENT: // see nc_quirk_is_malformed_line()
        return outcome->is_connected ? NC_ERR_BAD_RESPONSE : NC_ERR_INTERNAL;
    case CURLE_READ_ERROR:
        return is_netrc_error(outcome) ? NC_ERR_FILE : NC_ERR_INTERNAL;
    case CURLE_PARTIAL_FILE:
        return outcome->has_no_head ? NC_ERR_EMPTY_REPLY : NC_ERR_CUT_SHORT;
    case CURLE_OUT_OF_MEMORY:
        return nc_quirk_memory_status(outcome->is_in_head, outcome->name_server.length > 0 && outcome->has_no_address);
    case NC_QUIRK_CURLE_TOO_LARGE:
        return outcome->is_in_head ? NC_ERR_HEAD_TOO_LARGE : NC_ERR_TOO_LARGE;
    case CURLE_OPERATION_TIMEDOUT:
        return outcome->is_connected ? NC_ERR_TOTAL_TIMED_OUT : NC_ERR_CONNECT_TIMED_OUT;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CIPHER:
        return NC_ERR_TLS_HANDSHAKE;
    case CURLE_SEND_ERROR:
        return broken_pipe_status(outcome, NC_ERR_SEND);
    case CURLE_RECV_ERROR:
        return receive_status(outcome);
    case CURLE_HTTP2:
        return is_large_head(outcome) ? NC_ERR_HEAD_TOO_LARGE : NC_ERR_HTTP2;
    case CURLE_PEER_FAILED_VERIFICATION:
        return certificate_status(outcome);
    default:
        return plain_status(outcome->code);
    }
}

/// Returns true if the proxy failed, not the host behind it. Until the connection is ready for the request, a response
/// that is not part of a TLS handshake can only come from the proxy.
static bool is_proxy_error(const nc_curl_error *outcome, nc_status status) {
    if (!outcome->has_proxy || outcome->is_connected) {
        return false;
    }
    if (nc_quirk_is_malformed_line(outcome->code)) {
        return true;
    }
    switch (outcome->code) {
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
        return true;
    case CURLE_COULDNT_CONNECT: // also for a CONNECT that the proxy refuses
        return status != NC_ERR_DESCRIPTORS && status != NC_ERR_NO_MEMORY &&
               (outcome->has_tunnel_response ||
                (outcome->used_proxy >= 0 ? outcome->used_proxy != 0
                                          : nc_quirk_text_names_proxy(outcome->detail, outcome->proxy)));
    default:
        return status == NC_ERR_PROXY;
    }
}

/// Returns the outcome with the result and endpoint of the certificate that was rejected: the proxy's if its result is
/// not 0 (valid), otherwise the host's.
static nc_curl_error check_proxy(const nc_curl_error *outcome) {
    nc_curl_error seen = *outcome;
    bool is_certificate = outcome->has_proxy && outcome->code == CURLE_PEER_FAILED_VERIFICATION;
    if (is_certificate && outcome->proxy_verify_result != 0) {
        seen.verify_result = outcome->proxy_verify_result;
        seen.endpoint = outcome->proxy.length > 0 ? outcome->proxy : nc_slice_of("the proxy");
    }
    return seen;
}

/// Returns a proxy's report about the host behind it (RFC 1928, 6), which libcurl reports as a number; NULL for none.
static const char *socks_report(CURLproxycode code) {
    static const struct {
        CURLproxycode code;
        const char *words;
    } table[] = {
        {CURLPX_REPLY_GENERAL_SERVER_FAILURE, "it reports a general failure (1)"},
        {CURLPX_REPLY_NOT_ALLOWED, "it does not allow this host (2)"},
        {CURLPX_REPLY_NETWORK_UNREACHABLE, "it reports that the network is unreachable (3)"},
        {CURLPX_REPLY_HOST_UNREACHABLE, "it reports that the host is unreachable (4)"},
        {CURLPX_REPLY_CONNECTION_REFUSED, "it reports that the host refused the connection (5)"},
        {CURLPX_REPLY_TTL_EXPIRED, "it reports that the time to live expired (6)"},
        {CURLPX_REPLY_COMMAND_NOT_SUPPORTED, "it does not support the CONNECT command (7)"},
        {CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED, "it does not support this address type (8)"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].code == code) {
            return table[i].words;
        }
    }
    return NULL;
}

/// Returns true if HTTP/2 was required and the server seems to support only HTTP/1. Such servers respond to the HTTP/2
/// preface in many ways, but never in HTTP/2.
static bool is_no_http2(const nc_curl_error *outcome) {
    if (!outcome->insists_on_http2 || !outcome->is_connected || !outcome->has_no_head) {
        return false;
    }
    return outcome->code == CURLE_GOT_NOTHING || outcome->code == CURLE_RECV_ERROR ||
           outcome->code == CURLE_SEND_ERROR || outcome->code == CURLE_WEIRD_SERVER_REPLY ||
           outcome->code == CURLE_UNSUPPORTED_PROTOCOL || outcome->code == CURLE_PARTIAL_FILE;
}

/// The message for CURLE_HTTP2_STREAM without a text of libcurl: see nc_quirk_loses_early_responses().
static const char lost_response[] =
    "the server responded before the whole request body was sent, and this libcurl has lost the response";

static const char refused[] = "the server did not process the request (REFUSED_STREAM or GOAWAY): it is safe to retry";

/// Returns the details besides the status and the host.
static const char *detail_of(const nc_curl_error *outcome, nc_status status) {
    const char *report = socks_report(outcome->proxy_code);
    if (status == NC_ERR_PROXY && report != NULL) {
        return report;
    }
    // For an unreadable response libcurl's text is a status of 0, the name of one of its functions, or empty.
    bool is_unread = nc_quirk_is_malformed_line(outcome->code) || nc_quirk_text_is_unread_tunnel(outcome->detail) ||
                     outcome->code == CURLE_WEIRD_SERVER_REPLY;
    if (status == NC_ERR_PROXY && is_unread) {
        return "its response to CONNECT is not valid HTTP";
    }
    if (is_refusal(outcome)) {
        return refused;
    }
    if (outcome->detail[0] != '\0') {
        return outcome->detail;
    }
    if (outcome->is_reset) {
        return "the server reset the HTTP/2 stream";
    }
    return outcome->code == CURLE_HTTP2_STREAM ? lost_response : curl_easy_strerror(outcome->code);
}

/// Returns a text that names the required address family, because the host may have only addresses of the other one.
static const char *family_of(const nc_curl_error *outcome) {
    return outcome->family == NC_FAMILY_ANY ? "" : outcome->family == NC_FAMILY_IPV4 ? ", over IPv4" : ", over IPv6";
}

nc_status nc_curl_error_map(const nc_curl_error *said, nc_error *err) {
    nc_curl_error seen = check_proxy(said);
    const nc_curl_error *outcome = &seen;
    nc_status status = status_of(outcome);
    if (status == NC_OK) {
        return nc_error_clear(err);
    }
    if (is_proxy_error(outcome, status)) {
        status = NC_ERR_PROXY;
        seen.endpoint = outcome->proxy.length > 0 ? outcome->proxy : outcome->endpoint;
    }
    if (status != NC_ERR_HEAD_TOO_LARGE && status != NC_ERR_TLS_IDENTITY && is_no_http2(outcome)) {
        status = NC_ERR_HTTP2;
    }
    if (status == NC_ERR_TLS_IDENTITY && identity_alert(outcome) != NULL) {
        return nc_error_set(err, status, (int32_t)outcome->code, -1, "%s: %.*s (it sent the TLS alert %s (%d))",
                            nc_status_text(status), nc_url_shown(outcome->endpoint),
                            (const char *)outcome->endpoint.data, identity_alert(outcome), outcome->alert);
    }
    if (is_netrc_error(outcome)) {
        return nc_error_set(err, status, (int32_t)outcome->code, -1, "%s: the netrc file '%s' is malformed",
                            nc_status_text(status), outcome->netrc_file);
    }
    if (outcome->unix_socket != NULL && outcome->code == CURLE_COULDNT_CONNECT) {
        // libcurl would name the host, which was not resolved.
        return nc_error_set(err, status, (int32_t)outcome->code, -1, "%s: %s%s%s", nc_status_text(status),
                            outcome->unix_socket, outcome->os_error != 0 ? ", " : "",
                            outcome->os_error != 0 ? strerror((int)outcome->os_error) : "");
    }
    if (nc_quirk_text_quotes_proxy(outcome->detail)) {
        return nc_error_set(err, status, (int32_t)outcome->code, -1, "%s: its URL is malformed",
                            nc_status_text(status));
    }
    if (status == NC_ERR_RESOLVE && outcome->name_server.length > 0) {
        // libcurl does not report the result of the query.
        return nc_error_set(err, status, (int32_t)outcome->code, -1, "%s: %.*s%s (DNS-over-HTTPS server: %.*s)",
                            nc_status_text(status), nc_url_shown(outcome->endpoint),
                            (const char *)outcome->endpoint.data, family_of(outcome),
                            nc_url_shown(outcome->name_server), (const char *)outcome->name_server.data);
    }
    int shown_endpoint = nc_url_shown(outcome->endpoint);
    bool is_memory = outcome->code == CURLE_OUT_OF_MEMORY && status != NC_ERR_NO_MEMORY;
    if (status == NC_ERR_REFUSED || status == NC_ERR_RESOLVE || status == NC_ERR_UNREACHABLE || is_memory) {
        // libcurl's text would only repeat it, or be wrong.
        return nc_error_set(err, status, (int32_t)outcome->code, -1, "%s: %.*s%s", nc_status_text(status),
                            shown_endpoint, (const char *)outcome->endpoint.data, family_of(outcome));
    }
    const char *family = status == NC_ERR_CONNECT ? family_of(outcome) : "";
    const char *detail = detail_of(outcome, status);
    size_t length = strcspn(detail, "\r\n");
    int shown = (int)(length < 128 ? length : 128);
    return nc_error_set(err, status, (int32_t)outcome->code, -1, "%s: %.*s%s (%.*s)", nc_status_text(status),
                        shown_endpoint, (const char *)outcome->endpoint.data, family, shown, detail);
}
