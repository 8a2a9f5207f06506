#define _GNU_SOURCE 1
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness.h"
#include "nettesting.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LIMIT_MS 10000
#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"
#define OK(length) "HTTP/1.1 200 OK\r\nContent-Length: " length "\r\n\r\n"

/* --- a client of raw bytes --- */

static int setup_plain(void **state) {
    return nct_server_start((nct_server **)state, NULL);
}

static int stop(void **state) {
    nct_server_stop(*state);
    return 0;
}

static int dial(const nct_server *server) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(nct_server_port(server)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    struct timeval limit = {.tv_sec = LIMIT_MS / 1000};
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void say(int fd, const char *text) {
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/// Sends a request on a connection of its own.
static int ask(const nct_server *server, const char *request) {
    int fd = dial(server);
    say(fd, request);
    return fd;
}

/// Fails unless exactly these bytes arrive next.
static void expect_bytes(int fd, const char *bytes, size_t length) {
    char received[512];
    for (size_t filled = 0; filled < length;) {
        size_t wanted = length - filled < sizeof received ? length - filled : sizeof received;
        ssize_t count = recv(fd, received, wanted, 0);
        assert_true(count > 0);
        assert_memory_equal(received, bytes + filled, (size_t)count);
        filled += (size_t)count;
    }
}

static void expect(int fd, const char *text) {
    expect_bytes(fd, text, strlen(text));
}

/// Fails unless the connection ends next: with FIN, or with RST.
static void expect_end(int fd, bool is_reset) {
    char byte;
    errno = 0;
    ssize_t count = recv(fd, &byte, 1, 0);
    assert_int_equal(count, is_reset ? -1 : 0);
    assert_int_equal(errno, is_reset ? ECONNRESET : 0);
    close(fd);
}

static void script(nct_server *server, const char *path, nct_reply reply) {
    assert_int_equal(nct_server_script(server, path, &reply), 0);
}

static void script_text(nct_server *server, const char *path, const char *body) {
    script(server, path, (nct_reply){.body = body, .body_length = strlen(body)});
}

/// Sends requests, at once and then byte by byte, and expects replies, after which nothing else follows.
static void exchange(nct_server *server, const char *request, const char *reply) {
    for (size_t step = strlen(request); step != 0; step = step == 1 ? 0 : 1) {
        int fd = dial(server);
        assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)), 0);
        for (size_t sent = 0; sent < strlen(request); sent += step)
            assert_int_equal(send(fd, request + sent, step, MSG_NOSIGNAL), (ssize_t)step);
        expect(fd, reply);
        shutdown(fd, SHUT_WR);
        expect_end(fd, false);
    }
}

/* --- replies --- */

static void loopback_server__answers_a_scripted_path(void **state) {
    nct_server *server = *state;
    script_text(server, "/a", "first");
    script(server, "/moved", (nct_reply){.location = "/a", .headers = "X-One: 1\r\n"});
    int fd = ask(server, GET("/a?query=1"));
    expect(fd, OK("5") "first");
    script_text(server, "/a", "second");
    say(fd, "GET http://proxied.example/a HTTP/1.1\r\n\r\n");
    expect(fd, OK("6") "second");
    say(fd, GET("/moved"));
    expect(fd, "HTTP/1.1 302 Found\r\nLocation: /a\r\nX-One: 1\r\nContent-Length: 0\r\n\r\n");
    close(fd);
    assert_true(nct_server_wait_for_silence(server, LIMIT_MS));
    assert_int_equal(nct_server_connection_count(server), 1);
    assert_int_equal(nct_server_request_count(server), 3);
}

