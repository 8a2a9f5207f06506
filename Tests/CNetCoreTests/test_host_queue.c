/// The queue: how many transfers use a host concurrently, depending on shareable connections.
#include "harness.h"

#include "state/engine_record.h"
#include "state/transfer_state.h"
#include "transfer/host_queue.h"

#include <string.h>

enum { PER_HOST = 2, STREAMS = 50, SENT = 10 };

/// An engine with only its limits, and the transfers of its queue.
typedef struct queued {
    nc_engine engine;
    nc_transfer transfers[4 * SENT];
    size_t count;
} queued;

static queued *queued_new(void) {
    queued *it = test_calloc(1, sizeof *it);
    it->engine.max_per_host = PER_HOST;
    it->engine.max_streams = STREAMS;
    it->engine.max_in_flight = 4 * SENT;
    it->engine.max_waiting = 4 * SENT;
    it->engine.capabilities.has_http2 = true;
    it->engine.capabilities.has_trust_policies = true;
    it->engine.libcurl_version = 0x080000;
    nc_queue_init(&it->engine.loop.queue);
    return it;
}

static void queued_free(queued *it) {
    nc_queue_deinit(&it->engine.loop.queue);
    test_free(it);
}

static void add(queued *it, const char *url, nc_http_choice http, bool is_exclusive, size_t count) {
    for (size_t i = 0; i < count; i++) {
        nc_transfer *transfer = &it->transfers[it->count++];
        transfer->engine = &it->engine;
        transfer->request.url = (char *)(uintptr_t)url; // the queue only reads it
        transfer->request.url_length = strlen(url);
        transfer->request.http = http;
        transfer->is_exclusive = is_exclusive;
        assert_status(nc_transfer_parse_url(transfer), NC_OK);
        assert_status(nc_queue_add(&it->engine.loop.queue, transfer, false), NC_OK);
    }
}

/// Returns the number of transfers that get a slot now; `last` receives the last one.
static size_t take(queued *it, nc_transfer **last) {
    size_t count = 0;
    for (nc_transfer *one; (one = nc_queue_take_ready(&it->engine.loop.queue, &it->engine)) != NULL; count++) {
        *last = one;
    }
    return count;
}

/// Records that the host uses this protocol with a shareable connection.
static void find_version(queued *it, const char *url, nc_http_version version) {
    nc_transfer *one = NULL;
    add(it, url, NC_HTTP_AUTO, false, 1);
    assert_int_equal(take(it, &one), 1);
    nc_queue_found_version(&it->engine.loop.queue, one, version);
    nc_queue_release_slot(&it->engine.loop.queue, one);
}

