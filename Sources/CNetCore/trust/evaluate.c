#include "trust/evaluate.h"

#include "base/error.h"
#include "trust/pattern.h"
#include "trust/pem.h"
#include "trust/pin.h"
#include "trust/policy.h"
#include "trust/rules.h"
#include "trust/verified_chain_cache.h"
#include "trust/verify.h"

#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// The state of one evaluation.
typedef struct evaluation {
    const nc_trust_input *input;
    nc_trust_result *result;
    const nc_rule *rule; // NULL if no rule covers the host
    STACK_OF(X509) * verified;
    bool lets_invalid_chains_pass;
    bool skips_name;
} evaluation;

static void set_result(nc_trust_result *result, nc_status status, int code, const char *format, ...) NC_PRINTF(4, 5);

/// Sets the status and a one-line message: the text of the status, and the details in parentheses.
static void set_result(nc_trust_result *result, nc_status status, int code, const char *format, ...) {
    char detail[NC_ERROR_MESSAGE_BYTES];
    nc_error line;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    (void)nc_error_set(&line, status, 0, -1, "%s: %s", nc_status_text(status), detail);
    result->status = status;
    result->finding = status;
    result->native_code = code;
    memcpy(result->message, line.message, sizeof result->message);
}

/// Writes and returns "host:port", with brackets around an IPv6 address.
static const char *endpoint_text(char out[NC_HOST_MAX_BYTES + 16], const nc_trust_input *input) {
    bool is_v6 = input->host->is_address && strchr(input->host->text, ':') != NULL;
    (void)snprintf(out, NC_HOST_MAX_BYTES + 16, "%s%s%s:%u", is_v6 ? "[" : "", input->host->text, is_v6 ? "]" : "",
                   (unsigned)input->port);
    return out;
}

/* --- pins in a chain --- */

/// Returns true if a certificate of the chain, from index `first` on, matches a pin.
static bool has_pinned(const nc_rule *rule, STACK_OF(X509) * chain, int first,
                       bool (*is_pinned)(const nc_pin_list *pins, const X509 *certificate)) {
    bool has_one = false;
    for (int i = first; i < sk_X509_num(chain) && !has_one; i++) {
        has_one = is_pinned(&rule->pins, sk_X509_value(chain, i));
    }
    return has_one;
}

/// Verifies the chain with other anchors: the certificates with pinned keys that the server sent. So a pinned key
/// counts only if it signed a certificate of the chain, not merely because the server sent its certificate.
static bool leads_to_pinned_key(const evaluation *eval) {
    STACK_OF(X509) *sent = eval->input->sent.certificates;
    STACK_OF(X509) *chain = NULL;
    X509_STORE *anchors = X509_STORE_new();
    int count = 0;
    for (int i = 0; anchors != NULL && i < sk_X509_num(sent); i++) {
        X509 *certificate = sk_X509_value(sent, i);
        if (nc_pin_list_has_key(&eval->rule->pins, certificate) && X509_STORE_add_cert(anchors, certificate) == 1) {
            count++;
        }
    }
    bool is_verified = count > 0 && nc_verify_chain(&chain, &eval->input->sent, anchors, NULL, false) == X509_V_OK;
    sk_X509_pop_free(chain, X509_free);
    X509_STORE_free(anchors);
    return is_verified;
}

/// Rule R6 of docs/trust.md. If the name is not checked, only the leaf's key is compared with pins: with a pinned key
/// of an authority, any certificate of that authority would be accepted.
static bool has_pinned_key(const evaluation *eval) {
    if (nc_pin_list_has_key(&eval->rule->pins, eval->input->sent.leaf)) {
        return true;
    }
    if (eval->skips_name) {
        return false;
    }
    return eval->verified != NULL ? has_pinned(eval->rule, eval->verified, 1, nc_pin_list_has_key)
                                  : leads_to_pinned_key(eval);
}

/// Returns the store that contains the revocation lists, or NULL if the policy has none.
static X509_STORE *lists_of(const nc_trust_input *input) {
    return input->trust->options.crl_file.length > 0 ? input->roots : NULL;
}

