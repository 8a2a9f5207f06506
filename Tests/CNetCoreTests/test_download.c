#include "fetched.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STRONG "ETag: \"v1\"\r\n"

static const nct_reply whole = {.headers = STRONG, .pattern_length = 20000, .answers_ranges = true};

static nct_reply cut_after(size_t body_bytes) {
    // 120 bytes are enough for the head. The exact number of body bytes does not matter.
    return (nct_reply){
        .headers = STRONG, .pattern_length = 20000, .is_cut = true, .cut_after = 120 + body_bytes, .ending = NCT_CLOSE};
}

/// Leaves a partial download of "/file".
static fetched leave_partial(fetching *on) {
    fetching_script(on, cut_after(9000));
    fetched got = fetch(on, &(nc_download_options){0});
    assert_fetched(got, NC_ERR_CUT_SHORT);
    assert_string_equal(got.partial, on->partial);
    assert_true(got.byte_count > 8000 && got.byte_count < 10000);
    return got;
}

static void download__the_complete_file_is_the_only_one_left(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetching_script(&on, whole);
    fetched got = fetch(&on, &(nc_download_options){0});
    assert_fetched(got, NC_OK);
    assert_int_equal(got.byte_count, 20000);
    assert_int_equal(got.status, 200);
    assert_false(got.was_resumed);
    assert_string_equal(got.path, on.file);
    assert_string_equal(got.partial, "");
    assert_pattern(on.file, 20000);
    assert_int_equal(temp_directory_count(on.at.root), 1);
    assert_int_equal(got.last.received_bytes, 20000);
    assert_int_equal(got.last.total_bytes, 20000);
    fetching_stop(&on);
}

static void download__of_an_empty_body_gives_an_empty_file(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetching_script(&on, (nct_reply){0});
    fetched got = fetch(&on, &(nc_download_options){0});
    assert_fetched(got, NC_OK);
    assert_file(on.file, nc_slice_of(""));
    assert_int_equal(temp_directory_count(on.at.root), 1);
    fetching_stop(&on);
}

static void download__without_a_declared_length_saves_all_received_bytes(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetching_script(&on, (nct_reply){.pattern_length = 5000, .chunk_bytes = 700});
    fetched got = fetch(&on, &(nc_download_options){.segments = 4});
    assert_fetched(got, NC_OK);
    assert_pattern(on.file, 5000);
    fetching_stop(&on);
}

static void download__the_old_file_stays_until_the_new_one_is_complete(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    temp_file_write(on.file, nc_slice_of("old"));
    (void)leave_partial(&on);
    assert_file(on.file, nc_slice_of("old"));
    fetching_script(&on, whole);
    assert_fetched(fetch(&on, &(nc_download_options){0}), NC_OK);
    assert_pattern(on.file, 20000);
    fetching_stop(&on);
}

static void download__resumes_with_range_and_if_range(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetched first = leave_partial(&on);
    fetching_script(&on, whole);
    fetched got = fetch(&on, &(nc_download_options){0});
    assert_fetched(got, NC_OK);
    assert_int_equal(got.status, 206);
    assert_true(got.was_resumed);
    assert_int_equal(got.offset, first.byte_count);
    assert_int_equal(got.total, 20000);
    assert_int_equal(got.resumed_bytes, first.byte_count);
    assert_int_equal(got.last.resumed_bytes, first.byte_count);
    assert_non_null(strstr(fixture_received(&on.f, 1), "Range: bytes="));
    assert_non_null(strstr(fixture_received(&on.f, 1), "If-Range: \"v1\"\r\n"));
    assert_non_null(strstr(fixture_received(&on.f, 1), "Accept-Encoding: identity\r\n"));
    assert_pattern(on.file, 20000);
    assert_int_equal(temp_directory_count(on.at.root), 1);
    fetching_stop(&on);
}

static void download__restarts_if_the_server_has_another_version(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    (void)leave_partial(&on);
    fetching_script(
        &on, (nct_reply){.headers = "ETag: \"v2\"\r\n", .body = "other", .body_length = 5, .answers_ranges = true});
    fetched got = fetch(&on, &(nc_download_options){0});
    assert_fetched(got, NC_OK);
    assert_true(got.was_resumed);
    assert_int_equal(got.offset, 0);
    assert_file(on.file, nc_slice_of("other"));
    fetching_stop(&on);
}

