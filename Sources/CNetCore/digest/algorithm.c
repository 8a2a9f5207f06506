#include "digest/algorithm.h"

#include "base/error.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <stdatomic.h>

/// Fetched algorithms are immutable and shared by threads. Fetching one takes longer than digesting a short text. They
/// are never freed, because OpenSSL lives as long as the process. A failure is not stored, so the next caller tries
/// again.
static _Atomic(EVP_MD *) fetched[3];

/// Keeps the first of two algorithms that threads fetched concurrently.
static EVP_MD *keep(_Atomic(EVP_MD *) *place, EVP_MD *algorithm) {
    EVP_MD *other = NULL;
    if (atomic_compare_exchange_strong(place, &other, algorithm)) {
        return algorithm;
    }
    EVP_MD_free(algorithm);
    return other;
}

/// Fetches an algorithm in a process that is restricted to FIPS algorithms. MD5 is only used for names. First without
/// the property, for a process that has also loaded the default provider. Then from a separate context, which reads no
/// configuration. The algorithm keeps its provider and thus the context alive.
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
    _Atomic(EVP_MD *) *place = &fetched[kind - NC_DIGEST_MD5];
    EVP_MD *algorithm = atomic_load_explicit(place, memory_order_acquire);
    if (algorithm == NULL) {
        // The first initialization decides whether OpenSSL cleans up at exit, while threads may still use it.
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
            return nc_error_set(err, status, (int32_t)ERR_GET_REASON(code), -1, "this OpenSSL has no %s", name);
        }
        algorithm = keep(place, algorithm);
    }
    *out = algorithm;
    return NC_OK;
}
