#include "trust/judge.h"

#include "base/error.h"

#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// The state of one evaluation.
typedef struct bench {
    const nc_trust_case *asked;
    nc_trust_verdict *verdict;
    const nc_rule *rule; // NULL if no rule covers the host
    STACK_OF(X509) * verified;
    bool lets_invalid_chains_pass;
    bool skips_name;
} bench;

static void settle(nc_trust_verdict *verdict, nc_status status, int code, const char *format, ...) NC_PRINTF(4, 5);

/// Sets the status and a one-line message: the status's sentence and the details in brackets.
static void settle(nc_trust_verdict *verdict, nc_status status, int code, const char *format, ...) {
    char detail[NC_ERROR_MESSAGE_BYTES];
    nc_error line;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    (void)nc_error_set(&line, status, 0, -1, "%s: %s", nc_status_text(status), detail);
    verdict->status = status;
    verdict->finding = status;
    verdict->native_code = code;
    memcpy(verdict->message, line.message, sizeof verdict->message);
}

/// "host:port", with brackets around an IPv6 address.
static const char *place_of(char out[NC_MAX_HOST_BYTES + 16], const nc_trust_case *asked) {
    bool is_v6 = asked->host->is_address && strchr(asked->host->text, ':') != NULL;
    (void)snprintf(out, NC_MAX_HOST_BYTES + 16, "%s%s%s:%u", is_v6 ? "[" : "", asked->host->text, is_v6 ? "]" : "",
                   (unsigned)asked->port);
    return out;
}

/* --- pins in a chain --- */

static bool is_pinned_key(const nc_rule *rule, const X509 *certificate) {
    uint8_t digest[NC_PIN_DIGEST_BYTES];
    bool is_pinned = false;
    if (!nc_pin_of(digest, certificate)) {
        return false;
    }
    for (size_t i = 0; i < rule->pins.count && !is_pinned; i++) {
        is_pinned = memcmp(rule->pins.pins[i].digest, digest, sizeof digest) == 0;
    }
    return is_pinned;
}

static bool is_pinned_certificate(const nc_rule *rule, const X509 *certificate) {
    bool is_pinned = false;
    for (size_t k = 0; k < rule->pins.count && !is_pinned; k++) {
        is_pinned = X509_cmp(rule->pins.pins[k].certificate, certificate) == 0;
    }
    return is_pinned;
}

/// Returns true if a certificate of the chain is pinned, starting at index `first`.
static bool has_pinned(const nc_rule *rule, STACK_OF(X509) * chain, int first,
                       bool (*is_pinned)(const nc_rule *rule, const X509 *certificate)) {
    bool has_one = false;
    for (int i = first; i < sk_X509_num(chain) && !has_one; i++) {
        has_one = is_pinned(rule, sk_X509_value(chain, i));
    }
    return has_one;
}

/// Verifies the chain with those sent certificates as anchors whose keys are pinned. A certificate signed by a pinned
/// key satisfies the pin; a pinned certificate that signed nothing in the chain does not.
static bool leads_to_pinned_key(const bench *b) {
    STACK_OF(X509) *sent = b->asked->sent.certificates;
    STACK_OF(X509) *chain = NULL;
    X509_STORE *anchors = X509_STORE_new();
    int count = 0;
    for (int i = 0; anchors != NULL && i < sk_X509_num(sent); i++) {
        X509 *certificate = sk_X509_value(sent, i);
        if (is_pinned_key(b->rule, certificate) && X509_STORE_add_cert(anchors, certificate) == 1) {
            count++;
        }
    }
    bool is_verified = count > 0 && nc_verify_chain(&chain, &b->asked->sent, anchors, NULL, false) == X509_V_OK;
    sk_X509_pop_free(chain, X509_free);
    X509_STORE_free(anchors);
    return is_verified;
}

/// Rule R6 of docs/trust.md. If the name or the chain is not checked, an authority's key would accept any leaf, so only
/// the leaf's key counts.
static bool has_pinned_key(const bench *b) {
    if (is_pinned_key(b->rule, b->asked->sent.leaf)) {
        return true;
    }
    if (b->skips_name) {
        return false;
    }
    return b->verified != NULL ? has_pinned(b->rule, b->verified, 1, is_pinned_key) : leads_to_pinned_key(b);
}

/// Returns the store with the revocation lists, or NULL if there are none.
static X509_STORE *lists_of(const nc_trust_case *asked) {
    return asked->trust->options.crl_file.length > 0 ? asked->roots : NULL;
}

