/// Covers: json/block_scan.c json/block_vectors.inc json/scanner.c json/scanner.inc json/token_text.h json/token_text.c
/// Covers: json/validator.c json/reader.c json/names.c json/siphash.c
///
/// A text, whole, cut into pieces, by every block implementation, and as tokens. All give one result and one position,
/// equal to those of a second reader in this file, which is a recursive descent parser.
/// Input: options (one byte), a length of pieces (two bytes), the text.
#include "input.h"

#include "json/scanner.h"

#include <string.h>

enum { MAX_DEPTH = 40 };

/* --- the second reader --- */

typedef struct reader {
    nc_slice text;
    size_t at;
    unsigned depth;
    bool allows_lone;
} reader;

static int peek(const reader *r) {
    return r->at < r->text.length ? r->text.data[r->at] : -1;
}

static void skip_space(reader *r) {
    while (peek(r) >= 0 && strchr(" \t\r\n", peek(r)) != NULL && peek(r) != 0) {
        r->at++;
    }
}

static bool read_word(reader *r, const char *word) {
    size_t length = strlen(word);
    if (r->text.length - r->at < length || memcmp(r->text.data + r->at, word, length) != 0) {
        return false;
    }
    r->at += length;
    return true;
}

static bool read_digits(reader *r) {
    size_t from = r->at;
    while (peek(r) >= '0' && peek(r) <= '9') {
        r->at++;
    }
    return r->at > from;
}

static bool read_number(reader *r) {
    (void)read_word(r, "-");
    if (!read_word(r, "0") && !read_digits(r)) {
        return false;
    }
    if (read_word(r, ".") && !read_digits(r)) {
        return false;
    }
    if (read_word(r, "e") || read_word(r, "E")) {
        (void)(read_word(r, "+") || read_word(r, "-"));
        return read_digits(r);
    }
    return true;
}

static long read_unit(reader *r) {
    long unit = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *digit = peek(r) > 0 ? strchr(digits, peek(r)) : NULL;
        if (digit == NULL) {
            return -1;
        }
        unit = unit * 16 + (digit - digits) % 16;
    }
    return unit;
}

static bool read_escape(reader *r) {
    int byte = peek(r);
    r->at++;
    if (byte != 'u') {
        return byte > 0 && strchr("\"\\/bfnrt", byte) != NULL;
    }
    long unit = read_unit(r);
    if (unit < 0xD800 || unit > 0xDFFF || r->allows_lone) {
        return unit >= 0;
    }
    if (unit >= 0xDC00 || !read_word(r, "\\u")) {
        return false;
    }
    long low = read_unit(r);
    return low >= 0xDC00 && low <= 0xDFFF;
}

static bool read_string(reader *r) {
    if (!read_word(r, "\"")) {
        return false;
    }
    for (;;) {
        int byte = peek(r);
        r->at++;
        if (byte < 0x20) {
            return false;
        }
        if (byte == '"') {
            return true;
        }
        if (byte == '\\' && !read_escape(r)) {
            return false;
        }
    }
}

static bool read_value(reader *r);

static bool read_members(reader *r, char end, bool has_names) {
    if (++r->depth > MAX_DEPTH) {
        return false;
    }
    const char closing[] = {end, '\0'};
    skip_space(r);
    bool is_empty = read_word(r, closing);
    while (!is_empty) {
        skip_space(r);
        if (has_names && !read_string(r)) {
            return false;
        }
        skip_space(r);
        if ((has_names && !read_word(r, ":")) || !read_value(r)) {
            return false;
        }
        skip_space(r);
        if (read_word(r, closing)) {
            break;
        }
        if (!read_word(r, ",")) {
            return false;
        }
    }
    r->depth--;
    return true;
}

static bool read_value(reader *r) {
    skip_space(r);
    switch (peek(r)) {
    case '{':
        r->at++;
        return read_members(r, '}', true);
    case '[':
        r->at++;
        return read_members(r, ']', false);
    case '"':
        return read_string(r);
    default:
        return read_word(r, "true") || read_word(r, "false") || read_word(r, "null") || read_number(r);
    }
}

static bool is_json(nc_slice text, bool allows_lone) {
    reader r = {.text = text, .allows_lone = allows_lone};
    if (utf8_span_by_decoding(text) != text.length || !read_value(&r)) {
        return false;
    }
    skip_space(&r);
    return r.at == text.length;
}

/* --- comparison of the results --- */

static nc_status check_in_pieces(nc_slice text, const nc_json_options *options, size_t step, bool ends,
                                 nc_json_failure *failure) {
    nc_json *json = NULL;
    nc_error err;
    CHECK(nc_json_new(&json, options, &err) == NC_OK);
    nc_status status = NC_OK;
    for (size_t at = 0; at < text.length && status == NC_OK; at += step) {
        size_t left = text.length - at;
        nc_slice piece = nc_slice_make(text.data + at, left < step ? left : step);
        status = nc_json_feed(json, piece, &err);
        check_error(&err, status, text.length);
    }
    if (ends && status == NC_OK) {
        status = nc_json_finish(json, &err);
        check_error(&err, status, text.length);
    }
    *failure = *nc_json_failure_of(json);
    CHECK(status == NC_OK || (nc_json_bytes(json) == failure->offset && nc_json_feed(json, text, &err) == status));
    nc_json_free(json);
    return status;
}

