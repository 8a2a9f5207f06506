/// Credentials: the fields of each scheme, the origins that receive them, and the body after a challenge.
#include "fixture.h"

#include <curl/curl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static nc_credentials user(uint32_t schemes) {
    return (nc_credentials){.schemes = schemes, .user = nc_slice_of("me"), .password = nc_slice_of("Circle of Life")};
}

static void script(fixture *f, const char *path, const nct_reply *replies, size_t count) {
    assert_int_equal(nct_server_script_sequence(f->server, path, replies, count), 0);
}

/* --- digest --- */

/// Returns a parameter of a request's Authorization field, with or without quotes.
static const char *parameter(fixture *f, size_t index, const char *name) {
    const char *field = strstr(fixture_received(f, index), "\r\nAuthorization: Digest ");
    assert_non_null(field);
    const char *found = strstr(field, fixture_text(f, " %s=", name));
    found = found != NULL ? found : strstr(field, fixture_text(f, ",%s=", name));
    assert_non_null(found);
    found = strchr(found, '=') + 1;
    return *found == '"' ? fixture_text(f, "%.*s", (int)strcspn(found + 1, "\""), found + 1)
                         : fixture_text(f, "%.*s", (int)strcspn(found, ",\r"), found);
}

static const char *hash(fixture *f, const EVP_MD *kind, const char *text) {
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    char hex[2 * EVP_MAX_MD_SIZE + 1] = {0};
    assert_int_equal(EVP_Digest(text, strlen(text), bytes, &length, kind, NULL), 1);
    for (unsigned i = 0; i < length; i++) {
        (void)snprintf(hex + (size_t)2 * i, 3, "%02x", bytes[i]);
    }
    return fixture_text(f, "%s", hex);
}

/// RFC 7616, 3.4.1, with qop=auth.
static void assert_proven(fixture *f, size_t index, const EVP_MD *kind, const char *method, const char *uri,
                          const char *nonce) {
    const char *secret = hash(f, kind, "me:r@example:Circle of Life");
    const char *request_hash = hash(f, kind, fixture_text(f, "%s:%s", method, uri));
    assert_string_equal(parameter(f, index, "username"), "me");
    assert_string_equal(parameter(f, index, "nonce"), nonce);
    assert_string_equal(parameter(f, index, "uri"), uri);
    const char *proof = fixture_text(f, "%s:%s:%s:%s:auth:%s", secret, nonce, parameter(f, index, "nc"),
                                     parameter(f, index, "cnonce"), request_hash);
    assert_string_equal(parameter(f, index, "response"), hash(f, kind, proof));
    assert_null(strstr(fixture_received(f, index), "Circle"));
}

static void engine__a_digest_authenticates_without_sending_the_password(void **state) {
    static const struct {
        const char *algorithm;
        const EVP_MD *(*kind)(void);
    } cases[] = {{"", EVP_md5}, {", algorithm=MD5", EVP_md5}, {", algorithm=SHA-256", EVP_sha256}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        char field[200];
        fixture_start(&f, NCT_PLAIN);
        (void)snprintf(field, sizeof field,
                       "WWW-Authenticate: Digest realm=\"r@example\", nonce=\"n%zu\", qop=\"auth\"%s\r\n", i,
                       cases[i].algorithm);
        const nct_reply replies[] = {{.status = 401, .headers = field}, {.body = "in", .body_length = 2}};
        script(&f, "/d", replies, 2);
        nc_request request = fixture_request(&f, "/d?a=b");
        request.credentials = user(NC_AUTH_DIGEST);
        assert_response(fixture_send(&f, &request), 200, "in");
        assert_int_equal(nct_server_request_count(f.server), 2);
        assert_null(strstr(fixture_received(&f, 0), "Authorization"));
        assert_proven(&f, 1, cases[i].kind(), "GET", "/d?a=b", fixture_text(&f, "n%zu", i));
        fixture_stop(&f);
    }
}

