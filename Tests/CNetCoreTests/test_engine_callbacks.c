/// Events: their order, the calls allowed in callbacks, and that on_done is called exactly once.
#include "fixture.h"

#include <curl/curl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/// The settings and results of a test's sink. Written on the loop thread, read after `over`.
typedef struct watcher {
    nc_engine *engine;
    pthread_t loop_thread;
    char events[64]; // h: a redirect's head, H: the last, b: body, d: done
    size_t event_count;
    char stop_at; // the event whose callback returns NC_ACTION_STOP
    char cancel_at;
    bool releases_engine;
    const nc_request *next; // submitted from inside on_done
    int next_count;
    size_t body_bytes;
    uint16_t head_status;
    size_t head_fields;
    nc_transfer_id id;
    nc_error error;
    nc_response *response;
    nc_status inner; // of a call that a callback made
    sem_t over;
} watcher;

static void watcher_init(watcher *w, fixture *f) {
    memset(w, 0, sizeof *w);
    w->engine = f->engine;
    w->inner = NC_OK;
    assert_int_equal(sem_init(&w->over, 0, 0), 0);
}

static void wait_for(sem_t *event) {
    struct timespec until;
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &until), 0);
    until.tv_sec += FIXTURE_LIMIT_MS / 1000;
    assert_int_equal(sem_timedwait(event, &until), 0);
}

static void watcher_wait(watcher *w) {
    wait_for(&w->over);
}

static void watcher_deinit(watcher *w) {
    nc_response_release(w->response);
    assert_int_equal(sem_destroy(&w->over), 0);
}

static nc_action record_event(watcher *w, nc_transfer_id id, char event) {
    if (w->event_count < sizeof w->events - 1 && (event != 'b' || w->events[w->event_count - 1] != 'b')) {
        w->events[w->event_count++] = event;
    }
    if (w->cancel_at == event) {
        nc_engine_cancel(w->engine, id);
        nc_engine_cancel(w->engine, id);
    }
    return w->stop_at == event ? NC_ACTION_STOP : NC_ACTION_CONTINUE;
}

static nc_action on_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    watcher *w = ctx;
    w->head_status = nc_response_status(response);
    w->head_fields = nc_response_header_count(response);
    if (nc_response_body(response).length != 0) {
        w->inner = NC_ERR_INTERNAL;
    }
    return record_event(w, id, is_last ? 'H' : 'h');
}

static nc_action on_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    watcher *w = ctx;
    w->body_bytes += bytes.length;
    return record_event(w, id, 'b');
}

static void on_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    watcher *w = ctx;
    (void)record_event(w, id, 'd');
    w->loop_thread = pthread_self();
    w->id = id;
    w->error = *error;
    nc_response_release(w->response);
    w->response = nc_response_retain(response);
    if (w->next_count > 0) {
        const nc_sink again = {.ctx = w, .on_done = on_done};
        nc_transfer_id next_id;
        w->next_count--;
        w->inner = nc_engine_submit(w->engine, w->next, &again, &next_id, NULL);
        if (w->inner == NC_OK) {
            return; // only the end of the last request is recorded
        }
    }
    if (w->releases_engine) {
        nc_engine_release(w->engine);
    }
    sem_post(&w->over);
}

static nc_transfer_id start(watcher *w, const nc_request *request, bool streams) {
    const nc_sink sink = {.ctx = w, .on_head = on_head, .on_body = streams ? on_body : NULL, .on_done = on_done};
    nc_transfer_id id = 0;
    assert_status(nc_engine_submit(w->engine, request, &sink, &id, NULL), NC_OK);
    return id;
}

static void run(watcher *w, const nc_request *request, bool streams) {
    nc_transfer_id id = start(w, request, streams);
    watcher_wait(w);
    assert_true(w->id == id);
}

/* --- order --- */

