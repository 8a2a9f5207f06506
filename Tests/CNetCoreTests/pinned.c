#include "pinned.h"

#include <string.h>

nct_server_options pinned_server_options(pinned *p) {
    return (nct_server_options){.identity = NCT_TLS_VALID,
                                .chain_pem =
                                    (const char *)family_join(&p->family, p->family.leaf, p->family.middle, NULL).data,
                                .key_pem = nct_test_certificate_key_pem(p->family.leaf)};
}

void pinned_start_around(pinned *p, const nct_server_options *more) {
    nct_server_options options = pinned_server_options(p);
    if (more != NULL) {
        options.tickets = more->tickets;
        options.is_tls_1_2_only = more->is_tls_1_2_only;
        options.staple = more->staple;
        options.staple_length = more->staple_length;
        options.client_check = more->client_check;
    }
    fixture_start_with(&p->f, &options, NULL);
    fixture_script(&p->f, "/t", (nct_reply){.body = "ok", .body_length = 2});
    p->options = (nc_trust_options){
        .roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_test_certificate_pem(p->family.root)), .rules = p->rules};
}

void pinned_start_with(pinned *p, const nct_server_options *more) {
    *p = (pinned){.options = {0}};
    family_make(&p->family);
    pinned_start_around(p, more);
}

void pinned_start(pinned *p) {
    pinned_start_with(p, NULL);
}

void pinned_stop(pinned *p) {
    fixture_stop(&p->f);
    family_free(&p->family);
}

void pinned_rule(pinned *p, size_t index, const char *hosts, const nct_test_certificate *key) {
    p->pins[index] = nc_slice_of(nct_test_certificate_pin(key));
    p->rules[index] = (nc_trust_rule){
        .hosts = nc_slice_of(hosts), .mode = NC_PIN_PUBLIC_KEY, .pins = &p->pins[index], .pin_count = 1};
    p->options.rule_count = index + 1;
}

answer pinned_get_at(pinned *p, const char *host, const char *path) {
    nc_request request = {.url = nc_slice_of(fixture_url_at(&p->f, host, path)),
                          .trust = fixture_trust(&p->f, &p->options)};
    const nc_connect_to there = {.host = nc_slice_of(host), .to_host = nc_slice_of("127.0.0.1")};
    bool is_cross_origin = strstr(host, ".test") != NULL;
    request.connect_to = is_cross_origin ? &there : NULL;
    request.connect_to_count = is_cross_origin ? 1 : 0;
    return fixture_send(&p->f, &request);
}

answer pinned_get(pinned *p) {
    return pinned_get_at(p, "localhost", "/t");
}
