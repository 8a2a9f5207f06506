#include "fetched.h"

#include <netcore/transfers.h>

#include <stdlib.h>
#include <string.h>

#define STRONG "ETag: \"v1\"\r\n"

/// Three shares, each large enough for a range.
enum { SHARE = 300000, LARGE = 3 * SHARE };

static const nct_reply deaf = {.headers = STRONG, .pattern_length = LARGE};

static bool is_over(fetching *on) {
    pthread_mutex_lock(&on->done.mutex);
    bool is_it = on->done.count > 0;
    pthread_mutex_unlock(&on->done.mutex);
    return is_it;
}

/// Waits until a transfer has that many bytes. Returns false if the download ended first.
static bool wait_for_received(fetching *on, uint64_t bytes) {
    nc_transfer_info info[8];
    bool is_there = false;
    while (!is_there && !is_over(on)) {
        size_t count = nc_engine_list(on->f.engine, info, 8);
        for (size_t i = 0; i < count && i < 8; i++) {
            is_there = is_there || info[i].received_bytes == bytes;
        }
    }
    return is_there;
}

static void segments__continue_with_a_200_response_that_stalls_at_a_segment_boundary(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    nct_reply resting = deaf;
    resting.is_cut = true;
    resting.is_cut_in_body = true;
    resting.cut_after = SHARE;
    resting.ending = NCT_STALL;
    const nct_reply row[] = {resting, deaf};
    fetching_script_row(&on, row, 2);
    fetch_begin(&on, &(nc_download_options){.segments = 3});
    if (wait_for_received(&on, SHARE)) {
        assert_true(nct_server_wait_for_stalled(on.f.server, 1, FIXTURE_LIMIT_MS));
        nct_server_release_stalled(on.f.server);
    }
    fetched got = fetch_end(&on);
    assert_fetched(got, NC_OK);
    assert_int_equal(got.heads, 1);
    assert_pattern(on.file, LARGE);
    fetching_stop(&on);
}

/// Returns the start of the request's range; 0 without one.
static uint64_t range_start(const nct_choice *choice) {
    size_t length = 0;
    char text[2048];
    const char *head = nct_choice_head(choice, &length);
    length = length < sizeof text ? length : sizeof text - 1;
    memcpy(text, head, length);
    text[length] = '\0';
    const char *range = strstr(text, "\r\nRange: bytes=");
    return range != NULL ? strtoull(range + strlen("\r\nRange: bytes="), NULL, 10) : 0;
}

/// Two servers behind one host name use different validators for the same version. Requests for the end reach the
/// second.
static void respond_as_two_servers(void *context, nct_choice *choice) {
    (void)context;
    uint64_t at = range_start(choice);
    nct_reply reply = {.headers = at < 2 * SHARE ? STRONG : "ETag: \"b\"\r\n",
                       .pattern_length = LARGE,
                       .answers_ranges = true,
                       .drip_bytes = at == 0 ? 20000 : 0,
                       .drip_ms = at == 0 ? 1 : 0};
    (void)nct_choice_respond(choice, &reply);
}

static void segments__fall_back_to_one_when_only_some_ranges_are_served(void **state) {
    (void)state;
    const nct_server_options farm = {.choose = respond_as_two_servers};
    fetching on;
    fetching_start_at(&on, &farm, NULL);
    assert_fetched(fetch(&on, &(nc_download_options){.segments = 3}), NC_OK);
    assert_pattern(on.file, LARGE);
    assert_int_equal(temp_directory_count(on.at.root), 1);
    fetching_stop(&on);
}

static void segments__are_preserved_when_the_server_rejects_further_requests(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    const nct_reply ready = {.headers = STRONG, .pattern_length = LARGE, .answers_ranges = true};
    const nct_reply busy = {.status = 503, .body = "later", .body_length = 5};
    nct_reply slow = ready;
    slow.is_cut = true;
    slow.cut_after = 100000;
    slow.ending = NCT_STALL;
    fetching_script(&on, slow);
    fetch_begin(&on, &(nc_download_options){.segments = 3});
    assert_true(nct_server_wait_for_stalled(on.f.server, 3, FIXTURE_LIMIT_MS));
    nc_download_cancel(on.f.engine, on.id);
    fetched first = fetch_end(&on);
    assert_fetched(first, NC_ERR_CANCELLED);
    // The first segment is resumed, then the server rejects further requests.
    const nct_reply row[] = {ready, busy};
    fetching_script_row(&on, row, 2);
    fetched second = fetch(&on, &(nc_download_options){0});
    assert_fetched(second, NC_ERR_BAD_STATUS);
    assert_int_equal(second.error.native_code, 503);
    assert_string_equal(second.partial, on.partial);
    assert_true(second.byte_count > first.byte_count);
    fetching_script(&on, ready);
    fetched third = fetch(&on, &(nc_download_options){0});
    assert_fetched(third, NC_OK);
    assert_int_equal(third.resumed_bytes, second.byte_count);
    assert_pattern(on.file, LARGE);
    fetching_stop(&on);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(segments__continue_with_a_200_response_that_stalls_at_a_segment_boundary),
        harness_case(segments__are_preserved_when_the_server_rejects_further_requests),
        harness_case(segments__fall_back_to_one_when_only_some_ranges_are_served),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
