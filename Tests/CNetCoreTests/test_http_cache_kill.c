/// A cache on a directory after kill(2) of its process, and with several processes: every hit has the bytes of one
/// response. The steps use the cache as a client does, without a network.
#include "client/cache_use.h"
#include "faulty.h"
#include "request/response.h"
#include "torture.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEYS = 10, LANGUAGES = 3, MAX_BODY = 60000, LINE_BYTES = 256, PROCESSES = 8, STEPS = 40 };

/// The cache of one process.
typedef struct site {
    nc_engine *engine; // of the parent: only its settings are read
    nc_store *store;
    nc_http_cache *cache;
    nc_pool *pool;
} site;

static bool site_open(site *at, nc_engine *engine, const nc_store_options *options) {
    *at = (site){.engine = engine, .pool = nc_pool_new()};
    return at->pool != NULL && nc_store_new(&at->store, options, NULL) == NC_OK &&
           nc_http_cache_new(&at->cache, &(nc_http_cache_options){.store = at->store, .max_memory_bytes = 200000},
                             NULL) == NC_OK;
}

static void site_close(site *at) {
    nc_http_cache_free(at->cache);
    nc_store_free(at->store);
    nc_pool_release(at->pool);
}

/* --- responses that identify themselves --- */

/// The text of X-Version. Even keys vary by language.
typedef struct version {
    unsigned key;
    unsigned language;
    unsigned long long number;
} version;

static uint8_t expected[MAX_BODY + 8];

static nc_slice body_of(unsigned long long number) {
    static const size_t lengths[] = {0, 7, 3000, 20000, MAX_BODY};
    size_t length = lengths[number % 5];
    uint64_t state = torture_mix(0x9e3779b9, number);
    for (size_t i = 0; i < length; i += 8) {
        uint64_t word = torture_next(&state);
        memcpy(expected + i, &word, 8);
    }
    return nc_slice_make(expected, length);
}

static bool add_field(nc_response *response, const char *name, const char *value) {
    char line[LINE_BYTES];
    size_t length = strlen(name);
    int count = snprintf(line, sizeof line, "%s: %s", name, value);
    return nc_response_add_field(response, nc_slice_make(line, length),
                                 nc_slice_make(line + length + 2, (size_t)count - length - 2)) == NC_OK;
}

static nc_response *response_of(site *at, nc_slice url, uint16_t status, const version *v) {
    char text[LINE_BYTES];
    char tag[LINE_BYTES];
    nc_url parsed;
    nc_response *response = nc_response_new(at->pool);
    (void)snprintf(text, sizeof text, "%u %u %llu", v->key, v->language, v->number);
    (void)snprintf(tag, sizeof tag, "\"%llu\"", v->number);
    bool is_whole = status == 200;
    if (response == NULL || nc_url_parse(&parsed, url, NULL) != NC_OK ||
        nc_response_begin_hop(response, &parsed) != NC_OK) {
        nc_response_release(response);
        return NULL;
    }
    nc_response_hop(response)->status = status;
    nc_response_begin_head(response, status, NC_HTTP_VERSION_1_1);
    if (!add_field(response, "Cache-Control", "max-age=3600") || !add_field(response, "ETag", tag) ||
        !add_field(response, is_whole ? "X-Version" : "X-Confirmed", text) ||
        (v->key % 2 == 0 && !add_field(response, "Vary", "Lang")) ||
        (is_whole && nc_response_append_body(response, body_of(v->number)) != NC_OK)) {
        nc_response_release(response);
        return NULL;
    }
    return response;
}

/// Returns true if the stored response has the body of its X-Version field and belongs to this request.
static bool is_right(const nc_cached *cached, unsigned key, unsigned language, version *out) {
    char text[LINE_BYTES] = "";
    char tag[LINE_BYTES];
    bool has_tag = false;
    for (size_t i = 0; i < cached->stored.header_count; i++) {
        nc_header field = cached->stored.headers[i];
        if (nc_slice_is_equal(field.name, nc_slice_of("X-Version")) && field.value.length < sizeof text) {
            memcpy(text, field.value.data, field.value.length);
        }
    }
    if (sscanf(text, "%u %u %llu", &out->key, &out->language, &out->number) != 3) {
        return false;
    }
    (void)snprintf(tag, sizeof tag, "\"%llu\"", out->number);
    for (size_t i = 0; i < cached->stored.header_count; i++) {
        nc_header field = cached->stored.headers[i];
        has_tag = has_tag || (nc_slice_is_equal(field.name, nc_slice_of("ETag")) &&
                              nc_slice_is_equal(field.value, nc_slice_of(tag)));
    }
    return has_tag && out->key == key && (key % 2 != 0 || out->language == language) &&
           nc_slice_is_equal(cached->entry->body, body_of(out->number));
}

