/// Commands at difficult moments: before libcurl has a connection for a transfer, and after its end but before its
/// files are closed.
#include "scripted.h"

#include <netcore/cookies.h>
#include <netcore/transfers.h>
#include <string.h>
#include <unistd.h>

/// Files whose close() waits at a gate.
typedef struct slow_closing {
    nc_file_ops inner;
    torture_gate begun;
    torture_gate allowed;
} slow_closing;

static int close_slowly(void *ctx, int fd) {
    slow_closing *slow = ctx;
    torture_gate_open(&slow->begun);
    (void)torture_gate_wait(&slow->allowed);
    return slow->inner.close(slow->inner.ctx, fd);
}

typedef struct command_fixture {
    scenario_servers stage;
    slow_closing slow;
    nc_engine *engine;
} command_fixture;

/// All file operations share one context, which the system's ignore.
static void set(command_fixture *at) {
    *at = (command_fixture){
        .slow = {.inner = nc_file_ops_system(), .begun = TORTURE_GATE_INIT, .allowed = TORTURE_GATE_INIT}};
    scenario_start(&at->stage);
    nc_file_ops ops = at->slow.inner;
    ops.ctx = &at->slow;
    ops.close = close_slowly;
    at->engine = torture_engine(&(nc_engine_options){.cookies = NC_COOKIES_MEMORY, .file_ops = &ops});
}

static void tear_down(command_fixture *at) {
    assert_status(nc_engine_close(at->engine, TORTURE_PATIENCE_MS), NC_OK);
    scenario_stop(&at->stage);
}

/// All commands, while the files are closed.
static void send_all_commands(command_fixture *at, nc_transfer_id id) {
    assert_true(torture_gate_wait(&at->slow.begun));
    nc_engine_pause(at->engine, id);
    torture_let_loop_read(at->engine);
    nc_engine_resume(at->engine, id);
    nc_engine_set_priority(at->engine, id, NC_PRIORITY_HIGH);
    torture_let_loop_read(at->engine);
    torture_gate_open(&at->slow.allowed);
}

static void commands__while_the_files_of_a_head_request_close_change_nothing(void **state) {
    command_fixture at;
    char url[TORTURE_URL_BYTES];
    torture_fetch fetch = {0};
    (void)state;
    set(&at);
    const nct_reply reply = {.headers = "Set-Cookie: a=1\r\n"};
    assert_int_equal(nct_server_script(at.stage.plain, "/head", &reply), 0);
    // An intended early end is a success.
    nc_request request = {.method = nc_slice_of("HEAD"),
                          .url = torture_url(url, "http", at.stage.plain, "/head"),
                          .body_file = nc_slice_of(at.stage.upload_path)};
    nc_transfer_id id = torture_submit(at.engine, &request, &fetch);
    send_all_commands(&at, id);
    assert_true(torture_await(&fetch, 1, TORTURE_PATIENCE_MS));
    assert_status(fetch.status, NC_OK);
    tear_down(&at);
    assert_int_equal(fetch.done_count, 1);
}

typedef struct reader {
    torture_fetch fetch; // first, because it is also the context of torture_sink()
    nc_engine *engine;
} reader;

static nc_action pause_each_time(void *ctx, nc_transfer_id id, nc_slice bytes) {
    reader *at = ctx;
    (void)bytes;
    nc_engine_resume(at->engine, id);
    return NC_ACTION_PAUSE;
}

static void commands__while_files_close_after_a_pause_change_nothing(void **state) {
    command_fixture at;
    char url[TORTURE_URL_BYTES];
    (void)state;
    set(&at);
    reader reading = {.engine = at.engine};
    const nct_reply zipped = {.headers = "Content-Encoding: gzip\r\nSet-Cookie: a=1\r\n",
                              .body = at.stage.zipped.data,
                              .body_length = at.stage.zipped.length};
    assert_int_equal(nct_server_script(at.stage.plain, "/zipped", &zipped), 0);
    nc_request request = {.method = nc_slice_of("POST"),
                          .url = torture_url(url, "http", at.stage.plain, "/zipped"),
                          .body_file = nc_slice_of(at.stage.upload_path),
                          .accepts_codings = true};
    nc_sink sink = torture_sink(&reading.fetch);
    nc_transfer_id id = 0;
    sink.on_body = pause_each_time;
    assert_status(nc_engine_submit(at.engine, &request, &sink, &id, NULL), NC_OK);
    send_all_commands(&at, id);
    assert_true(torture_await(&reading.fetch, 1, TORTURE_PATIENCE_MS));
    assert_status(reading.fetch.status, NC_OK);
    tear_down(&at);
    assert_int_equal(reading.fetch.done_count, 1);
}

