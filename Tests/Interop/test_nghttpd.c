/// The engine against nghttpd, nghttp2's own server: HTTP/2 with prior knowledge (h2c) and over TLS.
#include "faulty.h"
#include "fetched.h"
#include "full_disk.h"
#include "servers.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAGE_BYTES = 65536,
    ECHO_BYTES = 16 * 1024 * 1024,
    GIANT_BYTES = 4 * 1024 * 1024,
    HUGE_BYTES = 256 * 1024 * 1024
};

static server clear_server;
static server tls_server;
static server odd_server; // narrow windows, padding, no Content-Length, few streams, responses before the body

/* --- the servers --- */

static int start_nghttpd(void **state) {
    (void)state;
    servers_begin();
    const char *files = server_path("files");
    assert_int_equal(mkdir(files, 0755), 0);
    server_write_file("files/one", "a", 0);
    server_write_file("files/page", NULL, PAGE_BYTES);
    server_write_file("files/giant", NULL, GIANT_BYTES);
    server_write_file("files/huge", "", 0);
    // A sparse file, larger than the buffers of sockets and libcurl while there is no reader.
    assert_int_equal(truncate(server_path("files/huge"), HUGE_BYTES), 0);
    server_reserve(&clear_server);
    server_reserve(&tls_server);
    server_reserve(&odd_server);
    server_run(&clear_server,
               (const char *[]){"nghttpd", "-a", "127.0.0.1", "-d", files, "--no-tls", "--echo-upload",
                                server_text("%u", clear_server.port), NULL},
               NULL);
    server_run(&tls_server,
               (const char *[]){"nghttpd", "-a", "127.0.0.1", "-d", files, "--echo-upload", "-p", "/one=/page,/giant",
                                server_text("%u", tls_server.port), server_path("key.pem"), server_path("cert.pem"),
                                NULL},
               NULL);
    server_run(&odd_server,
               (const char *[]){"nghttpd",
                                "-a",
                                "127.0.0.1",
                                "-d",
                                files,
                                "-m",
                                "5",
                                "-b",
                                "255",
                                "--no-content-length",
                                "--early-response",
                                "--trailer",
                                "x-sum: 42",
                                "--trailer",
                                "x-end: now",
                                "-w",
                                "16",
                                "-W",
                                "16",
                                "-c",
                                "0",
                                server_text("%u", odd_server.port),
                                server_path("key.pem"),
                                server_path("cert.pem"),
                                NULL},
               NULL);
    return 0;
}

static int stop_nghttpd(void **state) {
    (void)state;
    server_stop(&clear_server);
    server_stop(&tls_server);
    server_stop(&odd_server);
    servers_end();
    return 0;
}

static nc_request clear_request(fixture *f, const server *one, const char *path) {
    nc_request request = ask_for(f, one, "http", path);
    request.http = NC_HTTP_2_PRIOR_KNOWLEDGE;
    return request;
}

/// libcurl 7.88 opens a new connection for each request without TLS.
static bool shares_clear_connections(void) {
    return strncmp(nc_capabilities_query().curl_version, "7.", 2) != 0;
}

/* --- cases --- */

static void nghttpd__cleartext_http_2_needs_no_upgrade(void **state) {
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    nc_request request = clear_request(&f, &clear_server, "/one");
    answer one = fixture_send(&f, &request);
    assert_response(one, 200, "a");
    assert_int_equal(nc_response_http_version(one.response), NC_HTTP_VERSION_2);
    assert_false(nc_response_is_close_delimited(one.response));
    request.method = nc_slice_of("HEAD");
    assert_response(fixture_send(&f, &request), 200, "");
    request = clear_request(&f, &clear_server, "/missing");
    one = fixture_send(&f, &request);
    assert_int_equal(nc_response_status(one.response), 404);
    assert_int_equal(nc_response_hop_at(one.response, 0).connections_opened, shares_clear_connections() ? 0 : 1);
    fixture_stop(&f);
}

static void nghttpd__cleartext_http_2_is_used_only_on_request(void **state) {
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    nc_request request = ask_for(&f, &clear_server, "http", "/one");
    // The preface is missing, so nghttpd closes: there is no response that could be taken for HTTP/1.1.
    answer one = fixture_send(&f, &request);
    assert_true(one.error.status != NC_OK);
    assert_int_equal(nc_response_status(one.response), 0);
    fixture_stop(&f);
}

