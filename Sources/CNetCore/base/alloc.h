/// Memory through the hook table; every allocation of the core goes through here.
#ifndef NETCORE_PRIVATE_ALLOC_H
#define NETCORE_PRIVATE_ALLOC_H

#include <netcore/hooks.h>

/// malloc(3) through the hook; `bytes` of 0 is taken as 1.
NC_NODISCARD void *nc_alloc(size_t bytes);
/// calloc(3) through the hook, with its overflow check.
NC_NODISCARD void *nc_alloc_zeroed(size_t count, size_t bytes);
/// realloc(3) through the hook.
NC_NODISCARD void *nc_realloc(void *block, size_t bytes);
/// free(3) through the hook.
void nc_free(void *block);

/// Adds with an overflow check; false leaves `*out` as it was.
NC_NODISCARD bool nc_size_add(size_t *out, size_t a, size_t b);
/// Multiplies with an overflow check; false leaves `*out` as it was.
NC_NODISCARD bool nc_size_mul(size_t *out, size_t a, size_t b);

#endif
