#include "certificate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/// Opens a new file that only the owner may read.
static FILE *create(const char *directory, const char *name) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file == NULL && fd >= 0)
        close(fd);
    return file;
}

/// Closes the file. Returns true if everything was written.
static bool finish(FILE *file, bool is_written) {
    return fclose(file) == 0 && is_written;
}

static bool write_leaf(X509 *leaf, EVP_PKEY *leaf_key, const char *directory) {
    FILE *cert = create(directory, "cert.pem");
    if (cert == NULL || !finish(cert, PEM_write_X509(cert, leaf) == 1))
        return false;
    FILE *key = create(directory, "key.pem");
    return key != NULL && finish(key, PEM_write_PrivateKey(key, leaf_key, NULL, NULL, 0, NULL, NULL) == 1);
}

static bool write_server(const nct_certificate *made, const char *directory) {
    FILE *ca = create(directory, "ca.pem");
    return ca != NULL && finish(ca, fputs(made->ca_pem, ca) >= 0) && write_leaf(made->leaf, made->key, directory);
}

static bool write_bundle(X509 *leaf, EVP_PKEY *key, const char *directory) {
    PKCS12 *bundle = PKCS12_create("secret", "client", key, leaf, NULL, 0, 0, 0, 0, 0);
    FILE *file = bundle == NULL ? NULL : create(directory, "client.p12");
    bool is_written = file != NULL && finish(file, i2d_PKCS12_fp(file, bundle) == 1);
    PKCS12_free(bundle);
    return is_written;
}

int nct_identity_write(nct_identity identity, const char *directory) {
    nct_certificate made = {0};
    if (!nct_certificate_make(&made, identity, NULL))
        return ENOMEM;
    errno = 0;
    bool is_written = write_server(&made, directory);
    int failure = is_written ? 0 : (errno != 0 ? errno : EIO);
    nct_certificate_deinit(&made);
    return failure;
}

int nct_certificate_write_client(const nct_certificate *certificate, const char *directory) {
    X509 *leaf = NULL;
    EVP_PKEY *key = NULL;
    if (!nct_certificate_make_client(certificate, &leaf, &key))
        return ENOMEM;
    errno = 0;
    bool is_written = write_leaf(leaf, key, directory) && write_bundle(leaf, key, directory);
    int failure = is_written ? 0 : (errno != 0 ? errno : EIO);
    X509_free(leaf);
    EVP_PKEY_free(key);
    return failure;
}
