#include "harness.h"

#include <stdio.h>
#include <string.h>

static nc_slice text(const char *bytes) {
    return nc_slice_of(bytes);
}

static nc_cache_key_parts parts_of(const char *url) {
    return (nc_cache_key_parts){.url = nc_slice_of(url)};
}

/// Compares the canonical form that nc_cache_key_explain() prints.
static void assert_explained(const nc_cache_key_parts *parts, const char *expected) {
    nc_buf bytes = nc_buf_init(10000);
    nc_buf lines = nc_buf_init(10000);
    assert_status(nc_cache_key_describe(&bytes, parts, NULL), NC_OK);
    assert_status(nc_cache_key_explain(&lines, nc_buf_slice(&bytes), NULL), NC_OK);
    assert_slice_equals(nc_buf_slice(&lines), expected);
    nc_buf_deinit(&bytes);
    nc_buf_deinit(&lines);
}

static bool are_alike(const nc_cache_key_parts *a, const nc_cache_key_parts *b) {
    nc_buf first = nc_buf_init(1 << 20);
    nc_buf second = nc_buf_init(1 << 20);
    assert_status(nc_cache_key_describe(&first, a, NULL), NC_OK);
    assert_status(nc_cache_key_describe(&second, b, NULL), NC_OK);
    bool is_equal = nc_slice_is_equal(nc_buf_slice(&first), nc_buf_slice(&second));
    nc_buf_deinit(&first);
    nc_buf_deinit(&second);
    return is_equal;
}

static bool are_urls_alike(const char *a, const char *b) {
    nc_cache_key_parts first = parts_of(a);
    nc_cache_key_parts second = parts_of(b);
    return are_alike(&first, &second);
}

static bool are_params_alike(const char *a, const char *b) {
    nc_params first = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_params second = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_error err;
    assert_status(nc_params_parse_json(&first, text(a), &err), NC_OK);
    assert_status(nc_params_parse_json(&second, text(b), &err), NC_OK);
    nc_cache_key_parts one = parts_of("http://h/");
    nc_cache_key_parts other = one;
    one.parameters = &first;
    other.parameters = &second;
    bool is_equal = are_alike(&one, &other);
    nc_params_deinit(&first);
    nc_params_deinit(&second);
    return is_equal;
}

static void fill(nc_params *params) {
    nc_params_add_string(params, text("z"), text("a\"\n\x01\xC3\xA4\xFF\xC2\x85"));
    nc_params_add_integer(params, text("n"), -7);
    nc_params_add_double(params, text("d"), 0.5);
    nc_params_add_boolean(params, text("t"), true);
    nc_params_add_boolean(params, text("f"), false);
    nc_params_add_null(params, text("a"));
    nc_params_add_bytes(params, text("raw"), nc_slice_make("\x00\xFF", 2));
    nc_params_begin(params, text("list"), NC_PARAMS_ARRAY);
    nc_params_add_integer(params, text(""), 2);
    nc_params_add_integer(params, text(""), 1);
    nc_params_end(params);
    nc_params_begin(params, text("bag"), NC_PARAMS_SET);
    nc_params_add_integer(params, text(""), 2);
    nc_params_add_integer(params, text(""), 1);
    nc_params_end(params);
    nc_params_begin(params, text("empty"), NC_PARAMS_OBJECT);
    nc_params_end(params);
}

static void cache_key__explain_lists_every_part(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    fill(&params);
    nc_header headers[] = {{text("B"), text("2")}, {text("a"), text("x, y")}, {text("b"), text("1")}};
    nc_cache_key_parts parts = {.method = text("POST"),
                                .url = text("HTTP://U:P@Host:80?q#top"),
                                .headers = headers,
                                .header_count = 3,
                                .parameters = &params,
                                .body = text("raw"),
                                .scope = text("u1")};
    assert_explained(&parts, "method      POST\n"
                             "url         http://U:P@host/?q\n"
                             "field       a: \"x, y\"\n"
                             "field       b: \"2\"\n"
                             "field       b: \"1\"\n"
                             "parameters  {\"a\": null, \"bag\": set(1, 2), \"d\": 0.5, \"empty\": {}, \"f\": false, "
                             "\"list\": [2, 1], \"n\": -7, \"raw\": bytes(00ff), \"t\": true, "
                             "\"z\": \"a\\\"\\u000a\\u0001\xC3\xA4\\xff\\xc2\\x85\"}\n"
                             "body        3 bytes \"raw\"\n"
                             "user        \"u1\"\n");
    nc_params_deinit(&params);
}

