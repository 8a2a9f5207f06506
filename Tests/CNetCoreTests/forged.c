#include "forged.h"

#include <openssl/dsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const custom_extension of_authority[] = {
    {"basicConstraints", "critical,CA:TRUE"},
    {"keyUsage", "critical,keyCertSign,cRLSign"},
    {"subjectKeyIdentifier", "hash"},
    {"authorityKeyIdentifier", "keyid:always"},
};
static const custom_extension of_leaf[] = {
    {"keyUsage", "critical,digitalSignature"}, {"extendedKeyUsage", "serverAuth"},
    {"subjectKeyIdentifier", "hash"},          {"authorityKeyIdentifier", "keyid:always"},
    {"subjectAltName", "DNS:www.example.com"},
};

static EVP_PKEY *make_dsa(void) {
    EVP_PKEY *parameters = NULL;
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "DSA", NULL);
    assert_int_equal(EVP_PKEY_paramgen_init(context), 1);
    assert_int_equal(EVP_PKEY_CTX_set_dsa_paramgen_bits(context, 2048), 1);
    assert_int_equal(EVP_PKEY_paramgen(context, &parameters), 1);
    EVP_PKEY_CTX_free(context);
    context = EVP_PKEY_CTX_new_from_pkey(NULL, parameters, NULL);
    assert_int_equal(EVP_PKEY_keygen_init(context), 1);
    assert_int_equal(EVP_PKEY_keygen(context, &key), 1);
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(parameters);
    return key;
}

static EVP_PKEY *make_key(const char *kind) {
    if (kind == NULL) {
        return EVP_EC_gen("P-256");
    }
    if (strncmp(kind, "RSA:", 4) == 0) {
        return EVP_RSA_gen((unsigned)strtoul(kind + 4, NULL, 10));
    }
    if (strcmp(kind, "DSA") == 0) {
        return make_dsa();
    }
    return strcmp(kind, "ED25519") == 0 ? EVP_PKEY_Q_keygen(NULL, NULL, "ED25519") : EVP_EC_gen(kind);
}

/// Returns the requested extension of this name, or NULL.
static const custom_extension *find_extension(const custom_certificate *custom, const char *name) {
    for (size_t i = 0; i < CUSTOM_CERTIFICATE_MAX_EXTENSIONS && custom->extensions[i].name != NULL; i++) {
        if (strcmp(custom->extensions[i].name, name) == 0) {
            return &custom->extensions[i];
        }
    }
    return NULL;
}

static void add(X509 *certificate, X509 *issuer, const custom_extension *extension) {
    X509V3_CTX context;
    bool lacks_key = strcmp(extension->name, "authorityKeyIdentifier") == 0 && issuer != certificate &&
                     X509_get0_subject_key_id(issuer) == NULL;
    if (extension->value == NULL || lacks_key) {
        return;
    }
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *made = X509V3_EXT_nconf(NULL, &context, extension->name, extension->value);
    if (made == NULL) {
        fail_msg("no extension %s: %s", extension->name, extension->value);
    }
    assert_int_equal(X509_add_ext(certificate, made, -1), 1);
    X509_EXTENSION_free(made);
}

static void extend(X509 *certificate, X509 *issuer, const custom_certificate *custom, bool is_leaf) {
    const custom_extension *usual = is_leaf ? of_leaf : of_authority;
    size_t count = is_leaf ? sizeof of_leaf / sizeof *of_leaf : sizeof of_authority / sizeof *of_authority;
    for (size_t i = 0; i < count; i++) {
        if (find_extension(custom, usual[i].name) == NULL) {
            add(certificate, issuer, &usual[i]);
        }
    }
    for (size_t i = 0; i < CUSTOM_CERTIFICATE_MAX_EXTENSIONS && custom->extensions[i].name != NULL; i++) {
        add(certificate, issuer, &custom->extensions[i]);
    }
}

static void set_names(X509 *certificate, X509 *issuer, const custom_certificate *custom, size_t index) {
    char text[32];
    BIGNUM *number = NULL;
    (void)snprintf(text, sizeof text, "authority %zu", index);
    const char *name = custom->common_name != NULL ? custom->common_name : index == 0 ? "www.example.com" : text;
    if (name[0] != '\0') {
        assert_int_equal(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                                                    (const unsigned char *)name, -1, -1, 0),
                         1);
    }
    assert_int_equal(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)), 1);
    assert_true(BN_dec2bn(&number, custom->serial != NULL ? custom->serial : "4711") > 0);
    assert_non_null(BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)));
    BN_free(number);
}

static char *pem_of(const custom_chain *chain, size_t from, size_t to) {
    char *bytes = NULL;
    BIO *bio = BIO_new(BIO_s_mem());
    for (size_t i = from; i < to; i++) {
        assert_int_equal(PEM_write_bio_X509(bio, chain->certificates[i]), 1);
    }
    long length = BIO_get_mem_data(bio, &bytes);
    char *text = calloc(1, (size_t)length + 1);
    assert_non_null(text);
    memcpy(text, bytes, (size_t)length);
    BIO_free(bio);
    return text;
}

void custom_chain_make(custom_chain *out, const custom_certificate *customs, size_t count) {
    *out = (custom_chain){.count = count};
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    for (size_t i = count; i-- > 0;) {
        size_t above = i + 1 < count ? i + 1 : i;
        X509 *certificate = out->certificates[i] = X509_new();
        EVP_PKEY *key = out->keys[i] = make_key(customs[i].key);
        assert_true(certificate != NULL && key != NULL);
        assert_int_equal(X509_set_version(certificate, customs[i].version_1 ? X509_VERSION_1 : X509_VERSION_3), 1);
        set_names(certificate, out->certificates[above], &customs[i], i);
        assert_non_null(X509_gmtime_adj(X509_getm_notBefore(certificate), -86400));
        assert_non_null(X509_gmtime_adj(X509_getm_notAfter(certificate), 86400));
        assert_int_equal(X509_set_pubkey(certificate, key), 1);
        if (!customs[i].version_1) {
            extend(certificate, out->certificates[above], &customs[i], i == 0);
        }
        bool is_ed = EVP_PKEY_get_base_id(out->keys[above]) == EVP_PKEY_ED25519;
        assert_true(X509_sign(certificate, out->keys[above], is_ed ? NULL : EVP_sha256()) > 0);
    }
    out->texts[0] = pem_of(out, count - 1, count);
    out->texts[1] = pem_of(out, 0, count > 1 ? count - 1 : 1);
}

void custom_chain_free(custom_chain *chain) {
    for (size_t i = 0; i < chain->count; i++) {
        X509_free(chain->certificates[i]);
        EVP_PKEY_free(chain->keys[i]);
    }
    free(chain->texts[0]);
    free(chain->texts[1]);
}

nc_trust_result custom_chain_evaluate(const custom_chain *chain, const char *host, const nc_trust_options *options) {
    nc_trust_options chosen = options != NULL ? *options : (nc_trust_options){0};
    nc_trust_result result;
    nc_trust *trust = NULL;
    nc_error err;
    chosen.roots = NC_ROOTS_BYTES;
    chosen.ca_pem = nc_slice_of(chain->texts[0]);
    assert_status(nc_trust_new(&trust, &chosen, &err), NC_OK);
    const nc_trust_question question = {
        .chain = nc_slice_of(chain->texts[1]), .host = nc_slice_of(host), .at_s = (int64_t)time(NULL)};
    assert_status(nc_trust_evaluate(&result, trust, &question, &err), NC_OK);
    nc_trust_release(trust);
    return result;
}
