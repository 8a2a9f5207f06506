/// Covers: trust/pem.c trust/evaluate.c trust/pin_files.c trust/verify.c trust/profile.c
///
/// A chain from untrusted bytes is evaluated under various policies, or pins are read from such bytes. There is always
/// a result. A rejection has a reason. The pin of a key that cannot exist is never satisfied.
/// Input: a byte (which policy, or pins), a host, the chain.
#include "input.h"
#include "openssl_memory.h"

#include "trust/evaluate.h"
#include "trust/pem.h"
#include "trust/pin.h"

#include <openssl/err.h>
#include <string.h>

enum { BELIEVING = 3, POLICY_COUNT = 4, AS_CERTIFICATES = 64, AS_PINS = 128 };

/// Within the validity of the root below.
static const int64_t evaluated_at_s = 1800000000;

static nc_trust *policies[POLICY_COUNT];

/// The parsed authorities of the last policy. Parsing them for each chain would take most of the time.
static nc_root_store *roots;

/// A pin of zeros, for which no key is known.
static const char impossible[] = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/// The root that signed the chains in the seeds named "believed". Its private key was deleted.
static const char root_pem[] = "-----BEGIN CERTIFICATE-----\n"
                               "MIIBiDCCAS+gAwIBAgIURnH09r9tbGNwPwXhqFH1yXCTA5owCgYIKoZIzj0EAwIw\n"
                               "ETEPMA0GA1UEAwwGTm9ib2R5MCAXDTI2MTEyMjA4MTMzM1oYDzIxMjYxMDI5MDgx\n"
                               "MzMzWjARMQ8wDQYDVQQDDAZOb2JvZHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC\n"
                               "AAQkJm/Xs354Ip67Zt/XvNsh1U+OFT+LHJWb1ldfcg3wIkVcWqO2IFcliBlxPOGD\n"
                               "JVe/H8KzSVFjztKOF5fhrASQo2MwYTAdBgNVHQ4EFgQUNArbuZ879HpdJ3wzisy8\n"
                               "VFVPCowwHwYDVR0jBBgwFoAUNArbuZ879HpdJ3wzisy8VFVPCowwDwYDVR0TAQH/\n"
                               "BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwCgYIKoZIzj0EAwIDRwAwRAIgG9Q79M3E\n"
                               "PjYxIRp3KBVkKYLP4Q/VwOUXI7V9/RaoVaACIHsbVxr8JoVF+bnvCo02y4M/7+1b\n"
                               "ROpjw3iyRA9jhGRu\n"
                               "-----END CERTIFICATE-----\n";

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    static nc_slice pin;
    (void)argc;
    (void)argv;
    openssl_memory_install();
    memory_count_blocks();
    pin = nc_slice_of(impossible);
    const nc_trust_rule rule = {.hosts = nc_slice_of("**"), .mode = NC_PIN_PUBLIC_KEY, .pins = &pin, .pin_count = 1};
    const nc_trust_rule telling = {
        .hosts = nc_slice_of("**"), .mode = NC_PIN_PUBLIC_KEY, .pins = &pin, .pin_count = 1, .reports_only = true};
    const nc_slice root = nc_slice_of(root_pem);
    const nc_trust_options options[POLICY_COUNT] = {
        {.accepts_anything = true, .rules = &rule, .rule_count = 1},
        {.accepts_invalid_chains = true, .rules = &rule, .rule_count = 1},
        {.accepts_anything = true, .rules = &telling, .rule_count = 1},
        {.roots = NC_ROOTS_BYTES, .ca_pem = root, .rules = &rule, .rule_count = 1},
    };
    for (size_t i = 0; i < POLICY_COUNT; i++) {
        CHECK(nc_trust_new(&policies[i], &options[i], NULL) == NC_OK);
    }
    const nc_file_ops files = nc_file_ops_system();
    CHECK(nc_trust_load_roots(&roots, policies[BELIEVING], &files, NULL) == NC_OK);
    return 0;
}

static void check_text(const char *text, size_t capacity) {
    CHECK(memchr(text, 0, capacity) != NULL);
    CHECK(text[0] == '\0' || strlen(text) == NC_PIN_TEXT_BYTES - 1);
}

