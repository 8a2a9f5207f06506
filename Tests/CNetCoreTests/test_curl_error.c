/// The conversion of libcurl's result to a status, a native code, and one line without secrets.
#include "curl/curl_error.h"
#include "harness.h"

#include <errno.h>
#include <string.h>

static nc_curl_error outcome_of(CURLcode code, const char *detail) {
    return (nc_curl_error){
        .code = code, .detail = detail, .endpoint = nc_slice_of("host.example:81"), .used_proxy = -1};
}

static void curl_error__each_code_has_its_status(void **state) {
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
        {CURLE_HTTP3, NC_ERR_HTTP3},
        {CURLE_READ_ERROR, NC_ERR_INTERNAL},
        {CURLE_FTP_WEIRD_PASV_REPLY, NC_ERR_INTERNAL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_error err;
        nc_curl_error outcome = outcome_of(cases[i].code, "");
        assert_status(nc_curl_error_map(&outcome, &err), cases[i].status);
        assert_status(err.status, cases[i].status);
        assert_int_equal(err.native_code, cases[i].code);
        assert_int_equal(err.offset, -1);
        assert_int_equal(strstr(err.message, nc_status_text(cases[i].status)) != NULL, cases[i].status != NC_OK);
        assert_int_equal(strstr(err.message, "host.example:81") != NULL, cases[i].status != NC_OK);
    }
}

/// Nothing was sent, so only the message matters. libcurl writes ".netrc" whatever the file's name is.
static void curl_error__a_malformed_netrc_is_named(void **state) {
    static const char *const details[] = {".netrc parser error", ".netrc parser error: syntax error", ""};
    (void)state;
    for (size_t i = 0; i < sizeof details / sizeof *details; i++) {
        nc_error err;
        nc_curl_error outcome = outcome_of(CURLE_READ_ERROR, details[i]);
        outcome.netrc_file = "/etc/netrc";
        assert_status(nc_curl_error_map(&outcome, &err), NC_ERR_FILE);
        assert_int_equal(err.native_code, CURLE_READ_ERROR);
        assert_string_equal(err.message, "a file operation failed: the netrc file '/etc/netrc' is malformed");
        outcome.is_connected = true;
        assert_status(nc_curl_error_map(&outcome, &err), NC_ERR_INTERNAL);
    }
}

/// The message names the family, because the host may have addresses of the other one.
static void curl_error__the_only_allowed_address_family_is_named(void **state) {
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
        nc_curl_error outcome = outcome_of(cases[i].code, "");
        outcome.family = NC_FAMILY_IPV4;
        (void)nc_curl_error_map(&outcome, &err);
        assert_memory_equal(err.message, cases[i].message, strlen(cases[i].message)); // libcurl's own text follows
        outcome.family = NC_FAMILY_ANY;
        (void)nc_curl_error_map(&outcome, &err);
        assert_null(strstr(err.message, "over"));
    }
}

/// libcurl 7.88 has no error code for a head that is too large, and reports CURLE_OUT_OF_MEMORY.
static void curl_error__a_too_large_head_is_not_reported_as_out_of_memory(void **state) {
    nc_error err;
    nc_curl_error outcome = outcome_of(CURLE_OUT_OF_MEMORY, "");
    (void)state;
    outcome.is_connected = true;
    outcome.is_in_head = true;
    assert_status(nc_curl_error_map(&outcome, &err), NC_ERR_HEAD_TOO_LARGE);
    assert_null(strcasestr(err.message, "memory"));
    assert_non_null(strstr(err.message, "host.example:81"));
}

