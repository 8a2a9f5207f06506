#define _GNU_SOURCE 1
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness.h"
#include "raw_client.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PUT(path, length) "PUT " path " HTTP/1.1\r\nContent-Length: " length "\r\n\r\n"
#define EMPTY(status) "HTTP/1.1 " status "\r\nContent-Length: 0\r\n\r\n"
#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

/* --- sequences --- */

static void loopback_faults__sends_replies_in_sequence_and_repeats_the_last(void **state) {
    const nct_reply replies[] = {{.status = 503}, {.status = 401}, {.body = "in", .body_length = 2}};
    assert_int_equal(nct_server_script_sequence(*state, "/a", replies, 3), 0);
    assert_int_equal(nct_server_script_sequence(*state, "/b", replies, 0), EINVAL);
    int fd = raw_request(*state, GET("/a") GET("/a") GET("/b"));
    raw_expect(fd, EMPTY("503 Service Unavailable") EMPTY("401 Unauthorized") EMPTY("404 Not Found"));
    raw_send(fd, GET("/a") GET("/a"));
    raw_expect(fd, OK("2") "in" OK("2") "in");
    close(fd);
}

static void loopback_faults__challenges_with_basic(void **state) {
#define CHALLENGE                                                                                                      \
    "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"nettesting\"\r\nContent-Length: 0\r\n\r\n"
    raw_script(*state, "/a", (nct_reply){.user = "Aladdin", .password = "open sesame"});
    raw_script(*state, "/b", (nct_reply){.user = "u"});
    raw_exchange(*state, GET("/a"), CHALLENGE);
    raw_exchange(*state, "GET /a HTTP/1.1\r\nauthorization: basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n", OK("0"));
    raw_exchange(*state, "GET /a HTTP/1.1\r\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZR==\r\n\r\n", CHALLENGE);
    raw_exchange(*state, "GET /a HTTP/1.1\r\nAuthorization: Bearer x\r\n\r\n", CHALLENGE);
    raw_exchange(*state, "GET /b HTTP/1.1\r\nAuthorization: Basic dTo=\r\n\r\n", OK("0"));
}

/* --- early responses --- */

static void loopback_faults__replies_before_the_body_and_then_reads_it(void **state) {
    raw_script(*state, "/a", (nct_reply){.status = 413, .early = NCT_EARLY_DISCARD});
    int fd = raw_request(*state, PUT("/a", "5"));
    raw_expect(fd, EMPTY("413 Content Too Large"));
    assert_int_equal(nct_server_request_count(*state), 1);
    raw_send(fd, "hello" GET("/b"));
    raw_expect(fd, EMPTY("404 Not Found"));
    assert_int_equal(nct_server_received_bytes(*state), 5);
    close(fd);
}

static void loopback_faults__ends_before_the_body(void **state) {
    raw_script(*state, "/a", (nct_reply){.status = 413, .early = NCT_EARLY_END});
    int fd = raw_request(*state, PUT("/a", "5"));
    raw_expect(fd, EMPTY("413 Content Too Large"));
    raw_expect_end(fd, false);
    raw_script(*state, "/a", (nct_reply){.status = 413, .early = NCT_EARLY_END, .ending = NCT_RESET});
    fd = raw_request(*state, PUT("/a", "5"));
    raw_expect(fd, EMPTY("413 Content Too Large"));
    raw_expect_end(fd, true);
}

/// Sends until the kernel's buffer is full; returns the number of bytes.
static size_t fill(int fd) {
    static char bytes[65536];
    size_t sent = 0;
    for (ssize_t count; (count = send(fd, bytes, sizeof bytes, MSG_DONTWAIT | MSG_NOSIGNAL)) > 0;)
        sent += (size_t)count;
    assert_int_equal(errno, EAGAIN);
    return sent;
}

static void loopback_faults__stops_reading_until_it_is_released(void **state) {
    raw_script(*state, "/a", (nct_reply){.early = NCT_EARLY_STOP});
    int fd = raw_request(*state, PUT("/a", "4000000000"));
    raw_expect(fd, OK("0"));
    assert_true(nct_server_wait_for_stalled(*state, 1, RAW_LIMIT_MS));
    size_t sent = fill(fd);
    assert_int_equal(nct_server_received_bytes(*state), 0);
    nct_server_release_stalled(*state);
    assert_true(nct_server_wait_for_received_bytes(*state, sent, RAW_LIMIT_MS));
    close(fd);
    assert_true(nct_server_wait_for_silence(*state, RAW_LIMIT_MS));
}

