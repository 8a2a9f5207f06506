#include "net/outcome.h"

#include "base/error.h"
#include "net/url_text.h"

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

/// CURLE_TOO_LARGE, which libcurl's headers before 8.6 do not have.
enum { TOO_LARGE = 100 };

static nc_status certificate_status(const nc_outcome *outcome) {
    switch (outcome->verify_result) {
    case 0: // The chain is valid, so libcurl rejected the name.
        return NC_ERR_TLS_NAME;
    case NOT_VERIFIED: // libcurl compares the name before it reads the result of the chain.
        return strstr(outcome->detail, "subject name") != NULL ? NC_ERR_TLS_NAME : NC_ERR_TLS_CERTIFICATE;
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

static nc_status connect_status(const nc_outcome *outcome) {
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

/// Over TLS libcurl reports the errno only in its text ("… errno 104"), and a missing close_notify too.
static nc_status broken_pipe_status(const nc_outcome *outcome, nc_status otherwise) {
    char reset[24];
    (void)snprintf(reset, sizeof reset, "errno %d", ECONNRESET);
    if (outcome->os_error == ECONNRESET || outcome->os_error == EPIPE || strstr(outcome->detail, reset) != NULL) {
        return NC_ERR_RESET;
    }
    return strstr(outcome->detail, "unexpected eof") != NULL ? NC_ERR_CUT_SHORT : otherwise;
}

enum { ALERT_HANDSHAKE_FAILURE = 40 };

/// Returns the name of an alert by which a server rejects the client's certificate, or reports that there is none (RFC
/// 8446, 6); NULL for other alerts. TLS 1.3 sends it after the handshake. TLS 1.2 has no alert for a missing
/// certificate, and sends one that may have other causes. After the handshake is complete on this side, it has no other
/// cause.
static const char *identity_alert(const nc_outcome *outcome) {
    static const struct {
        int alert;
        const char *name;
    } known[] = {
        {42, "bad_certificate"},     {43, "unsupported_certificate"}, {44, "certificate_revoked"},
        {45, "certificate_expired"}, {46, "certificate_unknown"},     {48, "unknown_ca"},
        {49, "access_denied"},       {116, "certificate_required"},
    };
    if (outcome->alert == ALERT_HANDSHAKE_FAILURE && (outcome->shows_no_identity || outcome->is_connected)) {
        return "handshake_failure";
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].alert == outcome->alert) {
            return known[i].name;
        }
    }
    return NULL;
}

/// Returns the status of codes with only one meaning.
static nc_status plain_status(CURLcode code) {
    static const struct {
        CURLcode code;
        nc_status status;
    } known[] = {
        {CURLE_OK, NC_OK},
        {CURLE_URL_MALFORMAT, NC_ERR_BAD_URL},
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
        {CURLE_HTTP3, NC_ERR_RECEIVE},
        {CURLE_QUIC_CONNECT_ERROR, NC_ERR_CONNECT},
        {CURLE_BAD_CONTENT_ENCODING, NC_ERR_BAD_CODING},
        // The engine's own rejections are known before; a failed decoder remains.
        {CURLE_WRITE_ERROR, NC_ERR_BAD_CODING},
        {CURLE_FILESIZE_EXCEEDED, NC_ERR_BODY_TOO_LARGE},
        {CURLE_NOT_BUILT_IN, NC_ERR_UNSUPPORTED},
        {CURLE_UPLOAD_FAILED, NC_ERR_UNSUPPORTED}, // Over HTTP only for chunks to a server that responded in HTTP/1.0.
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].code == code) {
            return known[i].status;
        }
    }
    return NC_ERR_INTERNAL;
}

/// Returns true if nghttp2 or libcurl rejected a head as too large: nghttp2 accepts eight frames of one (-905), libcurl
/// what fits its buffer (-902, a failed callback). Only their texts show it.
static bool is_head_beyond_nghttp2(const nc_outcome *outcome) {
    const char *said = strstr(outcome->detail, "nghttp2");
    return said != NULL && (strstr(said, " -905:") != NULL || (outcome->is_in_head && strstr(said, " -902:") != NULL));
}

/// REFUSED_STREAM (RFC 9113, 8.7). libcurl resends the request five times, and then only reports how often. Without the
/// frames, only its text shows it.
static bool is_refusal(const nc_outcome *outcome) {
    static const char gave_up[] = "Connection died, tried ";
    if (outcome->has_frames) {
        return outcome->is_unprocessed;
    }
    return outcome->code == CURLE_RECV_ERROR && (strncmp(outcome->detail, gave_up, sizeof gave_up - 1) == 0 ||
                                                 (outcome->is_stream && outcome->detail[0] == '\0'));
}