/// libcurl 8.19 and later clear the error buffer before they resend a request.
static void curl_error__the_end_of_a_stream_is_classified_by_its_frames(void **state) {
    static const char *const details[] = {"", "Connection died, tried 5 times before giving up", "Recv failure"};
    (void)state;
    for (size_t i = 0; i < sizeof details / sizeof *details; i++) {
        nc_error err;
        nc_curl_error outcome = outcome_of(CURLE_RECV_ERROR, details[i]);
        outcome.is_connected = true;
        outcome.is_stream = true;
        outcome.has_frames = true;
        assert_status(nc_curl_error_map(&outcome, &err), NC_ERR_RECEIVE);
        assert_null(strstr(err.message, "REFUSED_STREAM"));
        outcome.is_unprocessed = true;
        assert_status(nc_curl_error_map(&outcome, &err), NC_ERR_HTTP2);
        assert_non_null(strstr(err.message, "REFUSED_STREAM"));
        outcome.is_unprocessed = false;
        outcome.is_reset = true;
        assert_status(nc_curl_error_map(&outcome, &err), NC_ERR_HTTP2);
        assert_null(strstr(err.message, "REFUSED_STREAM"));
    }
}

static void curl_error__every_code_of_this_libcurl_has_a_status(void **state) {
    (void)state;
    for (int code = 1; code < CURL_LAST; code++) {
        nc_error err;
        nc_curl_error outcome = outcome_of((CURLcode)code, "");
        assert_true(nc_curl_error_map(&outcome, &err) != NC_OK);
        assert_int_equal(err.native_code, code);
    }
}

static void curl_error__a_failed_connect_is_classified_by_its_errno(void **state) {
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
        nc_curl_error outcome = outcome_of(CURLE_COULDNT_CONNECT, "");
        outcome.os_error = cases[i].number;
        assert_status(nc_curl_error_map(&outcome, NULL), cases[i].status);
        outcome.os_error = EINPROGRESS;
        outcome.socket_error = cases[i].number; // our own socket() has the exact errno
        assert_status(nc_curl_error_map(&outcome, NULL), cases[i].status);
    }
}

static void curl_error__a_broken_connection_is_classified_by_what_was_observed(void **state) {
    static const CURLcode codes[] = {CURLE_SEND_ERROR, CURLE_RECV_ERROR};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        nc_curl_error outcome = outcome_of(codes[i], "");
        outcome.os_error = ECONNRESET;
        assert_status(nc_curl_error_map(&outcome, NULL), NC_ERR_RESET);
        outcome.os_error = EPIPE;
        assert_status(nc_curl_error_map(&outcome, NULL), NC_ERR_RESET);
        outcome = outcome_of(codes[i], "any words");
        outcome.wire_error = ECONNRESET;
        assert_status(nc_curl_error_map(&outcome, NULL), NC_ERR_RESET);
        outcome = outcome_of(codes[i], "any words");
        outcome.is_cut = true;
        assert_status(nc_curl_error_map(&outcome, NULL), NC_ERR_CUT_SHORT);
    }
    nc_curl_error outcome = outcome_of(CURLE_RECV_ERROR, "Malformed encoding found in chunked-encoding");
    assert_status(nc_curl_error_map(&outcome, NULL), NC_ERR_BAD_RESPONSE);
}

static void curl_error__an_nghttp2_failure_is_http2_or_a_too_large_head(void **state) {
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
            nc_curl_error outcome = outcome_of(cases[i].code, cases[i].detail);
            outcome.is_connected = true;
            outcome.is_in_head = cases[i].is_in_head;
            outcome.has_no_head = cases[i].is_in_head;
            outcome.insists_on_http2 = insists == 1;
            assert_status(nc_curl_error_map(&outcome, NULL), cases[i].status);
        }
    }
}

