#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness.h"
#include "raw_client.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// The key and its response are those of RFC 6455, 1.3.
#define HANDSHAKE                                                                                                      \
    "GET /chat HTTP/1.1\r\nHost: x\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"      \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
#define ACCEPTED                                                                                                       \
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"                                \
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
// "Hello" with a mask, without one, and in two pieces (RFC 6455, 5.7).
#define MASKED_HELLO "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"
#define HELLO "\x81\x05Hello"
#define CLOSE_1000 "\x88\x02\x03\xe8"
#define MASK "\x01\x01\x01\x01"
#define MASKED_CLOSE_1000 "\x88\x82" MASK "\x02\xe9"

#define TEXT(text)                                                                                                     \
    { .action = NCT_SOCKET_TEXT, .bytes = (text), .length = sizeof(text) - 1 }

static void send_bytes(int fd, const void *bytes, size_t length) {
    assert_int_equal(send(fd, bytes, length, MSG_NOSIGNAL), (ssize_t)length);
}

#define send_literal(fd, text) send_bytes(fd, text, sizeof(text) - 1)
#define expect_literal(fd, text) raw_expect_bytes(fd, text, sizeof(text) - 1)

/// Scripts a WebSocket, and returns a connection whose handshake was accepted.
static int open_socket(nct_server *server, const nct_socket_step *steps, size_t count, nct_reply reply) {
    reply.socket_steps = steps;
    reply.socket_step_count = count;
    raw_script(server, "/chat", reply);
    int fd = raw_request(server, HANDSHAKE);
    raw_expect(fd, ACCEPTED);
    raw_expect(fd, reply.headers != NULL ? reply.headers : "");
    raw_expect(fd, "\r\n");
    return fd;
}

static const nct_socket_step echo[] = {{.action = NCT_SOCKET_ECHO}};

static void loopback_socket__sends_messages_back(void **state) {
    int fd = open_socket(*state, echo, 1, (nct_reply){.headers = "Sec-WebSocket-Protocol: chat\r\n"});
    send_literal(fd, MASKED_HELLO MASKED_HELLO);
    expect_literal(fd, HELLO HELLO);
    send_literal(fd, "\x01\x81" MASK "`"
                     "\x89\x81" MASK "q"
                     "\x80\x81" MASK "c");
    expect_literal(fd, "\x01\x01"
                       "a"
                       "\x8a\x01"
                       "p"
                       "\x80\x01"
                       "b");
    for (const char *byte = MASKED_CLOSE_1000; *byte != '\0'; byte++)
        send_bytes(fd, byte, 1);
    expect_literal(fd, CLOSE_1000);
    raw_expect_end(fd, false);
}

static void loopback_socket__performs_the_steps_in_order(void **state) {
    static const nct_socket_step steps[] = {
        TEXT("one"),
        {.action = NCT_SOCKET_WAIT},
        {.action = NCT_SOCKET_BINARY, .bytes = "\0\1", .length = 2},
        {.action = NCT_SOCKET_WAIT},
        {.action = NCT_SOCKET_PING, .bytes = "p", .length = 1},
        {.action = NCT_SOCKET_CLOSE, .code = 4000, .bytes = "bye", .length = 3},
        TEXT("never"),
    };
    int fd = open_socket(*state, steps, 7, (nct_reply){0});
    expect_literal(fd, "\x81\x03one");
    raw_expect_nothing(fd);
    send_literal(fd, "\x8a\x81" MASK "q");
    send_literal(fd, MASKED_HELLO);
    expect_literal(fd, "\x82\x02\0\1");
    send_literal(fd, MASKED_HELLO);
    expect_literal(fd, "\x89\x01"
                       "p"
                       "\x88\x05\x0f\xa0"
                       "bye");
    send_literal(fd, MASKED_HELLO "\x88\x82" MASK "\x0e\xa1");
    raw_expect_end(fd, false);
}

static void loopback_socket__drops_messages_after_the_last_step(void **state) {
    static const nct_socket_step steps[] = {TEXT("only")};
    int fd = open_socket(*state, steps, 1, (nct_reply){0});
    expect_literal(fd, "\x81\x04only");
    send_literal(fd, MASKED_HELLO "\x89\x81" MASK "q");
    expect_literal(fd, "\x8a\x01"
                       "p");
    send_literal(fd, "\x88\x80" MASK);
    expect_literal(fd, "\x88\0");
    raw_expect_end(fd, false);
}

