/// The core's allocation functions, which use the nc_set_allocator() table.
#ifndef NETCORE_PRIVATE_ALLOC_H
#define NETCORE_PRIVATE_ALLOC_H

#include <netcore/hooks.h>

/// malloc(3) by the allocator; 0 bytes means 1.
NC_NODISCARD void *nc_alloc(size_t bytes);
/// calloc(3) by the allocator, with its overflow check.
NC_NODISCARD void *nc_alloc_zeroed(size_t count, size_t bytes);
/// realloc(3) by the allocator.
NC_NODISCARD void *nc_realloc(void *block, size_t bytes);
/// free(3) by the allocator.
void nc_free(void *block);

/// Adds with an overflow check. False leaves `*out` unchanged.
NC_NODISCARD bool nc_size_add(size_t *out, size_t a, size_t b);
/// Multiplies with an overflow check. False leaves `*out` unchanged.
NC_NODISCARD bool nc_size_mul(size_t *out, size_t a, size_t b);

#endif
