#define _GNU_SOURCE 1
#include "trust_case.h"

#include "nettesting/test_certificate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The certificates of a fixture. All of them are created for every fixture.
enum {
    ROOT,
    OTHER_ROOT,
    STRANGER, // an untrusted authority
    MIDDLE,
    LEAF,
    RENEWED,     // a later leaf with the same key as LEAF
    REPLACED,    // a later leaf with its own key, whose pin is the backup pin
    UNRELATED,   // a certificate whose key the server never presents
    EVIL,        // the leaf's name, signed by the other root
    CUSTOM_LEAF, // created from the fixture's `nct_certificate_options`
    MADE_COUNT,
};

#define OF_LOCALHOST "DNS:localhost,IP:127.0.0.1"

struct nct_trust_fixture {
    const nct_trust_case *test_case;
    nct_test_certificate *made[MADE_COUNT];
    nct_server *server;
    char *pins[NCT_TRUST_CASE_PINS];
    char *url;
    char *ca_pem;
    char *chain_pem;
};

/* --- certificates --- */

typedef struct role {
    int which;
    int issuer; // -1 means self-signed
    int key_of; // -1 means a new key
    const char *name;
    const char *names;
    bool is_authority;
} role;

static bool make(nct_trust_fixture *fixture, role of) {
    nct_certificate_options certificate_options = {.issuer = of.issuer < 0 ? NULL : fixture->made[of.issuer],
                                                   .same_key_as = of.key_of < 0 ? NULL : fixture->made[of.key_of],
                                                   .common_name = of.name,
                                                   .names = of.names,
                                                   .is_authority = of.is_authority};
    fixture->made[of.which] = nct_test_certificate_create(&certificate_options);
    return fixture->made[of.which] != NULL;
}

static bool make_middle(nct_trust_fixture *fixture) {
    nct_trust_case_chain chain = fixture->test_case->chain;
    nct_certificate_options certificate_options = {
        .issuer = fixture->made[ROOT],
        .common_name = "Scene middle",
        .is_authority = true,
        .constraints = chain == CONSTRAINED ? "critical,permitted;DNS:other.example"
                       : chain == PERMITTED ? "critical,permitted;DNS:localhost,permitted;IP:127.0.0.1/"
                                              "255.255.255.255"
                                            : NULL};
    fixture->made[MIDDLE] = nct_test_certificate_create(&certificate_options);
    return fixture->made[MIDDLE] != NULL;
}

static bool make_custom_leaf(nct_trust_fixture *fixture) {
    nct_trust_case_chain chain = fixture->test_case->chain;
    nct_certificate_options certificate_options = fixture->test_case->certificate_options;
    certificate_options.issuer = chain == CUSTOM                   ? fixture->made[ROOT]
                                 : chain == CUSTOM_BELOW           ? fixture->made[MIDDLE]
                                 : chain == BY_UNRELATED_AUTHORITY ? fixture->made[STRANGER]
                                                                   : NULL;
    certificate_options.common_name =
        certificate_options.common_name == NULL ? "scene" : certificate_options.common_name;
    certificate_options.names = chain == BY_UNRELATED_AUTHORITY ? OF_LOCALHOST : certificate_options.names;
    fixture->made[CUSTOM_LEAF] = nct_test_certificate_create(&certificate_options);
    return fixture->made[CUSTOM_LEAF] != NULL;
}

static bool make_all(nct_trust_fixture *fixture) {
    return make(fixture, (role){ROOT, -1, -1, "Scene root", NULL, true}) &&
           make(fixture, (role){OTHER_ROOT, -1, -1, "Scene other root", NULL, true}) &&
           make(fixture, (role){STRANGER, -1, -1, "Scene stranger", NULL, true}) && make_middle(fixture) &&
           make(fixture, (role){LEAF, MIDDLE, -1, "leaf", OF_LOCALHOST, false}) &&
           make(fixture, (role){RENEWED, MIDDLE, LEAF, "leaf", OF_LOCALHOST, false}) &&
           make(fixture, (role){REPLACED, MIDDLE, -1, "leaf", OF_LOCALHOST, false}) &&
           make(fixture, (role){UNRELATED, -1, -1, "unrelated", NULL, false}) &&
           make(fixture, (role){EVIL, OTHER_ROOT, -1, "leaf", OF_LOCALHOST, false}) && make_custom_leaf(fixture);
}

