/// Covers: http/cookie_lines.c http/cookie_jar.c http/cookie.c http/set_cookie.c
///
/// A cookie jar, from lines of text and from Set-Cookie fields. The text that a jar writes is accepted again and gives
/// the same bytes; otherwise a saved jar could not be read. Limits hold, and no control byte is sent in a request.
/// Input: a byte (1: fields are allowed), a number (the time, in 2^20 seconds), then the text; each of its lines is
/// also a Set-Cookie field.
#include "input.h"

#include "http/cookie_jar.h"

#include <string.h>

enum { MAX_TEXT_BYTES = 1 << 20 };

static size_t count_lines(nc_slice text) {
    nc_slice line;
    size_t count = 0;
    while (nc_cookie_lines_next(&line, &text)) {
        CHECK(line.length > 0 && memchr(line.data, '\n', line.length) == NULL);
        count++;
    }
    return count;
}

static void check_fault(nc_slice text, nc_cookie_fault fault) {
    size_t line = 1;
    CHECK(fault.offset < text.length);
    for (size_t i = 0; i < fault.offset; i++) {
        line += text.data[i] == '\n';
    }
    CHECK(line == fault.line && (fault.offset == 0 || text.data[fault.offset - 1] == '\n'));
}

/// Fills a jar with valid lines.
static void put_lines(nc_cookie_jar *jar, nc_slice text, int64_t now_s) {
    bool has_changed = false;
    nc_slice line;
    while (nc_cookie_lines_next(&line, &text)) {
        CHECK(nc_cookie_lines_put(jar, line, now_s, &has_changed) == NC_OK);
    }
}

static nc_buf written(nc_cookie_jar *jar, int64_t now_s) {
    nc_buf out = nc_buf_init(4 * MAX_TEXT_BYTES);
    nc_cookie_list list;
    CHECK(nc_cookie_jar_list(jar, now_s, &list) == NC_OK);
    CHECK(list.count == jar->count && list.count <= NC_JAR_MAX_COOKIES && jar->bytes <= NC_JAR_MAX_BYTES);
    nc_cookie_list_sort(&list);
    for (size_t i = 0; i < list.count; i++) {
        nc_cookie_lines_append(&out, list.cookies[i]);
    }
    nc_cookie_list_deinit(&list);
    CHECK(nc_buf_status(&out) == NC_OK);
    return out;
}

/// Checks that the text of a jar reads back byte for byte.
static void check_jar(nc_cookie_jar *jar, int64_t now_s) {
    nc_cookie_jar copy;
    nc_cookie_fault fault;
    nc_buf once = written(jar, now_s);
    CHECK(nc_cookie_lines_are_good(nc_buf_slice(&once), false, &fault));
    CHECK(count_lines(nc_buf_slice(&once)) == jar->count);
    nc_cookie_jar_init(&copy);
    put_lines(&copy, nc_buf_slice(&once), now_s);
    nc_buf twice = written(&copy, now_s);
    CHECK(nc_slice_is_equal(nc_buf_slice(&once), nc_buf_slice(&twice)));
    nc_cookie_jar_deinit(&copy);
    nc_buf_deinit(&twice);
    nc_buf_deinit(&once);
}

static void check_field(nc_cookie_jar *jar, const nc_cookie_context *context) {
    nc_buf field = nc_buf_init(NC_JAR_MAX_SENT_BYTES);
    nc_cookie_jar_append_field(jar, context, true, &field);
    CHECK(nc_buf_status(&field) == NC_OK);
    for (size_t i = 0; i < field.length; i++) {
        CHECK(field.data[i] >= 0x20 && field.data[i] != 0x7f);
    }
    nc_buf_deinit(&field);
}

static void check_lines(nc_slice text, int64_t now_s) {
    nc_cookie_jar jar;
    const nc_cookie_context context = {nc_slice_of("www.a.example"), nc_slice_of("/a/b"), true, now_s};
    nc_cookie_jar_init(&jar);
    put_lines(&jar, text, now_s);
    check_field(&jar, &context);
    check_jar(&jar, now_s);
    nc_cookie_jar_deinit(&jar);
}

static void check_answers(nc_slice text, int64_t now_s) {
    nc_cookie_jar jar;
    bool has_changed = false;
    bool is_secure = false;
    nc_cookie_jar_init(&jar);
    while (text.length > 0) {
        const uint8_t *end = memchr(text.data, '\n', text.length);
        size_t length = end != NULL ? (size_t)(end - text.data) : text.length;
        const nc_cookie_context context = {nc_slice_of("www.a.example"), nc_slice_of("/a/b"), is_secure, now_s};
        CHECK(nc_cookie_jar_store(&jar, &context, nc_slice_make(text.data, length), &has_changed) == NC_OK);
        check_field(&jar, &context);
        is_secure = !is_secure;
        length += end != NULL ? 1 : 0;
        text = nc_slice_make(text.data + length, text.length - length);
    }
    check_jar(&jar, now_s);
    nc_cookie_jar_deinit(&jar);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    memory_count_blocks();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    bool allows_fields = (input_byte(&in) & 1) != 0;
    int64_t now_s = (int64_t)input_number(&in) << 20;
    nc_slice text = input_rest(&in);
    nc_cookie_fault fault = {0};
    (void)count_lines(text);
    if (!nc_cookie_lines_are_good(text, allows_fields, &fault)) {
        check_fault(text, fault);
    } else if (text.length < MAX_TEXT_BYTES) {
        CHECK(memchr(text.data, 0, text.length) == NULL);
        check_lines(text, now_s);
    }
    if (text.length < MAX_TEXT_BYTES) {
        check_answers(text, now_s);
    }
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
