/// Each allocation of the library and of libcurl fails in turn: no crash, hang, leak or false success.
///
/// OpenSSL's allocations never fail here: its hook is process-wide and affects the server in this process too.
#include "torture.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 20000, UPLOAD_BYTES = 70000, MAX_PARALLEL = 20, CLOSE_MS = 10000, MAX_STATUS = 200 };

/// One kind of exchange, tried with each allocation failing.
typedef struct exchange_case {
    const char *name;
    const char *path;
    bool is_tls;
    bool is_post;
    bool accepts_codings;
    bool has_no_sink;
    nc_poller_choice poller;
    size_t parallel;
    nct_server *server;
    uint8_t *upload;
    size_t ended[MAX_STATUS];
} exchange_case;

static bool is_expected_body(const exchange_case *at, nc_slice body) {
    if (at->is_post) {
        return nc_slice_is_equal(body, nc_slice_make(at->upload, UPLOAD_BYTES));
    }
    return harness_is_pattern(body, PAGE_BYTES);
}

/// A success must be complete. A failure must not be a time limit, which would mean that the transfer was forgotten.
static void check_end(exchange_case *at, nc_status status, const nc_response *response) {
    at->ended[status]++;
    if (status == NC_OK && (nc_response_status(response) != 200 || !is_expected_body(at, nc_response_body(response)))) {
        fail_msg("%s: a success with a wrong response (%zu bytes)", at->name, nc_response_body(response).length);
    }
    if (status >= NC_ERR_CONNECT_TIMED_OUT && status <= NC_ERR_SLOT_TIMED_OUT) {
        fail_msg("%s: ended with %s after an allocation failed", at->name, nc_status_name(status));
    }
}

static nc_request request_of(const exchange_case *at, char *url) {
    nc_request request = {
        .url = torture_url(url, at->is_tls ? "https" : "http", at->server, at->path),
        .accepts_codings = at->accepts_codings,
    };
    if (at->is_post) {
        static const nc_header headers[] = {{{(const uint8_t *)"X-Torture", 9}, {(const uint8_t *)"yes", 3}}};
        request.method = nc_slice_of("POST");
        request.body = nc_slice_make(at->upload, UPLOAD_BYTES);
        request.headers = headers;
        request.header_count = 1;
    }
    return request;
}

static void wait_without_sink(exchange_case *at, nc_engine *engine) {
    char url[TORTURE_URL_BYTES];
    nc_request request = request_of(at, url);
    nc_transfer_id id = 0;
    nc_response *response = NULL;
    if (nc_engine_submit(engine, &request, NULL, &id, NULL) == NC_OK) {
        nc_status status = nc_engine_wait(engine, id, TORTURE_PATIENCE_MS, &response, NULL);
        assert_true(status != NC_ERR_WAIT_TIMED_OUT && status != NC_ERR_USAGE);
        check_end(at, status, response);
        nc_response_release(response);
    }
    assert_status(nc_engine_close(engine, CLOSE_MS), NC_OK);
}

static void fetch_with_sinks(exchange_case *at, nc_engine *engine) {
    torture_fetch fetches[MAX_PARALLEL];
    bool is_accepted[MAX_PARALLEL] = {false};
    char url[TORTURE_URL_BYTES];
    nc_request request = request_of(at, url);
    memset(fetches, 0, sizeof fetches);
    for (size_t i = 0; i < at->parallel; i++) {
        nc_transfer_id id = 0;
        nc_sink sink = torture_sink(&fetches[i]);
        fetches[i].keeps_response = true;
        is_accepted[i] = nc_engine_submit(engine, &request, &sink, &id, NULL) == NC_OK;
    }
    for (size_t i = 0; i < at->parallel; i++) {
        if (is_accepted[i] && !torture_await(&fetches[i], 1, TORTURE_PATIENCE_MS)) {
            fail_msg("%s: a transfer hangs after an allocation failed", at->name);
        }
    }
    assert_status(nc_engine_close(engine, CLOSE_MS), NC_OK);
    for (size_t i = 0; i < at->parallel; i++) {
        assert_int_equal(fetches[i].done_count, is_accepted[i] ? 1 : 0);
        if (is_accepted[i]) {
            check_end(at, fetches[i].status, fetches[i].response);
            nc_response_release(fetches[i].response);
        }
    }
}

