/// The one canonical form of a host: every rule that compares hosts compares this form.
///
/// - A name is lower-case ASCII, percent-decoded, with international labels as "xn--…" (UTS 46, non-transitional; if
///   that fails, transitional, as libcurl does it), without the one trailing dot.
/// - An IPv4 address has four decimal parts. All spellings that inet_aton() and libcurl accept give this form: fewer
///   parts, octal ("0177.1"), hexadecimal ("0x7f.1"), full-width digits.
/// - An IPv6 address has no brackets and the compressed form of RFC 5952. A zone id follows "%25" (RFC 6874) and
///   stays as it is.
/// - An IPv4-mapped IPv6 address (::ffff:a.b.c.d) is the IPv4 address. Both reach the same socket (RFC 4291, 2.5.5.2),
///   so a rule for one that missed the other could be evaded. Other embeddings of IPv4 (NAT64, 6to4, "::a.b.c.d") take
///   another route and keep an identity of their own.
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
    nc_slice text; // within the text that was read, if that is canonical already; otherwise within `storage`
    nc_host_kind kind;
    bool is_mapped;                      // an IPv4 address that was written as IPv6: certificates name that form
    char storage[NC_HOST_MAX_BYTES + 1]; // NUL-terminated if `text` lies in it
} nc_canonical_host;

/// Reads a host as it stands in a URL (brackets optional around IPv6). Copying the result does not move `text`.
///
/// Canonical names and addresses cost no allocation and no copy. Returns NC_OK, NC_ERR_BAD_URL, NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_NODISCARD nc_status nc_host_read(nc_canonical_host *out, nc_slice host, nc_error *err);

/// Appends what nc_host_read() gives; `kind` may be NULL. Returns as nc_host_read() does, and what `out` says.
/// Pure; call from any thread.
NC_NODISCARD nc_status nc_host_canonicalize(nc_buf *out, nc_host_kind *kind, nc_slice host, nc_error *err);

/// Returns whether a host without brackets and port holds a byte, percent-decoded, that no host may have.
/// Of names longer than 4,096 bytes it returns false. Pure; call from any thread.
bool nc_host_has_forbidden_byte(nc_slice host);

/// The kind of a canonical host.
nc_host_kind nc_host_kind_of(nc_slice canonical);

#endif
