#include "base/pool.h"

#include "base/alloc.h"
#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    SMALLEST_CLASS_BITS = 10,
    LARGEST_CLASS_BITS = 20,
    CLASS_COUNT = LARGEST_CLASS_BITS - SMALLEST_CLASS_BITS + 1,
};

/// The largest number of free bytes in a pool.
static const size_t max_free_bytes = 8u * 1024u * 1024u;

#ifdef MADV_HUGEPAGE
/// Above this size glibc maps each allocation separately, so that madvise() affects no other allocation.
static const size_t max_shared_bytes = 32u * 1024u * 1024u;
#endif

typedef struct free_block {
    struct free_block *next;
} free_block;

struct nc_pool {
    atomic_uint references;
    pthread_mutex_t mutex;
    free_block *free_blocks[CLASS_COUNT];
    size_t free_bytes;
};

/// Returns the smallest class whose blocks have at least `bytes`; CLASS_COUNT if `bytes` is larger than all classes.
static size_t class_of(size_t bytes) {
    size_t index = 0;
    while (index < CLASS_COUNT && ((size_t)1 << (index + SMALLEST_CLASS_BITS)) < bytes) {
        index++;
    }
    return index;
}

nc_pool *nc_pool_new(void) {
    nc_pool *pool = nc_alloc_zeroed(1, sizeof *pool);
    if (pool == NULL) {
        return NULL;
    }
    if (pthread_mutex_init(&pool->mutex, NULL) != 0) {
        nc_free(pool);
        return NULL;
    }
    atomic_init(&pool->references, 1);
    return pool;
}

nc_pool *nc_pool_retain(nc_pool *pool) {
    atomic_fetch_add_explicit(&pool->references, 1, memory_order_relaxed);
    return pool;
}

void nc_pool_release(nc_pool *pool) {
    if (pool == NULL || atomic_fetch_sub_explicit(&pool->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        while (pool->free_blocks[i] != NULL) {
            free_block *block = pool->free_blocks[i];
            pool->free_blocks[i] = block->next;
            nc_free(block);
        }
    }
    pthread_mutex_destroy(&pool->mutex);
    nc_free(pool);
}

void *nc_pool_acquire(nc_pool *pool, size_t wanted) {
    size_t class_index = class_of(wanted);
    if (class_index == CLASS_COUNT) {
        return nc_alloc(wanted);
    }
    size_t bytes = (size_t)1 << (class_index + SMALLEST_CLASS_BITS);
    pthread_mutex_lock(&pool->mutex);
    free_block *block = pool->free_blocks[class_index];
    if (block != NULL) {
        pool->free_blocks[class_index] = block->next;
        pool->free_bytes -= bytes;
    }
    pthread_mutex_unlock(&pool->mutex);
    return block != NULL ? block : nc_alloc(bytes);
}

void nc_pool_put(nc_pool *pool, void *memory, size_t wanted) {
    size_t class_index = class_of(wanted);
    if (class_index < CLASS_COUNT) {
        size_t bytes = (size_t)1 << (class_index + SMALLEST_CLASS_BITS);
        free_block *block = memory;
        pthread_mutex_lock(&pool->mutex);
        if (pool->free_bytes + bytes <= max_free_bytes) {
            block->next = pool->free_blocks[class_index];
            pool->free_blocks[class_index] = block;
            pool->free_bytes += bytes;
            memory = NULL;
        }
        pthread_mutex_unlock(&pool->mutex);
    }
    nc_free(memory);
}

/// Requests huge pages, because a page fault for each 4 KiB takes longer than receiving them. The system may ignore the
/// request.
static void prefer_huge_pages(uint8_t *memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
    long page = bytes > max_shared_bytes ? sysconf(_SC_PAGESIZE) : 0;
    if (page <= 0) {
        return;
    }
    size_t offset = (uintptr_t)memory % (size_t)page;
    size_t skipped = offset > 0 ? (size_t)page - offset : 0;
    size_t whole = (bytes - skipped) / (size_t)page * (size_t)page;
    (void)madvise(memory + skipped, whole, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)bytes;
#endif
}

nc_status nc_block_reserve(nc_block *block, nc_pool *pool, size_t capacity) {
    if (capacity <= block->capacity) {
        return NC_OK;
    }
    size_t class_index = class_of(capacity);
    size_t largest_class = (size_t)1 << LARGEST_CLASS_BITS;
    if (class_index == CLASS_COUNT && block->capacity > largest_class) {
        uint8_t *moved = nc_realloc(block->data, capacity);
        if (moved == NULL) {
            return NC_ERR_NO_MEMORY;
        }
        block->data = moved;
        block->capacity = capacity;
        prefer_huge_pages(moved, capacity);
        return NC_OK;
    }
    size_t fresh_bytes = class_index < CLASS_COUNT ? (size_t)1 << (class_index + SMALLEST_CLASS_BITS) : capacity;
    uint8_t *fresh = nc_pool_acquire(pool, capacity);
    if (fresh == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    if (block->length > 0) {
        memcpy(fresh, block->data, block->length);
    }
    if (block->data != NULL) {
        nc_pool_put(pool, block->data, block->capacity);
    }
    block->data = fresh;
    block->capacity = fresh_bytes;
    prefer_huge_pages(fresh, fresh_bytes);
    return NC_OK;
}

nc_status nc_block_append(nc_block *block, nc_pool *pool, nc_slice bytes) {
    if (bytes.length == 0) {
        return NC_OK;
    }
    size_t needed = 0;
    if (!nc_size_add(&needed, block->length, bytes.length)) {
        return NC_ERR_NO_MEMORY;
    }
    if (needed > block->capacity) {
        size_t doubled = block->capacity <= SIZE_MAX / 2 ? block->capacity * 2 : SIZE_MAX;
        if (nc_block_reserve(block, pool, needed > doubled ? needed : doubled) != NC_OK &&
            nc_block_reserve(block, pool, needed) != NC_OK) {
            return NC_ERR_NO_MEMORY;
        }
    }
    memcpy(block->data + block->length, bytes.data, bytes.length);
    block->length = needed;
    return NC_OK;
}

void nc_block_deinit(nc_block *block, nc_pool *pool) {
    if (block->data != NULL) {
        nc_pool_put(pool, block->data, block->capacity);
    }
    *block = (nc_block){0};
}
