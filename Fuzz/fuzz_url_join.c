/// Covers: text/url_join.c
///
/// The documented rules of nc_url_join(): no byte that is invalid in a URL, nothing encoded twice, the base's path kept
/// if requested, and joining again changes nothing. Input: flags, a maximum (two bytes), the base, the path.
#include "input.h"

#include <netcore/url.h>
#include <string.h>

static bool is_hex(uint8_t c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Returns where the authority ends: after "//" at the first of "/?#"; without one, after the scheme's colon.
static size_t find_path(nc_slice url) {
    size_t at = 0;
    while (url.data[at] != ':') {
        at++;
        CHECK(at < url.length);
    }
    at++;
    if (url.length < at + 2 || memcmp(url.data + at, "//", 2) != 0) {
        return at;
    }
    at += 2;
    while (at < url.length && strchr("/?#", url.data[at]) == NULL) {
        at++;
    }
    return at;
}

static void check_bytes(nc_slice url) {
    size_t path = find_path(url);
    for (size_t i = 0; i < url.length; i++) {
        uint8_t c = url.data[i];
        CHECK(c > ' ' && c != 0x7F);
        CHECK(i < path || (c < 0x80 && strchr("\"<>\\^`{|}", c) == NULL));
        CHECK(i < path || c != '%' || (i + 2 < url.length && is_hex(url.data[i + 1]) && is_hex(url.data[i + 2])));
    }
    CHECK(utf8_span_by_decoding(url) == url.length);
}

static bool is_web(nc_slice url) {
    return (url.length >= 5 && nc_slice_is_equal_ignoring_case(nc_slice_make(url.data, 5), nc_slice_of("http:"))) ||
           (url.length >= 6 && nc_slice_is_equal_ignoring_case(nc_slice_make(url.data, 6), nc_slice_of("https:")));
}

static void check_host(nc_slice url) {
    size_t end = find_path(url);
    const uint8_t *slashes = memchr(url.data, ':', url.length);
    CHECK(slashes != NULL && memcmp(slashes, "://", 3) == 0 && slashes + 3 < url.data + end);
}

static void check_again(nc_slice url) {
    nc_buf again = nc_buf_init(1 << 20);
    const uint8_t *colon = memchr(url.data, ':', url.length);
    bool has_authority = (size_t)(colon - url.data) + 3 <= url.length && memcmp(colon, "://", 3) == 0;
    nc_slice base = has_authority ? nc_slice_make(NULL, 0) : nc_slice_of("x://y/z");
    CHECK(nc_url_join(&again, base, url, NC_JOIN_BY_RFC, NULL) == NC_OK);
    CHECK(nc_slice_is_equal(nc_buf_slice(&again), url));
    nc_buf_deinit(&again);
}

/// Checks that a path without dots is appended to the whole base if the base's path is kept.
static void check_kept(nc_slice url, nc_slice base, nc_slice path) {
    if (path.length == 0 || path.data[0] != '/' || memchr(path.data, '.', path.length) != NULL ||
        holds_any(base, "?#%.")) {
        return;
    }
    nc_buf plain = nc_buf_init(1 << 20);
    CHECK(nc_url_join(&plain, base, nc_slice_make(NULL, 0), NC_JOIN_BY_RFC, NULL) == NC_OK);
    CHECK(url.length >= plain.length && memcmp(url.data, plain.data, plain.length) == 0);
    nc_buf_deinit(&plain);
}

static void check_bounded(nc_slice result, nc_slice base, nc_slice path, nc_join_mode mode, size_t max_bytes) {
    nc_buf small = nc_buf_init(max_bytes);
    nc_error err;
    nc_buf_append_byte(&small, '>');
    size_t before = small.length;
    nc_status status = nc_url_join(&small, base, path, mode, &err);
    check_error(&err, status, 0);
    CHECK(small.length <= max_bytes);
    if (status == NC_OK) {
        CHECK(nc_slice_is_equal(nc_slice_make(small.data + 1, small.length - 1), result));
    } else {
        CHECK(status == NC_ERR_TOO_LARGE && small.length == before && max_bytes < 1 + result.length);
    }
    nc_buf_deinit(&small);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    nc_join_mode mode = (input_byte(&in) & 1) != 0 ? NC_JOIN_KEEPS_BASE_PATH : NC_JOIN_BY_RFC;
    uint32_t number = input_number(&in);
    nc_slice base = input_piece(&in);
    nc_slice path = input_rest(&in);
    nc_buf out = nc_buf_init(1 << 20);
    nc_error err;
    nc_status status = nc_url_join(&out, base, path, mode, &err);
    check_error(&err, status, base.length > path.length ? base.length : path.length);
    if (status == NC_OK) {
        nc_slice url = nc_buf_slice(&out);
        check_bytes(url);
        if (is_web(url)) {
            check_host(url);
        }
        check_again(url);
        if (mode == NC_JOIN_KEEPS_BASE_PATH) {
            check_kept(url, base, path);
        }
        check_bounded(url, base, path, mode, number % (url.length + 16));
    } else {
        CHECK((status == NC_ERR_BAD_URL || status == NC_ERR_TOO_LARGE) && out.length == 0);
    }
    nc_buf_deinit(&out);
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