static void download__restarts_on_request(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    (void)leave_partial(&on);
    fetching_script(&on, whole);
    fetched got = fetch(&on, &(nc_download_options){.restarts = true});
    assert_fetched(got, NC_OK);
    assert_int_equal(got.resumed_bytes, 0);
    assert_null(strstr(fixture_received(&on.f, 1), "Range:"));
    assert_pattern(on.file, 20000);
    fetching_stop(&on);
}

/// Checks if a partial file of a resource with these fields is resumed.
static void check_validator(const char *headers, bool trusts, bool is_resumed) {
    fetching on;
    fetching_start(&on);
    nct_reply first = cut_after(9000);
    nct_reply second = whole;
    first.headers = headers;
    second.headers = headers;
    fetching_script_row(&on, (nct_reply[]){first, second}, 2);
    nc_download_options options = {.trusts_server = trusts};
    assert_fetched(fetch(&on, &options), NC_ERR_CUT_SHORT);
    fetched got = fetch(&on, &options);
    assert_fetched(got, NC_OK);
    assert_int_equal(got.resumed_bytes > 0, is_resumed);
    assert_int_equal(strstr(fixture_received(&on.f, 1), "Range: bytes=") != NULL, is_resumed);
    assert_pattern(on.file, 20000);
    fetching_stop(&on);
}

static void download__resumes_only_with_a_strong_validator_or_on_request(void **state) {
    (void)state;
    static const char old[] = "Date: Sun, 06 Nov 2022 08:49:37 GMT\r\nLast-Modified: Sun, 06 Nov 2022 08:00:00 GMT\r\n";
    static const char fresh[] =
        "Date: Sun, 06 Nov 2022 08:49:37 GMT\r\nLast-Modified: Sun, 06 Nov 2022 08:49:30 GMT\r\n";
    check_validator(STRONG, false, true);
    check_validator("ETag: W/\"v1\"\r\n", false, false);
    check_validator("ETag: W/\"v1\"\r\n", true, true);
    check_validator(old, false, true);
    check_validator(fresh, false, false);
    check_validator(fresh, true, true);
    check_validator("X-None: 1\r\n", false, false);
    check_validator("X-None: 1\r\n", true, true);
}

static void download__never_resumes_an_encoded_body(void **state) {
    static const char *const codings[] = {STRONG "Content-Encoding: gzip\r\n",
                                          STRONG "Content-Encoding: identity\r\nContent-Encoding: gzip\r\n"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fetching on;
        fetching_start(&on);
        nct_reply first = cut_after(9000);
        first.headers = codings[i];
        fetching_script(&on, first);
        fetched got = fetch(&on, &(nc_download_options){0});
        assert_fetched(got, NC_ERR_CUT_SHORT);
        assert_string_equal(got.partial, "");
        assert_int_equal(temp_directory_count(on.at.root), 0);
        fetching_stop(&on);
    }
}

/// Damages the partial file, and expects the download to restart.
static void check_damage(void (*damage)(fetching *on)) {
    fetching on;
    fetching_start(&on);
    (void)leave_partial(&on);
    damage(&on);
    fetching_script(&on, whole);
    fetched got = fetch(&on, &(nc_download_options){0});
    assert_fetched(got, NC_OK);
    assert_int_equal(got.resumed_bytes, 0);
    assert_pattern(on.file, 20000);
    assert_int_equal(temp_directory_count(on.at.root), 1);
    fetching_stop(&on);
}

static void change_a_byte(const char *path, long at) {
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fputc('#', file), '#');
    assert_int_equal(fclose(file), 0);
}

static void change_partial(fetching *on) {
    change_a_byte(on->partial, 17);
}
static void change_record(fetching *on) {
    change_a_byte(on->record, 60);
}
static void shorten_partial(fetching *on) {
    assert_int_equal(truncate(on->partial, 100), 0);
}
static void remove_partial(fetching *on) {
    assert_int_equal(unlink(on->partial), 0);
}
static void remove_record(fetching *on) {
    assert_int_equal(unlink(on->record), 0);
}
static void plant_links(fetching *on) {
    const char *victim = temp_directory_path(on->at.root, "victim");
    remove_partial(on);
    remove_record(on);
    temp_file_write(victim, nc_slice_of("precious"));
    assert_int_equal(symlink(victim, on->partial), 0);
    assert_int_equal(symlink(victim, on->record), 0);
}
static void plant_pipes(fetching *on) {
    remove_partial(on);
    remove_record(on);
    assert_int_equal(mkfifo(on->partial, 0600), 0);
    assert_int_equal(mkfifo(on->record, 0600), 0);
}

