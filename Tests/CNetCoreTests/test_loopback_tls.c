#define _GNU_SOURCE 1
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "raw_client.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- certificates, sessions, endings --- */

static void expect_verdict(nct_identity identity, const char *host, long verdict) {
    raw_pair pair = raw_start_pair(&(nct_server_options){.identity = identity});
    raw_greet(&pair, host, NULL);
    assert_int_equal(pair.returned, 1);
    assert_int_equal(SSL_get_verify_result(pair.ssl), verdict);
    raw_exchange_tls(pair.ssl, GET("/a"), OK("5") "hello");
    raw_part(&pair);
    raw_stop_pair(&pair);
}

static void loopback_tls__sends_the_configured_certificate(void **state) {
    (void)state;
    expect_verdict(NCT_TLS_VALID, "localhost", X509_V_OK);
    expect_verdict(NCT_TLS_VALID, "127.0.0.1", X509_V_OK);
    expect_verdict(NCT_TLS_VALID, "other.example", X509_V_ERR_HOSTNAME_MISMATCH);
    expect_verdict(NCT_TLS_EXPIRED, "localhost", X509_V_ERR_CERT_HAS_EXPIRED);
    expect_verdict(NCT_TLS_NOT_YET_VALID, "localhost", X509_V_ERR_CERT_NOT_YET_VALID);
    expect_verdict(NCT_TLS_WRONG_NAME, "localhost", X509_V_ERR_HOSTNAME_MISMATCH);
    expect_verdict(NCT_TLS_WRONG_NAME, "other.example", X509_V_OK);
    expect_verdict(NCT_TLS_UNTRUSTED, "localhost", X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY);
}

static void loopback_tls__resumes_tls_sessions(void **state) {
    (void)state;
    for (int is_1_2 = 0; is_1_2 <= 1; is_1_2++) {
        raw_pair pair = raw_start_pair(&(nct_server_options){.identity = NCT_TLS_VALID, .is_tls_1_2_only = is_1_2});
        raw_greet(&pair, "localhost", NULL);
        raw_exchange_tls(pair.ssl, GET("/a"), OK("5") "hello");
        assert_int_equal(SSL_version(pair.ssl), is_1_2 ? TLS1_2_VERSION : TLS1_3_VERSION);
        const unsigned char *protocol = NULL;
        unsigned length = 0;
        SSL_get0_alpn_selected(pair.ssl, &protocol, &length);
        assert_int_equal(length, 8);
        assert_memory_equal(protocol, "http/1.1", 8);
        SSL_SESSION *session = SSL_get1_session(pair.ssl);
        SSL_shutdown(pair.ssl);
        raw_part(&pair);
        raw_greet(&pair, "localhost", session);
        assert_int_equal(SSL_session_reused(pair.ssl), 1);
        raw_part(&pair);
        SSL_SESSION_free(session);
        raw_stop_pair(&pair);
    }
}

static void loopback_tls__sends_close_notify_on_close_and_not_on_reset(void **state) {
    (void)state;
    raw_pair pair = raw_start_pair(&(nct_server_options){.identity = NCT_TLS_VALID});
    for (int is_reset = 0; is_reset <= 1; is_reset++) {
        nct_reply reply = {.is_cut = true, .cut_after = 20, .ending = is_reset ? NCT_RESET : NCT_CLOSE};
        nct_server_script(pair.server, "/cut", &reply);
        raw_greet(&pair, "localhost", NULL);
        raw_exchange_tls(pair.ssl, GET("/cut"), "HTTP/1.1 200 OK\r\nCon");
        char byte;
        int error = SSL_get_error(pair.ssl, SSL_read(pair.ssl, &byte, 1));
        assert_int_equal(error, is_reset ? SSL_ERROR_SYSCALL : SSL_ERROR_ZERO_RETURN);
        raw_part(&pair);
    }
    raw_stop_pair(&pair);
}

static void loopback_tls__survives_a_client_that_disconnects_midway(void **state) {
    (void)state;
    raw_pair pair = raw_start_pair(&(nct_server_options){.identity = NCT_TLS_VALID});
    raw_script(pair.server, "/large", (nct_reply){.pattern_length = 1 << 30});
    raw_greet(&pair, "localhost", NULL);
    raw_exchange_tls(pair.ssl, GET("/large"), "");
    assert_true(nct_server_wait_for_requests(pair.server, 1, RAW_LIMIT_MS));
    raw_part(&pair);
    assert_true(nct_server_wait_for_silence(pair.server, RAW_LIMIT_MS));
    raw_stop_pair(&pair);
}

