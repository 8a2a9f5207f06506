/// Texts as trees: values, limits, and what cJSON cannot represent.
#include "harness.h"

#include <locale.h>
#include <math.h>
#include <netcore/cjson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *read_with(const char *text, const nc_cjson_options *options) {
    guarded copy = guarded_copy(nc_slice_of(text));
    nc_error err;
    cJSON *tree = NULL;
    nc_status status = nc_cjson_read(copy.slice, options, &tree, &err);
    if (status != NC_OK) {
        print_error("%s: %s\n", text, err.message);
    }
    assert_status(status, NC_OK);
    assert_status(err.status, NC_OK);
    guarded_deinit(&copy);
    return tree;
}

static void assert_printed(const char *text, const char *expected) {
    cJSON *tree = read_with(text, NULL);
    char *printed = cJSON_PrintUnformatted(tree);
    assert_string_equal(printed, expected);
    cJSON_free(printed);
    cJSON_Delete(tree);
}

static nc_error refusal_of(nc_slice text, const nc_cjson_options *options) {
    nc_error err;
    cJSON *tree = (cJSON *)&err;
    nc_status status = nc_cjson_read(text, options, &tree, &err);
    assert_true(status != NC_OK);
    assert_status(err.status, status);
    assert_null(tree);
    return err;
}

static void assert_refused(const char *text, nc_status status, int64_t offset, const char *message) {
    nc_error err = refusal_of(nc_slice_of(text), NULL);
    assert_status(err.status, status);
    assert_string_equal(err.message, message);
    assert_int_equal(err.offset, offset);
}

static void cjson__a_tree_has_the_values_in_their_order(void **state) {
    (void)state;
    assert_printed(" {\"z\": [1, -2.5, 1e3, true, false, null, \"\"], \"a\": {}, \"m\": [[], {\"\": {}}]} ",
                   "{\"z\":[1,-2.5,1000,true,false,null,\"\"],\"a\":{},\"m\":[[],{\"\":{}}]}");
    assert_printed("\"one\"", "\"one\"");
    assert_printed("null", "null");
    assert_printed("\"\\u00e9\\ud83d\\ude00\\n\\/\"", "\"é😀\\n/\"");
}

static void cjson__a_tree_can_be_changed_with_the_functions_of_cjson(void **state) {
    (void)state;
    cJSON *tree = read_with("{\"list\":[1,2,3],\"name\":\"a\"}", NULL);
    cJSON *list = cJSON_GetObjectItemCaseSensitive(tree, "list");
    cJSON_AddItemToArray(list, cJSON_CreateNumber(4));
    cJSON_DeleteItemFromArray(list, 0);
    cJSON_ReplaceItemInObjectCaseSensitive(tree, "name", cJSON_CreateString("b"));
    cJSON_AddBoolToObject(tree, "more", true);
    char *printed = cJSON_PrintUnformatted(tree);
    assert_string_equal(printed, "{\"list\":[2,3,4],\"name\":\"b\",\"more\":true}");
    cJSON_free(printed);
    cJSON_Delete(tree);
}

static void cjson__numbers_are_the_nearest_doubles(void **state) {
    static const char *const texts[] = {
        "0",
        "-0",
        "0.1",
        "3.141592653589793",
        "123456789012345.678",
        "1e22",
        "1e23",
        "9007199254740992",
        "-9007199254740992",
        "2.2250738585072014e-308",
        "4.9406564584124654e-324",
        "1e-400",
        "1.7976931348623157e308",
        "0.000001",
        "123e-25",
        "8.41e21",
        "9007199254740993.0",
        "0.30000000000000004441",
        "12345678901234567890.5",
        "1e+2",
        "5E-1",
        "1e-00022",
        "0e999999999999",
        "100000000000000000000e-20",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cJSON *tree = read_with(texts[i], NULL);
        double expected = strtod(texts[i], NULL);
        assert_true(cJSON_IsNumber(tree));
        assert_memory_equal(&tree->valuedouble, &expected, sizeof expected);
        cJSON_Delete(tree);
    }
    cJSON *tree = read_with("[1, -1, 2147483648, -2147483649, 1.9]", NULL);
    static const int ints[] = {1, -1, 2147483647, -2147483647 - 1, 1};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(cJSON_GetArrayItem(tree, i)->valueint, ints[i]);
    }
    cJSON_Delete(tree);
}

static void cjson__numbers_do_not_depend_on_the_locale(void **state) {
    (void)state;
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL) {
        print_message("there is no German locale: the point is that of C\n");
    }
    cJSON *tree = read_with("123456789012345678901.25e-3", NULL);
    setlocale(LC_NUMERIC, "C");
    assert_true(tree->valuedouble == 123456789012345678.90125);
    cJSON_Delete(tree);
}

