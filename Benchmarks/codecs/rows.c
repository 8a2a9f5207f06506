#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SAMPLES = 5 };

static unsigned round_number;
static double sample_ns;

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

void rows_begin(int argc, char **argv) {
    if (argc != 3 || atoi(argv[1]) < 1 || atoi(argv[2]) < 1) {
        fprintf(stderr, "usage: %s ROUND MILLISECONDS\n", argv[0]);
        exit(2);
    }
    round_number = (unsigned)atoi(argv[1]);
    sample_ns = atoi(argv[2]) * 1e6 / SAMPLES;
}

void rows_print(const char *row, const char *peer, const char *aims, double ns, size_t rss_kib) {
    printf("row=%s round=%u name=%s ns=%.2f rss_kib=%zu aims=%s\n", row, round_number, peer, ns, rss_kib, aims);
    fflush(stdout);
}

static double measure(rows_fn work, void *ctx, size_t times) {
    double start = now_ns();
    work(ctx, times);
    return now_ns() - start;
}

void rows_measure(const char *row, const char *peer, const char *aims, rows_fn work, void *ctx) {
    size_t times = 1;
    // The first calls fill caches and determine the number of calls in a sample.
    while (measure(work, ctx, times) < sample_ns / 2 && times < (size_t)1 << 40) {
        times *= 2;
    }
    double least = 0;
    for (int i = 0; i < SAMPLES; i++) {
        double taken = measure(work, ctx, times) / (double)times;
        least = i == 0 || taken < least ? taken : least;
    }
    rows_print(row, peer, aims, least, 0);
}
