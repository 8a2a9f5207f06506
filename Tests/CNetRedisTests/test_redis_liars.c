/// Servers that violate the protocol. Each connection sends scripted bytes after the first command.
#include "redis_server.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct liar {
    pthread_t thread;
    int listener;
    uint16_t port;
    nc_slice bytes;
    bool repeats; // until the client closes
    bool closes;
    bool answers; // each command
} liar;

/// Sends all bytes. Returns false if the client has closed.
static bool send_all(int fd, nc_slice bytes) {
    for (size_t at = 0; at < bytes.length;) {
        ssize_t length = send(fd, bytes.data + at, bytes.length - at, MSG_NOSIGNAL);
        if (length <= 0) {
            return false;
        }
        at += (size_t)length;
    }
    return true;
}

static void *lie(void *ctx) {
    liar *server = ctx;
    for (;;) {
        char bytes[4096];
        int fd = accept(server->listener, NULL, NULL);
        if (fd < 0) {
            return NULL;
        }
        ssize_t length = recv(fd, bytes, sizeof bytes, 0);
        bool is_open = length > 0;
        do {
            is_open = is_open && send_all(fd, server->bytes);
        } while (is_open && server->repeats);
        while (is_open && !server->closes && (length = recv(fd, bytes, sizeof bytes, 0)) > 0) {
            // Each command begins with its only asterisk.
            for (ssize_t i = 0; server->answers && i < length; i++) {
                is_open = is_open && (bytes[i] != '*' || send_all(fd, server->bytes));
            }
        }
        (void)close(fd);
    }
}

static nc_redis *start_liar(liar *server, const char *text, const nc_redis_config *config) {
    char url[64];
    server->bytes = server->bytes.length > 0 ? server->bytes : nc_slice_of(text);
    server->listener = nct_port_listen(&server->port);
    assert_true(server->listener >= 0);
    assert_int_equal(pthread_create(&server->thread, NULL, lie, server), 0);
    (void)snprintf(url, sizeof url, "redis://127.0.0.1:%u", (unsigned)server->port);
    nc_redis_config asked = config != NULL ? *config : (nc_redis_config){0};
    asked.min_backoff_ms = 60000; // One connection each, so that no other one changes the result.
    asked.max_backoff_ms = 60000;
    asked.silence_timeout_ms = 60000;
    return redis_open(&(redis_server){0}, url, &asked);
}

static void stop_liar(liar *server, nc_redis *client) {
    nc_redis_close(client);
    (void)shutdown(server->listener, SHUT_RDWR);
    (void)pthread_join(server->thread, NULL);
    (void)close(server->listener);
}

typedef struct lie_case {
    const char *text;
    const char *expected;
} lie_case;

