/// Every case of trust, over real handshakes and without a network. A rejection comes before a byte of the request is
/// sent.
#include "fixture.h"

#include <stdio.h>
#include <string.h>

enum { MAX_RULES = 4, MAX_PINS = 4 };

/// A case's pins as rules. The case owns the texts.
typedef struct script {
    nc_trust_rule rules[MAX_RULES];
    nc_slice pins[MAX_RULES][MAX_PINS];
    size_t count;
} script;

static void read_script(script *out, const nct_scene *scene, size_t index) {
    *out = (script){.count = 0};
    const char *line;
    for (size_t i = 0; (line = nct_scene_pin(scene, i)) != NULL; i++) {
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
                                .reports_only = nct_scene_reports_only(index)};
        out->pins[at][rule->pin_count++] = nc_slice_of(equals + 1);
    }
}

static nc_trust_options options_of(const nct_scene *scene, const script *pins, size_t index) {
    return (nc_trust_options){.roots = NC_ROOTS_BYTES,
                              .ca_pem = nc_slice_of(nct_scene_ca_pem(scene)),
                              .accepts_anything = nct_scene_accepts_anything(index),
                              .rules = pins->rules,
                              .rule_count = pins->count};
}

static void assert_ending(size_t index, nc_status status, const char *message) {
    if (strcmp(nc_status_name(status), nct_scene_ending(index)) != 0) {
        fail_msg("%s: %s (%s), not %s", nct_scene_name(index), nc_status_name(status), message,
                 nct_scene_ending(index));
    }
}

static answer ask(nc_engine *engine, const nct_scene *scene, nc_trust *trust) {
    answer one = {.response = NULL};
    nc_transfer_id id = 0;
    bool is_elsewhere = strcmp(nct_scene_host(scene), "127.0.0.1") != 0;
    const nc_connect_to there = {.host = nc_slice_of(nct_scene_host(scene)), .to_host = nc_slice_of("127.0.0.1")};
    const nc_request request = {.url = nc_slice_of(nct_scene_url(scene)),
                                .trust = trust,
                                .connect_to = is_elsewhere ? &there : NULL,
                                .connect_to_count = is_elsewhere ? 1 : 0};
    assert_status(nc_engine_submit(engine, &request, NULL, &id, &one.error), NC_OK);
    nc_status status = nc_engine_wait(engine, id, FIXTURE_LIMIT_MS, &one.response, &one.error);
    assert_status(status, one.error.status);
    return one;
}

static void play(nc_engine *engine, size_t index) {
    nct_scene *scene = nct_scene_start(index);
    script pins;
    nc_trust *trust = NULL;
    nc_error err;
    assert_non_null(scene);
    read_script(&pins, scene, index);
    const nc_trust_options options = options_of(scene, &pins, index);
    nc_status status = nc_trust_new(&trust, &options, &err);
    if (status != NC_OK) {
        assert_ending(index, status, err.message);
        nct_scene_stop(scene);
        return;
    }
    for (int i = 0; i < 2; i++) { // The second time there may be a connection, or a session.
        answer one = ask(engine, scene, trust);
        assert_ending(index, one.error.status, one.error.message);
        if (one.error.status == NC_OK) {
            assert_slice_equals(nc_response_body(one.response), "ok");
        } else if (one.error.status != NC_ERR_PLAINTEXT_REFUSED) {
            assert_non_null(nc_response_verdict(one.response));
            assert_status(nc_response_verdict(one.response)->status, one.error.status);
        }
        size_t expected = one.error.status == NC_OK ? (size_t)i + 1 : 0;
        assert_int_equal(nct_server_request_count(nct_scene_server(scene)), expected);
        nc_response_release(one.response);
    }
    nc_trust_release(trust);
    nct_scene_stop(scene);
}

static void trust__every_scene_ends_as_it_must(void **state) {
    nc_engine *engine = NULL;
    nc_error err;
    (void)state;
    assert_status(nc_engine_new(&engine, NULL, &err), NC_OK);
    for (size_t i = 0; i < nct_scene_count(); i++) {
        play(engine, i);
    }
    print_message("%zu scenes\n", nct_scene_count());
    assert_true(nct_scene_count() >= 40);
    assert_status(nc_engine_close(engine, FIXTURE_LIMIT_MS), NC_OK);
}

static void trust__evaluation_without_a_network_ends_as_the_handshake_does(void **state) {
    (void)state;
    for (size_t i = 0; i < nct_scene_count(); i++) {
        nct_scene *scene = nct_scene_start(i);
        script pins;
        nc_trust *trust = NULL;
        nc_error err;
        nc_trust_verdict verdict;
        assert_non_null(scene);
        read_script(&pins, scene, i);
        const nc_trust_options options = options_of(scene, &pins, i);
        nc_status status = nc_trust_new(&trust, &options, &err);
        if (status == NC_OK && nct_scene_chain_pem(scene)[0] != '\0') {
            const nc_trust_question question = {.chain = nc_slice_of(nct_scene_chain_pem(scene)),
                                                .host = nc_slice_of(nct_scene_host(scene)),
                                                .port = nct_server_port(nct_scene_server(scene)),
                                                .at_s = nc_clock_system().realtime_ns(NULL) / 1000000000};
            assert_status(nc_trust_evaluate(&verdict, trust, &question, &err), NC_OK);
            assert_ending(i, verdict.status, verdict.message);
            assert_true(verdict.chain_count > 0);
            assert_int_equal(strncmp(nc_verdict_chain_pin(&verdict, 0), "sha256/", 7), 0);
        }
        nc_trust_release(trust);
        nct_scene_stop(scene);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(trust__every_scene_ends_as_it_must),
        harness_case(trust__evaluation_without_a_network_ends_as_the_handshake_does),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
