/// Trees as text, as parameters, and compared with shapes.
#include "harness.h"

#include <math.h>
#include <netcore/cjson.h>
#include <netcore/json_writer.h>
#include <string.h>

static cJSON *tree_of(const char *text) {
    cJSON *tree = NULL;
    nc_cjson_options options = {.keeps_raw = true};
    assert_status(nc_cjson_read(nc_slice_of(text), &options, &tree, NULL), NC_OK);
    return tree;
}

static void assert_written(const char *text, const char *expected) {
    cJSON *tree = tree_of(text);
    nc_buf out = nc_buf_init(SIZE_MAX);
    nc_error err;
    nc_buf_append(&out, nc_slice_of("body="));
    assert_status(nc_cjson_write(&out, tree, &err), NC_OK);
    assert_status(err.status, NC_OK);
    assert_slice_equals(nc_slice_make(out.data + 5, out.length - 5), expected);
    nc_buf_deinit(&out);
    cJSON_Delete(tree);
}

static void cjson__a_tree_is_written_as_compact_json(void **state) {
    (void)state;
    assert_written(
        "{ \"a\" : [ 1 , 2.50 , 1e21 , -0 , 0.1, 1e-7 ] , \"\\u0001\\t\\\"\\\\\" : \"é/\\u001f\\b\\f\\r\\u000b\" }",
        "{\"a\":[1,2.5,1e21,-0,0.1,1e-7],\"\\u0001\\t\\\"\\\\\":\"é/\\u001f\\b\\f\\r\\u000b\"}");
    assert_written("[9007199254740993,\"\\u0000\",true,false,null,{},[]]",
                   "[9007199254740993,\"\\u0000\",true,false,null,{},[]]");
    assert_written("12", "12");
    // Written as an integer, it could not be read again.
    assert_written("[2e20, 9007199254740994.0]", "[200000000000000000000.0,9007199254740994.0]");
}

/// Takes the tree.
static void assert_not_written(cJSON *tree, nc_status status, const char *message) {
    nc_buf out = nc_buf_init(SIZE_MAX);
    nc_error err;
    nc_buf_append(&out, nc_slice_of("x"));
    assert_status(nc_cjson_write(&out, tree, &err), status);
    assert_string_equal(err.message, message);
    assert_slice_equals(nc_buf_slice(&out), "x");
    nc_buf_deinit(&out);
    cJSON_Delete(tree);
}

static void cjson__a_tree_that_json_cannot_represent_is_refused(void **state) {
    (void)state;
    assert_not_written(cJSON_CreateNumber(NAN), NC_ERR_BAD_PARAMETER, "a number of the tree is not finite");
    assert_not_written(cJSON_CreateNumber(-INFINITY), NC_ERR_BAD_PARAMETER, "a number of the tree is not finite");
    assert_not_written(cJSON_CreateString("\xc3"), NC_ERR_BAD_PARAMETER, "a text of the tree is not valid UTF-8");
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "\xff", cJSON_CreateNull());
    assert_not_written(object, NC_ERR_BAD_PARAMETER, "a text of the tree is not valid UTF-8");
    cJSON *array = cJSON_CreateArray();
    cJSON_AddItemToArray(array, cJSON_CreateRaw("1,2"));
    assert_not_written(array, NC_ERR_BAD_PARAMETER, "a cJSON_Raw of the tree is not JSON");
    object = cJSON_CreateObject();
    cJSON_AddItemToArray(object, cJSON_CreateNumber(1));
    assert_not_written(object, NC_ERR_BAD_PARAMETER, "a member of an object has no name");
    cJSON *broken = cJSON_CreateNull();
    broken->type = 0;
    assert_not_written(broken, NC_ERR_BAD_PARAMETER, "an item of the tree has no type");
    broken = cJSON_CreateNull();
    broken->type = cJSON_String;
    assert_not_written(broken, NC_ERR_BAD_PARAMETER, "a string of the tree has no text");
}

