/// The canonical form of a host. Every rule that compares hosts compares this form.
///
/// - A name is lower-case ASCII, percent-decoded, and has no trailing dot. International labels are "xn--…" (UTS 46,
///   non-transitional; if that fails, transitional, as in libcurl).
/// - An IPv4 address has four decimal parts. All spellings of inet_aton() and libcurl are converted: fewer parts, octal
///   ("0177.1"), hexadecimal ("0x7f.1"), full-width digits.
/// - An IPv6 address has the compressed form of RFC 5952, without brackets. A zone id follows "%25" (RFC 6874)
///   unchanged.
/// - An IPv4-mapped IPv6 address (::ffff:a.b.c.d) becomes the IPv4 address. Both reach the same socket (RFC 4291,
///   2.5.5.2). So a rule for one form could otherwise be evaded with the other form. Other IPv6 addresses that embed an
///   IPv4 address (NAT64, 6to4, "::a.b.c.d") are routed differently, so they remain IPv6 addresses.
#ifndef NETCORE_PRIVATE_HOST_H
#define NETCORE_PRIVATE_HOST_H

#include <netcore/bytes.h>
#include <netcore/status.h>

typedef enum nc_host_kind {
    NC_HOST_NAME,
    NC_HOST_IPV4,
    NC_HOST_IPV6,
} nc_host_kind;

/// The longest canonical host in bytes (RFC 1035: 253 for a name).
enum { NC_HOST_MAX_BYTES = 253 };

/// A canonical host.
typedef struct nc_canonical_host {
    nc_slice text; // the parsed text if that is a canonical name; otherwise in `storage`
    nc_host_kind kind;
    bool is_mapped;                      // an IPv4 address written as IPv6; certificates use the IPv6 form
    char storage[NC_HOST_MAX_BYTES + 1]; // NUL-terminated if `text` is in it
} nc_canonical_host;

/// Parses a host of a URL. Brackets around an IPv6 address are optional. `text` may point into `storage`; in a copy of
/// the result it still points to the original.
///
/// A canonical name is not copied. Only an international name needs an allocation. Returns NC_OK, NC_ERR_BAD_URL,
/// NC_ERR_NO_MEMORY. Pure; call from any thread.
NC_NODISCARD nc_status nc_host_read(nc_canonical_host *out, nc_slice host, nc_error *err);

/// Appends the canonical form of a host to `out`. `kind` may be NULL. Returns the same as nc_host_read(), or the error
/// of `out`. Pure; call from any thread.
NC_NODISCARD nc_status nc_host_canonicalize(nc_buf *out, nc_host_kind *kind, nc_slice host, nc_error *err);

/// A host in the form that certificates contain, which the rules of a trust policy compare.
typedef struct nc_host_name {
    char text[NC_HOST_MAX_BYTES + 1];
    uint16_t length;
    bool is_address;
} nc_host_name;

/// Returns the name of a canonical host. Its length is 0 if no certificate can contain it: labels have 1 to 63 letters,
/// digits, '-' and '_' (which service names contain). Removes an IPv6 zone. An IPv4-mapped IPv6 address keeps its
/// prefix "::ffff:".
nc_host_name nc_host_certificate_name(const nc_canonical_host *host);
/// Reads a host, and sets `out` to its nc_host_certificate_name(), also if it is empty. Returns false if it is empty.
NC_NODISCARD bool nc_host_name_parse(nc_host_name *out, nc_slice host);

/// Returns true for a label of an internationalized name as it is registered (RFC 5891, 4): a U-label in NFC, or an
/// A-label. Pure; call from any thread.
bool nc_host_is_registrable_label(nc_slice label);

/// Returns true if a host that is not canonical yet has a byte that libcurl refuses, also after percent-decoding.
bool nc_host_has_forbidden_byte(nc_slice host);

/// Returns the kind of a canonical host.
nc_host_kind nc_host_kind_of(nc_slice canonical);

/* --- public suffixes --- */

/// Returns the registrable domain of a canonical host (nc_host_read()): its public suffix and one more label.
/// Addresses, single labels and public suffixes have none; `host` itself is returned for them.
///
/// The public suffix of a host that is not in the list is its last label. Pure; call from any thread.
nc_slice nc_registrable_domain(nc_slice host);

/// Returns true if a canonical host is a public suffix, including any single label. Returns false for addresses. Pure;
/// call from any thread.
bool nc_is_public_suffix(nc_slice host);

/// Returns true for a public suffix of a registry, such as com and co.uk. Returns false for a company's suffix for its
/// customers, such as github.io, because companies have certificates for *.github.io. Pure; call from any thread.
bool nc_is_registry_suffix(nc_slice host);

#endif
