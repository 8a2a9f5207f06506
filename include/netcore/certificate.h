/// What a certificate says, for people: who, by whom, until when, and the pin of its key.
///
/// For tools that show a chain or make pins; nothing here believes anything.
///
///     nc_certificates *chain;
///     if (nc_certificates_read(&chain, pem, &err) == NC_OK)
///         for (size_t i = 0; i < nc_certificates_count(chain); i++) puts(nc_certificates_at(chain, i).pin);
#ifndef NETCORE_CERTIFICATE_H
#define NETCORE_CERTIFICATE_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>
#include <netcore/trust_verdict.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Some certificates, read.
typedef struct nc_certificates nc_certificates;

/// What one says; slices are borrowed from the certificates, and are UTF-8 without control characters.
typedef struct nc_certificate {
    /// Subject, as in RFC 2253: "CN=a.example,O=Example".
    nc_slice subject;
    /// Issuer, likewise.
    nc_slice issuer;
    /// Subject alternative names, "DNS:a.example, IP Address:127.0.0.1"; empty without any.
    nc_slice names;
    /// Kind of key, such as "RSA 2048" or "EC P-256".
    nc_slice key;
    /// When it begins, in seconds since 1970.
    int64_t begins_at_s;
    /// When it ends; INT64_MIN for either when it cannot be read.
    int64_t ends_at_s;
    /// True when it may sign others.
    bool is_authority;
    /// The pin of its public key, "sha256/…", NUL-terminated; empty when the key cannot be read.
    char pin[NC_PIN_TEXT_BYTES];
    /// The certificate itself, DER.
    nc_slice der;
} nc_certificate;

/// Reads PEM, or DER one after the other; at most NC_CHAIN_MAX_CERTIFICATES and NC_CHAIN_MAX_BYTES.
///
/// - out: owned by the caller; release with nc_certificates_free().
/// Returns NC_OK, NC_ERR_TLS_CERTIFICATE when there is none or one cannot be read, NC_ERR_NO_MEMORY. Pure; call from
/// any thread.
NC_API NC_NODISCARD nc_status nc_certificates_read(nc_certificates *NC_NULLABLE *NC_NONNULL out, nc_slice bytes,
                                                   nc_error *NC_NULLABLE err);

/// Counts them.
///
/// Pure; call from any thread.
NC_API size_t nc_certificates_count(const nc_certificates *certificates);

/// Tells what one says; all empty when `index` is out of range.
///
/// Pure; call from any thread.
NC_API nc_certificate nc_certificates_at(const nc_certificates *certificates, size_t index);

/// Frees them. NULL is harmless.
///
/// Pure; call from any thread.
NC_API void nc_certificates_free(nc_certificates *NC_NULLABLE certificates);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
