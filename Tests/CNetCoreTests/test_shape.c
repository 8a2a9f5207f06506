#include "json_vectors.h"
#include "json/scanner.h"

#include <stdio.h>
#include <string.h>

/// One case of json_shape.json, compiled.
typedef struct shape_case {
    nc_shape *shape;
    nc_shape_options options;
    nc_buf text;
    nc_buf pointer;
    nc_buf wanted;
    nc_buf found;
    bool names_place;
    bool matches;
    int64_t offset;
    nc_slice all;
} shape_case;

static void case_begin(shape_case *one, const json_vectors *file) {
    nc_error err;
    nc_slice shape = json_vectors_raw(file, "shape");
    *one = (shape_case){.text = nc_buf_init(1 << 20), .pointer = nc_buf_init(1 << 12)};
    one->wanted = nc_buf_init(1 << 12);
    one->found = nc_buf_init(1 << 12);
    if (nc_shape_parse(&one->shape, shape, &err) != NC_OK) {
        fail_msg("%.*s: %s", (int)shape.length, (const char *)shape.data, err.message);
    }
    one->options.is_lenient = json_vectors_flag(file, "lenient");
    one->all = json_vectors_raw(file, "all");
    one->options.max_mismatches = (uint32_t)json_vectors_number(file, "max", one->all.length > 0 ? 100 : 0);
    one->matches = json_vectors_flag(file, "matches");
    one->offset = json_vectors_number(file, "offset", -1);
    if (!json_vectors_string(file, "text", &one->text)) {
        nc_buf_append(&one->text, json_vectors_raw(file, "json"));
    }
    one->names_place = json_vectors_string(file, "pointer", &one->pointer) &&
                       json_vectors_string(file, "wanted", &one->wanted) &&
                       json_vectors_string(file, "found", &one->found);
}

static void case_end(shape_case *one) {
    nc_shape_release(one->shape);
    nc_buf_deinit(&one->text);
    nc_buf_deinit(&one->pointer);
    nc_buf_deinit(&one->wanted);
    nc_buf_deinit(&one->found);
}

static void assert_same(nc_slice actual, const nc_buf *expected, const shape_case *one) {
    if (!nc_slice_is_equal(actual, nc_buf_slice(expected))) {
        fail_msg("%.*s: '%.*s' instead of '%.*s'", (int)one->text.length, (const char *)one->text.data,
                 (int)actual.length, (const char *)actual.data, (int)expected->length, (const char *)expected->data);
    }
}

/// Checks all pointers of a case together, as a JSON array.
static void assert_all(const nc_json *json, const shape_case *one) {
    nc_buf list = nc_buf_init(1 << 16);
    for (size_t i = 0; i < nc_json_mismatch_count(json); i++) {
        nc_buf_append(&list, nc_slice_of(i == 0 ? "[\"" : ",\""));
        nc_buf_append(&list, nc_json_mismatch_at(json, i).pointer);
        nc_buf_append_byte(&list, '"');
    }
    nc_buf_append_byte(&list, ']');
    assert_same(one->all, &list, one);
    nc_buf_deinit(&list);
}

static void assert_verdict(const nc_json *json, nc_status status, const shape_case *one) {
    if (status != (one->matches ? NC_OK : NC_ERR_SHAPE_MISMATCH)) {
        fail_msg("%.*s: %s", (int)one->text.length, (const char *)one->text.data, nc_status_name(status));
    }
    nc_shape_mismatch first = nc_json_mismatch_at(json, 0);
    if (one->names_place) {
        assert_same(first.pointer, &one->pointer, one);
        assert_same(first.wanted, &one->wanted, one);
        assert_same(first.found, &one->found, one);
    }
    if (one->offset >= 0) {
        assert_int_equal(first.offset, one->offset);
        assert_int_equal(first.line, 1);
    }
    if (one->all.length > 0) {
        assert_all(json, one);
    }
}

/// Checks a case in pieces of `step` bytes after a first piece of `first` bytes.
static void check_in_pieces(const shape_case *one, size_t first, size_t step) {
    nc_json *json = NULL;
    guarded copy = guarded_copy(nc_buf_slice(&one->text));
    nc_slice text = copy.slice;
    assert_status(nc_json_new_matching(&json, one->shape, &one->options, NULL, NULL), NC_OK);
    nc_status status = NC_OK;
    for (size_t at = 0, length = first; at < text.length && status == NC_OK; at += length, length = step) {
        size_t left = text.length - at;
        status = nc_json_feed(json, nc_slice_make(text.data + at, left < length ? left : length), NULL);
    }
    status = status == NC_OK ? nc_json_finish(json, NULL) : status;
    assert_verdict(json, status, one);
    nc_json_free(json);
    guarded_deinit(&copy);
}

