#include "base/error.h"
#include "base/file.h"
#include "trust/pem.h"
#include "trust/pin.h"

#include <dirent.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_PATH_BYTES = 4096, SHOWN_BYTES = 128 };

/// Where pins are read from, for messages, and the list that receives them.
typedef struct pin_source {
    nc_pin_list *list;
    nc_pin_mode mode;
    const char *name;
} pin_source;

static nc_status refuse(const pin_source *source, const char *why, nc_error *err) {
    ERR_clear_error();
    return nc_error_set(err, NC_ERR_BAD_PIN, 0, -1, "%s in %.*s", why, SHOWN_BYTES, source->name);
}

/* --- certificates and keys --- */

/// Adds the pin of a certificate, and takes ownership of it.
static nc_status add_certificate(const pin_source *source, X509 *certificate, nc_error *err) {
    nc_pin pin = {.certificate = certificate};
    if (certificate == NULL) {
        return refuse(source, "a certificate cannot be read", err);
    }
    if (!nc_pin_of(pin.digest, certificate)) {
        X509_free(certificate);
        return refuse(source, "a certificate's public key cannot be read", err);
    }
    if (source->mode != NC_PIN_CERTIFICATE) {
        X509_free(certificate);
        pin.certificate = NULL;
    }
    nc_status status = nc_pin_list_add(source->list, &pin, err);
    if (status != NC_OK) {
        X509_free(pin.certificate);
    }
    return status;
}

/// Adds the pin of a public key, and frees the key.
static nc_status add_key(const pin_source *source, EVP_PKEY *key, nc_error *err) {
    nc_pin pin = {.certificate = NULL};
    bool is_digested = key != NULL && nc_pin_of_key(pin.digest, key);
    EVP_PKEY_free(key);
    if (!is_digested) {
        return refuse(source, "a public key cannot be read", err);
    }
    if (source->mode == NC_PIN_CERTIFICATE) {
        return refuse(source, "a public key instead of a certificate", err);
    }
    return nc_pin_list_add(source->list, &pin, err);
}

/// Adds the pin of one certificate or public key in DER. Further bytes are an error.
static nc_status add_der(const pin_source *source, nc_slice bytes, nc_error *err) {
    const unsigned char *at = bytes.data;
    const unsigned char *end = bytes.data + bytes.length;
    X509 *certificate = d2i_X509(NULL, &at, (long)bytes.length);
    if (certificate != NULL && at == end) {
        return add_certificate(source, certificate, err);
    }
    X509_free(certificate);
    at = bytes.data;
    EVP_PKEY *key = d2i_PUBKEY(NULL, &at, (long)bytes.length);
    if (key != NULL && at == end) {
        return add_key(source, key, err);
    }
    EVP_PKEY_free(key);
    return refuse(source, "neither a certificate nor a public key", err);
}

static nc_status add_block(const pin_source *source, const nc_pem_block *block, nc_error *err) {
    const unsigned char *at = block->bytes;
    if (nc_pem_is_certificate(block)) {
        return add_certificate(source, d2i_X509_AUX(NULL, &at, block->length), err);
    }
    if (strcmp(block->name, PEM_STRING_PUBLIC) == 0) {
        return add_key(source, d2i_PUBKEY(NULL, &at, block->length), err);
    }
    return refuse(source, "a PEM block that is neither a certificate nor a public key", err);
}

static nc_status add_pem(const pin_source *source, nc_slice bytes, nc_error *err) {
    nc_pem_reader reader;
    nc_status status = nc_pem_open(&reader, bytes, err);
    size_t count = 0;
    while (status == NC_OK && nc_pem_next(&reader)) {
        status = add_block(source, &reader.block, err);
        count++;
    }
    if (status == NC_OK && reader.is_broken) {
        status = refuse(source, "a PEM block cannot be read", err);
    }
    if (status == NC_OK && count == 0) {
        status = refuse(source, "no certificate and no public key", err);
    }
    nc_pem_close(&reader);
    return status;
}

nc_status nc_pin_list_add_bytes(nc_pin_list *list, nc_slice bytes, nc_pin_mode mode, const char *name, nc_error *err) {
    const pin_source source = {.list = list, .mode = mode, .name = name};
    if (bytes.length == 0 || bytes.length > NC_PIN_MAX_BYTES) {
        return refuse(&source, bytes.length == 0 ? "nothing" : "more than 1 MiB", err);
    }
    nc_status status = nc_pem_is_text(bytes) ? add_pem(&source, bytes, err) : add_der(&source, bytes, err);
    ERR_clear_error();
    return status;
}

