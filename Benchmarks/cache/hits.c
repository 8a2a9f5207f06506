/* Measures hits of the HTTP cache on the disk, without a network and without the client's thread:
 *
 *     hits TASK BYTES COUNT DIRECTORY
 *
 * TASK: hit (the lookup by a request, the decision and the response) or get (nc_store_get() of the same entry, as its
 * peer). Nothing is kept in memory. Prints "cpu=… wall_s=… rss_kb=…", cpu in microseconds of user and system time for
 * each operation.
 */
#include "client/cache_use.h"
#include "request/response.h"

#include <netcore/cache_functions.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define NOW_MS INT64_C(784111777000)

typedef struct bench {
    nc_engine *engine;
    nc_store *store;
    nc_http_cache *cache;
    nc_pool *pool;
    nc_request request;
    size_t bytes;
    nc_buf key;
    nc_buf room;
} bench;

static void fail(const char *what) {
    fprintf(stderr, "hits: %s failed\n", what);
    exit(1);
}

static void start_use(nc_cache_use *use, const bench *on) {
    *use = (nc_cache_use){.cache = on->cache, .policy = NC_CACHE_POLICY_INIT, .scope = nc_buf_init(0)};
    nc_cache_use_init(use, on->engine, &on->request, false);
}

static void add_field(nc_response *response, const char *line, size_t name) {
    nc_slice value = nc_slice_make(line + name + 2, strlen(line) - name - 2);
    if (nc_response_add_field(response, nc_slice_make(line, name), value) != NC_OK) {
        fail("a field");
    }
}

/// Stores a response with common fields.
static void put(bench *on) {
    nc_cache_use use;
    nc_url url;
    nc_arrived *arrived = malloc(sizeof *arrived);
    uint8_t *body = calloc(1, on->bytes + 1);
    nc_response *response = nc_response_new(on->pool);
    if (arrived == NULL || body == NULL || response == NULL || nc_url_parse(&url, on->request.url, NULL) != NC_OK ||
        nc_response_begin_hop(response, &url) != NC_OK) {
        fail("a response");
    }
    nc_response_begin_head(response, 200, NC_HTTP_VERSION_1_1);
    add_field(response, "Date: Sun, 06 Nov 1994 08:49:37 GMT", 4);
    add_field(response, "Content-Type: application/json", 12);
    add_field(response, "Cache-Control: max-age=3600", 13);
    add_field(response, "ETag: \"0123456789abcdef\"", 4);
    add_field(response, "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", 13);
    add_field(response, "Server: example", 6);
    if (nc_response_append_body(response, nc_slice_make(body, on->bytes)) != NC_OK) {
        fail("a body");
    }
    start_use(&use, on);
    nc_arrived_read(arrived, response, NOW_MS, NOW_MS);
    if (!nc_cache_use_store(&use, arrived)) {
        fail("a put");
    }
    nc_buf_append(&on->key, nc_buf_slice(&use.key));
    nc_cache_use_deinit(&use);
    nc_response_release(response);
    free(body);
    free(arrived);
}

static void hit(bench *on) {
    nc_cache_use use;
    start_use(&use, on);
    nc_cache_use_find(&use);
    nc_cache_decision decision = nc_cache_decide(&use.request, nc_cache_use_stored(&use), &use.policy, NOW_MS);
    nc_response *response =
        decision.action == NC_CACHE_USE ? nc_cached_response(on->pool, use.cached, &decision, NOW_MS) : NULL;
    if (response == NULL || nc_response_body(response).length != on->bytes) {
        fail("a hit");
    }
    nc_response_release(response);
    nc_cache_use_deinit(&use);
}

static void get(bench *on) {
    nc_store_entry entry;
    if (nc_store_get(&entry, on->store, nc_buf_slice(&on->key), &on->room, NULL) != NC_OK ||
        entry.body.length != on->bytes) {
        fail("a get");
    }
}

static double seconds_of(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv) {
    bench on = {.request = {.url = nc_slice_of("http://example.com/cities?page=2")},
                .key = nc_buf_init(SIZE_MAX / 2),
                .room = nc_buf_init(SIZE_MAX / 2)};
    nc_store_options files = NC_STORE_OPTIONS_INIT;
    struct rusage before;
    struct rusage after;
    struct timespec began;
    struct timespec ended;
    if (argc != 5) {
        fprintf(stderr, "usage: hits hit|get BYTES COUNT DIRECTORY\n");
        return 2;
    }
    on.bytes = strtoul(argv[2], NULL, 10);
    unsigned long count = strtoul(argv[3], NULL, 10);
    files.directory = argv[4];
    on.pool = nc_pool_new();
    if (on.pool == NULL || nc_engine_new(&on.engine, NULL, NULL) != NC_OK ||
        nc_store_new(&on.store, &files, NULL) != NC_OK ||
        nc_http_cache_new(&on.cache, &(nc_http_cache_options){.store = on.store, .max_memory_bytes = 1}, NULL) !=
            NC_OK) {
        fail("opening");
    }
    put(&on);
    (void)getrusage(RUSAGE_SELF, &before);
    (void)clock_gettime(CLOCK_MONOTONIC, &began);
    for (unsigned long i = 0; i < count; i++) {
        strcmp(argv[1], "hit") == 0 ? hit(&on) : get(&on);
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &ended);
    (void)getrusage(RUSAGE_SELF, &after);
    double cpu = seconds_of(after.ru_utime) + seconds_of(after.ru_stime) - seconds_of(before.ru_utime) -
                 seconds_of(before.ru_stime);
    printf("cpu=%.3f wall_s=%.3f rss_kb=%ld\n", count > 0 ? cpu * 1e6 / (double)count : 0,
           (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9, after.ru_maxrss);
    nc_buf_deinit(&on.key);
    nc_buf_deinit(&on.room);
    nc_http_cache_free(on.cache);
    nc_store_free(on.store);
    (void)nc_engine_close(on.engine, NC_UNLIMITED);
    nc_pool_release(on.pool);
    return 0;
}
