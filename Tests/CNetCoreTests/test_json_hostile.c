/// Hostile JSON: depth, length, numbers, names. Memory and stack are bounded, and time is linear.
#include "harness.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 20 };

/// Returns a buffer of one repeated byte.
static nc_buf fill(uint8_t byte, size_t length) {
    nc_buf buf = nc_buf_init(length);
    assert_status(nc_buf_reserve(&buf, length), NC_OK);
    memset(buf.data, byte, length);
    buf.length = length;
    return buf;
}

static void feed_text(nc_json *json, const char *text) {
    assert_status(nc_json_feed(json, nc_slice_of(text), NULL), NC_OK);
}

static void json__a_million_brackets_end_at_the_depth_limit(void **state) {
    (void)state;
    nc_json_failure failure;
    nc_buf brackets = fill('[', 1000000);
    assert_status(nc_json_check(nc_buf_slice(&brackets), NULL, &failure, NULL), NC_ERR_BAD_JSON);
    assert_int_equal(failure.fault, NC_JSON_FAULT_DEPTH);
    assert_int_equal(failure.offset, 512);
    nc_json_options options = {.max_depth = 1000000};
    assert_status(nc_json_check(nc_buf_slice(&brackets), &options, &failure, NULL), NC_ERR_BAD_JSON);
    assert_int_equal(failure.fault, NC_JSON_FAULT_ENDED);
    nc_json *json = NULL;
    assert_status(nc_json_new(&json, &options, NULL), NC_OK);
    uint64_t allocations = harness_allocations();
    assert_status(nc_json_feed(json, nc_buf_slice(&brackets), NULL), NC_OK);
    memset(brackets.data, ']', brackets.length);
    assert_status(nc_json_feed(json, nc_buf_slice(&brackets), NULL), NC_OK);
    assert_status(nc_json_finish(json, NULL), NC_OK);
    assert_int_equal(harness_allocations(), allocations);
    nc_json_free(json);
    nc_buf_deinit(&brackets);
}

/// A string of 100 MiB, under a shape that measures it.
static void json__a_string_of_100_mib_takes_no_memory(void **state) {
    (void)state;
    nc_json *json = NULL;
    nc_shape *shape = NULL;
    nc_buf piece = fill('x', PIECE_BYTES);
    assert_status(nc_shape_parse(&shape, nc_slice_of("{\"text\":{\"$maxLength\":104857600}}"), NULL), NC_OK);
    assert_status(nc_json_new_matching(&json, shape, NULL, NULL, NULL), NC_OK);
    uint64_t allocations = harness_allocations();
    feed_text(json, "{\"text\":\"");
    for (int i = 0; i < 100; i++) {
        assert_status(nc_json_feed(json, nc_buf_slice(&piece), NULL), NC_OK);
    }
    feed_text(json, "\"}");
    assert_status(nc_json_finish(json, NULL), NC_OK);
    assert_int_equal(nc_json_bytes(json), UINT64_C(100) * PIECE_BYTES + 11);
    assert_int_equal(harness_allocations(), allocations);
    nc_json_free(json);
    nc_shape_release(shape);
    nc_buf_deinit(&piece);
}

static void json__numbers_of_100000_digits_compare_exactly(void **state) {
    (void)state;
    nc_shape *shape = NULL;
    nc_error err;
    nc_buf text = fill('1', 100000);
    assert_status(nc_json_check(nc_buf_slice(&text), NULL, NULL, NULL), NC_OK);
    assert_status(nc_shape_parse(&shape, nc_slice_of("{\"$type\":\"integer\",\"$max\":1e99999}"), NULL), NC_OK);
    assert_status(nc_shape_check(shape, nc_buf_slice(&text), NULL, NULL, &err), NC_ERR_SHAPE_MISMATCH);
    text.data[0] = '0';
    text.data[1] = '.';
    assert_status(nc_json_check(nc_buf_slice(&text), NULL, NULL, NULL), NC_OK);
    assert_status(nc_shape_check(shape, nc_buf_slice(&text), NULL, NULL, &err), NC_ERR_SHAPE_MISMATCH);
    nc_json_options options = {.max_number_bytes = 1000};
    nc_json_failure failure;
    assert_status(nc_json_check(nc_buf_slice(&text), &options, &failure, NULL), NC_ERR_BAD_JSON);
    assert_int_equal(failure.fault, NC_JSON_FAULT_NUMBER_LENGTH);
    assert_int_equal(failure.offset, 1000);
    nc_shape_release(shape);
    nc_buf_deinit(&text);
}

