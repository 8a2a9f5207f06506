#include "faulty.h"
#include "torture.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG_BYTES = 100000 };

static uint8_t long_body[LONG_BYTES];
static const uint8_t seal_key[NC_STORE_SEAL_KEY_BYTES] = "a key of 32 bytes for the tests";

static int sync_nothing(void *ctx, int fd) {
    (void)ctx;
    (void)fd;
    return 0;
}

static nc_status put(nc_store *store, const char *key, const char *body) {
    nc_error err;
    nc_store_draft draft = {.key = nc_slice_of(key), .tags = nc_slice_of(key), .host = nc_slice_of("host")};
    return nc_store_put(store, &draft, nc_slice_of(body), &err);
}

/// Looks up a key. Fails the test unless it is a miss or has one of two bodies.
static nc_store_found find(nc_store *store, const char *key, const char *one, const char *other, nc_status *status) {
    nc_buf room = nc_buf_init(1 << 20);
    nc_store_entry entry = {.found = NC_STORE_MISS};
    nc_error err;
    *status = nc_store_get(&entry, store, nc_slice_of(key), &room, &err);
    if (*status == NC_OK && entry.found == NC_STORE_HIT) {
        bool is_one = nc_slice_is_equal(entry.body, nc_slice_of(one));
        assert_true(is_one || nc_slice_is_equal(entry.body, nc_slice_of(other)));
    }
    nc_buf_deinit(&room);
    return entry.found;
}

static nc_status stream(nc_store *store, const char *key) {
    nc_store_writer *writer = NULL;
    nc_store_draft draft = {.key = nc_slice_of(key)};
    nc_status status = nc_store_writer_new(&writer, store, &draft, NULL);
    for (size_t at = 0; at < LONG_BYTES && status == NC_OK; at += LONG_BYTES / 4) {
        status = nc_store_writer_append(writer, nc_slice_make(long_body + at, LONG_BYTES / 4), NULL);
    }
    if (status == NC_OK) {
        status = nc_store_writer_commit(writer, NULL);
    }
    nc_store_writer_free(writer);
    return status;
}

/// Reads a long body. Returns NC_OK only if it exists and is correct.
static nc_status read_back(nc_store *store, const char *key) {
    static uint8_t bytes[LONG_BYTES + 1];
    nc_store_reader *reader = NULL;
    nc_store_entry entry;
    size_t got = 0;
    nc_status status = nc_store_reader_new(&reader, &entry, store, nc_slice_of(key), NULL);
    if (status == NC_OK) {
        assert_int_equal(entry.found, NC_STORE_HIT);
        status = nc_store_reader_read(&got, reader, bytes, sizeof bytes, NULL);
        assert_true(status != NC_OK || (got == LONG_BYTES && memcmp(bytes, long_body, got) == 0));
    }
    nc_store_reader_free(reader);
    return status;
}

static bool count_one(void *ctx, const nc_store_entry *entry) {
    (void)entry;
    ++*(int *)ctx;
    return true;
}

/* --- every operation failing --- */

typedef struct store_fixture {
    temp_directory at;
    faulty_files files;
    nc_store_options options;
    nc_status first; // the first failure of the scenario
    const char *step;
} store_fixture;

static bool record_status(store_fixture *on, const char *step, nc_status status) {
    if (status != NC_OK && on->first == NC_OK) {
        on->first = status;
        on->step = step;
    }
    return status == NC_OK;
}

/// Uses all functions. Asserts what must hold although an operation failed at an unknown point.
static void use_all_functions(store_fixture *on) {
    nc_store *store = NULL;
    nc_status status = NC_OK;
    int count = 0;
    nc_store_report report;
    on->first = NC_OK;
    if (!record_status(on, "open", nc_store_new(&store, &on->options, NULL))) {
        return;
    }
    nc_store_found found = find(store, "kept", "kept", "kept", &status);
    assert_true(!record_status(on, "get", status) || found == NC_STORE_HIT);
    (void)record_status(on, "put", put(store, "new", "new"));
    (void)record_status(on, "replace", put(store, "old", "newer"));
    found = find(store, "old", "old", "newer", &status);
    assert_true(!record_status(on, "get", status) || found == NC_STORE_HIT);
    if (record_status(on, "write", stream(store, "long"))) {
        (void)record_status(on, "read", read_back(store, "long"));
    }
    (void)record_status(on, "list", nc_store_list(store, count_one, &count, NULL));
    (void)record_status(on, "remove", nc_store_remove(NULL, store, nc_slice_of("gone"), NULL));
    (void)record_status(on, "remove tag", nc_store_remove_tag(NULL, store, nc_slice_of("new"), NULL));
    (void)record_status(on, "verify", nc_store_verify(&report, store, NULL));
    nc_store_free(store);
}

