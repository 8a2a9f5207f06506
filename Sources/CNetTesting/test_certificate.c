#define _GNU_SOURCE 1
#include "nettesting/test_certificate.h"

#include "x509.h"

#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_S (24L * 60 * 60)

struct nct_test_certificate {
    X509 *certificate;
    EVP_PKEY *key;
    char *pem;
    char *key_pem;
    char *public_pem;
    unsigned char *der;
    size_t der_length;
    char pin[52];
    char hex[65];
};

/* --- texts --- */

/// Returns the text that was written to a BIO, NUL-terminated, and frees the BIO.
static char *take_text(BIO *bio, bool is_written, size_t *length) {
    char *bytes = NULL;
    long count = bio == NULL ? 0 : BIO_get_mem_data(bio, &bytes);
    char *text = is_written && count > 0 ? malloc((size_t)count + 1) : NULL;
    if (text != NULL) {
        memcpy(text, bytes, (size_t)count);
        text[count] = '\0';
        if (length != NULL)
            *length = (size_t)count;
    }
    BIO_free(bio);
    return text;
}

/// Computes the pins of the public key. The library under test uses other OpenSSL functions for this.
static bool write_pins(nct_test_certificate *made) {
    unsigned char digest[32];
    BIO *bio = BIO_new(BIO_s_mem());
    size_t length = 0;
    char *key = take_text(bio, bio != NULL && i2d_PUBKEY_bio(bio, made->key) == 1, &length);
    bool is_hashed = key != NULL && EVP_Digest(key, length, digest, NULL, EVP_sha256(), NULL) == 1;
    free(key);
    if (!is_hashed)
        return false;
    memcpy(made->pin, "sha256/", 7);
    EVP_EncodeBlock((unsigned char *)made->pin + 7, digest, sizeof digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(made->hex + 2 * i, 3, "%02x", (unsigned)digest[i]);
    return true;
}

static bool write_texts(nct_test_certificate *made) {
    BIO *pem = BIO_new(BIO_s_mem());
    BIO *key = BIO_new(BIO_s_mem());
    BIO *public_key = BIO_new(BIO_s_mem());
    BIO *der = BIO_new(BIO_s_mem());
    made->pem = take_text(pem, pem != NULL && PEM_write_bio_X509(pem, made->certificate) == 1, NULL);
    made->key_pem =
        take_text(key, key != NULL && PEM_write_bio_PrivateKey(key, made->key, NULL, NULL, 0, NULL, NULL) == 1, NULL);
    made->public_pem =
        take_text(public_key, public_key != NULL && PEM_write_bio_PUBKEY(public_key, made->key) == 1, NULL);
    made->der =
        (unsigned char *)take_text(der, der != NULL && i2d_X509_bio(der, made->certificate) == 1, &made->der_length);
    return made->pem != NULL && made->key_pem != NULL && made->public_pem != NULL && made->der != NULL &&
           write_pins(made);
}

/* --- the certificate --- */

static bool extend_all(X509 *certificate, X509 *issuer, const nct_certificate_options *certificate_options) {
    bool is_ca = certificate_options->is_authority;
    return nct_x509_extend(certificate, issuer, NID_basic_constraints,
                           certificate_options->is_loose ? "CA:TRUE"
                           : is_ca                       ? "critical,CA:TRUE"
                                                         : "critical,CA:FALSE") &&
           nct_x509_extend(certificate, issuer, NID_key_usage,
                           certificate_options->is_bare ? NULL
                           : is_ca                      ? "critical,keyCertSign,cRLSign,digitalSignature"
                                                        : "critical,digitalSignature,keyEncipherment") &&
           nct_x509_extend(certificate, issuer, NID_subject_key_identifier,
                           certificate_options->is_bare ? NULL : "hash") &&
           nct_x509_extend(certificate, issuer, NID_authority_key_identifier,
                           certificate_options->is_bare ||
                                   X509_get_ext_by_NID(issuer, NID_subject_key_identifier, -1) < 0
                               ? NULL
                               : "keyid:always") &&
           nct_x509_extend(certificate, issuer, NID_subject_alt_name, certificate_options->names) &&
           nct_x509_extend(certificate, issuer, NID_name_constraints, certificate_options->constraints);
}

static bool fill(nct_test_certificate *made, const nct_certificate_options *certificate_options) {
    X509 *certificate = made->certificate;
    X509 *issuer = certificate_options->issuer == NULL ? certificate : certificate_options->issuer->certificate;
    EVP_PKEY *signer = certificate_options->issuer == NULL ? made->key : certificate_options->issuer->key;
    bool is_standard = certificate_options->begins_in_days == 0 && certificate_options->ends_in_days == 0;
    long begins_s = (is_standard ? -7 : certificate_options->begins_in_days) * DAY_S;
    long ends_s = (is_standard ? 7 : certificate_options->ends_in_days) * DAY_S;
    return X509_set_version(certificate, X509_VERSION_3) == 1 && nct_x509_set_serial(certificate) &&
           X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                                      (const unsigned char *)certificate_options->common_name, -1, -1, 0) == 1 &&
           X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1 &&
           X509_gmtime_adj(X509_getm_notBefore(certificate), begins_s) != NULL &&
           X509_gmtime_adj(X509_getm_notAfter(certificate), ends_s) != NULL &&
           X509_set_pubkey(certificate, made->key) == 1 && extend_all(certificate, issuer, certificate_options) &&
           X509_sign(certificate, signer, certificate_options->uses_sha1 ? EVP_sha1() : EVP_sha256()) != 0;
}

