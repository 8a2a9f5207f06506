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
typedef struct extra_bytes_server {
    const row *one;
    int listener;
    uint16_t port;
    struct sockaddr_un path; // instead of the port, for a Unix socket
    gate was_read;
    gate has_sent_extra;
    atomic_bool was_closed; // the first connection, without a further request on it
    atomic_bool has_asked;  // on the second connection
} extra_bytes_server;

static bool send_text(int fd, const char *text) {
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

static void *run_extra_bytes_server(void *ctx) {
    extra_bytes_server *it = ctx;
    int first = accept(it->listener, NULL, NULL);
    if (read_to(first, "\r\n\r\n") && send_text(first, it->one->reply)) {
        gate_wait(&it->was_read);
        (void)send_text(first, it->one->leftover);
        if (it->port != 0) {
            wait_for_arrival(first); // a Unix socket's peer has it immediately
        }
    }
    gate_open(&it->has_sent_extra);
    char byte;
    atomic_store(&it->was_closed, recv(first, &byte, 1, 0) <= 0);
    int second = atomic_load(&it->was_closed) ? accept(it->listener, NULL, NULL) : -1;
    atomic_store(&it->has_asked, second >= 0 && read_to(second, "0\r\n\r\n") && send_text(second, GOOD));
    (void)close(first);
    (void)close(second);
    return NULL;
}

static pthread_t extra_bytes_server_start(extra_bytes_server *it) {
    pthread_t thread;
    if (it->path.sun_path[0] == '\0') {
        it->listener = listen_anywhere(&it->port, 2);
    } else {
        it->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_true(it->listener >= 0);
        assert_int_equal(bind(it->listener, (struct sockaddr *)&it->path, sizeof it->path), 0);
        assert_int_equal(listen(it->listener, 2), 0);
    }
    assert_int_equal(pthread_create(&thread, NULL, run_extra_bytes_server, it), 0);
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
static answer post_once(fixture *f, const extra_bytes_server *server) {
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
static void assert_not_answered_by_leftover(fixture *f, extra_bytes_server *server) {
    pthread_t thread = extra_bytes_server_start(server);
    const nc_request request = {
        .url = nc_slice_of(fixture_text(f, "http://127.0.0.1:%u/", server->port)),
        .unix_socket = nc_slice_of(server->path.sun_path),
    };
    answer first = fixture_send(f, &request);
    assert_status(first.error.status, NC_OK);
    gate_open(&server->was_read);
    gate_wait(&server->has_sent_extra);
    answer next = post_once(f, server);
    (void)shutdown(server->listener, SHUT_RDWR);
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)close(server->listener);
    assert_response(next, 200, "good");
    assert_true(server->was_closed);
    assert_true(server->has_asked);
    // The response has one hop, which opened a connection.
    assert_int_equal(nc_response_hop_count(next.response), 1);
    assert_int_equal(nc_response_hop_at(next.response, 0).connections_opened, 1);
    assert_false(nc_response_hop_at(next.response, 0).is_reused);
}

static void unsolicited_bytes__are_no_response_to_the_next_request(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < ROWS; i++) {
        extra_bytes_server server = {.one = &rows[i], .was_read = GATE_INIT, .has_sent_extra = GATE_INIT};
        assert_not_answered_by_leftover(&f, &server);
    }
    fixture_stop(&f);
}

static void unsolicited_bytes__over_a_unix_socket_are_no_response(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < ROWS; i++) {
        char directory[] = "/tmp/netcore-left-XXXXXX";
        assert_non_null(mkdtemp(directory));
        extra_bytes_server server = {
            .one = &rows[i], .path.sun_family = AF_UNIX, .was_read = GATE_INIT, .has_sent_extra = GATE_INIT};
        (void)snprintf(server.path.sun_path, sizeof server.path.sun_path, "%s/s", directory);
        assert_not_answered_by_leftover(&f, &server);
        assert_int_equal(unlink(server.path.sun_path), 0);
        assert_int_equal(rmdir(directory), 0);
    }
    fixture_stop(&f);
}

static const nct_identity identities[] = {NCT_PLAIN, NCT_TLS_VALID};

enum { LONG = 200000, SHORT = 60000, HEAD_ROOM = 200 };

/// Scripts "/first" with a second response directly after its body, and "/next" with a valid response. A long body
/// exceeds one read, so the engine's reader stops exactly at its end.
static void script_excess(fixture *f, const char *head, int body_length) {
    static char bytes[LONG + HEAD_ROOM];
    int begin = snprintf(bytes, HEAD_ROOM, "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n", head, body_length);
    memset(bytes + begin, 'x', (size_t)body_length);
    memcpy(bytes + begin + body_length, EVIL, sizeof EVIL - 1);
    size_t length = (size_t)begin + (size_t)body_length + sizeof EVIL - 1;
    fixture_script(f, "/first", (nct_reply){.is_raw = true, .body = bytes, .body_length = length});
    fixture_script(f, "/next", (nct_reply){.body = "good", .body_length = 4});
}

static void unsolicited_bytes__directly_after_a_body_are_no_response(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        fixture_start(&f, identities[i]);
        script_excess(&f, "200 OK", LONG);
        answer first = fixture_get(&f, "/first");
        assert_status(first.error.status, NC_OK);
        assert_int_equal(nc_response_body(first.response).length, LONG);
        assert_response(fixture_get(&f, "/next"), 200, "good");
        fixture_stop(&f);
    }
}

