/// Covers: text/url.c
///
/// The result of nc_url_resolve(), compared with an independent implementation of RFC 3986.
/// Input: a maximum (two bytes), the base, the reference.
#include "input.h"

#include <netcore/url.h>
#include <string.h>

/// A URL reference, split by the regular expression of RFC 3986, appendix B. A `has_` field is true if the delimiter is
/// present.
typedef struct pieces {
    nc_slice scheme;
    nc_slice authority;
    nc_slice path;
    nc_slice query;    // with its '?'
    nc_slice fragment; // with its '#'
    bool has_authority;
} pieces;

static nc_slice until(nc_slice *rest, const char *stops) {
    size_t end = 0;
    while (end < rest->length && strchr(stops, rest->data[end]) == NULL) {
        end++;
    }
    nc_slice taken = nc_slice_make(rest->data, end);
    *rest = nc_slice_make(rest->data + end, rest->length - end);
    return taken;
}

static bool is_scheme(nc_slice text) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char inner[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.";
    if (text.length == 0 || strchr(letters, text.data[0]) == NULL) {
        return false;
    }
    for (size_t i = 0; i < text.length; i++) {
        if (strchr(inner, text.data[i]) == NULL) {
            return false;
        }
    }
    return true;
}

static pieces take_apart(nc_slice url) {
    pieces out = {0};
    nc_slice rest = url;
    nc_slice first = until(&rest, ":/?#");
    if (rest.length > 0 && rest.data[0] == ':' && is_scheme(first)) {
        out.scheme = first;
        rest = nc_slice_make(rest.data + 1, rest.length - 1);
    } else {
        rest = url;
    }
    if (rest.length >= 2 && memcmp(rest.data, "//", 2) == 0) {
        out.has_authority = true;
        rest = nc_slice_make(rest.data + 2, rest.length - 2);
        out.authority = until(&rest, "/?#");
    }
    out.path = until(&rest, "?#");
    out.query = until(&rest, "#");
    out.fragment = rest;
    return out;
}

/// RFC 3986, 5.2.4 for a path that begins with '/': a stack of segments instead of the rule's two buffers.
static void append_clean_path(nc_buf *out, nc_slice path) {
    size_t starts[4096];
    size_t depth = 0;
    size_t begin = out->length;
    nc_slice rest = path;
    while (rest.length > 0) {
        rest = nc_slice_make(rest.data + 1, rest.length - 1); // its '/'
        nc_slice segment = until(&rest, "/");
        bool is_up = nc_slice_is_equal(segment, nc_slice_of(".."));
        bool is_dot = is_up || nc_slice_is_equal(segment, nc_slice_of("."));
        if (is_up) {
            out->length = depth > 0 ? starts[--depth] : begin;
        }
        if (!is_dot || rest.length == 0) {
            CHECK(depth < sizeof starts / sizeof *starts);
            starts[depth++] = out->length;
            nc_buf_append_byte(out, '/');
            nc_buf_append(out, is_dot ? nc_slice_make(NULL, 0) : segment);
        }
    }
}

static void check_path(const pieces *target, const pieces *base, const pieces *reference) {
    nc_buf expected = nc_buf_init(1 << 20);
    nc_buf merged = nc_buf_init(1 << 20);
    const pieces *source =
        reference->scheme.length > 0 || reference->has_authority || reference->path.length > 0 ? reference : base;
    bool is_relative = source == reference && reference->scheme.length == 0 && !reference->has_authority &&
                       reference->path.data[0] != '/';
    if (is_relative) {
        size_t end = base->path.length;
        while (end > 0 && base->path.data[end - 1] != '/') {
            end--;
        }
        nc_buf_append(&merged, base->has_authority && base->path.length == 0 ? nc_slice_of("/")
                                                                             : nc_slice_make(base->path.data, end));
    }
    nc_buf_append(&merged, source->path);
    nc_slice path = target->path;
    if (merged.length > 0 && merged.data[0] == '/') {
        append_clean_path(&expected, nc_buf_slice(&merged));
        bool is_guarded = !target->has_authority && expected.length >= 2 && memcmp(expected.data, "//", 2) == 0;
        if (is_guarded) { // RFC 3986, 3.3: the path must not look like an authority.
            CHECK(path.length >= 2 && memcmp(path.data, "/.", 2) == 0);
            path = nc_slice_make(path.data + 2, path.length - 2);
        }
        CHECK(nc_slice_is_equal(path, nc_buf_slice(&expected)));
    } else if (path.length >= 4 && memcmp(path.data, "/.//", 4) == 0 && !target->has_authority) {
        path = nc_slice_make(path.data + 2, path.length - 2);
    }
    nc_slice rest = path;
    while (rest.length > 0) {
        nc_slice segment = until(&rest, "/");
        CHECK(!nc_slice_is_equal(segment, nc_slice_of(".")) && !nc_slice_is_equal(segment, nc_slice_of("..")));
        rest = rest.length > 0 ? nc_slice_make(rest.data + 1, rest.length - 1) : rest;
    }
    nc_buf_deinit(&expected);
    nc_buf_deinit(&merged);
}

