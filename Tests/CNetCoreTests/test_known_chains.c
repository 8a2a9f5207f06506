/// The verified-chain cache: verified chains are found again, and vouch for no other chain.
#include "driven.h"
#include "net/engine_state.h"
#include "pinned.h"
#include "trust/known_chains.h"
#include "trust/verify.h"

#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/// A leaf, the intermediate that issued it, and their root.
typedef struct set {
    family family;
    X509_STORE *anchors;
    STACK_OF(X509) * others;
    nc_sent_chain sent;
    nc_known_chains known;
} set;

static X509_STORE *store_of(const nct_made *root) {
    X509_STORE *store = X509_STORE_new();
    X509 *certificate = family_certificate(root);
    assert_int_equal(X509_STORE_add_cert(store, certificate), 1);
    X509_free(certificate);
    return store;
}

static void send_chain(set *s, const nct_made *leaf) {
    X509_free(s->sent.leaf);
    s->sent.leaf = family_certificate(leaf);
}

static void begin(set *s) {
    *s = (set){.sent = {.at_s = family_now()}};
    family_make(&s->family);
    s->anchors = store_of(s->family.root);
    s->others = sk_X509_new_null();
    assert_true(sk_X509_push(s->others, family_certificate(s->family.leaf)) > 0);
    assert_true(sk_X509_push(s->others, family_certificate(s->family.middle)) > 0);
    s->sent.certificates = s->others;
    send_chain(s, s->family.leaf);
}

static void end(set *s) {
    nc_known_chains_deinit(&s->known);
    sk_X509_pop_free(s->others, X509_free);
    X509_STORE_free(s->anchors);
    X509_free(s->sent.leaf);
    family_free(&s->family);
}

/// Verifies the sent chain and caches it.
static void learn(set *s) {
    STACK_OF(X509) *verified = NULL;
    assert_int_equal(nc_verify_chain(&verified, &s->sent, s->anchors, NULL, false), X509_V_OK);
    nc_known_chains_keep(&s->known, &s->sent, s->anchors, verified);
    sk_X509_pop_free(verified, X509_free);
}

static int known_length(set *s) {
    STACK_OF(X509) *found = nc_known_chains_find(&s->known, &s->sent, s->anchors);
    int length = found != NULL ? sk_X509_num(found) : 0;
    sk_X509_pop_free(found, X509_free);
    return length;
}

static void known_chains__are_known_by_all_that_was_sent(void **state) {
    set s;
    (void)state;
    begin(&s);
    assert_int_equal(known_length(&s), 0);
    learn(&s);
    assert_int_equal(known_length(&s), 3);
    send_chain(&s, s.family.leaf); // equal bytes, parsed again
    assert_int_equal(known_length(&s), 3);
    send_chain(&s, s.family.other);
    assert_int_equal(known_length(&s), 0);
    send_chain(&s, s.family.evil);
    assert_int_equal(known_length(&s), 0);
    send_chain(&s, s.family.leaf);
    X509 *middle = sk_X509_pop(s.others);
    assert_int_equal(known_length(&s), 0);
    assert_true(sk_X509_unshift(s.others, middle) > 0);
    assert_int_equal(known_length(&s), 0);
    s.sent.certificates = NULL;
    assert_int_equal(known_length(&s), 0);
    end(&s);
}

static void known_chains__are_known_under_their_anchors_alone(void **state) {
    set s;
    (void)state;
    begin(&s);
    learn(&s);
    X509_STORE *own = s.anchors;
    s.anchors = store_of(s.family.foreign);
    assert_int_equal(known_length(&s), 0);
    X509_STORE_free(s.anchors);
    s.anchors = own;
    assert_int_equal(known_length(&s), 3);
    end(&s);
}