static void begin(store_fixture *on, const uint8_t *key, nc_store_durability durability) {
    *on = (store_fixture){.at = temp_directory_make()};
    faulty_init(&on->files);
    on->files.system.sync = sync_nothing; // the order of syncs has its own test; a real sync is slow
    on->options = (nc_store_options)NC_STORE_OPTIONS_INIT;
    on->options.directory = on->at.store;
    on->options.seal_key = key;
    nc_store *store = NULL;
    assert_status(nc_store_new(&store, &on->options, NULL), NC_OK);
    assert_status(put(store, "kept", "kept"), NC_OK);
    assert_status(put(store, "old", "old"), NC_OK);
    assert_status(put(store, "gone", "gone"), NC_OK);
    nc_store_free(store);
    // The temporary file of a process that was killed.
    temp_file_write(temp_directory_path(on->at.store, "part-0000000000000007-0000000000000000"), nc_slice_of("left"));
    on->options.file_ops = &on->files.ops;
    on->options.durability = durability;
}

/// Reopens the store, and checks that its entries are consistent and that no other file is left.
static void check_afterwards(store_fixture *on) {
    nc_store *store = NULL;
    nc_store_report report;
    nc_status status = NC_OK;
    nc_store_options options = on->options;
    options.file_ops = NULL;
    options.durability = NC_STORE_DURABILITY_NONE;
    assert_status(nc_store_new(&store, &options, NULL), NC_OK);
    assert_int_equal(temp_directory_count_temp_files(on->at.store), 0);
    assert_int_equal(find(store, "kept", "kept", "kept", &status), NC_STORE_HIT);
    assert_int_equal(find(store, "old", "old", "newer", &status), NC_STORE_HIT);
    assert_true(find(store, "new", "new", "new", &status) != NC_STORE_DAMAGED);
    assert_true(find(store, "gone", "gone", "gone", &status) != NC_STORE_DAMAGED);
    assert_status(nc_store_verify(&report, store, NULL), NC_OK);
    assert_int_equal(report.damaged + report.leftovers + report.foreign + report.locked, 0);
    nc_store_free(store);
}

static void assert_defined(const store_fixture *on, int code) {
    bool is_defined = on->first == NC_OK || on->first == NC_ERR_FILE ||
                      (on->first == NC_ERR_DESCRIPTORS && (code == EMFILE || code == ENFILE));
    // An interruption or a short count only costs another call.
    if (!is_defined || ((code == EINTR || code == FAULTY_SHORT) && on->first != NC_OK)) {
        fail_msg("%s with %d in '%s': %s", on->files.failed_op, code, on->step, nc_status_name(on->first));
    }
}

static uint64_t fail_each_operation(const uint8_t *key, nc_store_durability durability, int code) {
    size_t descriptors = torture_open_descriptors();
    uint64_t nth = 1;
    for (;; nth++) {
        store_fixture on;
        begin(&on, key, durability);
        faulty_arm(&on.files, nth, code);
        use_all_functions(&on);
        assert_defined(&on, code);
        check_afterwards(&on);
        temp_directory_remove(&on.at);
        assert_int_equal(torture_open_descriptors(), descriptors);
        if (!on.files.has_failed) {
            break;
        }
    }
    return nth - 1;
}

static void store__survives_each_file_operation_failure(void **state) {
    (void)state;
    static const int codes[] = {ENOSPC, EIO, EACCES, EROFS, EMFILE, EINTR, FAULTY_SHORT};
    uint64_t points = 0;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        points += fail_each_operation(NULL, NC_STORE_DURABILITY_FULL, codes[i]);
    }
    points += fail_each_operation(seal_key, NC_STORE_DURABILITY_NONE, EIO);
    points += fail_each_operation(seal_key, NC_STORE_DURABILITY_NONE, FAULTY_SHORT);
    print_message("%llu failures, one at a time\n", (unsigned long long)points);
    assert_true(points > 500);
}

static void store__a_failed_put_on_a_full_disk_preserves_the_old_entry(void **state) {
    (void)state;
    store_fixture on;
    begin(&on, NULL, NC_STORE_DURABILITY_NONE);
    nc_store *store = NULL;
    nc_error err;
    nc_status status = NC_OK;
    const char *held = "old";
    assert_status(nc_store_new(&store, &on.options, NULL), NC_OK);
    for (uint64_t nth = 1;; nth++) {
        faulty_arm(&on.files, nth, ENOSPC);
        nc_store_draft draft = {.key = nc_slice_of("old")};
        status = nc_store_put(store, &draft, nc_slice_of("newer"), &err);
        bool has_failed = on.files.has_failed;
        faulty_arm(&on.files, 0, 0);
        assert_int_equal(temp_directory_count_temp_files(on.at.store), 0);
        if (!has_failed) {
            break;
        }
        if (status == NC_OK) {
            held = "newer";
        } else {
            assert_int_equal(err.native_code, ENOSPC);
            assert_non_null(strstr(err.message, on.at.store));
        }
        assert_int_equal(find(store, "old", held, held, &status), NC_STORE_HIT);
    }
    assert_int_equal(find(store, "old", "newer", "newer", &status), NC_STORE_HIT);
    nc_store_free(store);
    temp_directory_remove(&on.at);
}

