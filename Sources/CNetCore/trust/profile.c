#include "trust/profile.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <string.h>

enum { MIN_RSA_BITS = 2048, MAX_SERIAL_BITS = 159, VERSION_3 = 2 };

/// A certificate and its position in the chain.
typedef struct place {
    X509 *certificate;
    X509 *issuer; // NULL for the last certificate if it is not self-issued
    bool is_leaf;
    bool is_root; // self-issued, and trusted
} place;

static bool has(const X509 *certificate, int kind) {
    return X509_get_ext_by_NID(certificate, kind, -1) >= 0;
}

static bool is_critical(const X509 *certificate, int kind) {
    int index = X509_get_ext_by_NID(certificate, kind, -1);
    return index >= 0 && X509_EXTENSION_get_critical(X509_get_ext(certificate, index)) == 1;
}

/* --- every certificate --- */

/// RFC 5280, 4.1.2.2: positive, and at most 20 octets including the sign. Roots are exempt: some are older than the
/// rule, and a self-issued certificate needs no unique number.
static bool has_good_serial(const place *at) {
    if (at->is_root && !at->is_leaf) {
        return true;
    }
    BIGNUM *number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(at->certificate), NULL);
    bool is_good =
        number != NULL && !BN_is_negative(number) && !BN_is_zero(number) && BN_num_bits(number) <= MAX_SERIAL_BITS;
    BN_free(number);
    return is_good;
}

static bool is_version_3(const place *at) {
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

/// Baseline Requirements, 6.1.5 and 6.1.6, and the curves of RFC 8410, which they do not list yet.
static bool has_good_key(const place *at) {
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

static bool has_good_constraints(const place *at) {
    if (!has(at->certificate, NID_name_constraints)) {
        return true;
    }
    return !at->is_leaf && is_critical(at->certificate, NID_name_constraints) &&
           nc_profile_constraints_hold(at->certificate);
}

static bool has_good_policies(const place *at) {
    bool has_constraints = has(at->certificate, NID_policy_constraints);
    bool has_inhibition = has(at->certificate, NID_inhibit_any_policy);
    POLICY_CONSTRAINTS *constraints = X509_get_ext_d2i(at->certificate, NID_policy_constraints, NULL, NULL);
    bool is_stated = constraints != NULL &&
                     (constraints->requireExplicitPolicy != NULL || constraints->inhibitPolicyMapping != NULL);
    POLICY_CONSTRAINTS_free(constraints);
    return (!has_constraints || (is_stated && is_critical(at->certificate, NID_policy_constraints))) &&
           (!has_inhibition || is_critical(at->certificate, NID_inhibit_any_policy));
}

static bool has_good_access(const place *at) {
    if (!has(at->certificate, NID_info_access)) {
        return true;
    }
    AUTHORITY_INFO_ACCESS *access = X509_get_ext_d2i(at->certificate, NID_info_access, NULL, NULL);
    bool is_good = sk_ACCESS_DESCRIPTION_num(access) > 0 && !is_critical(at->certificate, NID_info_access);
    AUTHORITY_INFO_ACCESS_free(access);
    return is_good;
}

/// RFC 5280, 4.2.1.2: every authority names its key.
static bool has_good_subject_key(const place *at) {
    bool is_named = X509_get0_subject_key_id(at->certificate) != NULL;
    return (is_named || (at->is_leaf && !has(at->certificate, NID_subject_key_identifier))) &&
           !is_critical(at->certificate, NID_subject_key_identifier);
}

/// RFC 5280, 4.2.1.1 and Baseline Requirements, 7.1.2.11.1: only the issuer's key identifier. A root may omit it.
static bool has_good_authority_key(const place *at) {
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

static bool has_good_basics(const place *at) {
    bool is_authority = (X509_get_extension_flags(at->certificate) & EXFLAG_CA) != 0;
    return at->is_leaf ? !is_authority : is_authority && is_critical(at->certificate, NID_basic_constraints);
}

/* --- extended key usage --- */

/// A leaf must be limited to server authentication. A root must not be limited.
static bool has_good_usage(const place *at) {
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
    bool (*holds)(const place *at);
    const char *otherwise;
} checks[] = {
    {is_version_3, "is not of version 3"},
    {has_good_serial, "has a serial number that is not positive or is longer than 20 octets"},
    {has_good_key, "has a key that is not RSA with 2048 bits or more (a multiple of 8), nor a curve in use"},
    {has_good_basics, "is an authority's without critical basic constraints, or a server's with them"},
    {has_good_constraints, "has name constraints that are malformed, empty, not critical or not an authority's"},
    {has_good_policies, "has policy constraints that are empty or not critical"},
    {has_good_access, "has an authority information access that is empty, malformed or critical"},
    {has_good_subject_key, "has no subject key identifier, or a critical one"},
    {has_good_authority_key, "has an authority key identifier that is missing, critical or more than its issuer's key"},
    {has_good_usage, "has the wrong extended key usage: a server's is for servers, not critical; a root's is absent"},
};

/// RFC 5280, 5.2.3: every list has a number, which is not critical.
static bool has_good_number(const X509_CRL *list) {
    int critical = -1;
    ASN1_INTEGER *number = X509_CRL_get_ext_d2i(list, NID_crl_number, &critical, NULL);
    bool is_good = number != NULL && critical == 0;
    ASN1_INTEGER_free(number);
    return is_good;
}

/// Returns true if a revocation list of an issuer in the chain lacks its number.
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

static const char *fault_of(const place *at) {
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (!checks[i].holds(at)) {
            return checks[i].otherwise;
        }
    }
    return NULL;
}

const char *nc_profile_fault(const nc_profile_case *looked_at, int *at) {
    STACK_OF(X509) *chain = looked_at->chain;
    int count = sk_X509_num(chain);
    const char *fault = nc_profile_names_fault(sk_X509_value(chain, 0), looked_at->is_public_suffix);
    *at = 1;
    for (int i = 0; i < count && fault == NULL; i++) {
        X509 *certificate = sk_X509_value(chain, i);
        bool is_own = (X509_get_extension_flags(certificate) & EXFLAG_SI) != 0;
        place one = {.certificate = certificate, .is_leaf = i == 0, .is_root = i == count - 1 && is_own};
        one.issuer = i + 1 < count ? sk_X509_value(chain, i + 1) : one.is_root ? certificate : NULL;
        fault = fault_of(&one);
        *at = i + 1;
    }
    if (fault == NULL && looked_at->lists != NULL && has_bad_list(chain, looked_at->lists)) {
        fault = "a revocation list has no number, or a critical one";
        *at = 0;
    }
    ERR_clear_error();
    return fault;
}