static void cjson__a_tree_that_contains_itself_is_refused(void **state) {
    nc_buf out = nc_buf_init(SIZE_MAX);
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_error err;
    (void)state;
    cJSON *tree = cJSON_CreateArray();
    tree->child = tree;
    assert_status(nc_cjson_write(&out, tree, &err), NC_ERR_TOO_LARGE);
    assert_status(nc_params_add_cjson(&params, nc_slice_of("a"), tree, &err), NC_ERR_TOO_LARGE);
    tree->child = NULL;
    cJSON_Delete(tree);
    nc_params_deinit(&params);
    nc_buf_deinit(&out);
}

static void cjson__a_buffer_limits_the_text(void **state) {
    cJSON *tree = tree_of("[1,2,3]");
    nc_buf out = nc_buf_init(6);
    nc_error err;
    (void)state;
    assert_status(nc_cjson_write(&out, tree, &err), NC_ERR_TOO_LARGE);
    assert_int_equal(out.length, 0);
    nc_buf_deinit(&out);
    cJSON_Delete(tree);
}

/* --- parameters --- */

static void cjson__a_tree_becomes_parameters_and_back(void **state) {
    static const char text[] =
        "{\"a\":[1,2.5,-0,200000000000000000000.0,9007199254740993],\"b\":{\"c\":null,\"d\":\"\\u0000x\"},\"e\":true}";
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_json_style style = {.keeps_slashes = true};
    nc_buf out = nc_buf_init(SIZE_MAX);
    nc_error err;
    (void)state;
    cJSON *tree = tree_of(text);
    assert_status(nc_params_add_cjson(&params, nc_slice_of("tree"), tree, &err), NC_OK);
    cJSON_Delete(tree);
    assert_status(nc_json_write(&out, &params, &style, &err), NC_OK);
    assert_slice_equals(nc_buf_slice(&out), "{\"tree\":{\"a\":[1,2.5,-0,200000000000000000000.0,9007199254740993],"
                                            "\"b\":{\"c\":null,\"d\":\"\\u0000x\"},\"e\":true}}");
    assert_status(nc_cjson_of_params(&params, NULL, &tree, &err), NC_ERR_BAD_PARAMETER);
    assert_null(tree);
    assert_string_equal(err.message, "at /tree/a/4: cJSON's numbers are doubles, which cannot represent this one");
    nc_cjson_options options = {.keeps_raw = true};
    assert_status(nc_cjson_of_params(&params, &options, &tree, &err), NC_OK);
    assert_true(cJSON_IsRaw(cJSON_GetArrayItem(cJSON_GetObjectItem(tree->child, "a"), 4)));
    cJSON_Delete(tree);
    nc_buf_deinit(&out);
    nc_params_deinit(&params);
}

static void cjson__raw_text_becomes_parameters_with_its_members(void **state) {
    nc_params params = nc_params_init(NC_PARAMS_ARRAY, 0);
    nc_buf out = nc_buf_init(SIZE_MAX);
    nc_error err;
    (void)state;
    cJSON *raw = cJSON_CreateRaw("{\"a\\n\":[1.0,{\"b\":\"c\"},false,null],\"d\":[]}");
    assert_status(nc_params_add_cjson(&params, nc_slice_of(""), raw, &err), NC_OK);
    cJSON_Delete(raw);
    assert_status(nc_json_write(&out, &params, NULL, &err), NC_OK);
    assert_slice_equals(nc_buf_slice(&out), "[{\"a\\n\":[1.0,{\"b\":\"c\"},false,null],\"d\":[]}]");
    raw = cJSON_CreateRaw("{\"a\":1");
    assert_status(nc_params_add_cjson(&params, nc_slice_of(""), raw, &err), NC_ERR_BAD_PARAMETER);
    cJSON_Delete(raw);
    nc_buf_deinit(&out);
    nc_params_deinit(&params);
}

