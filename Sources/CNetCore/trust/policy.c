#include "trust/policy.h"

#include "base/alloc.h"
#include "base/error.h"
#include "trust/identity.h"
#include "trust/rules.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>

/// Maximum length of a path, including its NUL.
enum { MAX_PATH_BYTES = 4096 };

/// Offsets in nc_trust_options of the texts that concern authorities and TLS, and of those that concern the client
/// certificate.
static const size_t ca_texts[] = {
    offsetof(nc_trust_options, ca_file),       offsetof(nc_trust_options, ca_pem),
    offsetof(nc_trust_options, crl_file),      offsetof(nc_trust_options, ciphers),
    offsetof(nc_trust_options, cipher_suites),
};
static const size_t identity_texts[] = {
    offsetof(nc_trust_options, identity_file),     offsetof(nc_trust_options, identity_key_file),
    offsetof(nc_trust_options, identity_pem),      offsetof(nc_trust_options, identity_key_pem),
    offsetof(nc_trust_options, identity_password),
};
enum {
    CA_TEXT_COUNT = sizeof ca_texts / sizeof *ca_texts,
    IDENTITY_TEXT_COUNT = sizeof identity_texts / sizeof *identity_texts,
};

static nc_slice text_at(const nc_trust_options *options, size_t offset) {
    return *(const nc_slice *)(const void *)((const uint8_t *)options + offset);
}

static bool has_nul(nc_slice text) {
    return text.length > 0 && memchr(text.data, 0, text.length) != NULL;
}

/* --- checks --- */

static nc_status check_authorities(const nc_trust_options *from, nc_error *err) {
    bool wants_file = from->roots == NC_ROOTS_FILE;
    bool wants_bytes = from->roots == NC_ROOTS_BYTES;
    if (!wants_file && !wants_bytes && from->roots != NC_ROOTS_SYSTEM && from->roots != NC_ROOTS_PINNED) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown source of trusted authorities %d", (int)from->roots);
    }
    if (wants_file != (from->ca_file.length > 0) || wants_bytes != (from->ca_pem.length > 0)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1,
                            "ca_file and NC_ROOTS_FILE must be set together, and so must ca_pem and NC_ROOTS_BYTES");
    }
    if (from->ca_pem.length > NC_TRUST_MAX_PEM_BYTES || from->ca_file.length >= MAX_PATH_BYTES) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the CA bytes or the CA file's path are too long");
    }
    if (has_nul(from->ca_file)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the CA file's path contains a NUL byte");
    }
    return NC_OK;
}

static bool has_certificate_rule(const nc_trust_options *from) {
    bool has_one = false;
    for (size_t i = 0; i < from->rule_count && from->rules != NULL && !has_one; i++) {
        has_one = from->rules[i].mode == NC_PIN_CERTIFICATE;
    }
    return has_one;
}

static nc_status check_verification(const nc_trust_options *from, nc_error *err) {
    if (from->roots == NC_ROOTS_PINNED && !has_certificate_rule(from)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "NC_ROOTS_PINNED requires a rule with pinned certificates");
    }
    if (from->crl_file.length >= MAX_PATH_BYTES || has_nul(from->crl_file)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the CRL file's path is too long or contains a NUL byte");
    }
    bool verifies = !from->accepts_anything && !from->accepts_invalid_chains;
    if ((from->crl_file.length > 0 || from->requires_staple) && !verifies) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1,
                            "revocation lists and OCSP stapling require a policy that verifies chains");
    }
    if ((from->is_strict || from->max_chain_length > 0) && !verifies) {
        return nc_error_set(
            err, NC_ERR_USAGE, 0, -1,
            "the strict profile and a limit of the chain's length require a policy that verifies chains");
    }
    return NC_OK;
}

/// Checks the lists of ciphers. OpenSSL accepts a list if it knows at least one cipher of it, and ignores unknown
/// names, as in curl.
static nc_status check_ciphers(const nc_trust_options *from, nc_error *err) {
    char text[MAX_PATH_BYTES];
    const nc_slice lists[] = {from->ciphers, from->cipher_suites};
    if (from->ciphers.length == 0 && from->cipher_suites.length == 0) {
        return NC_OK;
    }
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    nc_status status = context != NULL ? NC_OK : nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for ciphers");
    for (size_t i = 0; i < 2 && status == NC_OK; i++) {
        bool is_text = lists[i].length < sizeof text && !has_nul(lists[i]);
        (void)snprintf(text, sizeof text, "%.*s", is_text ? (int)lists[i].length : 0, (const char *)lists[i].data);
        bool is_known = is_text && (text[0] == '\0' || (i == 0 ? SSL_CTX_set_cipher_list(context, text)
                                                               : SSL_CTX_set_ciphersuites(context, text)) == 1);
        if (!is_known) {
            status = nc_error_set(err, NC_ERR_USAGE, 0, -1, "OpenSSL supports no cipher of '%.128s'", text);
        }
    }
    ERR_clear_error();
    SSL_CTX_free(context);
    return status;
}

