/// The cookie jar on the wire: which cookies it accepts and sends, and that all connection pools share them.
#include "fixture.h"
#include "gate.h"

#include <netcore/cookies.h>
#include <netcore/transfers.h>
#include <stdio.h>
#include <string.h>

enum { LANES = 6, PER_LANE = 12 };

static void start(fixture *f) {
    fixture_start_with(f, NULL, &(nc_engine_options){.cookies = NC_COOKIES_MEMORY});
}

/// Returns the jar's contents, NUL-terminated.
static const char *jar_text(fixture *f) {
    nc_buf text = nc_buf_init(1 << 24);
    nc_error err;
    assert_status(nc_engine_copy_cookies(f->engine, &text, &err), NC_OK);
    nc_buf_append_byte(&text, 0);
    const char *copy = fixture_text(f, "%s", (const char *)text.data);
    nc_buf_deinit(&text);
    return copy;
}

static bool jar_holds(fixture *f, const char *name, const char *value) {
    return strstr(jar_text(f), fixture_text(f, "\t%s\t%s\n", name, value)) != NULL;
}

static size_t jar_count(fixture *f) {
    size_t count = 0;
    for (const char *at = jar_text(f); (at = strchr(at, '\n')) != NULL; at++) {
        count++;
    }
    return count;
}

/// Returns the Cookie field of request `index`, or "".
static const char *sent(fixture *f, size_t index) {
    const char *field = strstr(fixture_received(f, index), "\r\nCookie: ");
    return field == NULL ? "" : fixture_text(f, "%.*s", (int)strcspn(field + 10, "\r"), field + 10);
}

/// Fails unless request `index` has exactly these cookies, in any order.
static void assert_sent(fixture *f, size_t index, const char *expected) {
    const char *got = sent(f, index);
    bool is_same = strlen(got) == strlen(expected);
    const char *rest = expected;
    while (is_same && *rest != '\0') {
        size_t length = strcspn(rest, ";");
        is_same = strstr(got, fixture_text(f, "%.*s", (int)length, rest)) != NULL;
        rest += length + (rest[length] == ';' ? 2 : 0);
    }
    if (!is_same) {
        fail_msg("request %zu brought '%s' instead of '%s'", index, got, expected);
    }
}

static size_t last_index(fixture *f) {
    return nct_server_request_count(f->server) - 1;
}

/// Returns a separate policy, which needs a separate connection pool.
static nc_trust *other_trust(fixture *f, size_t number) {
    const nc_trust_options options = {.roots = NC_ROOTS_FILE,
                                      .ca_file = nc_slice_of(fixture_text(f, "/nowhere/%zu", number))};
    return fixture_trust(f, &options);
}

static answer get_in_lane(fixture *f, nc_trust *trust, const char *path) {
    nc_request request = fixture_request(f, path);
    request.trust = trust;
    return fixture_send(f, &request);
}

/// Sends a request with another host name, which need not resolve.
static answer get_at(fixture *f, const char *host, const char *path) {
    const nc_connect_to override = {.to_host = nc_slice_of("127.0.0.1")};
    nc_request request = {.url = nc_slice_of(fixture_url_at(f, host, path)),
                          .connect_to = &override,
                          .connect_to_count = 1,
                          .redirects = NC_REDIRECTS_FOLLOW_DOWNGRADE};
    return fixture_send(f, &request);
}

static void script_cookie(fixture *f, const char *path, const char *cookie) {
    fixture_script(f, path, (nct_reply){.headers = fixture_text(f, "Set-Cookie: %s\r\n", cookie)});
}

/* --- connection pools --- */

static nc_action open_at_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    (void)id;
    (void)response;
    (void)is_last;
    gate_open(ctx);
    return NC_ACTION_CONTINUE;
}

static void open_at_end(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    (void)id;
    (void)response;
    (void)error;
    gate_open((gate *)ctx + 1);
}

