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
static void keep(fixture *f, size_t count) {
    nc_transfer_id ids[KEPT];
    fixture_script(f, "/keep", (nct_reply){.body = "hi", .body_length = 2, .is_cut = true, .ending = NCT_STALL});
    for (size_t i = 0; i < count; i++) {
        ids[i] = fixture_submit(f, &(nc_request){.url = nc_slice_of(fixture_url(f, "/keep"))});
    }
    assert_true(nct_server_wait_for_stalled(f->server, count, FIXTURE_LIMIT_MS));
    nct_server_release_stalled(f->server);
    for (size_t i = 0; i < count; i++) {
        assert_answered(fixture_wait(f, ids[i]), 200, "hi");
    }
    assert_int_equal(nct_server_open_count(f->server), count);
    nct_server_forget(f->server);
}

/// Ends the connection for a number of requests for a path, then serves the next ones.
static void script_ends(fixture *f, const char *path, nct_ending ending, size_t count) {
    nct_reply replies[KEPT + 1];
    for (size_t i = 0; i < count; i++) {
        replies[i] = (nct_reply){.is_cut = true, .ending = ending};
    }
    replies[count] = greeting;
    assert_int_equal(nct_server_script_sequence(f->server, path, replies, count + 1), 0);
}

static void kept__connections_that_all_have_ended_give_way_to_a_new_one(void **state) {
    static const char *const methods[] = {"GET", "PUT", "DELETE", "QUERY"};
    static const nct_ending endings[] = {NCT_CLOSE, NCT_RESET};
    static const nct_identity identities[] = {NCT_PLAIN, NCT_TLS_VALID};
    (void)state;
    for (size_t i = 0; i < 16; i++) {
        fixture f;
        fixture_start(&f, identities[i / 8]);
        keep(&f, KEPT);
        script_ends(&f, "/", endings[i % 2], 1);
        nc_request request = fixture_request(&f, "/");
        request.method = nc_slice_of(methods[i / 2 % 4]);
        request.body = nc_slice_of(i / 2 % 2 == 1 ? "hello" : "");
        answer one = fixture_send(&f, &request);
        assert_answered(one, 200, "hi");
        // The second request was the last, and the first on its connection. It is one hop.
        assert_int_equal(nct_server_request_count(f.server), 2);
        assert_int_equal(nct_server_request_connection(f.server, 1), KEPT + 1);
        assert_int_equal(nc_response_hop_count(one.response), 1);
        assert_int_equal(nc_response_hop_at(one.response, 0).connections_opened, 1);
        assert_false(nc_response_hop_at(one.response, 0).is_reused);
        fixture_stop(&f);
    }
}

static void kept__connections_that_end_have_a_post_sent_once(void **state) {
    static const nct_ending endings[] = {NCT_CLOSE, NCT_RESET};
    static const char *const bodies[] = {"hello", ""};
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        fixture f;
        bool is_reset = i % 2 == 1;
        size_t count = i < 4 ? KEPT : 1; // with one, libcurl has no other connection to use
        fixture_start(&f, NCT_PLAIN);
        keep(&f, count);
        script_ends(&f, "/", endings[i % 2], count);
        nc_request request = fixture_request(&f, "/");
        request.method = nc_slice_of("POST");
        request.body = nc_slice_of(bodies[i / 2 % 2]);
        answer one = fixture_send(&f, &request);
        assert_ended(one, is_reset ? NC_ERR_RESET : NC_ERR_EMPTY_REPLY, is_reset ? CURLE_RECV_ERROR : CURLE_GOT_NOTHING,
                     "kept connection ended before an answer began");
        assert_int_equal(nct_server_request_count(f.server), 1);
        assert_true(nc_response_hop_at(one.response, 0).is_reused);
        assert_int_equal(nc_response_hop_at(one.response, 0).connections_opened, 0);
        fixture_script(&f, "/after", greeting);
        assert_answered(fixture_get(&f, "/after"), 200, "hi");
        fixture_stop(&f);
    }
}

