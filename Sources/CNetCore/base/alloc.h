/// Allocation functions that use the allocator set by nc_set_allocator().
#ifndef NETCORE_PRIVATE_ALLOC_H
#define NETCORE_PRIVATE_ALLOC_H

#include <netcore/hooks.h>

/// Allocates like malloc(3). 0 bytes means 1.
NC_NODISCARD void *nc_alloc(size_t bytes);
/// Allocates zeroed memory like calloc(3). Returns NULL if count * bytes overflows.
NC_NODISCARD void *nc_alloc_zeroed(size_t count, size_t bytes);
/// Resizes a block like realloc(3). 0 bytes means 1.
NC_NODISCARD void *nc_realloc(void *block, size_t bytes);
/// Frees a block. NULL is allowed.
void nc_free(void *block);

/// Adds two sizes. If the sum overflows, returns false and leaves `*out` unchanged.
NC_NODISCARD bool nc_size_add(size_t *out, size_t a, size_t b);
/// Multiplies two sizes. If the product overflows, returns false and leaves `*out` unchanged.
NC_NODISCARD bool nc_size_mul(size_t *out, size_t a, size_t b);

#endif
