#include "trust/verify.h"

#include "trust/identity.h"

#include <netcore/bytes.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <time.h>

/* --- name constraints that OpenSSL omits (RFC 5280, 4.2.1.10) --- */

static nc_slice text_of(const ASN1_STRING *string) {
    nc_slice text = nc_slice_make(ASN1_STRING_get0_data(string), (size_t)ASN1_STRING_length(string));
    // A final dot does not change the meaning of a name.
    text.length -= text.length > 0 && text.data[text.length - 1] == '.' ? 1 : 0;
    return text;
}

static bool ends_with(nc_slice text, nc_slice end) {
    return text.length >= end.length &&
           nc_slice_is_equal_ignoring_case(nc_slice_make(text.data + text.length - end.length, end.length), end);
}

/// Returns true if a wildcard can match a name in the subtree of `base`. The wildcard matches one label before `rest`
/// (".example.com").
static bool overlaps(nc_slice rest, nc_slice base) {
    if (base.length <= rest.length) {
        // The subtree contains either all names that the wildcard matches, or none.
        bool is_whole_label = base.length == rest.length || base.length == 0 || base.data[0] == '.' ||
                              rest.data[rest.length - base.length - 1] == '.';
        return is_whole_label && ends_with(rest, base);
    }
    // The subtree can contain only one of them: the name whose label is that of the base. A wildcard does not match
    // deeper names.
    return ends_with(base, rest) && memchr(base.data, '.', base.length - rest.length) == NULL;
}

static bool excludes(const NAME_CONSTRAINTS *constraints, nc_slice rest) {
    for (int i = 0; i < sk_GENERAL_SUBTREE_num(constraints->excludedSubtrees); i++) {
        const GENERAL_NAME *base = sk_GENERAL_SUBTREE_value(constraints->excludedSubtrees, i)->base;
        if (base->type == GEN_DNS && overlaps(rest, text_of(base->d.dNSName))) {
            return true;
        }
    }
    return false;
}

/// Returns true if a wildcard name of this certificate can match a name that the constraints exclude.
static bool excludes_names_of(const NAME_CONSTRAINTS *constraints, X509 *certificate) {
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    bool is_excluded = false;
    for (int i = 0; i < sk_GENERAL_NAME_num(names) && !is_excluded; i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        nc_slice text = name->type == GEN_DNS ? text_of(name->d.dNSName) : nc_slice_of(NULL);
        bool is_wildcard = text.length > 2 && text.data[0] == '*' && text.data[1] == '.';
        is_excluded = is_wildcard && excludes(constraints, nc_slice_make(text.data + 1, text.length - 1));
    }
    GENERAL_NAMES_free(names);
    return is_excluded;
}

/// Returns true if a certificate of the chain has a wildcard name that can match a name which an authority above it
/// excludes. An example is "*.example.com" below an authority that excludes bar.example.com. OpenSSL (at least up to
/// 3.5) does not detect that, because it compares the star as a literal label. `chain` is the verified chain, the leaf
/// first.
static bool excludes_wildcard(STACK_OF(X509) * chain) {
    bool is_excluded = false;
    for (int above = 1; above < sk_X509_num(chain) && !is_excluded; above++) {
        NAME_CONSTRAINTS *constraints = X509_get_ext_d2i(sk_X509_value(chain, above), NID_name_constraints, NULL, NULL);
        for (int i = 0; i < above && constraints != NULL && !is_excluded; i++) {
            X509 *below = sk_X509_value(chain, i);
            // Self-issued intermediate certificates are exempt (RFC 5280, 6.1.3 c).
            bool is_exempt = i > 0 && (X509_get_extension_flags(below) & EXFLAG_SI) != 0;
            is_excluded = !is_exempt && excludes_names_of(constraints, below);
        }
        NAME_CONSTRAINTS_free(constraints);
    }
    return is_excluded;
}

/* --- the chain --- */

/// Returns true for errors of X509_V_FLAG_X509_STRICT that are ignored: a missing key identifier or key usage. Without
/// these extensions, nothing is restricted.
static bool is_missing_hint(int code, X509 *certificate) {
    bool has_usage = (X509_get_extension_flags(certificate) & EXFLAG_KUSAGE) != 0;
    switch (code) {
    case X509_V_ERR_MISSING_AUTHORITY_KEY_IDENTIFIER:
    case X509_V_ERR_MISSING_SUBJECT_KEY_IDENTIFIER:
        return true;
    case X509_V_ERR_CA_CERT_MISSING_KEY_USAGE:
    case X509_V_ERR_PATHLEN_WITHOUT_KU_KEY_CERT_SIGN:
        return !has_usage;
    default:
        return false;
    }
}

