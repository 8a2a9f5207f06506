/// Fetches, validates, caches, pins, downloads and cancels: the example of every language, in C.
///
/// usage: fetch DIRECTORY, with NETCORE_PLAIN, NETCORE_SECURE, NETCORE_CA and NETCORE_PIN in the environment
/// (script/examples sets them). Prints "ok …" or "failed …" for each step.
#include <netcore.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 4096, FILM_BYTES = 1000000, ROOM_BYTES = 1024 * 1024 };

static const char *const shape_text = "[{\"id\":\"integer\",\"name\":\"string\"}]";

static int failures;

static void report(const char *step, bool is_right, const nc_error *err) {
    printf("%s %s", is_right ? "ok" : "failed", step);
    if (!is_right) {
        printf(": %s: %s", nc_status_name(err->status), err->message);
        failures++;
    }
    printf("\n");
}

/// Returns environment variable `name` followed by `path`, written to `room`.
static nc_slice from_environment(char room[TEXT_BYTES], const char *name, const char *path) {
    const char *value = getenv(name);
    (void)snprintf(room, TEXT_BYTES, "%s%s", value == NULL ? "" : value, path);
    return nc_slice_of(room);
}

/// Sends a request and waits. The caller releases `*out`, which is NULL without a response.
static nc_status send_request(nc_response **out, nc_engine *engine, const nc_request *request, nc_error *err) {
    nc_transfer_id id;
    *out = NULL;
    nc_status status = nc_engine_submit(engine, request, NULL, &id, err);
    return status != NC_OK ? status : nc_engine_wait(engine, id, NC_UNLIMITED, out, err);
}

/* --- fetch, validate --- */

static void fetch(nc_engine *engine) {
    char url[TEXT_BYTES];
    nc_error err = {0};
    nc_response *response;
    nc_request request = {.url = from_environment(url, "NETCORE_PLAIN", "/cities")};
    nc_status status = send_request(&response, engine, &request, &err);
    report("fetch", status == NC_OK && nc_response_status(response) == 200 && nc_response_body(response).length == 47,
           &err);
    nc_response_release(response); // NULL is allowed
}

static void validate(nc_engine *engine) {
    char url[TEXT_BYTES];
    nc_error err = {0};
    nc_shape *shape = NULL;
    nc_expectation *expectation = NULL;
    nc_response *response = NULL;
    bool is_right = nc_shape_parse(&shape, nc_slice_of(shape_text), &err) == NC_OK &&
                    nc_expectation_new(&expectation, &(nc_expectation_options){.shape = shape}, &err) == NC_OK;
    if (is_right) {
        nc_request request = {.url = from_environment(url, "NETCORE_PLAIN", "/cities"), .expectation = expectation};
        is_right = send_request(&response, engine, &request, &err) == NC_OK;
        nc_response_release(response);
        request.url = from_environment(url, "NETCORE_PLAIN", "/broken");
        is_right = is_right && send_request(&response, engine, &request, &err) == NC_ERR_SHAPE_MISMATCH &&
                   strstr(err.message, "/1/name") != NULL;
        nc_response_release(response);
    }
    nc_expectation_release(expectation);
    nc_shape_release(shape);
    report("validate", is_right, &err);
}

/* --- cache --- */

/// Reads a body from the store, or fetches and stores it. `room` receives it.
static nc_status cached(nc_buf *room, bool *is_hit, nc_store *store, nc_engine *engine, const nc_request *request,
                        nc_error *err) {
    nc_buf key = nc_buf_init(ROOM_BYTES);
    nc_store_entry entry;
    nc_response *response = NULL;
    nc_status status = nc_cache_key_describe(&key, &(nc_cache_key_parts){.url = request->url}, err);
    if (status == NC_OK) {
        status = nc_store_get(&entry, store, nc_buf_slice(&key), room, err);
    }
    *is_hit = status == NC_OK && entry.found == NC_STORE_HIT;
    if (status == NC_OK && !*is_hit) {
        status = send_request(&response, engine, request, err);
        if (status == NC_OK) {
            status = nc_store_put(store, &(nc_store_draft){.key = nc_buf_slice(&key), .lifetime_ms = 60000},
                                  nc_response_body(response), err);
        }
    }
    nc_response_release(response);
    nc_buf_deinit(&key);
    return status;
}

static void cache(nc_engine *engine, const char *directory) {
    char url[TEXT_BYTES];
    char folder[TEXT_BYTES];
    nc_error err = {0};
    nc_store *store = NULL;
    nc_buf room = nc_buf_init(ROOM_BYTES);
    nc_store_options options = NC_STORE_OPTIONS_INIT;
    nc_request request = {.url = from_environment(url, "NETCORE_PLAIN", "/cities")};
    bool was_hit = true;
    bool is_hit = false;
    (void)snprintf(folder, sizeof folder, "%s/cache", directory);
    options.directory = folder;
    bool is_right = nc_store_new(&store, &options, &err) == NC_OK &&
                    cached(&room, &was_hit, store, engine, &request, &err) == NC_OK &&
                    cached(&room, &is_hit, store, engine, &request, &err) == NC_OK;
    nc_store_free(store);
    nc_buf_deinit(&room);
    report("cache", is_right && !was_hit && is_hit, &err);
}

/* --- pin --- */