/// Since 8.0, libcurl does not make concurrent requests wait until a host's protocol is known. Each may open a
/// connection.
static unsigned first_connections(void) {
    return shares_clear_connections() ? 8 : 1;
}

static void assert_streams(fixture *f, nc_request request, size_t body_bytes, unsigned max_connections) {
    enum { STREAMS = 300 };
    nc_transfer_id ids[STREAMS];
    uint32_t connections = 0;
    for (int i = 0; i < STREAMS; i++) {
        ids[i] = fixture_submit(f, &request);
    }
    for (int i = 0; i < STREAMS; i++) {
        answer one = fixture_wait(f, ids[i]);
        assert_ended(one, NC_OK, 0, "");
        assert_int_equal(nc_response_http_version(one.response), NC_HTTP_VERSION_2);
        assert_true(harness_is_pattern(nc_response_body(one.response), body_bytes));
        connections += nc_response_hop_at(one.response, 0).connections_opened;
    }
    assert_in_range(connections, 1, max_connections);
}

static void nghttpd__serves_300_cleartext_requests(void **state) {
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    assert_streams(&f, clear_request(&f, &clear_server, "/page"), PAGE_BYTES,
                   shares_clear_connections() ? first_connections() : 300);
    fixture_stop(&f);
}

static void nghttpd__serves_300_streams_over_one_tls_connection(void **state) {
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    assert_streams(&f, ask_for(&f, &tls_server, "https", "/page"), PAGE_BYTES, first_connections());
    fixture_stop(&f);
}

/// The pieces of several bodies alternate within one read.
static void nghttpd__a_full_disk_for_one_stream_does_not_affect_others(void **state) {
    enum { STREAMS = 8, FULL = 5 };
    fixture f;
    full_disk disk;
    nc_transfer_id ids[STREAMS];
    temp_directory at = temp_directory_make();
    (void)state;
    full_disk_init(&disk);
    ask_start(&f, &(nc_engine_options){.file_ops = &disk.ops});
    assert_int_equal(mkdir(fixture_text(&f, "%s/full", at.root), 0700), 0);
    for (size_t i = 0; i < STREAMS; i++) {
        nc_request request = ask_for(&f, &tls_server, "https", "/giant");
        request.save_path = nc_slice_of(fixture_text(&f, "%s/%s%zu", at.root, i == FULL ? "full/" : "good", i));
        ids[i] = fixture_submit(&f, &request);
    }
    uint32_t connections = 0;
    for (size_t i = 0; i < STREAMS; i++) {
        answer one = fixture_wait(&f, ids[i]);
        assert_int_equal(one.error.status, i == FULL ? NC_ERR_FILE : NC_OK);
        connections += i == FULL ? 0 : nc_response_hop_at(one.response, 0).connections_opened;
        if (i != FULL) {
            assert_pattern(fixture_text(&f, "%s/good%zu", at.root, i), GIANT_BYTES);
        }
    }
    assert_in_range(connections, 0, first_connections());
    assert_true(rmdir(fixture_text(&f, "%s/full", at.root)) == 0 && temp_directory_count(at.root) == STREAMS - 1);
    fixture_stop(&f);
    temp_directory_remove(&at);
}