/* --- steps --- */

/// One request for a key: its lookup, and what the chance decides to do after it. Returns false for a wrong hit.
static bool do_step(site *at, uint64_t chance, unsigned long long number) {
    version v = {(unsigned)chance % KEYS, (unsigned)(chance >> 8) % LANGUAGES, number};
    version found;
    char url[LINE_BYTES];
    char language[LINE_BYTES];
    (void)snprintf(url, sizeof url, "http://h/%u", v.key);
    (void)snprintf(language, sizeof language, "%u", v.language);
    const nc_header field = {nc_slice_of("Lang"), nc_slice_of(language)};
    const nc_request request = {.url = nc_slice_of(url), .headers = &field, .header_count = 1};
    nc_cache_use use = {.cache = at->cache, .policy = NC_CACHE_POLICY_INIT, .scope = nc_buf_init(0)};
    nc_arrived *arrived = malloc(sizeof *arrived);
    nc_cache_use_init(&use, at->engine, &request, false);
    nc_cache_use_find(&use);
    unsigned what = (unsigned)(chance >> 16) % 16;
    bool is_hit = nc_cache_use_stored(&use) != NULL;
    bool is_good = arrived != NULL && (!is_hit || is_right(use.cached, v.key, v.language, &found));
    bool confirms = is_good && is_hit && what >= 13;
    nc_response *response = is_good ? response_of(at, request.url, confirms ? 304 : 200, confirms ? &found : &v) : NULL;
    if (response != NULL) {
        nc_arrived_read(arrived, response, 784111777000, 784111777000);
        if (what == 0) {
            nc_cache_use_invalidate(&use, request.url);
        } else if (what == 1 && (chance >> 24) % 8 == 0) {
            is_good = nc_http_cache_clear(at->cache, NULL) == NC_OK;
        } else if (confirms) {
            (void)nc_cache_use_freshen(&use, arrived);
        } else if (what < 10) {
            (void)nc_cache_use_store(&use, arrived);
        }
    }
    nc_response_release(response);
    nc_cache_use_deinit(&use);
    free(arrived);
    return is_good;
}

/// Runs in a child. Exits with 0, or with 2 after a wrong hit.
static void run_steps(nc_engine *engine, const nc_store_options *options, uint64_t seed, uint64_t count,
                      atomic_uint_fast64_t *done) {
    site at;
    int code = site_open(&at, engine, options) ? 0 : 1;
    for (uint64_t i = 0; i < count && code == 0; i++) {
        code = do_step(&at, torture_mix(seed, i), seed % 1000000 * 1000000 + i) ? 0 : 2;
        (void)atomic_fetch_add(done, 1);
    }
    site_close(&at);
    _exit(code);
}

/// Opens the directory as the next process would, and checks every response.
static uint64_t check_hits(nc_engine *engine, const nc_store_options *options) {
    site at;
    nc_store_report report;
    uint64_t hits = 0;
    assert_true(site_open(&at, engine, options));
    assert_int_equal(temp_directory_count_temp_files(options->directory), 0);
    for (uint64_t i = 0; i < KEYS * LANGUAGES; i++) {
        // The last step of the chance, 12, only looks.
        assert_true(do_step(&at, i % KEYS | (i / KEYS) << 8 | 12 << 16, 0));
    }
    hits = nc_http_cache_figures(at.cache).store_hits;
    assert_status(nc_store_verify(&report, at.store, NULL), NC_OK);
    assert_int_equal(report.damaged + report.leftovers + report.foreign, 0);
    site_close(&at);
    return hits;
}

/* --- tests --- */

typedef struct killing {
    temp_directory at;
    nc_store_options options;
    nc_engine *engine;
    atomic_uint_fast64_t *done; // steps, in memory that all processes share
    uint64_t seed;
} killing;

