#include "trust/policy.h"

#include "base/error.h"
#include "base/file.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <string.h>

/// The bundle's path on common systems, the most common first.
static const char *const system_bundles[] = {
    "/etc/ssl/certs/ca-certificates.crt", // Debian, Ubuntu, Arch, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",   // Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",             // openSUSE
    "/etc/ssl/cert.pem",                  // macOS, BSD, Alpine
};

/// Supplies no pass phrase for an encrypted block. Without a callback OpenSSL would prompt on the terminal or read
/// standard input.
static int refuse_pass_phrase(char *buffer, int bytes, int is_writing, void *ctx) {
    (void)buffer;
    (void)bytes;
    (void)is_writing;
    (void)ctx;
    return -1;
}

/// Adds each certificate of a PEM text. `*out_count` receives their number.
static nc_status add_pem(X509_STORE *store, nc_slice pem, size_t *out_count, nc_error *err) {
    if (pem.length == 0) {
        *out_count = 0; // OpenSSL reports an error for an empty text
        return NC_OK;
    }
    BIO *bio = BIO_new_mem_buf(pem.data, (int)pem.length);
    if (bio == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory to read certificates");
    }
    nc_status status = NC_OK;
    size_t count = 0;
    ERR_clear_error();
    for (;;) {
        X509 *certificate = PEM_read_bio_X509_AUX(bio, NULL, refuse_pass_phrase, NULL);
        if (certificate == NULL) {
            unsigned long reason = ERR_peek_last_error();
            bool is_end = ERR_GET_LIB(reason) == ERR_LIB_PEM && ERR_GET_REASON(reason) == PEM_R_NO_START_LINE;
            if (!is_end) {
                status = nc_error_set(err, NC_ERR_TLS_ROOTS, 0, -1, "certificate %zu cannot be read: %s", count + 1,
                                      reason != 0 ? ERR_reason_error_string(reason) : "unknown reason");
            }
            break;
        }
        bool is_added = X509_STORE_add_cert(store, certificate) == 1;
        X509_free(certificate);
        if (!is_added) {
            status = nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for certificate %zu", count + 1);
            break;
        }
        count++;
    }
    ERR_clear_error();
    BIO_free(bio);
    *out_count = count;
    return status;
}

static nc_status read_file(nc_buf *pem, const nc_trust *trust, const nc_file_ops *ops, const char **path,
                           nc_error *err) {
    nc_status status = NC_ERR_FILE;
    if (trust->options.roots == NC_ROOTS_FILE) {
        *path = (const char *)trust->options.ca_file.data;
        status = nc_file_read_all(pem, ops, *path, err);
    } else {
        for (size_t i = 0; i < sizeof system_bundles / sizeof *system_bundles && status == NC_ERR_FILE; i++) {
            *path = system_bundles[i];
            nc_buf_reset(pem);
            status = nc_file_read_all(pem, ops, *path, err);
        }
    }
    if (status == NC_ERR_FILE || status == NC_ERR_TOO_LARGE) {
        int32_t native = err->native_code;
        const char *reason = native != 0 ? strerror(native) : "not a readable file of at most 16 MiB";
        if (trust->options.roots == NC_ROOTS_SYSTEM) {
            return nc_error_set(err, NC_ERR_TLS_ROOTS, native, -1,
                                "no bundle of trusted authorities was found: install ca-certificates or set a CA file");
        }
        return nc_error_set(err, NC_ERR_TLS_ROOTS, native, -1, "cannot read the CA file '%s': %s", *path, reason);
    }
    return status;
}

/* --- revocation lists --- */

static nc_status add_lists(X509_STORE *store, nc_slice pem, const char *path, nc_error *err) {
    BIO *bio = BIO_new_mem_buf(pem.length > 0 ? (const void *)pem.data : "", (int)pem.length);
    X509_CRL *list = NULL;
    size_t count = 0;
    bool is_added = bio != NULL;
    ERR_clear_error();
    while (is_added && (list = PEM_read_bio_X509_CRL(bio, NULL, refuse_pass_phrase, NULL)) != NULL) {
        is_added = X509_STORE_add_crl(store, list) == 1;
        X509_CRL_free(list);
        count++;
    }
    unsigned long reason = ERR_peek_last_error();
    bool is_end = ERR_GET_LIB(reason) == ERR_LIB_PEM && ERR_GET_REASON(reason) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    BIO_free(bio);
    if (!is_added) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for revocation lists");
    }
    if (is_end && count > 0) {
        return NC_OK;
    }
    return is_end ? nc_error_set(err, NC_ERR_TLS_ROOTS, 0, -1, "no revocation list in %s", path)
                  : nc_error_set(err, NC_ERR_TLS_ROOTS, 0, -1, "revocation list %zu in %s cannot be read", count + 1,
                                 path);
}

static nc_status load_lists(X509_STORE *store, const nc_trust *trust, const nc_file_ops *ops, nc_error *err) {
    const char *path = (const char *)trust->options.crl_file.data;
    if (path == NULL) {
        return NC_OK;
    }
    nc_buf file = nc_buf_init(NC_TRUST_MAX_PEM_BYTES);
    nc_status status = nc_file_read_all(&file, ops, path, err);
    if (status == NC_OK) {
        status = add_lists(store, nc_buf_slice(&file), path, err);
    } else if (status != NC_ERR_NO_MEMORY) {
        int32_t native = err->native_code;
        status = nc_error_set(err, NC_ERR_TLS_ROOTS, native, -1, "cannot read the CRL file '%s': %s", path,
                              native != 0 ? strerror(native) : "not a readable file of at most 16 MiB");
    }
    nc_buf_deinit(&file);
    return status;
}

void nc_trust_free_roots(nc_root_store *roots) {
    X509_STORE_free(roots);
}

nc_status nc_trust_load_roots(nc_root_store **out, const nc_trust *trust, const nc_file_ops *ops, nc_error *err) {
    nc_error detail;
    nc_buf file = nc_buf_init(NC_TRUST_MAX_PEM_BYTES);
    const char *path = "the CA bytes";
    size_t count = 0;
    X509_STORE *store = X509_STORE_new();
    nc_status status = store != NULL ? NC_OK : nc_error_set(&detail, NC_ERR_NO_MEMORY, 0, -1, "no memory for a store");
    bool is_pinned = trust->options.roots == NC_ROOTS_PINNED; // the anchors are in the rules
    if (status == NC_OK && !is_pinned && trust->options.roots != NC_ROOTS_BYTES) {
        status = read_file(&file, trust, ops, &path, &detail);
    }
    if (status == NC_OK && !is_pinned) {
        nc_slice pem = trust->options.roots == NC_ROOTS_BYTES ? trust->options.ca_pem : nc_buf_slice(&file);
        status = add_pem(store, pem, &count, &detail);
    }
    if (status == NC_OK && !is_pinned && count == 0) {
        status = nc_error_set(&detail, NC_ERR_TLS_ROOTS, 0, -1, "no certificate in %s", path);
    }
    status = status == NC_OK ? load_lists(store, trust, ops, &detail) : status;
    if (status == NC_OK) {
        // The same flags as in libcurl: a trusted intermediate certificate is a sufficient anchor, and trusted
        // certificates take precedence over those that the server sent.
        X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST);
        *out = store;
        nc_buf_deinit(&file);
        return nc_error_clear(err);
    }
    X509_STORE_free(store);
    nc_buf_deinit(&file);
    if (err != NULL) {
        *err = detail;
    }
    return status;
}
