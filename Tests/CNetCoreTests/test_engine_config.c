/// Engine configuration and state: cookies, credentials, proxies, priorities, listing.
#include "faulty.h"
#include "fixture.h"

#include <errno.h>
#include <netcore/cookies.h>
#include <netcore/transfers.h>
#include <nettesting/proxy.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *received_with(fixture *f, size_t index, const char *part) {
    return strstr(fixture_received(f, index), part);
}

/* --- cookies --- */

static void engine__cookies_are_stored_only_if_enabled(void **state) {
    fixture f;
    nc_buf text = nc_buf_init(1000);
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/", (nct_reply){.headers = "Set-Cookie: a=1\r\n"});
    (void)fixture_get(&f, "/");
    (void)fixture_get(&f, "/");
    assert_null(received_with(&f, 1, "Cookie:"));
    assert_status(nc_engine_copy_cookies(f.engine, &text, NULL), NC_ERR_USAGE);
    nc_buf_deinit(&text);
    fixture_stop(&f);
}

static void engine__a_jar_sends_back_stored_cookies(void **state) {
    fixture f;
    nc_buf text = nc_buf_init(10000);
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){.cookies = NC_COOKIES_MEMORY});
    fixture_script(&f, "/", (nct_reply){.headers = "Set-Cookie: a=1; HttpOnly\r\nSet-Cookie: b=2; Path=/deep\r\n"});
    (void)fixture_get(&f, "/");
    (void)fixture_get(&f, "/");
    assert_non_null(received_with(&f, 1, "Cookie: a=1\r\n"));
    nc_header own = {nc_slice_of("Cookie"), nc_slice_of("own=3")};
    nc_request request = fixture_request(&f, "/");
    request.headers = &own;
    request.header_count = 1;
    (void)fixture_send(&f, &request);
    assert_non_null(received_with(&f, 2, "own=3"));
    assert_non_null(received_with(&f, 2, "a=1"));
    const char *first = received_with(&f, 2, "Cookie:");
    assert_non_null(first);
    assert_null(strstr(first + 1, "Cookie:"));
    request = fixture_request(&f, "/");
    request.cookie_use = NC_COOKIES_IGNORE;
    (void)fixture_send(&f, &request);
    assert_null(received_with(&f, 3, "Cookie:"));
    assert_status(nc_engine_copy_cookies(f.engine, &text, NULL), NC_OK);
    nc_buf_append_byte(&text, 0);
    assert_non_null(strstr((const char *)text.data, "\ta\t1\n"));
    assert_non_null(strstr((const char *)text.data, "\tb\t2\n"));
    assert_status(nc_engine_set_cookies(f.engine, nc_slice_of(""), NULL), NC_OK);
    (void)fixture_get(&f, "/missing");
    assert_null(received_with(&f, 4, "Cookie:"));
    nc_buf_deinit(&text);
    fixture_stop(&f);
}

static void engine__a_cookie_file_outlives_its_engine(void **state) {
    fixture f;
    char path[64];
    struct stat info;
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/netcore-jar-%ld", (long)getpid());
    const nc_engine_options options = {.cookies = NC_COOKIES_FILE, .cookie_file = nc_slice_of(path)};
    for (int round = 0; round < 2; round++) {
        fixture_start_with(&f, NULL, &options);
        fixture_script(&f, "/", (nct_reply){.headers = "Set-Cookie: kept=1; Max-Age=1000\r\n"});
        (void)fixture_get(&f, "/");
        assert_int_equal(received_with(&f, 0, "Cookie: kept=1") != NULL, round == 1);
        fixture_stop(&f); // closes the engine, which saves the remaining state
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0600);
    }
    unlink(path);
}

static void copy_message(void *ctx, const nc_error *error) {
    (void)snprintf(ctx, sizeof error->message, "%s", error->message);
}

