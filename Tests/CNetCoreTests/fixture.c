#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// An object that fixture_stop() releases. Only one of its members is used.
typedef struct owned {
    nc_response *response;
    nc_trust *trust;
    char text[];
} owned;

static owned *own(fixture *f, size_t text_bytes) {
    owned *one = calloc(1, sizeof *one + text_bytes);
    void **more = realloc(f->owned, (f->owned_count + 1) * sizeof *more);
    assert_non_null(one);
    assert_non_null(more);
    f->owned = more;
    f->owned[f->owned_count++] = one;
    return one;
}

/* --- beginning and end --- */

void fixture_start_with(fixture *f, const nct_server_options *server, const nc_engine_options *engine) {
    nc_engine_options options = engine != NULL ? *engine : (nc_engine_options){0};
    nc_error err;
    *f = (fixture){0};
    assert_int_equal(nct_server_start(&f->server, server), 0);
    if (options.trust == NULL && nct_server_ca_pem(f->server)[0] != '\0') {
        options.trust = fixture_trust_of(f, f->server);
    }
    assert_status(nc_engine_new(&f->engine, &options, &err), NC_OK);
}

void fixture_start(fixture *f, nct_identity identity) {
    const nct_server_options options = {.identity = identity};
    fixture_start_with(f, &options, NULL);
}

void fixture_start_trusting_all(fixture *f) {
    const nct_server_options plain = {.identity = NCT_PLAIN};
    nc_trust *all = NULL;
    nc_error err;
    assert_status(nc_trust_new(&all, &(nc_trust_options){.accepts_anything = true}, &err), NC_OK);
    fixture_start_with(f, &plain, &(nc_engine_options){.trust = all});
    nc_trust_release(all);
}

void fixture_stop(fixture *f) {
    assert_status(nc_engine_close(f->engine, FIXTURE_LIMIT_MS), NC_OK);
    nct_server_stop(f->server);
    for (size_t i = 0; i < f->owned_count; i++) {
        owned *one = f->owned[i];
        nc_response_release(one->response);
        nc_trust_release(one->trust);
        free(one);
    }
    free(f->owned);
    *f = (fixture){0};
}

/* --- texts and policies --- */

const char *fixture_text(fixture *f, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    assert_true(length >= 0);
    owned *one = own(f, (size_t)length + 1);
    va_start(arguments, format);
    (void)vsnprintf(one->text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return one->text;
}

const char *fixture_url_of(fixture *f, const nct_server *server, const char *host, const char *path) {
    bool is_secure = nct_server_ca_pem(server)[0] != '\0';
    return fixture_text(f, "%s://%s:%u%s", is_secure ? "https" : "http", host, nct_server_port(server), path);
}

const char *fixture_url_at(fixture *f, const char *host, const char *path) {
    return fixture_url_of(f, f->server, host, path);
}

const char *fixture_url(fixture *f, const char *path) {
    return fixture_url_of(f, f->server, "127.0.0.1", path);
}

nc_trust *fixture_trust(fixture *f, const nc_trust_options *options) {
    nc_error err;
    owned *one = own(f, 0);
    assert_status(nc_trust_new(&one->trust, options, &err), NC_OK);
    return one->trust;
}

nc_trust *fixture_trust_of(fixture *f, const nct_server *server) {
    nc_trust_options options = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_server_ca_pem(server))};
    return fixture_trust(f, &options);
}

/* --- requests --- */

void fixture_script(fixture *f, const char *path, nct_reply reply) {
    assert_int_equal(nct_server_script(f->server, path, &reply), 0);
}

void fixture_script_raw(fixture *f, const char *path, const char *bytes) {
    fixture_script(f, path,
                   (nct_reply){.is_raw = true, .body = bytes, .body_length = strlen(bytes), .ending = NCT_CLOSE});
}

nc_request fixture_request(fixture *f, const char *path) {
    return (nc_request){.url = nc_slice_of(fixture_url(f, path))};
}

nc_transfer_id fixture_submit(fixture *f, const nc_request *request) {
    nc_error err;
    nc_transfer_id id = 0;
    nc_status status = nc_engine_submit(f->engine, request, NULL, &id, &err);
    if (status != NC_OK) {
        print_error("submit: %s\n", err.message);
    }
    assert_status(status, NC_OK);
    return id;
}

answer fixture_wait(fixture *f, nc_transfer_id id) {
    answer one;
    owned *slot = own(f, 0);
    nc_status status = nc_engine_wait(f->engine, id, FIXTURE_LIMIT_MS, &slot->response, &one.error);
    assert_status(status, one.error.status);
    assert_non_null(slot->response);
    one.response = slot->response;
    return one;
}

answer fixture_send(fixture *f, const nc_request *request) {
    return fixture_wait(f, fixture_submit(f, request));
}

answer fixture_get(fixture *f, const char *path) {
    nc_request request = fixture_request(f, path);
    return fixture_send(f, &request);
}

const char *fixture_received(fixture *f, size_t index) {
    size_t length = nct_server_copy_request(f->server, index, NULL, 0);
    assert_true(length > 0);
    owned *one = own(f, length + 1);
    (void)nct_server_copy_request(f->server, index, one->text, length);
    return one->text;
}

/* --- assertions --- */

void fixture_assert_ended(answer one, nc_status status, int native, const char *part, const char *file, int line) {
    if (one.error.status != status || one.error.native_code != native || strstr(one.error.message, part) == NULL) {
        print_error("%s:%d: %s, %d, \"%s\" instead of %s, %d, \"%s\"\n", file, line, nc_status_name(one.error.status),
                    one.error.native_code, one.error.message, nc_status_name(status), native, part);
        _fail(file, line);
    }
}

void fixture_assert_response(answer one, unsigned code, const char *body, const char *file, int line) {
    fixture_assert_ended(one, NC_OK, 0, "", file, line);
    if (nc_response_status(one.response) != code) {
        print_error("%s:%d: status %u instead of %u\n", file, line, nc_response_status(one.response), code);
        _fail(file, line);
    }
    harness_assert_slice(nc_response_body(one.response), body, file, line);
}

void fixture_assert_field(answer one, const char *name, const char *value, const char *file, int line) {
    nc_slice found = {0};
    if (!nc_response_find_header(one.response, nc_slice_of(name), &found)) {
        print_error("%s:%d: no field '%s'\n", file, line, name);
        _fail(file, line);
    }
    harness_assert_slice(found, value, file, line);
}