static void loopback_socket__replies_426_to_other_requests(void **state) {
    raw_script(*state, "/chat", (nct_reply){.socket_steps = echo, .socket_step_count = 1});
    raw_exchange(*state, GET("/chat"),
                 "HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 "Content-Length: 0\r\n\r\n");
    raw_script(*state, "/chat", (nct_reply){.socket_steps = echo, .socket_step_count = 1, .user = "u"});
    raw_exchange(*state, HANDSHAKE,
                 "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"nettesting\"\r\n"
                 "Content-Length: 0\r\n\r\n");
}

static void loopback_socket__closes_after_a_malformed_frame(void **state) {
    static const struct {
        const char *frame;
        size_t length;
        const char *close;
    } cases[] = {
#define CASE(frame, close) {frame, sizeof(frame) - 1, close}
        CASE(HELLO, "\x88\x02\x03\xea"),                               // no mask
        CASE("\xc1\x80" MASK, "\x88\x02\x03\xea"),                     // a reserved bit
        CASE("\x83\x80" MASK, "\x88\x02\x03\xea"),                     // an unknown opcode
        CASE("\x09\x80" MASK, "\x88\x02\x03\xea"),                     // a ping in pieces
        CASE("\x89\xfe\0\x7e" MASK, "\x88\x02\x03\xea"),               // a ping of 126 bytes
        CASE("\x82\xff\0\0\0\0\x01\0\0\x01" MASK, "\x88\x02\x03\xf1"), // 16 MiB and a byte
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int fd = open_socket(*state, echo, 1, (nct_reply){0});
        send_bytes(fd, cases[i].frame, cases[i].length);
        raw_expect_bytes(fd, cases[i].close, 4);
        raw_expect_end(fd, false);
    }
}

static void loopback_socket__ends_without_a_close_frame_as_scripted(void **state) {
    static const nct_socket_step steps[] = {{.action = NCT_SOCKET_BYTES, .bytes = "\xff", .length = 1},
                                            {.action = NCT_SOCKET_END}};
    int fd = open_socket(*state, steps, 2, (nct_reply){0});
    expect_literal(fd, "\xff");
    raw_expect_end(fd, false);
    fd = open_socket(*state, steps, 2, (nct_reply){.ending = NCT_RESET});
    expect_literal(fd, "\xff");
    raw_expect_end(fd, true);
    static const nct_socket_step reset[] = {TEXT("one"), {.action = NCT_SOCKET_RESET}};
    fd = open_socket(*state, reset, 2, (nct_reply){0});
    expect_literal(fd, "\x81\x03one");
    raw_expect_end(fd, true);
}

static void loopback_socket__stalls_until_it_is_released(void **state) {
    static const nct_socket_step steps[] = {TEXT("one"), {.action = NCT_SOCKET_STALL}, TEXT("two")};
    int fd = open_socket(*state, steps, 3, (nct_reply){0});
    expect_literal(fd, "\x81\x03one");
    send_literal(fd, "\x89\x81" MASK "q");
    assert_true(nct_server_wait_for_stalled(*state, 1, RAW_LIMIT_MS));
    raw_expect_nothing(fd);
    nct_server_release_stalled(*state);
    expect_literal(fd, "\x81\x03two"
                       "\x8a\x01p");
    close(fd);
}

enum { LONG_BYTES = 1 << 20, LONG_ROUNDS = 8 };

/// Sends long messages of the byte 0, without reading.
static void *send_long_messages(void *ctx) {
    int fd = *(const int *)ctx;
    uint8_t *bytes = calloc(LONG_BYTES, 1);
    for (int i = 0; i < LONG_ROUNDS; i++) {
        (void)send(fd, "\x82\xff\0\0\0\0\0\x10\0\0" MASK, 14, MSG_NOSIGNAL);
        (void)send(fd, bytes, LONG_BYTES, MSG_NOSIGNAL);
    }
    free(bytes);
    return NULL;
}

static void loopback_socket__waits_for_a_client_that_only_sends(void **state) {
    pthread_t thread;
    uint8_t *bytes = malloc(LONG_BYTES);
    assert_non_null(bytes);
    memset(bytes, 1, LONG_BYTES);
    int fd = open_socket(*state, echo, 1, (nct_reply){0});
    assert_int_equal(pthread_create(&thread, NULL, send_long_messages, &fd), 0);
    for (int i = 0; i < LONG_ROUNDS; i++) {
        expect_literal(fd, "\x82\x7f\0\0\0\0\0\x10\0\0");
        raw_expect_bytes(fd, bytes, LONG_BYTES);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    free(bytes);
    close(fd);
}

#define PLAIN(test) cmocka_unit_test_setup_teardown(loopback_socket__##test, raw_setup_plain, raw_stop)

int main(void) {
    // clang-format off
    const struct CMUnitTest tests[] = {
        PLAIN(sends_messages_back),
        PLAIN(performs_the_steps_in_order),
        PLAIN(drops_messages_after_the_last_step),
        PLAIN(replies_426_to_other_requests),
        PLAIN(closes_after_a_malformed_frame),
        PLAIN(ends_without_a_close_frame_as_scripted),
        PLAIN(stalls_until_it_is_released),
        PLAIN(waits_for_a_client_that_only_sends),
    };
    // clang-format on
    harness_allow_descriptors();
    return cmocka_run_group_tests_name("loopback_socket", tests, NULL, NULL);
}
