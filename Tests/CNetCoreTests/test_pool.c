/// Pooled blocks: content survives growth, memory is reused, and the last reference frees it.
#include "base/pool.h"
#include "harness.h"

#include <pthread.h>
#include <string.h>

/// Byte i of every block is (uint8_t)(i * 31), with a period of 256.
enum { PERIOD = 256, LONGEST_STEP = 5000 };
static uint8_t content[PERIOD + LONGEST_STEP];

static void expect_bytes(const nc_block *block, size_t length) {
    assert_int_equal(block->length, length);
    if (length > 0) {
        assert_memory_equal(block->data, content, length < PERIOD ? length : PERIOD);
        assert_true(harness_repeats(nc_slice_make(block->data, length), PERIOD));
    }
}

static nc_slice content_at(size_t offset, size_t length) {
    return nc_slice_make(content + offset % PERIOD, length);
}

static void append_up_to(nc_block *block, nc_pool *pool, size_t length, size_t step) {
    while (block->length < length) {
        size_t count = length - block->length < step ? length - block->length : step;
        assert_status(nc_block_append(block, pool, content_at(block->length, count)), NC_OK);
    }
}

static void pool__growing_blocks_preserve_their_content(void **state) {
    static const size_t lengths[] = {0, 1, 255, 256, 257, 4096, 65537, 1048576, 1048577, 5000000, 34000000};
    static const size_t steps[] = {1, 7, 4096, LONGEST_STEP};
    (void)state;
    nc_pool *pool = nc_pool_new();
    assert_non_null(pool);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (size_t k = lengths[i] > 100000 ? 2 : 0; k < sizeof steps / sizeof *steps; k++) {
            nc_block block = {0};
            append_up_to(&block, pool, lengths[i], steps[k]);
            expect_bytes(&block, lengths[i]);
            assert_status(nc_block_reserve(&block, pool, lengths[i] * 2 + 100), NC_OK);
            assert_true(block.capacity >= lengths[i] * 2 + 100);
            expect_bytes(&block, lengths[i]);
            nc_block_deinit(&block, pool);
            assert_int_equal(block.length + block.capacity, 0);
        }
    }
    nc_pool_release(pool);
}

static void pool__returned_memory_is_reused(void **state) {
    (void)state;
    nc_pool *pool = nc_pool_new();
    uint64_t before = 0;
    for (int i = 0; i < 100; i++) {
        nc_block block = {0};
        append_up_to(&block, pool, 20000, 5000);
        nc_block_deinit(&block, pool);
        if (i == 0) {
            before = harness_allocations();
        }
    }
    assert_int_equal(harness_allocations(), before);
    nc_pool_release(pool);
}

static void pool__caches_no_more_than_its_limit(void **state) {
    enum { COUNT = 400 };
    static nc_block blocks[COUNT];
    (void)state;
    nc_pool *pool = nc_pool_new();
    for (size_t i = 0; i < COUNT; i++) {
        assert_status(nc_block_reserve(&blocks[i], pool, 1024 * 1024), NC_OK);
    }
    size_t in_use = harness_live_blocks();
    for (size_t i = 0; i < COUNT; i++) {
        nc_block_deinit(&blocks[i], pool);
    }
    assert_true(harness_live_blocks() < in_use - COUNT / 2);
    nc_pool_release(pool);
}

static void pool__lives_as_long_as_its_last_reference(void **state) {
    nc_block block = {0};
    (void)state;
    nc_pool *pool = nc_pool_new();
    assert_ptr_equal(nc_pool_retain(pool), pool);
    append_up_to(&block, pool, 1000, 100);
    nc_pool_release(pool);
    expect_bytes(&block, 1000);
    nc_block_deinit(&block, pool);
    nc_pool_release(pool);
    nc_pool_release(NULL);
}

static void *append_and_free(void *argument) {
    nc_pool *pool = argument;
    for (size_t i = 0; i < 2000; i++) {
        nc_block block = {0};
        append_up_to(&block, pool, i * 7 % 9000, 3000);
        expect_bytes(&block, i * 7 % 9000);
        nc_block_deinit(&block, pool);
    }
    nc_pool_release(pool);
    return NULL;
}

static void pool__serves_several_threads(void **state) {
    pthread_t threads[4];
    (void)state;
    nc_pool *pool = nc_pool_new();
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, append_and_free, nc_pool_retain(pool)), 0);
    }
    nc_pool_release(pool);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}

static void fill(void *ctx) {
    nc_block block = {0};
    (void)ctx;
    nc_pool *pool = nc_pool_new();
    size_t length = 0;
    for (size_t i = 0; pool != NULL && i < 40; i++) {
        enum { STEP = 997 };
        nc_status status = nc_block_append(&block, pool, content_at(length, STEP));
        assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
        length += status == NC_OK ? STEP : 0;
        expect_bytes(&block, length);
    }
    if (pool != NULL) {
        nc_block_deinit(&block, pool);
    }
    nc_pool_release(pool);
}

static void pool__a_failed_append_leaves_the_content_unchanged(void **state) {
    (void)state;
    assert_true(each_allocation_failure(fill, NULL) > 0);
}

static void pool__lengths_that_overflow_are_rejected(void **state) {
    nc_block block = {0};
    (void)state;
    nc_pool *pool = nc_pool_new();
    append_up_to(&block, pool, 10, 10);
    assert_status(nc_block_append(&block, pool, nc_slice_make("x", SIZE_MAX)), NC_ERR_NO_MEMORY);
    assert_status(nc_block_append(&block, pool, nc_slice_make(NULL, 0)), NC_OK);
    expect_bytes(&block, 10);
    nc_block_deinit(&block, pool);
    nc_pool_release(pool);
}

int main(void) {
    harness_begin();
    for (size_t i = 0; i < sizeof content; i++) {
        content[i] = (uint8_t)(i * 31);
    }
    const struct CMUnitTest cases[] = {
        harness_case(pool__growing_blocks_preserve_their_content),
        harness_case(pool__returned_memory_is_reused),
        harness_case(pool__caches_no_more_than_its_limit),
        harness_case(pool__lives_as_long_as_its_last_reference),
        harness_case(pool__serves_several_threads),
        harness_case(pool__a_failed_append_leaves_the_content_unchanged),
        harness_case(pool__lengths_that_overflow_are_rejected),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
