/// Bodies that wait for 100 Continue, and responses that precede the body.
#include "driven.h"
#include "fixture.h"
#include "gate.h"
#include "listening.h"

#include <arpa/inet.h>
#include <netcore/transfers.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LARGE_BYTES = 8 * 1024 * 1024 };

static const nc_header expects = {.name = {.data = (const uint8_t *)"Expect", .length = 6},
                                  .value = {.data = (const uint8_t *)"100-continue", .length = 12}};

static nc_request upload(fixture *f, const char *path, const char *body) {
    nc_request request = fixture_request(f, path);
    request.method = nc_slice_of("PUT");
    request.body = nc_slice_of(body);
    request.headers = &expects;
    request.header_count = 1;
    return request;
}

/// A source that counts its calls.
typedef struct counting_source {
    atomic_size_t left;
    atomic_size_t pulled;
} counting_source;

static nc_pull pull(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    counting_source *source = ctx;
    (void)id;
    size_t left = atomic_load(&source->left);
    *filled = left < capacity ? left : capacity;
    memset(bytes, 'x', *filled);
    atomic_fetch_add(&source->pulled, *filled);
    return atomic_fetch_sub(&source->left, *filled) == *filled ? NC_PULL_END : NC_PULL_MORE;
}

static nc_request upload_from(fixture *f, const char *path, counting_source *source) {
    nc_request request = fixture_request(f, path);
    request.method = nc_slice_of("PUT");
    request.body_length = atomic_load(&source->left);
    request.body_source = (nc_body_source){.ctx = source, .pull = pull};
    return request;
}

/* --- 100 Continue --- */

static void engine__expect_is_sent_only_on_request(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_request request = upload(&f, "/up", "a body");
    request.header_count = 0;
    (void)fixture_send(&f, &request);
    assert_null(strstr(fixture_received(&f, 0), "Expect"));
    fixture_stop(&f);
}

static void engine__a_body_is_sent_after_100_continue(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/up", (nct_reply){.is_echo = true});
    nc_request request = upload(&f, "/up", "a body");
    answer one = fixture_send(&f, &request);
    assert_response(one, 200, "a body");
    assert_non_null(strstr(fixture_received(&f, 0), "\r\nExpect: 100-continue\r\n"));
    assert_int_equal(nc_response_hop_count(one.response), 1);
    fixture_stop(&f);
}

/// Reads until `part` has arrived. Fails if the peer ends first.
static void read_until(int fd, char *text, size_t capacity, const char *part) {
    size_t length = strlen(text);
    while (strstr(text, part) == NULL) {
        ssize_t got = read(fd, text + length, capacity - 1 - length);
        assert_true(got > 0);
        length += (size_t)got;
        text[length] = '\0';
    }
}

static void engine__a_body_is_sent_after_a_timeout_without_a_response(void **state) {
    static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    fixture f;
    uint16_t port = 0;
    char text[2000] = "";
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    int listener = listen_anywhere(&port, 1);
    nc_request request = upload(&f, "/", "a body");
    request.url = nc_slice_of(fixture_text(&f, "http://127.0.0.1:%u/", port));
    nc_transfer_id id = fixture_submit(&f, &request);
    int fd = accept(listener, NULL, NULL);
    assert_true(fd >= 0);
    read_until(fd, text, sizeof text, "\r\n\r\n");
    assert_null(strstr(text, "a body")); // not with the head
    read_until(fd, text, sizeof text, "a body");
    assert_int_equal(write(fd, reply, sizeof reply - 1), (ssize_t)sizeof reply - 1);
    assert_response(fixture_wait(&f, id), 200, "ok");
    assert_int_equal(close(fd), 0);
    assert_int_equal(close(listener), 0);
    fixture_stop(&f);
}

