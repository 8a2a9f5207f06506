/// Body checks run while the body arrives, and only for the statuses and types that they cover.
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JSON_TYPE "Content-Type: application/json\r\n"

/// A fixture with a shape and its expectation.
typedef struct check_fixture {
    fixture f;
    nc_shape *shape;
    nc_expectation *expectation;
} check_fixture;

/// `shape` is NULL for JSON of any shape.
static void check_fixture_start(check_fixture *s, const char *shape, nc_expectation_options options) {
    nc_error err;
    *s = (check_fixture){0};
    fixture_start(&s->f, NCT_PLAIN);
    if (shape != NULL) {
        assert_status(nc_shape_parse(&s->shape, nc_slice_of(shape), &err), NC_OK);
        options.shape = s->shape;
    }
    assert_status(nc_expectation_new(&s->expectation, &options, &err), NC_OK);
}

static void check_fixture_stop(check_fixture *s) {
    nc_expectation_release(s->expectation);
    nc_shape_release(s->shape);
    fixture_stop(&s->f);
}

static answer send_request(check_fixture *s, nct_reply reply) {
    fixture_script(&s->f, "/json", reply);
    nc_request request = fixture_request(&s->f, "/json");
    request.expectation = s->expectation;
    return fixture_send(&s->f, &request);
}

static nct_reply reply_of(const char *headers, const char *body) {
    return (nct_reply){.headers = headers, .body = body, .body_length = strlen(body)};
}

static void engine__a_body_of_the_expected_shape_is_delivered_unchanged(void **state) {
    check_fixture s;
    (void)state;
    check_fixture_start(&s, "{\"id\":\"integer\",\"tags\":[\"string\"]}", (nc_expectation_options){0});
    nct_reply reply = reply_of(JSON_TYPE, "{\"tags\":[\"a\",\"b\"],\"id\":1,\"more\":{}}");
    answer one = send_request(&s, reply);
    assert_response(one, 200, "{\"tags\":[\"a\",\"b\"],\"id\":1,\"more\":{}}");
    assert_true(nc_response_was_checked(one.response));
    assert_int_equal(nc_response_mismatch_count(one.response), 0);
    assert_int_equal(nc_response_json_failure(one.response).fault, NC_JSON_FAULT_NONE);
    reply.chunk_bytes = 3;
    reply.drip_bytes = 1;
    assert_response(send_request(&s, reply), 200, "{\"tags\":[\"a\",\"b\"],\"id\":1,\"more\":{}}");
    check_fixture_stop(&s);
}

static void engine__a_shape_mismatch_ends_an_endless_body(void **state) {
    check_fixture s;
    (void)state;
    check_fixture_start(&s, "{\"list\":[{\"id\":\"integer\"}]}", (nc_expectation_options){0});
    nct_reply reply = reply_of(JSON_TYPE, "{\"list\":[{\"id\":1},\n{\"id\":\"2\"},{\"text\":\"");
    reply.endless = NCT_ENDLESS_CHUNKS;
    answer one = send_request(&s, reply);
    assert_ended(one, NC_ERR_SHAPE_MISMATCH, 0, "at /list/1/id: expected integer, found string");
    assert_int_equal(one.error.offset, 25);
    assert_int_equal(nc_response_status(one.response), 200);
    assert_field(one, "Content-Type", "application/json");
    assert_true(nc_response_body(one.response).length >= 25);
    assert_int_equal(nc_response_mismatch_count(one.response), 1);
    nc_shape_mismatch first = nc_response_mismatch_at(one.response, 0);
    assert_slice_equals(first.pointer, "/list/1/id");
    assert_slice_equals(first.wanted, "integer");
    assert_slice_equals(first.found, "string");
    assert_int_equal(first.line, 2);
    assert_int_equal(first.column, 7);
    assert_int_equal(nc_response_mismatch_at(one.response, 1).pointer.length, 0);
    check_fixture_stop(&s);
}

