#include "base/alloc.h"
#include "base/error.h"
#include "digest/algorithm.h"

#include <netcore/digest.h>
#include <openssl/err.h>
#include <openssl/evp.h>

struct nc_digest {
    EVP_MD_CTX *context;
    /// Shared; never freed.
    const EVP_MD *algorithm;
    nc_digest_kind kind;
    /// True after an update, until finish or reset.
    bool is_begun;
    /// True after a failed call, until finish or reset.
    bool has_failed;
};

size_t nc_digest_bytes(nc_digest_kind kind) {
    switch (kind) {
    case NC_DIGEST_MD5:
        return NC_MD5_BYTES;
    case NC_DIGEST_SHA256:
        return NC_SHA256_BYTES;
    case NC_DIGEST_SHA512_256:
        return NC_SHA512_256_BYTES;
    }
    return 0;
}

/// Initializes as late as possible: OpenSSL 3.0 frees and allocates the algorithm's state (92 bytes for MD5) each time.
static void begin(nc_digest *digest) {
    if (!digest->is_begun) {
        digest->is_begun = true;
        digest->has_failed = EVP_DigestInit_ex2(digest->context, digest->algorithm, NULL) != 1;
    }
}

nc_status nc_digest_new(nc_digest **out, nc_digest_kind kind, nc_error *err) {
    if (out == NULL || nc_digest_bytes(kind) == 0) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "there is no digest of kind %d", (int)kind);
    }
    const EVP_MD *algorithm;
    nc_status status = nc_digest_algorithm(&algorithm, kind, err);
    if (status != NC_OK) {
        return status;
    }
    nc_digest *digest = nc_alloc_zeroed(1, sizeof *digest);
    if (digest != NULL) {
        digest->algorithm = algorithm;
        digest->kind = kind;
        digest->context = EVP_MD_CTX_new();
    }
    if (digest == NULL || digest->context == NULL) {
        nc_digest_free(digest);
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a digest");
    }
    *out = digest;
    return nc_error_clear(err);
}

void nc_digest_free(nc_digest *digest) {
    if (digest != NULL) {
        EVP_MD_CTX_free(digest->context);
        nc_free(digest);
    }
}

nc_digest_kind nc_digest_kind_of(const nc_digest *digest) {
    return digest->kind;
}

void nc_digest_update(nc_digest *digest, nc_slice bytes) {
    begin(digest);
    if (bytes.length > 0 && !digest->has_failed) {
        digest->has_failed = EVP_DigestUpdate(digest->context, bytes.data, bytes.length) != 1;
    }
}

nc_status nc_digest_finish(uint8_t *out, nc_digest *digest, nc_error *err) {
    begin(digest);
    bool is_whole = !digest->has_failed && EVP_DigestFinal_ex(digest->context, out, NULL) == 1;
    digest->is_begun = false;
    if (is_whole) {
        return nc_error_clear(err);
    }
    unsigned long code = ERR_peek_last_error();
    ERR_clear_error();
    nc_status status = ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE ? NC_ERR_NO_MEMORY : NC_ERR_INTERNAL;
    return nc_error_set(err, status, (int32_t)ERR_GET_REASON(code), -1, "OpenSSL could not compute the digest");
}

void nc_digest_reset(nc_digest *digest) {
    digest->is_begun = false;
}

nc_status nc_digest_of(uint8_t *out, nc_digest *digest, nc_slice bytes, nc_error *err) {
    if (bytes.data == NULL && bytes.length > 0) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a slice is NULL");
    }
    nc_digest_reset(digest);
    nc_digest_update(digest, bytes);
    return nc_digest_finish(out, digest, err);
}
