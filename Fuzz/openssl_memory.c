#include "openssl_memory.h"

#include "input.h"

#include <openssl/crypto.h>
#include <sanitizer/asan_interface.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// This file writes to memory that it has poisoned, and its coverage does not guide the fuzzer.
#pragma clang attribute push(__attribute__((no_sanitize("address", "coverage"))), apply_to = function)

enum {
    SMALLEST_BYTES = 64, // of a block including its surroundings
    SIZE_COUNT = 9,      // each size is twice the one before, up to 16 KiB
    GUARD_BYTES = 16,    // before a block, where it is described, and after it
    REST_COUNT = 64,     // freed blocks of a size before the first of them is reused
    CHUNK_BYTES = 1 << 20,
};

typedef struct block {
    union {
        struct block *next; // in the list of freed blocks
        size_t bytes;       // while it is used
    };
    size_t size; // index of its size; SIZE_COUNT: allocated by malloc()
} block;

typedef struct shelf {
    block *first;
    block *last;
    size_t count;
} shelf;

_Static_assert(sizeof(block) == GUARD_BYTES, "the description lies in the guard");

static shelf shelves[SIZE_COUNT];
static uint8_t *chunk;
static size_t chunk_left;
static size_t live;

static size_t size_of(size_t bytes) {
    size_t size = 0;
    while (size < SIZE_COUNT && ((size_t)SMALLEST_BYTES << size) < bytes + 2 * GUARD_BYTES) {
        size++;
    }
    return size;
}

static block *carve(size_t size) {
    size_t bytes = (size_t)SMALLEST_BYTES << size;
    if (chunk_left < bytes) {
        chunk = aligned_alloc(CHUNK_BYTES, CHUNK_BYTES);
        CHECK(chunk != NULL);
        chunk_left = CHUNK_BYTES;
        ASAN_POISON_MEMORY_REGION(chunk, CHUNK_BYTES);
    }
    chunk_left -= bytes;
    return (block *)(void *)(chunk + chunk_left);
}

static block *take(size_t size) {
    shelf *from = &shelves[size];
    if (from->count <= REST_COUNT) {
        return carve(size);
    }
    block *taken = from->first;
    from->first = taken->next;
    from->count--;
    return taken;
}

static void *allocate(size_t bytes, const char *file, int line) {
    (void)file;
    (void)line;
    if (bytes == 0) {
        return NULL;
    }
    size_t size = size_of(bytes);
    block *one = size < SIZE_COUNT ? take(size) : malloc(GUARD_BYTES + bytes);
    if (one == NULL) {
        return NULL;
    }
    *one = (block){.bytes = bytes, .size = size};
    ASAN_UNPOISON_MEMORY_REGION(one + 1, bytes);
    live++;
    return one + 1;
}

static void release(void *memory, const char *file, int line) {
    (void)file;
    (void)line;
    if (memory == NULL) {
        return;
    }
    block *one = (block *)memory - 1;
    // The first byte of a block in use is not poisoned. A poisoned one means that the block was freed twice or that the
    // address is within another block.
    CHECK(!__asan_address_is_poisoned(memory) && one->size <= SIZE_COUNT);
    live--;
    if (one->size == SIZE_COUNT) {
        free(one);
        return;
    }
    ASAN_POISON_MEMORY_REGION(memory, one->bytes);
    shelf *to = &shelves[one->size];
    one->next = NULL;
    if (to->count == 0) {
        to->first = one;
    } else {
        to->last->next = one;
    }
    to->last = one;
    to->count++;
}

static void *reallocate(void *memory, size_t bytes, const char *file, int line) {
    if (memory == NULL) {
        return allocate(bytes, file, line);
    }
    size_t before = ((block *)memory - 1)->bytes;
    void *moved = allocate(bytes, file, line);
    if (moved != NULL) {
        memcpy(moved, memory, before < bytes ? before : bytes);
    }
    if (moved != NULL || bytes == 0) {
        release(memory, file, line);
    }
    return moved;
}

void openssl_memory_install(void) {
    CHECK(CRYPTO_set_mem_functions(allocate, reallocate, release) == 1);
}

size_t openssl_memory_live(void) {
    return live;
}

#pragma clang attribute pop
