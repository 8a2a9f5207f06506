/// Thousands of transfers, half of them cancelled from another thread, from callbacks and from trace points.
#include "torture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { IN_FLIGHT = 256, OUTSTANDING = 512, POOL = 64, REPLIES = 5, PAGE_BYTES = 3000 };

/// The source of a cancel, if any. Random trace points cancel too.
typedef enum canceller { NOBODY, OTHER_THREAD, OWN_CALLBACK, CANCELLER_COUNT } canceller;

struct cancel_run;

typedef struct request_slot {
    struct cancel_run *cancel_run;
    uint64_t chance;
    canceller source;
    size_t reply;
    atomic_uint done_count;
} request_slot;

typedef struct cancel_run {
    nc_engine *_Atomic engine;
    uint64_t seed;
    size_t count;
    request_slot *slots;
    atomic_size_t ok_count;
    atomic_size_t cancelled_count;
    atomic_size_t wrong_count;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t outstanding;
    nc_transfer_id arrivals[OUTSTANDING];
    size_t arrival_count;
    bool is_over;
} cancel_run;

static const char *const paths[REPLIES] = {"/page", "/chunked", "/moved", "/stalled", "/headless"};

static bool is_stalling(size_t reply) {
    return reply >= 3;
}

static void script(nct_server *server) {
    const nct_reply page = {.pattern_length = PAGE_BYTES};
    const nct_reply chunked = {.pattern_length = PAGE_BYTES, .chunk_bytes = 100};
    const nct_reply moved = {.location = "/page"};
    const nct_reply stalled = {.pattern_length = PAGE_BYTES, .is_cut = true, .cut_after = 1000, .ending = NCT_STALL};
    const nct_reply headless = {.pattern_length = PAGE_BYTES, .is_cut = true, .cut_after = 20, .ending = NCT_STALL};
    const nct_reply *const replies[REPLIES] = {&page, &chunked, &moved, &stalled, &headless};
    for (size_t i = 0; i < REPLIES; i++) {
        assert_int_equal(nct_server_script(server, paths[i], replies[i]), 0);
    }
}

/* --- callbacks on the loop thread --- */

static void maybe_cancel(const request_slot *one, nc_transfer_id id, uint64_t moment) {
    if (one->source == OWN_CALLBACK && torture_mix(one->chance, moment) % 2 == 0) {
        nc_engine_cancel(one->cancel_run->engine, id);
    }
}

static nc_action on_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    (void)is_last;
    maybe_cancel(ctx, id, nc_response_status(response));
    return NC_ACTION_CONTINUE;
}

static nc_action on_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    maybe_cancel(ctx, id, bytes.length);
    return NC_ACTION_CONTINUE;
}

static void on_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    request_slot *one = ctx;
    cancel_run *all = one->cancel_run;
    (void)response;
    atomic_fetch_add(&one->done_count, 1);
    if (error->status == NC_OK) {
        atomic_fetch_add(&all->ok_count, 1);
    } else if (error->status == NC_ERR_CANCELLED) {
        atomic_fetch_add(&all->cancelled_count, 1);
    } else {
        atomic_fetch_add(&all->wrong_count, 1);
        print_error("%s: %s\n", paths[one->reply], error->message);
    }
    nc_engine_cancel(all->engine, id); // too late, so it must have no effect
    pthread_mutex_lock(&all->mutex);
    all->outstanding--;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->mutex);
}

/// Cancels about one transfer in eight. The transfer's id and the trace point determine the choice.
static void on_point(void *ctx, nc_trace_point point, nc_transfer_id id) {
    cancel_run *all = ctx;
    nc_engine *engine = atomic_load(&all->engine);
    uint64_t by_id = torture_mix(all->seed, id);
    if (engine != NULL && id != 0 && by_id % 6 == 0 && torture_mix(by_id, (uint64_t)point) % 8 == 0) {
        nc_engine_cancel(engine, id);
    }
}

/* --- the other thread --- */

static struct timespec soon(void) {
    struct timespec moment;
    clock_gettime(CLOCK_REALTIME, &moment);
    moment.tv_nsec += 1000000L;
    if (moment.tv_nsec >= 1000000000L) {
        moment.tv_sec++;
        moment.tv_nsec -= 1000000000L;
    }
    return moment;
}

/// Cancels transfers at random, some immediately, some much later. Stalled ones have no other end.
static void *cancel_thread(void *argument) {
    cancel_run *all = argument;
    uint64_t chance = all->seed;
    pthread_mutex_lock(&all->mutex);
    while (!all->is_over || all->arrival_count > 0) {
        bool is_pressed = all->arrival_count >= POOL || all->is_over;
        if (!is_pressed) {
            struct timespec moment = soon();
            // If nothing new arrives for a while, cancels transfers of the current list.
            bool is_quiet = pthread_cond_timedwait(&all->changed, &all->mutex, &moment) == ETIMEDOUT;
            is_pressed = is_quiet || torture_next(&chance) % 4 == 0;
        }
        if (is_pressed && all->arrival_count > 0) {
            size_t index = (size_t)(torture_next(&chance) % all->arrival_count);
            nc_transfer_id id = all->arrivals[index];
            all->arrivals[index] = all->arrivals[--all->arrival_count];
            pthread_mutex_unlock(&all->mutex);
            nc_engine_cancel(all->engine, id);
            pthread_mutex_lock(&all->mutex);
        }
    }
    pthread_mutex_unlock(&all->mutex);
    return NULL;
}