static void engine__a_cookie_file_is_read_and_saved_despite_interrupted_calls(void **state) {
    static const char old[] = "127.0.0.1\tFALSE\t/\tFALSE\t0\told\t1\n";
    faulty_files files;
    temp_directory at = temp_directory_make();
    uint64_t nth = 1;
    (void)state;
    faulty_init(&files);
    do {
        fixture f;
        char failure[sizeof((nc_error *)NULL)->message] = "";
        const char *path = temp_directory_path(at.root, "jar");
        temp_file_write(path, nc_slice_of(old));
        const nc_engine_options options = {.cookies = NC_COOKIES_FILE,
                                           .cookie_file = nc_slice_of(path),
                                           .file_ops = &files.ops,
                                           .loop_client = {.ctx = failure, .save_failed = copy_message}};
        faulty_arm(&files, nth++, EINTR);
        fixture_start_with(&f, NULL, &options);
        fixture_script(&f, "/", (nct_reply){.headers = "Set-Cookie: new=2\r\n"});
        (void)fixture_get(&f, "/");
        fixture_stop(&f);
        if (failure[0] != '\0') {
            fail_msg("%s after an interrupted %s", failure, files.failed_op);
        }
        nc_buf text = temp_file_read(temp_directory_path(at.root, "jar"));
        nc_buf_append_byte(&text, 0);
        assert_non_null(strstr((const char *)text.data, "\told\t1\n"));
        assert_non_null(strstr((const char *)text.data, "\tnew\t2\n"));
        nc_buf_deinit(&text);
        assert_int_equal(temp_directory_count(at.root), 1);
    } while (files.has_failed);
    assert_true(nth > 12); // stat, open, read, write, sync, close, rename
    temp_directory_remove(&at);
}

/* --- credentials --- */

static void engine__basic_credentials_are_sent_immediately_and_only_to_their_origin(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/in", (nct_reply){.user = "me", .password = "secret", .body = "in", .body_length = 2});
    fixture_script(&f, "/away", (nct_reply){.location = fixture_url_at(&f, "localhost", "/there")});
    nc_request request = fixture_request(&f, "/in");
    assert_int_equal(nc_response_status(fixture_send(&f, &request).response), 401);
    request.credentials =
        (nc_credentials){.schemes = NC_AUTH_BASIC, .user = nc_slice_of("me"), .password = nc_slice_of("secret")};
    assert_response(fixture_send(&f, &request), 200, "in");
    assert_int_equal(nct_server_request_count(f.server), 2);
    request.url = nc_slice_of(fixture_url(&f, "/away"));
    (void)fixture_send(&f, &request);
    assert_non_null(received_with(&f, 2, "Authorization: Basic "));
    assert_null(received_with(&f, 3, "Authorization"));
    request.credentials = (nc_credentials){.schemes = NC_AUTH_BEARER, .token = nc_slice_of("t.o-k_e")};
    (void)fixture_send(&f, &request);
    assert_non_null(received_with(&f, 4, "Authorization: Bearer t.o-k_e\r\n"));
    assert_null(received_with(&f, 5, "Authorization"));
    fixture_stop(&f);
}

typedef struct heads {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned count;
    unsigned last_status;
    unsigned body_bytes;
    nc_error error;
    bool is_done;
} heads;

static nc_action count_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    heads *seen = ctx;
    (void)id;
    (void)is_last;
    seen->count++;
    seen->last_status = nc_response_status(response);
    return NC_ACTION_CONTINUE;
}

static nc_action count_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    heads *seen = ctx;
    (void)id;
    seen->body_bytes += (unsigned)bytes.length;
    return NC_ACTION_CONTINUE;
}

static void record_end(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    heads *seen = ctx;
    (void)id;
    (void)response;
    pthread_mutex_lock(&seen->mutex);
    seen->error = *error;
    seen->is_done = true;
    pthread_cond_signal(&seen->changed);
    pthread_mutex_unlock(&seen->mutex);
}

