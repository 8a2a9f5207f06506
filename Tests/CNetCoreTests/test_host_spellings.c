/// All rules that compare hosts give one answer for all spellings of a host.
#include "harness.h"
#include "http/alt_svc.h"
#include "http/cookie_jar.h"
#include "http/hsts.h"
#include "http/url_text.h"
#include "trust/pattern.h"

#include <netcore/cache_key.h>
#include <netcore/redirect.h>
#include <netcore/url.h>
#include <stdio.h>
#include <string.h>

enum { NOW_S = 1800000000, MAX_TEXT_BYTES = 300 };

/// Spellings of one host. The first one is canonical.
typedef struct spelled_host {
    const char *spellings[12];
    bool is_name;
} spelled_host;

static const spelled_host hosts[] = {
    {{"api.example", "API.Example", "api.example.", "%61pi.example", "api%2Eexample", "\uff41pi.example",
      "api\u3002example", "a\u00adpi.example"},
     true},
    {{"xn--bcher-kva.example", "XN--Bcher-KVA.example", "b\u00fccher.example", "B\u00dcCHER.example.",
      "b%C3%BCcher.example", "bu\u0308cher.EXAMPLE"},
     true},
    {{"bucher.example", "Bucher.Example."}, true},
    {{"api.example.org", "api.EXAMPLE.org."}, true},
    {{"127.0.0.1", "127.1", "127.0.0.1.", "0x7f.1", "0X7F000001", "2130706433", "0177.0.0.1", "%31%32%37.0.0.1",
      "\uff11\uff12\uff17.1", "[::ffff:127.0.0.1]", "[::FFFF:7f00:1]"},
     false},
    {{"127.0.0.2", "127.2"}, false},
    {{"[::1]", "[0:0:0:0:0:0:0:1]", "[::0001]"}, false},
    {{"[2001:db8::a]", "[2001:DB8:0::A]"}, false},
};

enum { HOST_COUNT = sizeof hosts / sizeof *hosts };

/// A rule: returns true if what it learned from `known` applies to a request to `asked`.
typedef bool (*rule)(const char *known, const char *asked);

static nc_slice url_of(char *text, const char *format, const char *host) {
    int length = snprintf(text, MAX_TEXT_BYTES, format, host);
    return nc_slice_make(text, (size_t)length);
}

static void parse(nc_url *out, char *text, const char *host) {
    assert_status(nc_url_parse(out, url_of(text, "https://user:secret@%s:443/a/b?c", host), NULL), NC_OK);
}

static bool same_origin(const char *known, const char *asked) {
    char texts[2][MAX_TEXT_BYTES];
    return nc_url_is_same_origin(url_of(texts[0], "https://%s/", known), url_of(texts[1], "https://%s:0443/x", asked));
}

static bool redirect_origin(const char *known, const char *asked) {
    char texts[2][MAX_TEXT_BYTES];
    const nc_redirect_question question = {
        .status = 302,
        .url = url_of(texts[0], "https://%s/a", known),
        .location = url_of(texts[1], "https://%s:443/b", asked),
        .max_redirects = 20,
    };
    nc_redirect_decision decision;
    nc_buf url = nc_buf_init(4096);
    assert_status(nc_redirect_decide(&decision, &url, &question, NULL), NC_OK);
    assert_true(decision.is_redirect);
    nc_buf_deinit(&url);
    return !decision.changes_origin;
}

/// The credentials of a URL follow a redirect within its origin.
static bool credentials(const char *known, const char *asked) {
    char texts[2][MAX_TEXT_BYTES];
    const nc_redirect_question question = {
        .status = 307,
        .url = url_of(texts[0], "http://user:secret@%s:80/a", known),
        .location = url_of(texts[1], "http://%s/b", asked),
        .max_redirects = 20,
    };
    nc_redirect_decision decision;
    nc_buf url = nc_buf_init(4096);
    assert_status(nc_redirect_decide(&decision, &url, &question, NULL), NC_OK);
    if (!decision.changes_origin) {
        assert_status(nc_redirect_keep_credentials(&url, question.url, NULL), NC_OK);
    }
    bool are_sent = nc_url_split(nc_buf_slice(&url)).has_userinfo;
    nc_buf_deinit(&url);
    return are_sent;
}

static nc_cookie_context context_of(const nc_url *url) {
    return (nc_cookie_context){
        .host = url->origin.host.text, .path = url->parts.path, .is_secure = true, .now_s = NOW_S};
}