static void loopback_server__answers_404_unless_the_star_is_scripted(void **state) {
    exchange(*state, GET("/none"), "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    script_text(*state, "*", "any");
    exchange(*state, GET("/none"), OK("3") "any");
}

static void loopback_server__frames_only_what_the_script_left_unframed(void **state) {
    nct_reply reply = {.headers = "content-length: 9\r\n", .body = "hi", .body_length = 2, .ending = NCT_CLOSE};
    script(*state, "/wrong", reply);
    script(*state, "/raw", (nct_reply){.is_raw = true, .body = "SSH-2.0\r\n", .body_length = 9, .ending = NCT_CLOSE});
    script(*state, "/empty", (nct_reply){.status = 204, .body = "hi", .body_length = 2});
    exchange(*state, GET("/wrong"), "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhi");
    exchange(*state, GET("/raw"), "SSH-2.0\r\n");
    exchange(*state, GET("/empty"), "HTTP/1.1 204 No Content\r\n\r\n");
}

static void loopback_server__sends_a_head_alone_for_head(void **state) {
    script_text(*state, "/a", "hello");
    exchange(*state, "HEAD /a HTTP/1.1\r\n\r\n" GET("/a"), OK("5") OK("5") "hello");
}

static void loopback_server__sends_chunks_of_the_length_asked_for(void **state) {
#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    script(*state, "/a", (nct_reply){.body = "hello world", .body_length = 11, .chunk_bytes = 4});
    exchange(*state, GET("/a"), CHUNKED "4\r\nhell\r\n4\r\no wo\r\n3\r\nrld\r\n0\r\n\r\n");
    script(*state, "/a", (nct_reply){.body = "hello wo", .body_length = 8, .chunk_bytes = 4});
    exchange(*state, GET("/a"), CHUNKED "4\r\nhell\r\n4\r\no wo\r\n0\r\n\r\n");
    script(*state, "/a", (nct_reply){.chunk_bytes = 4});
    exchange(*state, GET("/a"), CHUNKED "0\r\n\r\n");
}

static void loopback_server__echoes_a_body_without_its_framing(void **state) {
    script(*state, "/echo", (nct_reply){.is_echo = true});
    exchange(*state, "POST /echo HTTP/1.1\r\nContent-Type: text/x\r\nContent-Length: 4\r\n\r\nbody",
             "HTTP/1.1 200 OK\r\nContent-Type: text/x\r\nContent-Length: 4\r\n\r\nbody");
    exchange(*state,
             "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
             "3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n",
             OK("13") "abc0123456789");
}

static void loopback_server__answers_expect_with_100_continue(void **state) {
    int fd = ask(*state, "PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    expect(fd, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_int_equal(nct_server_request_count(*state), 0);
    say(fd, "hi");
    expect(fd, "HTTP/1.1 404");
    close(fd);
}

/// Receives the pattern until the connection ends, and fails at a wrong byte; returns how many bytes came.
static uint64_t receive_pattern(int fd) {
    static char bytes[100003];
    uint64_t offset = 0;
    for (ssize_t count; (count = recv(fd, bytes, sizeof bytes, 0)) > 0; offset += (uint64_t)count)
        for (ssize_t i = 0; i < count; i++)
            if (bytes[i] != (char)('a' + (offset + (uint64_t)i) % 26))
                fail_msg("wrong byte at %llu", (unsigned long long)(offset + (uint64_t)i));
    return offset;
}

static void loopback_server__makes_a_large_pattern_as_it_sends(void **state) {
    nct_reply reply = {.pattern_length = 8 * 1024 * 1024 + 5, .ending = NCT_CLOSE};
    nct_server_script(*state, "/large", &reply);
    int fd = ask(*state, GET("/large"));
    expect(fd, OK("8388613"));
    assert_int_equal(receive_pattern(fd), reply.pattern_length);
    close(fd);
}

static void loopback_server__answers_pipelined_requests_in_order(void **state) {
    script_text(*state, "/a", "A");
    script_text(*state, "/b", "B");
    exchange(*state, GET("/a") GET("/b") "POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nGET" GET("/b"),
             OK("1") "A" OK("1") "B" OK("1") "A" OK("1") "B");
}

static void loopback_server__closes_after_what_is_no_request_or_says_close(void **state) {
    const char refused[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    const char *const rows[][2] = {
        {"nonsense\r\n\r\n", refused},
        {"GET / HTTP/2\r\n\r\n", refused},
        {"GET / HTTP/1.1\r\nno colon\r\n\r\n", refused},
        {"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", refused},
        {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", refused},
        {"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int fd = ask(*state, rows[i][0]);
        expect(fd, rows[i][1]);
        expect_end(fd, false);
    }
    assert_int_equal(nct_server_request_count(*state), 1);
}

/* --- endings --- */

static void cut_at_each_byte(nct_server *server, nct_ending ending) {
    const char whole[] = OK("5") "hello";
    for (size_t cut = 0; cut <= strlen(whole); cut++) {
        script(server, "/cut",
               (nct_reply){.body = "hello", .body_length = 5, .is_cut = true, .cut_after = cut, .ending = ending});
        int fd = ask(server, GET("/cut"));
        expect_bytes(fd, whole, cut);
        if (ending == NCT_STALL) {
            assert_true(nct_server_wait_for_stalled(server, 1, LIMIT_MS));
            assert_int_equal(recv(fd, &(char){0}, 1, MSG_DONTWAIT), -1);
            nct_server_release_stalled(server);
            expect(fd, whole + cut);
            close(fd);
        } else {
            expect_end(fd, ending == NCT_RESET);
        }
    }
    assert_true(nct_server_wait_for_silence(server, LIMIT_MS));
}

static void loopback_server__cuts_a_reply_after_the_given_byte(void **state) {
    cut_at_each_byte(*state, NCT_CLOSE);
    cut_at_each_byte(*state, NCT_RESET);
    cut_at_each_byte(*state, NCT_STALL);
}

static void loopback_server__resets_only_after_every_byte_of_a_large_cut_was_sent(void **state) {
    nct_reply reply = {.pattern_length = 1 << 30, .is_cut = true, .cut_after = 20 << 20, .ending = NCT_RESET};
    script(*state, "/cut", reply);
    int fd = ask(*state, GET("/cut"));
    expect(fd, OK("1073741824"));
    assert_int_equal(receive_pattern(fd), reply.cut_after - strlen(OK("1073741824")));
    assert_int_equal(errno, ECONNRESET);
    close(fd);
}

static void loopback_server__notices_that_a_stalled_client_left(void **state) {
    script(*state, "/stall", (nct_reply){.ending = NCT_STALL});
    int left = ask(*state, GET("/stall"));
    int stays = ask(*state, GET("/stall"));
    assert_true(nct_server_wait_for_stalled(*state, 2, LIMIT_MS));
    close(left);
    say(stays, GET("/pipelined"));
    nct_server_release_stalled(*state);
    expect(stays, OK("0") "HTTP/1.1 404");
    assert_false(nct_server_wait_for_stalled(*state, 1, 0));
    close(stays);
    assert_true(nct_server_wait_for_silence(*state, LIMIT_MS));
}

/* --- record --- */

static void expect_recorded(nct_server *server, size_t index, const char *request) {
    char bytes[256];
    assert_int_equal(nct_server_copy_request(server, index, bytes, sizeof bytes), strlen(request));
    assert_memory_equal(bytes, request, strlen(request));
    assert_int_equal(nct_server_copy_request(server, index, NULL, 0), strlen(request));
}

static void loopback_server__keeps_requests_byte_for_byte(void **state) {
    const char one[] =
        "PUT /a?b HTTP/1.1\r\nhost:  X \r\nTransfer-Encoding: chunked\r\n\r\n1\r\nz\r\n0\r\nT: 1\r\n\r\n";
    int fd = ask(*state, one);
    say(fd, GET("/b"));
    assert_true(nct_server_wait_for_requests(*state, 2, LIMIT_MS));
    expect_recorded(*state, 0, one);
    expect_recorded(*state, 1, GET("/b"));
    assert_int_equal(nct_server_copy_request(*state, 2, NULL, 0), 0);
    nct_server_forget(*state);
    assert_int_equal(nct_server_request_count(*state), 0);
    assert_int_equal(nct_server_copy_request(*state, 0, NULL, 0), 0);
    close(fd);
}

static void loopback_server__keeps_the_first_64_kib_of_a_request(void **state) {
    const char head[] = "PUT / HTTP/1.1\r\nContent-Length: 300000\r\n\r\n";
    static char body[300000], kept[300000];
    memset(body, 'b', sizeof body);
    int fd = ask(*state, head);
    assert_int_equal(send(fd, body, sizeof body, MSG_NOSIGNAL), sizeof body);
    assert_true(nct_server_wait_for_requests(*state, 1, LIMIT_MS));
    assert_int_equal(nct_server_copy_request(*state, 0, kept, sizeof kept), strlen(head) + sizeof body);
    assert_memory_equal(kept, head, strlen(head));
    assert_memory_equal(&kept[65535], "b", 2);
    close(fd);
}

static void loopback_server__gives_up_a_wait_when_the_time_is_over(void **state) {
    assert_false(nct_server_wait_for_requests(*state, 1, 1));
    assert_false(nct_server_wait_for_stalled(*state, 1, 1));
    int fd = ask(*state, GET("/"));
    assert_true(nct_server_wait_for_requests(*state, 1, LIMIT_MS));
    assert_false(nct_server_wait_for_silence(*state, 1));
    close(fd);
    assert_true(nct_server_wait_for_silence(*state, LIMIT_MS));
}

static void loopback_server__serves_many_connections_at_once(void **state) {
    enum { MANY = 1500 };
    static int fds[MANY];
    script(*state, "/together", (nct_reply){.ending = NCT_STALL});
    for (size_t i = 0; i < MANY; i++)
        fds[i] = ask(*state, GET("/together"));
    assert_true(nct_server_wait_for_stalled(*state, MANY, LIMIT_MS));
    assert_int_equal(nct_server_connection_count(*state), MANY);
    nct_server_release_stalled(*state);
    for (size_t i = 0; i < MANY; i++) {
        expect(fds[i], OK("0"));
        close(fds[i]);
    }
    assert_true(nct_server_wait_for_silence(*state, LIMIT_MS));
}

/* --- TLS --- */

/// A server, a client that trusts its authority and nothing else, and the client's connection.
struct pair {
    nct_server *server;
    SSL_CTX *context;
    SSL *ssl;
    int returned;
};

static struct pair start_pair(nct_identity identity, bool is_tls_1_2_only) {
    struct pair pair = {.context = SSL_CTX_new(TLS_client_method())};
    nct_server_options options = {.identity = identity, .is_tls_1_2_only = is_tls_1_2_only};
    assert_int_equal(nct_server_start(&pair.server, &options), 0);
    script_text(pair.server, "/a", "hello");
    BIO *bio = BIO_new_mem_buf(nct_server_ca_pem(pair.server), -1);
    X509 *authority = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    assert_int_equal(X509_STORE_add_cert(SSL_CTX_get_cert_store(pair.context), authority), 1);
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(pair.context), X509_V_FLAG_X509_STRICT);
    X509_free(authority);
    BIO_free(bio);
    return pair;
}

static void stop_pair(struct pair *pair) {
    SSL_CTX_free(pair->context);
    nct_server_stop(pair->server);
}

static void greet(struct pair *pair, const char *host, SSL_SESSION *session) {
    pair->ssl = SSL_new(pair->context);
    SSL_set_fd(pair->ssl, dial(pair->server));
    assert_int_equal(SSL_set1_host(pair->ssl, host), 1);
    assert_int_equal(SSL_set_alpn_protos(pair->ssl, (const unsigned char *)"\x02h2\x08http/1.1", 12), 0);
    if (session != NULL)
        SSL_set_session(pair->ssl, session);
    pair->returned = SSL_connect(pair->ssl);
}

static void part(struct pair *pair) {
    close(SSL_get_fd(pair->ssl));
    SSL_free(pair->ssl);
    ERR_clear_error();
}

static void tls_exchange(SSL *ssl, const char *request, const char *reply) {
    char bytes[256] = {0};
    assert_true(SSL_write(ssl, request, (int)strlen(request)) > 0);
    for (size_t filled = 0; filled < strlen(reply);) {
        int count = SSL_read(ssl, bytes + filled, (int)(sizeof bytes - 1 - filled));
        assert_true(count > 0);
        filled += (size_t)count;
    }
    assert_string_equal(bytes, reply);
}

static void expect_verdict(nct_identity identity, const char *host, long verdict) {
    struct pair pair = start_pair(identity, false);
    greet(&pair, host, NULL);
    assert_int_equal(pair.returned, 1);
    assert_int_equal(SSL_get_verify_result(pair.ssl), verdict);
    tls_exchange(pair.ssl, GET("/a"), OK("5") "hello");
    part(&pair);
    stop_pair(&pair);
}

static void loopback_server__shows_the_certificate_asked_for(void **state) {
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

static void loopback_server__resumes_tls_sessions(void **state) {
    (void)state;
    for (int is_1_2 = 0; is_1_2 <= 1; is_1_2++) {
        struct pair pair = start_pair(NCT_TLS_VALID, is_1_2);
        greet(&pair, "localhost", NULL);
        tls_exchange(pair.ssl, GET("/a"), OK("5") "hello");
        assert_int_equal(SSL_version(pair.ssl), is_1_2 ? TLS1_2_VERSION : TLS1_3_VERSION);
        const unsigned char *protocol = NULL;
        unsigned length = 0;
        SSL_get0_alpn_selected(pair.ssl, &protocol, &length);
        assert_int_equal(length, 8);
        assert_memory_equal(protocol, "http/1.1", 8);
        SSL_SESSION *session = SSL_get1_session(pair.ssl);
        SSL_shutdown(pair.ssl);
        part(&pair);
        greet(&pair, "localhost", session);
        assert_int_equal(SSL_session_reused(pair.ssl), 1);
        part(&pair);
        SSL_SESSION_free(session);
        stop_pair(&pair);
    }
}

static void loopback_server__says_close_notify_when_it_closes_and_not_when_it_resets(void **state) {
    (void)state;
    struct pair pair = start_pair(NCT_TLS_VALID, false);
    for (int is_reset = 0; is_reset <= 1; is_reset++) {
        nct_reply reply = {.is_cut = true, .cut_after = 20, .ending = is_reset ? NCT_RESET : NCT_CLOSE};
        nct_server_script(pair.server, "/cut", &reply);
        greet(&pair, "localhost", NULL);
        tls_exchange(pair.ssl, GET("/cut"), "HTTP/1.1 200 OK\r\nCon");
        char byte;
        int error = SSL_get_error(pair.ssl, SSL_read(pair.ssl, &byte, 1));
        assert_int_equal(error, is_reset ? SSL_ERROR_SYSCALL : SSL_ERROR_ZERO_RETURN);
        part(&pair);
    }
    stop_pair(&pair);
}

static void loopback_server__outlives_a_tls_client_that_leaves_in_the_middle(void **state) {
    (void)state;
    struct pair pair = start_pair(NCT_TLS_VALID, false);
    script(pair.server, "/large", (nct_reply){.pattern_length = 1 << 30});
    greet(&pair, "localhost", NULL);
    tls_exchange(pair.ssl, GET("/large"), "");
    assert_true(nct_server_wait_for_requests(pair.server, 1, LIMIT_MS));
    part(&pair);
    assert_true(nct_server_wait_for_silence(pair.server, LIMIT_MS));
    stop_pair(&pair);
}

static void loopback_server__answers_a_handshake_with_garbage(void **state) {
    (void)state;
    struct pair pair = start_pair(NCT_TLS_GARBAGE, false);
    greet(&pair, "localhost", NULL);
    assert_int_equal(pair.returned, -1);
    assert_int_equal(ERR_GET_REASON(ERR_peek_error()), SSL_R_WRONG_VERSION_NUMBER);
    part(&pair);
    assert_true(nct_server_wait_for_silence(pair.server, LIMIT_MS));
    assert_int_equal(nct_server_request_count(pair.server), 0);
    stop_pair(&pair);
}

#define PLAIN(test) cmocka_unit_test_setup_teardown(loopback_server__##test, setup_plain, stop)
#define TLS(test) cmocka_unit_test(loopback_server__##test)

int main(void) {
    // clang-format off
    const struct CMUnitTest tests[] = {
        PLAIN(answers_a_scripted_path), PLAIN(answers_404_unless_the_star_is_scripted),
        PLAIN(frames_only_what_the_script_left_unframed), PLAIN(sends_a_head_alone_for_head),
        PLAIN(sends_chunks_of_the_length_asked_for), PLAIN(echoes_a_body_without_its_framing),
        PLAIN(answers_expect_with_100_continue), PLAIN(makes_a_large_pattern_as_it_sends),
        PLAIN(answers_pipelined_requests_in_order), PLAIN(closes_after_what_is_no_request_or_says_close),
        PLAIN(cuts_a_reply_after_the_given_byte), PLAIN(resets_only_after_every_byte_of_a_large_cut_was_sent),
        PLAIN(notices_that_a_stalled_client_left), PLAIN(keeps_requests_byte_for_byte),
        PLAIN(keeps_the_first_64_kib_of_a_request), PLAIN(gives_up_a_wait_when_the_time_is_over),
        PLAIN(serves_many_connections_at_once), TLS(shows_the_certificate_asked_for), TLS(resumes_tls_sessions),
        TLS(says_close_notify_when_it_closes_and_not_when_it_resets),
        TLS(outlives_a_tls_client_that_leaves_in_the_middle), TLS(answers_a_handshake_with_garbage),
    };
    // clang-format on
    harness_allow_descriptors();
    return cmocka_run_group_tests_name("loopback_server", tests, NULL, NULL);
}
