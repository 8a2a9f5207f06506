#include "trust/tls_records.h"

#include "base/alloc.h"
#include "base/ascii.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/objects.h>

enum { HEAD_BYTES = 5, TAG_BYTES = 16, NONCE_BYTES = 12, SALT_BYTES = 4, MAX_KEY_BYTES = 32, MAX_SECRET_BYTES = 64 };
enum { MAX_PENDING_BYTES = 256 << 10, MAX_RECORD_BYTES = (1 << 14) + 2048, RANDOM_BYTES = 32 };
enum { CHANGE_CIPHER_SPEC = 20, ALERT = 21, HANDSHAKE = 22, APPLICATION_DATA = 23 };
enum { CLOSE_NOTIFY = 0, KEY_UPDATE = 24, MESSAGE_HEAD_BYTES = 4 };
enum { AES_BLOCK_BYTES = 16, CHACHA_BLOCK_BYTES = 64, STREAM_BYTES = 256 };

typedef enum records_state { AWAITS_KEYS, IS_OPEN, IS_CLOSED, IS_LOST } records_state;

struct nc_tls_records {
    bool is_client;
    nc_tls_records_take take;
    void *ctx;
    records_state state;
    nc_buf pending;      // bytes that arrived before the keys were known
    size_t record_count; // TLS 1.3: number of records before the keys change

    uint8_t head[HEAD_BYTES];
    size_t have;
    nc_buf body; // body of a record that arrived in pieces

    bool is_1_3;
    bool is_ciphered; // TLS 1.2: true after ChangeCipherSpec
    bool is_chacha;
    const EVP_MD *hash;
    size_t key_bytes;
    size_t secret_bytes;
    uint8_t secret[MAX_SECRET_BYTES]; // TLS 1.3: traffic secret, from which the next one is derived; TLS 1.2: master
                                      // secret
    uint8_t iv[NONCE_BYTES];
    uint64_t sequence;
    EVP_CIPHER_CTX *cipher;

    const uint8_t *text; // encrypted content of the current record
    uint8_t nonce[NONCE_BYTES];
    uint8_t stream[STREAM_BYTES]; // a part of the key stream
    size_t stream_at;             // offset in `text` at which that part begins
    size_t stream_bytes;          // its size; 0 if there is none

    uint8_t message[MESSAGE_HEAD_BYTES]; // head of a message after the handshake
    size_t message_have;
    size_t message_left;
};

nc_tls_records *nc_tls_records_new(bool is_client, nc_tls_records_take take, void *ctx) {
    nc_tls_records *records = nc_alloc_zeroed(1, sizeof *records);
    if (records != NULL) {
        records->is_client = is_client;
        records->take = take;
        records->ctx = ctx;
        records->pending = nc_buf_init(MAX_PENDING_BYTES);
        records->body = nc_buf_init(MAX_RECORD_BYTES);
    }
    return records;
}

static void forget_keys(nc_tls_records *records) {
    EVP_CIPHER_CTX_free(records->cipher); // which clears the key
    records->cipher = NULL;
    OPENSSL_cleanse(records->secret, sizeof records->secret);
    OPENSSL_cleanse(records->iv, sizeof records->iv);
    OPENSSL_cleanse(records->stream, sizeof records->stream);
}

void nc_tls_records_free(nc_tls_records *records) {
    if (records != NULL) {
        forget_keys(records);
        nc_buf_deinit(&records->pending);
        nc_buf_deinit(&records->body);
        nc_free(records);
    }
}

static void lose(nc_tls_records *records) {
    records->state = IS_LOST;
    forget_keys(records);
    nc_buf_deinit(&records->pending);
    nc_buf_deinit(&records->body);
}

bool nc_tls_records_is_lost(const nc_tls_records *records) {
    return records->state == IS_LOST;
}

/* --- keys --- */

static bool mac(const nc_tls_records *records, nc_slice key, nc_slice data, uint8_t out[EVP_MAX_MD_SIZE]) {
    return HMAC(records->hash, key.data, (int)key.length, data.data, data.length, out, NULL) != NULL;
}

