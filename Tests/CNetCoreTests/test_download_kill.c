#include "faulty.h"
#include "torture.h"
#include "traced.h"

#include <errno.h>
#include <netcore/download.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/// A body in a few slow pieces, so that it has several checkpoints.
enum { BODY_BYTES = 48000, DRIP_BYTES = 8000, DRIP_MS = 2 };

/// A server in another process, so that later children have one thread.
typedef struct kill_fixture {
    pid_t server;
    int control; // closing it ends the server
    unsigned port;
    temp_directory at;
    char file[100];
    char folder[100]; // of the partial file; empty: beside the file
} kill_fixture;

static void serve(int answers, int control) {
    nct_server *server = NULL;
    char byte = 0;
    const nct_reply slow = {.headers = "ETag: \"v1\"\r\n",
                            .pattern_length = BODY_BYTES,
                            .answers_ranges = true,
                            .drip_bytes = DRIP_BYTES,
                            .drip_ms = DRIP_MS};
    const nct_reply fast = {.headers = "ETag: \"v1\"\r\n", .pattern_length = BODY_BYTES, .answers_ranges = true};
    const nct_reply cut = {.headers = "ETag: \"v1\"\r\n",
                           .pattern_length = BODY_BYTES,
                           .is_cut = true,
                           .cut_after = BODY_BYTES / 2,
                           .ending = NCT_CLOSE};
    if (nct_server_start(&server, NULL) != 0 || nct_server_script(server, "/cut", &cut) != 0 ||
        nct_server_script(server, "/slow", &slow) != 0 || nct_server_script(server, "/fast", &fast) != 0) {
        _exit(3);
    }
    uint16_t port = nct_server_port(server);
    bool is_notified = write(answers, &port, sizeof port) == (ssize_t)sizeof port;
    while (is_notified && read(control, &byte, 1) > 0) {
    }
    nct_server_stop(server);
    _exit(0);
}

static void begin(kill_fixture *on) {
    int answers[2];
    int control[2];
    uint16_t port = 0;
    *on = (kill_fixture){.at = temp_directory_make()};
    snprintf(on->file, sizeof on->file, "%s/file", on->at.root);
    assert_int_equal(pipe(answers), 0);
    assert_int_equal(pipe(control), 0);
    on->server = fork();
    assert_true(on->server >= 0);
    if (on->server == 0) {
        close(control[1]);
        serve(answers[1], control[0]);
    }
    close(control[0]);
    close(answers[1]);
    on->control = control[1];
    assert_int_equal(read(answers[0], &port, sizeof port), (ssize_t)sizeof port);
    close(answers[0]);
    on->port = port;
}

static void end_scene(kill_fixture *on) {
    close(on->control);
    assert_int_equal(waitpid(on->server, NULL, 0), on->server);
    temp_directory_remove(&on->at);
}

/* --- one download --- */

typedef struct download_wait {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    bool is_over;
    nc_error error;
    uint64_t resumed_bytes;
} download_wait;

static void on_done(void *ctx, nc_download_id id, nc_response *response, const nc_download_result *result,
                    const nc_error *error) {
    download_wait *one = ctx;
    (void)id;
    (void)response;
    pthread_mutex_lock(&one->mutex);
    one->is_over = true;
    one->error = *error;
    one->resumed_bytes = result->resumed_bytes;
    pthread_cond_signal(&one->condition);
    pthread_mutex_unlock(&one->mutex);
}

