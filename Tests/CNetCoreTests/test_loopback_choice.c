#define _GNU_SOURCE 1
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness.h"
#include "raw_client.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// The callbacks' inputs and results; read after the replies.
typedef struct watched {
    nct_server *server;
    nct_reply reply;
    bool is_silent;
    bool refuses_body; // chooses another reply if the body is "bad"
    char body[64];
    uint64_t body_received;
    char head[512];
    char received[512];
    uint64_t received_length;
    size_t connection;
    atomic_size_t replies;
} watched;

/// Takes the second call for a request.
static void check_body(watched *seen, nct_choice *choice, const char *body, size_t length) {
    snprintf(seen->body, sizeof seen->body, "%.*s", (int)length, body);
    if (seen->refuses_body && strcmp(seen->body, "bad") == 0)
        assert_int_equal(nct_choice_respond(choice, &(nct_reply){.status = 422}), 0);
}

static void choose(void *context, nct_choice *choice) {
    watched *seen = context;
    size_t length;
    const void *body = nct_choice_body(choice, &length, &seen->body_received);
    if (body != NULL) {
        check_body(seen, choice, body, length);
        return;
    }
    const char *head = nct_choice_head(choice, &length);
    snprintf(seen->head, sizeof seen->head, "%.*s", (int)length, head);
    seen->connection = nct_choice_connection(choice);
    if (!seen->is_silent)
        assert_int_equal(nct_choice_respond(choice, &seen->reply), 0);
}

static void received(void *context, size_t connection, const char *bytes, size_t kept, uint64_t length) {
    watched *seen = context;
    assert_int_equal(connection, seen->connection);
    snprintf(seen->received, sizeof seen->received, "%.*s", (int)kept, bytes);
    seen->received_length = length;
}

static void replied(void *context, size_t connection) {
    watched *seen = context;
    assert_int_equal(connection, seen->connection);
    atomic_fetch_add(&seen->replies, 1);
}

static int set_up(void **state) {
    watched *seen = calloc(1, sizeof *seen);
    *state = seen;
    return seen == NULL ? ENOMEM
                        : nct_server_start(&seen->server, &(nct_server_options){.choose = choose,
                                                                                .received = received,
                                                                                .replied = replied,
                                                                                .context = seen,
                                                                                .is_forgetful = true});
}

static int tear_down(void **state) {
    watched *seen = *state;
    nct_server_stop(seen->server);
    free(seen);
    return 0;
}

/// Returns an unnamed file with a text.
static int file_of(const char *text) {
    char path[] = "/tmp/nct-choice-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    return fd;
}

static void loopback_choice__the_callback_sees_the_request_and_chooses_the_reply(void **state) {
    watched *seen = *state;
    seen->reply = (nct_reply){.body = "hi", .body_length = 2};
    raw_script_text(seen->server, "/a", "scripted");
    raw_exchange(seen->server, "POST /a HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody", OK("2") "hi");
    assert_string_equal(seen->head, "POST /a HTTP/1.1\r\nContent-Length: 4\r\n\r\n");
    assert_string_equal(seen->received, "POST /a HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody");
    assert_int_equal(seen->received_length, strlen("body"));
}

static void loopback_choice__chooses_again_when_the_body_has_arrived(void **state) {
    watched *seen = *state;
    seen->refuses_body = true;
    seen->reply = (nct_reply){.body = "hi", .body_length = 2, .awaits_body = true};
    const char *refusal = "HTTP/1.1 422 Unprocessable Content\r\nContent-Length: 0\r\n\r\n";
    raw_exchange(seen->server, "PUT / HTTP/1.1\r\nContent-Length: 3\r\n\r\nbad", refusal);
    raw_exchange(seen->server, "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nb\r\n2\r\nad\r\n0\r\n\r\n",
                 refusal);
    raw_exchange(seen->server, "PUT / HTTP/1.1\r\nContent-Length: 4\r\n\r\ngood", OK("2") "hi");
    assert_string_equal(seen->body, "good");
    assert_int_equal(seen->body_received, 4);
    raw_exchange(seen->server, GET("/"), OK("2") "hi");
    assert_string_equal(seen->body, "");
    seen->reply.awaits_body = false;
    raw_exchange(seen->server, "PUT / HTTP/1.1\r\nContent-Length: 3\r\n\r\nbad", OK("2") "hi");
}