/* --- shapes --- */

static void assert_match(const char *shape_text, const char *text, bool is_lenient, const char *message) {
    nc_shape *shape = NULL;
    nc_error err;
    nc_shape_options options = {.is_lenient = is_lenient};
    assert_status(nc_shape_parse(&shape, nc_slice_of(shape_text), &err), NC_OK);
    cJSON *tree = tree_of(text);
    nc_status status = nc_cjson_matches(tree, shape, &options, &err);
    assert_status(status, message == NULL ? NC_OK : NC_ERR_SHAPE_MISMATCH);
    if (message != NULL) {
        assert_string_equal(err.message, message);
        assert_int_equal(err.offset, -1);
    }
    cJSON_Delete(tree);
    nc_shape_release(shape);
}

static void cjson__a_tree_is_compared_with_a_shape(void **state) {
    static const char shape[] = "{\"id\":\"integer\",\"tags?\":[\"string\"]}";
    (void)state;
    assert_match(shape, "{\"id\":1,\"more\":[]}", false, NULL);
    assert_match(shape, "{\"id\":1.0,\"tags\":[\"a\"]}", false, NULL);
    assert_match(shape, "{\"id\":1.5}", false, "at /id: expected integer, found number");
    assert_match(shape, "{\"id\":1,\"tags\":[\"a\",2]}", false, "at /tags/1: expected string, found number");
    assert_match(shape, "{\"id\":true}", false, "at /id: expected integer, found boolean");
    assert_match(shape, "{\"id\":true,\"tags\":null}", true, NULL);
    assert_match("{\"id\":\"integer\"}", "{\"id\":9007199254740993}", false, NULL);
}

static void convert_everything(void *ctx) {
    nc_shape *shape = ctx;
    nc_cjson_options options = {.keeps_raw = true};
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_buf out = nc_buf_init(SIZE_MAX);
    cJSON *tree = NULL;
    cJSON *again = NULL;
    nc_status status = nc_cjson_read(nc_slice_of("{\"a\":[1,\"x\"],\"b\":9007199254740993}"), &options, &tree, NULL);
    if (status == NC_OK) {
        status = nc_cjson_write(&out, tree, NULL);
        assert_true(status == NC_OK || out.length == 0);
    }
    status = status == NC_OK ? nc_cjson_matches(tree, shape, NULL, NULL) : status;
    status = status == NC_OK ? nc_params_add_cjson(&params, nc_slice_of("t"), tree, NULL) : status;
    status = status == NC_OK ? nc_cjson_of_params(&params, &options, &again, NULL) : status;
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    cJSON_Delete(tree);
    cJSON_Delete(again);
    nc_params_deinit(&params);
    nc_buf_deinit(&out);
}

static void cjson__each_allocation_failure_of_a_conversion_is_an_error(void **state) {
    nc_shape *shape = NULL;
    (void)state;
    assert_status(nc_shape_parse(&shape, nc_slice_of("{\"a\":[\"any\"]}"), NULL), NC_OK);
    assert_true(each_allocation_failure(convert_everything, shape) > 20);
    nc_shape_release(shape);
}

int main(void) {
    harness_begin();
    nc_cjson_set_allocator(harness_allocator());
    const struct CMUnitTest cases[] = {
        harness_case(cjson__a_tree_is_written_as_compact_json),
        harness_case(cjson__a_tree_that_json_cannot_represent_is_refused),
        harness_case(cjson__a_tree_that_contains_itself_is_refused),
        harness_case(cjson__a_buffer_limits_the_text),
        harness_case(cjson__a_tree_becomes_parameters_and_back),
        harness_case(cjson__raw_text_becomes_parameters_with_its_members),
        harness_case(cjson__a_tree_is_compared_with_a_shape),
        harness_case(cjson__each_allocation_failure_of_a_conversion_is_an_error),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