static void kept__connections_that_end_before_a_post_is_there_have_it_sent_again(void **state) {
    enum { LONG = 8 << 20 };
    static uint8_t body[LONG];
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    keep(&f, KEPT);
    const nct_reply replies[] = {{.is_cut = true, .ending = NCT_RESET, .early = NCT_EARLY_END}, greeting};
    assert_int_equal(nct_server_script_sequence(f.server, "/", replies, 2), 0);
    nc_request request = fixture_request(&f, "/");
    request.method = nc_slice_of("POST");
    request.body = nc_slice_make(body, LONG);
    answer one = fixture_send(&f, &request);
    if (one.error.status == NC_ERR_RESET) {
        // A write failed at the end before a read: libcurl then reports an error.
        assert_int_equal(nct_server_request_count(f.server), 1);
    } else {
        assert_answered(one, 200, "hi");
        assert_int_equal(nct_server_request_connection(f.server, 1), KEPT + 1);
    }
    fixture_stop(&f);
}

/// Keeps one connection and accepts no other: pending connections fill the backlog.
typedef struct closed_door {
    int listener;
    int waiting[3];
    uint16_t port;
    pthread_t thread;
} closed_door;

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

static struct sockaddr_in door_address(uint16_t port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
}

static void *run_door(void *ctx) {
    static const char hi[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    closed_door *door = ctx;
    int kept = accept(door->listener, NULL, NULL);
    if (read_head(kept) && send(kept, hi, sizeof hi - 1, MSG_NOSIGNAL) > 0 && read_head(kept)) {
        for (size_t i = 0; i < sizeof door->waiting / sizeof *door->waiting; i++) {
            struct sockaddr_in address = door_address(door->port);
            door->waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
            (void)connect(door->waiting[i], (struct sockaddr *)&address, sizeof address);
        }
    }
    (void)close(kept);
    return NULL;
}

static void open_door(closed_door *door) {
    *door = (closed_door){.waiting = {-1, -1, -1}};
    door->listener = listen_anywhere(&door->port, 0);
    assert_int_equal(pthread_create(&door->thread, NULL, run_door, door), 0);
}

static void shut_door(closed_door *door) {
    assert_int_equal(pthread_join(door->thread, NULL), 0);
    for (size_t i = 0; i < sizeof door->waiting / sizeof *door->waiting; i++) {
        (void)close(door->waiting[i]);
    }
    (void)close(door->listener);
}

static void kept__connection_that_ends_is_followed_by_one_under_the_limit_of_connecting(void **state) {
    static const nc_limits limits[] = {
        {.connect_ms = 100, .first_byte_ms = 15000, .total_ms = 16000},
        {.connect_ms = 400, .first_byte_ms = 100, .total_ms = 16000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        fixture f;
        closed_door door;
        fixture_start(&f, NCT_PLAIN);
        open_door(&door);
        nc_request request = {.url = nc_slice_of(fixture_text(&f, "http://127.0.0.1:%u/", door.port))};
        assert_answered(fixture_send(&f, &request), 200, "hi");
        request.limits = limits[i];
        answer one = fixture_send(&f, &request);
        shut_door(&door);
        assert_ended(one, NC_ERR_CONNECT_TIMED_OUT, CURLE_OPERATION_TIMEDOUT, "");
        assert_false(nc_response_hop_at(one.response, 0).is_reused);
        assert_int_equal(nc_response_hop_at(one.response, 0).ready_ns, 0);
        fixture_stop(&f);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(kept__connections_that_all_have_ended_give_way_to_a_new_one),
        harness_case(kept__connections_that_end_have_a_post_sent_once),
        harness_case(kept__connection_that_ends_is_followed_by_one_under_the_limit_of_connecting),
        harness_case(kept__connections_that_end_before_a_post_is_there_have_it_sent_again),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