/// If the policy's limits refuse a verified chain, writes the reason and returns true. Returns false if they accept it.
static bool describe_fault(char out[NC_ERROR_MESSAGE_BYTES], const nc_trust_input *input, STACK_OF(X509) * chain) {
    const nc_trust_options *options = &input->trust->options;
    uint32_t count = (uint32_t)sk_X509_num(chain);
    for (int i = 1; i + 1 < sk_X509_num(chain); i++) {
        count -= (X509_get_extension_flags(sk_X509_value(chain, i)) & EXFLAG_SI) != 0 ? 1u : 0u;
    }
    if (options->max_chain_length != 0 && count > options->max_chain_length) {
        (void)snprintf(out, NC_ERROR_MESSAGE_BYTES, "the chain has %u certificates, but the policy allows at most %u",
                       (unsigned)count, (unsigned)options->max_chain_length);
        return true;
    }
    const nc_profile_input profile = {.chain = chain, .lists = lists_of(input)};
    int at = 0;
    const char *fault = options->is_strict ? nc_profile_fault(&profile, &at) : NULL;
    if (fault != NULL && at > 0) {
        (void)snprintf(out, NC_ERROR_MESSAGE_BYTES, "strict profile: certificate %d of the chain %s", at, fault);
    } else if (fault != NULL) {
        (void)snprintf(out, NC_ERROR_MESSAGE_BYTES, "strict profile: %s", fault);
    }
    return fault != NULL;
}

/// Rule R5 of docs/trust.md. If the verified chain contains a pinned certificate, the chain would also verify with that
/// certificate as its anchor.
static bool has_pinned_certificate(evaluation *eval) {
    if (eval->verified != NULL && has_pinned(eval->rule, eval->verified, 0, nc_pin_list_has_certificate)) {
        return true;
    }
    STACK_OF(X509) *chain = NULL;
    char fault[NC_ERROR_MESSAGE_BYTES];
    if (nc_verify_chain(&chain, &eval->input->sent, eval->rule->anchors, lists_of(eval->input),
                        eval->input->trust->options.is_strict) != X509_V_OK) {
        return false;
    }
    if (describe_fault(fault, eval->input, chain)) {
        sk_X509_pop_free(chain, X509_free);
        return false;
    }
    sk_X509_pop_free(eval->verified, X509_free);
    eval->verified = chain;
    return true;
}

/* --- the checks, in order --- */

/// Rule R1 of docs/trust.md: if invalid chains are accepted and names are compared, the host needs pins. Otherwise
/// anyone could issue a certificate with the name.
static bool refuse_unpinned(const evaluation *eval) {
    char endpoint[NC_HOST_MAX_BYTES + 16];
    bool is_enforced = eval->rule != NULL && nc_rule_enforces(eval->rule, eval->input->sent.at_s);
    if (!eval->lets_invalid_chains_pass || eval->skips_name || is_enforced) {
        return false;
    }
    set_result(eval->result, NC_ERR_TLS_UNTRUSTED, 0,
               "%s (the policy accepts invalid chains only if an enforced pin matches)",
               endpoint_text(endpoint, eval->input));
    return true;
}

/// Verifies the chain, or takes the result from the verified-chain cache.
static int verify(evaluation *eval, X509_STORE *anchors) {
    const nc_trust_input *input = eval->input;
    X509_STORE *lists = lists_of(input);
    nc_verified_chain_cache *cache =
        lists == NULL ? input->chain_cache : NULL; // no cache with revocation lists, because they expire
    eval->verified = cache != NULL ? nc_verified_chain_cache_find(cache, &input->sent, anchors) : NULL;
    if (eval->verified != NULL) {
        return X509_V_OK;
    }
    int code = nc_verify_chain(&eval->verified, &input->sent, anchors, lists, input->trust->options.is_strict);
    if (code == X509_V_OK && cache != NULL) {
        nc_verified_chain_cache_add(cache, &input->sent, anchors, eval->verified);
    }
    return code;
}

/// Rules R3 and R4 of docs/trust.md: the chain must verify.
static bool refuse_chain(evaluation *eval) {
    char endpoint[NC_HOST_MAX_BYTES + 16];
    const nc_trust_options *options = &eval->input->trust->options;
    X509_STORE *anchors = eval->input->roots;
    if (eval->lets_invalid_chains_pass) {
        eval->result->notes |= NC_TRUST_FLAG_CHAIN_UNCHECKED;
        return false;
    }
    if (options->roots == NC_ROOTS_PINNED && eval->rule != NULL && eval->rule->anchors != NULL) {
        anchors = eval->rule->anchors;
    }
    int code = anchors != NULL ? verify(eval, anchors) : X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY;
    if (code != X509_V_OK) {
        set_result(eval->result, nc_verify_status(code), code, "%s (%s)", endpoint_text(endpoint, eval->input),
                   X509_verify_cert_error_string(code));
        return true;
    }
    char fault[NC_ERROR_MESSAGE_BYTES];
    if (!describe_fault(fault, eval->input, eval->verified)) {
        return false;
    }
    set_result(eval->result, NC_ERR_TLS_CERTIFICATE, X509_V_ERR_APPLICATION_VERIFICATION, "%s (%s)",
               endpoint_text(endpoint, eval->input), fault);
    return true;
}