static void shape__agrees_with_the_vectors(void **state) {
    (void)state;
    for (size_t scanner = 0; scanner < nc_block_scanner_count; scanner++) {
        json_vectors file;
        nc_block_scanner_select(nc_block_scanners[scanner].is_supported() ? &nc_block_scanners[scanner] : NULL);
        json_vectors_open(&file, "json_shape.json");
        while (json_vectors_next(&file)) {
            shape_case one;
            case_begin(&one, &file);
            check_in_pieces(&one, one.text.length, one.text.length);
            // Surrounding white space makes short texts use the parser that works on blocks.
            for (int i = 0; i < 150; i++) {
                nc_buf_append_byte(&one.text, ' ');
            }
            check_in_pieces(&one, one.text.length, one.text.length);
            case_end(&one);
        }
        json_vectors_close(&file);
    }
    nc_block_scanner_select(NULL);
}

static void shape__agrees_with_the_vectors_at_every_split(void **state) {
    (void)state;
    json_vectors file;
    json_vectors_open(&file, "json_shape.json");
    while (json_vectors_next(&file)) {
        shape_case one;
        case_begin(&one, &file);
        check_in_pieces(&one, 1, 1);
        for (size_t cut = 1; cut < one.text.length && cut < 200; cut++) {
            check_in_pieces(&one, cut, one.text.length);
        }
        case_end(&one);
    }
    json_vectors_close(&file);
}

static void shape__reports_the_position_of_an_error_in_its_document(void **state) {
    (void)state;
    json_vectors file;
    json_vectors_open(&file, "json_shape_wrong.json");
    while (json_vectors_next(&file)) {
        nc_buf document = nc_buf_init(1 << 16);
        nc_buf place = nc_buf_init(1 << 12);
        nc_shape *shape = NULL;
        nc_error err;
        assert_true(json_vectors_string(&file, "shape_text", &document));
        nc_status status = nc_shape_parse(&shape, nc_buf_slice(&document), &err);
        if (status != NC_ERR_BAD_SHAPE) {
            fail_msg("%.*s: %s", (int)document.length, (const char *)document.data, nc_status_name(status));
        }
        if (json_vectors_string(&file, "place", &place)) {
            char start[256];
            snprintf(start, sizeof start, "at \"%.*s\": ", (int)place.length, (const char *)place.data);
            assert_memory_equal(err.message, start, strlen(start));
        }
        int64_t offset = json_vectors_number(&file, "offset", -1);
        if (offset >= 0) {
            assert_int_equal(err.offset, offset);
        }
        nc_buf_deinit(&document);
        nc_buf_deinit(&place);
    }
    json_vectors_close(&file);
}

/* --- beyond the vectors --- */

static nc_shape *shape_of(const char *document) {
    nc_shape *shape = NULL;
    assert_status(nc_shape_parse(&shape, nc_slice_of(document), NULL), NC_OK);
    return shape;
}

static void shape__a_mismatch_is_described_in_one_line(void **state) {
    (void)state;
    nc_error err;
    nc_shape *shape = shape_of("{\"list\":[{\"id\":\"integer\"}]}");
    nc_slice text = nc_slice_of("{\"list\":[{\"id\":1},\n {\"id\":\"2\"}]}");
    assert_status(nc_shape_check(shape, text, NULL, NULL, &err), NC_ERR_SHAPE_MISMATCH);
    assert_string_equal(err.message, "at /list/1/id: expected integer, found string");
    assert_int_equal(err.offset, 26);
    assert_status(nc_shape_check(shape, nc_slice_of("3"), NULL, NULL, &err), NC_ERR_SHAPE_MISMATCH);
    assert_string_equal(err.message, "at the root: expected object, found number");
    nc_shape_release(shape);
}