/// libcurl also reports this for malformed chunks, and 7.88 for malformed HTTP/2. Only its text differs.
static nc_status receive_status(const nc_outcome *outcome) {
    if (outcome->is_reset || is_refusal(outcome)) {
        return NC_ERR_HTTP2;
    }
    if (strstr(outcome->detail, "nghttp2") != NULL) {
        return is_head_beyond_nghttp2(outcome) ? NC_ERR_HEAD_TOO_LARGE : NC_ERR_HTTP2;
    }
    bool is_chunk = strstr(outcome->detail, "chunk") != NULL;
    return broken_pipe_status(outcome, is_chunk ? NC_ERR_BAD_RESPONSE : NC_ERR_RECEIVE);
}

/// Before there is a connection, libcurl reads only a netrc file.
static bool is_netrcs(const nc_outcome *outcome) {
    return outcome->code == CURLE_READ_ERROR && outcome->netrc_file != NULL && !outcome->is_connected;
}

/// libcurl 7.88 also reports this for a head line above its limit of 100 KiB. With DNS over HTTPS it does so for a name
/// that has an alias but no address.
static nc_status memory_status(const nc_outcome *outcome) {
    bool is_alias = outcome->name_server.length > 0 && outcome->has_no_address;
    return outcome->is_in_head ? NC_ERR_HEAD_TOO_LARGE : is_alias ? NC_ERR_RESOLVE : NC_ERR_NO_MEMORY;
}

static nc_status status_of(const nc_outcome *outcome) {
    // libcurl keeps its first message, which is often not about the alert. The code depends on timing too.
    if (outcome->code != CURLE_OK && identity_alert(outcome) != NULL) {
        return NC_ERR_TLS_IDENTITY;
    }
    switch ((int)outcome->code) {
    case CURLE_UNSUPPORTED_PROTOCOL: // Schemes were checked before, so this is an HTTP/0.9 response.
        return outcome->is_connected ? NC_ERR_BAD_RESPONSE : NC_ERR_BAD_SCHEME;
    case CURLE_COULDNT_CONNECT:
        return connect_status(outcome);
    // The engine's arguments are valid; libcurl 7.88 reports this for a malformed trailer.
    case CURLE_BAD_FUNCTION_ARGUMENT:
        return outcome->is_connected ? NC_ERR_BAD_RESPONSE : NC_ERR_INTERNAL;
    case CURLE_READ_ERROR:
        return is_netrcs(outcome) ? NC_ERR_FILE : NC_ERR_INTERNAL;
    case CURLE_PARTIAL_FILE:
        return outcome->has_no_head ? NC_ERR_EMPTY_REPLY : NC_ERR_CUT_SHORT;
    case CURLE_OUT_OF_MEMORY:
        return memory_status(outcome);
    case TOO_LARGE: // libcurl 8.6 and later, for the same.
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
        return is_head_beyond_nghttp2(outcome) ? NC_ERR_HEAD_TOO_LARGE : NC_ERR_HTTP2;
    case CURLE_PEER_FAILED_VERIFICATION:
        return certificate_status(outcome);
    default:
        return plain_status(outcome->code);
    }
}

/// libcurl names the host that it could not connect to only in its text: "Failed to connect to host port 80 after …".
static bool names_proxy(const nc_outcome *outcome) {
    static const char said[] = "Failed to connect to ";
    nc_slice host = outcome->proxy;
    if (strncmp(outcome->detail, said, sizeof said - 1) != 0 || host.length == 0) {
        return false;
    }
    const char *rest = outcome->detail + sizeof said - 1;
    size_t end = host.length;
    while (end > 0 && host.data[end - 1] != ':' && host.data[end - 1] != ']') {
        end--;
    }
    nc_slice port = nc_slice_make(host.data + end, host.length - end);
    bool has_port = end > 0 && host.data[end - 1] == ':';
    host.length = has_port ? end - 1 : host.length;
    if (host.length > 1 && host.data[0] == '[' && host.data[host.length - 1] == ']') {
        host = nc_slice_make(host.data + 1, host.length - 2);
    }
    char expected[300];
    (void)snprintf(expected, sizeof expected, "%.*s port %.*s", (int)(host.length < 255 ? host.length : 255),
                   (const char *)host.data, has_port ? (int)port.length : 0, (const char *)port.data);
    return strncmp(rest, expected, strlen(expected)) == 0 && (!has_port || rest[strlen(expected)] == ' ');
}

