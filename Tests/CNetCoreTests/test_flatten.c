#include "harness.h"

#include <math.h>
#include <string.h>

static nc_slice text(const char *bytes) {
    return nc_slice_of(bytes);
}

/// Writes "name=value" with a space after each. The values of an array in one piece are separated by '|'.
static nc_status write_pair(void *ctx, nc_slice name, const nc_params_item *value, nc_error *err) {
    (void)err;
    nc_buf *out = ctx;
    nc_params_digits digits;
    nc_buf_append(out, name);
    nc_buf_append_byte(out, '=');
    if (value->kind == NC_PARAMS_ARRAY) {
        nc_params_cursor cursor = nc_params_children(value);
        nc_params_item item;
        while (nc_params_next(&cursor, &item)) {
            nc_buf_append(out, nc_params_text(&item, &digits));
            nc_buf_append_byte(out, '|');
        }
    } else {
        nc_buf_append(out, nc_params_text(value, &digits));
    }
    nc_buf_append_byte(out, ' ');
    return nc_buf_status(out);
}

/// Returns this tree, in which [] is an array, {} an object and <> a set:
/// families [father, mother], name, phone {mobile, home}, nums <2, 1>, deep {list [[x] {y}] , empty {}, none []}
static nc_params sample(void) {
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_params_add_string(&params, text("name"), text("bang"));
    nc_params_begin(&params, text("phone"), NC_PARAMS_OBJECT);
    nc_params_add_string(&params, text("mobile"), text("xx"));
    nc_params_add_string(&params, text("home"), text("xx"));
    nc_params_end(&params);
    nc_params_begin(&params, text("families"), NC_PARAMS_ARRAY);
    nc_params_add_string(&params, text(""), text("father"));
    nc_params_add_string(&params, text(""), text("mother"));
    nc_params_end(&params);
    nc_params_begin(&params, text("nums"), NC_PARAMS_SET);
    nc_params_add_integer(&params, text(""), 2);
    nc_params_add_integer(&params, text(""), 1);
    nc_params_end(&params);
    return params;
}

static void add_deep(nc_params *params) {
    nc_params_begin(params, text("deep"), NC_PARAMS_OBJECT);
    nc_params_begin(params, text("none"), NC_PARAMS_ARRAY);
    nc_params_end(params);
    nc_params_begin(params, text("list"), NC_PARAMS_ARRAY);
    nc_params_begin(params, text(""), NC_PARAMS_ARRAY);
    nc_params_add_string(params, text(""), text("x"));
    nc_params_end(params);
    nc_params_begin(params, text(""), NC_PARAMS_OBJECT);
    nc_params_add_string(params, text("y"), text("z"));
    nc_params_begin(params, text("w"), NC_PARAMS_SET);
    nc_params_end(params);
    nc_params_end(params);
    nc_params_end(params);
    nc_params_end(params);
}

static void assert_flat(const nc_params *params, nc_flatten_options options, const char *expected) {
    nc_buf out = nc_buf_init(1 << 16);
    nc_error err;
    assert_status(nc_params_flatten(params, &options, write_pair, &out, &err), NC_OK);
    assert_status(err.status, NC_OK);
    assert_slice_equals(nc_buf_slice(&out), expected);
    nc_buf_deinit(&out);
}

static void flatten__names_values_by_brackets_and_sorts_them(void **state) {
    (void)state;
    nc_params params = sample();
    const char *expected =
        "families[]=father families[]=mother name=bang nums=1 nums=2 phone[home]=xx phone[mobile]=xx ";
    assert_flat(&params, (nc_flatten_options){0}, expected);
    nc_buf out = nc_buf_init(1 << 16);
    assert_status(nc_params_flatten(&params, NULL, write_pair, &out, NULL), NC_OK);
    assert_slice_equals(nc_buf_slice(&out), expected);
    nc_buf_deinit(&out);
    nc_params_deinit(&params);
}