static void loopback_tls__replies_to_a_handshake_with_garbage(void **state) {
    (void)state;
    raw_pair pair = raw_start_pair(&(nct_server_options){.identity = NCT_TLS_GARBAGE});
    raw_greet(&pair, "localhost", NULL);
    assert_int_equal(pair.returned, -1);
    assert_int_equal(ERR_GET_REASON(ERR_peek_error()), SSL_R_WRONG_VERSION_NUMBER);
    raw_part(&pair);
    assert_true(nct_server_wait_for_silence(pair.server, RAW_LIMIT_MS));
    assert_int_equal(nct_server_request_count(pair.server), 0);
    raw_stop_pair(&pair);
}
/// Reads, and returns OpenSSL's error code.
static int read_error(SSL *ssl) {
    char byte;
    return SSL_get_error(ssl, SSL_read(ssl, &byte, 1));
}

static void loopback_tls__ends_without_close_notify_when_it_truncates(void **state) {
    (void)state;
    raw_pair pair = raw_start_pair(&(nct_server_options){.identity = NCT_TLS_VALID});
    raw_script(pair.server, "/cut", (nct_reply){.ending = NCT_TRUNCATE});
    raw_greet(&pair, "localhost", NULL);
    raw_exchange_tls(pair.ssl, GET("/cut"), OK("0"));
    assert_int_equal(read_error(pair.ssl), SSL_ERROR_SSL);
    assert_int_equal(ERR_GET_REASON(ERR_peek_error()), SSL_R_UNEXPECTED_EOF_WHILE_READING);
    raw_part(&pair);
    raw_stop_pair(&pair);
}

static void loopback_tls__continues_reading_after_a_half_close(void **state) {
    (void)state;
    raw_pair pair = raw_start_pair(&(nct_server_options){.identity = NCT_TLS_VALID});
    raw_script(pair.server, "/half", (nct_reply){.ending = NCT_HALF_CLOSE});
    raw_greet(&pair, "localhost", NULL);
    raw_exchange_tls(pair.ssl, GET("/half"), OK("0"));
    assert_int_equal(read_error(pair.ssl), SSL_ERROR_ZERO_RETURN);
    for (int i = 0; i < 3; i++)
        assert_int_equal(SSL_write(pair.ssl, GET("/a"), (int)strlen(GET("/a"))), strlen(GET("/a")));
    assert_false(nct_server_wait_for_silence(pair.server, 1));
    raw_part(&pair);
    assert_true(nct_server_wait_for_silence(pair.server, RAW_LIMIT_MS));
    raw_stop_pair(&pair);
}

static void loopback_tls__sends_each_piece_in_a_record_of_its_own(void **state) {
    (void)state;
    raw_pair pair = raw_start_pair(&(nct_server_options){.identity = NCT_TLS_VALID});
    raw_script(pair.server, "/a", (nct_reply){.drip_bytes = 3});
    raw_greet(&pair, "localhost", NULL);
    raw_exchange_tls(pair.ssl, GET("/a"), "");
    char bytes[64];
    assert_int_equal(SSL_read(pair.ssl, bytes, sizeof bytes), 3);
    assert_memory_equal(bytes, "HTT", 3);
    raw_part(&pair);
    raw_stop_pair(&pair);
}

/// Handshakes with a server that fails. Returns the client's result.
static int failed_handshake(nct_identity identity, int *error) {
    raw_pair pair = raw_start_pair(&(nct_server_options){.identity = identity});
    assert_int_equal(SSL_CTX_set_min_proto_version(pair.context, TLS1_2_VERSION), 1);
    raw_greet(&pair, "localhost", NULL);
    assert_int_equal(pair.returned, -1);
    *error = SSL_get_error(pair.ssl, pair.returned);
    int reason = *error == SSL_ERROR_SSL ? ERR_GET_REASON(ERR_peek_error()) : errno;
    raw_part(&pair);
    assert_true(nct_server_wait_for_silence(pair.server, RAW_LIMIT_MS));
    assert_int_equal(nct_server_connection_count(pair.server), 1);
    raw_stop_pair(&pair);
    return reason;
}