static void check_result(const nc_trust_result *result, size_t policy) {
    CHECK(policy == 2 || result->status != NC_OK);
    CHECK(result->status == NC_OK || result->message[0] != '\0');
    CHECK(memchr(result->message, 0, sizeof result->message) != NULL);
    CHECK(policy != 2 || result->status == NC_OK || result->status == NC_ERR_TLS_CERTIFICATE);
    for (size_t i = 0; i < NC_TRUST_RESULT_MAX_PINS; i++) {
        check_text(nc_trust_result_chain_pin(result, i), NC_PIN_TEXT_BYTES);
        check_text(nc_trust_result_pin(result, i), NC_PIN_TEXT_BYTES);
    }
}

/// Reads the same bytes as pins: one for each certificate, or an error.
static void check_pins(nc_slice bytes, nc_pin_mode mode) {
    nc_pin_list list = {0};
    nc_error err;
    nc_status status = nc_pin_list_add_bytes(&list, bytes, mode, "bytes", &err);
    CHECK(status == NC_OK || status == NC_ERR_BAD_PIN);
    CHECK(status != NC_OK || list.count > 0);
    nc_pin_list_normalize(&list);
    for (size_t i = 0; i < list.count; i++) {
        CHECK((list.pins[i].certificate != NULL) == (mode == NC_PIN_CERTIFICATE));
        CHECK(i == 0 || nc_pin_compare(&list.pins[i - 1], &list.pins[i]) < 0);
    }
    nc_pin_list_deinit(&list);
}

/// Like nc_trust_evaluate(), with authorities that were parsed before.
static void evaluate_with_roots(nc_trust_result *out, const nc_trust_question *question) {
    nc_host_name host;
    STACK_OF(X509) *chain = NULL;
    STACK_OF(X509) *verified = NULL;
    nc_error err;
    nc_status status = nc_chain_parse(&chain, question->chain, &err);
    if (status != NC_OK) {
        CHECK(status == NC_ERR_TLS_CERTIFICATE);
        *out = (nc_trust_result){.status = status, .finding = status};
        memcpy(out->message, err.message, sizeof out->message);
        return;
    }
    if (!nc_host_name_parse(&host, question->host)) {
        host = (nc_host_name){.length = 0};
    }
    const nc_trust_input trust_input = {
        .trust = policies[BELIEVING],
        .roots = roots,
        .sent = {.leaf = sk_X509_value(chain, 0), .certificates = chain, .at_s = question->at_s},
        .host = &host,
        .port = 443,
    };
    nc_trust_evaluate_chain(out, &verified, &trust_input);
    nc_trust_list_pins(out, verified, &trust_input);
    CHECK((verified != NULL) == out->is_verified);
    sk_X509_pop_free(verified, X509_free);
    sk_X509_pop_free(chain, X509_free);
}

/// Parses the authorities too in some runs.
static void evaluate(nc_trust_result *out, size_t policy, uint8_t choice, const nc_trust_question *question) {
    nc_error err;
    if (policy == BELIEVING && choice >> 2 != 0) {
        evaluate_with_roots(out, question);
    } else {
        CHECK(nc_trust_evaluate(out, policies[policy], question, &err) == NC_OK);
    }
}

static void run(const uint8_t *data, size_t size) {
    size_t before = memory_live_blocks();
    input in = input_init(data, size);
    uint8_t choice = input_byte(&in);
    nc_slice host = input_piece(&in);
    nc_slice chain = input_rest(&in);
    size_t policy = choice % POLICY_COUNT;
    const nc_trust_question question = {.chain = chain, .host = host, .at_s = evaluated_at_s};
    if ((choice & AS_PINS) != 0) {
        check_pins(chain, (choice & AS_CERTIFICATES) != 0 ? NC_PIN_CERTIFICATE : NC_PIN_PUBLIC_KEY);
    } else {
        nc_trust_result result;
        evaluate(&result, policy, choice, &question);
        check_result(&result, policy);
    }
    CHECK(ERR_peek_error() == 0);
    input_deinit(&in);
    CHECK(memory_live_blocks() == before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t before = openssl_memory_live();
    run(data, size);
    if (openssl_memory_live() > before) {
        // OpenSSL fills its caches in the first run.
        run(data, size);
        before = openssl_memory_live();
        run(data, size);
        CHECK(openssl_memory_live() <= before);
    }
    return 0;
}
