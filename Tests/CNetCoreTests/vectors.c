#include "vectors.h"

#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The parser of the file. Unescaped texts overwrite the file's bytes, because they are never longer.
typedef struct reader {
    const char *at;
    char *texts;
} reader;

static char *read_file(const char *name) {
    char path[4096];
    const char *slash = strrchr(__FILE__, '/');
    (void)snprintf(path, sizeof path, "%.*s/../Vectors/%s", (int)(slash - __FILE__), __FILE__, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fail_msg("%s cannot be read", path);
    }
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    size_t length = fread(text, 1, (1 << 20) - 1, file);
    assert_true(length > 0 && length < (1 << 20) - 1);
    fclose(file);
    return text;
}

static void skip_blanks(reader *in) {
    in->at += strspn(in->at, " \t\r\n");
}

/// Consumes the byte if it is next.
static bool takes(reader *in, char byte) {
    skip_blanks(in);
    if (*in->at != byte) {
        return false;
    }
    in->at++;
    return true;
}

static char unescaped(reader *in) {
    static const char from[] = "nrtbf";
    static const char to[] = "\n\r\t\b\f";
    char letter = *in->at++;
    if (letter == 'u') { // the vectors use this escape only for control characters
        char digits[5] = {in->at[0], in->at[1], in->at[2], in->at[3], 0};
        in->at += 4;
        long code = strtol(digits, NULL, 16);
        assert_true(code < 0x80);
        return (char)code;
    }
    const char *known = strchr(from, letter);
    return known != NULL ? to[known - from] : letter;
}

static nc_slice take_text(reader *in) {
    assert_true(takes(in, '"'));
    char *start = in->texts;
    while (*in->at != '"') {
        assert_true(*in->at != '\0');
        char byte = *in->at++;
        *in->texts++ = byte == '\\' ? unescaped(in) : byte;
    }
    in->at++;
    return nc_slice_make(start, (size_t)(in->texts - start));
}

static void take_row(reader *in, vector_row *row) {
    assert_true(takes(in, '{'));
    do {
        assert_true(row->count < VECTORS_MAX_FIELDS);
        row->names[row->count] = take_text(in);
        assert_true(takes(in, ':'));
        row->values[row->count++] = take_text(in);
    } while (takes(in, ','));
    assert_true(takes(in, '}'));
}

vectors vectors_read(const char *name) {
    char *text = read_file(name);
    vectors all = {.memory = calloc(1, strlen(text) + 1)};
    assert_non_null(all.memory);
    reader in = {text, all.memory};
    assert_true(takes(&in, '['));
    do {
        all.rows = realloc(all.rows, (all.count + 1) * sizeof *all.rows);
        assert_non_null(all.rows);
        memset(&all.rows[all.count], 0, sizeof *all.rows);
        take_row(&in, &all.rows[all.count++]);
    } while (takes(&in, ','));
    assert_true(takes(&in, ']'));
    free(text);
    return all;
}

void vectors_free(vectors *all) {
    free(all->rows);
    free(all->memory);
}

nc_slice vectors_text(const vector_row *row, const char *name) {
    for (size_t i = 0; i < row->count; i++) {
        if (nc_slice_is_equal(row->names[i], nc_slice_of(name))) {
            return row->values[i];
        }
    }
    return nc_slice_make(NULL, 0);
}
