#include "fetched.h"

#include <netcore/download_list.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define STRONG "ETag: \"v1\"\r\n"

static const nct_reply whole = {.headers = STRONG, .pattern_length = 20000, .answers_ranges = true};

static void script_named(fetching *on, const char *disposition) {
    fetching_script(on, (nct_reply){.headers = fixture_text(&on->f, STRONG "Content-Disposition: %s\r\n", disposition),
                                    .pattern_length = 20000,
                                    .answers_ranges = true});
}

static nc_download_options into_root(const fetching *on) {
    return (nc_download_options){.path = nc_slice_of(on->at.root)};
}

static void download__into_a_directory_is_named_by_the_response_head(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    script_named(&on, "attachment; filename=\"../../a b.txt\"");
    nc_download_options options = into_root(&on);
    fetched got = fetch(&on, &options);
    assert_fetched(got, NC_OK);
    assert_string_equal(got.path, temp_directory_path(on.at.root, "a b.txt"));
    assert_pattern(got.path, 20000);
    options.ignores_disposition = true;
    got = fetch(&on, &options);
    assert_fetched(got, NC_OK);
    assert_string_equal(got.path, on.file);
    assert_int_equal(temp_directory_count(on.at.root), 2);
    fetching_stop(&on);
}

static void download__into_a_directory_replaces_files_only_on_request(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    temp_file_write(on.file, nc_slice_of("old"));
    fetching_script(&on, whole);
    nc_download_options options = into_root(&on);
    fetched got = fetch(&on, &options);
    assert_fetched(got, NC_ERR_FILE);
    assert_int_equal(got.error.native_code, EEXIST);
    assert_file(on.file, nc_slice_of("old"));
    assert_int_equal(temp_directory_count(on.at.root), 1);
    options.existing = NC_EXISTING_REPLACE;
    assert_fetched(fetch(&on, &options), NC_OK);
    assert_pattern(on.file, 20000);
    fetching_stop(&on);
}

static void download__to_a_named_file_can_refuse_to_replace_it(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    temp_file_write(on.file, nc_slice_of("old"));
    fetching_script(&on, whole);
    fetched got = fetch(&on, &(nc_download_options){.existing = NC_EXISTING_REFUSE});
    assert_fetched(got, NC_ERR_FILE);
    assert_int_equal(got.error.native_code, EEXIST);
    assert_int_equal(nct_server_request_count(on.f.server), 0);
    fetching_stop(&on);
}

static void download__into_a_directory_is_resumed_with_its_first_name(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    const char *named = STRONG "Content-Disposition: attachment; filename=named\r\n";
    const nct_reply row[] = {
        {.headers = named, .pattern_length = 20000, .is_cut = true, .cut_after = 9000, .ending = NCT_CLOSE},
        {.headers = named, .pattern_length = 20000, .answers_ranges = true}};
    fetching_script_row(&on, row, 2);
    nc_download_options options = into_root(&on);
    fetched got = fetch(&on, &options);
    assert_fetched(got, NC_ERR_CUT_SHORT);
    assert_string_equal(got.partial, temp_directory_path(on.at.root, "named.part"));
    got = fetch(&on, &options);
    assert_fetched(got, NC_OK);
    assert_true(got.resumed_bytes > 0);
    assert_pattern(temp_directory_path(on.at.root, "named"), 20000);
    assert_int_equal(temp_directory_count(on.at.root), 1);
    fetching_stop(&on);
}

static void download__restarted_with_another_name_resumes_with_that_name(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    const char *old = STRONG "Content-Disposition: attachment; filename=old\r\n";
    const char *new = "ETag: \"v2\"\r\nContent-Disposition: attachment; filename=new\r\n";
    const nct_reply row[] = {
        {.headers = old, .pattern_length = 20000, .is_cut = true, .cut_after = 9000, .ending = NCT_CLOSE},
        {.headers = new, .pattern_length = 20000, .is_cut = true, .cut_after = 9000, .ending = NCT_CLOSE},
        {.headers = new, .pattern_length = 20000, .answers_ranges = true}};
    fetching_script_row(&on, row, 3);
    nc_download_options options = into_root(&on);
    assert_fetched(fetch(&on, &options), NC_ERR_CUT_SHORT);
    fetched got = fetch(&on, &options);
    assert_fetched(got, NC_ERR_CUT_SHORT);
    assert_string_equal(got.path, temp_directory_path(on.at.root, "new"));
    got = fetch(&on, &options);
    assert_fetched(got, NC_OK);
    assert_true(got.resumed_bytes > 0);
    assert_string_equal(got.path, temp_directory_path(on.at.root, "new"));
    assert_int_equal(temp_directory_count(on.at.root), 1);
    fetching_stop(&on);
}