static void loopback_faults__stops_reading_and_sends_nothing(void **state) {
    raw_script(*state, "/a", (nct_reply){.early = NCT_EARLY_STOP, .is_cut = true});
    int fd = raw_request(*state, PUT("/a", "1"));
    assert_true(nct_server_wait_for_stalled(*state, 1, RAW_LIMIT_MS));
    raw_expect_nothing(fd);
    raw_send(fd, "x");
    nct_server_release_stalled(*state);
    raw_expect(fd, OK("0"));
    close(fd);
}

static void loopback_faults__rejects_expect_100_continue(void **state) {
    const nct_reply replies[] = {{.status = 417, .early = NCT_EARLY_INSTEAD}, {.status = 200}};
    assert_int_equal(nct_server_script_sequence(*state, "/a", replies, 2), 0);
    int fd = raw_request(*state, "PUT /a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    raw_expect(fd, EMPTY("417 Expectation Failed"));
    raw_send(fd, PUT("/a", "2") "hi");
    raw_expect(fd, OK("0"));
    assert_int_equal(nct_server_request_connection(*state, 0), 1);
    assert_int_equal(nct_server_request_connection(*state, 1), 1);
    assert_int_equal(nct_server_received_bytes(*state), 2);
    close(fd);
}

/* --- pieces --- */

static uint32_t segments_received(int fd) {
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length), 0);
    return info.tcpi_data_segs_in;
}

static void loopback_faults__sends_each_piece_in_a_segment_of_its_own(void **state) {
    raw_script(*state, "/a", (nct_reply){.pattern_length = 26, .chunk_bytes = 13, .drip_bytes = 2});
    int fd = raw_request(*state, GET("/a"));
    const char reply[] = CHUNKED "d\r\nabcdefghijklm\r\nd\r\nnopqrstuvwxyz\r\n0\r\n\r\n";
    raw_expect(fd, reply);
    assert_int_equal(segments_received(fd), (sizeof reply - 1 + 1) / 2);
    raw_send(fd, GET("/b"));
    raw_expect(fd, EMPTY("404 Not Found"));
    close(fd);
}

static uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void loopback_faults__waits_between_pieces(void **state) {
    raw_script(*state, "/a", (nct_reply){.drip_bytes = 10, .drip_ms = 20, .ending = NCT_CLOSE});
    uint64_t begun_ms = now_ms();
    int fds[3];
    for (size_t i = 0; i < 3; i++)
        fds[i] = raw_request(*state, GET("/a"));
    for (size_t i = 0; i < 3; i++) {
        raw_expect(fds[i], OK("0"));
        raw_expect_end(fds[i], false);
    }
    // 38 bytes are 4 pieces with 3 concurrent waits.
    uint64_t spent_ms = now_ms() - begun_ms;
    assert_in_range(spent_ms, 57, RAW_LIMIT_MS);
}

static void loopback_faults__detects_a_client_that_disconnects_between_pieces(void **state) {
    raw_script(*state, "/a", (nct_reply){.drip_bytes = 1, .drip_ms = 3600 * 1000});
    int fd = raw_request(*state, GET("/a"));
    raw_expect(fd, "H");
    raw_expect_nothing(fd);
    close(fd);
    assert_true(nct_server_wait_for_silence(*state, RAW_LIMIT_MS));
}

static void loopback_faults__sends_interim_heads_first(void **state) {
#define HINTS "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    raw_script(*state, "/a", (nct_reply){.interim = HINTS HINTS, .body = "hi", .body_length = 2});
    raw_exchange(*state, GET("/a"), HINTS HINTS OK("2") "hi");
}

static void loopback_faults__sends_trailers_after_the_last_chunk(void **state) {
    nct_reply reply = {.body = "hello", .body_length = 5, .chunk_bytes = 3, .trailers = "X-Sum: 1\r\nX-B: 2\r\n"};
    raw_script(*state, "/a", reply);
    raw_exchange(*state, GET("/a"), CHUNKED "3\r\nhel\r\n2\r\nlo\r\n0\r\nX-Sum: 1\r\nX-B: 2\r\n\r\n");
    raw_exchange(*state, "HEAD /a HTTP/1.1\r\n\r\n", CHUNKED);
}

static void loopback_faults__continues_reading_after_a_half_close(void **state) {
    raw_script(*state, "/a", (nct_reply){.ending = NCT_HALF_CLOSE});
    int fd = raw_request(*state, GET("/a"));
    raw_expect(fd, OK("0"));
    assert_int_equal(recv(fd, &(char){0}, 1, 0), 0);
    raw_send(fd, GET("/b"));
    raw_send(fd, GET("/b"));
    assert_int_equal(nct_server_open_count(*state), 1);
    raw_expect_end(fd, false);
    assert_true(nct_server_wait_for_silence(*state, RAW_LIMIT_MS));
    assert_int_equal(nct_server_request_count(*state), 1);
}