static void cache_key__absent_parts_are_omitted(void **state) {
    (void)state;
    nc_cache_key_parts parts = parts_of("https://h");
    assert_explained(&parts, "method      GET\nurl         https://h/\n");
    parts.body = nc_slice_make("\xFF", 1);
    assert_explained(&parts, "method      GET\nurl         https://h/\nbody        1 bytes bytes(ff)\n");
}

static void cache_key__is_the_md5_of_the_canonical_form(void **state) {
    (void)state;
    nc_buf bytes = nc_buf_init(100);
    nc_digest *md5 = NULL;
    nc_digest *sha256 = NULL;
    nc_cache_key key;
    nc_cache_key_parts parts = parts_of("http://h/");
    assert_status(nc_cache_key_describe(&bytes, &parts, NULL), NC_OK);
    assert_slice_equals(nc_buf_slice(&bytes), "NK\x01m\x03GETu\x09http://h/");
    assert_status(nc_digest_new(&md5, NC_DIGEST_MD5, NULL), NC_OK);
    assert_status(nc_digest_new(&sha256, NC_DIGEST_SHA256, NULL), NC_OK);
    assert_status(nc_cache_key_name(&key, md5, nc_buf_slice(&bytes), NULL), NC_OK);
    assert_string_equal(key.text, "3f8cc6b045463297a2c2bc693682d61c");
    assert_status(nc_cache_key_name(&key, sha256, nc_buf_slice(&bytes), NULL), NC_ERR_USAGE);
    nc_digest_free(md5);
    nc_digest_free(sha256);
    nc_buf_deinit(&bytes);
}

static void cache_key__requests_that_are_equal_on_the_wire_have_equal_keys(void **state) {
    (void)state;
    static const char *const same[][2] = {
        {"http://h", "HTTP://H/"},
        {"http://h:80/a", "http://h/a"},
        {"https://h:443?q", "https://h/?q"},
        {"http://h:/a", "http://h/a"},
        {"http://h/a#x", "http://h/a#y"},
        {"http://h/a#x", "http://h/a"},
        {"http://[::A]:80/", "http://[::a]/"},
    };
    static const char *const other[][2] = {
        {"http://h/a", "https://h/a"},         {"http://h:443/", "http://h/"},      {"https://h:80/", "https://h/"},
        {"http://h/a", "http://h/A"},          {"http://h/a", "http://h/a/"},       {"http://h/?", "http://h/"},
        {"http://h/%7e", "http://h/~"},        {"http://h/?a&b", "http://h/?b&a"},  {"http://u@h/", "http://U@h/"},
        {"http://h:8080/", "http://h:808/0"},  {"http://h:80:80/", "http://h:80/"}, {"ws://h:80/", "ws://h/"},
        {"http://[::1:80]/", "http://[::1]/"}, {"http://a/b", "http://ab/"},
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        assert_true(are_urls_alike(same[i][0], same[i][1]));
    }
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        assert_false(are_urls_alike(other[i][0], other[i][1]));
    }
}