static bool cookies(const char *known, const char *asked) {
    char texts[2][MAX_TEXT_BYTES];
    nc_url urls[2];
    nc_cookie_jar jar;
    nc_buf field = nc_buf_init(4096);
    bool has_changed = false;
    parse(&urls[0], texts[0], known);
    parse(&urls[1], texts[1], asked);
    nc_cookie_context from = context_of(&urls[0]);
    nc_cookie_context to = context_of(&urls[1]);
    nc_cookie_jar_init(&jar);
    assert_status(nc_cookie_jar_store(&jar, &from, nc_slice_of("a=b; Path=/"), &has_changed), NC_OK);
    assert_true(has_changed);
    nc_cookie_jar_append_field(&jar, &to, false, &field);
    bool are_sent = field.length > 0;
    nc_buf_deinit(&field);
    nc_cookie_jar_deinit(&jar);
    return are_sent;
}

static bool hsts(const char *known, const char *asked) {
    nc_hsts list = {0};
    assert_true(nc_hsts_record(&list, nc_slice_of(known), nc_slice_of("max-age=9"), NOW_S));
    bool is_covered = nc_hsts_covers(&list, nc_slice_of(asked), NOW_S);
    nc_hsts_deinit(&list);
    return is_covered;
}

static bool alt_svc(const char *known, const char *asked) {
    nc_alt_svc list = {0};
    nc_alt_svc_endpoint origin;
    nc_alt_svc_endpoint other;
    assert_true(nc_alt_svc_endpoint_make(&origin, nc_slice_of(known), 443));
    assert_true(nc_alt_svc_endpoint_make(&other, nc_slice_of(asked), 443));
    assert_true(nc_alt_svc_record(&list, &origin, nc_slice_of("h2=\":8443\""), NOW_S));
    bool is_known = nc_alt_svc_find(&list, &other, NC_ALT_HTTP_2, NOW_S) != NULL;
    nc_alt_svc_deinit(&list);
    return is_known;
}

/// The host of an alternative is compared too: an origin is not its own alternative.
static bool alternative(const char *known, const char *asked) {
    char text[MAX_TEXT_BYTES];
    nc_alt_svc list = {0};
    nc_alt_svc_endpoint origin;
    assert_true(nc_alt_svc_endpoint_make(&origin, nc_slice_of(asked), 443));
    bool is_other = nc_alt_svc_record(&list, &origin, url_of(text, "h2=\"%s:443\"", known), NOW_S);
    nc_alt_svc_deinit(&list);
    return !is_other;
}

/// A pattern that is not written in a form that could match is refused when the policy is made.
static bool pins(const char *known, const char *asked) {
    char text[MAX_TEXT_BYTES];
    nc_url url;
    nc_pattern pattern;
    nc_host_name host;
    nc_url canonical;
    char canonical_text[MAX_TEXT_BYTES];
    parse(&url, text, asked);
    assert_true(nc_host_name_parse(&host, url.origin.host.text));
    if (nc_pattern_parse(&pattern, nc_slice_of(known), NULL) != NC_OK) {
        parse(&canonical, canonical_text, known);
        assert_status(nc_pattern_parse(&pattern, canonical.origin.host.text, NULL), NC_OK);
    }
    return nc_pattern_covers(&pattern, &host, 443);
}

static bool cache_key(const char *known, const char *asked) {
    char texts[2][MAX_TEXT_BYTES];
    const nc_cache_key_parts parts[] = {{.url = url_of(texts[0], "https://%s/a", known)},
                                        {.url = url_of(texts[1], "HTTPS://%s:443/a", asked)}};
    nc_buf keys[] = {nc_buf_init(4096), nc_buf_init(4096)};
    for (size_t i = 0; i < 2; i++) {
        assert_status(nc_cache_key_describe(&keys[i], &parts[i], NULL), NC_OK);
    }
    bool is_equal = nc_slice_is_equal(nc_buf_slice(&keys[0]), nc_buf_slice(&keys[1]));
    nc_buf_deinit(&keys[0]);
    nc_buf_deinit(&keys[1]);
    return is_equal;
}

static const struct {
    const char *name;
    rule applies;
    bool is_for_names; // addresses have no such policy
} rules[] = {
    {"the origin", same_origin, false},
    {"a redirect's origin", redirect_origin, false},
    {"credentials", credentials, false},
    {"cookies", cookies, false},
    {"HSTS", hsts, true},
    {"Alt-Svc", alt_svc, false},
    {"an alternative", alternative, false},
    {"pins", pins, false},
    {"the cache key", cache_key, false},
};

