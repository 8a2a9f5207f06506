/// Orders that reach a transfer which is over but for its files: they change nothing, and end nothing twice.
#include "scripted.h"

#include <netcore/transfers.h>
#include <string.h>
#include <unistd.h>

/// Files whose closing waits until it may.
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

typedef struct scenery {
    scripted_stage stage;
    slow_closing slow;
    nc_engine *engine;
} scenery;

/// File operations are given one context: the system's need none.
static void set(scenery *at) {
    *at = (scenery){.slow = {.inner = nc_file_ops_system(), .begun = TORTURE_GATE_INIT, .allowed = TORTURE_GATE_INIT}};
    scripted_set(&at->stage);
    nc_file_ops ops = at->slow.inner;
    ops.ctx = &at->slow;
    ops.close = close_slowly;
    at->engine = torture_engine(&(nc_engine_options){.cookies = NC_COOKIES_MEMORY, .file_ops = &ops});
}

static void strike(scenery *at) {
    assert_status(nc_engine_close(at->engine, TORTURE_PATIENCE_MS), NC_OK);
    scripted_strike(&at->stage);
}

/// Everything that can be ordered, while the files are being closed.
static void order_about(scenery *at, nc_transfer_id id) {
    assert_true(torture_gate_wait(&at->slow.begun));
    nc_engine_pause(at->engine, id);
    torture_let_loop_read(at->engine);
    nc_engine_resume(at->engine, id);
    nc_engine_set_priority(at->engine, id, NC_PRIORITY_HIGH);
    torture_let_loop_read(at->engine);
    torture_gate_open(&at->slow.allowed);
}

static void orders__while_the_files_of_a_head_request_close_change_nothing(void **state) {
    scenery at;
    char url[TORTURE_URL_BYTES];
    torture_fetch fetch = {0};
    (void)state;
    set(&at);
    const nct_reply reply = {.headers = "Set-Cookie: a=1\r\n"};
    assert_int_equal(nct_server_script(at.stage.plain, "/head", &reply), 0);
    // What ends early on purpose is a success.
    nc_request request = {.method = nc_slice_of("HEAD"),
                          .url = torture_url(url, "http", at.stage.plain, "/head"),
                          .body_file = nc_slice_of(at.stage.upload_path)};
    nc_transfer_id id = torture_submit(at.engine, &request, &fetch);
    order_about(&at, id);
    assert_true(torture_await(&fetch, 1, TORTURE_PATIENCE_MS));
    assert_status(fetch.status, NC_OK);
    strike(&at);
    assert_int_equal(fetch.done_count, 1);
}

typedef struct reader {
    torture_fetch fetch; // first, because it is also the context of torture_sink()
    nc_engine *engine;
} reader;

static nc_verdict rest_each_time(void *ctx, nc_transfer_id id, nc_slice bytes) {
    reader *at = ctx;
    (void)bytes;
    nc_engine_resume(at->engine, id);
    return NC_PAUSE;
}

static void orders__while_files_close_after_a_reader_rested_change_nothing(void **state) {
    scenery at;
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
    sink.on_body = rest_each_time;
    assert_status(nc_engine_submit(at.engine, &request, &sink, &id, NULL), NC_OK);
    order_about(&at, id);
    assert_true(torture_await(&reading.fetch, 1, TORTURE_PATIENCE_MS));
    assert_status(reading.fetch.status, NC_OK);
    strike(&at);
    assert_int_equal(reading.fetch.done_count, 1);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(orders__while_the_files_of_a_head_request_close_change_nothing),
        harness_case(orders__while_files_close_after_a_reader_rested_change_nothing),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
