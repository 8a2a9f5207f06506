/// Public suffixes: which part of a host name belongs to one registrant. By the list that is built into libpsl, so that
/// no file is read and every thread sees the same list.
#ifndef NETCORE_PRIVATE_PUBLIC_SUFFIX_H
#define NETCORE_PRIVATE_PUBLIC_SUFFIX_H

#include <netcore/bytes.h>

/// The registrable domain of a canonical host (nc_host_read()): the end of `host` that is one label longer than its
/// public suffix. Addresses, single labels and public suffixes have none, and `host` itself is returned.
///
/// A suffix that the list does not have is one label long. Pure; call from any thread.
nc_slice nc_registrable_domain(nc_slice host);

/// Whether a canonical host is a public suffix, also one of a single label that the list does not have. False for
/// addresses. Pure; call from any thread.
bool nc_is_public_suffix(nc_slice host);

/// Whether a canonical host is a public suffix of a registry, as com and co.uk are, and not one that a company has for
/// its customers, as github.io is: companies have certificates for *.github.io. Pure; call from any thread.
bool nc_is_registry_suffix(nc_slice host);

#endif