static void download__the_partial_file_is_in_the_chosen_directory(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    assert_int_equal(mkdir(on.at.store, 0700), 0);
    const nct_reply row[] = {
        {.headers = STRONG, .pattern_length = 20000, .is_cut = true, .cut_after = 9000, .ending = NCT_CLOSE}, whole};
    fetching_script_row(&on, row, 2);
    nc_download_options options = {.partial_folder = nc_slice_of(on.at.store)};
    fetched got = fetch(&on, &options);
    assert_fetched(got, NC_ERR_CUT_SHORT);
    assert_string_equal(got.partial, temp_directory_path(on.at.store, "file.part"));
    got = fetch(&on, &options);
    assert_fetched(got, NC_OK);
    assert_true(got.resumed_bytes > 0);
    assert_pattern(on.file, 20000);
    assert_int_equal(temp_directory_count(on.at.store), 0);
    fetching_stop(&on);
}

static void download__the_destination_is_set_after_the_response_head(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetching_script(&on, whole);
    assert_int_equal(mkdir(on.at.store, 0700), 0);
    on.placed = on.at.store;
    fetched got = fetch(&on, &(nc_download_options){.requests_destination = true});
    assert_fetched(got, NC_OK);
    assert_string_equal(got.path, temp_directory_path(on.at.store, "file"));
    assert_pattern(got.path, 20000);
    on.placed = "";
    got = fetch(&on, &(nc_download_options){.requests_destination = true});
    assert_fetched(got, NC_OK);
    assert_string_equal(got.path, on.file);
    fetching_stop(&on);
}

static void download__with_a_late_destination_resumes_at_that_destination(void **state) {
    (void)state;
    char other[100];
    fetching on;
    fetching_start(&on);
    snprintf(other, sizeof other, "%s/other", on.at.root);
    const nct_reply row[] = {
        {.headers = STRONG, .pattern_length = 20000, .is_cut = true, .cut_after = 9000, .ending = NCT_CLOSE}, whole};
    fetching_script_row(&on, row, 2);
    on.placed = other;
    fetched got = fetch(&on, &(nc_download_options){.requests_destination = true});
    assert_fetched(got, NC_ERR_CUT_SHORT);
    assert_string_equal(got.path, other);
    assert_string_equal(got.partial, on.partial);
    // Resumes with the destination and the partial file's directory that the failed download reported.
    got = fetch(&on, &(nc_download_options){.path = nc_slice_of(other), .partial_folder = nc_slice_of(on.at.root)});
    assert_fetched(got, NC_OK);
    assert_true(got.resumed_bytes > 0);
    assert_pattern(other, 20000);
    assert_int_equal(temp_directory_count(on.at.root), 1);
    fetching_stop(&on);
}

/// A download to a relative path whose process changes its working directory meanwhile.
static void check_elsewhere(const char *path, const char *placed, const char *wanted) {
    char before[600];
    char inner[200];
    fetching on;
    fetching_start(&on);
    fetching_script(&on, whole);
    snprintf(inner, sizeof inner, "%s/sub", on.at.root);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(mkdir(on.at.store, 0700), 0);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(on.at.root), 0);
    fetch_begin(&on, &(nc_download_options){.path = nc_slice_of(path),
                                            .partial_folder = nc_slice_of("sub"),
                                            .requests_destination = true});
    gate_wait(&on.head);
    assert_int_equal(chdir(on.at.store), 0);
    nc_download_set_destination(on.f.engine, on.id, nc_slice_of(placed));
    fetched got = fetch_end(&on);
    assert_int_equal(chdir(before), 0);
    assert_fetched(got, NC_OK);
    assert_string_equal(got.path, wanted); // as passed
    assert_pattern(temp_directory_path(on.at.root, wanted), 20000);
    assert_int_equal(temp_directory_count(on.at.store), 0);
    fetching_stop(&on);
}

