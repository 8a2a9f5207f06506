#include "harness.h"

#include <curl/curl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/// If a scenario has more failure points than this, the test fails, because it would probably never end.
#define MAX_FAILURE_POINTS 1000000u
/// The time limit for a released engine to free itself.
#ifndef SETTLE_MS
#define SETTLE_MS 10000u
#endif

static atomic_size_t live_blocks;
static atomic_uint_fast64_t allocations;
/// Allocations that still succeed before one fails; 0: none fails.
static atomic_uint_fast64_t countdown;
static atomic_bool has_failed;
/// Cases run one after another.
static size_t live_at_case_begin;

/* --- memory --- */

/// Counts one allocation. Returns true if it is the one that must fail.
static bool must_fail(void) {
    atomic_fetch_add(&allocations, 1);
    uint_fast64_t left = atomic_load(&countdown);
    while (left != 0) {
        if (!atomic_compare_exchange_weak(&countdown, &left, left - 1)) {
            continue;
        }
        if (left == 1) {
            atomic_store(&has_failed, true);
            return true;
        }
        return false;
    }
    return false;
}

static void *counted_allocate(void *ctx, size_t bytes) {
    (void)ctx;
    void *block = must_fail() ? NULL : malloc(bytes);
    if (block != NULL) {
        // Uninitialized memory must not be zero by chance.
        memset(block, 0xA5, bytes);
        atomic_fetch_add(&live_blocks, 1);
    }
    return block;
}

static void *counted_reallocate(void *ctx, void *block, size_t bytes) {
    if (block == NULL) {
        return counted_allocate(ctx, bytes);
    }
    if (must_fail()) {
        return NULL;
    }
    // Always moves, so that ASan finds a pointer that was kept across a growth.
    size_t old_bytes = malloc_usable_size(block);
    void *moved = malloc(bytes);
    if (moved != NULL) {
        memcpy(moved, block, old_bytes < bytes ? old_bytes : bytes);
        free(block);
    }
    return moved;
}

static void counted_release(void *ctx, void *block) {
    (void)ctx;
    if (block != NULL) {
        atomic_fetch_sub(&live_blocks, 1);
        free(block);
    }
}

static void *curl_allocate(size_t bytes) {
    return must_fail() ? NULL : malloc(bytes);
}

static void *curl_reallocate(void *block, size_t bytes) {
    return must_fail() ? NULL : realloc(block, bytes);
}

static char *curl_duplicate(const char *text) {
    return must_fail() ? NULL : strdup(text);
}

static void *curl_allocate_zeroed(size_t count, size_t bytes) {
    return must_fail() ? NULL : calloc(count, bytes);
}

/// The default limit is 1,024; server and client of a test share a process.
enum { MANY_DESCRIPTORS = 20000 };

const nc_allocator *harness_allocator(void) {
    static const nc_allocator counting = {NULL, counted_allocate, counted_reallocate, counted_release};
    return &counting;
}

void harness_begin(void) {
    nc_set_allocator(harness_allocator());
    harness_allow_descriptors();
}