/* --- the storm --- */

static void submit_one(cancel_run *all, request_slot *one, const nct_server *server) {
    char url[TORTURE_URL_BYTES];
    const nc_sink sink = {
        .ctx = one, .on_head = on_head, .on_body = one->chance % 2 == 0 ? on_body : NULL, .on_done = on_done};
    nc_request request = {.url = torture_url(url, "http", server, paths[one->reply])};
    nc_transfer_id id = 0;
    pthread_mutex_lock(&all->mutex);
    while (all->outstanding == OUTSTANDING) {
        pthread_cond_wait(&all->changed, &all->mutex);
    }
    all->outstanding++;
    pthread_mutex_unlock(&all->mutex);
    assert_status(nc_engine_submit(all->engine, &request, &sink, &id, NULL), NC_OK);
    if (one->source != OTHER_THREAD) {
        return;
    }
    pthread_mutex_lock(&all->mutex);
    assert_true(all->arrival_count < OUTSTANDING);
    all->arrivals[all->arrival_count++] = id;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->mutex);
}

static void run_requests(cancel_run *all, nct_server *server) {
    pthread_t thread;
    uint64_t chance = all->seed;
    assert_int_equal(pthread_create(&thread, NULL, cancel_thread, all), 0);
    for (size_t i = 0; i < all->count; i++) {
        request_slot *one = &all->slots[i];
        one->cancel_run = all;
        one->chance = torture_next(&chance);
        one->reply = (size_t)(torture_next(&chance) % REPLIES);
        one->source = one->chance % 2 == 0 ? NOBODY : (canceller)(torture_next(&chance) % CANCELLER_COUNT);
        if (is_stalling(one->reply)) {
            one->source = OTHER_THREAD;
        }
        submit_one(all, one, server);
    }
    pthread_mutex_lock(&all->mutex);
    all->is_over = true;
    pthread_cond_broadcast(&all->changed);
    uint64_t end_ms = torture_now_ms() + TORTURE_PATIENCE_MS;
    while (all->outstanding > 0 && torture_now_ms() < end_ms) {
        struct timespec moment = soon();
        (void)pthread_cond_timedwait(&all->changed, &all->mutex, &moment);
    }
    size_t left = all->outstanding;
    pthread_mutex_unlock(&all->mutex);
    assert_int_equal(pthread_join(thread, NULL), 0);
    if (left > 0) {
        fail_msg("%zu transfers have not ended", left);
    }
}

static void run_with(nc_poller_choice poller, size_t count) {
    cancel_run all = {.count = count, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    all.seed = torture_seed();
    all.slots = calloc(count, sizeof *all.slots);
    assert_non_null(all.slots);
    nct_server *server = torture_start(NCT_PLAIN);
    script(server);
    size_t descriptors = torture_open_descriptors();
    uint64_t began_ms = torture_now_ms();
    all.engine = torture_engine(&(nc_engine_options){
        .max_in_flight = IN_FLIGHT, .max_per_host = IN_FLIGHT, .poller = poller, .trace = {&all, on_point}});
    run_requests(&all, server);
    assert_status(nc_engine_close(all.engine, TORTURE_PATIENCE_MS), NC_OK);
    for (size_t i = 0; i < count; i++) {
        if (atomic_load(&all.slots[i].done_count) != 1) {
            fail_msg("transfer %zu ended %u times", i, atomic_load(&all.slots[i].done_count));
        }
    }
    print_message("%zu transfers: %zu OK, %zu cancelled, %llu ms\n", count, all.ok_count, all.cancelled_count,
                  (unsigned long long)(torture_now_ms() - began_ms));
    assert_int_equal(all.wrong_count, 0);
    assert_int_equal(all.ok_count + all.cancelled_count, count);
    assert_true(all.cancelled_count > count / 3 && all.ok_count > count / 5);
    assert_true(nct_server_wait_for_silence(server, TORTURE_PATIENCE_MS));
    assert_true(torture_wait_for_descriptors(descriptors));
    free(all.slots);
    nct_server_stop(server);
}

static size_t run_size(void) {
    return (size_t)torture_number("NETCORE_TORTURE_REQUESTS", 10000);
}

static void cancel__in_a_storm_ends_every_transfer_exactly_once(void **state) {
    (void)state;
    run_with(NC_POLLER_AUTO, run_size());
}

static void cancel__in_a_storm_over_poll_ends_every_transfer_exactly_once(void **state) {
    (void)state;
    run_with(NC_POLLER_POLL, run_size() / 5);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(cancel__in_a_storm_ends_every_transfer_exactly_once),
        harness_case(cancel__in_a_storm_over_poll_ends_every_transfer_exactly_once),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