static void flatten__preserves_the_order_on_request(void **state) {
    (void)state;
    nc_params params = sample();
    assert_flat(&params, (nc_flatten_options){.order = NC_ORDER_AS_GIVEN},
                "name=bang phone[mobile]=xx phone[home]=xx families[]=father families[]=mother nums=1 nums=2 ");
    nc_params_deinit(&params);
}

static void flatten__names_arrays_in_every_style(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    add_deep(&params);
    assert_flat(&params, (nc_flatten_options){0}, "deep[list][][]=x deep[list][][y]=z ");
    assert_flat(&params, (nc_flatten_options){.arrays = NC_ARRAYS_INDEXED}, "deep[list][0][0]=x deep[list][1][y]=z ");
    assert_flat(&params, (nc_flatten_options){.arrays = NC_ARRAYS_REPEAT}, "deep[list]=x deep[list][y]=z ");
    assert_flat(&params, (nc_flatten_options){.nested = NC_NESTED_DOTS}, "deep.list[][]=x deep.list[].y=z ");
    assert_flat(&params, (nc_flatten_options){.arrays = NC_ARRAYS_INDEXED, .nested = NC_NESTED_DOTS},
                "deep.list[0][0]=x deep.list[1].y=z ");
    assert_flat(&params, (nc_flatten_options){.arrays = NC_ARRAYS_REPEAT, .nested = NC_NESTED_DOTS},
                "deep.list=x deep.list.y=z ");
    nc_params_deinit(&params);
}

static void flatten__passes_arrays_to_be_joined_to_the_visitor(void **state) {
    (void)state;
    nc_params params = sample();
    assert_flat(&params, (nc_flatten_options){.arrays = NC_ARRAYS_COMMA},
                "families=father|mother| name=bang nums=1 nums=2 phone[home]=xx phone[mobile]=xx ");
    nc_params_deinit(&params);
}

/// Walks and expects NC_ERR_BAD_PARAMETER with this message.
static void assert_refused(const nc_params *params, nc_flatten_options options, const char *message, int64_t offset) {
    nc_buf out = nc_buf_init(1 << 16);
    nc_error err;
    assert_status(nc_params_flatten(params, &options, write_pair, &out, &err), NC_ERR_BAD_PARAMETER);
    assert_status(err.status, NC_ERR_BAD_PARAMETER);
    assert_string_equal(err.message, message);
    assert_int_equal(err.offset, offset);
    nc_buf_deinit(&out);
}

static void flatten__rejects_joining_containers(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    add_deep(&params);
    assert_refused(&params, (nc_flatten_options){.arrays = NC_ARRAYS_COMMA},
                   "'deep[list]': an array that contains arrays or objects cannot be joined by commas", -1);
    nc_params_deinit(&params);
}

static void flatten__names_the_key_of_invalid_utf8(void **state) {
    (void)state;
    const char *surrogate = "ab\xED\xA0\x80";
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_params_begin(&params, text("a"), NC_PARAMS_OBJECT);
    nc_params_begin(&params, text("b"), NC_PARAMS_ARRAY);
    nc_params_add_string(&params, text(""), text(surrogate));
    nc_params_end(&params);
    nc_params_end(&params);
    assert_refused(&params, (nc_flatten_options){0}, "'a[b][]': the text is not UTF-8", 2);
    assert_refused(&params, (nc_flatten_options){.arrays = NC_ARRAYS_COMMA}, "'a[b]': the text is not UTF-8", 2);
    nc_params_reset(&params, NC_PARAMS_OBJECT);
    nc_params_add_null(&params, text(surrogate));
    assert_refused(&params, (nc_flatten_options){0}, "'ab\?\?\?': the name is not UTF-8", 2);
    nc_params_reset(&params, NC_PARAMS_OBJECT);
    nc_params_begin(&params, text("a"), NC_PARAMS_OBJECT);
    nc_params_add_null(&params, text("\xFF"));
    nc_params_end(&params);
    assert_refused(&params, (nc_flatten_options){0}, "'a[?]': the name is not UTF-8", 0);
    nc_params_deinit(&params);
}

