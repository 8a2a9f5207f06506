#include "trust/handshake.h"

#include "base/alloc.h"
#include "base/error.h"
#include "trust/evaluate.h"
#include "trust/identity.h"
#include "trust/rules.h"
#include "trust/verify.h"

#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int handshake_index = -1;

static void drop_handshake(void *parent, void *handshake, CRYPTO_EX_DATA *data, int index, long number, void *pointer) {
    (void)parent;
    (void)data;
    (void)index;
    (void)number;
    (void)pointer;
    nc_free(handshake);
}

static void find_index(void) {
    handshake_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, drop_handshake);
}

static int64_t now_s(const nc_handshake *handshake) {
    return handshake->clock->realtime_ns(handshake->clock->ctx) / 1000000000;
}

/* --- the observer --- */

/// The certificates of a chain in DER, valid for one call of the observer.
typedef struct der_chain {
    nc_slice slices[NC_CHAIN_MAX_CERTIFICATES];
    size_t count;
} der_chain;

static void write_chain(der_chain *out, STACK_OF(X509) * chain) {
    out->count = 0;
    for (int i = 0; i < sk_X509_num(chain) && out->count < NC_CHAIN_MAX_CERTIFICATES; i++) {
        unsigned char *bytes = NULL;
        int length = i2d_X509(sk_X509_value(chain, i), &bytes);
        if (length > 0) {
            out->slices[out->count++] = nc_slice_make(bytes, (size_t)length);
        }
    }
}

static void free_chain(der_chain *chain) {
    for (size_t i = 0; i < chain->count; i++) {
        OPENSSL_free((void *)(uintptr_t)chain->slices[i].data);
    }
}

/// Calls the policy's observer, which may change the result.
static void call_observer(nc_trust_result *result, STACK_OF(X509) * chain, const nc_handshake *handshake) {
    const nc_trust_observer *observer = &handshake->trust->rules->observer;
    der_chain der;
    if (observer->decide == NULL && !nc_report_is_due(handshake->trust, result)) {
        return;
    }
    write_chain(&der, chain);
    nc_trust_event event = {
        .host = nc_slice_make(handshake->host.text, handshake->host.length),
        .port = handshake->port,
        .verdict = result,
        .chain = der.slices,
        .chain_count = der.count,
    };
    nc_trust_call_observer(result, handshake->trust, &event);
    uint64_t now_ns = handshake->clock->monotonic_ns(handshake->clock->ctx);
    if (nc_report_is_due(handshake->trust, result) &&
        nc_report_limiter_allows(handshake->gate, &handshake->host, handshake->port, now_ns, &event.unreported)) {
        observer->report(observer->ctx, &event);
    }
    free_chain(&der);
}

/// Returns true if the result will be reported, so that its lists of pins are needed.
static bool needs_pin_lists(const nc_trust_result *result, const nc_trust *trust) {
    return result->status != NC_OK || result->notes != 0 || trust->rules->observer.decide != NULL;
}

/* --- the verify callback --- */

static int evaluate_chain(X509_STORE_CTX *context, void *data) {
    const nc_handshake *handshake = data;
    nc_trust_result result;
    STACK_OF(X509) *verified = NULL;
    const nc_trust_input asked = {
        .trust = handshake->trust,
        .roots = handshake->roots,
        .chain_cache = handshake->chain_cache,
        .sent = {.leaf = X509_STORE_CTX_get0_cert(context),
                 .certificates = X509_STORE_CTX_get0_untrusted(context),
                 .at_s = now_s(handshake)},
        .host = &handshake->host,
        .port = handshake->port,
    };
    nc_trust_evaluate_chain(&result, &verified, &asked);
    if (needs_pin_lists(&result, handshake->trust)) {
        nc_trust_list_pins(&result, verified, &asked);
        call_observer(&result, verified != NULL ? verified : asked.sent.certificates, handshake);
    }
    bool is_allowed = result.status == NC_OK;
    int code = result.native_code != X509_V_OK ? result.native_code : X509_V_ERR_APPLICATION_VERIFICATION;
    X509_STORE_CTX_set_error(context, is_allowed ? X509_V_OK : code);
    if (verified != NULL) {
        X509_STORE_CTX_set0_verified_chain(context, verified); // evaluate_ocsp_staple() reads it
    }
    if (!is_allowed) {
        handshake->refused(handshake->ctx, &result);
    }
    return is_allowed ? 1 : 0;
}

