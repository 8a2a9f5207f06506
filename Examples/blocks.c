/// Counts the library's allocated blocks in any program that preloads it. Blocks that are left at its end have leaked.
///
/// NETCORE_BLOCKS names a file for the number. The hooks are set before the program first calls the library.
#include <netcore.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_llong live_blocks;

static void *allocate(void *ctx, size_t bytes) {
    (void)ctx;
    void *block = malloc(bytes);
    atomic_fetch_add(&live_blocks, block != NULL);
    return block;
}

static void *reallocate(void *ctx, void *block, size_t bytes) {
    (void)ctx;
    void *moved = realloc(block, bytes);
    atomic_fetch_add(&live_blocks, block == NULL && moved != NULL);
    return moved;
}

static void release(void *ctx, void *block) {
    (void)ctx;
    atomic_fetch_sub(&live_blocks, block != NULL);
    free(block);
}

__attribute__((constructor)) static void begin(void) {
    static const nc_allocator counting = {NULL, allocate, reallocate, release};
    nc_set_allocator(&counting);
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("NETCORE_BLOCKS");
    FILE *file = path == NULL ? NULL : fopen(path, "w");
    if (file != NULL) {
        (void)fprintf(file, "%lld\n", atomic_load(&live_blocks));
        (void)fclose(file);
    }
}
