/// Threat B9: a caller's data cannot change other parts of the request.
///
/// Every text that a caller can set gets each of the 256 bytes, at its start, in its middle and at its end. Either the
/// request is rejected before a byte is sent, or the server records exactly one request with exactly the requested
/// fields. URLs are tested in test_threat_injection_urls.c.
#include "threat.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACES = 3, BYTES = 256, CASES = PLACES * BYTES, VALUE_BYTES = 8, MAX_WANTED = 6 };

/// A request with one unusual byte in one of its texts.
typedef struct probe {
    char value_text[VALUE_BYTES];
    nc_slice value;
    char number[24];
    char url[64];
    char path[96]; // of a file
    char authorization[64];
    nc_header headers[2];
    nc_header proxy_header;
    nc_proxy proxy;
    nc_connect_to override;
    nc_request request;
    nc_slice method;              // the expected bytes
    nc_header wanted[MAX_WANTED]; // fields beside Host and X-Case
    size_t wanted_count;
    nc_slice body;
    threat_transfer transfer;
    size_t arrived;
} probe;

typedef void (*fill_fn)(probe *one);

static char directory[] = "/tmp/netcore-injection-XXXXXX";

/* --- the texts --- */

static void want(probe *one, const char *name, nc_slice value) {
    one->wanted[one->wanted_count++] = (nc_header){nc_slice_of(name), value};
}

static void want_basic(probe *one, const char *name, nc_slice user, nc_slice password) {
    unsigned char plain[2 * VALUE_BYTES + 1];
    size_t length = user.length + 1 + password.length;
    memcpy(plain, user.data, user.length);
    plain[user.length] = ':';
    memcpy(plain + user.length + 1, password.data, password.length);
    memcpy(one->authorization, "Basic ", 6);
    (void)EVP_EncodeBlock((unsigned char *)one->authorization + 6, plain, (int)length);
    want(one, name, nc_slice_of(one->authorization));
}

static void set_header(probe *one, const char *name) {
    one->headers[1] = (nc_header){nc_slice_of(name), one->value};
    one->request.header_count = 2;
    want(one, name, one->value);
}

static void fill_method(probe *one) {
    one->request.method = one->value;
    one->method = one->value;
}

static void fill_name(probe *one) {
    one->headers[1] = (nc_header){one->value, nc_slice_of("v")};
    one->request.header_count = 2;
    one->wanted[one->wanted_count++] = one->headers[1];
}

static void fill_value(probe *one) {
    set_header(one, "X-Value");
}

static void fill_agent(probe *one) {
    set_header(one, "User-Agent");
}

static void fill_referer(probe *one) {
    set_header(one, "Referer");
}

static void fill_cookie(probe *one) {
    set_header(one, "Cookie");
}

static void fill_type(probe *one) {
    set_header(one, "Content-Type");
    one->request.body = one->body = nc_slice_of("body");
    one->request.method = one->method = nc_slice_of("POST");
    want(one, "Content-Length", nc_slice_of("4"));
}

static void fill_authorization(probe *one) {
    set_header(one, "Authorization");
}

static void fill_token(probe *one) {
    one->request.credentials = (nc_credentials){.schemes = NC_AUTH_BEARER, .token = one->value};
    (void)snprintf(one->authorization, sizeof one->authorization, "Bearer %.*s", (int)one->value.length,
                   (const char *)one->value.data);
    want(one, "Authorization", nc_slice_of(one->authorization));
}

static void fill_user(probe *one) {
    one->request.credentials =
        (nc_credentials){.schemes = NC_AUTH_BASIC, .user = one->value, .password = nc_slice_of("p")};
    want_basic(one, "Authorization", one->value, nc_slice_of("p"));
}

static void fill_password(probe *one) {
    one->request.credentials =
        (nc_credentials){.schemes = NC_AUTH_BASIC, .user = nc_slice_of("u"), .password = one->value};
    want_basic(one, "Authorization", nc_slice_of("u"), one->value);
}

static void fill_override(probe *one) {
    one->override = (nc_connect_to){.host = one->value, .port = 1};
    one->request.connect_to = &one->override;
    one->request.connect_to_count = 1;
}

static void fill_body_file(probe *one) {
    int prefix = snprintf(one->path, sizeof one->path, "%s/b%s-", directory, one->number);
    memcpy(one->path + prefix, one->value.data, one->value.length);
    one->request.body_file = nc_slice_make(one->path, (size_t)prefix + one->value.length);
    one->request.method = one->method = nc_slice_of("PUT");
    FILE *file = fopen(one->path, "w"); // a NUL ends the name
    if (file != NULL) {
        (void)fputs("of a file", file);
        (void)fclose(file);
    }
    one->body = nc_slice_of("of a file");
    want(one, "Content-Length", nc_slice_of("9"));
}

