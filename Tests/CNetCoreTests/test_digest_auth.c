/// Digest access authentication: which challenges are valid, which of them libcurl can handle, and the authorization
/// responses.
#include "harness.h"
#include "http/challenge.h"
#include "http/digest_auth.h"

#include <stdio.h>
#include <string.h>

static bool read_one(nc_digest_challenge *out, nc_buf *texts, const char *value) {
    *texts = nc_buf_init(1 << 16);
    return nc_digest_challenge_read(out, texts, nc_slice_of(value));
}

static void assert_text(nc_slice text, const char *expected) {
    assert_int_equal(text.length, strlen(expected));
    assert_memory_equal(text.data, expected, text.length);
}

static void digest_auth__every_spelling_of_a_challenge_is_parsed(void **state) {
    static const char *const values[] = {
        "Digest realm=\"r\",nonce=\"n\"",
        "Digest realm = \"r\" , nonce\t=\t\"n\"",
        "Digest ,realm=\"r\",, nonce=\"n\",",
        "DIGEST Realm=r, NONCE=n",
        ", Digest realm=\"r\", nonce=\"n\"",
        "Basic realm=\"a, Digest b\", Digest realm=\"r\", nonce=\"n\"",
        "Negotiate a/b==, Digest realm=\"r\", nonce=\"n\"",
        "Digest realm=\"x\", nonce=\"y\", algorithm=SHA-1024, Digest realm=\"r\", nonce=\"n\", algorithm=SHA-256",
        "Digest realm=\"x\", nonce=\"y\", qop=\"later\", Digest realm=\"\\r\", nonce=\"n\", qop=\"auth\"",
    };
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        nc_digest_challenge challenge;
        nc_buf texts;
        assert_true(read_one(&challenge, &texts, values[i]));
        assert_text(challenge.realm, "r");
        assert_text(challenge.nonce, "n");
        assert_false(challenge.has_opaque);
        nc_buf_deinit(&texts);
    }
}

static void digest_auth__challenge_parameters_are_parsed(void **state) {
    nc_digest_challenge challenge;
    nc_buf texts;
    (void)state;
    assert_true(read_one(&challenge, &texts,
                         "Digest realm=\"a \\\"b\\\\\", nonce=\"n\", opaque=\"\", algorithm=sha-512-256-SESS, "
                         "qop=\" AUTH-INT ,auth \", stale=TRUE, userhash=true, charset=UTF-8, later=\"x\""));
    assert_text(challenge.realm, "a \"b\\");
    assert_true(challenge.has_opaque);
    assert_int_equal(challenge.kind, NC_DIGEST_SHA512_256);
    assert_true(challenge.is_session && challenge.offers_auth && challenge.offers_auth_int);
    assert_true(challenge.is_stale && challenge.hashes_user);
    nc_buf_deinit(&texts);
}

static void digest_auth__an_unsupported_challenge_is_ignored(void **state) {
    static const char *const values[] = {
        "",
        "Basic realm=\"r\"",
        "Digest",
        "Digest realm=\"r\"",
        "Digest nonce=\"n\"",
        "Digest realm=\"r\", nonce=\"\"",
        "Digest realm=\"r\", nonce=\"n\", algorithm=SHA-1",
        "Digest realm=\"r\", nonce=\"n\", qop=\"token\"",
        "Digest realm=\"r nonce=n",
        "=,=;\"",
    };
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        nc_digest_challenge challenge;
        nc_buf texts;
        assert_false(read_one(&challenge, &texts, values[i]));
        nc_buf_deinit(&texts);
    }
}

static void digest_auth__a_challenge_that_libcurl_parses_correctly_is_plain(void **state) {
    static const struct {
        const char *value;
        bool is_plain;
    } rows[] = {
        {"Digest realm=\"r\", nonce=\"n\"", true},
        {"digest  realm=\"a, b\",nonce=\"n\" , qop=\"auth,auth-int\", algorithm=MD5-sess, stale=true", true},
        {"Digest realm=\"r\", nonce=\"n\", qop=\"auth, auth-int\"", true},
        {"Digest realm =\"r\", nonce=\"n\"", false},
        {"Digest realm= \"r\", nonce=\"n\"", false},
        {"Digest\trealm=\"r\", nonce=\"n\"", false},
        {"Digest ,realm=\"r\", nonce=\"n\"", false},
        {"Digest realm=\"r\",, nonce=\"n\"", false},
        {"Digest realm=\"r\", nonce=\"n\",", false},
        {"Digest realm=\"a\\\"b\", nonce=\"n\"", false},
        {"Digest realm=\"r\", nonce=\"n\", qop=\"auth ,auth-int\"", false},
        {"Digest realm=\"r\", nonce=\"n\", algorithm=SHA-512-256", false},
        {"Digest realm=\"r\", nonce=\"n\", algorithm=new", false},
        {"Basic realm=\"r\", Digest realm=\"r\", nonce=\"n\"", false},
        {"Digest realm=\"r\", nonce=\"n\", Digest realm=\"s\", nonce=\"m\"", false},
        {"Digest realm=\"r\" nonce=\"n\"", false},
        {"Digest realm=\"r\", nonce=\"n", false},
    };
    char long_value[1400] = "Digest realm=\"r\", nonce=\"";
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (nc_digest_is_plain(nc_slice_of(rows[i].value)) != rows[i].is_plain) {
            fail_msg("%s", rows[i].value);
        }
    }
    memset(long_value + strlen(long_value), 'n', 1200);
    strcat(long_value, "\"");
    assert_false(nc_digest_is_plain(nc_slice_of(long_value)));
}