static void download__a_relative_path_resolves_against_the_directory_at_the_start(void **state) {
    (void)state;
    check_elsewhere("out", "", "out");
    check_elsewhere("sub/", "", "sub/file");
    check_elsewhere("out", "sub/other", "sub/other");
}

/// The download fails with this error, before or after its request, and leaves `left` names.
static void check_failure(fetching *on, const nc_download_options *options, int code, size_t left) {
    fetched got = fetch(on, options);
    if (got.error.status != NC_ERR_FILE || got.error.native_code != code) {
        fail_msg("not %d: %s, %s", code, nc_status_name(got.error.status), got.error.message);
    }
    assert_true(got.error.message[0] != '\0');
    assert_int_equal(temp_directory_count(on->at.root), left);
}

static void download__an_unusable_destination_is_explained(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetching_script(&on, whole);
    char path[700];
    assert_int_equal(mkdir(temp_directory_path(on.at.root, "file"), 0700), 0);
    nc_download_options options = into_root(&on);
    check_failure(&on, &options, EISDIR, 1);
    snprintf(path, sizeof path, "%s/none/file", on.at.root);
    options.path = nc_slice_of(path);
    check_failure(&on, &options, ENOENT, 1);
    memset(path + strlen(on.at.root) + 1, 'n', 300);
    path[strlen(on.at.root) + 301] = '\0';
    options.path = nc_slice_of(path);
    check_failure(&on, &options, ENAMETOOLONG, 1);
    snprintf(path, sizeof path, "%s/pipe", on.at.root); // a rename would replace it, as it would /dev/null
    assert_int_equal(mkfifo(path, 0600), 0);
    options.path = nc_slice_of(path);
    check_failure(&on, &options, ESPIPE, 2);
    snprintf(path, sizeof path, "%s/link", on.at.root);
    assert_int_equal(symlink("/dev/null", path), 0);
    options.path = nc_slice_of(path);
    check_failure(&on, &options, ESPIPE, 3);
    if (geteuid() != 0) {
        assert_int_equal(chmod(on.at.root, 0500), 0);
        snprintf(path, sizeof path, "%s/other", on.at.root);
        check_failure(&on, &options, EACCES, 3);
        assert_int_equal(chmod(on.at.root, 0700), 0);
    }
    fetching_stop(&on);
}

static void download__a_write_error_names_the_directory(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetching_script(&on, whole);
    char path[400];
    snprintf(path, sizeof path, "%s", temp_directory_path(on.at.root, "file.part.nk~"));
    assert_int_equal(mkdir(path, 0700), 0);
    fetched got = fetch(&on, &(nc_download_options){0});
    assert_fetched(got, NC_ERR_FILE);
    assert_non_null(strstr(got.error.message, path));
    fetching_stop(&on);
}

static void download__with_a_long_name_has_a_shortened_partial_name(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetching_script(&on, whole);
    char path[400];
    snprintf(path, sizeof path, "%s/", on.at.root);
    memset(path + strlen(on.at.root) + 1, 'n', 255);
    path[strlen(on.at.root) + 256] = '\0';
    assert_fetched(fetch(&on, &(nc_download_options){.path = nc_slice_of(path)}), NC_OK);
    assert_pattern(path, 20000);
    assert_int_equal(temp_directory_count(on.at.root), 1);
    fetching_stop(&on);
}

/// Another program's file has the partial file's name. Checks that the download fails and the file is unchanged.
static void check_left_alone(fetching *on, const nc_download_options *options) {
    fetched got = fetch(on, options);
    assert_fetched(got, NC_ERR_FILE);
    assert_int_equal(got.error.native_code, EEXIST);
    assert_non_null(strstr(got.error.message, on->partial));
    assert_file(on->partial, nc_slice_of("theirs"));
    assert_int_equal(temp_directory_count(on->at.root), 1);
}

static void download__a_partial_file_without_a_record_is_not_touched(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetching_script(&on, whole);
    temp_file_write(on.partial, nc_slice_of("theirs"));
    check_left_alone(&on, &(nc_download_options){0});
    check_left_alone(&on, &(nc_download_options){.restarts = true});
    assert_int_equal(nct_server_request_count(on.f.server), 0);
    nc_download_options options = into_root(&on); // the response determines its name
    check_left_alone(&on, &options);
    if (geteuid() == 0) {
        assert_int_equal(chown(on.partial, 1, 1), 0);
        check_left_alone(&on, &options);
        assert_int_equal(unlink(on.partial), 0);
    }
    temp_file_write(on.partial, nc_slice_of("")); // empty, so nothing can be lost
    assert_fetched(fetch(&on, &options), NC_OK);
    assert_pattern(on.file, 20000);
    assert_int_equal(temp_directory_count(on.at.root), 1);
    fetching_stop(&on);
}