static void engine__a_schema_mismatch_ends_an_endless_body(void **state) {
    check_fixture s;
    nc_error err;
    nc_schema *schema = NULL;
    (void)state;
    nc_slice text = nc_slice_of("{\"properties\":{\"list\":{\"items\":{\"properties\":{\"id\":{\"maximum\":1}}}}}}");
    assert_status(nc_schema_compile(&schema, text, NULL, &err), NC_OK);
    check_fixture_start(&s, NULL, (nc_expectation_options){.schema = schema});
    nc_schema_release(schema);
    nct_reply reply = reply_of(JSON_TYPE, "{\"list\":[{\"id\":1},\n{\"id\":2},{\"text\":\"");
    reply.endless = NCT_ENDLESS_CHUNKS;
    answer one = send_request(&s, reply);
    assert_ended(one, NC_ERR_SHAPE_MISMATCH, 0,
                 "at /list/1/id: expected at most 1, found 2 (#/properties/list/items/properties/id/maximum)");
    assert_int_equal(one.error.offset, 25);
    nc_schema_failure failure = nc_response_schema_failure(one.response);
    assert_slice_equals(failure.instance, "/list/1/id");
    assert_slice_equals(failure.keyword, "#/properties/list/items/properties/id/maximum");
    assert_int_equal(failure.line, 2);
    assert_int_equal(nc_response_mismatch_count(one.response), 1);
    reply = reply_of(JSON_TYPE, "{\"list\":[{\"id\":1}]}");
    assert_response(send_request(&s, reply), 200, "{\"list\":[{\"id\":1}]}");
    check_fixture_stop(&s);
}

static void engine__the_first_invalid_byte_ends_an_endless_body(void **state) {
    check_fixture s;
    (void)state;
    check_fixture_start(&s, NULL, (nc_expectation_options){0});
    nct_reply reply = reply_of(JSON_TYPE, "{\"a\": 01, \"b\":\"");
    reply.endless = NCT_ENDLESS_CHUNKS;
    answer one = send_request(&s, reply);
    assert_ended(one, NC_ERR_BAD_JSON, 0, "line 1, column 8: expected ',' or '}', found '1'");
    assert_int_equal(one.error.offset, 7);
    assert_int_equal(nc_response_json_failure(one.response).fault, NC_JSON_FAULT_SYNTAX);
    assert_int_equal(nc_response_json_failure(one.response).offset, 7);
    check_fixture_stop(&s);
}

static void engine__a_truncated_body_is_invalid_json(void **state) {
    check_fixture s;
    (void)state;
    check_fixture_start(&s, NULL, (nc_expectation_options){0});
    answer one = send_request(&s, reply_of(JSON_TYPE, "{\"a\":[1,2"));
    assert_ended(one, NC_ERR_BAD_JSON, 0, "found the end of the text");
    assert_int_equal(nc_response_json_failure(one.response).fault, NC_JSON_FAULT_ENDED);
    assert_slice_equals(nc_response_body(one.response), "{\"a\":[1,2");
    nct_reply cut = reply_of(JSON_TYPE, "{\"a\":[1,2]}");
    cut.is_cut = true;
    cut.cut_after = 80;
    cut.ending = NCT_CLOSE;
    assert_status(send_request(&s, cut).error.status, NC_ERR_CUT_SHORT);
    check_fixture_stop(&s);
}

static void engine__an_empty_body_is_invalid_if_json_is_expected(void **state) {
    check_fixture s;
    (void)state;
    check_fixture_start(&s, "\"any?\"", (nc_expectation_options){0});
    assert_ended(send_request(&s, reply_of(JSON_TYPE, "")), NC_ERR_BAD_JSON, 0,
                 "the body is empty, but JSON is expected");
    assert_ended(send_request(&s, reply_of(JSON_TYPE, " \n")), NC_ERR_BAD_JSON, 0, "the body is empty");
    assert_ended(send_request(&s, reply_of(NULL, "")), NC_ERR_BAD_JSON, 0, "the body is empty");
    assert_ended(send_request(&s, (nct_reply){.status = 204}), NC_ERR_BAD_JSON, 0, "the body is empty");
    check_fixture_stop(&s);
}

static void engine__an_empty_body_passes_if_allowed(void **state) {
    check_fixture s;
    (void)state;
    check_fixture_start(&s, "\"any?\"", (nc_expectation_options){.allows_empty = true});
    assert_response(send_request(&s, reply_of(JSON_TYPE, "")), 200, "");
    assert_response(send_request(&s, reply_of(JSON_TYPE, " \r\n")), 200, " \r\n");
    assert_response(send_request(&s, (nct_reply){.status = 204}), 204, "");
    assert_ended(send_request(&s, reply_of(JSON_TYPE, " {")), NC_ERR_BAD_JSON, 0, "expected a name or '}'");
    check_fixture_stop(&s);
}