static void cache_key__types_and_array_order_distinguish_keys(void **state) {
    (void)state;
    static const char *const same[][2] = {
        {"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}"},
        {"{\"a\":{\"x\":1,\"y\":[]}}", "{ \"a\" : { \"y\" : [ ], \"x\" : 1 } }"},
        {"{\"a\":\"\\u0041\"}", "{\"a\":\"A\"}"},
    };
    static const char *const other[][2] = {
        {"{\"a\":1}", "{\"a\":\"1\"}"},
        {"{\"a\":true}", "{\"a\":1}"},
        {"{\"a\":true}", "{\"a\":\"true\"}"},
        {"{\"a\":null}", "{\"a\":\"null\"}"},
        {"{\"a\":null}", "{}"},
        {"{\"a\":[]}", "{\"a\":{}}"},
        {"{\"a\":[1,2]}", "{\"a\":[2,1]}"},
        {"{\"a\":[[1],2]}", "{\"a\":[1,[2]]}"},
        {"{\"a\":1}", "{\"a\":1.0}"},
        {"{\"ab\":\"c\"}", "{\"a\":\"bc\"}"},
        {"{\"a\":[\"\"]}", "{\"a\":[]}"},
        {"{\"a\":\"\\u0000\"}", "{\"a\":\"\"}"},
        {"{\"a\":9007199254740993}", "{\"a\":9007199254740992}"},
        {"{\"a\":-0}", "{\"a\":0}"},
        {"{\"a\\u0000b\":1}", "{\"a\":1}"},
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        assert_true(are_params_alike(same[i][0], same[i][1]));
    }
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        if (are_params_alike(other[i][0], other[i][1])) {
            fail_msg("%s is described like %s", other[i][0], other[i][1]);
        }
    }
}

static void cache_key__absent_and_empty_parts_differ(void **state) {
    (void)state;
    nc_params empty = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_cache_key_parts none = parts_of("http://h/");
    nc_cache_key_parts with = none;
    with.parameters = &empty;
    assert_false(are_alike(&none, &with));
    with = none;
    with.has_body = true;
    assert_false(are_alike(&none, &with));
    with = none;
    with.scope = text("u");
    assert_false(are_alike(&none, &with));
    with = none;
    with.method = text("GET");
    assert_true(are_alike(&none, &with));
    with.method = text("get");
    assert_false(are_alike(&none, &with));
    nc_params_deinit(&empty);
}

/// Adds `count` values, forwards or backwards, with long or short texts.
static void fill_many(nc_params *params, size_t count, bool is_backwards, nc_params_kind kind, size_t length) {
    char name[64];
    nc_params_begin(params, text("x"), kind);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(name, sizeof name, "%05zu", is_backwards ? count - 1 - i : i);
        memset(name + 5, 'v', length);
        nc_params_add_string(params, nc_slice_make(name, 5 + length), nc_slice_make(name, 5 + length));
    }
    nc_params_end(params);
}

static void cache_key__the_order_in_objects_and_sets_does_not_matter(void **state) {
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 31, 32, 33, 100, 1000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (size_t length = 0; length <= 40; length += 20) {
            for (nc_params_kind kind = NC_PARAMS_OBJECT; kind <= NC_PARAMS_SET; kind++) {
                nc_params forwards = nc_params_init(NC_PARAMS_OBJECT, 0);
                nc_params backwards = nc_params_init(NC_PARAMS_OBJECT, 0);
                fill_many(&forwards, counts[i], false, kind, length);
                fill_many(&backwards, counts[i], true, kind, length);
                nc_cache_key_parts one = parts_of("http://h/");
                nc_cache_key_parts other = one;
                one.parameters = &forwards;
                other.parameters = &backwards;
                assert_true(are_alike(&one, &other) == (kind != NC_PARAMS_ARRAY || counts[i] < 2));
                nc_params_deinit(&forwards);
                nc_params_deinit(&backwards);
            }
        }
    }
}

static void cache_key__the_order_of_equal_names_matters(void **state) {
    (void)state;
    assert_false(are_params_alike("{\"b\":0,\"a\":1,\"a\":2}", "{\"b\":0,\"a\":2,\"a\":1}"));
    nc_header one[] = {{text("z"), text("")}, {text("A"), text("1")}, {text("a"), text("2")}};
    nc_header other[] = {{text("a"), text("2")}, {text("a"), text("1")}, {text("Z"), text("")}};
    nc_header same[] = {{text("a"), text("1")}, {text("Z"), text("")}, {text("A"), text("2")}};
    nc_cache_key_parts parts[3] = {parts_of("http://h/"), parts_of("http://h/"), parts_of("http://h/")};
    parts[0].headers = one;
    parts[1].headers = other;
    parts[2].headers = same;
    parts[0].header_count = parts[1].header_count = parts[2].header_count = 3;
    assert_false(are_alike(&parts[0], &parts[1]));
    assert_true(are_alike(&parts[0], &parts[2]));
}

