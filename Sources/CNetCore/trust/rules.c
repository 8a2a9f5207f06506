#include "trust/rules.h"

#include "base/alloc.h"
#include "base/error.h"
#include "trust/pattern.h"
#include "trust/pin.h"
#include "trust/policy.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- one rule --- */

static nc_status read_rule(nc_rule *rule, const nc_trust_rule *from, nc_error *err) {
    nc_status status = NC_OK;
    for (size_t i = 0; i < from->pin_count && status == NC_OK; i++) {
        status = from->mode == NC_PIN_CERTIFICATE
                     ? nc_error_set(err, NC_ERR_BAD_PIN, 0, -1, "a hash cannot pin a whole certificate")
                     : nc_pin_list_add_text(&rule->pins, from->pins[i], err);
    }
    for (size_t i = 0; i < from->certificate_count && status == NC_OK; i++) {
        status = nc_pin_list_add_bytes(&rule->pins, from->certificates[i], from->mode, "the given bytes", err);
    }
    for (size_t i = 0; i < from->file_count && status == NC_OK; i++) {
        status = nc_pin_list_add_path(&rule->pins, from->files[i], from->mode, err);
    }
    if (status == NC_OK) {
        nc_pin_list_normalize(&rule->pins);
    }
    return status;
}

static nc_status check(const nc_rule *rule, const nc_trust_rule *from, nc_error *err) {
    int shown = (int)(from->hosts.length < 96 ? from->hosts.length : 96);
    const char *hosts = (const char *)from->hosts.data;
    if (rule->mode == NC_PIN_NONE) {
        bool is_bare = rule->pins.count == 0 && from->min_pins == 0;
        return is_bare ? NC_OK
                       : nc_error_set(err, NC_ERR_BAD_PIN, 0, -1,
                                      "the rule for '%.*s' has pins, but its mode is NC_PIN_NONE", shown, hosts);
    }
    size_t least = from->min_pins != 0 ? from->min_pins : 1;
    if (rule->pins.count >= least) {
        return NC_OK;
    }
    return nc_error_set(err, NC_ERR_BAD_PIN, 0, -1, "the rule for '%.*s' has %zu pins, but requires at least %zu",
                        shown, hosts, rule->pins.count, least);
}

static nc_status make_anchors(nc_rule *rule, nc_error *err) {
    if (rule->mode != NC_PIN_CERTIFICATE) {
        return NC_OK;
    }
    rule->anchors = X509_STORE_new();
    bool is_made = rule->anchors != NULL;
    for (size_t i = 0; i < rule->pins.count && is_made; i++) {
        is_made = X509_STORE_add_cert(rule->anchors, rule->pins.pins[i].certificate) == 1;
    }
    ERR_clear_error();
    if (!is_made) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for pinned certificates");
    }
    X509_STORE_set_flags(rule->anchors, X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST);
    return NC_OK;
}

static void deinit(nc_rule *rule) {
    nc_pin_list_deinit(&rule->pins);
    X509_STORE_free(rule->anchors);
}

static nc_status init(nc_rule *rule, const nc_trust_rule *from, nc_error *err) {
    *rule = (nc_rule){.mode = from->mode,
                      .expires_at_s = from->expires_at_s,
                      .lapses = from->lapses,
                      .reports_only = from->reports_only};
    if (from->mode != NC_PIN_NONE && from->mode != NC_PIN_PUBLIC_KEY && from->mode != NC_PIN_CERTIFICATE) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown pinning mode %d", (int)from->mode);
    }
    if ((from->pin_count > 0 && from->pins == NULL) || (from->certificate_count > 0 && from->certificates == NULL) ||
        (from->file_count > 0 && from->files == NULL)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a count is not 0, but its array is NULL");
    }
    if (from->expires_at_s < 0) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a rule expires before 1970");
    }
    nc_status status = nc_pattern_parse(&rule->pattern, from->hosts, err);
    status = status == NC_OK ? read_rule(rule, from, err) : status;
    status = status == NC_OK ? check(rule, from, err) : status;
    return status == NC_OK ? make_anchors(rule, err) : status;
}

bool nc_rule_has_expired(const nc_rule *rule, int64_t at_s) {
    return rule->expires_at_s != 0 && at_s >= rule->expires_at_s;
}

bool nc_rule_enforces(const nc_rule *rule, int64_t at_s) {
    bool has_lapsed = rule->lapses && nc_rule_has_expired(rule, at_s);
    return rule->mode != NC_PIN_NONE && !rule->reports_only && !has_lapsed;
}

/* --- all of them --- */

static int compare_rules(const void *a, const void *b) {
    return nc_pattern_compare(&((const nc_rule *)a)->pattern, &((const nc_rule *)b)->pattern);
}

static nc_status finish_rule(nc_rules *rules, nc_error *err) {
    if (rules->count > 1) {
        qsort(rules->rules, rules->count, sizeof *rules->rules, compare_rules);
    }
    for (size_t i = 1; i < rules->count; i++) {
        if (compare_rules(&rules->rules[i - 1], &rules->rules[i]) == 0) {
            return nc_error_set(err, NC_ERR_BAD_PIN, 0, -1, "two rules have the same hosts '%s'",
                                rules->rules[i].pattern.host.text);
        }
    }
    return NC_OK;
}