/// The values of RFC 7616, 3.9.1.
static void digest_auth__a_response_has_the_digest_of_the_rfcs_example(void **state) {
    static const char challenge_text[] = "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", "
                                         "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", "
                                         "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\", algorithm=";
    static const struct {
        const char *algorithm;
        const char *response;
    } rows[] = {
        {"MD5", "8ca523f5e9506fed4657c9700eebdbec"},
        {"SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char value[400];
        nc_digest_challenge challenge;
        nc_buf texts;
        nc_buf out = nc_buf_init(4096);
        const nc_digest_question question = {
            .user = nc_slice_of("Mufasa"),
            .password = nc_slice_of("Circle of Life"),
            .method = nc_slice_of("GET"),
            .target = nc_slice_of("/dir/index.html"),
            .cnonce = nc_slice_of("f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"),
        };
        (void)snprintf(value, sizeof value, "%s%s", challenge_text, rows[i].algorithm);
        assert_true(read_one(&challenge, &texts, value));
        assert_status(nc_digest_response_write(&out, &challenge, &question, NULL), NC_OK);
        nc_buf_append_byte(&out, 0);
        assert_non_null(strstr((const char *)out.data, rows[i].response));
        assert_non_null(strstr((const char *)out.data, "nc=00000001, qop=auth, "));
        assert_non_null(strstr((const char *)out.data, "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""));
        assert_non_null(strstr((const char *)out.data, rows[i].algorithm));
        nc_buf_deinit(&texts);
        nc_buf_deinit(&out);
    }
}

static void assert_answer(const char *value, const nc_digest_question *question, const char *const *parts) {
    nc_digest_challenge challenge;
    nc_buf texts;
    nc_buf out = nc_buf_init(4096);
    assert_true(read_one(&challenge, &texts, value));
    assert_status(nc_digest_response_write(&out, &challenge, question, NULL), NC_OK);
    nc_buf_append_byte(&out, 0);
    for (size_t i = 0; parts[i] != NULL; i++) {
        if (strstr((const char *)out.data, parts[i]) == NULL) {
            fail_msg("%s\nlacks %s", (const char *)out.data, parts[i]);
        }
    }
    nc_buf_deinit(&texts);
    nc_buf_deinit(&out);
}

/// Their values were computed with Python's hashlib.
static void digest_auth__each_variant_gets_a_response_of_its_kind(void **state) {
    const nc_digest_question question = {
        .user = nc_slice_of("J\xc3\xa4s\xc3\xb8n \"D\""),
        .password = nc_slice_of("Secret, or not?"),
        .method = nc_slice_of("GET"),
        .target = nc_slice_of("/doe.json"),
        .cnonce = nc_slice_of("c0"),
    };
    (void)state;
    assert_answer("Digest realm=\"api\", nonce=\"n\"", &question,
                  (const char *const[]){"username=\"J\xc3\xa4s\xc3\xb8n \\\"D\\\"\", realm=\"api\"",
                                        "82dbf9a659be17d7e595013583151ddf", NULL});
    assert_answer("Digest realm=\"api\", nonce=\"n\", qop=auth, algorithm=SHA-512-256, userhash=true", &question,
                  (const char *const[]){"username=\"797897c1daa97f627ead654b14476461153e8da659f48925bf8be528254e6832\"",
                                        "8ea21be4dc83271303e57e6960ba75eab7bec9d8277ed6197b67e0c3f5126c1c",
                                        "userhash=true", NULL});
    assert_answer("Digest realm=\"api\", nonce=\"n\", qop=auth, algorithm=MD5-sess", &question,
                  (const char *const[]){"aba646612733ef73268d3d81fa7af3bf", "algorithm=MD5-sess", NULL});
    assert_answer("Digest realm=\"api\", nonce=\"n\", qop=\"auth-int\"", &question,
                  (const char *const[]){"bb95050114544f76a0f09b9a216ffd43", "qop=auth-int", NULL});
}

static void digest_auth__auth_int_with_a_body_is_rejected(void **state) {
    nc_digest_challenge challenge;
    nc_buf texts;
    nc_buf out = nc_buf_init(4096);
    const nc_digest_question question = {.method = nc_slice_of("PUT"), .has_body = true};
    (void)state;
    assert_true(read_one(&challenge, &texts, "Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\""));
    assert_status(nc_digest_response_write(&out, &challenge, &question, NULL), NC_ERR_AUTHENTICATION);
    assert_int_equal(out.length, 0);
    nc_buf_deinit(&texts);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(digest_auth__every_spelling_of_a_challenge_is_parsed),
        harness_case(digest_auth__challenge_parameters_are_parsed),
        harness_case(digest_auth__an_unsupported_challenge_is_ignored),
        harness_case(digest_auth__a_challenge_that_libcurl_parses_correctly_is_plain),
        harness_case(digest_auth__a_response_has_the_digest_of_the_rfcs_example),
        harness_case(digest_auth__each_variant_gets_a_response_of_its_kind),
        harness_case(digest_auth__auth_int_with_a_body_is_rejected),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