static void engine__a_417_is_retried_without_expect_however_it_ends_regression_2(void **state) {
    const nct_reply refusals[] = {
        {.status = 417, .early = NCT_EARLY_INSTEAD, .body = "no", .body_length = 2},
        {.status = 417, .headers = "Connection: close\r\n", .early = NCT_EARLY_INSTEAD, .ending = NCT_CLOSE},
        {.status = 417,
         .headers = "Connection: close\r\n",
         .early = NCT_EARLY_INSTEAD,
         .body = "no",
         .body_length = 2,
         .ending = NCT_CLOSE},
        {.status = 417, .early = NCT_EARLY_INSTEAD, .pattern_length = 40000, .chunk_bytes = 1000, .ending = NCT_CLOSE},
    };
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const nct_reply replies[] = {refusals[i], {.is_echo = true}, refusals[i], {.is_echo = true}};
        nct_server_forget(f.server);
        assert_int_equal(nct_server_script_sequence(f.server, "/up", replies, 4), 0);
        nc_request request = upload(&f, "/up", "a body");
        answer anew = fixture_send(&f, &request);
        assert_response(anew, 200, "a body");
        assert_int_equal(nc_response_hop_count(anew.response), 1);
        assert_int_equal(nct_server_request_count(f.server), 2);
        assert_null(strstr(fixture_received(&f, 0), "a body"));
        assert_null(strstr(fixture_received(&f, 1), "Expect"));
        counting_source source = {.left = 100};
        request = upload_from(&f, "/up", &source);
        request.headers = &expects;
        request.header_count = 1;
        answer once = fixture_send(&f, &request); // a body that was not started need not be rewindable
        assert_int_equal(once.error.status, NC_OK);
        assert_int_equal(nc_response_status(once.response), 200);
        assert_int_equal(atomic_load(&source.pulled), 100);
    }
    fixture_stop(&f);
}

/// After 100 Continue the body was sent, and this one cannot be sent again.
static void engine__a_417_after_a_one_shot_body_is_the_final_response(void **state) {
    const nct_reply replies[] = {{.status = 417, .body = "late", .body_length = 4}, {.is_echo = true}};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_int_equal(nct_server_script_sequence(f.server, "/up", replies, 2), 0);
    counting_source source = {.left = 100};
    nc_request request = upload_from(&f, "/up", &source);
    request.headers = &expects;
    request.header_count = 1;
    assert_response(fixture_send(&f, &request), 417, "late");
    assert_int_equal(nct_server_request_count(f.server), 1);
    nct_server_forget(f.server);
    assert_int_equal(nct_server_script_sequence(f.server, "/up", replies, 2), 0);
    request = upload(&f, "/up", "a body");
    assert_response(fixture_send(&f, &request), 200, "a body");
    assert_int_equal(nct_server_request_count(f.server), 2);
    fixture_stop(&f);
}

static void engine__a_server_that_always_responds_417_is_tried_twice(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/up",
                   (nct_reply){.status = 417, .early = NCT_EARLY_INSTEAD, .body = "never", .body_length = 5});
    nc_request request = upload(&f, "/up", "a body");
    assert_response(fixture_send(&f, &request), 417, "never");
    assert_int_equal(nct_server_request_count(f.server), 2);
    request = upload(&f, "/up", "a body"); // the next request has an Expect field again
    (void)fixture_send(&f, &request);
    assert_non_null(strstr(fixture_received(&f, 2), "Expect"));
    fixture_stop(&f);
}

static void engine__an_error_before_the_body_prevents_its_upload(void **state) {
    static const uint16_t codes[] = {401, 403, 413, 503};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < 4; i++) {
        counting_source source = {.left = LARGE_BYTES};
        fixture_script(&f, "/up",
                       (nct_reply){.status = codes[i], .early = NCT_EARLY_INSTEAD, .body = "no", .body_length = 2});
        nc_request request = upload_from(&f, "/up", &source);
        request.headers = &expects;
        request.header_count = 1;
        assert_response(fixture_send(&f, &request), codes[i], "no");
        assert_int_equal(atomic_load(&source.pulled), 0);
    }
    assert_int_equal(nct_server_received_bytes(f.server), 0);
    fixture_script(&f, "/next", (nct_reply){.body = "ok", .body_length = 2});
    assert_response(fixture_get(&f, "/next"), 200, "ok"); // no part of a body is parsed as a request
    fixture_stop(&f);
}

/* --- early responses --- */

