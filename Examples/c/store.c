/// Fetches a URL twice with a cache over a store of its own: a small table in memory.
///
/// usage: store URL
/// A store in Redis or on another machine has the same functions.
#include <netcore.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 64, LONGEST_HOST = 255 };

/// One entry: its key, its metadata and its body, one after the other.
typedef struct item {
    uint8_t *bytes; // NULL for a free place
    size_t key, metadata, body;
    char host[LONGEST_HOST + 1];
} item;

/// A table with one place for each hash. A newer entry evicts the older one.
typedef struct table {
    pthread_mutex_t mutex;
    item items[PLACES];
    unsigned hits;
} table;

static item *place_of(table *on, nc_slice key) {
    unsigned hash = 0;
    for (size_t i = 0; i < key.length; i++) {
        hash = hash * 31 + key.data[i];
    }
    return &on->items[hash % PLACES];
}

static bool has_key(const item *one, nc_slice key) {
    return one->bytes != NULL && nc_slice_is_equal(nc_slice_make(one->bytes, one->key), key);
}

static nc_status get(void *ctx, nc_slice key, nc_buf *room, nc_cache_store_found *out, nc_error *err) {
    table *on = ctx;
    (void)err;
    pthread_mutex_lock(&on->mutex);
    const item *one = place_of(on, key);
    bool is_found = has_key(one, key);
    if (is_found) {
        nc_buf_append(room, nc_slice_make(one->bytes + one->key, one->metadata + one->body));
        out->metadata_bytes = one->metadata;
        on->hits++;
    }
    pthread_mutex_unlock(&on->mutex);
    return is_found ? NC_OK : NC_ERR_NOT_CACHED;
}

static nc_status put(void *ctx, const nc_cache_store_entry *entry, nc_error *err) {
    table *on = ctx;
    const nc_slice parts[] = {entry->key, entry->metadata, entry->body};
    uint8_t *bytes = malloc(entry->key.length + entry->metadata.length + entry->body.length);
    size_t length = 0;
    (void)err;
    if (bytes == NULL || entry->host.length > LONGEST_HOST) {
        free(bytes);
        return bytes == NULL ? NC_ERR_NO_MEMORY : NC_ERR_TOO_LARGE;
    }
    for (size_t i = 0; i < 3; i++) {
        if (parts[i].length > 0) {
            memcpy(bytes + length, parts[i].data, parts[i].length);
        }
        length += parts[i].length;
    }
    pthread_mutex_lock(&on->mutex);
    item *one = place_of(on, entry->key);
    free(one->bytes);
    *one = (item){bytes, entry->key.length, entry->metadata.length, entry->body.length, ""};
    if (entry->host.length > 0) {
        memcpy(one->host, entry->host.data, entry->host.length);
    }
    pthread_mutex_unlock(&on->mutex);
    return NC_OK;
}

static nc_status remove_one(void *ctx, nc_slice key, nc_error *err) {
    table *on = ctx;
    (void)err;
    pthread_mutex_lock(&on->mutex);
    item *one = place_of(on, key);
    if (has_key(one, key)) {
        free(one->bytes);
        one->bytes = NULL;
    }
    pthread_mutex_unlock(&on->mutex);
    return NC_OK;
}

static nc_status remove_all(void *ctx, nc_slice host, nc_error *err) {
    table *on = ctx;
    (void)err;
    pthread_mutex_lock(&on->mutex);
    for (size_t i = 0; i < PLACES; i++) {
        if (host.length == 0 || nc_slice_is_equal(nc_slice_of(on->items[i].host), host)) {
            free(on->items[i].bytes);
            on->items[i].bytes = NULL;
        }
    }
    pthread_mutex_unlock(&on->mutex);
    return NC_OK;
}

static void release(void *ctx) {
    nc_error err;
    nc_status status = remove_all(ctx, nc_slice_of(""), &err);
    (void)status;
}

/// Sends one request and prints its result. Returns false if it failed.
static bool fetch(nc_client *client, const char *url) {
    nc_cache_policy policy = NC_CACHE_POLICY_INIT;
    nc_request request = {.url = nc_slice_of(url)};
    nc_call *call = NULL;
    nc_response *response = NULL;
    nc_error err;
    nc_status status = nc_client_send(client, &request, &(nc_call_options){.cache = &policy}, NULL, &call, &err);
    if (status == NC_OK) {
        status = nc_call_wait(call, NC_UNLIMITED, &response, &err);
    }
    if (status == NC_OK) {
        bool is_hit = nc_call_cache_report(call).outcome == NC_CACHE_OUTCOME_HIT;
        printf("status %u from the %s\n", nc_response_status(response), is_hit ? "store" : "network");
    } else {
        fprintf(stderr, "%s: %s\n", nc_status_name(status), err.message);
    }
    nc_response_release(response);
    nc_call_release(call);
    return status == NC_OK;
}

int main(int argc, char **argv) {
    static table entries = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    const nc_cache_store store = {
        .ctx = &entries, .get = get, .put = put, .remove = remove_one, .remove_all = remove_all, .release = release};
    // The cache keeps nothing in its own memory.
    const nc_http_cache_options options = {.cache_store = &store, .max_memory_bytes = 1};
    nc_http_cache *cache = NULL;
    nc_engine *engine = NULL;
    nc_client *client = NULL;
    nc_error err = {.status = NC_OK};
    bool is_right = false;
    if (argc != 2) {
        fprintf(stderr, "usage: store URL\n");
        return 2;
    }
    if (nc_http_cache_new(&cache, &options, &err) == NC_OK && nc_engine_new(&engine, NULL, &err) == NC_OK &&
        nc_client_new(&client, engine, &(nc_client_options){.cache = cache}, &err) == NC_OK) {
        is_right = fetch(client, argv[1]) && fetch(client, argv[1]);
    } else {
        fprintf(stderr, "%s: %s\n", nc_status_name(err.status), err.message);
    }
    (void)nc_client_close(client);
    (void)nc_engine_close(engine, NC_UNLIMITED);
    nc_http_cache_free(cache);
    return is_right ? 0 : 1;
}
