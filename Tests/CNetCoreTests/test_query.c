#include "parameter_vectors.h"

#include <stdio.h>
#include <string.h>

static void check_vector(const nc_params_item *vector) {
    nc_params_item values;
    nc_params_item sets;
    nc_params_item options;
    nc_params_item expected;
    assert_true(parameter_field(vector, "params", &values));
    bool has_sets = parameter_field(vector, "sets", &sets);
    bool has_options = parameter_field(vector, "options", &options);
    nc_params params = parameter_copy(&values, has_sets ? &sets : NULL);
    nc_query_options chosen = parameter_options(has_options ? &options : NULL);
    nc_buf out = nc_buf_init(4096);
    nc_error err;
    nc_status status = nc_query_append(&out, &params, &chosen, &err);
    if (parameter_field(vector, "error", &expected)) {
        assert_status(status, NC_ERR_BAD_PARAMETER);
        char key[128];
        (void)snprintf(key, sizeof key, "'%.*s'", (int)expected.content.length, (const char *)expected.content.data);
        assert_non_null(strstr(err.message, key));
    } else {
        assert_status(status, NC_OK);
        assert_true(parameter_field(vector, "query", &expected));
        if (!nc_slice_is_equal(nc_buf_slice(&out), expected.content)) {
            fail_msg("'%.*s' is not '%.*s'", (int)out.length, (const char *)out.data, (int)expected.content.length,
                     (const char *)expected.content.data);
        }
    }
    nc_buf_deinit(&out);
    nc_params_deinit(&params);
}

static size_t check_vectors(const char *name) {
    nc_params file = parameter_vectors(name);
    nc_params_item root = nc_params_root(&file);
    nc_params_cursor cursor = nc_params_children(&root);
    nc_params_item vector;
    size_t count = 0;
    for (; nc_params_next(&cursor, &vector); count++) {
        check_vector(&vector);
    }
    nc_params_deinit(&file);
    return count;
}

static void query__agrees_with_each_vector(void **state) {
    (void)state;
    assert_int_equal(check_vectors("query.json"), 13);
    assert_true(check_vectors("query_own.json") > 30);
}

static void query__is_attached_to_each_kind_of_url(void **state) {
    (void)state;
    nc_params file = parameter_vectors("query_attach.json");
    nc_params_item root = nc_params_root(&file);
    nc_params_cursor cursor = nc_params_children(&root);
    nc_params_item vector;
    nc_params_item url;
    nc_params_item query;
    nc_params_item result;
    while (nc_params_next(&cursor, &vector)) {
        assert_true(parameter_field(&vector, "url", &url) && parameter_field(&vector, "query", &query) &&
                    parameter_field(&vector, "result", &result));
        guarded copy = guarded_copy(url.content);
        nc_buf out = nc_buf_init(100);
        nc_buf_append_byte(&out, '>');
        assert_status(nc_query_attach(&out, copy.slice, query.content, NULL), NC_OK);
        assert_true(nc_slice_is_equal(nc_slice_make(out.data + 1, out.length - 1), result.content));
        nc_buf_deinit(&out);
        guarded_deinit(&copy);
    }
    nc_params_deinit(&file);
}

static void query__only_an_attached_query_rejects_a_fragment_delimiter(void **state) {
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++) {
        char text[] = "a=?";
        text[2] = (char)byte;
        nc_buf out = nc_buf_init(100);
        nc_buf_append(&out, nc_slice_of("kept"));
        nc_error err;
        nc_status status = nc_query_attach(&out, nc_slice_of("http://a/"), nc_slice_make(text, 3), &err);
        bool is_bad = byte <= ' ' || byte == '#' || byte == 0x7F;
        assert_status(status, is_bad ? NC_ERR_BAD_PARAMETER : NC_OK);
        assert_int_equal(err.offset, is_bad ? 2 : -1);
        assert_true(!is_bad || out.length == 4);
        nc_buf_deinit(&out);
    }
}

static void query__a_query_that_does_not_fit_leaves_the_buffer_unchanged(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_params_add_string(&params, nc_slice_of("name"), nc_slice_of("some value"));
    nc_params_add_integer(&params, nc_slice_of("other"), 12);
    size_t needed = strlen("x") + strlen("name=some%20value&other=12");
    for (size_t max = 1; max <= needed; max++) {
        nc_buf out = nc_buf_init(max);
        nc_buf_append_byte(&out, 'x');
        nc_error err;
        nc_status expected = max < needed ? NC_ERR_TOO_LARGE : NC_OK;
        assert_status(nc_query_append(&out, &params, NULL, &err), expected);
        assert_status(err.status, expected);
        assert_int_equal(out.length, max < needed ? 1 : needed);
        nc_buf_deinit(&out);
    }
    nc_params_deinit(&params);
    nc_buf small = nc_buf_init(10);
    assert_status(nc_query_attach(&small, nc_slice_of("http://a/"), nc_slice_of("a=b"), NULL), NC_ERR_TOO_LARGE);
    assert_int_equal(small.length, 0);
    nc_buf_deinit(&small);
}

static void query__a_failure_midway_restores_the_buffer(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_params_add_string(&params, nc_slice_of("a"), nc_slice_of("fine"));
    nc_params_add_string(&params, nc_slice_of("b"), nc_slice_of("x\xED\xA0\x80"));
    nc_buf out = nc_buf_init(100);
    nc_error err;
    assert_status(nc_query_append(&out, &params, NULL, &err), NC_ERR_BAD_PARAMETER);
    assert_string_equal(err.message, "'b': the text is not UTF-8");
    assert_int_equal(err.offset, 1);
    assert_int_equal(out.length, 0);
    assert_status(nc_buf_status(&out), NC_OK);
    nc_buf_deinit(&out);
    nc_params_deinit(&params);
}