/// Returns true if the proxy failed, not the host behind it. Before the connection is ready for the request, only a
/// proxy sends anything without TLS.
static bool is_proxys(const nc_outcome *outcome, nc_status status) {
    if (!outcome->has_proxy || outcome->is_connected) {
        return false;
    }
    switch (outcome->code) {
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_BAD_FUNCTION_ARGUMENT: // for a malformed line
        return true;
    case CURLE_COULDNT_CONNECT:
        // libcurl 8.20 also reports this for a CONNECT that the proxy refuses.
        return status != NC_ERR_DESCRIPTORS && status != NC_ERR_NO_MEMORY &&
               (outcome->is_tunnel_answered ||
                (outcome->used_proxy >= 0 ? outcome->used_proxy != 0 : names_proxy(outcome)));
    default:
        return status == NC_ERR_PROXY;
    }
}

/// Returns the same outcome with the rejected certificate: libcurl sets the proxy's result to 0 if it is valid.
static nc_outcome look_at_proxy(const nc_outcome *outcome) {
    nc_outcome seen = *outcome;
    bool is_certificate = outcome->has_proxy && outcome->code == CURLE_PEER_FAILED_VERIFICATION;
    if (is_certificate && outcome->proxy_verify_result != 0) {
        seen.verify_result = outcome->proxy_verify_result;
        seen.place = outcome->proxy.length > 0 ? outcome->proxy : nc_slice_of("the proxy");
    }
    return seen;
}

/// Returns a proxy's report about the host behind it (RFC 1928, 6), which libcurl reports as a number; NULL for none.
static const char *proxys_report(CURLproxycode code) {
    static const struct {
        CURLproxycode code;
        const char *words;
    } known[] = {
        {CURLPX_REPLY_GENERAL_SERVER_FAILURE, "it reports a general failure (1)"},
        {CURLPX_REPLY_NOT_ALLOWED, "it does not allow this host (2)"},
        {CURLPX_REPLY_NETWORK_UNREACHABLE, "it reports that the network is unreachable (3)"},
        {CURLPX_REPLY_HOST_UNREACHABLE, "it reports that the host is unreachable (4)"},
        {CURLPX_REPLY_CONNECTION_REFUSED, "it reports that the host refused the connection (5)"},
        {CURLPX_REPLY_TTL_EXPIRED, "it reports that the time to live ran out (6)"},
        {CURLPX_REPLY_COMMAND_NOT_SUPPORTED, "it does not connect to anybody (7)"},
        {CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED, "it does not take this kind of address (8)"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].code == code) {
            return known[i].words;
        }
    }
    return NULL;
}

/// HTTP/1 servers respond to the HTTP/2 preface in many ways, but never in HTTP/2.
static bool is_no_http2(const nc_outcome *outcome) {
    if (!outcome->insists_on_http2 || !outcome->is_connected || !outcome->has_no_head) {
        return false;
    }
    return outcome->code == CURLE_GOT_NOTHING || outcome->code == CURLE_RECV_ERROR ||
           outcome->code == CURLE_SEND_ERROR || outcome->code == CURLE_WEIRD_SERVER_REPLY ||
           outcome->code == CURLE_UNSUPPORTED_PROTOCOL || outcome->code == CURLE_PARTIAL_FILE;
}

/// The meaning of a broken stream that libcurl 7.88 reports without details.
static const char lost_answer[] = "the server answered without the whole body, and this libcurl has lost the answer";

static const char refused[] = "the server did not take the request: REFUSED_STREAM, or GOAWAY";

/// Returns the details besides the status and the host.
static const char *detail_of(const nc_outcome *outcome, nc_status status) {
    const char *report = proxys_report(outcome->proxy_said);
    if (status == NC_ERR_PROXY && report != NULL) {
        return report;
    }
    // For an unreadable response libcurl's text is a status of 0, or the name of one of its functions; 8.14 has no
    // text.
    bool is_unread = outcome->code == CURLE_BAD_FUNCTION_ARGUMENT || strstr(outcome->detail, ", response 0") != NULL ||
                     outcome->code == CURLE_WEIRD_SERVER_REPLY;
    if (status == NC_ERR_PROXY && is_unread) {
        return "its answer to CONNECT is not valid HTTP";
    }
    if (is_refusal(outcome)) {
        return refused;
    }
    if (outcome->detail[0] != '\0') {
        return outcome->detail;
    }
    if (outcome->is_reset) {
        return "the server reset the stream";
    }
    return outcome->code == CURLE_HTTP2_STREAM ? lost_answer : curl_easy_strerror(outcome->code);
}