nct_test_certificate *nct_test_certificate_create(const nct_certificate_options *certificate_options) {
    nct_test_certificate *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    // As in the engine, OpenSSL's exit handler is disabled. When a test returns from main, it would free state that
    // other threads still use.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    if (certificate_options->same_key_as != NULL && EVP_PKEY_up_ref(certificate_options->same_key_as->key) == 1)
        made->key = certificate_options->same_key_as->key;
    else
        made->key =
            certificate_options->rsa_bits != 0 ? EVP_RSA_gen(certificate_options->rsa_bits) : EVP_EC_gen("P-256");
    made->certificate = X509_new();
    if (made->key != NULL && made->certificate != NULL && fill(made, certificate_options) && write_texts(made))
        return made;
    nct_test_certificate_free(made);
    return NULL;
}

void nct_test_certificate_free(nct_test_certificate *made) {
    if (made == NULL)
        return;
    X509_free(made->certificate);
    EVP_PKEY_free(made->key);
    free(made->pem);
    free(made->key_pem);
    free(made->public_pem);
    free(made->der);
    free(made);
}

const char *nct_test_certificate_pem(const nct_test_certificate *made) {
    return made->pem;
}

const char *nct_test_certificate_key_pem(const nct_test_certificate *made) {
    return made->key_pem;
}

const char *nct_test_certificate_public_pem(const nct_test_certificate *made) {
    return made->public_pem;
}

const void *nct_test_certificate_der(const nct_test_certificate *made, size_t *length) {
    *length = made->der_length;
    return made->der;
}

const char *nct_test_certificate_pin(const nct_test_certificate *made) {
    return made->pin;
}

const char *nct_test_certificate_hex_pin(const nct_test_certificate *made) {
    return made->hex;
}

/* --- revocation --- */

static bool revoke(X509_CRL *list, const nct_test_certificate *made) {
    X509_REVOKED *revoked = X509_REVOKED_new();
    ASN1_TIME *when = X509_gmtime_adj(NULL, -DAY_S);
    bool is_revoked = revoked != NULL && when != NULL &&
                      X509_REVOKED_set_serialNumber(revoked, X509_get_serialNumber(made->certificate)) == 1 &&
                      X509_REVOKED_set_revocationDate(revoked, when) == 1 && X509_CRL_add0_revoked(list, revoked) == 1;
    ASN1_TIME_free(when);
    if (!is_revoked)
        X509_REVOKED_free(revoked);
    return is_revoked;
}

