#include "certificate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/// Opens a new file that nobody else may read.
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

/// Closes and tells whether everything reached the file.
static bool finish(FILE *file, bool is_written) {
    return fclose(file) == 0 && is_written;
}

static bool write_all(const nct_certificate *made, const char *directory) {
    FILE *ca = create(directory, "ca.pem");
    if (ca == NULL || !finish(ca, fputs(made->ca_pem, ca) >= 0))
        return false;
    FILE *leaf = create(directory, "cert.pem");
    if (leaf == NULL || !finish(leaf, PEM_write_X509(leaf, made->leaf) == 1))
        return false;
    FILE *key = create(directory, "key.pem");
    return key != NULL && finish(key, PEM_write_PrivateKey(key, made->key, NULL, NULL, 0, NULL, NULL) == 1);
}

int nct_identity_write(nct_identity identity, const char *directory) {
    nct_certificate made = {0};
    if (!nct_certificate_make(&made, identity))
        return ENOMEM;
    errno = 0;
    bool is_written = write_all(&made, directory);
    int failure = is_written ? 0 : (errno != 0 ? errno : EIO);
    nct_certificate_deinit(&made);
    return failure;
}