static void flatten__rejects_nan_and_infinity(void **state) {
    (void)state;
    static const char *const bad[] = {"",   "-",   "+1",  "01",  "1.",   ".5",    "1e",   "1e+", "0x1",  " 1",
                                      "1 ", "1,5", "NaN", "-01", "1.e1", "1e1.5", "1..2", "--1", "1e--1"};
    static const char *const good[] = {"0", "-0", "10", "1.50", "1e5", "1E+05", "-1.25e-7", "0.0", "0e0"};
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        nc_params_reset(&params, NC_PARAMS_OBJECT);
        nc_params_add_number(&params, text("n"), text(bad[i]));
        assert_refused(&params, (nc_flatten_options){0}, "'n': the number is not valid", 0);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        nc_params_reset(&params, NC_PARAMS_OBJECT);
        nc_params_add_number(&params, text("n"), text(good[i]));
        char expected[32] = "n=";
        strcat(strcat(expected, good[i]), " ");
        assert_flat(&params, (nc_flatten_options){0}, expected);
    }
    nc_params_reset(&params, NC_PARAMS_OBJECT);
    nc_params_add_double(&params, text("d"), (double)NAN);
    assert_refused(&params, (nc_flatten_options){0}, "'d': the number is not finite", 0);
    nc_params_reset(&params, NC_PARAMS_OBJECT);
    nc_params_add_double(&params, text("d"), -(double)INFINITY);
    assert_refused(&params, (nc_flatten_options){0}, "'d': the number is not finite", 0);
    nc_params_deinit(&params);
}

static void flatten__a_root_without_names_is_rejected(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_ARRAY, 0);
    nc_params_add_null(&params, text(""));
    assert_refused(&params, (nc_flatten_options){0}, "the parameters have no names: the root is not an object", -1);
    nc_params_deinit(&params);
}

static void flatten__rejects_invalid_arguments(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_buf out = nc_buf_init(100);
    nc_flatten_options options = {.arrays = (nc_array_style)9};
    assert_status(nc_params_flatten(&params, &options, write_pair, &out, NULL), NC_ERR_USAGE);
    options = (nc_flatten_options){.nested = (nc_nested_style)9};
    assert_status(nc_params_flatten(&params, &options, write_pair, &out, NULL), NC_ERR_USAGE);
    options = (nc_flatten_options){.order = (nc_order)9};
    assert_status(nc_params_flatten(&params, &options, write_pair, &out, NULL), NC_ERR_USAGE);
    nc_params_begin(&params, text("a"), NC_PARAMS_SET);
    assert_status(nc_params_flatten(&params, NULL, write_pair, &out, NULL), NC_ERR_USAGE);
    nc_params_deinit(&params);
}

static void flatten__stops_when_the_visitor_stops(void **state) {
    (void)state;
    nc_params params = sample();
    nc_buf out = nc_buf_init(20);
    assert_status(nc_params_flatten(&params, NULL, write_pair, &out, NULL), NC_ERR_TOO_LARGE);
    assert_true(nc_slice_is_equal(nc_slice_make(out.data, 11), text("families[]=")));
    nc_buf_deinit(&out);
    nc_params_deinit(&params);
}

static void flatten__sorts_stably_by_utf16_code_units(void **state) {
    (void)state;
    // In UTF-16, U+FF5E sorts after U+1F600, which is a surrogate pair. In UTF-8 it sorts before it.
    static const char *const names[] = {
        "\xEF\xBD\x9E", "b", "\xF0\x9F\x98\x80", "a", "B", "ab", "\xED\x9F\xBF", "a", ""};
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        nc_params_add_integer(&params, text(names[i]), (int64_t)i);
    }
    assert_flat(&params, (nc_flatten_options){0},
                "=8 B=4 a=3 a=7 ab=5 b=1 \xED\x9F\xBF=6 \xF0\x9F\x98\x80=2 \xEF\xBD\x9E=0 ");
    nc_params_deinit(&params);
}

