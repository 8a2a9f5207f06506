#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static void *system_allocate(void *ctx, size_t bytes) {
    (void)ctx;
    return malloc(bytes);
}

static void *system_reallocate(void *ctx, void *block, size_t bytes) {
    (void)ctx;
    return realloc(block, bytes);
}

static void system_release(void *ctx, void *block) {
    (void)ctx;
    free(block);
}

#define NC_SYSTEM_ALLOCATOR                                                                                            \
    { NULL, system_allocate, system_reallocate, system_release }

/// The allocator of the process. nc_set_allocator() must be called before any other function, so no lock is needed.
static nc_allocator current_allocator = NC_SYSTEM_ALLOCATOR;

void *nc_alloc(size_t bytes) {
    return current_allocator.allocate(current_allocator.ctx, bytes == 0 ? 1 : bytes);
}

void *nc_alloc_zeroed(size_t count, size_t bytes) {
    size_t total = 0;
    if (!nc_size_mul(&total, count, bytes)) {
        return NULL;
    }
    void *block = nc_alloc(total);
    if (block != NULL) {
        memset(block, 0, total);
    }
    return block;
}

void *nc_realloc(void *block, size_t bytes) {
    // realloc(block, 0) frees on some systems and not on others.
    return current_allocator.reallocate(current_allocator.ctx, block, bytes == 0 ? 1 : bytes);
}

void nc_free(void *block) {
    current_allocator.release(current_allocator.ctx, block);
}

bool nc_size_add(size_t *out, size_t a, size_t b) {
    if (a > SIZE_MAX - b) {
        return false;
    }
    *out = a + b;
    return true;
}

bool nc_size_mul(size_t *out, size_t a, size_t b) {
    if (b != 0 && a > SIZE_MAX / b) {
        return false;
    }
    *out = a * b;
    return true;
}

void nc_set_allocator(const nc_allocator *allocator) {
    static const nc_allocator system_table = NC_SYSTEM_ALLOCATOR;
    current_allocator = allocator != NULL ? *allocator : system_table;
}
