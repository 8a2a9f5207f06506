/// Redirects as the server receives them: methods, bodies, origin-bound fields, limits and rejections.
#include "fixture.h"

#include <curl/curl.h>
#include <string.h>

static void script_redirect(fixture *f, const char *path, unsigned status, const char *location) {
    fixture_script(f, path, (nct_reply){.status = (uint16_t)status, .location = location});
}

static void engine__the_status_decides_whether_a_redirect_preserves_method_and_body(void **state) {
    static const unsigned statuses[] = {301, 302, 303, 307, 308};
    static const struct {
        const char *method;
        const char *after[5];
    } cases[] = {
        {"GET", {"GET", "GET", "GET", "GET", "GET"}},
        {"HEAD", {"HEAD", "HEAD", "HEAD", "HEAD", "HEAD"}},
        {"POST", {"GET", "GET", "GET", "POST", "POST"}},
        {"PUT", {"PUT", "PUT", "GET", "PUT", "PUT"}},
        {"DELETE", {"DELETE", "DELETE", "GET", "DELETE", "DELETE"}},
    };
    const nc_header headers[] = {{nc_slice_of("Content-Type"), nc_slice_of("text/x-canary")},
                                 {nc_slice_of("X-Kept"), nc_slice_of("yes")},
                                 {nc_slice_of("Authorization"), nc_slice_of("Bearer z")}};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/end", (nct_reply){.body = "end", .body_length = 3});
    for (size_t m = 0; m < sizeof cases / sizeof *cases; m++) {
        bool has_body = cases[m].method[0] == 'P';
        for (size_t s = 0; s < 5; s++) {
            nct_server_forget(f.server);
            script_redirect(&f, "/r", statuses[s], "end");
            nc_request request = fixture_request(&f, "/r");
            request.method = nc_slice_of(cases[m].method);
            request.body = nc_slice_of(has_body ? "the body" : "");
            request.headers = headers;
            request.header_count = 3;
            answer one = fixture_send(&f, &request);
            assert_response(one, 200, strcmp(cases[m].method, "HEAD") == 0 ? "" : "end");
            const char *second = fixture_received(&f, 1);
            bool stays = strcmp(cases[m].after[s], cases[m].method) == 0;
            assert_ptr_equal(strstr(second, fixture_text(&f, "%s /end ", cases[m].after[s])), second);
            assert_int_equal(strstr(second, "the body") != NULL, stays && has_body);
            assert_int_equal(strstr(second, "Content-Length: 8\r\n") != NULL, stays && has_body);
            // 303 requires a GET without a body, for every first method.
            bool is_bodiless = !stays || (statuses[s] == 303 && m == 0);
            assert_int_equal(strstr(second, "x-canary") != NULL, !is_bodiless);
            assert_non_null(strstr(second, "X-Kept: yes\r\n"));
            assert_non_null(strstr(second, "Authorization: Bearer z\r\n"));
            assert_int_equal(nct_server_request_count(f.server), 2);
        }
    }
    fixture_stop(&f);
}

static void engine__each_hop_has_its_own_url_status_and_times(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    script_redirect(&f, "/a/b", 301, "../c?x=1");
    script_redirect(&f, "/c", 302, "/d e");
    script_redirect(&f, "/d%20e", 307, fixture_url(&f, "/end#new"));
    fixture_script(&f, "/end", (nct_reply){.body = "end", .body_length = 3});
    answer one = fixture_get(&f, "/a/b#old");
    assert_response(one, 200, "end");
    assert_int_equal(nc_response_hop_count(one.response), 4);
    static const char *const paths[] = {"/a/b#old", "/c?x=1#old", "/d%20e#old", "/end#new"};
    static const uint16_t codes[] = {301, 302, 307, 200};
    uint64_t last_ns = 0;
    for (size_t i = 0; i < 4; i++) {
        nc_hop_metrics hop = nc_response_hop_at(one.response, i);
        assert_slice_equals(hop.url, fixture_url(&f, paths[i]));
        assert_int_equal(hop.status, codes[i]);
        assert_int_equal(hop.is_reused, i > 0);
        assert_true(hop.started_ns >= last_ns);
        assert_true(hop.first_byte_ns >= hop.started_ns);
        assert_int_equal(hop.sent_bytes, strlen(fixture_received(&f, i)));
        last_ns = hop.ended_ns;
    }
    assert_slice_equals(nc_response_url(one.response), fixture_url(&f, "/end#new"));
    assert_int_equal(nct_server_connection_count(f.server), 1);
    fixture_stop(&f);
}

