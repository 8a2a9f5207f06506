/// Partial files and records that another user could have written are rejected and never resumed.
#include "fetched.h"

#include <errno.h>
#include <netcore/download_list.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STRONG "ETag: \"v1\"\r\n"

enum { STRANGER = 65534 };

static const nct_reply whole = {.headers = STRONG, .pattern_length = 20000, .answers_ranges = true};
static const nct_reply cut = {
    .headers = STRONG, .pattern_length = 20000, .is_cut = true, .cut_after = 9000, .ending = NCT_CLOSE};

/// Leaves a partial download of "/file", and a server that would send the rest.
static void begin_partial(fetching *on) {
    fetching_start(on);
    fetching_script(on, cut);
    fetched got = fetch(on, &(nc_download_options){0});
    assert_fetched(got, NC_ERR_CUT_SHORT);
    assert_string_equal(got.partial, on->partial);
    fetching_script(on, whole);
}

/// The download fails without a request, and the partial file is unchanged.
static void assert_refused(fetching *on, const char *part) {
    struct stat before;
    struct stat behind;
    size_t requests = nct_server_request_count(on->f.server);
    assert_int_equal(lstat(on->partial, &before), 0);
    fetched got = fetch(on, &(nc_download_options){0});
    assert_fetched(got, NC_ERR_FILE);
    assert_int_equal(got.error.native_code, EPERM);
    if (strstr(got.error.message, part) == NULL) {
        fail_msg("'%s' does not contain '%s'", got.error.message, part);
    }
    assert_int_equal(nct_server_request_count(on->f.server), requests);
    assert_int_equal(lstat(on->partial, &behind), 0);
    assert_int_equal(behind.st_ino, before.st_ino);
    assert_int_equal(behind.st_size, before.st_size);
    assert_false(fetch_exists(on->file));
}

static void assert_resumes(fetching *on) {
    fetched got = fetch(on, &(nc_download_options){0});
    assert_fetched(got, NC_OK);
    assert_true(got.resumed_bytes > 0);
    assert_pattern(on->file, 20000);
    assert_int_equal(temp_directory_count(on->at.root), 1);
}

static void download__is_not_resumed_in_a_directory_that_others_can_write_to(void **state) {
    (void)state;
    static const mode_t modes[] = {0777, 0770, 0775, 0703};
    fetching on;
    begin_partial(&on);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(on.at.root, modes[i]), 0);
        assert_refused(&on, on.at.root);
    }
    assert_int_equal(chmod(on.at.root, 0755), 0);
    assert_resumes(&on);
    fetching_stop(&on);
}

static void download__own_files_are_resumed_in_a_sticky_directory(void **state) {
    (void)state;
    fetching on;
    begin_partial(&on);
    assert_int_equal(chmod(on.at.root, 01777), 0);
    assert_resumes(&on);
    fetching_stop(&on);
}

/// A new download need not trust any existing file.
static void download__starts_in_a_directory_that_others_can_write_to(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetching_script(&on, whole);
    assert_int_equal(chmod(on.at.root, 0777), 0);
    assert_fetched(fetch(&on, &(nc_download_options){0}), NC_OK);
    assert_pattern(on.file, 20000);
    assert_int_equal(temp_directory_count(on.at.root), 1);
    fetching_stop(&on);
}

static void download__is_not_resumed_from_a_file_that_others_can_write(void **state) {
    (void)state;
    static const mode_t modes[] = {0666, 0660, 0602};
    for (size_t i = 0; i < 2; i++) {
        fetching on;
        begin_partial(&on);
        const char *path = i == 0 ? on.partial : on.record;
        for (size_t j = 0; j < sizeof modes / sizeof *modes; j++) {
            assert_int_equal(chmod(path, modes[j]), 0);
            assert_refused(&on, path);
        }
        assert_int_equal(chmod(path, 0644), 0);
        assert_resumes(&on);
        fetching_stop(&on);
    }
}

/// Only root can create another user's file. A test without root cannot reach another user's partial file.
static void download__is_not_resumed_from_another_users_file(void **state) {
    (void)state;
    for (size_t i = 0; i < 3 && geteuid() == 0; i++) {
        fetching on;
        begin_partial(&on);
        const char *path = i == 0 ? on.partial : i == 1 ? on.record : on.at.root;
        assert_int_equal(chmod(on.at.root, 01777), 0);
        assert_int_equal(chown(path, STRANGER, STRANGER), 0);
        assert_refused(&on, path);
        assert_int_equal(chown(path, 0, 0), 0);
        assert_resumes(&on);
        fetching_stop(&on);
    }
}

