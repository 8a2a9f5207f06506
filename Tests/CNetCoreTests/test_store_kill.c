#include "faulty.h"
#include "torture.h"
#include "traced.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEYS = 12, STEPS = 60, MAX_BODY = 150000, VERSION_BYTES = 24 };

/// A child's progress, in memory that the parent can read after the child has been killed.
typedef struct progress {
    atomic_uint_fast64_t started; // number of steps
    atomic_uint_fast64_t ended;
} progress;

typedef enum operation { PUT, STREAM, GET, READ, REMOVE, REMOVE_TAG, REOPEN, VERIFY } operation;

/// A step. The same seed gives the same steps in every process.
typedef struct step {
    operation what;
    unsigned key;
    size_t length;
} step;

static step step_of(uint64_t seed, uint64_t number) {
    uint64_t chance = torture_mix(seed, number);
    static const size_t lengths[] = {0, 10, 3000, 40000, MAX_BODY};
    static const operation whats[] = {PUT, PUT,  PUT,    STREAM,     STREAM, GET,
                                      GET, READ, REMOVE, REMOVE_TAG, REOPEN, VERIFY};
    return (step){
        .what = whats[chance % 12],
        .key = (unsigned)(chance >> 8) % KEYS,
        .length = lengths[(chance >> 16) % 5],
    };
}

/// Writes a body that identifies its step.
static size_t body_of(uint8_t *out, uint64_t seed, uint64_t number, size_t length) {
    uint64_t state = torture_mix(seed ^ 0x5bd1e995, number);
    for (size_t i = 0; i < length; i += 8) {
        uint64_t word = torture_next(&state);
        memcpy(out + i, &word, length - i < 8 ? length - i : 8);
    }
    return length;
}

static uint8_t scratch[MAX_BODY + 8];

static void name_key(char out[8], unsigned key) {
    snprintf(out, 8, "key %u", key);
}

static void name_tag(char out[8], unsigned key) {
    snprintf(out, 8, "tag %u", key % 4);
}

static nc_status write_step(nc_store *store, uint64_t seed, uint64_t number, const step *one) {
    char key[8];
    char tag[8];
    char version[VERSION_BYTES];
    name_key(key, one->key);
    name_tag(tag, one->key);
    snprintf(version, sizeof version, "%llu", (unsigned long long)number);
    nc_store_draft draft = {.key = nc_slice_of(key), .tags = nc_slice_of(tag), .metadata = nc_slice_of(version)};
    nc_slice body = nc_slice_make(scratch, body_of(scratch, seed, number, one->length));
    if (one->what == PUT) {
        return nc_store_put(store, &draft, body, NULL);
    }
    nc_store_writer *writer = NULL;
    nc_status status = nc_store_writer_new(&writer, store, &draft, NULL);
    size_t half = body.length / 2;
    if (status == NC_OK) {
        status = nc_store_writer_append(writer, nc_slice_make(body.data, half), NULL);
    }
    if (status == NC_OK) {
        status = nc_store_writer_append(writer, nc_slice_make(body.data + half, body.length - half), NULL);
    }
    if (status == NC_OK) {
        status = nc_store_writer_commit(writer, NULL);
    }
    nc_store_writer_free(writer);
    return status;
}

/// Returns the step that wrote the entry; UINT64_MAX for a miss. Fails if the entry differs from that step's body.
static uint64_t version_of(nc_store *store, uint64_t seed, unsigned key, nc_status *status) {
    char name[8];
    name_key(name, key);
    nc_buf room = nc_buf_init(1 << 20);
    nc_store_entry entry = {.found = NC_STORE_MISS};
    uint64_t version = UINT64_MAX;
    *status = nc_store_get(&entry, store, nc_slice_of(name), &room, NULL);
    if (entry.found == NC_STORE_DAMAGED) {
        *status = NC_ERR_INTERNAL;
    } else if (*status == NC_OK && entry.found == NC_STORE_HIT) {
        char text[VERSION_BYTES] = "";
        memcpy(text, entry.metadata.data, entry.metadata.length < sizeof text ? entry.metadata.length : 0);
        version = strtoull(text, NULL, 10);
        step one = step_of(seed, version);
        size_t length = body_of(scratch, seed, version, one.length);
        if (one.key != key || !nc_slice_is_equal(entry.body, nc_slice_make(scratch, length))) {
            *status = NC_ERR_INTERNAL;
        }
    }
    nc_buf_deinit(&room);
    return version;
}

static nc_status read_step(nc_store *store, unsigned key) {
    static uint8_t bytes[4096];
    char name[8];
    name_key(name, key);
    nc_store_reader *reader = NULL;
    nc_store_entry entry;
    size_t got = 1;
    nc_status status = nc_store_reader_new(&reader, &entry, store, nc_slice_of(name), NULL);
    while (status == NC_OK && reader != NULL && got != 0) {
        status = nc_store_reader_read(&got, reader, bytes, sizeof bytes, NULL);
    }
    nc_store_reader_free(reader);
    return status;
}