/// HKDF-Expand-Label (RFC 8446, 7.1) with an empty context. `count` is at most the size of the hash, so one HMAC is
/// enough.
static bool expand(const nc_tls_records *records, const char *label, uint8_t *out, size_t count) {
    uint8_t info[64] = {0, (uint8_t)count, (uint8_t)(6 + strlen(label)), 't', 'l', 's', '1', '3', ' '};
    uint8_t block[EVP_MAX_MD_SIZE];
    size_t length = 9 + strlen(label);
    memcpy(info + 9, label, strlen(label));
    info[length++] = 0; // the context's length
    info[length++] = 1; // HKDF's first block
    bool is_made =
        mac(records, nc_slice_make(records->secret, records->secret_bytes), nc_slice_make(info, length), block);
    memcpy(out, block, count);
    OPENSSL_cleanse(block, sizeof block);
    return is_made;
}

/// Sets the key. For AES, the key stream is made by encrypting counter blocks in ECB mode; for ChaCha20, the counter is
/// part of the IV.
static bool set_key(nc_tls_records *records, const uint8_t *key) {
    const EVP_CIPHER *cipher = records->is_chacha         ? EVP_chacha20()
                               : records->key_bytes == 16 ? EVP_aes_128_ecb()
                                                          : EVP_aes_256_ecb();
    if (records->cipher == NULL) {
        records->cipher = EVP_CIPHER_CTX_new();
    }
    records->sequence = 0;
    return records->cipher != NULL && EVP_EncryptInit_ex(records->cipher, cipher, NULL, key, NULL) == 1 &&
           EVP_CIPHER_CTX_set_padding(records->cipher, 0) == 1;
}

/// Derives key and IV from the traffic secret (RFC 8446, 7.3).
static bool make_traffic_keys(nc_tls_records *records) {
    uint8_t key[MAX_KEY_BYTES];
    bool is_made = expand(records, "key", key, records->key_bytes) && expand(records, "iv", records->iv, NONCE_BYTES) &&
                   set_key(records, key);
    OPENSSL_cleanse(key, sizeof key);
    return is_made;
}

/// Replaces the traffic secret by the next one, and derives its keys (RFC 8446, 7.2).
static bool update_traffic_keys(nc_tls_records *records) {
    uint8_t next[MAX_SECRET_BYTES];
    bool is_made = expand(records, "traffic upd", next, records->secret_bytes);
    memcpy(records->secret, next, records->secret_bytes);
    OPENSSL_cleanse(next, sizeof next);
    return is_made && make_traffic_keys(records);
}

/// Computes P_hash (RFC 5246, 5) with the master secret, which is in `records->secret`.
static bool expand_master(const nc_tls_records *records, nc_slice seed, uint8_t *out, size_t count) {
    uint8_t input[EVP_MAX_MD_SIZE + 128];
    uint8_t block[EVP_MAX_MD_SIZE];
    size_t hash_bytes = (size_t)EVP_MD_get_size(records->hash);
    nc_slice secret = nc_slice_make(records->secret, records->secret_bytes);
    memcpy(input + hash_bytes, seed.data, seed.length);
    bool is_made = mac(records, secret, seed, input); // A(1), followed by the seed
    for (size_t at = 0; is_made && at < count; at += hash_bytes) {
        is_made = mac(records, secret, nc_slice_make(input, hash_bytes + seed.length), block);
        memcpy(out + at, block, count - at < hash_bytes ? count - at : hash_bytes);
        is_made = is_made && mac(records, secret, nc_slice_make(input, hash_bytes), block);
        memcpy(input, block, hash_bytes);
    }
    OPENSSL_cleanse(block, sizeof block);
    OPENSSL_cleanse(input, sizeof input);
    return is_made;
}

/// Derives the keys of TLS 1.2 (RFC 5246, 6.3). These ciphers have no MAC keys: the key block consists of two keys,
/// then two salts (RFC 5288, 3) or nonces (RFC 7905, 2).
static bool make_session_keys(nc_tls_records *records, const SSL *tls) {
    static const char label[] = "key expansion";
    enum { LABEL_BYTES = sizeof label - 1 };
    uint8_t seed[LABEL_BYTES + 2 * RANDOM_BYTES];
    uint8_t keys[2 * MAX_KEY_BYTES + 2 * NONCE_BYTES];
    size_t iv_bytes = records->is_chacha ? NONCE_BYTES : SALT_BYTES;
    size_t side = records->is_client ? 0 : 1;
    memcpy(seed, label, LABEL_BYTES);
    bool is_made =
        SSL_get_server_random(tls, seed + LABEL_BYTES, RANDOM_BYTES) == RANDOM_BYTES &&
        SSL_get_client_random(tls, seed + LABEL_BYTES + RANDOM_BYTES, RANDOM_BYTES) == RANDOM_BYTES &&
        expand_master(records, nc_slice_make(seed, sizeof seed), keys, 2 * records->key_bytes + 2 * iv_bytes) &&
        set_key(records, keys + side * records->key_bytes);
    memcpy(records->iv, keys + 2 * records->key_bytes + side * iv_bytes, iv_bytes);
    OPENSSL_cleanse(keys, sizeof keys);
    OPENSSL_cleanse(records->secret, sizeof records->secret);
    return is_made;
}

