/// The engine against nginx: HTTP/1.1 and HTTP/2, plain and TLS, pooled connections, gzip, 1 byte to 1 GiB.
#include "servers.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIMIT_MS = 60000, GIBIBYTE = 1024 * 1024 * 1024 };

static server plain;
static server secure;

/* --- the server --- */

static void write_config(void) {
    const char *root = server_path("files");
    // As root, workers would change to a user that cannot read the directory.
    const char *user = geteuid() == 0 ? "user root;\n" : "";
    const char *temporary = server_path("t");
    server_write_file(
        "nginx.conf",
        server_text(
            "%sdaemon off; worker_processes 1; pid %s; error_log %s;\n"
            "events { worker_connections 1024; }\n"
            "http { access_log off; sendfile on; keepalive_requests 100000; gzip on; gzip_types *; gzip_min_length 1;\n"
            "client_body_temp_path %s/b; proxy_temp_path %s/p; fastcgi_temp_path %s/f; uwsgi_temp_path %s/u;\n"
            "scgi_temp_path %s/s; root %s;\n"
            "server { listen 127.0.0.1:%u; location /giant { gzip off; } location /moved { return 302 /one; } }\n"
            "server { listen 127.0.0.1:%u ssl http2; ssl_certificate %s; ssl_certificate_key %s;\n"
            "location /unread { return 200 unread; } } }\n",
            user, server_path("pid"), server_path("error.log"), temporary, temporary, temporary, temporary, temporary,
            root, plain.port, secure.port, server_path("cert.pem"), server_path("key.pem")),
        0);
}

static int start_nginx(void **state) {
    (void)state;
    servers_begin();
    assert_int_equal(mkdir(server_path("files"), 0755), 0);
    assert_int_equal(mkdir(server_path("t"), 0755), 0);
    server_write_file("files/one", NULL, 1);
    server_write_file("files/page", NULL, 65536);
    server_write_file("files/giant", NULL, 0);
    // A sparse file, which reads as zeros.
    assert_int_equal(truncate(server_path("files/giant"), GIBIBYTE), 0);
    server_listen(&plain);
    server_listen(&secure);
    write_config();
    // Uses nginx's mechanism for inheriting sockets at an upgrade.
    server_run_with(&plain, &secure,
                    (const char *[]){"nginx", "-p", server_path(""), "-c", server_path("nginx.conf"), NULL},
                    "NGINX=3;4;");
    return 0;
}

static int stop_nginx(void **state) {
    (void)state;
    server_stop(&plain);
    server_stop(&secure);
    servers_end();
    return 0;
}

/* --- asking --- */

static nc_engine *new_engine(void) {
    nc_engine *engine;
    nc_trust *trust;
    nc_error err;
    nc_trust_options options = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of(server_path("ca.pem"))};
    assert_int_equal(nc_trust_new(&trust, &options, &err), NC_OK);
    assert_int_equal(nc_engine_new(&engine, &(nc_engine_options){.trust = trust}, &err), NC_OK);
    nc_trust_release(trust);
    return engine;
}

static nc_request request_for(char *url, size_t size, bool is_tls, const char *path) {
    assert_true(snprintf(url, size, "%s://localhost:%u%s", is_tls ? "https" : "http", is_tls ? secure.port : plain.port,
                         path) < (int)size);
    return (nc_request){.url = nc_slice_of(url)};
}

static nc_response *fetch(nc_engine *engine, const nc_request *request) {
    nc_transfer_id id;
    nc_response *response;
    nc_error err;
    assert_int_equal(nc_engine_submit(engine, request, NULL, &id, &err), NC_OK);
    nc_status status = nc_engine_wait(engine, id, LIMIT_MS, &response, &err);
    if (status != NC_OK)
        print_error("%s\n", err.message);
    assert_int_equal(status, NC_OK);
    return response;
}

/* --- cases --- */

