/// The texts of json_texts.json: y_ are valid, n_ are invalid, i_ depend on options. Each is split in every way and
/// parsed with every block scanner of this processor.
#include "json_vectors.h"
#include "json/scanner.h"

#include <stdio.h>
#include <string.h>

typedef struct text_case {
    nc_buf name;
    nc_buf text;
    nc_json_options options;
    bool is_valid;
    nc_json_fault fault;
    int64_t offset;
    int64_t line;
    int64_t column;
} text_case;

static nc_json_fault fault_of(nc_slice word) {
    static const char *const words[] = {
        "",          "\"syntax\"", "\"ended\"",  "\"utf8\"",      "\"control\"", "\"escape\"", "\"surrogate\"",
        "\"depth\"", "\"size\"",   "\"number\"", "\"duplicate\"", "\"names\""};
    for (int i = 0; i < 12; i++) {
        if (nc_slice_is_equal(word, nc_slice_of(words[i]))) {
            return (nc_json_fault)i;
        }
    }
    fail_msg("there is no fault %.*s", (int)word.length, (const char *)word.data);
    return NC_JSON_FAULT_NONE;
}

static void append_hex(nc_buf *out, nc_slice quoted) {
    for (size_t i = 1; i + 2 < quoted.length; i += 2) {
        char pair[3] = {(char)quoted.data[i], (char)quoted.data[i + 1], '\0'};
        unsigned byte = 0;
        assert_int_equal(sscanf(pair, "%2x", &byte), 1);
        nc_buf_append_byte(out, (uint8_t)byte);
    }
}

static void case_begin(text_case *one, const json_vectors *file) {
    *one = (text_case){.name = nc_buf_init(256), .text = nc_buf_init(1 << 16)};
    assert_true(json_vectors_string(file, "name", &one->name));
    if (!json_vectors_string(file, "text", &one->text)) {
        append_hex(&one->text, json_vectors_raw(file, "hex"));
    }
    one->is_valid = json_vectors_flag(file, "valid");
    one->fault = fault_of(json_vectors_raw(file, "fault"));
    one->offset = json_vectors_number(file, "offset", -1);
    one->line = json_vectors_number(file, "line", -1);
    one->column = json_vectors_number(file, "column", -1);
    one->options.allows_lone_surrogates = json_vectors_flag(file, "lone");
    one->options.refuses_duplicate_names = json_vectors_flag(file, "unique");
    one->options.max_depth = (uint32_t)json_vectors_number(file, "max_depth", 0);
    one->options.max_names = (uint32_t)json_vectors_number(file, "max_names", 0);
    one->options.max_bytes = (uint64_t)json_vectors_number(file, "max_bytes", 0);
    one->options.max_number_bytes = (uint64_t)json_vectors_number(file, "max_number", 0);
}

static void case_end(text_case *one) {
    nc_buf_deinit(&one->name);
    nc_buf_deinit(&one->text);
}

static void assert_verdict(const text_case *one, nc_status status, const nc_json_failure *failure) {
    nc_status wanted = one->is_valid ? NC_OK : NC_ERR_BAD_JSON;
    bool is_right = status == wanted && failure->fault == one->fault &&
                    (one->offset < 0 || failure->offset == (uint64_t)one->offset) &&
                    (one->line < 0 || failure->line == (uint64_t)one->line) &&
                    (one->column < 0 || failure->column == (uint64_t)one->column);
    if (!is_right) {
        fail_msg("%.*s: %s, fault %d at %llu (%llu:%llu), wanted %s, found %s", (int)one->name.length,
                 (const char *)one->name.data, nc_status_name(status), (int)failure->fault,
                 (unsigned long long)failure->offset, (unsigned long long)failure->line,
                 (unsigned long long)failure->column, failure->wanted, failure->found);
    }
}

