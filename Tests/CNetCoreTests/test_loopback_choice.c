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
    char head[512];
    char received[512];
    uint64_t received_length;
    size_t connection;
    atomic_size_t replies;
} watched;

static void choose(void *context, nct_choice *choice) {
    watched *scene = context;
    size_t length;
    const char *head = nct_choice_head(choice, &length);
    snprintf(scene->head, sizeof scene->head, "%.*s", (int)length, head);
    scene->connection = nct_choice_connection(choice);
    if (!scene->is_silent)
        assert_int_equal(nct_choice_answer(choice, &scene->reply), 0);
}

static void received(void *context, size_t connection, const char *bytes, size_t kept, uint64_t length) {
    watched *scene = context;
    assert_int_equal(connection, scene->connection);
    snprintf(scene->received, sizeof scene->received, "%.*s", (int)kept, bytes);
    scene->received_length = length;
}

static void replied(void *context, size_t connection) {
    watched *scene = context;
    assert_int_equal(connection, scene->connection);
    atomic_fetch_add(&scene->replies, 1);
}

static int set_up(void **state) {
    watched *scene = calloc(1, sizeof *scene);
    *state = scene;
    return scene == NULL ? ENOMEM
                         : nct_server_start(&scene->server, &(nct_server_options){.choose = choose,
                                                                                  .received = received,
                                                                                  .replied = replied,
                                                                                  .context = scene,
                                                                                  .is_forgetful = true});
}

static int tear_down(void **state) {
    watched *scene = *state;
    nct_server_stop(scene->server);
    free(scene);
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

static void loopback_choice__answers_what_is_chosen_and_tells_of_the_request(void **state) {
    watched *scene = *state;
    scene->reply = (nct_reply){.body = "hi", .body_length = 2};
    raw_script_text(scene->server, "/a", "scripted");
    raw_exchange(scene->server, "POST /a HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody", OK("2") "hi");
    assert_string_equal(scene->head, "POST /a HTTP/1.1\r\nContent-Length: 4\r\n\r\n");
    assert_string_equal(scene->received, "POST /a HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody");
    assert_int_equal(scene->received_length, strlen("body"));
}

static void loopback_choice__answers_404_to_what_nobody_answers(void **state) {
    watched *scene = *state;
    scene->is_silent = true;
    raw_exchange(scene->server, GET("/"), "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
}

static void loopback_choice__counts_requests_without_keeping_them(void **state) {
    watched *scene = *state;
    int fd = raw_ask(scene->server, GET("/"));
    raw_expect(fd, OK("0"));
    close(fd);
    assert_true(nct_server_wait_for_silence(scene->server, RAW_LIMIT_MS));
    assert_int_equal(nct_server_request_count(scene->server), 1);
    assert_int_equal(nct_server_copy_request(scene->server, 0, NULL, 0), 0);
    assert_int_equal(atomic_load(&scene->replies), 1);
}

/// The reply owns a file, so each request needs one.
static void loopback_choice__sends_a_part_of_a_file(void **state) {
    watched *scene = *state;
    const char *const asked[][2] = {{GET("/"), OK("3") "cde"}, {"HEAD / HTTP/1.1\r\n\r\n", OK("3")}};
    for (size_t i = 0; i < 2; i++) {
        int file = file_of("abcdefg");
        scene->reply = (nct_reply){.has_file = true, .file = file, .file_offset = 2, .file_length = 3};
        int fd = raw_ask(scene->server, asked[i][0]);
        raw_expect(fd, asked[i][1]);
        close(fd);
        assert_true(nct_server_wait_for_silence(scene->server, RAW_LIMIT_MS));
        assert_int_equal(fcntl(file, F_GETFD), -1);
    }
}

static void loopback_choice__frames_a_file_in_chunks(void **state) {
    watched *scene = *state;
    scene->reply = (nct_reply){.has_file = true, .file = file_of("abcde"), .file_length = 5, .chunk_bytes = 3};
    int fd = raw_ask(scene->server, GET("/"));
    raw_expect(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    close(fd);
}

static void loopback_choice__ends_the_connection_where_a_file_has_become_shorter(void **state) {
    watched *scene = *state;
    scene->reply = (nct_reply){.has_file = true, .file = file_of("abc"), .file_length = 10};
    int fd = raw_ask(scene->server, GET("/"));
    raw_expect(fd, OK("10") "abc");
    raw_expect_end(fd, false);
}

static void loopback_choice__takes_no_file_into_a_script(void **state) {
    watched *scene = *state;
    nct_reply reply = {.has_file = true};
    assert_int_equal(nct_server_script(scene->server, "/", &reply), EINVAL);
}

static void loopback_choice__delays_a_reply_and_notices_who_leaves_meanwhile(void **state) {
    watched *scene = *state;
    scene->reply = (nct_reply){.body = "late", .body_length = 4, .delay_ms = 20};
    raw_exchange(scene->server, GET("/"), OK("4") "late");
    scene->reply.delay_ms = 3600 * 1000;
    int fd = raw_ask(scene->server, GET("/"));
    // The exchange above made two.
    assert_true(nct_server_wait_for_requests(scene->server, 3, RAW_LIMIT_MS));
    close(fd);
    assert_true(nct_server_wait_for_silence(scene->server, RAW_LIMIT_MS));
}

static void loopback_choice__cuts_a_reply_in_its_body(void **state) {
    watched *scene = *state;
    scene->reply = (nct_reply){.body = "abcdef",
                               .body_length = 6,
                               .is_cut = true,
                               .is_cut_in_body = true,
                               .cut_after = 2,
                               .ending = NCT_RESET};
    int fd = raw_ask(scene->server, GET("/"));
    raw_expect(fd, OK("6") "ab");
    raw_expect_end(fd, true);
}

#define CASE(test) cmocka_unit_test_setup_teardown(loopback_choice__##test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(answers_what_is_chosen_and_tells_of_the_request),
        CASE(answers_404_to_what_nobody_answers),
        CASE(counts_requests_without_keeping_them),
        CASE(sends_a_part_of_a_file),
        CASE(frames_a_file_in_chunks),
        CASE(ends_the_connection_where_a_file_has_become_shorter),
        CASE(takes_no_file_into_a_script),
        CASE(delays_a_reply_and_notices_who_leaves_meanwhile),
        CASE(cuts_a_reply_in_its_body),
    };
    return cmocka_run_group_tests_name("loopback_choice", tests, NULL, NULL);
}
