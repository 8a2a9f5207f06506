#include "digest/digest.h"

#include "base/alloc.h"
#include "base/error.h"

#include <netcore/digest.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <stdatomic.h>

/* --- OpenSSL's algorithms, each fetched once per process --- */

/// The algorithms that were fetched, or NULL. They are cached because fetching one takes longer than digesting a short
/// text. Threads share them; they are immutable and never freed. A failure is not cached, so the next caller tries
/// again.
static _Atomic(EVP_MD *) fetched[3];

/// Stores a fetched algorithm. If another thread was faster, frees this one and returns the stored one.
static EVP_MD *store_or_free(_Atomic(EVP_MD *) *cached, EVP_MD *algorithm) {
    EVP_MD *other = NULL;
    if (atomic_compare_exchange_strong(cached, &other, algorithm)) {
        return algorithm;
    }
    EVP_MD_free(algorithm);
    return other;
}

/// Fetches an algorithm although the process is restricted to FIPS algorithms. MD5 is needed for the cache's file
/// names, HTTP digest authentication and the digests of downloads.
///
/// First fetches it without the property "fips=yes", in case the process has loaded the default provider too. If that
/// fails, loads the default provider in a separate context, which reads no configuration. The context is never freed,
/// because the algorithm needs it.
static EVP_MD *fetch_beside_fips(const char *name) {
    EVP_MD *algorithm = EVP_MD_fetch(NULL, name, "-fips");
    if (algorithm != NULL) {
        return algorithm;
    }
    OSSL_LIB_CTX *context = OSSL_LIB_CTX_new();
    if (context == NULL) {
        return NULL;
    }
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(context, "default");
    algorithm = provider != NULL ? EVP_MD_fetch(context, name, NULL) : NULL;
    if (algorithm == NULL) {
        if (provider != NULL) {
            (void)OSSL_PROVIDER_unload(provider);
        }
        OSSL_LIB_CTX_free(context);
    }
    return algorithm;
}

nc_status nc_digest_algorithm(const EVP_MD **out, nc_digest_kind kind, nc_error *err) {
    static const char *const names[] = {"MD5", "SHA2-256", "SHA2-512/256"};
    _Atomic(EVP_MD *) *cached = &fetched[kind - NC_DIGEST_MD5];
    EVP_MD *algorithm = atomic_load_explicit(cached, memory_order_acquire);
    if (algorithm == NULL) {
        // The first initialization of OpenSSL determines whether it cleans up at exit. It must not, because other
        // threads may still use it then.
        (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
        const char *name = names[kind - NC_DIGEST_MD5];
        ERR_set_mark();
        algorithm = EVP_MD_fetch(NULL, name, NULL);
        if (algorithm == NULL) {
            algorithm = fetch_beside_fips(name);
        }
        unsigned long code = ERR_peek_last_error();
        ERR_pop_to_mark();
        if (algorithm == NULL) {
            nc_status status = ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE ? NC_ERR_NO_MEMORY : NC_ERR_UNSUPPORTED;
            return nc_error_set(err, status, (int32_t)ERR_GET_REASON(code), -1, "this OpenSSL does not support %s",
                                name);
        }
        algorithm = store_or_free(cached, algorithm);
    }
    *out = algorithm;
    return NC_OK;
}

/* --- digests --- */

struct nc_digest {
    EVP_MD_CTX *context;
    /// Shared by all digests; never freed.
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

/// Initializes the context when the first byte of a text is added, not already when the digest is reset: OpenSSL 3.0
/// frees and allocates the state (92 bytes for MD5) at each initialization.
static void begin(nc_digest *digest) {
    if (!digest->is_begun) {
        digest->is_begun = true;
        digest->has_failed = EVP_DigestInit_ex2(digest->context, digest->algorithm, NULL) != 1;
    }
}

nc_status nc_digest_new(nc_digest **out, nc_digest_kind kind, nc_error *err) {
    if (out == NULL || nc_digest_bytes(kind) == 0) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown digest kind %d", (int)kind);
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

bool nc_sha1(uint8_t out[NC_SHA1_BYTES], nc_slice bytes) {
    unsigned length = 0;
    // See nc_seal_new() about the first initialization.
    (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    return EVP_Digest(bytes.length > 0 ? bytes.data : out, bytes.length, out, &length, EVP_sha1(), NULL) == 1 &&
           length == NC_SHA1_BYTES;
}