static void engine__events_come_in_order_on_the_loop_thread(void **state) {
    fixture f;
    watcher w;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/1", (nct_reply){.location = "/2", .body = "gone", .body_length = 4});
    fixture_script(&f, "/2", (nct_reply){.location = "/3", .body = "gone", .body_length = 4});
    fixture_script(&f, "/3", (nct_reply){.headers = "A: 1\r\n", .pattern_length = 100000});
    nc_request request = fixture_request(&f, "/1");
    for (int streams = 0; streams < 2; streams++) {
        watcher_init(&w, &f);
        run(&w, &request, streams);
        assert_string_equal(w.events, streams ? "hhHbd" : "hhHd");
        assert_status(w.error.status, NC_OK);
        assert_status(w.inner, NC_OK);
        assert_int_equal(w.head_status, 200);
        assert_int_equal(w.head_fields, 2);
        assert_int_equal(w.body_bytes, streams ? 100000 : 0);
        assert_int_equal(nc_response_body(w.response).length, streams ? 0 : 100000);
        assert_int_equal(nc_response_hop_at(w.response, 2).decoded_bytes, 100000);
        assert_false(pthread_equal(w.loop_thread, pthread_self()));
        watcher_deinit(&w);
    }
    fixture_stop(&f);
}

static void engine__a_streamed_body_ends_at_its_size_limit(void **state) {
    fixture f;
    watcher w;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/b", (nct_reply){.pattern_length = 100000, .chunk_bytes = 1000});
    nc_request request = fixture_request(&f, "/b");
    request.limits.max_body_bytes = 99999;
    watcher_init(&w, &f);
    run(&w, &request, true);
    assert_status(w.error.status, NC_ERR_BODY_TOO_LARGE);
    assert_true(w.body_bytes <= 99999);
    watcher_deinit(&w);
    fixture_stop(&f);
}

/* --- calls allowed in a callback --- */

static void engine__a_callback_stops_its_transfer(void **state) {
    static const struct {
        char stop_at;
        const char *events;
        const char *message;
    } cases[] = {{'h', "hd", "the head callback stopped the transfer"},
                 {'H', "hHd", "the head callback stopped the transfer"},
                 {'b', "hHbd", "the body callback stopped the transfer"}};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/r", (nct_reply){.location = "/b"});
    fixture_script(&f, "/b", (nct_reply){.pattern_length = UINT64_C(1) << 40});
    nc_request request = fixture_request(&f, "/r");
    request.limits.max_body_bytes = NC_UNLIMITED_BYTES;
    for (size_t i = 0; i < 3; i++) {
        watcher w;
        watcher_init(&w, &f);
        w.stop_at = cases[i].stop_at;
        run(&w, &request, true);
        assert_string_equal(w.events, cases[i].events);
        assert_status(w.error.status, NC_ERR_STOPPED_BY_CALLER);
        assert_string_equal(w.error.message, cases[i].message);
        assert_int_equal(w.error.native_code, 0);
        watcher_deinit(&w);
    }
    fixture_stop(&f);
}

static void engine__a_callback_cancels_its_own_transfer(void **state) {
    static const char points[] = {'h', 'H', 'b'};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/r", (nct_reply){.location = "/b"});
    fixture_script(&f, "/b",
                   (nct_reply){.pattern_length = 1000000, .is_cut = true, .cut_after = 500000, .ending = NCT_STALL});
    nc_request request = fixture_request(&f, "/r");
    for (size_t i = 0; i < sizeof points; i++) {
        watcher w;
        watcher_init(&w, &f);
        w.cancel_at = points[i];
        run(&w, &request, true);
        assert_status(w.error.status, NC_ERR_CANCELLED);
        assert_int_equal(strchr(w.events, 'd') - w.events, (ptrdiff_t)w.event_count - 1);
        watcher_deinit(&w);
    }
    watcher w;
    watcher_init(&w, &f);
    w.cancel_at = 'd'; // too late, because it has ended
    fixture_script(&f, "/b", (nct_reply){0});
    run(&w, &request, true);
    assert_status(w.error.status, NC_OK);
    watcher_deinit(&w);
    fixture_stop(&f);
}

static void engine__on_done_may_submit_again(void **state) {
    fixture f;
    watcher w;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_request request = fixture_request(&f, "/x");
    watcher_init(&w, &f);
    w.next = &request;
    w.next_count = 20;
    start(&w, &request, false);
    watcher_wait(&w);
    assert_status(w.inner, NC_OK);
    assert_int_equal(nct_server_request_count(f.server), 21);
    assert_int_equal(nct_server_connection_count(f.server), 1);
    watcher_deinit(&w);
    fixture_stop(&f);
}

