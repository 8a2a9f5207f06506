/// Unsolicited bytes on an idle connection are no response (RFC 9112, section 9.2). The next request uses a new
/// connection.
#include "fixture.h"
#include "gate.h"
#include "listening.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define GOOD "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"
#define WHOLE "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst"
#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\n\r\n"
#define EMPTY "HTTP/1.1 204 No Content\r\n\r\n"
#define EVIL "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
#define LATE "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

/// A valid response, and the bytes that follow it later.
typedef struct row {
    const char *reply;
    const char *leftover;
} row;

static const row rows[] = {
    {WHOLE, EVIL}, {WHOLE, LATE}, {WHOLE, "\r\n"}, {WHOLE, "!"}, {CHUNKED, EVIL}, {EMPTY, EVIL},
};

enum { ROWS = sizeof rows / sizeof *rows };

/// Serves one request, sends extra bytes after the response was read, and serves another request on a new connection.
typedef struct leaver {
    const row *one;
    int listener;
    uint16_t port;
    struct sockaddr_un path; // instead of the port, for a Unix socket
    gate was_read;
    gate has_left;
    atomic_bool was_closed; // the first connection, without a further request on it
    atomic_bool has_asked;  // on the second connection
} leaver;

static bool say(int fd, const char *text) {
    size_t length = strlen(text);
    return send(fd, text, length, MSG_NOSIGNAL) == (ssize_t)length;
}

/// Reads up to the end of a text.
static bool read_to(int fd, const char *end) {
    char bytes[4096] = "";
    size_t count = 0;
    while (strstr(bytes, end) == NULL && count < sizeof bytes - 1) {
        ssize_t got = recv(fd, bytes + count, sizeof bytes - 1 - count, 0);
        if (got <= 0) {
            return false;
        }
        count += (size_t)got;
        bytes[count] = '\0';
    }
    return true;
}

/// Waits until the other kernel has all sent bytes.
static void wait_for_arrival(int fd) {
    int left = 1;
    while (ioctl(fd, SIOCOUTQ, &left) == 0 && left > 0) {
        (void)sched_yield();
    }
}

static void *run_leaver(void *ctx) {
    leaver *it = ctx;
    int first = accept(it->listener, NULL, NULL);
    if (read_to(first, "\r\n\r\n") && say(first, it->one->reply)) {
        gate_wait(&it->was_read);
        (void)say(first, it->one->leftover);
        if (it->port != 0) {
            wait_for_arrival(first); // a Unix socket's peer has it immediately
        }
    }
    gate_open(&it->has_left);
    char byte;
    atomic_store(&it->was_closed, recv(first, &byte, 1, 0) <= 0);
    int second = atomic_load(&it->was_closed) ? accept(it->listener, NULL, NULL) : -1;
    atomic_store(&it->has_asked, second >= 0 && read_to(second, "0\r\n\r\n") && say(second, GOOD));
    (void)close(first);
    (void)close(second);
    return NULL;
}

static pthread_t leaver_start(leaver *it) {
    pthread_t thread;
    if (it->path.sun_path[0] == '\0') {
        it->listener = listen_anywhere(&it->port, 2);
    } else {
        it->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_true(it->listener >= 0);
        assert_int_equal(bind(it->listener, (struct sockaddr *)&it->path, sizeof it->path), 0);
        assert_int_equal(listen(it->listener, 2), 0);
    }
    assert_int_equal(pthread_create(&thread, NULL, run_leaver, it), 0);
    return thread;
}

static nc_pull pull_once(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    unsigned *pulls = ctx;
    (void)id;
    (void)capacity;
    bytes[0] = 'x';
    *filled = ++*pulls == 1 ? 1 : 0;
    return NC_PULL_END;
}

/// A body that cannot be rewound is still complete.
static answer post_once(fixture *f, const leaver *server) {
    unsigned pulls = 0;
    const nc_request request = {
        .method = nc_slice_of("POST"),
        .url = nc_slice_of(fixture_text(f, "http://127.0.0.1:%u/next", server->port)),
        .unix_socket = nc_slice_of(server->path.sun_path),
        .body_source = {.ctx = &pulls, .pull = pull_once},
        .body_length = NC_LENGTH_UNKNOWN,
    };
    return fixture_send(f, &request);
}

