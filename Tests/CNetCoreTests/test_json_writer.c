#include "harness.h"

#include <math.h>
#include <string.h>

static nc_slice text(const char *bytes) {
    return nc_slice_of(bytes);
}

static nc_params parsed(const char *json) {
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_error err;
    assert_status(nc_params_parse_json(&params, text(json), &err), NC_OK);
    return params;
}

static void assert_written(nc_params *params, const nc_json_style *style, const char *expected) {
    nc_buf out = nc_buf_init(strlen(expected));
    nc_error err;
    assert_status(nc_json_write(&out, params, style, &err), NC_OK);
    assert_slice_equals(nc_buf_slice(&out), expected);
    nc_buf_deinit(&out);
    nc_params_deinit(params);
}

static void json__a_parsed_text_round_trips(void **state) {
    (void)state;
    static const char *const rows[] = {
        "{}",
        "[]",
        "{\"z\":1,\"a\":2,\"z\":3}",
        "{\"a\":[[],{},[null,true,false]],\"b\":{\"c\":\"d\"}}",
        "{\"n\":[0,-0,1.0,1.50,1e999,9007199254740993,123456789012345678901234567890]}",
        "{\"a\\u0000b\":\"\\u0000\\u001f\\b\\t\\n\\f\\r\\\"\\\\\\/\x7F\xC3\xA4\xF0\x9F\x98\x80\"}",
        "[\"\"]",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nc_params params = parsed(rows[i]);
        assert_written(&params, NULL, rows[i]);
    }
}

static void json__writes_each_kind(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_ARRAY, 0);
    nc_params_add_integer(&params, text(""), INT64_MIN);
    nc_params_add_double(&params, text(""), 0.1);
    nc_params_add_double(&params, text(""), 1.0);
    nc_params_add_double(&params, text(""), 1e300);
    nc_params_add_number(&params, text(""), text("1.10"));
    nc_params_add_null(&params, text(""));
    nc_params_add_boolean(&params, text(""), true);
    assert_written(&params, NULL, "[-9223372036854775808,0.1,1,1e300,1.10,null,true]");
}

static void json__writes_each_style(void **state) {
    (void)state;
    static const char json[] = "{\"b\":[1,{\"y\":\"a/b\",\"x\":[]}],\"a\":{}}";
    static const nc_json_style sorted = {.is_sorted = true};
    static const nc_json_style slashes = {.keeps_slashes = true};
    static const nc_json_style pretty = {.is_sorted = true, .is_pretty = true, .keeps_slashes = true};
    nc_params params = parsed(json);
    assert_written(&params, &sorted, "{\"a\":{},\"b\":[1,{\"x\":[],\"y\":\"a\\/b\"}]}");
    params = parsed(json);
    assert_written(&params, &slashes, json);
    params = parsed(json);
    assert_written(&params, &pretty,
                   "{\n  \"a\": {},\n  \"b\": [\n    1,\n    {\n      \"x\": [],\n      \"y\": \"a/b\"\n    }\n  ]\n}");
}

static void assert_refused(nc_params *params, const char *message) {
    nc_buf out = nc_buf_init(1000);
    nc_error err;
    nc_buf_append_byte(&out, '>');
    assert_status(nc_json_write(&out, params, NULL, &err), NC_ERR_BAD_PARAMETER);
    assert_string_equal(err.message, message);
    assert_slice_equals(nc_buf_slice(&out), ">");
    nc_buf_deinit(&out);
    nc_params_deinit(params);
}

static nc_params nested(void) {
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_params_begin(&params, text("a"), NC_PARAMS_OBJECT);
    nc_params_begin(&params, text("b"), NC_PARAMS_ARRAY);
    nc_params_add_null(&params, text(""));
    nc_params_add_null(&params, text(""));
    return params;
}

static void close_nested(nc_params *params) {
    nc_params_end(params);
    nc_params_end(params);
}

static void json__names_the_path_of_a_value_that_json_cannot_express(void **state) {
    (void)state;
    nc_params params = nested();
    nc_params_begin(&params, text(""), NC_PARAMS_SET);
    nc_params_end(&params);
    close_nested(&params);
    assert_refused(&params, "'a.b[2]': a set, which JSON cannot represent");
    params = nested();
    nc_params_add_double(&params, text(""), INFINITY);
    close_nested(&params);
    assert_refused(&params, "'a.b[2]': the number is not finite");
    params = nested();
    nc_params_add_bytes(&params, text(""), text("x"));
    close_nested(&params);
    assert_refused(&params, "'a.b[2]': bytes, which JSON cannot represent");
    params = nested();
    nc_params_add_string(&params, text(""), text("ok\xED\xA0\x80"));
    close_nested(&params);
    assert_refused(&params, "'a.b[2]': the text is not UTF-8");
    params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_params_add_number(&params, text("n"), text("01"));
    assert_refused(&params, "'n': the number is not valid");
    params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_params_add_null(&params, text("\xFF"));
    assert_refused(&params, "'?': the name is not UTF-8");
    params = nc_params_init(NC_PARAMS_SET, 0);
    assert_refused(&params, "'': a set, which JSON cannot represent");
}

static void json__rejects_incomplete_trees_and_full_buffers(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    const nc_params *nothing = NULL;
    nc_buf out = nc_buf_init(10);
    nc_params_begin(&params, text("a"), NC_PARAMS_ARRAY);
    assert_status(nc_json_write(&out, &params, NULL, NULL), NC_ERR_USAGE);
    assert_status(nc_json_write(&out, nothing, NULL, NULL), NC_ERR_USAGE);
    nc_params_add_string(&params, text(""), text("longer than ten bytes"));
    nc_params_end(&params);
    assert_status(nc_json_write(&out, &params, NULL, NULL), NC_ERR_TOO_LARGE);
    assert_int_equal(out.length, 0);
    nc_buf_deinit(&out);
    nc_params_deinit(&params);
}

static void write_one(void *ctx) {
    static const nc_json_style sorted = {.is_sorted = true};
    nc_buf out = nc_buf_init(100000);
    nc_status status = nc_json_write(&out, ctx, &sorted, NULL);
    assert_status(status, harness_has_failed_allocation() ? NC_ERR_NO_MEMORY : NC_OK);
    nc_buf_deinit(&out);
}

static void json__survives_each_allocation_failure(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    for (int i = 0; i < 60; i++) {
        const char name[] = {(char)('~' - i), 0};
        nc_params_add_integer(&params, text(name), i);
    }
    assert_true(each_allocation_failure(write_one, &params) >= 2);
    nc_params_deinit(&params);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(json__a_parsed_text_round_trips),
        harness_case(json__writes_each_kind),
        harness_case(json__writes_each_style),
        harness_case(json__names_the_path_of_a_value_that_json_cannot_express),
        harness_case(json__rejects_incomplete_trees_and_full_buffers),
        harness_case(json__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
