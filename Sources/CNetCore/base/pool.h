/// A memory pool of one engine: reusable blocks whose sizes are powers of two. Any thread may return a block.
///
/// New memory for each body costs page faults and heap trimming, which can take longer than the transfer. A bounded
/// list of free blocks avoids both. If responses still use blocks, the pool outlives its engine.
#ifndef NETCORE_PRIVATE_POOL_H
#define NETCORE_PRIVATE_POOL_H

#include <netcore/bytes.h>

/// A reference-counted set of free blocks. Thread-safe.
typedef struct nc_pool nc_pool;

/// A growable range of bytes in pooled memory. A zeroed block is empty.
typedef struct nc_block {
    uint8_t *data;
    size_t length;
    size_t capacity;
} nc_block;

NC_NODISCARD nc_pool *nc_pool_new(void);
nc_pool *nc_pool_retain(nc_pool *pool);
void nc_pool_release(nc_pool *pool);

/// Returns at least `bytes` bytes, not zeroed; NULL if memory runs out.
void *nc_pool_acquire(nc_pool *pool, size_t bytes);
/// Returns memory to the pool. `bytes` is the argument of its nc_pool_acquire().
void nc_pool_put(nc_pool *pool, void *memory, size_t bytes);

/// Grows `block` to at least `capacity` bytes and keeps its contents. Returns NC_OK or NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_block_reserve(nc_block *block, nc_pool *pool, size_t capacity);
/// Appends bytes. After an error the contents are unchanged.
NC_NODISCARD nc_status nc_block_append(nc_block *block, nc_pool *pool, nc_slice bytes);
/// Returns the memory to the pool and empties the block.
void nc_block_deinit(nc_block *block, nc_pool *pool);

#endif
