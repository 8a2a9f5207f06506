/// The body of a challenge that libcurl handles itself. It is not delivered, but limits apply to it.
#include "fixture.h"

#include <curl/curl.h>

#define CHALLENGE "WWW-Authenticate: Digest realm=r, nonce=n\r\n"

enum { MAX_BYTES = 100000 };

static answer ask(fixture *f, const char *path) {
    nc_request request = fixture_request(f, path);
    request.credentials =
        (nc_credentials){.schemes = NC_AUTH_DIGEST, .user = nc_slice_of("me"), .password = nc_slice_of("secret")};
    request.limits.max_body_bytes = MAX_BYTES;
    return fixture_send(f, &request);
}

static void challenge__with_a_body_beyond_the_limit_is_refused(void **state) {
    static const nct_reply replies[] = {
        {.status = 401, .headers = CHALLENGE, .pattern_length = MAX_BYTES + 1},
        {.status = 401, .headers = CHALLENGE, .pattern_length = UINT64_C(1) << 40},
        {.status = 401, .headers = CHALLENGE, .pattern_length = UINT64_C(1) << 40, .chunk_bytes = 1000},
        {.status = 401, .headers = CHALLENGE, .endless = NCT_ENDLESS_CHUNKS},
    };
    static const nct_identity identities[] = {NCT_PLAIN, NCT_TLS_VALID};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        fixture_start(&f, identities[i]);
        for (size_t k = 0; k < sizeof replies / sizeof *replies; k++) {
            fixture_script(&f, "/", replies[k]);
            answer one = ask(&f, "/");
            assert_ended(one, NC_ERR_BODY_TOO_LARGE, CURLE_FILESIZE_EXCEEDED, "larger than the limit of 100000");
            assert_int_equal(nc_response_status(one.response), 401);
            assert_int_equal(nc_response_body(one.response).length, 0);
        }
        fixture_stop(&f);
    }
}

static void challenge__with_a_body_up_to_the_limit_is_answered(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t chunk_bytes = 0; chunk_bytes <= 1000; chunk_bytes += 1000) {
        const nct_reply replies[] = {
            // libcurl 8 also counts the bytes around the chunks.
            {.status = 401,
             .headers = CHALLENGE,
             .pattern_length = chunk_bytes == 0 ? MAX_BYTES : MAX_BYTES * 9 / 10,
             .chunk_bytes = chunk_bytes},
            {.body = "in", .body_length = 2},
        };
        const char *path = fixture_text(&f, "/%zu", chunk_bytes);
        assert_int_equal(nct_server_script_sequence(f.server, path, replies, 2), 0);
        assert_answered(ask(&f, path), 200, "in");
    }
    fixture_stop(&f);
}

/// Requests without a challenge and with larger limits reuse the handle.
static void challenge__leaves_no_limit_behind(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/", (nct_reply){.status = 401, .headers = CHALLENGE, .pattern_length = MAX_BYTES + 1});
    fixture_script(&f, "/large", (nct_reply){.pattern_length = 2 * MAX_BYTES});
    assert_status(ask(&f, "/").error.status, NC_ERR_BODY_TOO_LARGE);
    answer one = fixture_get(&f, "/large");
    assert_status(one.error.status, NC_OK);
    assert_int_equal(nc_response_body(one.response).length, 2 * MAX_BYTES);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(challenge__with_a_body_beyond_the_limit_is_refused),
        harness_case(challenge__with_a_body_up_to_the_limit_is_answered),
        harness_case(challenge__leaves_no_limit_behind),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