static void known_chains__are_known_while_every_certificate_is_valid(void **state) {
    set s;
    (void)state;
    begin(&s);
    nct_made *brief = nct_make(&(nct_wish){.issuer = s.family.middle,
                                           .common_name = "brief",
                                           .names = "DNS:localhost",
                                           .begins_in_days = -1,
                                           .ends_in_days = 1});
    assert_non_null(brief);
    send_chain(&s, brief);
    learn(&s);
    struct tm until_parts = {0};
    struct tm from_parts = {0};
    assert_int_equal(ASN1_TIME_to_tm(X509_get0_notAfter(s.sent.leaf), &until_parts), 1);
    assert_int_equal(ASN1_TIME_to_tm(X509_get0_notBefore(s.sent.leaf), &from_parts), 1);
    int64_t until_s = timegm(&until_parts);
    int64_t from_s = timegm(&from_parts);
    // Found in the cache exactly at the times at which OpenSSL accepts it.
    const int64_t times[] = {from_s - 1, from_s, from_s + 1, until_s - 1, until_s, until_s + 1, 0, INT64_MAX};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        STACK_OF(X509) *verified = NULL;
        s.sent.at_s = times[i];
        bool is_good = nc_verify_chain(&verified, &s.sent, s.anchors, NULL, false) == X509_V_OK;
        sk_X509_pop_free(verified, X509_free);
        assert_int_equal(known_length(&s), is_good ? 3 : 0);
        assert_int_equal(is_good, i >= 1 && i <= 3);
    }
    nct_made_free(brief);
    end(&s);
}

static void known_chains__make_way_for_newer_ones(void **state) {
    set s;
    (void)state;
    begin(&s);
    learn(&s);
    for (int i = 0; i < NC_KNOWN_CHAINS; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "leaf %d", i);
        nct_made *made =
            nct_make(&(nct_wish){.issuer = s.family.middle, .common_name = name, .names = "DNS:localhost"});
        assert_non_null(made);
        send_chain(&s, made);
        learn(&s);
        assert_int_equal(known_length(&s), 3);
        nct_made_free(made);
        send_chain(&s, s.family.leaf);
        assert_int_equal(known_length(&s), i < NC_KNOWN_CHAINS - 1 ? 3 : 0);
    }
    end(&s);
}

static void known_chains__are_short(void **state) {
    set s;
    (void)state;
    begin(&s);
    while (sk_X509_num(s.others) <= NC_KNOWN_CERTIFICATES) {
        assert_true(sk_X509_push(s.others, family_certificate(s.family.other)) > 0);
    }
    learn(&s);
    assert_int_equal(known_length(&s), 0);
    X509_free(sk_X509_pop(s.others));
    learn(&s);
    assert_int_equal(known_length(&s), 3);
    // A few large chains exceed the limit too.
    char names[12000];
    size_t length = (size_t)snprintf(names, sizeof names, "DNS:localhost");
    for (int i = 0; length < sizeof names - 64; i++) {
        length += (size_t)snprintf(names + length, sizeof names - length, ",DNS:a-rather-long-name-%d.example", i);
    }
    nct_made *large = nct_make(&(nct_wish){.issuer = s.family.middle, .common_name = "large", .names = names});
    assert_non_null(large);
    send_chain(&s, large);
    learn(&s);
    assert_int_equal(known_length(&s), 3);
    X509_free(sk_X509_pop(s.others));
    assert_true(sk_X509_push(s.others, family_certificate(large)) > 0);
    learn(&s);
    assert_int_equal(known_length(&s), 0);
    nct_made_free(large);
    end(&s);
}

/* --- over the wire --- */

/// Makes every request open a new connection with a full handshake.
static void begin_anew_each_time(pinned *p) {
    fixture_script(&p->f, "/t", (nct_reply){.body = "ok", .body_length = 2, .ending = NCT_CLOSE});
}

/// Returns the number of chains in all connection pools. Nothing may be in flight.
static size_t known_count(const pinned *p) {
    const nc_link *lanes = &p->f.engine->loop.lanes;
    size_t count = 0;
    for (const nc_link *link = lanes->next; link != lanes; link = link->next) {
        const nc_lane *lane = NC_CONTAINER_OF(link, nc_lane, link);
        for (size_t i = 0; i < NC_KNOWN_CHAINS; i++) {
            count += lane->known.chains[i].leaf != NULL ? 1 : 0;
        }
    }
    return count;
}

