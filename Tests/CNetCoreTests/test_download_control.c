#include "fetched.h"

#include <netcore/transfers.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STRONG "ETag: \"v1\"\r\n"

enum { LARGE = 1200000, SMALL = 20000 };

static const nct_reply large = {.headers = STRONG, .pattern_length = LARGE, .answers_ranges = true};
/// Sends the beginning of each range, then stalls until nct_server_release_stalled().
static const nct_reply halting = {.headers = STRONG,
                                  .pattern_length = LARGE,
                                  .answers_ranges = true,
                                  .is_cut = true,
                                  .cut_after = 100000,
                                  .ending = NCT_STALL};

static size_t count_ranges(fetching *on) {
    size_t count = 0;
    for (size_t i = 0; i < nct_server_request_count(on->f.server); i++) {
        count += strstr(fixture_received(&on->f, i), "Range: bytes=") != NULL ? 1 : 0;
    }
    return count;
}

/* --- segments --- */

static void segments__fetch_one_file_in_several_ranges(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetching_script(&on, halting);
    fetch_begin(&on, &(nc_download_options){.segments = 4, .checkpoint_interval_ms = 1});
    assert_true(nct_server_wait_for_stalled(on.f.server, 4, FIXTURE_LIMIT_MS));
    nct_server_release_stalled(on.f.server);
    fetched got = fetch_end(&on);
    assert_fetched(got, NC_OK);
    assert_int_equal(got.byte_count, LARGE);
    assert_pattern(on.file, LARGE);
    assert_int_equal(count_ranges(&on), 3);
    assert_non_null(strstr(fixture_received(&on.f, 1), "If-Range: \"v1\"\r\n"));
    assert_int_equal(temp_directory_count(on.at.root), 1);
    fetching_stop(&on);
}

static void segments__fall_back_to_one_when_the_server_ignores_ranges(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    nct_reply deaf = large;
    deaf.answers_ranges = false;
    fetching_script(&on, deaf);
    assert_fetched(fetch(&on, &(nc_download_options){.segments = 4}), NC_OK);
    assert_pattern(on.file, LARGE);
    fetching_stop(&on);
}

static void segments__fall_back_to_one_when_the_server_rejects_the_others(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    const nct_reply row[] = {large, {.status = 503, .ending = NCT_CLOSE}};
    fetching_script_row(&on, row, 2);
    assert_fetched(fetch(&on, &(nc_download_options){.segments = 4}), NC_OK);
    assert_pattern(on.file, LARGE);
    fetching_stop(&on);
}

static void segments__do_not_mix_versions(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    nct_reply other = large;
    other.headers = "ETag: \"v2\"\r\n";
    const nct_reply row[] = {large, other};
    fetching_script_row(&on, row, 2);
    assert_fetched(fetch(&on, &(nc_download_options){.segments = 4}), NC_OK);
    assert_pattern(on.file, LARGE);
    fetching_stop(&on);
}

static void segments__require_a_strong_validator(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    nct_reply weak = large;
    weak.headers = "ETag: W/\"v1\"\r\n";
    fetching_script(&on, weak);
    assert_fetched(fetch(&on, &(nc_download_options){.segments = 4}), NC_OK);
    assert_int_equal(nct_server_request_count(on.f.server), 1);
    assert_pattern(on.file, LARGE);
    fetching_stop(&on);
}

static void segments__are_each_resumed(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetching_script(&on, halting);
    fetch_begin(&on, &(nc_download_options){.segments = 4});
    assert_true(nct_server_wait_for_stalled(on.f.server, 4, FIXTURE_LIMIT_MS));
    gate_wait(&on.moved);
    nc_download_cancel(on.f.engine, on.id);
    fetched got = fetch_end(&on);
    assert_fetched(got, NC_ERR_CANCELLED);
    assert_string_equal(got.partial, on.partial);
    fetching_script(&on, large);
    fetched again = fetch(&on, &(nc_download_options){.segments = 2});
    assert_fetched(again, NC_OK);
    assert_int_equal(again.resumed_bytes, got.byte_count);
    assert_true(again.resumed_bytes > 0);
    assert_pattern(on.file, LARGE);
    assert_int_equal(temp_directory_count(on.at.root), 1);
    fetching_stop(&on);
}

/* --- commands --- */

