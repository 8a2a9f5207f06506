/// The cookie jar with each allocation failing in turn: no crash, leak or hang, and its file is never incomplete.
#include "fixture.h"

#include <netcore/cookies.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Shared by all runs. Created before allocations fail.
typedef struct jar_fixture {
    nct_server *server;
    nc_trust *trusts[2]; // one connection pool each
    char directory[64];
    char jar[96];
    char url[96];
    unsigned ends;
    unsigned successes;
} jar_fixture;

static const char old_jar[] = "127.0.0.1\tFALSE\t/\tFALSE\t0\told\t1\n";

static void write_jar(const jar_fixture *one) {
    FILE *file = fopen(one->jar, "w");
    assert_non_null(file);
    assert_true(fputs(old_jar, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/// The file is the old jar, or a complete new one.
static void check_jar(const jar_fixture *one) {
    char text[2000];
    FILE *file = fopen(one->jar, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    assert_int_equal(fclose(file), 0);
    bool is_new = strncmp(text, "# Netscape HTTP Cookie File\n", 28) == 0 && text[length - 1] == '\n';
    if (!is_new) {
        assert_string_equal(text, old_jar);
    }
}

/// `second` is the value of one of the Cookie fields that the caller sets.
static void send_request(jar_fixture *one, nc_engine *engine, nc_trust *trust, const char *second) {
    nc_transfer_id id;
    nc_response *response = NULL;
    nc_error err;
    const nc_header own[] = {{nc_slice_of("Cookie"), nc_slice_of("mine=1")},
                             {nc_slice_of("Cookie"), nc_slice_of(second)}};
    const nc_request request = {.url = nc_slice_of(one->url), .trust = trust, .headers = own, .header_count = 2};
    if (nc_engine_submit(engine, &request, NULL, &id, &err) == NC_OK) {
        nc_status status = nc_engine_wait(engine, id, FIXTURE_LIMIT_MS, &response, &err);
        assert_int_not_equal(status, NC_ERR_WAIT_TIMED_OUT);
        one->successes += status == NC_OK ? 1 : 0;
        nc_response_release(response);
    }
}

/// Hundreds of runs need no durability.
static int no_sync(void *ctx, int fd) {
    (void)ctx;
    (void)fd;
    return 0;
}

static void run(void *ctx) {
    jar_fixture *one = ctx;
    nc_engine *engine = NULL;
    nc_buf text = nc_buf_init(100000);
    nc_error err;
    nc_file_ops files = nc_file_ops_system();
    files.sync = no_sync;
    const nc_engine_options options = {
        .cookies = NC_COOKIES_FILE, .cookie_file = nc_slice_of(one->jar), .file_ops = &files};
    write_jar(one);
    if (nc_engine_new(&engine, &options, &err) == NC_OK) {
        send_request(one, engine, one->trusts[0], "too=2");
        send_request(one, engine, one->trusts[1], "too=2");
        bool is_set = nc_engine_set_cookies(engine, nc_slice_of("Set-Cookie: set=1; domain=127.0.0.1"), NULL) == NC_OK;
        bool is_copied = nc_engine_copy_cookies(engine, &text, &err) == NC_OK;
        one->successes += is_set && is_copied ? 1 : 0;
        nc_cookie_snapshot *snapshot = NULL;
        nc_status status = nc_engine_snapshot_cookies(engine, &snapshot, &err);
        assert_true(status == NC_OK ? snapshot != NULL : status == NC_ERR_NO_MEMORY && snapshot == NULL);
        if (status == NC_OK) {
            status = nc_cookie_snapshot_append(snapshot, nc_slice_of("127.0.0.1"), &text, &err);
            assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
        }
        nc_cookie_snapshot_release(snapshot);
        status = nc_engine_copy_cookie_field(engine, nc_slice_of(one->url), nc_slice_of(""), &text, &err);
        assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
        send_request(one, engine, one->trusts[0], "too=2");
        assert_status(nc_engine_close(engine, FIXTURE_LIMIT_MS), NC_OK);
    }
    nc_buf_deinit(&text);
    check_jar(one);
    one->ends++;
}

/// Removed cookies are gone from the jar and from the connection pool that had them, or the call reports a failure.
static void run_removal(void *ctx) {
    jar_fixture *one = ctx;
    nc_engine *engine = NULL;
    nc_buf text = nc_buf_init(100000);
    nc_error err;
    if (nc_engine_new(&engine, &(nc_engine_options){.cookies = NC_COOKIES_MEMORY}, &err) == NC_OK) {
        nc_status added = nc_engine_set_cookies(engine, nc_slice_of("Set-Cookie: sid=1; domain=127.0.0.1"), NULL);
        assert_true(added == NC_OK || added == NC_ERR_NO_MEMORY);
        send_request(one, engine, one->trusts[0], "too=2");
        bool is_removed = nc_engine_set_cookies(engine, nc_slice_of(""), NULL) == NC_OK;
        bool is_copied = nc_engine_copy_cookies(engine, &text, &err) == NC_OK;
        assert_false(is_removed && is_copied && text.length > 0);
        // The server may count an earlier request late, if its client has failed.
        char own[32];
        (void)snprintf(own, sizeof own, "run=%ux", one->ends);
        size_t before = nct_server_request_count(one->server);
        send_request(one, engine, one->trusts[0], own);
        for (size_t i = before; is_removed && i < nct_server_request_count(one->server); i++) {
            char head[2000] = "";
            assert_true(nct_server_copy_request(one->server, i, head, sizeof head - 1) < sizeof head);
            assert_true(strstr(head, own) == NULL || strstr(head, "sid=1") == NULL);
        }
        assert_status(nc_engine_close(engine, FIXTURE_LIMIT_MS), NC_OK);
    }
    nc_buf_deinit(&text);
    one->ends++;
}

static void engine__removed_cookies_are_gone_despite_allocation_failures(void **state) {
    jar_fixture one = {0};
    (void)state;
    assert_int_equal(nct_server_start(&one.server, NULL), 0);
    (void)snprintf(one.url, sizeof one.url, "http://127.0.0.1:%u/", nct_server_port(one.server));
    uint64_t points = each_allocation_failure(run_removal, &one);
    assert_true(points > 50);
    assert_int_equal(one.ends, points + 1);
    nct_server_stop(one.server);
}

static void engine__the_cookie_jar_survives_each_allocation_failure(void **state) {
    jar_fixture one = {0};
    (void)state;
    assert_int_equal(nct_server_start(&one.server, NULL), 0);
    assert_int_equal(
        nct_server_script(one.server, "*", &(nct_reply){.headers = "Set-Cookie: a=1\r\nSet-Cookie: b=2; Path=/\r\n"}),
        0);
    for (size_t i = 0; i < 2; i++) {
        const nc_trust_options options = {.min_version = i == 0 ? NC_TLS_1_2 : NC_TLS_1_3};
        assert_status(nc_trust_new(&one.trusts[i], &options, NULL), NC_OK);
    }
    (void)snprintf(one.directory, sizeof one.directory, "/tmp/netcore-memory-XXXXXX");
    assert_non_null(mkdtemp(one.directory));
    (void)snprintf(one.jar, sizeof one.jar, "%s/jar", one.directory);
    (void)snprintf(one.url, sizeof one.url, "http://127.0.0.1:%u/", nct_server_port(one.server));
    uint64_t points = each_allocation_failure(run, &one);
    assert_true(points > 100);
    assert_int_equal(one.ends, points + 1);
    assert_true(one.successes > points); // most runs continue after their failure
    assert_int_equal(unlink(one.jar), 0);
    assert_int_equal(rmdir(one.directory), 0); // no part of a file is left
    nc_trust_release(one.trusts[0]);
    nc_trust_release(one.trusts[1]);
    nct_server_stop(one.server);
}

int main(void) {
    harness_begin();
    harness_use_curl_allocator();
    const struct CMUnitTest cases[] = {harness_case(engine__the_cookie_jar_survives_each_allocation_failure),
                                       harness_case(engine__removed_cookies_are_gone_despite_allocation_failures)};
    return cmocka_run_group_tests(cases, NULL, NULL);
}