static void check_result(nc_slice result, nc_slice base_text, nc_slice reference_text) {
    pieces target = take_apart(result);
    pieces base = take_apart(base_text);
    pieces reference = take_apart(reference_text);
    bool is_absolute = reference.scheme.length > 0;
    bool has_own_authority = is_absolute || reference.has_authority;
    bool has_own_query = has_own_authority || reference.path.length > 0 || reference.query.length > 0;
    for (size_t i = 0; i < result.length; i++) {
        CHECK(result.data[i] > ' ' && result.data[i] != 0x7F);
    }
    CHECK(nc_slice_is_equal(target.scheme, is_absolute ? reference.scheme : base.scheme));
    CHECK(target.has_authority == (has_own_authority ? reference.has_authority : base.has_authority));
    CHECK(nc_slice_is_equal(target.authority, has_own_authority ? reference.authority : base.authority));
    CHECK(nc_slice_is_equal(target.query, has_own_query ? reference.query : base.query));
    CHECK(nc_slice_is_equal(target.fragment, reference.fragment));
    check_path(&target, &base, &reference);
}

/// A resolved absolute URL resolves to itself against every base.
static void check_fixed_point(nc_slice result, nc_slice base) {
    nc_buf again = nc_buf_init(1 << 20);
    CHECK(nc_url_resolve(&again, base, result, NULL) == NC_OK);
    CHECK(nc_slice_is_equal(nc_buf_slice(&again), result));
    nc_buf_reset(&again);
    CHECK(nc_url_resolve(&again, nc_slice_of("x://y/z"), result, NULL) == NC_OK);
    CHECK(nc_slice_is_equal(nc_buf_slice(&again), result));
    nc_buf_deinit(&again);
}

static void check_bounded(nc_slice result, nc_slice base, nc_slice reference, size_t max_bytes) {
    nc_buf small = nc_buf_init(max_bytes);
    nc_error err;
    nc_buf_append_byte(&small, '>');
    size_t before = small.length;
    nc_status status = nc_url_resolve(&small, base, reference, &err);
    check_error(&err, status, 0);
    CHECK(small.length <= max_bytes && small.capacity <= max_bytes);
    if (status == NC_OK) {
        CHECK(nc_slice_is_equal(nc_slice_make(small.data + 1, small.length - 1), result));
    } else {
        // Dot segments that are removed later need room first.
        CHECK(status == NC_ERR_TOO_LARGE && small.length == before);
        CHECK(max_bytes < 1 + result.length || max_bytes < 1 + base.length + reference.length + 4);
    }
    nc_buf_deinit(&small);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    uint32_t number = input_number(&in);
    nc_slice base = input_piece(&in);
    nc_slice reference = input_rest(&in);
    nc_buf out = nc_buf_init(NC_URL_MAX_BYTES);
    nc_error err;
    nc_status status = nc_url_resolve(&out, base, reference, &err);
    check_error(&err, status, base.length > reference.length ? base.length : reference.length);
    if (status == NC_OK) {
        nc_slice result = nc_buf_slice(&out);
        check_result(result, base, reference);
        check_fixed_point(result, base);
        check_bounded(result, base, reference, number % (result.length + 16));
    } else {
        CHECK(status == NC_ERR_BAD_URL && out.length == 0);
        pieces apart = take_apart(base);
        bool is_clean = apart.scheme.length > 0;
        for (size_t i = 0; i < base.length + reference.length; i++) {
            uint8_t byte = i < base.length ? base.data[i] : reference.data[i - base.length];
            is_clean = is_clean && byte > ' ' && byte != 0x7F;
        }
        CHECK(!is_clean);
    }
    nc_buf_deinit(&out);
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
