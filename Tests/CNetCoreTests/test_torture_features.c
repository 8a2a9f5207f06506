/// Each allocation of the library and of libcurl fails in turn, for each feature of a transfer: no crash, hang, leak,
/// incomplete file or false success.
///
/// test_torture_allocation.c has the plain exchanges. OpenSSL's allocations never fail here.
#include "coded.h"
#include "torture.h"

#include <curl/curl.h>
#include <dirent.h>
#include <netcore/cookies.h>
#include <netcore/transfers.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE_BYTES = 9000, CLOSE_MS = 10000, MAX_STATUS = 200, MAX_PARALLEL = 3, PATH_BYTES = 128, MIN_POINTS = 500 };

/// Shared by the cases.
typedef struct feature_servers {
    nct_server *plain;
    nct_server *tls;
    nct_server *local; // over a Unix socket
    nct_proxy *http_proxy;
    nct_proxy *socks_proxy;
    char directory[64];
    char upload[PATH_BYTES];
    char saved[PATH_BYTES];
    char jar[PATH_BYTES];
    char netrc[PATH_BYTES];
    char certificate[PATH_BYTES];
    char key[PATH_BYTES];
    char socket[PATH_BYTES];
    uint8_t page[PAGE_BYTES];
    size_t ended[MAX_STATUS];
    uint64_t points;
} feature_servers;

typedef struct feature_case feature_case;

/// The state of the engine's callbacks.
typedef struct callback_state {
    torture_fetch fetch; // first, because it is also the context of torture_sink()
    feature_servers *on;
    nc_engine *engine;
    size_t sent;
    nc_buf received;
    bool has_been_late;
    uint32_t pauses;
} callback_state;

struct feature_case {
    const char *name;
    const char *path;
    bool is_tls;
    bool reads; // to a reader that pauses
    bool is_coded;
    bool is_saved;
    unsigned refused_from; // libcurl version from which a failed allocation may yield the 401; 0: none
    size_t parallel;       // 0 means 1
    void (*ask)(nc_request *request, callback_state *one);
    void (*arrange)(nc_engine_options *options, nc_trust_options *trust, feature_servers *on);
    void (*order)(nc_engine *engine, const nc_transfer_id *ids);
    feature_servers *on;
};

/* --- the requests --- */

static nc_pull pull(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    callback_state *one = ctx;
    if (one->sent >= PAGE_BYTES / 2 && !one->has_been_late) {
        one->has_been_late = true;
        nc_engine_resume(one->engine, id);
        return NC_PULL_LATER;
    }
    size_t left = PAGE_BYTES - one->sent;
    size_t length = left < capacity ? left : capacity;
    *filled = length < 2000 ? length : 2000;
    memcpy(bytes, one->on->page + one->sent, *filled);
    one->sent += *filled;
    return one->sent == PAGE_BYTES ? NC_PULL_END : NC_PULL_MORE;
}

static bool rewind_source(void *ctx, nc_transfer_id id, uint64_t offset) {
    (void)id;
    ((callback_state *)ctx)->sent = offset;
    return true;
}

static void request_pull(nc_request *request, callback_state *one) {
    request->method = nc_slice_of("POST");
    request->body_source = (nc_body_source){.ctx = one, .pull = pull, .seek = rewind_source};
    request->body_length = PAGE_BYTES;
}

static void request_chunks(nc_request *request, callback_state *one) {
    request_pull(request, one);
    request->body_length = NC_LENGTH_UNKNOWN;
}

static void request_file(nc_request *request, callback_state *one) {
    request->method = nc_slice_of("PUT");
    request->body_file = nc_slice_of(one->on->upload);
}

static void request_save(nc_request *request, callback_state *one) {
    request->save_path = nc_slice_of(one->on->saved);
}

static void request_digest(nc_request *request, callback_state *one) {
    (void)one;
    request->credentials =
        (nc_credentials){.schemes = NC_AUTH_DIGEST, .user = nc_slice_of("me"), .password = nc_slice_of("secret")};
}