static void fill_save_path(probe *one) {
    int prefix = snprintf(one->path, sizeof one->path, "%s/s%s-", directory, one->number);
    memcpy(one->path + prefix, one->value.data, one->value.length);
    one->request.save_path = nc_slice_make(one->path, (size_t)prefix + one->value.length);
}

/* --- the cases --- */

/// "vx" with the byte before, within or after it.
static void begin_probe(probe *one, size_t number, uint16_t port) {
    size_t position = number / BYTES;
    *one = (probe){.method = nc_slice_of("GET")};
    memcpy(one->value_text, position == 0 ? "?vx" : position == 1 ? "v?x" : "vx?", 3);
    one->value_text[position] = (char)(number % BYTES);
    one->value = nc_slice_make(one->value_text, 3);
    (void)snprintf(one->number, sizeof one->number, "%zu", number);
    (void)snprintf(one->url, sizeof one->url, "http://127.0.0.1:%u/t", port);
    one->headers[0] = (nc_header){nc_slice_of("X-Case"), nc_slice_of(one->number)};
    one->request = (nc_request){.url = nc_slice_of(one->url), .headers = one->headers, .header_count = 1};
}

/// Fails unless the received request is exactly the one that the probe describes.
static void check_arrival(const char *field, probe *one, const threat_request *seen) {
    char host[32];
    const char *authority = one->url + strlen("http://");
    (void)snprintf(host, sizeof host, "%.*s", (int)strcspn(authority, "/"), authority);
    bool is_right = nc_slice_is_equal(seen->method, one->method) &&
                    nc_slice_is_equal(seen->target, nc_slice_of("/t")) && nc_slice_is_equal(seen->body, one->body) &&
                    seen->field_count == one->wanted_count + 2 &&
                    nc_slice_is_equal(threat_field(seen, "Host"), nc_slice_of(host));
    for (size_t i = 0; i < one->wanted_count && is_right; i++) {
        bool is_there = false;
        for (size_t k = 0; k < seen->field_count; k++) {
            is_there = is_there || (nc_slice_is_equal(seen->fields[k].name, one->wanted[i].name) &&
                                    nc_slice_is_equal(seen->fields[k].value, one->wanted[i].value));
        }
        is_right = is_there;
    }
    if (!is_right) {
        fail_msg("%s, case %s: the request is another one", field, one->number);
    }
    one->arrived++;
}

static size_t case_of(const char *field, const threat_request *seen) {
    nc_slice number = threat_field(seen, "X-Case");
    char text[8] = "";
    if (number.length == 0 || number.length >= sizeof text) {
        fail_msg("%s: a request arrived that was not sent", field);
    }
    memcpy(text, number.data, number.length);
    size_t value = (size_t)strtoul(text, NULL, 10);
    assert_true(value < CASES);
    return value;
}

static void check_server(const char *field, nct_server *server, probe *probes) {
    size_t count = nct_server_request_count(server);
    for (size_t i = 0; i < count; i++) {
        threat_request seen;
        nc_buf bytes = threat_received(server, i);
        if (!threat_parse(&seen, nc_buf_slice(&bytes))) {
            fail_msg("%s: no request:\n%.*s", field, (int)bytes.length, (const char *)bytes.data);
        }
        check_arrival(field, &probes[case_of(field, &seen)], &seen);
        nc_buf_deinit(&bytes);
    }
}

/// Each transfer either succeeded and arrived once, or failed and never arrived.
static void print_counts(const char *field, const probe *probes) {
    size_t sent = 0;
    size_t refused = 0;
    for (size_t i = 0; i < CASES; i++) {
        bool is_ok = probes[i].transfer.error.status == NC_OK;
        if (probes[i].arrived != (is_ok ? 1 : 0)) {
            fail_msg("%s, byte 0x%02zx, place %zu: %s (%s), and %zu requests arrived", field, i % BYTES, i / BYTES,
                     nc_status_name(probes[i].transfer.error.status), probes[i].transfer.error.message,
                     probes[i].arrived);
        }
        sent += is_ok ? 1 : 0;
        refused += is_ok ? 0 : 1;
    }
    print_message("%-16s %3zu refused, %3zu sent\n", field, refused, sent);
    assert_true(sent > 0);
}