static void append_member(nc_buf *text, int name) {
    char member[48];
    snprintf(member, sizeof member, "%s\"name%d\":%d", text->length == 1 ? "" : ",", name, name);
    nc_buf_append(text, nc_slice_of(member));
}

static void json__80000_names_are_distinguished(void **state) {
    (void)state;
    nc_json_options options = {.refuses_duplicate_names = true};
    nc_json_failure failure;
    nc_buf text = nc_buf_init(8 << 20);
    nc_buf_append_byte(&text, '{');
    for (int i = 0; i < 80000; i++) {
        append_member(&text, i);
    }
    size_t length = text.length;
    nc_buf_append_byte(&text, '}');
    assert_status(nc_json_check(nc_buf_slice(&text), &options, &failure, NULL), NC_OK);
    text.length = length;
    append_member(&text, 40000);
    nc_buf_append_byte(&text, '}');
    assert_status(nc_json_check(nc_buf_slice(&text), NULL, &failure, NULL), NC_OK);
    assert_status(nc_json_check(nc_buf_slice(&text), &options, &failure, NULL), NC_ERR_BAD_JSON);
    assert_int_equal(failure.fault, NC_JSON_FAULT_DUPLICATE);
    assert_int_equal(failure.offset, length + 1);
    nc_buf_deinit(&text);
}

static void json__names_of_objects_that_ended_are_forgotten(void **state) {
    (void)state;
    nc_json *json = NULL;
    nc_json_options options = {.refuses_duplicate_names = true, .max_names = 3};
    assert_status(nc_json_new(&json, &options, NULL), NC_OK);
    feed_text(json, "[{\"a\":{\"b\":1},\"c\":2}");
    uint64_t allocations = harness_allocations();
    for (int i = 0; i < 10000; i++) {
        feed_text(json, ",{\"a\":{\"b\":1},\"c\":2}");
    }
    feed_text(json, "]");
    assert_status(nc_json_finish(json, NULL), NC_OK);
    assert_int_equal(harness_allocations(), allocations);
    nc_json_free(json);
}

/// A shape of many members, and a text that names each of them in the worst order.
static void shape__thousands_of_members_in_any_order_take_linear_time(void **state) {
    (void)state;
    nc_shape *shape = NULL;
    nc_buf document = nc_buf_init(8 << 20);
    nc_buf text = nc_buf_init(8 << 20);
    nc_buf_append_byte(&document, '{');
    nc_buf_append_byte(&text, '{');
    for (int i = 0; i < 20000; i++) {
        char member[48];
        snprintf(member, sizeof member, "%s\"name%d\":\"integer\"", i == 0 ? "" : ",", i);
        nc_buf_append(&document, nc_slice_of(member));
        append_member(&text, 19999 - i);
    }
    nc_buf_append_byte(&document, '}');
    nc_buf_append_byte(&text, '}');
    assert_status(nc_shape_parse(&shape, nc_buf_slice(&document), NULL), NC_OK);
    assert_status(nc_shape_check(shape, nc_buf_slice(&text), NULL, NULL, NULL), NC_OK);
    nc_shape_release(shape);
    nc_buf_deinit(&document);
    nc_buf_deinit(&text);
}

static void json__a_limit_rejects_a_text_of_2_gib(void **state) {
    (void)state;
    nc_json *json = NULL;
    nc_json_options options = {.max_bytes = UINT64_C(64) << 20};
    nc_buf piece = fill(' ', PIECE_BYTES);
    nc_status status = NC_OK;
    assert_status(nc_json_new(&json, &options, NULL), NC_OK);
    int pieces = 0;
    for (; pieces < 2048 && status == NC_OK; pieces++) {
        status = nc_json_feed(json, nc_buf_slice(&piece), NULL);
    }
    assert_status(status, NC_ERR_BAD_JSON);
    assert_int_equal(pieces, 65);
    assert_int_equal(nc_json_failure_of(json)->fault, NC_JSON_FAULT_SIZE);
    assert_int_equal(nc_json_failure_of(json)->offset, UINT64_C(64) << 20);
    nc_json_free(json);
    nc_buf_deinit(&piece);
}