static nc_status check_protocol(const nc_trust_options *from, nc_error *err) {
    if (from->min_version != NC_TLS_1_2 && from->min_version != NC_TLS_1_3) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown minimum TLS version %d", (int)from->min_version);
    }
    if (from->max_version != NC_TLS_LIMIT_NONE && from->max_version != NC_TLS_LIMIT_1_2 &&
        from->max_version != NC_TLS_LIMIT_1_3) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown maximum TLS version %d", (int)from->max_version);
    }
    if (from->min_version == NC_TLS_1_3 && from->max_version == NC_TLS_LIMIT_1_2) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the minimum TLS version is above the maximum");
    }
    return check_ciphers(from, err);
}

static nc_status check_identity(const nc_trust_options *from, nc_error *err) {
    bool has_file = from->identity_file.length > 0;
    bool has_pem = from->identity_pem.length > 0;
    if (has_file && has_pem) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1,
                            "the client certificate is set both as a file and as bytes: use one of them");
    }
    if ((from->identity_key_file.length > 0 && !has_file) || (from->identity_key_pem.length > 0 && !has_pem)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1,
                            "the client certificate and its key must both be files or both be bytes");
    }
    bool has_phrase = from->identity_password.length > 0 || from->identity_pass_phrase != NULL;
    if (has_phrase && !has_file && !has_pem) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a pass phrase is set without a client certificate");
    }
    if (from->identity_file.length >= MAX_PATH_BYTES || from->identity_key_file.length >= MAX_PATH_BYTES) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the path of the client certificate or of its key is too long");
    }
    if (from->identity_pem.length > NC_IDENTITY_MAX_BYTES || from->identity_key_pem.length > NC_IDENTITY_MAX_BYTES) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the client certificate or its key is larger than 1 MiB");
    }
    if (from->identity_password.length > NC_IDENTITY_MAX_PASSWORD_BYTES) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the pass phrase is longer than %u bytes",
                            NC_IDENTITY_MAX_PASSWORD_BYTES);
    }
    if (has_nul(from->identity_file) || has_nul(from->identity_key_file) || has_nul(from->identity_password)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1,
                            "a path or the pass phrase of the client certificate contains a NUL byte");
    }
    return NC_OK;
}

/* --- copies --- */

static void clear_texts(nc_trust_options *options, const size_t *offsets, size_t count) {
    for (size_t i = 0; i < count; i++) {
        *(nc_slice *)(void *)((uint8_t *)options + offsets[i]) = (nc_slice){0};
    }
}

/// Creates a policy with copies of the texts at these offsets. Its other texts are empty. The lengths were already
/// checked, so the sum does not overflow.
static nc_trust *copy(const nc_trust_options *from, const size_t *offsets, size_t count) {
    size_t text_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        text_bytes += text_at(from, offsets[i]).length + 1;
    }
    nc_trust *trust = nc_alloc_zeroed(1, sizeof *trust + text_bytes);
    if (trust == NULL) {
        return NULL;
    }
    atomic_init(&trust->references, 1);
    atomic_init(&trust->mark_state, NC_TRUST_MARK_MISSING);
    trust->text_bytes = text_bytes;
    trust->options = *from;
    trust->options.rules = NULL;
    trust->options.rule_count = 0;
    trust->options.observer = (nc_trust_observer){0};
    clear_texts(&trust->options, ca_texts, CA_TEXT_COUNT);
    clear_texts(&trust->options, identity_texts, IDENTITY_TEXT_COUNT);
    uint8_t *end = (uint8_t *)(trust + 1);
    for (size_t i = 0; i < count; i++) {
        nc_slice text = text_at(from, offsets[i]);
        if (text.length > 0) {
            memcpy(end, text.data, text.length);
            *(nc_slice *)(void *)((uint8_t *)&trust->options + offsets[i]) = nc_slice_make(end, text.length);
        }
        end += text.length + 1;
    }
    return trust;
}

/// Creates the policy. If it has a client certificate, also creates the equal policy without it, which owns the texts
/// that both use.
static nc_trust *make(const nc_trust_options *from, nc_rules *rules) {
    bool has_identity = from->identity_file.length > 0 || from->identity_pem.length > 0;
    nc_trust *anonymous = copy(from, ca_texts, CA_TEXT_COUNT);
    if (anonymous == NULL) {
        return NULL;
    }
    anonymous->rules = nc_rules_retain(rules);
    anonymous->options.identity_pass_phrase = NULL;
    anonymous->options.identity_ctx = NULL;
    anonymous->options.identity_release = NULL;
    if (!has_identity) {
        return anonymous;
    }
    nc_trust *trust = copy(from, identity_texts, IDENTITY_TEXT_COUNT);
    if (trust == NULL) {
        nc_trust_release(anonymous);
        return NULL;
    }
    trust->rules = nc_rules_retain(rules);
    trust->anonymous = anonymous;
    for (size_t i = 0; i < CA_TEXT_COUNT; i++) {
        *(nc_slice *)(void *)((uint8_t *)&trust->options + ca_texts[i]) = text_at(&anonymous->options, ca_texts[i]);
    }
    return trust;
}