/// Performs one step, which may replace `*store`.
static nc_status do_step(nc_store **store, const nc_store_options *options, uint64_t seed, uint64_t number) {
    step one = step_of(seed, number);
    nc_status status = NC_OK;
    nc_store_report report;
    char name[8];
    switch (one.what) {
    case PUT:
    case STREAM:
        return write_step(*store, seed, number, &one);
    case GET:
        (void)version_of(*store, seed, one.key, &status);
        return status;
    case READ:
        return read_step(*store, one.key);
    case REMOVE:
        name_key(name, one.key);
        return nc_store_remove(NULL, *store, nc_slice_of(name), NULL);
    case REMOVE_TAG:
        name_tag(name, one.key);
        return nc_store_remove_tag(NULL, *store, nc_slice_of(name), NULL);
    case VERIFY:
        status = nc_store_verify(&report, *store, NULL);
        return status == NC_OK && report.damaged != 0 ? NC_ERR_INTERNAL : status;
    case REOPEN:
        nc_store_free(*store);
        *store = NULL;
        return nc_store_new(store, options, NULL);
    }
    return NC_ERR_INTERNAL;
}

/// Runs in the child: opens the store and performs all steps. Exits with 0, or with the number of the failed step.
static void run_steps(const nc_store_options *options, uint64_t seed, uint64_t first, uint64_t count,
                      progress *so_far) {
    nc_store *store = NULL;
    int code = nc_store_new(&store, options, NULL) == NC_OK ? 0 : 1;
    for (uint64_t number = first; number < first + count && code == 0; number++) {
        atomic_store(&so_far->started, number + 1);
        code = do_step(&store, options, seed, number) == NC_OK ? 0 : 2;
        atomic_store(&so_far->ended, number + 1);
    }
    nc_store_free(store);
    _exit(code);
}

/* --- allowed states --- */

/// Computes the version of each key after the first `count` steps; UINT64_MAX for none.
static void replay(uint64_t versions[KEYS], uint64_t seed, uint64_t count) {
    for (unsigned key = 0; key < KEYS; key++) {
        versions[key] = UINT64_MAX;
    }
    for (uint64_t number = 0; number < count; number++) {
        step one = step_of(seed, number);
        if (one.what == PUT || one.what == STREAM) {
            versions[one.key] = number;
        } else if (one.what == REMOVE) {
            versions[one.key] = UINT64_MAX;
        }
        for (unsigned key = 0; one.what == REMOVE_TAG && key < KEYS; key++) {
            versions[key] = key % 4 == one.key % 4 ? UINT64_MAX : versions[key];
        }
    }
}

/// Opens the store as the next process would. Checks that each entry is as it was before or after the interrupted step.
static void check_store(const nc_store_options *options, uint64_t seed, const progress *so_far, bool evicts) {
    uint64_t before[KEYS];
    uint64_t after[KEYS];
    nc_store *store = NULL;
    nc_store_report report;
    nc_status status = NC_OK;
    replay(before, seed, atomic_load(&so_far->ended));
    replay(after, seed, atomic_load(&so_far->started));
    assert_status(nc_store_new(&store, options, NULL), NC_OK);
    assert_int_equal(temp_directory_count_temp_files(options->directory), 0);
    for (unsigned key = 0; key < KEYS; key++) {
        uint64_t version = version_of(store, seed, key, &status);
        assert_status(status, NC_OK);
        if (version != before[key] && version != after[key] && !(evicts && version == UINT64_MAX)) {
            fail_msg("key %u is of step %lld, neither %lld nor %lld; seed %llu", key, (long long)version,
                     (long long)before[key], (long long)after[key], (unsigned long long)seed);
        }
    }
    assert_status(nc_store_verify(&report, store, NULL), NC_OK);
    assert_int_equal(report.damaged + report.leftovers + report.foreign + report.locked, 0);
    assert_true(nc_store_figures(store).bytes <= nc_store_figures(store).max_bytes);
    nc_store_free(store);
}

static int sync_nothing(void *ctx, int fd) {
    (void)ctx;
    (void)fd;
    return 0;
}

typedef struct kill_fixture {
    temp_directory at;
    nc_store_options options;
    progress *so_far;
    uint64_t seed;
    bool evicts;
} kill_fixture;

static const uint8_t seal_key[NC_STORE_SEAL_KEY_BYTES] = "a key of 32 bytes for the tests";