static void begin(killing *on) {
    *on = (killing){.at = temp_directory_make(), .engine = torture_engine(NULL), .seed = torture_seed()};
    on->options = (nc_store_options)NC_STORE_OPTIONS_INIT;
    on->options.directory = on->at.store;
    on->options.max_bytes = 500000; // less than all entries
    on->options.max_share = 50;
    on->done = mmap(NULL, sizeof *on->done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(on->done != MAP_FAILED);
}

static void end(killing *on) {
    munmap(on->done, sizeof *on->done);
    assert_status(nc_engine_close(on->engine, TORTURE_PATIENCE_MS), NC_OK);
    temp_directory_remove(&on->at);
}

static void http_cache__every_hit_is_right_after_kills_at_random_moments(void **state) {
    (void)state;
    uint64_t rounds = torture_number("NETCORE_TORTURE_KILLS", 100);
    uint64_t hits = 0;
    killing on;
    begin(&on);
    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t chance = torture_mix(on.seed, round);
        int how = 0;
        atomic_store(on.done, 0);
        pid_t child = fork();
        if (child == 0) {
            run_steps(on.engine, &on.options, chance, UINT32_MAX, on.done);
        }
        while (atomic_load(on.done) <= chance % STEPS && waitpid(child, &how, WNOHANG) == 0) {
            sched_yield();
        }
        for (volatile uint64_t turns = chance >> 48; turns > 0; turns--) { // a random moment within a step
        }
        (void)kill(child, SIGKILL);
        assert_true(how != 0 || waitpid(child, &how, 0) == child);
        assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
        hits += check_hits(on.engine, &on.options);
    }
    print_message("%llu kills at random moments, then %llu hits\n", (unsigned long long)rounds,
                  (unsigned long long)hits);
    end(&on);
}

static void http_cache__every_hit_is_right_after_a_kill_at_each_file_operation(void **state) {
    (void)state;
    uint64_t kills = torture_number("NETCORE_TORTURE_KILLS", 100);
    uint64_t stride = kills >= 2000 ? 1 : 7;
    uint64_t hits = 0;
    uint64_t nth = 1;
    killing on;
    begin(&on);
    for (uint64_t count = 0; count < kills; count++) {
        int how = 0;
        pid_t child = fork();
        if (child == 0) {
            static faulty_files files;
            faulty_init(&files);
            on.options.file_ops = &files.ops;
            faulty_arm(&files, nth, nth % 2 != 0 ? FAULTY_KILL_AFTER : FAULTY_KILL_BEFORE);
            run_steps(on.engine, &on.options, torture_mix(on.seed, count / 64), STEPS, on.done);
        }
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFSIGNALED(how) ? WTERMSIG(how) == SIGKILL : WEXITSTATUS(how) == 0);
        nth = WIFSIGNALED(how) ? nth + stride : 1; // after the last operation, from the first one again
        hits += check_hits(on.engine, &on.options);
    }
    print_message("%llu kills at file operations, then %llu hits\n", (unsigned long long)kills,
                  (unsigned long long)hits);
    end(&on);
}

static void http_cache__eight_processes_share_a_directory(void **state) {
    (void)state;
    uint64_t count = torture_number("NETCORE_TORTURE_STORE_OPS", 200);
    pid_t children[PROCESSES];
    killing on;
    begin(&on);
    for (size_t i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            run_steps(on.engine, &on.options, torture_mix(on.seed, i), count, on.done);
        }
    }
    for (size_t i = 0; i < PROCESSES; i++) {
        int how = 0;
        assert_int_equal(waitpid(children[i], &how, 0), children[i]);
        assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    }
    assert_int_equal(atomic_load(on.done), PROCESSES * count);
    print_message("%llu steps of %d processes, then %llu hits\n", (unsigned long long)(PROCESSES * count), PROCESSES,
                  (unsigned long long)check_hits(on.engine, &on.options));
    end(&on);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(http_cache__every_hit_is_right_after_kills_at_random_moments),
        harness_case(http_cache__every_hit_is_right_after_a_kill_at_each_file_operation),
        harness_case(http_cache__eight_processes_share_a_directory),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