void harness_allow_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < MANY_DESCRIPTORS) {
        limit.rlim_cur = limit.rlim_max < MANY_DESCRIPTORS ? limit.rlim_max : MANY_DESCRIPTORS;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

void harness_use_curl_allocator(void) {
    CURLcode code = curl_global_init_mem(CURL_GLOBAL_DEFAULT, curl_allocate, free, curl_reallocate, curl_duplicate,
                                         curl_allocate_zeroed);
    if (code != CURLE_OK) {
        fprintf(stderr, "curl_global_init_mem: %s\n", curl_easy_strerror(code));
        abort();
    }
}

size_t harness_live_blocks(void) {
    return atomic_load(&live_blocks);
}

uint64_t harness_allocations(void) {
    return atomic_load(&allocations);
}

void harness_fail_allocation(uint64_t nth) {
    atomic_store(&countdown, 0);
    atomic_store(&has_failed, false);
    atomic_store(&countdown, nth);
}

bool harness_has_failed_allocation(void) {
    return atomic_load(&has_failed);
}

static uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

bool harness_wait_for_live_blocks(size_t expected, uint32_t timeout_ms) {
    uint64_t end_ms = now_ms() + timeout_ms;
    while (harness_live_blocks() > expected) {
        if (now_ms() >= end_ms) {
            return false;
        }
        // The block counter has no event to wait for; the wait ends as soon as the count is reached.
        usleep(200);
    }
    return true;
}

uint64_t each_allocation_failure(harness_scenario_fn scenario, void *ctx) {
    size_t live_before = harness_live_blocks();
    for (uint64_t nth = 1; nth <= MAX_FAILURE_POINTS; nth++) {
        harness_fail_allocation(nth);
        scenario(ctx);
        bool has_reached = harness_has_failed_allocation();
        harness_fail_allocation(0);
        if (!harness_wait_for_live_blocks(live_before, SETTLE_MS)) {
            fail_msg("%zu blocks leaked after allocation %llu failed", harness_live_blocks() - live_before,
                     (unsigned long long)nth);
        }
        if (!has_reached) {
            print_message("%llu allocation points failed, one at a time\n", (unsigned long long)(nth - 1));
            return nth - 1;
        }
    }
    fail_msg("the scenario still allocates after %u points", MAX_FAILURE_POINTS);
    return 0;
}

int harness_case_begin(void **state) {
    (void)state;
    harness_fail_allocation(0);
    live_at_case_begin = harness_live_blocks();
    return 0;
}

int harness_case_end(void **state) {
    (void)state;
    harness_fail_allocation(0);
    if (harness_wait_for_live_blocks(live_at_case_begin, SETTLE_MS)) {
        return 0;
    }
    print_error("%zu blocks leaked\n", harness_live_blocks() - live_at_case_begin);
    return -1;
}

/* --- inputs --- */

guarded guarded_copy(nc_slice bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t pages = (bytes.length + page - 1) / page;
    guarded copy = {.mapping_bytes = (pages + 1) * page};
    copy.mapping = mmap(NULL, copy.mapping_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy.mapping == MAP_FAILED || mprotect((uint8_t *)copy.mapping + pages * page, page, PROT_NONE) != 0) {
        perror("guarded_copy");
        abort();
    }
    uint8_t *start = (uint8_t *)copy.mapping + pages * page - bytes.length;
    if (bytes.length != 0) {
        memcpy(start, bytes.data, bytes.length);
    }
    copy.slice = nc_slice_make(start, bytes.length);
    return copy;
}

void guarded_deinit(guarded *copy) {
    if (copy->mapping != NULL) {
        munmap(copy->mapping, copy->mapping_bytes);
    }
    *copy = (guarded){.mapping = NULL};
}

void each_split(nc_slice bytes, harness_split_fn visit, void *ctx) {
    for (size_t cut = 0; cut <= bytes.length; cut++) {
        const uint8_t *middle = cut == 0 ? bytes.data : bytes.data + cut;
        guarded head = guarded_copy(nc_slice_make(bytes.data, cut));
        guarded tail = guarded_copy(nc_slice_make(middle, bytes.length - cut));
        visit(ctx, head.slice, tail.slice);
        guarded_deinit(&head);
        guarded_deinit(&tail);
    }
}

bool harness_repeats(nc_slice bytes, size_t period) {
    return bytes.length <= period || memcmp(bytes.data, bytes.data + period, bytes.length - period) == 0;
}

bool harness_is_pattern(nc_slice bytes, size_t length) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    enum { PERIOD = sizeof letters - 1 };
    size_t compared = length < PERIOD ? length : PERIOD;
    return bytes.length == length && (length == 0 || memcmp(bytes.data, letters, compared) == 0) &&
           harness_repeats(bytes, PERIOD);
}

/* --- assertions --- */

void harness_assert_slice(nc_slice actual, const char *expected, const char *file, int line) {
    if (!nc_slice_is_equal(actual, nc_slice_of(expected))) {
        print_error("\"%.*s\" is not \"%s\"\n", (int)actual.length, actual.length == 0 ? "" : (const char *)actual.data,
                    expected);
        _fail(file, line);
    }
}

void harness_assert_status(nc_status actual, nc_status expected, const char *file, int line) {
    if (actual != expected) {
        print_error("%s is not %s\n", nc_status_name(actual), nc_status_name(expected));
        _fail(file, line);
    }
}