static nc_action read_on(void *ctx, nc_transfer_id id, nc_slice bytes) {
    (void)ctx;
    (void)id;
    (void)bytes;
    return NC_ACTION_CONTINUE;
}

/// The authorities are loaded first.
static void wait_until_connecting(nc_engine *engine, size_t expected) {
    nc_transfer_info info[4];
    size_t connecting = 0;
    while (connecting < expected) {
        torture_let_loop_read(engine);
        assert_int_equal(nc_engine_list(engine, info, 4), expected);
        connecting = 0;
        for (size_t i = 0; i < expected; i++) {
            connecting += info[i].state == NC_TRANSFER_CONNECTING;
        }
    }
}

/// Transfers over TLS to a server that does not complete the handshake yet.
typedef struct open_handshakes {
    char url[TORTURE_URL_BYTES];
    nct_server *server;
    nc_trust *trust;
    nc_engine *engine;
    nc_request request;
    torture_fetch fetches[3];
    nc_transfer_id ids[3];
} open_handshakes;

static void open_handshakes_start(open_handshakes *at, size_t count) {
    const nct_server_options late = {.identity = NCT_TLS_VALID, .is_accepting_late = true};
    const nct_reply page = {.pattern_length = 5000};
    *at = (open_handshakes){.server = NULL};
    assert_int_equal(nct_server_start(&at->server, &late), 0);
    assert_int_equal(nct_server_script(at->server, "/page", &page), 0);
    at->trust = torture_trust(at->server);
    at->engine = torture_engine(&(nc_engine_options){.trust = at->trust, .cookies = NC_COOKIES_MEMORY});
    at->request.url = torture_url(at->url, "https", at->server, "/page");
    for (size_t i = 0; i < count; i++) {
        at->ids[i] = torture_submit(at->engine, &at->request, &at->fetches[i]);
    }
    wait_until_connecting(at->engine, count);
}

static void open_handshakes_stop(open_handshakes *at) {
    assert_status(nc_engine_close(at->engine, TORTURE_PATIENCE_MS), NC_OK);
    nc_trust_release(at->trust);
    nct_server_stop(at->server);
}

/// libcurl delays transfers that may share a connection until the first handshake is done, and refuses to pause them
/// meanwhile.
static void pause__before_a_connection_exists_is_not_an_error(void **state) {
    open_handshakes at;
    (void)state;
    open_handshakes_start(&at, 3);
    for (size_t i = 0; i < 3; i++) {
        nc_engine_pause(at.engine, at.ids[i]);
    }
    torture_let_loop_read(at.engine);
    nc_engine_resume(at.engine, at.ids[1]);
    torture_let_loop_read(at.engine);
    nct_server_accept_now(at.server);
    assert_true(torture_await(&at.fetches[1], 1, TORTURE_PATIENCE_MS));
    nc_engine_resume(at.engine, at.ids[0]);
    nc_engine_resume(at.engine, at.ids[2]);
    for (size_t i = 0; i < 3; i++) {
        assert_true(torture_await(&at.fetches[i], 1, TORTURE_PATIENCE_MS));
        if (at.fetches[i].status != NC_OK) {
            fail_msg("number %zu ended with %s: %s", i, nc_status_name(at.fetches[i].status), at.fetches[i].message);
        }
    }
    open_handshakes_stop(&at);
}

/// libcurl allocates a handle's buffer when it first looks for a connection, and releases it only with one.
static void cancel__before_a_connection_exists_leaves_no_broken_handle(void **state) {
    open_handshakes at;
    (void)state;
    open_handshakes_start(&at, 2);
    nc_engine_cancel(at.engine, at.ids[1]);
    assert_true(torture_await(&at.fetches[1], 1, TORTURE_PATIENCE_MS));
    // The next request streams its body, which needs another buffer size.
    nc_sink sink = torture_sink(&at.fetches[2]);
    sink.on_body = read_on;
    assert_status(nc_engine_submit(at.engine, &at.request, &sink, &at.ids[2], NULL), NC_OK);
    nct_server_accept_now(at.server);
    assert_true(torture_await(&at.fetches[0], 1, TORTURE_PATIENCE_MS));
    assert_true(torture_await(&at.fetches[2], 1, TORTURE_PATIENCE_MS));
    assert_status(at.fetches[0].status, NC_OK);
    assert_status(at.fetches[2].status, NC_OK);
    open_handshakes_stop(&at);
}

