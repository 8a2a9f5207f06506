#include "harness.h"

#include "base/alloc.h"

#include <string.h>

static void slice__of_null_is_empty(void **state) {
    (void)state;
    assert_int_equal(nc_slice_of(NULL).length, 0);
    assert_int_equal(nc_slice_of("").length, 0);
    assert_true(nc_slice_is_equal(nc_slice_of(NULL), nc_slice_of("")));
    assert_true(nc_slice_is_equal_ignoring_case(nc_slice_of(NULL), nc_slice_of("")));
}

static void slice__compares_every_byte(void **state) {
    (void)state;
    assert_true(nc_slice_is_equal(nc_slice_make("a\0b", 3), nc_slice_make("a\0b", 3)));
    assert_false(nc_slice_is_equal(nc_slice_make("a\0b", 3), nc_slice_make("a\0c", 3)));
    assert_false(nc_slice_is_equal(nc_slice_of("a"), nc_slice_of("ab")));
}

static void slice__case_insensitive_comparison_covers_only_ascii_letters(void **state) {
    (void)state;
    for (int a = 0; a < 256; a++) {
        for (int b = 0; b < 256; b++) {
            uint8_t left = (uint8_t)a;
            uint8_t right = (uint8_t)b;
            bool is_letter = (a >= 'A' && a <= 'Z') || (a >= 'a' && a <= 'z');
            bool expected = a == b || (is_letter && (a ^ b) == 0x20);
            assert_int_equal(nc_slice_is_equal_ignoring_case(nc_slice_make(&left, 1), nc_slice_make(&right, 1)),
                             expected);
        }
    }
    assert_false(nc_slice_is_equal_ignoring_case(nc_slice_of("Host"), nc_slice_of("Hos")));
}

static void slice__comparison_never_reads_past_the_end(void **state) {
    (void)state;
    guarded a = guarded_copy(nc_slice_of("Content-Type"));
    guarded b = guarded_copy(nc_slice_of("content-type"));
    assert_true(nc_slice_is_equal_ignoring_case(a.slice, b.slice));
    assert_false(nc_slice_is_equal(a.slice, b.slice));
    guarded_deinit(&a);
    guarded_deinit(&b);
}

static void buf__allocates_nothing_until_it_is_used(void **state) {
    (void)state;
    uint64_t before = harness_allocations();
    nc_buf buf = nc_buf_init(100);
    nc_buf_append(&buf, nc_slice_of(""));
    nc_buf_append(&buf, nc_slice_make(NULL, 0));
    assert_status(nc_buf_reserve(&buf, 0), NC_OK);
    assert_null(buf.data);
    nc_buf_deinit(&buf);
    assert_int_equal(harness_allocations(), before);
}

static void buf__contains_the_appended_bytes_at_every_split(void *ctx, nc_slice head, nc_slice tail) {
    nc_buf buf = nc_buf_init(64);
    nc_buf_append(&buf, head);
    nc_buf_append(&buf, tail);
    assert_status(nc_buf_status(&buf), NC_OK);
    assert_slice_equals(nc_buf_slice(&buf), ctx);
    nc_buf_deinit(&buf);
}

static void buf__contains_the_appended_bytes(void **state) {
    (void)state;
    char text[] = "any text, cut anywhere";
    each_split(nc_slice_of(text), buf__contains_the_appended_bytes_at_every_split, text);
}

static void buf__grows_in_doublings_up_to_its_maximum(void **state) {
    (void)state;
    enum { MAXIMUM = 100000 };
    nc_buf buf = nc_buf_init(MAXIMUM);
    uint64_t before = harness_allocations();
    for (size_t i = 0; i < MAXIMUM; i++) {
        nc_buf_append_byte(&buf, (uint8_t)(i * 7));
        assert_true(buf.capacity <= MAXIMUM);
    }
    assert_status(nc_buf_status(&buf), NC_OK);
    assert_in_range(harness_allocations() - before, 5, 13);
    for (size_t i = 0; i < MAXIMUM; i++) {
        assert_int_equal(buf.data[i], (uint8_t)(i * 7));
    }
    nc_buf_append_byte(&buf, 0);
    assert_status(nc_buf_status(&buf), NC_ERR_TOO_LARGE);
    assert_int_equal(buf.length, MAXIMUM);
    nc_buf_deinit(&buf);
}

static void buf__a_failure_is_sticky_and_preserves_the_content(void **state) {
    (void)state;
    nc_buf buf = nc_buf_init(4);
    nc_buf_append(&buf, nc_slice_of("abc"));
    nc_buf_append(&buf, nc_slice_of("de"));
    assert_status(nc_buf_status(&buf), NC_ERR_TOO_LARGE);
    nc_buf_append(&buf, nc_slice_of("d"));
    nc_buf_append_byte(&buf, 'd');
    assert_status(nc_buf_reserve(&buf, 1), NC_ERR_TOO_LARGE);
    assert_slice_equals(nc_buf_slice(&buf), "abc");
    nc_buf_reset(&buf);
    assert_status(nc_buf_status(&buf), NC_OK);
    nc_buf_append(&buf, nc_slice_of("wxyz"));
    assert_slice_equals(nc_buf_slice(&buf), "wxyz");
    nc_buf_deinit(&buf);
}

