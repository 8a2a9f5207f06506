#include "harness.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static nc_slice text(const char *bytes) {
    return nc_slice_of(bytes);
}

/// Writes a tree as one line, each value by its kind, for comparison.
static void write_item(nc_buf *out, const nc_params_item *item, bool has_name) {
    static const char *const kinds[] = {"null", "bool", "int", "double", "number", "string", "bytes", "{", "[", "<"};
    static const char *const ends[] = {"}", "]", ">"};
    if (has_name) {
        nc_buf_append(out, item->name);
        nc_buf_append_byte(out, '=');
    }
    nc_buf_append(out, text(kinds[item->kind]));
    if (item->kind >= NC_PARAMS_OBJECT) {
        nc_params_cursor cursor = nc_params_children(item);
        nc_params_item child;
        while (nc_params_next(&cursor, &child)) {
            write_item(out, &child, item->kind == NC_PARAMS_OBJECT);
            nc_buf_append_byte(out, ' ');
        }
        nc_buf_append(out, text(ends[item->kind - NC_PARAMS_OBJECT]));
        return;
    }
    nc_params_digits digits;
    nc_buf_append_byte(out, ':');
    nc_buf_append(out, nc_params_text(item, &digits));
}

static void assert_tree(const nc_params *params, const char *expected) {
    nc_buf out = nc_buf_init(4096);
    nc_params_item root = nc_params_root(params);
    write_item(&out, &root, false);
    assert_slice_equals(nc_buf_slice(&out), expected);
    nc_buf_deinit(&out);
}

static void params__preserves_types_names_and_order(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_params_add_string(&params, text("z"), text("last"));
    nc_params_add_null(&params, text(""));
    nc_params_add_boolean(&params, text("b"), true);
    nc_params_add_boolean(&params, text("c"), false);
    nc_params_add_integer(&params, text("i"), INT64_MIN);
    nc_params_add_double(&params, text("d"), 1.5);
    nc_params_add_number(&params, text("n"), text("123456789012345678901234567890"));
    nc_params_add_bytes(&params, text("y"), nc_slice_make("\xFF", 1));
    nc_params_add_string(&params, text("z"), text("again"));
    assert_status(nc_params_status(&params), NC_OK);
    assert_tree(&params, "{z=string:last =null: b=bool:true c=bool:false i=int:-9223372036854775808 d=double:1.5 "
                         "n=number:123456789012345678901234567890 y=bytes:\xFF z=string:again }");
    nc_params_deinit(&params);
}

static void params__preserves_nested_containers(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_ARRAY, 0);
    nc_params_begin(&params, text("dropped"), NC_PARAMS_OBJECT);
    nc_params_begin(&params, text("name"), NC_PARAMS_SET);
    nc_params_add_integer(&params, text("dropped"), 1);
    nc_params_begin(&params, text(""), NC_PARAMS_ARRAY);
    nc_params_end(&params);
    nc_params_end(&params);
    nc_params_add_integer(&params, text("after"), 2);
    nc_params_end(&params);
    nc_params_begin(&params, text(""), NC_PARAMS_OBJECT);
    nc_params_end(&params);
    assert_status(nc_params_status(&params), NC_OK);
    assert_tree(&params, "[{name=<int:1 [] > after=int:2 } {} ]");
    nc_params_deinit(&params);
}

static void params__preserves_names_of_every_length(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    char name[40];
    memset(name, 'n', sizeof name);
    for (size_t i = 0; i < sizeof name; i++) {
        nc_params_add_string(&params, nc_slice_make(name, i), nc_slice_make(name, sizeof name - i));
    }
    nc_params_item root = nc_params_root(&params);
    nc_params_cursor cursor = nc_params_children(&root);
    nc_params_item item;
    for (size_t i = 0; i < sizeof name; i++) {
        assert_true(nc_params_next(&cursor, &item));
        assert_int_equal(item.name.length, i);
        assert_true(nc_slice_is_equal(item.name, nc_slice_make(name, i)));
        assert_true(nc_slice_is_equal(item.content, nc_slice_make(name, sizeof name - i)));
    }
    assert_false(nc_params_next(&cursor, &item));
    nc_params_deinit(&params);
}

static void params__a_name_may_contain_any_byte(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    uint8_t bytes[256];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)i;
    }
    guarded all = guarded_copy(nc_slice_make(bytes, sizeof bytes));
    nc_params_add_string(&params, all.slice, all.slice);
    guarded_deinit(&all);
    nc_params_item root = nc_params_root(&params);
    nc_params_cursor cursor = nc_params_children(&root);
    nc_params_item item;
    assert_true(nc_params_next(&cursor, &item));
    assert_true(nc_slice_is_equal(item.name, nc_slice_make(bytes, sizeof bytes)));
    assert_true(nc_slice_is_equal(item.content, nc_slice_make(bytes, sizeof bytes)));
    nc_params_deinit(&params);
}

