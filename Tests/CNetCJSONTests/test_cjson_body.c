/// The body of a response as a tree.
#include "fixture.h"

#include <netcore/cjson.h>
#include <string.h>

#define JSON_TYPE "Content-Type: application/json\r\n"

static void assert_body(fixture *f, nct_reply reply, const char *expected) {
    fixture_script(f, "/json", reply);
    nc_request request = fixture_request(f, "/json");
    answer one = fixture_send(f, &request);
    nc_error err;
    cJSON *tree = NULL;
    assert_status(nc_cjson_body(one.response, NULL, &tree, &err), NC_OK);
    char *printed = cJSON_PrintUnformatted(tree);
    assert_string_equal(printed, expected);
    cJSON_free(printed);
    cJSON_Delete(tree);
}

static void assert_no_tree(fixture *f, nct_reply reply, nc_expectation *expectation, nc_status status,
                           const char *message) {
    fixture_script(f, "/json", reply);
    nc_request request = fixture_request(f, "/json");
    request.expectation = expectation;
    answer one = fixture_send(f, &request);
    nc_error err;
    cJSON *tree = NULL;
    assert_status(nc_cjson_body(one.response, NULL, &tree, &err), status);
    assert_null(tree);
    assert_string_equal(err.message, message);
}

static nct_reply reply_of(const char *headers, const char *body) {
    return (nct_reply){.headers = headers, .body = body, .body_length = strlen(body)};
}

static void cjson__the_body_of_a_json_response_becomes_a_tree(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_body(&f, reply_of(JSON_TYPE, "{\"name\":\"Oslo\"}"), "{\"name\":\"Oslo\"}");
    assert_body(&f, reply_of("Content-Type: application/problem+json; charset=utf-8\r\n", "[1]"), "[1]");
    nct_reply failed = reply_of(JSON_TYPE, "{\"error\":1}");
    failed.status = 500;
    assert_body(&f, failed, "{\"error\":1}");
    fixture_stop(&f);
}

static void cjson__a_body_in_another_charset_is_converted(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_body(&f, reply_of("Content-Type: text/json; charset=\"ISO-8859-1\"\r\n", "[\"\xe9\"]"), "[\"é\"]");
    nct_reply utf16 = {.headers = "Content-Type: application/json;charset=utf-16\r\n",
                       .body = "\xff\xfe[\0\"\0\xe9\0\"\0]\0",
                       .body_length = 12};
    assert_body(&f, utf16, "[\"é\"]");
    // The text is UTF-8 although the field says otherwise.
    assert_body(&f, reply_of("Content-Type: application/json; charset=latin1\r\n", "[\"é\"]"), "[\"é\"]");
    assert_no_tree(&f, reply_of("Content-Type: application/json; charset=martian\r\n", "[\"\xe9\"]"), NULL,
                   NC_ERR_BAD_CHARSET, "the system's iconv does not support the charset 'martian'");
    fixture_stop(&f);
}

static void cjson__what_is_not_json_has_no_tree(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_no_tree(&f, reply_of("Content-Type: text/html\r\n", "{}"), NULL, NC_ERR_BAD_JSON,
                   "the content type \"text/html\" is not that of JSON");
    assert_no_tree(&f, reply_of(JSON_TYPE, ""), NULL, NC_ERR_BAD_JSON,
                   "line 1, column 1: expected a value, found the end of the text");
    fixture_stop(&f);
}

static void cjson__the_result_of_an_expectation_is_reused(void **state) {
    fixture f;
    nc_shape *shape = NULL;
    nc_expectation *expectation = NULL;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_status(nc_shape_parse(&shape, nc_slice_of("{\"id\":\"integer\"}"), NULL), NC_OK);
    nc_expectation_options options = {.shape = shape};
    assert_status(nc_expectation_new(&expectation, &options, NULL), NC_OK);
    // Alone, both bodies would be refused for another reason or not at all.
    assert_no_tree(&f, reply_of(JSON_TYPE, "{\"id\":\"x\"}"), expectation, NC_ERR_SHAPE_MISMATCH,
                   "at /id: expected integer, found string");
    assert_no_tree(&f, reply_of(JSON_TYPE, "{\"id\":1,}"), expectation, NC_ERR_BAD_JSON,
                   "line 1, column 9: expected a name, found '}'");
    nc_expectation_release(expectation);
    nc_shape_release(shape);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    nc_cjson_set_allocator(harness_allocator());
    const struct CMUnitTest cases[] = {
        harness_case(cjson__the_body_of_a_json_response_becomes_a_tree),
        harness_case(cjson__a_body_in_another_charset_is_converted),
        harness_case(cjson__what_is_not_json_has_no_tree),
        harness_case(cjson__the_result_of_an_expectation_is_reused),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