static nct_reply stalled(void) {
    return (nct_reply){.headers = STRONG,
                       .pattern_length = SMALL,
                       .answers_ranges = true,
                       .is_cut = true,
                       .cut_after = 9000,
                       .ending = NCT_STALL};
}

/// Starts a download that stalls after some bytes.
static void begin_stalled(fetching *on, const nc_download_options *options) {
    fetch_begin_stalled(on, stalled(), options);
}

static void cancel__syncs_and_preserves_the_partial_file(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    begin_stalled(&on, &(nc_download_options){0});
    nc_download_cancel(on.f.engine, on.id);
    fetched got = fetch_end(&on);
    assert_fetched(got, NC_ERR_CANCELLED);
    assert_string_equal(got.partial, on.partial);
    assert_true(got.byte_count > 0);
    fetching_script(&on, (nct_reply){.headers = STRONG, .pattern_length = SMALL, .answers_ranges = true});
    fetched again = fetch(&on, &(nc_download_options){0});
    assert_fetched(again, NC_OK);
    assert_int_equal(again.resumed_bytes, got.byte_count);
    assert_pattern(on.file, SMALL);
    nc_download_cancel(on.f.engine, on.id); // cancelling an ended or unknown id has no effect
    nc_download_cancel(on.f.engine, 12345);
    fetching_stop(&on);
}

/// Cancels a download while the partial file is checked.
typedef struct cancelling_files {
    nc_file_ops ops;
    nc_file_ops system;
    fetching *on;
} cancelling_files;

static ssize_t read_and_cancel(void *ctx, int fd, void *bytes, size_t length, off_t offset) {
    cancelling_files *at = ctx;
    nc_download_cancel(at->on->f.engine, 2);
    return at->system.read_at(at->system.ctx, fd, bytes, length, offset);
}

static void cancel__during_the_scan_of_the_partial_file_preserves_it(void **state) {
    (void)state;
    fetching on;
    cancelling_files at = {.system = nc_file_ops_system(), .on = &on};
    at.ops = at.system; // the system's operations ignore the context
    at.ops.ctx = &at;
    at.ops.read_at = read_and_cancel;
    const nc_engine_options options = {.file_ops = &at.ops};
    fetching_start_with(&on, &options);
    fetching_script(
        &on, (nct_reply){
                 .headers = STRONG, .pattern_length = SMALL, .is_cut = true, .cut_after = 9000, .ending = NCT_CLOSE});
    fetched first = fetch(&on, &(nc_download_options){0});
    assert_fetched(first, NC_ERR_CUT_SHORT);
    fetched second = fetch(&on, &(nc_download_options){0});
    assert_fetched(second, NC_ERR_CANCELLED);
    assert_true(fetch_exists(on.partial) && fetch_exists(on.record));
    assert_string_equal(second.partial, on.partial);
    assert_int_equal(second.byte_count, first.byte_count);
    fetching_stop(&on);
}

static void cancel__immediately_leaves_no_file(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetching_script(&on, stalled());
    for (int i = 0; i < 20; i++) {
        fetch_begin(&on, &(nc_download_options){0});
        nc_download_cancel(on.f.engine, on.id);
        assert_fetched(fetch_end(&on), NC_ERR_CANCELLED);
        assert_false(fetch_exists(on.file));
    }
    fetching_stop(&on);
}

static void cancel__ends_the_wait_for_a_destination(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetching_script(&on, (nct_reply){.headers = STRONG, .pattern_length = SMALL});
    fetch_begin(&on, &(nc_download_options){.requests_destination = true});
    gate_wait(&on.head);
    nc_download_cancel(on.f.engine, on.id);
    assert_fetched(fetch_end(&on), NC_ERR_CANCELLED);
    assert_int_equal(temp_directory_count(on.at.root), 0);
    fetching_stop(&on);
}