/// Each hop of a redirect is a separate request.
static void unsolicited_bytes__after_a_redirect_are_no_response_of_its_target(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f, NCT_PLAIN);
    script_excess(&f, "302 Found\r\nLocation: /next", SHORT);
    answer one = fixture_get(&f, "/first");
    assert_response(one, 200, "good");
    assert_int_equal(nc_response_hop_count(one.response), 2);
    assert_slice_equals(nc_response_hop_at(one.response, 1).url, fixture_url(&f, "/next"));
    fixture_stop(&f);
}

/// libcurl handles the challenge itself, in the same transfer.
static void unsolicited_bytes__after_a_challenge_are_no_response_to_its_authorization(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        fixture_start(&f, identities[i]);
        script_excess(&f, "401 No\r\nWWW-Authenticate: Digest realm=r, nonce=n", LONG);
        nc_request request = fixture_request(&f, "/first");
        request.credentials =
            (nc_credentials){.schemes = NC_AUTH_DIGEST, .user = nc_slice_of("me"), .password = nc_slice_of("secret")};
        answer one = fixture_send(&f, &request);
        // libcurl 8 notices the extra bytes itself, and sends the authorization response on a new connection. The
        // server rejects it there.
        assert_true(one.error.status == NC_ERR_BAD_RESPONSE || one.error.status == NC_OK);
        assert_int_equal(nc_response_status(one.response), 401);
        answer next = fixture_get(&f, "/next");
        assert_response(next, 200, "good");
        assert_false(nc_response_hop_at(next.response, 0).is_reused);
        fixture_stop(&f);
    }
}

/// If the engine reads extra bytes together with the end of a response, it drops them and closes the connection,
/// because more could follow.
static void unsolicited_bytes__in_one_read_with_a_response_close_the_connection(void **state) {
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
        assert_response(next, 200, "good");
        assert_false(nc_response_hop_at(next.response, 0).is_reused);
    }
    fixture_stop(&f);
}

/// Serves the first request, sends junk before the second response, and serves other connections correctly.
typedef struct junk_server {
    const char *first;
    const char *junk;
    int listener;
    uint16_t port;
    atomic_uint connections;
    atomic_uint requests;
} junk_server;

static void serve_junk(junk_server *it, int fd, bool is_first) {
    for (int i = 0; read_to(fd, "\r\n\r\n"); i++) {
        (void)atomic_fetch_add(&it->requests, 1);
        if (is_first && i == 1) {
            (void)send_text(fd, it->junk);
        }
        (void)send_text(fd, is_first && i == 0 ? it->first : GOOD);
    }
}

static void *run_junk_server(void *ctx) {
    junk_server *it = ctx;
    for (int fd = accept(it->listener, NULL, NULL); fd >= 0; fd = accept(it->listener, NULL, NULL)) {
        serve_junk(it, fd, atomic_fetch_add(&it->connections, 1) == 0);
        (void)close(fd);
    }
    return NULL;
}

static void expect_behind_junk(const char *first, const char *junk, const char *method, bool is_resent) {
    fixture f;
    pthread_t thread;
    junk_server it = {.first = first, .junk = junk};
    fixture_start(&f, NCT_PLAIN);
    it.listener = listen_anywhere(&it.port, 4);
    assert_int_equal(pthread_create(&thread, NULL, run_junk_server, &it), 0);
    nc_request request = {.url = nc_slice_of(fixture_text(&f, "http://127.0.0.1:%u/", it.port))};
    assert_status(fixture_send(&f, &request).error.status, NC_OK);
    request.method = nc_slice_of(method);
    answer one = fixture_send(&f, &request);
    if (is_resent) {
        assert_response(one, 200, "good");
        assert_int_equal(nc_response_hop_count(one.response), 1);
    } else {
        assert_status(one.error.status, NC_ERR_BAD_RESPONSE);
    }
    assert_status(nc_engine_close(f.engine, FIXTURE_LIMIT_MS), NC_OK);
    f.engine = NULL;
    (void)shutdown(it.listener, SHUT_RDWR);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic_load(&it.connections), is_resent ? 2 : 1);
    assert_int_equal(atomic_load(&it.requests), is_resent ? 3 : 2);
    assert_int_equal(close(it.listener), 0);
    fixture_stop(&f);
}

/// Some servers send two bytes shortly after a 204.
static void unsolicited_bytes__before_the_next_response_cause_a_resend_if_that_is_safe(void **state) {
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
        harness_case(unsolicited_bytes__are_no_response_to_the_next_request),
        harness_case(unsolicited_bytes__over_a_unix_socket_are_no_response),
        harness_case(unsolicited_bytes__directly_after_a_body_are_no_response),
        harness_case(unsolicited_bytes__after_a_redirect_are_no_response_of_its_target),
        harness_case(unsolicited_bytes__after_a_challenge_are_no_response_to_its_authorization),
        harness_case(unsolicited_bytes__in_one_read_with_a_response_close_the_connection),
        harness_case(unsolicited_bytes__before_the_next_response_cause_a_resend_if_that_is_safe),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