static void trust__a_known_chain_is_asked_for_its_name_and_pins_each_time(void **state) {
    pinned p;
    (void)state;
    pinned_start_with(&p, &(nct_server_options){.tickets = NCT_TICKETS_NONE});
    begin_anew_each_time(&p);
    pinned_rule(&p, 0, "127.0.0.1", p.family.foreign);
    for (int i = 0; i < 3; i++) {
        assert_answered(pinned_ask(&p), 200, "ok");
        assert_status(pinned_ask_at(&p, "name.test", "/t").error.status, NC_ERR_TLS_NAME);
        assert_status(pinned_ask_at(&p, "127.0.0.1", "/t").error.status, NC_ERR_PIN_MISMATCH);
        // The mapped name has another connection pool, which has the chain too.
        assert_int_equal(known_count(&p), 2);
    }
    assert_int_equal(nct_server_resumed_count(p.f.server), 0);
    assert_int_equal(nct_server_request_count(p.f.server), 3);
    pinned_stop(&p);
}

static void trust__a_known_chain_is_refused_once_it_has_expired(void **state) {
    pinned p = {.options = {0}};
    driven time = driven_begin();
    (void)state;
    family_make(&p.family);
    nct_server_options server = pinned_showing(&p);
    server.tickets = NCT_TICKETS_NONE;
    driven_start_with(&p.f, &time, &server, (nc_engine_options){0});
    begin_anew_each_time(&p);
    p.options = (nc_trust_options){.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_made_pem(p.family.root))};
    assert_answered(pinned_ask(&p), 200, "ok");
    assert_answered(pinned_ask(&p), 200, "ok");
    driven_advance(&time, p.f.engine, 8u * 24 * 3600 * 1000);
    assert_ended(pinned_ask(&p), NC_ERR_TLS_EXPIRED, 60, "expired");
    assert_int_equal(known_count(&p), 1);
    pinned_stop(&p);
}

static void trust__a_known_chain_speaks_for_no_other(void **state) {
    pinned p;
    (void)state;
    pinned_start_with(&p, &(nct_server_options){.tickets = NCT_TICKETS_NONE});
    begin_anew_each_time(&p);
    assert_answered(pinned_ask(&p), 200, "ok");
    // Another authority's leaf for the same name, followed by the known certificates.
    nct_server_options options = pinned_showing(&p);
    options.chain_pem =
        (const char *)family_join(&p.family, p.family.evil, p.family.leaf, p.family.middle, p.family.root, NULL).data;
    options.key_pem = nct_made_key_pem(p.family.evil);
    nct_server *evil = NULL;
    assert_int_equal(nct_server_start(&evil, &options), 0);
    nc_request request = {.url = nc_slice_of(fixture_url_of(&p.f, evil, "localhost", "/t")),
                          .trust = fixture_trust(&p.f, &p.options)};
    assert_ended(fixture_send(&p.f, &request), NC_ERR_TLS_UNTRUSTED, 60, "localhost");
    assert_int_equal(known_count(&p), 1);
    nct_server_stop(evil);
    pinned_stop(&p);
}

static void trust__beside_revocation_lists_no_chain_is_known(void **state) {
    char path[] = "/tmp/netcore-lists-XXXXXX";
    pinned p;
    (void)state;
    pinned_start_with(&p, &(nct_server_options){.tickets = NCT_TICKETS_NONE});
    begin_anew_each_time(&p);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    const nct_made *const issuers[] = {p.family.root, p.family.middle};
    for (size_t i = 0; i < 2; i++) {
        char *list = nct_made_revocation_list(issuers[i], NULL);
        assert_non_null(list);
        assert_int_equal(write(fd, list, strlen(list)), strlen(list));
        free(list);
    }
    close(fd);
    p.options.crl_file = nc_slice_of(path);
    assert_answered(pinned_ask(&p), 200, "ok");
    assert_answered(pinned_ask(&p), 200, "ok");
    assert_int_equal(known_count(&p), 0);
    unlink(path);
    pinned_stop(&p);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(known_chains__are_known_by_all_that_was_sent),
        harness_case(known_chains__are_known_under_their_anchors_alone),
        harness_case(known_chains__are_known_while_every_certificate_is_valid),
        harness_case(known_chains__make_way_for_newer_ones),
        harness_case(known_chains__are_short),
        harness_case(trust__a_known_chain_is_asked_for_its_name_and_pins_each_time),
        harness_case(trust__a_known_chain_is_refused_once_it_has_expired),
        harness_case(trust__a_known_chain_speaks_for_no_other),
        harness_case(trust__beside_revocation_lists_no_chain_is_known),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
