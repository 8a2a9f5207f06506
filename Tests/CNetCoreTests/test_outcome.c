/// The conversion of libcurl's result to a status, a native code, and one line without secrets.
#include "harness.h"
#include "net/outcome.h"

#include <errno.h>
#include <string.h>

static nc_outcome outcome_of(CURLcode code, const char *detail) {
    return (nc_outcome){.code = code, .detail = detail, .place = nc_slice_of("host.example:81"), .used_proxy = -1};
}

static void outcome__each_code_has_its_status(void **state) {
    static const struct {
        CURLcode code;
        nc_status status;
    } cases[] = {
        {CURLE_OK, NC_OK},
        {CURLE_URL_MALFORMAT, NC_ERR_BAD_URL},
        {CURLE_UNSUPPORTED_PROTOCOL, NC_ERR_BAD_SCHEME},
        {CURLE_COULDNT_RESOLVE_HOST, NC_ERR_RESOLVE},
        {CURLE_COULDNT_CONNECT, NC_ERR_CONNECT},
        {CURLE_WEIRD_SERVER_REPLY, NC_ERR_BAD_RESPONSE},
        {CURLE_HTTP2, NC_ERR_HTTP2},
        {CURLE_HTTP2_STREAM, NC_ERR_HTTP2},
        {CURLE_PARTIAL_FILE, NC_ERR_CUT_SHORT},
        {CURLE_OUT_OF_MEMORY, NC_ERR_NO_MEMORY},
        {CURLE_OPERATION_TIMEDOUT, NC_ERR_CONNECT_TIMED_OUT},
        {CURLE_SSL_CONNECT_ERROR, NC_ERR_TLS_HANDSHAKE},
        {CURLE_SSL_CIPHER, NC_ERR_TLS_HANDSHAKE},
        {CURLE_GOT_NOTHING, NC_ERR_EMPTY_REPLY},
        {CURLE_SEND_ERROR, NC_ERR_SEND},
        {CURLE_RECV_ERROR, NC_ERR_RECEIVE},
        {CURLE_SSL_CACERT_BADFILE, NC_ERR_TLS_ROOTS},
        {CURLE_BAD_CONTENT_ENCODING, NC_ERR_BAD_CODING},
        {CURLE_WRITE_ERROR, NC_ERR_BAD_CODING},
        {CURLE_FILESIZE_EXCEEDED, NC_ERR_BODY_TOO_LARGE},
        {CURLE_NOT_BUILT_IN, NC_ERR_UNSUPPORTED},
        {CURLE_UPLOAD_FAILED, NC_ERR_UNSUPPORTED},
        {CURLE_QUIC_CONNECT_ERROR, NC_ERR_CONNECT},
        {CURLE_HTTP3, NC_ERR_RECEIVE},
        {CURLE_READ_ERROR, NC_ERR_INTERNAL},
        {CURLE_FTP_WEIRD_PASV_REPLY, NC_ERR_INTERNAL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_error err;
        nc_outcome outcome = outcome_of(cases[i].code, "");
        assert_status(nc_outcome_judge(&outcome, &err), cases[i].status);
        assert_status(err.status, cases[i].status);
        assert_int_equal(err.native_code, cases[i].code);
        assert_int_equal(err.offset, -1);
        assert_int_equal(strstr(err.message, nc_status_text(cases[i].status)) != NULL, cases[i].status != NC_OK);
        assert_int_equal(strstr(err.message, "host.example:81") != NULL, cases[i].status != NC_OK);
    }
}

/// Nothing was sent, so no other field is read. libcurl writes ".netrc" for every file name.
static void outcome__a_netrc_that_is_malformed_is_named(void **state) {
    static const char *const details[] = {".netrc parser error", ".netrc parser error: syntax error", ""};
    (void)state;
    for (size_t i = 0; i < sizeof details / sizeof *details; i++) {
        nc_error err;
        nc_outcome outcome = outcome_of(CURLE_READ_ERROR, details[i]);
        outcome.netrc_file = "/etc/netrc";
        assert_status(nc_outcome_judge(&outcome, &err), NC_ERR_FILE);
        assert_int_equal(err.native_code, CURLE_READ_ERROR);
        assert_string_equal(err.message, "a file operation failed: the netrc file '/etc/netrc' is malformed");
        outcome.is_connected = true;
        assert_status(nc_outcome_judge(&outcome, &err), NC_ERR_INTERNAL);
    }
}

/// A name may have addresses of the other family.
static void outcome__a_family_that_alone_counts_is_named(void **state) {
    static const struct {
        CURLcode code;
        const char *message;
    } cases[] = {
        {CURLE_COULDNT_RESOLVE_HOST, "the host name could not be resolved: host.example:81, over IPv4"},
        {CURLE_COULDNT_CONNECT, "the connection could not be made: host.example:81, over IPv4 ("},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_error err;
        nc_outcome outcome = outcome_of(cases[i].code, "");
        outcome.family = NC_FAMILY_IPV4;
        (void)nc_outcome_judge(&outcome, &err);
        assert_memory_equal(err.message, cases[i].message, strlen(cases[i].message)); // libcurl's words follow
        outcome.family = NC_FAMILY_ANY;
        (void)nc_outcome_judge(&outcome, &err);
        assert_null(strstr(err.message, "over"));
    }
}

/// libcurl 7.88 has no code for it and reports a lack of memory.
static void outcome__a_head_that_is_too_large_is_not_said_to_lack_memory(void **state) {
    nc_error err;
    nc_outcome outcome = outcome_of(CURLE_OUT_OF_MEMORY, "");
    (void)state;
    outcome.is_connected = true;
    outcome.is_in_head = true;
    assert_status(nc_outcome_judge(&outcome, &err), NC_ERR_HEAD_TOO_LARGE);
    assert_null(strcasestr(err.message, "memory"));
    assert_non_null(strstr(err.message, "host.example:81"));
}

/// libcurl 8.19 and later clear the error buffer before they resend a request.
static void outcome__what_became_of_a_stream_is_known_by_its_frames(void **state) {
    static const char *const details[] = {"", "Connection died, tried 5 times before giving up", "Recv failure"};
    (void)state;
    for (size_t i = 0; i < sizeof details / sizeof *details; i++) {
        nc_error err;
        nc_outcome outcome = outcome_of(CURLE_RECV_ERROR, details[i]);
        outcome.is_connected = true;
        outcome.is_stream = true;
        outcome.has_frames = true;
        assert_status(nc_outcome_judge(&outcome, &err), NC_ERR_RECEIVE);
        assert_null(strstr(err.message, "REFUSED_STREAM"));
        outcome.is_unprocessed = true;
        assert_status(nc_outcome_judge(&outcome, &err), NC_ERR_HTTP2);
        assert_non_null(strstr(err.message, "REFUSED_STREAM"));
        outcome.is_unprocessed = false;
        outcome.is_reset = true;
        assert_status(nc_outcome_judge(&outcome, &err), NC_ERR_HTTP2);
        assert_null(strstr(err.message, "REFUSED_STREAM"));
    }
}

static void outcome__every_code_of_this_libcurl_has_a_status(void **state) {
    (void)state;
    for (int code = 1; code < CURL_LAST; code++) {
        nc_error err;
        nc_outcome outcome = outcome_of((CURLcode)code, "");
        assert_true(nc_outcome_judge(&outcome, &err) != NC_OK);
        assert_int_equal(err.native_code, code);
    }
}

static void outcome__a_failed_connect_tells_by_its_errno(void **state) {
    static const struct {
        int number;
        nc_status status;
    } cases[] = {
        {ECONNREFUSED, NC_ERR_REFUSED}, {ENETUNREACH, NC_ERR_UNREACHABLE},   {EHOSTUNREACH, NC_ERR_UNREACHABLE},
        {ENETDOWN, NC_ERR_UNREACHABLE}, {EADDRNOTAVAIL, NC_ERR_UNREACHABLE}, {ETIMEDOUT, NC_ERR_CONNECT_TIMED_OUT},
        {ECONNRESET, NC_ERR_RESET},     {EMFILE, NC_ERR_DESCRIPTORS},        {ENFILE, NC_ERR_DESCRIPTORS},
        {ENOMEM, NC_ERR_NO_MEMORY},     {ENOBUFS, NC_ERR_NO_MEMORY},         {EACCES, NC_ERR_CONNECT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_outcome outcome = outcome_of(CURLE_COULDNT_CONNECT, "");
        outcome.os_error = cases[i].number;
        assert_status(nc_outcome_judge(&outcome, NULL), cases[i].status);
        outcome.os_error = EINPROGRESS;
        outcome.socket_error = cases[i].number; // our own socket() has the exact errno
        assert_status(nc_outcome_judge(&outcome, NULL), cases[i].status);
    }
}

static void outcome__a_broken_connection_tells_by_errno_or_text(void **state) {
    static const CURLcode codes[] = {CURLE_SEND_ERROR, CURLE_RECV_ERROR};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        nc_outcome outcome = outcome_of(codes[i], "");
        outcome.os_error = ECONNRESET;
        assert_status(nc_outcome_judge(&outcome, NULL), NC_ERR_RESET);
        outcome.os_error = EPIPE;
        assert_status(nc_outcome_judge(&outcome, NULL), NC_ERR_RESET);
        outcome = outcome_of(codes[i], "OpenSSL SSL_read: Connection reset by peer, errno 104");
        assert_status(nc_outcome_judge(&outcome, NULL), NC_ERR_RESET);
        outcome = outcome_of(codes[i], "OpenSSL SSL_read: unexpected eof while reading, errno 0");
        assert_status(nc_outcome_judge(&outcome, NULL), NC_ERR_CUT_SHORT);
    }
    nc_outcome outcome = outcome_of(CURLE_RECV_ERROR, "Malformed encoding found in chunked-encoding");
    assert_status(nc_outcome_judge(&outcome, NULL), NC_ERR_BAD_RESPONSE);
}

static void outcome__what_nghttp2_does_not_read_is_http2_or_a_large_head(void **state) {
    static const struct {
        CURLcode code;
        const char *detail;
        bool is_in_head;
        nc_status status;
    } cases[] = {
        {CURLE_RECV_ERROR, "h2_process_pending_input: nghttp2_session_mem_recv() returned -905:Too many", true,
         NC_ERR_HEAD_TOO_LARGE},
        {CURLE_RECV_ERROR, "process_pending_input: nghttp2_session_mem_recv() returned -902:The user callback", true,
         NC_ERR_HEAD_TOO_LARGE},
        {CURLE_RECV_ERROR, "process_pending_input: nghttp2_session_mem_recv() returned -902:The user callback", false,
         NC_ERR_HTTP2},
        {CURLE_HTTP2, "nghttp2 recv error -905: Too many CONTINUATION frames", true,
         NC_ERR_HEAD_TOO_LARGE}, // libcurl 8.14
        {CURLE_HTTP2, "nghttp2 recv error -904: Flooding was detected", true, NC_ERR_HTTP2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int insists = 0; insists < 2; insists++) {
            nc_outcome outcome = outcome_of(cases[i].code, cases[i].detail);
            outcome.is_connected = true;
            outcome.is_in_head = cases[i].is_in_head;
            outcome.has_no_head = cases[i].is_in_head;
            outcome.insists_on_http2 = insists == 1;
            assert_status(nc_outcome_judge(&outcome, NULL), cases[i].status);
        }
    }
}

static void outcome__a_refused_certificate_tells_by_its_verify_result(void **state) {
    static const struct {
        long result;
        nc_status status;
    } cases[] = {{0, NC_ERR_TLS_NAME},       {9, NC_ERR_TLS_NOT_YET_VALID}, {10, NC_ERR_TLS_EXPIRED},
                 {18, NC_ERR_TLS_UNTRUSTED}, {19, NC_ERR_TLS_UNTRUSTED},    {20, NC_ERR_TLS_UNTRUSTED},
                 {21, NC_ERR_TLS_UNTRUSTED}, {23, NC_ERR_TLS_CERTIFICATE},  {1, NC_ERR_TLS_CERTIFICATE}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_outcome outcome = outcome_of(CURLE_PEER_FAILED_VERIFICATION, "");
        outcome.verify_result = cases[i].result;
        assert_status(nc_outcome_judge(&outcome, NULL), cases[i].status);
    }
    nc_outcome outcome = outcome_of(CURLE_PEER_FAILED_VERIFICATION,
                                    "SSL: no alternative certificate subject name matches target host name 'a'");
    outcome.verify_result = 1;
    assert_status(nc_outcome_judge(&outcome, NULL), NC_ERR_TLS_NAME);
}

static void outcome__an_alert_about_the_certificate_is_the_identitys(void **state) {
    static const struct {
        CURLcode code;
        int alert; // RFC 8446, 6
        bool shows_none;
        bool is_connected;
        nc_status status;
        const char *words;
    } rows[] = {
        {CURLE_SSL_CONNECT_ERROR, 42, false, false, NC_ERR_TLS_IDENTITY, "bad_certificate (42)"},
        {CURLE_RECV_ERROR, 43, false, true, NC_ERR_TLS_IDENTITY, "unsupported_certificate (43)"},
        {CURLE_SEND_ERROR, 44, false, true, NC_ERR_TLS_IDENTITY, "certificate_revoked (44)"},
        {CURLE_HTTP2, 45, false, true, NC_ERR_TLS_IDENTITY, "certificate_expired (45)"},
        {CURLE_GOT_NOTHING, 46, false, true, NC_ERR_TLS_IDENTITY, "certificate_unknown (46)"},
        {CURLE_RECV_ERROR, 48, false, true, NC_ERR_TLS_IDENTITY, "unknown_ca (48)"},
        {CURLE_RECV_ERROR, 49, false, true, NC_ERR_TLS_IDENTITY, "access_denied (49)"},
        {CURLE_PARTIAL_FILE, 116, true, true, NC_ERR_TLS_IDENTITY, "certificate_required (116)"},
        {CURLE_SSL_CONNECT_ERROR, 40, true, false, NC_ERR_TLS_IDENTITY, "handshake_failure (40)"},
        {CURLE_SSL_CONNECT_ERROR, 40, false, false, NC_ERR_TLS_HANDSHAKE, ""},
        {CURLE_RECV_ERROR, 40, false, true, NC_ERR_TLS_IDENTITY, "handshake_failure (40)"},
        {CURLE_SSL_CONNECT_ERROR, 70, true, false, NC_ERR_TLS_HANDSHAKE, ""}, // protocol_version
        {CURLE_RECV_ERROR, 80, true, true, NC_ERR_RECEIVE, ""},               // internal_error
        {CURLE_RECV_ERROR, 0, true, true, NC_ERR_RECEIVE, ""},
        {CURLE_OK, 42, false, true, NC_OK, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nc_error err;
        nc_outcome outcome = outcome_of(rows[i].code, "getpeername() failed with errno 107");
        outcome.alert = rows[i].alert;
        outcome.shows_no_identity = rows[i].shows_none;
        outcome.is_connected = rows[i].is_connected;
        assert_status(nc_outcome_judge(&outcome, &err), rows[i].status);
        assert_non_null(strstr(err.message, rows[i].words));
    }
}

static void outcome__the_place_in_a_transfer_decides_the_rest(void **state) {
    nc_outcome outcome = outcome_of(CURLE_UNSUPPORTED_PROTOCOL, "Received HTTP/0.9 when not allowed");
    (void)state;
    outcome.is_connected = true;
    assert_status(nc_outcome_judge(&outcome, NULL), NC_ERR_BAD_RESPONSE);
    outcome = outcome_of(CURLE_OPERATION_TIMEDOUT, "");
    outcome.is_connected = true;
    assert_status(nc_outcome_judge(&outcome, NULL), NC_ERR_TOTAL_TIMED_OUT);
    outcome = outcome_of(CURLE_OUT_OF_MEMORY, "");
    outcome.is_in_head = true;
    assert_status(nc_outcome_judge(&outcome, NULL), NC_ERR_HEAD_TOO_LARGE);
    // libcurl's message for a stream whose connection ends, during a body or without a response.
    outcome =
        outcome_of(CURLE_PARTIAL_FILE, "HTTP/2 stream 3 was not closed cleanly before end of the underlying stream");
    outcome.is_connected = true;
    assert_status(nc_outcome_judge(&outcome, NULL), NC_ERR_CUT_SHORT);
    outcome.has_no_head = true;
    assert_status(nc_outcome_judge(&outcome, NULL), NC_ERR_EMPTY_REPLY);
}

static void outcome__the_message_is_one_short_line(void **state) {
    static char long_text[2000];
    nc_error err;
    (void)state;
    memset(long_text, 'x', sizeof long_text - 1);
    nc_outcome outcome = outcome_of(CURLE_RECV_ERROR, "first\r\nsecond");
    assert_status(nc_outcome_judge(&outcome, &err), NC_ERR_RECEIVE);
    assert_string_equal(err.message, "receiving failed: host.example:81 (first)");
    outcome.detail = long_text;
    outcome.place = nc_slice_of(long_text);
    (void)nc_outcome_judge(&outcome, &err);
    assert_true(strlen(err.message) < sizeof err.message);
    assert_string_equal(err.message + strlen(err.message) - 2, "x)");
}

/// libcurl quotes the whole URL of a proxy that it cannot parse, including the password.
static void outcome__a_proxys_url_is_not_quoted(void **state) {
    static const char *const said[] = {
        "Unsupported proxy syntax in 'http://me:secret@127.0.0.1:99999'",
        "Unsupported proxy scheme for 'ftp://me:secret@127.0.0.1'",
        "Unsupported proxy 'https://me:secret@127.0.0.1', libcurl is built without the HTTPS-proxy support.",
    };
    (void)state;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        nc_error err;
        nc_outcome outcome = outcome_of(CURLE_COULDNT_RESOLVE_PROXY, said[i]);
        outcome.has_proxy = true;
        outcome.proxy = nc_slice_of("me:sec"); // the name in "http://me:sec/ret@host"
        assert_status(nc_outcome_judge(&outcome, &err), NC_ERR_PROXY);
        assert_int_equal(err.native_code, CURLE_COULDNT_RESOLVE_PROXY);
        assert_string_equal(err.message, "the proxy could not be used: its URL is malformed");
    }
}

/// A failure before the connection was ready belongs to the proxy, if libcurl and the tunnel's head show that.
static void outcome__a_refusal_by_a_proxy_is_known_by_facts(void **state) {
    static const struct {
        bool has_proxy;
        bool is_tunnel_answered;
        long used_proxy;
        const char *detail;
        nc_status status;
    } rows[] = {
        {true, true, -1, "", NC_ERR_PROXY},
        {true, true, 1, "CONNECT tunnel failed, response 403", NC_ERR_PROXY},
        {true, false, 1, "any words", NC_ERR_PROXY},
        {true, false, 0, "Failed to connect to p port 8080 after 0 ms", NC_ERR_CONNECT},
        {true, false, -1, "Failed to connect to p port 8080 after 0 ms", NC_ERR_PROXY},
        {true, false, -1, "any words", NC_ERR_CONNECT},
        {false, false, 1, "", NC_ERR_CONNECT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nc_error err;
        nc_outcome outcome = outcome_of(CURLE_COULDNT_CONNECT, rows[i].detail);
        outcome.has_proxy = rows[i].has_proxy;
        outcome.proxy = nc_slice_of("p:8080");
        outcome.is_tunnel_answered = rows[i].is_tunnel_answered;
        outcome.used_proxy = rows[i].used_proxy;
        assert_status(nc_outcome_judge(&outcome, &err), rows[i].status);
        assert_int_equal(strstr(err.message, "p:8080") != NULL, rows[i].status == NC_ERR_PROXY);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(outcome__each_code_has_its_status),
        harness_case(outcome__a_refusal_by_a_proxy_is_known_by_facts),
        harness_case(outcome__a_family_that_alone_counts_is_named),
        harness_case(outcome__a_netrc_that_is_malformed_is_named),
        harness_case(outcome__what_became_of_a_stream_is_known_by_its_frames),
        harness_case(outcome__a_head_that_is_too_large_is_not_said_to_lack_memory),
        harness_case(outcome__every_code_of_this_libcurl_has_a_status),
        harness_case(outcome__a_failed_connect_tells_by_its_errno),
        harness_case(outcome__a_broken_connection_tells_by_errno_or_text),
        harness_case(outcome__what_nghttp2_does_not_read_is_http2_or_a_large_head),
        harness_case(outcome__a_refused_certificate_tells_by_its_verify_result),
        harness_case(outcome__an_alert_about_the_certificate_is_the_identitys),
        harness_case(outcome__the_place_in_a_transfer_decides_the_rest),
        harness_case(outcome__the_message_is_one_short_line),
        harness_case(outcome__a_proxys_url_is_not_quoted),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
