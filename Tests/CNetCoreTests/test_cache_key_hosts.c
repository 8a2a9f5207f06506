/// Cache keys of one host in several spellings.
#include "harness.h"

#include <netcore/cache_key.h>
#include <string.h>

static nc_slice text(const char *bytes) {
    return nc_slice_of(bytes);
}

static nc_cache_key_parts parts_of(const char *url) {
    return (nc_cache_key_parts){.url = text(url)};
}

static bool are_urls_alike(const char *one, const char *other) {
    nc_buf bytes[2] = {nc_buf_init(4096), nc_buf_init(4096)};
    nc_cache_key_parts parts[2] = {parts_of(one), parts_of(other)};
    for (size_t i = 0; i < 2; i++) {
        assert_status(nc_cache_key_describe(&bytes[i], &parts[i], NULL), NC_OK);
    }
    bool is_equal = nc_slice_is_equal(nc_buf_slice(&bytes[0]), nc_buf_slice(&bytes[1]));
    nc_buf_deinit(&bytes[0]);
    nc_buf_deinit(&bytes[1]);
    return is_equal;
}

static void cache_key__all_spellings_of_a_host_give_the_same_key(void **state) {
    (void)state;
    static const char *const same[][2] = {
        {"http://EXAMPLE.com/a", "http://example.com/a"},
        {"http://b\xC3\xBC"
         "cher.example/a",
         "http://xn--bcher-kva.example/a"},
        {"http://B\xC3\x9C"
         "CHER.example:80/a",
         "http://XN--bcher-KVA.example/a"},
        {"http://b%C3%BCcher.example/a", "http://xn--bcher-kva.example/a"},
        {"http://u:p@b\xC3\xBC"
         "cher.example:8080?q",
         "http://u:p@xn--bcher-kva.example:8080/?q"},
        {"http://\xEF\xBD\x85xample.com/", "http://example.com/"},
        {"http://ex%61mple.com/a", "http://example.com/a"},
        {"http://ex%41MPLE.com/a", "http://example.com/a"},
        {"http://example.com./a", "http://example.com/a"},
        {"http://127.1/a", "http://127.0.0.1/a"},
        {"http://0x7f000001:8080/a", "http://127.0.0.1:8080/a"},
        {"http://2130706433/", "http://127.0.0.1/"},
        {"http://[::ffff:127.0.0.1]/a", "http://127.0.0.1/a"},
        {"http://[0:0::0:1]:8080/a", "http://[::1]:8080/a"},
        {"http://[2001:DB8::0:1]/", "http://[2001:db8::1]/"},
        {"http://[fe80::1%eth0]/", "http://[fe80:0::1%25eth0]/"},
        {"http://example.com:080/a", "http://example.com/a"},
        {"https://example.com:00443/a", "https://example.com/a"},
        {"http://example.com:08080/a", "http://example.com:8080/a"},
    };
    static const char *const other[][2] = {
        {"http://xn--bcher-kva.example/", "http://bucher.example/"},
        {"http://[::1]/", "http://[::2]/"},
        {"http://[fe80::1%25eth0]/", "http://[fe80::1%25Eth0]/"},
        {"http://127.0.0.1/", "http://127.0.0.2/"},
        {"http://0127.0.0.1/", "http://127.0.0.1/"}, // octal: 87.0.0.1
        {"http://example.com:0/", "http://example.com/"},
        {"http://example.com/%61", "http://example.com/a"},
        {"http://a%2fb/", "http://a/b/"},
        {"http://example.com../", "http://example.com/"},
        {"http://a..b/", "http://a.b/"},
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        if (!are_urls_alike(same[i][0], same[i][1])) {
            fail_msg("%s and %s have different keys", same[i][0], same[i][1]);
        }
    }
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        if (are_urls_alike(other[i][0], other[i][1])) {
            fail_msg("%s and %s have one key", other[i][0], other[i][1]);
        }
    }
}

static void cache_key__a_canonical_host_may_be_longer_than_its_spelling(void **state) {
    (void)state;
    // 20 labels of two bytes, each encoded in 7 bytes or more.
    char url[256] = "http://";
    for (size_t i = 0; i < 20; i++) {
        (void)strcat(url, "\xC3\xBC.");
    }
    (void)strcat(url, "example");
    nc_cache_key_parts parts = parts_of(url);
    nc_buf out = nc_buf_init(1000);
    assert_status(nc_cache_key_describe(&out, &parts, NULL), NC_OK);
    assert_true(out.length > strlen(url) + 20 * 4);
    nc_buf_deinit(&out);
}

static void cache_key__contains_the_canonical_host(void **state) {
    (void)state;
    nc_cache_key_parts parts = parts_of("http://u:P@[0::1]:08080?q");
    nc_buf bytes = nc_buf_init(100);
    assert_status(nc_cache_key_describe(&bytes, &parts, NULL), NC_OK);
    assert_slice_equals(nc_buf_slice(&bytes), "NK\x01m\x03GETu\x18"
                                              "http://u:P@[::1]:8080/?q");
    nc_buf_deinit(&bytes);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(cache_key__all_spellings_of_a_host_give_the_same_key),
        harness_case(cache_key__a_canonical_host_may_be_longer_than_its_spelling),
        harness_case(cache_key__contains_the_canonical_host),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
