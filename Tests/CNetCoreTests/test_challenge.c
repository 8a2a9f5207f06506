/// Challenges of WWW-Authenticate and Proxy-Authenticate fields (RFC 9110, 11.6.1).
#include "harness.h"

#include <netcore/credentials.h>
#include <stdio.h>
#include <string.h>

/// Writes each challenge as "scheme[realm]", or "scheme" if it has no realm.
static void describe(char *out, size_t capacity, const char *field) {
    guarded text = guarded_copy(nc_slice_of(field));
    nc_slice rest = text.slice;
    nc_challenge challenge;
    size_t length = 0;
    out[0] = '\0';
    while (nc_challenge_next(&rest, &challenge)) {
        nc_buf realm = nc_buf_init(64);
        bool has_realm = nc_challenge_parameter(&realm, &challenge, nc_slice_of("REALM"));
        int written = snprintf(out + length, capacity - length, "%s%.*s%s%.*s%s", length > 0 ? " " : "",
                               (int)challenge.scheme.length, (const char *)challenge.scheme.data, has_realm ? "[" : "",
                               (int)realm.length, (const char *)(has_realm ? realm.data : (const uint8_t *)""),
                               has_realm ? "]" : "");
        length += (size_t)written;
        nc_buf_deinit(&realm);
    }
    guarded_deinit(&text);
}

static void challenges__have_their_scheme_and_realm(void **state) {
    static const char *const cases[][2] = {
        {"Basic realm=\"a\"", "Basic[a]"},
        {"Basic realm=a", "Basic[a]"},
        {"Basic Realm = \"a b\" , charset=\"UTF-8\"", "Basic[a b]"},
        {"Basic", "Basic"},
        {"Negotiate, Basic realm=\"x\"", "Negotiate Basic[x]"},
        {"Negotiate dGVzdA==, Basic realm=\"x\"", "Negotiate Basic[x]"},
        {"Digest nonce=\"n, realm=no\", realm=\"d\", Bearer realm=b, error=\"e\"", "Digest[d] Bearer[b]"},
        {"Basic realm=\"say \\\"hi\\\" \\\\ \"", "Basic[say \"hi\" \\ ]"},
        {"Basic realm=\"one\", realm=\"two\"", "Basic[one]"},
        {"Basic realm=\"\"", "Basic[]"},
        {"Basic realm=\"open", "Basic[open]"},
        {"Basic realm=\"open\\", "Basic[open\\]"},
        {" ,, \t Basic realm=a ,,", "Basic[a]"},
        {"\"quoted\", Basic realm=a", "Basic[a]"},
        {"", ""},
        {",", ""},
        {"=", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char found[200];
        describe(found, sizeof found, cases[i][0]);
        assert_string_equal(found, cases[i][1]);
    }
}

static void a_parameter_that_does_not_fit_is_reported(void **state) {
    nc_slice rest = nc_slice_of("Basic realm=\"too long\"");
    nc_challenge challenge;
    nc_buf realm = nc_buf_init(3);
    (void)state;
    assert_true(nc_challenge_next(&rest, &challenge));
    assert_false(nc_challenge_parameter(&realm, &challenge, nc_slice_of("realm")));
    assert_status(nc_buf_status(&realm), NC_ERR_TOO_LARGE);
    nc_buf_deinit(&realm);
    realm = nc_buf_init(3);
    assert_false(nc_challenge_parameter(&realm, &challenge, nc_slice_of("nonce")));
    assert_status(nc_buf_status(&realm), NC_OK);
    nc_buf_deinit(&realm);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        harness_case(challenges__have_their_scheme_and_realm),
        harness_case(a_parameter_that_does_not_fit_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