static void request_through(nc_request *request, const nct_proxy *proxy, const char *scheme) {
    static const nc_header field = {{(const uint8_t *)"X-For-Proxy", 11}, {(const uint8_t *)"1", 1}};
    static char url[TORTURE_URL_BYTES];
    static nc_proxy through;
    (void)snprintf(url, sizeof url, "%s://127.0.0.1:%u", scheme, nct_proxy_port(proxy));
    through = (nc_proxy){
        .choice = NC_PROXY_URL,
        .url = nc_slice_of(url),
        .credentials = {.schemes = NC_AUTH_BASIC, .user = nc_slice_of("me"), .password = nc_slice_of("secret")},
        .headers = &field,
        .header_count = 1,
    };
    request->proxy = &through;
}

static void request_http_proxy(nc_request *request, callback_state *one) {
    request_through(request, one->on->http_proxy, "http");
}

static void request_socks(nc_request *request, callback_state *one) {
    request_through(request, one->on->socks_proxy, "socks5h");
}

static void request_codings(nc_request *request, callback_state *one) {
    (void)one;
    request->accepts_codings = true;
}

static void request_priority(nc_request *request, callback_state *one) {
    static size_t count;
    (void)one;
    request->priority = (nc_priority)(count++ % 3);
}

static void request_unix_socket(nc_request *request, callback_state *one) {
    request->unix_socket = nc_slice_of(one->on->socket);
}

static void request_rate(nc_request *request, callback_state *one) {
    request_file(request, one);
    request->limits.max_send_bytes_per_s = 10 * 1000 * 1000;
    request->limits.max_receive_bytes_per_s = 10 * 1000 * 1000;
}

/* --- the engine's options --- */

static void arrange_jar(nc_engine_options *options, nc_trust_options *trust, feature_servers *on) {
    (void)trust;
    options->cookies = NC_COOKIES_FILE;
    options->cookie_file = nc_slice_of(on->jar);
}

static void arrange_identity(nc_engine_options *options, nc_trust_options *trust, feature_servers *on) {
    (void)options;
    trust->identity_file = nc_slice_of(on->certificate);
    trust->identity_key_file = nc_slice_of(on->key);
}

static void arrange_netrc(nc_engine_options *options, nc_trust_options *trust, feature_servers *on) {
    (void)trust;
    options->uses_netrc = true;
    options->netrc_file = nc_slice_of(on->netrc);
}

static void arrange_memory(nc_engine_options *options, nc_trust_options *trust, feature_servers *on) {
    (void)trust;
    (void)on;
    options->uses_hsts = true;
    options->uses_alt_svc = true;
}

static void arrange_one_slot(nc_engine_options *options, nc_trust_options *trust, feature_servers *on) {
    (void)trust;
    (void)on;
    options->max_per_host = 1;
}

static void order_about(nc_engine *engine, const nc_transfer_id *ids) {
    nc_engine_set_suspended(engine, true);
    nc_engine_set_priority(engine, ids[0], NC_PRIORITY_LOW);
    nc_engine_pause(engine, ids[1]);
    nc_engine_set_priority(engine, ids[2], NC_PRIORITY_HIGH);
    nc_engine_resume(engine, ids[1]);
    nc_engine_set_suspended(engine, false);
}

/* --- results --- */

static nc_action on_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    callback_state *one = ctx;
    nc_buf_append(&one->received, bytes);
    if (nc_buf_status(&one->received) != NC_OK) {
        return NC_ACTION_STOP;
    }
    if (one->pauses < 3) {
        one->pauses++;
        nc_engine_resume(one->engine, id);
        return NC_ACTION_PAUSE;
    }
    return NC_ACTION_CONTINUE;
}

static bool is_saved_whole(const feature_case *at) {
    static uint8_t bytes[PAGE_BYTES + 1];
    FILE *file = fopen(at->on->saved, "rb");
    if (file == NULL) {
        return false;
    }
    size_t length = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    (void)unlink(at->on->saved);
    return length == PAGE_BYTES && memcmp(bytes, at->on->page, PAGE_BYTES) == 0;
}