static void engine__on_done_may_release_the_engine(void **state) {
    fixture f;
    watcher w;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    watcher_init(&w, &f);
    w.releases_engine = true;
    nc_request request = fixture_request(&f, "/x");
    run(&w, &request, true);
    assert_status(w.error.status, NC_OK);
    f.engine = NULL;
    watcher_deinit(&w);
    fixture_stop(&f);
}

static void engine__cancel_ends_a_transfer_in_any_state(void **state) {
    static const uint64_t cuts[] = {0, 10, 40};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < 3; i++) {
        watcher w;
        fixture_script(
            &f, "/s",
            (nct_reply){
                .body = "0123456789", .body_length = 10, .is_cut = true, .cut_after = cuts[i], .ending = NCT_STALL});
        nc_request request = fixture_request(&f, "/s");
        watcher_init(&w, &f);
        nc_transfer_id id = start(&w, &request, true);
        assert_true(nct_server_wait_for_stalled(f.server, 1, FIXTURE_LIMIT_MS));
        nc_engine_cancel(f.engine, id);
        nc_engine_cancel(f.engine, id);
        watcher_wait(&w);
        assert_status(w.error.status, NC_ERR_CANCELLED);
        assert_int_equal(w.error.native_code, 0);
        assert_string_equal(w.error.message, nc_status_text(NC_ERR_CANCELLED));
        nc_engine_cancel(f.engine, id); // the id of an ended transfer is unknown
        assert_true(nct_server_wait_for_silence(f.server, FIXTURE_LIMIT_MS));
        watcher_deinit(&w);
    }
    nc_engine_cancel(f.engine, 0);
    nc_engine_cancel(f.engine, UINT64_MAX);
    assert_response(fixture_get(&f, "/none"), 404, "");
    fixture_stop(&f);
}

static void engine__release_ends_all_transfers_in_flight(void **state) {
    enum { COUNT = 20 };
    fixture f;
    watcher w[COUNT];
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/s", (nct_reply){.is_cut = true, .cut_after = 0, .ending = NCT_STALL});
    nc_request request = fixture_request(&f, "/s");
    for (size_t i = 0; i < COUNT; i++) {
        watcher_init(&w[i], &f);
        start(&w[i], &request, true);
    }
    assert_true(nct_server_wait_for_stalled(f.server, NC_DEFAULT_MAX_PER_HOST, FIXTURE_LIMIT_MS));
    nc_engine_release(f.engine);
    f.engine = NULL;
    for (size_t i = 0; i < COUNT; i++) {
        watcher_wait(&w[i]);
        assert_status(w[i].error.status, NC_ERR_CANCELLED);
        assert_string_equal(w[i].error.message, "the engine was released");
        assert_string_equal(w[i].events, "d");
        watcher_deinit(&w[i]);
    }
    fixture_stop(&f);
}

/* --- rounds and jobs --- */

typedef struct jobs {
    nc_engine *engine;
    atomic_uint waiting, ran, bursts, releases, largest;
    atomic_bool was_on_loop;
} jobs;

static bool drain(void *ctx, uint32_t max_jobs) {
    jobs *j = ctx;
    unsigned count = 0;
    atomic_store(&j->was_on_loop, nc_engine_is_on_loop(j->engine));
    while (count < max_jobs && atomic_load(&j->waiting) > 0) {
        atomic_fetch_sub(&j->waiting, 1);
        atomic_fetch_add(&j->ran, 1);
        count++;
    }
    if (count > atomic_load(&j->largest)) {
        atomic_store(&j->largest, count);
    }
    return atomic_load(&j->waiting) > 0;
}

static void burst_done(void *ctx) {
    atomic_fetch_add(&((jobs *)ctx)->bursts, 1);
}

static void release(void *ctx) {
    atomic_fetch_add(&((jobs *)ctx)->releases, 1);
}