/// During the pause only the total limit applies, and the timer is set to it.
static void resume__restarts_the_timeouts(void **state) {
    char url[TORTURE_URL_BYTES];
    torture_fetch fetch = {0};
    (void)state;
    nct_server *server = torture_start(NCT_PLAIN);
    const nct_reply silent = {.is_cut = true, .ending = NCT_STALL};
    assert_int_equal(nct_server_script(server, "/silent", &silent), 0);
    nc_engine *engine = torture_engine(&(nc_engine_options){.cookies = NC_COOKIES_MEMORY});
    nc_request request = {.url = torture_url(url, "http", server, "/silent"), .limits.first_byte_ms = 10};
    nc_engine_set_suspended(engine, true);
    nc_transfer_id id = torture_submit(engine, &request, &fetch);
    nc_engine_pause(engine, id);
    nc_engine_set_suspended(engine, false);
    assert_true(nct_server_wait_for_requests(server, 1, TORTURE_PATIENCE_MS));
    torture_let_loop_read(engine);
    nc_engine_resume(engine, id);
    assert_true(torture_await(&fetch, 1, TORTURE_PATIENCE_MS));
    assert_status(fetch.status, NC_ERR_FIRST_BYTE_TIMED_OUT);
    assert_status(nc_engine_close(engine, TORTURE_PATIENCE_MS), NC_OK);
    nct_server_stop(server);
}

/// libcurl has read them with the end of the body, and delivers all of them together.
static void trailers__after_a_pause_are_delivered_one_by_one(void **state) {
    char url[TORTURE_URL_BYTES];
    (void)state;
    nct_server *server = torture_start(NCT_PLAIN);
    const nct_reply page = {.pattern_length = 300, .chunk_bytes = 100, .trailers = "X-One: 1\r\nX-Two: 2\r\n"};
    assert_int_equal(nct_server_script(server, "/page", &page), 0);
    reader reading = {.engine = torture_engine(&(nc_engine_options){.cookies = NC_COOKIES_MEMORY})};
    reading.fetch.keeps_response = true;
    nc_request request = {.url = torture_url(url, "http", server, "/page")};
    nc_sink sink = torture_sink(&reading.fetch);
    nc_transfer_id id = 0;
    sink.on_body = pause_each_time;
    assert_status(nc_engine_submit(reading.engine, &request, &sink, &id, NULL), NC_OK);
    assert_true(torture_await(&reading.fetch, 1, TORTURE_PATIENCE_MS));
    assert_status(reading.fetch.status, NC_OK);
    assert_int_equal(nc_response_trailer_count(reading.fetch.response), 2);
    assert_slice_equals(nc_response_trailer_at(reading.fetch.response, 0).value, "1");
    assert_slice_equals(nc_response_trailer_at(reading.fetch.response, 1).name, "X-Two");
    nc_response_release(reading.fetch.response);
    assert_status(nc_engine_close(reading.engine, TORTURE_PATIENCE_MS), NC_OK);
    nct_server_stop(server);
}

/// Callers read the jar while the loop passes its lines to libcurl.
static void cookies__are_read_consistently_while_the_loop_uses_them(void **state) {
    enum { REQUESTS = 200 };
    char url[TORTURE_URL_BYTES];
    torture_fetch fetch = {0};
    (void)state;
    nct_server *server = torture_start(NCT_PLAIN);
    nc_engine *engine = torture_engine(&(nc_engine_options){.cookies = NC_COOKIES_MEMORY});
    nc_request request = {.url = torture_url(url, "http", server, "/none")};
    assert_status(nc_engine_set_cookies(engine,
                                        nc_slice_of("a.example\tFALSE\t/\tFALSE\t0\tname\tvalue\n"
                                                    "b.example\tFALSE\t/\tFALSE\t0\tname\tvalue"),
                                        NULL),
                  NC_OK);
    for (size_t i = 0; i < REQUESTS; i++) {
        nc_buf jar = nc_buf_init(4096);
        assert_status(nc_engine_set_cookies(engine, nc_slice_of("# another version of the jar"), NULL), NC_OK);
        assert_status(nc_engine_copy_cookies(engine, &jar, NULL), NC_OK);
        (void)torture_submit(engine, &request, &fetch);
        for (size_t j = 0; j < 20; j++) {
            nc_buf_reset(&jar);
            assert_status(nc_engine_copy_cookies(engine, &jar, NULL), NC_OK);
            assert_null(memchr(jar.data, 0, jar.length));
        }
        nc_buf_deinit(&jar);
    }
    assert_true(torture_await(&fetch, REQUESTS, TORTURE_PATIENCE_MS));
    assert_int_equal(fetch.ok_count, REQUESTS);
    assert_status(nc_engine_close(engine, TORTURE_PATIENCE_MS), NC_OK);
    nct_server_stop(server);
}