static bool choose_cipher(nc_tls_records *records, const SSL *tls) {
    const SSL_CIPHER *cipher = SSL_get_current_cipher(tls);
    cipher = cipher != NULL ? cipher : SSL_get_pending_cipher(tls);
    int name = cipher != NULL ? SSL_CIPHER_get_cipher_nid(cipher) : NID_undef;
    records->hash = cipher != NULL ? SSL_CIPHER_get_handshake_digest(cipher) : NULL;
    records->is_chacha = name == NID_chacha20_poly1305;
    records->key_bytes = name == NID_aes_128_gcm ? 16 : 32;
    return records->hash != NULL && (records->is_chacha || name == NID_aes_128_gcm || name == NID_aes_256_gcm);
}

/// Reads the secret from a line of the key log: its third word, in hexadecimal.
static bool take_secret(nc_tls_records *records, const char *line) {
    const char *text = strchr(line, ' ');
    text = text != NULL ? strchr(text + 1, ' ') : NULL;
    records->secret_bytes = 0;
    for (text = text != NULL ? text + 1 : ""; *text != '\0' && *text != '\n'; text += 2) {
        int high = nc_ascii_hex((uint8_t)text[0]);
        int low = high < 0 ? -1 : nc_ascii_hex((uint8_t)text[1]);
        if (low < 0 || records->secret_bytes == sizeof records->secret) {
            return false;
        }
        records->secret[records->secret_bytes++] = (uint8_t)(high << 4 | low);
    }
    return records->secret_bytes > 0;
}

static void read_held(nc_tls_records *records) {
    nc_buf pending = records->pending;
    records->pending = nc_buf_init(MAX_PENDING_BYTES);
    nc_tls_records_feed(records, nc_buf_slice(&pending));
    nc_buf_deinit(&pending);
}

static bool begins_with(const char *line, const char *word) {
    return strncmp(line, word, strlen(word)) == 0;
}

void nc_tls_records_take_keys(nc_tls_records *records, const SSL *tls, const char *line) {
    bool is_1_3 = begins_with(line, records->is_client ? "CLIENT_TRAFFIC_SECRET_0 " : "SERVER_TRAFFIC_SECRET_0 ");
    if (records->state != AWAITS_KEYS || !(is_1_3 || begins_with(line, "CLIENT_RANDOM "))) {
        return;
    }
    records->is_1_3 = is_1_3;
    if (!choose_cipher(records, tls) || !take_secret(records, line) ||
        !(is_1_3 ? make_traffic_keys(records) : make_session_keys(records, tls))) {
        lose(records);
        return;
    }
    if (is_1_3 && records->is_client) {
        nc_buf_reset(&records->pending); // what is pending ends with the client's Finished, which has the old keys
    }
    records->record_count = is_1_3 && !records->is_client ? records->record_count : 0;
    records->state = IS_OPEN;
    read_held(records);
}

void nc_tls_records_count(nc_tls_records *records) {
    records->record_count += records->state == AWAITS_KEYS ? 1 : 0;
}

/* --- content --- */

/// Makes the ChaCha20 key stream. Block 0 is used for the authentication tag (RFC 8439, 2.8), so the content begins at
/// block 1.
static bool make_chacha_stream(nc_tls_records *records, size_t index, size_t bytes) {
    static const uint8_t zeros[STREAM_BYTES] = {0};
    int count = 0;
    uint8_t counter[16];
    uint32_t number = (uint32_t)index + 1;
    for (size_t i = 0; i < 4; i++) {
        counter[i] = (uint8_t)(number >> 8 * i);
    }
    memcpy(counter + 4, records->nonce, NONCE_BYTES);
    return EVP_EncryptInit_ex(records->cipher, NULL, NULL, NULL, counter) == 1 &&
           EVP_EncryptUpdate(records->cipher, records->stream, &count, zeros, (int)bytes) == 1;
}