static void engine__a_json_check_applies_only_to_its_statuses(void **state) {
    check_fixture s;
    (void)state;
    check_fixture_start(&s, "{\"id\":\"integer\"}", (nc_expectation_options){0});
    nct_reply refusal = reply_of(JSON_TYPE, "{\"error\":");
    refusal.status = 404;
    answer one = send_request(&s, refusal);
    assert_response(one, 404, "{\"error\":");
    assert_false(nc_response_was_checked(one.response));
    check_fixture_stop(&s);
    check_fixture_start(&s, "{\"error\":\"string\"}", (nc_expectation_options){.min_status = 400, .max_status = 499});
    assert_ended(send_request(&s, refusal), NC_ERR_BAD_JSON, 0, "found the end of the text");
    assert_response(send_request(&s, reply_of(JSON_TYPE, "no")), 200, "no");
    check_fixture_stop(&s);
}

static void engine__a_json_check_applies_only_to_its_types(void **state) {
    static const char *const spoken[] = {"application/json", "Application/JSON; charset=utf-8", "text/json",
                                         "text/javascript;x=\"a;b\"", "application/problem+json"};
    static const char *const others[] = {"text/html", "text/plain", "application/jsonx", "+json", "application/xml"};
    check_fixture s;
    (void)state;
    check_fixture_start(&s, NULL, (nc_expectation_options){0});
    for (size_t i = 0; i < 5; i++) {
        const char *field = fixture_text(&s.f, "Content-Type: %s\r\n", spoken[i]);
        assert_ended(send_request(&s, reply_of(field, "no")), NC_ERR_BAD_JSON, 0, "found 'o'");
        field = fixture_text(&s.f, "Content-Type: %s\r\n", others[i]);
        assert_response(send_request(&s, reply_of(field, "no")), 200, "no");
    }
    assert_response(send_request(&s, reply_of(NULL, "no")), 200, "no");
    check_fixture_stop(&s);
}

static void engine__the_checked_types_can_be_changed(void **state) {
    const nc_slice types[] = {nc_slice_of("text/*"), nc_slice_of("application/x-j")};
    const nc_slice any[] = {nc_slice_of("*/*")};
    check_fixture s;
    (void)state;
    check_fixture_start(&s, NULL, (nc_expectation_options){.types = types, .type_count = 2});
    assert_ended(send_request(&s, reply_of("Content-Type: text/html\r\n", "no")), NC_ERR_BAD_JSON, 0, "found 'o'");
    assert_ended(send_request(&s, reply_of("Content-Type: application/X-J\r\n", "no")), NC_ERR_BAD_JSON, 0,
                 "found 'o'");
    assert_response(send_request(&s, reply_of(JSON_TYPE, "no")), 200, "no");
    check_fixture_stop(&s);
    check_fixture_start(&s, NULL, (nc_expectation_options){.types = any, .type_count = 1});
    assert_ended(send_request(&s, reply_of(NULL, "no")), NC_ERR_BAD_JSON, 0, "found 'o'");
    check_fixture_stop(&s);
}

static void engine__a_response_without_a_type_is_checked_on_request(void **state) {
    const nc_slice types[] = {nc_slice_of("text/json"), nc_slice_of("")};
    check_fixture s;
    (void)state;
    check_fixture_start(&s, NULL, (nc_expectation_options){.types = types, .type_count = 2});
    assert_ended(send_request(&s, reply_of(NULL, "no")), NC_ERR_BAD_JSON, 0, "found 'o'");
    assert_ended(send_request(&s, reply_of("Content-Type: text/json\r\n", "no")), NC_ERR_BAD_JSON, 0, "found 'o'");
    assert_response(send_request(&s, reply_of("Content-Type: text/html\r\n", "no")), 200, "no");
    check_fixture_stop(&s);
}

