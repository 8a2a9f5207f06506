#include "base/alloc.h"
#include "base/error.h"
#include "trust/pem.h"
#include "trust/pin.h"
#include "trust/verify.h"

#include <netcore/certificate.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

/// The length at which a text, such as the list of names, is truncated.
enum { MAX_TEXT_BYTES = 16 * 1024, KEY_BYTES = 64 };

typedef struct entry {
    nc_certificate info;
    nc_buf subject;
    nc_buf issuer;
    nc_buf names;
    unsigned char *der;
    char key[KEY_BYTES];
} entry;

struct nc_certificates {
    size_t count;
    entry entries[];
};

/* --- texts --- */

/// Copies the contents of a BIO. Control characters become '?', so that a terminal does not interpret them.
static nc_status take_text(nc_buf *out, BIO *bio) {
    char *bytes = NULL;
    long length = bio != NULL ? BIO_get_mem_data(bio, &bytes) : 0;
    *out = nc_buf_init(MAX_TEXT_BYTES);
    for (long i = 0; i < length && i < MAX_TEXT_BYTES; i++) {
        uint8_t byte = (uint8_t)bytes[i];
        nc_buf_append_byte(out, byte < ' ' || byte >= 0x7f ? '?' : byte);
    }
    BIO_free(bio);
    return bio != NULL ? nc_buf_status(out) : NC_ERR_NO_MEMORY;
}

static nc_status write_name(nc_buf *out, const X509_NAME *name) {
    BIO *bio = BIO_new(BIO_s_mem());
    if (bio != NULL) {
        (void)X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253);
    }
    return take_text(out, bio);
}

static nc_status write_names(nc_buf *out, X509 *certificate) {
    int at = X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1);
    BIO *bio = BIO_new(BIO_s_mem());
    if (bio != NULL && at >= 0) {
        (void)X509V3_EXT_print(bio, X509_get_ext(certificate, at), X509V3_EXT_DEFAULT, 0);
    }
    return take_text(out, bio);
}

static void write_key(char out[KEY_BYTES], X509 *certificate) {
    EVP_PKEY *key = X509_get0_pubkey(certificate);
    char group[32] = {0};
    if (key == NULL) {
        (void)snprintf(out, KEY_BYTES, "unknown");
    } else if (EVP_PKEY_is_a(key, "EC") && EVP_PKEY_get_group_name(key, group, sizeof group, NULL) == 1) {
        const char *nist = EC_curve_nid2nist(OBJ_txt2nid(group));
        (void)snprintf(out, KEY_BYTES, "EC %.40s", nist != NULL ? nist : group);
    } else {
        const char *name = EVP_PKEY_get0_type_name(key);
        (void)snprintf(out, KEY_BYTES, "%.40s %d", name != NULL ? name : "key", EVP_PKEY_get_bits(key));
    }
}

/* --- entries --- */

static nc_status fill(entry *e, X509 *certificate) {
    uint8_t digest[NC_PIN_DIGEST_BYTES];
    nc_status status = write_name(&e->subject, X509_get_subject_name(certificate));
    nc_status next = write_name(&e->issuer, X509_get_issuer_name(certificate));
    status = status == NC_OK ? next : status;
    next = write_names(&e->names, certificate);
    status = status == NC_OK ? next : status;
    int length = i2d_X509(certificate, &e->der);
    write_key(e->key, certificate);
    if (status != NC_OK || length <= 0) {
        return status != NC_OK ? status : NC_ERR_NO_MEMORY;
    }
    e->info = (nc_certificate){
        .subject = nc_buf_slice(&e->subject),
        .issuer = nc_buf_slice(&e->issuer),
        .names = nc_buf_slice(&e->names),
        .key = nc_slice_of(e->key),
        .begins_at_s = nc_verify_seconds_of(X509_get0_notBefore(certificate)),
        .ends_at_s = nc_verify_seconds_of(X509_get0_notAfter(certificate)),
        .is_authority = X509_check_ca(certificate) == 1,
        .der = nc_slice_make(e->der, (size_t)length),
    };
    if (nc_pin_of(digest, certificate)) {
        nc_pin_format(e->info.pin, digest);
    }
    return NC_OK;
}

nc_status nc_certificates_read(nc_certificates **out, nc_slice bytes, nc_error *err) {
    STACK_OF(X509) *chain = NULL;
    nc_status status = nc_chain_parse(&chain, bytes, err);
    if (status != NC_OK) {
        return status;
    }
    size_t count = (size_t)sk_X509_num(chain);
    nc_certificates *made = nc_alloc_zeroed(1, sizeof *made + count * sizeof *made->entries);
    status = made != NULL ? NC_OK : NC_ERR_NO_MEMORY;
    for (size_t i = 0; i < count && status == NC_OK; i++) {
        status = fill(&made->entries[i], sk_X509_value(chain, (int)i));
        made->count++;
    }
    sk_X509_pop_free(chain, X509_free);
    ERR_clear_error();
    if (status != NC_OK) {
        nc_certificates_free(made);
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for certificates");
    }
    *out = made;
    return nc_error_clear(err);
}

size_t nc_certificates_count(const nc_certificates *certificates) {
    return certificates->count;
}

nc_certificate nc_certificates_at(const nc_certificates *certificates, size_t index) {
    return index < certificates->count ? certificates->entries[index].info : (nc_certificate){.begins_at_s = 0};
}

void nc_certificates_free(nc_certificates *certificates) {
    for (size_t i = 0; certificates != NULL && i < certificates->count; i++) {
        entry *e = &certificates->entries[i];
        nc_buf_deinit(&e->subject);
        nc_buf_deinit(&e->issuer);
        nc_buf_deinit(&e->names);
        OPENSSL_free(e->der);
    }
    nc_free(certificates);
}