/// Writes why the policy's limits refuse a verified chain. Returns false if they accept it.
static bool describe_fault(char out[NC_ERROR_MESSAGE_BYTES], const nc_trust_case *asked, STACK_OF(X509) * chain) {
    const nc_trust_options *options = &asked->trust->options;
    uint32_t count = (uint32_t)sk_X509_num(chain);
    for (int i = 1; i + 1 < sk_X509_num(chain); i++) {
        count -= (X509_get_extension_flags(sk_X509_value(chain, i)) & EXFLAG_SI) != 0 ? 1u : 0u;
    }
    if (options->max_chain_length != 0 && count > options->max_chain_length) {
        (void)snprintf(out, NC_ERROR_MESSAGE_BYTES, "the chain has %u certificates, and the policy allows %u",
                       (unsigned)count, (unsigned)options->max_chain_length);
        return true;
    }
    const nc_profile_case looked_at = {
        .chain = chain, .lists = lists_of(asked), .is_public_suffix = asked->is_public_suffix};
    int at = 0;
    const char *fault = options->is_strict ? nc_profile_fault(&looked_at, &at) : NULL;
    if (fault != NULL && at > 0) {
        (void)snprintf(out, NC_ERROR_MESSAGE_BYTES, "strict profile: certificate %d of the chain %s", at, fault);
    } else if (fault != NULL) {
        (void)snprintf(out, NC_ERROR_MESSAGE_BYTES, "strict profile: %s", fault);
    }
    return fault != NULL;
}

/// Rule R5. A verified chain that contains a pinned certificate also verifies with that certificate as its anchor.
static bool has_pinned_certificate(bench *b) {
    if (b->verified != NULL && has_pinned(b->rule, b->verified, 0, is_pinned_certificate)) {
        return true;
    }
    STACK_OF(X509) *chain = NULL;
    char fault[NC_ERROR_MESSAGE_BYTES];
    if (nc_verify_chain(&chain, &b->asked->sent, b->rule->anchors, lists_of(b->asked),
                        b->asked->trust->options.is_strict) != X509_V_OK) {
        return false;
    }
    if (describe_fault(fault, b->asked, chain)) {
        sk_X509_pop_free(chain, X509_free);
        return false;
    }
    sk_X509_pop_free(b->verified, X509_free);
    b->verified = chain;
    return true;
}

/* --- the checks, in order --- */

/// Rule R1: a policy that accepts invalid chains and compares names needs a pin, because any key could have signed the
/// name.
static bool refuse_unpinned(const bench *b) {
    char place[NC_MAX_HOST_BYTES + 16];
    bool is_enforced = b->rule != NULL && nc_rule_enforces(b->rule, b->asked->sent.at_s);
    if (!b->lets_invalid_chains_pass || b->skips_name || is_enforced) {
        return false;
    }
    settle(b->verdict, NC_ERR_TLS_UNTRUSTED, 0, "%s (the policy lets invalid chains pass, which takes an enforced pin)",
           place_of(place, b->asked));
    return true;
}

/// Verifies the chain, or finds it in the verified-chain cache.
static int verify(bench *b, X509_STORE *anchors) {
    const nc_trust_case *asked = b->asked;
    X509_STORE *lists = lists_of(asked);
    nc_known_chains *known =
        lists == NULL ? asked->known : NULL; // revocation lists expire, so results with them are not cached
    b->verified = known != NULL ? nc_known_chains_find(known, &asked->sent, anchors) : NULL;
    if (b->verified != NULL) {
        return X509_V_OK;
    }
    int code = nc_verify_chain(&b->verified, &asked->sent, anchors, lists, asked->trust->options.is_strict);
    if (code == X509_V_OK && known != NULL) {
        nc_known_chains_keep(known, &asked->sent, anchors, b->verified);
    }
    return code;
}

/// Rules R3 and R4.
static bool refuse_chain(bench *b) {
    char place[NC_MAX_HOST_BYTES + 16];
    const nc_trust_options *options = &b->asked->trust->options;
    X509_STORE *anchors = b->asked->roots;
    if (b->lets_invalid_chains_pass) {
        b->verdict->notes |= NC_NOTE_CHAIN_UNCHECKED;
        return false;
    }
    if (options->roots == NC_ROOTS_PINNED && b->rule != NULL && b->rule->anchors != NULL) {
        anchors = b->rule->anchors;
    }
    int code = anchors != NULL ? verify(b, anchors) : X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY;
    if (code != X509_V_OK) {
        settle(b->verdict, nc_verify_status(code), code, "%s (%s)", place_of(place, b->asked),
               X509_verify_cert_error_string(code));
        return true;
    }
    char fault[NC_ERROR_MESSAGE_BYTES];
    if (!describe_fault(fault, b->asked, b->verified)) {
        return false;
    }
    settle(b->verdict, NC_ERR_TLS_CERTIFICATE, X509_V_ERR_APPLICATION_VERIFICATION, "%s (%s)",
           place_of(place, b->asked), fault);
    return true;
}

/// Rule R2; it also applies if the chain need not verify.
static bool refuse_name(const bench *b) {
    char place[NC_MAX_HOST_BYTES + 16];
    if (b->skips_name) {
        b->verdict->notes |= NC_NOTE_NAME_UNCHECKED;
        return false;
    }
    if (nc_verify_name(b->asked->sent.leaf, b->asked->host)) {
        return false;
    }
    settle(b->verdict, NC_ERR_TLS_NAME, X509_V_ERR_HOSTNAME_MISMATCH, "%s", place_of(place, b->asked));
    return true;
}