/// Returns true for errors that only X509_V_FLAG_X509_STRICT reports. They are ignored for an anchor, which is trusted
/// as it is (RFC 5280, 6.1.1 d).
static bool is_strict_only(int code) {
    switch (code) {
    case X509_V_ERR_PATHLEN_INVALID_FOR_NON_CA:
    case X509_V_ERR_PATHLEN_WITHOUT_KU_KEY_CERT_SIGN:
    case X509_V_ERR_KU_KEY_CERT_SIGN_INVALID_FOR_NON_CA:
    case X509_V_ERR_ISSUER_NAME_EMPTY:
    case X509_V_ERR_SUBJECT_NAME_EMPTY:
    case X509_V_ERR_MISSING_AUTHORITY_KEY_IDENTIFIER:
    case X509_V_ERR_MISSING_SUBJECT_KEY_IDENTIFIER:
    case X509_V_ERR_EMPTY_SUBJECT_ALT_NAME:
    case X509_V_ERR_EMPTY_SUBJECT_SAN_NOT_CRITICAL:
    case X509_V_ERR_CA_BCONS_NOT_CRITICAL:
    case X509_V_ERR_AUTHORITY_KEY_IDENTIFIER_CRITICAL:
    case X509_V_ERR_SUBJECT_KEY_IDENTIFIER_CRITICAL:
    case X509_V_ERR_CA_CERT_MISSING_KEY_USAGE:
    case X509_V_ERR_EXTENSIONS_REQUIRE_VERSION_3:
    case X509_V_ERR_SIGNATURE_ALGORITHM_MISMATCH:
    case X509_V_ERR_SIGNATURE_ALGORITHM_INCONSISTENCY:
        return true;
    default:
        return false;
    }
}

static int on_verify_error(int is_good, X509_STORE_CTX *context) {
    if (is_good == 1) {
        return 1;
    }
    int code = X509_STORE_CTX_get_error(context);
    X509 *certificate = X509_STORE_CTX_get_current_cert(context);
    bool is_anchor = X509_STORE_CTX_get_error_depth(context) >= X509_STORE_CTX_get_num_untrusted(context);
    bool is_passed = certificate != NULL && (is_missing_hint(code, certificate) || (is_anchor && is_strict_only(code)));
    if (is_passed) {
        X509_STORE_CTX_set_error(context, X509_V_OK);
    }
    return is_passed ? 1 : 0;
}

/// Returns true if the leaf is a certificate of an authority. A leaf that is itself trusted is exempt.
static bool is_authority_as_leaf(STACK_OF(X509) * chain) {
    uint32_t flags = X509_get_extension_flags(sk_X509_value(chain, 0));
    return sk_X509_num(chain) > 1 && (flags & EXFLAG_BCONS) != 0 && (flags & EXFLAG_CA) != 0;
}

static bool configure(X509_STORE_CTX *context, int64_t at_s, bool has_lists, bool is_strict) {
    X509_VERIFY_PARAM *parameters = X509_STORE_CTX_get0_param(context);
    unsigned long flags = X509_V_FLAG_X509_STRICT | X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST;
    if (has_lists) {
        flags |= X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL;
    }
    X509_VERIFY_PARAM_set_time(parameters, (time_t)at_s);
    X509_VERIFY_PARAM_set_auth_level(parameters, NC_TLS_SECURITY_LEVEL);
    if (!is_strict) {
        X509_STORE_CTX_set_verify_cb(context, on_verify_error);
    }
    return X509_STORE_CTX_set_default(context, "ssl_server") == 1 &&
           X509_VERIFY_PARAM_set_flags(parameters, flags) == 1;
}

/// Returns a new stack with the revocation lists of a store, which are borrowed; NULL if memory ran out.
static STACK_OF(X509_CRL) * lists_of(X509_STORE *store) {
    STACK_OF(X509_CRL) *lists = sk_X509_CRL_new_null();
    STACK_OF(X509_OBJECT) *objects = X509_STORE_get0_objects(store);
    for (int i = 0; lists != NULL && i < sk_X509_OBJECT_num(objects); i++) {
        X509_CRL *list = X509_OBJECT_get0_X509_CRL(sk_X509_OBJECT_value(objects, i));
        if (list != NULL && sk_X509_CRL_push(lists, list) <= 0) {
            sk_X509_CRL_free(lists);
            lists = NULL;
        }
    }
    return lists;
}

