/// Every point of the trace table is passed by some scenario. A cancel at any point ends a transfer exactly once.
#include "torture.h"

#include <netcore/transfers.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REPLY_BYTES = 30000, UPLOAD_BYTES = 100000, MAX_EVENTS = 2000, CLOSE_MS = 5000 };

/* --- every point is passed --- */

static atomic_uint passed[NC_TRACE_COUNT];

static void count_point(void *ctx, nc_trace_point point, nc_transfer_id id) {
    (void)ctx;
    (void)id;
    if ((size_t)point < NC_TRACE_COUNT) {
        atomic_fetch_add(&passed[point], 1);
    }
}

static bool drain_nothing(void *ctx, uint32_t max_jobs) {
    (void)max_jobs;
    torture_gate_open(ctx);
    return false;
}

static void script_pages(nct_server *server) {
    const nct_reply page = {
        .pattern_length = REPLY_BYTES,
        .chunk_bytes = 5000,
        .headers = "Set-Cookie: a=1\r\n",
        .trailers = "X-Sum: 1\r\n",
    };
    const nct_reply challenges[] = {
        {.status = 401, .headers = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"},
        {.body = "in", .body_length = 2},
    };
    assert_int_equal(nct_server_script_sequence(server, "/secret", challenges, 2), 0);
    const nct_reply moved = {.status = 307, .location = "/page"};
    const nct_reply downgrade = {.location = "http://127.0.0.1/"};
    const nct_reply stalled = {.is_cut = true, .ending = NCT_STALL};
    assert_int_equal(nct_server_script(server, "/page", &page), 0);
    assert_int_equal(nct_server_script(server, "/moved", &moved), 0);
    assert_int_equal(nct_server_script(server, "/downgrade", &downgrade), 0);
    assert_int_equal(nct_server_script(server, "/stalled", &stalled), 0);
}

static void fetch_and_expect(nc_engine *engine, const nct_server *server, nc_request request, nc_status expected) {
    char url[TORTURE_URL_BYTES];
    torture_fetch fetch = {0};
    request.url = torture_url(url, "https", server, (const char *)request.url.data);
    (void)torture_submit(engine, &request, &fetch);
    assert_true(torture_await(&fetch, 1, TORTURE_PATIENCE_MS));
    assert_status(fetch.status, expected);
}

static void cancel_a_stalled_one(nc_engine *engine, nct_server *server) {
    char url[TORTURE_URL_BYTES];
    torture_fetch fetch = {0};
    nc_request request = {.url = torture_url(url, "https", server, "/stalled")};
    nct_server_forget(server);
    nc_transfer_id id = torture_submit(engine, &request, &fetch);
    assert_true(nct_server_wait_for_requests(server, 1, TORTURE_PATIENCE_MS));
    nc_engine_cancel(engine, id);
    assert_true(torture_await(&fetch, 1, TORTURE_PATIENCE_MS));
    assert_status(fetch.status, NC_ERR_CANCELLED);
}

/// A transfer that pauses until it is resumed, and is then saved to a file without permissions.
static void pause_and_save(nc_engine *engine, nct_server *server) {
    char url[TORTURE_URL_BYTES];
    char path[64];
    torture_fetch fetch = {0};
    (void)snprintf(path, sizeof path, "/tmp/netcore-trace-%ld", (long)getpid());
    nc_request request = {.url = torture_url(url, "https", server, "/stalled"), .save_path = nc_slice_of(path)};
    nct_server_forget(server);
    nc_transfer_id id = torture_submit(engine, &request, &fetch);
    assert_true(nct_server_wait_for_requests(server, 1, TORTURE_PATIENCE_MS));
    nc_engine_pause(engine, id);
    nc_engine_set_priority(engine, id, NC_PRIORITY_HIGH);
    // The end of a second transfer shows that the loop has read its mailbox.
    fetch_and_expect(engine, server, (nc_request){.url = nc_slice_of("/page")}, NC_OK);
    nc_engine_resume(engine, id);
    fetch_and_expect(engine, server, (nc_request){.url = nc_slice_of("/page")}, NC_OK);
    nc_engine_cancel(engine, id);
    assert_true(torture_await(&fetch, 1, TORTURE_PATIENCE_MS));
    assert_status(fetch.status, NC_ERR_CANCELLED);
    assert_int_equal(access(path, F_OK), -1);
}

static void trace__every_point_is_passed_by_some_scenario(void **state) {
    static uint8_t upload[UPLOAD_BYTES];
    (void)state;
    torture_gate drained = TORTURE_GATE_INIT;
    nct_server *server = torture_start(NCT_TLS_VALID);
    nc_trust *trust = torture_trust(server);
    script_pages(server);
    nc_engine *engine = torture_engine(&(nc_engine_options){
        .trust = trust,
        .trace = {NULL, count_point},
        .loop_client = {.ctx = &drained, .drain = drain_nothing},
        .cookies = NC_COOKIES_MEMORY,
    });
    nc_request post = {
        .method = nc_slice_of("POST"), .url = nc_slice_of("/moved"), .body = nc_slice_make(upload, sizeof upload)};
    nc_request refused = {.url = nc_slice_of("no url")};
    nc_transfer_id none = 0;
    fetch_and_expect(engine, server, post, NC_OK);
    fetch_and_expect(engine, server, (nc_request){.url = nc_slice_of("/downgrade")}, NC_ERR_REDIRECT_REFUSED);
    fetch_and_expect(engine, server, (nc_request){.url = nc_slice_of("/stalled"), .limits.first_byte_ms = 20},
                     NC_ERR_FIRST_BYTE_TIMED_OUT);
    cancel_a_stalled_one(engine, server);
    pause_and_save(engine, server);
    fetch_and_expect(
        engine, server,
        (nc_request){
            .url = nc_slice_of("/secret"),
            .credentials = {.schemes = NC_AUTH_DIGEST, .user = nc_slice_of("me"), .password = nc_slice_of("secret")}},
        NC_OK);
    assert_status(nc_engine_submit(engine, &refused, NULL, &none, NULL), NC_ERR_BAD_URL);
    assert_true(nc_engine_wake(engine));
    assert_true(torture_gate_wait(&drained));
    assert_status(nc_engine_close(engine, CLOSE_MS), NC_OK);
    nc_trust_release(trust);
    nct_server_stop(server);

    size_t missing = 0;
    assert_true(NC_TRACE_COUNT >= 25);
    for (size_t i = 0; i < NC_TRACE_COUNT; i++) {
        if (atomic_load(&passed[i]) == 0) {
            missing++;
            print_error("%s was never passed\n", nc_trace_name((nc_trace_point)i));
        }
    }
    assert_int_equal(missing, 0);
    print_message("%d points, all passed\n", (int)NC_TRACE_COUNT);
}

/* --- a cancel at every point --- */

typedef struct cancel_point {
    nc_engine *_Atomic engine;
    _Atomic nc_transfer_id id;
    atomic_size_t event_count;
    size_t cancels_at;
    _Atomic nc_trace_point cancelled_at;
} cancel_point;

static void cancel_at_event(void *ctx, nc_trace_point point, nc_transfer_id id) {
    cancel_point *target = ctx;
    if (id != 0) {
        atomic_store(&target->id, id);
    }
    if (atomic_fetch_add(&target->event_count, 1) + 1 != target->cancels_at) {
        return;
    }
    nc_engine *engine = atomic_load(&target->engine);
    target->cancelled_at = point;
    // Until nc_engine_new() returns, there is no transfer to cancel.
    if (engine != NULL) {
        nc_engine_cancel(engine, atomic_load(&target->id));
    }
}

/// One run; returns how many events it saw, and how it ended.
static size_t run_once(const nct_server *server, nc_trust *trust, size_t cancels_at, nc_status *ended) {
    static uint8_t upload[UPLOAD_BYTES];
    char url[TORTURE_URL_BYTES];
    cancel_point target = {.cancels_at = cancels_at, .cancelled_at = NC_TRACE_COUNT};
    torture_fetch fetch = {.keeps_response = true};
    nc_request request = {
        .method = nc_slice_of("POST"),
        .url = torture_url(url, "https", server, "/moved"),
        .body = nc_slice_make(upload, sizeof upload),
    };
    nc_engine *engine = torture_engine(&(nc_engine_options){.trust = trust, .trace = {&target, cancel_at_event}});
    atomic_store(&target.engine, engine);
    (void)torture_submit(engine, &request, &fetch);
    if (!torture_await(&fetch, 1, TORTURE_PATIENCE_MS)) {
        fail_msg("a cancel at event %zu (%s) hangs", cancels_at, nc_trace_name(target.cancelled_at));
    }
    if (nc_engine_close(engine, CLOSE_MS) != NC_OK) {
        fail_msg("after a cancel at event %zu (%s) the engine does not close", cancels_at,
                 nc_trace_name(target.cancelled_at));
    }
    nc_status status = fetch.status;
    bool is_right = status == NC_ERR_CANCELLED || (status == NC_OK && nc_response_status(fetch.response) == 200 &&
                                                   nc_response_hop_count(fetch.response) == 2 &&
                                                   harness_is_pattern(nc_response_body(fetch.response), REPLY_BYTES));
    nc_response_release(fetch.response);
    if (atomic_load(&fetch.done_count) != 1 || !is_right) {
        fail_msg("a cancel at event %zu (%s): %zu ends, the last with %s", cancels_at,
                 nc_trace_name(target.cancelled_at), atomic_load(&fetch.done_count), nc_status_name(status));
    }
    *ended = status;
    return atomic_load(&target.event_count);
}

static void cancel__at_any_trace_point_ends_a_transfer_once(void **state) {
    (void)state;
    nct_server *server = torture_start(NCT_TLS_VALID);
    nc_trust *trust = torture_trust(server);
    size_t rounds = torture_number("NETCORE_TORTURE_ROUNDS", 1);
    script_pages(server);
    for (size_t round = 0; round < rounds; round++) {
        size_t cancelled = 0;
        size_t k = 1;
        for (; k < MAX_EVENTS; k++) {
            nc_status ended = NC_OK;
            bool is_past_end = run_once(server, trust, k, &ended) < k;
            cancelled += ended == NC_ERR_CANCELLED;
            if (is_past_end) {
                break;
            }
        }
        print_message("%zu events, %zu runs ended as cancelled\n", k - 1, cancelled);
        assert_true(k > 30 && k < MAX_EVENTS && cancelled > 15);
    }
    nc_trust_release(trust);
    nct_server_stop(server);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(trace__every_point_is_passed_by_some_scenario),
        harness_case(cancel__at_any_trace_point_ends_a_transfer_once),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
