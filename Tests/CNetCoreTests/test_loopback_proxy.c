#define _GNU_SOURCE 1
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "raw_client.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BYTES(...) ((const char[]){__VA_ARGS__}), sizeof((const char[]){__VA_ARGS__})
#define GRANTED "\5\0\0\1\x7f\0\0\1\0\0"

/// A proxy, and a server that serves "hello" at "/a" through it.
typedef struct route {
    nct_proxy *proxy;
    nct_server *server;
} route;

static route open_route(nct_proxy_options options) {
    route made = {0};
    assert_int_equal(nct_proxy_start(&made.proxy, &options), 0);
    assert_int_equal(nct_server_start(&made.server, NULL), 0);
    raw_script_text(made.server, "/a", "hello");
    return made;
}

static void close_route(route *opened) {
    nct_proxy_stop(opened->proxy);
    nct_server_stop(opened->server);
}

static int dial(const route *opened) {
    return raw_dial_port(nct_proxy_port(opened->proxy));
}

/// Formats a client's text; `format` has one %u, the server's port.
static const char *with_port(const route *opened, const char *format) {
    static char text[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, format, (unsigned)nct_server_port(opened->server));
#pragma GCC diagnostic pop
    return text;
}

static void expect_head(route *opened, size_t index, const char *head) {
    char bytes[512] = {0};
    assert_int_equal(nct_proxy_copy_request(opened->proxy, index, bytes, sizeof bytes), strlen(head));
    assert_string_equal(bytes, head);
}

/* --- HTTP --- */