static void nginx__serves_one_byte_and_a_page_over_http_1_1(void **state) {
    char url[128];
    nc_engine *engine = new_engine();
    (void)state;
    nc_request request = request_for(url, sizeof url, false, "/one");
    nc_response *response = fetch(engine, &request);
    assert_int_equal(nc_response_http_version(response), NC_HTTP_VERSION_1_1);
    assert_true(nc_slice_is_equal(nc_response_body(response), nc_slice_of("a")));
    nc_response_release(response);
    request = request_for(url, sizeof url, false, "/page");
    response = fetch(engine, &request);
    assert_int_equal(nc_response_body(response).length, 65536);
    assert_int_equal(nc_response_body(response).data[65535], 'a' + 65535 % 26);
    assert_true(nc_response_hop_at(response, 0).is_reused);
    nc_response_release(response);
    assert_int_equal(nc_engine_close(engine, LIMIT_MS), NC_OK);
}

static void nginx__serves_a_hundred_requests_on_one_connection(void **state) {
    char url[128];
    uint32_t connections = 0;
    nc_engine *engine = new_engine();
    (void)state;
    nc_request request = request_for(url, sizeof url, false, "/one");
    for (int i = 0; i < 100; i++) {
        nc_response *response = fetch(engine, &request);
        connections += nc_response_hop_at(response, 0).connections_opened;
        nc_response_release(response);
    }
    assert_int_equal(connections, 1);
    assert_int_equal(nc_engine_close(engine, LIMIT_MS), NC_OK);
}

static void nginx__follows_a_relative_redirect(void **state) {
    char url[128];
    nc_engine *engine = new_engine();
    (void)state;
    nc_request request = request_for(url, sizeof url, false, "/moved");
    nc_response *response = fetch(engine, &request);
    assert_int_equal(nc_response_hop_count(response), 2);
    assert_int_equal(nc_response_hop_at(response, 0).status, 302);
    assert_int_equal(nc_response_status(response), 200);
    nc_response_release(response);
    assert_int_equal(nc_engine_close(engine, LIMIT_MS), NC_OK);
}

static void nginx__its_gzip_bodies_decode_completely(void **state) {
    char url[128];
    nc_slice coding;
    nc_engine *engine = new_engine();
    (void)state;
    nc_request request = request_for(url, sizeof url, false, "/page");
    request.accepts_codings = true;
    nc_response *response = fetch(engine, &request);
    assert_true(nc_response_find_header(response, nc_slice_of("content-encoding"), &coding));
    assert_true(nc_slice_is_equal(coding, nc_slice_of("gzip")));
    assert_true(harness_is_pattern(nc_response_body(response), 65536));
    nc_hop_metrics hop = nc_response_hop_at(response, 0);
    assert_true(hop.received_bytes < 4096);
    assert_int_equal(hop.decoded_bytes, 65536);
    nc_response_release(response);
    assert_int_equal(nc_engine_close(engine, LIMIT_MS), NC_OK);
}

static void nginx__tls_uses_the_requested_protocol(void **state) {
    char url[128];
    nc_engine *engine = new_engine();
    (void)state;
    nc_request request = request_for(url, sizeof url, true, "/one");
    nc_response *response = fetch(engine, &request);
    assert_int_equal(nc_response_http_version(response), NC_HTTP_VERSION_2);
    assert_true(nc_slice_is_equal(nc_response_body(response), nc_slice_of("a")));
    assert_true(nc_response_hop_at(response, 0).secured_ns > 0);
    nc_response_release(response);
    request.http = NC_HTTP_1_1;
    response = fetch(engine, &request);
    assert_int_equal(nc_response_http_version(response), NC_HTTP_VERSION_1_1);
    assert_true(nc_slice_is_equal(nc_response_body(response), nc_slice_of("a")));
    nc_response_release(response);
    assert_int_equal(nc_engine_close(engine, LIMIT_MS), NC_OK);
}