static void cjson__values_that_cjson_cannot_represent_are_refused_with_their_pointer(void **state) {
    static const char number[] = "cJSON's numbers are doubles, which cannot represent this one";
    static const struct {
        const char *text;
        const char *pointer;
        int64_t offset;
    } cases[] = {
        {"9007199254740993", "the root", 0},
        {"[0, -9007199254740993]", "/1", 4},
        {"{\"a\": {\"b/c~d\": [1, {}, 18446744073709551616]}}", "/a/b~1c~0d/2", 24},
        {"[1e999]", "/0", 1},
        {"{\"x\": -1.5e400}", "/x", 6},
    };
    char expected[256];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(expected, sizeof expected, "at %s: %s", cases[i].pointer, number);
        assert_refused(cases[i].text, NC_ERR_BAD_PARAMETER, cases[i].offset, expected);
    }
    assert_refused("{\"a\": \"b\\u0000c\"}", NC_ERR_BAD_PARAMETER, 6, "at /a: cJSON's strings cannot contain U+0000");
    assert_refused("{\"a\": {\"b\\u0000c\": 1}}", NC_ERR_BAD_PARAMETER, 7,
                   "at /a: cJSON's names cannot contain U+0000");
}

static void cjson__values_can_be_kept_as_raw_text(void **state) {
    nc_cjson_options options = {.keeps_raw = true};
    (void)state;
    cJSON *tree = read_with("[9007199254740993, 1e999, \"a\\u0000\\n\", 7]", &options);
    char *printed = cJSON_PrintUnformatted(tree);
    assert_string_equal(printed, "[9007199254740993,1e999,\"a\\u0000\\n\",7]");
    assert_true(cJSON_IsRaw(cJSON_GetArrayItem(tree, 0)));
    assert_true(cJSON_IsNumber(cJSON_GetArrayItem(tree, 3)));
    cJSON_free(printed);
    cJSON_Delete(tree);
    tree = read_with("{\"a\":1,\"b\":[{\"c\":{}, \"\\u0000\":[{\"d\":[]}] },2],\"e\":{\"\\u0000\":1,\"\\u0000\":2}}",
                     &options);
    printed = cJSON_PrintUnformatted(tree);
    assert_string_equal(
        printed, "{\"a\":1,\"b\":[{\"c\":{}, \"\\u0000\":[{\"d\":[]}] },2],\"e\":{\"\\u0000\":1,\"\\u0000\":2}}");
    cJSON_free(printed);
    cJSON_Delete(tree);
    assert_status(refusal_of(nc_slice_of("{\"\\u0000\":1,}"), &options).status, NC_ERR_BAD_JSON);
}

static void cjson__what_is_not_json_is_refused_with_its_position(void **state) {
    (void)state;
    assert_refused("{\"a\": 01}", NC_ERR_BAD_JSON, 7, "line 1, column 8: expected ',' or '}', found '1'");
    assert_status(refusal_of(nc_slice_make("[\"\x01\"]", 5), NULL).status, NC_ERR_BAD_JSON);
    assert_status(refusal_of(nc_slice_of("[\"\xff\"]"), NULL).status, NC_ERR_BAD_JSON);
    assert_status(refusal_of(nc_slice_of(""), NULL).status, NC_ERR_BAD_JSON);
    assert_status(refusal_of(nc_slice_of("[1,[{\"a\":\"b"), NULL).status, NC_ERR_BAD_JSON);
    assert_status(refusal_of(nc_slice_of("{\"a\":1}x"), NULL).status, NC_ERR_BAD_JSON);
    assert_status(refusal_of(nc_slice_make("1\0", 2), NULL).status, NC_ERR_BAD_JSON);
}

static void cjson__the_depth_is_limited(void **state) {
    nc_cjson_options options = {.json.max_depth = NC_CJSON_MAX_DEPTH};
    char text[2 * NC_CJSON_MAX_DEPTH + 2];
    (void)state;
    memset(text, '[', NC_CJSON_MAX_DEPTH);
    memset(text + NC_CJSON_MAX_DEPTH, ']', NC_CJSON_MAX_DEPTH);
    text[2 * NC_CJSON_MAX_DEPTH] = '\0';
    cJSON_Delete(read_with(text, &options));
    assert_status(refusal_of(nc_slice_of(text), NULL).status, NC_ERR_BAD_JSON);
    options.json.max_depth++;
    assert_status(refusal_of(nc_slice_of("1"), &options).status, NC_ERR_USAGE);
}

/* --- duplicate names --- */

