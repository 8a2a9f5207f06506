/// Bodies saved to files: complete or not at all, under every disk error, in few writes.
#include "faulty.h"
#include "fetched.h"
#include "fixture.h"
#include "full_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONG_BYTES = 1500007 };

static void engine__a_saved_body_appears_completely_or_not_at_all(void **state) {
    fixture f;
    temp_directory at = temp_directory_make();
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/good", (nct_reply){.body = "new and whole", .body_length = 13});
    fixture_script(&f, "/missing", (nct_reply){.status = 404, .body = "not here", .body_length = 8});
    fixture_script(&f, "/cut",
                   (nct_reply){.pattern_length = 1000, .is_cut = true, .cut_after = 500, .ending = NCT_CLOSE});
    const char *path = fixture_text(&f, "%s/saved", at.root);
    temp_file_write(path, nc_slice_of("old"));
    nc_request request = fixture_request(&f, "/cut");
    request.save_path = nc_slice_of(path);
    assert_ended(fixture_send(&f, &request), NC_ERR_CUT_SHORT, 18, "");
    assert_file(path, nc_slice_of("old"));
    request.url = nc_slice_of(fixture_url(&f, "/missing"));
    assert_response(fixture_send(&f, &request), 404, "not here");
    assert_file(path, nc_slice_of("old"));
    assert_int_equal(temp_directory_count(at.root), 1);
    request.url = nc_slice_of(fixture_url(&f, "/good"));
    assert_response(fixture_send(&f, &request), 200, "");
    assert_file(path, nc_slice_of("new and whole"));
    assert_int_equal(temp_directory_count(at.root), 1);
    request.save_path = nc_slice_of(fixture_text(&f, "%s/none/saved", at.root));
    assert_ended(fixture_send(&f, &request), NC_ERR_FILE, 2, "cannot be written");
    unlink(path);
    assert_int_equal(temp_directory_count(at.root), 0);
    fixture_stop(&f);
    temp_directory_remove(&at);
}

static void engine__an_unrequested_range_is_not_saved(void **state) {
    static const struct {
        const char *head;
        bool asks_part;
        nc_status status;
    } rows[] = {
        {"200 OK\r\nContent-Range: bytes 500-503/1000\r\n", false, NC_ERR_BAD_RANGE},
        {"200 OK\r\nContent-Range: bytes 0-3/1000\r\n", false, NC_ERR_BAD_RANGE},
        {"200 OK\r\nContent-Range: bytes 500-503/1000\r\n", true, NC_OK},
        {"200 OK\r\nContent-Range: bytes 0-3/4\r\n", false, NC_OK},
        {"200 OK\r\nContent-Range: items 0-3/9\r\n", false, NC_OK},
        {"206 Partial Content\r\nContent-Range: bytes 500-503/1000\r\n", false, NC_ERR_BAD_RANGE},
        {"206 Partial Content\r\nContent-Range: bytes 500-503/1000\r\n", true, NC_OK},
    };
    static const nc_header range = {{(const uint8_t *)"range", 5}, {(const uint8_t *)"bytes=500-503", 13}};
    fixture f;
    temp_directory at = temp_directory_make();
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    const char *path = fixture_text(&f, "%s/saved", at.root);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *reply = fixture_text(&f, "HTTP/1.1 %sContent-Length: 4\r\n\r\npart", rows[i].head);
        fixture_script_raw(&f, "/part", reply);
        nc_request request = fixture_request(&f, "/part");
        request.save_path = nc_slice_of(path);
        request.headers = &range;
        request.header_count = rows[i].asks_part ? 1 : 0;
        assert_status(fixture_send(&f, &request).error.status, rows[i].status);
        assert_int_equal(unlink(path) == 0, rows[i].status == NC_OK);
    }
    assert_int_equal(temp_directory_count(at.root), 0);
    fixture_stop(&f);
    temp_directory_remove(&at);
}