static void flatten__sorts_many_names(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_buf expected = nc_buf_init(1 << 16);
    for (unsigned i = 0; i < 1000; i++) {
        char name[4] = {(char)('0' + i * 7 % 1000 / 100), (char)('0' + i * 7 / 10 % 10), (char)('0' + i * 7 % 10), 0};
        nc_params_add_null(&params, text(name));
        char line[6] = {(char)('0' + i / 100), (char)('0' + i / 10 % 10), (char)('0' + i % 10), '=', ' ', 0};
        nc_buf_append(&expected, text(line));
    }
    nc_buf_append_byte(&expected, 0);
    assert_flat(&params, (nc_flatten_options){0}, (const char *)expected.data);
    nc_buf_deinit(&expected);
    nc_params_deinit(&params);
}

static void flatten__the_order_in_a_set_does_not_matter(void **state) {
    (void)state;
    for (unsigned turn = 0; turn < 6; turn++) {
        nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
        nc_params_begin(&params, text("s"), NC_PARAMS_SET);
        for (unsigned i = 0; i < 6; i++) {
            switch ((i + turn) % 6) {
            case 0:
                nc_params_add_integer(&params, text(""), 10);
                break;
            case 1:
                nc_params_add_string(&params, text(""), text("9"));
                break;
            case 2:
                nc_params_begin(&params, text(""), NC_PARAMS_ARRAY);
                nc_params_add_integer(&params, text(""), 1);
                nc_params_end(&params);
                break;
            case 3:
                nc_params_begin(&params, text(""), NC_PARAMS_OBJECT);
                nc_params_add_integer(&params, text("k"), 0);
                nc_params_end(&params);
                break;
            case 4:
                nc_params_add_string(&params, text(""), text("10"));
                break;
            default:
                nc_params_begin(&params, text(""), NC_PARAMS_ARRAY);
                nc_params_add_integer(&params, text(""), 1);
                nc_params_add_integer(&params, text(""), 2);
                nc_params_end(&params);
            }
        }
        nc_params_end(&params);
        assert_flat(&params, (nc_flatten_options){0}, "s=10 s=10 s=9 s[]=1 s[]=1 s[]=2 s[k]=0 ");
        nc_params_deinit(&params);
    }
}

/// Adds a set of pairs, each of them a set or an object in an array, filled forwards or backwards.
static void add_pairs(nc_params *params, bool is_reversed, bool is_nested) {
    static const int pairs[][2] = {{1, 9}, {5, 6}, {2, 2}};
    enum { COUNT = sizeof pairs / sizeof *pairs };
    nc_params_begin(params, text(is_nested ? "n" : "s"), NC_PARAMS_SET);
    for (unsigned i = 0; i < COUNT; i++) {
        const int *pair = pairs[is_reversed ? COUNT - 1 - i : i];
        if (is_nested) {
            nc_params_begin(params, text(""), NC_PARAMS_ARRAY);
        }
        nc_params_begin(params, text(""), NC_PARAMS_SET);
        nc_params_add_integer(params, text(""), pair[is_reversed ? 1 : 0]);
        nc_params_add_integer(params, text(""), pair[is_reversed ? 0 : 1]);
        nc_params_end(params);
        if (is_nested) {
            nc_params_end(params);
        }
    }
    nc_params_end(params);
}

static void flatten__nested_sets_may_be_filled_in_any_order(void **state) {
    (void)state;
    for (unsigned turn = 0; turn < 2; turn++) {
        nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
        add_pairs(&params, turn == 1, false);
        add_pairs(&params, turn == 1, true);
        assert_flat(&params, (nc_flatten_options){.order = NC_ORDER_AS_GIVEN},
                    "s=1 s=9 s=2 s=2 s=5 s=6 n[]=1 n[]=9 n[]=2 n[]=2 n[]=5 n[]=6 ");
        nc_params_deinit(&params);
    }
}

