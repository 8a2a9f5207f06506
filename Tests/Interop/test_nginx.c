/// The engine against nginx: HTTP/1.1 and HTTP/2, plain and TLS, kept connections, gzip, 1 byte to 1 GiB.
#include "harness.h"
#include "nettesting.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_MS = 60000, GIBIBYTE = 1024 * 1024 * 1024 };

static char folder[] = "/tmp/netcore-nginx-XXXXXX";
static pid_t nginx;
static uint16_t plain_port;
static uint16_t tls_port;

/* --- the server --- */

static void path_of(char *out, size_t size, const char *name) {
    assert_true(snprintf(out, size, "%s/%s", folder, name) < (int)size);
}

/// Listens on a port of the kernel's choice. nginx inherits the socket, so that nobody else can take the port and a
/// connection may come before nginx is up: it waits in the socket's queue.
static int listen_somewhere(uint16_t *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_return_code(bind(fd, (struct sockaddr *)&address, length), errno);
    assert_return_code(listen(fd, 511), errno);
    assert_return_code(getsockname(fd, (struct sockaddr *)&address, &length), errno);
    *port = ntohs(address.sin_port);
    return fd;
}

static void write_config(void) {
    char path[256];
    path_of(path, sizeof path, "nginx.conf");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    // As root, workers would change to a user who cannot read the folder.
    if (geteuid() == 0)
        fputs("user root;\n", file);
    fprintf(
        file,
        "daemon off; worker_processes 1; pid %s/pid; error_log %s/error.log;\n"
        "events { worker_connections 1024; }\n"
        "http { access_log off; sendfile on; keepalive_requests 100000; gzip on; gzip_types *; gzip_min_length 1;\n"
        "client_body_temp_path %s/b; proxy_temp_path %s/p; fastcgi_temp_path %s/f; uwsgi_temp_path %s/u;\n"
        "scgi_temp_path %s/s; root %s/files;\n"
        "server { listen 127.0.0.1:%u; location /giant { gzip off; } location /moved { return 302 /one; } }\n"
        "server { listen 127.0.0.1:%u ssl http2; ssl_certificate %s/cert.pem; ssl_certificate_key %s/key.pem; } }\n",
        folder, folder, folder, folder, folder, folder, folder, folder, plain_port, tls_port, folder, folder);
    assert_int_equal(fclose(file), 0);
}

