/// Plain HTTP requests that the policy or the engine refuses.
#ifndef NETCORE_PRIVATE_PLAINTEXT_H
#define NETCORE_PRIVATE_PLAINTEXT_H

#include "net/transfer.h"

/// Records NC_ERR_PLAINTEXT_REFUSED and notifies the policy's observer if the hop's URL is http, and the engine refuses
/// http or a rule with pins covers the host. The transfer is in its pool. Returns NC_OK for all other hops.
NC_NODISCARD nc_status nc_plaintext_check(nc_transfer *transfer);

#endif
