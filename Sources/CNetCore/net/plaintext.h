/// Requests in the clear, where the policy or the engine refuses them.
#ifndef NETCORE_PRIVATE_PLAINTEXT_H
#define NETCORE_PRIVATE_PLAINTEXT_H

#include "net/transfer.h"

/// Notes NC_ERR_PLAINTEXT_REFUSED, and tells the policy's observer, when the hop's URL is http and the engine refuses
/// that altogether or a rule with pins covers the host. The transfer is in its lane. NC_OK for all other hops.
NC_NODISCARD nc_status nc_plaintext_check(nc_transfer *transfer);

#endif
