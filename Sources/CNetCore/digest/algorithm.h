/// OpenSSL's algorithms, each fetched once per process.
#ifndef NETCORE_PRIVATE_ALGORITHM_H
#define NETCORE_PRIVATE_ALGORITHM_H

#include <netcore/digest.h>
#include <openssl/types.h>

/// Returns the algorithm, valid as long as the process.
/// NC_ERR_UNSUPPORTED if no provider has it, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_digest_algorithm(const EVP_MD **out, nc_digest_kind kind, nc_error *err);

#endif