static void engine__digest_auth_int_without_a_body_succeeds(void **state) {
    static const char field[] = "WWW-Authenticate: Digest realm=\"r@example\", nonce=\"n\", qop=\"auth-int\"\r\n";
    const nct_reply replies[] = {{.status = 401, .headers = field}, {.body = "in", .body_length = 2}};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    script(&f, "/d", replies, 2);
    nc_request request = fixture_request(&f, "/d");
    request.credentials = user(NC_AUTH_DIGEST);
    assert_response(fixture_send(&f, &request), 200, "in");
    const char *secret = hash(&f, EVP_md5(), "me:r@example:Circle of Life");
    const char *request_hash = hash(&f, EVP_md5(), fixture_text(&f, "GET:/d:%s", hash(&f, EVP_md5(), "")));
    const char *proof = fixture_text(&f, "%s:n:%s:%s:auth-int:%s", secret, parameter(&f, 1, "nc"),
                                     parameter(&f, 1, "cnonce"), request_hash);
    assert_string_equal(parameter(&f, 1, "response"), hash(&f, EVP_md5(), proof));
    fixture_stop(&f);
}

static void engine__digest_auth_int_with_a_body_is_an_error(void **state) {
    static const struct {
        const char *challenge;
        bool is_refused;
    } rows[] = {
        {"Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\"", true},
        {"Digest qop=auth-int, realm=\"r\", nonce=\"n\"", true},
        {"digest realm=\"a, \\\" b\", nonce=\"n\", QOP = \" AUTH-INT , other\"", true},
        {"Basic realm=\"r\", Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\"", true},
        {"Digest realm=\"r\", nonce=\"n\", qop=\"auth-int,auth\"", false},
        {"Digest realm=\"r\", nonce=\"n\", qop=\"auth\"", false},
        {"Digest realm=\"qop=auth-int\", nonce=\"n\"", false},
        {"Digest realm=\"r\", nonce=\"n\", opaque=\"auth-int", false},
    };
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *path = fixture_text(&f, "/%zu", i);
        char *field = (char *)(uintptr_t)fixture_text(&f, "WWW-Authenticate: %s\r\n", rows[i].challenge);
        const nct_reply replies[] = {{.status = 401, .headers = field}, {.body = "in", .body_length = 2}};
        script(&f, path, replies, 2);
        nc_request request = fixture_request(&f, path);
        request.credentials = user(NC_AUTH_DIGEST | NC_AUTH_BASIC);
        request.body = nc_slice_of("body");
        request.method = nc_slice_of("PUT");
        answer one = fixture_send(&f, &request);
        if (rows[i].is_refused) {
            assert_ended(one, NC_ERR_AUTHENTICATION, CURLE_AUTH_ERROR, "qop=auth-int");
            assert_int_equal(nc_response_status(one.response), 401);
        } else {
            assert_response(one, 200, "in");
        }
    }
    fixture_stop(&f);
}

static void engine__a_challenge_to_head_with_a_body_fails_immediately_regression_2(void **state) {
    const nct_reply replies[] = {{.status = 401,
                                  .headers = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n",
                                  .body = "asked",
                                  .body_length = 5}};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    script(&f, "/d", replies, 1);
    nc_request request = fixture_request(&f, "/d");
    request.method = nc_slice_of("HEAD");
    request.body = nc_slice_of("body");
    request.credentials = user(NC_AUTH_DIGEST);
    request.limits.idle_ms = 1000;
    answer one = fixture_send(&f, &request);
    assert_ended(one, NC_ERR_AUTHENTICATION, CURLE_AUTH_ERROR, "HEAD request with a body");
    assert_int_equal(nc_response_status(one.response), 401);
    fixture_stop(&f);
}

