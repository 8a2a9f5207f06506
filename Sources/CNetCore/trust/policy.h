/// What the rest of the core sees of a trust policy.
#ifndef NETCORE_PRIVATE_POLICY_H
#define NETCORE_PRIVATE_POLICY_H

#include <netcore/hooks.h>
#include <netcore/trust.h>
#include <stdatomic.h>

/// OpenSSL's X509_STORE, by the name that folders without OpenSSL may use.
typedef struct x509_store_st nc_root_store;

struct nc_trust {
    atomic_uint references;
    nc_trust_options options; // Its slices point behind the struct; ca_file is NUL-terminated.
};

/// Reads the policy's authorities into a new store; may block on disk. The caller owns `*out`.
/// NC_ERR_TLS_ROOTS names the file, and errno or OpenSSL's reason.
NC_NODISCARD nc_status nc_trust_load_roots(nc_root_store **out, const nc_trust *trust, const nc_file_ops *ops,
                                           nc_error *err);

/// Frees what nc_trust_load_roots() made; NULL is harmless.
void nc_trust_free_roots(nc_root_store *roots);

#endif