static void engine__a_challenge_that_libcurl_handles_is_not_delivered(void **state) {
    static const char challenge[] = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n";
    const nct_reply good[] = {{.status = 401, .headers = challenge, .body = "who?", .body_length = 4},
                              {.body = "welcome", .body_length = 7}};
    const nct_reply bad[] = {{.status = 401, .headers = challenge, .body = "who?", .body_length = 4}};
    (void)state;
    for (int is_good = 0; is_good < 2; is_good++) {
        fixture f;
        heads seen = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
        nc_transfer_id id = 0;
        fixture_start(&f, NCT_PLAIN);
        assert_int_equal(nct_server_script_sequence(f.server, "/d", is_good ? good : bad, is_good ? 2 : 1), 0);
        nc_request request = fixture_request(&f, "/d");
        request.method = nc_slice_of("POST");
        request.body = nc_slice_of("posted");
        request.credentials = (nc_credentials){
            .schemes = NC_AUTH_DIGEST | NC_AUTH_BASIC, .user = nc_slice_of("me"), .password = nc_slice_of("secret")};
        nc_sink sink = {.ctx = &seen, .on_head = count_head, .on_body = count_body, .on_done = record_end};
        assert_status(nc_engine_submit(f.engine, &request, &sink, &id, NULL), NC_OK);
        pthread_mutex_lock(&seen.mutex);
        while (!seen.is_done) {
            pthread_cond_wait(&seen.changed, &seen.mutex);
        }
        pthread_mutex_unlock(&seen.mutex);
        assert_status(seen.error.status, NC_OK);
        assert_int_equal(seen.count, 1);
        assert_int_equal(seen.last_status, is_good ? 200 : 401);
        assert_int_equal(seen.body_bytes, is_good ? 7 : 4);
        fixture_stop(&f);
    }
}

/* --- proxies --- */

static void engine__a_proxy_sees_only_its_own_fields(void **state) {
    static const nct_identity identities[] = {NCT_PLAIN, NCT_TLS_VALID};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        nct_proxy *proxy = NULL;
        char head[4096] = {0};
        fixture_start(&f, identities[i]);
        fixture_script(&f, "/p", (nct_reply){.body = "through", .body_length = 7});
        assert_int_equal(nct_proxy_start(&proxy, &(nct_proxy_options){.user = "us", .password = "pw"}), 0);
        nc_header for_proxy = {nc_slice_of("X-Proxy"), nc_slice_of("1")};
        nc_header for_server = {nc_slice_of("X-Server"), nc_slice_of("2")};
        nc_proxy settings = {
            .choice = NC_PROXY_URL,
            .url = nc_slice_of(fixture_text(&f, "http://127.0.0.1:%u", nct_proxy_port(proxy))),
            .headers = &for_proxy,
            .header_count = 1,
            .credentials = {.schemes = NC_AUTH_BASIC, .user = nc_slice_of("us"), .password = nc_slice_of("pw")},
        };
        nc_request request = fixture_request(&f, "/p");
        request.proxy = &settings;
        request.headers = &for_server;
        request.header_count = 1;
        assert_response(fixture_send(&f, &request), 200, "through");
        assert_int_equal(nct_proxy_tunnel_count(proxy), i);
        assert_true(nct_proxy_copy_request(proxy, 0, head, sizeof head - 1) > 0);
        assert_non_null(strstr(head, "X-Proxy: 1\r\n"));
        assert_non_null(strstr(head, "Proxy-Authorization: Basic "));
        assert_int_equal(strstr(head, "X-Server: 2\r\n") == NULL, i == 1); // a tunnel hides it
        assert_null(received_with(&f, 0, "Proxy-Authorization"));
        settings.credentials.password = nc_slice_of("wrong");
        answer one = fixture_send(&f, &request);
        assert_true(one.error.status != NC_OK || nc_response_status(one.response) == 407);
        fixture_stop(&f);
        nct_proxy_stop(proxy);
    }
}

/* --- order --- */

