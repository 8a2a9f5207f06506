#include "trust/rules.h"

#include <stdio.h>
#include <string.h>

/// The limit of the text of a policy, which contains the authorities.
enum { MAX_TEXT_BYTES = 64 * 1024 * 1024 };

/// Appends a text with its length before it, so that no text can imitate two others.
static void append_text(nc_buf *out, nc_slice text) {
    char length[24];
    int count = snprintf(length, sizeof length, "%zu:", text.length);
    nc_buf_append(out, nc_slice_make(length, (size_t)count));
    nc_buf_append(out, text);
}

static void append_number(nc_buf *out, uint64_t number) {
    char text[24];
    int count = snprintf(text, sizeof text, "%llu,", (unsigned long long)number);
    nc_buf_append(out, nc_slice_make(text, (size_t)count));
}

static void append_rule(nc_buf *out, const nc_rule *rule) {
    append_text(out, nc_slice_make(rule->pattern.host.text, rule->pattern.host.length));
    append_number(out, rule->pattern.port);
    append_number(out, (uint64_t)rule->pattern.kind);
    append_number(out, (uint64_t)rule->mode);
    append_number(out, (uint64_t)rule->expires_at_s);
    append_number(out, (rule->lapses ? 1u : 0u) + (rule->reports_only ? 2u : 0u));
    for (size_t i = 0; i < rule->pins.count; i++) {
        append_text(out, nc_slice_make(rule->pins.pins[i].digest, NC_PIN_DIGEST_BYTES));
        append_number(out, rule->pins.pins[i].certificate != NULL ? 1 : 0);
    }
}

static void append_policy(nc_buf *out, const nc_trust *trust) {
    const nc_trust_options *options = &trust->options;
    const nc_slice texts[] = {options->ca_file, options->ca_pem, options->crl_file, options->ciphers,
                              options->cipher_suites};
    const uint64_t numbers[] = {
        (uint64_t)options->roots,
        (uint64_t)options->min_version,
        (uint64_t)options->max_version,
        options->accepts_anything,
        options->accepts_invalid_chains,
        options->skips_name_check,
        options->requires_staple,
        options->skips_alpn,
        options->is_strict,
        options->max_chain_length,
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        append_text(out, texts[i]);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        append_number(out, numbers[i]);
    }
    for (size_t i = 0; i < trust->rules->count; i++) {
        append_rule(out, &trust->rules->rules[i]);
    }
}

static bool compute(uint8_t out[NC_TRUST_MARK_BYTES], const nc_trust *trust) {
    nc_buf text = nc_buf_init(MAX_TEXT_BYTES);
    nc_digest *sha256 = NULL;
    append_policy(&text, trust);
    bool is_done = nc_buf_status(&text) == NC_OK && nc_digest_new(&sha256, NC_DIGEST_SHA256, NULL) == NC_OK &&
                   nc_digest_of(out, sha256, nc_buf_slice(&text), NULL) == NC_OK;
    nc_digest_free(sha256);
    nc_buf_deinit(&text);
    return is_done;
}

bool nc_trust_mark(uint8_t out[NC_TRUST_MARK_BYTES], nc_trust *trust) {
    int missing = NC_TRUST_MARK_MISSING;
    // The decisions of an observer are unknown, and may differ in the next process.
    if (trust->rules->observer.decide != NULL) {
        return false;
    }
    if (atomic_load_explicit(&trust->mark_state, memory_order_acquire) == NC_TRUST_MARK_STORED) {
        memcpy(out, trust->mark, NC_TRUST_MARK_BYTES);
        return true;
    }
    if (!compute(out, trust)) {
        return false;
    }
    if (atomic_compare_exchange_strong(&trust->mark_state, &missing, NC_TRUST_MARK_BEING_STORED)) {
        memcpy(trust->mark, out, NC_TRUST_MARK_BYTES);
        atomic_store_explicit(&trust->mark_state, NC_TRUST_MARK_STORED, memory_order_release);
    }
    return true;
}
