#include "trust/evaluate.h"

#include "base/ascii.h"

#include <arpa/inet.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <string.h>

/* --- names --- */

enum { MAX_NAME_BYTES = 253, MAX_LABEL_BYTES = 63, V4_BYTES = 4, V6_BYTES = 16 };

static nc_slice text_of(const ASN1_STRING *string) {
    return nc_slice_make(ASN1_STRING_get0_data(string), (size_t)ASN1_STRING_length(string));
}

/// Returns true for a label of letters, digits and hyphens (RFC 1034, 3.5), without underscores.
static bool is_label(nc_slice label) {
    if (label.length == 0 || label.length > MAX_LABEL_BYTES || label.data[0] == '-' ||
        label.data[label.length - 1] == '-') {
        return false;
    }
    for (size_t i = 0; i < label.length; i++) {
        uint8_t byte = label.data[i];
        if (!nc_ascii_is_alpha(byte) && !nc_ascii_is_digit(byte) && byte != '-') {
            return false;
        }
    }
    return true;
}

static bool is_dns_name(nc_slice name) {
    if (name.length == 0 || name.length > MAX_NAME_BYTES) {
        return false;
    }
    for (;;) {
        const uint8_t *dot = memchr(name.data, '.', name.length);
        size_t length = dot != NULL ? (size_t)(dot - name.data) : name.length;
        if (!is_label(nc_slice_make(name.data, length))) {
            return false;
        }
        if (dot == NULL) {
            return true;
        }
        name = nc_slice_make(dot + 1, name.length - length - 1);
    }
}

/// Returns true for a wildcard that the profile allows: the star is a whole label, and at least two labels follow,
/// which are not a public suffix.
static bool is_wildcard(nc_slice name) {
    uint8_t lower[MAX_NAME_BYTES];
    nc_slice rest = nc_slice_make(name.data + 2, name.length - 2);
    if (name.data[1] != '.' || !is_dns_name(rest) || memchr(rest.data, '.', rest.length) == NULL) {
        return false;
    }
    for (size_t i = 0; i < rest.length; i++) {
        lower[i] = nc_ascii_lower(rest.data[i]);
    }
    return !nc_is_registry_suffix(nc_slice_make(lower, rest.length));
}

static bool is_good_name(const GENERAL_NAME *name) {
    if (name->type == GEN_IPADD) {
        int length = ASN1_STRING_length(name->d.iPAddress);
        return length == V4_BYTES || length == V6_BYTES;
    }
    if (name->type != GEN_DNS) {
        return true;
    }
    nc_slice text = text_of(name->d.dNSName);
    return text.length > 2 && text.data[0] == '*' ? is_wildcard(text) : is_dns_name(text);
}

/* --- the common name --- */

/// Returns true if a common name is identical to this name. An address must have the spelling of RFC 5952.
static bool is_same(nc_slice common, const GENERAL_NAME *name) {
    char text[INET6_ADDRSTRLEN];
    if (name->type == GEN_DNS) {
        return nc_slice_is_equal(common, text_of(name->d.dNSName));
    }
    if (name->type != GEN_IPADD) {
        return false;
    }
    int family = ASN1_STRING_length(name->d.iPAddress) == V4_BYTES ? AF_INET : AF_INET6;
    return inet_ntop(family, ASN1_STRING_get0_data(name->d.iPAddress), text, sizeof text) != NULL &&
           nc_slice_is_equal(common, nc_slice_of(text));
}

static bool is_among(const ASN1_STRING *common, const GENERAL_NAMES *names) {
    unsigned char *text = NULL;
    int length = ASN1_STRING_to_UTF8(&text, common);
    bool is_found = false;
    for (int i = 0; i < sk_GENERAL_NAME_num(names) && length > 0 && !is_found; i++) {
        is_found = is_same(nc_slice_make(text, (size_t)length), sk_GENERAL_NAME_value(names, i));
    }
    OPENSSL_free(text);
    return is_found;
}

/// Returns true if each common name is among the subject alternative names (Baseline Requirements, 7.1.4.3).
static bool has_good_common_names(X509 *leaf, const GENERAL_NAMES *names) {
    const X509_NAME *subject = X509_get_subject_name(leaf);
    int at = -1;
    while ((at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0) {
        if (!is_among(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)), names)) {
            return false;
        }
    }
    return true;
}

