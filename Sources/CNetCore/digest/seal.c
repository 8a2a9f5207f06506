#include "digest/seal.h"

#include "base/alloc.h"
#include "base/error.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

enum { HMAC_BYTES = 32, NONCE_BYTES = 12 };

struct nc_seal {
    uint8_t key[NC_SEAL_KEY_BYTES];
    uint8_t id[NC_SEAL_ID_BYTES];
};

struct nc_cipher {
    EVP_CIPHER_CTX *context;
    bool is_closing;
};

static nc_status fail(nc_error *err, const char *what) {
    unsigned long code = ERR_peek_last_error();
    nc_status status = ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE ? NC_ERR_NO_MEMORY : NC_ERR_INTERNAL;
    return nc_error_set(err, status, (int32_t)ERR_GET_REASON(code), -1, "OpenSSL cannot %s", what);
}

/// HMAC-SHA-256 of a purpose and a text, so that a key of one purpose is never one of another.
static bool derive(uint8_t out[HMAC_BYTES], const nc_seal *seal, const char *purpose, nc_slice text) {
    uint8_t inner[HMAC_BYTES];
    unsigned length = 0;
    // Two steps, so that no text can imitate a purpose.
    bool is_done = HMAC(EVP_sha256(), seal->key, NC_SEAL_KEY_BYTES, (const uint8_t *)purpose, strlen(purpose), inner,
                        &length) != NULL &&
                   HMAC(EVP_sha256(), inner, HMAC_BYTES, text.length == 0 ? inner : text.data, text.length, out,
                        &length) != NULL &&
                   length == HMAC_BYTES;
    OPENSSL_cleanse(inner, sizeof inner);
    return is_done;
}

nc_status nc_seal_new(nc_seal **out, const uint8_t key[NC_SEAL_KEY_BYTES], nc_error *err) {
    uint8_t id[HMAC_BYTES];
    // The first initialization decides whether OpenSSL cleans up at exit, while threads may still use it.
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
    uint8_t name[HMAC_BYTES];
    if (!derive(name, seal, "netkit name", text)) {
        return fail(err, "compute HMAC-SHA-256");
    }
    memcpy(out, name, NC_SEAL_NAME_BYTES);
    return NC_OK;
}

nc_status nc_cipher_new(nc_cipher **out, const nc_seal *seal, nc_slice salt, bool is_closing, nc_error *err) {
    uint8_t key[HMAC_BYTES];
    nc_cipher *cipher = nc_alloc_zeroed(1, sizeof *cipher);
    if (cipher == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a cipher");
    }
    cipher->is_closing = is_closing;
    cipher->context = EVP_CIPHER_CTX_new();
    bool is_ready = cipher->context != NULL && derive(key, seal, "netkit file", salt) &&
                    EVP_CipherInit_ex(cipher->context, EVP_aes_256_gcm(), NULL, key, NULL, is_closing) == 1;
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
    return piece->length <= INT_MAX && piece->bound.length <= INT_MAX &&
           EVP_CipherInit_ex(cipher->context, NULL, NULL, NULL, nonce, -1) == 1 &&
           (piece->bound.length == 0 ||
            EVP_CipherUpdate(cipher->context, NULL, &taken, piece->bound.data, (int)piece->bound.length) == 1);
}

nc_status nc_cipher_run(nc_cipher *cipher, const nc_piece *piece, nc_error *err) {
    uint8_t rest[NC_SEAL_TAG_BYTES];
    int done = 0;
    int last = 0;
    if (!begin(cipher, piece) || (piece->length != 0 && EVP_CipherUpdate(cipher->context, piece->bytes, &done,
                                                                         piece->bytes, (int)piece->length) != 1)) {
        return fail(err, "run AES-256-GCM");
    }
    if (!cipher->is_closing) {
        bool is_open = EVP_CIPHER_CTX_ctrl(cipher->context, EVP_CTRL_GCM_SET_TAG, NC_SEAL_TAG_BYTES, piece->tag) == 1 &&
                       EVP_CipherFinal_ex(cipher->context, rest, &last) == 1;
        return is_open ? NC_OK : nc_error_set(err, NC_ERR_BAD_CODING, 0, -1, "a sealed piece does not open");
    }
    bool is_closed = EVP_CipherFinal_ex(cipher->context, rest, &last) == 1 &&
                     EVP_CIPHER_CTX_ctrl(cipher->context, EVP_CTRL_GCM_GET_TAG, NC_SEAL_TAG_BYTES, piece->tag) == 1;
    return is_closed ? NC_OK : fail(err, "run AES-256-GCM");
}