static void write_file(const char *name, uint64_t length) {
    char path[256];
    path_of(path, sizeof path, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    // Large files are holes, which read as zeros.
    for (uint64_t i = 0; i < length && length <= 65536; i++) {
        const char byte = (char)('a' + i % 26);
        assert_int_equal(write(fd, &byte, 1), 1);
    }
    assert_return_code(ftruncate(fd, (off_t)length), errno);
    close(fd);
}

static int start_nginx(void **state) {
    char path[256];
    char inherited[32];
    (void)state;
    assert_non_null(mkdtemp(folder));
    path_of(path, sizeof path, "files");
    assert_return_code(mkdir(path, 0755), errno);
    write_file("files/one", 1);
    write_file("files/page", 65536);
    write_file("files/giant", GIBIBYTE);
    assert_int_equal(nct_identity_write(NCT_TLS_VALID, folder), 0);
    int plain_fd = listen_somewhere(&plain_port);
    int tls_fd = listen_somewhere(&tls_port);
    write_config();
    path_of(path, sizeof path, "nginx.conf");
    nginx = fork();
    if (nginx == 0) {
        // How nginx hands its sockets to its next version, and takes them from whoever starts it.
        (void)snprintf(inherited, sizeof inherited, "%d;%d;", plain_fd, tls_fd);
        setenv("NGINX", inherited, 1);
        execlp("nginx", "nginx", "-p", folder, "-c", path, NULL);
        execl("/usr/sbin/nginx", "nginx", "-p", folder, "-c", path, NULL);
        _exit(127);
    }
    close(plain_fd);
    close(tls_fd);
    return 0;
}

static int stop_nginx(void **state) {
    char command[300];
    (void)state;
    kill(nginx, SIGTERM);
    waitpid(nginx, NULL, 0);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* --- asking --- */

static nc_engine *new_engine(void) {
    nc_engine *engine;
    nc_trust *trust;
    nc_error err;
    char path[256];
    path_of(path, sizeof path, "ca.pem");
    nc_trust_options options = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of(path)};
    assert_int_equal(nc_trust_new(&trust, &options, &err), NC_OK);
    assert_int_equal(nc_engine_new(&engine, &(nc_engine_options){.trust = trust}, &err), NC_OK);
    nc_trust_release(trust);
    return engine;
}

static nc_request request_for(char *url, size_t size, bool is_tls, const char *path) {
    assert_true(snprintf(url, size, "%s://localhost:%u%s", is_tls ? "https" : "http", is_tls ? tls_port : plain_port,
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

static void nginx__keeps_one_connection_for_a_hundred_requests(void **state) {
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

static void nginx__sends_gzip_that_comes_out_whole(void **state) {
    char url[128];
    nc_slice coding;
    nc_engine *engine = new_engine();
    (void)state;
    nc_request request = request_for(url, sizeof url, false, "/page");
    request.accepts_codings = true;
    nc_response *response = fetch(engine, &request);
    assert_true(nc_response_find_header(response, nc_slice_of("content-encoding"), &coding));
    assert_true(nc_slice_is_equal(coding, nc_slice_of("gzip")));
    assert_int_equal(nc_response_body(response).length, 65536);
    for (size_t i = 0; i < 65536; i++)
        assert_int_equal(nc_response_body(response).data[i], 'a' + i % 26);
    nc_hop_metrics hop = nc_response_hop_at(response, 0);
    assert_true(hop.received_bytes < 4096);
    assert_int_equal(hop.decoded_bytes, 65536);
    nc_response_release(response);
    assert_int_equal(nc_engine_close(engine, LIMIT_MS), NC_OK);
}

static void nginx__speaks_tls_with_the_protocol_of_ones_choice(void **state) {
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

static void nginx__gets_500_http_2_streams_over_one_connection(void **state) {
    enum { STREAMS = 500 };
    char url[128];
    nc_transfer_id ids[STREAMS];
    uint32_t connections = 0;
    nc_error err;
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
        connections += nc_response_hop_at(response, 0).connections_opened;
        nc_response_release(response);
    }
    assert_int_equal(connections, 1);
    assert_int_equal(nc_engine_close(engine, LIMIT_MS), NC_OK);
}

typedef struct count {
    uint64_t bytes;
    nc_status status;
    bool is_done;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
} count;

static nc_verdict count_bytes(void *ctx, nc_transfer_id id, nc_slice bytes) {
    (void)id;
    ((count *)ctx)->bytes += bytes.length;
    return NC_CONTINUE;
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

/// The peak of resident memory so far, in KiB, as the kernel counts it.
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

static void nginx__body_of_a_gibibyte_is_refused_by_the_default_limit(void **state) {
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
    const struct CMUnitTest cases[] = {
        harness_case(nginx__serves_one_byte_and_a_page_over_http_1_1),
        harness_case(nginx__keeps_one_connection_for_a_hundred_requests),
        harness_case(nginx__follows_a_relative_redirect),
        harness_case(nginx__sends_gzip_that_comes_out_whole),
        harness_case(nginx__speaks_tls_with_the_protocol_of_ones_choice),
        harness_case(nginx__gets_500_http_2_streams_over_one_connection),
        harness_case(nginx__sends_a_gibibyte_in_constant_memory),
        harness_case(nginx__body_of_a_gibibyte_is_refused_by_the_default_limit),
    };
    return cmocka_run_group_tests(cases, start_nginx, stop_nginx);
}
