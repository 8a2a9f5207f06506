/// Public suffixes and registrable domains, by the list that is built into libpsl. So no file is read, and every thread
/// uses the same list.
#ifndef NETCORE_PRIVATE_PUBLIC_SUFFIX_H
#define NETCORE_PRIVATE_PUBLIC_SUFFIX_H

#include <netcore/bytes.h>

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