static bool is_whole(const feature_case *at, const callback_state *one) {
    const nc_response *response = one->fetch.response;
    nc_slice body = at->reads ? nc_buf_slice(&one->received) : nc_response_body(response);
    if (nc_response_status(response) != 200) {
        bool may = at->refused_from != 0 && curl_version_info(CURLVERSION_NOW)->version_num >= at->refused_from;
        return may && nc_response_status(response) == 401 && body.length == 0;
    }
    if (at->is_saved) {
        return is_saved_whole(at);
    }
    return nc_slice_is_equal(body, at->is_coded ? encoded_text() : nc_slice_make(at->on->page, PAGE_BYTES));
}

static void check_end(const feature_case *at, const callback_state *one) {
    nc_status status = one->fetch.status;
    at->on->ended[status]++;
    if (status == NC_OK && !is_whole(at, one)) {
        fail_msg("%s: a success with status %u and a wrong body", at->name, nc_response_status(one->fetch.response));
    }
    if (status >= NC_ERR_CONNECT_TIMED_OUT && status <= NC_ERR_SLOT_TIMED_OUT) {
        fail_msg("%s: ended with %s after an allocation failed", at->name, nc_status_name(status));
    }
}

/// A new file is either complete under its name or removed.
static void check_directory(const feature_case *at) {
    DIR *directory = opendir(at->on->directory);
    assert_non_null(directory);
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        if (strstr(entry->d_name, ".part") != NULL || strstr(entry->d_name, ".nk-") != NULL) {
            fail_msg("%s: '%s' was left behind", at->name, entry->d_name);
        }
    }
    closedir(directory);
    assert_int_equal(access(at->on->saved, F_OK), -1);
}

/* --- runs --- */

static bool submit(const feature_case *at, callback_state *one, nc_transfer_id *id) {
    char url[TORTURE_URL_BYTES];
    nc_request request = {
        .url = torture_url(url, at->is_tls ? "https" : "http", at->is_tls ? at->on->tls : at->on->plain, at->path)};
    if (at->ask != NULL) {
        at->ask(&request, one);
    }
    nc_sink sink = torture_sink(&one->fetch);
    sink.on_body = at->reads ? on_body : NULL;
    return nc_engine_submit(one->engine, &request, &sink, id, NULL) == NC_OK;
}

static void fetch_all(const feature_case *at, nc_engine *engine) {
    callback_state states[MAX_PARALLEL];
    bool is_accepted[MAX_PARALLEL] = {false};
    nc_transfer_id ids[MAX_PARALLEL] = {0};
    size_t parallel = at->parallel == 0 ? 1 : at->parallel;
    for (size_t i = 0; i < parallel; i++) {
        states[i] = (callback_state){.on = at->on, .engine = engine, .received = nc_buf_init(1 << 20)};
        states[i].fetch.keeps_response = true;
        is_accepted[i] = submit(at, &states[i], &ids[i]);
    }
    if (at->order != NULL) {
        at->order(engine, ids);
    }
    for (size_t i = 0; i < parallel; i++) {
        if (is_accepted[i] && !torture_await(&states[i].fetch, 1, TORTURE_PATIENCE_MS)) {
            fail_msg("%s: a transfer hangs after an allocation failed", at->name);
        }
    }
    assert_status(nc_engine_close(engine, CLOSE_MS), NC_OK);
    for (size_t i = 0; i < parallel; i++) {
        assert_int_equal(states[i].fetch.done_count, is_accepted[i] ? 1 : 0);
        if (is_accepted[i]) {
            check_end(at, &states[i]);
            nc_response_release(states[i].fetch.response);
        }
        nc_buf_deinit(&states[i].received);
    }
}

static void run_case(void *ctx) {
    feature_case *at = ctx;
    nc_engine *engine = NULL;
    nc_trust *trust = NULL;
    nc_trust_options trusting = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_server_ca_pem(at->on->tls))};
    nc_engine_options options = {.max_per_host = MAX_PARALLEL};
    const nct_reply challenge[] = {
        {.status = 401, .headers = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"},
        {.pattern_length = PAGE_BYTES},
    };
    assert_int_equal(nct_server_script_sequence(at->on->plain, "/secret", challenge, 2), 0);
    if (at->arrange != NULL) {
        at->arrange(&options, &trusting, at->on);
    }
    if (nc_trust_new(&trust, &trusting, NULL) != NC_OK) {
        return;
    }
    options.trust = trust;
    nc_status status = nc_engine_new(&engine, &options, NULL);
    nc_trust_release(trust);
    if (status != NC_OK) {
        assert_status(status, NC_ERR_NO_MEMORY);
        return;
    }
    fetch_all(at, engine);
    check_directory(at);
}