/// A partial file that its group can write could not be resumed. The finished file has the usual mode.
static void download__a_complete_file_has_the_usual_mode(void **state) {
    (void)state;
    static const mode_t masks[][3] = {{002, 0644, 0664}, {0, 0644, 0666}, {022, 0644, 0644}, {077, 0600, 0600}};
    for (size_t i = 0; i < 2 * sizeof masks / sizeof *masks; i++) {
        const mode_t *mask = masks[i / 2];
        struct stat info;
        fetching on;
        mode_t before = umask(mask[0]);
        begin_partial(&on);
        assert_int_equal(lstat(on.partial, &info), 0);
        assert_int_equal(info.st_mode & 07777, mask[1]);
        assert_int_equal(mkdir(on.at.store, 0700), 0);
        if (i % 2 == 0) {
            assert_int_equal(rmdir(on.at.store), 0);
            assert_resumes(&on);
        } else {
            // From a folder of parts, which may be on another file system.
            nc_slice folder = nc_slice_of(on.at.store);
            assert_fetched(fetch(&on, &(nc_download_options){.partial_folder = folder}), NC_OK);
        }
        assert_int_equal(lstat(on.file, &info), 0);
        assert_int_equal(info.st_mode & 07777, mask[2]);
        (void)umask(before);
        fetching_stop(&on);
    }
}

/* --- the inventory --- */

typedef struct inventory {
    size_t good;
    size_t refused;
    char partial[600];
    char message[600];
} inventory;

static bool record_entry(void *ctx, const nc_download_entry *entry) {
    inventory *on = ctx;
    if (entry->refusal == NULL) {
        on->good++;
        return true;
    }
    on->refused++;
    assert_int_equal(entry->url.length + entry->path.length, 0);
    (void)snprintf(on->partial, sizeof on->partial, "%.*s", (int)entry->partial_path.length,
                   (const char *)entry->partial_path.data);
    (void)snprintf(on->message, sizeof on->message, "%s", entry->refusal->message);
    return true;
}

static void list__rejects_a_directory_that_others_can_write_to(void **state) {
    (void)state;
    nc_error err;
    inventory found = {0};
    uint64_t removed = 7;
    fetching on;
    begin_partial(&on);
    nc_slice root = nc_slice_of(on.at.root);
    assert_int_equal(chmod(on.at.root, 0777), 0);
    assert_status(nc_download_list(record_entry, &found, root, NULL, &err), NC_ERR_FILE);
    assert_int_equal(err.native_code, EPERM);
    assert_non_null(strstr(err.message, on.at.root));
    assert_status(nc_download_purge(&removed, root, INT64_MAX, NULL, &err), NC_ERR_FILE);
    assert_int_equal(removed + found.good + found.refused, 0);
    assert_true(fetch_exists(on.partial));
    assert_int_equal(chmod(on.at.root, 01777), 0);
    assert_status(nc_download_list(record_entry, &found, root, NULL, &err), NC_OK);
    assert_int_equal(found.good, 1);
    fetching_stop(&on);
}

static void list__marks_a_planted_record_as_rejected_and_purge_skips_it(void **state) {
    (void)state;
    for (int i = 0; i < (geteuid() == 0 ? 2 : 1); i++) {
        nc_error err;
        inventory found = {0};
        uint64_t removed = 7;
        fetching on;
        begin_partial(&on);
        nc_slice root = nc_slice_of(on.at.root);
        assert_int_equal(chmod(on.at.root, 01777), 0);
        assert_int_equal(i == 0 ? chmod(on.record, 0622) : chown(on.record, STRANGER, STRANGER), 0);
        assert_status(nc_download_list(record_entry, &found, root, NULL, &err), NC_OK);
        assert_int_equal(found.good, 0);
        assert_int_equal(found.refused, 1);
        assert_string_equal(found.partial, on.partial);
        assert_non_null(strstr(found.message, on.record));
        assert_status(nc_download_purge(&removed, root, INT64_MAX, NULL, &err), NC_OK);
        assert_int_equal(removed, 0);
        assert_true(fetch_exists(on.partial) && fetch_exists(on.record));
        fetching_stop(&on);
    }
}

int main(void) {
    harness_begin();
    (void)umask(022);
    const struct CMUnitTest cases[] = {
        harness_case(download__is_not_resumed_in_a_directory_that_others_can_write_to),
        harness_case(download__own_files_are_resumed_in_a_sticky_directory),
        harness_case(download__starts_in_a_directory_that_others_can_write_to),
        harness_case(download__is_not_resumed_from_a_file_that_others_can_write),
        harness_case(download__is_not_resumed_from_another_users_file),
        harness_case(download__a_complete_file_has_the_usual_mode),
        harness_case(list__rejects_a_directory_that_others_can_write_to),
        harness_case(list__marks_a_planted_record_as_rejected_and_purge_skips_it),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