/// Downloads with a new engine, from start to end.
static download_wait run(const kill_fixture *on, const char *path, const nc_file_ops *ops, bool skips_sync) {
    download_wait one = {.mutex = PTHREAD_MUTEX_INITIALIZER, .condition = PTHREAD_COND_INITIALIZER};
    char url[TORTURE_URL_BYTES];
    nc_engine *engine = NULL;
    nc_download_id id = 0;
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", on->port, path);
    const nc_engine_options engine_options = {.file_ops = ops};
    const nc_request request = {.url = nc_slice_of(url)};
    const nc_download_options options = {.request = &request,
                                         .path = nc_slice_of(on->file),
                                         .checkpoint_interval_ms = 1,
                                         .skips_sync = skips_sync,
                                         .partial_folder = nc_slice_of(on->folder)};
    const nc_download_sink sink = {.ctx = &one, .on_done = on_done};
    // The error of the call and the error of the end are separate, because the end may come first.
    nc_error refused;
    nc_status status = nc_engine_new(&engine, &engine_options, &refused);
    if (status == NC_OK) {
        status = nc_download_start(engine, &options, &sink, &id, &refused);
    }
    if (status != NC_OK) {
        one.error = refused;
    } else {
        pthread_mutex_lock(&one.mutex);
        while (!one.is_over) {
            pthread_cond_wait(&one.condition, &one.mutex);
        }
        pthread_mutex_unlock(&one.mutex);
    }
    (void)nc_engine_close(engine, TORTURE_PATIENCE_MS);
    return one;
}

static int sync_nothing(void *ctx, int fd) {
    (void)ctx;
    (void)fd;
    return 0;
}

/// Returns true if a child was killed. Otherwise it must have succeeded.
static bool was_killed(int how) {
    if (WIFEXITED(how)) {
        assert_int_equal(WEXITSTATUS(how), 0);
        return false;
    }
    assert_int_equal(WTERMSIG(how), SIGKILL);
    return true;
}