/* --- a full disk --- */

/// Runs in a child: a file system of 1 MiB, or, if that is impossible, a limit on file sizes. Exits with 0 or a line
/// number.
static void fill_a_small_disk(const temp_directory *at) {
    nc_store *store = NULL;
    nc_store_options options = NC_STORE_OPTIONS_INIT;
    nc_status status = NC_OK;
    size_t refused = 0;
    options.directory = at->store;
    bool is_mounted = unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                      mount("tmpfs", at->root, "tmpfs", 0, "size=1m") == 0;
    if (!is_mounted) {
        const struct rlimit limit = {LONG_BYTES / 2, LONG_BYTES / 2};
        (void)signal(SIGXFSZ, SIG_IGN);
        (void)setrlimit(RLIMIT_FSIZE, &limit);
    }
    if (nc_store_new(&store, &options, NULL) != NC_OK || put(store, "kept", "kept") != NC_OK) {
        _exit(1);
    }
    for (int i = 0; i < 40; i++) {
        char key[32];
        snprintf(key, sizeof key, "%d", i);
        status = i % 2 == 0 ? stream(store, key)
                            : nc_store_put(store, &(nc_store_draft){.key = nc_slice_of(key)},
                                           nc_slice_make(long_body, LONG_BYTES), NULL);
        refused += status == NC_ERR_FILE;
        if (status != NC_OK && status != NC_ERR_FILE) {
            _exit(2);
        }
        // A successful put is readable. A rejected one left nothing.
        if (status == NC_OK && read_back(store, key) != NC_OK) {
            _exit(3);
        }
    }
    if (refused == 0 || temp_directory_count_temp_files(at->store) != 0 ||
        find(store, "kept", "kept", "kept", &status) != NC_STORE_HIT) {
        _exit(4);
    }
    nc_store_free(store);
    // A full disk must not prevent reopening the store and removing its entries.
    if (nc_store_new(&store, &options, NULL) != NC_OK || nc_store_remove_all(NULL, store, NULL) != NC_OK) {
        _exit(5);
    }
    _exit(put(store, "again", "again") == NC_OK ? 0 : 6);
}

static void store__on_a_full_disk_preserves_its_entries(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    int how = 0;
    pid_t child = fork();
    if (child == 0) {
        fill_a_small_disk(&at);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
    temp_directory_remove(&at);
}

/* --- order and memory --- */

static void assert_order(nc_store_durability durability, const char *put_log, const char *remove_log) {
    store_fixture on;
    begin(&on, NULL, durability);
    nc_store *store = NULL;
    assert_status(nc_store_new(&store, &on.options, NULL), NC_OK);
    faulty_arm(&on.files, 0, 0);
    assert_status(put(store, "new", "new"), NC_OK);
    assert_string_equal(on.files.log, put_log);
    faulty_arm(&on.files, 0, 0);
    assert_status(nc_store_remove(NULL, store, nc_slice_of("new"), NULL), NC_OK);
    assert_string_equal(on.files.log, remove_log);
    nc_store_free(store);
    temp_directory_remove(&on.at);
}

static void put__syncs_the_file_before_its_rename_and_the_directory_after_it(void **state) {
    (void)state;
    assert_order(NC_STORE_DURABILITY_NONE, "owcr", "ocu");
    assert_order(NC_STORE_DURABILITY_DATA, "owscr", "ocu");
    assert_order(NC_STORE_DURABILITY_FULL, "owscrd", "ocud");
}

static void store__survives_each_allocation_failure(void **state) {
    (void)state;
    const uint8_t *keys[] = {NULL, seal_key};
    uint64_t points = 0;
    for (size_t i = 0; i < 2; i++) {
        bool has_failed = true;
        for (uint64_t nth = 1; has_failed; nth++) {
            store_fixture on;
            begin(&on, keys[i], NC_STORE_DURABILITY_NONE);
            size_t live = harness_live_blocks();
            harness_fail_allocation(nth);
            use_all_functions(&on);
            has_failed = harness_has_failed_allocation();
            harness_fail_allocation(0);
            assert_int_equal(harness_live_blocks(), live);
            assert_true(on.first == NC_OK || on.first == NC_ERR_NO_MEMORY);
            check_afterwards(&on);
            temp_directory_remove(&on.at);
            points++;
        }
    }
    print_message("%llu allocation points failed, one at a time\n", (unsigned long long)points);
    assert_true(points > 30);
}

int main(void) {
    harness_begin();
    for (size_t i = 0; i < LONG_BYTES; i++) {
        long_body[i] = (uint8_t)(i * 2654435761u >> 9);
    }
    const struct CMUnitTest cases[] = {
        harness_case(store__survives_each_file_operation_failure),
        harness_case(store__a_failed_put_on_a_full_disk_preserves_the_old_entry),
        harness_case(store__on_a_full_disk_preserves_its_entries),
        harness_case(put__syncs_the_file_before_its_rename_and_the_directory_after_it),
        harness_case(store__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
