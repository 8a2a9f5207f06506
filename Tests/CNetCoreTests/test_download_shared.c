#include "fetched.h"

#include <errno.h>
#include <fcntl.h>
#include <netcore/download_list.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STRONG "ETag: \"v1\"\r\n"

/// What the other user of a directory has in it.
#define THEIRS "theirs.part.nk"

static nc_file_ops system_ops;
static int refusal;

/// Records have mode 0600: the other user's cannot be opened, which a test that is run by root would not see.
static int open_own(void *ctx, int folder_fd, const char *name, int flags, mode_t mode) {
    if (strcmp(name, THEIRS) == 0) {
        errno = refusal;
        return -1;
    }
    return system_ops.open_at(ctx, folder_fd, name, flags, mode);
}

static nc_file_ops ops_of_one(int code) {
    system_ops = nc_file_ops_system();
    refusal = code;
    nc_file_ops ops = system_ops;
    ops.open_at = open_own;
    return ops;
}

static bool count(void *ctx, const nc_download_entry *entry) {
    (void)entry;
    ++*(size_t *)ctx;
    return true;
}

static void check_beside(int code) {
    nc_file_ops ops = ops_of_one(code);
    const nc_engine_options engine = {.file_ops = &ops};
    fetching on;
    fetching_start_with(&on, &engine);
    char record[200];
    char part[200];
    snprintf(record, sizeof record, "%s/" THEIRS, on.at.root);
    snprintf(part, sizeof part, "%s/theirs.part", on.at.root);
    place_write(record, nc_slice_of("a record"));
    place_write(part, nc_slice_of("a part"));
    const nct_reply row[] = {
        {.headers = STRONG, .pattern_length = 20000, .is_cut = true, .cut_after = 9000, .ending = NCT_CLOSE},
        {.headers = STRONG, .pattern_length = 20000, .answers_ranges = true}};
    fetching_script_row(&on, row, 2);
    nc_slice root = nc_slice_of(on.at.root);
    nc_download_options options = {.path = root};
    assert_fetched(fetch(&on, &options), NC_ERR_CUT_SHORT);
    size_t listed = 0;
    assert_status(nc_download_list(count, &listed, root, &ops, NULL), NC_OK);
    assert_int_equal(listed, 1);
    fetched got = fetch(&on, &options);
    assert_fetched(got, NC_OK);
    assert_true(got.resumed_bytes > 0);
    assert_pattern(on.file, 20000);
    uint64_t removed = 7;
    assert_status(nc_download_purge(&removed, root, INT64_MAX, &ops, NULL), NC_OK);
    assert_int_equal(removed, 0);
    assert_file(record, nc_slice_of("a record"));
    assert_file(part, nc_slice_of("a part"));
    fetching_stop(&on);
}

static void download__goes_on_in_a_directory_with_records_of_another_user(void **state) {
    (void)state;
    check_beside(EACCES);
    check_beside(EPERM);
}

static void download__does_not_pass_over_other_failures(void **state) {
    (void)state;
    nc_file_ops ops = ops_of_one(EIO);
    const nc_engine_options engine = {.file_ops = &ops};
    nc_error err;
    size_t listed = 0;
    uint64_t removed = 0;
    fetching on;
    fetching_start_with(&on, &engine);
    nc_slice root = nc_slice_of(on.at.root);
    place_write(place_path(on.at.root, THEIRS), nc_slice_of("a record"));
    fetched got = fetch(&on, &(nc_download_options){.path = root});
    assert_fetched(got, NC_ERR_FILE);
    assert_int_equal(got.error.native_code, EIO);
    assert_status(nc_download_list(count, &listed, root, &ops, &err), NC_ERR_FILE);
    assert_int_equal(err.native_code, EIO);
    assert_status(nc_download_purge(&removed, root, INT64_MAX, &ops, &err), NC_ERR_FILE);
    assert_int_equal(err.native_code, EIO);
    fetching_stop(&on);
}

/* --- a child that has our descriptors until it calls exec() --- */

static int inherited = -1;

static int open_inherited(void *ctx, int folder_fd, const char *name, int flags, mode_t mode) {
    int fd = system_ops.open_at(ctx, folder_fd, name, flags, mode);
    size_t length = strlen(name);
    if (fd >= 0 && inherited < 0 && length > 5 && strcmp(name + length - 5, ".part") == 0) {
        inherited = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    }
    return fd;
}

static void download__lets_go_of_its_part_although_a_child_has_it_too(void **state) {
    (void)state;
    system_ops = nc_file_ops_system();
    nc_file_ops ops = system_ops;
    ops.open_at = open_inherited;
    const nc_engine_options engine = {.file_ops = &ops};
    fetching on;
    fetching_start_with(&on, &engine);
    const nct_reply row[] = {
        {.headers = STRONG, .pattern_length = 20000, .is_cut = true, .cut_after = 9000, .ending = NCT_CLOSE},
        {.headers = STRONG, .pattern_length = 20000, .answers_ranges = true}};
    fetching_script_row(&on, row, 2);
    nc_download_options options = {0};
    assert_fetched(fetch(&on, &options), NC_ERR_CUT_SHORT);
    assert_true(inherited >= 0);
    assert_fetched(fetch(&on, &options), NC_OK);
    assert_pattern(on.file, 20000);
    (void)close(inherited);
    fetching_stop(&on);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(download__goes_on_in_a_directory_with_records_of_another_user),
        harness_case(download__does_not_pass_over_other_failures),
        harness_case(download__lets_go_of_its_part_although_a_child_has_it_too),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
