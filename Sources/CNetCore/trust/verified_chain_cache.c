#include "trust/verified_chain_cache.h"

#include "trust/verify.h"

#include <openssl/err.h>

static void forget(nc_verified_chain *chain) {
    X509_free(chain->leaf);
    sk_X509_pop_free(chain->others, X509_free);
    sk_X509_pop_free(chain->verified, X509_free);
    *chain = (nc_verified_chain){0};
}

static bool has_equal(STACK_OF(X509) * a, STACK_OF(X509) * b) {
    int count = b != NULL ? sk_X509_num(b) : 0;
    bool is_equal = count == sk_X509_num(a);
    for (int i = 0; i < count && is_equal; i++) {
        is_equal = X509_cmp(sk_X509_value(a, i), sk_X509_value(b, i)) == 0;
    }
    return is_equal;
}

STACK_OF(X509) * nc_verified_chain_cache_find(const nc_verified_chain_cache *cache, const nc_sent_chain *sent,
                                              const X509_STORE *anchors) {
    STACK_OF(X509) *found = NULL;
    for (size_t i = 0; i < NC_VERIFIED_CHAIN_CACHE_MAX_CHAINS && found == NULL; i++) {
        const nc_verified_chain *chain = &cache->chains[i];
        bool is_valid = chain->leaf != NULL && chain->anchors == anchors && sent->at_s >= chain->from_s &&
                        sent->at_s < chain->until_s;
        if (is_valid && X509_cmp(chain->leaf, sent->leaf) == 0 && has_equal(chain->others, sent->certificates)) {
            found = X509_chain_up_ref(chain->verified);
        }
    }
    ERR_clear_error();
    return found;
}

/* --- keeping --- */

static size_t bytes_of(X509 *certificate) {
    int length = i2d_X509(certificate, NULL);
    return length > 0 ? (size_t)length : NC_VERIFIED_CHAIN_CACHE_MAX_BYTES + 1;
}

static bool is_small(const nc_sent_chain *sent) {
    int count = sk_X509_num(sent->certificates);
    size_t bytes = bytes_of(sent->leaf);
    for (int i = 0;
         i < count && i < NC_VERIFIED_CHAIN_CACHE_MAX_CERTIFICATES && bytes <= NC_VERIFIED_CHAIN_CACHE_MAX_BYTES; i++) {
        bytes += bytes_of(sk_X509_value(sent->certificates, i));
    }
    return count <= NC_VERIFIED_CHAIN_CACHE_MAX_CERTIFICATES && bytes <= NC_VERIFIED_CHAIN_CACHE_MAX_BYTES;
}

/// Determines the period in which all certificates of the chain are valid. Returns false if a time cannot be read.
static bool read_times(nc_verified_chain *chain) {
    bool is_read = true;
    chain->from_s = INT64_MIN;
    chain->until_s = INT64_MAX;
    for (int i = 0; i < sk_X509_num(chain->verified) && is_read; i++) {
        const X509 *certificate = sk_X509_value(chain->verified, i);
        int64_t from_s = nc_verify_seconds_of(X509_get0_notBefore(certificate));
        int64_t until_s = nc_verify_seconds_of(X509_get0_notAfter(certificate));
        is_read = from_s != INT64_MIN && until_s != INT64_MIN;
        chain->from_s = from_s > chain->from_s ? from_s : chain->from_s;
        chain->until_s = until_s < chain->until_s ? until_s : chain->until_s;
    }
    return is_read;
}

void nc_verified_chain_cache_add(nc_verified_chain_cache *cache, const nc_sent_chain *sent, const X509_STORE *anchors,
                                 STACK_OF(X509) * verified) {
    nc_verified_chain chain = {.anchors = anchors};
    if (!is_small(sent)) {
        return;
    }
    chain.leaf = X509_up_ref(sent->leaf) == 1 ? sent->leaf : NULL;
    chain.others = sent->certificates != NULL ? X509_chain_up_ref(sent->certificates) : sk_X509_new_null();
    chain.verified = X509_chain_up_ref(verified);
    if (chain.leaf == NULL || chain.others == NULL || chain.verified == NULL || !read_times(&chain)) {
        forget(&chain);
    } else {
        forget(&cache->chains[cache->next]);
        cache->chains[cache->next] = chain;
        cache->next = (cache->next + 1) % NC_VERIFIED_CHAIN_CACHE_MAX_CHAINS;
    }
    ERR_clear_error();
}

void nc_verified_chain_cache_deinit(nc_verified_chain_cache *cache) {
    for (size_t i = 0; i < NC_VERIFIED_CHAIN_CACHE_MAX_CHAINS; i++) {
        forget(&cache->chains[i]);
    }
}
