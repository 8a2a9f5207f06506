#define _GNU_SOURCE 1
#include "certificate.h"

#include "x509.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_S (24L * 60 * 60)

/// One extension: its NID and its value in OpenSSL's configuration syntax.
struct extension {
    int nid;
    const char *value;
};

/// The properties of a certificate to create.
struct statement {
    char common_name[64];
    long begins_after_s;
    long ends_after_s;
    const struct extension *extensions;
    size_t extension_count;
};

// The order matters: the authority key identifier of a self-signed certificate is derived from its subject's.
static const struct extension authority_extensions[] = {
    {NID_basic_constraints, "critical,CA:TRUE"},
    {NID_key_usage, "critical,keyCertSign,cRLSign"},
    {NID_subject_key_identifier, "hash"},
    {NID_authority_key_identifier, "keyid:always"},
};

#define LEAF_EXTENSION_COUNT 6

static bool set_name(X509 *certificate, const char *common_name) {
    return X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                                      (const unsigned char *)common_name, -1, -1, 0) == 1;
}

static bool add_extensions(X509 *certificate, X509 *issuer, const struct statement *statement) {
    for (size_t i = 0; i < statement->extension_count; i++) {
        if (!nct_x509_extend(certificate, issuer, statement->extensions[i].nid, statement->extensions[i].value))
            return false;
    }
    return true;
}

/// Creates a certificate for `key`. It is signed by `issuer`, or self-signed if `issuer` is NULL.
static X509 *sign(EVP_PKEY *key, const struct statement *statement, X509 *issuer, EVP_PKEY *issuer_key) {
    X509 *certificate = X509_new();
    if (certificate == NULL)
        return NULL;
    X509 *signer = issuer == NULL ? certificate : issuer;
    if (X509_set_version(certificate, X509_VERSION_3) == 1 && nct_x509_set_serial(certificate) &&
        set_name(certificate, statement->common_name) &&
        X509_set_issuer_name(certificate, X509_get_subject_name(signer)) == 1 &&
        X509_gmtime_adj(X509_getm_notBefore(certificate), statement->begins_after_s) != NULL &&
        X509_gmtime_adj(X509_getm_notAfter(certificate), statement->ends_after_s) != NULL &&
        X509_set_pubkey(certificate, key) == 1 && add_extensions(certificate, signer, statement) &&
        X509_sign(certificate, issuer_key == NULL ? key : issuer_key, EVP_sha256()) != 0)
        return certificate;
    X509_free(certificate);
    return NULL;
}

static X509 *make_authority(EVP_PKEY *key) {
    struct statement statement = {.begins_after_s = -30 * DAY_S,
                                  .ends_after_s = 30 * DAY_S,
                                  .extensions = authority_extensions,
                                  .extension_count = sizeof authority_extensions / sizeof authority_extensions[0]};
    // Each authority gets a random name, so that a client never confuses two authorities.
    unsigned char random[8];
    if (RAND_bytes(random, sizeof random) != 1)
        return NULL;
    int length = snprintf(statement.common_name, sizeof statement.common_name, "NetKit test authority ");
    for (size_t i = 0; i < sizeof random; i++)
        length += snprintf(statement.common_name + length, sizeof statement.common_name - (size_t)length, "%02x",
                           (unsigned)random[i]);
    return sign(key, &statement, NULL, NULL);
}

/// Signs a leaf for `usage` with these subject alternative names.
static X509 *sign_leaf(EVP_PKEY *key, struct statement *statement, const char *usage, const char *names,
                       const nct_certificate *issuer) {
    const struct extension extensions[LEAF_EXTENSION_COUNT] = {
        {NID_basic_constraints, "critical,CA:FALSE"},
        {NID_key_usage, "critical,digitalSignature"},
        {NID_ext_key_usage, usage},
        {NID_subject_alt_name, names},
        {NID_subject_key_identifier, "hash"},
        {NID_authority_key_identifier, "keyid:always"},
    };
    statement->extensions = extensions;
    statement->extension_count = LEAF_EXTENSION_COUNT;
    return sign(key, statement, issuer->authority, issuer->authority_key);
}

static X509 *make_leaf(EVP_PKEY *key, nct_identity identity, const char *names, const nct_certificate *issuer) {
    struct statement statement = {.common_name = "localhost", .begins_after_s = -7 * DAY_S, .ends_after_s = 7 * DAY_S};
    if (identity == NCT_TLS_EXPIRED)
        statement.ends_after_s = -DAY_S;
    if (identity == NCT_TLS_NOT_YET_VALID)
        statement.begins_after_s = DAY_S;
    if (identity == NCT_TLS_WRONG_NAME) {
        (void)snprintf(statement.common_name, sizeof statement.common_name, "other.example");
        return sign_leaf(key, &statement, "serverAuth", "DNS:other.example", issuer);
    }
    char all_names[1024];
    int length = snprintf(all_names, sizeof all_names, "DNS:localhost,IP:127.0.0.1%s%s", names == NULL ? "" : ",",
                          names == NULL ? "" : names);
    return length < (int)sizeof all_names ? sign_leaf(key, &statement, "serverAuth", all_names, issuer) : NULL;
}

static char *pem_of(X509 *certificate) {
    BIO *bio = BIO_new(BIO_s_mem());
    char *text = NULL;
    char *bytes = NULL;
    if (bio != NULL && PEM_write_bio_X509(bio, certificate) == 1) {
        long length = BIO_get_mem_data(bio, &bytes);
        text = strndup(bytes, (size_t)length);
    }
    BIO_free(bio);
    return text;
}

/// Creates an authority's key and certificate.
static bool add_authority(nct_certificate *out) {
    out->authority_key = EVP_EC_gen("P-256");
    out->authority = out->authority_key == NULL ? NULL : make_authority(out->authority_key);
    return out->authority != NULL;
}

bool nct_certificate_make(nct_certificate *out, nct_identity identity, const char *names) {
    nct_certificate made = {.key = EVP_EC_gen("P-256")};
    nct_certificate hidden = {0};
    bool is_hidden = identity == NCT_TLS_UNTRUSTED;
    if (made.key != NULL && add_authority(&made) && (!is_hidden || add_authority(&hidden))) {
        made.leaf = make_leaf(made.key, identity, names, is_hidden ? &hidden : &made);
        made.ca_pem = pem_of(made.authority);
    }
    nct_certificate_deinit(&hidden);
    bool is_made = made.leaf != NULL && made.ca_pem != NULL;
    if (is_made)
        *out = made;
    else
        nct_certificate_deinit(&made);
    return is_made;
}

bool nct_certificate_make_client(const nct_certificate *certificate, X509 **out, EVP_PKEY **out_key) {
    struct statement statement = {.common_name = "client", .begins_after_s = -7 * DAY_S, .ends_after_s = 7 * DAY_S};
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *leaf = key == NULL ? NULL : sign_leaf(key, &statement, "clientAuth", "DNS:client.example", certificate);
    if (leaf == NULL) {
        EVP_PKEY_free(key);
        return false;
    }
    *out = leaf;
    *out_key = key;
    return true;
}

void nct_certificate_deinit(nct_certificate *certificate) {
    X509_free(certificate->leaf);
    EVP_PKEY_free(certificate->key);
    X509_free(certificate->authority);
    EVP_PKEY_free(certificate->authority_key);
    free(certificate->ca_pem);
    free(certificate->staple);
    *certificate = (nct_certificate){0};
}