static void loopback_choice__an_unscripted_path_gets_a_404(void **state) {
    watched *seen = *state;
    seen->is_silent = true;
    raw_exchange(seen->server, GET("/"), "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
}

static void loopback_choice__counts_requests_without_storing_them(void **state) {
    watched *seen = *state;
    int fd = raw_request(seen->server, GET("/"));
    raw_expect(fd, OK("0"));
    close(fd);
    assert_true(nct_server_wait_for_silence(seen->server, RAW_LIMIT_MS));
    assert_int_equal(nct_server_request_count(seen->server), 1);
    assert_int_equal(nct_server_copy_request(seen->server, 0, NULL, 0), 0);
    assert_int_equal(atomic_load(&seen->replies), 1);
}

/// A reply closes its file, so each request needs a new one.
static void loopback_choice__sends_a_part_of_a_file(void **state) {
    watched *seen = *state;
    const char *const exchanges[][2] = {{GET("/"), OK("3") "cde"}, {"HEAD / HTTP/1.1\r\n\r\n", OK("3")}};
    for (size_t i = 0; i < 2; i++) {
        int file = file_of("abcdefg");
        seen->reply = (nct_reply){.has_file = true, .file = file, .file_offset = 2, .file_length = 3};
        int fd = raw_request(seen->server, exchanges[i][0]);
        raw_expect(fd, exchanges[i][1]);
        close(fd);
        assert_true(nct_server_wait_for_silence(seen->server, RAW_LIMIT_MS));
        assert_int_equal(fcntl(file, F_GETFD), -1);
    }
}

static void loopback_choice__frames_a_file_in_chunks(void **state) {
    watched *seen = *state;
    seen->reply = (nct_reply){.has_file = true, .file = file_of("abcde"), .file_length = 5, .chunk_bytes = 3};
    int fd = raw_request(seen->server, GET("/"));
    raw_expect(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    close(fd);
}

static void loopback_choice__closes_the_connection_if_a_file_became_shorter(void **state) {
    watched *seen = *state;
    seen->reply = (nct_reply){.has_file = true, .file = file_of("abc"), .file_length = 10};
    int fd = raw_request(seen->server, GET("/"));
    raw_expect(fd, OK("10") "abc");
    raw_expect_end(fd, false);
}

static void loopback_choice__a_script_rejects_a_file(void **state) {
    watched *seen = *state;
    nct_reply reply = {.has_file = true};
    assert_int_equal(nct_server_script(seen->server, "/", &reply), EINVAL);
}

static void loopback_choice__delays_a_reply_and_detects_a_disconnect_meanwhile(void **state) {
    watched *seen = *state;
    seen->reply = (nct_reply){.body = "late", .body_length = 4, .delay_ms = 20};
    raw_exchange(seen->server, GET("/"), OK("4") "late");
    seen->reply.delay_ms = 3600 * 1000;
    int fd = raw_request(seen->server, GET("/"));
    // raw_exchange() has sent two requests.
    assert_true(nct_server_wait_for_requests(seen->server, 3, RAW_LIMIT_MS));
    close(fd);
    assert_true(nct_server_wait_for_silence(seen->server, RAW_LIMIT_MS));
}

static void loopback_choice__truncates_a_reply_in_its_body(void **state) {
    watched *seen = *state;
    seen->reply = (nct_reply){.body = "abcdef",
                              .body_length = 6,
                              .is_cut = true,
                              .is_cut_in_body = true,
                              .cut_after = 2,
                              .ending = NCT_RESET};
    int fd = raw_request(seen->server, GET("/"));
    raw_expect(fd, OK("6") "ab");
    raw_expect_end(fd, true);
}

#define CASE(test) cmocka_unit_test_setup_teardown(loopback_choice__##test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(the_callback_sees_the_request_and_chooses_the_reply),
        CASE(chooses_again_when_the_body_has_arrived),
        CASE(an_unscripted_path_gets_a_404),
        CASE(counts_requests_without_storing_them),
        CASE(sends_a_part_of_a_file),
        CASE(frames_a_file_in_chunks),
        CASE(closes_the_connection_if_a_file_became_shorter),
        CASE(a_script_rejects_a_file),
        CASE(delays_a_reply_and_detects_a_disconnect_meanwhile),
        CASE(truncates_a_reply_in_its_body),
    };
    return cmocka_run_group_tests_name("loopback_choice", tests, NULL, NULL);
}