/// Checks a case split after `cut` bytes and then into pieces of `step`. Returns the failure.
static nc_json_failure check_cut(const text_case *one, size_t cut, size_t step) {
    nc_json *json = NULL;
    nc_slice text = nc_buf_slice(&one->text);
    assert_status(nc_json_new(&json, &one->options, NULL), NC_OK);
    nc_status status = NC_OK;
    for (size_t at = 0, length = cut; at < text.length && status == NC_OK; at += length, length = step) {
        size_t left = text.length - at;
        length = left < length ? left : length;
        status = nc_json_feed(json, nc_slice_make(text.data + at, length), NULL);
    }
    status = status == NC_OK ? nc_json_finish(json, NULL) : status;
    nc_json_failure failure = *nc_json_failure_of(json);
    assert_verdict(one, status, &failure);
    nc_json_free(json);
    return failure;
}

static void check_with_all_scanners(void (*check)(const text_case *one)) {
    for (size_t i = 0; i < nc_block_scanner_count; i++) {
        if (!nc_block_scanners[i].is_supported()) {
            continue;
        }
        json_vectors file;
        nc_block_scanner_select(&nc_block_scanners[i]);
        json_vectors_open(&file, "json_texts.json");
        while (json_vectors_next(&file)) {
            text_case one;
            case_begin(&one, &file);
            check(&one);
            case_end(&one);
        }
        json_vectors_close(&file);
    }
    nc_block_scanner_select(NULL);
}

static bool pass_token(void *ctx, const nc_json_token *token) {
    (void)ctx;
    return token->kind <= NC_JSON_NULL;
}

static void check_whole(const text_case *one) {
    nc_json_failure failure;
    nc_json_failure of_reader;
    guarded copy = guarded_copy(nc_buf_slice(&one->text));
    nc_status status = nc_json_check(copy.slice, &one->options, &failure, NULL);
    assert_verdict(one, status, &failure);
    status = nc_json_read(copy.slice, &one->options, pass_token, NULL, &of_reader, NULL);
    assert_verdict(one, status, &of_reader);
    assert_memory_equal(&failure, &of_reader, sizeof failure);
    guarded_deinit(&copy);
}

static void check_after_text(const text_case *one) {
    // The same at every offset within a block, after white space.
    for (size_t shift = 1; shift < 68; shift += 3) {
        text_case moved = *one;
        moved.text = nc_buf_init(1 << 16);
        for (size_t i = 0; i < shift; i++) {
            nc_buf_append_byte(&moved.text, ' ');
        }
        nc_buf_append(&moved.text, nc_buf_slice(&one->text));
        moved.offset += moved.offset < 0 ? 0 : (int64_t)shift;
        moved.options.max_bytes += moved.options.max_bytes == 0 ? 0 : shift;
        moved.line = -1;
        moved.column = -1;
        check_whole(&moved);
        nc_buf_deinit(&moved.text);
    }
}

static void check_every_cut(const text_case *one) {
    nc_json_failure whole = check_cut(one, one->text.length, one->text.length);
    nc_json_failure bytes = check_cut(one, 1, 1);
    assert_memory_equal(&whole, &bytes, sizeof whole);
    size_t step = one->text.length > 250 ? one->text.length / 100 : 1;
    for (size_t cut = 1; cut < one->text.length; cut += step) {
        nc_json_failure failure = check_cut(one, cut, one->text.length);
        assert_memory_equal(&whole, &failure, sizeof whole);
    }
    for (size_t every = 63; every < 66 && every < one->text.length; every++) {
        nc_json_failure failure = check_cut(one, every, every);
        assert_memory_equal(&whole, &failure, sizeof whole);
    }
}

static void json__agrees_with_the_vectors(void **state) {
    (void)state;
    check_with_all_scanners(check_whole);
}

static void json__agrees_with_the_vectors_at_every_position(void **state) {
    (void)state;
    check_with_all_scanners(check_after_text);
}

static void json__agrees_with_the_vectors_at_every_split(void **state) {
    (void)state;
    check_with_all_scanners(check_every_cut);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(json__agrees_with_the_vectors),
        harness_case(json__agrees_with_the_vectors_at_every_position),
        harness_case(json__agrees_with_the_vectors_at_every_split),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
