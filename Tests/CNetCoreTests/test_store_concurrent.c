#include "faulty.h"
#include "torture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 8, THREADS = 4, KEYS = 64, MAX_BODY = 9000 };

/// A body repeats its key's number and its version, so that any mixture is detected.
static nc_slice body_of(uint8_t *out, uint32_t key, uint32_t version) {
    size_t length = 8 * (1 + torture_mix(key, version) % (MAX_BODY / 8));
    for (size_t i = 0; i < length; i += 8) {
        memcpy(out + i, &key, 4);
        memcpy(out + i + 4, &version, 4);
    }
    return nc_slice_make(out, length);
}

static bool is_right(nc_slice body, uint32_t key) {
    static _Thread_local uint8_t expected[MAX_BODY + 8];
    uint32_t version = 0;
    if (body.length < 8) {
        return false;
    }
    memcpy(&version, body.data + 4, 4);
    return nc_slice_is_equal(body, body_of(expected, key, version));
}

/// One random operation. Returns false on an error.
static bool do_one(nc_store *store, uint64_t *chance, uint32_t version, nc_buf *room) {
    static _Thread_local uint8_t bytes[MAX_BODY + 8];
    uint64_t drawn = torture_next(chance);
    uint32_t key = (uint32_t)(drawn >> 8) % KEYS;
    nc_slice name = nc_slice_make(&key, sizeof key);
    char tag[8];
    snprintf(tag, sizeof tag, "%u", key % 5);
    nc_store_draft draft = {.key = name, .tags = nc_slice_of(tag), .host = nc_slice_of("host")};
    nc_store_entry entry;
    nc_store_writer *writer = NULL;
    nc_status status = NC_OK;
    switch (drawn % 64) {
    case 0:
        return nc_store_remove_tag(NULL, store, nc_slice_of(tag), NULL) == NC_OK;
    case 1:
    case 2:
        return nc_store_remove(NULL, store, name, NULL) == NC_OK;
    case 3:
    case 4:
        status = nc_store_writer_new(&writer, store, &draft, NULL);
        if (status == NC_OK) {
            status = nc_store_writer_append(writer, body_of(bytes, key, version), NULL);
        }
        if (status == NC_OK && drawn % 3 != 0) {
            status = nc_store_writer_commit(writer, NULL);
        }
        nc_store_writer_free(writer);
        return status == NC_OK;
    default:
        if (drawn % 64 < 24) {
            return nc_store_put(store, &draft, body_of(bytes, key, version), NULL) == NC_OK;
        }
        return nc_store_get(&entry, store, name, room, NULL) == NC_OK && entry.found != NC_STORE_DAMAGED &&
               (entry.found != NC_STORE_HIT || is_right(entry.body, key));
    }
}

static bool do_many(nc_store *store, uint64_t seed, uint64_t count) {
    nc_buf room = nc_buf_init(1 << 20);
    bool is_right_so_far = true;
    for (uint64_t i = 0; i < count && is_right_so_far; i++) {
        is_right_so_far = do_one(store, &seed, (uint32_t)i, &room);
    }
    nc_buf_deinit(&room);
    return is_right_so_far;
}

static nc_store_options options_of(const temp_directory *at) {
    nc_store_options options = NC_STORE_OPTIONS_INIT;
    options.directory = at->store;
    options.max_bytes = 200000; // less than all entries, so that eviction always happens
    return options;
}

static void assert_clean(const temp_directory *at) {
    nc_store_options options = options_of(at);
    nc_store *store = NULL;
    nc_store_report report;
    assert_status(nc_store_new(&store, &options, NULL), NC_OK);
    assert_status(nc_store_verify(&report, store, NULL), NC_OK);
    assert_int_equal(report.damaged + report.expired + report.locked + report.leftovers + report.foreign, 0);
    assert_int_equal(temp_directory_count_temp_files(at->store), 0);
    assert_true(report.bytes <= options.max_bytes);
    assert_int_equal(temp_directory_count(at->store), report.good + 2);
    nc_store_free(store);
}

static void store__can_be_shared_by_processes(void **state) {
    (void)state;
    uint64_t count = torture_number("NETCORE_TORTURE_STORE_OPS", 300);
    uint64_t seed = torture_seed();
    temp_directory at = temp_directory_make();
    nc_store_options options = options_of(&at);
    pid_t children[PROCESSES];
    for (size_t i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            nc_store *store = NULL;
            bool is_right_so_far =
                nc_store_new(&store, &options, NULL) == NC_OK && do_many(store, torture_mix(seed, i), count);
            nc_store_free(store);
            _exit(is_right_so_far ? 0 : 1);
        }
    }
    for (size_t i = 0; i < PROCESSES; i++) {
        int how = 0;
        assert_int_equal(waitpid(children[i], &how, 0), children[i]);
        assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    }
    assert_clean(&at);
    temp_directory_remove(&at);
}

typedef struct worker {
    nc_store *store;
    uint64_t seed;
    uint64_t count;
    bool is_right_so_far;
    pthread_t thread;
} worker;

static void *work(void *argument) {
    worker *one = argument;
    one->is_right_so_far = do_many(one->store, one->seed, one->count);
    return NULL;
}

static void store__can_be_shared_by_threads(void **state) {
    (void)state;
    uint64_t count = torture_number("NETCORE_TORTURE_STORE_OPS", 300);
    uint64_t seed = torture_seed();
    temp_directory at = temp_directory_make();
    nc_store_options options = options_of(&at);
    nc_store *stores[2];
    worker workers[THREADS];
    for (size_t i = 0; i < 2; i++) {
        assert_status(nc_store_new(&stores[i], &options, NULL), NC_OK);
    }
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){.store = stores[i % 2], .seed = torture_mix(seed, i), .count = count};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_true(workers[i].is_right_so_far);
    }
    for (size_t i = 0; i < 2; i++) {
        nc_store_free(stores[i]);
    }
    assert_clean(&at);
    temp_directory_remove(&at);
}

static void store__the_byte_limit_covers_all_stores_of_a_directory(void **state) {
    enum { STORES = 8, PUTS = 25, LARGE_BYTES = 50000, LIMIT_BYTES = 1 << 20 };
    static uint8_t large[LARGE_BYTES];
    (void)state;
    temp_directory at = temp_directory_make();
    nc_store_options options = options_of(&at);
    options.max_bytes = LIMIT_BYTES;
    nc_store *stores[STORES];
    for (size_t i = 0; i < STORES; i++) {
        assert_status(nc_store_new(&stores[i], &options, NULL), NC_OK);
    }
    for (uint32_t i = 0; i < STORES * PUTS; i++) {
        nc_store_draft draft = {.key = nc_slice_make(&i, sizeof i)};
        assert_status(nc_store_put(stores[i % STORES], &draft, nc_slice_make(large, sizeof large), NULL), NC_OK);
        // Between two scans of the directory, each store may put an eighth of the limit and one more entry.
        assert_true(temp_directory_count(at.store) * LARGE_BYTES <=
                    LIMIT_BYTES + STORES * (LIMIT_BYTES / 8 + LARGE_BYTES));
    }
    for (size_t i = 0; i < STORES; i++) {
        nc_store_free(stores[i]);
    }
    temp_directory_remove(&at);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(store__can_be_shared_by_processes),
        harness_case(store__can_be_shared_by_threads),
        harness_case(store__the_byte_limit_covers_all_stores_of_a_directory),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