static void engine__an_early_response_is_not_lost(void **state) {
    static const struct {
        const char *what;
        nct_reply reply;
    } cases[] = {
        {"reads on", {.early = NCT_EARLY_DISCARD}},
        {"ends its side and reads on", {.early = NCT_EARLY_END, .ending = NCT_HALF_CLOSE}},
        {"reads no more", {.early = NCT_EARLY_STOP}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        counting_source source = {.left = LARGE_BYTES};
        nct_reply reply = cases[i].reply;
        reply.status = 413;
        reply.body = "large";
        reply.body_length = 5;
        fixture_start(&f, NCT_PLAIN);
        fixture_script(&f, "/up", reply);
        fixture_script(&f, "/next", (nct_reply){.body = "ok", .body_length = 2});
        nc_request request = upload_from(&f, "/up", &source);
        answer one = fixture_send(&f, &request);
        if (one.error.status != NC_OK || nc_response_status(one.response) != 413) {
            fail_msg("a server that %s: %s, %s", cases[i].what, nc_status_name(one.error.status), one.error.message);
        }
        assert_slice_equals(nc_response_body(one.response), "large");
        assert_response(fixture_get(&f, "/next"), 200, "ok");
        fixture_stop(&f);
    }
}

/// A source that produces a little before the server has the head, and the rest after the server has responded and
/// closed.
typedef struct late_source {
    nct_server *server;
    size_t left;
} late_source;

static nc_pull pull_late(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    late_source *source = ctx;
    bool is_asked = nct_server_request_count(source->server) > 0;
    size_t count = is_asked || capacity < 1000 ? capacity : 1000;
    (void)id;
    if (is_asked && !nct_server_wait_for_silence(source->server, FIXTURE_LIMIT_MS)) {
        return NC_PULL_FAIL;
    }
    *filled = source->left < count ? source->left : count;
    memset(bytes, 'x', *filled);
    source->left -= *filled;
    return source->left == 0 ? NC_PULL_END : NC_PULL_MORE;
}

/// Over TLS one piece becomes several records. The server has closed, and resets the connection at the first one.
static void engine__a_tls_response_is_not_lost_when_the_server_then_closes_regression_5(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    fixture_script(&f, "/up", (nct_reply){.status = 413, .body = "large", .body_length = 5, .early = NCT_EARLY_END});
    late_source source = {.server = f.server, .left = LARGE_BYTES};
    nc_request request = fixture_request(&f, "/up");
    request.method = nc_slice_of("PUT");
    request.body_length = source.left;
    request.body_source = (nc_body_source){.ctx = &source, .pull = pull_late};
    assert_response(fixture_send(&f, &request), 413, "large");
    assert_true(source.left > 0);
    fixture_stop(&f);
}

/// A source is not read after a complete response. Bytes that are already available are sent.
static void engine__a_success_instead_of_100_continue_closes_the_connection_regression_4(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    // The server responds, and then reads the body, as servers do that keep their connections.
    fixture_script(&f, "/up", (nct_reply){.body = "early", .body_length = 5, .early = NCT_EARLY_DISCARD});
    fixture_script(&f, "/next", (nct_reply){.body = "next", .body_length = 4});
    nc_request request = upload(&f, "/up",
                                "a body that is longer than the head of the request which comes after it, "
                                "so that the server would wait for more of it for as long as it likes");
    assert_response(fixture_send(&f, &request), 200, "early");
    request = fixture_request(&f, "/next");
    request.limits.first_byte_ms = 2000;
    assert_response(fixture_send(&f, &request), 200, "next");
    assert_int_equal(nct_server_connection_count(f.server), 2);
    fixture_stop(&f);
}

static void engine__an_early_success_does_not_truncate_a_body_in_memory(void **state) {
    static uint8_t body[LARGE_BYTES];
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/up", (nct_reply){.early = NCT_EARLY_DISCARD, .body = "fine", .body_length = 4});
    nc_request request = fixture_request(&f, "/up");
    request.method = nc_slice_of("PUT");
    request.body = nc_slice_make(body, sizeof body);
    assert_response(fixture_send(&f, &request), 200, "fine");
    assert_true(nct_server_wait_for_received_bytes(f.server, LARGE_BYTES, FIXTURE_LIMIT_MS));
    fixture_stop(&f);
}

/* --- limits --- */

/// A source with a delay before each of many small pieces, which waits for 100 Continue after the first.
typedef struct slow_source {
    manual_clock *time;
    atomic_bool may_go;
    atomic_size_t pulls;
    gate is_over;
} slow_source;

enum { SLOW_PULLS = 60, SLOW_PULL_MS = 40, SLOW_IDLE_MS = 1000 };

static nc_pull pull_slowly(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    slow_source *source = ctx;
    (void)id;
    (void)capacity;
    if (atomic_load(&source->pulls) == 1 && !atomic_load(&source->may_go)) {
        return NC_PULL_LATER;
    }
    atomic_fetch_add(&source->time->ahead_ns, SLOW_PULL_MS * 1000000u);
    bytes[0] = 'x';
    *filled = 1;
    if (atomic_fetch_add(&source->pulls, 1) + 1 < SLOW_PULLS) {
        return NC_PULL_MORE;
    }
    gate_open(&source->is_over);
    return NC_PULL_END;
}

typedef struct transfer_end {
    gate saw_head;
    gate saw_end;
    nc_error error;
} transfer_end;

static nc_action open_at_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    (void)id;
    (void)response;
    (void)is_last;
    gate_open(&((transfer_end *)ctx)->saw_head);
    return NC_ACTION_CONTINUE;
}