static void engine__a_pool_preserves_new_cookies_while_other_pools_store_theirs(void **state) {
    fixture f;
    gate gates[2] = {GATE_INIT, GATE_INIT}; // the head arrived; the transfer ended
    const nc_sink sink = {.ctx = gates, .on_head = open_at_head, .on_done = open_at_end};
    nc_transfer_id id;
    (void)state;
    start(&f);
    nc_trust *one = other_trust(&f, 1);
    nc_trust *two = other_trust(&f, 2);
    fixture_script(&f, "/slow",
                   (nct_reply){.headers = "Set-Cookie: a=1; Path=/\r\n",
                               .pattern_length = 1000,
                               .is_cut = true,
                               .cut_after = 200,
                               .ending = NCT_STALL});
    script_cookie(&f, "/b", "b=2");
    script_cookie(&f, "/c", "c=3");
    nc_request slow = fixture_request(&f, "/slow");
    slow.trust = one;
    assert_status(nc_engine_submit(f.engine, &slow, &sink, &id, NULL), NC_OK);
    gate_wait(&gates[0]);
    (void)get_in_lane(&f, two, "/b"); // the other pool receives a, and changes the jar
    assert_sent(&f, last_index(&f), "a=1");
    (void)get_in_lane(&f, one, "/c"); // the first one receives b, and still has a
    assert_sent(&f, last_index(&f), "a=1; b=2");
    assert_true(nct_server_wait_for_stalled(f.server, 1, FIXTURE_LIMIT_MS));
    nct_server_release_stalled(f.server);
    gate_wait(&gates[1]);
    (void)get_in_lane(&f, two, "/");
    assert_sent(&f, last_index(&f), "a=1; b=2; c=3");
    (void)get_in_lane(&f, other_trust(&f, 3), "/"); // and a new pool has both
    assert_sent(&f, last_index(&f), "a=1; b=2; c=3");
    assert_int_equal(jar_count(&f), 3);
    fixture_stop(&f);
}

static void engine__concurrent_pools_lose_no_cookies(void **state) {
    fixture f;
    nc_transfer_id ids[LANES * PER_LANE];
    (void)state;
    start(&f);
    for (size_t i = 0; i < LANES * PER_LANE; i++) {
        // In small pieces, so that the heads of several pools are in flight concurrently.
        fixture_script(&f, fixture_text(&f, "/%zu", i),
                       (nct_reply){.headers = fixture_text(&f, "Set-Cookie: n%zu=v; Path=/\r\nX-Rest: 1\r\n", i),
                                   .drip_bytes = 23,
                                   .pattern_length = 50});
    }
    for (size_t i = 0; i < LANES * PER_LANE; i++) {
        nc_request request = fixture_request(&f, fixture_text(&f, "/%zu", i));
        request.trust = other_trust(&f, i % LANES);
        ids[i] = fixture_submit(&f, &request);
    }
    for (size_t i = 0; i < LANES * PER_LANE; i++) {
        assert_status(fixture_wait(&f, ids[i]).error.status, NC_OK);
    }
    assert_int_equal(jar_count(&f), LANES * PER_LANE);
    for (size_t i = 0; i < LANES; i++) {
        (void)get_in_lane(&f, other_trust(&f, i), "/");
        assert_non_null(strstr(sent(&f, last_index(&f)), "n0=v"));
        assert_non_null(strstr(sent(&f, last_index(&f)), fixture_text(&f, "n%d=v", LANES * PER_LANE - 1)));
    }
    fixture_stop(&f);
}

static void engine__a_cookie_removed_in_one_pool_is_removed_in_all(void **state) {
    fixture f;
    (void)state;
    start(&f);
    nc_trust *one = other_trust(&f, 1);
    nc_trust *two = other_trust(&f, 2);
    script_cookie(&f, "/in", "sid=1; Path=/");
    script_cookie(&f, "/out", "sid=; Path=/; Max-Age=0");
    (void)get_in_lane(&f, one, "/in");
    (void)get_in_lane(&f, two, "/out");
    assert_sent(&f, 1, "sid=1");
    (void)get_in_lane(&f, one, "/");
    assert_sent(&f, 2, "");
    assert_int_equal(jar_count(&f), 0);
    assert_status(nc_engine_set_cookies(f.engine, nc_slice_of("Set-Cookie: x=1; domain=127.0.0.1; path=/"), NULL),
                  NC_OK);
    assert_true(jar_holds(&f, "x", "1")); // immediately
    (void)get_in_lane(&f, one, "/");
    (void)get_in_lane(&f, two, "/");
    assert_sent(&f, 3, "x=1");
    assert_sent(&f, 4, "x=1");
    fixture_stop(&f);
}

/* --- origins of cookies --- */