static void engine__a_challenge_does_not_count_toward_the_responses_head_limit_regression_1(void **state) {
    const nct_reply challenge = {.status = 401, .headers = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n"};
    const nct_reply replies[] = {challenge, challenge, {.body = "in", .body_length = 2}};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    script(&f, "/d", replies, 3);
    nc_request request = fixture_request(&f, "/d");
    answer challenged = fixture_send(&f, &request);
    assert_response(challenged, 401, "");
    request.limits.max_head_bytes = (uint32_t)nc_response_hop_at(challenged.response, 0).head_bytes;
    request.credentials = user(NC_AUTH_DIGEST);
    assert_response(fixture_send(&f, &request), 200, "in");
    fixture_stop(&f);
}

static void engine__a_stale_nonce_is_retried_once(void **state) {
    const nct_reply replies[] = {
        {.status = 401, .headers = "WWW-Authenticate: Digest realm=\"r@example\", nonce=\"one\", qop=\"auth\"\r\n"},
        {.status = 401,
         .headers = "WWW-Authenticate: Digest realm=\"r@example\", nonce=\"two\", qop=\"auth\", stale=true\r\n"},
        {.body = "in", .body_length = 2}};
    const nct_reply never[] = {
        {.status = 401,
         .headers = "WWW-Authenticate: Digest realm=\"r@example\", nonce=\"one\", qop=\"auth\"\r\n",
         .body = "no",
         .body_length = 2}};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    script(&f, "/d", replies, 3);
    nc_request request = fixture_request(&f, "/d");
    request.method = nc_slice_of("PUT");
    request.body = nc_slice_of("the body");
    request.credentials = user(NC_AUTH_DIGEST);
    assert_response(fixture_send(&f, &request), 200, "in");
    assert_int_equal(nct_server_request_count(f.server), 3);
    assert_proven(&f, 1, EVP_md5(), "PUT", "/d", "one");
    assert_proven(&f, 2, EVP_md5(), "PUT", "/d", "two");
    assert_non_null(strstr(fixture_received(&f, 2), "\r\n\r\nthe body"));
    script(&f, "/never", never, 1);
    request.url = nc_slice_of(fixture_url(&f, "/never"));
    assert_response(fixture_send(&f, &request), 401, "no"); // the request is not repeated without end
    assert_true(nct_server_request_count(f.server) <= 5);
    fixture_stop(&f);
}

/* --- bodies that are sent twice --- */

typedef struct row {
    size_t sent;
    unsigned rewinds;
} row;

enum { ROW_BYTES = 200000 };

static nc_pull pull(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    row *source = ctx;
    (void)id;
    *filled = ROW_BYTES - source->sent < capacity ? ROW_BYTES - source->sent : capacity;
    memset(bytes, 'x', *filled);
    source->sent += *filled;
    return source->sent == ROW_BYTES ? NC_PULL_END : NC_PULL_MORE;
}

static bool rewind_row(void *ctx, nc_transfer_id id, uint64_t offset) {
    row *source = ctx;
    (void)id;
    source->sent = offset;
    source->rewinds++;
    return true;
}

static void engine__a_challenge_after_the_body_rewinds_it_or_fails(void **state) {
    static const char challenge[] = "WWW-Authenticate: Basic realm=\"b\"\r\n"
                                    "WWW-Authenticate: Digest realm=\"r@example\", nonce=\"n\", qop=\"auth\"\r\n";
    (void)state;
    for (int can_rewind = 0; can_rewind < 2; can_rewind++) {
        fixture f;
        row source = {0};
        const nct_reply replies[] = {{.status = 401, .headers = challenge}, {.body = "in", .body_length = 2}};
        fixture_start(&f, NCT_PLAIN);
        script(&f, "/d", replies, 2);
        nc_request request = fixture_request(&f, "/d");
        request.method = nc_slice_of("POST");
        request.body_source = (nc_body_source){&source, pull, can_rewind ? rewind_row : NULL};
        request.body_length = ROW_BYTES;
        // With two schemes neither is used before a challenge, so the whole body is sent first.
        request.credentials = user(NC_AUTH_DIGEST | NC_AUTH_BASIC);
        answer one = fixture_send(&f, &request);
        if (can_rewind) {
            assert_response(one, 200, "in");
            assert_true(source.rewinds > 0);
            assert_int_equal(nct_server_copy_request(f.server, 1, NULL, 0) > ROW_BYTES, true);
        } else {
            assert_status(one.error.status, NC_ERR_NOT_REWINDABLE);
            assert_int_equal(nct_server_request_count(f.server), 1);
        }
        fixture_stop(&f);
    }
}

/// libcurl first sends the request without its body.
static void engine__a_body_is_sent_if_the_expected_challenge_does_not_come(void **state) {
    static const nct_reply answers[] = {
        {.status = 204},
        {.status = 400, .body = "empty", .body_length = 5},
        {.status = 303, .headers = "Location: /elsewhere\r\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        fixture f;
        fixture_start(&f, NCT_PLAIN);
        const nct_reply replies[] = {answers[i], {.is_echo = true}};
        script(&f, "/d", replies, 2);
        nc_request request = fixture_request(&f, "/d");
        request.method = nc_slice_of("POST");
        request.body = nc_slice_of("data");
        request.credentials = user(NC_AUTH_DIGEST);
        answer got = fixture_send(&f, &request);
        assert_response(got, 200, "data");
        assert_int_equal(nc_response_hop_count(got.response), 1);
        assert_int_equal(nct_server_request_count(f.server), 2);
        request.body = nc_slice_of("");
        request.has_body = true;
        assert_response(fixture_send(&f, &request), 200, "");
        assert_int_equal(nct_server_request_count(f.server), 3);
        fixture_stop(&f);
    }
}

static void engine__a_file_is_sent_again_after_a_challenge(void **state) {
    char path[] = "/tmp/netcore-body-XXXXXX";
    const nct_reply replies[] = {
        {.status = 401, .headers = "WWW-Authenticate: Digest realm=\"r@example\", nonce=\"n\", qop=\"auth\"\r\n"},
        {.body = "in", .body_length = 2}};
    fixture f;
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "from a file", 11), 11);
    assert_int_equal(close(fd), 0);
    fixture_start(&f, NCT_PLAIN);
    script(&f, "/d", replies, 2);
    nc_request request = fixture_request(&f, "/d");
    request.method = nc_slice_of("PUT");
    request.body_file = nc_slice_of(path);
    request.credentials = user(NC_AUTH_DIGEST);
    assert_response(fixture_send(&f, &request), 200, "in");
    assert_non_null(strstr(fixture_received(&f, 1), "\r\n\r\nfrom a file"));
    fixture_stop(&f);
    assert_int_equal(unlink(path), 0);
}