static void loopback_proxy__forwards_requests_in_absolute_form(void **state) {
    (void)state;
    route opened = open_route((nct_proxy_options){.kind = NCT_PROXY_HTTP});
    raw_script(opened.server, "/echo", (nct_reply){.is_echo = true});
    int fd = dial(&opened);
    const char *head =
        with_port(&opened, "GET http://a.example:%u/a?b HTTP/1.1\r\nHost: h\r\nProxy-Connection: x\r\n\r\n");
    raw_send(fd, head);
    raw_expect(fd, OK("5") "hello");
    expect_head(&opened, 0, head);
    raw_send(fd, with_port(&opened, "POST http://127.0.0.1:%u/echo HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi"));
    raw_expect(fd, OK("2") "hi");
    char received[128] = {0};
    size_t length = nct_server_copy_request(opened.server, 0, received, sizeof received);
    assert_string_equal(received, "GET /a?b HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_int_equal(length, strlen(received));
    // The second request is for another host, so it uses another connection.
    assert_int_equal(nct_server_connection_count(opened.server), 2);
    assert_int_equal(nct_proxy_connection_count(opened.proxy), 1);
    assert_int_equal(nct_proxy_request_count(opened.proxy), 2);
    assert_int_equal(nct_proxy_name_count(opened.proxy), 1);
    assert_int_equal(nct_proxy_tunnel_count(opened.proxy), 0);
    close(fd);
    assert_true(nct_proxy_wait_for_silence(opened.proxy, RAW_LIMIT_MS));
    assert_true(nct_server_wait_for_silence(opened.server, RAW_LIMIT_MS));
    close_route(&opened);
}

static void loopback_proxy__reuses_the_connection_to_a_server(void **state) {
    (void)state;
    route opened = open_route((nct_proxy_options){.kind = NCT_PROXY_HTTP});
    int fd = dial(&opened);
    for (int i = 0; i < 3; i++) {
        raw_send(fd, with_port(&opened, "GET http://a.example:%u/a HTTP/1.1\r\n\r\n"));
        raw_expect(fd, OK("5") "hello");
    }
    assert_int_equal(nct_server_connection_count(opened.server), 1);
    raw_script(opened.server, "/close", (nct_reply){.ending = NCT_CLOSE});
    raw_send(fd, with_port(&opened, "GET http://a.example:%u/close HTTP/1.1\r\n\r\n"));
    raw_expect(fd, OK("0"));
    raw_expect_end(fd, false);
    close_route(&opened);
}

static void loopback_proxy__makes_tunnels(void **state) {
    (void)state;
    route opened = open_route((nct_proxy_options){.kind = NCT_PROXY_HTTP});
    int fd = dial(&opened);
    raw_send(fd, with_port(&opened, "CONNECT a.example:%u HTTP/1.1\r\n\r\n"));
    raw_expect(fd, "HTTP/1.1 200 Connection established\r\n\r\n");
    raw_send(fd, GET("/a"));
    raw_expect(fd, OK("5") "hello");
    assert_int_equal(nct_proxy_tunnel_count(opened.proxy), 1);
    shutdown(fd, SHUT_WR);
    raw_expect_end(fd, false);
    assert_true(nct_proxy_wait_for_silence(opened.proxy, RAW_LIMIT_MS));
    close_route(&opened);
}

static void loopback_proxy__relays_large_bodies_in_both_directions_concurrently(void **state) {
    (void)state;
    route opened = open_route((nct_proxy_options){.kind = NCT_PROXY_HTTP});
    enum { LARGE = 20 << 20 };
    raw_script(opened.server, "/early", (nct_reply){.early = NCT_EARLY_DISCARD, .pattern_length = LARGE});
    int fd = dial(&opened);
    raw_send(fd, with_port(&opened, "PUT http://h:%u/early HTTP/1.1\r\nContent-Length: 20971520\r\n\r\n"));
    raw_expect(fd, OK("20971520"));
    static char bytes[1 << 20];
    size_t sent = 0;
    size_t received = 0;
    while (sent < LARGE || received < LARGE) {
        struct pollfd either = {.fd = fd, .events = (short)((sent < LARGE ? POLLOUT : 0) | POLLIN)};
        assert_int_equal(poll(&either, 1, RAW_LIMIT_MS), 1);
        if ((either.revents & POLLOUT) != 0) {
            size_t length = LARGE - sent < sizeof bytes ? LARGE - sent : sizeof bytes;
            ssize_t count = send(fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
            sent += count > 0 ? (size_t)count : 0;
        }
        if ((either.revents & POLLIN) != 0) {
            ssize_t count = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
            assert_true(count > 0);
            received += (size_t)count;
        }
    }
    assert_true(nct_server_wait_for_received_bytes(opened.server, LARGE, RAW_LIMIT_MS));
    close(fd);
    close_route(&opened);
}

static void loopback_proxy__challenges_a_client_without_credentials(void **state) {
    (void)state;
#define CHALLENGE                                                                                                      \
    "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"nettesting\"\r\n"                 \
    "Content-Length: 0\r\n\r\n"
    route opened = open_route((nct_proxy_options){.kind = NCT_PROXY_HTTP, .user = "u", .password = "p"});
    int fd = dial(&opened);
    raw_send(fd, with_port(&opened, "PUT http://h:%u/a HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi"));
    raw_expect(fd, CHALLENGE);
    raw_send(fd, with_port(&opened, "CONNECT h:%u HTTP/1.1\r\n\r\n"));
    raw_expect(fd, CHALLENGE);
    assert_int_equal(nct_server_connection_count(opened.server), 0);
    raw_send(fd, with_port(&opened, "CONNECT h:%u HTTP/1.1\r\nProxy-Authorization: Basic dTpw\r\n\r\n"));
    raw_expect(fd, "HTTP/1.1 200 Connection established\r\n\r\n");
    close(fd);
    close_route(&opened);
}

static void loopback_proxy__rejects_as_configured(void **state) {
    (void)state;
    const char reply[] = "HTTP/1.1 403 Forbidden\r\nX: 1\r\n\r\nno";
    route opened = open_route((nct_proxy_options){.kind = NCT_PROXY_HTTP, .connect_reply = reply});
    int fd = dial(&opened);
    raw_send(fd, with_port(&opened, "CONNECT h:%u HTTP/1.1\r\n\r\n"));
    raw_expect(fd, reply);
    raw_expect_end(fd, false);
    fd = dial(&opened);
    raw_send(fd, "GET http://127.0.0.1:1/ HTTP/1.1\r\n\r\n");
    raw_expect(fd, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
    raw_send(fd, "GET / HTTP/1.1\r\n\r\n");
    raw_expect(fd, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    raw_expect_end(fd, false);
    close_route(&opened);
}

static void loopback_proxy__speaks_tls_to_its_client(void **state) {
    (void)state;
    route opened = open_route((nct_proxy_options){.kind = NCT_PROXY_HTTP, .identity = NCT_TLS_VALID});
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    raw_trust(context, nct_proxy_ca_pem(opened.proxy));
    SSL *ssl = SSL_new(context);
    SSL_set_verify(ssl, SSL_VERIFY_PEER, NULL);
    SSL_set_fd(ssl, dial(&opened));
    assert_int_equal(SSL_connect(ssl), 1);
    raw_exchange_tls(ssl, with_port(&opened, "GET http://h:%u/a HTTP/1.1\r\n\r\n"), OK("5") "hello");
    raw_exchange_tls(ssl, with_port(&opened, "CONNECT h:%u HTTP/1.1\r\n\r\n"),
                     "HTTP/1.1 200 Connection established\r\n\r\n");
    raw_exchange_tls(ssl, GET("/a"), OK("5") "hello");
    close(SSL_get_fd(ssl));
    SSL_free(ssl);
    SSL_CTX_free(context);
    close_route(&opened);
}

/* --- SOCKS5 --- */

static void send_bytes(int fd, const char *bytes, size_t length) {
    assert_int_equal(send(fd, bytes, length, MSG_NOSIGNAL), (ssize_t)length);
}

/// Requests a connection to the server: to an IPv4 address, or to a name.
static void request_tunnel(const route *opened, int fd, bool is_name) {
    const char port[] = {(char)(nct_server_port(opened->server) >> 8), (char)nct_server_port(opened->server)};
    if (is_name)
        send_bytes(fd, BYTES(5, 1, 0, 3, 9, 'a', '.', 'e', 'x', 'a', 'm', 'p', 'l', 'e'));
    else
        send_bytes(fd, BYTES(5, 1, 0, 1, 127, 0, 0, 1));
    send_bytes(fd, port, sizeof port);
}

static void loopback_proxy__connects_to_names_and_addresses_over_socks5(void **state) {
    (void)state;
    route opened = open_route((nct_proxy_options){.kind = NCT_PROXY_SOCKS5});
    for (size_t i = 0; i < 2; i++) {
        int fd = dial(&opened);
        send_bytes(fd, BYTES(5, 2, 2, 0));
        raw_expect_bytes(fd, BYTES(5, 0));
        request_tunnel(&opened, fd, i == 1);
        raw_expect_bytes(fd, GRANTED, 10);
        raw_send(fd, GET("/a"));
        raw_expect(fd, OK("5") "hello");
        char request[32];
        assert_int_equal(nct_proxy_copy_request(opened.proxy, i, request, sizeof request), i == 1 ? 16 : 10);
        assert_int_equal(request[3], i == 1 ? 3 : 1);
        assert_int_equal(nct_proxy_name_count(opened.proxy), i);
        assert_int_equal(nct_proxy_tunnel_count(opened.proxy), i + 1);
        close(fd);
    }
    assert_true(nct_proxy_wait_for_silence(opened.proxy, RAW_LIMIT_MS));
    close_route(&opened);
}

static void loopback_proxy__requires_user_and_password_over_socks5(void **state) {
    (void)state;
    route opened = open_route((nct_proxy_options){.kind = NCT_PROXY_SOCKS5, .user = "me", .password = "p"});
    int fd = dial(&opened);
    send_bytes(fd, BYTES(5, 1, 0));
    raw_expect_bytes(fd, BYTES(5, '\xff'));
    raw_expect_end(fd, false);
    for (char last = 'p'; last <= 'q'; last++) {
        fd = dial(&opened);
        send_bytes(fd, BYTES(5, 1, 2));
        raw_expect_bytes(fd, BYTES(5, 2));
        send_bytes(fd, BYTES(1, 2, 'm', 'e', 1, last));
        raw_expect_bytes(fd, BYTES(1, (char)(last - 'p')));
        if (last == 'p')
            request_tunnel(&opened, fd, true);
        if (last == 'p')
            raw_expect_bytes(fd, GRANTED, 10);
        else
            raw_expect_end(fd, false);
        if (last == 'p')
            close(fd);
    }
    assert_int_equal(nct_proxy_request_count(opened.proxy), 1);
    close_route(&opened);
}

static void loopback_proxy__rejects_over_socks5(void **state) {
    (void)state;
    const uint8_t scripted[] = {0, 4};
    for (size_t i = 0; i < sizeof scripted; i++) {
        route opened = open_route((nct_proxy_options){.kind = NCT_PROXY_SOCKS5, .socks_reply = scripted[i]});
        int fd = dial(&opened);
        send_bytes(fd, BYTES(5, 1, 0));
        raw_expect_bytes(fd, BYTES(5, 0));
        send_bytes(fd, BYTES(5, 1, 0, 1, 127, 0, 0, 1, 0, 1));
        raw_expect_bytes(fd, i == 0 ? "\5\5\0\1" : "\5\4\0\1", 4);
        raw_expect(fd, "\x7f");
        close(fd);
        close_route(&opened);
    }
}

static void loopback_proxy__stops_in_the_middle(void **state) {
    (void)state;
    route opened = open_route((nct_proxy_options){.kind = NCT_PROXY_HTTP});
    raw_script(opened.server, "/endless", (nct_reply){.endless = NCT_ENDLESS_CHUNKS});
    int half = dial(&opened);
    raw_send(half, "GET http");
    int full = dial(&opened);
    raw_send(full, with_port(&opened, "GET http://h:%u/endless HTTP/1.1\r\n\r\n"));
    raw_expect(full, "HTTP/1.1 200 OK\r\n");
    close_route(&opened);
    close(half);
    close(full);
}

#define CASE(test) cmocka_unit_test(loopback_proxy__##test)

int main(void) {
    // clang-format off
    const struct CMUnitTest tests[] = {
        CASE(forwards_requests_in_absolute_form), CASE(reuses_the_connection_to_a_server), CASE(makes_tunnels),
        CASE(relays_large_bodies_in_both_directions_concurrently), CASE(challenges_a_client_without_credentials),
        CASE(rejects_as_configured), CASE(speaks_tls_to_its_client),
        CASE(connects_to_names_and_addresses_over_socks5), CASE(requires_user_and_password_over_socks5),
        CASE(rejects_over_socks5), CASE(stops_in_the_middle),
    };
    // clang-format on
    return cmocka_run_group_tests_name("loopback_proxy", tests, NULL, NULL);
}
