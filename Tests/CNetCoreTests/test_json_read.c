#include "harness.h"

#include <stdio.h>
#include <string.h>

/// Writes every token as a word.
static bool write_token(void *ctx, const nc_json_token *token) {
    static const char *const marks[] = {"{", "}", "[", "]", "name", "string", "number", "true", "false", "null"};
    nc_buf *out = ctx;
    nc_buf_append(out, nc_slice_of(marks[token->kind]));
    if (token->kind >= NC_JSON_NAME && token->kind <= NC_JSON_NUMBER) {
        nc_buf_append_byte(out, '(');
        if (token->has_escapes) {
            nc_json_unescape(out, token->text);
        } else {
            nc_buf_append(out, token->text);
        }
        nc_buf_append_byte(out, ')');
    }
    char offset[24];
    snprintf(offset, sizeof offset, "@%d ", (int)token->offset);
    nc_buf_append(out, nc_slice_of(offset));
    return true;
}

static void assert_tokens(const char *text, const char *expected) {
    guarded copy = guarded_copy(nc_slice_of(text));
    nc_buf out = nc_buf_init(1 << 16);
    nc_json_failure failure;
    assert_status(nc_json_read(copy.slice, NULL, write_token, &out, &failure, NULL), NC_OK);
    assert_int_equal(failure.fault, NC_JSON_FAULT_NONE);
    assert_slice_equals(nc_buf_slice(&out), expected);
    nc_buf_deinit(&out);
    guarded_deinit(&copy);
}

static void json_read__reports_every_token_with_its_position(void **state) {
    (void)state;
    assert_tokens("{\"a\":[1,\"x\"],\"b\":{}}",
                  "{@0 name(a)@1 [@5 number(1)@6 string(x)@8 ]@11 name(b)@13 {@17 }@18 }@19 ");
    assert_tokens(" [ true , false,null ]\n", "[@1 true@3 false@10 null@16 ]@21 ");
    assert_tokens("\"\"", "string()@0 ");
}

static void json_read__preserves_the_spelling_of_numbers(void **state) {
    (void)state;
    assert_tokens("[-0, 9007199254740993, 1e999, 1.50E+07]",
                  "[@0 number(-0)@1 number(9007199254740993)@5 number(1e999)@23 number(1.50E+07)@30 ]@38 ");
    assert_tokens("12", "number(12)@0 ");
}

static void json_read__decodes_escapes(void **state) {
    (void)state;
    assert_tokens("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "string(\"\\/\b\f\n\r\t)@0 ");
    assert_tokens("\"\\u00e9\\u20AC\\ud83d\\uDE00z\"", "string(\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z)@0 ");
}

static bool record_name(void *ctx, const nc_json_token *token) {
    if (token->kind == NC_JSON_NAME) {
        nc_json_unescape(ctx, token->text);
    }
    return true;
}

static void json_read__preserves_a_nul_in_a_name(void **state) {
    (void)state;
    nc_buf name = nc_buf_init(64);
    nc_slice text = nc_slice_of("{\"admin\\u0000x\":1}");
    assert_status(nc_json_read(text, NULL, record_name, &name, NULL, NULL), NC_OK);
    assert_int_equal(name.length, 7);
    assert_memory_equal(name.data, "admin\0x", 7);
    nc_buf_deinit(&name);
}

static void json_read__replaces_a_lone_surrogate(void **state) {
    (void)state;
    nc_json_options options = {.allows_lone_surrogates = true};
    nc_buf out = nc_buf_init(64);
    nc_slice text = nc_slice_of("{\"\\ud83dx\\ude00\\ud83d\\ud83d\\ude00\\ud83d\":1}");
    assert_status(nc_json_read(text, &options, record_name, &out, NULL, NULL), NC_OK);
    assert_slice_equals(nc_buf_slice(&out), "\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd");
    nc_buf_deinit(&out);
}

static bool stop_at_true(void *ctx, const nc_json_token *token) {
    (void)ctx;
    return token->kind != NC_JSON_TRUE;
}

static void json_read__stops_when_its_reader_stops(void **state) {
    (void)state;
    nc_error err;
    nc_json_failure failure;
    assert_status(nc_json_read(nc_slice_of("[1, true, oops"), NULL, stop_at_true, NULL, &failure, &err),
                  NC_ERR_STOPPED_BY_CALLER);
    assert_int_equal(err.offset, 4);
    assert_int_equal(failure.fault, NC_JSON_FAULT_NONE);
}

static void json_read__reports_the_position_of_an_error(void **state) {
    (void)state;
    nc_error err;
    nc_json_failure failure;
    nc_buf out = nc_buf_init(1 << 10);
    nc_slice text = nc_slice_of("{\n \"\xc3\xa9\": x}");
    assert_status(nc_json_read(text, NULL, write_token, &out, &failure, &err), NC_ERR_BAD_JSON);
    assert_int_equal(failure.fault, NC_JSON_FAULT_SYNTAX);
    assert_int_equal(failure.line, 2);
    assert_int_equal(failure.column, 7);
    assert_string_equal(err.message, "line 2, column 7: expected a value, found 'x'");
    assert_int_equal(err.offset, 9);
    nc_buf_deinit(&out);
}

static void json_read__rejects_duplicate_names_on_request(void **state) {
    (void)state;
    nc_json_options options = {.refuses_duplicate_names = true};
    nc_json_failure failure;
    nc_buf out = nc_buf_init(1 << 10);
    const char *fine = "{\"a\":{\"a\":1,\"b\":{\"a\":2}},\"b\":[{\"a\":3},{\"a\":4}]}";
    assert_status(nc_json_read(nc_slice_of(fine), &options, record_name, &out, &failure, NULL), NC_OK);
    const char *twice = "{\"b\":{\"a\":1}, \"a\":2, \"\\u0061\":3}";
    assert_status(nc_json_read(nc_slice_of(twice), &options, record_name, &out, &failure, NULL), NC_ERR_BAD_JSON);
    assert_int_equal(failure.fault, NC_JSON_FAULT_DUPLICATE);
    assert_int_equal(failure.offset, 21);
    nc_buf_deinit(&out);
}

static void read_with_failing_memory(void *ctx) {
    (void)ctx;
    nc_json_options options = {.refuses_duplicate_names = true, .max_depth = 1000};
    nc_buf out = nc_buf_init(1 << 10);
    nc_slice text = nc_slice_of("{\"a\":{\"a\":1,\"b\":{\"a\":2}},\"b\":[{\"a\":3},{\"a\":4}]}");
    nc_status status = nc_json_read(text, &options, record_name, &out, NULL, NULL);
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    nc_buf_deinit(&out);
}

static void json_read__survives_each_allocation_failure(void **state) {
    (void)state;
    assert_true(each_allocation_failure(read_with_failing_memory, NULL) > 3);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(json_read__reports_every_token_with_its_position),
        harness_case(json_read__preserves_the_spelling_of_numbers),
        harness_case(json_read__decodes_escapes),
        harness_case(json_read__preserves_a_nul_in_a_name),
        harness_case(json_read__replaces_a_lone_surrogate),
        harness_case(json_read__stops_when_its_reader_stops),
        harness_case(json_read__reports_the_position_of_an_error),
        harness_case(json_read__rejects_duplicate_names_on_request),
        harness_case(json_read__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
