#include "form_model.h"

#include <stdio.h>
#include <string.h>

typedef struct walker {
    const uint8_t *at;
    const uint8_t *end;
} walker;

static nc_slice line_of(walker *walk) {
    const uint8_t *end = memmem(walk->at, (size_t)(walk->end - walk->at), "\r\n", 2);
    CHECK(end != NULL);
    nc_slice line = nc_slice_make(walk->at, (size_t)(end - walk->at));
    walk->at = end + 2;
    return line;
}

static bool take_text(nc_slice *line, const char *text) {
    size_t length = strlen(text);
    bool is_there = line->length >= length && memcmp(line->data, text, length) == 0;
    if (is_there) {
        *line = nc_slice_make(line->data + length, line->length - length);
    }
    return is_there;
}

/// Decodes the three escapes. A text that already contains them decodes to the same bytes either way.
static nc_buf undone(nc_slice text) {
    nc_buf out = nc_buf_init(1 << 20);
    for (size_t i = 0; i < text.length; i++) {
        bool has_two = i + 2 < text.length && text.data[i] == '%';
        if (has_two && memcmp(text.data + i, "%22", 3) == 0) {
            nc_buf_append_byte(&out, '"');
            i += 2;
        } else if (has_two && (memcmp(text.data + i, "%0D", 3) == 0 || memcmp(text.data + i, "%0A", 3) == 0)) {
            nc_buf_append_byte(&out, text.data[i + 2] == 'D' ? '\r' : '\n');
            i += 2;
        } else {
            nc_buf_append_byte(&out, text.data[i]);
        }
    }
    CHECK(nc_buf_status(&out) == NC_OK);
    return out;
}

/// Checks that a quoted text, up to its quote, equals the given one.
static void check_quoted(nc_slice *line, nc_slice given) {
    const uint8_t *end = line->length > 0 ? memchr(line->data, '"', line->length) : NULL;
    CHECK(end != NULL);
    nc_slice text = nc_slice_make(line->data, (size_t)(end - line->data));
    CHECK(memchr(text.data, '\r', text.length) == NULL && memchr(text.data, '\n', text.length) == NULL);
    nc_buf read = undone(text);
    nc_buf meant = undone(given);
    CHECK(nc_slice_is_equal(nc_buf_slice(&read), nc_buf_slice(&meant)));
    nc_buf_deinit(&read);
    nc_buf_deinit(&meant);
    *line = nc_slice_make(end + 1, line->length - text.length - 1);
}

static void check_head(walker *walk, const model *part) {
    if (part->kind != BARE) {
        nc_slice line = line_of(walk);
        CHECK(take_text(&line, "Content-Disposition: form-data; name=\""));
        check_quoted(&line, part->name);
        if (part->file_name.data != NULL) {
            CHECK(take_text(&line, "; filename=\""));
            check_quoted(&line, part->file_name);
        }
        CHECK(line.length == 0);
        if (part->type.length > 0 || part->file_name.data != NULL) {
            line = line_of(walk);
            CHECK(take_text(&line, "Content-Type: "));
            CHECK(part->type.length == 0 ? line.length > 2 : nc_slice_is_equal(line, part->type));
        }
    }
    for (size_t i = 0; i < part->header_count; i++) {
        nc_slice line = line_of(walk);
        nc_slice name = nc_slice_make(line.data, part->headers[i].name.length);
        CHECK(line.length >= name.length && nc_slice_is_equal(name, part->headers[i].name));
        line = nc_slice_make(line.data + name.length, line.length - name.length);
        CHECK(take_text(&line, ": ") && nc_slice_is_equal(line, part->headers[i].value));
    }
    CHECK(line_of(walk).length == 0);
}

void form_check_body(const form_case *at, nc_slice body) {
    char delimiter[NC_MULTIPART_MAX_BOUNDARY_BYTES + 5];
    walker walk = {body.data, body.data + body.length};
    int length =
        snprintf(delimiter, sizeof delimiter, "\r\n--%.*s", (int)at->boundary.length, (const char *)at->boundary.data);
    if (at->count == 0) {
        CHECK(body.length == 0);
        return;
    }
    CHECK(nc_slice_is_equal(line_of(&walk), nc_slice_make(delimiter + 2, (size_t)length - 2)));
    for (size_t i = 0; i < at->count; i++) {
        check_head(&walk, &at->parts[i]);
        const uint8_t *end = memmem(walk.at, (size_t)(walk.end - walk.at), delimiter, (size_t)length);
        CHECK(end != NULL);
        CHECK(nc_slice_is_equal(nc_slice_make(walk.at, (size_t)(end - walk.at)), at->parts[i].content));
        walk.at = end + length;
        nc_slice rest = line_of(&walk);
        CHECK(nc_slice_is_equal(rest, nc_slice_of(i + 1 < at->count ? "" : "--")));
    }
    CHECK(walk.at == walk.end);
}
