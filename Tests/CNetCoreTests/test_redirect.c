/// The decision on a redirect, without a network.
#include "harness.h"
#include <netcore/redirect.h>

#include <curl/curl.h>
#include <netcore/url.h>
#include <string.h>

typedef struct decision {
    nc_status status;
    nc_redirect_decision answer;
    nc_error error;
    char url[512];
} decision;

static decision decide(nc_redirect_question question) {
    decision out = {0};
    nc_buf url = nc_buf_init(NC_URL_MAX_BYTES + 1);
    // Guarded, so that a read past either end crashes.
    guarded requested_url = guarded_copy(question.url);
    guarded location = guarded_copy(question.location);
    question.url = requested_url.slice;
    question.location = location.slice;
    out.status = nc_redirect_decide(&out.answer, &url, &question, &out.error);
    if (out.status == NC_OK && out.answer.is_redirect) {
        assert_true(url.length < sizeof out.url);
        memcpy(out.url, url.data, url.length);
        assert_int_equal(url.data[url.length], 0);
    }
    if (out.status != NC_OK) {
        assert_status(out.error.status, out.status);
    }
    nc_buf_deinit(&url);
    guarded_deinit(&requested_url);
    guarded_deinit(&location);
    return out;
}

static nc_redirect_question question_of(const char *url, const char *location) {
    return (nc_redirect_question){
        .status = 302, .url = nc_slice_of(url), .location = nc_slice_of(location), .max_redirects = 20};
}

static void redirect__five_statuses_with_a_location_redirect(void **state) {
    (void)state;
    for (unsigned status = 100; status < 1000; status++) {
        nc_redirect_question question = question_of("http://a/b", "/c");
        question.status = (uint16_t)status;
        decision one = decide(question);
        bool leads = status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
        assert_status(one.status, NC_OK);
        assert_int_equal(one.answer.is_redirect, leads);
        question.location = nc_slice_of("");
        assert_false(decide(question).answer.is_redirect);
        question = question_of("http://a/b", "/c");
        question.choice = NC_REDIRECTS_RETURN;
        assert_false(decide(question).answer.is_redirect);
    }
}

