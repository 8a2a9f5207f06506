/// Pins: the SHA-256 of a public key, or a whole certificate.
#ifndef NETCORE_PRIVATE_PIN_H
#define NETCORE_PRIVATE_PIN_H

#include <netcore/hooks.h>
#include <netcore/trust_result.h>
#include <netcore/trust_rules.h>
#include <openssl/x509.h>

enum { NC_PIN_DIGEST_BYTES = 32 };

typedef struct nc_pin {
    uint8_t digest[NC_PIN_DIGEST_BYTES]; // of the public key
    X509 *certificate;                   // the pinned certificate, or NULL if the public key is pinned
} nc_pin;

/// A growing list of pins.
typedef struct nc_pin_list {
    nc_pin *pins;
    size_t count;
    size_t capacity;
} nc_pin_list;

/// Parses "sha256/…", "sha256//…" or 64 hex digits.
NC_NODISCARD nc_status nc_pin_parse(uint8_t digest[NC_PIN_DIGEST_BYTES], nc_slice text, nc_error *err);
/// Writes "sha256/…" with a final NUL.
void nc_pin_format(char out[NC_PIN_TEXT_BYTES], const uint8_t digest[NC_PIN_DIGEST_BYTES]);

/// Computes the digest of a certificate's public key. Returns false if memory ran out or OpenSSL cannot encode the key.
NC_NODISCARD bool nc_pin_of(uint8_t digest[NC_PIN_DIGEST_BYTES], const X509 *certificate);

/// Computes the digest of a public key. Returns false if memory ran out.
NC_NODISCARD bool nc_pin_of_key(uint8_t digest[NC_PIN_DIGEST_BYTES], EVP_PKEY *public_key);

/// Adds a pin. On success the list owns its certificate.
NC_NODISCARD nc_status nc_pin_list_add(nc_pin_list *list, const nc_pin *pin, nc_error *err);
/// Adds the pin that a text describes.
NC_NODISCARD nc_status nc_pin_list_add_text(nc_pin_list *list, nc_slice text, nc_error *err);
/// Adds every certificate or public key of PEM or DER bytes. `name` identifies the bytes in messages.
NC_NODISCARD nc_status nc_pin_list_add_bytes(nc_pin_list *list, nc_slice bytes, nc_pin_mode mode, const char *name,
                                             nc_error *err);
/// Adds the pins of a file, or of the .cer, .crt and .pem files in a directory.
NC_NODISCARD nc_status nc_pin_list_add_path(nc_pin_list *list, nc_slice path, nc_pin_mode mode, nc_error *err);
/// Sorts the list and removes duplicates.
void nc_pin_list_normalize(nc_pin_list *list);
/// Returns true if the certificate's public key is pinned. False if memory ran out.
NC_NODISCARD bool nc_pin_list_has_key(const nc_pin_list *list, const X509 *certificate);
/// Returns true if the certificate itself is pinned. All pins of the list must be certificates.
NC_NODISCARD bool nc_pin_list_has_certificate(const nc_pin_list *list, const X509 *certificate);
/// Frees the pins. Allowed on a zeroed list.
void nc_pin_list_deinit(nc_pin_list *list);

/// Compares pins; 0 if they are equal.
int nc_pin_compare(const nc_pin *a, const nc_pin *b);

#endif
