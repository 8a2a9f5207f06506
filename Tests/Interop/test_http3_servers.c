/// HTTP/3 with nginx and caddy: 1 GiB, many requests, client certificates, Alt-Svc.
#include "quic.h"

#include "curl/quirks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIMIT_MS = 180000, MEBIBYTE = 1024 * 1024, GIBIBYTE = 1024 * MEBIBYTE, UPLOAD = 32 * MEBIBYTE, REQUESTS = 1000 };

/// Starts nginx with these lines in its server.
static void start_nginx(quic *q, const char *lines) {
    const char *user = geteuid() == 0 ? "user root;\n" : "";
    const char *temporary = server_path("t");
    (void)mkdir(temporary, 0755);
    (void)mkdir(server_path("files"), 0755);
    server_write_file("files/hello", "hello", 0);
    server_reserve(&q->server);
    server_write_file(
        "nginx.conf",
        server_text("%sdaemon off; worker_processes 1; pid %s; error_log %s;\nevents { worker_connections 1024; }\n"
                    "http { access_log off; sendfile on; keepalive_requests 100000; client_max_body_size 0;\n"
                    "client_body_temp_path %s/b; proxy_temp_path %s/p; fastcgi_temp_path %s/f; uwsgi_temp_path %s/u;\n"
                    "scgi_temp_path %s/s; root %s;\n"
                    "server { listen 127.0.0.1:%u quic reuseport; listen 127.0.0.1:%u ssl;\n"
                    "ssl_certificate %s; ssl_certificate_key %s;\n%s } }\n",
                    user, server_path("pid"), server_path("error.log"), temporary, temporary, temporary, temporary,
                    temporary, server_path("files"), q->server.port, q->server.port, server_path("cert.pem"),
                    server_path("key.pem"), lines),
        0);
    server_run(&q->server, (const char *[]){"nginx", "-p", server_path(""), "-c", server_path("nginx.conf"), NULL},
               NULL);
    ask_start(&q->f, NULL);
}

static answer wait_long(quic *q, nc_transfer_id id, nc_response **owned) {
    answer one;
    nc_status status = nc_engine_wait(q->f.engine, id, LIMIT_MS, owned, &one.error);
    assert_status(status, one.error.status);
    one.response = *owned;
    return one;
}

static void nginx__serves_a_gibibyte_over_http_3(void **state) {
    quic q;
    nc_transfer_id id;
    nc_error err;
    nc_response *response = NULL;
    struct stat info;
    (void)state;
    start_nginx(&q, "");
    server_write_file("files/giant", "", 0);
    assert_int_equal(truncate(server_path("files/giant"), GIBIBYTE), 0); // sparse; reads as zeros
    nc_request request = quic_request(&q, "/giant");
    request.save_path = nc_slice_of(server_path("saved"));
    assert_status(nc_engine_submit(q.f.engine, &request, NULL, &id, &err), NC_OK);
    answer one = wait_long(&q, id, &response);
    assert_status(one.error.status, NC_OK);
    assert_int_equal(quic_opened(one), 1);
    assert_int_equal(stat(server_path("saved"), &info), 0);
    assert_int_equal(info.st_size, GIBIBYTE);
    nc_response_release(response);
    (void)unlink(server_path("saved"));
    quic_stop(&q);
}

/// nginx receives at most a few MiB per second on a busy machine, from curl too. A source whose bytes are the same
/// within a mebibyte.
static nc_pull pull_upload(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    size_t *at = ctx;
    size_t left = MEBIBYTE - *at % MEBIBYTE;
    (void)id;
    *filled = left < capacity ? left : capacity;
    memset(bytes, 'a' + (int)(*at / MEBIBYTE % 26), *filled);
    *at += *filled;
    return *at == UPLOAD ? NC_PULL_END : NC_PULL_MORE;
}

static void nginx__stores_an_upload_over_http_3(void **state) {
    quic q;
    nc_transfer_id id;
    nc_error err;
    nc_response *response = NULL;
    size_t at = 0;
    struct stat info;
    (void)state;
    start_nginx(&q, "dav_methods PUT;");
    nc_request request = quic_request(&q, "/stored");
    request.method = nc_slice_of("PUT");
    request.body_source = (nc_body_source){.ctx = &at, .pull = pull_upload};
    request.body_length = UPLOAD;
    assert_status(nc_engine_submit(q.f.engine, &request, NULL, &id, &err), NC_OK);
    answer one = wait_long(&q, id, &response);
    assert_status(one.error.status, NC_OK);
    assert_int_equal(nc_response_status(one.response), 201);
    assert_int_equal(quic_opened(one), 1);
    const char *path = server_path("files/stored");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, UPLOAD);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    for (off_t i = 0; i < UPLOAD / MEBIBYTE; i++) {
        char ends[2];
        assert_int_equal(pread(fd, ends, 1, i * MEBIBYTE), 1);
        assert_int_equal(pread(fd, ends + 1, 1, (i + 1) * MEBIBYTE - 1), 1);
        assert_int_equal(ends[0], 'a' + i % 26);
        assert_int_equal(ends[1], ends[0]);
    }
    close(fd);
    (void)unlink(path);
    nc_response_release(response);
    quic_stop(&q);
}

