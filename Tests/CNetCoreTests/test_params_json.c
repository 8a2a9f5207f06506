#include "harness.h"

#include <netcore/query.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Parses from memory that ends at a guard page.
static nc_status parse(nc_params *params, nc_slice text, nc_error *err) {
    guarded copy = guarded_copy(text);
    nc_status status = nc_params_parse_json(params, copy.slice, err);
    guarded_deinit(&copy);
    assert_status(nc_params_status(params), status);
    if (err != NULL) {
        assert_status(err->status, status);
    }
    return status;
}

/// Lists the values in the order of the text, one a line: the kind's number, the name, the text.
static void list(nc_buf *out, const nc_params_item *container) {
    nc_params_cursor cursor = nc_params_children(container);
    nc_params_item item;
    while (nc_params_next(&cursor, &item)) {
        nc_params_digits digits;
        nc_buf_append_byte(out, (uint8_t)('0' + item.kind));
        nc_buf_append(out, item.name);
        nc_buf_append_byte(out, '=');
        if (item.kind >= NC_PARAMS_OBJECT) {
            nc_buf_append_byte(out, '(');
            list(out, &item);
            nc_buf_append_byte(out, ')');
        } else {
            nc_buf_append(out, nc_params_text(&item, &digits));
        }
        nc_buf_append_byte(out, ' ');
    }
}

static void assert_parsed(const char *json, nc_params_kind root_kind, const char *expected, size_t length) {
    nc_params params = nc_params_init(NC_PARAMS_SET, 0);
    nc_params_add_null(&params, nc_slice_of("replaced"));
    nc_error err;
    if (parse(&params, nc_slice_of(json), &err) != NC_OK) {
        fail_msg("%s: %s", json, err.message);
    }
    nc_params_item root = nc_params_root(&params);
    assert_int_equal(root.kind, root_kind);
    nc_buf out = nc_buf_init(4096);
    list(&out, &root);
    assert_true(nc_slice_is_equal(nc_buf_slice(&out), nc_slice_make(expected, length)));
    nc_buf_deinit(&out);
    nc_params_deinit(&params);
}
#define assert_object(json, expected) assert_parsed((json), NC_PARAMS_OBJECT, (expected), sizeof(expected) - 1)
#define assert_array(json, expected) assert_parsed((json), NC_PARAMS_ARRAY, (expected), sizeof(expected) - 1)

static void params_json__preserves_the_values_of_the_text(void **state) {
    (void)state;
    assert_object("{}", "");
    assert_array(" [ ] \n", "");
    assert_object("{\"a\":null,\"b\":true,\"c\":false,\"d\":\"e\"}", "0a= 1b=true 1c=false 5d=e ");
    assert_object("{\"z\":1,\"a\":{\"y\":[2,{}],\"b\":[]},\"z\":3}", "4z=1 7a=(8y=(4=2 7=() ) 8b=() ) 4z=3 ");
    assert_array("[[],[[]],{\"\":\"\"}]", "8=() 8=(8=() ) 7=(5= ) ");
}

static void params_json__preserves_the_digits_of_numbers(void **state) {
    (void)state;
    assert_array("[0,-0,1.50,1E+400,123456789012345678901234567890,0.1e-7]",
                 "4=0 4=-0 4=1.50 4=1E+400 4=123456789012345678901234567890 4=0.1e-7 ");
}

static void params_json__decodes_escapes_and_preserves_nul(void **state) {
    (void)state;
    assert_object("{\"a\\u0000b\":\"\\u0000\"}", "5a\0b=\0 ");
    assert_object("{\"\\u00e4\":\"\\ud83d\\ude00\\\"\\\\\\/\\b\\f\\n\\r\\t\"}",
                  "5\xC3\xA4=\xF0\x9F\x98\x80\"\\/\b\f\n\r\t ");
    // A name with escapes counts for its own value alone.
    assert_object("{\"\\n\":[1,2],\"b\":[{\"\\t\":3}]}", "8\n=(4=1 4=2 ) 8b=(7=(4\t=3 ) ) ");
    assert_object("{\"\xC3\xA4\":\"\xF0\x9F\x98\x80\"}", "5\xC3\xA4=\xF0\x9F\x98\x80 ");
}

static void assert_refused(nc_slice text, nc_status expected, int64_t offset) {
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_error err;
    nc_status status = parse(&params, text, &err);
    if (status != expected || err.offset != offset) {
        fail_msg("'%.*s': %s at %lld", (int)text.length, (const char *)text.data, nc_status_name(status),
                 (long long)err.offset);
    }
    nc_params_item root = nc_params_root(&params);
    assert_int_equal(root.content.length, 0);
    nc_params_deinit(&params);
}

static void params_json__reports_the_offset_of_invalid_json(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t offset;
    } rows[] = {
        {"", 0},
        {"{", 1},
        {"{\"a\":1", 6},
        {"{\"a\":1,}", 7},
        {"{\"a\" 1}", 5},
        {"{a:1}", 1},
        {"{\"a\":01}", 6},
        {"{\"a\":.5}", 5},
        {"{\"a\":NaN}", 5},
        {"{\"a\":1}x", 7},
        {"{\"a\":1}{", 7},
        {"[1,2", 4},
        {"[1 2]", 3},
        {"[\"\t\"]", 2},
        {"[\"\\x\"]", 3},
        {"[\"\xFF\"]", 2},
        {"\xEF\xBB\xBF{}", 0},
        {"{'a':1}", 1},
        {"[1]]", 3},
        {"}", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_refused(nc_slice_of(rows[i].text), NC_ERR_BAD_JSON, rows[i].offset);
    }
    assert_refused(nc_slice_make("[\0]", 3), NC_ERR_BAD_JSON, 1);
}

