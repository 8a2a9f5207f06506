#include "base/ascii.h"
#include "trust/profile.h"

#include <arpa/inet.h>
#include <openssl/x509v3.h>
#include <string.h>

enum { MAX_NAME_BYTES = 253, MAX_LABEL_BYTES = 63, V4_BYTES = 4, V6_BYTES = 16 };

static nc_slice text_of(const ASN1_STRING *string) {
    return nc_slice_make(ASN1_STRING_get0_data(string), (size_t)ASN1_STRING_length(string));
}

/// Letters, digits and hyphens (RFC 1034, 3.5); no underscore.
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

/// A star must be a whole label, followed by at least two labels that are not a public suffix.
static bool is_wildcard(nc_slice name, nc_public_suffix_fn is_public_suffix) {
    uint8_t lower[MAX_NAME_BYTES];
    nc_slice rest = nc_slice_make(name.data + 2, name.length - 2);
    if (name.data[1] != '.' || !is_dns_name(rest) || memchr(rest.data, '.', rest.length) == NULL) {
        return false;
    }
    for (size_t i = 0; i < rest.length; i++) {
        lower[i] = nc_ascii_lower(rest.data[i]);
    }
    return is_public_suffix == NULL || !is_public_suffix(nc_slice_make(lower, rest.length));
}

static bool is_good_name(const GENERAL_NAME *name, nc_public_suffix_fn is_public_suffix) {
    if (name->type == GEN_IPADD) {
        int length = ASN1_STRING_length(name->d.iPAddress);
        return length == V4_BYTES || length == V6_BYTES;
    }
    if (name->type != GEN_DNS) {
        return true;
    }
    nc_slice text = text_of(name->d.dNSName);
    return text.length > 2 && text.data[0] == '*' ? is_wildcard(text, is_public_suffix) : is_dns_name(text);
}

/* --- the common name --- */

/// Returns true if a common name equals this name byte by byte; an address in the spelling of RFC 5952.
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

/// Baseline Requirements, 7.1.4.3.
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

const char *nc_profile_names_fault(X509 *leaf, nc_public_suffix_fn is_public_suffix) {
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
        if (!is_good_name(sk_GENERAL_NAME_value(names, i), is_public_suffix)) {
            fault = "has a malformed subject alternative name, or a wildcard for a public suffix";
        }
    }
    GENERAL_NAMES_free(names);
    return fault;
}

/* --- name constraints --- */

/// An address and a mask whose ones precede its zeros.
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

/// Returns true if the subtrees are absent, or present and all valid.
static bool are_good(const STACK_OF(GENERAL_SUBTREE) * subtrees) {
    bool is_good = subtrees == NULL || sk_GENERAL_SUBTREE_num(subtrees) > 0;
    for (int i = 0; i < sk_GENERAL_SUBTREE_num(subtrees) && is_good; i++) {
        is_good = is_good_subtree(sk_GENERAL_SUBTREE_value(subtrees, i));
    }
    return is_good;
}

bool nc_profile_constraints_hold(X509 *certificate) {
    NAME_CONSTRAINTS *constraints = X509_get_ext_d2i(certificate, NID_name_constraints, NULL, NULL);
    if (constraints == NULL) {
        return false;
    }
    bool is_stated = constraints->permittedSubtrees != NULL || constraints->excludedSubtrees != NULL;
    bool is_good = is_stated && are_good(constraints->permittedSubtrees) && are_good(constraints->excludedSubtrees);
    NAME_CONSTRAINTS_free(constraints);
    return is_good;
}