/// libcurl 7.88 never shares a connection between hosts, whatever names the certificate has. Each host is evaluated
/// by its own rule.
static void nghttpd__two_hosts_of_one_server_are_two_connections(void **state) {
    static const char wrong[] = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    const nc_slice right_pins[] = {nc_slice_of(server_path("cert.pem"))};
    const nc_slice wrong_pins[] = {nc_slice_of(wrong)};
    const nc_trust_rule rules[] = {
        {.hosts = nc_slice_of("localhost"), .mode = NC_PIN_PUBLIC_KEY, .files = right_pins, .file_count = 1},
        {.hosts = nc_slice_of("127.0.0.1"), .mode = NC_PIN_PUBLIC_KEY, .pins = wrong_pins, .pin_count = 1}};
    const nc_trust_options options = {
        .roots = NC_ROOTS_FILE, .ca_file = nc_slice_of(server_path("ca.pem")), .rules = rules, .rule_count = 2};
    nc_request named = ask_for(&f, &tls_server, "https", "/one");
    named.trust = fixture_trust(&f, &options);
    nc_request numbered = named;
    numbered.url = nc_slice_of(server_text("https://127.0.0.1:%u/one", tls_server.port));
    for (int i = 0; i < 2; i++) {
        answer one = fixture_send(&f, &named);
        assert_response(one, 200, "a");
        assert_int_equal(nc_response_http_version(one.response), NC_HTTP_VERSION_2);
        assert_int_equal(nc_response_hop_at(one.response, 0).is_reused, i == 1);
        assert_status(fixture_send(&f, &numbered).error.status, NC_ERR_PIN_MISMATCH);
    }
    fixture_stop(&f);
}

static void nghttpd__with_few_concurrent_streams_serves_them_all(void **state) {
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    assert_streams(&f, ask_for(&f, &odd_server, "https", "/page"), PAGE_BYTES, 300);
    fixture_stop(&f);
}

static void nghttpd__trailers_are_separate_from_the_head(void **state) {
    fixture f;
    nc_slice value;
    (void)state;
    ask_start(&f, NULL);
    nc_request request = ask_for(&f, &odd_server, "https", "/page");
    answer one = fixture_send(&f, &request);
    assert_true(harness_is_pattern(nc_response_body(one.response), PAGE_BYTES));
    assert_int_equal(nc_response_trailer_count(one.response), 2);
    assert_slice_equals(nc_response_trailer_at(one.response, 0).name, "x-sum");
    assert_slice_equals(nc_response_trailer_at(one.response, 0).value, "42");
    assert_slice_equals(nc_response_trailer_at(one.response, 1).name, "x-end");
    assert_slice_equals(nc_response_trailer_at(one.response, 1).value, "now");
    assert_false(nc_response_find_header(one.response, nc_slice_of("x-sum"), &value));
    fixture_stop(&f);
}

static void nghttpd__server_push_does_not_reach_a_response(void **state) {
    fixture f;
    (void)state;
    ask_start(&f, NULL);
    nc_request request = ask_for(&f, &tls_server, "https", "/one");
    for (int i = 0; i < 3; i++) {
        answer one = fixture_send(&f, &request);
        assert_response(one, 200, "a");
        assert_int_equal(nc_response_hop_at(one.response, 0).received_bytes, 1);
        assert_int_equal(nc_response_hop_at(one.response, 0).connections_opened, i == 0);
    }
    fixture_stop(&f);
}

static void assert_echo(fixture *f, nc_request request) {
    request.method = nc_slice_of("PUT");
    request.body_file = nc_slice_of(server_path("upload"));
    answer one = fixture_send(f, &request);
    assert_ended(one, NC_OK, 0, "");
    assert_int_equal(nc_response_status(one.response), 200);
    assert_true(harness_is_pattern(nc_response_body(one.response), ECHO_BYTES));
    assert_true(nc_response_hop_at(one.response, 0).sent_bytes >= ECHO_BYTES);
}

static void nghttpd__echoes_16_mib_uploaded_from_a_file(void **state) {
    fixture f;
    (void)state;
    server_write_file("upload", NULL, ECHO_BYTES);
    ask_start(&f, NULL);
    assert_echo(&f, clear_request(&f, &clear_server, "/echo"));
    assert_echo(&f, ask_for(&f, &tls_server, "https", "/echo"));
    fixture_stop(&f);
}

static nc_pull pull_some(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    size_t *left = ctx;
    (void)id;
    *filled = *left < capacity ? *left : capacity;
    memset(bytes, 'u', *filled);
    *left -= *filled;
    return *left == 0 ? NC_PULL_END : NC_PULL_MORE;
}