static nc_status send_pinned(nc_engine *engine, const char *pin, nc_error *err) {
    char url[TEXT_BYTES];
    char ca[TEXT_BYTES];
    const nc_slice pins[] = {nc_slice_of(pin)};
    const nc_trust_rule rule = {
        .hosts = nc_slice_of("localhost"), .mode = NC_PIN_PUBLIC_KEY, .pins = pins, .pin_count = 1};
    const nc_trust_options options = {
        .roots = NC_ROOTS_FILE, .ca_file = from_environment(ca, "NETCORE_CA", ""), .rules = &rule, .rule_count = 1};
    nc_trust *trust = NULL;
    nc_response *response = NULL;
    nc_status status = nc_trust_new(&trust, &options, err);
    if (status == NC_OK) {
        nc_request request = {.url = from_environment(url, "NETCORE_SECURE", "/cities"), .trust = trust};
        status = send_request(&response, engine, &request, err);
    }
    nc_response_release(response);
    nc_trust_release(trust);
    return status;
}

static void pin(nc_engine *engine) {
    nc_error err = {0};
    const char *right = getenv("NETCORE_PIN");
    bool is_right =
        send_pinned(engine, right == NULL ? "" : right, &err) == NC_OK &&
        send_pinned(engine, "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", &err) == NC_ERR_PIN_MISMATCH;
    report("pin", is_right, &err);
}

/* --- download and cancel: callbacks run on the engine's thread, so shared data needs a lock --- */

/// Shared between the event loop thread and the main thread. It may be on main's stack, because main waits for is_done
/// before it returns.
typedef struct transfer_state {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool has_head;
    bool is_done;
    uint64_t byte_count;
    nc_error err;
} transfer_state;

static void set_flag(transfer_state *state, bool *flag) {
    pthread_mutex_lock(&state->mutex);
    *flag = true;
    pthread_cond_broadcast(&state->changed);
    pthread_mutex_unlock(&state->mutex);
}

static void wait_for_flag(transfer_state *state, const bool *flag) {
    pthread_mutex_lock(&state->mutex);
    while (!*flag) {
        pthread_cond_wait(&state->changed, &state->mutex);
    }
    pthread_mutex_unlock(&state->mutex);
}

static void download_ended(void *ctx, nc_download_id id, nc_response *response, const nc_download_result *result,
                           const nc_error *error) {
    transfer_state *state = ctx;
    (void)id;
    (void)response;
    state->byte_count = result->byte_count;
    state->err = *error;
    set_flag(state, &state->is_done);
}

static void download(nc_engine *engine, const char *directory) {
    char url[TEXT_BYTES];
    char path[TEXT_BYTES];
    transfer_state state = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    nc_request request = {.url = from_environment(url, "NETCORE_PLAIN", "/film")};
    (void)snprintf(path, sizeof path, "%s/film", directory);
    nc_download_options options = {.request = &request, .path = nc_slice_of(path)};
    nc_download_sink sink = {.ctx = &state, .on_done = download_ended};
    nc_download_id id;
    nc_status status = nc_download_start(engine, &options, &sink, &id, &state.err);
    if (status == NC_OK) {
        wait_for_flag(&state, &state.is_done);
    }
    report("download", state.err.status == NC_OK && state.byte_count == FILM_BYTES, &state.err);
}

static nc_action head_came(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    transfer_state *state = ctx;
    (void)id;
    (void)response;
    (void)is_last;
    set_flag(state, &state->has_head);
    return NC_ACTION_CONTINUE;
}

static nc_action body_came(void *ctx, nc_transfer_id id, nc_slice bytes) {
    (void)id;
    // No lock: only this thread writes the count, and main reads it after is_done.
    ((transfer_state *)ctx)->byte_count += bytes.length;
    return NC_ACTION_CONTINUE;
}

static void transfer_ended(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    transfer_state *state = ctx;
    (void)id;
    (void)response; // borrowed; to keep it, call nc_response_retain()
    state->err = *error;
    set_flag(state, &state->is_done);
}

static void cancel(nc_engine *engine) {
    char url[TEXT_BYTES];
    transfer_state state = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    nc_request request = {.url = from_environment(url, "NETCORE_PLAIN", "/slow")};
    nc_sink sink = {.ctx = &state, .on_head = head_came, .on_body = body_came, .on_done = transfer_ended};
    nc_transfer_id id;
    if (nc_engine_submit(engine, &request, &sink, &id, &state.err) == NC_OK) {
        wait_for_flag(&state, &state.has_head);
        nc_engine_cancel(engine, id); // from this thread, while the event loop receives
        wait_for_flag(&state, &state.is_done);
    }
    report("cancel", state.err.status == NC_ERR_CANCELLED && state.byte_count < FILM_BYTES, &state.err);
}

int main(int argc, char **argv) {
    nc_error err;
    nc_engine *engine = NULL;
    if (argc != 2) {
        (void)fprintf(stderr, "usage: fetch DIRECTORY\n");
        return 2;
    }
    if (nc_engine_new(&engine, NULL, &err) != NC_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    fetch(engine);
    validate(engine);
    cache(engine, argv[1]);
    pin(engine);
    download(engine, argv[1]);
    cancel(engine);
    (void)nc_engine_close(engine, NC_UNLIMITED);
    return failures == 0 ? 0 : 1;
}