static void record_end(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    transfer_end *reader = ctx;
    (void)id;
    (void)response;
    reader->error = *error;
    gate_open(&reader->saw_end);
}

/// After 100 Continue, and after a response head that precedes the body.
static void engine__a_moving_upload_is_not_idle_after_a_response_regression_3(void **state) {
    (void)state;
    for (int is_early = 0; is_early < 2; is_early++) {
        manual_clock time = manual_clock_make();
        slow_source source = {.time = &time, .may_go = !is_early, .is_over = GATE_INIT};
        transfer_end reader = {.saw_head = GATE_INIT, .saw_end = GATE_INIT};
        nc_transfer_id id = 0;
        fixture f;
        manual_clock_start_fixture(&f, &time, (nc_engine_options){0});
        fixture_script(&f, "/up",
                       (nct_reply){.pattern_length = 9,
                                   .is_cut = is_early,
                                   .is_cut_in_body = true,
                                   .cut_after = 1,
                                   .ending = is_early ? NCT_STALL : NCT_KEEP,
                                   .early = is_early ? NCT_EARLY_DISCARD : NCT_PATIENT});
        nc_request request = fixture_request(&f, "/up");
        request.method = nc_slice_of("PUT");
        request.body_source = (nc_body_source){.ctx = &source, .pull = pull_slowly};
        request.body_length = SLOW_PULLS;
        request.headers = &expects;
        request.header_count = is_early ? 0 : 1;
        request.limits = (nc_limits){.idle_ms = SLOW_IDLE_MS, .first_byte_ms = NC_UNLIMITED};
        const nc_sink sink = {.ctx = &reader, .on_head = open_at_head, .on_done = record_end};
        assert_status(nc_engine_submit(f.engine, &request, &sink, &id, NULL), NC_OK);
        if (is_early) {
            gate_wait(&reader.saw_head);
            assert_true(nct_server_wait_for_stalled(f.server, 1, FIXTURE_LIMIT_MS));
            atomic_store(&source.may_go, true);
            nc_engine_resume_from(f.engine, id, NC_PAUSE_SOURCE);
            gate_wait(&source.is_over);
            nct_server_release_stalled(f.server);
        }
        gate_wait(&reader.saw_end);
        assert_status(reader.error.status, NC_OK);
        assert_int_equal(atomic_load(&source.pulls), SLOW_PULLS);
        fixture_stop(&f);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__expect_is_sent_only_on_request),
        harness_case(engine__a_body_is_sent_after_100_continue),
        harness_case(engine__a_body_is_sent_after_a_timeout_without_a_response),
        harness_case(engine__a_417_is_retried_without_expect_however_it_ends_regression_2),
        harness_case(engine__a_417_after_a_one_shot_body_is_the_final_response),
        harness_case(engine__a_server_that_always_responds_417_is_tried_twice),
        harness_case(engine__an_error_before_the_body_prevents_its_upload),
        harness_case(engine__an_early_response_is_not_lost),
        harness_case(engine__a_tls_response_is_not_lost_when_the_server_then_closes_regression_5),
        harness_case(engine__a_success_instead_of_100_continue_closes_the_connection_regression_4),
        harness_case(engine__an_early_success_does_not_truncate_a_body_in_memory),
        harness_case(engine__a_moving_upload_is_not_idle_after_a_response_regression_3),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