static void destination__an_invalid_path_fails_only_a_download_that_asked_for_one(void **state) {
    (void)state;
    const nc_slice broken = nc_slice_make("one\0two", 7);
    fetching on;
    fetching_start(&on);
    begin_stalled(&on, &(nc_download_options){0});
    nc_download_set_destination(on.f.engine, on.id, broken);
    nc_download_pause(on.f.engine, on.id);
    nc_transfer_info info = {0};
    while (on.done.count == 0 && (nc_engine_list(on.f.engine, &info, 1) != 1 || !info.is_paused)) {
    } // commands arrive in order, so the first one is done
    nc_download_resume(on.f.engine, on.id);
    nct_server_release_stalled(on.f.server);
    assert_fetched(fetch_end(&on), NC_OK);
    assert_pattern(on.file, SMALL);
    fetching_script(&on, (nct_reply){.headers = STRONG, .pattern_length = SMALL});
    for (int is_broken = 0; is_broken < 2; is_broken++) {
        fetch_begin(&on, &(nc_download_options){.requests_destination = true});
        gate_wait(&on.head);
        nc_download_set_destination(on.f.engine, on.id, is_broken ? broken : (nc_slice){0});
        fetched got = fetch_end(&on);
        assert_fetched(got, is_broken ? NC_ERR_USAGE : NC_OK);
        assert_true(!is_broken || strstr(got.error.message, "NUL") != NULL);
    }
    fetching_stop(&on);
}

static void release__ends_downloads_and_preserves_partial_files(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    begin_stalled(&on, &(nc_download_options){0});
    assert_status(nc_engine_close(on.f.engine, FIXTURE_LIMIT_MS), NC_OK);
    on.f.engine = NULL;
    fetched got = fetch_end(&on);
    assert_fetched(got, NC_ERR_CANCELLED);
    assert_true(fetch_exists(on.partial) && fetch_exists(on.record));
    fetching_stop(&on);
}

static void finish__waits_for_downloads(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    begin_stalled(&on, &(nc_download_options){0});
    nc_engine_finish(on.f.engine);
    nc_error err;
    nc_download_id id = 0;
    nc_request request = fixture_request(&on.f, "/file");
    nc_download_options options = {.request = &request, .path = nc_slice_of("/tmp/never")};
    nc_download_sink sink = fetch_sink(&on);
    assert_status(nc_download_start(on.f.engine, &options, &sink, &id, &err), NC_ERR_CLOSED);
    nct_server_release_stalled(on.f.server);
    assert_fetched(fetch_end(&on), NC_OK);
    assert_pattern(on.file, SMALL);
    fetching_stop(&on);
}

static void pause__stops_a_download_until_resume(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    // Paused before it starts: no body byte is read, although all were sent.
    fetching_script(&on, (nct_reply){.headers = STRONG, .pattern_length = SMALL});
    fetch_begin(&on, &(nc_download_options){.requests_destination = true});
    gate_wait(&on.head);
    nc_download_pause(on.f.engine, on.id);
    nc_download_set_priority(on.f.engine, on.id, NC_PRIORITY_HIGH);
    nc_download_set_destination(on.f.engine, on.id, nc_slice_of(""));
    nc_transfer_info info = {0};
    while (nc_engine_list(on.f.engine, &info, 1) != 1 || !info.is_paused || info.priority != NC_PRIORITY_HIGH) {
        assert_false(on.done.count > 0);
    }
    nc_download_resume(on.f.engine, on.id);
    assert_fetched(fetch_end(&on), NC_OK);
    assert_pattern(on.file, SMALL);
    fetching_stop(&on);
}

/// Resumes the transfer of a download that waits for its destination, and then provides the destination.
static void resume_too_early(fetching *on) {
    const nc_request other = fixture_request(&on->f, "/other");
    fetch_begin(on, &(nc_download_options){.requests_destination = true});
    gate_wait(&on->head);
    nc_transfer_info info = {0};
    assert_int_equal(nc_engine_list(on->f.engine, &info, 1), 1);
    // A program may pause all transfers of the list and resume them later.
    nc_engine_pause(on->f.engine, info.id);
    nc_engine_resume(on->f.engine, info.id);
    nc_engine_resume_from(on->f.engine, info.id, NC_PAUSE_CALLBACK);
    for (int i = 0; i < 3; i++) { // by then the loop has handled the commands above
        nc_transfer_id id = 0;
        nc_response *response = NULL;
        assert_status(nc_engine_submit(on->f.engine, &other, NULL, &id, NULL), NC_OK);
        assert_status(nc_engine_wait(on->f.engine, id, FIXTURE_LIMIT_MS, &response, NULL), NC_OK);
        nc_response_release(response);
    }
    nc_download_set_destination(on->f.engine, on->id, nc_slice_of(""));
    assert_fetched(fetch_end(on), NC_OK);
    assert_pattern(on->file, SMALL);
}