/* --- endless replies --- */

/// Fails unless `first` and then a megabyte of repeated `unit` arrive.
static void expect_endless(nct_server *server, nct_reply reply, const char *first, const char *unit) {
    enum { ENOUGH = 1 << 20 };
    static char bytes[ENOUGH];
    raw_script(server, "/endless", reply);
    int fd = raw_request(server, GET("/endless"));
    raw_expect(fd, first);
    assert_int_equal(recv(fd, bytes, sizeof bytes, MSG_WAITALL), sizeof bytes);
    size_t period = strlen(unit);
    for (size_t i = 0; i < sizeof bytes; i++)
        if (bytes[i] != unit[i % period])
            fail_msg("wrong byte at %zu", i);
    close(fd);
    assert_true(nct_server_wait_for_silence(server, RAW_LIMIT_MS));
    // Cuts the head or the first bytes: an endless reply can be ended.
    reply.is_cut = true;
    reply.cut_after = strlen(first) + period;
    reply.ending = NCT_CLOSE;
    raw_script(server, "/endless", reply);
    fd = raw_request(server, GET("/endless"));
    raw_expect(fd, first);
    raw_expect(fd, unit);
    raw_expect_end(fd, false);
}

static void loopback_faults__sends_without_end(void **state) {
    expect_endless(*state, (nct_reply){.endless = NCT_ENDLESS_CONTINUE, .chunk_bytes = 3}, "",
                   "HTTP/1.1 100 Continue\r\n\r\n");
    expect_endless(*state, (nct_reply){.endless = NCT_ENDLESS_REASON}, "HTTP/1.1 200 OK", "a");
    expect_endless(*state, (nct_reply){.endless = NCT_ENDLESS_LINE, .headers = "X-B: 1\r\n"},
                   "HTTP/1.1 200 OK\r\nX-B: 1\r\nX-Endless: ", "a");
    expect_endless(*state, (nct_reply){.endless = NCT_ENDLESS_FIELDS, .chunk_bytes = 3}, "HTTP/1.1 200 OK\r\n",
                   "X-Endless: a\r\n");
    nct_reply reply = {.endless = NCT_ENDLESS_CHUNKS, .body = "hi", .body_length = 2};
    expect_endless(*state, reply, CHUNKED "2\r\nhi\r\n", "10\r\nabcdefghijklmnop\r\n");
    reply.endless = NCT_ENDLESS_EXTENSION;
    expect_endless(*state, reply, CHUNKED "2\r\nhi\r\n1;x=", "a");
    reply.endless = NCT_ENDLESS_TRAILER;
    reply.trailers = "X-T: 1\r\n";
    expect_endless(*state, reply, CHUNKED "2\r\nhi\r\n0\r\nX-T: 1\r\n", "X-Endless: a\r\n");
    raw_script(*state, "/endless", (nct_reply){.endless = NCT_ENDLESS_CHUNKS});
    raw_exchange(*state, "HEAD /endless HTTP/1.1\r\n\r\n", CHUNKED);
}

static void loopback_faults__stops_despite_a_client_that_does_not_read_an_endless_reply(void **state) {
    raw_script(*state, "/endless", (nct_reply){.endless = NCT_ENDLESS_CHUNKS});
    int fd = raw_request(*state, GET("/endless"));
    raw_expect(fd, CHUNKED);
    raw_exchange(*state, GET("/b"), EMPTY("404 Not Found"));
    close(fd);
    assert_true(nct_server_wait_for_silence(*state, RAW_LIMIT_MS));
}

/* --- ranges --- */

static void expect_part(nct_server *server, const char *range, const char *expected) {
    char request[256];
    snprintf(request, sizeof request, "GET /a HTTP/1.1\r\nRange: %s\r\n\r\n", range);
    raw_exchange(server, request, expected);
}

#define PART(range, length)                                                                                            \
    "HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\nContent-Range: bytes " range "\r\nContent-Length: " length         \
    "\r\n\r\n"
#define WHOLE "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 100\r\n\r\n"

