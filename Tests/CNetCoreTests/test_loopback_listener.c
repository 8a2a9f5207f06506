#define _GNU_SOURCE 1
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "raw_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define NOT_FOUND "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"

static nct_server *start(nct_server_options options) {
    nct_server *server;
    assert_int_equal(nct_server_start(&server, &options), 0);
    return server;
}

/// Connects to an address; returns the socket, or -1 with errno.
static int dial_address(const struct sockaddr *address, socklen_t length, int flags) {
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    assert_true(fd >= 0);
    if (connect(fd, address, length) == 0 || errno == EINPROGRESS)
        return fd;
    int failure = errno;
    close(fd);
    errno = failure;
    return -1;
}

static int dial_host(const char *host, uint16_t port, int flags) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    assert_int_equal(inet_pton(AF_INET, host, &address.sin_addr), 1);
    return dial_address((struct sockaddr *)&address, sizeof address, flags);
}

static void loopback_listener__listens_on_another_loopback_address(void **state) {
    (void)state;
    nct_server *server = start((nct_server_options){.host = "127.0.0.2"});
    assert_int_equal(dial_host("127.0.0.1", nct_server_port(server), 0), -1);
    assert_int_equal(errno, ECONNREFUSED);
    int fd = dial_host("127.0.0.2", nct_server_port(server), 0);
    raw_send(fd, GET("/"));
    raw_expect(fd, NOT_FOUND);
    close(fd);
    // The same port of another address is another origin.
    nct_server *other = start((nct_server_options){.host = "127.0.0.3", .port = nct_server_port(server)});
    assert_int_equal(nct_server_port(other), nct_server_port(server));
    nct_server_stop(other);
    nct_server_stop(server);
    nct_server_options options = {.host = "localhost"};
    assert_int_equal(nct_server_start(&server, &options), EINVAL);
}

static void loopback_listener__names_its_address_in_its_certificate(void **state) {
    (void)state;
    raw_pair pair = raw_start_pair(&(nct_server_options){.identity = NCT_TLS_VALID, .host = "127.0.0.2"});
    pair.ssl = SSL_new(pair.context);
    SSL_set_fd(pair.ssl, dial_host("127.0.0.2", nct_server_port(pair.server), 0));
    assert_int_equal(X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(pair.ssl), "127.0.0.2"), 1);
    assert_int_equal(SSL_connect(pair.ssl), 1);
    assert_int_equal(SSL_get_verify_result(pair.ssl), X509_V_OK);
    raw_part(&pair);
    raw_stop_pair(&pair);
}

static void loopback_listener__starts_again_on_the_port_it_had(void **state) {
    (void)state;
    nct_server *server = start((nct_server_options){0});
    uint16_t port = nct_server_port(server);
    int fd = raw_request(server, GET("/"));
    raw_expect(fd, NOT_FOUND);
    nct_server_stop(server);
    raw_expect_end(fd, false);
    server = start((nct_server_options){.port = port});
    fd = raw_request(server, GET("/"));
    raw_expect(fd, NOT_FOUND);
    close(fd);
    nct_server_stop(server);
}

static void loopback_listener__listens_on_a_unix_socket(void **state) {
    (void)state;
    char directory[] = "/tmp/nettesting-XXXXXX";
    assert_non_null(mkdtemp(directory));
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", directory);
    nct_server *server = start((nct_server_options){.unix_path = address.sun_path});
    assert_int_equal(nct_server_port(server), 0);
    raw_script(server, "/drip", (nct_reply){.drip_bytes = 1, .ending = NCT_RESET});
    int fd = dial_address((struct sockaddr *)&address, sizeof address, 0);
    raw_send(fd, GET("/") GET("/drip"));
    raw_expect(fd, NOT_FOUND OK("0"));
    raw_expect_end(fd, false);
    nct_server_stop(server);
    assert_int_equal(rmdir(directory), 0);
}

static void loopback_listener__accepts_late(void **state) {
    (void)state;
    enum { MANY = 4 };
    struct pollfd fds[MANY];
    nct_server *server = start((nct_server_options){.is_accepting_late = true});
    for (size_t i = 0; i < MANY; i++)
        fds[i] =
            (struct pollfd){.fd = dial_host("127.0.0.1", nct_server_port(server), SOCK_NONBLOCK), .events = POLLOUT};
    // The kernel completes two connections for the server; the others still connect.
    assert_int_equal(poll(fds, MANY, 50), 2);
    assert_int_equal(nct_server_connection_count(server), 0);
    raw_send(fds[0].fd, GET("/"));
    assert_false(nct_server_wait_for_requests(server, 1, 20));
    nct_server_accept_now(server);
    assert_true(nct_server_wait_for_requests(server, 1, RAW_LIMIT_MS));
    for (size_t i = 0; i < MANY; i++)
        close(fds[i].fd);
    assert_true(nct_server_wait_for_silence(server, RAW_LIMIT_MS));
    nct_server_stop(server);
}

static void loopback_listener__reads_no_request_before_it_is_released(void **state) {
    (void)state;
    nct_server *server = start((nct_server_options){.is_never_reading = true, .receive_buffer_bytes = 4096});
    int fd = raw_dial(server);
    assert_true(nct_server_wait_for_stalled(server, 1, RAW_LIMIT_MS));
    raw_send(fd, "PUT / HTTP/1.1\r\nContent-Length: 100000000\r\n\r\n");
    static char bytes[65536];
    size_t sent = 0;
    for (ssize_t count; (count = send(fd, bytes, sizeof bytes, MSG_DONTWAIT | MSG_NOSIGNAL)) > 0;)
        sent += (size_t)count;
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(nct_server_received_bytes(server), 0);
    nct_server_release_stalled(server);
    assert_true(nct_server_wait_for_received_bytes(server, sent, RAW_LIMIT_MS));
    close(fd);
    nct_server_stop(server);
}

static void loopback_listener__stalls_before_each_request_when_it_never_reads(void **state) {
    (void)state;
    raw_pair pair = raw_start_pair(&(nct_server_options){.identity = NCT_TLS_VALID, .is_never_reading = true});
    raw_greet(&pair, "localhost", NULL);
    assert_int_equal(pair.returned, 1);
    for (int i = 0; i < 2; i++) {
        assert_true(nct_server_wait_for_stalled(pair.server, 1, RAW_LIMIT_MS));
        nct_server_release_stalled(pair.server);
        raw_exchange_tls(pair.ssl, GET("/a"), OK("5") "hello");
    }
    assert_true(nct_server_wait_for_stalled(pair.server, 1, RAW_LIMIT_MS));
    raw_part(&pair);
    assert_true(nct_server_wait_for_silence(pair.server, RAW_LIMIT_MS));
    raw_stop_pair(&pair);
}

#define CASE(test) cmocka_unit_test(loopback_listener__##test)

int main(void) {
    // clang-format off
    const struct CMUnitTest tests[] = {
        CASE(listens_on_another_loopback_address), CASE(names_its_address_in_its_certificate),
        CASE(starts_again_on_the_port_it_had), CASE(listens_on_a_unix_socket), CASE(accepts_late),
        CASE(reads_no_request_before_it_is_released), CASE(stalls_before_each_request_when_it_never_reads),
    };
    // clang-format on
    return cmocka_run_group_tests_name("loopback_listener", tests, NULL, NULL);
}