/// The server selects HTTP/2 if it is offered, and libcurl would drop the trailers there.
static void nginx__a_request_with_trailers_uses_http_1_1(void **state) {
    static const nc_header sum = {{(const uint8_t *)"X-Sum", 5}, {(const uint8_t *)"17", 2}};
    char url[128];
    nc_engine *engine = new_engine();
    (void)state;
    nc_request request = request_for(url, sizeof url, true, "/unread");
    nc_response *response = fetch(engine, &request);
    assert_int_equal(nc_response_http_version(response), NC_HTTP_VERSION_2);
    nc_response_release(response);
    request.method = nc_slice_of("POST");
    request.body = nc_slice_of("hello");
    request.trailers = (nc_trailers){.fields = &sum, .count = 1};
    response = fetch(engine, &request);
    assert_int_equal(nc_response_http_version(response), NC_HTTP_VERSION_1_1);
    assert_true(nc_slice_is_equal(nc_response_body(response), nc_slice_of("unread")));
    nc_response_release(response);
    assert_int_equal(nc_engine_close(engine, LIMIT_MS), NC_OK);
}

static void nginx__serves_500_http_2_streams_on_one_connection_then_http_1_1(void **state) {
    enum { STREAMS = 500 };
    char url[128];
    nc_transfer_id ids[STREAMS];
    uint32_t connections = 0;
    nc_error err;
    // Since 8.0, libcurl does not make concurrent requests wait until a host's protocol is known. Each may open a
    // connection.
    unsigned first = nc_capabilities_query().curl_version[0] == '7' ? 1 : 16;
    nc_engine *engine = new_engine();
    (void)state;
    nc_request request = request_for(url, sizeof url, true, "/page");
    for (int i = 0; i < STREAMS; i++)
        assert_int_equal(nc_engine_submit(engine, &request, NULL, &ids[i], &err), NC_OK);
    for (int i = 0; i < STREAMS; i++) {
        nc_response *response;
        assert_int_equal(nc_engine_wait(engine, ids[i], LIMIT_MS, &response, &err), NC_OK);
        assert_int_equal(nc_response_http_version(response), NC_HTTP_VERSION_2);
        assert_int_equal(nc_response_body(response).length, 65536);
        assert_in_range(nc_response_hop_at(response, 0).connection_id, 1, first);
        connections += nc_response_hop_at(response, 0).connections_opened;
        nc_response_release(response);
    }
    assert_in_range(connections, 1, first);
    // Plain requests use receive buffers of another size.
    request = request_for(url, sizeof url, false, "/page");
    for (int i = 0; i < STREAMS; i++)
        assert_int_equal(nc_engine_submit(engine, &request, NULL, &ids[i], &err), NC_OK);
    for (int i = 0; i < STREAMS; i++) {
        nc_response *response;
        assert_int_equal(nc_engine_wait(engine, ids[i], LIMIT_MS, &response, &err), NC_OK);
        assert_int_equal(nc_response_body(response).length, 65536);
        nc_response_release(response);
    }
    assert_int_equal(nc_engine_close(engine, LIMIT_MS), NC_OK);
}

/// nginx responds immediately and then resets the stream (RFC 9113, section 8.1).
static void nginx__responds_to_uploads_that_it_does_not_read(void **state) {
    enum { PAIRS = 200 };
    static char body[200000];
    char upload_url[128];
    char page_url[128];
    nc_transfer_id ids[2 * PAIRS];
    nc_error err;
    nc_engine *engine = new_engine();
    (void)state;
    nc_request upload = request_for(upload_url, sizeof upload_url, true, "/unread");
    nc_request page = request_for(page_url, sizeof page_url, true, "/page");
    upload.method = nc_slice_of("POST");
    upload.body = nc_slice_make(body, sizeof body);
    for (size_t i = 0; i < PAIRS; i++) {
        assert_int_equal(nc_engine_submit(engine, &upload, NULL, &ids[2 * i], &err), NC_OK);
        assert_int_equal(nc_engine_submit(engine, &page, NULL, &ids[2 * i + 1], &err), NC_OK);
    }
    for (size_t i = 0; i < (size_t)2 * PAIRS; i++) {
        nc_response *response;
        nc_status status = nc_engine_wait(engine, ids[i], LIMIT_MS, &response, &err);
        if (status != NC_OK)
            print_error("%s\n", err.message);
        assert_int_equal(status, NC_OK);
        assert_int_equal(nc_response_http_version(response), NC_HTTP_VERSION_2);
        assert_int_equal(nc_response_body(response).length, i % 2 == 0 ? 6 : 65536);
        nc_response_release(response);
    }
    assert_int_equal(nc_engine_close(engine, LIMIT_MS), NC_OK);
}

