/// The order of ends. Several transfers may end in one step of the event loop: their on_done follows after the step, in
/// the order in which they ended.
///
/// Related tests: engine__a_callback_cancels_its_own_transfer (the record is freed in a callback),
/// close__returns_after_all_due_callbacks, release__ends_downloads_and_preserves_partial_files,
/// cancel__at_any_trace_point_ends_a_transfer_once, and torture of the allocator (an end needs no memory).
#include "fixture.h"
#include "gate.h"

#include <netcore/transfers.h>
#include <stdatomic.h>
#include <string.h>

enum { COUNT = NC_DEFAULT_MAX_PER_HOST, MANY = 300 };

typedef struct group group;

typedef struct member {
    group *group;
    nc_transfer_id id;
    nc_status status;
    unsigned ends;
    atomic_bool is_over;
    atomic_uint late_calls; // callbacks after on_done
    nc_transfer_id cancels; // in its on_body
} member;

/// Transfers whose ends are counted. Written on the loop thread, read after `is_over`.
struct group {
    nc_engine *engine;
    member members[MANY];
    size_t count;
    const member *order[MANY];
    size_t ended;
    void (*at_first_end)(group *one);
    gate is_over; // opened once for each end
    gate has_body;
};

static void late_call(member *one) {
    if (atomic_load(&one->is_over)) {
        atomic_fetch_add(&one->late_calls, 1);
    }
}

static nc_action on_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    (void)id;
    (void)response;
    (void)is_last;
    late_call(ctx);
    return NC_ACTION_CONTINUE;
}

static nc_action on_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    member *one = ctx;
    (void)id;
    (void)bytes;
    late_call(one);
    gate_open(&one->group->has_body);
    if (one->cancels != 0) {
        nc_engine_cancel(one->group->engine, one->cancels);
    }
    return NC_ACTION_CONTINUE;
}

static nc_pull pull(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    (void)id;
    late_call(ctx);
    memset(bytes, 'x', capacity);
    *filled = capacity;
    return NC_PULL_MORE;
}

static void on_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    member *one = ctx;
    group *all = one->group;
    (void)response;
    assert_true(one->id == 0 || id == one->id);
    one->status = error->status;
    one->ends++;
    atomic_store(&one->is_over, true);
    all->order[all->ended] = one;
    if (all->ended++ == 0 && all->at_first_end != NULL) {
        all->at_first_end(all);
    }
    gate_open(&all->is_over);
}

static void group_init(group *one, fixture *f) {
    memset(one, 0, sizeof *one);
    one->engine = f->engine;
    one->is_over = (gate)GATE_INIT;
    one->has_body = (gate)GATE_INIT;
}

static member *submit(group *all, nc_request request) {
    member *one = &all->members[all->count++];
    *one = (member){.group = all, .status = NC_ERR_INTERNAL};
    if (request.body_source.pull != NULL) {
        request.body_source.ctx = one;
    }
    const nc_sink sink = {.ctx = one, .on_head = on_head, .on_body = on_body, .on_done = on_done};
    assert_status(nc_engine_submit(all->engine, &request, &sink, &one->id, NULL), NC_OK);
    return one;
}

static void assert_ends(const group *all, nc_status status) {
    for (size_t i = 0; i < all->count; i++) {
        assert_int_equal(all->members[i].ends, 1);
        assert_status(all->members[i].status, status);
        assert_int_equal(atomic_load(&all->members[i].late_calls), 0);
        assert_ptr_equal(all->order[i], &all->members[i]);
    }
}

/// Submits transfers that wait for the same file of authorities. It cannot be read, so all end in one step.
static void start_failing(fixture *f, group *all, size_t count, uint32_t max_in_flight) {
    fixture_start_with(f, NULL, &(nc_engine_options){.max_in_flight = max_in_flight});
    nc_trust *trust = fixture_trust(
        f, &(nc_trust_options){.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of("/nonexistent/authorities.pem")});
    all->engine = f->engine;
    nc_engine_set_suspended(f->engine, true);
    for (size_t i = 0; i < count; i++) {
        (void)submit(all, (nc_request){.url = nc_slice_of("https://127.0.0.1:1/"), .trust = trust});
    }
}