/// Rule R2 of docs/trust.md: the name must match, even if the chain need not verify.
static bool refuse_name(const evaluation *eval) {
    char endpoint[NC_HOST_MAX_BYTES + 16];
    if (eval->skips_name) {
        eval->result->notes |= NC_TRUST_FLAG_NAME_UNCHECKED;
        return false;
    }
    if (nc_verify_name(eval->input->sent.leaf, eval->input->host)) {
        return false;
    }
    set_result(eval->result, NC_ERR_TLS_NAME, X509_V_ERR_HOSTNAME_MISMATCH, "%s", endpoint_text(endpoint, eval->input));
    return true;
}

static void evaluate_pins(evaluation *eval) {
    char endpoint[NC_HOST_MAX_BYTES + 16];
    nc_trust_result *result = eval->result;
    int64_t at_s = eval->input->sent.at_s;
    if (eval->rule == NULL || eval->rule->mode == NC_PIN_NONE) {
        return;
    }
    if (nc_rule_has_expired(eval->rule, at_s)) {
        result->notes |= NC_TRUST_FLAG_RULE_EXPIRED | (eval->rule->lapses ? (uint32_t)NC_TRUST_FLAG_RULE_LAPSED : 0u);
    }
    bool is_pinned = eval->rule->mode == NC_PIN_CERTIFICATE ? has_pinned_certificate(eval) : has_pinned_key(eval);
    if (is_pinned) {
        return;
    }
    set_result(result, NC_ERR_PIN_MISMATCH, X509_V_ERR_APPLICATION_VERIFICATION, "%s",
               endpoint_text(endpoint, eval->input));
    if (!nc_rule_enforces(eval->rule, at_s)) {
        result->status = NC_OK;
        result->notes |= eval->rule->reports_only ? (uint32_t)NC_TRUST_FLAG_REPORT_ONLY : 0u;
    }
}

void nc_trust_evaluate_chain(nc_trust_result *out, STACK_OF(X509) * *verified, const nc_trust_input *input) {
    const nc_trust_options *options = &input->trust->options;
    evaluation eval = {
        .input = input,
        .result = out,
        .rule = nc_rules_find(input->trust->rules, input->host, input->port),
        .lets_invalid_chains_pass = options->accepts_anything || options->accepts_invalid_chains,
        .skips_name = options->accepts_anything || options->skips_name_check,
    };
    *out = (nc_trust_result){.status = NC_OK};
    if (!refuse_unpinned(&eval) && !refuse_chain(&eval) && !refuse_name(&eval)) {
        evaluate_pins(&eval);
    }
    out->is_verified = eval.verified != NULL;
    *verified = eval.verified;
}

/* --- messages and lists --- */

static void describe(nc_trust_result *result, const char *endpoint) {
    const char *seen = result->chain_pins[0];
    nc_error line;
    // The message names only the first pins; the lists of the result have the others.
    (void)nc_error_set(&line, result->finding, 0, -1, "%s: %s (the chain has %s%s, the policy %s%s)",
                       nc_status_text(result->finding), endpoint, seen, result->chain_count > 1 ? ", …" : "",
                       result->pins[0], result->pin_count > 1 ? ", …" : "");
    memcpy(result->message, line.message, sizeof result->message);
}

void nc_trust_list_pins(nc_trust_result *result, STACK_OF(X509) * verified, const nc_trust_input *input) {
    char endpoint[NC_HOST_MAX_BYTES + 16];
    uint8_t digest[NC_PIN_DIGEST_BYTES];
    const nc_rule *rule = nc_rules_find(input->trust->rules, input->host, input->port);
    STACK_OF(X509) *chain = verified != NULL ? verified : input->sent.certificates;
    int count = chain != NULL ? sk_X509_num(chain) : 1;
    result->chain_count = (uint32_t)count;
    for (int i = 0; i < count && i < (int)NC_TRUST_RESULT_MAX_PINS; i++) {
        if (nc_pin_of(digest, chain != NULL ? sk_X509_value(chain, i) : input->sent.leaf)) {
            nc_pin_format(result->chain_pins[i], digest);
        }
    }
    result->pin_count = rule != NULL ? (uint32_t)rule->pins.count : 0;
    for (size_t i = 0; i < result->pin_count && i < NC_TRUST_RESULT_MAX_PINS; i++) {
        nc_pin_format(result->pins[i], rule->pins.pins[i].digest);
    }
    if (result->finding == NC_ERR_PIN_MISMATCH) {
        describe(result, endpoint_text(endpoint, input));
    }
}