static void engine__redirects_end_at_their_limit(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (int i = 0; i < 21; i++) {
        script_redirect(&f, fixture_text(&f, "/%d", i), 302, fixture_text(&f, "/%d", i + 1));
    }
    fixture_script(&f, "/21", (nct_reply){.body = "end", .body_length = 3});
    assert_response(fixture_get(&f, "/1"), 200, "end");
    answer one = fixture_get(&f, "/0");
    assert_ended(one, NC_ERR_TOO_MANY_REDIRECTS, CURLE_TOO_MANY_REDIRECTS, "redirected more than 20 times");
    assert_int_equal(nc_response_status(one.response), 302);
    assert_int_equal(nc_response_hop_count(one.response), 21);
    nc_request request = fixture_request(&f, "/0");
    request.limits.max_redirects = 21;
    assert_response(fixture_send(&f, &request), 200, "end");
    request = fixture_request(&f, "/19");
    request.limits.max_redirects = 2;
    assert_response(fixture_send(&f, &request), 200, "end");
    request.limits.max_redirects = 1;
    assert_ended(fixture_send(&f, &request), NC_ERR_TOO_MANY_REDIRECTS, CURLE_TOO_MANY_REDIRECTS, "more than 1 times");
    request.limits.max_redirects = NC_NO_REDIRECTS;
    one = fixture_send(&f, &request);
    assert_ended(one, NC_ERR_TOO_MANY_REDIRECTS, CURLE_TOO_MANY_REDIRECTS, "more than 0 times");
    assert_int_equal(nc_response_hop_count(one.response), 1);
    request = fixture_request(&f, "/21");
    request.limits.max_redirects = NC_NO_REDIRECTS;
    assert_response(fixture_send(&f, &request), 200, "end");
    fixture_stop(&f);
}

static void engine__a_loop_of_redirects_ends(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    script_redirect(&f, "/a", 302, "/b");
    script_redirect(&f, "/b", 308, "/a");
    assert_ended(fixture_get(&f, "/a"), NC_ERR_TOO_MANY_REDIRECTS, CURLE_TOO_MANY_REDIRECTS, "more than 20 times");
    assert_int_equal(nct_server_request_count(f.server), 21);
    assert_int_equal(nct_server_connection_count(f.server), 1);
    fixture_stop(&f);
}

static void engine__redirects_without_a_valid_target_are_rejected(void **state) {
    static const struct {
        const char *location;
        nc_status status;
        int native;
    } cases[] = {
        {"ftp://127.0.0.1/a", NC_ERR_REDIRECT_REFUSED, CURLE_UNSUPPORTED_PROTOCOL},
        {"file:///etc/passwd", NC_ERR_REDIRECT_REFUSED, CURLE_UNSUPPORTED_PROTOCOL},
        {"javascript:alert(1)", NC_ERR_REDIRECT_REFUSED, CURLE_UNSUPPORTED_PROTOCOL},
        {"http://127.0.0.1:99999/", NC_ERR_BAD_REDIRECT, CURLE_URL_MALFORMAT},
        {"http:///x", NC_ERR_BAD_REDIRECT, CURLE_URL_MALFORMAT},
        {"/a\x01z", NC_ERR_BAD_REDIRECT, 0},
    };
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nct_server_forget(f.server);
        script_redirect(&f, "/r", 302, cases[i].location);
        answer one = fixture_get(&f, "/r");
        assert_ended(one, cases[i].status, cases[i].native, "");
        assert_int_equal(nc_response_status(one.response), 302);
        assert_int_equal(nct_server_request_count(f.server), 1);
        nc_request request = fixture_request(&f, "/r");
        request.redirects = NC_REDIRECTS_RETURN;
        one = fixture_send(&f, &request);
        assert_response(one, 302, "");
        assert_field(one, "Location", cases[i].location);
    }
    fixture_stop(&f);
}