static void queue__only_requests_that_share_connections_use_http_2_streams_regression_1(void **state) {
    static const char url[] = "https://a.example/";
    static const struct {
        nc_http_choice http;
        bool is_exclusive;
        size_t granted;
    } cases[] = {
        {NC_HTTP_AUTO, false, SENT},    {NC_HTTP_1_1, false, PER_HOST},           {NC_HTTP_1_0, false, PER_HOST},
        {NC_HTTP_AUTO, true, PER_HOST}, {NC_HTTP_2_PRIOR_KNOWLEDGE, false, SENT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        queued *it = queued_new();
        nc_transfer *last = NULL;
        find_version(it, url, NC_HTTP_VERSION_2);
        add(it, url, cases[i].http, cases[i].is_exclusive, SENT);
        assert_int_equal(take(it, &last), cases[i].granted);
        queued_free(it);
    }
}

static void queue__exclusive_connections_share_their_hosts_limit(void **state) {
    static const char url[] = "https://a.example/";
    queued *it = queued_new();
    nc_transfer *last = NULL;
    (void)state;
    find_version(it, url, NC_HTTP_VERSION_2);
    add(it, url, NC_HTTP_AUTO, true, SENT);
    add(it, url, NC_HTTP_1_1, false, SENT);
    assert_int_equal(take(it, &last), PER_HOST);
    add(it, "https://b.example/", NC_HTTP_1_1, false, SENT);
    assert_int_equal(take(it, &last), PER_HOST); // another host has its own limit
    queued_free(it);
}

static void queue__a_host_that_falls_back_to_http_1_has_the_connection_limit_regression_2(void **state) {
    static const char url[] = "https://a.example/";
    queued *it = queued_new();
    nc_transfer *last = NULL;
    (void)state;
    find_version(it, url, NC_HTTP_VERSION_2);
    find_version(it, url, NC_HTTP_VERSION_1_1);
    add(it, url, NC_HTTP_AUTO, false, SENT);
    assert_int_equal(take(it, &last), PER_HOST);
    queued_free(it);
}

static void queue__cleartext_requests_to_a_host_share_its_limit(void **state) {
    queued *it = queued_new();
    nc_transfer *last = NULL;
    (void)state;
    add(it, "http://a.example/", NC_HTTP_AUTO, false, SENT);
    add(it, "HTTP://A.example/x", NC_HTTP_1_1, false, SENT);
    assert_int_equal(take(it, &last), PER_HOST);
    queued_free(it);
}

/// libcurl takes both for the same host, so the known protocol applies to both spellings.
static void queue__all_spellings_of_a_host_and_its_default_port_are_one_host(void **state) {
    static const char *const urls[][4] = {
        {"https://a.example/", "https://a.example:443/", "https://a.example:/", "https://A.ex%61mple.:0443/"},
        {"http://a.example/", "http://a.example:80/", "http://a.example:/", "http://u:p@a.example./"},
        {"https://[::1]/", "https://[::1]:443/", "https://[::1]:/", "https://[0:0::1]/"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        queued *it = queued_new();
        nc_transfer *last = NULL;
        for (size_t j = 0; j < 4; j++) {
            add(it, urls[i][j], NC_HTTP_AUTO, false, PER_HOST);
        }
        assert_int_equal(take(it, &last), PER_HOST);
        add(it, "https://a.example:80/", NC_HTTP_AUTO, false, 1);
        add(it, "http://a.example:443/", NC_HTTP_AUTO, false, 1);
        assert_int_equal(take(it, &last), 2);
        queued_free(it);
    }
}

static void queue__a_suspended_queue_admits_started_transfers_by_priority(void **state) {
    queued *it = queued_new();
    nc_queue *queue = &it->engine.loop.queue;
    nc_transfer *last = NULL;
    nc_transfer *again[PER_HOST];
    (void)state;
    add(it, "http://a.example/", NC_HTTP_AUTO, false, PER_HOST);
    assert_int_equal(take(it, &last), PER_HOST);
    for (size_t i = 0; i < PER_HOST; i++) {
        again[i] = &it->transfers[i];
        nc_queue_release_slot(queue, again[i]);
        assert_status(nc_queue_add(queue, again[i], true), NC_OK);
        again[i]->phase = NC_PHASE_SLOT;
    }
    add(it, "http://a.example/", NC_HTTP_AUTO, false, 1);
    queue->is_suspended = true;
    nc_queue_set_priority(queue, again[0], NC_PRIORITY_LOW);
    assert_ptr_equal(nc_queue_take_ready(queue, &it->engine), again[1]);
    assert_ptr_equal(nc_queue_take_ready(queue, &it->engine), again[0]);
    nc_queue_release_slot(queue, again[0]);
    assert_null(nc_queue_take_ready(queue, &it->engine));
    assert_status(nc_queue_add(queue, again[0], true), NC_OK);
    nc_queue_remove(queue, again[0]); // as a cancel does
    assert_null(nc_queue_take_ready(queue, &it->engine));
    queue->is_suspended = false;
    assert_ptr_equal(nc_queue_take_ready(queue, &it->engine), &it->transfers[PER_HOST]);
    queued_free(it);
}

static void queue__setting_the_same_priority_does_not_move_a_transfer(void **state) {
    queued *it = queued_new();
    nc_queue *queue = &it->engine.loop.queue;
    nc_transfer *last = NULL;
    (void)state;
    add(it, "http://a.example/", NC_HTTP_AUTO, false, PER_HOST + 2);
    assert_int_equal(take(it, &last), PER_HOST);
    nc_transfer *first = &it->transfers[PER_HOST];
    nc_transfer *second = &it->transfers[PER_HOST + 1];
    first->phase = NC_PHASE_SLOT;
    second->phase = NC_PHASE_SLOT;
    nc_queue_set_priority(queue, first, first->schedule.priority);
    nc_queue_release_slot(queue, &it->transfers[0]);
    assert_ptr_equal(nc_queue_take_ready(queue, &it->engine), first);
    nc_queue_set_priority(queue, second, NC_PRIORITY_HIGH);
    nc_queue_release_slot(queue, &it->transfers[1]);
    assert_ptr_equal(nc_queue_take_ready(queue, &it->engine), second);
    queued_free(it);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(queue__only_requests_that_share_connections_use_http_2_streams_regression_1),
        harness_case(queue__exclusive_connections_share_their_hosts_limit),
        harness_case(queue__a_host_that_falls_back_to_http_1_has_the_connection_limit_regression_2),
        harness_case(queue__cleartext_requests_to_a_host_share_its_limit),
        harness_case(queue__all_spellings_of_a_host_and_its_default_port_are_one_host),
        harness_case(queue__a_suspended_queue_admits_started_transfers_by_priority),
        harness_case(queue__setting_the_same_priority_does_not_move_a_transfer),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
