/// Covers: schema/analyze.c schema/compile.c schema/compile_names.c schema/compile_tables.c schema/compile_values.c
/// Covers: schema/complete.c schema/containers.c schema/mismatch.c schema/expand.c schema/frames.c schema/library.c
/// Covers: schema/format.c schema/format_host.c schema/format_time.c schema/format_uri.c schema/keywords.c
/// Covers: schema/regex.c schema/regex_classes.c schema/regex_match.c schema/regex_parse.c schema/schema_scanner.c
/// Covers: schema/tree.c schema/value_hash.c schema/values.c
///
/// A schema and a text. The result is the same for all cuts, and within the limits of time and memory. Input: options
/// (one byte), a length of pieces (two bytes), the schema, the text.
#include "input.h"

#include <string.h>

enum { MAX_STEPS_PER_BYTE = 200 };

static const nc_schema_limits limits = {.max_frames = 500,
                                        .max_unique_items = 1000,
                                        .max_text_bytes = 1 << 16,
                                        .max_state_bytes = 1 << 18,
                                        .steps_per_byte = MAX_STEPS_PER_BYTE};

/// The result of a check.
typedef struct outcome {
    nc_status status;
    nc_error err;
} outcome;

static void check_failure(const nc_json *check, nc_slice text) {
    nc_schema_failure failure = nc_json_schema_failure(check);
    nc_shape_mismatch mismatch = nc_json_mismatch_at(check, 0);
    CHECK(failure.offset <= text.length && failure.line > 0 && failure.column > 0);
    CHECK(failure.instance.length == 0 || failure.instance.data[0] == '/');
    CHECK(failure.keyword.length > 0 && failure.wanted.length > 0 && failure.found.length > 0);
    CHECK(nc_slice_is_equal(failure.instance, mismatch.pointer) && failure.offset == mismatch.offset);
}

static outcome check(nc_schema *schema, nc_slice text, const nc_json_options *options, size_t step) {
    outcome result = {.status = NC_OK};
    nc_json *check = NULL;
    CHECK(nc_json_new_with_schema(&check, schema, &limits, options, &result.err) == NC_OK);
    for (size_t at = 0; at < text.length && result.status == NC_OK; at += step) {
        size_t left = text.length - at;
        result.status = nc_json_feed(check, nc_slice_make(text.data + at, left < step ? left : step), &result.err);
        check_error(&result.err, result.status, text.length);
    }
    if (result.status == NC_OK) {
        result.status = nc_json_finish(check, &result.err);
        check_error(&result.err, result.status, text.length);
    }
    if (result.status == NC_ERR_SHAPE_MISMATCH) {
        check_failure(check, text);
    }
    nc_json_reset(check);
    CHECK(nc_json_mismatch_count(check) == 0);
    nc_json_free(check);
    return result;
}

/// A text that is cut may exceed the limit of stored texts where a whole one does not, and may end earlier.
static bool is_same(const outcome *a, const outcome *b) {
    return a->status == b->status || a->status == NC_ERR_TOO_LARGE || b->status == NC_ERR_TOO_LARGE ||
           (a->status == NC_ERR_BAD_JSON && b->status == NC_ERR_SHAPE_MISMATCH) ||
           (a->status == NC_ERR_SHAPE_MISMATCH && b->status == NC_ERR_BAD_JSON);
}

static void check_text(nc_schema *schema, nc_slice text, uint8_t flags, size_t step) {
    const nc_json_options options = {.allows_lone_surrogates = true, .refuses_duplicate_names = (flags & 4) != 0};
    outcome whole = check(schema, text, &options, text.length + 1);
    outcome pieces = check(schema, text, &options, step);
    outcome bytes = check(schema, text, &options, 1);
    nc_status alone = nc_json_check(text, &options, NULL, NULL);
    CHECK(whole.status != NC_OK || alone == NC_OK);
    CHECK(is_same(&whole, &pieces) && is_same(&whole, &bytes));
    CHECK(nc_schema_check(schema, text, &limits, &options, NULL) == whole.status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const nc_schema_document others[] = {{{(const uint8_t *)"schema:///b", 11}, {(const uint8_t *)"{}", 2}}};
    input in = input_init(data, size);
    uint8_t flags = input_byte(&in);
    size_t step = input_number(&in) % 300 + 1;
    nc_slice document = input_piece(&in);
    nc_slice text = input_rest(&in);
    nc_schema_options options = {.documents = others, .document_count = 1, .asserts_formats = (flags & 1) != 0};
    nc_schema *schema = NULL;
    nc_error err;
    nc_status status = nc_schema_compile(&schema, document, &options, &err);
    check_error(&err, status, document.length > 65536 ? document.length : 65536);
    CHECK(status == NC_OK || status == NC_ERR_BAD_SHAPE || status == NC_ERR_TOO_LARGE);
    if (status == NC_OK) {
        CHECK(nc_schema_retain(schema) == schema);
        nc_schema_release(schema);
        check_text(schema, text, flags, step);
        nc_schema_release(schema);
    }
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
