/// Pooled connections that end instead of a response: which requests are resent, on which connection, and the errors
/// of the others.
#include "fixture.h"
#include "listening.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// The default number of connections per host over HTTP/1.1.
enum { KEPT = 6 };

static const nct_reply greeting = {.body = "hi", .body_length = 2};

/// Makes the engine keep `count` connections.
static void open_connections(fixture *f, size_t count) {
    nc_transfer_id ids[KEPT];
    fixture_script(f, "/keep", (nct_reply){.body = "hi", .body_length = 2, .is_cut = true, .ending = NCT_STALL});
    for (size_t i = 0; i < count; i++) {
        ids[i] = fixture_submit(f, &(nc_request){.url = nc_slice_of(fixture_url(f, "/keep"))});
    }
    assert_true(nct_server_wait_for_stalled(f->server, count, FIXTURE_LIMIT_MS));
    nct_server_release_stalled(f->server);
    for (size_t i = 0; i < count; i++) {
        assert_response(fixture_wait(f, ids[i]), 200, "hi");
    }
    assert_int_equal(nct_server_open_count(f->server), count);
    nct_server_forget(f->server);
}

/// Scripts `count` requests for a path to end their connection without a response. Later requests are served.
static void script_ends(fixture *f, const char *path, nct_ending ending, size_t count) {
    nct_reply replies[KEPT + 1];
    for (size_t i = 0; i < count; i++) {
        replies[i] = (nct_reply){.is_cut = true, .ending = ending};
    }
    replies[count] = greeting;
    assert_int_equal(nct_server_script_sequence(f->server, path, replies, count + 1), 0);
}

static void reused_connection__a_new_one_replaces_pooled_connections_that_all_have_ended(void **state) {
    static const char *const methods[] = {"GET", "PUT", "DELETE", "QUERY"};
    static const nct_ending endings[] = {NCT_CLOSE, NCT_RESET};
    static const nct_identity identities[] = {NCT_PLAIN, NCT_TLS_VALID};
    (void)state;
    for (size_t i = 0; i < 16; i++) {
        fixture f;
        fixture_start(&f, identities[i / 8]);
        open_connections(&f, KEPT);
        script_ends(&f, "/", endings[i % 2], 1);
        nc_request request = fixture_request(&f, "/");
        request.method = nc_slice_of(methods[i / 2 % 4]);
        request.body = nc_slice_of(i / 2 % 2 == 1 ? "hello" : "");
        answer one = fixture_send(&f, &request);
        assert_response(one, 200, "hi");
        // The resent request was the last one, and the first on its connection. The response has only one hop.
        assert_int_equal(nct_server_request_count(f.server), 2);
        assert_int_equal(nct_server_request_connection(f.server, 1), KEPT + 1);
        assert_int_equal(nc_response_hop_count(one.response), 1);
        assert_int_equal(nc_response_hop_at(one.response, 0).connections_opened, 1);
        assert_false(nc_response_hop_at(one.response, 0).is_reused);
        fixture_stop(&f);
    }
}

/// libcurl counts the resends of a handle over its life, and fails at the sixth.
static void reused_connection__one_after_the_other_can_be_replaced(void **state) {
    enum { TIMES = 8 };
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/kept", greeting);
    assert_response(fixture_get(&f, "/kept"), 200, "hi");
    for (int i = 0; i < TIMES; i++) {
        const char *path = fixture_text(&f, "/%d", i);
        script_ends(&f, path, NCT_CLOSE, 1);
        assert_response(fixture_get(&f, path), 200, "hi");
    }
    assert_int_equal(nct_server_request_count(f.server), 1 + 2 * TIMES);
    fixture_stop(&f);
}

static void reused_connection__a_sent_post_is_not_resent_when_the_connection_ends(void **state) {
    static const nct_ending endings[] = {NCT_CLOSE, NCT_RESET};
    static const char *const bodies[] = {"hello", ""};
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        fixture f;
        bool is_reset = i % 2 == 1;
        size_t count = i < 4 ? KEPT : 1; // with only one, libcurl opens a new one next
        fixture_start(&f, NCT_PLAIN);
        open_connections(&f, count);
        script_ends(&f, "/", endings[i % 2], count);
        nc_request request = fixture_request(&f, "/");
        request.method = nc_slice_of("POST");
        request.body = nc_slice_of(bodies[i / 2 % 2]);
        answer one = fixture_send(&f, &request);
        assert_ended(one, is_reset ? NC_ERR_RESET : NC_ERR_EMPTY_REPLY, is_reset ? CURLE_RECV_ERROR : CURLE_GOT_NOTHING,
                     "reused connection closed before a response began");
        assert_int_equal(nct_server_request_count(f.server), 1);
        assert_true(nc_response_hop_at(one.response, 0).is_reused);
        assert_int_equal(nc_response_hop_at(one.response, 0).connections_opened, 0);
        fixture_script(&f, "/after", greeting);
        assert_response(fixture_get(&f, "/after"), 200, "hi");
        fixture_stop(&f);
    }
}

