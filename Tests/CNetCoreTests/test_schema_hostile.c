/// Hostile schemas and texts: time and memory are bounded, and exceeding a limit has an error of its own.
#include "harness.h"

#include <netcore/schema.h>
#include <stdio.h>
#include <string.h>

static nc_schema *compile(nc_slice text) {
    nc_schema *schema = NULL;
    nc_error err;
    if (nc_schema_compile(&schema, text, NULL, &err) != NC_OK) {
        fail_msg("%s", err.message);
    }
    return schema;
}

static void append(nc_buf *out, const char *text) {
    nc_buf_append(out, nc_slice_of(text));
}

/// Appends text that contains a number.
static void append_format(nc_buf *out, const char *format, unsigned number) {
    char text[256];
    snprintf(text, sizeof text, format, number, number + 1, number + 1);
    append(out, text);
}

static void assert_too_large(nc_schema *schema, nc_slice text, const nc_schema_limits *limits, const char *limit) {
    nc_error err;
    char expected[128];
    snprintf(expected, sizeof expected, "checking the schema exceeds its limit: %s", limit);
    assert_status(nc_schema_check(schema, text, limits, NULL, &err), NC_ERR_TOO_LARGE);
    assert_string_equal(err.message, expected);
}

static void schema__exponentially_many_alternatives_end_at_the_limit_of_frames(void **state) {
    (void)state;
    nc_buf text = nc_buf_init(1 << 16);
    append(&text, "{\"$ref\":\"#/$defs/a0\",\"$defs\":{");
    for (unsigned i = 0; i < 60; i++) {
        append_format(&text, "\"a%u\":{\"anyOf\":[{\"$ref\":\"#/$defs/a%u\"},{\"$ref\":\"#/$defs/a%u\"}]},", i);
    }
    append(&text, "\"a60\":{\"minimum\":0}}}");
    nc_schema *schema = compile(nc_buf_slice(&text));
    assert_too_large(schema, nc_slice_of("1"), NULL, "max_frames");
    assert_status(nc_schema_check(schema, nc_slice_of("\"x\""), NULL, NULL, NULL), NC_OK);
    nc_schema_release(schema);
    nc_buf_deinit(&text);
}

static void schema__a_long_chain_of_references_is_refused(void **state) {
    (void)state;
    nc_buf text = nc_buf_init(1 << 20);
    nc_schema *schema = NULL;
    append(&text, "{\"$ref\":\"#/$defs/a0\",\"$defs\":{");
    for (unsigned i = 0; i < 5000; i++) {
        append_format(&text, "\"a%u\":{\"$ref\":\"#/$defs/a%u\"},", i);
    }
    append(&text, "\"a5000\":true}}");
    assert_status(nc_schema_compile(&schema, nc_buf_slice(&text), NULL, NULL), NC_ERR_BAD_SHAPE);
    nc_buf_deinit(&text);
}

static void schema__a_recursive_schema_follows_the_depth_of_the_text(void **state) {
    (void)state;
    nc_schema *schema = compile(nc_slice_of("{\"items\":{\"$ref\":\"#\"},\"type\":\"array\",\"maxItems\":1}"));
    nc_buf text = nc_buf_init(2048);
    for (int i = 0; i < 512; i++) {
        append(&text, "[");
    }
    for (int i = 0; i < 512; i++) {
        append(&text, "]");
    }
    assert_status(nc_schema_check(schema, nc_buf_slice(&text), NULL, NULL, NULL), NC_OK);
    const nc_schema_limits limits = {.max_frames = 100};
    assert_too_large(schema, nc_buf_slice(&text), &limits, "max_frames");
    nc_schema_release(schema);
    nc_buf_deinit(&text);
}

static void schema__a_huge_repetition_is_refused(void **state) {
    (void)state;
    static const char *const schemas[] = {
        "{\"pattern\":\"(a{1000}){1000}\"}",
        "{\"pattern\":\"((((a{99}){99}){99}){99}){99}\"}",
        "{\"pattern\":\"a{0,4000000000}\"}",
        "{\"patternProperties\":{\"(ab?){20000}\":true}}",
    };
    for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++) {
        nc_schema *schema = NULL;
        assert_status(nc_schema_compile(&schema, nc_slice_of(schemas[i]), NULL, NULL), NC_ERR_TOO_LARGE);
    }
}

/// Patterns for which a search with backtracking takes exponential time.
static void schema__a_pattern_with_nested_repetitions_is_matched_in_linear_time(void **state) {
    (void)state;
    nc_schema *schema = compile(nc_slice_of("{\"items\":{\"pattern\":\"^(a+)+(a|aa)*(a?){50}$\"}}"));
    nc_buf text = nc_buf_init(1 << 20);
    append(&text, "[\"");
    for (int i = 0; i < 100000; i++) {
        append(&text, "a");
    }
    append(&text, "!\"]");
    assert_status(nc_schema_check(schema, nc_buf_slice(&text), NULL, NULL, NULL), NC_ERR_SHAPE_MISMATCH);
    nc_schema_release(schema);
    nc_buf_deinit(&text);
}