static void engine__a_redirect_without_location_or_with_following_disabled_is_a_response(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    const nct_reply empty = {.status = 302, .headers = "Location:\r\n", .body = "plain", .body_length = 5};
    const nct_reply none = {.status = 301, .body = "plain", .body_length = 5};
    const nct_reply not_one = {.status = 300, .location = "/x", .body = "plain", .body_length = 5};
    const nct_reply created = {.status = 201, .location = "/x", .body = "plain", .body_length = 5};
    fixture_script(&f, "/r", empty);
    assert_response(fixture_get(&f, "/r"), 302, "plain");
    fixture_script(&f, "/r", none);
    assert_response(fixture_get(&f, "/r"), 301, "plain");
    fixture_script(&f, "/r", not_one);
    assert_response(fixture_get(&f, "/r"), 300, "plain");
    fixture_script(&f, "/r", created);
    assert_response(fixture_get(&f, "/r"), 201, "plain");
    fixture_script(&f, "/r", (nct_reply){.location = "/x", .body = "plain", .body_length = 5});
    nc_request request = fixture_request(&f, "/r");
    request.redirects = NC_REDIRECTS_RETURN;
    request.limits.max_redirects = NC_NO_REDIRECTS;
    assert_response(fixture_send(&f, &request), 302, "plain");
    fixture_stop(&f);
}

/* --- origins --- */

static const char *const canaries[] = {"Authorization",       "Cookie",  "X-Api-Key",
                                       "Proxy-Authorization", "Referer", "Host"};
static const char *const harmless[] = {"Accept", "Accept-Language", "User-Agent", "Cache-Control", "Range"};

enum { CANARIES = 6, HARMLESS = 5 };

static nc_request request_with_canaries(const char *url, nc_header headers[CANARIES + HARMLESS]) {
    for (size_t i = 0; i < CANARIES + HARMLESS; i++) {
        const char *name = i < CANARIES ? canaries[i] : harmless[i - CANARIES];
        headers[i] = (nc_header){nc_slice_of(name), nc_slice_of(i < CANARIES ? "canary" : "harmless")};
    }
    return (nc_request){.url = nc_slice_of(url), .headers = headers, .header_count = CANARIES + HARMLESS};
}

static size_t count_of(const char *text, const char *word) {
    size_t count = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        count++;
    }
    return count;
}

static void expect_fields(const char *received, bool at_home) {
    assert_int_equal(count_of(received, "canary"), at_home ? CANARIES : 0);
    assert_int_equal(count_of(received, "harmless"), HARMLESS);
    assert_int_equal(count_of(received, "\r\nHost: "), 1);
}

static void engine__redirect_to_another_origin_drops_every_unsafe_header(void **state) {
    fixture f;
    nct_server *other;
    nc_header headers[CANARIES + HARMLESS];
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_int_equal(nct_server_start(&other, NULL), 0);
    nct_reply back = {.location = fixture_url(&f, "/end")};
    assert_int_equal(nct_server_script(other, "/away", &back), 0);
    const char *away[] = {fixture_url_of(&f, other, "127.0.0.1", "/away"), fixture_url_at(&f, "localhost", "/end"),
                          fixture_url_at(&f, "LOCALHOST", "/end"), fixture_url_at(&f, "127.0.0.2", "/none")};
    script_redirect(&f, "/first", 307, "/second");
    fixture_script(&f, "/end", (nct_reply){.body = "end", .body_length = 3});
    // The server listens only on 127.0.0.1, so 127.0.0.2, the last redirect's host, is mapped to it.
    const nc_connect_to override = {.host = nc_slice_of("127.0.0.2"), .to_host = nc_slice_of("127.0.0.1")};
    for (size_t i = 0; i < sizeof away / sizeof *away; i++) {
        nct_server_forget(f.server);
        nct_server_forget(other);
        script_redirect(&f, "/second", 307, away[i]);
        nc_request request = request_with_canaries(fixture_url(&f, "/first"), headers);
        request.connect_to = &override;
        request.connect_to_count = 1;
        answer one = fixture_send(&f, &request);
        assert_ended(one, NC_OK, 0, "");
        expect_fields(fixture_received(&f, 0), true);
        expect_fields(fixture_received(&f, 1), true);
        // The fields are not sent to the other origin, and not after a further redirect back to the first one.
        expect_fields(fixture_received(&f, 2), false);
        if (i == 0) {
            assert_int_equal(nc_response_hop_count(one.response), 4);
            char text[1024] = "";
            assert_true(nct_server_copy_request(other, 0, text, sizeof text - 1) > 0);
            expect_fields(text, false);
            assert_non_null(strstr(text, fixture_text(&f, "Host: 127.0.0.1:%u\r\n", nct_server_port(other))));
        }
    }
    fixture_stop(&f);
    nct_server_stop(other);
}