/// Runs a child that is killed at its n-th operation. Returns true if it was killed.
static bool run_and_kill(const kill_fixture *on, uint64_t nth, int code) {
    int how = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static faulty_files files;
        faulty_init(&files);
        files.system.sync = sync_nothing; // the system keeps a killed process's writes
        faulty_arm(&files, nth, code);
        download_wait one = run(on, "/slow", &files.ops, false);
        _exit(one.error.status == NC_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    return was_killed(how);
}

static void download_slowly(void *ctx) {
    download_wait one = run(ctx, "/slow", NULL, false);
    _exit(one.error.status == NC_OK ? 0 : 1);
}

/// Like run_and_kill(), at its n-th system call on files.
static bool run_and_kill_traced(kill_fixture *on, uint64_t nth, bool is_after) {
    return was_killed(traced_run(download_slowly, on, nth, is_after));
}

/// The file is complete or missing. The next download, in a new process, completes it and leaves no other file.
static void check_next(const kill_fixture *on, uint64_t nth) {
    int how = 0;
    if (access(on->file, F_OK) == 0) {
        nc_buf bytes = temp_file_read(on->file);
        if (!harness_is_pattern(nc_buf_slice(&bytes), BODY_BYTES)) {
            fail_msg("after a kill at operation %llu the file has %zu bytes", (unsigned long long)nth, bytes.length);
        }
        nc_buf_deinit(&bytes);
    }
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        download_wait one = run(on, "/slow", NULL, true);
        // If the file was already renamed, it is downloaded again. That is correct.
        _exit(one.error.status == NC_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    nc_buf bytes = temp_file_read(on->file);
    if (!harness_is_pattern(nc_buf_slice(&bytes), BODY_BYTES)) {
        fail_msg("what was resumed after a kill at operation %llu has %zu bytes", (unsigned long long)nth,
                 bytes.length);
    }
    nc_buf_deinit(&bytes);
    if (temp_directory_count(on->at.root) != 1 || (on->folder[0] != '\0' && temp_directory_count(on->folder) != 0)) {
        fail_msg("after a kill at operation %llu '%s' and others are left", (unsigned long long)nth,
                 temp_directory_path(on->at.root, ""));
    }
}

static bool kill_at(kill_fixture *on, uint64_t nth, bool is_after, bool is_traced) {
    return is_traced ? run_and_kill_traced(on, nth, is_after)
                     : run_and_kill(on, nth, is_after ? FAULTY_KILL_AFTER : FAULTY_KILL_BEFORE);
}

static void kill_in(kill_fixture *on, uint64_t kill_count, uint64_t stride, bool is_traced) {
    uint64_t kills = 0;
    for (uint64_t round = 0; kills < kill_count; round++) {
        bool is_killed = true;
        for (uint64_t nth = 1 + round % stride; is_killed && kills < kill_count; nth += stride) {
            is_killed = kill_at(on, nth, (nth + round) % 2 != 0, is_traced);
            // Every third one is killed again while it resumes.
            if (is_killed && nth % 3 == 0) {
                (void)kill_at(on, 1 + torture_mix(round, nth) % 40, true, is_traced);
                kills++;
            }
            check_next(on, nth);
            assert_int_equal(remove(on->file), 0);
            kills += is_killed ? 1 : 0;
        }
    }
    print_message("%llu kills, each at %s\n", (unsigned long long)kills, is_traced ? "a system call" : "an operation");
}

static void kill_everywhere(uint64_t kill_count, uint64_t stride, bool is_traced) {
    kill_fixture on;
    begin(&on);
    kill_in(&on, kill_count, stride, is_traced);
    end_scene(&on);
}

/// Finds a directory on another file system than the file's. Prints a message and returns false if there is none.
static bool find_folder_elsewhere(kill_fixture *on) {
    static const char *const roots[] = {"/dev/shm", "/tmp", "/var/tmp", "/run"};
    struct stat here;
    struct stat there;
    assert_int_equal(stat(on->at.root, &here), 0);
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        if (stat(roots[i], &there) == 0 && there.st_dev != here.st_dev) {
            snprintf(on->folder, sizeof on->folder, "%s/netkit-part-XXXXXX", roots[i]);
            if (mkdtemp(on->folder) != NULL) {
                return true;
            }
        }
    }
    on->folder[0] = '\0';
    print_message("SKIPPED: there is no second file system to write to\n");
    return false;
}

static void download__across_file_systems_is_complete_after_a_kill(void **state) {
    (void)state;
    kill_fixture on;
    begin(&on);
    if (find_folder_elsewhere(&on)) {
        uint64_t kill_count = torture_number("NETCORE_TORTURE_KILLS", 60) / 4;
        kill_in(&on, kill_count, kill_count >= 1000 ? 1 : 3, false);
        assert_int_equal(rmdir(on.folder), 0);
    }
    end_scene(&on);
}

static void download__is_complete_after_a_kill_at_every_file_operation(void **state) {
    (void)state;
    kill_everywhere(torture_number("NETCORE_TORTURE_KILLS", 60), 1, false);
}

static void download__is_complete_after_a_kill_at_every_system_call(void **state) {
    (void)state;
    uint64_t kill_count = torture_number("NETCORE_TORTURE_KILLS", 60) / 2;
    if (!traced_is_allowed()) {
        assert_null(getenv("CI"));
        return;
    }
    kill_everywhere(kill_count, kill_count >= 1000 ? 1 : 5, true);
}

/* --- operations that fail --- */

static void check_fault(const kill_fixture *on, const faulty_files *files, int code, const download_wait *one) {
    bool is_harmless = code == EINTR || code == FAULTY_SHORT;
    bool is_file = one->error.status == NC_ERR_FILE || one->error.status == NC_ERR_DESCRIPTORS;
    if (one->error.status != NC_OK && (!is_file || one->error.message[0] == '\0')) {
        fail_msg("'%s' failing with %d: %s", files->failed_op, code, one->error.message);
    }
    if (is_harmless && one->error.status != NC_OK && strcmp(files->failed_op, "list") != 0) {
        fail_msg("'%s' failing with %d is not survived: %s", files->failed_op, code, one->error.message);
    }
    nc_buf bytes = temp_file_read(on->file);
    bool is_old = nc_slice_is_equal(nc_buf_slice(&bytes), nc_slice_of("old"));
    // After the rename the only possible error is that the directory is not synced.
    bool is_good = harness_is_pattern(nc_buf_slice(&bytes), BODY_BYTES) || (one->error.status != NC_OK && is_old);
    if (!is_good) {
        fail_msg("'%s' failing with %d: the file has %zu bytes", files->failed_op, code, bytes.length);
    }
    nc_buf_deinit(&bytes);
}

static void fail_everywhere(const kill_fixture *on) {
    static const int codes[] = {ENOSPC, EIO, EACCES, EMFILE, EINTR, FAULTY_SHORT};
    size_t descriptors = torture_open_descriptors();
    uint64_t faults = 0;
    for (size_t c = 0; c < sizeof codes / sizeof codes[0]; c++) {
        bool has_failed = true;
        for (uint64_t nth = 1; has_failed; nth++) {
            static faulty_files files;
            faulty_init(&files);
            files.system.sync = sync_nothing;
            faulty_arm(&files, nth, codes[c]);
            temp_file_write(on->file, nc_slice_of("old"));
            download_wait one = run(on, "/fast", &files.ops, false);
            has_failed = files.has_failed;
            check_fault(on, &files, codes[c], &one);
            assert_status(run(on, "/fast", NULL, true).error.status, NC_OK);
            assert_int_equal(temp_directory_count(on->at.root), 1);
            assert_true(on->folder[0] == '\0' || temp_directory_count(on->folder) == 0);
            faults += has_failed ? 1 : 0;
        }
    }
    assert_true(torture_wait_for_descriptors(descriptors));
    print_message("%llu faults\n", (unsigned long long)faults);
}

static void download__survives_each_file_operation_failure(void **state) {
    (void)state;
    kill_fixture on;
    begin(&on);
    fail_everywhere(&on);
    end_scene(&on);
}

/// Another process's partial file may be beside the file, complete or not.
static void download__across_file_systems_ignores_other_processes_partial_files(void **state) {
    (void)state;
    kill_fixture on;
    begin(&on);
    if (find_folder_elsewhere(&on)) {
        const char *theirs = temp_directory_path(on.at.root, "file.part");
        temp_file_write(theirs, nc_slice_of("theirs"));
        assert_status(run(&on, "/fast", NULL, false).error.status, NC_OK);
        nc_buf bytes = temp_file_read(temp_directory_path(on.at.root, "file.part"));
        assert_true(nc_slice_is_equal(nc_buf_slice(&bytes), nc_slice_of("theirs")));
        nc_buf_deinit(&bytes);
        bytes = temp_file_read(on.file);
        assert_true(harness_is_pattern(nc_buf_slice(&bytes), BODY_BYTES));
        nc_buf_deinit(&bytes);
        assert_int_equal(temp_directory_count(on.at.root), 2);
        assert_int_equal(rmdir(on.folder), 0);
    }
    end_scene(&on);
}

static void download__across_file_systems_survives_each_file_operation_failure(void **state) {
    (void)state;
    kill_fixture on;
    begin(&on);
    if (find_folder_elsewhere(&on)) {
        fail_everywhere(&on);
        assert_int_equal(rmdir(on.folder), 0);
    }
    end_scene(&on);
}

/// A power failure loses unsynced data, so each step is on disk before the step that depends on it.
static void download__syncs_before_it_records_progress_and_before_it_renames(void **state) {
    (void)state;
    static faulty_files files;
    kill_fixture on;
    begin(&on);
    faulty_init(&files);
    faulty_arm(&files, 0, 0);
    assert_status(run(&on, "/fast", &files.ops, false).error.status, NC_OK);
    const char *moved = strrchr(files.log, 'r');
    assert_non_null(moved);
    // The order: the file's bytes, its new name, the directory.
    assert_true(moved > files.log && moved[-1] == 's');
    assert_non_null(strpbrk(moved, "sd"));
    faulty_init(&files);
    faulty_arm(&files, 0, 0);
    assert_status(run(&on, "/cut", &files.ops, false).error.status, NC_ERR_CUT_SHORT);
    // The part's bytes, the record's, and the record's name.
    const char *claimed = strrchr(files.log, 'r');
    assert_non_null(claimed);
    const char *end = claimed - 6;
    if (end < files.log || memcmp(end, "suowsc", 6) != 0) {
        fail_msg("a claim is %s", files.log);
    }
    end_scene(&on);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(download__is_complete_after_a_kill_at_every_file_operation),
        harness_case(download__is_complete_after_a_kill_at_every_system_call),
        harness_case(download__across_file_systems_is_complete_after_a_kill),
        harness_case(download__survives_each_file_operation_failure),
        harness_case(download__across_file_systems_ignores_other_processes_partial_files),
        harness_case(download__across_file_systems_survives_each_file_operation_failure),
        harness_case(download__syncs_before_it_records_progress_and_before_it_renames),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