static void schema__a_text_that_needs_too_many_steps_is_refused(void **state) {
    (void)state;
    nc_buf schema_text = nc_buf_init(1 << 20);
    nc_buf text = nc_buf_init(1 << 20);
    append(&schema_text, "{\"items\":{\"allOf\":[");
    for (unsigned i = 0; i < 9999; i++) {
        append_format(&schema_text, i == 0 ? "{\"minimum\":-%u}" : ",{\"minimum\":-%u}", i);
    }
    append(&schema_text, "]}}");
    append(&text, "[0");
    for (int i = 0; i < 20000; i++) {
        append(&text, ",0");
    }
    append(&text, "]");
    nc_schema *schema = compile(nc_buf_slice(&schema_text));
    assert_too_large(schema, nc_buf_slice(&text), NULL, "steps_per_byte");
    nc_schema_release(schema);
    nc_buf_deinit(&schema_text);
    nc_buf_deinit(&text);
}

static void schema__stored_texts_elements_and_sets_are_limited(void **state) {
    (void)state;
    const nc_schema_limits limits = {.max_unique_items = 3, .max_text_bytes = 8, .max_state_bytes = 64};
    nc_schema *unique = compile(nc_slice_of("{\"uniqueItems\":true}"));
    assert_status(nc_schema_check(unique, nc_slice_of("[1,2,3]"), &limits, NULL, NULL), NC_OK);
    assert_too_large(unique, nc_slice_of("[1,2,3,4]"), &limits, "max_unique_items");
    nc_schema *string = compile(nc_slice_of("{\"pattern\":\"a\"}"));
    assert_too_large(string, nc_slice_of("\"\\u0061bcdefghij\""), &limits, "max_text_bytes");
    assert_status(nc_schema_check(string, nc_slice_of("\"\\u0061bcdefg\""), &limits, NULL, NULL), NC_OK);
    nc_schema *sets = compile(nc_slice_of("{\"anyOf\":[{\"prefixItems\":[true]},{\"items\":true}],"
                                          "\"unevaluatedItems\":false}"));
    nc_buf text = nc_buf_init(4096);
    append(&text, "[0");
    for (int i = 0; i < 200; i++) {
        append(&text, ",0");
    }
    append(&text, "]");
    assert_too_large(sets, nc_buf_slice(&text), &limits, "max_state_bytes");
    assert_status(nc_schema_check(sets, nc_buf_slice(&text), NULL, NULL, NULL), NC_OK);
    nc_buf_deinit(&text);
    nc_schema_release(unique);
    nc_schema_release(string);
    nc_schema_release(sets);
}

/// A long string that only its type matters for is not stored.
static void schema__a_string_that_no_keyword_reads_takes_no_memory(void **state) {
    (void)state;
    char piece[4096];
    nc_json *check = NULL;
    memset(piece, 'x', sizeof piece);
    nc_schema *schema =
        compile(nc_slice_of("{\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}"));
    assert_status(nc_json_new_with_schema(&check, schema, NULL, NULL, NULL), NC_OK);
    assert_status(nc_json_feed(check, nc_slice_of("{\"text\":\""), NULL), NC_OK);
    uint64_t allocations = harness_allocations();
    for (int i = 0; i < 5000; i++) {
        assert_status(nc_json_feed(check, nc_slice_make(piece, sizeof piece), NULL), NC_OK);
    }
    assert_int_equal(harness_allocations(), allocations);
    assert_status(nc_json_feed(check, nc_slice_of("\"}"), NULL), NC_OK);
    assert_status(nc_json_finish(check, NULL), NC_OK);
    nc_json_free(check);
    nc_schema_release(schema);
}

static void schema__a_dynamic_reference_that_never_ends_is_stopped(void **state) {
    (void)state;
    nc_schema *schema = NULL;
    nc_error err;
    nc_status status = nc_schema_compile(
        &schema,
        nc_slice_of("{\"$id\":\"https://example.com/a\",\"$dynamicAnchor\":\"x\",\"$ref\":\"b\",\"$defs\":{\"b\":{"
                    "\"$id\":\"b\",\"$dynamicRef\":\"#x\",\"$defs\":{\"d\":{\"$dynamicAnchor\":\"x\"}}}}}"),
        NULL, &err);
    assert_status(status, NC_OK);
    assert_too_large(schema, nc_slice_of("1"), NULL, "the chain of schemas for one value");
    nc_schema_release(schema);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(schema__exponentially_many_alternatives_end_at_the_limit_of_frames),
        harness_case(schema__a_long_chain_of_references_is_refused),
        harness_case(schema__a_recursive_schema_follows_the_depth_of_the_text),
        harness_case(schema__a_huge_repetition_is_refused),
        harness_case(schema__a_pattern_with_nested_repetitions_is_matched_in_linear_time),
        harness_case(schema__a_text_that_needs_too_many_steps_is_refused),
        harness_case(schema__stored_texts_elements_and_sets_are_limited),
        harness_case(schema__a_string_that_no_keyword_reads_takes_no_memory),
        harness_case(schema__a_dynamic_reference_that_never_ends_is_stopped),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