static void liars__malformed_replies_end_the_connection(void **state) {
    (void)state;
    static const lie_case cases[] = {
        {"garbage\r\n", "NC_ERR_BAD_RESPONSE"},
        {"HTTP/1.1 400 Bad Request\r\n\r\n", "NC_ERR_BAD_RESPONSE"},
        {"\r\n", "NC_ERR_BAD_RESPONSE"},
        {"$-2\r\n", "NC_ERR_BAD_RESPONSE"},
        {"$99999999999999999999\r\n", "NC_ERR_BAD_RESPONSE"},
        {"$5x\r\nhello\r\n", "NC_ERR_BAD_RESPONSE"},
        {"*-2\r\n", "NC_ERR_BAD_RESPONSE"},
        {":12x\r\n", "NC_ERR_BAD_RESPONSE"},
        {":\r\n", "NC_ERR_BAD_RESPONSE"},
        {"*2147483647\r\n", "NC_ERR_TOO_LARGE"},
        {"*2\r\n*2147483647\r\n", "NC_ERR_TOO_LARGE"},
        {"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
         "NC_ERR_BAD_RESPONSE"},
        {"*2\r\n$5\r\nhello\r\n@", "NC_ERR_BAD_RESPONSE"},
        // RESP3, which is not requested.
        {"%1\r\n+a\r\n+b\r\n", "NC_ERR_BAD_RESPONSE"},
        {"~1\r\n+a\r\n", "NC_ERR_BAD_RESPONSE"},
        {">2\r\n+message\r\n+a\r\n", "NC_ERR_BAD_RESPONSE"},
        {"=5\r\ntxt:a\r\n", "NC_ERR_BAD_RESPONSE"},
        {"(1\r\n", "NC_ERR_BAD_RESPONSE"},
        {",1.5\r\n", "NC_ERR_BAD_RESPONSE"},
        {"#t\r\n", "NC_ERR_BAD_RESPONSE"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        liar server = {0};
        nc_redis *client = start_liar(&server, cases[i].text, NULL);
        const char *reply = redis_ask(client, "PING");
        if (strcmp(reply, cases[i].expected) != 0) {
            print_error("%s\n", cases[i].text);
        }
        assert_string_equal(reply, cases[i].expected);
        assert_string_equal(redis_ask(client, "PING"), cases[i].expected);
        stop_liar(&server, client);
    }
}

static void liars__an_incomplete_reply_is_no_reply(void **state) {
    (void)state;
    static const char *const cases[] = {"+O",   "$5\r\nhel", "$5\r\nhello", "*2\r\n:1\r\n", "*2\r\n$1\r\na\r\n$1\r\n",
                                        "+OK\r"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        liar server = {.closes = true};
        nc_redis *client = start_liar(&server, cases[i], NULL);
        assert_string_equal(redis_ask(client, "PING"), "NC_ERR_RESET");
        stop_liar(&server, client);
    }
    liar silent = {.closes = true};
    nc_redis *client = start_liar(&silent, "", NULL);
    assert_string_equal(redis_ask(client, "PING"), "NC_ERR_RESET");
    stop_liar(&silent, client);
}

static void liars__replies_without_a_command_end_the_connection(void **state) {
    (void)state;
    liar server = {0};
    nc_redis *client = start_liar(&server, "+OK\r\n+OK\r\n", NULL);
    assert_string_equal(redis_ask(client, "PING"), "OK");
    redis_ask_until(client, "PING", "NC_ERR_BAD_RESPONSE");
    stop_liar(&server, client);
}

static void liars__endless_replies_have_a_limit(void **state) {
    (void)state;
    static char line[65536];
    memset(line, 'x', sizeof line);
    line[0] = '+';
    liar endless_line = {.bytes = nc_slice_make(line, sizeof line), .repeats = true};
    nc_redis *client = start_liar(&endless_line, NULL, &(nc_redis_config){.max_reply_bytes = 1 << 20});
    assert_string_equal(redis_ask(client, "PING"), "NC_ERR_TOO_LARGE");
    stop_liar(&endless_line, client);
    liar endless_replies = {.bytes = nc_slice_of("+OK\r\n"), .repeats = true};
    client = start_liar(&endless_replies, NULL, NULL);
    redis_ask_until(client, "PING", "NC_ERR_BAD_RESPONSE");
    stop_liar(&endless_replies, client);
}

static void liars__redirections_to_nowhere_are_error_replies(void **state) {
    (void)state;
    static const char *const cases[] = {"-MOVED 16384 127.0.0.1:1",
                                        "-MOVED 1 nowhere",
                                        "-MOVED 1 h:0",
                                        "-MOVED 1 h:65536",
                                        "-MOVED x h:1",
                                        "-MOVED",
                                        "-ASK",
                                        "-ASK 1",
                                        "-ASK 1 ",
                                        "-MOVED 1 :x",
                                        "-NOSCRIPT No matching script"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64];
        liar server = {0};
        (void)snprintf(text, sizeof text, "%s\r\n", cases[i]);
        nc_redis *client = start_liar(&server, text, NULL);
        assert_string_equal(redis_ask(client, "GET a"), cases[i]);
        stop_liar(&server, client);
    }
}

static void liars__a_redirection_in_a_circle_ends(void **state) {
    (void)state;
    char text[64];
    liar server = {.answers = true};
    nc_redis *client = start_liar(&server, "+OK\r\n", NULL);
    (void)snprintf(text, sizeof text, "-MOVED 1 127.0.0.1:%u", (unsigned)server.port);
    char line[68];
    (void)snprintf(line, sizeof line, "%s\r\n", text);
    server.bytes = nc_slice_of(line); // The server has not sent anything yet.
    assert_string_equal(redis_ask(client, "GET a"), text);
    stop_liar(&server, client);
}

static void liars__a_text_of_the_server_cannot_move_a_cursor(void **state) {
    (void)state;
    liar server = {0};
    nc_redis *client = start_liar(&server, "\x1b[31m\r\n", NULL);
    const nc_slice word = nc_slice_of("PING");
    nc_redis_reply *reply = NULL;
    nc_error err;
    assert_status(
        nc_redis_call(client, &(nc_redis_command){.arguments = &word, .count = 1, .timeout_ms = 10000}, &reply, &err),
        NC_ERR_BAD_RESPONSE);
    assert_null(strchr(err.message, '\x1b'));
    stop_liar(&server, client);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(liars__malformed_replies_end_the_connection),
        harness_case(liars__an_incomplete_reply_is_no_reply),
        harness_case(liars__replies_without_a_command_end_the_connection),
        harness_case(liars__endless_replies_have_a_limit),
        harness_case(liars__redirections_to_nowhere_are_error_replies),
        harness_case(liars__a_redirection_in_a_circle_ends),
        harness_case(liars__a_text_of_the_server_cannot_move_a_cursor),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