/// Sends two requests to a server that sends extra bytes after its first response.
static void assert_not_answered_by_leftover(fixture *f, leaver *server) {
    pthread_t thread = leaver_start(server);
    const nc_request request = {
        .url = nc_slice_of(fixture_text(f, "http://127.0.0.1:%u/", server->port)),
        .unix_socket = nc_slice_of(server->path.sun_path),
    };
    answer first = fixture_send(f, &request);
    assert_status(first.error.status, NC_OK);
    gate_open(&server->was_read);
    gate_wait(&server->has_left);
    answer next = post_once(f, server);
    (void)shutdown(server->listener, SHUT_RDWR);
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)close(server->listener);
    assert_answered(next, 200, "good");
    assert_true(server->was_closed);
    assert_true(server->has_asked);
    // One hop, which opened a connection.
    assert_int_equal(nc_response_hop_count(next.response), 1);
    assert_int_equal(nc_response_hop_at(next.response, 0).connections_opened, 1);
    assert_false(nc_response_hop_at(next.response, 0).is_reused);
}

static void leftover__is_no_answer_to_the_next_request(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < ROWS; i++) {
        leaver server = {.one = &rows[i], .was_read = GATE_INIT, .has_left = GATE_INIT};
        assert_not_answered_by_leftover(&f, &server);
    }
    fixture_stop(&f);
}

static void leftover__over_a_unix_socket_is_no_answer_either(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < ROWS; i++) {
        char directory[] = "/tmp/netcore-left-XXXXXX";
        assert_non_null(mkdtemp(directory));
        leaver server = {.one = &rows[i], .path.sun_family = AF_UNIX, .was_read = GATE_INIT, .has_left = GATE_INIT};
        (void)snprintf(server.path.sun_path, sizeof server.path.sun_path, "%s/s", directory);
        assert_not_answered_by_leftover(&f, &server);
        assert_int_equal(unlink(server.path.sun_path), 0);
        assert_int_equal(rmdir(directory), 0);
    }
    fixture_stop(&f);
}

static const nct_identity identities[] = {NCT_PLAIN, NCT_TLS_VALID};

enum { LONG = 200000, SHORT = 60000, HEAD_ROOM = 200 };

/// "/first" has another response directly after its body, "/next" a valid one. A long body exceeds one read, so that
/// its reader stops exactly at its end.
static void script_excess(fixture *f, const char *head, int body_length) {
    static char bytes[LONG + HEAD_ROOM];
    int begin = snprintf(bytes, HEAD_ROOM, "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n", head, body_length);
    memset(bytes + begin, 'x', (size_t)body_length);
    memcpy(bytes + begin + body_length, EVIL, sizeof EVIL - 1);
    size_t length = (size_t)begin + (size_t)body_length + sizeof EVIL - 1;
    fixture_script(f, "/first", (nct_reply){.is_raw = true, .body = bytes, .body_length = length});
    fixture_script(f, "/next", (nct_reply){.body = "good", .body_length = 4});
}

static void leftover__right_behind_a_body_is_no_answer(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        fixture_start(&f, identities[i]);
        script_excess(&f, "200 OK", LONG);
        answer first = fixture_get(&f, "/first");
        assert_status(first.error.status, NC_OK);
        assert_int_equal(nc_response_body(first.response).length, LONG);
        assert_answered(fixture_get(&f, "/next"), 200, "good");
        fixture_stop(&f);
    }
}

/// Each hop of a redirect is a separate request.
static void leftover__of_a_redirect_does_not_answer_its_target(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f, NCT_PLAIN);
    script_excess(&f, "302 Found\r\nLocation: /next", SHORT);
    answer one = fixture_get(&f, "/first");
    assert_answered(one, 200, "good");
    assert_int_equal(nc_response_hop_count(one.response), 2);
    assert_slice_equals(nc_response_hop_at(one.response, 1).url, fixture_url(&f, "/next"));
    fixture_stop(&f);
}

/// libcurl handles the challenge itself, in the same transfer.
static void leftover__of_a_challenge_does_not_answer_its_proof(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        fixture_start(&f, identities[i]);
        script_excess(&f, "401 No\r\nWWW-Authenticate: Digest realm=r, nonce=n", LONG);
        nc_request request = fixture_request(&f, "/first");
        request.credentials =
            (nc_credentials){.schemes = NC_AUTH_DIGEST, .user = nc_slice_of("me"), .password = nc_slice_of("secret")};
        answer one = fixture_send(&f, &request);
        // libcurl 8 checks the connection itself, and sends the authorization response on another one, where it is
        // rejected.
        assert_true(one.error.status == NC_ERR_BAD_RESPONSE || one.error.status == NC_OK);
        assert_int_equal(nc_response_status(one.response), 401);
        answer next = fixture_get(&f, "/next");
        assert_answered(next, 200, "good");
        assert_false(nc_response_hop_at(next.response, 0).is_reused);
        fixture_stop(&f);
    }
}

