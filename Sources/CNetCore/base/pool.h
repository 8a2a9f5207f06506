/// Memory that is used again: blocks in power-of-two classes, kept per engine and given back from any thread.
///
/// Fresh memory for each body costs page faults and heap trimming that outweigh the transfer itself; a bounded
/// free list removes both. The pool outlives its engine while responses still hold blocks of it.
#ifndef NETCORE_PRIVATE_POOL_H
#define NETCORE_PRIVATE_POOL_H

#include <netcore/bytes.h>

/// A reference-counted set of free blocks. Thread-safe.
typedef struct nc_pool nc_pool;

/// A growing run of bytes in pooled memory; all zero is empty.
typedef struct nc_block {
    uint8_t *data;
    size_t length;
    size_t capacity;
} nc_block;

NC_NODISCARD nc_pool *nc_pool_new(void);
nc_pool *nc_pool_retain(nc_pool *pool);
void nc_pool_release(nc_pool *pool);

/// Takes at least `bytes` bytes, not zeroed; NULL when memory is short.
void *nc_pool_take(nc_pool *pool, size_t bytes);
/// Gives back what was taken with the same `bytes`.
void nc_pool_give(nc_pool *pool, void *memory, size_t bytes);

/// Makes `block` hold at least `capacity` bytes, its content kept. NC_OK or NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_block_reserve(nc_block *block, nc_pool *pool, size_t capacity);
/// Appends; on failure the content stays as it was.
NC_NODISCARD nc_status nc_block_append(nc_block *block, nc_pool *pool, nc_slice bytes);
/// Gives the memory back; the block is empty afterwards.
void nc_block_deinit(nc_block *block, nc_pool *pool);

#endif