static void engine__redirect_within_the_origin_preserves_every_header(void **state) {
    fixture f;
    nc_header headers[CANARIES + HARMLESS];
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    script_redirect(&f, "/r", 302, fixture_url_at(&f, "127.0.0.1", "/end"));
    nc_request request = request_with_canaries(fixture_url(&f, "/r"), headers);
    assert_response(fixture_send(&f, &request), 404, "");
    expect_fields(fixture_received(&f, 0), true);
    expect_fields(fixture_received(&f, 1), true);
    fixture_stop(&f);
}

static void engine__credentials_of_the_url_are_not_sent_to_another_origin(void **state) {
    fixture f;
    nct_server *other;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_int_equal(nct_server_start(&other, NULL), 0);
    script_redirect(&f, "/r", 302, fixture_url_of(&f, other, "127.0.0.1", "/away"));
    nc_request request = {.url = nc_slice_of(fixture_url_at(&f, "user:secret@127.0.0.1", "/r"))};
    assert_response(fixture_send(&f, &request), 404, "");
    assert_non_null(strstr(fixture_received(&f, 0), "\r\nAuthorization: Basic "));
    char text[1024] = "";
    assert_true(nct_server_copy_request(other, 0, text, sizeof text - 1) > 0);
    assert_null(strstr(text, "Authorization"));
    fixture_stop(&f);
    nct_server_stop(other);
}

static void engine__credentials_of_a_location_are_not_sent_to_another_origin(void **state) {
    static const char *const hosts[] = {"mallory:chosen@127.0.0.1", "mallory@127.0.0.1", "@127.0.0.1"};
    fixture f;
    nct_server *other;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_int_equal(nct_server_start(&other, NULL), 0);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        char text[1024] = "";
        script_redirect(&f, "/r", 302, fixture_url_of(&f, other, hosts[i], "/away"));
        answer one = fixture_get(&f, "/r");
        assert_response(one, 404, "");
        assert_slice_equals(nc_response_url(one.response), fixture_url_of(&f, other, "127.0.0.1", "/away"));
        assert_true(nct_server_copy_request(other, i, text, sizeof text - 1) > 0);
        assert_null(strstr(text, "Authorization"));
    }
    fixture_stop(&f);
    nct_server_stop(other);
}

/// Returns true if request `index` has the credentials of the URL and no Referer.
static bool shows_credentials(fixture *f, size_t index) {
    const char *text = fixture_received(f, index);
    assert_null(strstr(text, "Referer"));
    return strstr(text, "\r\nAuthorization: Basic dXNlcjpzZWNyZXQ=\r\n") != NULL;
}

