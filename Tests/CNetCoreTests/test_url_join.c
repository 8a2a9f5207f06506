#include "harness.h"
#include "vectors.h"

#include <string.h>

static void check_row(const vector_row *row) {
    guarded base = guarded_copy(vectors_text(row, "base"));
    guarded path = guarded_copy(vectors_text(row, "path"));
    nc_slice url = vectors_text(row, "url");
    bool keeps = vectors_text(row, "keeps_base_path").data != NULL;
    nc_buf out = nc_buf_init(1000);
    nc_buf_append(&out, nc_slice_of("> "));
    nc_error err;
    nc_status status =
        nc_url_join(&out, base.slice, path.slice, keeps ? NC_JOIN_KEEPS_BASE_PATH : NC_JOIN_BY_RFC, &err);
    nc_slice joined = nc_slice_make(out.data + 2, out.length - 2);
    bool is_right = url.data != NULL ? status == NC_OK && nc_slice_is_equal(joined, url)
                                     : status == NC_ERR_BAD_URL && joined.length == 0 && err.message[0] != '\0';
    if (!is_right || err.status != status) {
        fail_msg("%.*s + %.*s is %.*s (%s)", (int)base.slice.length, (const char *)base.slice.data,
                 (int)path.slice.length, (const char *)path.slice.data, (int)joined.length, (const char *)joined.data,
                 nc_status_name(status));
    }
    nc_buf_deinit(&out);
    guarded_deinit(&base);
    guarded_deinit(&path);
}

static void check_file(const char *name) {
    vectors all = vectors_read(name);
    for (size_t i = 0; i < all.count; i++) {
        check_row(&all.rows[i]);
    }
    assert_true(all.count >= 8);
    vectors_free(&all);
}

static void url_join__agrees_with_the_vectors(void **state) {
    (void)state;
    check_file("url_join.json");
}

static void url_join__agrees_with_our_vectors(void **state) {
    (void)state;
    check_file("url_join_own.json");
}

static bool is_one_of(int c, const char *set) {
    return c != 0 && strchr(set, c) != NULL;
}

static void url_join__encodes_the_path_behind_an_empty_or_missing_authority(void **state) {
    static const char *const rows[][3] = {
        {"x://", "?a b#c d", "x://?a%20b#c%20d"}, {"x:///", "a b", "x:///a%20b"}, {"x://h", "?a b", "x://h/?a%20b"},
        {"x:/y/", "a b", "x:/y/a%20b"},           {"", "x://?a b", "x://?a%20b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nc_buf out = nc_buf_init(1000);
        assert_status(nc_url_join(&out, nc_slice_of(rows[i][0]), nc_slice_of(rows[i][1]), NC_JOIN_BY_RFC, NULL), NC_OK);
        nc_buf_append_byte(&out, 0);
        assert_string_equal((const char *)out.data, rows[i][2]);
        nc_buf_deinit(&out);
    }
}

static void url_join__each_byte_is_encoded_preserved_or_rejected(void **state) {
    (void)state;
    static const char digits[] = "0123456789ABCDEF";
    for (int c = 0; c < 256; c++) {
        char path[] = "x_y";
        path[1] = (char)c;
        nc_buf out = nc_buf_init(100);
        nc_error err;
        nc_status status = nc_url_join(&out, nc_slice_of("http://h"), nc_slice_make(path, 3), NC_JOIN_BY_RFC, &err);
        if (c < ' ' || c >= 0x7F) {
            // A single byte above 0x7F is not UTF-8.
            assert_status(status, NC_ERR_BAD_URL);
            assert_int_equal(err.offset, 1);
        } else {
            char expected[32] = "http://h/x";
            size_t length = strlen(expected);
            bool is_encoded = is_one_of(c, " %\"<>\\^`{|}");
            const char encoded[] = {'%', digits[c >> 4], digits[c & 15], 0};
            const char plain[] = {(char)c, 0};
            strcpy(expected + length, is_encoded ? encoded : plain);
            strcat(expected, "y");
            assert_status(status, NC_OK);
            assert_slice_equals(nc_buf_slice(&out), c == ':' ? "x:y" : expected);
        }
        nc_buf_deinit(&out);
    }
}

static void url_join__is_idempotent(void **state) {
    (void)state;
    static const char *const names[] = {"url_join.json", "url_join_own.json"};
    for (size_t n = 0; n < 2; n++) {
        vectors all = vectors_read(names[n]);
        for (size_t i = 0; i < all.count; i++) {
            nc_slice url = vectors_text(&all.rows[i], "url");
            if (url.length < 4 || memcmp(url.data, "http", 4) != 0) {
                continue;
            }
            nc_buf out = nc_buf_init(1000);
            assert_status(nc_url_join(&out, nc_slice_make(NULL, 0), url, NC_JOIN_BY_RFC, NULL), NC_OK);
            assert_true(nc_slice_is_equal(nc_buf_slice(&out), url));
            nc_buf_deinit(&out);
        }
        vectors_free(&all);
    }
}

static void url_join__reports_the_offset_of_an_invalid_byte(void **state) {
    (void)state;
    nc_buf out = nc_buf_init(100);
    nc_error err;
    nc_slice base = nc_slice_of("http://h");
    assert_status(nc_url_join(&out, base, nc_slice_of("ab\xC3("), NC_JOIN_BY_RFC, &err), NC_ERR_BAD_URL);
    assert_int_equal(err.offset, 2);
    assert_string_equal(err.message, "unexpected byte 0xc3 at byte 2 of the path");
    assert_status(nc_url_join(&out, nc_slice_of("http://h\n"), nc_slice_of("ab"), NC_JOIN_BY_RFC, &err),
                  NC_ERR_BAD_URL);
    assert_string_equal(err.message, "unexpected byte 0x0a at byte 8 of the base");
    assert_int_equal(out.length, 0);
    nc_buf_deinit(&out);
}

static void url_join__messages_contain_no_password(void **state) {
    (void)state;
    static const char *const bases[] = {"http://me:canary@", "http://me:canary@h:x/", "http://me:canary@[::1/",
                                        "http://me:canary x@h/"};
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        nc_buf out = nc_buf_init(100);
        nc_error err;
        assert_status(nc_url_join(&out, nc_slice_of(bases[i]), nc_slice_of("x"), NC_JOIN_BY_RFC, &err), NC_ERR_BAD_URL);
        assert_null(strstr(err.message, "canary"));
        nc_buf_deinit(&out);
    }
}