static void engine__a_replaced_file_preserves_its_mode_and_owner(void **state) {
    static const mode_t modes[][2] = {{0600, 0600}, {0640, 0640}, {0666, 0666}, {0444, 0444}, {06755, 0755}};
    fixture f;
    temp_directory at = temp_directory_make();
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/good", (nct_reply){.body = "new", .body_length = 3});
    const char *path = fixture_text(&f, "%s/saved", at.root);
    nc_request request = fixture_request(&f, "/good");
    request.save_path = nc_slice_of(path);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct stat old;
        struct stat new;
        temp_file_write(path, nc_slice_of("old"));
        assert_int_equal(geteuid() == 0 ? chown(path, 7, 8) : 0, 0);
        assert_int_equal(chmod(path, modes[i][0]), 0);
        assert_int_equal(stat(path, &old), 0);
        bool may_write = access(path, W_OK) == 0; // root may write
        answer one = fixture_send(&f, &request);
        assert_status(one.error.status, may_write ? NC_OK : NC_ERR_FILE);
        assert_file(path, nc_slice_of(may_write ? "new" : "old"));
        assert_int_equal(stat(path, &new), 0);
        assert_int_equal(new.st_mode & 07777, modes[i][1]);
        assert_int_equal(new.st_uid, old.st_uid);
        assert_int_equal(new.st_gid, old.st_gid);
        assert_int_equal(unlink(path), 0);
    }
    fixture_stop(&f);
    temp_directory_remove(&at);
}

static int refusal;
static nc_file_ops system_ops;

/// Simulates read-only files, because root can write them.
static int open_to_read(void *ctx, const char *path, int flags, mode_t mode) {
    if ((flags & (O_ACCMODE | O_CREAT)) == O_WRONLY) {
        errno = refusal;
        return -1;
    }
    return system_ops.open(ctx, path, flags, mode);
}

static void engine__a_read_only_file_is_not_replaced(void **state) {
    static const int codes[] = {EACCES, EPERM, EROFS};
    fixture f;
    temp_directory at = temp_directory_make();
    (void)state;
    system_ops = nc_file_ops_system();
    nc_file_ops ops = system_ops;
    ops.open = open_to_read;
    fixture_start_with(&f, NULL, &(nc_engine_options){.file_ops = &ops});
    fixture_script(&f, "/good", (nct_reply){.body = "new", .body_length = 3});
    const char *path = fixture_text(&f, "%s/saved", at.root);
    temp_file_write(path, nc_slice_of("old"));
    nc_request request = fixture_request(&f, "/good");
    request.save_path = nc_slice_of(path);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        refusal = codes[i];
        answer one = fixture_send(&f, &request);
        assert_ended(one, NC_ERR_FILE, codes[i], "/saved' cannot be written");
        assert_file(path, nc_slice_of("old"));
    }
    assert_int_equal(nct_server_request_count(f.server), 0);
    refusal = ETXTBSY; // a running program keeps the old file
    struct stat info;
    assert_int_equal(chmod(path, 0750), 0);
    assert_response(fixture_send(&f, &request), 200, "");
    assert_file(path, nc_slice_of("new"));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0750);
    assert_int_equal(unlink(path), 0);
    fixture_stop(&f);
    temp_directory_remove(&at);
}

static void engine__an_unsaved_error_body_obeys_the_default_limit(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/told", (nct_reply){.status = 404, .pattern_length = NC_DEFAULT_MAX_BODY_BYTES + 1});
    fixture_script(&f, "/untold",
                   (nct_reply){.status = 404, .pattern_length = NC_DEFAULT_MAX_BODY_BYTES + 1, .chunk_bytes = 65536});
    for (size_t i = 0; i < 2; i++) {
        nc_request request = fixture_request(&f, i == 0 ? "/told" : "/untold");
        request.save_path = nc_slice_of("/tmp/netcore-never-written");
        request.limits.max_body_bytes = NC_UNLIMITED_BYTES;
        assert_ended(fixture_send(&f, &request), NC_ERR_BODY_TOO_LARGE, 63, "limit of 67108864");
    }
    fixture_stop(&f);
}