/// Checks the names of a leaf: their form, and that each common name is one of them. Returns the violation, or NULL.
static const char *names_fault(X509 *leaf) {
    int critical = 0;
    GENERAL_NAMES *names = X509_get_ext_d2i(leaf, NID_subject_alt_name, &critical, NULL);
    bool is_nameless = X509_NAME_entry_count(X509_get_subject_name(leaf)) == 0;
    const char *fault = NULL;
    if (sk_GENERAL_NAME_num(names) <= 0) {
        fault = "has no subject alternative names that can be read";
    } else if ((critical == 1) != is_nameless) {
        fault = "has subject alternative names that are critical beside a subject, or not critical without one";
    } else if (!has_good_common_names(leaf, names)) {
        fault = "has a common name that is not among its subject alternative names";
    }
    for (int i = 0; i < sk_GENERAL_NAME_num(names) && fault == NULL; i++) {
        if (!is_good_name(sk_GENERAL_NAME_value(names, i))) {
            fault = "has a malformed subject alternative name, or a wildcard for a public suffix";
        }
    }
    GENERAL_NAMES_free(names);
    return fault;
}

/* --- name constraints --- */

/// Returns true for an address range: an address, and a mask of ones followed by zeros.
static bool is_range(const ASN1_OCTET_STRING *range) {
    int length = ASN1_STRING_length(range);
    const unsigned char *bytes = ASN1_STRING_get0_data(range);
    bool is_over = false;
    if (length != 2 * V4_BYTES && length != 2 * V6_BYTES) {
        return false;
    }
    for (int bit = 0; bit < length / 2 * 8; bit++) {
        bool is_one = (bytes[length / 2 + bit / 8] >> (7 - bit % 8) & 1) != 0;
        if (is_one && is_over) {
            return false;
        }
        is_over = is_over || !is_one;
    }
    return true;
}

static bool is_good_subtree(const GENERAL_SUBTREE *subtree) {
    bool has_distance =
        (subtree->minimum != NULL && ASN1_INTEGER_get(subtree->minimum) != 0) || subtree->maximum != NULL;
    if (has_distance) {
        return false;
    }
    if (subtree->base->type == GEN_IPADD) {
        return is_range(subtree->base->d.iPAddress);
    }
    if (subtree->base->type != GEN_DNS) {
        return true;
    }
    nc_slice name = text_of(subtree->base->d.dNSName);
    return name.length == 0 || is_dns_name(name); // an empty name matches every name
}

/// Returns true if there are no subtrees, or at least one and all are valid.
static bool are_good(const STACK_OF(GENERAL_SUBTREE) * subtrees) {
    bool is_good = subtrees == NULL || sk_GENERAL_SUBTREE_num(subtrees) > 0;
    for (int i = 0; i < sk_GENERAL_SUBTREE_num(subtrees) && is_good; i++) {
        is_good = is_good_subtree(sk_GENERAL_SUBTREE_value(subtrees, i));
    }
    return is_good;
}

/// Returns true if the name constraints can be read and have the form of RFC 5280, 4.2.1.10.
static bool constraints_hold(X509 *certificate) {
    NAME_CONSTRAINTS *constraints = X509_get_ext_d2i(certificate, NID_name_constraints, NULL, NULL);
    if (constraints == NULL) {
        return false;
    }
    bool is_stated = constraints->permittedSubtrees != NULL || constraints->excludedSubtrees != NULL;
    bool is_good = is_stated && are_good(constraints->permittedSubtrees) && are_good(constraints->excludedSubtrees);
    NAME_CONSTRAINTS_free(constraints);
    return is_good;
}

/* --- the chain --- */

enum { MIN_RSA_BITS = 2048, MAX_SERIAL_BITS = 159, VERSION_3 = 2 };

/// A certificate of the chain and its role.
typedef struct chain_position {
    X509 *certificate;
    X509 *issuer; // NULL if the last certificate of the chain is not self-issued
    bool is_leaf;
    bool is_root; // the last certificate, self-issued
} chain_position;

static bool has(const X509 *certificate, int kind) {
    return X509_get_ext_by_NID(certificate, kind, -1) >= 0;
}

static bool is_critical(const X509 *certificate, int kind) {
    int index = X509_get_ext_by_NID(certificate, kind, -1);
    return index >= 0 && X509_EXTENSION_get_critical(X509_get_ext(certificate, index)) == 1;
}

/* --- every certificate --- */

/// Checks the serial number: positive, and at most 20 octets including the sign (RFC 5280, 4.1.2.2). Roots are exempt:
/// some are older than the rule, and a self-issued certificate needs no unique number.
static bool has_good_serial(const chain_position *at) {
    if (at->is_root && !at->is_leaf) {
        return true;
    }
    BIGNUM *number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(at->certificate), NULL);
    bool is_good =
        number != NULL && !BN_is_negative(number) && !BN_is_zero(number) && BN_num_bits(number) <= MAX_SERIAL_BITS;
    BN_free(number);
    return is_good;
}

