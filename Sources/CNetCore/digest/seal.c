#include "digest/seal.h"

#include "base/alloc.h"
#include "base/error.h"
#include "digest/keyed_hash.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <string.h>

enum { NONCE_BYTES = 12 };

struct nc_seal {
    uint8_t key[NC_SEAL_KEY_BYTES];
    uint8_t id[NC_SEAL_ID_BYTES];
};

struct nc_cipher {
    EVP_CIPHER_CTX *context;
    bool encrypts;
};

static nc_status fail(nc_error *err, const char *what) {
    unsigned long code = ERR_peek_last_error();
    nc_status status = ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE ? NC_ERR_NO_MEMORY : NC_ERR_INTERNAL;
    return nc_error_set(err, status, (int32_t)ERR_GET_REASON(code), -1, "OpenSSL cannot %s", what);
}

/// Derives a key or name from the caller's key: HMAC-SHA-256 of `text` under a key that depends on `purpose`. Results
/// of different purposes are therefore unrelated.
static bool derive(uint8_t out[NC_KEYED_HASH_BYTES], const nc_seal *seal, const char *purpose, nc_slice text) {
    uint8_t inner[NC_KEYED_HASH_BYTES];
    // Two steps, so that `text` cannot be chosen to equal another purpose.
    bool is_done = nc_keyed_hash(inner, seal->key, nc_slice_of(purpose)) && nc_keyed_hash(out, inner, text);
    OPENSSL_cleanse(inner, sizeof inner);
    return is_done;
}

nc_status nc_seal_new(nc_seal **out, const uint8_t key[NC_SEAL_KEY_BYTES], nc_error *err) {
    uint8_t id[NC_KEYED_HASH_BYTES];
    // The first initialization of OpenSSL determines whether it cleans up at exit. It must not, because other threads
    // may still use it then.
    (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    nc_seal *seal = nc_alloc(sizeof *seal);
    if (seal == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a key");
    }
    memcpy(seal->key, key, NC_SEAL_KEY_BYTES);
    if (!derive(id, seal, "netkit key id", nc_slice_of(""))) {
        nc_seal_free(seal);
        return fail(err, "compute HMAC-SHA-256");
    }
    memcpy(seal->id, id, sizeof seal->id);
    *out = seal;
    return nc_error_clear(err);
}

void nc_seal_free(nc_seal *seal) {
    if (seal != NULL) {
        OPENSSL_cleanse(seal, sizeof *seal);
        nc_free(seal);
    }
}

const uint8_t *nc_seal_id(const nc_seal *seal) {
    return seal->id;
}

nc_status nc_seal_name(uint8_t out[NC_SEAL_NAME_BYTES], const nc_seal *seal, nc_slice text, nc_error *err) {
    uint8_t name[NC_KEYED_HASH_BYTES];
    if (!derive(name, seal, "netkit name", text)) {
        return fail(err, "compute HMAC-SHA-256");
    }
    memcpy(out, name, NC_SEAL_NAME_BYTES);
    return NC_OK;
}

nc_status nc_cipher_new(nc_cipher **out, const nc_seal *seal, nc_slice salt, bool encrypts, nc_error *err) {
    uint8_t key[NC_KEYED_HASH_BYTES];
    nc_cipher *cipher = nc_alloc_zeroed(1, sizeof *cipher);
    if (cipher == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a cipher");
    }
    cipher->encrypts = encrypts;
    cipher->context = EVP_CIPHER_CTX_new();
    bool is_ready = cipher->context != NULL && derive(key, seal, "netkit file", salt) &&
                    EVP_CipherInit_ex(cipher->context, EVP_aes_256_gcm(), NULL, key, NULL, encrypts) == 1;
    OPENSSL_cleanse(key, sizeof key);
    if (!is_ready) {
        nc_cipher_free(cipher);
        return fail(err, "begin AES-256-GCM");
    }
    *out = cipher;
    return NC_OK;
}

void nc_cipher_free(nc_cipher *cipher) {
    if (cipher != NULL) {
        EVP_CIPHER_CTX_free(cipher->context);
        nc_free(cipher);
    }
}

/// Sets AES-GCM's nonce and associated data.
static bool begin(const nc_cipher *cipher, const nc_piece *piece) {
    uint8_t nonce[NONCE_BYTES] = {0};
    int taken = 0;
    for (size_t i = 0; i < sizeof piece->number; i++) {
        nonce[NONCE_BYTES - 1 - i] = (uint8_t)(piece->number >> (8 * i));
    }
    return piece->length <= INT_MAX && piece->associated_data.length <= INT_MAX &&
           EVP_CipherInit_ex(cipher->context, NULL, NULL, NULL, nonce, -1) == 1 &&
           (piece->associated_data.length == 0 ||
            EVP_CipherUpdate(cipher->context, NULL, &taken, piece->associated_data.data,
                             (int)piece->associated_data.length) == 1);
}

nc_status nc_cipher_run(nc_cipher *cipher, const nc_piece *piece, nc_error *err) {
    uint8_t rest[NC_SEAL_TAG_BYTES];
    int done = 0;
    int last = 0;
    if (!begin(cipher, piece) || (piece->length != 0 && EVP_CipherUpdate(cipher->context, piece->bytes, &done,
                                                                         piece->bytes, (int)piece->length) != 1)) {
        return fail(err, "run AES-256-GCM");
    }
    if (!cipher->encrypts) {
        bool is_open = EVP_CIPHER_CTX_ctrl(cipher->context, EVP_CTRL_GCM_SET_TAG, NC_SEAL_TAG_BYTES, piece->tag) == 1 &&
                       EVP_CipherFinal_ex(cipher->context, rest, &last) == 1;
        return is_open ? NC_OK
                       : nc_error_set(err, NC_ERR_BAD_CODING, 0, -1,
                                      "decryption failed: the key is wrong or the data was modified");
    }
    bool is_closed = EVP_CipherFinal_ex(cipher->context, rest, &last) == 1 &&
                     EVP_CIPHER_CTX_ctrl(cipher->context, EVP_CTRL_GCM_GET_TAG, NC_SEAL_TAG_BYTES, piece->tag) == 1;
    return is_closed ? NC_OK : fail(err, "run AES-256-GCM");
}