static void params__allocates_once_when_it_is_filled(void **state) {
    (void)state;
    uint64_t before = harness_allocations();
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    assert_tree(&params, "{}");
    before = harness_allocations();
    for (int i = 0; i < 8; i++) {
        nc_params_add_string(&params, text("key"), text("a value of 24 bytes, so."));
    }
    assert_int_equal(harness_allocations(), before + 1);
    nc_params_reset(&params, NC_PARAMS_ARRAY);
    nc_params_add_integer(&params, text(""), 7);
    assert_tree(&params, "[int:7 ]");
    nc_params_deinit(&params);
    nc_params_deinit(&params);
    assert_tree(&params, "[]");
}

static void params__a_zeroed_struct_can_be_deinitialized(void **state) {
    (void)state;
    nc_params params;
    memset(&params, 0, sizeof params);
    nc_params_deinit(&params);
    nc_params_deinit(NULL);
}

static void params__is_incomplete_while_a_container_is_open(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_params_begin(&params, text("a"), NC_PARAMS_ARRAY);
    assert_status(nc_params_status(&params), NC_ERR_USAGE);
    assert_tree(&params, "{}");
    nc_params_end(&params);
    assert_status(nc_params_status(&params), NC_OK);
    assert_tree(&params, "{a=[] }");
    nc_params_deinit(&params);
}

static void params__an_unmatched_end_is_a_sticky_error(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_params_end(&params);
    nc_params_add_null(&params, text("a"));
    nc_params_begin(&params, text("b"), NC_PARAMS_ARRAY);
    assert_status(nc_params_status(&params), NC_ERR_USAGE);
    nc_params_reset(&params, NC_PARAMS_OBJECT);
    assert_status(nc_params_status(&params), NC_OK);
    nc_params_deinit(&params);
}

static void params__only_containers_can_be_opened(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_STRING, 0);
    assert_status(nc_params_status(&params), NC_ERR_USAGE);
    nc_params_reset(&params, NC_PARAMS_SET);
    assert_status(nc_params_status(&params), NC_OK);
    nc_params_begin(&params, text(""), NC_PARAMS_NULL);
    assert_status(nc_params_status(&params), NC_ERR_USAGE);
    nc_params_deinit(&params);
}

static void params__the_depth_is_limited(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    for (unsigned depth = 1; depth < NC_PARAMS_MAX_DEPTH; depth++) {
        nc_params_begin(&params, text("d"), NC_PARAMS_OBJECT);
        assert_status(params.nodes.status, NC_OK);
    }
    nc_params_begin(&params, text("d"), NC_PARAMS_OBJECT);
    assert_status(nc_params_status(&params), NC_ERR_TOO_LARGE);
    nc_params_deinit(&params);
}

static void params__stays_within_its_maximum(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 100);
    nc_params_add_string(&params, text("12345678"), text("12345678"));
    nc_params_add_string(&params, text("12345678"), text("12345678"));
    nc_params_add_string(&params, text("12345678"), text("12345678901234567890"));
    nc_params_add_string(&params, text("12345678"), text("12345678"));
    assert_status(nc_params_status(&params), NC_ERR_TOO_LARGE);
    assert_true(params.nodes.capacity <= 100);
    assert_tree(&params, "{}");
    nc_params_add_string(&params, text("huge"), nc_slice_make("", SIZE_MAX));
    nc_params_reset(&params, NC_PARAMS_OBJECT);
    nc_params_add_string(&params, text("huge"), nc_slice_make("", SIZE_MAX));
    assert_status(nc_params_status(&params), NC_ERR_TOO_LARGE);
    nc_params_reset(&params, NC_PARAMS_OBJECT);
    nc_params_add_string(&params, nc_slice_make("", SIZE_MAX), text(""));
    assert_status(nc_params_status(&params), NC_ERR_TOO_LARGE);
    nc_params_deinit(&params);
}

static void fill(void *ctx) {
    (void)ctx;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_status reserved = nc_params_reserve(&params, 64);
    for (int i = 0; i < 40; i++) {
        nc_params_begin(&params, text("container"), NC_PARAMS_ARRAY);
        nc_params_add_string(&params, text(""), text("some text that takes room"));
        nc_params_end(&params);
    }
    nc_status status = nc_params_status(&params);
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    assert_true(reserved == NC_OK || status == reserved);
    nc_params_item root = nc_params_root(&params);
    assert_int_equal(root.content.length != 0, status == NC_OK);
    nc_params_deinit(&params);
}

static void params__survives_each_failing_allocation(void **state) {
    (void)state;
    assert_true(each_allocation_failure(fill, NULL) > 3);
}

/* --- numbers --- */