static void check(size_t index, const spelled_host *known, const spelled_host *asked) {
    for (size_t i = 0; known->spellings[i] != NULL; i++) {
        for (size_t j = 0; asked->spellings[j] != NULL; j++) {
            if (rules[index].applies(known->spellings[i], asked->spellings[j]) != (known == asked)) {
                fail_msg("%s: %s and %s are %s", rules[index].name, known->spellings[i], asked->spellings[j],
                         known == asked ? "different hosts" : "one host");
            }
        }
    }
}

static void every_rule_gives_one_answer_for_all_spellings_of_a_host(void **state) {
    (void)state;
    for (size_t index = 0; index < sizeof rules / sizeof *rules; index++) {
        for (size_t i = 0; i < HOST_COUNT; i++) {
            for (size_t j = 0; j < HOST_COUNT; j++) {
                if (!rules[index].is_for_names || (hosts[i].is_name && hosts[j].is_name)) {
                    check(index, &hosts[i], &hosts[j]);
                }
            }
        }
    }
}

static void a_parsed_url_has_the_parts_as_written_and_the_canonical_origin(void **state) {
    nc_url url;
    char text[] = "HTTPS://u:p%40@B%C3%BCcher.Example.:0443/a/./b?q#f";
    (void)state;
    assert_status(nc_url_parse(&url, nc_slice_of(text), NULL), NC_OK);
    assert_slice_equals(url.parts.userinfo, "u:p%40");
    assert_slice_equals(url.host_and_port, "B%C3%BCcher.Example.:0443");
    assert_slice_equals(url.parts.path, "/a/./b");
    assert_slice_equals(url.parts.query, "q");
    assert_slice_equals(url.parts.fragment, "f");
    assert_slice_equals(url.origin.host.text, "xn--bcher-kva.example");
    assert_true(url.origin.is_secure);
    assert_int_equal(url.origin.port, 443);
    assert_true(url.parts.path.data > (const uint8_t *)text &&
                url.parts.path.data < (const uint8_t *)text + sizeof text);
}

static void a_url_without_an_origin_keeps_its_scheme_and_its_text(void **state) {
    nc_url url;
    nc_error err;
    (void)state;
    assert_status(nc_url_parse(&url, nc_slice_of("https://a..b:8443/x"), &err), NC_ERR_BAD_URL);
    assert_status(url.status, NC_ERR_BAD_URL);
    assert_true(url.origin.is_secure);
    assert_int_equal(url.origin.host.text.length, 0);
    assert_slice_equals(url.host_and_port, "a..b:8443");
    assert_status(nc_url_parse(&url, nc_slice_of("ftp://a/"), &err), NC_ERR_BAD_SCHEME);
    assert_status(nc_url_parse(&url, nc_slice_of("http://a:65536/"), &err), NC_ERR_BAD_URL);
    assert_status(nc_url_parse(&url, nc_slice_of(""), &err), NC_ERR_BAD_SCHEME);
    assert_int_equal(url.host_and_port.length, 0);
}

/// A pattern is ASCII, without percent escapes and zones, and spells an address out. Hosts may be written in any way.
static void a_pattern_is_written_plainly_but_covers_every_spelling(void **state) {
    static const char *const refused[] = {"a~b", "%61.example", "\xef\xbc\x91.0.0.1", "0127.0.0.1",
                                          "[fe80::1%25eth0]:443"};
    static const char *const covered[][2] = {
        {"127.0.0.1.", "127.0.0.1"},
        {"127.0.0.1", "0x7f.1"},
        {"api.example.com", "%61pi.Example.com."},
        {"xn--bcher-kva.example", "B\xc3\xbc"
                                  "cher.example"},
        {"[fe80::1]", "[FE80:0::1%25eth0]"},
    };
    nc_pattern pattern;
    nc_host_name host;
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_status(nc_pattern_parse(&pattern, nc_slice_of(refused[i]), NULL), NC_ERR_BAD_PIN);
    }
    for (size_t i = 0; i < sizeof covered / sizeof *covered; i++) {
        assert_status(nc_pattern_parse(&pattern, nc_slice_of(covered[i][0]), NULL), NC_OK);
        assert_true(nc_host_name_parse(&host, nc_slice_of(covered[i][1])));
        assert_true(nc_pattern_covers(&pattern, &host, 443));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        harness_case(every_rule_gives_one_answer_for_all_spellings_of_a_host),
        harness_case(a_pattern_is_written_plainly_but_covers_every_spelling),
        harness_case(a_parsed_url_has_the_parts_as_written_and_the_canonical_origin),
        harness_case(a_url_without_an_origin_keeps_its_scheme_and_its_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
