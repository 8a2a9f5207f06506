/// The engine handles two kinds of challenges itself: those that libcurl misreads, and those on a connection that the
/// proxy closes.
#include "fixture.h"

#include <curl/curl.h>
#include <string.h>

enum { MAX_FIELD = 4096 };

static nc_credentials user(uint32_t schemes) {
    return (nc_credentials){.schemes = schemes, .user = nc_slice_of("me"), .password = nc_slice_of("secret")};
}

/// Challenges, and the required parts of each authorization response.
typedef struct row {
    const char *challenge; // "@" is 1,500 bytes
    const char *parts[4];
} row;

static const row rows[] = {
    {"Digest realm = \"r\", nonce = \"n\"", {"realm=\"r\"", "nonce=\"n\""}},
    {"Digest realm= \"r\",nonce\t=\"n\" , qop = \"auth\"", {"realm=\"r\"", "nonce=\"n\"", "qop=auth,"}},
    {"Digest realm=\"r\",\r\n nonce=\"n\"", {"realm=\"r\"", "nonce=\"n\""}},
    {"Digest\r\n\trealm=\"r\", nonce=\"n\"", {"realm=\"r\"", "nonce=\"n\""}},
    {"Digest ,realm=\"r\", nonce=\"n\"", {"realm=\"r\"", "nonce=\"n\""}},
    {"Digest realm=\"r\", nonce=\"n\", opaque=\"@\", qop=\"auth\"", {"opaque=\"@\"", "qop=auth,"}},
    {"Digest realm=\"r\", nonce=\"@\"", {"nonce=\"@\""}},
    {"Digest realm=\"@\", nonce=\"n\"", {"realm=\"@\""}},
    {"Digest realm=\"r\", nonce=\"n\", opaque=\"a\\\"b\"", {"opaque=\"a\\\"b\""}},
    {"Basic realm=\"x, Digest y\", Digest realm=\"r\", nonce=\"n\"", {"realm=\"r\""}},
    {"Digest realm=\"x\", nonce=\"y\", algorithm=SHA-1024, Digest realm=\"r\", nonce=\"n\"", {"realm=\"r\""}},
    {"Digest realm=\"r\", nonce=\"n\", algorithm=SHA-512-256", {"algorithm=SHA-512-256"}},
    {"Digest realm = \"r\", nonce=\"n\", userhash=true, algorithm=SHA-256", {"userhash=true"}},
};

/// Expands "@" in a text.
static const char *written_out(fixture *f, const char *text) {
    char long_part[1501] = {0};
    const char *at = strchr(text, '@');
    memset(long_part, 'n', sizeof long_part - 1);
    return at == NULL ? text : fixture_text(f, "%.*s%s%s", (int)(at - text), text, long_part, at + 1);
}

static void assert_proven(fixture *f, size_t index, const char *name, const row *expected) {
    const char *request = fixture_received(f, index);
    const char *field = strstr(request, fixture_text(f, "\r\n%s: Digest ", name));
    assert_non_null(field);
    const char *line = fixture_text(f, "%.*s,", (int)strcspn(field + 2, "\r"), field + 2);
    for (size_t i = 0; i < 4 && expected->parts[i] != NULL; i++) {
        if (strstr(line, written_out(f, expected->parts[i])) == NULL) {
            fail_msg("%s\nlacks %s", line, expected->parts[i]);
        }
    }
    assert_null(strstr(strstr(field + 2, "\r\n"), "uthorization: ")); // exactly one
    assert_null(strstr(request, "secret"));
}