static void shape__reports_line_and_column_of_a_token_from_an_earlier_piece(void **state) {
    (void)state;
    nc_json *json = NULL;
    nc_shape *shape = shape_of("[\"integer\"]");
    assert_status(nc_json_new_matching(&json, shape, NULL, NULL, NULL), NC_OK);
    assert_status(nc_json_feed(json, nc_slice_of("[1,\n  1"), NULL), NC_OK);
    assert_status(nc_json_feed(json, nc_slice_of("2.5"), NULL), NC_OK);
    assert_status(nc_json_feed(json, nc_slice_of("e0]"), NULL), NC_ERR_SHAPE_MISMATCH);
    nc_shape_mismatch first = nc_json_mismatch_at(json, 0);
    assert_int_equal(first.line, 2);
    assert_int_equal(first.column, 3);
    assert_int_equal(first.offset, 6);
    nc_json_free(json);
    nc_shape_release(shape);
}

static void shape__invalid_json_is_not_a_mismatch(void **state) {
    (void)state;
    nc_json *json = NULL;
    nc_shape *shape = shape_of("[\"string\"]");
    nc_shape_options options = {.max_mismatches = 10};
    assert_status(nc_json_new_matching(&json, shape, &options, NULL, NULL), NC_OK);
    assert_status(nc_json_feed(json, nc_slice_of("[1,2,x]"), NULL), NC_ERR_BAD_JSON);
    assert_int_equal(nc_json_mismatch_count(json), 2);
    assert_int_equal(nc_json_failure_of(json)->offset, 5);
    nc_json_reset(json);
    assert_status(nc_json_feed(json, nc_slice_of("[\"x\"]"), NULL), NC_OK);
    assert_status(nc_json_finish(json, NULL), NC_OK);
    assert_int_equal(nc_json_mismatch_count(json), 0);
    nc_json_free(json);
    nc_shape_release(shape);
}

static void shape__rejects_limits_out_of_range(void **state) {
    (void)state;
    nc_shape *shape = shape_of("\"any\"");
    nc_shape_options options = {.max_mismatches = NC_SHAPE_MAX_MISMATCHES + 1};
    nc_json_options deep = {.max_depth = NC_JSON_MAX_DEPTH + 1};
    assert_status(nc_shape_check(shape, nc_slice_of("1"), &options, NULL, NULL), NC_ERR_USAGE);
    assert_status(nc_shape_check(shape, nc_slice_of("1"), NULL, &deep, NULL), NC_ERR_USAGE);
    assert_status(nc_json_check(nc_slice_of("1"), &deep, NULL, NULL), NC_ERR_USAGE);
    nc_shape_release(shape);
}

static void shape__shape_and_duplicates_are_checked_together(void **state) {
    (void)state;
    nc_shape *shape = shape_of("{\"a\":\"any\"}");
    nc_json_options options = {.refuses_duplicate_names = true};
    nc_error err;
    nc_slice text = nc_slice_of("{\"a\":{\"b\":1,\"c\":{\"b\":2},\"b\":3}}");
    assert_status(nc_shape_check(shape, text, NULL, &options, &err), NC_ERR_BAD_JSON);
    assert_int_equal(err.offset, 24);
    assert_status(nc_shape_check(shape, text, NULL, NULL, &err), NC_OK);
    nc_shape_release(shape);
}

static void check_with_failing_memory(void *ctx) {
    (void)ctx;
    nc_shape *shape = NULL;
    nc_slice document = nc_slice_of("{\"a\":[{\"$min\":1,\"$max\":3}],\"b?\":{\"$enum\":[\"x\",1]},\"$closed\":true}");
    nc_status status = nc_shape_parse(&shape, document, NULL);
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    if (status != NC_OK) {
        return;
    }
    nc_json_options options = {.refuses_duplicate_names = true, .max_depth = 600};
    nc_shape_options collect = {.max_mismatches = 10};
    status = nc_shape_check(shape, nc_slice_of("{\"a\":[0,4,1],\"b\":\"y\",\"c\":1}"), &collect, &options, NULL);
    assert_true(status == NC_ERR_SHAPE_MISMATCH || status == NC_ERR_NO_MEMORY);
    nc_shape_release(shape);
}