/// The transfers of one mailbox batch fill the space for timers. Another one is submitted, paused and resumed while
/// the loop reads that batch.
typedef struct batch {
    nc_engine *engine;
    nc_transfer_id late_id;
    size_t queued;
    size_t queued_before_pause;
    atomic_bool is_held;
    // The loop waits before it reads its mailbox, and again when it accepts the last transfer of the batch. Then the
    // late one is submitted and paused.
    torture_gate loop_is_held, release_loop;
    torture_gate last_is_accepted, late_is_submitted;
    torture_gate paused, resumed;
} batch;

enum { CROWD = 64 }; // the initial capacity of the timers

static void watch_crowd(void *ctx, nc_trace_point point, nc_transfer_id id) {
    batch *at = ctx;
    if (point == NC_TRACE_QUEUED && ++at->queued == CROWD) {
        torture_gate_open(&at->last_is_accepted);
        (void)torture_gate_wait(&at->late_is_submitted);
    } else if (point == NC_TRACE_PAUSED && id == at->late_id) {
        at->queued_before_pause = at->queued;
        torture_gate_open(&at->paused);
        (void)torture_gate_wait(&at->resumed);
    }
}

static bool hold_loop(void *ctx, uint32_t max_jobs) {
    batch *at = ctx;
    (void)max_jobs;
    if (atomic_load(&at->is_held)) {
        torture_gate_open(&at->loop_is_held);
        (void)torture_gate_wait(&at->release_loop);
        atomic_store(&at->is_held, false);
    }
    return false;
}

static void commands__for_a_transfer_that_is_not_accepted_yet_wait_for_it(void **state) {
    batch at = {
        .loop_is_held = TORTURE_GATE_INIT, .release_loop = TORTURE_GATE_INIT, .last_is_accepted = TORTURE_GATE_INIT};
    torture_fetch fetch = {0};
    nc_transfer_id last = 0;
    (void)state;
    at.late_is_submitted = at.paused = at.resumed = (torture_gate)TORTURE_GATE_INIT;
    atomic_store(&at.is_held, true);
    at.engine = torture_engine(&(nc_engine_options){
        .cookies = NC_COOKIES_MEMORY, .trace = {&at, watch_crowd}, .loop_client = {.ctx = &at, .drain = hold_loop}});
    nc_engine_set_suspended(at.engine, true);
    (void)nc_engine_wake(at.engine);
    assert_true(torture_gate_wait(&at.loop_is_held));
    const nc_request request = {.url = nc_slice_of("http://127.0.0.1:9/")};
    for (size_t i = 0; i < CROWD; i++) {
        last = torture_submit(at.engine, &request, &fetch);
    }
    nc_engine_set_priority(at.engine, last, NC_PRIORITY_HIGH); // so that this batch has commands too
    torture_gate_open(&at.release_loop);
    assert_true(torture_gate_wait(&at.last_is_accepted));
    at.late_id = torture_submit(at.engine, &request, &fetch);
    nc_engine_pause(at.engine, at.late_id);
    torture_gate_open(&at.late_is_submitted);
    assert_true(torture_gate_wait(&at.paused));
    nc_engine_resume(at.engine, at.late_id);
    torture_gate_open(&at.resumed);
    torture_let_loop_read(at.engine);
    assert_status(nc_engine_close(at.engine, TORTURE_PATIENCE_MS), NC_OK);
    assert_int_equal(at.queued_before_pause, CROWD + 1);
    assert_int_equal(fetch.cancelled_count, CROWD + 1);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(pause__before_a_connection_exists_is_not_an_error),
        harness_case(cancel__before_a_connection_exists_leaves_no_broken_handle),
        harness_case(resume__restarts_the_timeouts),
        harness_case(trailers__after_a_pause_are_delivered_one_by_one),
        harness_case(cookies__are_read_consistently_while_the_loop_uses_them),
        harness_case(commands__while_the_files_of_a_head_request_close_change_nothing),
        harness_case(commands__for_a_transfer_that_is_not_accepted_yet_wait_for_it),
        harness_case(commands__while_files_close_after_a_pause_change_nothing),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
