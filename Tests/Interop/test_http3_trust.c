/// Trust over HTTP/3: pins, certificates, and secrets across redirects and alternative services.
#include "quic.h"

#include "family.h"

#include <stdio.h>
#include <string.h>

typedef struct trusted {
    family family;
    quic q;
    nc_trust_options options; // trusts the root
} trusted;

/// Writes a server's chain and key into the directory, and runs the server.
static void run(server *one, nc_slice chain, const nct_test_certificate *leaf, const char *const *options) {
    server_write_file("chain.pem", (const char *)chain.data, 0);
    server_write_file("chain-key.pem", nct_test_certificate_key_pem(leaf), 0);
    quic_run_server(one, server_path("chain.pem"), server_path("chain-key.pem"), options);
}

static void start(trusted *t, const char *const *options) {
    *t = (trusted){.q = {.f = {0}}};
    family_make(&t->family);
    t->options =
        (nc_trust_options){.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_test_certificate_pem(t->family.root))};
    run(&t->q.server, family_join(&t->family, t->family.leaf, t->family.middle, NULL), t->family.leaf, options);
}

/// Starts an engine with the policy as its default.
static void ask(trusted *t, nc_engine_options options) {
    nc_error err;
    t->q.f = (fixture){0};
    options.trust = fixture_trust(&t->q.f, &t->options);
    assert_status(nc_engine_new(&t->q.f.engine, &options, &err), NC_OK);
}

static void stop(trusted *t) {
    server_stop(&t->q.server);
    family_free(&t->family);
}

/* --- pins: ten rules, each in four ways --- */

typedef struct pin_row {
    const char *name;
    const char *hosts; // "%u" stands for the server's port
    int keys[2];       // 0 none, 1 leaf, 2 intermediate, 3 root, 4 another leaf
    bool reports_only;
    nc_status status;
} pin_row;

static const pin_row pin_rows[] = {
    {"the leaf's key", "localhost", {1, 0}, false, NC_OK},
    {"the intermediate's key", "localhost", {2, 0}, false, NC_OK},
    {"the root's key", "localhost", {3, 0}, false, NC_OK},
    {"another key", "localhost", {4, 0}, false, NC_ERR_PIN_MISMATCH},
    {"another key and the leaf's", "localhost", {4, 1}, false, NC_OK},
    {"another key for other hosts", "*.example", {4, 0}, false, NC_OK},
    {"another key for all hosts", "**", {4, 0}, false, NC_ERR_PIN_MISMATCH},
    {"another key for the port", "localhost:%u", {4, 0}, false, NC_ERR_PIN_MISMATCH},
    {"another key for the name in capitals", "LOCALHOST", {4, 0}, false, NC_ERR_PIN_MISMATCH},
    {"another key that is only reported", "localhost", {4, 0}, true, NC_OK},
};

typedef enum way { WAY_ONLY, WAY_RACE, WAY_ALT_SVC, WAY_AFTER_ANOTHER_POLICY, WAYS } way;

/// Opens connections under the policy without pins, so that the next request could reuse them.
static void prepare(trusted *t, way how) {
    nc_request request = quic_request(&t->q, "/hello");
    if (how == WAY_ALT_SVC) {
        request.http = NC_HTTP_AUTO;
        assert_response(fixture_send(&t->q.f, &request), 200, "tcp"); // The response announces HTTP/3.
    } else if (how == WAY_AFTER_ANOTHER_POLICY) {
        assert_response(fixture_send(&t->q.f, &request), 200, "hello");
    }
}

static void check_pin(trusted *t, const pin_row *row, way how) {
    const nct_test_certificate *keys[] = {NULL, t->family.leaf, t->family.middle, t->family.root, t->family.other};
    nc_slice pins[2];
    size_t count = 0;
    for (size_t i = 0; i < 2 && row->keys[i] != 0; i++) {
        pins[count++] = nc_slice_of(nct_test_certificate_pin(keys[row->keys[i]]));
    }
    char hosts[64];
    const char *port = strstr(row->hosts, "%u");
    (void)snprintf(hosts, sizeof hosts, "%.*s", (int)strcspn(row->hosts, "%"), row->hosts);
    if (port != NULL) {
        (void)snprintf(hosts + strlen(hosts), sizeof hosts - strlen(hosts), "%u", t->q.server.port);
    }
    const nc_trust_rule rule = {.hosts = nc_slice_of(hosts),
                                .mode = NC_PIN_PUBLIC_KEY,
                                .pins = pins,
                                .pin_count = count,
                                .reports_only = row->reports_only};
    ask(t, (nc_engine_options){.uses_alt_svc = how == WAY_ALT_SVC});
    prepare(t, how);
    nc_trust_options pinned = t->options;
    pinned.rules = &rule;
    pinned.rule_count = 1;
    nc_request request = quic_request(&t->q, "/hello");
    request.http = how == WAY_RACE ? NC_HTTP_3_IF_POSSIBLE : how == WAY_ALT_SVC ? NC_HTTP_AUTO : NC_HTTP_3_ONLY;
    request.trust = fixture_trust(&t->q.f, &pinned);
    answer one = fixture_send(&t->q.f, &request);
    if (one.error.status != row->status) {
        fail_msg("%s, way %d: %s: %s", row->name, how, nc_status_name(one.error.status), one.error.message);
    }
    if (row->status == NC_OK && how != WAY_RACE) {
        assert_response(one, 200, "hello");
        assert_int_equal(quic_opened(one), 1); // another policy, so another connection
    }
    fixture_stop(&t->q.f);
}