/* --- redirects --- */

static void engine__credentials_stay_with_their_origin(void **state) {
    static const struct {
        uint32_t schemes;
        const char *shown;
    } cases[] = {{NC_AUTH_BASIC, "Basic bWU6Q2lyY2xlIG9mIExpZmU="}, {NC_AUTH_BEARER, "Bearer tok.en"}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        nct_server *other = NULL;
        char head[2000] = {0};
        fixture_start(&f, NCT_PLAIN);
        assert_int_equal(nct_server_start(&other, NULL), 0);
        const char *back = fixture_url(&f, "/back");
        assert_int_equal(nct_server_script(other, "/there", &(nct_reply){.location = back}), 0);
        fixture_script(&f, "/a", (nct_reply){.location = "/b"});
        fixture_script(&f, "/b", (nct_reply){.location = fixture_url_of(&f, other, "127.0.0.1", "/there")});
        fixture_script(&f, "/back", (nct_reply){.body = "end", .body_length = 3});
        nc_request request = fixture_request(&f, "/a");
        request.credentials = user(cases[i].schemes);
        request.credentials.token = nc_slice_of("tok.en");
        assert_response(fixture_send(&f, &request), 200, "end");
        const char *shown = fixture_text(&f, "\r\nAuthorization: %s\r\n", cases[i].shown);
        assert_non_null(strstr(fixture_received(&f, 0), shown));
        assert_non_null(strstr(fixture_received(&f, 1), shown)); // same origin
        assert_true(nct_server_copy_request(other, 0, head, sizeof head - 1) > 0);
        assert_null(strstr(head, "uthorization")); // another port
        // The server chose the redirect's target, so credentials for the first URL are not sent to it.
        assert_null(strstr(fixture_received(&f, 2), "uthorization"));
        nct_server_stop(other);
        fixture_stop(&f);
    }
}

static void engine__a_challenge_of_another_origin_gets_no_credentials(void **state) {
    const nct_reply asking = {
        .status = 401,
        .headers =
            "WWW-Authenticate: Digest realm=\"r@example\", nonce=\"n\", qop=\"auth\"\r\nWWW-Authenticate: Basic\r\n",
        .body = "who?",
        .body_length = 4};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/a", (nct_reply){.location = fixture_url_at(&f, "localhost", "/asks")});
    fixture_script(&f, "/asks", asking);
    nc_request request = fixture_request(&f, "/a");
    request.credentials = user(NC_AUTH_DIGEST | NC_AUTH_BASIC);
    assert_response(fixture_send(&f, &request), 401, "who?");
    assert_int_equal(nct_server_request_count(f.server), 2);
    assert_null(strstr(fixture_received(&f, 1), "uthorization"));
    fixture_stop(&f);
}