static void digest__odd_but_valid_challenges_of_a_server_are_answered(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        fixture_start(&f, NCT_PLAIN);
        const char *field = fixture_text(&f, "WWW-Authenticate: %s\r\n", written_out(&f, rows[i].challenge));
        const nct_reply replies[] = {{.status = 401, .headers = field, .body = "no", .body_length = 2},
                                     {.body = "in", .body_length = 2}};
        assert_int_equal(nct_server_script_sequence(f.server, "/d", replies, 2), 0);
        nc_request request = fixture_request(&f, "/d?a=b");
        request.credentials = user(i % 2 == 0 ? NC_AUTH_DIGEST : NC_AUTH_DIGEST | NC_AUTH_BASIC);
        request.method = nc_slice_of(i % 3 == 0 ? "PUT" : "GET");
        request.body = nc_slice_of(i % 3 == 0 ? "the body" : "");
        answer one = fixture_send(&f, &request);
        assert_response(one, 200, "in");
        assert_int_equal(nc_response_hop_count(one.response), 1);
        assert_int_equal(nct_server_request_count(f.server), 2);
        assert_null(strstr(fixture_received(&f, 0), "Authorization"));
        assert_proven(&f, 1, "Authorization", &rows[i]);
        assert_non_null(strstr(fixture_received(&f, 1), "uri=\"/d?a=b\""));
        assert_int_equal(strstr(fixture_received(&f, 1), "\r\n\r\nthe body") != NULL, i % 3 == 0);
        fixture_stop(&f);
    }
}

static void digest__odd_but_valid_challenges_of_a_proxy_are_answered(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int is_tunnel = 0; is_tunnel < 2; is_tunnel++) {
            fixture f;
            fixture_start(&f, NCT_PLAIN);
            const char *field = fixture_text(&f, "Proxy-Authenticate: %s\r\n", written_out(&f, rows[i].challenge));
            const nct_reply opened = {
                .is_raw = true, .body = "HTTP/1.1 200 Go\r\n\r\n", .body_length = is_tunnel ? 19 : 0};
            const nct_reply replies[] = {{.status = 407, .headers = field}, opened, {.body = "in", .body_length = 2}};
            const nct_reply direct[] = {replies[0], replies[2]};
            assert_int_equal(nct_server_script_sequence(f.server, "*", is_tunnel ? replies : direct, is_tunnel ? 3 : 2),
                             0);
            const nc_proxy proxy = {.choice = NC_PROXY_URL,
                                    .url = nc_slice_of(fixture_url(&f, "")),
                                    .credentials = user(NC_AUTH_DIGEST),
                                    .uses_tunnel = is_tunnel == 1};
            nc_request request = {.url = nc_slice_of("http://a.example/x"), .proxy = &proxy};
            assert_response(fixture_send(&f, &request), 200, "in");
            assert_proven(&f, 1, "Proxy-Authorization", &rows[i]);
            const char *target = is_tunnel ? "uri=\"a.example:80\"" : "uri=\"/x\"";
            assert_non_null(strstr(fixture_received(&f, 1), target));
            assert_int_equal(nct_server_request_count(f.server), is_tunnel ? 3 : 2);
            if (is_tunnel) {
                assert_null(strstr(fixture_received(&f, 2), "Authorization")); // only for the proxy
            }
            fixture_stop(&f);
        }
    }
}

static void digest__a_stale_nonce_in_odd_syntax_is_retried_and_a_rejection_is_not(void **state) {
    static const nct_reply first = {.status = 401,
                                    .headers = "WWW-Authenticate: Digest realm = \"r\", nonce=\"one\"\r\n"};
    static const nct_reply stale = {.status = 401,
                                    .headers = "WWW-Authenticate: Digest realm = \"r\", nonce=\"two\", stale=true\r\n"};
    static const nct_reply refusal = {.status = 401,
                                      .headers = "WWW-Authenticate: Digest realm = \"r\", nonce=\"three\"\r\n",
                                      .body = "no",
                                      .body_length = 2};
    const nct_reply accepted[] = {first, stale, {.body = "in", .body_length = 2}};
    const nct_reply refused[] = {first, refusal};
    const nct_reply endless[] = {first, stale};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_request request = fixture_request(&f, "/d");
    request.credentials = user(NC_AUTH_DIGEST);
    assert_int_equal(nct_server_script_sequence(f.server, "/d", accepted, 3), 0);
    assert_response(fixture_send(&f, &request), 200, "in");
    assert_proven(&f, 2, "Authorization", &(row){"", {"nonce=\"two\""}});
    assert_int_equal(nct_server_script_sequence(f.server, "/d", refused, 2), 0);
    assert_response(fixture_send(&f, &request), 401, "no");
    assert_int_equal(nct_server_request_count(f.server), 5);
    assert_int_equal(nct_server_script_sequence(f.server, "/d", endless, 2), 0);
    assert_ended(fixture_send(&f, &request), NC_ERR_AUTHENTICATION, CURLE_AUTH_ERROR,
                 "rejected the credentials after 10 challenges");
    fixture_stop(&f);
}