static void loopback_faults__serves_the_requested_range(void **state) {
    const char refused[] = "HTTP/1.1 416 Range Not Satisfiable\r\nETag: \"1\"\r\nContent-Range: bytes */100\r\n"
                           "Content-Length: 0\r\n\r\n";
    raw_script(*state, "/a", (nct_reply){.pattern_length = 100, .headers = "ETag: \"1\"\r\n", .answers_ranges = true});
    expect_part(*state, "bytes=0-0", PART("0-0/100", "1") "a");
    expect_part(*state, "bytes=27-29", PART("27-29/100", "3") "bcd");
    expect_part(*state, "bytes=97-", PART("97-99/100", "3") "tuv");
    expect_part(*state, "bytes=98-200", PART("98-99/100", "2") "uv");
    expect_part(*state, "bytes=-1", PART("99-99/100", "1") "v");
    expect_part(*state, "bytes=100-", refused);
    expect_part(*state, "bytes=-0", refused);
    const char *const ignored[] = {"bytes=1-0", "bytes=0-1,3-4", "bytes=", "bytes=-", "items=0-1", "bytes=x-1"};
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) {
        char request[128];
        snprintf(request, sizeof request, "GET /a HTTP/1.1\r\nRange: %s\r\n\r\n", ignored[i]);
        int fd = raw_request(*state, request);
        raw_expect(fd, WHOLE "abc");
        close(fd);
    }
}

static void loopback_faults__evaluates_if_range_against_the_scripts_fields(void **state) {
    raw_script(*state, "/a", (nct_reply){.pattern_length = 100, .headers = "ETag: \"1\"\r\n", .answers_ranges = true});
    expect_part(*state, "bytes=0-1\r\nIf-Range: \"1\"", PART("0-1/100", "2") "ab");
    int fd = raw_request(*state, "GET /a HTTP/1.1\r\nRange: bytes=0-1\r\nIf-Range: \"2\"\r\n\r\n");
    raw_expect(fd, WHOLE "abc");
    close(fd);
    raw_exchange(*state, "HEAD /a HTTP/1.1\r\nRange: bytes=0-1\r\n\r\n", WHOLE);
}

static void loopback_faults__serves_ranges_chunked_and_of_a_body(void **state) {
    nct_reply reply = {.body = "0123456789", .body_length = 10, .chunk_bytes = 2, .answers_ranges = true};
    raw_script(*state, "/a", reply);
    expect_part(*state, "bytes=5-7",
                "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-7/10\r\nTransfer-Encoding: chunked\r\n\r\n"
                "2\r\n56\r\n1\r\n7\r\n0\r\n\r\n");
    raw_script(*state, "/a", (nct_reply){.answers_ranges = true});
    expect_part(*state, "bytes=0-",
                "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */0\r\nContent-Length: 0\r\n\r\n");
}

/* --- record --- */

static void loopback_faults__reports_the_connection_of_a_request(void **state) {
    int first = raw_request(*state, GET("/"));
    raw_expect(first, EMPTY("404 Not Found"));
    raw_exchange(*state, GET("/"), EMPTY("404 Not Found"));
    raw_send(first, PUT("/", "3") "abc"
                                  "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n0\r\n\r\n");
    raw_expect(first, EMPTY("404 Not Found") EMPTY("404 Not Found"));
    const size_t numbers[] = {1, 2, 3, 1, 1, 0};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        assert_int_equal(nct_server_request_connection(*state, i), numbers[i]);
    assert_int_equal(nct_server_received_bytes(*state), 5);
    nct_server_forget(*state);
    assert_int_equal(nct_server_received_bytes(*state), 0);
    raw_send(first, GET("/"));
    assert_true(nct_server_wait_for_requests(*state, 1, RAW_LIMIT_MS));
    assert_int_equal(nct_server_request_connection(*state, 0), 1);
    close(first);
}

#define CASE(test) cmocka_unit_test_setup_teardown(loopback_faults__##test, raw_setup_plain, raw_stop)

int main(void) {
    // clang-format off
    const struct CMUnitTest tests[] = {
        CASE(sends_replies_in_sequence_and_repeats_the_last), CASE(challenges_with_basic),
        CASE(replies_before_the_body_and_then_reads_it), CASE(ends_before_the_body),
        CASE(stops_reading_until_it_is_released), CASE(stops_reading_and_sends_nothing),
        CASE(rejects_expect_100_continue), CASE(sends_each_piece_in_a_segment_of_its_own),
        CASE(waits_between_pieces), CASE(detects_a_client_that_disconnects_between_pieces),
        CASE(sends_interim_heads_first), CASE(sends_trailers_after_the_last_chunk),
        CASE(continues_reading_after_a_half_close), CASE(sends_without_end),
        CASE(stops_despite_a_client_that_does_not_read_an_endless_reply),
        CASE(serves_the_requested_range), CASE(evaluates_if_range_against_the_scripts_fields),
        CASE(serves_ranges_chunked_and_of_a_body), CASE(reports_the_connection_of_a_request),
    };
    // clang-format on
    harness_allow_descriptors();
    return cmocka_run_group_tests_name("loopback_faults", tests, NULL, NULL);
}