static void engine__pipes_are_rejected_and_devices_are_written(void **state) {
    fixture f;
    temp_directory at = temp_directory_make();
    struct stat info;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/", (nct_reply){.pattern_length = 100000});
    const char *pipe = fixture_text(&f, "%s/pipe", at.root);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    nc_request request = fixture_request(&f, "/");
    request.save_path = nc_slice_of(pipe);
    assert_ended(fixture_send(&f, &request), NC_ERR_FILE, ESPIPE, "receive the body in a callback"); // without a reader
    int reader = open(pipe, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_ended(fixture_send(&f, &request), NC_ERR_FILE, ESPIPE, "receive the body in a callback");
    close(reader);
    assert_int_equal(lstat(pipe, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_int_equal(temp_directory_count(at.root), 1);
    request.save_path = nc_slice_of("/dev/null");
    assert_response(fixture_send(&f, &request), 200, "");
    fixture_stop(&f);
    unlink(pipe);
    temp_directory_remove(&at);
}

static void engine__a_file_with_the_longest_name_is_saved(void **state) {
    char name[256];
    fixture f;
    temp_directory at = temp_directory_make();
    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/", (nct_reply){.body = "whole", .body_length = 5});
    nc_request request = fixture_request(&f, "/");
    const char *path = fixture_text(&f, "%s/%s", at.root, name);
    request.save_path = nc_slice_of(path);
    assert_response(fixture_send(&f, &request), 200, "");
    assert_file(path, nc_slice_of("whole"));
    assert_int_equal(temp_directory_count(at.root), 1);
    fixture_stop(&f);
    unlink(path);
    temp_directory_remove(&at);
}

static void engine__a_cancelled_save_leaves_nothing_behind(void **state) {
    fixture f;
    temp_directory at = temp_directory_make();
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/stalled",
                   (nct_reply){.pattern_length = 100000, .is_cut = true, .cut_after = 50000, .ending = NCT_STALL});
    nc_request request = fixture_request(&f, "/stalled");
    request.save_path = nc_slice_of(fixture_text(&f, "%s/saved", at.root));
    nc_transfer_id id = fixture_submit(&f, &request);
    assert_true(nct_server_wait_for_stalled(f.server, 1, FIXTURE_LIMIT_MS));
    nc_engine_cancel(f.engine, id);
    assert_ended(fixture_wait(&f, id), NC_ERR_CANCELLED, 0, "");
    assert_int_equal(temp_directory_count(at.root), 0);
    fixture_stop(&f);
}

static void engine__a_long_body_is_saved_byte_for_byte_for_every_framing(void **state) {
    static const nct_reply replies[] = {
        {.pattern_length = LONG_BYTES},
        {.pattern_length = LONG_BYTES, .chunk_bytes = 1000},
        {.pattern_length = LONG_BYTES, .chunk_bytes = 300000},
        {.pattern_length = LONG_BYTES, .drip_bytes = 40000},
    };
    for (size_t i = 0; i < 2 * sizeof replies / sizeof *replies; i++) {
        fixture f;
        temp_directory at = temp_directory_make();
        (void)state;
        fixture_start(&f, i % 2 == 0 ? NCT_PLAIN : NCT_TLS_VALID);
        fixture_script(&f, "/long", replies[i / 2]);
        nc_request request = fixture_request(&f, "/long");
        const char *path = fixture_text(&f, "%s/saved", at.root);
        request.save_path = nc_slice_of(path);
        assert_response(fixture_send(&f, &request), 200, "");
        assert_pattern(path, LONG_BYTES);
        fixture_stop(&f);
        temp_directory_remove(&at);
    }
}

static void engine__bytes_of_one_read_are_one_write(void **state) {
    fixture f;
    faulty_files files;
    temp_directory at = temp_directory_make();
    (void)state;
    faulty_init(&files);
    const nc_engine_options options = {.file_ops = &files.ops};
    const nct_server_options server = {.identity = NCT_PLAIN};
    fixture_start_with(&f, &server, &options);
    // libcurl splits it into pieces of 16 KiB. The size of one read depends on the system, but is never that small.
    fixture_script(&f, "/long", (nct_reply){.pattern_length = 64 * 1024 * 1024});
    nc_request request = fixture_request(&f, "/long");
    request.save_path = nc_slice_of(fixture_text(&f, "%s/saved", at.root));
    assert_response(fixture_send(&f, &request), 200, "");
    assert_in_range(files.writes, 256, 4096 / 2);
    fixture_stop(&f);
    temp_directory_remove(&at);
}

static void engine__each_file_operation_failure_is_an_error_and_leaves_no_file(void **state) {
    static const int codes[] = {ENOSPC, EIO, EACCES, EMFILE, EINTR, FAULTY_SHORT};
    fixture f;
    faulty_files files;
    struct stat info;
    temp_directory at = temp_directory_make();
    size_t failures = 0;
    (void)state;
    faulty_init(&files);
    const nc_engine_options options = {.file_ops = &files.ops};
    const nct_server_options server = {.identity = NCT_PLAIN};
    fixture_start_with(&f, &server, &options);
    fixture_script(&f, "/long", (nct_reply){.pattern_length = LONG_BYTES});
    const char *path = fixture_text(&f, "%s/saved", at.root);
    nc_request request = fixture_request(&f, "/long");
    request.save_path = nc_slice_of(path);
    for (size_t i = 0; i < 2 * (sizeof codes / sizeof *codes); i++) {
        int code = codes[i / 2];
        bool replaces = i % 2 == 1;
        bool may_go_on = code == EINTR || code == FAULTY_SHORT;
        uint64_t nth = 1;
        do {
            if (replaces) {
                temp_file_write(path, nc_slice_of("old"));
                assert_int_equal(chmod(path, 0600), 0);
            }
            faulty_arm(&files, nth, code);
            answer one = fixture_send(&f, &request);
            bool is_done = one.error.status == NC_OK;
            if (is_done) {
                assert_pattern(path, LONG_BYTES);
                assert_int_equal(stat(path, &info), 0);
                if (replaces && (info.st_mode & 0777) != 0600) {
                    fail_msg("mode %o after a failed %s (%d)", info.st_mode, files.failed_op, code);
                }
                assert_int_equal(temp_directory_count(at.root), 1);
                assert_int_equal(unlink(path), 0);
            } else {
                if (may_go_on) {
                    fail_msg("%s after an interrupted or short %s", one.error.message, files.failed_op);
                }
                assert_int_equal(one.error.status, code == EMFILE ? NC_ERR_DESCRIPTORS : NC_ERR_FILE);
                assert_int_equal(one.error.native_code, code);
                assert_non_null(strstr(one.error.message, path));
                assert_int_equal(temp_directory_count(at.root), replaces);
                if (replaces) {
                    assert_file(path, nc_slice_of("old"));
                }
                failures++;
            }
            nth++;
        } while (files.has_failed);
    }
    assert_true(failures > 2 * 4 * 6); // open, some writes, close, rename
    fixture_stop(&f);
    temp_directory_remove(&at);
}

static void engine__a_full_disk_for_one_file_does_not_affect_others(void **state) {
    fixture f;
    full_disk disk;
    temp_directory at = temp_directory_make();
    (void)state;
    full_disk_init(&disk);
    const nc_engine_options options = {.file_ops = &disk.ops};
    const nct_server_options server = {.identity = NCT_PLAIN};
    fixture_start_with(&f, &server, &options);
    fixture_script(&f, "/long", (nct_reply){.pattern_length = LONG_BYTES});
    nc_request request = fixture_request(&f, "/long");
    const char *folder = fixture_text(&f, "%s/full", at.root);
    assert_int_equal(mkdir(folder, 0700), 0);
    nc_transfer_id ids[8];
    for (size_t i = 0; i < 8; i++) {
        request.save_path = nc_slice_of(fixture_text(&f, "%s/%s%zu", at.root, i == 5 ? "full/" : "good", i));
        ids[i] = fixture_submit(&f, &request);
    }
    for (size_t i = 0; i < 8; i++) {
        if (i == 5) {
            assert_ended(fixture_wait(&f, ids[i]), NC_ERR_FILE, ENOSPC, "full/5' cannot be written");
        } else {
            assert_response(fixture_wait(&f, ids[i]), 200, "");
            assert_pattern(fixture_text(&f, "%s/good%zu", at.root, i), LONG_BYTES);
        }
    }
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(temp_directory_count(at.root), 7);
    fixture_stop(&f);
    temp_directory_remove(&at);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_saved_body_appears_completely_or_not_at_all),
        harness_case(engine__an_unrequested_range_is_not_saved),
        harness_case(engine__a_replaced_file_preserves_its_mode_and_owner),
        harness_case(engine__a_read_only_file_is_not_replaced),
        harness_case(engine__an_unsaved_error_body_obeys_the_default_limit),
        harness_case(engine__pipes_are_rejected_and_devices_are_written),
        harness_case(engine__a_file_with_the_longest_name_is_saved),
        harness_case(engine__a_cancelled_save_leaves_nothing_behind),
        harness_case(engine__a_long_body_is_saved_byte_for_byte_for_every_framing),
        harness_case(engine__bytes_of_one_read_are_one_write),
        harness_case(engine__each_file_operation_failure_is_an_error_and_leaves_no_file),
        harness_case(engine__a_full_disk_for_one_file_does_not_affect_others),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