static void engine__queued_transfers_start_by_priority_and_can_be_suspended(void **state) {
    static const nc_priority priorities[] = {NC_PRIORITY_LOW, NC_PRIORITY_NORMAL, NC_PRIORITY_HIGH, NC_PRIORITY_LOW};
    static const char *const expected[] = {"GET /3 ", "GET /2 ", "GET /0 ", "GET /1 "};
    nc_transfer_id ids[4];
    nc_transfer_info info[2];
    fixture f;
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){.max_in_flight = 1});
    fixture_script(&f, "*", (nct_reply){.body = "ok", .body_length = 2});
    nc_engine_set_suspended(f.engine, true);
    for (size_t i = 0; i < 4; i++) {
        nc_request request = fixture_request(&f, fixture_text(&f, "/%zu", i));
        request.priority = priorities[i];
        ids[i] = fixture_submit(&f, &request);
    }
    assert_int_equal(nc_engine_list(f.engine, info, 2), 4);
    assert_int_equal(info[0].state, NC_TRANSFER_WAITING);
    nc_engine_set_priority(f.engine, ids[3], NC_PRIORITY_HIGH);
    // Queued after the other urgent one, which is then lowered.
    nc_engine_set_priority(f.engine, ids[2], NC_PRIORITY_NORMAL);
    nc_engine_set_priority(f.engine, ids[1], NC_PRIORITY_LOW);
    nc_engine_set_priority(f.engine, ids[0], NC_PRIORITY_LOW); // unchanged, so it keeps its position
    nc_engine_set_suspended(f.engine, false);
    for (size_t i = 0; i < 4; i++) {
        assert_response(fixture_wait(&f, ids[i]), 200, "ok");
    }
    for (size_t i = 0; i < 4; i++) {
        assert_memory_equal(fixture_received(&f, i), expected[i], strlen(expected[i]));
    }
    assert_int_equal(nc_engine_list(f.engine, NULL, 0), 0);
    fixture_stop(&f);
}

static void engine__a_request_cancelled_in_the_queue_is_never_sent(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_engine_set_suspended(f.engine, true);
    nc_request request = fixture_request(&f, "/");
    nc_transfer_id id = fixture_submit(&f, &request);
    nc_engine_cancel(f.engine, id);
    assert_ended(fixture_wait(&f, id), NC_ERR_CANCELLED, 0, "");
    assert_int_equal(nct_server_connection_count(f.server), 0);
    fixture_stop(&f);
}

static void engine__a_hop_reports_its_connection_and_cipher(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    fixture_script(&f, "/", (nct_reply){.body = "ok", .body_length = 2});
    answer first = fixture_get(&f, "/");
    answer second = fixture_get(&f, "/");
    nc_hop_metrics one = nc_response_hop_at(first.response, 0);
    nc_hop_metrics two = nc_response_hop_at(second.response, 0);
    assert_true(one.connection_id > 0);
    assert_int_equal(one.connection_id, two.connection_id);
    assert_memory_equal(one.tls_version, "TLSv1", 5);
    assert_true(strlen(one.tls_cipher) > 5);
    fixture_stop(&f);
}

static void engine__the_last_hop_of_a_connection_reports_the_connection_regression_1(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/", (nct_reply){.body = "ok", .body_length = 2});
    fixture_script(&f, "/last", (nct_reply){.headers = "Connection: close\r\n", .ending = NCT_CLOSE});
    answer first = fixture_get(&f, "/");
    answer last = fixture_get(&f, "/last");
    nc_hop_metrics one = nc_response_hop_at(first.response, 0);
    nc_hop_metrics two = nc_response_hop_at(last.response, 0);
    assert_true(two.is_reused);
    assert_true(one.connection_id > 0);
    assert_int_equal(one.connection_id, two.connection_id);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__cookies_are_stored_only_if_enabled),
        harness_case(engine__a_jar_sends_back_stored_cookies),
        harness_case(engine__a_cookie_file_outlives_its_engine),
        harness_case(engine__a_cookie_file_is_read_and_saved_despite_interrupted_calls),
        harness_case(engine__basic_credentials_are_sent_immediately_and_only_to_their_origin),
        harness_case(engine__a_challenge_that_libcurl_handles_is_not_delivered),
        harness_case(engine__a_proxy_sees_only_its_own_fields),
        harness_case(engine__queued_transfers_start_by_priority_and_can_be_suspended),
        harness_case(engine__a_request_cancelled_in_the_queue_is_never_sent),
        harness_case(engine__a_hop_reports_its_connection_and_cipher),
        harness_case(engine__the_last_hop_of_a_connection_reports_the_connection_regression_1),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
