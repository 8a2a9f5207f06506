/// The statuses whose body is the file, when a partial file exists.
#include "fetched.h"

#define STRONG "ETag: \"v1\"\r\n"

static const nct_reply whole = {.headers = STRONG, .pattern_length = 20000, .answers_ranges = true};

/// Leaves a partial download of "/file".
static fetched leave_partial(fetching *on, const char *headers) {
    const nct_reply cut = {.headers = headers,
                           .pattern_length = 20000,
                           .is_cut = true,
                           .is_cut_in_body = true,
                           .cut_after = 9000,
                           .ending = NCT_CLOSE};
    fetching_script(on, cut);
    fetched got = fetch(on, &(nc_download_options){0});
    assert_fetched(got, NC_ERR_CUT_SHORT);
    assert_string_equal(got.partial, on->partial);
    return got;
}

/// These responses may not have the file as their body. They replace neither the partial file nor the file.
static void download__other_2xx_statuses_preserve_the_partial_file_regression_1(void **state) {
    static const uint16_t statuses[] = {201, 202, 203, 204, 205, 207};
    (void)state;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        fetching on;
        fetching_start(&on);
        temp_file_write(on.file, nc_slice_of("old"));
        fetched first = leave_partial(&on, STRONG);
        const nct_reply pending = {.status = statuses[i], .headers = STRONG, .body = "pending", .body_length = 7};
        fetching_script(&on, pending);
        fetched got = fetch(&on, &(nc_download_options){0});
        assert_fetched(got, NC_ERR_BAD_STATUS);
        assert_int_equal(got.error.native_code, statuses[i]);
        assert_string_equal(got.body, statuses[i] == 204 ? "" : "pending");
        assert_string_equal(got.partial, on.partial);
        assert_file(on.file, nc_slice_of("old"));
        fetching_script(&on, whole);
        got = fetch(&on, &(nc_download_options){0});
        assert_fetched(got, NC_OK);
        assert_int_equal(got.resumed_bytes, first.byte_count);
        assert_pattern(on.file, 20000);
        fetching_stop(&on);
    }
}

/// If a partial file cannot be resumed, or its range is rejected, only the whole is requested.
static void download__only_a_200_replaces_a_partial_file_regression_2(void **state) {
    const nct_reply pending = {.status = 202, .body = "pending", .body_length = 7};
    const nct_reply rows[][2] = {{pending, pending},
                                 {{.status = 416, .headers = "Content-Range: bytes */5\r\n"}, pending}};
    static const char *const tags[] = {"ETag: W/\"v1\"\r\n", STRONG};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fetching on;
        fetching_start(&on);
        (void)leave_partial(&on, tags[i]);
        fetching_script_row(&on, rows[i], 2);
        fetched got = fetch(&on, &(nc_download_options){0});
        assert_fetched(got, NC_ERR_BAD_STATUS);
        assert_string_equal(got.partial, on.partial);
        assert_true(fetch_exists(on.record));
        got = fetch(&on, &(nc_download_options){.restarts = true});
        assert_fetched(got, NC_OK); // a request for the whole file accepts this status
        assert_int_equal(got.status, 202);
        assert_file(on.file, nc_slice_of("pending"));
        fetching_stop(&on);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(download__other_2xx_statuses_preserve_the_partial_file_regression_1),
        harness_case(download__only_a_200_replaces_a_partial_file_regression_2),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