static void torture(feature_servers *on, feature_case at) {
    at.on = on;
    memset(on->ended, 0, sizeof on->ended);
    // Runs once without a failure, so that one-time allocations have been made.
    run_case(&at);
    if (on->ended[NC_OK] != (at.parallel == 0 ? 1 : at.parallel)) {
        fail_msg("%s: does not even work with all the memory there is", at.name);
    }
    uint64_t began_ms = torture_now_ms();
    uint64_t rounds = torture_number("NETCORE_TORTURE_ROUNDS", 1);
    uint64_t points = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        points = each_allocation_failure(run_case, &at);
        assert_true(points > 20);
    }
    on->points += points;
    print_message("%s: %llu points, %llu ms;", at.name, (unsigned long long)points,
                  (unsigned long long)(torture_now_ms() - began_ms));
    for (size_t i = 0; i < MAX_STATUS; i++) {
        if (on->ended[i] != 0) {
            print_message(" %zu %s", on->ended[i], nc_status_name((nc_status)i));
        }
    }
    print_message("\n");
}

/* --- servers and files --- */

static void write_file(const char *path, nc_slice bytes) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.data, 1, bytes.length, file), bytes.length);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0600), 0);
}

static void name_files(feature_servers *on) {
    assert_non_null(mkdtemp(on->directory));
    const struct {
        char *path;
        const char *name;
    } files[] = {{on->upload, "upload"},        {on->saved, "saved"}, {on->jar, "jar"},      {on->netrc, "netrc"},
                 {on->certificate, "cert.pem"}, {on->key, "key.pem"}, {on->socket, "socket"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        (void)snprintf(files[i].path, PATH_BYTES, "%s/%s", on->directory, files[i].name);
    }
}

static void script(feature_servers *on) {
    const nct_reply page = {.pattern_length = PAGE_BYTES,
                            .chunk_bytes = 1500,
                            .headers = "Set-Cookie: b=2; Max-Age=1000\r\nStrict-Transport-Security: max-age=1000\r\n"
                                       "Alt-Svc: h2=\":1\"; ma=10\r\n",
                            .trailers = "X-One: 1\r\nX-Two: 2\r\n"};
    const nct_reply echo = {.is_echo = true};
    const nct_reply moved = {.status = 308, .location = "/echo"};
    const nct_reply guarded_page = {.pattern_length = PAGE_BYTES, .user = "me", .password = "secret"};
    nct_server *const servers[] = {on->plain, on->tls, on->local};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(nct_server_script(servers[i], "/page", &page), 0);
        assert_int_equal(nct_server_script(servers[i], "/echo", &echo), 0);
        assert_int_equal(nct_server_script(servers[i], "/moved", &moved), 0);
        assert_int_equal(nct_server_script(servers[i], "/guarded", &guarded_page), 0);
    }
    for (size_t i = 0; i < ENCODED_FORMATS; i++) {
        char path[16];
        char headers[64];
        encoded_body body = encoded_body_make(i);
        (void)snprintf(path, sizeof path, "/coded%zu", i);
        (void)snprintf(headers, sizeof headers, "Content-Encoding: %s\r\n", body.coding);
        const nct_reply coded = {
            .headers = headers, .body = body.bytes.data, .body_length = body.bytes.length, .chunk_bytes = 500};
        assert_int_equal(nct_server_script(on->plain, path, &coded), 0);
        nc_buf_deinit(&body.bytes);
    }
}