static void loopback_tls__fails_the_handshake_as_configured(void **state) {
    (void)state;
    int error;
    assert_int_equal(failed_handshake(NCT_TLS_CLOSED, &error), SSL_R_UNEXPECTED_EOF_WHILE_READING);
    assert_int_equal(error, SSL_ERROR_SSL);
    assert_int_equal(failed_handshake(NCT_TLS_RESET, &error), ECONNRESET);
    assert_int_equal(error, SSL_ERROR_SYSCALL);
    assert_int_equal(failed_handshake(NCT_TLS_ALERT, &error), SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE);
    assert_int_equal(failed_handshake(NCT_TLS_1_1, &error), SSL_R_TLSV1_ALERT_PROTOCOL_VERSION);
}

static void loopback_tls__stalls_in_the_handshake(void **state) {
    (void)state;
    raw_pair pair = raw_start_pair(&(nct_server_options){.identity = NCT_TLS_STALLED});
    int fd = raw_request(pair.server, "hello");
    assert_true(nct_server_wait_for_stalled(pair.server, 1, RAW_LIMIT_MS));
    raw_expect_nothing(fd);
    nct_server_release_stalled(pair.server);
    raw_expect_end(fd, false);
    raw_stop_pair(&pair);
}

static void loopback_tls__negotiates_tls_1_1_if_the_client_supports_it(void **state) {
    (void)state;
    raw_pair pair = raw_start_pair(&(nct_server_options){.identity = NCT_TLS_1_1});
    SSL_CTX_set_security_level(pair.context, 0);
    SSL_CTX_set_min_proto_version(pair.context, TLS1_1_VERSION);
    raw_greet(&pair, "localhost", NULL);
    assert_int_equal(pair.returned, 1);
    assert_int_equal(SSL_version(pair.ssl), TLS1_1_VERSION);
    raw_exchange_tls(pair.ssl, GET("/a"), OK("5") "hello");
    raw_part(&pair);
    raw_stop_pair(&pair);
}

static void loopback_tls__the_certificate_has_the_configured_names(void **state) {
    (void)state;
    nct_server_options options = {.identity = NCT_TLS_VALID, .names = "DNS:a.example,IP:127.0.0.9"};
    const char *const names[] = {"localhost", "a.example", "b.example"};
    raw_pair pair = raw_start_pair(&options);
    for (size_t i = 0; i < 3; i++) {
        raw_greet(&pair, names[i], NULL);
        assert_int_equal(SSL_get_verify_result(pair.ssl), i == 2 ? X509_V_ERR_HOSTNAME_MISMATCH : X509_V_OK);
        raw_part(&pair);
    }
    raw_stop_pair(&pair);
}

/* --- client certificates --- */