static void engine__transfers_that_end_in_one_step_are_reported_in_order(void **state) {
    fixture f = {0};
    static group all;
    (void)state;
    group_init(&all, &f);
    start_failing(&f, &all, COUNT, 0);
    nc_engine_set_suspended(f.engine, false);
    gate_wait_for(&all.is_over, COUNT);
    assert_ends(&all, NC_ERR_TLS_ROOTS);
    fixture_stop(&f);
}

static void command_the_others(group *all) {
    for (size_t i = 1; i < all->count; i++) {
        nc_engine_pause(all->engine, all->members[i].id);
        nc_engine_set_priority(all->engine, all->members[i].id, NC_PRIORITY_HIGH);
        nc_engine_cancel(all->engine, all->members[i].id);
    }
}

static void engine__commands_do_not_change_a_transfer_that_has_ended(void **state) {
    fixture f = {0};
    static group all;
    (void)state;
    group_init(&all, &f);
    all.at_first_end = command_the_others;
    start_failing(&f, &all, COUNT, 0);
    nc_engine_set_suspended(f.engine, false);
    gate_wait_for(&all.is_over, COUNT);
    assert_ends(&all, NC_ERR_TLS_ROOTS);
    fixture_stop(&f);
}

static void release_engine(group *all) {
    nc_engine_release(all->engine);
}

static void engine__a_release_in_on_done_delivers_the_other_ends(void **state) {
    fixture f = {0};
    static group all;
    (void)state;
    group_init(&all, &f);
    all.at_first_end = release_engine;
    start_failing(&f, &all, COUNT, 0);
    nc_engine_set_suspended(f.engine, false);
    f.engine = NULL;
    gate_wait_for(&all.is_over, COUNT);
    assert_ends(&all, NC_ERR_TLS_ROOTS);
    fixture_stop(&f);
}

static void engine__close_delivers_every_end_before_it_returns(void **state) {
    fixture f = {0};
    static group all;
    (void)state;
    group_init(&all, &f);
    start_failing(&f, &all, COUNT, 0);
    assert_status(nc_engine_close(f.engine, FIXTURE_LIMIT_MS), NC_OK);
    f.engine = NULL;
    assert_int_equal(all.ended, COUNT);
    assert_ends(&all, NC_ERR_CANCELLED);
    fixture_stop(&f);
}

static void engine__a_queue_of_failing_transfers_empties_without_another_event(void **state) {
    fixture f = {0};
    static group all;
    (void)state;
    group_init(&all, &f);
    start_failing(&f, &all, MANY, 1);
    nc_engine_set_suspended(f.engine, false);
    gate_wait_for(&all.is_over, MANY);
    assert_ends(&all, NC_ERR_TLS_ROOTS);
    fixture_stop(&f);
}

static void engine__transfers_are_cancelled_in_the_order_of_the_calls(void **state) {
    fixture f;
    static group all;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/s", (nct_reply){.is_cut = true, .cut_after = 0, .ending = NCT_STALL});
    group_init(&all, &f);
    for (size_t i = 0; i < COUNT; i++) {
        (void)submit(&all, fixture_request(&f, "/s"));
    }
    assert_true(nct_server_wait_for_stalled(f.server, COUNT, FIXTURE_LIMIT_MS));
    for (size_t i = COUNT; i > 0; i--) {
        nc_engine_cancel(f.engine, all.members[i - 1].id);
    }
    gate_wait_for(&all.is_over, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_status(all.order[i]->status, NC_ERR_CANCELLED);
        assert_ptr_equal(all.order[i], &all.members[COUNT - 1 - i]);
    }
    fixture_stop(&f);
}

