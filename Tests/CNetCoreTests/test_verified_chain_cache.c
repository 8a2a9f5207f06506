/// The verified-chain cache: verified chains are found again, and vouch for no other chain.
#include "curl/connection_pool.h"
#include "driven.h"
#include "pinned.h"
#include "state/engine_record.h"
#include "trust/verified_chain_cache.h"
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
    nc_verified_chain_cache known;
} set;

static X509_STORE *store_of(const nct_test_certificate *root) {
    X509_STORE *store = X509_STORE_new();
    X509 *certificate = family_certificate(root);
    assert_int_equal(X509_STORE_add_cert(store, certificate), 1);
    X509_free(certificate);
    return store;
}

static void send_chain(set *s, const nct_test_certificate *leaf) {
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
    nc_verified_chain_cache_deinit(&s->known);
    sk_X509_pop_free(s->others, X509_free);
    X509_STORE_free(s->anchors);
    X509_free(s->sent.leaf);
    family_free(&s->family);
}

/// Verifies the sent chain and caches it.
static void cache_chain(set *s) {
    STACK_OF(X509) *verified = NULL;
    assert_int_equal(nc_verify_chain(&verified, &s->sent, s->anchors, NULL, false), X509_V_OK);
    nc_verified_chain_cache_add(&s->known, &s->sent, s->anchors, verified);
    sk_X509_pop_free(verified, X509_free);
}

static int known_length(set *s) {
    STACK_OF(X509) *found = nc_verified_chain_cache_find(&s->known, &s->sent, s->anchors);
    int length = found != NULL ? sk_X509_num(found) : 0;
    sk_X509_pop_free(found, X509_free);
    return length;
}

static void verified_chain_cache__a_chain_is_found_by_all_sent_certificates(void **state) {
    set s;
    (void)state;
    begin(&s);
    assert_int_equal(known_length(&s), 0);
    cache_chain(&s);
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

static void verified_chain_cache__a_chain_is_found_only_for_its_anchors(void **state) {
    set s;
    (void)state;
    begin(&s);
    cache_chain(&s);
    X509_STORE *own = s.anchors;
    s.anchors = store_of(s.family.foreign);
    assert_int_equal(known_length(&s), 0);
    X509_STORE_free(s.anchors);
    s.anchors = own;
    assert_int_equal(known_length(&s), 3);
    end(&s);
}

static void verified_chain_cache__a_chain_is_found_while_every_certificate_is_valid(void **state) {
    set s;
    (void)state;
    begin(&s);
    nct_test_certificate *brief = nct_test_certificate_create(&(nct_certificate_options){.issuer = s.family.middle,
                                                                                         .common_name = "brief",
                                                                                         .names = "DNS:localhost",
                                                                                         .begins_in_days = -1,
                                                                                         .ends_in_days = 1});
    assert_non_null(brief);
    send_chain(&s, brief);
    cache_chain(&s);
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
    nct_test_certificate_free(brief);
    end(&s);
}

static void verified_chain_cache__newer_chains_evict_older_ones(void **state) {
    set s;
    (void)state;
    begin(&s);
    cache_chain(&s);
    for (int i = 0; i < NC_VERIFIED_CHAIN_CACHE_MAX_CHAINS; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "leaf %d", i);
        nct_test_certificate *made = nct_test_certificate_create(
            &(nct_certificate_options){.issuer = s.family.middle, .common_name = name, .names = "DNS:localhost"});
        assert_non_null(made);
        send_chain(&s, made);
        cache_chain(&s);
        assert_int_equal(known_length(&s), 3);
        nct_test_certificate_free(made);
        send_chain(&s, s.family.leaf);
        assert_int_equal(known_length(&s), i < NC_VERIFIED_CHAIN_CACHE_MAX_CHAINS - 1 ? 3 : 0);
    }
    end(&s);
}

static void verified_chain_cache__long_chains_are_not_stored(void **state) {
    set s;
    (void)state;
    begin(&s);
    while (sk_X509_num(s.others) <= NC_VERIFIED_CHAIN_CACHE_MAX_CERTIFICATES) {
        assert_true(sk_X509_push(s.others, family_certificate(s.family.other)) > 0);
    }
    cache_chain(&s);
    assert_int_equal(known_length(&s), 0);
    X509_free(sk_X509_pop(s.others));
    cache_chain(&s);
    assert_int_equal(known_length(&s), 3);
    // A few large chains exceed the limit too.
    char names[12000];
    size_t length = (size_t)snprintf(names, sizeof names, "DNS:localhost");
    for (int i = 0; length < sizeof names - 64; i++) {
        length += (size_t)snprintf(names + length, sizeof names - length, ",DNS:a-rather-long-name-%d.example", i);
    }
    nct_test_certificate *large = nct_test_certificate_create(
        &(nct_certificate_options){.issuer = s.family.middle, .common_name = "large", .names = names});
    assert_non_null(large);
    send_chain(&s, large);
    cache_chain(&s);
    assert_int_equal(known_length(&s), 3);
    X509_free(sk_X509_pop(s.others));
    assert_true(sk_X509_push(s.others, family_certificate(large)) > 0);
    cache_chain(&s);
    assert_int_equal(known_length(&s), 0);
    nct_test_certificate_free(large);
    end(&s);
}

/* --- over the wire --- */

/// Makes every request open a new connection with a full handshake.
static void use_new_connections(pinned *p) {
    fixture_script(&p->f, "/t", (nct_reply){.body = "ok", .body_length = 2, .ending = NCT_CLOSE});
}