static void reused_connection__a_post_is_resent_if_the_connection_ends_before_its_body_is_sent(void **state) {
    enum { LONG = 8 << 20 };
    static uint8_t body[LONG];
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    open_connections(&f, KEPT);
    const nct_reply replies[] = {{.is_cut = true, .ending = NCT_RESET, .early = NCT_EARLY_END}, greeting};
    assert_int_equal(nct_server_script_sequence(f.server, "/", replies, 2), 0);
    nc_request request = fixture_request(&f, "/");
    request.method = nc_slice_of("POST");
    request.body = nc_slice_make(body, LONG);
    answer one = fixture_send(&f, &request);
    if (one.error.status == NC_ERR_RESET) {
        // libcurl wrote to the closed connection before it read its end. It then reports an error.
        assert_int_equal(nct_server_request_count(f.server), 1);
    } else {
        assert_response(one, 200, "hi");
        assert_int_equal(nct_server_request_connection(f.server, 1), KEPT + 1);
    }
    fixture_stop(&f);
}

/// Keeps one connection and accepts no other: pending connections fill the backlog.
typedef struct full_backlog {
    int listener;
    int waiting[3];
    uint16_t port;
    pthread_t thread;
} full_backlog;

static bool read_head(int fd) {
    char bytes[4096] = "";
    size_t count = 0;
    while (strstr(bytes, "\r\n\r\n") == NULL && count < sizeof bytes - 1) {
        ssize_t got = recv(fd, bytes + count, sizeof bytes - 1 - count, 0);
        if (got <= 0) {
            return false;
        }
        count += (size_t)got;
        bytes[count] = '\0';
    }
    return true;
}

static struct sockaddr_in backlog_address(uint16_t port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
}

static void *run_full_backlog(void *ctx) {
    static const char hi[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    full_backlog *backlog = ctx;
    int kept = accept(backlog->listener, NULL, NULL);
    if (read_head(kept) && send(kept, hi, sizeof hi - 1, MSG_NOSIGNAL) > 0 && read_head(kept)) {
        for (size_t i = 0; i < sizeof backlog->waiting / sizeof *backlog->waiting; i++) {
            struct sockaddr_in address = backlog_address(backlog->port);
            backlog->waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
            (void)connect(backlog->waiting[i], (struct sockaddr *)&address, sizeof address);
        }
    }
    (void)close(kept);
    return NULL;
}

static void full_backlog_start(full_backlog *backlog) {
    *backlog = (full_backlog){.waiting = {-1, -1, -1}};
    backlog->listener = listen_anywhere(&backlog->port, 0);
    assert_int_equal(pthread_create(&backlog->thread, NULL, run_full_backlog, backlog), 0);
}

static void full_backlog_stop(full_backlog *backlog) {
    assert_int_equal(pthread_join(backlog->thread, NULL), 0);
    for (size_t i = 0; i < sizeof backlog->waiting / sizeof *backlog->waiting; i++) {
        (void)close(backlog->waiting[i]);
    }
    (void)close(backlog->listener);
}

static void reused_connection__the_connect_timeout_applies_to_its_replacement(void **state) {
    static const nc_limits limits[] = {
        {.connect_ms = 100, .first_byte_ms = 15000, .total_ms = 16000},
        {.connect_ms = 400, .first_byte_ms = 100, .total_ms = 16000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        fixture f;
        full_backlog backlog;
        fixture_start(&f, NCT_PLAIN);
        full_backlog_start(&backlog);
        nc_request request = {.url = nc_slice_of(fixture_text(&f, "http://127.0.0.1:%u/", backlog.port))};
        assert_response(fixture_send(&f, &request), 200, "hi");
        request.limits = limits[i];
        answer one = fixture_send(&f, &request);
        full_backlog_stop(&backlog);
        assert_ended(one, NC_ERR_CONNECT_TIMED_OUT, CURLE_OPERATION_TIMEDOUT, "");
        assert_false(nc_response_hop_at(one.response, 0).is_reused);
        assert_int_equal(nc_response_hop_at(one.response, 0).ready_ns, 0);
        fixture_stop(&f);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(reused_connection__a_new_one_replaces_pooled_connections_that_all_have_ended),
        harness_case(reused_connection__one_after_the_other_can_be_replaced),
        harness_case(reused_connection__a_sent_post_is_not_resent_when_the_connection_ends),
        harness_case(reused_connection__the_connect_timeout_applies_to_its_replacement),
        harness_case(reused_connection__a_post_is_resent_if_the_connection_ends_before_its_body_is_sent),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