/// Every third seed seals, and every second one lacks space for all entries.
static void begin(kill_fixture *on, uint64_t seed) {
    *on = (kill_fixture){.at = temp_directory_make(), .seed = seed, .evicts = seed % 2 == 1};
    on->options = (nc_store_options)NC_STORE_OPTIONS_INIT;
    on->options.directory = on->at.store;
    on->options.durability = NC_STORE_DURABILITY_FULL;
    on->options.seal_key = seed % 3 == 0 ? seal_key : NULL;
    on->options.max_bytes = on->evicts ? 400000 : 0;
    on->options.max_share = 50;
    on->so_far = mmap(NULL, sizeof *on->so_far, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(on->so_far != MAP_FAILED);
}

static void end(kill_fixture *on) {
    munmap(on->so_far, sizeof *on->so_far);
    temp_directory_remove(&on->at);
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

/// Runs a child that is killed at its n-th operation. Returns true if it was, false if it completed.
static bool run_and_kill(kill_fixture *on, uint64_t nth, int code) {
    int how = 0;
    atomic_store(&on->so_far->started, 0);
    atomic_store(&on->so_far->ended, 0);
    pid_t child = fork();
    if (child == 0) {
        static faulty_files files;
        faulty_init(&files);
        files.system.sync = sync_nothing; // the system keeps a killed process's writes
        on->options.file_ops = &files.ops;
        faulty_arm(&files, nth, code);
        run_steps(&on->options, on->seed, 0, STEPS, on->so_far);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    return was_killed(how);
}

static void run_all_steps(void *ctx) {
    kill_fixture *on = ctx;
    run_steps(&on->options, on->seed, 0, STEPS, on->so_far);
}

/// Like run_and_kill(), at its n-th system call on files.
static bool run_and_kill_traced(kill_fixture *on, uint64_t nth, bool is_after) {
    atomic_store(&on->so_far->started, 0);
    atomic_store(&on->so_far->ended, 0);
    return was_killed(traced_run(run_all_steps, on, nth, is_after));
}

static void clear(kill_fixture *on) {
    temp_directory_remove(&on->at);
    on->at = temp_directory_make();
    on->options.directory = on->at.store;
    on->options.file_ops = NULL;
}

/// Kills a child at the operations (or system calls) of several seeds, until `kill_count` children were killed. A short
/// run takes every `stride`-th operation.
static void kill_everywhere(uint64_t kill_count, uint64_t stride, bool is_traced) {
    uint64_t seed = torture_seed() % 1000000;
    uint64_t kills = 0;
    for (; kills < kill_count; seed++) {
        kill_fixture on;
        begin(&on, seed);
        bool is_killed = true;
        for (uint64_t nth = 1 + seed % stride; is_killed && kills < kill_count; nth += stride) {
            bool is_after = nth % 2 != 0;
            is_killed = is_traced ? run_and_kill_traced(&on, nth, is_after)
                                  : run_and_kill(&on, nth, is_after ? FAULTY_KILL_AFTER : FAULTY_KILL_BEFORE);
            nc_store_options options = on.options;
            options.durability = NC_STORE_DURABILITY_NONE;
            check_store(&options, on.seed, on.so_far, on.evicts);
            clear(&on);
            kills++;
        }
        end(&on);
    }
    print_message("%llu kills, each at %s\n", (unsigned long long)kills, is_traced ? "a system call" : "an operation");
}

static void store__is_consistent_after_a_kill_at_every_file_operation(void **state) {
    (void)state;
    uint64_t kill_count = torture_number("NETCORE_TORTURE_KILLS", 400);
    kill_everywhere(kill_count, kill_count >= 2000 ? 1 : 11, false);
}

static void store__is_consistent_after_a_kill_at_every_system_call(void **state) {
    (void)state;
    uint64_t kills = torture_number("NETCORE_TORTURE_KILLS", 400);
    uint64_t kill_count = kills >= 2000 ? kills : kills / 8; // each run syncs to the disk, which is slow on one disk
    if (!traced_is_allowed()) {
        assert_null(getenv("CI"));
        return;
    }
    kill_everywhere(kill_count, kill_count >= 2000 ? 1 : 37, true);
}

/* --- at any moment, one process after the other on one directory --- */

static void store__is_consistent_after_consecutive_kills_at_random_moments(void **state) {
    (void)state;
    uint64_t rounds = torture_number("NETCORE_TORTURE_KILLS", 400) / 4;
    kill_fixture on;
    begin(&on, 2);
    on.options.durability = NC_STORE_DURABILITY_NONE;
    uint64_t done = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t until = done + torture_mix(7, round) % 20;
        int how = 0;
        pid_t child = fork();
        if (child == 0) {
            run_steps(&on.options, on.seed, done, UINT32_MAX, on.so_far);
        }
        // Waits for a random step. The child is killed in that step or a later one.
        while (atomic_load(&on.so_far->started) <= until) {
            sched_yield();
        }
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFSIGNALED(how));
        done = atomic_load(&on.so_far->started);
        // The effect of the interrupted step is unknown, and it is not repeated. Both outcomes are correct.
        if (round % 8 == 7) {
            nc_store *store = NULL;
            nc_store_report report;
            nc_status status = NC_OK;
            assert_status(nc_store_new(&store, &on.options, NULL), NC_OK);
            for (unsigned key = 0; key < KEYS; key++) {
                uint64_t version = version_of(store, on.seed, key, &status);
                assert_status(status, NC_OK);
                assert_true(version == UINT64_MAX || version < done);
            }
            assert_status(nc_store_verify(&report, store, NULL), NC_OK);
            assert_int_equal(report.damaged + report.leftovers + report.foreign, 0);
            assert_int_equal(temp_directory_count_temp_files(on.at.store), 0);
            nc_store_free(store);
        }
    }
    end(&on);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(store__is_consistent_after_a_kill_at_every_file_operation),
        harness_case(store__is_consistent_after_a_kill_at_every_system_call),
        harness_case(store__is_consistent_after_consecutive_kills_at_random_moments),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