static void url_join__rejects_missing_arguments(void **state) {
    (void)state;
    nc_buf out = nc_buf_init(100);
    nc_slice missing = {NULL, 3};
    nc_slice base = nc_slice_of("http://h");
    assert_status(nc_url_join(&out, missing, base, NC_JOIN_BY_RFC, NULL), NC_ERR_USAGE);
    assert_status(nc_url_join(&out, base, missing, NC_JOIN_BY_RFC, NULL), NC_ERR_USAGE);
    assert_status(nc_url_join(&out, base, base, (nc_join_mode)7, NULL), NC_ERR_USAGE);
    nc_buf_deinit(&out);
}

static void url_join__rejects_urls_beyond_the_maximum_length(void **state) {
    (void)state;
    static char text[NC_URL_MAX_BYTES + 1];
    memset(text, ' ', sizeof text);
    nc_slice base = nc_slice_of("http://h/");
    nc_buf out = nc_buf_init(1 << 20);
    nc_buf_append(&out, nc_slice_of("kept"));
    // An encoded character has three bytes: a third of the maximum fits.
    size_t most = (NC_URL_MAX_BYTES - base.length) / 3;
    assert_status(nc_url_join(&out, base, nc_slice_make(text, most), NC_JOIN_BY_RFC, NULL), NC_OK);
    assert_int_equal(out.length, 4 + base.length + 3 * most);
    out.length = 4;
    assert_status(nc_url_join(&out, base, nc_slice_make(text, most + 1), NC_JOIN_BY_RFC, NULL), NC_ERR_TOO_LARGE);
    assert_slice_equals(nc_buf_slice(&out), "kept");
    nc_buf_reset(&out);
    assert_status(nc_url_join(&out, base, nc_slice_make(text, sizeof text), NC_JOIN_BY_RFC, NULL), NC_ERR_TOO_LARGE);
    assert_status(nc_url_join(&out, nc_slice_make(text, sizeof text), base, NC_JOIN_BY_RFC, NULL), NC_OK);
    assert_status(nc_url_join(&out, nc_slice_make(text, sizeof text), nc_slice_of("x"), NC_JOIN_BY_RFC, NULL),
                  NC_ERR_TOO_LARGE);
    nc_buf_deinit(&out);
}

static void url_join__a_full_buffer_is_unchanged(void **state) {
    (void)state;
    static const char joined[] = "http://h/v1/a%20b";
    for (size_t max_bytes = 0; max_bytes < 30; max_bytes++) {
        nc_buf out = nc_buf_init(max_bytes);
        nc_status status = nc_url_join(&out, nc_slice_of("http://h/v1"), nc_slice_of("a b"), NC_JOIN_BY_RFC, NULL);
        assert_status(status, max_bytes < sizeof joined - 1 ? NC_ERR_TOO_LARGE : NC_OK);
        assert_slice_equals(nc_buf_slice(&out), status == NC_OK ? joined : "");
        nc_buf_deinit(&out);
    }
}

static void join_one(void *ctx) {
    (void)ctx;
    nc_buf out = nc_buf_init(100000);
    nc_slice path = nc_slice_of("/a rather/long/path/that/needs/more/than/one/block/of/memory/für/sich?with=query");
    nc_error err;
    nc_status status = nc_url_join(&out, nc_slice_of("http://host.example/b/c"), path, NC_JOIN_KEEPS_BASE_PATH, &err);
    assert_status(status, harness_has_failed_allocation() ? NC_ERR_NO_MEMORY : NC_OK);
    assert_status(err.status, status);
    assert_true(status == NC_OK || out.length == 0);
    nc_buf_deinit(&out);
}

static void url_join__survives_each_allocation_failure(void **state) {
    (void)state;
    assert_true(each_allocation_failure(join_one, NULL) >= 3);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(url_join__agrees_with_the_vectors),
        harness_case(url_join__agrees_with_our_vectors),
        harness_case(url_join__encodes_the_path_behind_an_empty_or_missing_authority),
        harness_case(url_join__each_byte_is_encoded_preserved_or_rejected),
        harness_case(url_join__is_idempotent),
        harness_case(url_join__reports_the_offset_of_an_invalid_byte),
        harness_case(url_join__messages_contain_no_password),
        harness_case(url_join__rejects_missing_arguments),
        harness_case(url_join__rejects_urls_beyond_the_maximum_length),
        harness_case(url_join__a_full_buffer_is_unchanged),
        harness_case(url_join__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