static void run_case(void *ctx) {
    exchange_case *at = ctx;
    nc_engine *engine = NULL;
    nc_trust *trust = NULL;
    const nc_trust_options trusting = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_server_ca_pem(at->server))};
    if (at->is_tls && nc_trust_new(&trust, &trusting, NULL) != NC_OK) {
        return;
    }
    const nc_engine_options options = {.poller = at->poller, .trust = trust, .max_per_host = MAX_PARALLEL};
    nc_status status = nc_engine_new(&engine, &options, NULL);
    nc_trust_release(trust);
    if (status != NC_OK) {
        assert_status(status, NC_ERR_NO_MEMORY);
    } else if (at->has_no_sink) {
        wait_without_sink(at, engine);
    } else {
        fetch_with_sinks(at, engine);
    }
}

static void script(nct_server *server) {
    const nct_reply page = {.pattern_length = PAGE_BYTES, .headers = "X-One: 1\r\nX-Two: 2\r\n"};
    const nct_reply chunked = {.pattern_length = PAGE_BYTES, .chunk_bytes = 1500};
    const nct_reply moved = {.location = "/chunked"};
    const nct_reply moved_for_good = {.status = 308, .location = "/echo"};
    const nct_reply echo = {.is_echo = true};
    assert_int_equal(nct_server_script(server, "/page", &page), 0);
    assert_int_equal(nct_server_script(server, "/chunked", &chunked), 0);
    assert_int_equal(nct_server_script(server, "/moved", &moved), 0);
    assert_int_equal(nct_server_script(server, "/moved-for-good", &moved_for_good), 0);
    assert_int_equal(nct_server_script(server, "/echo", &echo), 0);
}

static void torture(exchange_case at) {
    at.server = torture_start(at.is_tls ? NCT_TLS_VALID : NCT_PLAIN);
    at.parallel = at.parallel == 0 ? 1 : at.parallel;
    at.upload = malloc(UPLOAD_BYTES);
    assert_non_null(at.upload);
    for (size_t i = 0; i < UPLOAD_BYTES; i++) {
        at.upload[i] = (uint8_t)torture_mix(i, 1);
    }
    script(at.server);
    // Runs once without a failure, so that one-time allocations have been made.
    run_case(&at);
    assert_int_equal(at.ended[NC_OK], at.parallel);
    uint64_t began_ms = torture_now_ms();
    uint64_t rounds = torture_number("NETCORE_TORTURE_ROUNDS", 1);
    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t points = each_allocation_failure(run_case, &at);
        print_message("%s: %llu points, %llu ms;", at.name, (unsigned long long)points,
                      (unsigned long long)(torture_now_ms() - began_ms));
        assert_true(points > 20);
    }
    for (size_t i = 0; i < MAX_STATUS; i++) {
        if (at.ended[i] != 0) {
            print_message(" %zu %s", at.ended[i], nc_status_name((nc_status)i));
        }
    }
    print_message("\n");
    free(at.upload);
    nct_server_stop(at.server);
}

static void get__survives_any_failing_allocation(void **state) {
    (void)state;
    torture((exchange_case){.name = "GET", .path = "/page"});
}

static void get__without_a_sink_survives_any_failing_allocation(void **state) {
    (void)state;
    torture(
        (exchange_case){.name = "GET without a sink", .path = "/page", .has_no_sink = true, .accepts_codings = true});
}

static void post__survives_any_failing_allocation(void **state) {
    (void)state;
    torture((exchange_case){.name = "POST", .path = "/echo", .is_post = true});
}

static void redirect__survives_any_failing_allocation(void **state) {
    (void)state;
    torture((exchange_case){.name = "redirected GET", .path = "/moved"});
    torture((exchange_case){.name = "redirected POST", .path = "/moved-for-good", .is_post = true});
}

static void tls__survives_any_failing_allocation(void **state) {
    (void)state;
    torture((exchange_case){.name = "TLS GET", .path = "/page", .is_tls = true});
}

static void poll__survives_any_failing_allocation(void **state) {
    (void)state;
    torture((exchange_case){.name = "GET over poll", .path = "/page", .poller = NC_POLLER_POLL});
}

static void parallel__survives_any_failing_allocation(void **state) {
    (void)state;
    torture((exchange_case){.name = "20 GETs over poll", .path = "/page", .parallel = 20, .poller = NC_POLLER_POLL});
    torture((exchange_case){.name = "6 TLS GETs", .path = "/page", .parallel = 6, .is_tls = true});
}

int main(void) {
    harness_begin();
    harness_use_curl_allocator();
    const struct CMUnitTest cases[] = {
        harness_case(get__survives_any_failing_allocation),
        harness_case(get__without_a_sink_survives_any_failing_allocation),
        harness_case(post__survives_any_failing_allocation),
        harness_case(redirect__survives_any_failing_allocation),
        harness_case(tls__survives_any_failing_allocation),
        harness_case(poll__survives_any_failing_allocation),
        harness_case(parallel__survives_any_failing_allocation),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