static void judge_pins(bench *b) {
    char place[NC_MAX_HOST_BYTES + 16];
    nc_trust_verdict *verdict = b->verdict;
    int64_t at_s = b->asked->sent.at_s;
    if (b->rule == NULL || b->rule->mode == NC_PIN_NONE) {
        return;
    }
    if (nc_rule_has_expired(b->rule, at_s)) {
        verdict->notes |= NC_NOTE_RULE_EXPIRED | (b->rule->lapses ? (uint32_t)NC_NOTE_RULE_LAPSED : 0u);
    }
    bool is_pinned = b->rule->mode == NC_PIN_CERTIFICATE ? has_pinned_certificate(b) : has_pinned_key(b);
    if (is_pinned) {
        return;
    }
    settle(verdict, NC_ERR_PIN_MISMATCH, X509_V_ERR_APPLICATION_VERIFICATION, "%s", place_of(place, b->asked));
    if (!nc_rule_enforces(b->rule, at_s)) {
        verdict->status = NC_OK;
        verdict->notes |= b->rule->reports_only ? (uint32_t)NC_NOTE_REPORT_ONLY : 0u;
    }
}

void nc_trust_judge(nc_trust_verdict *out, STACK_OF(X509) * *verified, const nc_trust_case *asked) {
    const nc_trust_options *options = &asked->trust->options;
    bench b = {
        .asked = asked,
        .verdict = out,
        .rule = nc_rules_find(asked->trust->rules, asked->host, asked->port),
        .lets_invalid_chains_pass = options->accepts_anything || options->accepts_invalid_chains,
        .skips_name = options->accepts_anything || options->skips_name_check,
    };
    *out = (nc_trust_verdict){.status = NC_OK};
    if (!refuse_unpinned(&b) && !refuse_chain(&b) && !refuse_name(&b)) {
        judge_pins(&b);
    }
    out->is_verified = b.verified != NULL;
    *verified = b.verified;
}

/* --- messages and lists --- */

static void describe(nc_trust_verdict *verdict, const char *place) {
    const char *seen = verdict->chain_pins[0];
    nc_error line;
    // The message is cut to fit; the result's lists are complete.
    (void)nc_error_set(&line, verdict->finding, 0, -1, "%s: %s (the chain has %s%s, the policy %s%s)",
                       nc_status_text(verdict->finding), place, seen, verdict->chain_count > 1 ? ", …" : "",
                       verdict->pins[0], verdict->pin_count > 1 ? ", …" : "");
    memcpy(verdict->message, line.message, sizeof verdict->message);
}

void nc_trust_list_pins(nc_trust_verdict *verdict, STACK_OF(X509) * verified, const nc_trust_case *asked) {
    char place[NC_MAX_HOST_BYTES + 16];
    uint8_t digest[NC_PIN_DIGEST_BYTES];
    const nc_rule *rule = nc_rules_find(asked->trust->rules, asked->host, asked->port);
    STACK_OF(X509) *chain = verified != NULL ? verified : asked->sent.certificates;
    int count = chain != NULL ? sk_X509_num(chain) : 1;
    verdict->chain_count = (uint32_t)count;
    for (int i = 0; i < count && i < (int)NC_VERDICT_MAX_PINS; i++) {
        if (nc_pin_of(digest, chain != NULL ? sk_X509_value(chain, i) : asked->sent.leaf)) {
            nc_pin_format(verdict->chain_pins[i], digest);
        }
    }
    verdict->pin_count = rule != NULL ? (uint32_t)rule->pins.count : 0;
    for (size_t i = 0; i < verdict->pin_count && i < NC_VERDICT_MAX_PINS; i++) {
        nc_pin_format(verdict->pins[i], rule->pins.pins[i].digest);
    }
    if (verdict->finding == NC_ERR_PIN_MISMATCH) {
        describe(verdict, place_of(place, asked));
    }
}

void nc_trust_let_decide(nc_trust_verdict *verdict, const nc_trust *trust, const nc_trust_event *event) {
    const nc_trust_observer *observer = &trust->rules->observer;
    if (observer->decide == NULL) {
        return;
    }
    bool is_allowed = observer->decide(observer->ctx, event);
    if (!is_allowed && verdict->status == NC_OK) {
        settle(verdict, NC_ERR_TLS_CERTIFICATE, X509_V_ERR_APPLICATION_VERIFICATION,
               "%.*s:%u (the policy's observer refused it)", (int)event->host.length, (const char *)event->host.data,
               (unsigned)event->port);
        verdict->notes |= NC_NOTE_TIGHTENED;
    } else if (is_allowed && verdict->status != NC_OK && observer->allows_override) {
        verdict->status = NC_OK;
        verdict->notes |= NC_NOTE_OVERRIDDEN;
    }
}

const char *nc_verdict_chain_pin(const nc_trust_verdict *verdict, size_t index) {
    return index < NC_VERDICT_MAX_PINS ? verdict->chain_pins[index] : "";
}

const char *nc_verdict_pin(const nc_trust_verdict *verdict, size_t index) {
    return index < NC_VERDICT_MAX_PINS ? verdict->pins[index] : "";
}
