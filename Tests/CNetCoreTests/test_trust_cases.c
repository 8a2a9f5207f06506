/// Every case of trust, over real handshakes and without a network. A rejection comes before a byte of the request is
/// sent.
#include "fixture.h"

#include <stdio.h>
#include <string.h>

enum { MAX_RULES = 4, MAX_PINS = 4 };

/// A case's pins as rules. The case owns the texts.
typedef struct case_rules {
    nc_trust_rule rules[MAX_RULES];
    nc_slice pins[MAX_RULES][MAX_PINS];
    size_t count;
} case_rules;

static void read_rules(case_rules *out, const nct_trust_fixture *trust_case, size_t index) {
    *out = (case_rules){.count = 0};
    const char *line;
    for (size_t i = 0; (line = nct_trust_fixture_pin(trust_case, i)) != NULL; i++) {
        const char *equals = strchr(line, '=');
        nc_slice hosts = nc_slice_make(line, (size_t)(equals - line));
        size_t at = 0;
        while (at < out->count && !nc_slice_is_equal(out->rules[at].hosts, hosts)) {
            at++;
        }
        nc_trust_rule *rule = &out->rules[at];
        out->count = at == out->count ? at + 1 : out->count;
        *rule = (nc_trust_rule){.hosts = hosts,
                                .mode = NC_PIN_PUBLIC_KEY,
                                .pins = out->pins[at],
                                .pin_count = rule->pin_count,
                                .reports_only = nct_trust_fixture_reports_only(index)};
        out->pins[at][rule->pin_count++] = nc_slice_of(equals + 1);
    }
}

static nc_trust_options options_of(const nct_trust_fixture *trust_case, const case_rules *pins, size_t index) {
    return (nc_trust_options){.roots = NC_ROOTS_BYTES,
                              .ca_pem = nc_slice_of(nct_trust_fixture_ca_pem(trust_case)),
                              .accepts_anything = nct_trust_fixture_accepts_anything(index),
                              .rules = pins->rules,
                              .rule_count = pins->count};
}

static void assert_ending(size_t index, nc_status status, const char *message) {
    if (strcmp(nc_status_name(status), nct_trust_fixture_expectation(index)) != 0) {
        fail_msg("%s: %s (%s), not %s", nct_trust_fixture_name(index), nc_status_name(status), message,
                 nct_trust_fixture_expectation(index));
    }
}

static answer send_request(nc_engine *engine, const nct_trust_fixture *trust_case, nc_trust *trust) {
    answer one = {.response = NULL};
    nc_transfer_id id = 0;
    bool is_cross_origin = strcmp(nct_trust_fixture_host(trust_case), "127.0.0.1") != 0;
    const nc_connect_to there = {.host = nc_slice_of(nct_trust_fixture_host(trust_case)),
                                 .to_host = nc_slice_of("127.0.0.1")};
    const nc_request request = {.url = nc_slice_of(nct_trust_fixture_url(trust_case)),
                                .trust = trust,
                                .connect_to = is_cross_origin ? &there : NULL,
                                .connect_to_count = is_cross_origin ? 1 : 0};
    assert_status(nc_engine_submit(engine, &request, NULL, &id, &one.error), NC_OK);
    nc_status status = nc_engine_wait(engine, id, FIXTURE_LIMIT_MS, &one.response, &one.error);
    assert_status(status, one.error.status);
    return one;
}

static void run_case(nc_engine *engine, size_t index) {
    nct_trust_fixture *trust_case = nct_trust_fixture_start(index);
    case_rules pins;
    nc_trust *trust = NULL;
    nc_error err;
    assert_non_null(trust_case);
    read_rules(&pins, trust_case, index);
    const nc_trust_options options = options_of(trust_case, &pins, index);
    nc_status status = nc_trust_new(&trust, &options, &err);
    if (status != NC_OK) {
        assert_ending(index, status, err.message);
        nct_trust_fixture_stop(trust_case);
        return;
    }
    for (int i = 0; i < 2; i++) { // the second request could reuse a connection or a session
        answer one = send_request(engine, trust_case, trust);
        assert_ending(index, one.error.status, one.error.message);
        if (one.error.status == NC_OK) {
            assert_slice_equals(nc_response_body(one.response), "ok");
        } else if (one.error.status != NC_ERR_PLAINTEXT_REFUSED) {
            assert_non_null(nc_response_trust_result(one.response));
            assert_status(nc_response_trust_result(one.response)->status, one.error.status);
        }
        size_t expected = one.error.status == NC_OK ? (size_t)i + 1 : 0;
        assert_int_equal(nct_server_request_count(nct_trust_fixture_server(trust_case)), expected);
        nc_response_release(one.response);
    }
    nc_trust_release(trust);
    nct_trust_fixture_stop(trust_case);
}

static void trust__every_case_ends_as_expected(void **state) {
    nc_engine *engine = NULL;
    nc_error err;
    (void)state;
    assert_status(nc_engine_new(&engine, NULL, &err), NC_OK);
    for (size_t i = 0; i < nct_trust_fixture_count(); i++) {
        run_case(engine, i);
    }
    print_message("%zu scenes\n", nct_trust_fixture_count());
    assert_true(nct_trust_fixture_count() >= 40);
    assert_status(nc_engine_close(engine, FIXTURE_LIMIT_MS), NC_OK);
}

static void trust__evaluation_without_a_network_agrees_with_the_handshake(void **state) {
    (void)state;
    for (size_t i = 0; i < nct_trust_fixture_count(); i++) {
        nct_trust_fixture *trust_case = nct_trust_fixture_start(i);
        case_rules pins;
        nc_trust *trust = NULL;
        nc_error err;
        nc_trust_result result;
        assert_non_null(trust_case);
        read_rules(&pins, trust_case, i);
        const nc_trust_options options = options_of(trust_case, &pins, i);
        nc_status status = nc_trust_new(&trust, &options, &err);
        if (status == NC_OK && nct_trust_fixture_chain_pem(trust_case)[0] != '\0') {
            const nc_trust_question question = {.chain = nc_slice_of(nct_trust_fixture_chain_pem(trust_case)),
                                                .host = nc_slice_of(nct_trust_fixture_host(trust_case)),
                                                .port = nct_server_port(nct_trust_fixture_server(trust_case)),
                                                .at_s = nc_clock_system().realtime_ns(NULL) / 1000000000};
            assert_status(nc_trust_evaluate(&result, trust, &question, &err), NC_OK);
            assert_ending(i, result.status, result.message);
            assert_true(result.chain_count > 0);
            assert_int_equal(strncmp(nc_trust_result_chain_pin(&result, 0), "sha256/", 7), 0);
        }
        nc_trust_release(trust);
        nct_trust_fixture_stop(trust_case);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(trust__every_case_ends_as_expected),
        harness_case(trust__evaluation_without_a_network_agrees_with_the_handshake),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
