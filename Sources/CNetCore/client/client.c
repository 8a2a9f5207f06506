#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"
#include "client/internal.h"

#include <netcore/method.h>

/* --- the client's thread --- */

/// Returns how long the thread may wait, in milliseconds: rounded up, so that a timer is due after the wait.
static uint32_t wait_ms(const nc_client *client) {
    uint64_t next_ns = nc_timers_next_ns(&client->timers);
    uint64_t now_ns = client->clock.monotonic_ns(client->clock.ctx);
    if (next_ns == UINT64_MAX) {
        return UINT32_MAX;
    }
    uint64_t ms = next_ns > now_ns ? (next_ns - now_ns) / 1000000u + 1 : 0;
    return ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX - 1;
}

/// Takes all messages. Waits until there is one, a timer is due, or the client is closed. Returns true if it is closed.
static bool take_mail(nc_client *client, nc_link *mail) {
    uint64_t deadline_ns = 0;
    uint32_t timeout_ms = wait_ms(client);
    bool has_time = timeout_ms > 0;
    nc_list_init(mail);
    pthread_mutex_lock(&client->mutex);
    while (nc_list_is_empty(&client->inbox) && (!client->is_closing || client->has_cancelled) && has_time) {
        has_time = nc_condition_wait(&client->has_mail, &client->mutex, timeout_ms, &deadline_ns);
    }
    nc_list_move_all(mail, &client->inbox);
    bool is_closing = client->is_closing;
    pthread_mutex_unlock(&client->mutex);
    return is_closing;
}

static void fire_timers(nc_client *client) {
    uint64_t now_ns = client->clock.monotonic_ns(client->clock.ctx);
    for (nc_timer *timer; (timer = nc_timers_take_due(&client->timers, now_ns)) != NULL;) {
        timer->fire(timer);
    }
}

static bool is_over(nc_client *client) {
    pthread_mutex_lock(&client->mutex);
    bool is_over = client->is_closing && client->busy == 0 && nc_list_is_empty(&client->inbox);
    pthread_mutex_unlock(&client->mutex);
    return is_over;
}

static void *run(void *argument) {
    nc_client *client = argument;
    // Waits until the thread's id is stored: start_thread() holds the mutex until then.
    pthread_mutex_lock(&client->mutex);
    pthread_mutex_unlock(&client->mutex);
    while (!is_over(client)) {
        nc_link mail;
        bool is_closing = take_mail(client, &mail);
        for (nc_link *link; (link = nc_list_take_first(&mail)) != NULL;) {
            nc_message *message = NC_CONTAINER_OF(link, nc_message, link);
            message->arrive(message);
        }
        if (is_closing) {
            nc_flight_cancel_all(client); // also calls that were accepted before and arrive now
            client->has_cancelled = true;
        }
        fire_timers(client);
    }
    return NULL;
}

/* --- lifetime --- */

static void free_client(nc_client *client) {
    nc_timers_deinit(&client->timers);
    nc_pool_release(client->pool);
    pthread_cond_destroy(&client->is_idle);
    pthread_cond_destroy(&client->has_mail);
    pthread_mutex_destroy(&client->mutex);
    nc_free(client);
}

static nc_client *new_client(nc_engine *engine, const nc_client_options *options) {
    nc_client *client = nc_alloc_zeroed(1, sizeof *client);
    if (client == NULL || pthread_mutex_init(&client->mutex, NULL) != 0) {
        nc_free(client);
        return NULL;
    }
    if (!nc_condition_init(&client->has_mail)) {
        pthread_mutex_destroy(&client->mutex);
        nc_free(client);
        return NULL;
    }
    if (!nc_condition_init(&client->is_idle)) {
        pthread_cond_destroy(&client->has_mail);
        pthread_mutex_destroy(&client->mutex);
        nc_free(client);
        return NULL;
    }
    client->engine = engine;
    client->has_retry = options->retry != NULL;
    client->retry = options->retry != NULL ? *options->retry : (nc_retry_policy)NC_RETRY_POLICY_INIT;
    client->budget = options->budget;
    client->clock = options->clock != NULL ? *options->clock : nc_clock_system();
    client->random = options->random != NULL ? *options->random : nc_random_system();
    nc_list_init(&client->inbox);
    nc_list_init(&client->flights);
    client->cache = options->cache;
    client->pool = nc_pool_new();
    if (client->pool == NULL) {
        free_client(client);
        return NULL;
    }
    return client;
}

nc_status nc_client_new(nc_client **out, nc_engine *engine, const nc_client_options *options, nc_error *err) {
    static const nc_client_options defaults = {0};
    if (out == NULL || engine == NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the engine of a client is NULL");
    }
    nc_client *client = new_client(engine, options != NULL ? options : &defaults);
    if (client == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a client");
    }
    pthread_mutex_lock(&client->mutex);
    bool is_started = nc_thread_start(&client->thread, "netcore-client", run, client);
    pthread_mutex_unlock(&client->mutex);
    if (!is_started) {
        free_client(client);
        return nc_error_set(err, NC_ERR_THREAD, 0, -1, "the thread of a client cannot be started");
    }
    *out = client;
    return nc_error_clear(err);
}