static bool is_version_3(const chain_position *at) {
    return X509_get_version(at->certificate) == VERSION_3;
}

static bool has_good_exponent(EVP_PKEY *key) {
    BIGNUM *exponent = NULL;
    bool is_good = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1 && BN_is_odd(exponent) &&
                   !BN_is_one(exponent);
    BN_free(exponent);
    return is_good;
}

static bool has_good_curve(EVP_PKEY *key) {
    static const char *const curves[] = {SN_X9_62_prime256v1, SN_secp384r1, SN_secp521r1};
    char name[64];
    bool is_good = false;
    if (EVP_PKEY_get_group_name(key, name, sizeof name, NULL) == 1) {
        for (size_t i = 0; i < sizeof curves / sizeof *curves && !is_good; i++) {
            is_good = strcmp(name, curves[i]) == 0;
        }
    }
    return is_good;
}

/// Checks the key by Baseline Requirements, 6.1.5 and 6.1.6. Also allows the curves of RFC 8410, which the requirements
/// do not list yet.
static bool has_good_key(const chain_position *at) {
    EVP_PKEY *key = X509_get0_pubkey(at->certificate);
    switch (key != NULL ? EVP_PKEY_get_base_id(key) : NID_undef) {
    case EVP_PKEY_RSA:
    case EVP_PKEY_RSA_PSS:
        return EVP_PKEY_get_bits(key) >= MIN_RSA_BITS && EVP_PKEY_get_bits(key) % 8 == 0 && has_good_exponent(key);
    case EVP_PKEY_EC:
        return has_good_curve(key);
    case EVP_PKEY_ED25519:
    case EVP_PKEY_ED448:
        return true;
    default:
        return false;
    }
}

static bool has_good_constraints(const chain_position *at) {
    if (!has(at->certificate, NID_name_constraints)) {
        return true;
    }
    return !at->is_leaf && is_critical(at->certificate, NID_name_constraints) && constraints_hold(at->certificate);
}

static bool has_good_policies(const chain_position *at) {
    bool has_constraints = has(at->certificate, NID_policy_constraints);
    bool has_inhibition = has(at->certificate, NID_inhibit_any_policy);
    POLICY_CONSTRAINTS *constraints = X509_get_ext_d2i(at->certificate, NID_policy_constraints, NULL, NULL);
    bool is_stated = constraints != NULL &&
                     (constraints->requireExplicitPolicy != NULL || constraints->inhibitPolicyMapping != NULL);
    POLICY_CONSTRAINTS_free(constraints);
    return (!has_constraints || (is_stated && is_critical(at->certificate, NID_policy_constraints))) &&
           (!has_inhibition || is_critical(at->certificate, NID_inhibit_any_policy));
}

static bool has_good_access(const chain_position *at) {
    if (!has(at->certificate, NID_info_access)) {
        return true;
    }
    AUTHORITY_INFO_ACCESS *access = X509_get_ext_d2i(at->certificate, NID_info_access, NULL, NULL);
    bool is_good = sk_ACCESS_DESCRIPTION_num(access) > 0 && !is_critical(at->certificate, NID_info_access);
    AUTHORITY_INFO_ACCESS_free(access);
    return is_good;
}

/// Checks the subject key identifier, which every authority must have (RFC 5280, 4.2.1.2).
static bool has_good_subject_key(const chain_position *at) {
    bool is_named = X509_get0_subject_key_id(at->certificate) != NULL;
    return (is_named || (at->is_leaf && !has(at->certificate, NID_subject_key_identifier))) &&
           !is_critical(at->certificate, NID_subject_key_identifier);
}

/// Checks the authority key identifier (RFC 5280, 4.2.1.1; Baseline Requirements, 7.1.2.11.1). It may contain only the
/// issuer's key identifier. A root may omit it.
static bool has_good_authority_key(const chain_position *at) {
    if (!has(at->certificate, NID_authority_key_identifier)) {
        return at->is_root;
    }
    AUTHORITY_KEYID *named = X509_get_ext_d2i(at->certificate, NID_authority_key_identifier, NULL, NULL);
    const ASN1_OCTET_STRING *expected = at->issuer != NULL ? X509_get0_subject_key_id(at->issuer) : NULL;
    bool is_good = named != NULL && named->keyid != NULL && named->issuer == NULL && named->serial == NULL &&
                   (expected == NULL || ASN1_OCTET_STRING_cmp(named->keyid, expected) == 0);
    AUTHORITY_KEYID_free(named);
    return is_good && !is_critical(at->certificate, NID_authority_key_identifier);
}