static void engine__a_charset_parameter_does_not_affect_the_json_check(void **state) {
    check_fixture s;
    (void)state;
    check_fixture_start(&s, NULL, (nc_expectation_options){0});
    const char *latin = "Content-Type: application/json; charset=\"ISO-8859-1\"\r\n";
    assert_response(send_request(&s, reply_of(latin, "{}")), 200, "{}");
    assert_response(send_request(&s, reply_of(latin, "[\"\xc3\xa9\"]")), 200, "[\"\xc3\xa9\"]");
    assert_response(send_request(&s, reply_of("Content-Type: application/json; charset='utf-8'\r\n", "{}")), 200, "{}");
    assert_response(send_request(&s, reply_of("Content-Type: application/json; charset=none\r\n", "{}")), 200, "{}");
    // The declared charset is reported only for bytes that are not UTF-8.
    assert_ended(send_request(&s, reply_of(latin, "[\"\xe9\"]")), NC_ERR_BAD_CHARSET, 0,
                 "the charset of the response is 'ISO-8859-1'");
    assert_ended(send_request(&s, reply_of(latin, "[1")), NC_ERR_BAD_JSON, 0, "the end of the text");
    assert_response(send_request(&s, reply_of("Content-Type: application/json;charset=UTF-8\r\n", "{}")), 200, "{}");
    // An empty charset parameter counts as missing.
    assert_response(send_request(&s, reply_of("Content-Type: application/json; charset=\r\n", "{}")), 200, "{}");
    assert_response(send_request(&s, reply_of("Content-Type: application/json; charset=\"\"\r\n", "{}")), 200, "{}");
    nct_reply wide = {.headers = JSON_TYPE, .body = "\xff\xfe{\0}\0", .body_length = 6};
    assert_ended(send_request(&s, wide), NC_ERR_BAD_JSON, 0, "found byte 0xff, as UTF-16 begins");
    wide.headers = "Content-Type: application/json; charset=UTF-16\r\n";
    assert_ended(send_request(&s, wide), NC_ERR_BAD_CHARSET, 0, "the charset of the response is 'UTF-16'");
    wide = (nct_reply){.headers = JSON_TYPE, .body = "{\0}\0", .body_length = 4};
    assert_ended(send_request(&s, wide), NC_ERR_BAD_JSON, 0, "found byte 0x00, as in UTF-16 or UTF-32");
    wide = (nct_reply){.headers = JSON_TYPE, .body = "\xef\xbb\xbf{}", .body_length = 5};
    assert_ended(send_request(&s, wide), NC_ERR_BAD_JSON, 0, "as a byte order mark begins");
    check_fixture_stop(&s);
}

static void engine__a_huge_json_body_ends_at_its_limit(void **state) {
    check_fixture s;
    (void)state;
    check_fixture_start(&s, NULL, (nc_expectation_options){0});
    nct_reply reply = reply_of(JSON_TYPE, "[\"");
    reply.endless = NCT_ENDLESS_CHUNKS;
    fixture_script(&s.f, "/vast", reply);
    nc_request request = fixture_request(&s.f, "/vast");
    request.expectation = s.expectation;
    request.limits.max_body_bytes = 100000;
    assert_ended(fixture_send(&s.f, &request), NC_ERR_BODY_TOO_LARGE, 63, "limit of 100000 bytes");
    check_fixture_stop(&s);
}

static void engine__a_saved_file_is_removed_if_its_body_is_invalid(void **state) {
    char folder[] = "/tmp/netcore-XXXXXX";
    check_fixture s;
    (void)state;
    assert_non_null(mkdtemp(folder));
    check_fixture_start(&s, "[\"integer\"]", (nc_expectation_options){0});
    const char *path = fixture_text(&s.f, "%s/saved", folder);
    fixture_script(&s.f, "/wrong", reply_of(JSON_TYPE, "[1,\"x\"]"));
    fixture_script(&s.f, "/right", reply_of(JSON_TYPE, "[1,2]"));
    fixture_script(&s.f, "/other", reply_of("Content-Type: text/html\r\n", "<html>"));
    nc_request request = fixture_request(&s.f, "/wrong");
    request.expectation = s.expectation;
    request.save_path = nc_slice_of(path);
    assert_ended(fixture_send(&s.f, &request), NC_ERR_SHAPE_MISMATCH, 0, "at /1: expected integer, found string");
    assert_int_not_equal(access(path, F_OK), 0);
    request.url = nc_slice_of(fixture_url(&s.f, "/other"));
    assert_response(fixture_send(&s.f, &request), 200, "<html>");
    assert_int_not_equal(access(path, F_OK), 0);
    request.url = nc_slice_of(fixture_url(&s.f, "/right"));
    assert_status(fixture_send(&s.f, &request).error.status, NC_OK);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    check_fixture_stop(&s);
}

static void engine__only_the_body_after_a_redirect_is_checked(void **state) {
    check_fixture s;
    (void)state;
    check_fixture_start(&s, "{\"id\":\"integer\"}", (nc_expectation_options){0});
    nct_reply redirect = reply_of(JSON_TYPE, "no");
    redirect.location = fixture_url(&s.f, "/there");
    fixture_script(&s.f, "/there", reply_of(JSON_TYPE, "{\"id\":1}"));
    assert_response(send_request(&s, redirect), 200, "{\"id\":1}");
    check_fixture_stop(&s);
}