static void engine__cookies_of_challenges_and_redirects_are_stored(void **state) {
    fixture f;
    const nct_reply replies[] = {
        {.status = 401,
         .headers = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\nSet-Cookie: c=401; Path=/\r\n"},
        {.status = 200}};
    (void)state;
    start(&f);
    assert_int_equal(nct_server_script_sequence(f.server, "/asked", replies, 2), 0);
    nc_request request = fixture_request(&f, "/asked");
    request.credentials =
        (nc_credentials){.schemes = NC_AUTH_DIGEST, .user = nc_slice_of("me"), .password = nc_slice_of("secret")};
    assert_response(fixture_send(&f, &request), 200, "");
    assert_true(jar_holds(&f, "c", "401"));
    fixture_script(
        &f, "/hop",
        (nct_reply){.location = fixture_url_at(&f, "localhost", "/there"), .headers = "Set-Cookie: h=1; Path=/\r\n"});
    script_cookie(&f, "/there", "t=2; Path=/");
    (void)fixture_get(&f, "/hop");
    assert_sent(&f, last_index(&f), ""); // cookies of 127.0.0.1 are not sent to localhost
    (void)fixture_get(&f, "/");
    assert_sent(&f, last_index(&f), "c=401; h=1");
    (void)get_at(&f, "localhost", "/");
    assert_sent(&f, last_index(&f), "t=2");
    fixture_stop(&f);
}

static void engine__a_callers_own_cookie_fields_are_joined_with_the_jar(void **state) {
    fixture f;
    const nc_header own[] = {{nc_slice_of("Cookie"), nc_slice_of("mine=1")},
                             {nc_slice_of("cookie"), nc_slice_of("too=2")},
                             {nc_slice_of("Cookie"), nc_slice_of("")}};
    (void)state;
    start(&f);
    script_cookie(&f, "/", "jar=3");
    fixture_script(&f, "/away", (nct_reply){.location = fixture_url_at(&f, "localhost", "/there")});
    fixture_script(&f, "/back", (nct_reply){.location = "/"});
    nc_request request = fixture_request(&f, "/back");
    request.headers = own;
    request.header_count = 3;
    (void)fixture_send(&f, &request);
    assert_sent(&f, 0, "mine=1; too=2");
    assert_sent(&f, 1, "mine=1; too=2");
    (void)fixture_send(&f, &request);
    assert_sent(&f, 2, "jar=3; mine=1; too=2");
    request.url = nc_slice_of(fixture_url(&f, "/away"));
    (void)fixture_send(&f, &request);
    assert_sent(&f, 4, "jar=3; mine=1; too=2");
    assert_sent(&f, 5, ""); // another origin receives neither the jar's nor the request's cookies
    (void)fixture_get(&f, "/");
    assert_sent(&f, 6, "jar=3"); // and the next request has only the jar's
    fixture_stop(&f);
}

/* --- acceptance and matching --- */

static void engine__a_cookie_that_violates_rfc_6265_is_ignored(void **state) {
    static const struct {
        const char *cookie;
        bool is_taken;
    } cases[] = {
        {"c=1", true},
        {"c=1; Domain=a.example", true},
        {"c=1; Domain=b.example", false},         // not its domain
        {"c=1; Domain=sub.www.a.example", false}, // below its domain
        {"c=1; Domain=example", false},           // a public suffix
        {"c=1; Max-Age=0", false},
        {"c=1; Expires=Thu, 01 Jan 1970 00:00:10 GMT", false},
        {"c=1; Max-Age=100; Expires=Thu, 01 Jan 1970 00:00:10 GMT", true}, // Max-Age takes precedence
        {"c=1; Secure", false},                                            // over plain HTTP
        {"__Secure-c=1", false},
        {"__Host-c=1; Path=/", false},
        {"c=a\001b", false},
        {"c=1; SameSite=Strict", true}, // SameSite depends on a page, and a program has none.
        {"c=1; SameSite=None", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        start(&f);
        script_cookie(&f, "/", cases[i].cookie);
        assert_status(get_at(&f, "www.a.example", "/").error.status, NC_OK);
        if (jar_count(&f) != (cases[i].is_taken ? 1 : 0)) {
            fail_msg("'%s' is %staken", cases[i].cookie, cases[i].is_taken ? "not " : "");
        }
        fixture_stop(&f);
    }
    fixture f;
    start(&f);
    script_cookie(&f, "/", "c=1; Domain=co.uk");
    (void)get_at(&f, "a.co.uk", "/");
    assert_int_equal(jar_count(&f), 0);
    fixture_stop(&f);
}

static void engine__secure_cookies_and_prefixes_work_over_tls(void **state) {
    static const struct {
        const char *cookie;
        bool is_taken;
    } cases[] = {
        {"s=1; Secure; Path=/", true},
        {"__Secure-c=1; Path=/", false},
        {"__Secure-c=1; Secure; Path=/", true},
        {"__Host-c=1; Secure; Path=/", true},
        {"__Host-c=1; Secure", false}, // no path
        {"__Host-c=1; Secure; Path=/; Domain=a.example", false},
        {"__host-c=1; Path=/", true}, // another name for libcurl 7.88
    };
    fixture f;
    nct_server *plain = NULL;
    (void)state;
    fixture_start_with(&f, &(nct_server_options){.identity = NCT_TLS_VALID, .names = "DNS:a.example"},
                       &(nc_engine_options){.cookies = NC_COOKIES_MEMORY});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_status(nc_engine_set_cookies(f.engine, nc_slice_of(""), NULL), NC_OK);
        script_cookie(&f, "/x/y", cases[i].cookie);
        assert_status(get_at(&f, "a.example", "/x/y").error.status, NC_OK);
        bool is_taken = jar_count(&f) == 1;
        if (is_taken != cases[i].is_taken && strncmp(cases[i].cookie, "__host", 6) != 0) {
            fail_msg("'%s' is %staken", cases[i].cookie, is_taken ? "" : "not ");
        }
    }
    assert_status(nc_engine_set_cookies(f.engine, nc_slice_of(""), NULL), NC_OK);
    script_cookie(&f, "/x/y", "s=1; Secure; Path=/");
    (void)get_at(&f, "a.example", "/x/y");
    (void)get_at(&f, "a.example", "/");
    assert_sent(&f, last_index(&f), "s=1");
    assert_int_equal(nct_server_start(&plain, NULL), 0);
    const nc_connect_to override = {.to_host = nc_slice_of("127.0.0.1")};
    nc_request request = {.url = nc_slice_of(fixture_url_of(&f, plain, "a.example", "/")),
                          .connect_to = &override,
                          .connect_to_count = 1};
    (void)fixture_send(&f, &request);
    char head[1000] = {0};
    assert_true(nct_server_copy_request(plain, 0, head, sizeof head - 1) > 0);
    assert_null(strstr(head, "Cookie")); // not sent without TLS
    nct_server_stop(plain);
    fixture_stop(&f);
}

static void engine__a_cookie_is_sent_to_matching_domains_and_paths(void **state) {
    fixture f;
    (void)state;
    start(&f);
    fixture_script(&f, "/deep/in",
                   (nct_reply){.headers = "Set-Cookie: host=1; Path=/\r\nSet-Cookie: all=2; Domain=.a.example; Path=/"
                                          "\r\nSet-Cookie: deep=3; HttpOnly\r\n"});
    (void)get_at(&f, "www.a.example", "/deep/in");
    assert_non_null(strstr(jar_text(&f), "#HttpOnly_www.a.example\tFALSE\t/deep\t"));
    static const struct {
        const char *host, *path, *cookies;
    } cases[] = {
        {"www.a.example", "/", "all=2; host=1"},
        {"www.a.example", "/deep/er", "deep=3; all=2; host=1"},
        {"www.a.example", "/deeper", "all=2; host=1"},
        {"a.example", "/", "all=2"},
        {"x.a.example", "/deep/", "all=2"},
        {"xa.example", "/", ""},
        {"b.example", "/", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)get_at(&f, cases[i].host, cases[i].path);
        assert_sent(&f, last_index(&f), cases[i].cookies);
    }
    fixture_stop(&f);
}

static void engine__a_flood_of_cookies_evicts_only_its_own_domain(void **state) {
    enum { RESPONSES = 6, PER_RESPONSE = 40, LIMIT = NC_MAX_COOKIES_PER_DOMAIN };
    fixture f;
    nc_buf lines = nc_buf_init(100000);
    (void)state;
    start(&f);
    script_cookie(&f, "/", "mine=1");
    (void)get_at(&f, "victim.example", "/");
    for (int i = 0; i < RESPONSES; i++) {
        nc_buf_reset(&lines);
        for (int j = 0; j < PER_RESPONSE; j++) {
            nc_buf_append(&lines, nc_slice_of(fixture_text(&f, "Set-Cookie: f%d=1\r\n", i * PER_RESPONSE + j)));
        }
        nc_buf_append_byte(&lines, 0);
        fixture_script(&f, "/flood", (nct_reply){.headers = (const char *)lines.data});
        (void)get_at(&f, i % 2 == 0 ? "flood.example" : "FLOOD.example", "/flood");
    }
    assert_int_equal(jar_count(&f), LIMIT + 1);
    assert_true(jar_holds(&f, "mine", "1"));
    assert_true(jar_holds(&f, fixture_text(&f, "f%d", RESPONSES * PER_RESPONSE - 1), "1")); // the newest are kept
    assert_true(jar_holds(&f, fixture_text(&f, "f%d", RESPONSES * PER_RESPONSE - LIMIT), "1"));
    assert_false(jar_holds(&f, fixture_text(&f, "f%d", RESPONSES * PER_RESPONSE - LIMIT - 1), "1"));
    (void)get_at(&f, "flood.example", "/flood");
    assert_null(strstr(sent(&f, last_index(&f)), "f0=1")); // evicted cookies are not sent
    nc_buf_deinit(&lines);
    fixture_stop(&f);
}

static void open_at_release(void *ctx) {
    gate_open(ctx);
}

static void engine__after_the_engine_ends_its_jar_is_read_only_regression_1(void **state) {
    static const char line[] = "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t1\n";
    gate has_ended = GATE_INIT;
    nc_buf text = nc_buf_init(4096);
    fixture f;
    nc_error err;
    (void)state;
    fixture_start_with(&f, NULL,
                       &(nc_engine_options){.cookies = NC_COOKIES_MEMORY,
                                            .loop_client = {.ctx = &has_ended, .release = open_at_release}});
    assert_status(nc_engine_set_cookies(f.engine, nc_slice_of(line), &err), NC_OK);
    nc_engine_finish(f.engine);
    gate_wait(&has_ended);
    assert_status(nc_engine_set_cookies(f.engine, nc_slice_of(""), &err), NC_ERR_CLOSED);
    assert_status(nc_engine_copy_cookies(f.engine, &text, &err), NC_OK);
    assert_slice_equals(nc_buf_slice(&text), line);
    nc_buf_deinit(&text);
    fixture_stop(&f);
}

static void engine__invalid_cookie_text_is_rejected_and_changes_nothing(void **state) {
    static const char good[] = "Set-Cookie: a=1; domain=a.example\n"
                               "# a comment\r\n\r\n"
                               ".b.example\tTRUE\t/\tFALSE\t0\tb\t2\r\n"
                               "#HttpOnly_c.example\tFALSE\t/\tTRUE\t4102444800\tc\n"; // without a value
    static const char *const bad[] = {"ALL",
                                      "SESS",
                                      "FLUSH",
                                      "RELOAD",
                                      "a=1",
                                      "Set-Cookie: a=1", // of no domain
                                      "Set-Cookie: a=1; domain=",
                                      "x\tTRUE\t/\tMAYBE\t0\tn\tv",
                                      "x\tTRUE\t/\tTRUE\tsoon\tn\tv",
                                      "x\tTRUE\t/\tTRUE\t0\tn\tv\tmore",
                                      "\tTRUE\t/\tTRUE\t0\tn\tv"};
    fixture f;
    (void)state;
    start(&f);
    assert_status(nc_engine_set_cookies(f.engine, nc_slice_of(good), NULL), NC_OK);
    assert_int_equal(jar_count(&f), 3);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        nc_error err;
        const char *text = fixture_text(&f, "Set-Cookie: z=1; domain=z.example\n%s\n", bad[i]);
        if (nc_engine_set_cookies(f.engine, nc_slice_of(text), &err) != NC_ERR_USAGE) {
            fail_msg("'%s' is taken", bad[i]);
        }
        assert_int_equal(err.offset, strlen("Set-Cookie: z=1; domain=z.example\n"));
        assert_non_null(strstr(err.message, "line 2"));
    }
    assert_status(nc_engine_set_cookies(f.engine, nc_slice_make("a\0b", 3), NULL), NC_ERR_USAGE);
    assert_int_equal(jar_count(&f), 3);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_pool_preserves_new_cookies_while_other_pools_store_theirs),
        harness_case(engine__concurrent_pools_lose_no_cookies),
        harness_case(engine__a_cookie_removed_in_one_pool_is_removed_in_all),
        harness_case(engine__cookies_of_challenges_and_redirects_are_stored),
        harness_case(engine__a_callers_own_cookie_fields_are_joined_with_the_jar),
        harness_case(engine__a_cookie_that_violates_rfc_6265_is_ignored),
        harness_case(engine__secure_cookies_and_prefixes_work_over_tls),
        harness_case(engine__a_cookie_is_sent_to_matching_domains_and_paths),
        harness_case(engine__a_flood_of_cookies_evicts_only_its_own_domain),
        harness_case(engine__after_the_engine_ends_its_jar_is_read_only_regression_1),
        harness_case(engine__invalid_cookie_text_is_rejected_and_changes_nothing),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