/// Joins the PEM texts of some certificates; -1 ends the list. The server uses the first one's key.
static char *join(const nct_trust_fixture *fixture, const int *which) {
    size_t length = 0;
    for (size_t i = 0; which[i] >= 0; i++)
        length += strlen(nct_test_certificate_pem(fixture->made[which[i]]));
    char *text = malloc(length + 1);
    size_t used = 0;
    for (size_t i = 0; text != NULL && which[i] >= 0; i++) {
        const char *pem = nct_test_certificate_pem(fixture->made[which[i]]);
        size_t count = strlen(pem);
        memcpy(text + used, pem, count);
        used += count;
    }
    if (text != NULL)
        text[used] = '\0';
    return text;
}

static const int *chain_of(nct_trust_case_chain chain) {
    static const int chains[][5] = {
        [PLAIN] = {-1},
        [WHOLE] = {LEAF, MIDDLE, -1},
        [WITHOUT_MIDDLE] = {LEAF, -1},
        [RENEWED_WHOLE] = {RENEWED, MIDDLE, -1},
        [REPLACED_WHOLE] = {REPLACED, MIDDLE, -1},
        [BY_OTHER_ROOT] = {EVIL, -1},
        [WITH_DECOYS] = {EVIL, LEAF, MIDDLE, -1},
        [WITH_ROOT_DECOY] = {EVIL, MIDDLE, ROOT, -1},
        [CUSTOM] = {CUSTOM_LEAF, -1},
        [CUSTOM_BELOW] = {CUSTOM_LEAF, MIDDLE, -1},
        [CUSTOM_ALONE] = {CUSTOM_LEAF, -1},
        [BY_UNRELATED_AUTHORITY] = {CUSTOM_LEAF, -1},
        [CONSTRAINED] = {LEAF, MIDDLE, -1},
        [PERMITTED] = {LEAF, MIDDLE, -1},
    };
    return chains[chain];
}

/* --- pins --- */

/// Replaces "@name" in a pin of the table by the pin of that certificate.
static char *fill_pin(const nct_trust_fixture *fixture, const char *plan) {
    const char *equals = strrchr(plan, '@') != NULL ? strchr(plan, '=') : NULL;
    const char *port = strstr(plan, ":@port");
    char host[128];
    char *filled = NULL;
    if (port != NULL) {
        snprintf(host, sizeof host, "%.*s:%u", (int)(port - plan), plan, nct_server_port(fixture->server));
        return asprintf(&filled, "%s%s", host, port + strlen(":@port")) < 0 ? NULL : filled;
    }
    const char *what = equals == NULL ? "" : equals + 1;
    const nct_test_certificate *const *made = (const nct_test_certificate *const *)fixture->made;
    const char *pin = strcmp(what, "@leaf") == 0        ? nct_test_certificate_pin(made[LEAF])
                      : strcmp(what, "@middle") == 0    ? nct_test_certificate_pin(made[MIDDLE])
                      : strcmp(what, "@root") == 0      ? nct_test_certificate_pin(made[ROOT])
                      : strcmp(what, "@shown") == 0     ? nct_test_certificate_pin(made[CUSTOM_LEAF])
                      : strcmp(what, "@replaced") == 0  ? nct_test_certificate_pin(made[REPLACED])
                      : strcmp(what, "@unrelated") == 0 ? nct_test_certificate_pin(made[UNRELATED])
                      : strcmp(what, "@hex") == 0       ? nct_test_certificate_hex_pin(made[LEAF])
                                                        : NULL;
    if (strcmp(what, "@curl") == 0)
        return asprintf(&filled, "%.*ssha256//%s", (int)(what - plan), plan, nct_test_certificate_pin(made[LEAF]) + 7) <
                       0
                   ? NULL
                   : filled;
    if (pin == NULL)
        return strdup(plan);
    return asprintf(&filled, "%.*s%s", (int)(what - plan), plan, pin) < 0 ? NULL : filled;
}