static void engine__credentials_of_the_url_are_sent_to_every_spelling_of_their_origin_regression_1(void **state) {
    fixture f;
    nct_server *other;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_int_equal(nct_server_start(&other, NULL), 0);
    const nct_reply back = {.location = fixture_url(&f, "/end")};
    assert_int_equal(nct_server_script(other, "/back", &back), 0);
    fixture_script(&f, "/end", (nct_reply){.body = "end", .body_length = 3});
    const char *locations[] = {"/end", fixture_url(&f, "/end"), fixture_url(&f, "/end") + 5, fixture_url(&f, "/end#x"),
                               fixture_url_of(&f, other, "127.0.0.1", "/back")};
    nc_request request = {.url = nc_slice_of(fixture_url_at(&f, "user:secret@127.0.0.1", "/r"))};
    for (size_t i = 0; i < sizeof locations / sizeof *locations; i++) {
        bool is_home = i < 4;
        nct_server_forget(f.server);
        script_redirect(&f, "/r", 302, locations[i]);
        answer one = fixture_send(&f, &request);
        assert_response(one, 200, "end");
        assert_true(shows_credentials(&f, 0));
        assert_int_equal(shows_credentials(&f, 1), is_home);
        assert_slice_equals(nc_response_url(one.response), fixture_url(&f, i == 3 ? "/end#x" : "/end"));
        nc_hop_metrics hop = nc_response_hop_at(one.response, is_home ? 1 : 2);
        assert_slice_equals(hop.url, fixture_url(&f, i == 3 ? "/end#x" : "/end"));
    }
    script_redirect(&f, "/r", 302, fixture_url_at(&f, "else:one@127.0.0.1", "/end"));
    assert_response(fixture_send(&f, &request), 200, "end");
    assert_non_null(strstr(fixture_received(&f, 3), "\r\nAuthorization: Basic ZWxzZTpvbmU=\r\n"));
    fixture_stop(&f);
    nct_server_stop(other);
}

static void engine__redirects_between_schemes_follow_the_redirect_policy(void **state) {
    fixture f;
    nct_server *plain;
    nc_header headers[CANARIES + HARMLESS];
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    assert_int_equal(nct_server_start(&plain, NULL), 0);
    nct_reply up = {.location = fixture_url(&f, "/end")};
    assert_int_equal(nct_server_script(plain, "/up", &up), 0);
    fixture_script(&f, "/end", (nct_reply){.body = "end", .body_length = 3});
    nc_request request = request_with_canaries(fixture_url_of(&f, plain, "127.0.0.1", "/up"), headers);
    assert_response(fixture_send(&f, &request), 200, "end");
    expect_fields(fixture_received(&f, 0), false);

    script_redirect(&f, "/down", 302, fixture_url_of(&f, plain, "127.0.0.1", "/low"));
    request.url = nc_slice_of(fixture_url(&f, "/down"));
    nct_server_forget(plain);
    answer one = fixture_send(&f, &request);
    assert_ended(one, NC_ERR_REDIRECT_REFUSED, 0, "from https to http://127.0.0.1 is refused");
    assert_int_equal(nct_server_request_count(plain), 0);
    request.redirects = NC_REDIRECTS_FOLLOW_DOWNGRADE;
    assert_response(fixture_send(&f, &request), 404, "");
    char text[1024] = "";
    assert_true(nct_server_copy_request(plain, 0, text, sizeof text - 1) > 0);
    expect_fields(text, false);
    fixture_stop(&f);
    nct_server_stop(plain);
}

/* --- bodies of redirects --- */

static void engine__a_redirects_body_is_not_read_to_its_end(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/big", (nct_reply){.location = "/end", .pattern_length = UINT64_C(1) << 40});
    fixture_script(&f, "/small", (nct_reply){.location = "/end", .pattern_length = 1000});
    fixture_script(&f, "/end", (nct_reply){.body = "end", .body_length = 3});
    answer one = fixture_get(&f, "/big");
    assert_response(one, 200, "end");
    assert_int_equal(nc_response_hop_at(one.response, 0).status, 302);
    assert_int_equal(nct_server_connection_count(f.server), 2);
    nc_request request = fixture_request(&f, "/small");
    request.limits.max_body_bytes = 3; // applies to the response, not to the redirects before it
    assert_response(fixture_send(&f, &request), 200, "end");
    assert_int_equal(nct_server_connection_count(f.server), 2);
    fixture_stop(&f);
}