static void *check_on_a_small_stack(void *ctx) {
    nc_buf *text = ctx;
    nc_json_options options = {.max_depth = 100000, .refuses_duplicate_names = true};
    nc_status status = nc_json_check(nc_buf_slice(text), &options, NULL, NULL);
    return status == NC_OK ? text : NULL;
}

static void json__a_small_stack_is_enough(void **state) {
    (void)state;
    pthread_attr_t attributes;
    pthread_t thread;
    void *result = NULL;
    nc_buf text = fill('[', 200000);
    memset(text.data + 100000, ']', 100000);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, 128 << 10), 0);
    assert_int_equal(pthread_create(&thread, &attributes, check_on_a_small_stack, &text), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, &text);
    (void)pthread_attr_destroy(&attributes);
    nc_buf_deinit(&text);
}

static void json__a_failure_is_sticky(void **state) {
    (void)state;
    nc_json *json = NULL;
    nc_error first;
    nc_error again;
    assert_status(nc_json_new(&json, NULL, NULL), NC_OK);
    assert_true(nc_json_is_blank(json));
    assert_status(nc_json_feed(json, nc_slice_of(" \n"), NULL), NC_OK);
    assert_true(nc_json_is_blank(json));
    assert_status(nc_json_feed(json, nc_slice_of("[1,"), NULL), NC_OK);
    assert_false(nc_json_is_blank(json));
    assert_status(nc_json_feed(json, nc_slice_of("]"), &first), NC_ERR_BAD_JSON);
    assert_status(nc_json_feed(json, nc_slice_of("1]"), &again), NC_ERR_BAD_JSON);
    assert_string_equal(first.message, again.message);
    assert_status(nc_json_finish(json, &again), NC_ERR_BAD_JSON);
    assert_string_equal(first.message, again.message);
    assert_int_equal(again.offset, 5);
    assert_string_equal(first.message, "line 2, column 4: expected a value, found ']'");
    assert_int_equal(nc_json_bytes(json), 5);
    nc_json_reset(json);
    feed_text(json, "[1]");
    assert_status(nc_json_finish(json, NULL), NC_OK);
    assert_status(nc_json_finish(json, NULL), NC_OK);
    assert_status(nc_json_feed(json, nc_slice_of(" "), NULL), NC_ERR_USAGE);
    nc_json_free(json);
    nc_json_free(NULL);
}

static void check_with_failing_memory(void *ctx) {
    nc_json *json = NULL;
    nc_json_options options = {.refuses_duplicate_names = true, .max_depth = 2000};
    nc_status status = nc_json_new(&json, &options, NULL);
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    if (status != NC_OK) {
        return;
    }
    status = nc_json_feed(json, nc_slice_of(ctx), NULL);
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    assert_status(nc_json_finish(json, NULL), status);
    nc_json_free(json);
}

static void json__survives_each_allocation_failure(void **state) {
    (void)state;
    nc_buf text = nc_buf_init(1 << 16);
    nc_buf_append_byte(&text, '{');
    for (int i = 0; i < 300; i++) {
        append_member(&text, i);
    }
    nc_buf_append(&text, nc_slice_of(",\"o\":{\"a\":1}}"));
    nc_buf_append_byte(&text, '\0');
    assert_true(each_allocation_failure(check_with_failing_memory, text.data) > 8);
    nc_buf_deinit(&text);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(json__a_million_brackets_end_at_the_depth_limit),
        harness_case(json__a_string_of_100_mib_takes_no_memory),
        harness_case(json__numbers_of_100000_digits_compare_exactly),
        harness_case(json__80000_names_are_distinguished),
        harness_case(json__names_of_objects_that_ended_are_forgotten),
        harness_case(shape__thousands_of_members_in_any_order_take_linear_time),
        harness_case(json__a_limit_rejects_a_text_of_2_gib),
        harness_case(json__a_small_stack_is_enough),
        harness_case(json__a_failure_is_sticky),
        harness_case(json__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
