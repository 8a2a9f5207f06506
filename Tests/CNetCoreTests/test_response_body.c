/// A response's body in memory. The declared length only saves copies; it is neither trusted nor required.
#include "harness.h"
#include "request/response.h"

#include <stdint.h>

static uint8_t byte_at(size_t offset) {
    return (uint8_t)(offset * 31 + offset / 251);
}

static nc_status append_up_to(nc_response *response, size_t length, size_t step) {
    static uint8_t piece[16384];
    nc_status status = NC_OK;
    size_t had = nc_response_body(response).length;
    while (status == NC_OK && had < length) {
        size_t count = length - had < step ? length - had : step;
        for (size_t i = 0; i < count; i++) {
            piece[i] = byte_at(had + i);
        }
        status = nc_response_append_body(response, nc_slice_make(piece, count));
        had += count;
    }
    return status;
}

static void expect_body(const nc_response *response, size_t length) {
    nc_slice body = nc_response_body(response);
    assert_int_equal(body.length, length);
    for (size_t i = 0; i < length; i++) {
        if (body.data[i] != byte_at(i)) {
            fail_msg("byte %zu of %zu is wrong", i, length);
        }
    }
}

static void response__bodies_with_a_length_are_complete_after_few_reallocations(void **state) {
    static const size_t lengths[] = {1, 1024, 1048575, 1048576, 1048577, 8388609, 40000000};
    (void)state;
    nc_pool *pool = nc_pool_new();
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        nc_response *response = nc_response_new(pool);
        uint64_t before = harness_allocations();
        assert_status(nc_response_expect_body(response, lengths[i]), NC_OK);
        assert_status(append_up_to(response, lengths[i], 16384), NC_OK);
        assert_true(harness_allocations() - before <= 3); // buffers of 1 MiB, 8 MiB and the whole body
        expect_body(response, lengths[i]);
        nc_response_release(response);
    }
    nc_pool_release(pool);
}

static void response__a_declared_length_alone_reserves_at_most_1_mib(void **state) {
    static const uint64_t declared[] = {UINT64_MAX, SIZE_MAX, SIZE_MAX / 8, (uint64_t)1 << 50};
    (void)state;
    nc_pool *pool = nc_pool_new();
    for (size_t i = 0; i < sizeof declared / sizeof *declared; i++) {
        nc_response *response = nc_response_new(pool);
        assert_status(nc_response_expect_body(response, declared[i]), NC_OK);
        assert_status(append_up_to(response, 3000000, 16384), NC_OK);
        expect_body(response, 3000000);
        nc_response_release(response);
    }
    nc_pool_release(pool);
}

static void response__bodies_with_a_small_or_no_length_are_complete(void **state) {
    static const size_t announced[] = {0, 1, 2000000};
    (void)state;
    nc_pool *pool = nc_pool_new();
    for (size_t i = 0; i < sizeof announced / sizeof *announced; i++) {
        nc_response *response = nc_response_new(pool);
        assert_status(nc_response_expect_body(response, announced[i]), NC_OK);
        assert_status(append_up_to(response, 5000000, 9999), NC_OK);
        expect_body(response, 5000000);
        // The next attempt's body has nothing of this one.
        nc_response_drop_body(response);
        assert_status(append_up_to(response, 100, 7), NC_OK);
        expect_body(response, 100);
        nc_response_release(response);
    }
    nc_pool_release(pool);
}

static void response__a_failed_reservation_of_the_declared_length_is_ignored(void **state) {
    (void)state;
    nc_pool *pool = nc_pool_new();
    nc_response *response = nc_response_new(pool);
    assert_status(nc_response_expect_body(response, 40000000), NC_OK);
    assert_status(append_up_to(response, 1048576, 16384), NC_OK);
    harness_fail_allocation(1); // of 8 MiB
    assert_status(append_up_to(response, 1500000, 16384), NC_OK);
    assert_true(harness_has_failed_allocation());
    expect_body(response, 1500000);
    nc_response_release(response);
    nc_pool_release(pool);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(response__bodies_with_a_length_are_complete_after_few_reallocations),
        harness_case(response__a_declared_length_alone_reserves_at_most_1_mib),
        harness_case(response__bodies_with_a_small_or_no_length_are_complete),
        harness_case(response__a_failed_reservation_of_the_declared_length_is_ignored),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