/* --- files --- */

static nc_status add_file(nc_pin_list *list, const char *path, nc_pin_mode mode, nc_error *err) {
    const nc_file_ops files = nc_file_ops_system();
    nc_error detail;
    nc_buf bytes = nc_buf_init(NC_PIN_MAX_BYTES);
    nc_status status = nc_file_read_all(&bytes, &files, path, &detail);
    if (status == NC_OK) {
        status = nc_pin_list_add_bytes(list, nc_buf_slice(&bytes), mode, path, err);
    } else if (status == NC_ERR_NO_MEMORY) {
        status = nc_error_set(err, status, 0, -1, "no memory for pins");
    } else {
        status =
            nc_error_set(err, NC_ERR_BAD_PIN, detail.native_code, -1, "cannot read pins from '%.*s': %s", SHOWN_BYTES,
                         path, detail.native_code != 0 ? strerror(detail.native_code) : "larger than 1 MiB");
    }
    nc_buf_deinit(&bytes);
    return status;
}

/// Adds a file of a directory. Anything that is not a regular file is skipped, because reading a named pipe could block
/// without end.
static nc_status add_entry(nc_pin_list *list, const char *path, nc_pin_mode mode, nc_error *err) {
    const nc_file_ops files = nc_file_ops_system();
    nc_error detail;
    nc_status status = nc_file_check(&files, path, &detail);
    return status == NC_OK
               ? add_file(list, path, mode, err)
               : nc_error_set(err, NC_ERR_BAD_PIN, detail.native_code, -1, "cannot read pins from '%.*s': %s",
                              SHOWN_BYTES, path, strerror(detail.native_code));
}

static bool has_certificate_name(const char *name) {
    static const char *const endings[] = {".cer", ".crt", ".pem"};
    size_t length = strlen(name);
    bool is_one = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings && length > 4; i++) {
        is_one = is_one || nc_slice_is_equal_ignoring_case(nc_slice_of(name + length - 4), nc_slice_of(endings[i]));
    }
    return is_one;
}

static nc_status add_folder(nc_pin_list *list, const char *path, nc_pin_mode mode, nc_error *err) {
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return nc_error_set(err, NC_ERR_BAD_PIN, errno, -1, "cannot read the folder '%.*s': %s", SHOWN_BYTES, path,
                            strerror(errno));
    }
    nc_status status = NC_OK;
    size_t count = 0;
    const struct dirent *entry;
    errno = 0;
    while (status == NC_OK && (entry = readdir(folder)) != NULL) {
        char full[MAX_PATH_BYTES];
        if (has_certificate_name(entry->d_name)) {
            int length = snprintf(full, sizeof full, "%s/%s", path, entry->d_name);
            status = length < MAX_PATH_BYTES
                         ? add_entry(list, full, mode, err)
                         : nc_error_set(err, NC_ERR_BAD_PIN, 0, -1, "the path of a pin file is too long");
            count++;
        }
        errno = 0;
    }
    // Without this check some pins of the directory could be missing unnoticed.
    if (status == NC_OK && errno != 0) {
        status = nc_error_set(err, NC_ERR_BAD_PIN, errno, -1, "cannot read the folder '%.*s': %s", SHOWN_BYTES, path,
                              strerror(errno));
    }
    (void)closedir(folder);
    if (status == NC_OK && count == 0) {
        status = nc_error_set(err, NC_ERR_BAD_PIN, 0, -1, "no .cer, .crt or .pem file in '%.*s'", SHOWN_BYTES, path);
    }
    return status;
}

nc_status nc_pin_list_add_path(nc_pin_list *list, nc_slice path, nc_pin_mode mode, nc_error *err) {
    char copy[MAX_PATH_BYTES];
    struct stat about;
    if (path.length == 0 || path.length >= sizeof copy || memchr(path.data, 0, path.length) != NULL) {
        return nc_error_set(err, NC_ERR_BAD_PIN, 0, -1,
                            "the path of a pin file is empty, too long or contains a NUL byte");
    }
    memcpy(copy, path.data, path.length);
    copy[path.length] = '\0';
    bool is_folder = stat(copy, &about) == 0 && S_ISDIR(about.st_mode);
    return is_folder ? add_folder(list, copy, mode, err) : add_file(list, copy, mode, err);
}