static void nghttpd__accepts_a_body_of_unknown_length(void **state) {
    fixture f;
    size_t left = 300000;
    (void)state;
    ask_start(&f, NULL);
    nc_request request = clear_request(&f, &clear_server, "/echo");
    request.method = nc_slice_of("POST");
    request.body_source = (nc_body_source){.ctx = &left, .pull = pull_some};
    request.body_length = NC_LENGTH_UNKNOWN;
    answer one = fixture_send(&f, &request);
    assert_ended(one, NC_OK, 0, "");
    assert_int_equal(nc_response_body(one.response).length, 300000);
    fixture_stop(&f);
}

static void nghttpd__an_early_response_is_never_a_truncated_success(void **state) {
    fixture f;
    size_t left = 8 * 1024 * 1024;
    (void)state;
    ask_start(&f, NULL);
    nc_request request = ask_for(&f, &odd_server, "https", "/page");
    request.method = nc_slice_of("POST");
    request.body_source = (nc_body_source){.ctx = &left, .pull = pull_some};
    request.body_length = left;
    answer one = fixture_send(&f, &request);
    // nghttpd responds, then resets the stream with NO_ERROR (RFC 9113, section 8.1). libcurl 7.88 reports an error.
    if (one.error.status == NC_OK) {
        assert_true(harness_is_pattern(nc_response_body(one.response), PAGE_BYTES));
    } else {
        assert_status(one.error.status, NC_ERR_HTTP2);
    }
    assert_int_equal(nc_response_status(one.response), 200);
    fixture_stop(&f);
}

typedef struct heads {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned count;
    unsigned ended;
    unsigned worked;
    unsigned final; // errors that a retry would not resolve
} heads;

static nc_action pause_at_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    heads *seen = ctx;
    (void)id;
    (void)response;
    (void)is_last;
    pthread_mutex_lock(&seen->mutex);
    seen->count++;
    pthread_cond_broadcast(&seen->changed);
    pthread_mutex_unlock(&seen->mutex);
    return NC_ACTION_PAUSE;
}

static void note_end(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    heads *seen = ctx;
    (void)id;
    pthread_mutex_lock(&seen->mutex);
    seen->ended++;
    if (error->status == NC_OK && nc_response_body(response).length == GIANT_BYTES) {
        seen->worked++;
    } else if (!nc_status_is_retryable(error->status)) {
        seen->final++;
    }
    pthread_cond_broadcast(&seen->changed);
    pthread_mutex_unlock(&seen->mutex);
}

static void wait_for(heads *seen, const unsigned *value, unsigned count) {
    pthread_mutex_lock(&seen->mutex);
    while (*value < count) {
        pthread_cond_wait(&seen->changed, &seen->mutex);
    }
    pthread_mutex_unlock(&seen->mutex);
}

/// Starts transfers that pause at their heads, with most of their bodies unread.
static void start_standing(fixture *f, heads *seen, nc_request request, nc_transfer_id *ids, unsigned count) {
    const nc_sink sink = {.ctx = seen, .on_head = pause_at_head, .on_done = note_end};
    for (unsigned i = 0; i < count; i++) {
        nc_error err;
        assert_status(nc_engine_submit(f->engine, &request, &sink, &ids[i], &err), NC_OK);
    }
    wait_for(seen, &seen->count, count);
}

static void nghttpd__paused_streams_do_not_block_others(void **state) {
    enum { STREAMS = 6 }; // the default number of connections per host
    fixture f;
    heads seen = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    nc_transfer_id ids[STREAMS];
    (void)state;
    ask_start(&f, NULL);
    nc_request request = ask_for(&f, &tls_server, "https", "/giant");
    request.may_pause = true;
    start_standing(&f, &seen, request, ids, STREAMS);
    request.may_pause = false;
    answer one = fixture_send(&f, &request);
    assert_ended(one, NC_OK, 0, "");
    assert_true(harness_is_pattern(nc_response_body(one.response), GIANT_BYTES));
    for (unsigned i = 0; i < STREAMS; i++) {
        nc_engine_resume(f.engine, ids[i]);
    }
    wait_for(&seen, &seen.ended, STREAMS);
    assert_int_equal(seen.worked, STREAMS);
    fixture_stop(&f);
}

static void nghttpd__streams_that_may_pause_stay_within_the_host_limit(void **state) {
    fixture f;
    (void)state;
    ask_start(&f, &(nc_engine_options){.max_per_host = 2});
    nc_request request = ask_for(&f, &tls_server, "https", "/page");
    request.may_pause = true;
    assert_streams(&f, request, PAGE_BYTES, 2);
    fixture_stop(&f);
}