nc_status nc_client_close(nc_client *client) {
    if (client == NULL) {
        return NC_OK;
    }
    if (pthread_equal(client->thread, pthread_self()) != 0 || nc_engine_is_on_loop(client->engine)) {
        return NC_ERR_USAGE;
    }
    pthread_mutex_lock(&client->mutex);
    client->is_closing = true;
    pthread_cond_signal(&client->has_mail);
    pthread_mutex_unlock(&client->mutex);
    (void)pthread_join(client->thread, NULL);
    free_client(client);
    return NC_OK;
}

nc_status nc_client_wait_idle(nc_client *client, uint32_t timeout_ms) {
    uint64_t deadline_ns = 0;
    bool has_time = true;
    if (pthread_equal(client->thread, pthread_self()) != 0) {
        return NC_ERR_USAGE;
    }
    pthread_mutex_lock(&client->mutex);
    while (client->busy > 0 && has_time) {
        has_time = nc_condition_wait(&client->is_idle, &client->mutex, timeout_ms, &deadline_ns);
    }
    bool is_idle = client->busy == 0;
    pthread_mutex_unlock(&client->mutex);
    return is_idle ? NC_OK : NC_ERR_WAIT_TIMED_OUT;
}

/* --- calls --- */

static void accept(nc_message *message) {
    nc_call *call = NC_CONTAINER_OF(message, nc_call, submitted);
    if (call->uses_cache) {
        nc_cached_call_begin(call);
    } else {
        nc_flight_begin(call);
    }
}

static void cancel(nc_message *message) {
    nc_call *call = NC_CONTAINER_OF(message, nc_call, cancelled);
    nc_error error;
    (void)nc_error_set(&error, NC_ERR_CANCELLED, 0, -1, "%s", nc_status_text(NC_ERR_CANCELLED));
    nc_flight_leave(call, &error);
    nc_call_release(call);
}

/// Sets how the call uses the cache. Returns false if memory is exhausted.
static bool set_cache_options(nc_call *call, const nc_call_options *options) {
    static const nc_cache_policy none = {.mode = NC_CACHE_MODE_NO_STORE};
    bool has_cache = call->client->cache != NULL;
    // A call without a policy only invalidates stored responses. Without a cache, a cache-only call fails.
    call->uses_cache = has_cache ? options->cache != NULL || !nc_method_is_safe(call->request->request.method)
                                 : options->cache != NULL && options->cache->mode == NC_CACHE_MODE_CACHE_ONLY;
    call->cache = options->cache != NULL ? *options->cache : none;
    call->has_scope = options->has_cache_scope;
    nc_buf_append(&call->scope, options->cache_scope);
    return nc_buf_status(&call->scope) == NC_OK;
}

/// Returns an error for a cache policy with a value that has no meaning.
static nc_status check_cache_policy(const nc_cache_policy *policy, nc_error *err) {
    const struct {
        const char *name;
        int64_t value;
    } durations[] = {
        {"stale_while_revalidate_ms", policy->stale_while_revalidate_ms},
        {"stale_if_error_ms", policy->stale_if_error_ms},
        {"heuristic_max_ms", policy->heuristic_max_ms},
    };
    if (policy->mode < NC_CACHE_MODE_DEFAULT || policy->mode > NC_CACHE_MODE_NETWORK_FIRST) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the cache policy has the unknown mode %d", (int)policy->mode);
    }
    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
        if (durations[i].value < 0) {
            return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the cache policy has %s %lld, which is negative",
                                durations[i].name, (long long)durations[i].value);
        }
    }
    if (!(policy->heuristic_fraction >= 0 && policy->heuristic_fraction <= 1)) { // also false for NaN
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the cache policy has heuristic_fraction %g, not 0 to 1",
                            policy->heuristic_fraction);
    }
    return NC_OK;
}

static nc_call *make_call(nc_client *client, const nc_request *request, const nc_call_options *options) {
    nc_call *call = nc_call_new(client);
    if (call == NULL) {
        return NULL;
    }
    call->request = nc_alloc_zeroed(1, sizeof *call->request);
    if (call->request == NULL || nc_request_template_init(call->request, request, NC_CACHE_MAX_CONDITIONS) != NC_OK) {
        nc_call_release(call);
        return NULL;
    }
    call->submitted.arrive = accept;
    call->cancelled.arrive = cancel;
    call->has_retry = !options->is_sent_once && (client->has_retry || options->retry != NULL);
    call->retry = options->retry != NULL ? *options->retry : client->retry;
    call->has_own_retry = options->retry != NULL || options->is_sent_once;
    if (!set_cache_options(call, options)) {
        nc_call_release(call);
        return NULL;
    }
    return call;
}

nc_status nc_client_send(nc_client *client, const nc_request *request, const nc_call_options *options,
                         const nc_call_sink *sink, nc_call **out, nc_error *err) {
    static const nc_call_options defaults = {0};
    if (sink != NULL && sink->on_done == NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the sink has no on_done callback");
    }
    nc_status status = nc_request_check(request, err);
    if (status == NC_OK && options != NULL && options->cache != NULL) {
        status = check_cache_policy(options->cache, err);
    }
    if (status != NC_OK) {
        return status;
    }
    nc_call *call = make_call(client, request, options != NULL ? options : &defaults);
    if (call == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a call");
    }
    call->sink = sink != NULL ? *sink : (nc_call_sink){0};
    if (!nc_client_enter(client)) {
        nc_call_release(call);
        return nc_error_set(err, NC_ERR_CLOSED, 0, -1, "the client is closed");
    }
    if (out != NULL) {
        *out = nc_call_retain(call);
    }
    nc_client_post(client, &call->submitted);
    return nc_error_clear(err);
}
