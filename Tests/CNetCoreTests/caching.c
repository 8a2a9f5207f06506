#include "caching.h"

#include <stdio.h>
#include <string.h>

static uint64_t monotonic_ns(void *ctx) {
    (void)ctx;
    nc_clock system = nc_clock_system();
    return system.monotonic_ns(system.ctx);
}

static int64_t realtime_ns(void *ctx) {
    caching *c = ctx;
    return (INT64_C(784111777000) + (int64_t)atomic_load(&c->ahead_ms)) * 1000000;
}

static void start_client(caching *c, const nc_http_cache_options *cache) {
    nc_error err;
    assert_status(nc_http_cache_new(&c->cache, cache, &err), NC_OK);
    assert_status(
        nc_client_new(&c->client, c->f.engine, &(nc_client_options){.cache = c->cache, .clock = &c->clock}, &err),
        NC_OK);
}

static void stop_client(caching *c) {
    assert_status(nc_client_close(c->client), NC_OK);
    nc_http_cache_free(c->cache);
}

static void start(caching *c, const nc_http_cache_options *cache, const nc_engine_options *engine) {
    static const nc_engine_options defaults = {0};
    *c = (caching){.policy = NC_CACHE_POLICY_INIT, .uses_policy = true, .method = ""};
    atomic_init(&c->ahead_ms, 0);
    c->clock = (nc_clock){c, monotonic_ns, realtime_ns};
    fixture_start_with(&c->f, NULL, engine != NULL ? engine : &defaults);
    start_client(c, cache);
}

void caching_start_with(caching *c, nc_store *store, const nc_engine_options *engine) {
    start(c, &(nc_http_cache_options){.store = store}, engine);
}

void caching_start_with_cache(caching *c, const nc_http_cache_options *cache) {
    start(c, cache, NULL);
}

void caching_start(caching *c, nc_store *store) {
    caching_start_with(c, store, NULL);
}

void caching_restart_with_cache(caching *c, const nc_http_cache_options *cache) {
    stop_client(c);
    start_client(c, cache);
}

void caching_restart(caching *c, nc_store *store) {
    caching_restart_with_cache(c, &(nc_http_cache_options){.store = store});
}

void caching_stop(caching *c) {
    stop_client(c);
    nc_response_release(c->response);
    fixture_stop(&c->f);
}

void caching_script(caching *c, const char *path, nct_reply reply) {
    assert_int_equal(nct_server_script(c->f.server, path, &reply), 0);
}

void caching_reply(caching *c, const char *path, const char *headers, const char *body) {
    // The server's clock agrees with the test's at the start, and Date would differ from it later.
    caching_script(c, path, (nct_reply){.headers = headers, .body = body, .body_length = strlen(body)});
}

void caching_status(caching *c, const char *path, uint16_t status, const char *headers) {
    caching_script(c, path, (nct_reply){.status = status, .headers = headers});
}

void caching_pass(caching *c, int64_t ms) {
    atomic_fetch_add(&c->ahead_ms, ms);
}

nc_call *caching_begin(caching *c, const char *path, const char *field) {
    nc_request request = fixture_request(&c->f, path);
    nc_header header = {.name = {0}};
    const nc_connect_to server = {.to_host = nc_slice_of("127.0.0.1")};
    nc_call *call;
    if (c->host != NULL) {
        request.url = nc_slice_of(fixture_url_at(&c->f, c->host, path));
        request.connect_to = &server;
        request.connect_to_count = 1;
    }
    request.method = nc_slice_of(c->method);
    request.limits.max_body_bytes = c->max_body_bytes;
    if (field != NULL) {
        const char *colon = strchr(field, ':');
        header = (nc_header){nc_slice_make(field, (size_t)(colon - field)), nc_slice_of(colon + 2)};
        request.headers = &header;
        request.header_count = 1;
    }
    nc_call_options options = {.cache = c->uses_policy ? &c->policy : NULL,
                               .has_cache_scope = c->has_scope,
                               .cache_scope = nc_slice_of(c->scope)};
    assert_status(nc_client_send(c->client, &request, &options, NULL, &call, &c->error), NC_OK);
    return call;
}

void caching_finish(caching *c, nc_call *call) {
    nc_response_release(c->response);
    nc_status status = nc_call_wait(call, FIXTURE_LIMIT_MS, &c->response, &c->error);
    assert_status(status, c->error.status);
    assert_true(status != NC_ERR_WAIT_TIMED_OUT);
    c->report = nc_call_cache_report(call);
    nc_call_release(call);
}

void caching_get(caching *c, const char *path, const char *field) {
    caching_finish(c, caching_begin(c, path, field));
}

void caching_assert(caching *c, unsigned status, const char *body, int outcome, int reason, const char *file,
                    int line) {
    unsigned found = c->response != NULL ? nc_response_status(c->response) : 0;
    nc_slice text = c->response != NULL ? nc_response_body(c->response) : nc_slice_of("");
    if (c->error.status != NC_OK || found != status || !nc_slice_is_equal(text, nc_slice_of(body)) ||
        c->report.outcome != (nc_cache_outcome)outcome || c->report.reason != (nc_cache_reason)reason) {
        print_message("%s: status %u, '%.*s', outcome %d, reason %s\n", c->error.message, found, (int)text.length,
                      (const char *)text.data, (int)c->report.outcome, nc_cache_reason_name(c->report.reason));
        _fail(file, line);
    }
}

const char *caching_field(caching *c, const char *name) {
    nc_slice value;
    if (!nc_response_find_header(c->response, nc_slice_of(name), &value)) {
        return NULL;
    }
    (void)snprintf(c->field, sizeof c->field, "%.*s", (int)value.length, (const char *)value.data);
    return c->field;
}
