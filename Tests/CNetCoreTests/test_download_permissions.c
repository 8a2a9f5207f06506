#include "fetched.h"

#include <errno.h>
#include <fcntl.h>
#include <netcore/download_list.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STRONG "ETag: \"v1\"\r\n"

/// The other user's file in the directory.
#define THEIRS "theirs.part.nk"

static nc_file_ops system_ops;
static int refusal;

/// Records have mode 0600. Simulates that the other user's cannot be opened, because root can open it.
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
    temp_file_write(record, nc_slice_of("a record"));
    temp_file_write(part, nc_slice_of("a part"));
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

static void download__ignores_records_of_another_user_in_the_directory(void **state) {
    (void)state;
    check_beside(EACCES);
    check_beside(EPERM);
}

static void download__reports_other_directory_errors(void **state) {
    (void)state;
    nc_file_ops ops = ops_of_one(EIO);
    const nc_engine_options engine = {.file_ops = &ops};
    nc_error err;
    size_t listed = 0;
    uint64_t removed = 0;
    fetching on;
    fetching_start_with(&on, &engine);
    nc_slice root = nc_slice_of(on.at.root);
    temp_file_write(temp_directory_path(on.at.root, THEIRS), nc_slice_of("a record"));
    fetched got = fetch(&on, &(nc_download_options){.path = root});
    assert_fetched(got, NC_ERR_FILE);
    assert_int_equal(got.error.native_code, EIO);
    assert_status(nc_download_list(count, &listed, root, &ops, &err), NC_ERR_FILE);
    assert_int_equal(err.native_code, EIO);
    assert_status(nc_download_purge(&removed, root, INT64_MAX, &ops, &err), NC_ERR_FILE);
    assert_int_equal(err.native_code, EIO);
    fetching_stop(&on);
}

/* --- a partial file that another process truncates --- */

static ssize_t write_and_cut(void *ctx, int fd, const void *bytes, size_t length, off_t offset) {
    ssize_t wrote = system_ops.write_at(ctx, fd, bytes, length, offset);
    if (wrote > 0 && offset + wrote == 20000) {
        assert_int_equal(ftruncate(fd, 12000), 0);
    }
    return wrote;
}

static void download__a_partial_file_truncated_meanwhile_is_an_error(void **state) {
    (void)state;
    system_ops = nc_file_ops_system();
    nc_file_ops ops = system_ops;
    ops.write_at = write_and_cut;
    fetching on;
    fetching_start_with(&on, &(nc_engine_options){.file_ops = &ops});
    fetching_script(&on, (nct_reply){.headers = STRONG, .pattern_length = 20000, .answers_ranges = true});
    fetched got = fetch(&on, &(nc_download_options){0});
    assert_fetched(got, NC_ERR_FILE);
    assert_non_null(strstr(got.error.message, ".part' became shorter while it was written"));
    assert_false(fetch_exists(on.file));
    fetching_stop(&on);
}

/* --- a child with inherited descriptors before exec() --- */

static int inherited = -1;

static int open_inherited(void *ctx, int folder_fd, const char *name, int flags, mode_t mode) {
    int fd = system_ops.open_at(ctx, folder_fd, name, flags, mode);
    size_t length = strlen(name);
    if (fd >= 0 && inherited < 0 && length > 5 && strcmp(name + length - 5, ".part") == 0) {
        inherited = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    }
    return fd;
}

static void download__unlocks_its_partial_file_although_a_child_inherited_it(void **state) {
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

/* --- the mode of a replaced file --- */

static const nct_reply whole = {.headers = STRONG, .pattern_length = 20000, .answers_ranges = true};

static struct stat rights_of(const char *path) {
    struct stat info;
    assert_int_equal(lstat(path, &info), 0);
    return info;
}

/// Checks the mode of an old file after a download over it; with another owner if the test may create one.
static void check_rights(mode_t mode, mode_t wanted, const nc_engine_options *engine, bool is_cross_origin) {
    fetching on;
    fetching_start_with(&on, engine);
    fetching_script(&on, whole);
    temp_file_write(on.file, nc_slice_of("old"));
    if (geteuid() == 0) {
        assert_int_equal(chown(on.file, 7, 8), 0);
    }
    assert_int_equal(chmod(on.file, mode), 0);
    struct stat before = rights_of(on.file);
    assert_int_equal(mkdir(on.at.store, 0700), 0);
    nc_slice folder = is_cross_origin ? nc_slice_of(on.at.store) : (nc_slice){0};
    assert_fetched(fetch(&on, &(nc_download_options){.partial_folder = folder}), NC_OK);
    assert_pattern(on.file, 20000);
    struct stat behind = rights_of(on.file);
    assert_int_equal(behind.st_mode & 07777, wanted);
    assert_int_equal(behind.st_uid, before.st_uid);
    assert_int_equal(behind.st_gid, before.st_gid);
    assert_true(behind.st_ino != before.st_ino);
    fetching_stop(&on);
}

static void download__preserves_mode_and_owner_of_the_replaced_file(void **state) {
    (void)state;
    check_rights(0640, 0640, NULL, false);
    check_rights(0666, 0666, NULL, false); // more than the usual umask allows
    check_rights(0755, 0755, NULL, true);
    check_rights(06755, 0755, NULL, false); // set-user-ID would run downloaded bytes with the owner's rights
}

static int move_within(void *ctx, int folder_fd, const char *name, const char *path, bool replaces) {
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".part") == 0) {
        errno = EXDEV;
        return -1;
    }
    return system_ops.move_at(ctx, folder_fd, name, path, replaces);
}