typedef struct count {
    uint64_t bytes;
    nc_status status;
    bool is_done;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
} count;

static nc_action count_bytes(void *ctx, nc_transfer_id id, nc_slice bytes) {
    (void)id;
    ((count *)ctx)->bytes += bytes.length;
    return NC_ACTION_CONTINUE;
}

static void count_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    count *one = ctx;
    (void)id;
    (void)response;
    pthread_mutex_lock(&one->mutex);
    one->status = error->status;
    one->is_done = true;
    pthread_cond_signal(&one->changed);
    pthread_mutex_unlock(&one->mutex);
}

/// Returns the peak resident memory so far in KiB, as counted by the kernel.
static long peak_kib(void) {
    char line[256];
    long peak = 0;
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        (void)sscanf(line, "VmHWM: %ld", &peak);
    (void)fclose(file);
    return peak;
}

static void nginx__sends_a_gibibyte_in_constant_memory(void **state) {
    char url[128];
    nc_error err;
    nc_transfer_id id;
    count one = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    nc_sink sink = {.ctx = &one, .on_body = count_bytes, .on_done = count_done};
    nc_engine *engine = new_engine();
    (void)state;
    nc_request request = request_for(url, sizeof url, false, "/giant");
    request.limits.max_body_bytes = GIBIBYTE;
    long before = peak_kib();
    assert_int_equal(nc_engine_submit(engine, &request, &sink, &id, &err), NC_OK);
    pthread_mutex_lock(&one.mutex);
    while (!one.is_done)
        pthread_cond_wait(&one.changed, &one.mutex);
    pthread_mutex_unlock(&one.mutex);
    assert_int_equal(one.status, NC_OK);
    assert_int_equal(one.bytes, GIBIBYTE);
    assert_true(peak_kib() - before < 16L * 1024);
    assert_int_equal(nc_engine_close(engine, LIMIT_MS), NC_OK);
}

static void nginx__a_body_of_1_gib_is_rejected_by_the_default_limit(void **state) {
    char url[128];
    nc_error err;
    nc_transfer_id id;
    nc_response *response;
    nc_engine *engine = new_engine();
    (void)state;
    nc_request request = request_for(url, sizeof url, false, "/giant");
    assert_int_equal(nc_engine_submit(engine, &request, NULL, &id, &err), NC_OK);
    assert_int_equal(nc_engine_wait(engine, id, LIMIT_MS, &response, &err), NC_ERR_BODY_TOO_LARGE);
    assert_int_equal(nc_response_body(response).length, 0);
    nc_response_release(response);
    assert_int_equal(nc_engine_close(engine, LIMIT_MS), NC_OK);
}

int main(void) {
    harness_begin();
    if (!server_is_installed("nginx")) {
        return server_missing("nginx");
    }
    const struct CMUnitTest cases[] = {
        harness_case(nginx__serves_one_byte_and_a_page_over_http_1_1),
        harness_case(nginx__serves_a_hundred_requests_on_one_connection),
        harness_case(nginx__follows_a_relative_redirect),
        harness_case(nginx__its_gzip_bodies_decode_completely),
        harness_case(nginx__tls_uses_the_requested_protocol),
        harness_case(nginx__a_request_with_trailers_uses_http_1_1),
        harness_case(nginx__serves_500_http_2_streams_on_one_connection_then_http_1_1),
        harness_case(nginx__responds_to_uploads_that_it_does_not_read),
        harness_case(nginx__sends_a_gibibyte_in_constant_memory),
        harness_case(nginx__a_body_of_1_gib_is_rejected_by_the_default_limit),
    };
    return cmocka_run_group_tests(cases, start_nginx, stop_nginx);
}