static void query__bytes_need_no_charset(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_params_add_bytes(&params, nc_slice_of("b"), nc_slice_make("\xFF\0a", 3));
    nc_buf out = nc_buf_init(100);
    assert_status(nc_query_append(&out, &params, NULL, NULL), NC_OK);
    assert_slice_equals(nc_buf_slice(&out), "b=%FF%00a");
    nc_buf_deinit(&out);
    nc_params_deinit(&params);
}

static void query__rejects_invalid_arguments(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_buf out = nc_buf_init(100);
    nc_query_options options = {.booleans = (nc_boolean_style)7};
    assert_status(nc_query_append(&out, &params, &options, NULL), NC_ERR_USAGE);
    options = (nc_query_options){.spaces = (nc_space_style)7};
    assert_status(nc_query_append(&out, &params, &options, NULL), NC_ERR_USAGE);
    options = (nc_query_options){.names = {.order = (nc_order)7}};
    assert_status(nc_query_append(&out, &params, &options, NULL), NC_ERR_USAGE);
    nc_params_begin(&params, nc_slice_of("open"), NC_PARAMS_ARRAY);
    assert_status(nc_query_append(&out, &params, NULL, NULL), NC_ERR_USAGE);
    nc_params_deinit(&params);
}

/* --- a caller's own encoder --- */

static nc_status count_fields(void *ctx, nc_buf *out, const nc_params *params, nc_error *err) {
    (void)err;
    nc_params_item root = nc_params_root(params);
    nc_params_cursor cursor = nc_params_children(&root);
    nc_params_item item;
    while (nc_params_next(&cursor, &item)) {
        nc_buf_append(out, nc_slice_of(ctx));
    }
    return NC_OK;
}

static nc_status refuse(void *ctx, nc_buf *out, const nc_params *params, nc_error *err) {
    (void)params;
    nc_buf_append(out, nc_slice_of("half"));
    if (ctx != NULL && err != NULL) {
        *err = (nc_error){.status = NC_ERR_STOPPED_BY_CALLER, .offset = 5, .message = "not today"};
    }
    return NC_ERR_STOPPED_BY_CALLER;
}

static void query__a_custom_encoder_writes_the_whole_query(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_params_add_null(&params, nc_slice_of("a"));
    nc_params_add_null(&params, nc_slice_of("b"));
    nc_buf out = nc_buf_init(100);
    nc_buf_append(&out, nc_slice_of("f?"));
    nc_query_options options = {.encode = count_fields, .ctx = "*"};
    assert_status(nc_query_append(&out, &params, &options, NULL), NC_OK);
    assert_slice_equals(nc_buf_slice(&out), "f?**");
    nc_buf_deinit(&out);
    nc_params_deinit(&params);
}

static void query__a_custom_encoder_can_fail(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_ARRAY, 0);
    nc_buf out = nc_buf_init(100);
    nc_error err;
    nc_query_options options = {.encode = refuse, .ctx = "detail"};
    assert_status(nc_query_append(&out, &params, &options, &err), NC_ERR_STOPPED_BY_CALLER);
    assert_string_equal(err.message, "not today");
    assert_int_equal(out.length, 0);
    options.ctx = NULL;
    assert_status(nc_query_append(&out, &params, &options, &err), NC_ERR_STOPPED_BY_CALLER);
    assert_status(err.status, NC_ERR_STOPPED_BY_CALLER);
    // The state is sticky: a caller that ignores a full buffer gets the error later.
    nc_params_add_null(&params, nc_slice_of(""));
    nc_buf_deinit(&out);
    out = nc_buf_init(3);
    options = (nc_query_options){.encode = count_fields, .ctx = "long"};
    assert_status(nc_query_append(&out, &params, &options, &err), NC_ERR_TOO_LARGE);
    nc_buf_deinit(&out);
    nc_params_begin(&params, nc_slice_of(""), NC_PARAMS_ARRAY);
    assert_status(nc_query_append(&out, &params, &options, &err), NC_ERR_USAGE);
    nc_params_deinit(&params);
}

static void write_and_attach(void *ctx) {
    (void)ctx;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_params_begin(&params, nc_slice_of("container"), NC_PARAMS_OBJECT);
    for (int i = 60; i > 0; i--) {
        char name[] = {(char)('A' + i), 0};
        nc_params_add_string(&params, nc_slice_of(name), nc_slice_of("a value, with room"));
    }
    nc_params_end(&params);
    nc_buf out = nc_buf_init(1 << 16);
    nc_buf url = nc_buf_init(1 << 16);
    nc_error err;
    nc_status status = nc_query_append(&out, &params, NULL, &err);
    if (status == NC_OK) {
        status = nc_query_attach(&url, nc_slice_of("http://a/#b"), nc_buf_slice(&out), &err);
    }
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    assert_status(err.status, status);
    nc_buf_deinit(&url);
    nc_buf_deinit(&out);
    nc_params_deinit(&params);
}

static void query__survives_each_failing_allocation(void **state) {
    (void)state;
    assert_true(each_allocation_failure(write_and_attach, NULL) > 6);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(query__agrees_with_each_vector),
        harness_case(query__is_attached_to_each_kind_of_url),
        harness_case(query__only_an_attached_query_rejects_a_fragment_delimiter),
        harness_case(query__a_query_that_does_not_fit_leaves_the_buffer_unchanged),
        harness_case(query__a_failure_midway_restores_the_buffer),
        harness_case(query__bytes_need_no_charset),
        harness_case(query__rejects_invalid_arguments),
        harness_case(query__a_custom_encoder_writes_the_whole_query),
        harness_case(query__a_custom_encoder_can_fail),
        harness_case(query__survives_each_failing_allocation),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