/// Appends the reported member of this name that a closed object rejects, for text in pieces of `step` bytes.
static void append_rejected_name(nc_buf *out, nc_slice name, size_t step) {
    nc_shape *shape = NULL;
    nc_json *json = NULL;
    nc_buf text = nc_buf_init(1 << 12);
    nc_buf_append(&text, nc_slice_of("{\""));
    nc_buf_append(&text, name);
    nc_buf_append(&text, nc_slice_of("\":1}"));
    assert_status(nc_shape_parse(&shape, nc_slice_of("{\"$closed\":true}"), NULL), NC_OK);
    assert_status(nc_json_new_matching(&json, shape, NULL, NULL, NULL), NC_OK);
    nc_status status = NC_OK;
    for (size_t at = 0; at < text.length && status == NC_OK; at += step) {
        size_t left = text.length - at;
        status = nc_json_feed(json, nc_slice_make(text.data + at, left < step ? left : step), NULL);
    }
    assert_status(status, NC_ERR_SHAPE_MISMATCH);
    nc_buf_append(out, nc_json_mismatch_at(json, 0).pointer);
    nc_json_free(json);
    nc_shape_release(shape);
    nc_buf_deinit(&text);
}

static void shape__a_long_unknown_name_is_truncated_alike_at_every_split(void **state) {
    (void)state;
    static const char *const characters[] = {"x", "é", "€", "😀"};
    for (size_t lead = 0; lead < 5; lead++) {
        for (size_t i = 0; i < sizeof characters / sizeof *characters; i++) {
            nc_buf name = nc_buf_init(1 << 12);
            nc_buf whole = nc_buf_init(1 << 13);
            nc_slice character = nc_slice_of(characters[i]);
            nc_buf_append(&name, nc_slice_make((const uint8_t *)"abcd", lead));
            while (name.length < 600) {
                nc_buf_append(&name, character);
            }
            append_rejected_name(&whole, nc_buf_slice(&name), SIZE_MAX / 2);
            // The slash of the pointer, and as many whole characters as 256 bytes have room for.
            assert_int_equal(whole.length, 1 + lead + (256 - lead) / character.length * character.length);
            assert_memory_equal(whole.data + 1, name.data, whole.length - 1);
            for (size_t step = 1; step < 300; step += 7) {
                nc_buf pieces = nc_buf_init(1 << 13);
                append_rejected_name(&pieces, nc_buf_slice(&name), step);
                assert_true(nc_slice_is_equal(nc_buf_slice(&whole), nc_buf_slice(&pieces)));
                nc_buf_deinit(&pieces);
            }
            nc_buf_deinit(&whole);
            nc_buf_deinit(&name);
        }
    }
}

static void shape__repeated_type_names_still_give_a_mismatch(void **state) {
    (void)state;
    nc_error err;
    nc_buf document = nc_buf_init(1 << 16);
    nc_buf_append(&document, nc_slice_of("{\"a\":\"string"));
    for (int i = 0; i < 1000; i++) {
        nc_buf_append(&document, nc_slice_of("|string"));
    }
    nc_buf_append(&document, nc_slice_of("\"}"));
    nc_shape *shape = NULL;
    assert_status(nc_shape_parse(&shape, nc_buf_slice(&document), NULL), NC_OK);
    assert_status(nc_shape_check(shape, nc_slice_of("{\"a\":1}"), NULL, NULL, &err), NC_ERR_SHAPE_MISMATCH);
    assert_non_null(strstr(err.message, "at /a: expected string|string"));
    assert_status(nc_shape_check(shape, nc_slice_of("{}"), NULL, NULL, &err), NC_ERR_SHAPE_MISMATCH);
    nc_shape_release(shape);
    nc_buf_deinit(&document);
}

static void shape__survives_each_allocation_failure(void **state) {
    (void)state;
    assert_true(each_allocation_failure(check_with_failing_memory, NULL) > 10);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(shape__agrees_with_the_vectors),
        harness_case(shape__agrees_with_the_vectors_at_every_split),
        harness_case(shape__reports_the_position_of_an_error_in_its_document),
        harness_case(shape__a_mismatch_is_described_in_one_line),
        harness_case(shape__reports_line_and_column_of_a_token_from_an_earlier_piece),
        harness_case(shape__invalid_json_is_not_a_mismatch),
        harness_case(shape__rejects_limits_out_of_range),
        harness_case(shape__shape_and_duplicates_are_checked_together),
        harness_case(shape__a_long_unknown_name_is_truncated_alike_at_every_split),
        harness_case(shape__repeated_type_names_still_give_a_mismatch),
        harness_case(shape__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