static int evaluate_ocsp_staple(SSL *tls, void *data) {
    const nc_handshake *handshake = data;
    const unsigned char *reply = NULL;
    long length = SSL_get_tlsext_status_ocsp_resp(tls, &reply);
    STACK_OF(X509) *chain = SSL_get0_verified_chain(tls);
    const char *why = "the certificate chain was not verified";
    nc_status status = NC_ERR_TLS_STAPLE;
    if (chain != NULL && sk_X509_num(chain) > 0) {
        nc_slice bytes = nc_slice_make(length > 0 ? reply : NULL, length > 0 ? (size_t)length : 0);
        const nc_rule *rule = nc_rules_find(handshake->trust->rules, &handshake->host, handshake->port);
        bool is_pinned = handshake->trust->options.roots == NC_ROOTS_PINNED && rule != NULL && rule->anchors != NULL;
        status =
            nc_ocsp_staple_evaluate(&why, bytes, chain, is_pinned ? rule->anchors : handshake->roots, now_s(handshake));
    }
    if (status == NC_OK) {
        return 1;
    }
    nc_error line;
    nc_trust_result result = {.status = status, .finding = status, .is_verified = chain != NULL};
    const nc_trust_input asked = {.trust = handshake->trust,
                                  .sent = {.leaf = SSL_get0_peer_certificate(tls)},
                                  .host = &handshake->host,
                                  .port = handshake->port};
    (void)nc_error_set(&line, status, 0, -1, "%s: %s:%u (%s)", nc_status_text(status), handshake->host.text,
                       (unsigned)handshake->port, why);
    memcpy(result.message, line.message, sizeof result.message);
    nc_trust_list_pins(&result, chain, &asked);
    call_observer(&result, chain, handshake);
    if (result.status != NC_OK) {
        handshake->refused(handshake->ctx, &result);
    }
    return result.status == NC_OK ? 1 : 0;
}

/* --- contexts --- */

bool nc_handshake_install(SSL_CTX *context, const nc_handshake *handshake) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, find_index);
    nc_handshake *kept = handshake_index >= 0 ? nc_alloc(sizeof *kept) : NULL;
    if (kept == NULL) {
        return false;
    }
    *kept = *handshake;
    if (SSL_CTX_set_ex_data(context, handshake_index, kept) != 1) {
        nc_free(kept);
        return false;
    }
    SSL_CTX_set_cert_verify_callback(context, evaluate_chain, kept);
    // Set this even if libcurl is configured to verify nothing, because a rule may require a pin.
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    if (handshake->trust->options.requires_staple) {
        (void)SSL_CTX_set_tlsext_status_type(context, TLSEXT_STATUSTYPE_ocsp);
        (void)SSL_CTX_set_tlsext_status_cb(context, evaluate_ocsp_staple);
        (void)SSL_CTX_set_tlsext_status_arg(context, kept);
    }
    return true;
}

/// The TLS 1.3 suites in OpenSSL's default order, which applies unless openssl.cnf sets another, and in the order of
/// browsers. AES-128, which every implementation must have (RFC 8446, 9.1), takes the least time, and its handshake
/// uses SHA-256.
static const char *const openssl_default_suites[] = {"TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
                                                     "TLS_AES_128_GCM_SHA256"};
static const char browser_suites[] = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

static bool has_openssl_default_suites(const SSL_CTX *context) {
    STACK_OF(SSL_CIPHER) *ciphers = SSL_CTX_get_ciphers(context);
    for (int i = 0; i < 3; i++) {
        const SSL_CIPHER *one = i < sk_SSL_CIPHER_num(ciphers) ? sk_SSL_CIPHER_value(ciphers, i) : NULL;
        if (one == NULL || strcmp(SSL_CIPHER_get_name(one), openssl_default_suites[i]) != 0) {
            return false;
        }
    }
    return true;
}

bool nc_handshake_configure(SSL_CTX *context, const nc_trust *trust) {
    const char *ciphers = (const char *)trust->options.ciphers.data;
    const char *suites = (const char *)trust->options.cipher_suites.data;
    SSL_CTX_set_security_level(context, NC_TLS_SECURITY_LEVEL);
    // A renegotiation could change the server's certificate without an evaluation.
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
    if (suites == NULL && has_openssl_default_suites(context)) {
        suites = browser_suites;
    }
    return (ciphers == NULL || SSL_CTX_set_cipher_list(context, ciphers) == 1) &&
           (suites == NULL || SSL_CTX_set_ciphersuites(context, suites) == 1);
}
