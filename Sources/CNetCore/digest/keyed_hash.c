#include "digest/keyed_hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

bool nc_keyed_hash(uint8_t out[NC_KEYED_HASH_BYTES], const uint8_t key[NC_KEYED_HASH_KEY_BYTES], nc_slice text) {
    unsigned length = 0;
    // See nc_seal_new() about the first initialization.
    (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    return HMAC(EVP_sha256(), key, NC_KEYED_HASH_KEY_BYTES, text.length > 0 ? text.data : key, text.length, out,
                &length) != NULL &&
           length == NC_KEYED_HASH_BYTES;
}