static void curl_error__a_rejected_certificate_is_classified_by_its_verify_result(void **state) {
    static const struct {
        long result;
        nc_status status;
    } cases[] = {{0, NC_ERR_TLS_NAME},       {9, NC_ERR_TLS_NOT_YET_VALID}, {10, NC_ERR_TLS_EXPIRED},
                 {18, NC_ERR_TLS_UNTRUSTED}, {19, NC_ERR_TLS_UNTRUSTED},    {20, NC_ERR_TLS_UNTRUSTED},
                 {21, NC_ERR_TLS_UNTRUSTED}, {23, NC_ERR_TLS_CERTIFICATE},  {1, NC_ERR_TLS_CERTIFICATE}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_curl_error outcome = outcome_of(CURLE_PEER_FAILED_VERIFICATION, "");
        outcome.verify_result = cases[i].result;
        assert_status(nc_curl_error_map(&outcome, NULL), cases[i].status);
    }
    nc_curl_error outcome = outcome_of(CURLE_PEER_FAILED_VERIFICATION,
                                       "SSL: no alternative certificate subject name matches target host name 'a'");
    outcome.verify_result = 1;
    assert_status(nc_curl_error_map(&outcome, NULL), NC_ERR_TLS_NAME);
}

static void curl_error__a_certificate_alert_is_an_identity_error(void **state) {
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
        nc_curl_error outcome = outcome_of(rows[i].code, "getpeername() failed with errno 107");
        outcome.alert = rows[i].alert;
        outcome.shows_no_identity = rows[i].shows_none;
        outcome.is_connected = rows[i].is_connected;
        assert_status(nc_curl_error_map(&outcome, &err), rows[i].status);
        assert_non_null(strstr(err.message, rows[i].words));
    }
}

static void curl_error__the_phase_of_the_transfer_decides_ambiguous_codes(void **state) {
    nc_curl_error outcome = outcome_of(CURLE_UNSUPPORTED_PROTOCOL, "Received HTTP/0.9 when not allowed");
    (void)state;
    outcome.is_connected = true;
    assert_status(nc_curl_error_map(&outcome, NULL), NC_ERR_BAD_RESPONSE);
    outcome = outcome_of(CURLE_OPERATION_TIMEDOUT, "");
    outcome.is_connected = true;
    assert_status(nc_curl_error_map(&outcome, NULL), NC_ERR_TOTAL_TIMED_OUT);
    outcome = outcome_of(CURLE_OUT_OF_MEMORY, "");
    outcome.is_in_head = true;
    assert_status(nc_curl_error_map(&outcome, NULL), NC_ERR_HEAD_TOO_LARGE);
    // libcurl's message for a stream whose connection ends, during a body or without a response.
    outcome =
        outcome_of(CURLE_PARTIAL_FILE, "HTTP/2 stream 3 was not closed cleanly before end of the underlying stream");
    outcome.is_connected = true;
    assert_status(nc_curl_error_map(&outcome, NULL), NC_ERR_CUT_SHORT);
    outcome.has_no_head = true;
    assert_status(nc_curl_error_map(&outcome, NULL), NC_ERR_EMPTY_REPLY);
}

static void curl_error__the_message_is_one_short_line(void **state) {
    static char long_text[2000];
    nc_error err;
    (void)state;
    memset(long_text, 'x', sizeof long_text - 1);
    nc_curl_error outcome = outcome_of(CURLE_RECV_ERROR, "first\r\nsecond");
    assert_status(nc_curl_error_map(&outcome, &err), NC_ERR_RECEIVE);
    assert_string_equal(err.message, "receiving failed: host.example:81 (first)");
    outcome.detail = long_text;
    outcome.endpoint = nc_slice_of(long_text);
    (void)nc_curl_error_map(&outcome, &err);
    assert_true(strlen(err.message) < sizeof err.message);
    assert_string_equal(err.message + strlen(err.message) - 2, "x)");
}

/// libcurl quotes the whole URL of a proxy that it cannot parse, including the password.
static void curl_error__a_proxys_url_is_not_quoted(void **state) {
    static const char *const said[] = {
        "Unsupported proxy syntax in 'http://me:secret@127.0.0.1:99999'",
        "Unsupported proxy scheme for 'ftp://me:secret@127.0.0.1'",
        "Unsupported proxy 'https://me:secret@127.0.0.1', libcurl is built without the HTTPS-proxy support.",
    };
    (void)state;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        nc_error err;
        nc_curl_error outcome = outcome_of(CURLE_COULDNT_RESOLVE_PROXY, said[i]);
        outcome.has_proxy = true;
        outcome.proxy = nc_slice_of("me:sec"); // the name in "http://me:sec/ret@host"
        assert_status(nc_curl_error_map(&outcome, &err), NC_ERR_PROXY);
        assert_int_equal(err.native_code, CURLE_COULDNT_RESOLVE_PROXY);
        assert_string_equal(err.message, "the proxy could not be used: its URL is malformed");
    }
}

