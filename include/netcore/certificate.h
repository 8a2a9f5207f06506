/// Reads certificates for display: subject, issuer, validity, and the pin of the key.
///
/// Use it in tools that show a chain or create pins. These functions do not evaluate trust.
///
///     nc_certificates *chain;
///     if (nc_certificates_read(&chain, pem, &err) == NC_OK)
///         for (size_t i = 0; i < nc_certificates_count(chain); i++) puts(nc_certificates_at(chain, i).pin);
#ifndef NETCORE_CERTIFICATE_H
#define NETCORE_CERTIFICATE_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>
#include <netcore/trust_result.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// A list of parsed certificates.
typedef struct nc_certificates nc_certificates;

/// The contents of a certificate. Slices are borrowed from the list, and are UTF-8 without control characters.
typedef struct nc_certificate {
    /// Subject in the form of RFC 2253: "CN=a.example,O=Example".
    nc_slice subject;
    /// Issuer in the same form.
    nc_slice issuer;
    /// Subject alternative names, such as "DNS:a.example, IP Address:127.0.0.1"; empty if there are none.
    nc_slice names;
    /// Kind and size of the key, such as "RSA 2048" or "EC P-256".
    nc_slice key;
    /// Start of the validity, in seconds since 1970; INT64_MIN if unreadable.
    int64_t begins_at_s;
    /// End of the validity, in seconds since 1970; INT64_MIN if unreadable.
    int64_t ends_at_s;
    /// True if it may sign other certificates.
    bool is_authority;
    /// Pin of its public key, "sha256/…", NUL-terminated; empty if the key is unreadable.
    char pin[NC_PIN_TEXT_BYTES];
    /// The certificate as DER.
    nc_slice der;
} nc_certificate;

/// Parses PEM, or concatenated DER, of at most NC_CHAIN_MAX_CERTIFICATES certificates and NC_CHAIN_MAX_BYTES.
///
/// - out: owned by the caller; release it with nc_certificates_free().
/// Returns NC_OK, NC_ERR_TLS_CERTIFICATE (no certificate, or an unreadable one), NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_certificates_read(nc_certificates *NC_NULLABLE *NC_NONNULL out, nc_slice bytes,
                                                   nc_error *NC_NULLABLE err);

/// Returns the number of certificates.
///
/// Pure; call from any thread.
NC_API size_t nc_certificates_count(const nc_certificates *certificates);

/// Returns the contents of one certificate; all empty if `index` is out of range.
///
/// Pure; call from any thread.
NC_API nc_certificate nc_certificates_at(const nc_certificates *certificates, size_t index);

/// Frees the list. NULL is allowed.
///
/// Pure; call from any thread.
NC_API void nc_certificates_free(nc_certificates *NC_NULLABLE certificates);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