nc_status nc_rules_new(nc_rules **out, const nc_trust_options *options, nc_error *err) {
    if (options->rule_count > NC_TRUST_MAX_RULES || (options->rule_count > 0 && options->rules == NULL)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "more than %u rules, or a count is not 0 but its array is NULL",
                            NC_TRUST_MAX_RULES);
    }
    nc_rules *rules = nc_alloc_zeroed(1, sizeof *rules);
    if (rules != NULL) {
        atomic_init(&rules->references, 1);
        rules->rules = options->rule_count > 0 ? nc_alloc_zeroed(options->rule_count, sizeof *rules->rules) : NULL;
    }
    if (rules == NULL || (options->rule_count > 0 && rules->rules == NULL)) {
        nc_rules_release(rules);
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for the rules of a trust policy");
    }
    nc_status status = NC_OK;
    for (size_t i = 0; i < options->rule_count && status == NC_OK; i++) {
        status = init(&rules->rules[i], &options->rules[i], err);
        rules->count++;
    }
    status = status == NC_OK ? finish_rule(rules, err) : status;
    if (status != NC_OK) {
        nc_rules_release(rules);
        return status;
    }
    *out = rules;
    return NC_OK;
}

nc_rules *nc_rules_retain(nc_rules *rules) {
    atomic_fetch_add_explicit(&rules->references, 1, memory_order_relaxed);
    return rules;
}

void nc_rules_release(nc_rules *rules) {
    if (rules == NULL || atomic_fetch_sub_explicit(&rules->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (size_t i = 0; i < rules->count; i++) {
        deinit(&rules->rules[i]);
    }
    nc_free(rules->rules);
    if (rules->observer.release != NULL) {
        rules->observer.release(rules->observer.ctx);
    }
    nc_free(rules);
}

static bool is_equal_rule(const nc_rule *a, const nc_rule *b) {
    bool is_equal = nc_pattern_compare(&a->pattern, &b->pattern) == 0 && a->mode == b->mode &&
                    a->pins.count == b->pins.count && a->expires_at_s == b->expires_at_s && a->lapses == b->lapses &&
                    a->reports_only == b->reports_only;
    for (size_t i = 0; i < a->pins.count && is_equal; i++) {
        is_equal = nc_pin_compare(&a->pins.pins[i], &b->pins.pins[i]) == 0;
    }
    return is_equal;
}

bool nc_rules_is_equal(const nc_rules *a, const nc_rules *b) {
    if (a == b) {
        return true;
    }
    bool is_equal = a->count == b->count && a->observer.ctx == b->observer.ctx &&
                    a->observer.report == b->observer.report && a->observer.decide == b->observer.decide &&
                    a->observer.allows_override == b->observer.allows_override;
    for (size_t i = 0; i < a->count && is_equal; i++) {
        is_equal = is_equal_rule(&a->rules[i], &b->rules[i]);
    }
    return is_equal;
}

const nc_rule *nc_rules_find(const nc_rules *rules, const nc_host_name *host, uint16_t port) {
    for (size_t i = 0; i < rules->count; i++) {
        if (nc_pattern_covers(&rules->rules[i].pattern, host, port)) {
            return &rules->rules[i];
        }
    }
    return NULL;
}

bool nc_trust_forbids_plaintext(const nc_trust *trust, const nc_host_name *host, uint16_t port, int64_t at_s) {
    const nc_rules *rules = trust->rules;
    const nc_rule *rule = nc_rules_find(rules, host, port);
    if (rule != NULL && (rule->pattern.port != 0 || nc_rule_enforces(rule, at_s))) {
        return nc_rule_enforces(rule, at_s);
    }
    // `rule` names no port and has no enforced pins. A narrower rule for a single port may still enforce pins for this
    // host.
    for (size_t i = 0; i < rules->count && &rules->rules[i] != rule; i++) {
        if (nc_pattern_covers(&rules->rules[i].pattern, host, 0) && nc_rule_enforces(&rules->rules[i], at_s)) {
            return true;
        }
    }
    return false;
}

/* --- warnings --- */

static bool has_no_backup(const nc_rule *rule) {
    return rule->mode != NC_PIN_NONE && rule->pins.count == 1;
}

size_t nc_trust_warning_count(const nc_trust *trust) {
    size_t count = 0;
    for (size_t i = 0; i < trust->rules->count; i++) {
        count += has_no_backup(&trust->rules->rules[i]) ? 1 : 0;
    }
    return count;
}

static const char *stars_of(const nc_pattern *pattern) {
    static const char *const stars[] = {[NC_PATTERN_EXACT] = "",
                                        [NC_PATTERN_ONE_LABEL] = "*.",
                                        [NC_PATTERN_ANY_DEPTH] = "**.",
                                        [NC_PATTERN_EVERY] = "**"};
    return stars[pattern->kind];
}

bool nc_trust_warning_at(const nc_trust *trust, size_t index, char *out, size_t capacity) {
    for (size_t i = 0; i < trust->rules->count; i++) {
        const nc_rule *rule = &trust->rules->rules[i];
        if (has_no_backup(rule) && index-- == 0) {
            (void)snprintf(out, capacity, "the rule for %s%s has no backup pin", stars_of(&rule->pattern),
                           rule->pattern.host.text);
            return true;
        }
    }
    if (capacity > 0) {
        out[0] = '\0';
    }
    return false;
}