/// If the connection was not ready, the proxy failed if it responded to CONNECT or if libcurl used it.
static void curl_error__a_proxys_rejection_is_recognized_without_parsing_messages(void **state) {
    static const struct {
        bool has_proxy;
        bool has_tunnel_response;
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
        nc_curl_error outcome = outcome_of(CURLE_COULDNT_CONNECT, rows[i].detail);
        outcome.has_proxy = rows[i].has_proxy;
        outcome.proxy = nc_slice_of("p:8080");
        outcome.has_tunnel_response = rows[i].has_tunnel_response;
        outcome.used_proxy = rows[i].used_proxy;
        assert_status(nc_curl_error_map(&outcome, &err), rows[i].status);
        assert_int_equal(strstr(err.message, "p:8080") != NULL, rows[i].status == NC_ERR_PROXY);
    }
}

static void curl_error__a_failure_of_quic_is_http3_only_after_it_was_ready(void **state) {
    static const struct {
        CURLcode code;
        bool is_quic, is_connected, insists;
        nc_status status;
    } rows[] = {
        {CURLE_RECV_ERROR, true, true, false, NC_ERR_HTTP3},
        {CURLE_SEND_ERROR, true, true, false, NC_ERR_HTTP3},
        {CURLE_QUIC_CONNECT_ERROR, true, true, true, NC_ERR_HTTP3},
        {CURLE_QUIC_CONNECT_ERROR, false, false, true, NC_ERR_CONNECT},
        {CURLE_RECV_ERROR, false, false, true, NC_ERR_CONNECT},
        {CURLE_RECV_ERROR, false, true, false, NC_ERR_RECEIVE},
        {CURLE_PARTIAL_FILE, true, true, true, NC_ERR_CUT_SHORT},
        {CURLE_URL_MALFORMAT, false, false, true, NC_ERR_UNSUPPORTED}, // a proxy of the environment
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nc_error err;
        nc_curl_error outcome = outcome_of(rows[i].code, "details");
        outcome.is_quic = rows[i].is_quic;
        outcome.is_connected = rows[i].is_connected;
        outcome.insists_on_http3 = rows[i].insists;
        assert_status(nc_curl_error_map(&outcome, &err), rows[i].status);
        assert_non_null(strstr(err.message, "details"));
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(curl_error__each_code_has_its_status),
        harness_case(curl_error__a_proxys_rejection_is_recognized_without_parsing_messages),
        harness_case(curl_error__the_only_allowed_address_family_is_named),
        harness_case(curl_error__a_malformed_netrc_is_named),
        harness_case(curl_error__the_end_of_a_stream_is_classified_by_its_frames),
        harness_case(curl_error__a_too_large_head_is_not_reported_as_out_of_memory),
        harness_case(curl_error__every_code_of_this_libcurl_has_a_status),
        harness_case(curl_error__a_failed_connect_is_classified_by_its_errno),
        harness_case(curl_error__a_broken_connection_is_classified_by_what_was_observed),
        harness_case(curl_error__an_nghttp2_failure_is_http2_or_a_too_large_head),
        harness_case(curl_error__a_rejected_certificate_is_classified_by_its_verify_result),
        harness_case(curl_error__a_certificate_alert_is_an_identity_error),
        harness_case(curl_error__the_phase_of_the_transfer_decides_ambiguous_codes),
        harness_case(curl_error__the_message_is_one_short_line),
        harness_case(curl_error__a_proxys_url_is_not_quoted),
        harness_case(curl_error__a_failure_of_quic_is_http3_only_after_it_was_ready),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