void nc_trust_call_observer(nc_trust_result *result, const nc_trust *trust, const nc_trust_event *event) {
    const nc_trust_observer *observer = &trust->rules->observer;
    if (observer->decide == NULL) {
        return;
    }
    bool is_allowed = observer->decide(observer->ctx, event);
    if (!is_allowed && result->status == NC_OK) {
        set_result(result, NC_ERR_TLS_CERTIFICATE, X509_V_ERR_APPLICATION_VERIFICATION,
                   "%.*s:%u (the policy's observer refused it)", (int)event->host.length,
                   (const char *)event->host.data, (unsigned)event->port);
        result->notes |= NC_TRUST_FLAG_TIGHTENED;
    } else if (is_allowed && result->status != NC_OK && observer->allows_override) {
        result->status = NC_OK;
        result->notes |= NC_TRUST_FLAG_OVERRIDDEN;
    }
}

const char *nc_trust_result_chain_pin(const nc_trust_result *result, size_t index) {
    return index < NC_TRUST_RESULT_MAX_PINS ? result->chain_pins[index] : "";
}

const char *nc_trust_result_pin(const nc_trust_result *result, size_t index) {
    return index < NC_TRUST_RESULT_MAX_PINS ? result->pins[index] : "";
}

/* --- chains of PEM or DER text --- */

enum { HTTPS_PORT = 443 };

/// Fills the result for a chain that cannot be parsed: a refusal, not a failure of the function.
static void refuse_unread(nc_trust_result *out, const nc_error *why) {
    *out = (nc_trust_result){.status = why->status, .finding = why->status};
    memcpy(out->message, why->message, sizeof out->message);
}

/// Reads the name that certificates contain for a host. It is empty, and matches no certificate, for a malformed host.
static nc_status read_host(nc_host_name *out, nc_slice host, nc_error *err) {
    nc_canonical_host read;
    nc_status status = nc_host_read(&read, host, err);
    *out = status == NC_OK ? nc_host_certificate_name(&read) : (nc_host_name){.length = 0};
    return status == NC_ERR_NO_MEMORY ? status : NC_OK;
}

static nc_status evaluate_parsed_chain(nc_trust_result *out, const nc_trust *trust, const nc_trust_question *question,
                                       STACK_OF(X509) * chain, nc_error *err) {
    const nc_file_ops files = nc_file_ops_system();
    nc_host_name host;
    STACK_OF(X509) *verified = NULL;
    nc_root_store *roots = NULL;
    nc_status status = read_host(&host, question->host, err);
    if (status == NC_OK && nc_trust_needs_roots(trust)) {
        status = nc_trust_load_roots(&roots, trust, &files, err);
    }
    if (status != NC_OK) {
        return status;
    }
    const nc_trust_input asked = {
        .trust = trust,
        .roots = roots,
        .sent = {.leaf = sk_X509_value(chain, 0), .certificates = chain, .at_s = question->at_s},
        .host = &host,
        .port = question->port != 0 ? question->port : (uint16_t)HTTPS_PORT,
    };
    nc_trust_evaluate_chain(out, &verified, &asked);
    nc_trust_list_pins(out, verified, &asked);
    sk_X509_pop_free(verified, X509_free);
    nc_trust_free_roots(roots);
    return out->status == NC_ERR_NO_MEMORY
               ? nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory to evaluate a certificate chain")
               : nc_error_clear(err);
}

nc_status nc_trust_evaluate(nc_trust_result *out, const nc_trust *trust, const nc_trust_question *question,
                            nc_error *err) {
    nc_error detail;
    nc_trust_result result;
    STACK_OF(X509) *chain = NULL;
    nc_status status = nc_chain_parse(&chain, question->chain, &detail);
    if (status == NC_ERR_TLS_CERTIFICATE) {
        refuse_unread(out, &detail);
        return nc_error_clear(err);
    }
    if (status == NC_OK) {
        status = evaluate_parsed_chain(&result, trust, question, chain, &detail);
    }
    sk_X509_pop_free(chain, X509_free);
    if (status == NC_OK) {
        *out = result;
        return nc_error_clear(err);
    }
    if (err != NULL) {
        *err = detail;
    }
    return status;
}