/// A redirect needs only the head, so a failure of its body is ignored.
static void engine__a_redirect_is_followed_although_its_body_fails(void **state) {
    static const char *const bodies[] = {
        "Content-Length: 100\r\n\r\nshort",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n0\r\nTrailer: cu",
        "\r\nto the end",
    };
    static const nct_identity identities[] = {NCT_PLAIN, NCT_TLS_VALID};
    (void)state;
    for (size_t kind = 0; kind < 2; kind++) {
        fixture f;
        fixture_start(&f, identities[kind]);
        fixture_script(&f, "/end", (nct_reply){.body = "end", .body_length = 3});
        for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
            const char *path = fixture_text(&f, "/%zu", i);
            fixture_script_raw(&f, path, fixture_text(&f, "HTTP/1.1 302 Found\r\nLocation: /end\r\n%s", bodies[i]));
            answer one = fixture_get(&f, path);
            assert_response(one, 200, "end");
            assert_int_equal(nc_response_hop_count(one.response), 2);
            // If it is the final response, it must be complete.
            nc_request request = fixture_request(&f, path);
            request.redirects = NC_REDIRECTS_RETURN;
            one = fixture_send(&f, &request);
            if ((one.error.status == NC_OK) != (i + 1 == sizeof bodies / sizeof *bodies)) {
                fail_msg("body %zu: %s", i, nc_status_name(one.error.status));
            }
        }
        fixture_stop(&f);
    }
}

/// A head that ends without its empty line is incomplete. Malformed framing fails the transfer.
static void engine__a_malformed_redirect_is_not_followed(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script_raw(&f, "/a", "HTTP/1.1 302 Found\r\nLocation: /end\r\n");
    fixture_script_raw(&f, "/b", "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /e");
    fixture_script_raw(&f, "/c",
                       "HTTP/1.1 302 Found\r\nLocation: /end\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n");
    assert_status(fixture_get(&f, "/a").error.status, NC_ERR_CUT_SHORT);
    assert_status(fixture_get(&f, "/b").error.status, NC_ERR_CUT_SHORT);
    assert_status(fixture_get(&f, "/c").error.status, NC_ERR_BAD_RESPONSE);
    fixture_stop(&f);
}

static void engine__dot_segments_of_a_location_are_sent_unchanged_on_request(void **state) {
    static const char *const places[2][2] = {{"GET /x/z ", "GET /x/w "}, {"GET /x/../x/./z ", "GET /x/../x/./y/../w "}};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    script_redirect(&f, "/a", 302, "/x/../x/./z");
    script_redirect(&f, "/x/z", 302, "y/../w");
    script_redirect(&f, "/x/../x/./z", 302, "y/../w");
    for (int keeps = 0; keeps < 2; keeps++) {
        nct_server_forget(f.server);
        nc_request request = fixture_request(&f, "/a");
        request.keeps_dot_segments = keeps == 1;
        assert_status(fixture_send(&f, &request).error.status, NC_OK);
        for (size_t i = 0; i < 2; i++) {
            assert_memory_equal(fixture_received(&f, i + 1), places[keeps][i], strlen(places[keeps][i]));
        }
    }
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__the_status_decides_whether_a_redirect_preserves_method_and_body),
        harness_case(engine__each_hop_has_its_own_url_status_and_times),
        harness_case(engine__redirects_end_at_their_limit),
        harness_case(engine__a_loop_of_redirects_ends),
        harness_case(engine__redirects_without_a_valid_target_are_rejected),
        harness_case(engine__a_redirect_without_location_or_with_following_disabled_is_a_response),
        harness_case(engine__redirect_to_another_origin_drops_every_unsafe_header),
        harness_case(engine__redirect_within_the_origin_preserves_every_header),
        harness_case(engine__credentials_of_a_location_are_not_sent_to_another_origin),
        harness_case(engine__credentials_of_the_url_are_not_sent_to_another_origin),
        harness_case(engine__credentials_of_the_url_are_sent_to_every_spelling_of_their_origin_regression_1),
        harness_case(engine__redirects_between_schemes_follow_the_redirect_policy),
        harness_case(engine__a_redirects_body_is_not_read_to_its_end),
        harness_case(engine__a_redirect_is_followed_although_its_body_fails),
        harness_case(engine__a_malformed_redirect_is_not_followed),
        harness_case(engine__dot_segments_of_a_location_are_sent_unchanged_on_request),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
