/// Covers: net/cookie_lines.c
///
/// A jar as text. What is accepted is taken by libcurl, and what libcurl writes of it is accepted again, else a jar
/// that was saved could not be read; bounds leave whole lines in their order, and change nothing the second time.
/// Input: a byte (1: fields are allowed), a number (the time, in 2^20 seconds), then the text.
#include "input.h"

#include "net/cookie_lines.h"

#include <curl/curl.h>
#include <netcore/cookies.h>
#include <stdlib.h>
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

/// The lines of `after` stand in `before`, in the same order.
static void check_subsequence(nc_slice before, nc_slice after) {
    nc_slice kept;
    nc_slice line;
    while (nc_cookie_lines_next(&kept, &after)) {
        do {
            CHECK(nc_cookie_lines_next(&line, &before));
        } while (!nc_slice_is_equal(kept, line));
    }
}

static void check_bounds(nc_slice text, int64_t now_s) {
    nc_buf once = nc_buf_init(MAX_TEXT_BYTES);
    nc_buf twice = nc_buf_init(MAX_TEXT_BYTES);
    nc_cookie_fault fault;
    bool is_shorter = false;
    nc_buf_append(&once, text);
    CHECK(nc_cookie_lines_bound(&once, now_s, &is_shorter) == NC_OK);
    check_subsequence(text, nc_buf_slice(&once));
    CHECK(nc_cookie_lines_are_good(nc_buf_slice(&once), true, &fault));
    CHECK(count_lines(nc_buf_slice(&once)) <= NC_MAX_COOKIES);
    nc_buf_append(&twice, nc_buf_slice(&once));
    CHECK(nc_cookie_lines_bound(&twice, now_s, &is_shorter) == NC_OK && !is_shorter);
    CHECK(nc_slice_is_equal(nc_buf_slice(&once), nc_buf_slice(&twice)));
    nc_buf_deinit(&once);
    nc_buf_deinit(&twice);
}

/// What libcurl makes of the lines, as text.
static nc_buf through_libcurl(nc_slice text) {
    nc_buf out = nc_buf_init(2 * MAX_TEXT_BYTES);
    struct curl_slist *cookies = NULL;
    nc_slice line;
    CURL *easy = curl_easy_init();
    CHECK(easy != NULL && curl_easy_setopt(easy, CURLOPT_COOKIEFILE, "") == CURLE_OK);
    while (nc_cookie_lines_next(&line, &text)) {
        char *copy = malloc(line.length + 1);
        CHECK(copy != NULL);
        memcpy(copy, line.data, line.length);
        copy[line.length] = '\0';
        (void)curl_easy_setopt(easy, CURLOPT_COOKIELIST, copy);
        free(copy);
    }
    CHECK(curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &cookies) == CURLE_OK);
    for (const struct curl_slist *one = cookies; one != NULL; one = one->next) {
        nc_buf_append(&out, nc_slice_of(one->data));
        nc_buf_append_byte(&out, '\n');
    }
    curl_slist_free_all(cookies);
    curl_easy_cleanup(easy);
    CHECK(nc_buf_status(&out) == NC_OK);
    return out;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    memory_count_blocks();
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? 0 : 1;
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
        check_bounds(text, now_s);
        nc_buf written = through_libcurl(text);
        CHECK(nc_cookie_lines_are_good(nc_buf_slice(&written), false, &fault));
        nc_buf_deinit(&written);
    }
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