/// Makes the AES-GCM key stream. Counter 1 is used for the authentication tag (NIST SP 800-38D), so the content begins
/// at counter 2.
static bool make_aes_stream(nc_tls_records *records, size_t index, size_t bytes) {
    int count = 0;
    uint8_t counters[STREAM_BYTES];
    for (size_t at = 0; at < bytes; at += AES_BLOCK_BYTES) {
        uint32_t number = (uint32_t)(index + at / AES_BLOCK_BYTES) + 2;
        memcpy(counters + at, records->nonce, NONCE_BYTES);
        for (size_t i = 0; i < 4; i++) {
            counters[at + NONCE_BYTES + i] = (uint8_t)(number >> (24 - 8 * i));
        }
    }
    return EVP_EncryptUpdate(records->cipher, records->stream, &count, counters, (int)bytes) == 1;
}

/// Makes the key stream for `count` bytes of the text from offset `at`, in whole blocks, or less if it does not fit.
static void make_stream(nc_tls_records *records, size_t at, size_t count) {
    size_t block = records->is_chacha ? CHACHA_BLOCK_BYTES : AES_BLOCK_BYTES;
    size_t index = at / block;
    size_t bytes = (at % block + count + block - 1) / block * block;
    bytes = bytes < STREAM_BYTES ? bytes : STREAM_BYTES;
    bool is_made =
        records->is_chacha ? make_chacha_stream(records, index, bytes) : make_aes_stream(records, index, bytes);
    records->stream_at = index * block;
    records->stream_bytes = bytes;
    if (!is_made) {
        memset(records->stream, 0, bytes); // the bytes then look invalid, so that the user of this reader stops using
                                           // it
    }
}

/// Applies the key stream, 8 bytes at a time.
static void decrypt(uint8_t *out, const uint8_t *text, const uint8_t *stream, size_t count) {
    size_t at = 0;
    for (; at + sizeof(uint64_t) <= count; at += sizeof(uint64_t)) {
        uint64_t word;
        uint64_t key;
        memcpy(&word, text + at, sizeof word);
        memcpy(&key, stream + at, sizeof key);
        word ^= key;
        memcpy(out + at, &word, sizeof word);
    }
    for (; at < count; at++) {
        out[at] = (uint8_t)(text[at] ^ stream[at]);
    }
}

void nc_tls_records_read(nc_tls_records *records, size_t at, uint8_t *out, size_t count) {
    while (count > 0) {
        size_t skipped = at - records->stream_at; // wraps for an offset before the key stream
        if (skipped >= records->stream_bytes) {
            make_stream(records, at, count);
            skipped = at - records->stream_at;
        }
        size_t left = records->stream_bytes - skipped;
        size_t run = left < count ? left : count;
        decrypt(out, records->text + at, records->stream + skipped, run);
        at += run;
        out += run;
        count -= run;
    }
}

/// Stores nonce and encrypted content of a record. Returns the length of its plaintext, or SIZE_MAX if the record is
/// too short.
static size_t open_record(nc_tls_records *records, const uint8_t *body, size_t length) {
    size_t explicit_bytes = records->is_1_3 || records->is_chacha ? 0 : NONCE_BYTES - SALT_BYTES;
    if (length < explicit_bytes + TAG_BYTES) {
        return SIZE_MAX;
    }
    memcpy(records->nonce, records->iv, NONCE_BYTES);
    if (explicit_bytes > 0) {
        memcpy(records->nonce + SALT_BYTES, body, explicit_bytes);
    }
    for (size_t i = 0; explicit_bytes == 0 && i < 8; i++) {
        records->nonce[NONCE_BYTES - 1 - i] ^= (uint8_t)(records->sequence >> 8 * i);
    }
    records->stream_bytes = 0;
    records->text = body + explicit_bytes;
    records->sequence++;
    return length - explicit_bytes - TAG_BYTES;
}

