/// A memory pool: reusable blocks in power-of-two classes, per engine, released from any thread.
///
/// Fresh memory for each body costs page faults and heap trimming, which take longer than the transfer. A bounded free
/// list avoids both. The pool outlives its engine while responses hold blocks.
#ifndef NETCORE_PRIVATE_POOL_H
#define NETCORE_PRIVATE_POOL_H

#include <netcore/bytes.h>

/// A reference-counted set of free blocks. Thread-safe.
typedef struct nc_pool nc_pool;

/// A growable range of bytes in pooled memory. All zero is empty.
typedef struct nc_block {
    uint8_t *data;
    size_t length;
    size_t capacity;
} nc_block;

NC_NODISCARD nc_pool *nc_pool_new(void);
nc_pool *nc_pool_retain(nc_pool *pool);
void nc_pool_release(nc_pool *pool);

/// Returns at least `bytes` bytes, not zeroed; NULL without memory.
void *nc_pool_take(nc_pool *pool, size_t bytes);
/// Returns memory to the pool; `bytes` as for nc_pool_take().
void nc_pool_give(nc_pool *pool, void *memory, size_t bytes);

/// Grows `block` to at least `capacity` bytes and keeps its contents. Returns NC_OK or NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_block_reserve(nc_block *block, nc_pool *pool, size_t capacity);
/// Appends bytes. After an error the contents are unchanged.
NC_NODISCARD nc_status nc_block_append(nc_block *block, nc_pool *pool, nc_slice bytes);
/// Returns the memory to the pool and empties the block.
void nc_block_deinit(nc_block *block, nc_pool *pool);

#endif