nc_status nc_trust_new(nc_trust **out, const nc_trust_options *options, nc_error *err) {
    static const nc_trust_options defaults = {0};
    const nc_trust_options *from = options != NULL ? options : &defaults;
    nc_rules *rules = NULL;
    nc_status status = check_authorities(from, err);
    status = status == NC_OK ? check_verification(from, err) : status;
    status = status == NC_OK ? check_protocol(from, err) : status;
    status = status == NC_OK ? check_identity(from, err) : status;
    status = status == NC_OK ? nc_rules_new(&rules, from, err) : status;
    if (status != NC_OK) {
        return status;
    }
    nc_trust *trust = make(from, rules);
    if (trust != NULL) {
        rules->observer = from->observer; // last, because the observer must not be released if creating the policy
                                          // fails
        *out = trust;
    }
    nc_rules_release(rules);
    return trust != NULL ? nc_error_clear(err)
                         : nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a trust policy");
}

nc_trust *nc_trust_retain(nc_trust *trust) {
    atomic_fetch_add_explicit(&trust->references, 1, memory_order_relaxed);
    return trust;
}

void nc_trust_release(nc_trust *trust) {
    if (trust != NULL && atomic_fetch_sub_explicit(&trust->references, 1, memory_order_acq_rel) == 1) {
        OPENSSL_cleanse(trust + 1, trust->text_bytes); // the texts include a pass phrase or a key
        if (trust->options.identity_release != NULL) {
            trust->options.identity_release(trust->options.identity_ctx);
        }
        nc_trust_release(trust->anonymous);
        nc_rules_release(trust->rules);
        nc_free(trust);
    }
}

/* --- comparing --- */

/// Compares two secrets; the time does not depend on their bytes.
static bool is_equal_secret(nc_slice a, nc_slice b) {
    return a.length == b.length && (a.length == 0 || CRYPTO_memcmp(a.data, b.data, a.length) == 0);
}

static bool has_equal_texts(const nc_trust_options *a, const nc_trust_options *b, const size_t *offsets, size_t count) {
    bool is_equal = true;
    for (size_t i = 0; i < count && is_equal; i++) {
        is_equal = is_equal_secret(text_at(a, offsets[i]), text_at(b, offsets[i]));
    }
    return is_equal;
}

static bool has_equal_choices(const nc_trust_options *a, const nc_trust_options *b) {
    return a->roots == b->roots && a->min_version == b->min_version && a->max_version == b->max_version &&
           a->accepts_anything == b->accepts_anything && a->accepts_invalid_chains == b->accepts_invalid_chains &&
           a->skips_name_check == b->skips_name_check && a->requires_staple == b->requires_staple &&
           a->skips_alpn == b->skips_alpn && a->identity_pass_phrase == b->identity_pass_phrase &&
           a->identity_ctx == b->identity_ctx && a->is_strict == b->is_strict &&
           a->max_chain_length == b->max_chain_length;
}

bool nc_trust_is_equal(const nc_trust *a, const nc_trust *b) {
    return a == b || (has_equal_choices(&a->options, &b->options) &&
                      has_equal_texts(&a->options, &b->options, ca_texts, CA_TEXT_COUNT) &&
                      has_equal_texts(&a->options, &b->options, identity_texts, IDENTITY_TEXT_COUNT) &&
                      nc_rules_is_equal(a->rules, b->rules));
}

bool nc_trust_needs_roots(const nc_trust *trust) {
    return !trust->options.accepts_anything && !trust->options.accepts_invalid_chains;
}

bool nc_trust_checks_nothing(const nc_trust *trust) {
    return trust->options.accepts_anything && !nc_trust_has_rules(trust);
}

bool nc_trust_skips_authentication(const nc_trust *trust) {
    return trust->options.accepts_anything || trust->options.skips_name_check;
}

bool nc_trust_may_be_overridden(const nc_trust *trust) {
    return trust->rules->observer.decide != NULL && trust->rules->observer.allows_override;
}

bool nc_trust_may_resume(const nc_trust *trust) {
    return !trust->options.requires_staple && trust->rules->observer.decide == NULL;
}

bool nc_trust_has_rules(const nc_trust *trust) {
    const nc_trust_observer *observer = &trust->rules->observer;
    return trust->rules->count > 0 || observer->decide != NULL || observer->report != NULL;
}

bool nc_trust_has_identity(const nc_trust *trust) {
    return trust->anonymous != NULL;
}

nc_trust *nc_trust_without_identity(nc_trust *trust) {
    return nc_trust_retain(trust->anonymous != NULL ? trust->anonymous : trust);
}
