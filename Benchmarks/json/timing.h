/// Measures one document repeatedly, in batches: the time of the median batch.
#ifndef BENCH_JSON_TIMING_H
#define BENCH_JSON_TIMING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMING_BATCHES = 41 };

typedef struct document {
    unsigned char *bytes;
    size_t length;
} document;

/// Reads a whole file into a buffer with spare bytes after it.
static inline document read_document(const char *path) {
    document read = {NULL, 0};
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        exit(2);
    }
    fseek(file, 0, SEEK_END);
    read.length = (size_t)ftell(file);
    rewind(file);
    read.bytes = (unsigned char *)malloc(read.length + 64);
    memset(read.bytes, ' ', read.length + 64);
    if (fread(read.bytes, 1, read.length, file) != read.length) {
        exit(2);
    }
    fclose(file);
    return read;
}

/// CPU time, which other processes affect least.
static inline double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static inline int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/// Repeats `once` until a batch takes a few milliseconds, and prints "ns=…" for one run of it.
static inline void time_document(const document *doc, int (*once)(void *ctx, const document *doc), void *ctx) {
    double batches[TIMING_BATCHES];
    double began = now_ns();
    int runs = 0;
    while (now_ns() - began < 5e6 || runs == 0) {
        if (!once(ctx, doc)) {
            exit(3);
        }
        runs++;
    }
    for (int batch = 0; batch < TIMING_BATCHES; batch++) {
        began = now_ns();
        for (int run = 0; run < runs; run++) {
            if (!once(ctx, doc)) {
                exit(3);
            }
        }
        batches[batch] = (now_ns() - began) / runs;
    }
    qsort(batches, TIMING_BATCHES, sizeof batches[0], compare_doubles);
    printf("ns=%.1f bytes=%zu\n", batches[TIMING_BATCHES / 2], doc->length);
}

#endif