static void assert_refused(const nc_cache_key_parts *parts, nc_status expected) {
    nc_buf out = nc_buf_init(1 << 20);
    nc_error err;
    nc_buf_append_byte(&out, '>');
    assert_status(nc_cache_key_describe(&out, parts, &err), expected);
    assert_status(err.status, expected);
    assert_slice_equals(nc_buf_slice(&out), ">");
    nc_buf_deinit(&out);
}

static void cache_key__an_invalid_request_is_rejected(void **state) {
    (void)state;
    static const char *const urls[] = {"",
                                       "h",
                                       "/a",
                                       "http:/h",
                                       "http://",
                                       "http:///a",
                                       "://h",
                                       "http://:80/",
                                       "http://h/a b",
                                       "http://h/\x7F",
                                       "http://h/aaaaaaaaaaaaaaaaaaaaaaa\n",
                                       "http://@/"};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        nc_cache_key_parts parts = parts_of(urls[i]);
        assert_refused(&parts, NC_ERR_BAD_URL);
    }
    nc_cache_key_parts parts = parts_of("http://h/");
    parts.method = text("G T");
    assert_refused(&parts, NC_ERR_BAD_METHOD);
    nc_header headers[NC_CACHE_KEY_MAX_HEADERS + 1];
    for (size_t i = 0; i <= NC_CACHE_KEY_MAX_HEADERS; i++) {
        headers[i] = (nc_header){text("a"), text("b")};
    }
    parts = parts_of("http://h/");
    parts.headers = headers;
    parts.header_count = NC_CACHE_KEY_MAX_HEADERS + 1;
    assert_refused(&parts, NC_ERR_TOO_LARGE);
    parts.header_count = 2;
    headers[1].name = text("");
    assert_refused(&parts, NC_ERR_BAD_HEADER);
    headers[1].name = text("a:");
    assert_refused(&parts, NC_ERR_BAD_HEADER);
    headers[1] = (nc_header){text("a"), text("b\nc")};
    assert_refused(&parts, NC_ERR_BAD_HEADER);
    parts.headers = NULL;
    assert_refused(&parts, NC_ERR_USAGE);
}

static void cache_key__a_control_character_is_found_at_every_position(void **state) {
    (void)state;
    for (int c = 0; c < 256; c++) {
        for (size_t at = 0; at < 20; at++) {
            char url[] = "http://h/aaaaaaaaaaaaaaaaaaaa";
            url[9 + at] = (char)c;
            nc_cache_key_parts parts = {.url = nc_slice_make(url, sizeof url - 1)};
            nc_buf out = nc_buf_init(1000);
            bool is_refused = c <= ' ' || c == 0x7F;
            assert_status(nc_cache_key_describe(&out, &parts, NULL), is_refused ? NC_ERR_BAD_URL : NC_OK);
            nc_buf_deinit(&out);
        }
    }
}

static void cache_key__parameters_without_a_canonical_form_are_rejected(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_params_begin(&params, text("open"), NC_PARAMS_ARRAY);
    nc_cache_key_parts parts = parts_of("http://h/");
    parts.parameters = &params;
    assert_refused(&parts, NC_ERR_USAGE);
    nc_params_add_double(&params, text(""), 1.0 / (double)(params.depth - 2));
    nc_params_end(&params);
    assert_refused(&parts, NC_ERR_BAD_PARAMETER);
    nc_params_deinit(&params);
}