static bool fill_pins(nct_trust_fixture *fixture) {
    bool is_filled = true;
    for (size_t i = 0; i < NCT_TRUST_CASE_PINS && fixture->test_case->pins[i] != NULL; i++) {
        fixture->pins[i] = fill_pin(fixture, fixture->test_case->pins[i]);
        is_filled = is_filled && fixture->pins[i] != NULL;
    }
    return is_filled;
}

/* --- fixtures --- */

static bool start(nct_trust_fixture *fixture) {
    const int *shown = chain_of(fixture->test_case->chain);
    bool is_plain = fixture->test_case->chain == PLAIN;
    fixture->ca_pem = join(fixture, (const int[]){ROOT, OTHER_ROOT, -1});
    fixture->chain_pem = join(fixture, shown);
    if (fixture->ca_pem == NULL || fixture->chain_pem == NULL)
        return false;
    const nct_server_options options = {
        .identity = is_plain ? NCT_PLAIN : NCT_TLS_VALID,
        .chain_pem = is_plain ? NULL : fixture->chain_pem,
        .key_pem = is_plain ? NULL : nct_test_certificate_key_pem(fixture->made[shown[0]]),
    };
    if (nct_server_start(&fixture->server, &options) != 0 ||
        nct_server_script(fixture->server, "*", &(nct_reply){.body = "ok", .body_length = 2}) != 0)
        return false;
    int length = asprintf(&fixture->url, "%s://%s:%u/", is_plain ? "http" : "https", nct_trust_fixture_host(fixture),
                          nct_server_port(fixture->server));
    if (length < 0)
        fixture->url = NULL;
    return length >= 0 && fill_pins(fixture);
}

size_t nct_trust_fixture_count(void) {
    return nct_trust_case_count;
}

const char *nct_trust_fixture_name(size_t index) {
    return nct_trust_cases[index].name;
}

const char *nct_trust_fixture_expectation(size_t index) {
    return nct_trust_cases[index].expectation;
}

bool nct_trust_fixture_accepts_anything(size_t index) {
    return nct_trust_cases[index].accepts_anything;
}

bool nct_trust_fixture_reports_only(size_t index) {
    return nct_trust_cases[index].reports_only;
}

nct_trust_fixture *nct_trust_fixture_start(size_t index) {
    nct_trust_fixture *fixture = calloc(1, sizeof *fixture);
    if (fixture == NULL)
        return NULL;
    fixture->test_case = &nct_trust_cases[index];
    if (make_all(fixture) && start(fixture))
        return fixture;
    nct_trust_fixture_stop(fixture);
    return NULL;
}

void nct_trust_fixture_stop(nct_trust_fixture *fixture) {
    if (fixture == NULL)
        return;
    nct_server_stop(fixture->server);
    for (size_t i = 0; i < MADE_COUNT; i++)
        nct_test_certificate_free(fixture->made[i]);
    for (size_t i = 0; i < NCT_TRUST_CASE_PINS; i++)
        free(fixture->pins[i]);
    free(fixture->url);
    free(fixture->ca_pem);
    free(fixture->chain_pem);
    free(fixture);
}

const char *nct_trust_fixture_url(const nct_trust_fixture *fixture) {
    return fixture->url;
}

const char *nct_trust_fixture_host(const nct_trust_fixture *fixture) {
    return fixture->test_case->host == NULL ? "localhost" : fixture->test_case->host;
}

const char *nct_trust_fixture_ca_pem(const nct_trust_fixture *fixture) {
    return fixture->ca_pem;
}

const char *nct_trust_fixture_chain_pem(const nct_trust_fixture *fixture) {
    return fixture->chain_pem;
}

const char *nct_trust_fixture_pin(const nct_trust_fixture *fixture, size_t index) {
    return index < NCT_TRUST_CASE_PINS ? fixture->pins[index] : NULL;
}

nct_server *nct_trust_fixture_server(const nct_trust_fixture *fixture) {
    return fixture->server;
}