char *nct_test_certificate_revocation_list(const nct_test_certificate *issuer, const nct_test_certificate *revoked) {
    X509_CRL *list = X509_CRL_new();
    ASN1_TIME *from = X509_gmtime_adj(NULL, -DAY_S);
    ASN1_TIME *until = X509_gmtime_adj(NULL, DAY_S);
    BIO *bio = BIO_new(BIO_s_mem());
    bool is_made = list != NULL && from != NULL && until != NULL && bio != NULL && X509_CRL_set_version(list, 1) == 1 &&
                   X509_CRL_set_issuer_name(list, X509_get_subject_name(issuer->certificate)) == 1 &&
                   X509_CRL_set1_lastUpdate(list, from) == 1 && X509_CRL_set1_nextUpdate(list, until) == 1 &&
                   (revoked == NULL || revoke(list, revoked)) && X509_CRL_sort(list) == 1 &&
                   X509_CRL_sign(list, issuer->key, EVP_sha256()) != 0 && PEM_write_bio_X509_CRL(bio, list) == 1;
    char *text = take_text(bio, is_made, NULL);
    ASN1_TIME_free(from);
    ASN1_TIME_free(until);
    X509_CRL_free(list);
    return text;
}

void *nct_test_certificate_ocsp_staple(const nct_test_certificate *issuer, const nct_test_certificate *about,
                                       bool is_revoked, int begins_in_days, size_t *length) {
    OCSP_BASICRESP *word = OCSP_BASICRESP_new();
    OCSP_CERTID *id = OCSP_cert_to_id(EVP_sha1(), about->certificate, issuer->certificate);
    ASN1_TIME *revoked = X509_gmtime_adj(NULL, -DAY_S);
    ASN1_TIME *from = X509_gmtime_adj(NULL, begins_in_days * DAY_S - 60);
    ASN1_TIME *until = X509_gmtime_adj(NULL, (begins_in_days + 1) * DAY_S);
    bool is_made =
        word != NULL && id != NULL && revoked != NULL && from != NULL && until != NULL &&
        OCSP_basic_add1_status(word, id, is_revoked ? V_OCSP_CERTSTATUS_REVOKED : V_OCSP_CERTSTATUS_GOOD,
                               OCSP_REVOKED_STATUS_UNSPECIFIED, is_revoked ? revoked : NULL, from, until) != NULL &&
        OCSP_basic_sign(word, issuer->certificate, issuer->key, EVP_sha256(), NULL, 0) == 1;
    OCSP_RESPONSE *reply = is_made ? OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, word) : NULL;
    BIO *bio = BIO_new(BIO_s_mem());
    void *bytes = take_text(bio, bio != NULL && reply != NULL && i2d_OCSP_RESPONSE_bio(bio, reply) == 1, length);
    OCSP_RESPONSE_free(reply);
    ASN1_TIME_free(revoked);
    ASN1_TIME_free(from);
    ASN1_TIME_free(until);
    OCSP_CERTID_free(id);
    OCSP_BASICRESP_free(word);
    return bytes;
}

void *nct_test_certificate_pkcs12(const nct_test_certificate *made, const nct_test_certificate *issuer,
                                  const char *password, size_t *length) {
    STACK_OF(X509) *chain = issuer == NULL ? NULL : sk_X509_new_null();
    if (chain != NULL)
        sk_X509_push(chain, issuer->certificate);
    PKCS12 *bundle = PKCS12_create(password, "made", made->key, made->certificate, chain, 0, 0, 0, 0, 0);
    BIO *bio = BIO_new(BIO_s_mem());
    void *bytes = take_text(bio, bio != NULL && bundle != NULL && i2d_PKCS12_bio(bio, bundle) == 1, length);
    PKCS12_free(bundle);
    sk_X509_free(chain);
    return bytes;
}