static void remove_partial(fetching *on) {
    assert_int_equal(unlink(on->partial), 0);
}

static void download__a_removed_partial_file_is_detected(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetch_begin_stalled(&on, whole, &(nc_download_options){0});
    remove_partial(&on);
    nct_server_release_stalled(on.f.server);
    fetched got = fetch_end(&on);
    assert_fetched(got, NC_ERR_FILE);
    assert_int_equal(got.error.native_code, ENOENT);
    assert_non_null(strstr(got.error.message, on.partial));
    assert_false(fetch_exists(on.file));
    fetching_stop(&on);
}

/* --- digests --- */

/// Of "abc".
static const uint8_t abc_md5[] = {0x90, 0x01, 0x50, 0x98, 0x3c, 0xd2, 0x4f, 0xb0,
                                  0xd6, 0x96, 0x3f, 0x7d, 0x28, 0xe1, 0x7f, 0x72};
#define ABC_SHA "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="

static void check_digest(const char *headers, const char *body, const uint8_t *md5, bool is_right) {
    fetching on;
    fetching_start(&on);
    temp_file_write(on.file, nc_slice_of("old"));
    fetching_script(&on, (nct_reply){.headers = headers, .body = body, .body_length = 3});
    fetched got = fetch(&on, &(nc_download_options){.md5 = md5});
    assert_fetched(got, is_right ? NC_OK : NC_ERR_DIGEST_MISMATCH);
    assert_file(on.file, nc_slice_of(is_right ? body : "old"));
    assert_string_equal(got.partial, "");
    assert_int_equal(temp_directory_count(on.at.root), 1);
    fetching_stop(&on);
}

static void download__a_digest_mismatch_leaves_no_file(void **state) {
    (void)state;
    check_digest(NULL, "abc", abc_md5, true);
    check_digest(NULL, "abd", abc_md5, false);
    check_digest("Repr-Digest: sha-256=:" ABC_SHA ":\r\n", "abc", NULL, true);
    check_digest("Repr-Digest: sha-256=:" ABC_SHA ":\r\n", "abd", NULL, false);
    check_digest("Content-Digest: sha-256=:" ABC_SHA ":\r\n", "abd", NULL, false);
    check_digest("Digest: SHA-256=" ABC_SHA "\r\n", "abd", NULL, false);
    check_digest("Digest: SHA-256=" ABC_SHA "\r\n", "abc", abc_md5, true);
    check_digest("Digest: MD5=AAAAAAAAAAAAAAAAAAAAAA==\r\n", "abc", abc_md5, false);
}

/* --- the inventory --- */

typedef struct listing {
    size_t count;
    uint64_t received;
    uint64_t total;
    char url[200];
    char path[200];
    bool has_validator;
    bool is_active;
} listing;

static bool record_entry(void *ctx, const nc_download_entry *entry) {
    listing *found = ctx;
    found->count++;
    found->received = entry->received_bytes;
    found->total = entry->total_bytes;
    found->has_validator = entry->has_validator;
    found->is_active = entry->is_active;
    snprintf(found->url, sizeof found->url, "%.*s", (int)entry->url.length, (const char *)entry->url.data);
    snprintf(found->path, sizeof found->path, "%.*s", (int)entry->path.length, (const char *)entry->path.data);
    return true;
}