/// Makes the checks that OpenSSL does not make. Returns X509_V_OK or an X509_V_ERR_ number.
static int check_further(STACK_OF(X509) * chain) {
    if (is_authority_as_leaf(chain)) {
        return X509_V_ERR_INVALID_CA;
    }
    return excludes_wildcard(chain) ? X509_V_ERR_EXCLUDED_VIOLATION : X509_V_OK;
}

int nc_verify_chain(STACK_OF(X509) * *verified, const nc_sent_chain *sent, X509_STORE *anchors, X509_STORE *lists,
                    bool is_strict) {
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    STACK_OF(X509_CRL) *others = lists != NULL && lists != anchors ? lists_of(lists) : NULL;
    int code = X509_V_ERR_OUT_OF_MEM;
    if (context == NULL || (lists != NULL && lists != anchors && others == NULL) ||
        X509_STORE_CTX_init(context, anchors, sent->leaf, sent->certificates) != 1 ||
        !configure(context, sent->at_s, lists != NULL, is_strict)) {
        goto done;
    }
    if (others != NULL) {
        X509_STORE_CTX_set0_crls(context, others);
    }
    bool is_good = X509_verify_cert(context) == 1;
    code = X509_STORE_CTX_get_error(context);
    if (!is_good) {
        code = code != X509_V_OK ? code : X509_V_ERR_UNSPECIFIED;
        goto done;
    }
    // The context still has an error of the strict flag that was ignored, so its error is not read here.
    STACK_OF(X509) *chain = X509_STORE_CTX_get1_chain(context);
    code = chain != NULL ? check_further(chain) : X509_V_ERR_OUT_OF_MEM;
    if (code == X509_V_OK) {
        *verified = chain;
    } else {
        sk_X509_pop_free(chain, X509_free);
    }
done:
    X509_STORE_CTX_free(context);
    sk_X509_CRL_free(others);
    ERR_clear_error();
    return code;
}

/// Returns true if a wildcard of the certificate matches a host with an underscore in its first label, as in service
/// names. libcurl and browsers match these, OpenSSL does not. As in OpenSSL, at least two labels must follow the star.
static bool has_star_for(X509 *leaf, const nc_host_name *host) {
    const char *rest = strchr(host->text, '.');
    if (strchr(host->text, '_') == NULL || rest == NULL || strchr(rest + 1, '.') == NULL) {
        return false;
    }
    GENERAL_NAMES *names = X509_get_ext_d2i(leaf, NID_subject_alt_name, NULL, NULL);
    bool has_one = false;
    for (int i = 0; i < sk_GENERAL_NAME_num(names) && !has_one; i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        if (name->type == GEN_DNS && ASN1_STRING_length(name->d.dNSName) > 1) {
            const unsigned char *text = ASN1_STRING_get0_data(name->d.dNSName);
            nc_slice behind = nc_slice_make(text + 1, (size_t)ASN1_STRING_length(name->d.dNSName) - 1);
            has_one = text[0] == '*' && nc_slice_is_equal_ignoring_case(behind, nc_slice_of(rest));
        }
    }
    GENERAL_NAMES_free(names);
    return has_one;
}

bool nc_verify_name(X509 *leaf, const nc_host_name *host) {
    // Ignore common names, and stars that are not a whole label (RFC 9525, 6.3).
    const unsigned flags = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS;
    if (host->length == 0) {
        return false;
    }
    int answer = host->is_address ? X509_check_ip_asc(leaf, host->text, flags)
                                  : X509_check_host(leaf, host->text, host->length, flags, NULL);
    bool is_named = answer == 1 || (answer == 0 && !host->is_address && has_star_for(leaf, host));
    ERR_clear_error();
    return is_named;
}

nc_status nc_verify_status(int code) {
    switch (code) {
    case X509_V_OK:
        return NC_OK;
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return NC_ERR_TLS_NOT_YET_VALID;
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return NC_ERR_TLS_EXPIRED;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        return NC_ERR_TLS_UNTRUSTED;
    case X509_V_ERR_CERT_REVOKED:
        return NC_ERR_TLS_REVOKED;
    case X509_V_ERR_OUT_OF_MEM:
        return NC_ERR_NO_MEMORY;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return NC_ERR_TLS_NAME;
    default:
        return NC_ERR_TLS_CERTIFICATE;
    }
}

int64_t nc_verify_seconds_of(const ASN1_TIME *time) {
    struct tm parts = {0};
    return ASN1_TIME_to_tm(time, &parts) == 1 ? (int64_t)timegm(&parts) : INT64_MIN;
}