static void nginx__serves_a_thousand_concurrent_requests_over_few_connections(void **state) {
    quic q;
    nc_transfer_id ids[REQUESTS];
    unsigned opened = 0;
    (void)state;
    start_nginx(&q, "");
    assert_response(quic_get(&q, "/hello"), 200, "hello");
    for (size_t i = 0; i < REQUESTS; i++) {
        nc_request request = quic_request(&q, "/hello");
        ids[i] = fixture_submit(&q.f, &request);
    }
    for (size_t i = 0; i < REQUESTS; i++) {
        answer one = fixture_wait(&q.f, ids[i]);
        assert_response(one, 200, "hello");
        opened += quic_opened(one);
    }
    assert_true(opened <= 2);
    quic_stop(&q);
}

static void nginx__gets_an_upload_over_http_3(void **state) {
    enum { LENGTH = 8 * 1024 * 1024 };
    quic q;
    (void)state;
    start_nginx(&q, "location /read { client_body_in_file_only clean; return 200 $content_length; }");
    char *body = malloc(LENGTH);
    assert_non_null(body);
    memset(body, 'b', LENGTH);
    nc_request request = quic_request(&q, "/read");
    request.method = nc_slice_of("PUT");
    request.body = nc_slice_make(body, LENGTH);
    assert_response(fixture_send(&q.f, &request), 200, server_text("%d", LENGTH));
    free(body);
    quic_stop(&q);
}

static void nginx__gets_the_client_certificate_over_http_3(void **state) {
    quic q;
    (void)state;
    start_nginx(&q, server_text("ssl_client_certificate %s; ssl_verify_client optional;\n"
                                "location /who { return 200 $ssl_client_verify; }",
                                server_path("ca.pem")));
    assert_response(quic_get(&q, "/who"), 200, "NONE");
    const nc_trust_options options = {.roots = NC_ROOTS_FILE,
                                      .ca_file = nc_slice_of(server_path("ca.pem")),
                                      .identity_file = nc_slice_of(server_path("cert.pem")),
                                      .identity_key_file = nc_slice_of(server_path("key.pem"))};
    nc_request request = quic_request(&q, "/who");
    request.trust = fixture_trust(&q.f, &options);
    answer one = fixture_send(&q.f, &request);
    assert_status(one.error.status, NC_OK);
    assert_true(strstr(ask_body(&q.f, one), "NONE") == NULL); // SUCCESS, or FAILED for its usage: it was sent
    quic_stop(&q);
}

static void caddy__announces_http_3_and_serves_it(void **state) {
    quic q;
    (void)state;
    server_reserve(&q.server);
    server_write_file(
        "Caddyfile",
        server_text("{\n admin off\n auto_https off\n}\nhttps://localhost:%u {\n bind 127.0.0.1\n tls %s %s\n"
                    " respond \"caddy\"\n}\n",
                    q.server.port, server_path("cert.pem"), server_path("key.pem")),
        0);
    server_run(&q.server,
               (const char *[]){"caddy", "run", "--config", server_path("Caddyfile"), "--adapter", "caddyfile", NULL},
               server_text("HOME=%s", server_path("")));
    ask_start(&q.f, &(nc_engine_options){.uses_alt_svc = true});
    nc_request request = ask_for(&q.f, &q.server, "https", "/");
    answer one = fixture_send(&q.f, &request);
    assert_status(one.error.status, NC_OK);
    assert_int_equal(nc_response_http_version(one.response), NC_HTTP_VERSION_2);
    for (unsigned i = 0; i < 2; i++) {
        request.http = i == 0 ? NC_HTTP_AUTO : NC_HTTP_3_IF_POSSIBLE;
        one = fixture_send(&q.f, &request);
        assert_status(one.error.status, NC_OK);
        if (nc_quirk_appends_trailers()) {
            assert_int_equal(nc_response_http_version(one.response), NC_HTTP_VERSION_2);
        } else {
            assert_int_equal(quic_opened(one), 1);
            assert_int_equal(quic_opened(fixture_send(&q.f, &request)), 0);
        }
    }
    assert_status(quic_get(&q, "/").error.status, NC_OK);
    quic_stop(&q);
}

static const struct CMUnitTest cases[] = {
    harness_case(nginx__serves_a_gibibyte_over_http_3),
    harness_case(nginx__stores_an_upload_over_http_3),
    harness_case(nginx__serves_a_thousand_concurrent_requests_over_few_connections),
    harness_case(nginx__gets_an_upload_over_http_3),
    harness_case(nginx__gets_the_client_certificate_over_http_3),
    harness_case(caddy__announces_http_3_and_serves_it),
};

int main(void) {
    harness_begin();
    if (quic_is_impossible()) {
        return 0;
    }
    for (const char *const *name = (const char *const[]){"nginx", "caddy", NULL}; *name != NULL; name++) {
        if (!server_is_installed(*name)) {
            return server_missing(*name);
        }
    }
    return cmocka_run_group_tests(cases, quic_begin, quic_end);
}