static bool is_same(const nc_json_failure *a, const nc_json_failure *b) {
    return a->fault == b->fault && a->offset == b->offset && a->line == b->line && a->column == b->column &&
           strcmp(a->wanted, b->wanted) == 0 && strcmp(a->found, b->found) == 0;
}

typedef struct counted {
    nc_buf characters;
    long depth;
    size_t tokens;
    uint64_t last;
} counted;

static bool count_token(void *ctx, const nc_json_token *token) {
    counted *counts = ctx;
    CHECK(counts->tokens == 0 || token->offset > counts->last);
    counts->last = token->offset;
    counts->tokens++;
    counts->depth += token->kind == NC_JSON_OBJECT || token->kind == NC_JSON_ARRAY;
    counts->depth -= token->kind == NC_JSON_OBJECT_END || token->kind == NC_JSON_ARRAY_END;
    CHECK(counts->depth >= 0);
    if (token->kind == NC_JSON_STRING || token->kind == NC_JSON_NAME) {
        bool has_backslash = token->text.length > 0 && memchr(token->text.data, '\\', token->text.length) != NULL;
        CHECK(token->has_escapes == has_backslash);
        size_t before = counts->characters.length;
        nc_json_unescape(&counts->characters, token->text);
        size_t length = counts->characters.length - before;
        CHECK(length <= token->text.length);
        CHECK(utf8_span_by_decoding(nc_slice_make(counts->characters.data + before, length)) == length || length == 0);
    }
    return true;
}

static void check_tokens(nc_slice text, const nc_json_options *options, nc_status status,
                         const nc_json_failure *failure) {
    counted counts = {.characters = nc_buf_init(1 << 22)};
    nc_json_failure found;
    CHECK(nc_json_read(text, options, count_token, &counts, &found, NULL) == status);
    CHECK(is_same(&found, failure));
    CHECK(status != NC_OK || (counts.depth == 0 && counts.tokens > 0));
    nc_buf_deinit(&counts.characters);
}

/// Checks the reported offset: the text before it can be continued to a valid text, the text including it cannot.
static void check_place(nc_slice text, const nc_json_options *options, const nc_json_failure *failure) {
    nc_json_failure found;
    size_t offset = (size_t)failure->offset;
    bool is_name = failure->fault == NC_JSON_FAULT_DUPLICATE || failure->fault == NC_JSON_FAULT_NAMES;
    if (failure->fault == NC_JSON_FAULT_NONE || is_name) {
        return; // The offset is the start of a name, which is complete only later.
    }
    CHECK(check_in_pieces(nc_slice_make(text.data, offset), options, 100, false, &found) == NC_OK);
    if (failure->fault == NC_JSON_FAULT_ENDED) {
        CHECK(offset == text.length);
    } else {
        nc_slice part = nc_slice_make(text.data, offset + 1);
        CHECK(check_in_pieces(part, options, 100, false, &found) == NC_ERR_BAD_JSON);
        CHECK(is_same(&found, failure));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    uint8_t flags = input_byte(&in);
    size_t step = input_number(&in) % 300 + 1;
    nc_slice text = input_rest(&in);
    nc_json_options options = {
        .max_depth = MAX_DEPTH,
        .allows_lone_surrogates = (flags & 1) != 0,
        .refuses_duplicate_names = (flags & 2) != 0,
        .max_number_bytes = (flags & 4) != 0 ? 5 : 0,
        .max_bytes = (flags & 8) != 0 ? 100 : 0,
        .max_names = (flags & 16) != 0 ? 4 : 0,
    };
    nc_json_failure whole;
    nc_json_failure other;
    nc_status status = nc_json_check(text, &options, &whole, NULL);
    bool is_plain = (flags & 14) == 0;
    CHECK(status == NC_OK || status == NC_ERR_BAD_JSON);
    if (is_plain) {
        CHECK((status == NC_OK) == is_json(text, options.allows_lone_surrogates));
    } else {
        CHECK(status != NC_OK || is_json(text, options.allows_lone_surrogates));
    }
    for (size_t scanner = 0; scanner < nc_block_scanner_count; scanner++) {
        if (nc_block_scanners[scanner].is_supported()) {
            nc_block_scanner_select(&nc_block_scanners[scanner]);
            CHECK(nc_json_check(text, &options, &other, NULL) == status && is_same(&whole, &other));
        }
    }
    nc_block_scanner_select(NULL);
    CHECK(check_in_pieces(text, &options, step, true, &other) == status && is_same(&whole, &other));
    CHECK(check_in_pieces(text, &options, 1, true, &other) == status && is_same(&whole, &other));
    check_tokens(text, &options, status, &whole);
    check_place(text, &options, &whole);
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
