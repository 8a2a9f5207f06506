#include "trust/identity.h"

#include "base/error.h"
#include "trust/pem.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pkcs12.h>
#include <string.h>

enum { DER_SEQUENCE = 0x30 };

size_t nc_identity_pass_phrase(char *buffer, size_t capacity, const nc_trust_options *options) {
    nc_slice password = options->identity_password;
    if (password.length > 0) {
        if (password.length > capacity) {
            return 0;
        }
        memcpy(buffer, password.data, password.length);
        return password.length;
    }
    if (options->identity_pass_phrase == NULL) {
        return 0;
    }
    size_t length = options->identity_pass_phrase(options->identity_ctx, buffer, capacity);
    return length <= capacity ? length : 0;
}

bool nc_bundle_is_one(nc_slice bytes) {
    return bytes.length > 0 && bytes.data[0] == DER_SEQUENCE && !nc_pem_is_text(bytes);
}

/// Returns true if the pass phrase is correct. NULL means that there is no pass phrase.
static bool is_unlocked(PKCS12 *bundle, const char *password, size_t length) {
    return PKCS12_verify_mac(bundle, password, (int)length) == 1;
}

static nc_status explain(const char *name, const char *why, nc_error *err) {
    ERR_clear_error();
    return nc_error_set(err, NC_ERR_TLS_IDENTITY, 0, -1, "%s in %s", why, name);
}

/// Reports that the contents of a bundle cannot be read. The usual reason is an algorithm that only OpenSSL 3's legacy
/// provider has, such as 40-bit RC2.
static nc_status explain_contents(const char *name, nc_error *err) {
    unsigned long reason = ERR_peek_last_error();
    const char *text = reason != 0 ? ERR_reason_error_string(reason) : NULL;
    nc_status status = nc_error_set(err, NC_ERR_TLS_IDENTITY, 0, -1, "the PKCS#12 contents of %s cannot be read: %s",
                                    name, text != NULL ? text : "unknown reason");
    ERR_clear_error();
    return status;
}

/// Takes key, leaf and chain from the bundle. OpenSSL returns the chain in file order or reversed, but a server needs
/// it from the leaf on.
static nc_status take(nc_identity *identity, PKCS12 *bundle, const char *password, const char *name, nc_error *err) {
    STACK_OF(X509) *others = NULL;
    if (PKCS12_parse(bundle, password, &identity->key, &identity->leaf, &others) != 1) {
        return explain_contents(name, err);
    }
    identity->chain = others != NULL ? others : sk_X509_new_null();
    if (identity->chain == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for the client certificate");
    }
    if (identity->leaf == NULL) {
        return explain(name, "no certificate", err);
    }
    return identity->key != NULL ? NC_OK : explain(name, "no private key", err);
}

static nc_status unlock(nc_identity *identity, PKCS12 *bundle, const nc_trust_options *options, const char *name,
                        nc_error *err) {
    char password[NC_IDENTITY_MAX_PASSWORD_BYTES + 1] = {0};
    nc_status status;
    if (!PKCS12_mac_present(bundle)) {
        // without a MAC the pass phrase cannot be verified
        return explain(name, "a PKCS#12 without a MAC", err);
    }
    // PKCS#12 has two encodings of an empty pass phrase: try both before a pass phrase is requested.
    if (is_unlocked(bundle, NULL, 0) || is_unlocked(bundle, "", 0)) {
        return take(identity, bundle, is_unlocked(bundle, NULL, 0) ? NULL : "", name, err);
    }
    size_t length = nc_identity_pass_phrase(password, sizeof password - 1, options);
    if (length == 0) {
        status = explain(name, "the pass phrase of the PKCS#12 is missing", err);
    } else if (!is_unlocked(bundle, password, length)) {
        status = explain(name, "the pass phrase of the PKCS#12 is wrong", err);
    } else {
        status = take(identity, bundle, password, name, err);
    }
    OPENSSL_cleanse(password, sizeof password);
    return status;
}

nc_status nc_bundle_read(nc_identity *identity, nc_slice bytes, const nc_trust_options *options, const char *name,
                         nc_error *err) {
    const unsigned char *at = bytes.data;
    ERR_clear_error();
    PKCS12 *bundle = d2i_PKCS12(NULL, &at, (long)bytes.length);
    if (bundle == NULL) {
        return explain(name, "neither PEM nor PKCS#12", err);
    }
    nc_status status = unlock(identity, bundle, options, name, err);
    PKCS12_free(bundle);
    ERR_clear_error();
    return status;
}