static void resume__of_the_transfer_accepts_no_bytes_before_a_destination_is_set(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fixture_script(&on.f, "/other", (nct_reply){.body = "other", .body_length = 5});
    fetching_script(&on, (nct_reply){.headers = STRONG, .pattern_length = SMALL});
    resume_too_early(&on);
    assert_int_equal(unlink(on.file), 0);
    // A partial file of another version is emptied before the new bytes are written to it.
    const nct_reply cut = {
        .headers = STRONG, .pattern_length = SMALL, .is_cut = true, .cut_after = 9000, .ending = NCT_CLOSE};
    fetching_script(&on, cut);
    assert_fetched(fetch(&on, &(nc_download_options){0}), NC_ERR_CUT_SHORT);
    assert_true(fetch_exists(on.partial));
    fetching_script(&on, (nct_reply){.headers = "ETag: \"v2\"\r\n", .pattern_length = SMALL});
    resume_too_early(&on);
    fetching_stop(&on);
}

static void rate__of_a_download_is_limited(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetching_script(&on, (nct_reply){.headers = STRONG, .pattern_length = SMALL});
    nc_request request = fixture_request(&on.f, "/file");
    request.limits.max_receive_bytes_per_s = 100000;
    fetched got = fetch(&on, &(nc_download_options){.request = &request});
    assert_fetched(got, NC_OK);
    assert_true(got.tellings > 1);
    assert_true(got.last.bytes_per_s > 0 && got.last.bytes_per_s < 1000000);
    fetching_stop(&on);
}

/* --- memory --- */

static void run_once(void *ctx) {
    fetching *on = ctx;
    nc_error err;
    nc_engine *engine = NULL;
    fetching one = *on;
    if (nc_engine_new(&engine, NULL, &err) != NC_OK) {
        return;
    }
    one.f.engine = engine;
    (void)unlink(one.file);
    char url[200];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/file", nct_server_port(on->f.server));
    const nc_request plain = {.url = nc_slice_of(url)};
    one.done = (gate)GATE_INIT;
    one.now = (fetched){0};
    nc_download_sink sink = fetch_sink(&one);
    const nc_download_options options = {
        .request = &plain, .path = nc_slice_of(one.file), .segments = 2, .skips_sync = true};
    nc_status status = nc_download_start(engine, &options, &sink, &one.id, &err);
    if (status == NC_OK) {
        gate_wait(&one.done);
        status = one.now.error.status;
    }
    assert_status(nc_engine_close(engine, FIXTURE_LIMIT_MS), NC_OK);
    if (status == NC_OK) {
        if (!harness_has_failed_allocation()) {
            harness_fail_allocation(0); // reading the file's state allocates too
        }
        assert_pattern(on->file, 600000);
    } else {
        assert_false(fetch_exists(on->file));
    }
}

static void download__survives_each_allocation_failure(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetching_script(&on, (nct_reply){.headers = STRONG, .pattern_length = 600000, .answers_ranges = true});
    (void)each_allocation_failure(run_once, &on);
    fetching_stop(&on);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(segments__fetch_one_file_in_several_ranges),
        harness_case(segments__fall_back_to_one_when_the_server_ignores_ranges),
        harness_case(segments__fall_back_to_one_when_the_server_rejects_the_others),
        harness_case(segments__do_not_mix_versions),
        harness_case(segments__require_a_strong_validator),
        harness_case(segments__are_each_resumed),
        harness_case(cancel__syncs_and_preserves_the_partial_file),
        harness_case(cancel__during_the_scan_of_the_partial_file_preserves_it),
        harness_case(cancel__immediately_leaves_no_file),
        harness_case(cancel__ends_the_wait_for_a_destination),
        harness_case(destination__an_invalid_path_fails_only_a_download_that_asked_for_one),
        harness_case(release__ends_downloads_and_preserves_partial_files),
        harness_case(finish__waits_for_downloads),
        harness_case(pause__stops_a_download_until_resume),
        harness_case(resume__of_the_transfer_accepts_no_bytes_before_a_destination_is_set),
        harness_case(rate__of_a_download_is_limited),
        harness_case(download__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