static void params_json__rejects_a_lone_surrogate(void **state) {
    (void)state;
    static const char *const halves[] = {"{\"a\":\"\\ud800\"}",        "{\"a\":\"\\udc00\"}",  "{\"\\ud800\":1}",
                                         "{\"a\":\"\\ud800\\ud800\"}", "{\"a\":\"\\ud800x\"}", "[\"\xED\xA0\x80\"]"};
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
        nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
        assert_status(parse(&params, nc_slice_of(halves[i]), NULL), NC_ERR_BAD_JSON);
        nc_params_deinit(&params);
    }
}

static void params_json__a_single_value_is_rejected(void **state) {
    (void)state;
    assert_refused(nc_slice_of(" 1"), NC_ERR_BAD_JSON, 1);
    assert_refused(nc_slice_of("\"a\""), NC_ERR_BAD_JSON, 0);
    assert_refused(nc_slice_of("null"), NC_ERR_BAD_JSON, 0);
    assert_refused(nc_slice_of("true"), NC_ERR_BAD_JSON, 0);
}

static void params_json__accepts_the_maximum_depth(void **state) {
    (void)state;
    char text[2 * (NC_PARAMS_MAX_DEPTH + 1)];
    for (size_t depth = NC_PARAMS_MAX_DEPTH; depth <= NC_PARAMS_MAX_DEPTH + 1; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        nc_params params = nc_params_init(NC_PARAMS_ARRAY, 0);
        nc_error err;
        nc_status status = parse(&params, nc_slice_make(text, 2 * depth), &err);
        assert_status(status, depth == NC_PARAMS_MAX_DEPTH ? NC_OK : NC_ERR_BAD_JSON);
        assert_int_equal(err.offset, depth == NC_PARAMS_MAX_DEPTH ? -1 : (int)NC_PARAMS_MAX_DEPTH);
        nc_params_deinit(&params);
    }
}

static void params_json__every_prefix_is_rejected_or_complete(void *ctx, nc_slice head, nc_slice tail) {
    (void)ctx;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_error err;
    assert_status(parse(&params, head, &err), tail.length == 0 ? NC_OK : NC_ERR_BAD_JSON);
    assert_true(tail.length == 0 || err.offset == (int64_t)head.length);
    nc_params_deinit(&params);
}

static void params_json__a_truncated_text_is_rejected_at_every_length(void **state) {
    (void)state;
    each_split(nc_slice_of("{\"a\\u00e4\":[1.5e3,true,null,\"\xF0\x9F\x98\x80\\ud83d\\ude00\"],\"b\":{}}"),
               params_json__every_prefix_is_rejected_or_complete, NULL);
}

static void params_json__a_full_tree_reports_the_offset(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 60);
    nc_error err;
    assert_status(parse(&params, nc_slice_of("{\"a\":1,\"b\":2,\"c\":3,\"d\":4}"), &err), NC_ERR_TOO_LARGE);
    assert_int_equal(err.offset, 17);
    assert_status(parse(&params, nc_slice_of("{\"a\":1}"), &err), NC_OK);
    nc_params_deinit(&params);
}

static void params_json__rejects_invalid_arguments(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    assert_status(nc_params_parse_json(&params, nc_slice_make(NULL, 1), NULL), NC_ERR_USAGE);
    nc_params_deinit(&params);
}

static void read_while_memory_runs_out(void *ctx) {
    (void)ctx;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_error err;
    nc_buf text = nc_buf_init(1 << 16);
    nc_buf_append(&text, nc_slice_of("{\"\\n\":\"\\t\",\"list\":["));
    for (int i = 0; i < 50; i++) {
        nc_buf_append(&text, nc_slice_of("\"some text\\u0021\",{\"\\u0041 name\":\"\"},"));
    }
    nc_buf_append(&text, nc_slice_of("0]}"));
    if (nc_buf_status(&text) == NC_OK) {
        nc_status status = nc_params_parse_json(&params, nc_buf_slice(&text), &err);
        assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
        assert_status(err.status, status);
        nc_params_item root = nc_params_root(&params);
        assert_int_equal(root.content.length > 0, status == NC_OK);
    }
    nc_buf_deinit(&text);
    nc_params_deinit(&params);
}

static void params_json__survives_each_failing_allocation(void **state) {
    (void)state;
    assert_true(each_allocation_failure(read_while_memory_runs_out, NULL) > 5);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(params_json__preserves_the_values_of_the_text),
        harness_case(params_json__preserves_the_digits_of_numbers),
        harness_case(params_json__decodes_escapes_and_preserves_nul),
        harness_case(params_json__reports_the_offset_of_invalid_json),
        harness_case(params_json__rejects_a_lone_surrogate),
        harness_case(params_json__a_single_value_is_rejected),
        harness_case(params_json__accepts_the_maximum_depth),
        harness_case(params_json__a_truncated_text_is_rejected_at_every_length),
        harness_case(params_json__a_full_tree_reports_the_offset),
        harness_case(params_json__rejects_invalid_arguments),
        harness_case(params_json__survives_each_failing_allocation),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