/* --- authorities --- */

static bool has_good_basics(const chain_position *at) {
    bool is_authority = (X509_get_extension_flags(at->certificate) & EXFLAG_CA) != 0;
    return at->is_leaf ? !is_authority : is_authority && is_critical(at->certificate, NID_basic_constraints);
}

/* --- extended key usage --- */

/// Checks the extended key usage: a leaf must be limited to server authentication, and a root must not be limited.
static bool has_good_usage(const chain_position *at) {
    if (!has(at->certificate, NID_ext_key_usage)) {
        return !at->is_leaf;
    }
    if (at->is_root && !at->is_leaf) {
        return false;
    }
    uint32_t usage = X509_get_extended_key_usage(at->certificate);
    bool is_for_servers = (usage & (XKU_SSL_SERVER | XKU_ANYEKU)) != 0;
    bool is_for_anything = (usage & XKU_ANYEKU) != 0;
    return is_for_servers && !(at->is_leaf && (is_for_anything || is_critical(at->certificate, NID_ext_key_usage)));
}

/* --- the whole --- */

static const struct {
    bool (*holds)(const chain_position *at);
    const char *otherwise;
} checks[] = {
    {is_version_3, "is not of version 3"},
    {has_good_serial, "has a serial number that is not positive or is longer than 20 octets"},
    {has_good_key, "has a key that is neither RSA with 2048 bits or more (a multiple of 8) nor on an accepted curve"},
    {has_good_basics, "is an authority's without critical basic constraints, or a server's with them"},
    {has_good_constraints, "has name constraints that are malformed, empty, not critical or not an authority's"},
    {has_good_policies, "has policy constraints that are empty or not critical"},
    {has_good_access, "has an authority information access that is empty, malformed or critical"},
    {has_good_subject_key, "has no subject key identifier, or a critical one"},
    {has_good_authority_key, "has an authority key identifier that is missing, critical or more than its issuer's key"},
    {has_good_usage,
     "has the wrong extended key usage: a server's must be for servers and not critical, a root must have none"},
};

/// Returns true if a revocation list has a CRL number, which must not be critical (RFC 5280, 5.2.3).
static bool has_good_number(const X509_CRL *list) {
    int critical = -1;
    ASN1_INTEGER *number = X509_CRL_get_ext_d2i(list, NID_crl_number, &critical, NULL);
    bool is_good = number != NULL && critical == 0;
    ASN1_INTEGER_free(number);
    return is_good;
}

/// Returns true if the revocation list of an issuer in the chain has no valid CRL number.
static bool has_bad_list(STACK_OF(X509) * chain, X509_STORE *lists) {
    STACK_OF(X509_OBJECT) *objects = X509_STORE_get0_objects(lists);
    bool is_bad = false;
    for (int i = 0; i < sk_X509_OBJECT_num(objects) && !is_bad; i++) {
        X509_CRL *list = X509_OBJECT_get0_X509_CRL(sk_X509_OBJECT_value(objects, i));
        for (int k = 0; k < sk_X509_num(chain) && list != NULL && !is_bad; k++) {
            const X509_NAME *issuer = X509_get_issuer_name(sk_X509_value(chain, k));
            is_bad = X509_NAME_cmp(issuer, X509_CRL_get_issuer(list)) == 0 && !has_good_number(list);
        }
    }
    return is_bad;
}

static const char *fault_of(const chain_position *at) {
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (!checks[i].holds(at)) {
            return checks[i].otherwise;
        }
    }
    return NULL;
}

const char *nc_profile_fault(const nc_profile_input *input, int *at) {
    STACK_OF(X509) *chain = input->chain;
    int count = sk_X509_num(chain);
    const char *fault = names_fault(sk_X509_value(chain, 0));
    *at = 1;
    for (int i = 0; i < count && fault == NULL; i++) {
        X509 *certificate = sk_X509_value(chain, i);
        bool is_own = (X509_get_extension_flags(certificate) & EXFLAG_SI) != 0;
        chain_position one = {.certificate = certificate, .is_leaf = i == 0, .is_root = i == count - 1 && is_own};
        one.issuer = i + 1 < count ? sk_X509_value(chain, i + 1) : one.is_root ? certificate : NULL;
        fault = fault_of(&one);
        *at = i + 1;
    }
    if (fault == NULL && input->lists != NULL && has_bad_list(chain, input->lists)) {
        fault = "a revocation list has no number, or a critical one";
        *at = 0;
    }
    ERR_clear_error();
    return fault;
}