static void assert_double(double value, const char *expected) {
    nc_params_item item = {.kind = NC_PARAMS_DOUBLE, .number = value};
    nc_params_digits digits;
    assert_slice_equals(nc_params_text(&item, &digits), expected);
}

static void params__writes_doubles_in_their_shortest_form(void **state) {
    (void)state;
    assert_double(0, "0");
    assert_double(-0.0, "-0");
    assert_double(1, "1");
    assert_double(0.1, "0.1");
    assert_double(0.1 + 0.2, "0.30000000000000004");
    assert_double(-3.25, "-3.25");
    assert_double(1.0 / 3, "0.3333333333333333");
    assert_double(1e20, "100000000000000000000");
    assert_double(1e21, "1e21");
    assert_double(1e22, "1e22");
    assert_double(1e23, "1e23");
    assert_double(123456789012345678.0, "123456789012345680");
    assert_double(9007199254740993.0, "9007199254740992");
    assert_double(0.000001, "0.000001");
    assert_double(0.00000123, "0.00000123");
    assert_double(0.0000001, "1e-7");
    assert_double(DBL_MAX, "1.7976931348623157e308");
    assert_double(-DBL_MIN, "-2.2250738585072014e-308");
    assert_double(DBL_TRUE_MIN, "5e-324");
    // Halfway between .2 and .3, and between .7 and .8.
    assert_double(2193011164517263.25, "2193011164517263.2");
    assert_double(2193011164517263.75, "2193011164517263.8");
    assert_double(INFINITY, "");
    assert_double(NAN, "");
}

/// Counts digits without sign, point, exponent and surrounding zeros.
static size_t significant_digits(const char *number) {
    size_t count = 0;
    size_t zeros = 0;
    for (; *number != '\0' && *number != 'e'; number++) {
        if (*number == '0') {
            zeros += count > 0 ? 1 : 0;
        } else if (*number != '-' && *number != '.') {
            count += zeros + 1;
            zeros = 0;
        }
    }
    return count;
}

static void assert_is_shortest(double value) {
    nc_params_item item = {.kind = NC_PARAMS_DOUBLE, .number = value};
    nc_params_digits digits;
    nc_slice written = nc_params_text(&item, &digits);
    char line[NC_PARAMS_NUMBER_BYTES + 1] = {0};
    assert_true(written.length < sizeof line);
    memcpy(line, written.data, written.length);
    if (strtod(line, NULL) != value) {
        fail_msg("%s is not %.17g", line, value);
    }
    size_t count = significant_digits(line);
    char shorter[64];
    (void)snprintf(shorter, sizeof shorter, "%.*e", (int)count - 2, value);
    if (count > 1 && strtod(shorter, NULL) == value) {
        fail_msg("%s is the same value as the longer %s", shorter, line);
    }
    (void)snprintf(shorter, sizeof shorter, "%.*e", (int)count - 1, value);
    if (count == 17 && strtod(shorter, NULL) == value) {
        // If 17 digits are needed, the text must be the 17-digit number closest to the value.
        assert_int_equal(significant_digits(shorter), 17);
    }
}

static void params__every_double_reads_back(void **state) {
    (void)state;
    uint64_t chance = 88172645463325252u;
    for (int i = 0; i < 60000; i++) {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        uint64_t bits = chance;
        if (i % 4 == 0) {
            bits &= 0xFFF0000000000000u; // Powers of two: the next smaller double is nearer than the next larger one.
        }
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value) && value != 0) {
            assert_is_shortest(value);
        }
        assert_is_shortest((double)(int64_t)(chance % 100000000000) / 1000 + 0.001);
    }
}

static void params__writes_integers_in_full(void **state) {
    (void)state;
    nc_params_item item = {.kind = NC_PARAMS_INTEGER, .integer = INT64_MAX};
    nc_params_digits digits;
    assert_slice_equals(nc_params_text(&item, &digits), "9223372036854775807");
    item.integer = 0;
    assert_slice_equals(nc_params_text(&item, &digits), "0");
    item.integer = -10;
    assert_slice_equals(nc_params_text(&item, &digits), "-10");
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(params__preserves_types_names_and_order),
        harness_case(params__preserves_nested_containers),
        harness_case(params__preserves_names_of_every_length),
        harness_case(params__a_name_may_contain_any_byte),
        harness_case(params__allocates_once_when_it_is_filled),
        harness_case(params__a_zeroed_struct_can_be_deinitialized),
        harness_case(params__is_incomplete_while_a_container_is_open),
        harness_case(params__an_unmatched_end_is_a_sticky_error),
        harness_case(params__only_containers_can_be_opened),
        harness_case(params__the_depth_is_limited),
        harness_case(params__stays_within_its_maximum),
        harness_case(params__survives_each_failing_allocation),
        harness_case(params__writes_doubles_in_their_shortest_form),
        harness_case(params__every_double_reads_back),
        harness_case(params__writes_integers_in_full),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