/// Sends the identity that the server created for clients.
static void show_identity(raw_pair *pair) {
    char directory[] = "/tmp/nettesting-XXXXXX";
    char path[64];
    assert_non_null(mkdtemp(directory));
    assert_int_equal(nct_server_client_identity_write(pair->server, directory), 0);
    snprintf(path, sizeof path, "%s/client.p12", directory);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/cert.pem", directory);
    assert_int_equal(SSL_CTX_use_certificate_file(pair->context, path, SSL_FILETYPE_PEM), 1);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/key.pem", directory);
    assert_int_equal(SSL_CTX_use_PrivateKey_file(pair->context, path, SSL_FILETYPE_PEM), 1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
}

static void loopback_tls__requires_a_client_certificate(void **state) {
    (void)state;
    for (int is_1_2 = 0; is_1_2 <= 1; is_1_2++) {
        raw_pair pair = raw_start_pair(&(nct_server_options){
            .identity = NCT_TLS_VALID, .is_tls_1_2_only = is_1_2, .client_check = NCT_CLIENT_REQUIRED});
        raw_greet(&pair, "localhost", NULL);
        // A TLS 1.3 client completes before the server has checked its certificate.
        assert_int_equal(pair.returned, is_1_2 ? -1 : 1);
        if (!is_1_2)
            assert_int_equal(read_error(pair.ssl), SSL_ERROR_SSL);
        raw_part(&pair);
        assert_true(nct_server_wait_for_silence(pair.server, RAW_LIMIT_MS));
        assert_int_equal(nct_server_client_certificate_count(pair.server), 0);
        show_identity(&pair);
        raw_greet(&pair, "localhost", NULL);
        raw_exchange_tls(pair.ssl, GET("/a"), OK("5") "hello");
        assert_int_equal(nct_server_client_certificate_count(pair.server), 1);
        raw_part(&pair);
        raw_stop_pair(&pair);
    }
}

static void loopback_tls__requests_a_client_certificate_and_continues_without(void **state) {
    (void)state;
    raw_pair pair = raw_start_pair(&(nct_server_options){.identity = NCT_TLS_VALID, .client_check = NCT_CLIENT_ASKED});
    raw_greet(&pair, "localhost", NULL);
    raw_exchange_tls(pair.ssl, GET("/a"), OK("5") "hello");
    assert_int_equal(nct_server_client_certificate_count(pair.server), 0);
    raw_part(&pair);
    raw_stop_pair(&pair);
    nct_server *plain;
    assert_int_equal(nct_server_start(&plain, NULL), 0);
    assert_int_equal(nct_server_client_identity_write(plain, "/tmp"), EINVAL);
    nct_server_stop(plain);
}

/* --- tickets --- */

static int count_ticket(SSL *ssl, SSL_SESSION *session) {
    (void)session;
    ++*(int *)SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    return 0;
}

/// Makes three connections, each with the first one's session. Returns the number of tickets after the first
/// connection.
static int tickets_after_the_first(nct_tickets kind, int is_1_2, size_t resumed) {
    raw_pair pair =
        raw_start_pair(&(nct_server_options){.identity = NCT_TLS_VALID, .is_tls_1_2_only = is_1_2, .tickets = kind});
    int tickets = 0;
    int first_tickets = 0;
    SSL_CTX_set_app_data(pair.context, &tickets);
    SSL_CTX_set_session_cache_mode(pair.context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(pair.context, count_ticket);
    SSL_SESSION *session = NULL;
    for (int i = 0; i < 3; i++) {
        // OpenSSL offers a TLS 1.3 session only once, so each connection gets a copy.
        SSL_SESSION *offered = session == NULL ? NULL : SSL_SESSION_dup(session);
        raw_greet(&pair, "localhost", offered);
        SSL_SESSION_free(offered);
        raw_exchange_tls(pair.ssl, GET("/a"), OK("5") "hello");
        if (i == 0) {
            session = SSL_get1_session(pair.ssl);
            first_tickets = tickets;
        }
        SSL_shutdown(pair.ssl);
        raw_part(&pair);
    }
    assert_int_equal(nct_server_resumed_count(pair.server), resumed);
    SSL_SESSION_free(session);
    raw_stop_pair(&pair);
    return tickets - first_tickets;
}

static void loopback_tls__sends_tickets_as_configured(void **state) {
    (void)state;
    assert_int_equal(tickets_after_the_first(NCT_TICKETS_RENEWED, 0, 2), 2);
    assert_int_equal(tickets_after_the_first(NCT_TICKETS_KEPT, 0, 2), 0);
    assert_int_equal(tickets_after_the_first(NCT_TICKETS_KEPT, 1, 2), 0);
    assert_int_equal(tickets_after_the_first(NCT_TICKETS_NONE, 0, 0), 0);
    (void)tickets_after_the_first(NCT_TICKETS_NONE, 1, 0);
}

#define CASE(test) cmocka_unit_test(loopback_tls__##test)

int main(void) {
    // clang-format off
    const struct CMUnitTest tests[] = {
        CASE(sends_the_configured_certificate),
        CASE(resumes_tls_sessions),
        CASE(sends_close_notify_on_close_and_not_on_reset),
        CASE(survives_a_client_that_disconnects_midway),
        CASE(replies_to_a_handshake_with_garbage),
        CASE(ends_without_close_notify_when_it_truncates),
        CASE(continues_reading_after_a_half_close),
        CASE(sends_each_piece_in_a_record_of_its_own),
        CASE(fails_the_handshake_as_configured),
        CASE(stalls_in_the_handshake),
        CASE(negotiates_tls_1_1_if_the_client_supports_it),
        CASE(the_certificate_has_the_configured_names),
        CASE(requires_a_client_certificate),
        CASE(requests_a_client_certificate_and_continues_without),
        CASE(sends_tickets_as_configured),
    };
    // clang-format on
    return cmocka_run_group_tests_name("loopback_tls", tests, NULL, NULL);
}