/* --- behaviour that depends on libcurl --- */

static void engine__ntlm_and_negotiate_start_or_report_missing_support(void **state) {
    static const struct {
        uint32_t scheme;
        const char *name;
    } cases[] = {{NC_AUTH_NTLM, "NTLM"}, {NC_AUTH_NEGOTIATE, "Negotiate"}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const nc_capabilities has = nc_capabilities_query();
        fixture f;
        nc_error err;
        nc_transfer_id id;
        fixture_start(&f, NCT_PLAIN);
        const char *field = fixture_text(&f, "WWW-Authenticate: %s\r\n", cases[i].name);
        fixture_script(&f, "/n", (nct_reply){.status = 401, .headers = field, .body = "no", .body_length = 2});
        nc_request request = fixture_request(&f, "/n");
        request.credentials = user(cases[i].scheme);
        if (i == 0 ? has.has_ntlm : has.has_negotiate) {
            // The server never continues the handshake, so the result is 401. Negotiate needs a ticket to begin.
            assert_response(fixture_send(&f, &request), 401, "no");
            if (i == 0) {
                assert_non_null(strstr(fixture_received(&f, 0), "\r\nAuthorization: NTLM TlRMTVNTUAAB"));
            }
        } else {
            assert_status(nc_engine_submit(f.engine, &request, NULL, &id, &err), NC_ERR_UNSUPPORTED);
            assert_non_null(strstr(err.message, cases[i].name));
        }
        fixture_stop(&f);
    }
}

static void engine__no_message_or_listing_contains_a_secret(void **state) {
    fixture f;
    nc_buf text = nc_buf_init(1000);
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/s", (nct_reply){.is_cut = true, .ending = NCT_STALL});
    nc_request request = {
        .url = nc_slice_of(fixture_text(&f, "http://us:canary@127.0.0.1:%u/s", nct_server_port(f.server)))};
    nc_transfer_id id = fixture_submit(&f, &request);
    assert_true(nct_server_wait_for_stalled(f.server, 1, FIXTURE_LIMIT_MS));
    assert_status(nc_engine_describe(f.engine, id, &text), NC_OK);
    assert_slice_equals(nc_buf_slice(&text), fixture_url(&f, "/s"));
    nct_server_stop(f.server); // the first request ends, the second is refused
    answer one = fixture_wait(&f, id);
    assert_true(one.error.status != NC_OK);
    assert_null(strstr(one.error.message, "canary"));
    request.credentials = user(NC_AUTH_BASIC);
    answer two = fixture_send(&f, &request);
    assert_status(two.error.status, NC_ERR_REFUSED);
    assert_null(strstr(two.error.message, "canary"));
    assert_null(strstr(two.error.message, "Circle"));
    f.server = NULL;
    nc_buf_deinit(&text);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_digest_authenticates_without_sending_the_password),
        harness_case(engine__digest_auth_int_without_a_body_succeeds),
        harness_case(engine__digest_auth_int_with_a_body_is_an_error),
        harness_case(engine__a_challenge_does_not_count_toward_the_responses_head_limit_regression_1),
        harness_case(engine__a_challenge_to_head_with_a_body_fails_immediately_regression_2),
        harness_case(engine__a_stale_nonce_is_retried_once),
        harness_case(engine__a_challenge_after_the_body_rewinds_it_or_fails),
        harness_case(engine__a_body_is_sent_if_the_expected_challenge_does_not_come),
        harness_case(engine__a_file_is_sent_again_after_a_challenge),
        harness_case(engine__credentials_stay_with_their_origin),
        harness_case(engine__a_challenge_of_another_origin_gets_no_credentials),
        harness_case(engine__ntlm_and_negotiate_start_or_report_missing_support),
        harness_case(engine__no_message_or_listing_contains_a_secret),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