static void cache_key__a_reused_buffer_needs_no_allocation(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_header headers[] = {{text("B"), text("2")}, {text("a"), text("x, y")}};
    fill(&params);
    nc_cache_key_parts parts = {.url = text("http://host/?q"),
                                .headers = headers,
                                .header_count = 2,
                                .parameters = &params,
                                .scope = text("u1")};
    nc_buf bytes = nc_buf_init(10000);
    nc_digest *md5 = NULL;
    nc_cache_key key;
    assert_status(nc_digest_new(&md5, NC_DIGEST_MD5, NULL), NC_OK);
    assert_status(nc_cache_key_describe(&bytes, &parts, NULL), NC_OK);
    uint64_t before = harness_allocations();
    for (int i = 0; i < 10; i++) {
        nc_buf_reset(&bytes);
        assert_status(nc_cache_key_describe(&bytes, &parts, NULL), NC_OK);
        assert_status(nc_cache_key_name(&key, md5, nc_buf_slice(&bytes), NULL), NC_OK);
    }
    assert_int_equal(harness_allocations(), before);
    nc_digest_free(md5);
    nc_buf_deinit(&bytes);
    nc_params_deinit(&params);
}

static void cache_key__explain_rejects_a_damaged_canonical_form(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    fill(&params);
    nc_cache_key_parts parts = {.url = text("http://host/?q"), .parameters = &params, .scope = text("u1")};
    nc_buf bytes = nc_buf_init(10000);
    nc_buf lines = nc_buf_init(10000);
    nc_error err;
    assert_status(nc_cache_key_describe(&bytes, &parts, NULL), NC_OK);
    // Some truncations are the canonical form of another request: one without a user, or without parameters.
    size_t whole_ones = 0;
    for (size_t length = 0; length < bytes.length; length++) {
        guarded cut = guarded_copy(nc_slice_make(bytes.data, length));
        nc_status status = nc_cache_key_explain(&lines, cut.slice, &err);
        assert_status(status, status == NC_OK ? NC_OK : NC_ERR_USAGE);
        assert_true((status == NC_OK) == (lines.length > 0));
        whole_ones += status == NC_OK ? 1 : 0;
        nc_buf_reset(&lines);
        guarded_deinit(&cut);
    }
    assert_int_equal(whole_ones, 2);
    nc_buf_append_byte(&bytes, 'x');
    assert_status(nc_cache_key_explain(&lines, nc_buf_slice(&bytes), &err), NC_ERR_USAGE);
    bytes.data[2] = 2;
    assert_status(nc_cache_key_explain(&lines, nc_buf_slice(&bytes), &err), NC_ERR_UNSUPPORTED);
    nc_buf_deinit(&bytes);
    nc_buf_deinit(&lines);
    nc_params_deinit(&params);
}

static void describe_one(void *ctx) {
    nc_cache_key_parts parts = parts_of("http://h/");
    parts.parameters = ctx;
    nc_buf bytes = nc_buf_init(1 << 20);
    nc_buf lines = nc_buf_init(1 << 20);
    nc_status status = nc_cache_key_describe(&bytes, &parts, NULL);
    if (status == NC_OK) {
        status = nc_cache_key_explain(&lines, nc_buf_slice(&bytes), NULL);
    }
    assert_status(status, harness_has_failed_allocation() ? NC_ERR_NO_MEMORY : NC_OK);
    nc_buf_deinit(&bytes);
    nc_buf_deinit(&lines);
}

static void cache_key__survives_each_allocation_failure(void **state) {
    (void)state;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    fill_many(&params, 100, true, NC_PARAMS_OBJECT, 0);
    assert_true(each_allocation_failure(describe_one, &params) >= 3);
    nc_params_deinit(&params);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(cache_key__explain_lists_every_part),
        harness_case(cache_key__absent_parts_are_omitted),
        harness_case(cache_key__is_the_md5_of_the_canonical_form),
        harness_case(cache_key__requests_that_are_equal_on_the_wire_have_equal_keys),
        harness_case(cache_key__types_and_array_order_distinguish_keys),
        harness_case(cache_key__absent_and_empty_parts_differ),
        harness_case(cache_key__the_order_in_objects_and_sets_does_not_matter),
        harness_case(cache_key__the_order_of_equal_names_matters),
        harness_case(cache_key__an_invalid_request_is_rejected),
        harness_case(cache_key__a_control_character_is_found_at_every_position),
        harness_case(cache_key__parameters_without_a_canonical_form_are_rejected),
        harness_case(cache_key__a_reused_buffer_needs_no_allocation),
        harness_case(cache_key__explain_rejects_a_damaged_canonical_form),
        harness_case(cache_key__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