static nc_action stop_at_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    (void)ctx;
    (void)id;
    (void)response;
    (void)is_last;
    return NC_ACTION_STOP;
}

static void nghttpd__stopping_one_stream_does_not_affect_others(void **state) {
    enum { STREAMS = 8, STOPPED = 3 };
    fixture f;
    heads seen = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    (void)state;
    ask_start(&f, NULL);
    nc_request request = ask_for(&f, &tls_server, "https", "/giant");
    for (int i = 0; i < STREAMS; i++) {
        nc_transfer_id id;
        const nc_sink sink = {.ctx = &seen, .on_head = i == STOPPED ? stop_at_head : NULL, .on_done = note_end};
        assert_status(nc_engine_submit(f.engine, &request, &sink, &id, NULL), NC_OK);
    }
    wait_for(&seen, &seen.ended, STREAMS);
    assert_int_equal(seen.worked, STREAMS - 1);
    assert_int_equal(seen.final, 1);
    // The shared connection is still in use.
    request = ask_for(&f, &tls_server, "https", "/one");
    answer one = fixture_send(&f, &request);
    assert_response(one, 200, "a");
    assert_int_equal(nc_response_hop_at(one.response, 0).connections_opened, 0);
    fixture_stop(&f);
}

static void nghttpd__its_crash_ends_every_stream_and_later_requests_reconnect(void **state) {
    enum { STREAMS = 5 };
    fixture f;
    heads seen = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    nc_transfer_id ids[STREAMS];
    (void)state;
    ask_start(&f, NULL);
    nc_request request = clear_request(&f, &clear_server, "/huge");
    request.limits.max_body_bytes = HUGE_BYTES;
    start_standing(&f, &seen, request, ids, STREAMS);
    server_kill(&clear_server);
    for (unsigned i = 0; i < STREAMS; i++) {
        nc_engine_resume(f.engine, ids[i]);
    }
    wait_for(&seen, &seen.ended, STREAMS);
    assert_int_equal(seen.worked, 0);
    assert_int_equal(seen.final, 0);
    server_run(&clear_server,
               (const char *[]){"nghttpd", "-a", "127.0.0.1", "-d", server_path("files"), "--no-tls",
                                server_text("%u", clear_server.port), NULL},
               NULL);
    request = clear_request(&f, &clear_server, "/one");
    answer one = fixture_send(&f, &request);
    assert_response(one, 200, "a");
    assert_int_equal(nc_response_hop_at(one.response, 0).connections_opened, 1);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    if (!server_is_installed("nghttpd")) {
        return server_missing("nghttpd");
    }
    const struct CMUnitTest cases[] = {
        harness_case(nghttpd__cleartext_http_2_needs_no_upgrade),
        harness_case(nghttpd__cleartext_http_2_is_used_only_on_request),
        harness_case(nghttpd__serves_300_cleartext_requests),
        harness_case(nghttpd__serves_300_streams_over_one_tls_connection),
        harness_case(nghttpd__a_full_disk_for_one_stream_does_not_affect_others),
        harness_case(nghttpd__two_hosts_of_one_server_are_two_connections),
        harness_case(nghttpd__with_few_concurrent_streams_serves_them_all),
        harness_case(nghttpd__trailers_are_separate_from_the_head),
        harness_case(nghttpd__server_push_does_not_reach_a_response),
        harness_case(nghttpd__echoes_16_mib_uploaded_from_a_file),
        harness_case(nghttpd__accepts_a_body_of_unknown_length),
        harness_case(nghttpd__an_early_response_is_never_a_truncated_success),
        harness_case(nghttpd__paused_streams_do_not_block_others),
        harness_case(nghttpd__streams_that_may_pause_stay_within_the_host_limit),
        harness_case(nghttpd__stopping_one_stream_does_not_affect_others),
        harness_case(nghttpd__its_crash_ends_every_stream_and_later_requests_reconnect), // last: it restarts a server
    };
    return cmocka_run_group_tests(cases, start_nghttpd, stop_nghttpd);
}
