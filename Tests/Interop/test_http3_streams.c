/// Streams over HTTP/3 that wait for each other, and requests that are in flight when a connection or network ends.
#include "quic.h"

#include "gate.h"

#include <netcore/transfers.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEBIBYTE = 1024 * 1024 };

/* --- bodies without end --- */

/// A source of an upload that the test ends. It opens its gate when libcurl has taken some bytes.
typedef struct endless {
    gate has_begun;
    size_t sent;
} endless;

static nc_pull pull_endlessly(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    endless *one = ctx;
    (void)id;
    memset(bytes, 'x', capacity);
    *filled = capacity;
    one->sent += capacity;
    if (one->sent > 100000 && one->has_begun.count == 0) {
        gate_open(&one->has_begun);
    }
    return NC_PULL_MORE;
}

static nc_request endless_upload(quic *q, endless *source, const char *path) {
    nc_request request = quic_request(q, path);
    request.method = nc_slice_of("POST");
    request.body_source = (nc_body_source){.ctx = source, .pull = pull_endlessly};
    request.body_length = NC_LENGTH_UNKNOWN;
    return request;
}

static void http3__a_cancelled_upload_leaves_its_connection_usable(void **state) {
    endless source = {.has_begun = GATE_INIT};
    quic q;
    (void)state;
    quic_start(&q, NULL);
    nc_request request = endless_upload(&q, &source, "/count");
    nc_transfer_id id = fixture_submit(&q.f, &request);
    gate_wait(&source.has_begun);
    nc_engine_cancel(q.f.engine, id);
    assert_ended(fixture_wait(&q.f, id), NC_ERR_CANCELLED, 0, "");
    assert_response(quic_get(&q, "/hello"), 200, "hello");
    quic_stop(&q);
}

static void http3__udp_blocked_within_an_upload_ends_it_by_the_idle_limit(void **state) {
    endless source = {.has_begun = GATE_INIT};
    quic q;
    (void)state;
    quic_start(&q, NULL);
    nc_request request = endless_upload(&q, &source, "/block_upload");
    request.limits.idle_ms = 500;
    assert_ended(fixture_send(&q.f, &request), NC_ERR_IDLE_TIMED_OUT, 28, "");
    quic_stop(&q);
}

/* --- streams of one connection --- */

/// Collects a body whose first bytes pause the transfer.
typedef struct reader {
    gate is_paused;
    gate is_over;
    nc_status status;
    size_t bytes;
} reader;

static nc_action pause_once(void *ctx, nc_transfer_id id, nc_slice bytes) {
    reader *one = ctx;
    (void)id;
    one->bytes += bytes.length;
    if (one->is_paused.count == 0) {
        gate_open(&one->is_paused);
        return NC_ACTION_PAUSE;
    }
    return NC_ACTION_CONTINUE;
}

static void note_end(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    reader *one = ctx;
    (void)id;
    (void)response;
    one->status = error->status;
    gate_open(&one->is_over);
}

static void http3__a_paused_body_does_not_block_other_streams(void **state) {
    enum { LENGTH = 3 * MEBIBYTE };
    reader one = {.is_paused = GATE_INIT, .is_over = GATE_INIT};
    const nc_sink sink = {.ctx = &one, .on_body = pause_once, .on_done = note_end};
    nc_transfer_id id;
    nc_error err;
    quic q;
    (void)state;
    quic_start(&q, NULL);
    nc_request request = quic_request(&q, server_text("/bytes/%d", LENGTH));
    request.may_pause = true;
    assert_status(nc_engine_submit(q.f.engine, &request, &sink, &id, &err), NC_OK);
    gate_wait(&one.is_paused);
    for (unsigned i = 0; i < 3; i++) {
        answer other = quic_get(&q, "/bytes/200000");
        assert_status(other.error.status, NC_OK);
        assert_int_equal(nc_response_body(other.response).length, 200000);
    }
    nc_engine_resume(q.f.engine, id);
    gate_wait(&one.is_over);
    assert_status(one.status, NC_OK);
    assert_int_equal(one.bytes, LENGTH);
    quic_stop(&q);
}

static void http3__requests_before_goaway_are_completed(void **state) {
    quic q;
    nc_transfer_id ids[8];
    (void)state;
    quic_start(&q, NULL);
    assert_response(quic_get(&q, "/hello"), 200, "hello");
    for (size_t i = 0; i < 8; i++) {
        nc_request request = quic_request(&q, "/wait/8");
        ids[i] = fixture_submit(&q.f, &request);
    }
    for (size_t i = 0; i < 8; i++) {
        answer one = fixture_wait(&q.f, ids[i]); // the server responds to the eighth with GOAWAY, and then to all
        assert_response(one, 200, "waited");
        assert_int_equal(quic_opened(one), 0);
    }
    assert_response(quic_get(&q, "/hello"), 200, "hello");
    quic_stop(&q);
}

static void http3__a_rejected_request_is_resent(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    assert_response(quic_get(&q, "/refuse"), 200, "served");
    quic_stop(&q);
}

static void http3__a_body_is_sent_after_100_continue(void **state) {
    const nc_header expect = {nc_slice_of("Expect"), nc_slice_of("100-continue")};
    quic q;
    (void)state;
    quic_start(&q, NULL);
    nc_request request = quic_request(&q, "/continue");
    request.method = nc_slice_of("PUT");
    request.body = nc_slice_of("the body");
    request.headers = &expect;
    request.header_count = 1;
    assert_response(fixture_send(&q.f, &request), 200, "the body");
    quic_stop(&q);
}

static const struct CMUnitTest cases[] = {
    harness_case(http3__a_cancelled_upload_leaves_its_connection_usable),
    harness_case(http3__udp_blocked_within_an_upload_ends_it_by_the_idle_limit),
    harness_case(http3__a_paused_body_does_not_block_other_streams),
    harness_case(http3__requests_before_goaway_are_completed),
    harness_case(http3__a_rejected_request_is_resent),
    harness_case(http3__a_body_is_sent_after_100_continue),
};

QUIC_MAIN(cases)
