/// What every peer of the transport benchmark shares: its command line, its clock, its one line of results.
///
/// A peer warms up (connections open, heaps grow), takes bench_usage_now(), sends its requests, takes it again and
/// prints. It refuses to compare or to judge: run.sh does that with the lines of all peers.
///
///     bench_options options;
///     if (!bench_options_parse(&options, argc, argv)) return 2;
///     bench_usage start = bench_usage_now();
///     …
///     bench_print_result("raw", &options, start, &outcome);
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Where a peer cannot tell how many connections it opened.
#define BENCH_NOT_COUNTED UINT64_MAX

/// What run.sh asks of a peer.
typedef struct bench_options {
    /// What is fetched, again and again.
    const char *url;
    /// A peer's own: for Swift whose executor awaits, "loop" or "global"; for raw.c "defaults" keeps libcurl's CAPATH.
    const char *mode;
    /// PEM file of the authorities that TLS believes; NULL: the client's own.
    const char *ca;
    /// Bytes in each body; any other length is a failure.
    uint64_t body_bytes;
    /// Requests in flight at any moment.
    uint64_t in_flight;
    /// Requests that are measured.
    uint64_t requests;
    /// Requests sent before, unmeasured.
    uint64_t warm_up;
    /// Not 0: the requests name the content codings that the client undoes. The bodies come as they are.
    uint64_t asks_codings;
} bench_options;

/// A moment on two clocks.
typedef struct bench_usage {
    /// User and system time of the whole process so far, all threads.
    double cpu_s;
    /// CLOCK_MONOTONIC.
    double wall_s;
} bench_usage;

/// How the measured section ended.
typedef struct bench_outcome {
    /// Taken right after the last response.
    bench_usage end;
    /// Connections opened, the warm-up's included; BENCH_NOT_COUNTED when unknown.
    uint64_t connections;
    /// Requests without a 200 and a whole body, the warm-up's included.
    uint64_t failures;
} bench_outcome;

/// Reads --url, --mode, --ca, --body-bytes, --in-flight, --requests, --warm-up and --codings.
///
/// Returns false, with a line on standard error, when one is unknown, malformed or missing.
bool bench_options_parse(bench_options *out, int argument_count, char *const arguments[]);

/// Reads both clocks.
bench_usage bench_usage_now(void);

/// Prints "peer=… in_flight=… requests=… cpu_s=… wall_s=… peak_rss_kb=… connections=… failures=…".
///
/// The peak is the process's (getrusage), start-up and warm-up included.
void bench_print_result(const char *peer, const bench_options *options, bench_usage start,
                        const bench_outcome *outcome);

#endif