static void download__preserves_mode_and_owner_across_file_systems(void **state) {
    (void)state;
    system_ops = nc_file_ops_system();
    nc_file_ops ops = system_ops;
    ops.move_at = move_within;
    check_rights(0606, 0606, &(nc_engine_options){.file_ops = &ops}, true);
}

static int keep_owner(void *ctx, int fd, uid_t owner, gid_t group) {
    (void)ctx;
    (void)fd;
    (void)owner;
    (void)group;
    errno = EPERM;
    return -1;
}

static void download__preserves_the_mode_if_the_owner_cannot_be_preserved(void **state) {
    (void)state;
    fetching on;
    nc_file_ops ops = nc_file_ops_system();
    ops.set_owner = keep_owner;
    fetching_start_with(&on, &(nc_engine_options){.file_ops = &ops});
    fetching_script(&on, whole);
    temp_file_write(on.file, nc_slice_of("old"));
    if (geteuid() == 0) {
        assert_int_equal(chown(on.file, 7, 8), 0);
    }
    assert_int_equal(chmod(on.file, 0604), 0);
    assert_fetched(fetch(&on, &(nc_download_options){0}), NC_OK);
    assert_int_equal(rights_of(on.file).st_mode & 07777, 0604);
    fetching_stop(&on);
}

static void download__over_a_private_file_is_private_from_its_first_byte(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    temp_file_write(on.file, nc_slice_of("old"));
    assert_int_equal(chmod(on.file, 0600), 0);
    fetch_begin_stalled(&on, whole, &(nc_download_options){0});
    assert_int_equal(rights_of(on.partial).st_mode & 07777, 0600);
    nct_server_release_stalled(on.f.server);
    assert_fetched(fetch_end(&on), NC_OK);
    assert_int_equal(rights_of(on.file).st_mode & 07777, 0600);
    fetching_stop(&on);
}

/// Simulates a read-only file, because root can write it.
static int open_to_read(void *ctx, const char *path, int flags, mode_t mode) {
    size_t length = strlen(path);
    if ((flags & O_ACCMODE) != O_RDONLY && length > 5 && strcmp(path + length - 5, "/file") == 0) {
        errno = refusal;
        return -1;
    }
    return system_ops.open(ctx, path, flags, mode);
}

static void check_protected(int code, bool is_asked, nc_status wanted, size_t requests) {
    fetching on;
    system_ops = nc_file_ops_system();
    nc_file_ops ops = system_ops;
    ops.open = open_to_read;
    refusal = code;
    fetching_start_with(&on, &(nc_engine_options){.file_ops = &ops});
    fetching_script(&on, whole);
    temp_file_write(on.file, nc_slice_of("old"));
    on.placed = on.file;
    fetched got = fetch(&on, &(nc_download_options){.requests_destination = is_asked, .existing = NC_EXISTING_REPLACE});
    assert_fetched(got, wanted);
    assert_int_equal(nct_server_request_count(on.f.server), requests);
    assert_int_equal(temp_directory_count(on.at.root), 1);
    if (wanted != NC_OK) {
        assert_int_equal(got.error.native_code, code);
        assert_non_null(strstr(got.error.message, "/file' cannot be written"));
        assert_file(on.file, nc_slice_of("old"));
    }
    fetching_stop(&on);
}

static void download__does_not_replace_a_read_only_file(void **state) {
    (void)state;
    check_protected(EACCES, false, NC_ERR_FILE, 0);
    check_protected(EPERM, false, NC_ERR_FILE, 0);
    check_protected(EROFS, false, NC_ERR_FILE, 0);
    check_protected(EACCES, true, NC_ERR_FILE, 1);
    check_protected(ETXTBSY, false, NC_OK, 1); // a running program keeps the old file
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(download__ignores_records_of_another_user_in_the_directory),
        harness_case(download__reports_other_directory_errors),
        harness_case(download__a_partial_file_truncated_meanwhile_is_an_error),
        harness_case(download__unlocks_its_partial_file_although_a_child_inherited_it),
        harness_case(download__preserves_mode_and_owner_of_the_replaced_file),
        harness_case(download__preserves_mode_and_owner_across_file_systems),
        harness_case(download__preserves_the_mode_if_the_owner_cannot_be_preserved),
        harness_case(download__over_a_private_file_is_private_from_its_first_byte),
        harness_case(download__does_not_replace_a_read_only_file),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
