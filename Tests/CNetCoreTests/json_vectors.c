#include "json_vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The state of the file's parser between two tokens.
typedef struct case_reader {
    json_vectors *file;
    size_t depth;
    size_t from;
    bool is_case; // reads one case's members, not the list of cases
} case_reader;

static void take_value(case_reader *read, size_t from, size_t end) {
    json_vectors *file = read->file;
    if (read->is_case) {
        file->values[file->count++] = nc_slice_make(file->text.data + from, end - from);
    } else {
        nc_buf_append(&file->cases, nc_slice_make(&from, sizeof from));
        nc_buf_append(&file->cases, nc_slice_make(&end, sizeof end));
    }
}

static size_t token_end(const json_vectors *file, const nc_json_token *token, size_t base) {
    static const size_t lengths[] = {1, 1, 1, 1, 0, 0, 0, 4, 5, 4};
    (void)file;
    size_t quotes = token->kind == NC_JSON_NAME || token->kind == NC_JSON_STRING ? 2 : 0;
    size_t length = token->kind >= NC_JSON_NAME && token->kind <= NC_JSON_NUMBER ? token->text.length + quotes
                                                                                 : lengths[token->kind];
    return base + (size_t)token->offset + length;
}

static bool on_token(void *ctx, const nc_json_token *token) {
    case_reader *read = ctx;
    json_vectors *file = read->file;
    bool ends = token->kind == NC_JSON_OBJECT_END || token->kind == NC_JSON_ARRAY_END;
    bool begins = token->kind == NC_JSON_OBJECT || token->kind == NC_JSON_ARRAY;
    size_t base = read->is_case ? (size_t)(file->names[0].data - file->text.data) : 0;
    if (ends) {
        read->depth--;
    } else if (read->depth == 1 && token->kind == NC_JSON_NAME) {
        assert_true(file->count < JSON_VECTOR_MEMBERS - 1);
        file->names[file->count + 1] = token->text;
    } else if (read->depth == 1) {
        read->from = base + (size_t)token->offset;
    }
    if (read->depth == 1 && token->kind != NC_JSON_NAME && !begins) {
        take_value(read, read->from, token_end(file, token, base));
    }
    read->depth += begins ? 1 : 0;
    return true;
}

void json_vectors_open(json_vectors *file, const char *name) {
    char path[4096];
    const char *slash = strrchr(__FILE__, '/');
    snprintf(path, sizeof path, "%.*s/../Vectors/%s", (int)(slash - __FILE__), __FILE__, name);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    *file = (json_vectors){.text = nc_buf_init(16 << 20), .cases = nc_buf_init(16 << 20)};
    uint8_t piece[4096];
    size_t got;
    while ((got = fread(piece, 1, sizeof piece, stream)) > 0) {
        nc_buf_append(&file->text, nc_slice_make(piece, got));
    }
    fclose(stream);
    case_reader read = {.file = file};
    nc_error err;
    if (nc_json_read(nc_buf_slice(&file->text), NULL, on_token, &read, NULL, &err) != NC_OK) {
        fail_msg("%s: %s", path, err.message);
    }
}

bool json_vectors_next(json_vectors *file) {
    if ((file->next + 1) * 2 * sizeof(size_t) > file->cases.length) {
        return false;
    }
    const size_t *ends = (const size_t *)(void *)file->cases.data + 2 * file->next++;
    nc_slice text = nc_slice_make(file->text.data + ends[0], ends[1] - ends[0]);
    case_reader read = {.file = file, .is_case = true};
    file->count = 0;
    file->names[0] = text; // where the case begins; names follow from 1 on
    assert_status(nc_json_read(text, NULL, on_token, &read, NULL, NULL), NC_OK);
    return true;
}

nc_slice json_vectors_raw(const json_vectors *file, const char *name) {
    for (size_t i = 0; i < file->count; i++) {
        if (nc_slice_is_equal(file->names[i + 1], nc_slice_of(name))) {
            return file->values[i];
        }
    }
    return nc_slice_make(NULL, 0);
}

bool json_vectors_string(const json_vectors *file, const char *name, nc_buf *out) {
    nc_slice raw = json_vectors_raw(file, name);
    if (raw.length < 2 || raw.data[0] != '"') {
        return false;
    }
    nc_json_unescape(out, nc_slice_make(raw.data + 1, raw.length - 2));
    return true;
}

int64_t json_vectors_number(const json_vectors *file, const char *name, int64_t otherwise) {
    nc_slice raw = json_vectors_raw(file, name);
    char digits[24] = "";
    if (raw.length == 0 || raw.length >= sizeof digits) {
        return otherwise;
    }
    memcpy(digits, raw.data, raw.length);
    return strtoll(digits, NULL, 10);
}

bool json_vectors_flag(const json_vectors *file, const char *name) {
    return nc_slice_is_equal(json_vectors_raw(file, name), nc_slice_of("true"));
}

void json_vectors_close(json_vectors *file) {
    nc_buf_deinit(&file->text);
    nc_buf_deinit(&file->cases);
}
