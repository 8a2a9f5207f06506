#define _GNU_SOURCE 1
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness.h"
#include "raw_client.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- replies --- */

static void loopback_server__sends_the_scripted_reply(void **state) {
    nct_server *server = *state;
    raw_script_text(server, "/a", "first");
    raw_script(server, "/moved", (nct_reply){.location = "/a", .headers = "X-One: 1\r\n"});
    int fd = raw_request(server, GET("/a?query=1"));
    raw_expect(fd, OK("5") "first");
    raw_script_text(server, "/a", "second");
    raw_send(fd, "GET http://proxied.example/a HTTP/1.1\r\n\r\n");
    raw_expect(fd, OK("6") "second");
    raw_send(fd, GET("/moved"));
    raw_expect(fd, "HTTP/1.1 302 Found\r\nLocation: /a\r\nX-One: 1\r\nContent-Length: 0\r\n\r\n");
    close(fd);
    assert_true(nct_server_wait_for_silence(server, RAW_LIMIT_MS));
    assert_int_equal(nct_server_connection_count(server), 1);
    assert_int_equal(nct_server_request_count(server), 3);
}

static void loopback_server__replies_404_unless_the_wildcard_is_scripted(void **state) {
    raw_exchange(*state, GET("/none"), "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    raw_script_text(*state, "*", "any");
    raw_exchange(*state, GET("/none"), OK("3") "any");
}

static void loopback_server__frames_only_what_the_script_left_unframed(void **state) {
    nct_reply reply = {.headers = "content-length: 9\r\n", .body = "hi", .body_length = 2, .ending = NCT_CLOSE};
    raw_script(*state, "/wrong", reply);
    raw_script(*state, "/raw",
               (nct_reply){.is_raw = true, .body = "SSH-2.0\r\n", .body_length = 9, .ending = NCT_CLOSE});
    raw_script(*state, "/empty", (nct_reply){.status = 204, .body = "hi", .body_length = 2});
    raw_exchange(*state, GET("/wrong"), "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhi");
    raw_exchange(*state, GET("/raw"), "SSH-2.0\r\n");
    raw_exchange(*state, GET("/empty"), "HTTP/1.1 204 No Content\r\n\r\n");
}

static void loopback_server__sends_no_body_to_head(void **state) {
    raw_script_text(*state, "/a", "hello");
    raw_exchange(*state, "HEAD /a HTTP/1.1\r\n\r\n" GET("/a"), OK("5") OK("5") "hello");
}

static void loopback_server__sends_chunks_of_the_configured_length(void **state) {
#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    raw_script(*state, "/a", (nct_reply){.body = "hello world", .body_length = 11, .chunk_bytes = 4});
    raw_exchange(*state, GET("/a"), CHUNKED "4\r\nhell\r\n4\r\no wo\r\n3\r\nrld\r\n0\r\n\r\n");
    raw_script(*state, "/a", (nct_reply){.body = "hello wo", .body_length = 8, .chunk_bytes = 4});
    raw_exchange(*state, GET("/a"), CHUNKED "4\r\nhell\r\n4\r\no wo\r\n0\r\n\r\n");
    raw_script(*state, "/a", (nct_reply){.chunk_bytes = 4});
    raw_exchange(*state, GET("/a"), CHUNKED "0\r\n\r\n");
}

static void loopback_server__echoes_a_decoded_body(void **state) {
    raw_script(*state, "/echo", (nct_reply){.is_echo = true});
    raw_exchange(*state, "POST /echo HTTP/1.1\r\nContent-Type: text/x\r\nContent-Length: 4\r\n\r\nbody",
                 "HTTP/1.1 200 OK\r\nContent-Type: text/x\r\nContent-Length: 4\r\n\r\nbody");
    raw_exchange(*state,
                 "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n",
                 OK("13") "abc0123456789");
}

static void loopback_server__replies_100_continue_to_expect(void **state) {
    int fd = raw_request(*state, "PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    raw_expect(fd, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_int_equal(nct_server_request_count(*state), 0);
    raw_send(fd, "hi");
    raw_expect(fd, "HTTP/1.1 404");
    close(fd);
}

/// Receives the pattern until the connection ends, and fails at a wrong byte. Returns the number of bytes.
static uint64_t receive_pattern(int fd) {
    static char bytes[100003];
    uint64_t offset = 0;
    for (ssize_t count; (count = recv(fd, bytes, sizeof bytes, 0)) > 0; offset += (uint64_t)count)
        for (ssize_t i = 0; i < count; i++)
            if (bytes[i] != (char)('a' + (offset + (uint64_t)i) % 26))
                fail_msg("wrong byte at %llu", (unsigned long long)(offset + (uint64_t)i));
    return offset;
}

static void loopback_server__generates_a_large_pattern_while_sending(void **state) {
    nct_reply reply = {.pattern_length = 8 * 1024 * 1024 + 5, .ending = NCT_CLOSE};
    nct_server_script(*state, "/large", &reply);
    int fd = raw_request(*state, GET("/large"));
    raw_expect(fd, OK("8388613"));
    assert_int_equal(receive_pattern(fd), reply.pattern_length);
    close(fd);
}

static void loopback_server__replies_to_pipelined_requests_in_order(void **state) {
    raw_script_text(*state, "/a", "A");
    raw_script_text(*state, "/b", "B");
    raw_exchange(*state, GET("/a") GET("/b") "POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nGET" GET("/b"),
                 OK("1") "A" OK("1") "B" OK("1") "A" OK("1") "B");
}

static void loopback_server__closes_after_an_invalid_request_or_connection_close(void **state) {
    const char refused[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    const char *const rows[][2] = {
        {"nonsense\r\n\r\n", refused},
        {"GET / HTTP/2\r\n\r\n", refused},
        {"GET  / HTTP/1.1\r\n\r\n", refused},
        {"GET /a b HTTP/1.1\r\n\r\n", refused},
        {"GET / HTTP/1.1\r\nno colon\r\n\r\n", refused},
        {"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", refused},
        {"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", refused},
        {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", refused},
        {"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"},
        {"GET / HTTP/1.1\r\nConnection: TE , Close\r\n\r\n", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int fd = raw_request(*state, rows[i][0]);
        raw_expect(fd, rows[i][1]);
        raw_expect_end(fd, false);
    }
    assert_int_equal(nct_server_request_count(*state), 2);
}

/* --- endings --- */

static void cut_at_each_byte(nct_server *server, nct_ending ending) {
    const char whole[] = OK("5") "hello";
    for (size_t cut = 0; cut <= strlen(whole); cut++) {
        raw_script(server, "/cut",
                   (nct_reply){.body = "hello", .body_length = 5, .is_cut = true, .cut_after = cut, .ending = ending});
        int fd = raw_request(server, GET("/cut"));
        raw_expect_bytes(fd, whole, cut);
        if (ending == NCT_STALL) {
            assert_true(nct_server_wait_for_stalled(server, 1, RAW_LIMIT_MS));
            assert_int_equal(recv(fd, &(char){0}, 1, MSG_DONTWAIT), -1);
            nct_server_release_stalled(server);
            raw_expect(fd, whole + cut);
            close(fd);
        } else {
            raw_expect_end(fd, ending == NCT_RESET);
        }
    }
    assert_true(nct_server_wait_for_silence(server, RAW_LIMIT_MS));
}

static void loopback_server__truncates_a_reply_after_the_given_byte(void **state) {
    cut_at_each_byte(*state, NCT_CLOSE);
    cut_at_each_byte(*state, NCT_RESET);
    cut_at_each_byte(*state, NCT_STALL);
}

static void loopback_server__truncates_a_chunked_body_after_the_given_byte(void **state) {
    static const char *const bodies[] = {
        "", "2\r\nh", "2\r\nhe\r\n", "2\r\nhe\r\n2\r\nl", "2\r\nhe\r\n2\r\nll\r\n", "2\r\nhe\r\n2\r\nll\r\n1\r\no\r\n",
    };
    for (size_t cut = 0; cut < sizeof bodies / sizeof bodies[0]; cut++) {
        raw_script(*state, "/cut",
                   (nct_reply){.body = "hello",
                               .body_length = 5,
                               .chunk_bytes = 2,
                               .is_cut = true,
                               .is_cut_in_body = true,
                               .cut_after = cut,
                               .ending = NCT_CLOSE});
        int fd = raw_request(*state, GET("/cut"));
        raw_expect(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        raw_expect(fd, bodies[cut]);
        raw_expect_end(fd, false);
    }
}

static void loopback_server__resets_only_after_all_bytes_of_a_truncated_reply_are_sent(void **state) {
    nct_reply reply = {.pattern_length = 1 << 30, .is_cut = true, .cut_after = 20 << 20, .ending = NCT_RESET};
    raw_script(*state, "/cut", reply);
    int fd = raw_request(*state, GET("/cut"));
    raw_expect(fd, OK("1073741824"));
    assert_int_equal(receive_pattern(fd), reply.cut_after - strlen(OK("1073741824")));
    assert_int_equal(errno, ECONNRESET);
    close(fd);
}

static void loopback_server__detects_that_a_stalled_client_disconnected(void **state) {
    raw_script(*state, "/stall", (nct_reply){.ending = NCT_STALL});
    int left = raw_request(*state, GET("/stall"));
    int stays = raw_request(*state, GET("/stall"));
    assert_true(nct_server_wait_for_stalled(*state, 2, RAW_LIMIT_MS));
    close(left);
    raw_send(stays, GET("/pipelined"));
    nct_server_release_stalled(*state);
    raw_expect(stays, OK("0") "HTTP/1.1 404");
    assert_false(nct_server_wait_for_stalled(*state, 1, 0));
    close(stays);
    assert_true(nct_server_wait_for_silence(*state, RAW_LIMIT_MS));
}

/* --- record --- */

static void expect_recorded(nct_server *server, size_t index, const char *request) {
    char bytes[256];
    assert_int_equal(nct_server_copy_request(server, index, bytes, sizeof bytes), strlen(request));
    assert_memory_equal(bytes, request, strlen(request));
    assert_int_equal(nct_server_copy_request(server, index, NULL, 0), strlen(request));
}

static void loopback_server__records_requests_byte_for_byte(void **state) {
    const char one[] =
        "PUT /a?b HTTP/1.1\r\nhost:  X \r\nTransfer-Encoding: chunked\r\n\r\n1\r\nz\r\n0\r\nT: 1\r\n\r\n";
    int fd = raw_request(*state, one);
    raw_send(fd, GET("/b"));
    assert_true(nct_server_wait_for_requests(*state, 2, RAW_LIMIT_MS));
    expect_recorded(*state, 0, one);
    expect_recorded(*state, 1, GET("/b"));
    assert_int_equal(nct_server_copy_request(*state, 2, NULL, 0), 0);
    nct_server_forget(*state);
    assert_int_equal(nct_server_request_count(*state), 0);
    assert_int_equal(nct_server_copy_request(*state, 0, NULL, 0), 0);
    close(fd);
}

static void loopback_server__records_the_first_64_kib_of_a_request(void **state) {
    const char head[] = "PUT / HTTP/1.1\r\nContent-Length: 300000\r\n\r\n";
    static char body[300000], recorded[300000];
    memset(body, 'b', sizeof body);
    int fd = raw_request(*state, head);
    assert_int_equal(send(fd, body, sizeof body, MSG_NOSIGNAL), sizeof body);
    assert_true(nct_server_wait_for_requests(*state, 1, RAW_LIMIT_MS));
    assert_int_equal(nct_server_copy_request(*state, 0, recorded, sizeof recorded), strlen(head) + sizeof body);
    assert_memory_equal(recorded, head, strlen(head));
    assert_memory_equal(&recorded[65535], "b", 2);
    close(fd);
}

static void loopback_server__a_wait_times_out(void **state) {
    assert_false(nct_server_wait_for_requests(*state, 1, 1));
    assert_false(nct_server_wait_for_stalled(*state, 1, 1));
    int fd = raw_request(*state, GET("/"));
    assert_true(nct_server_wait_for_requests(*state, 1, RAW_LIMIT_MS));
    assert_false(nct_server_wait_for_silence(*state, 1));
    close(fd);
    assert_true(nct_server_wait_for_silence(*state, RAW_LIMIT_MS));
}

static void loopback_server__serves_many_connections_concurrently(void **state) {
    enum { MANY = 1500 };
    static int fds[MANY];
    raw_script(*state, "/together", (nct_reply){.ending = NCT_STALL});
    for (size_t i = 0; i < MANY; i++)
        fds[i] = raw_request(*state, GET("/together"));
    assert_true(nct_server_wait_for_stalled(*state, MANY, RAW_LIMIT_MS));
    assert_int_equal(nct_server_connection_count(*state), MANY);
    nct_server_release_stalled(*state);
    for (size_t i = 0; i < MANY; i++) {
        raw_expect(fds[i], OK("0"));
        close(fds[i]);
    }
    assert_true(nct_server_wait_for_silence(*state, RAW_LIMIT_MS));
}

#define PLAIN(test) cmocka_unit_test_setup_teardown(loopback_server__##test, raw_setup_plain, raw_stop)

int main(void) {
    // clang-format off
    const struct CMUnitTest tests[] = {
        PLAIN(sends_the_scripted_reply),
        PLAIN(replies_404_unless_the_wildcard_is_scripted),
        PLAIN(frames_only_what_the_script_left_unframed),
        PLAIN(sends_no_body_to_head),
        PLAIN(sends_chunks_of_the_configured_length),
        PLAIN(echoes_a_decoded_body),
        PLAIN(replies_100_continue_to_expect),
        PLAIN(generates_a_large_pattern_while_sending),
        PLAIN(replies_to_pipelined_requests_in_order),
        PLAIN(closes_after_an_invalid_request_or_connection_close),
        PLAIN(truncates_a_reply_after_the_given_byte),
        PLAIN(truncates_a_chunked_body_after_the_given_byte),
        PLAIN(resets_only_after_all_bytes_of_a_truncated_reply_are_sent),
        PLAIN(detects_that_a_stalled_client_disconnected),
        PLAIN(records_requests_byte_for_byte),
        PLAIN(records_the_first_64_kib_of_a_request),
        PLAIN(a_wait_times_out),
        PLAIN(serves_many_connections_concurrently),
    };
    // clang-format on
    harness_allow_descriptors();
    return cmocka_run_group_tests_name("loopback_server", tests, NULL, NULL);
}