/// Returns the number of chains in all connection pools. Nothing may be in flight.
static size_t known_count(const pinned *p) {
    const nc_link *conn_pools = &p->f.engine->loop.conn_pools;
    size_t count = 0;
    for (const nc_link *link = conn_pools->next; link != conn_pools; link = link->next) {
        const nc_conn_pool *conn_pool = NC_CONTAINER_OF(link, nc_conn_pool, link);
        for (size_t i = 0; i < NC_VERIFIED_CHAIN_CACHE_MAX_CHAINS; i++) {
            count += conn_pool->verified_chains.chains[i].leaf != NULL ? 1 : 0;
        }
    }
    return count;
}

static void trust__name_and_pins_of_a_cached_chain_are_checked_each_time(void **state) {
    pinned p;
    (void)state;
    pinned_start_with(&p, &(nct_server_options){.tickets = NCT_TICKETS_NONE});
    use_new_connections(&p);
    pinned_rule(&p, 0, "127.0.0.1", p.family.foreign);
    for (int i = 0; i < 3; i++) {
        assert_response(pinned_get(&p), 200, "ok");
        assert_status(pinned_get_at(&p, "name.test", "/t").error.status, NC_ERR_TLS_NAME);
        assert_status(pinned_get_at(&p, "127.0.0.1", "/t").error.status, NC_ERR_PIN_MISMATCH);
        // The mapped name has another connection pool, which has the chain too.
        assert_int_equal(known_count(&p), 2);
    }
    assert_int_equal(nct_server_resumed_count(p.f.server), 0);
    assert_int_equal(nct_server_request_count(p.f.server), 3);
    pinned_stop(&p);
}

static void trust__a_cached_chain_is_rejected_after_it_expires(void **state) {
    pinned p = {.options = {0}};
    manual_clock time = manual_clock_make();
    (void)state;
    family_make(&p.family);
    nct_server_options server = pinned_server_options(&p);
    server.tickets = NCT_TICKETS_NONE;
    manual_clock_start_fixture_with(&p.f, &time, &server, (nc_engine_options){0});
    use_new_connections(&p);
    p.options =
        (nc_trust_options){.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_test_certificate_pem(p.family.root))};
    assert_response(pinned_get(&p), 200, "ok");
    assert_response(pinned_get(&p), 200, "ok");
    manual_clock_advance(&time, p.f.engine, 8u * 24 * 3600 * 1000);
    assert_ended(pinned_get(&p), NC_ERR_TLS_EXPIRED, 60, "expired");
    assert_int_equal(known_count(&p), 1);
    pinned_stop(&p);
}

static void trust__a_cached_chain_vouches_for_no_other(void **state) {
    pinned p;
    (void)state;
    pinned_start_with(&p, &(nct_server_options){.tickets = NCT_TICKETS_NONE});
    use_new_connections(&p);
    assert_response(pinned_get(&p), 200, "ok");
    // Another authority's leaf for the same name, followed by the known certificates.
    nct_server_options options = pinned_server_options(&p);
    options.chain_pem =
        (const char *)family_join(&p.family, p.family.evil, p.family.leaf, p.family.middle, p.family.root, NULL).data;
    options.key_pem = nct_test_certificate_key_pem(p.family.evil);
    nct_server *evil = NULL;
    assert_int_equal(nct_server_start(&evil, &options), 0);
    nc_request request = {.url = nc_slice_of(fixture_url_of(&p.f, evil, "localhost", "/t")),
                          .trust = fixture_trust(&p.f, &p.options)};
    assert_ended(fixture_send(&p.f, &request), NC_ERR_TLS_UNTRUSTED, 60, "localhost");
    assert_int_equal(known_count(&p), 1);
    nct_server_stop(evil);
    pinned_stop(&p);
}

static void trust__no_chain_is_cached_if_revocation_lists_are_used(void **state) {
    char path[] = "/tmp/netcore-lists-XXXXXX";
    pinned p;
    (void)state;
    pinned_start_with(&p, &(nct_server_options){.tickets = NCT_TICKETS_NONE});
    use_new_connections(&p);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    const nct_test_certificate *const issuers[] = {p.family.root, p.family.middle};
    for (size_t i = 0; i < 2; i++) {
        char *list = nct_test_certificate_revocation_list(issuers[i], NULL);
        assert_non_null(list);
        assert_int_equal(write(fd, list, strlen(list)), strlen(list));
        free(list);
    }
    close(fd);
    p.options.crl_file = nc_slice_of(path);
    assert_response(pinned_get(&p), 200, "ok");
    assert_response(pinned_get(&p), 200, "ok");
    assert_int_equal(known_count(&p), 0);
    unlink(path);
    pinned_stop(&p);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(verified_chain_cache__a_chain_is_found_by_all_sent_certificates),
        harness_case(verified_chain_cache__a_chain_is_found_only_for_its_anchors),
        harness_case(verified_chain_cache__a_chain_is_found_while_every_certificate_is_valid),
        harness_case(verified_chain_cache__newer_chains_evict_older_ones),
        harness_case(verified_chain_cache__long_chains_are_not_stored),
        harness_case(trust__name_and_pins_of_a_cached_chain_are_checked_each_time),
        harness_case(trust__a_cached_chain_is_rejected_after_it_expires),
        harness_case(trust__a_cached_chain_vouches_for_no_other),
        harness_case(trust__no_chain_is_cached_if_revocation_lists_are_used),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
