/// Covers: json/shape.c json/shape.h json/shape_builder.c json/shape_compile.c json/token_text.c
/// Covers: json/shape_match.c json/shape_match.h json/shape_mismatch.c json/shape_scanner.c
///
/// A shape and a text. The mismatches are the same for all cuts and all block implementations. They lie within the
/// text, in order, and a text without mismatches is JSON. Input: options (one byte), a length of pieces (two bytes),
/// the shape, the text.
#include "input.h"

#include "json/scanner.h"

#include <string.h>

enum { MAX_MISMATCHES = 20 };

/// The result of a check, with one line per mismatch.
typedef struct findings {
    nc_status status;
    nc_json_failure failure;
    nc_buf lines;
    size_t count;
} findings;

static void note(findings *found, nc_slice text) {
    nc_buf_append(&found->lines, text);
    nc_buf_append_byte(&found->lines, '\n');
}

static void take_findings(findings *found, const nc_json *json, nc_slice text) {
    found->failure = *nc_json_failure_of(json);
    found->count = nc_json_mismatch_count(json);
    CHECK(found->count <= MAX_MISMATCHES);
    CHECK(found->status != NC_ERR_SHAPE_MISMATCH || found->count > 0);
    CHECK(found->status != NC_OK || found->count == 0);
    for (size_t i = 0; i < found->count; i++) {
        nc_shape_mismatch one = nc_json_mismatch_at(json, i);
        uint64_t numbers[] = {one.offset, one.line, one.column};
        CHECK(one.offset <= text.length && one.line > 0 && one.column > 0);
        CHECK(one.pointer.length == 0 || one.pointer.data[0] == '/');
        CHECK(one.wanted.length > 0 && one.found.length > 0);
        note(found, one.pointer);
        note(found, one.wanted);
        note(found, one.found);
        note(found, nc_slice_make(numbers, sizeof numbers));
    }
    CHECK(nc_json_mismatch_at(json, found->count).pointer.length == 0);
}

static findings check(nc_shape *shape, nc_slice text, const nc_shape_options *options,
                      const nc_json_options *json_options, size_t step) {
    findings found = {.lines = nc_buf_init(1 << 22)};
    nc_json *json = NULL;
    nc_error err;
    CHECK(nc_json_new_matching(&json, shape, options, json_options, &err) == NC_OK);
    for (size_t at = 0; at < text.length && found.status == NC_OK; at += step) {
        size_t left = text.length - at;
        found.status = nc_json_feed(json, nc_slice_make(text.data + at, left < step ? left : step), &err);
        check_error(&err, found.status, text.length);
    }
    if (found.status == NC_OK) {
        found.status = nc_json_finish(json, &err);
        check_error(&err, found.status, text.length);
    }
    take_findings(&found, json, text);
    nc_json_reset(json);
    CHECK(nc_json_mismatch_count(json) == 0);
    nc_json_free(json);
    return found;
}

static void check_same(findings a, findings *b) {
    CHECK(a.status == b->status && a.count == b->count);
    CHECK(nc_slice_is_equal(nc_buf_slice(&a.lines), nc_buf_slice(&b->lines)));
    CHECK(a.failure.fault == b->failure.fault && a.failure.offset == b->failure.offset);
    nc_buf_deinit(&b->lines);
}

static void check_text(nc_shape *shape, nc_slice text, uint8_t flags, size_t step) {
    nc_shape_options options = {.is_lenient = (flags & 1) != 0,
                                .max_mismatches = (flags & 2) != 0 ? MAX_MISMATCHES : 0};
    nc_json_options json_options = {.allows_lone_surrogates = true, .refuses_duplicate_names = (flags & 4) != 0};
    findings whole = check(shape, text, &options, &json_options, text.length + 1);
    nc_status alone = nc_json_check(text, &json_options, NULL, NULL);
    // A text that is not JSON is no mismatch, unless enough mismatches came first.
    CHECK(whole.status != NC_OK || alone == NC_OK);
    CHECK(whole.status != NC_ERR_BAD_JSON || alone == NC_ERR_BAD_JSON);
    CHECK(nc_shape_check(shape, text, &options, &json_options, NULL) == whole.status);
    findings pieces = check(shape, text, &options, &json_options, step);
    check_same(whole, &pieces);
    pieces = check(shape, text, &options, &json_options, 1);
    check_same(whole, &pieces);
    for (size_t scanner = 0; scanner < nc_block_scanner_count; scanner++) {
        if (nc_block_scanners[scanner].is_supported()) {
            nc_block_scanner_select(&nc_block_scanners[scanner]);
            pieces = check(shape, text, &options, &json_options, text.length + 1);
            check_same(whole, &pieces);
        }
    }
    nc_block_scanner_select(NULL);
    nc_buf_deinit(&whole.lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    uint8_t flags = input_byte(&in);
    size_t step = input_number(&in) % 300 + 1;
    nc_slice document = input_piece(&in);
    nc_slice text = input_rest(&in);
    nc_shape *shape = NULL;
    nc_error err;
    nc_status status = nc_shape_parse(&shape, document, &err);
    check_error(&err, status, document.length);
    CHECK(status == NC_OK || status == NC_ERR_BAD_SHAPE);
    if (status == NC_OK) {
        CHECK(nc_json_check(document, NULL, NULL, NULL) == NC_OK);
        CHECK(nc_shape_retain(shape) == shape);
        nc_shape_release(shape);
        check_text(shape, text, flags, step);
        nc_shape_release(shape);
    }
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