static void engine__mismatches_are_collected_on_request(void **state) {
    check_fixture s;
    (void)state;
    check_fixture_start(&s, "[\"integer\"]", (nc_expectation_options){.matching.max_mismatches = 10});
    answer one = send_request(&s, reply_of(JSON_TYPE, "[1,\"2\",null,3,{}]"));
    assert_ended(one, NC_ERR_SHAPE_MISMATCH, 0, "at /1: expected integer, found string");
    assert_int_equal(nc_response_mismatch_count(one.response), 3);
    assert_slice_equals(nc_response_mismatch_at(one.response, 2).pointer, "/4");
    assert_slice_equals(nc_response_body(one.response), "[1,\"2\",null,3,{}]");
    check_fixture_stop(&s);
}

static void engine__a_reply_to_head_is_not_checked(void **state) {
    check_fixture s;
    (void)state;
    check_fixture_start(&s, "[\"integer\"]", (nc_expectation_options){0});
    fixture_script(&s.f, "/json", reply_of(JSON_TYPE, "[1]"));
    nc_request request = fixture_request(&s.f, "/json");
    request.method = nc_slice_of("HEAD");
    request.expectation = s.expectation;
    assert_response(fixture_send(&s.f, &request), 200, "");
    check_fixture_stop(&s);
}

static void expectation__refuses_options_out_of_range(void **state) {
    static const char *const wrong[] = {" ", "json", "text/", "/json", "*", "*+", "a/b/c", "text/html; charset=utf-8"};
    nc_expectation *expectation = NULL;
    (void)state;
    nc_expectation_options options = {.min_status = 300};
    assert_status(nc_expectation_new(&expectation, &options, NULL), NC_ERR_USAGE);
    options = (nc_expectation_options){.max_status = 1000};
    assert_status(nc_expectation_new(&expectation, &options, NULL), NC_ERR_USAGE);
    options = (nc_expectation_options){.json.max_depth = NC_JSON_MAX_DEPTH + 1};
    assert_status(nc_expectation_new(&expectation, &options, NULL), NC_ERR_USAGE);
    options = (nc_expectation_options){.type_count = 1};
    assert_status(nc_expectation_new(&expectation, &options, NULL), NC_ERR_USAGE);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        nc_slice type = nc_slice_of(wrong[i]);
        options = (nc_expectation_options){.types = &type, .type_count = 1};
        assert_status(nc_expectation_new(&expectation, &options, NULL), NC_ERR_USAGE);
    }
}

static void make_with_failing_memory(void *ctx) {
    nc_expectation *expectation = NULL;
    nc_expectation_options options = {.shape = ctx};
    nc_status status = nc_expectation_new(&expectation, &options, NULL);
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    nc_expectation_release(expectation);
}

static void expectation__survives_each_allocation_failure(void **state) {
    nc_shape *shape = NULL;
    (void)state;
    assert_status(nc_shape_parse(&shape, nc_slice_of("\"any\""), NULL), NC_OK);
    assert_true(each_allocation_failure(make_with_failing_memory, shape) >= 2);
    nc_shape_release(shape);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_body_of_the_expected_shape_is_delivered_unchanged),
        harness_case(engine__a_shape_mismatch_ends_an_endless_body),
        harness_case(engine__a_schema_mismatch_ends_an_endless_body),
        harness_case(engine__the_first_invalid_byte_ends_an_endless_body),
        harness_case(engine__a_truncated_body_is_invalid_json),
        harness_case(engine__an_empty_body_is_invalid_if_json_is_expected),
        harness_case(engine__an_empty_body_passes_if_allowed),
        harness_case(engine__a_json_check_applies_only_to_its_statuses),
        harness_case(engine__a_json_check_applies_only_to_its_types),
        harness_case(engine__the_checked_types_can_be_changed),
        harness_case(engine__a_response_without_a_type_is_checked_on_request),
        harness_case(engine__a_charset_parameter_does_not_affect_the_json_check),
        harness_case(engine__a_huge_json_body_ends_at_its_limit),
        harness_case(engine__a_saved_file_is_removed_if_its_body_is_invalid),
        harness_case(engine__only_the_body_after_a_redirect_is_checked),
        harness_case(engine__mismatches_are_collected_on_request),
        harness_case(engine__a_reply_to_head_is_not_checked),
        harness_case(expectation__refuses_options_out_of_range),
        harness_case(expectation__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
