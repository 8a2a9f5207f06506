#include "trust/pin.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/error.h"
#include "digest/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

enum { BASE64_BYTES = 44, HEX_BYTES = 2 * NC_PIN_DIGEST_BYTES, SHOWN_BYTES = 80 };

/* --- text --- */

/// Returns the six bits of a base64 character, or -1 for any other character.
static int base64_value(uint8_t c) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c != 0 ? strchr(alphabet, c) : NULL;
    return at != NULL ? (int)(at - alphabet) : -1;
}

/// Decodes 43 characters of base64 and a "=". The unused bits must be zero, so that each digest has only one spelling.
static bool decode_base64(uint8_t digest[NC_PIN_DIGEST_BYTES], const uint8_t *text) {
    uint32_t bits = 0;
    unsigned held = 0;
    size_t count = 0;
    for (size_t i = 0; i < BASE64_BYTES - 1; i++) {
        int value = base64_value(text[i]);
        if (value < 0) {
            return false;
        }
        bits = (bits << 6 | (uint32_t)value) & 0xffffu;
        held += 6;
        if (held >= 8) {
            held -= 8;
            digest[count++] = (uint8_t)(bits >> held);
        }
    }
    return text[BASE64_BYTES - 1] == '=' && (bits & ((1u << held) - 1)) == 0;
}

static bool decode_hex(uint8_t digest[NC_PIN_DIGEST_BYTES], const uint8_t *text) {
    for (size_t i = 0; i < NC_PIN_DIGEST_BYTES; i++) {
        int high = nc_ascii_hex(text[2 * i]);
        int low = nc_ascii_hex(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        digest[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

nc_status nc_pin_parse(uint8_t digest[NC_PIN_DIGEST_BYTES], nc_slice text, nc_error *err) {
    static const char prefix[] = "sha256/";
    uint8_t parsed[NC_PIN_DIGEST_BYTES];
    size_t prefix_length = sizeof prefix - 1;
    bool is_parsed = false;
    if (text.length == 0) {
        return nc_error_set(err, NC_ERR_BAD_PIN, 0, 0, "a pin is empty");
    }
    if (text.length == HEX_BYTES) {
        is_parsed = decode_hex(parsed, text.data);
    } else if (text.length > prefix_length && memcmp(text.data, prefix, prefix_length) == 0) {
        prefix_length += text.data[prefix_length] == '/' && text.length > prefix_length + BASE64_BYTES ? 1 : 0;
        is_parsed = text.length == prefix_length + BASE64_BYTES && decode_base64(parsed, text.data + prefix_length);
    }
    if (!is_parsed) {
        return nc_error_set(err, NC_ERR_BAD_PIN, 0, -1,
                            "'%.*s' is not a pin: use sha256/ and 44 characters of base64, or 64 hex digits",
                            (int)(text.length < SHOWN_BYTES ? text.length : SHOWN_BYTES), (const char *)text.data);
    }
    memcpy(digest, parsed, sizeof parsed);
    return NC_OK;
}

void nc_pin_format(char out[NC_PIN_TEXT_BYTES], const uint8_t digest[NC_PIN_DIGEST_BYTES]) {
    memcpy(out, "sha256/", 7);
    (void)EVP_EncodeBlock((unsigned char *)out + 7, digest, NC_PIN_DIGEST_BYTES);
}

/* --- keys --- */

static bool digest_of(uint8_t digest[NC_PIN_DIGEST_BYTES], unsigned char *key, int length) {
    const EVP_MD *sha256 = NULL; // cached by nc_digest_algorithm(), because fetching it takes longer than digesting a
                                 // key
    bool is_digested = length > 0 && nc_digest_algorithm(&sha256, NC_DIGEST_SHA256, NULL) == NC_OK &&
                       EVP_Digest(key, (size_t)length, digest, NULL, sha256, NULL) == 1;
    OPENSSL_free(key);
    return is_digested;
}

bool nc_pin_of(uint8_t digest[NC_PIN_DIGEST_BYTES], const X509 *certificate) {
    unsigned char *key = NULL;
    // The digest covers the SubjectPublicKeyInfo as it is encoded in the certificate.
    int length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &key);
    return digest_of(digest, key, length);
}

bool nc_pin_of_key(uint8_t digest[NC_PIN_DIGEST_BYTES], EVP_PKEY *public_key) {
    unsigned char *key = NULL;
    int length = i2d_PUBKEY(public_key, &key);
    return digest_of(digest, key, length);
}

/* --- lists --- */

nc_status nc_pin_list_add(nc_pin_list *list, const nc_pin *pin, nc_error *err) {
    if (list->count >= NC_TRUST_MAX_PINS) {
        return nc_error_set(err, NC_ERR_BAD_PIN, 0, -1, "more than %u pins in one rule", NC_TRUST_MAX_PINS);
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 4 : list->capacity * 2;
        nc_pin *grown = nc_realloc(list->pins, capacity * sizeof *grown);
        if (grown == NULL) {
            return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for pins");
        }
        list->pins = grown;
        list->capacity = capacity;
    }
    list->pins[list->count++] = *pin;
    return NC_OK;
}

nc_status nc_pin_list_add_text(nc_pin_list *list, nc_slice text, nc_error *err) {
    nc_pin pin = {.certificate = NULL};
    nc_status status = nc_pin_parse(pin.digest, text, err);
    return status == NC_OK ? nc_pin_list_add(list, &pin, err) : status;
}

int nc_pin_compare(const nc_pin *a, const nc_pin *b) {
    int order = memcmp(a->digest, b->digest, sizeof a->digest);
    if (order != 0 || (a->certificate == NULL && b->certificate == NULL)) {
        return order;
    }
    if (a->certificate == NULL || b->certificate == NULL) {
        return a->certificate == NULL ? -1 : 1;
    }
    return X509_cmp(a->certificate, b->certificate);
}

static int compare(const void *a, const void *b) {
    return nc_pin_compare(a, b);
}

void nc_pin_list_normalize(nc_pin_list *list) {
    size_t kept = 0;
    if (list->count == 0) {
        return;
    }
    qsort(list->pins, list->count, sizeof *list->pins, compare);
    for (size_t i = 1; i < list->count; i++) {
        if (nc_pin_compare(&list->pins[kept], &list->pins[i]) == 0) {
            X509_free(list->pins[i].certificate);
        } else {
            list->pins[++kept] = list->pins[i];
        }
    }
    list->count = kept + 1;
}

void nc_pin_list_deinit(nc_pin_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        X509_free(list->pins[i].certificate);
    }
    nc_free(list->pins);
    *list = (nc_pin_list){0};
}

bool nc_pin_list_has_key(const nc_pin_list *list, const X509 *certificate) {
    uint8_t digest[NC_PIN_DIGEST_BYTES];
    bool is_pinned = false;
    if (!nc_pin_of(digest, certificate)) {
        return false;
    }
    for (size_t i = 0; i < list->count && !is_pinned; i++) {
        is_pinned = memcmp(list->pins[i].digest, digest, sizeof digest) == 0;
    }
    return is_pinned;
}

bool nc_pin_list_has_certificate(const nc_pin_list *list, const X509 *certificate) {
    bool is_pinned = false;
    for (size_t i = 0; i < list->count && !is_pinned; i++) {
        is_pinned = X509_cmp(list->pins[i].certificate, certificate) == 0;
    }
    return is_pinned;
}