static void redirect__the_status_decides_whether_the_method_is_preserved(void **state) {
    static const struct {
        uint16_t status;
        bool get_drops, head_drops, post_drops, put_drops;
    } cases[] = {
        {301, false, false, true, false},  {302, false, false, true, false},  {303, true, false, true, true},
        {307, false, false, false, false}, {308, false, false, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_redirect_question question = question_of("http://a/b", "/c");
        question.status = cases[i].status;
        assert_int_equal(decide(question).answer.becomes_get, cases[i].put_drops);
        question.is_head = true;
        assert_int_equal(decide(question).answer.becomes_get, cases[i].head_drops);
        question.is_head = false;
        question.is_post = true;
        assert_int_equal(decide(question).answer.becomes_get, cases[i].post_drops);
    }
}

static void redirect__resolves_the_location_against_the_request_url(void **state) {
    static const char *const cases[][3] = {
        {"http://a/b/c?d#e", "/x", "http://a/x#e"},
        {"http://a/b/c?d", "x", "http://a/b/x"},
        {"http://a/b/c?d", "../x", "http://a/x"},
        {"http://a/b/c?d", "?y", "http://a/b/c?y"},
        {"http://a/b/c?d", "#f", "http://a/b/c?d#f"},
        {"http://a/b/c?d#old", "x#new", "http://a/b/x#new"},
        {"http://a/b", "//c:81/d", "http://c:81/d"},
        {"http://a/b", "https://c/d", "https://c/d"},
        {"http://a", "x", "http://a/x"},
        {"http://a/b", "/a b", "http://a/a%20b"},
        {"http://a/b", "/\xc3\xa9", "http://a/%C3%A9"},
        {"http://a/b", "./././", "http://a/"},
        {"http://a:80/b", "/c", "http://a:80/c"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        decision one = decide(question_of(cases[i][0], cases[i][1]));
        assert_status(one.status, NC_OK);
        assert_true(one.answer.is_redirect);
        assert_string_equal(one.url, cases[i][2]);
    }
}

/// Like curl --path-as-is, except if a dot segment would follow a directory called "..".
static void redirect__preserves_dot_segments_of_a_location_on_request(void **state) {
    static const char *const cases[][3] = {
        {"http://a/b/c", "/x/../y/./z", "http://a/x/../y/./z"},
        {"http://a/b/c", "/../x", "http://a/../x"},
        {"http://a/b/c", "/x/..", "http://a/x/.."},
        {"http://a/b/c", "//d/x/../y", "http://d/x/../y"},
        {"http://a/b/c", "https://d/../x/.?y#/../z", "https://d/../x/.?y#/../z"},
        {"http://a/b/c", "x/./y", "http://a/b/x/./y"},
        {"http://a/b/c", "./x/../y", "http://a/b/x/../y"},
        {"http://a/b/c", "../x/../y", "http://a/x/../y"},
        {"http://a/b/c", "../../../x", "http://a/x"},
        {"http://a/b/c", "..", "http://a/b/.."},
        {"http://a/b/c", ".", "http://a/b/."},
        {"http://a/b/c", "..?y", "http://a/b/..?y"},
        {"http://a/b/../c?d", "?y", "http://a/b/../c?y"},
        {"http://a/b/../c?d#e", "x", "http://a/b/../x#e"},
        {"http://a/b/../c", "../x", "http://a/b/../../x"},
        {"http://a/b/./c", "../x", "http://a/b/./../x"},
        {"http://a/b/.../c", "../x", "http://a/b/x"},
        {"http://a/b/../d/c", "../../x", "http://a/b/../../x"},
        {"http://a", "../x", "http://a/x"},
        {"http://a", "x/..", "http://a/x/.."},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_redirect_question question = question_of(cases[i][0], cases[i][1]);
        question.keeps_dot_segments = true;
        decision one = decide(question);
        assert_status(one.status, NC_OK);
        assert_true(one.answer.is_redirect);
        assert_string_equal(one.url, cases[i][2]);
    }
}

static void redirect__detects_a_change_of_origin(void **state) {
    static const struct {
        const char *from;
        const char *to;
        bool changes;
    } cases[] = {
        {"http://a/b", "/c", false},
        {"http://a/b", "http://A:80/c", false},
        {"http://a:80/b", "HTTP://a/c", false},
        {"https://a/b", "https://a:443/c", false},
        {"http://u:p@a/b", "http://a/c", false},
        {"http://a/b", "http://u:p@a/c", false},
        {"http://a/b", "http://a:81/c", true},
        {"http://a:80/b", "https://a:80/c", true},
        {"http://a/b", "https://a/c", true},
        {"http://a/b", "http://b/c", true},
        {"http://a/b", "http://a./c", false},
        {"http://a/b", "http://%61/c", false},
        {"http://a/b", "http://A:080/c", false},
        {"http://a:/b", "http://a:80/c", false},
        {"https://a/b", "https://a:0443/c", false},
        {"http://a:081/b", "http://a:81/c", false},
        {"http://a/b", "http://a:443/c", true},
        {"http://b\xc3\xbc\x63her.test/b", "http://xn--bcher-kva.test/c", false},
        {"http://xn--bcher-kva.test/b", "http://B\xc3\x9c\x43HER.test/c", false},
        {"http://xn--bcher-kva.test/b", "http://b%C3%BCcher.test/c", false},
        {"http://xn--bcher-kva.test/b", "http://bucher.test/c", true},
        {"http://a.test/b", "http://a\xe3\x80\x82test/c", false},
        {"http://127.1/b", "http://127.0.0.1/c", false},
        {"http://2130706433/b", "http://0x7f.0.0.1:80/c", false},
        {"http://127.0.0.1/b", "http://0177.1/c", false},
        {"http://127.0.0.1/b", "http://[::ffff:127.0.0.1]/c", false},
        {"http://127.0.0.1/b", "http://127.0.0.2/c", true},
        {"http://[::1]/b", "http://[0:0:0:0:0:0:0:1]/c", false},
        {"http://[fe80::1%25a]/b", "http://[fe80::1%25b]/c", true},
        {"http://a/b", "http://a@b/c", true},
        {"http://a/b", "http://sub.a/c", true},
        {"http://localhost/b", "http://127.0.0.1/c", true},
        {"http://[::1]/b", "http://[::1]:80/c", false},
        {"http://a/b", "//a/c", false},
        {"http://a/b", "http://a%2eb/c", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        decision one = decide(question_of(cases[i].from, cases[i].to));
        if (one.status != NC_OK || !one.answer.is_redirect || one.answer.changes_origin != cases[i].changes) {
            fail_msg("%s to %s: %s, %d", cases[i].from, cases[i].to, nc_status_name(one.status),
                     one.answer.changes_origin);
        }
    }
}

static void redirect__ignores_credentials_in_a_location_of_another_origin(void **state) {
    static const char *const cases[][3] = {
        {"http://a/b", "http://u:p@c/d", "http://c/d"},
        {"http://a/b", "http://@c/d", "http://c/d"},
        {"http://a/b", "http://:@c?d#e@f", "http://c?d#e@f"},
        {"http://a/b", "//u@c:81/d@e", "http://c:81/d@e"},
        {"http://a/b", "https://u:p@a/d", "https://a/d"},
        {"http://a/b", "http://u:p@a:81/d", "http://a:81/d"},
        {"http://x:y@a/b", "http://u:p@c/d", "http://c/d"},
        {"http://a..b/b", "http://u:p@a/d", "http://a/d"}, // an origin that is unknown
        {"http://a/b", "http://u:p@%61/d", "http://u:p@%61/d"},
        {"http://a/b", "//u:p@a:080/d", "http://u:p@a:080/d"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        decision one = decide(question_of(cases[i][0], cases[i][1]));
        assert_status(one.status, NC_OK);
        assert_string_equal(one.url, cases[i][2]);
    }
    assert_status(decide(question_of("http://a/b", "http://u:p@/d")).status, NC_ERR_BAD_REDIRECT);
}

static void redirect__rejects_other_schemes_and_downgrades(void **state) {
    static const char *const locations[] = {"ftp://a/b",         "file:///etc/passwd", "javascript:alert(1)",
                                            "data:text/plain,x", "gopher://a/",        "ws://a/",
                                            "about:blank",       "mailto:a@b",         "FILE:/etc/passwd"};
    (void)state;
    for (size_t i = 0; i < sizeof locations / sizeof *locations; i++) {
        nc_redirect_question question = question_of("http://a/b", locations[i]);
        decision one = decide(question);
        if (one.status != NC_ERR_REDIRECT_REFUSED) {
            fail_msg("%s: %s", locations[i], nc_status_name(one.status));
        }
        assert_int_equal(one.error.native_code, CURLE_UNSUPPORTED_PROTOCOL);
        assert_non_null(strstr(one.error.message, "is refused"));
        question.choice = NC_REDIRECTS_FOLLOW_DOWNGRADE;
        assert_status(decide(question).status, NC_ERR_REDIRECT_REFUSED);
    }
    nc_redirect_question question = question_of("https://a/b", "http://a/c");
    decision one = decide(question);
    assert_status(one.status, NC_ERR_REDIRECT_REFUSED);
    assert_string_equal(one.error.message, "redirect from https to http://a is refused");
    question.choice = NC_REDIRECTS_FOLLOW_DOWNGRADE;
    one = decide(question);
    assert_status(one.status, NC_OK);
    assert_true(one.answer.is_redirect && one.answer.changes_origin);
    assert_string_equal(one.url, "http://a/c");
}

static void redirect__rejects_locations_without_a_valid_authority(void **state) {
    static const char *const locations[] = {
        "http://", "http:///x", "http://a:99999/", "http://a:b/", "http://[::1/", "http://a b/", "/a\tb",
        "/a\x01",  "/\x7f",     "http://u@/",      "//"};
    (void)state;
    for (size_t i = 0; i < sizeof locations / sizeof *locations; i++) {
        decision one = decide(question_of("http://a/b", locations[i]));
        if (one.status != NC_ERR_BAD_REDIRECT) {
            fail_msg("%s: %s -> %s", locations[i], nc_status_name(one.status), one.url);
        }
    }
}

static void redirect__rejects_the_forbidden_bytes_of_a_location(void **state) {
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        char location[4] = {'/', (char)byte, 'x', 0};
        nc_redirect_question question = question_of("http://a/b", "");
        question.location = nc_slice_make(location, 3);
        decision one = decide(question);
        bool is_control = byte < ' ' || byte == 0x7f;
        // "//x" and "/\x" are other kinds of references. Only a valid result is required.
        if (byte != '/' && byte != '\\') {
            assert_status(one.status, is_control ? NC_ERR_BAD_REDIRECT : NC_OK);
        }
        assert_true(one.error.offset == (is_control ? 1 : -1) || one.status == NC_OK);
    }
}

/// Writes the target `next` to `url`, with the credentials of `requested_url`.
static nc_status keep_credentials(nc_buf *url, const char *requested_url, nc_slice next) {
    nc_error err;
    guarded from = guarded_copy(nc_slice_of(requested_url));
    nc_buf_append(url, next);
    nc_status status = nc_redirect_keep_credentials(url, from.slice, &err);
    guarded_deinit(&from);
    return status;
}

static void redirect__adds_credentials_to_a_url_without_any(void **state) {
    static const char *const cases[][3] = {
        {"http://u:p@a/b", "http://a/c", "http://u:p@a/c"},
        {"http://u@a", "HTTP://A:80", "HTTP://u@A:80"},
        {"http://u%40:p:q@a/?x@y", "http://a?z@b#c@d", "http://u%40:p:q@a?z@b#c@d"},
        {"http://u:p@a/b", "http://x@a/c", "http://x@a/c"},
        {"http://u:p@a/b", "http://@a/c", "http://@a/c"},
        {"http://a/b@c", "http://a/c", "http://a/c"},
        {"http://u:p@[::1]:81/", "http://[::1]:81/", "http://u:p@[::1]:81/"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_buf url = nc_buf_init(NC_URL_MAX_BYTES + 1);
        assert_status(keep_credentials(&url, cases[i][0], nc_slice_of(cases[i][1])), NC_OK);
        assert_slice_equals(nc_buf_slice(&url), cases[i][2]);
        nc_buf_deinit(&url);
    }
}

static void redirect__bounds_the_length_of_a_url_with_credentials(void **state) {
    static char next[NC_URL_MAX_BYTES] = "http://a/";
    (void)state;
    memset(next + 9, 'b', sizeof next - 9);
    for (size_t length = sizeof next - 6; length <= sizeof next; length++) {
        nc_buf url = nc_buf_init(NC_URL_MAX_BYTES + 2);
        nc_status status = keep_credentials(&url, "http://u:p@a/", nc_slice_make(next, length));
        assert_status(status, length + 4 <= NC_URL_MAX_BYTES ? NC_OK : NC_ERR_BAD_REDIRECT);
        nc_buf_deinit(&url);
    }
}

static void redirect__counts_the_hops(void **state) {
    static const struct {
        uint32_t followed, limit;
        bool is_refused;
    } cases[] = {{0, 20, false}, {19, 20, false},           {20, 20, true}, {21, 20, true}, {0, 1, false},
                 {1, 1, true},   {0, NC_NO_REDIRECTS, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_redirect_question question = question_of("http://u:secret@a.example:81/b", "/c");
        question.followed = cases[i].followed;
        question.max_redirects = cases[i].limit;
        decision one = decide(question);
        assert_status(one.status, cases[i].is_refused ? NC_ERR_TOO_MANY_REDIRECTS : NC_OK);
        if (cases[i].is_refused) {
            assert_int_equal(one.error.native_code, CURLE_TOO_MANY_REDIRECTS);
            assert_non_null(strstr(one.error.message, "a.example:81"));
            assert_null(strstr(one.error.message, "secret"));
        }
    }
}

static void redirect__bounds_the_length_of_a_location(void **state) {
    static char location[NC_URL_MAX_BYTES + 2];
    (void)state;
    memset(location, 'a', sizeof location);
    location[0] = '/';
    nc_redirect_question question = question_of("http://a/b", "");
    for (size_t length = NC_URL_MAX_BYTES - 8; length <= sizeof location; length++) {
        nc_redirect_decision answer;
        nc_error err;
        nc_buf url = nc_buf_init(NC_URL_MAX_BYTES + 1);
        question.location = nc_slice_make(location, length);
        nc_status status = nc_redirect_decide(&answer, &url, &question, &err);
        assert_status(status, length + 8 <= NC_URL_MAX_BYTES ? NC_OK : NC_ERR_BAD_REDIRECT);
        nc_buf_deinit(&url);
    }
}

static void redirect__drops_the_fields_of_a_dropped_body(void **state) {
    static const char *const dropped[] = {"Content-Type", "content-length", "CONTENT-ENCODING", "Content-X", "expect"};
    static const char *const sent[] = {"Content-",       "Content",       "Accept", "Expected",
                                       "X-Content-Type", "Authorization", ""};
    (void)state;
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) {
        assert_true(nc_redirect_describes_body(nc_slice_of(dropped[i])));
    }
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
        assert_false(nc_redirect_describes_body(nc_slice_of(sent[i])));
    }
}

static void redirect__rejects_missing_arguments(void **state) {
    nc_redirect_question question = question_of("http://a/", "/b");
    nc_redirect_decision answer;
    nc_redirect_decision *no_answer = NULL; // clang refuses a literal NULL
    nc_redirect_question *no_question = NULL;
    nc_buf *no_url = NULL;
    nc_buf url = nc_buf_init(NC_URL_MAX_BYTES + 1);
    (void)state;
    assert_status(nc_redirect_decide(no_answer, &url, &question, NULL), NC_ERR_USAGE);
    assert_status(nc_redirect_decide(&answer, no_url, &question, NULL), NC_ERR_USAGE);
    assert_status(nc_redirect_decide(&answer, &url, no_question, NULL), NC_ERR_USAGE);
    nc_buf_append(&url, nc_slice_of("x"));
    assert_status(nc_redirect_decide(&answer, &url, &question, NULL), NC_ERR_USAGE);
    nc_buf_deinit(&url);
}

static void redirect__leaves_a_refused_url_in_the_buffer(void **state) {
    nc_redirect_question question = question_of("https://a/", "http://b/c");
    nc_redirect_decision answer;
    nc_buf url = nc_buf_init(NC_URL_MAX_BYTES + 1);
    (void)state;
    assert_status(nc_redirect_decide(&answer, &url, &question, NULL), NC_ERR_REDIRECT_REFUSED);
    assert_slice_equals(nc_buf_slice(&url), "http://b/c");
    nc_buf_reset(&url);
    question.location = nc_slice_of("http:///c");
    assert_status(nc_redirect_decide(&answer, &url, &question, NULL), NC_ERR_BAD_REDIRECT);
    assert_int_equal(url.length, 0);
    nc_buf_deinit(&url);
}

static void decide_without_memory(void *ctx) {
    decision one = decide(question_of("http://a/b#c", "https://d/e"));
    (void)ctx;
    assert_true(one.status == NC_OK || one.status == NC_ERR_NO_MEMORY);
    assert_int_equal(one.answer.is_redirect, one.status == NC_OK);
    nc_buf url = nc_buf_init(NC_URL_MAX_BYTES + 1);
    nc_status status = keep_credentials(&url, "http://u:p@a/b", nc_slice_of("http://a/c"));
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    nc_buf_deinit(&url);
}

static void redirect__survives_each_allocation_failure(void **state) {
    (void)state;
    assert_true(each_allocation_failure(decide_without_memory, NULL) > 0);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(redirect__five_statuses_with_a_location_redirect),
        harness_case(redirect__the_status_decides_whether_the_method_is_preserved),
        harness_case(redirect__resolves_the_location_against_the_request_url),
        harness_case(redirect__preserves_dot_segments_of_a_location_on_request),
        harness_case(redirect__detects_a_change_of_origin),
        harness_case(redirect__ignores_credentials_in_a_location_of_another_origin),
        harness_case(redirect__rejects_other_schemes_and_downgrades),
        harness_case(redirect__rejects_locations_without_a_valid_authority),
        harness_case(redirect__rejects_the_forbidden_bytes_of_a_location),
        harness_case(redirect__adds_credentials_to_a_url_without_any),
        harness_case(redirect__bounds_the_length_of_a_url_with_credentials),
        harness_case(redirect__counts_the_hops),
        harness_case(redirect__bounds_the_length_of_a_location),
        harness_case(redirect__drops_the_fields_of_a_dropped_body),
        harness_case(redirect__rejects_missing_arguments),
        harness_case(redirect__leaves_a_refused_url_in_the_buffer),
        harness_case(redirect__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