static void inventory__lists_and_purges_incomplete_downloads(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    listing found = {0};
    uint64_t removed = 0;
    nc_error err;
    nc_slice root = nc_slice_of(on.at.root);
    nct_reply cut = {
        .headers = STRONG, .pattern_length = 20000, .is_cut = true, .cut_after = 9000, .ending = NCT_CLOSE};
    fetching_script(&on, cut);
    fetched got = fetch(&on, &(nc_download_options){0});
    assert_fetched(got, NC_ERR_CUT_SHORT);
    temp_file_write(temp_directory_path(on.at.root, "mine.part"), nc_slice_of("precious"));
    assert_status(nc_download_list(record_entry, &found, root, NULL, &err), NC_OK);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.received, got.byte_count);
    assert_int_equal(found.total, 20000);
    assert_string_equal(found.url, fixture_url(&on.f, "/file"));
    assert_string_equal(found.path, on.file);
    assert_true(found.has_validator && !found.is_active);
    assert_status(nc_download_purge(&removed, root, 1000, NULL, &err), NC_OK);
    assert_int_equal(removed, 0);
    assert_status(nc_download_purge(&removed, root, INT64_MAX, NULL, &err), NC_OK);
    assert_int_equal(removed, 1);
    assert_int_equal(temp_directory_count(on.at.root), 1);
    assert_status(nc_download_list(record_entry, &found, nc_slice_of("/nowhere/at all"), NULL, &err), NC_ERR_FILE);
    assert_int_equal(err.native_code, ENOENT);
    fetching_stop(&on);
}

static void inventory__omits_a_record_without_its_partial_file(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    listing found = {0};
    uint64_t removed = 0;
    nc_error err;
    fetching_script(
        &on, (nct_reply){
                 .headers = STRONG, .is_cut = true, .cut_after = 9000, .pattern_length = 20000, .ending = NCT_CLOSE});
    assert_fetched(fetch(&on, &(nc_download_options){0}), NC_ERR_CUT_SHORT);
    // The state after a kill between the rename and the removal of the record.
    assert_int_equal(rename(on.partial, on.file), 0);
    assert_status(nc_download_list(record_entry, &found, nc_slice_of(on.at.root), NULL, &err), NC_OK);
    assert_int_equal(found.count, 0);
    assert_status(nc_download_purge(&removed, nc_slice_of(on.at.root), INT64_MAX, NULL, &err), NC_OK);
    assert_int_equal(removed, 1);
    assert_int_equal(temp_directory_count(on.at.root), 1);
    fetching_stop(&on);
}

static void inventory__purge_preserves_active_downloads(void **state) {
    (void)state;
    fetching on;
    fetching_start(&on);
    fetch_begin_stalled(&on, whole, &(nc_download_options){.checkpoint_interval_ms = 1});
    listing found = {0};
    uint64_t removed = 7;
    nc_error err;
    assert_status(nc_download_list(record_entry, &found, nc_slice_of(on.at.root), NULL, &err), NC_OK);
    assert_true(found.count == 1 && found.is_active);
    assert_status(nc_download_purge(&removed, nc_slice_of(on.at.root), INT64_MAX, NULL, &err), NC_OK);
    assert_int_equal(removed, 0);
    // A second download of the same file is rejected too.
    fetching other = on;
    nc_download_options options = {0};
    fetched second = fetch(&other, &options);
    assert_fetched(second, NC_ERR_FILE);
    assert_int_equal(second.error.native_code, EBUSY);
    on.f = other.f; // The engine and server of both downloads.
    nct_server_release_stalled(on.f.server);
    assert_fetched(fetch_end(&on), NC_OK);
    assert_pattern(on.file, 20000);
    fetching_stop(&on);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(download__into_a_directory_is_named_by_the_response_head),
        harness_case(download__into_a_directory_replaces_files_only_on_request),
        harness_case(download__to_a_named_file_can_refuse_to_replace_it),
        harness_case(download__into_a_directory_is_resumed_with_its_first_name),
        harness_case(download__restarted_with_another_name_resumes_with_that_name),
        harness_case(download__the_partial_file_is_in_the_chosen_directory),
        harness_case(download__the_destination_is_set_after_the_response_head),
        harness_case(download__with_a_late_destination_resumes_at_that_destination),
        harness_case(download__a_relative_path_resolves_against_the_directory_at_the_start),
        harness_case(download__an_unusable_destination_is_explained),
        harness_case(download__a_write_error_names_the_directory),
        harness_case(download__with_a_long_name_has_a_shortened_partial_name),
        harness_case(download__a_partial_file_without_a_record_is_not_touched),
        harness_case(download__a_removed_partial_file_is_detected),
        harness_case(download__a_digest_mismatch_leaves_no_file),
        harness_case(inventory__lists_and_purges_incomplete_downloads),
        harness_case(inventory__omits_a_record_without_its_partial_file),
        harness_case(inventory__purge_preserves_active_downloads),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