static void engine__all_jobs_run_on_the_loop_thread(void **state) {
    jobs j = {0};
    const nc_engine_options options = {
        .loop_client = {.ctx = &j, .drain = drain, .burst_done = burst_done, .release = release}};
    nc_error err;
    (void)state;
    assert_status(nc_engine_new(&j.engine, &options, &err), NC_OK);
    assert_false(nc_engine_is_on_loop(j.engine));
    for (unsigned i = 0; i < 1000; i++) {
        atomic_fetch_add(&j.waiting, 1);
        assert_true(nc_engine_wake(j.engine));
    }
    assert_status(nc_engine_close(j.engine, FIXTURE_LIMIT_MS), NC_OK);
    assert_int_equal(atomic_load(&j.ran), 1000);
    assert_true(atomic_load(&j.was_on_loop));
    assert_true(atomic_load(&j.largest) <= 64);
    assert_int_equal(atomic_load(&j.releases), 1);
    assert_int_equal(atomic_load(&j.bursts), 0);
}

static void engine__burst_done_is_called_after_a_round_that_ended_transfers(void **state) {
    jobs j = {0};
    const nc_engine_options options = {.loop_client = {.ctx = &j, .burst_done = burst_done, .release = release}};
    fixture f;
    watcher w;
    (void)state;
    fixture_start_with(&f, NULL, &options);
    nc_request request = fixture_request(&f, "/x");
    watcher_init(&w, &f);
    for (size_t i = 0; i < 5; i++) {
        run(&w, &request, true);
    }
    watcher_deinit(&w);
    fixture_stop(&f);
    assert_int_equal(atomic_load(&j.bursts), 5);
    assert_int_equal(atomic_load(&j.releases), 1);
}

/// Blocks the event loop in its first burst of callbacks until the test has submitted a request.
typedef struct pause_in_burst {
    sem_t woken, submitted;
    atomic_uint bursts, bells;
} pause_in_burst;

static void wait_in_burst(void *ctx) {
    pause_in_burst *p = ctx;
    if (atomic_fetch_add(&p->bursts, 1) == 0) {
        sem_post(&p->woken);
        wait_for(&p->submitted);
    }
}

static void count_bells(void *ctx, nc_trace_point point, nc_transfer_id id) {
    (void)id;
    if (point == NC_TRACE_ENGINE_WOKEN) {
        atomic_fetch_add(&((pause_in_burst *)ctx)->bells, 1);
    }
}

static void engine__a_request_made_while_the_loop_is_awake_causes_no_wakeup(void **state) {
    pause_in_burst p = {.bursts = 0};
    const nc_engine_options options = {.trace = {&p, count_bells},
                                       .loop_client = {.ctx = &p, .burst_done = wait_in_burst}};
    fixture f;
    watcher first;
    watcher second;
    (void)state;
    assert_int_equal(sem_init(&p.woken, 0, 0), 0);
    assert_int_equal(sem_init(&p.submitted, 0, 0), 0);
    fixture_start_with(&f, NULL, &options);
    nc_request request = fixture_request(&f, "/x");
    watcher_init(&first, &f);
    watcher_init(&second, &f);
    start(&first, &request, false);
    wait_for(&p.woken); // the response has woken the loop, which has not read its mailbox yet
    unsigned bells = atomic_load(&p.bells);
    start(&second, &request, false);
    sem_post(&p.submitted);
    watcher_wait(&second);
    assert_status(second.error.status, NC_OK);
    assert_int_equal(atomic_load(&p.bells), bells);
    watcher_deinit(&first);
    watcher_deinit(&second);
    fixture_stop(&f);
    assert_int_equal(sem_destroy(&p.woken), 0);
    assert_int_equal(sem_destroy(&p.submitted), 0);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__events_come_in_order_on_the_loop_thread),
        harness_case(engine__a_streamed_body_ends_at_its_size_limit),
        harness_case(engine__a_callback_stops_its_transfer),
        harness_case(engine__a_callback_cancels_its_own_transfer),
        harness_case(engine__on_done_may_submit_again),
        harness_case(engine__on_done_may_release_the_engine),
        harness_case(engine__cancel_ends_a_transfer_in_any_state),
        harness_case(engine__release_ends_all_transfers_in_flight),
        harness_case(engine__all_jobs_run_on_the_loop_thread),
        harness_case(engine__burst_done_is_called_after_a_round_that_ended_transfers),
        harness_case(engine__a_request_made_while_the_loop_is_awake_causes_no_wakeup),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
