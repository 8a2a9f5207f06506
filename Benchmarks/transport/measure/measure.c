#include "measure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static bool parse_count(uint64_t *out, const char *text) {
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-') {
        return false;
    }
    *out = value;
    return true;
}

static bool set_option(bench_options *options, const char *name, const char *value) {
    if (strcmp(name, "--url") == 0) {
        options->url = value;
        return true;
    }
    if (strcmp(name, "--mode") == 0) {
        options->mode = value;
        return true;
    }
    if (strcmp(name, "--ca") == 0) {
        options->ca = value;
        return true;
    }
    const struct {
        const char *name;
        uint64_t *place;
    } counts[] = {
        {"--body-bytes", &options->body_bytes}, {"--in-flight", &options->in_flight},
        {"--requests", &options->requests},     {"--warm-up", &options->warm_up},
        {"--codings", &options->asks_codings},
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (strcmp(name, counts[i].name) == 0) {
            return parse_count(counts[i].place, value);
        }
    }
    return false;
}

bool bench_options_parse(bench_options *out, int argument_count, char *const arguments[]) {
    bench_options options = {.url = NULL, .mode = "", .in_flight = 1, .requests = 1};
    for (int i = 1; i < argument_count; i += 2) {
        if (i + 1 == argument_count || !set_option(&options, arguments[i], arguments[i + 1])) {
            fprintf(stderr, "unknown or malformed option: %s\n", arguments[i]);
            return false;
        }
    }
    if (options.url == NULL || options.in_flight == 0 || options.in_flight > 10000) {
        fprintf(stderr, "--url is missing or --in-flight is out of range\n");
        return false;
    }
    *out = options;
    return true;
}

static double seconds_of(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

bench_usage bench_usage_now(void) {
    struct rusage usage;
    struct timespec now;
    getrusage(RUSAGE_SELF, &usage);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (bench_usage){
        .cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
        .wall_s = (double)now.tv_sec + (double)now.tv_nsec / 1e9,
    };
}

void bench_print_result(const char *peer, const bench_options *options, bench_usage start,
                        const bench_outcome *outcome) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("peer=%s in_flight=%" PRIu64 " requests=%" PRIu64 " cpu_s=%.6f wall_s=%.6f peak_rss_kb=%ld", peer,
           options->in_flight, options->requests, outcome->end.cpu_s - start.cpu_s, outcome->end.wall_s - start.wall_s,
           usage.ru_maxrss);
    if (outcome->connections == BENCH_NOT_COUNTED) {
        printf(" connections=-");
    } else {
        printf(" connections=%" PRIu64, outcome->connections);
    }
    printf(" failures=%" PRIu64 "\n", outcome->failures);
    fflush(stdout);
}