/// Bytes that are read together with the end of a response are dropped; more may follow.
static void leftover__in_one_read_with_an_answer_gives_its_connection_up(void **state) {
    static const struct {
        const char *method;
        const char *bytes;
    } answers[] = {
        {"GET", CHUNKED "!"},
        {"GET", EMPTY "!"},
        {"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nfirst"},
        {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n\r\n"},
        {"HEAD", WHOLE},
    };
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/next", (nct_reply){.body = "good", .body_length = 4});
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        const char *bytes = answers[i].bytes;
        fixture_script(&f, "/first", (nct_reply){.is_raw = true, .body = bytes, .body_length = strlen(bytes)});
        nc_request request = fixture_request(&f, "/first");
        request.method = nc_slice_of(answers[i].method);
        assert_status(fixture_send(&f, &request).error.status, NC_OK);
        answer next = fixture_get(&f, "/next");
        assert_answered(next, 200, "good");
        assert_false(nc_response_hop_at(next.response, 0).is_reused);
    }
    fixture_stop(&f);
}

/// Serves the first request, sends junk before the second response, and serves other connections correctly.
typedef struct junker {
    const char *first;
    const char *junk;
    int listener;
    uint16_t port;
    atomic_uint connections;
    atomic_uint requests;
} junker;

static void serve_junk(junker *it, int fd, bool is_first) {
    for (int i = 0; read_to(fd, "\r\n\r\n"); i++) {
        (void)atomic_fetch_add(&it->requests, 1);
        if (is_first && i == 1) {
            (void)say(fd, it->junk);
        }
        (void)say(fd, is_first && i == 0 ? it->first : GOOD);
    }
}

static void *run_junker(void *ctx) {
    junker *it = ctx;
    for (int fd = accept(it->listener, NULL, NULL); fd >= 0; fd = accept(it->listener, NULL, NULL)) {
        serve_junk(it, fd, atomic_fetch_add(&it->connections, 1) == 0);
        (void)close(fd);
    }
    return NULL;
}

static void expect_behind_junk(const char *first, const char *junk, const char *method, bool goes_again) {
    fixture f;
    pthread_t thread;
    junker it = {.first = first, .junk = junk};
    fixture_start(&f, NCT_PLAIN);
    it.listener = listen_anywhere(&it.port, 4);
    assert_int_equal(pthread_create(&thread, NULL, run_junker, &it), 0);
    nc_request request = {.url = nc_slice_of(fixture_text(&f, "http://127.0.0.1:%u/", it.port))};
    assert_status(fixture_send(&f, &request).error.status, NC_OK);
    request.method = nc_slice_of(method);
    answer one = fixture_send(&f, &request);
    if (goes_again) {
        assert_answered(one, 200, "good");
        assert_int_equal(nc_response_hop_count(one.response), 1);
    } else {
        assert_status(one.error.status, NC_ERR_BAD_RESPONSE);
    }
    assert_status(nc_engine_close(f.engine, FIXTURE_LIMIT_MS), NC_OK);
    f.engine = NULL;
    (void)shutdown(it.listener, SHUT_RDWR);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic_load(&it.connections), goes_again ? 2 : 1);
    assert_int_equal(atomic_load(&it.requests), goes_again ? 3 : 2);
    assert_int_equal(close(it.listener), 0);
    fixture_stop(&f);
}

/// Some servers send two bytes shortly after a 204.
static void leftovers__that_come_with_the_next_answer_send_the_request_again_where_that_is_safe(void **state) {
    static const char *const junk[] = {"\"\"", "{}", "0", "<html>no content</html>\n", "null\r\n"};
    (void)state;
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        expect_behind_junk(EMPTY, junk[i], "GET", true);
        expect_behind_junk(EMPTY, junk[i], "DELETE", true);
        expect_behind_junk(WHOLE, junk[i], "PUT", true);
        expect_behind_junk(EMPTY, junk[i], "POST", false);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(leftover__is_no_answer_to_the_next_request),
        harness_case(leftover__over_a_unix_socket_is_no_answer_either),
        harness_case(leftover__right_behind_a_body_is_no_answer),
        harness_case(leftover__of_a_redirect_does_not_answer_its_target),
        harness_case(leftover__of_a_challenge_does_not_answer_its_proof),
        harness_case(leftover__in_one_read_with_an_answer_gives_its_connection_up),
        harness_case(leftovers__that_come_with_the_next_answer_send_the_request_again_where_that_is_safe),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
