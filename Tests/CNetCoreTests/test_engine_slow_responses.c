/// Slow responses: bytes that are not content extend a transfer by at most ten idle limits.
#include "fixture.h"
#include "listening.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { IDLE_MS = 60000, STEP_MS = 50000, DRIPS = 30, LIMITS = 10 };

typedef struct drip {
    const char *name;
    const char *front;
    unsigned front_points; // trace points while the engine reads it: head lines, and pieces of a body
    const char *piece;     // sent repeatedly, at intervals of STEP_MS, a little less than the idle limit
    unsigned points;
    const char *back;
    bool is_progress;
} drip;

typedef struct drip_server {
    const drip *row;
    nc_engine *engine;
    atomic_uint points; // trace points passed by the engine
    unsigned sent;
    int listener;
    uint16_t port;
    pthread_t thread;
} drip_server;

static void count_point(void *ctx, nc_trace_point point, nc_transfer_id id) {
    drip_server *server = ctx;
    (void)id;
    if (point == NC_TRACE_HEAD_LINE || point == NC_TRACE_BODY_CHUNK) {
        (void)atomic_fetch_add(&server->points, 1);
    }
}

static _Atomic uint64_t skipped_ns;
static atomic_uint lookups; // reads of the clock by the engine

static uint64_t counted_clock_ns(void *ctx) {
    (void)atomic_fetch_add(&lookups, 1);
    return nc_clock_system().monotonic_ns(ctx) + atomic_load(&skipped_ns);
}

/// Advances the clock, and waits until the engine has read the new time. Otherwise the next piece could be counted at
/// the old time.
static void advance_clock(nc_engine *engine) {
    (void)atomic_fetch_add(&skipped_ns, STEP_MS * 1000000ull);
    unsigned before = atomic_load(&lookups);
    (void)nc_engine_wake(engine);
    while (atomic_load(&lookups) - before < 2) {
        (void)sched_yield();
    }
}

static bool send_text(int fd, const char *text) {
    return send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text);
}

static bool has_hung_up(int fd) {
    char none;
    ssize_t got = recv(fd, &none, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
}

/// Waits until the engine has read the sent bytes. Returns false if the client has closed.
static bool await_points(drip_server *server, int fd, unsigned count) {
    // Since 8.18 libcurl holds a line until it has seen that the next one does not continue it.
    bool is_in_head = server->row->front[0] != '\0' && strstr(server->row->front, "\r\n\r\n") == NULL;
    bool is_kept = is_in_head && curl_version_info(CURLVERSION_NOW)->version_num >= 0x081200;
    while (atomic_load(&server->points) + (is_kept ? 1 : 0) < count) {
        if (has_hung_up(fd)) {
            return false;
        }
        (void)sched_yield();
    }
    return true;
}

/// Sends a piece, waits until it was read, and lets time pass.
static bool drip_once(drip_server *server, int fd) {
    const drip *row = server->row;
    if (has_hung_up(fd) || !send_text(fd, row->piece)) {
        return false;
    }
    server->sent++;
    if (!await_points(server, fd, row->front_points + server->sent * row->points)) {
        return false;
    }
    advance_clock(server->engine);
    return true;
}

static void *run(void *ctx) {
    drip_server *server = ctx;
    char request[2048];
    int fd = accept(server->listener, NULL, NULL);
    bool is_open = recv(fd, request, sizeof request, 0) > 0 && send_text(fd, server->row->front) &&
                   await_points(server, fd, server->row->front_points);
    for (int i = 0; is_open && i < DRIPS; i++) {
        is_open = drip_once(server, fd);
    }
    (void)(is_open && send_text(fd, server->row->back));
    (void)close(fd);
    return NULL;
}

static void expect_drips(const drip *row) {
    fixture f;
    nc_clock clock = nc_clock_system();
    clock.monotonic_ns = counted_clock_ns;
    drip_server server = {.row = row};
    fixture_start_with(&f, NULL, &(nc_engine_options){.clock = &clock, .trace = {&server, count_point}});
    server.engine = f.engine;
    server.listener = listen_anywhere(&server.port, 1);
    assert_int_equal(pthread_create(&server.thread, NULL, run, &server), 0);
    nc_request request = {
        .url = nc_slice_of(fixture_text(&f, "http://127.0.0.1:%u/", server.port)),
        .limits = {.total_ms = NC_UNLIMITED, .first_byte_ms = NC_UNLIMITED, .idle_ms = IDLE_MS},
    };
    answer one = fixture_send(&f, &request);
    if (one.error.status != (row->is_progress ? NC_OK : NC_ERR_IDLE_TIMED_OUT)) {
        fail_msg("%s: %s (%s)", row->name, nc_status_name(one.error.status), one.error.message);
    }
    assert_int_equal(pthread_join(server.thread, NULL), 0);
    fixture_stop(&f);
    assert_int_equal(close(server.listener), 0);
    bool is_in_time = server.sent * STEP_MS <= (LIMITS + 2) * IDLE_MS;
    if (!row->is_progress && !is_in_time) {
        fail_msg("%s: %u pieces", row->name, server.sent);
    }
}

#define OK "HTTP/1.1 200 OK\r\n"
#define CHUNKED OK "Transfer-Encoding: chunked\r\n\r\n"

static void slow_response__without_content_ends_at_the_idle_timeout(void **state) {
    static const drip rows[] = {
        {"interim heads", "", 0, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", 3, "", false},
        {"102 heads", "", 0, "HTTP/1.1 102 Processing\r\n\r\n", 2, "", false},
        {"fields", OK, 1, "X-A: b\r\n", 1, "", false},
        {"fields of an interim head", "HTTP/1.1 103 Early Hints\r\n", 1, "X-A: b\r\n", 1, "", false},
        {"trailers", CHUNKED "1\r\nx\r\n0\r\n", 4, "X-T: 1\r\n", 2, "", false},
        {"an extension", CHUNKED "1\r\nx\r\n5;", 4, "x", 1, "", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect_drips(&rows[i]);
    }
}

static void slow_response__with_content_continues_without_a_limit(void **state) {
    static const drip rows[] = {
        {"chunks", CHUNKED, 3, "1\r\nx\r\n", 1, "0\r\n\r\n", true},
        {"chunks with extensions", CHUNKED, 3, "1;a=b\r\nx\r\n", 1, "0\r\n\r\n", true},
        {"a length", OK "Content-Length: 30\r\n\r\n", 3, "x", 1, "", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect_drips(&rows[i]);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(slow_response__without_content_ends_at_the_idle_timeout),
        harness_case(slow_response__with_content_continues_without_a_limit),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