static void buf__reset_preserves_the_capacity_and_deinit_the_maximum(void **state) {
    (void)state;
    nc_buf buf = nc_buf_init(1000);
    nc_buf_append(&buf, nc_slice_of("some bytes"));
    size_t capacity = buf.capacity;
    nc_buf_reset(&buf);
    assert_int_equal(buf.capacity, capacity);
    assert_int_equal(buf.length, 0);
    nc_buf_deinit(&buf);
    nc_buf_deinit(&buf);
    assert_null(buf.data);
    assert_int_equal(buf.max_bytes, 1000);
    nc_buf zeroed = {0};
    nc_buf_deinit(&zeroed);
}

static void buf__appending_reserved_bytes_allocates_nothing(void **state) {
    (void)state;
    nc_buf buf = nc_buf_init(1000);
    assert_status(nc_buf_reserve(&buf, 700), NC_OK);
    uint64_t after = harness_allocations();
    for (int i = 0; i < 700; i++) {
        nc_buf_append_byte(&buf, 'x');
    }
    assert_int_equal(harness_allocations(), after);
    assert_status(nc_buf_reserve(&buf, 301), NC_ERR_TOO_LARGE);
    nc_buf_deinit(&buf);
}

static void buf__refuses_sizes_that_overflow(void **state) {
    (void)state;
    nc_buf buf = nc_buf_init(SIZE_MAX);
    nc_buf_append(&buf, nc_slice_of("abc"));
    assert_status(nc_buf_reserve(&buf, SIZE_MAX - 1), NC_ERR_TOO_LARGE);
    nc_buf_deinit(&buf);
}

static void buf__may_append_its_own_content(void **state) {
    (void)state;
    nc_buf buf = nc_buf_init(10000);
    nc_buf_append(&buf, nc_slice_of("0123456789abcdef"));
    for (int i = 0; i < 4; i++) {
        nc_buf_append(&buf, nc_buf_slice(&buf));
    }
    assert_int_equal(buf.length, 256);
    for (size_t i = 0; i < buf.length; i++) {
        assert_int_equal(buf.data[i], "0123456789abcdef"[i % 16]);
    }
    nc_buf_deinit(&buf);
}

static void append_much(void *ctx) {
    (void)ctx;
    nc_buf buf = nc_buf_init(10000);
    for (int i = 0; i < 1000; i++) {
        nc_buf_append(&buf, nc_slice_of("12345"));
    }
    bool is_out = harness_has_failed_allocation();
    assert_status(nc_buf_status(&buf), is_out ? NC_ERR_NO_MEMORY : NC_OK);
    assert_int_equal(buf.length % 5, 0);
    nc_buf_deinit(&buf);
}

static void buf__survives_each_allocation_failure(void **state) {
    (void)state;
    assert_in_range(each_allocation_failure(append_much, NULL), 3, 20);
}

static void size__arithmetic_detects_overflow(void **state) {
    (void)state;
    size_t out = 5;
    assert_false(nc_size_add(&out, SIZE_MAX, 1));
    assert_false(nc_size_mul(&out, SIZE_MAX / 2 + 1, 2));
    assert_int_equal(out, 5);
    assert_true(nc_size_add(&out, SIZE_MAX - 1, 1));
    assert_true(out == SIZE_MAX);
    assert_true(nc_size_mul(&out, SIZE_MAX, 1));
    assert_true(out == SIZE_MAX);
    assert_true(nc_size_mul(&out, SIZE_MAX, 0));
    assert_int_equal(out, 0);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(slice__of_null_is_empty),
        harness_case(slice__compares_every_byte),
        harness_case(slice__case_insensitive_comparison_covers_only_ascii_letters),
        harness_case(slice__comparison_never_reads_past_the_end),
        harness_case(buf__allocates_nothing_until_it_is_used),
        harness_case(buf__contains_the_appended_bytes),
        harness_case(buf__grows_in_doublings_up_to_its_maximum),
        harness_case(buf__a_failure_is_sticky_and_preserves_the_content),
        harness_case(buf__reset_preserves_the_capacity_and_deinit_the_maximum),
        harness_case(buf__appending_reserved_bytes_allocates_nothing),
        harness_case(buf__refuses_sizes_that_overflow),
        harness_case(buf__may_append_its_own_content),
        harness_case(buf__survives_each_allocation_failure),
        harness_case(size__arithmetic_detects_overflow),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