/// Reads handshake messages that follow the handshake. KeyUpdate changes the keys (RFC 8446, 4.6.3).
static bool read_messages(nc_tls_records *records, size_t length) {
    for (size_t at = 0; at < length;) {
        size_t left = length - at;
        size_t count = records->message_left < left ? records->message_left : left;
        if (records->message_have < MESSAGE_HEAD_BYTES) {
            nc_tls_records_read(records, at++, records->message + records->message_have++, 1);
            if (records->message_have == MESSAGE_HEAD_BYTES) {
                const uint8_t *head = records->message;
                records->message_left = (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
            }
        }
        at += count;
        records->message_left -= count;
        if (records->message_have == MESSAGE_HEAD_BYTES && records->message_left == 0) {
            records->message_have = 0;
            if (records->message[0] == KEY_UPDATE) {
                return at == length && update_traffic_keys(records);
            }
        }
    }
    return true;
}

/// Handles an alert. Bytes after close_notify are ignored (RFC 8446, 6.1).
static void take_alert(nc_tls_records *records, size_t length) {
    uint8_t alert[2] = {0, 1};
    if (length == sizeof alert) {
        nc_tls_records_read(records, 0, alert, sizeof alert);
    }
    records->state = alert[1] == CLOSE_NOTIFY ? IS_CLOSED : records->state;
}

/// Handles a TLS 1.3 record. The type of its content follows the content, and zeros may follow the type (RFC 8446,
/// 5.2).
static bool take_inner(nc_tls_records *records, size_t length) {
    uint8_t type = 0;
    while (length > 0 && type == 0) {
        nc_tls_records_read(records, --length, &type, 1);
    }
    if (type == APPLICATION_DATA) {
        records->take(records->ctx, records, length);
    } else if (type == ALERT) {
        take_alert(records, length);
    } else if (type == HANDSHAKE) {
        return read_messages(records, length);
    }
    return type == APPLICATION_DATA || type == ALERT;
}

static bool take_record(nc_tls_records *records, const uint8_t *body, size_t length) {
    uint8_t type = records->head[0];
    if (records->record_count > 0) {
        records->record_count--;
        return true;
    }
    if (!records->is_1_3 && !records->is_ciphered) {
        records->is_ciphered = type == CHANGE_CIPHER_SPEC;
        return true;
    }
    if (type == CHANGE_CIPHER_SPEC || (records->is_1_3 && type != APPLICATION_DATA)) {
        return false;
    }
    size_t count = open_record(records, body, length);
    if (count == SIZE_MAX) {
        return false;
    }
    if (records->is_1_3) {
        return take_inner(records, count);
    }
    if (type == APPLICATION_DATA) {
        records->take(records->ctx, records, count);
    } else if (type == ALERT) {
        take_alert(records, count);
    }
    return true;
}

/// Consumes the bytes that belong to the current record. Returns false if the reader has lost track.
static bool take_some(nc_tls_records *records, nc_slice *bytes) {
    size_t *have = &records->have;
    while (*have < HEAD_BYTES && bytes->length > 0) {
        records->head[(*have)++] = bytes->data[0];
        *bytes = nc_slice_make(bytes->data + 1, bytes->length - 1);
    }
    size_t length = (size_t)records->head[3] << 8 | records->head[4];
    if (*have < HEAD_BYTES) {
        return true;
    }
    size_t wanted = length - records->body.length;
    size_t count = wanted < bytes->length ? wanted : bytes->length;
    nc_slice piece = nc_slice_make(bytes->data, count);
    *bytes = nc_slice_make(bytes->data + count, bytes->length - count);
    if (length > MAX_RECORD_BYTES) {
        return false;
    }
    if (records->body.length == 0 && count == length) { // the common case: the whole record is in the input
        *have = 0;
        return take_record(records, piece.data, length);
    }
    nc_buf_append(&records->body, piece);
    if (nc_buf_status(&records->body) != NC_OK || records->body.length < length) {
        return nc_buf_status(&records->body) == NC_OK;
    }
    *have = 0;
    bool is_taken = take_record(records, records->body.data, length);
    nc_buf_reset(&records->body);
    return is_taken;
}

void nc_tls_records_feed(nc_tls_records *records, nc_slice bytes) {
    if (records->state == AWAITS_KEYS) {
        nc_buf_append(&records->pending, bytes);
        if (nc_buf_status(&records->pending) != NC_OK) {
            lose(records);
        }
    }
    while (records->state == IS_OPEN && bytes.length > 0) {
        if (!take_some(records, &bytes)) {
            lose(records);
        }
    }
}