static void download__restarts_if_the_partial_file_is_damaged(void **state) {
    (void)state;
    check_damage(change_partial);
    check_damage(change_record);
    check_damage(shorten_partial);
    check_damage(remove_partial);
    check_damage(plant_pipes);
}

static void download__follows_no_planted_symlink(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    (void)leave_partial(&on);
    plant_links(&on);
    fetching_script(&on, whole);
    assert_fetched(fetch(&on, &(nc_download_options){0}), NC_OK);
    assert_pattern(on.file, 20000);
    assert_file(temp_directory_path(on.at.root, "victim"), nc_slice_of("precious"));
    fetching_stop(&on);
}

static void download__an_error_response_is_not_saved(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    temp_file_write(on.file, nc_slice_of("old"));
    fetching_script(&on, (nct_reply){.status = 404, .body = "not here", .body_length = 8});
    fetched got = fetch(&on, &(nc_download_options){0});
    assert_fetched(got, NC_ERR_BAD_STATUS);
    assert_int_equal(got.error.native_code, 404);
    assert_int_equal(got.status, 404);
    assert_string_equal(got.body, "not here");
    assert_file(on.file, nc_slice_of("old"));
    assert_int_equal(temp_directory_count(on.at.root), 1);
    fetching_stop(&on);
}

static void download__an_error_response_preserves_the_partial_file(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetched first = leave_partial(&on);
    fetching_script(&on, (nct_reply){.status = 503, .body = "later", .body_length = 5});
    fetched got = fetch(&on, &(nc_download_options){0});
    assert_fetched(got, NC_ERR_BAD_STATUS);
    assert_string_equal(got.partial, on.partial);
    fetching_script(&on, whole);
    got = fetch(&on, &(nc_download_options){0});
    assert_fetched(got, NC_OK);
    assert_int_equal(got.resumed_bytes, first.byte_count);
    fetching_stop(&on);
}

/// Leaves all of "/file" as a partial file, because its destination did not exist.
static void leave_all(fetching *on) {
    char missing[200];
    snprintf(missing, sizeof missing, "%s/missing/file", on->at.root);
    on->placed = missing;
    fetching_script(on, whole);
    fetched got = fetch(on, &(nc_download_options){.requests_destination = true});
    on->placed = NULL;
    assert_fetched(got, NC_ERR_FILE);
    assert_int_equal(got.error.native_code, ENOENT);
    assert_string_equal(got.partial, on->partial);
    assert_int_equal(got.byte_count, 20000);
}

static void download__completes_on_416_if_the_partial_file_is_complete(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    leave_all(&on);
    fetched got = fetch(&on, &(nc_download_options){0});
    assert_fetched(got, NC_OK);
    assert_int_equal(got.status, 416);
    assert_int_equal(got.resumed_bytes, 20000);
    assert_non_null(strstr(fixture_received(&on.f, 1), "Range: bytes=20000-\r\n"));
    assert_pattern(on.file, 20000);
    assert_int_equal(temp_directory_count(on.at.root), 1);
    fetching_stop(&on);
}

/// Appends bytes, so that the partial file is longer than its last checkpoint, as after a kill.
static void leave_a_tail(const fetching *on) {
    static const char tail[12345] = "stale";
    FILE *file = fopen(on->partial, "ab");
    assert_non_null(file);
    assert_int_equal(fwrite(tail, 1, sizeof tail, file), sizeof tail);
    assert_int_equal(fclose(file), 0);
}

static void download__truncates_a_partial_file_beyond_the_total_length(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    // The length is unknown at first, and turns out to be below the length of the partial file.
    const nct_reply row[] = {{.headers = STRONG,
                              .pattern_length = 20000,
                              .chunk_bytes = 1000,
                              .is_cut = true,
                              .is_cut_in_body = true,
                              .cut_after = 9000,
                              .ending = NCT_CLOSE},
                             {.headers = STRONG, .pattern_length = 10000, .answers_ranges = true}};
    fetching_script_row(&on, row, 2);
    assert_fetched(fetch(&on, &(nc_download_options){0}), NC_ERR_CUT_SHORT);
    leave_a_tail(&on);
    fetched got = fetch(&on, &(nc_download_options){0});
    assert_fetched(got, NC_OK);
    assert_int_equal(got.status, 206);
    assert_pattern(on.file, 10000);
    assert_int_equal(unlink(on.file), 0);
    leave_all(&on);
    leave_a_tail(&on);
    got = fetch(&on, &(nc_download_options){0});
    assert_fetched(got, NC_OK);
    assert_int_equal(got.status, 416);
    assert_pattern(on.file, 20000);
    fetching_stop(&on);
}