static void flatten__nested_sets_take_linear_time(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_params_begin(&params, text("s"), NC_PARAMS_SET);
    for (unsigned depth = 2; depth < NC_PARAMS_MAX_DEPTH; depth++) {
        nc_params_add_integer(&params, text(""), depth);
        nc_params_begin(&params, text(""), NC_PARAMS_SET);
    }
    nc_params_add_integer(&params, text(""), 1);
    for (unsigned depth = 1; depth < NC_PARAMS_MAX_DEPTH; depth++) {
        nc_params_end(&params);
    }
    nc_buf out = nc_buf_init(8192);
    assert_status(nc_params_flatten(&params, NULL, write_pair, &out, NULL), NC_OK);
    assert_true(nc_slice_is_equal(nc_slice_make(out.data, 8), text("s=2 s=3 ")));
    nc_buf_deinit(&out);
    nc_params_deinit(&params);
}

static void walk_all(void *ctx) {
    (void)ctx;
    nc_params params = sample();
    add_deep(&params);
    nc_params_begin(&params, text("many"), NC_PARAMS_SET);
    for (int i = 100; i > 0; i--) {
        nc_params_add_integer(&params, text(""), i);
    }
    nc_params_end(&params);
    add_pairs(&params, true, true);
    nc_buf out = nc_buf_init(1 << 16);
    nc_error err;
    nc_status status = nc_params_flatten(&params, NULL, write_pair, &out, &err);
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    assert_status(err.status, status);
    nc_buf_deinit(&out);
    nc_params_deinit(&params);
}

static void flatten__survives_each_failing_allocation(void **state) {
    (void)state;
    assert_true(each_allocation_failure(walk_all, NULL) > 4);
}

static void flatten__handles_the_maximum_depth(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    for (unsigned depth = 1; depth < NC_PARAMS_MAX_DEPTH; depth++) {
        nc_params_begin(&params, text("d"), depth % 2 == 0 ? NC_PARAMS_ARRAY : NC_PARAMS_OBJECT);
    }
    nc_params_add_null(&params, text("d"));
    for (unsigned depth = 1; depth < NC_PARAMS_MAX_DEPTH; depth++) {
        nc_params_end(&params);
    }
    nc_buf out = nc_buf_init(8192);
    nc_flatten_options options = {.arrays = NC_ARRAYS_INDEXED};
    assert_status(nc_params_flatten(&params, &options, write_pair, &out, NULL), NC_OK);
    assert_int_equal(out.length, strlen("d") + (NC_PARAMS_MAX_DEPTH - 1) * strlen("[d]") + strlen("= "));
    nc_buf_deinit(&out);
    nc_params_deinit(&params);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(flatten__names_values_by_brackets_and_sorts_them),
        harness_case(flatten__preserves_the_order_on_request),
        harness_case(flatten__names_arrays_in_every_style),
        harness_case(flatten__passes_arrays_to_be_joined_to_the_visitor),
        harness_case(flatten__rejects_joining_containers),
        harness_case(flatten__names_the_key_of_invalid_utf8),
        harness_case(flatten__rejects_nan_and_infinity),
        harness_case(flatten__a_root_without_names_is_rejected),
        harness_case(flatten__rejects_invalid_arguments),
        harness_case(flatten__stops_when_the_visitor_stops),
        harness_case(flatten__sorts_stably_by_utf16_code_units),
        harness_case(flatten__sorts_many_names),
        harness_case(flatten__the_order_in_a_set_does_not_matter),
        harness_case(flatten__nested_sets_may_be_filled_in_any_order),
        harness_case(flatten__nested_sets_take_linear_time),
        harness_case(flatten__survives_each_failing_allocation),
        harness_case(flatten__handles_the_maximum_depth),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