static void digest__an_authorization_response_stays_within_its_origin(void **state) {
    nct_server *other = NULL;
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_int_equal(nct_server_start(&other, NULL), 0);
    assert_int_equal(nct_server_script(other, "/there", &(nct_reply){.body = "out", .body_length = 3}), 0);
    const nct_reply replies[] = {{.status = 401, .headers = "WWW-Authenticate: Digest realm = \"r\", nonce=\"n\"\r\n"},
                                 {.location = fixture_url_of(&f, other, "127.0.0.1", "/there")}};
    assert_int_equal(nct_server_script_sequence(f.server, "/d", replies, 2), 0);
    nc_request request = fixture_request(&f, "/d");
    request.credentials = user(NC_AUTH_DIGEST);
    assert_response(fixture_send(&f, &request), 200, "out");
    char received[MAX_FIELD] = {0};
    assert_true(nct_server_copy_request(other, 0, received, sizeof received - 1) > 0);
    assert_null(strstr(received, "uthorization"));
    nct_server_stop(other);
    fixture_stop(&f);
}

static void digest__credentials_in_the_url_override_the_requests(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    const nct_reply replies[] = {{.status = 401, .headers = "WWW-Authenticate: Digest realm = \"r\", nonce=\"n\"\r\n"},
                                 {.body = "in", .body_length = 2}};
    assert_int_equal(nct_server_script_sequence(f.server, "/d", replies, 2), 0);
    nc_request request = {.url = nc_slice_of(fixture_url_at(&f, "y%C3%A4u:pw@127.0.0.1", "/d"))};
    request.credentials = user(NC_AUTH_DIGEST);
    assert_response(fixture_send(&f, &request), 200, "in");
    assert_proven(&f, 1, "Authorization", &(row){"", {"username=\"y\xc3\xa4u\""}});
    fixture_stop(&f);
}

/// A source that cannot be rewound.
static nc_pull pull_once(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    (void)ctx;
    (void)id;
    assert_true(capacity >= 4);
    memcpy(bytes, "once", 4);
    *filled = 4;
    return NC_PULL_END;
}

static void digest__a_sent_body_that_cannot_be_rewound_is_an_error(void **state) {
    fixture f;
    (void)state;
    for (int has_choice = 0; has_choice < 2; has_choice++) {
        fixture_start(&f, NCT_PLAIN);
        const nct_reply replies[] = {
            {.status = 401, .headers = "WWW-Authenticate: Digest realm = \"r\", nonce=\"n\"\r\n"},
            {.body = "in", .body_length = 2}};
        assert_int_equal(nct_server_script_sequence(f.server, "/d", replies, 2), 0);
        nc_request request = fixture_request(&f, "/d");
        request.method = nc_slice_of("POST");
        request.body_source = (nc_body_source){NULL, pull_once, NULL};
        request.body_length = 4;
        request.credentials = user(NC_AUTH_DIGEST | (has_choice ? NC_AUTH_BASIC : 0));
        answer one = fixture_send(&f, &request);
        if (has_choice) { // The body was sent before the challenge arrived.
            assert_status(one.error.status, NC_ERR_NOT_REWINDABLE);
        } else {
            assert_response(one, 200, "in");
        }
        fixture_stop(&f);
    }
}

/* --- a proxy that closes after its challenge --- */

