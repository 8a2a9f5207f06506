#include "trust/name_constraints.h"

#include <netcore/bytes.h>
#include <openssl/x509v3.h>
#include <string.h>

static nc_slice text_of(const ASN1_STRING *string) {
    nc_slice text = nc_slice_make(ASN1_STRING_get0_data(string), (size_t)ASN1_STRING_length(string));
    // A final dot has no meaning here.
    text.length -= text.length > 0 && text.data[text.length - 1] == '.' ? 1 : 0;
    return text;
}

static bool ends_with(nc_slice text, nc_slice end) {
    return text.length >= end.length &&
           nc_slice_is_equal_ignoring_case(nc_slice_make(text.data + text.length - end.length, end.length), end);
}

/// Returns true if the names that a wildcard matches (one label before `rest`, ".example.com") overlap the subtree of
/// `base`.
static bool meets(nc_slice rest, nc_slice base) {
    if (base.length <= rest.length) {
        // Either all names or none.
        bool is_whole_label = base.length == rest.length || base.length == 0 || base.data[0] == '.' ||
                              rest.data[rest.length - base.length - 1] == '.';
        return is_whole_label && ends_with(rest, base);
    }
    // Only the name with the label of the base. A wildcard does not match deeper names.
    return ends_with(base, rest) && memchr(base.data, '.', base.length - rest.length) == NULL;
}

static bool excludes(const NAME_CONSTRAINTS *constraints, nc_slice rest) {
    for (int i = 0; i < sk_GENERAL_SUBTREE_num(constraints->excludedSubtrees); i++) {
        const GENERAL_NAME *base = sk_GENERAL_SUBTREE_value(constraints->excludedSubtrees, i)->base;
        if (base->type == GEN_DNS && meets(rest, text_of(base->d.dNSName))) {
            return true;
        }
    }
    return false;
}

/// Returns true if the constraints exclude a wildcard name of this certificate.
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

bool nc_constraints_exclude_wildcard(STACK_OF(X509) * chain) {
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