static void download__ignores_the_digest_of_a_416_response(void **state) {
    (void)state;
    static const char *const fields[] = {"Content-Digest", "Repr-Digest"};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        fetching on;
        fetching_start(&on);
        leave_all(&on);
        const char *headers = fixture_text(&on.f,
                                           "Content-Range: bytes */20000\r\n"
                                           "%s: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:\r\n",
                                           fields[i]);
        fetching_script(&on, (nct_reply){.status = 416, .headers = headers, .body = "no", .body_length = 2});
        fetched got = fetch(&on, &(nc_download_options){0});
        assert_fetched(got, NC_OK);
        assert_int_equal(got.resumed_bytes, 20000);
        assert_pattern(on.file, 20000);
        fetching_stop(&on);
    }
}

static void download__restarts_on_416_with_another_length(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    leave_all(&on);
    const nct_reply replies[] = {{.status = 416, .headers = STRONG "Content-Range: bytes */19999\r\n"},
                                 {.headers = "ETag: \"v2\"\r\n", .pattern_length = 19999}};
    fetching_script_row(&on, replies, 2);
    fetched got = fetch(&on, &(nc_download_options){0});
    assert_fetched(got, NC_OK);
    assert_int_equal(got.resumed_bytes, 0);
    assert_pattern(on.file, 19999);
    fetching_stop(&on);
}

static void download__invalid_options_are_rejected(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    nc_error err;
    nc_download_id id = 0;
    nc_download_sink sink = {0};
    nc_request request = fixture_request(&on.f, "/file");
    nc_download_options options = {.request = &request, .path = nc_slice_of(on.file)};
    assert_status(nc_download_start(on.f.engine, &options, &sink, &id, &err), NC_ERR_USAGE); // as for a transfer
    assert_non_null(strstr(err.message, "on_done"));
    sink = fetch_sink(&on);
    request.header_count = 1; // but `headers` is NULL
    assert_status(nc_download_start(on.f.engine, &options, &sink, &id, &err), NC_ERR_USAGE);
    request.header_count = 0;
    request.method = nc_slice_of("POST");
    assert_status(nc_download_start(on.f.engine, &options, &sink, &id, &err), NC_ERR_USAGE);
    request.method = nc_slice_of("GET");
    request.save_path = nc_slice_of("x");
    assert_status(nc_download_start(on.f.engine, &options, &sink, &id, &err), NC_ERR_USAGE);
    request.save_path = nc_slice_of("");
    options.segments = NC_DOWNLOAD_MAX_SEGMENTS + 1;
    assert_status(nc_download_start(on.f.engine, &options, &sink, &id, &err), NC_ERR_USAGE);
    options.segments = 0;
    options.path = nc_slice_of("");
    assert_status(nc_download_start(on.f.engine, &options, &sink, &id, &err), NC_ERR_USAGE);
    options.path = nc_slice_of(on.file);
    const nc_header range = {nc_slice_of("range"), nc_slice_of("bytes=0-1")};
    request.headers = &range;
    request.header_count = 1;
    assert_status(nc_download_start(on.f.engine, &options, &sink, &id, &err), NC_ERR_USAGE);
    request.header_count = 0;
    request.url = nc_slice_of("ftp://x/");
    assert_status(nc_download_start(on.f.engine, &options, &sink, &id, &err), NC_ERR_BAD_SCHEME);
    fetching_stop(&on);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(download__the_complete_file_is_the_only_one_left),
        harness_case(download__of_an_empty_body_gives_an_empty_file),
        harness_case(download__without_a_declared_length_saves_all_received_bytes),
        harness_case(download__the_old_file_stays_until_the_new_one_is_complete),
        harness_case(download__resumes_with_range_and_if_range),
        harness_case(download__restarts_if_the_server_has_another_version),
        harness_case(download__restarts_on_request),
        harness_case(download__resumes_only_with_a_strong_validator_or_on_request),
        harness_case(download__never_resumes_an_encoded_body),
        harness_case(download__restarts_if_the_partial_file_is_damaged),
        harness_case(download__follows_no_planted_symlink),
        harness_case(download__an_error_response_is_not_saved),
        harness_case(download__an_error_response_preserves_the_partial_file),
        harness_case(download__completes_on_416_if_the_partial_file_is_complete),
        harness_case(download__truncates_a_partial_file_beyond_the_total_length),
        harness_case(download__ignores_the_digest_of_a_416_response),
        harness_case(download__restarts_on_416_with_another_length),
        harness_case(download__invalid_options_are_rejected),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