static void run_field(fixture *f, const char *field, fill_fn fill) {
    static probe probes[CASES];
    threat_batch batch = THREAT_BATCH_INIT(f->engine);
    nct_server_forget(f->server);
    for (size_t i = 0; i < CASES; i++) {
        begin_probe(&probes[i], i, nct_server_port(f->server));
        fill(&probes[i]);
        (void)threat_submit(&batch, &probes[i].request, &probes[i].transfer);
    }
    threat_await(&batch, 0);
    check_server(field, f->server, probes);
    print_counts(field, probes);
    for (size_t i = 0; i < CASES; i++) {
        threat_release(&probes[i].transfer, 1);
        if (probes[i].path[0] != '\0') {
            unlink(probes[i].path);
        }
    }
}

static void start(fixture *f) {
    fixture_start_with(f, NULL, &(nc_engine_options){.max_per_host = 16});
    fixture_script(f, "*", (nct_reply){.body = "ok", .body_length = 2});
}

static void injection__texts_of_a_request_stay_within_their_field(void **state) {
    static const struct {
        const char *name;
        fill_fn fill;
    } fields[] = {
        {"method", fill_method},      {"header name", fill_name},
        {"header value", fill_value}, {"User-Agent", fill_agent},
        {"Referer", fill_referer},    {"Cookie", fill_cookie},
        {"Content-Type", fill_type},  {"Authorization", fill_authorization},
        {"bearer token", fill_token}, {"user", fill_user},
        {"password", fill_password},  {"override's host", fill_override},
    };
    fixture f;
    (void)state;
    start(&f);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        run_field(&f, fields[i].name, fields[i].fill);
    }
    fixture_stop(&f);
}

/* --- files --- */

static void injection__a_body_files_path_names_only_that_file(void **state) {
    fixture f;
    (void)state;
    start(&f);
    run_field(&f, "body_file", fill_body_file);
    fixture_stop(&f);
}

/// A saved body has exactly the given name, and there is no other file.
static void injection__a_save_path_names_only_that_file(void **state) {
    fixture f;
    struct stat info;
    (void)state;
    assert_int_equal(stat(directory, &info), 0);
    nlink_t links = info.st_nlink;
    start(&f);
    run_field(&f, "save_path", fill_save_path); // unlinks the requested path
    fixture_stop(&f);
    assert_int_equal(stat(directory, &info), 0);
    assert_int_equal(info.st_nlink, links);
    assert_int_equal(rmdir(directory), 0); // fails if a file is left
    assert_non_null(mkdtemp(strcpy(directory, "/tmp/netcore-injection-XXXXXX")));
}

static void injection__a_unix_sockets_path_names_only_that_socket(void **state) {
    size_t sent = 0;
    size_t refused = 0;
    (void)state;
    nc_engine *engine = NULL;
    assert_status(nc_engine_new(&engine, NULL, NULL), NC_OK);
    for (size_t byte = 0; byte < BYTES; byte++) {
        char path[96];
        nct_server *server = NULL;
        nc_response *response = NULL;
        nc_transfer_id id = 0;
        int length = snprintf(path, sizeof path, "%s/u?x", directory);
        path[length - 2] = (char)byte;
        const nct_server_options options = {.unix_path = path};
        bool is_there = nct_server_start(&server, &options) == 0; // a NUL in the path ends the name
        nc_request request = {.url = nc_slice_of("http://u.example/t"),
                              .unix_socket = nc_slice_make(path, (size_t)length)};
        nc_status status = nc_engine_submit(engine, &request, NULL, &id, NULL);
        if (status == NC_OK) {
            status = nc_engine_wait(engine, id, FIXTURE_LIMIT_MS, &response, NULL);
        }
        assert_int_equal(is_there && nct_server_request_count(server) == 1, status == NC_OK);
        assert_int_equal(status == NC_OK, byte != 0 && byte != '/');
        sent += status == NC_OK ? 1 : 0;
        refused += status == NC_OK ? 0 : 1;
        nc_response_release(response);
        nct_server_stop(server);
    }
    print_message("%-16s %3zu refused, %3zu sent\n", "unix_socket", refused, sent);
    assert_status(nc_engine_close(engine, FIXTURE_LIMIT_MS), NC_OK);
}

int main(void) {
    harness_begin();
    if (mkdtemp(directory) == NULL) {
        return 1;
    }
    const struct CMUnitTest cases[] = {
        harness_case(injection__texts_of_a_request_stay_within_their_field),
        harness_case(injection__a_body_files_path_names_only_that_file),
        harness_case(injection__a_save_path_names_only_that_file),
        harness_case(injection__a_unix_sockets_path_names_only_that_socket),
    };
    int failed = cmocka_run_group_tests(cases, NULL, NULL);
    (void)rmdir(directory);
    return failed;
}