static void engine__no_callback_follows_on_done(void **state) {
    fixture f;
    static group all;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/endless", (nct_reply){.pattern_length = UINT64_C(1) << 40});
    group_init(&all, &f);
    nc_request request = fixture_request(&f, "/endless");
    request.limits.max_body_bytes = NC_UNLIMITED_BYTES;
    member *down = submit(&all, request);
    gate_wait(&all.has_body);
    nc_request upload = fixture_request(&f, "/endless");
    upload.method = nc_slice_of("PUT");
    upload.has_body = true;
    upload.body_length = NC_LENGTH_UNKNOWN;
    upload.body_source = (nc_body_source){.pull = pull};
    member *up = submit(&all, upload);
    // Another transfer cancels both while their bodies are being transferred.
    fixture_script(&f, "/one", (nct_reply){.body = "hi", .body_length = 2});
    group canceller;
    group_init(&canceller, &f);
    for (size_t i = 0; i < 2; i++) {
        member *one = submit(&canceller, fixture_request(&f, "/one"));
        gate_wait_for(&canceller.is_over, (unsigned)i + 1);
        assert_status(one->status, NC_OK);
        nc_engine_cancel(f.engine, i == 0 ? down->id : up->id);
        gate_wait_for(&all.is_over, (unsigned)i + 1);
    }
    assert_status(nc_engine_close(f.engine, FIXTURE_LIMIT_MS), NC_OK);
    f.engine = NULL;
    assert_ends(&all, NC_ERR_CANCELLED);
    fixture_stop(&f);
}

static void engine__a_body_callback_cancels_another_transfer(void **state) {
    fixture f;
    static group all;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/endless", (nct_reply){.pattern_length = UINT64_C(1) << 40});
    fixture_script(&f, "/one", (nct_reply){.body = "hi", .body_length = 2});
    group_init(&all, &f);
    nc_request request = fixture_request(&f, "/endless");
    request.limits.max_body_bytes = NC_UNLIMITED_BYTES;
    const member *endless = submit(&all, request);
    gate_wait(&all.has_body);
    nc_engine_set_suspended(f.engine, true);
    member *canceller = submit(&all, fixture_request(&f, "/one"));
    canceller->cancels = endless->id;
    nc_engine_set_suspended(f.engine, false);
    gate_wait_for(&all.is_over, 2);
    assert_status(canceller->status, NC_OK);
    assert_status(endless->status, NC_ERR_CANCELLED);
    assert_int_equal(atomic_load(&endless->late_calls), 0);
    fixture_stop(&f);
}

static void engine__a_redirect_is_followed_before_waiting_transfers_start(void **state) {
    static const char *const expected[] = {"GET /first ", "GET /next ", "GET /waiting "};
    fixture f;
    static group all;
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){.max_in_flight = 1});
    fixture_script(&f, "/first", (nct_reply){.location = "/next"});
    group_init(&all, &f);
    nc_engine_set_suspended(f.engine, true);
    (void)submit(&all, fixture_request(&f, "/first"));
    (void)submit(&all, fixture_request(&f, "/waiting"));
    nc_engine_set_suspended(f.engine, false);
    gate_wait_for(&all.is_over, 2);
    assert_ends(&all, NC_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_memory_equal(fixture_received(&f, i), expected[i], strlen(expected[i]));
    }
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__transfers_that_end_in_one_step_are_reported_in_order),
        harness_case(engine__commands_do_not_change_a_transfer_that_has_ended),
        harness_case(engine__a_release_in_on_done_delivers_the_other_ends),
        harness_case(engine__close_delivers_every_end_before_it_returns),
        harness_case(engine__a_queue_of_failing_transfers_empties_without_another_event),
        harness_case(engine__transfers_are_cancelled_in_the_order_of_the_calls),
        harness_case(engine__no_callback_follows_on_done),
        harness_case(engine__a_body_callback_cancels_another_transfer),
        harness_case(engine__a_redirect_is_followed_before_waiting_transfers_start),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