static void http3__each_pin_rule_holds_in_each_way_to_reach_a_server(void **state) {
    trusted t;
    (void)state;
    start(&t, (const char *[]){"alt_svc=h3=\":PORT\"; ma=600", NULL});
    for (size_t i = 0; i < sizeof pin_rows / sizeof *pin_rows; i++) {
        for (way how = WAY_ONLY; how < WAYS; how++) {
            check_pin(&t, &pin_rows[i], how);
        }
    }
    stop(&t);
}

/* --- certificates --- */

static void expect_refusal(trusted *t, nc_http_choice choice, nc_status status) {
    ask(t, (nc_engine_options){0});
    nc_request request = quic_request(&t->q, "/hello");
    request.http = choice;
    answer one = fixture_send(&t->q.f, &request);
    assert_ended(one, status, 60, "");
    assert_int_equal(nc_response_status(one.response), 0);
    fixture_stop(&t->q.f);
}

static void http3__certificates_are_checked_as_over_tcp(void **state) {
    trusted t;
    (void)state;
    start(&t, NULL);
    const struct {
        const nct_test_certificate *leaf;
        const nct_test_certificate *issuer;
        nc_status status;
    } rows[] = {
        {t.family.evil, t.family.foreign, NC_ERR_TLS_UNTRUSTED},
        {t.family.loner, NULL, NC_ERR_TLS_UNTRUSTED},
        {t.family.expired, NULL, NC_ERR_TLS_EXPIRED},
        {t.family.other, t.family.middle, NC_ERR_TLS_NAME},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        server_stop(&t.q.server);
        run(&t.q.server, family_join(&t.family, rows[i].leaf, rows[i].issuer, NULL), rows[i].leaf, NULL);
        expect_refusal(&t, NC_HTTP_3_ONLY, rows[i].status);
        expect_refusal(&t, NC_HTTP_3_IF_POSSIBLE, rows[i].status);
    }
    stop(&t);
}

/* --- secrets --- */

enum { SECRETS = 4, TARGETS = 3 };

static const unsigned statuses[] = {301, 302, 303, 307, 308};

static void set_secret(nc_request *request, size_t which, nc_header *field) {
    static const char *const names[] = {"Authorization", "Cookie", "X-Api-Key"};
    if (which < 3) {
        *field = (nc_header){nc_slice_of(names[which]), nc_slice_of("a=s3cret")};
        request->headers = field;
        request->header_count = 1;
    } else {
        request->credentials.schemes = NC_AUTH_BASIC;
        request->credentials.user = nc_slice_of("u");
        request->credentials.password = nc_slice_of("s3cret");
    }
}

static void http3__no_secret_follows_a_redirect_to_another_origin(void **state) {
    quic q;
    server other;
    (void)state;
    quic_start(&q, NULL);
    quic_run_server(&other, server_path("cert.pem"), server_path("key.pem"), NULL);
    const char *targets[TARGETS] = {server_text("https:%%2F%%2Flocalhost:%u%%2Ffields", q.server.port),
                                    server_text("https:%%2F%%2Flocalhost:%u%%2Ffields", other.port),
                                    server_text("https:%%2F%%2F127.0.0.1:%u%%2Ffields", q.server.port)};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        for (size_t target = 0; target < TARGETS; target++) {
            for (size_t secret = 0; secret < SECRETS; secret++) {
                nc_header field;
                char path[256];
                (void)snprintf(path, sizeof path, "/to/%u/%s", statuses[i], targets[target]);
                nc_request request = quic_request(&q, path);
                set_secret(&request, secret, &field);
                answer one = fixture_send(&q.f, &request);
                assert_status(one.error.status, NC_OK);
                assert_int_equal(nc_response_hop_count(one.response), 2);
                assert_int_equal(nc_response_http_version(one.response), NC_HTTP_VERSION_3);
                const char *body = ask_body(&q.f, one);
                bool has_secret = strstr(body, "s3cret") != NULL || strstr(body, "dTpzM2NyZXQ=") != NULL;
                if (has_secret != (target == 0)) {
                    fail_msg("%s, secret %zu: %s", path, secret, body);
                }
            }
        }
    }
    server_stop(&other);
    quic_stop(&q);
}

static void http3__an_alternative_service_without_the_origins_certificate_gets_no_request(void **state) {
    trusted t;
    server evil;
    (void)state;
    start(&t, NULL);
    server_stop(&t.q.server);
    run(&evil, family_join(&t.family, t.family.evil, t.family.foreign, NULL), t.family.evil, NULL);
    run(&t.q.server, family_join(&t.family, t.family.leaf, t.family.middle, NULL), t.family.leaf,
        (const char *[]){server_text("alt_svc=h3=\"localhost:%u\"; ma=600", evil.port), NULL});
    ask(&t, (nc_engine_options){.uses_alt_svc = true});
    const nc_header field = {nc_slice_of("Authorization"), nc_slice_of("Bearer s3cret")};
    for (unsigned i = 0; i < 2; i++) {
        nc_request request = quic_request(&t.q, "/hello");
        request.http = NC_HTTP_AUTO;
        request.headers = &field;
        request.header_count = 1;
        answer one = fixture_send(&t.q.f, &request);
        assert_response(one, 200, "tcp");
        assert_int_equal(nc_response_hop_at(one.response, 0).quic_version, 0);
    }
    fixture_stop(&t.q.f);
    server_stop(&evil);
    stop(&t);
}

static const struct CMUnitTest cases[] = {
    harness_case(http3__each_pin_rule_holds_in_each_way_to_reach_a_server),
    harness_case(http3__certificates_are_checked_as_over_tcp),
    harness_case(http3__no_secret_follows_a_redirect_to_another_origin),
    harness_case(http3__an_alternative_service_without_the_origins_certificate_gets_no_request),
};

QUIC_MAIN(cases)