static void digest__a_proxy_that_closes_after_its_407_is_retried(void **state) {
    static const struct {
        const char *head;
        const char *field;
        uint32_t schemes;
    } cases[] = {
        {"HTTP/1.0 407 Who\r\nProxy-Authenticate: Digest realm=\"p\", nonce=\"n\", qop=\"auth\"\r\n\r\nno!", "Digest ",
         NC_AUTH_DIGEST},
        {"HTTP/1.0 407 Who\r\nContent-Length: 3\r\nProxy-Authenticate: Digest realm=\"p\", nonce=\"n\"\r\n\r\nno!",
         "Digest ", NC_AUTH_DIGEST | NC_AUTH_BASIC},
        {"HTTP/1.0 407 Who\r\nProxy-Authenticate: Basic realm=\"p\"\r\n\r\n", "Basic bWU6c2VjcmV0",
         NC_AUTH_DIGEST | NC_AUTH_BASIC},
        {"HTTP/1.1 407 Who\r\nContent-Length: 3\r\nProxy-Authenticate: Digest realm=\"p\", nonce=\"n\"\r\n\r\nno!",
         "Digest ", NC_AUTH_DIGEST},
        {"HTTP/1.1 407 Who\r\nContent-Length: 0\r\nProxy-Authenticate: Basic realm=\"p\"\r\n\r\n", "Basic bWU6c2VjcmV0",
         NC_AUTH_DIGEST | NC_AUTH_BASIC},
        {"HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm=\"p\", nonce=\"n\"\r\n\r\nno!", "Digest ",
         NC_AUTH_DIGEST},
        {"HTTP/1.1 407 Who\r\nConnection: close\r\nProxy-Authenticate: Digest realm=\"p\", nonce=\"n\"\r\n\r\nno!",
         "Digest ", NC_AUTH_DIGEST},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        fixture_start(&f, NCT_PLAIN);
        const nct_reply replies[] = {
            {.is_raw = true, .body = cases[i].head, .body_length = strlen(cases[i].head), .ending = NCT_CLOSE},
            {.is_raw = true, .body = "HTTP/1.1 200 Go\r\n\r\n", .body_length = 19},
            {.body = "in", .body_length = 2}};
        assert_int_equal(nct_server_script_sequence(f.server, "*", replies, 3), 0);
        const nc_proxy proxy = {.choice = NC_PROXY_URL,
                                .url = nc_slice_of(fixture_url(&f, "")),
                                .credentials = user(cases[i].schemes),
                                .uses_tunnel = true};
        nc_request request = {.url = nc_slice_of("http://a.example/x"), .proxy = &proxy};
        answer one = fixture_send(&f, &request);
        if (one.error.status != NC_OK) {
            fail_msg("row %zu: %s", i, one.error.message);
        }
        assert_response(one, 200, "in");
        assert_int_equal(nct_server_request_count(f.server), 3);
        assert_non_null(
            strstr(fixture_received(&f, 1), fixture_text(&f, "\r\nProxy-Authorization: %s", cases[i].field)));
        fixture_stop(&f);
    }
}

static void digest__a_proxy_that_rejects_and_closes_is_retried_at_most_once(void **state) {
    static const char refusal[] = "HTTP/1.0 407 Who\r\nProxy-Authenticate: Digest realm=\"p\", nonce=\"n\"\r\n\r\nno!";
    const nct_reply replies[] = {
        {.is_raw = true, .body = refusal, .body_length = sizeof refusal - 1, .ending = NCT_CLOSE}};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_int_equal(nct_server_script_sequence(f.server, "*", replies, 1), 0);
    const nc_proxy proxy = {.choice = NC_PROXY_URL,
                            .url = nc_slice_of(fixture_url(&f, "")),
                            .credentials = user(NC_AUTH_DIGEST),
                            .uses_tunnel = true};
    nc_request request = {.url = nc_slice_of("http://a.example/x"), .proxy = &proxy};
    answer one = fixture_send(&f, &request);
    assert_status(one.error.status, NC_ERR_PROXY);
    assert_int_equal(nc_response_status(one.response), 407);
    assert_int_equal(nct_server_request_count(f.server), 2);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(digest__odd_but_valid_challenges_of_a_server_are_answered),
        harness_case(digest__odd_but_valid_challenges_of_a_proxy_are_answered),
        harness_case(digest__a_stale_nonce_in_odd_syntax_is_retried_and_a_rejection_is_not),
        harness_case(digest__an_authorization_response_stays_within_its_origin),
        harness_case(digest__credentials_in_the_url_override_the_requests),
        harness_case(digest__a_sent_body_that_cannot_be_rewound_is_an_error),
        harness_case(digest__a_proxy_that_closes_after_its_407_is_retried),
        harness_case(digest__a_proxy_that_rejects_and_closes_is_retried_at_most_once),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