static void set(feature_servers *on) {
    *on = (feature_servers){.directory = "/tmp/netcore-features-XXXXXX"};
    for (size_t i = 0; i < PAGE_BYTES; i++) {
        on->page[i] = (uint8_t)('a' + i % 26);
    }
    name_files(on);
    const nct_server_options tls = {.identity = NCT_TLS_VALID, .client_check = NCT_CLIENT_ASKED};
    const nct_server_options local = {.unix_path = on->socket};
    const nct_proxy_options http = {.user = "me", .password = "secret"};
    const nct_proxy_options socks = {.kind = NCT_PROXY_SOCKS5, .user = "me", .password = "secret"};
    on->plain = torture_start(NCT_PLAIN);
    assert_int_equal(nct_server_start(&on->tls, &tls), 0);
    assert_int_equal(nct_server_start(&on->local, &local), 0);
    assert_int_equal(nct_proxy_start(&on->http_proxy, &http), 0);
    assert_int_equal(nct_proxy_start(&on->socks_proxy, &socks), 0);
    assert_int_equal(nct_server_client_identity_write(on->tls, on->directory), 0);
    write_file(on->upload, nc_slice_make(on->page, PAGE_BYTES));
    write_file(on->jar, nc_slice_of("127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t1\n"));
    write_file(on->netrc, nc_slice_of("machine 127.0.0.1 login me password secret\n"));
    script(on);
}

static void stop_servers(feature_servers *on) {
    char bundle[PATH_BYTES];
    nct_proxy_stop(on->http_proxy);
    nct_proxy_stop(on->socks_proxy);
    nct_server_stop(on->local);
    nct_server_stop(on->tls);
    nct_server_stop(on->plain);
    (void)snprintf(bundle, sizeof bundle, "%s/client.p12", on->directory);
    const char *const files[] = {on->upload, on->jar, on->netrc, on->certificate, on->key, bundle};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        (void)unlink(files[i]);
    }
    assert_int_equal(rmdir(on->directory), 0);
}

static void features__survive_any_failing_allocation(void **state) {
    static feature_servers on;
    (void)state;
    static const feature_case scenes[] = {
        {.name = "pulled", .path = "/echo", .ask = request_pull},
        {.name = "pulled in chunks, redirected", .path = "/moved", .ask = request_chunks},
        {.name = "file", .path = "/echo", .ask = request_file},
        {.name = "saved", .path = "/page", .ask = request_save, .is_saved = true},
        {.name = "digest", .path = "/secret", .ask = request_digest, .refused_from = 0x075800},
        {.name = "proxy", .path = "/page", .ask = request_http_proxy},
        {.name = "tunnel", .path = "/page", .ask = request_http_proxy, .is_tls = true},
        {.name = "SOCKS", .path = "/page", .ask = request_socks},
        {.name = "identity", .path = "/page", .arrange = arrange_identity, .is_tls = true},
        {.name = "gzip", .path = "/coded0", .ask = request_codings, .is_coded = true},
        {.name = "br", .path = "/coded3", .ask = request_codings, .is_coded = true},
        {.name = "zstd", .path = "/coded4", .ask = request_codings, .is_coded = true},
        {.name = "gzip with rests", .path = "/coded0", .ask = request_codings, .is_coded = true, .reads = true},
        {.name = "zstd with rests", .path = "/coded4", .ask = request_codings, .is_coded = true, .reads = true},
        {.name = "trailers with rests", .path = "/page", .reads = true},
        {.name = "priorities",
         .path = "/page",
         .ask = request_priority,
         .arrange = arrange_one_slot,
         .order = order_about,
         .parallel = MAX_PARALLEL},
        {.name = "jar", .path = "/page", .arrange = arrange_jar},
        {.name = "netrc", .path = "/guarded", .arrange = arrange_netrc, .refused_from = 0x080000},
        {.name = "HSTS and Alt-Svc", .path = "/page", .arrange = arrange_memory, .is_tls = true},
        {.name = "Unix socket", .path = "/page", .ask = request_unix_socket},
        {.name = "paced", .path = "/echo", .ask = request_rate},
    };
    set(&on);
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        torture(&on, scenes[i]);
    }
    print_message("%llu points of %zu features\n", (unsigned long long)on.points, sizeof scenes / sizeof scenes[0]);
    assert_true(on.points >= MIN_POINTS);
    stop_servers(&on);
}

int main(void) {
    harness_begin();
    harness_use_curl_allocator();
    const struct CMUnitTest cases[] = {
        harness_case(features__survive_any_failing_allocation),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
