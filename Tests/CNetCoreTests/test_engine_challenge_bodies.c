/// The body of a challenge that libcurl handles itself. It is not delivered, but limits apply to it.
#include "fixture.h"

#include <curl/curl.h>
#include <string.h>

#define CHALLENGE "WWW-Authenticate: Digest realm=r, nonce=n\r\n"

enum { MAX_BYTES = 100000 };

static answer send_request(fixture *f, const char *path) {
    nc_request request = fixture_request(f, path);
    request.credentials =
        (nc_credentials){.schemes = NC_AUTH_DIGEST, .user = nc_slice_of("me"), .password = nc_slice_of("secret")};
    request.limits.max_body_bytes = MAX_BYTES;
    return fixture_send(f, &request);
}

static void challenge_body__beyond_the_limit_is_rejected(void **state) {
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
            answer one = send_request(&f, "/");
            assert_ended(one, NC_ERR_BODY_TOO_LARGE, CURLE_FILESIZE_EXCEEDED, "larger than the limit of 100000");
            assert_int_equal(nc_response_status(one.response), 401);
            assert_int_equal(nc_response_body(one.response).length, 0);
        }
        fixture_stop(&f);
    }
}

static void challenge_body__up_to_the_limit_is_accepted(void **state) {
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
        assert_response(send_request(&f, path), 200, "in");
    }
    fixture_stop(&f);
}

/// Requests without a challenge and with larger limits reuse the handle.
static void challenge_body__leaves_no_limit_on_the_next_response(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/", (nct_reply){.status = 401, .headers = CHALLENGE, .pattern_length = MAX_BYTES + 1});
    fixture_script(&f, "/large", (nct_reply){.pattern_length = 2 * MAX_BYTES});
    assert_status(send_request(&f, "/").error.status, NC_ERR_BODY_TOO_LARGE);
    answer one = fixture_get(&f, "/large");
    assert_status(one.error.status, NC_OK);
    assert_int_equal(nc_response_body(one.response).length, 2 * MAX_BYTES);
    fixture_stop(&f);
}

/// libcurl reports malformed chunks with the code of a failure to receive. Over that code alone the engine would report
/// a network error, which is retried.
static void challenge_body__in_malformed_chunks_is_a_bad_response(void **state) {
    static const char *const bodies[] = {
        "zz\r\nabc\r\n",                // no length
        "3\r\nabc\r\nxyz\r\n0\r\n\r\n", // no length in the second chunk
        "3\r\nabcde\r\n0\r\n\r\n",      // more bytes than the length
        "11112222333344445\r\nabc\r\n", // a length above 64 bits
    };
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        const char *reply =
            fixture_text(&f, "HTTP/1.1 401 No\r\n" CHALLENGE "Transfer-Encoding: chunked\r\n\r\n%s", bodies[i]);
        fixture_script(&f, "/",
                       (nct_reply){.is_raw = true, .body = reply, .body_length = strlen(reply), .ending = NCT_CLOSE});
        answer one = send_request(&f, "/");
        assert_ended(one, NC_ERR_BAD_RESPONSE, CURLE_RECV_ERROR, "");
        assert_int_equal(nc_response_status(one.response), 401);
        assert_int_equal(nct_server_request_count(f.server), i + 1);
    }
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(challenge_body__beyond_the_limit_is_rejected),
        harness_case(challenge_body__up_to_the_limit_is_accepted),
        harness_case(challenge_body__in_malformed_chunks_is_a_bad_response),
        harness_case(challenge_body__leaves_no_limit_on_the_next_response),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
