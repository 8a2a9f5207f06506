/// Pins: the SHA-256 of a public key, or a whole certificate. Texts are read here, certificates by OpenSSL.
#ifndef NETCORE_PRIVATE_PIN_H
#define NETCORE_PRIVATE_PIN_H

#include <netcore/hooks.h>
#include <netcore/trust_rules.h>
#include <netcore/trust_verdict.h>
#include <openssl/x509.h>

enum { NC_PIN_DIGEST_BYTES = 32 };

typedef struct nc_pin {
    uint8_t digest[NC_PIN_DIGEST_BYTES]; // of the public key
    X509 *certificate;                   // where whole certificates are asked for; else NULL
} nc_pin;

/// Pins as they are gathered; grows by itself.
typedef struct nc_pin_list {
    nc_pin *pins;
    size_t count;
    size_t capacity;
} nc_pin_list;

/// Reads "sha256/…", "sha256//…" or 64 hex digits.
NC_NODISCARD nc_status nc_pin_parse(uint8_t digest[NC_PIN_DIGEST_BYTES], nc_slice text, nc_error *err);
/// Writes "sha256/…" and its NUL.
void nc_pin_format(char out[NC_PIN_TEXT_BYTES], const uint8_t digest[NC_PIN_DIGEST_BYTES]);

/// The digest of a certificate's public key; false without memory, or when it holds none that OpenSSL can write.
NC_NODISCARD bool nc_pin_of(uint8_t digest[NC_PIN_DIGEST_BYTES], const X509 *certificate);

/// The digest of a key that stands alone; false without memory.
NC_NODISCARD bool nc_pin_of_key(uint8_t digest[NC_PIN_DIGEST_BYTES], EVP_PKEY *public_key);

/// Adds one; the list takes its certificate over on success.
NC_NODISCARD nc_status nc_pin_list_add(nc_pin_list *list, const nc_pin *pin, nc_error *err);
/// Adds what a text says.
NC_NODISCARD nc_status nc_pin_list_add_text(nc_pin_list *list, nc_slice text, nc_error *err);
/// Adds every certificate, or public key, of PEM or DER bytes that `name` calls in messages.
NC_NODISCARD nc_status nc_pin_list_add_bytes(nc_pin_list *list, nc_slice bytes, nc_pin_mode mode, const char *name,
                                             nc_error *err);
/// Adds those of a file, or of a folder's .cer, .crt and .pem files.
NC_NODISCARD nc_status nc_pin_list_add_path(nc_pin_list *list, nc_slice path, nc_pin_mode mode, nc_error *err);
/// Puts them in order and drops what is there twice.
void nc_pin_list_settle(nc_pin_list *list);
/// Frees what it holds; a zeroed one is harmless.
void nc_pin_list_deinit(nc_pin_list *list);

/// Orders pins; 0 when they are the same.
int nc_pin_compare(const nc_pin *a, const nc_pin *b);

#endif
