/// The canonical form of a host. Every rule that compares hosts compares this form.
///
/// - A name is lower-case ASCII, percent-decoded, without the one trailing dot. International labels are "xn--…" (UTS
///   46, non-transitional; if that fails, transitional, as in libcurl).
/// - An IPv4 address has four decimal parts. All spellings of inet_aton() and libcurl are converted: fewer parts, octal
///   ("0177.1"), hexadecimal ("0x7f.1"), full-width digits.
/// - An IPv6 address has the compressed form of RFC 5952, without brackets. A zone id follows "%25" (RFC 6874)
///   unchanged.
/// - An IPv4-mapped IPv6 address (::ffff:a.b.c.d) is the IPv4 address. Both reach the same socket (RFC 4291, 2.5.5.2),
///   so a rule for one of them could be evaded by the other. Other embeddings of IPv4 (NAT64, 6to4, "::a.b.c.d") have
///   another route and remain different.
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
    nc_slice text; // in the parsed text if that is canonical, otherwise in `storage`
    nc_host_kind kind;
    bool is_mapped;                      // an IPv4 address that was written as IPv6, which certificates use
    char storage[NC_HOST_MAX_BYTES + 1]; // NUL-terminated if `text` is in it
} nc_canonical_host;

/// Parses a host of a URL (brackets optional around IPv6). Copying the result does not move `text`.
///
/// Canonical names and addresses need no allocation and no copy. Returns NC_OK, NC_ERR_BAD_URL, NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_NODISCARD nc_status nc_host_read(nc_canonical_host *out, nc_slice host, nc_error *err);

/// Appends the result of nc_host_read(); `kind` may be NULL. Returns as nc_host_read(), or the error of `out`.
/// Pure; call from any thread.
NC_NODISCARD nc_status nc_host_canonicalize(nc_buf *out, nc_host_kind *kind, nc_slice host, nc_error *err);

/// Returns the kind of a canonical host.
bool nc_host_has_forbidden_byte(nc_slice host);

/// The kind of a canonical host.
nc_host_kind nc_host_kind_of(nc_slice canonical);

#endif