/// Describes a host that has addresses, but perhaps none of the family.
static const char *family_of(const nc_outcome *outcome) {
    return outcome->family == NC_FAMILY_ANY ? "" : outcome->family == NC_FAMILY_IPV4 ? ", over IPv4" : ", over IPv6";
}

/// How libcurl begins to quote a proxy URL that it cannot parse, including its password.
static const char unread_proxy[] = "Unsupported proxy ";

nc_status nc_outcome_judge(const nc_outcome *said, nc_error *err) {
    nc_outcome seen = look_at_proxy(said);
    const nc_outcome *outcome = &seen;
    nc_status status = status_of(outcome);
    if (status == NC_OK) {
        return nc_error_clear(err);
    }
    if (is_proxys(outcome, status)) {
        status = NC_ERR_PROXY;
        seen.place = outcome->proxy.length > 0 ? outcome->proxy : outcome->place;
    }
    if (status != NC_ERR_HEAD_TOO_LARGE && status != NC_ERR_TLS_IDENTITY && is_no_http2(outcome)) {
        status = NC_ERR_HTTP2;
    }
    if (status == NC_ERR_TLS_IDENTITY && identity_alert(outcome) != NULL) {
        return nc_error_set(err, status, (int32_t)outcome->code, -1, "%s: %.*s (it sent the TLS alert %s (%d))",
                            nc_status_text(status), nc_url_shown(outcome->place), (const char *)outcome->place.data,
                            identity_alert(outcome), outcome->alert);
    }
    if (is_netrcs(outcome)) {
        return nc_error_set(err, status, (int32_t)outcome->code, -1, "%s: the netrc file '%s' is malformed",
                            nc_status_text(status), outcome->netrc_file);
    }
    if (outcome->unix_socket != NULL && outcome->code == CURLE_COULDNT_CONNECT) {
        // libcurl would name the host, which was not resolved.
        return nc_error_set(err, status, (int32_t)outcome->code, -1, "%s: %s%s%s", nc_status_text(status),
                            outcome->unix_socket, outcome->os_error != 0 ? ", " : "",
                            outcome->os_error != 0 ? strerror((int)outcome->os_error) : "");
    }
    if (strncmp(outcome->detail, unread_proxy, sizeof unread_proxy - 1) == 0) {
        return nc_error_set(err, status, (int32_t)outcome->code, -1, "%s: its URL is malformed",
                            nc_status_text(status));
    }
    if (status == NC_ERR_RESOLVE && outcome->name_server.length > 0) {
        // libcurl does not report the result of the query.
        return nc_error_set(err, status, (int32_t)outcome->code, -1, "%s: %.*s%s (%.*s was asked over HTTPS)",
                            nc_status_text(status), nc_url_shown(outcome->place), (const char *)outcome->place.data,
                            family_of(outcome), nc_url_shown(outcome->name_server),
                            (const char *)outcome->name_server.data);
    }
    int place = nc_url_shown(outcome->place);
    bool is_memory = outcome->code == CURLE_OUT_OF_MEMORY && status != NC_ERR_NO_MEMORY;
    if (status == NC_ERR_REFUSED || status == NC_ERR_RESOLVE || status == NC_ERR_UNREACHABLE || is_memory) {
        // libcurl's text would only repeat it, or be wrong.
        return nc_error_set(err, status, (int32_t)outcome->code, -1, "%s: %.*s%s", nc_status_text(status), place,
                            (const char *)outcome->place.data, family_of(outcome));
    }
    const char *family = status == NC_ERR_CONNECT ? family_of(outcome) : "";
    const char *detail = detail_of(outcome, status);
    size_t length = strcspn(detail, "\r\n");
    int shown = (int)(length < 128 ? length : 128);
    return nc_error_set(err, status, (int32_t)outcome->code, -1, "%s: %.*s%s (%.*s)", nc_status_text(status), place,
                        (const char *)outcome->place.data, family, shown, detail);
}
