/// JSON Schema: what a check reports, and when it ends. test_schema_suite.c has the official suite.
#include "harness.h"

#include <netcore/schema.h>
#include <stdio.h>
#include <string.h>

static nc_schema *compile(const char *text) {
    nc_schema *schema = NULL;
    nc_error err;
    if (nc_schema_compile(&schema, nc_slice_of(text), NULL, &err) != NC_OK) {
        fail_msg("%s: %s", text, err.message);
    }
    return schema;
}

/// A schema, a text that does not match it, and what the error says.
typedef struct failure_case {
    const char *schema;
    const char *text;
    int64_t offset; // of the byte that decides
    const char *message;
} failure_case;

static void assert_failure(const failure_case *one) {
    nc_schema *schema = compile(one->schema);
    nc_error err;
    nc_status status = nc_schema_check(schema, nc_slice_of(one->text), NULL, NULL, &err);
    if (status != NC_ERR_SHAPE_MISMATCH || strcmp(err.message, one->message) != 0 || err.offset != one->offset) {
        fail_msg("%s, %s: %s at %d", one->schema, one->text, err.message, (int)err.offset);
    }
    nc_schema_release(schema);
}

static void schema__an_error_names_the_value_and_the_keyword(void **state) {
    (void)state;
    static const failure_case cases[] = {
        {"{\"type\":\"object\"}", "[]", 0, "at the root: expected object, found array (#/type)"},
        {"{\"type\":[\"integer\",\"null\"]}", "1.5", 0, "at the root: expected integer or null, found number (#/type)"},
        {"false", "1", 0, "at the root: expected nothing here, found number (#)"},
        {"{\"properties\":{\"a/b\":{\"minimum\":5}}}", "{\"a/b\":4.99}", 7,
         "at /a~1b: expected at least 5, found 4.99 (#/properties/a~1b/minimum)"},
        {"{\"exclusiveMaximum\":1e3}", "1000", 0,
         "at the root: expected less than 1e3, found 1000 (#/exclusiveMaximum)"},
        {"{\"items\":{\"multipleOf\":0.01}}", "[7, 1.005]", 4,
         "at /1: expected a multiple of 0.01, found 1.005 (#/items/multipleOf)"},
        {"{\"minLength\":2}", "\"\xc3\xa9\"", 0, "at the root: expected at least 2 characters, found 1 (#/minLength)"},
        {"{\"required\":[\"id\",\"name\"]}", "{\"id\":1}", 7,
         "at the root: expected a member \"name\", found nothing (#/required)"},
        {"{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}", 6,
         "at the root: expected a member \"b\", found nothing (#/dependentRequired)"},
        {"{\"additionalProperties\":false,\"properties\":{\"a\":true}}", "{\"a\":1,\"b\":2}", 11,
         "at /b: expected nothing here, found number (#/additionalProperties)"},
        {"{\"maxItems\":1}", "[1,2]", 3, "at the root: expected at most 1 element, found 2 (#/maxItems)"},
        {"{\"uniqueItems\":true}", "[{\"a\":1,\"b\":[2]},3,{\"b\":[2.0],\"a\":1e0}]", 37,
         "at the root: expected different elements, found two equal ones (#/uniqueItems)"},
        {"{\"contains\":{\"type\":\"string\"}}", "[1,2]", 4,
         "at the root: expected an element that matches, found 0 (#/contains)"},
        {"{\"enum\":[1,\"a\"]}", "\"b\"", 0,
         "at the root: expected one of the values that the schema lists, found string (#/enum)"},
        {"{\"const\":{\"a\":[1,null]}}", "{\"a\":[1,0]}", 10,
         "at the root: expected the value of the schema, found object (#/const)"},
        {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "1", 0,
         "at the root: expected a value that one of the alternatives allows, found number (#/anyOf)"},
        {"{\"oneOf\":[true,{\"type\":\"number\"}]}", "1", 0,
         "at the root: expected a value that exactly one of the alternatives allows, found one that several allow "
         "(#/oneOf)"},
        {"{\"not\":{\"type\":\"number\"}}", "1", 0,
         "at the root: expected a value that the schema does not exclude, found number (#/not)"},
        {"{\"$ref\":\"#/$defs/x\",\"$defs\":{\"x\":{\"pattern\":\"^a\"}}}", "\"b\"", 0,
         "at the root: expected a string that matches the pattern, found string (#/$defs/x/pattern)"},
        {"{\"allOf\":[{\"properties\":{\"a\":true}}],\"unevaluatedProperties\":false}", "{\"a\":1,\"b\":2}", 11,
         "at /b: expected no other members, found object (#/unevaluatedProperties)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        { assert_failure(&cases[i]); }
    }
}

/// Feeds a text byte by byte. Returns the number of bytes that were accepted before an error.
static size_t bytes_before_error(const char *schema_text, const char *text) {
    nc_schema *schema = compile(schema_text);
    nc_json *check = NULL;
    size_t at = 0;
    assert_status(nc_json_new_with_schema(&check, schema, NULL, NULL, NULL), NC_OK);
    while (text[at] != '\0' && nc_json_feed(check, nc_slice_make(text + at, 1), NULL) == NC_OK) {
        at++;
    }
    nc_json_free(check);
    nc_schema_release(schema);
    return at;
}

static void schema__a_check_ends_at_the_first_byte_that_decides(void **state) {
    (void)state;
    // The first byte of a value decides about its type, through all kinds of references.
    assert_int_equal(bytes_before_error("{\"items\":{\"$ref\":\"#/$defs/a\"},\"$defs\":{\"a\":{\"type\":\"string\"}}}",
                                        "[\"a\",7777]"),
                     5);
    assert_int_equal(bytes_before_error("{\"anyOf\":[{\"properties\":{\"k\":{\"const\":1}}},{\"properties\":{\"k\":"
                                        "{\"const\":2}}}]}",
                                        "{\"k\":3 ,\"text\":\"\"}"),
                     6);
    // A string that is too long decides before its end.
    assert_int_equal(bytes_before_error("{\"maxLength\":3}", "\"abcdefgh\""), 4);
    assert_int_equal(bytes_before_error("{\"maxProperties\":1}", "{\"a\":1,\"b\":2}"), 9);
    assert_int_equal(bytes_before_error("{\"maxItems\":1}", "[1,2]"), 3);
    assert_int_equal(bytes_before_error("{\"contains\":{\"type\":\"null\"},\"maxContains\":1}", "[null,1,null,2]"), 8);
    // An unevaluated member that no branch can evaluate decides at its value.
    assert_int_equal(bytes_before_error("{\"oneOf\":[{\"properties\":{\"a\":true}},{\"properties\":{\"b\":true},"
                                        "\"required\":[\"b\"]}],\"unevaluatedProperties\":false}",
                                        "{\"c\":0,\"a\":1}"),
                     5);
}

static void schema__if_then_and_else_depend_on_the_whole_value(void **state) {
    (void)state;
    nc_schema *schema =
        compile("{\"if\":{\"properties\":{\"kind\":{\"const\":\"a\"}},\"required\":[\"kind\"]},"
                "\"then\":{\"required\":[\"x\"]},\"else\":{\"properties\":{\"y\":{\"type\":\"null\"}}}}");
    static const struct {
        const char *text;
        bool is_valid;
    } rows[] = {
        {"{\"x\":1,\"kind\":\"a\"}", true},         {"{\"kind\":\"a\"}", false},
        {"{\"y\":1,\"kind\":\"a\",\"x\":0}", true}, {"{\"y\":null}", true},
        {"{\"y\":1,\"kind\":\"b\"}", false},        {"{\"y\":1}", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nc_status status = nc_schema_check(schema, nc_slice_of(rows[i].text), NULL, NULL, NULL);
        assert_status(status, rows[i].is_valid ? NC_OK : NC_ERR_SHAPE_MISMATCH);
    }
    nc_schema_release(schema);
}

/// A schema that fails at the first byte of an array leaves the others as they are.
static void schema__alternatives_that_failed_have_no_effect(void **state) {
    (void)state;
    nc_schema *schema =
        compile("{\"anyOf\":[{\"allOf\":[{\"uniqueItems\":true,\"contains\":{\"const\":7}},{\"type\":\"null\"}]},"
                "{\"items\":{\"type\":[\"array\",\"integer\"]}}]}");
    assert_status(nc_schema_check(schema, nc_slice_of("[[1],[1],2,2]"), NULL, NULL, NULL), NC_OK);
    assert_status(nc_schema_check(schema, nc_slice_of("[[1],[1],2,\"2\"]"), NULL, NULL, NULL), NC_ERR_SHAPE_MISMATCH);
    nc_schema_release(schema);
}

static void schema__the_failure_has_locations_of_instance_and_keyword(void **state) {
    (void)state;
    nc_schema *schema = compile("{\"properties\":{\"list\":{\"items\":{\"maximum\":9}}}}");
    nc_json *check = NULL;
    assert_status(nc_json_new_with_schema(&check, schema, NULL, NULL, NULL), NC_OK);
    assert_int_equal(nc_json_schema_failure(check).line, 0);
    assert_status(nc_json_feed(check, nc_slice_of("{\"list\":[1,\n  10]}"), NULL), NC_ERR_SHAPE_MISMATCH);
    nc_schema_failure failure = nc_json_schema_failure(check);
    assert_slice_equals(failure.instance, "/list/1");
    assert_slice_equals(failure.keyword, "#/properties/list/items/maximum");
    assert_slice_equals(failure.wanted, "at most 9");
    assert_slice_equals(failure.found, "10");
    assert_int_equal(failure.offset, 14);
    assert_int_equal(failure.line, 2);
    assert_int_equal(failure.column, 3);
    assert_int_equal(nc_json_mismatch_count(check), 1);
    assert_slice_equals(nc_json_mismatch_at(check, 0).pointer, "/list/1");
    nc_json_reset(check);
    assert_status(nc_json_feed(check, nc_slice_of("{\"list\":[1,9]}"), NULL), NC_OK);
    assert_status(nc_json_finish(check, NULL), NC_OK);
    nc_json_free(check);
    nc_schema_release(schema);
}

static void schema__both_members_of_a_duplicate_name_are_checked(void **state) {
    (void)state;
    const nc_json_options strict = {.refuses_duplicate_names = true};
    nc_schema *schema = compile("{\"properties\":{\"a\":{\"type\":\"integer\"}}}");
    nc_slice good = nc_slice_of("{\"a\":1,\"\\u0061\":2,\"more\":{\"x\":{\"y\":1,\"y\":2}}}");
    assert_status(nc_schema_check(schema, good, NULL, NULL, NULL), NC_OK);
    assert_status(nc_schema_check(schema, good, NULL, &strict, NULL), NC_ERR_BAD_JSON);
    assert_status(nc_schema_check(schema, nc_slice_of("{\"more\":{\"x\":{\"y\":1,\"y\":2}}}"), NULL, &strict, NULL),
                  NC_ERR_BAD_JSON);
    assert_status(nc_schema_check(schema, nc_slice_of("{\"a\":\"x\",\"a\":2}"), NULL, NULL, NULL),
                  NC_ERR_SHAPE_MISMATCH);
    nc_schema_release(schema);
}

static void schema__a_text_that_is_not_json_is_reported_as_such(void **state) {
    (void)state;
    nc_schema *schema = compile("{\"type\":\"object\"}");
    nc_error err;
    assert_status(nc_schema_check(schema, nc_slice_of("{\"a\":tru}"), NULL, NULL, &err), NC_ERR_BAD_JSON);
    assert_int_equal(err.offset, 8);
    assert_status(nc_schema_check(schema, nc_slice_of(""), NULL, NULL, &err), NC_ERR_BAD_JSON);
    nc_schema_release(schema);
}

static void schema__a_format_is_an_assertion_only_on_request(void **state) {
    (void)state;
    nc_slice text = nc_slice_of("{\"format\":\"date\"}");
    const nc_schema_options options = {.asserts_formats = true};
    nc_schema *lax = compile("{\"format\":\"date\"}");
    nc_schema *strict = NULL;
    nc_error err;
    assert_status(nc_schema_compile(&strict, text, &options, &err), NC_OK);
    assert_status(nc_schema_check(lax, nc_slice_of("\"2026-02-29\""), NULL, NULL, NULL), NC_OK);
    assert_status(nc_schema_check(strict, nc_slice_of("\"2026-02-28\""), NULL, NULL, NULL), NC_OK);
    assert_status(nc_schema_check(strict, nc_slice_of("\"2026-02-29\""), NULL, NULL, &err), NC_ERR_SHAPE_MISMATCH);
    assert_string_equal(err.message, "at the root: expected a string of the format date, found string (#/format)");
    nc_schema_release(lax);
    nc_schema_release(strict);
}

/// A schema that cannot be compiled, and why.
typedef struct refusal_case {
    const char *schema;
    const char *message;
} refusal_case;

static void schema__an_invalid_schema_is_refused_with_its_location(void **state) {
    (void)state;
    static const refusal_case cases[] = {
        {"{\"type\":\"text\"}",
         "at #/type: it must be one of object, array, string, integer, number, boolean and null"},
        {"{\"properties\":{\"a\":1}}", "at #/properties/a: a schema must be an object, true or false"},
        {"{\"minLength\":-1}", "at #/minLength: it must be an integer from 0 on"},
        {"{\"$ref\":\"#/$defs/none\"}", "at #/$ref: the reference \"#/$defs/none\" leads to no schema"},
        {"{\"$ref\":\"https://example.com/other\"}",
         "at #/$ref: the reference \"https://example.com/other\" leads to no schema: its document was not given"},
        {"{\"pattern\":\"(?=a)\"}", "at #/pattern: lookahead is not supported, at character 4"},
        {"{\"pattern\":\"(a)\\\\1\"}", "at #/pattern: backreferences are not supported, at character 6"},
        {"{\"pattern\":\"a{3,2}\"}", "at #/pattern: a quantifier is in the wrong order at character 7"},
        {"{\"$defs\":{\"a\":{\"anyOf\":[{\"$ref\":\"#/$defs/a\"}]}},\"$ref\":\"#/$defs/a\"}",
         "at #/$defs/a: the schema applies itself to the same value, without end"},
        {"{\"multipleOf\":0}", "at #/multipleOf: it must be greater than 0 and have at most 19 digits"},
        {"{\"a\":1,\"a\":2}", "line 1, column 8: expected a unique name, found a duplicate name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nc_schema *schema = NULL;
        nc_error err;
        nc_status status = nc_schema_compile(&schema, nc_slice_of(cases[i].schema), NULL, &err);
        if (status != NC_ERR_BAD_SHAPE || strcmp(err.message, cases[i].message) != 0) {
            fail_msg("%s: %s", cases[i].schema, err.message);
        }
    }
}

static void schema__references_lead_to_documents_that_the_caller_gives(void **state) {
    (void)state;
    const nc_schema_document documents[] = {
        {nc_slice_of("https://example.com/person"),
         nc_slice_of("{\"properties\":{\"name\":{\"$ref\":\"names#short\"}}}")},
        {nc_slice_of("https://example.com/names"),
         nc_slice_of("{\"$defs\":{\"s\":{\"$anchor\":\"short\",\"maxLength\":3}}}")},
        {nc_slice_of("https://example.com/broken"), nc_slice_of("{")},
    };
    const nc_schema_options options = {
        .uri = nc_slice_of("https://example.com/list"), .documents = documents, .document_count = 3};
    nc_schema *schema = NULL;
    nc_error err;
    assert_status(nc_schema_compile(&schema, nc_slice_of("{\"items\":{\"$ref\":\"person\"}}"), &options, &err), NC_OK);
    assert_status(nc_schema_check(schema, nc_slice_of("[{\"name\":\"Ann\"},{\"name\":\"Anna\"}]"), NULL, NULL, &err),
                  NC_ERR_SHAPE_MISMATCH);
    assert_string_equal(err.message, "at /1/name: expected at most 3 characters, found 4 "
                                     "(https://example.com/names#/$defs/s/maxLength)");
    nc_schema_release(schema);
}

/* --- memory --- */

static const char everything[] =
    "{\"$id\":\"https://example.com/"
    "a\",\"properties\":{\"a\":{\"enum\":[1,{\"b\":[2]}]},\"p\":{\"pattern\":\"^[a-z]+$\"}},"
    "\"patternProperties\":{\"^x\":{\"$ref\":\"#/$defs/list\"}},\"unevaluatedProperties\":false,\"required\":[\"a\"],"
    "\"$defs\":{\"list\":{\"uniqueItems\":true,\"contains\":{\"const\":1},\"unevaluatedItems\":false}},"
    "\"dependentSchemas\":{\"a\":{\"properties\":{\"q\":true}}}}";

static void compile_and_check(void *ctx) {
    (void)ctx;
    nc_schema *schema = NULL;
    nc_error err;
    nc_status status = nc_schema_compile(&schema, nc_slice_make(everything, sizeof everything - 1), NULL, &err);
    if (status != NC_OK) {
        assert_status(status, NC_ERR_NO_MEMORY);
        return;
    }
    status = nc_schema_check(schema, nc_slice_of("{\"a\":{\"b\":[2.0]},\"x\\u0031\":[1],\"q\":[true],\"p\":\"abc\"}"),
                             NULL, NULL, &err);
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    nc_schema_release(schema);
}

static void schema__each_failed_allocation_is_reported(void **state) {
    (void)state;
    assert_true(each_allocation_failure(compile_and_check, NULL) > 10);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(schema__an_error_names_the_value_and_the_keyword),
        harness_case(schema__a_check_ends_at_the_first_byte_that_decides),
        harness_case(schema__if_then_and_else_depend_on_the_whole_value),
        harness_case(schema__alternatives_that_failed_have_no_effect),
        harness_case(schema__the_failure_has_locations_of_instance_and_keyword),
        harness_case(schema__both_members_of_a_duplicate_name_are_checked),
        harness_case(schema__a_text_that_is_not_json_is_reported_as_such),
        harness_case(schema__a_format_is_an_assertion_only_on_request),
        harness_case(schema__an_invalid_schema_is_refused_with_its_location),
        harness_case(schema__references_lead_to_documents_that_the_caller_gives),
        harness_case(schema__each_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