static void cjson__the_last_of_several_equal_names_is_used(void **state) {
    (void)state;
    assert_printed("{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}");
    assert_printed("{\"a\":1,\"a\":{\"x\":1,\"x\":2},\"a\":[]}", "{\"a\":[]}");
    assert_printed("{\"b\":0,\"a\":1,\"\\u0061\":2}", "{\"b\":0,\"a\":2}");
    assert_printed("{\"a\":1,\"A\":2}", "{\"a\":1,\"A\":2}");
    nc_cjson_options options = {.json.refuses_duplicate_names = true};
    nc_error err = refusal_of(nc_slice_of("{\"a\":1,\"a\":2}"), &options);
    assert_status(err.status, NC_ERR_BAD_JSON);
    assert_int_equal(err.offset, 7);
}

/// Appends `count` different names, twice. They differ only in the middle, which the library does not hash.
static void append_colliding_members(nc_buf *text, size_t count) {
    for (size_t i = 0; i < 2 * count; i++) {
        char member[64];
        snprintf(member, sizeof member, "%s\"beginning %04zu the ending\":%zu", i > 0 ? "," : "", i % count,
                 i < count ? i : 1000 + i - count);
        nc_buf_append(text, nc_slice_of(member));
    }
}

static void cjson__names_that_collide_are_compared_by_sorting(void **state) {
    enum { COUNT = 300 };
    nc_buf text = nc_buf_init(SIZE_MAX);
    (void)state;
    nc_buf_append_byte(&text, '{');
    append_colliding_members(&text, COUNT);
    nc_buf_append_byte(&text, '}');
    cJSON *tree = NULL;
    assert_status(nc_cjson_read(nc_buf_slice(&text), NULL, &tree, NULL), NC_OK);
    assert_int_equal(cJSON_GetArraySize(tree), COUNT);
    int index = 0;
    for (const cJSON *member = tree->child; member != NULL; member = member->next, index++) {
        assert_int_equal(member->valueint, 1000 + index);
        assert_true(member->next == NULL || member->next->prev == member);
    }
    assert_ptr_equal(tree->child->prev, cJSON_GetArrayItem(tree, COUNT - 1));
    cJSON_Delete(tree);
    nc_buf_deinit(&text);
}

static void cjson__an_object_may_have_many_members(void **state) {
    enum { COUNT = 50000 };
    nc_buf text = nc_buf_init(SIZE_MAX);
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        char member[64];
        snprintf(member, sizeof member, "%s\"name %d\":%d", i == 0 ? "{" : ",", i % (COUNT - 1), i);
        nc_buf_append(&text, nc_slice_of(member));
    }
    nc_buf_append_byte(&text, '}');
    cJSON *tree = NULL;
    assert_status(nc_cjson_read(nc_buf_slice(&text), NULL, &tree, NULL), NC_OK);
    assert_int_equal(cJSON_GetArraySize(tree), COUNT - 1);
    assert_int_equal(tree->child->valueint, COUNT - 1); // "name 0", whose last value came at the end
    cJSON_Delete(tree);
    nc_buf_deinit(&text);
}

static void read_everything(void *ctx) {
    nc_cjson_options options = {.keeps_raw = true};
    cJSON *tree = NULL;
    nc_error err;
    (void)ctx;
    nc_status status = nc_cjson_read(
        nc_slice_of(
            "{\"a\":[1,\"x\\n\",9007199254740993,{\"b\":\"\\u0000\"}],\"c\":1.00000000000000000000000000000000000000"
            "0000000000000000000000000000000000001,\"a\":true}"),
        &options, &tree, &err);
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    assert_status(err.status, status);
    assert_int_equal(status == NC_OK, tree != NULL);
    cJSON_Delete(tree);
}

static void cjson__each_allocation_failure_is_an_error(void **state) {
    (void)state;
    assert_true(each_allocation_failure(read_everything, NULL) > 15);
}

int main(void) {
    harness_begin();
    nc_cjson_set_allocator(harness_allocator());
    const struct CMUnitTest cases[] = {
        harness_case(cjson__a_tree_has_the_values_in_their_order),
        harness_case(cjson__a_tree_can_be_changed_with_the_functions_of_cjson),
        harness_case(cjson__numbers_are_the_nearest_doubles),
        harness_case(cjson__numbers_do_not_depend_on_the_locale),
        harness_case(cjson__values_that_cjson_cannot_represent_are_refused_with_their_pointer),
        harness_case(cjson__values_can_be_kept_as_raw_text),
        harness_case(cjson__what_is_not_json_is_refused_with_its_position),
        harness_case(cjson__the_depth_is_limited),
        harness_case(cjson__the_last_of_several_equal_names_is_used),
        harness_case(cjson__names_that_collide_are_compared_by_sorting),
        harness_case(cjson__an_object_may_have_many_members),
        harness_case(cjson__each_allocation_failure_is_an_error),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
