/// Shared by the peers of the transport benchmark: command line, clock, and the line of results.
///
/// A peer warms up (connections open, heaps grow), calls bench_usage_now(), sends its requests, calls it again and
/// prints. run.sh compares the lines of all peers.
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

/// The number of connections is unknown to the peer.
#define BENCH_NOT_COUNTED UINT64_MAX

/// The options of a peer, set by run.sh.
typedef struct bench_options {
    /// The URL of every request.
    const char *url;
    /// Specific to the peer. Swift: the executor that awaits, "loop" or "global". raw.c: "defaults" keeps libcurl's
    /// CAPATH.
    const char *mode;
    /// PEM file of the trusted authorities; NULL: the client's default.
    const char *ca;
    /// Bytes in each body. Another length is a failure.
    uint64_t body_bytes;
    /// Requests in flight at any moment.
    uint64_t in_flight;
    /// Number of measured requests.
    uint64_t requests;
    /// Number of requests sent before, without measuring.
    uint64_t warm_up;
    /// If not 0, requests accept the content codings that the client decodes. The bodies are not coded.
    uint64_t asks_codings;
} bench_options;

/// A moment on two clocks.
typedef struct bench_usage {
    /// User and system time of the process so far, all threads.
    double cpu_s;
    /// CLOCK_MONOTONIC.
    double wall_s;
} bench_usage;

/// How the measured section ended.
typedef struct bench_outcome {
    /// Taken right after the last response.
    bench_usage end;
    /// Connections opened, including the warm-up; BENCH_NOT_COUNTED if unknown.
    uint64_t connections;
    /// Requests without a 200 and a complete body, including the warm-up.
    uint64_t failures;
} bench_outcome;

/// Reads --url, --mode, --ca, --body-bytes, --in-flight, --requests, --warm-up and --codings.
///
/// Returns false, with a line on standard error, if one is unknown, malformed or missing.
bool bench_options_parse(bench_options *out, int argument_count, char *const arguments[]);

/// Reads both clocks.
bench_usage bench_usage_now(void);

/// Prints "peer=… in_flight=… requests=… cpu_s=… wall_s=… peak_rss_kb=… connections=… failures=…".
///
/// The peak is that of the process (getrusage), including start-up and warm-up.
void bench_print_result(const char *peer, const bench_options *options, bench_usage start,
                        const bench_outcome *outcome);

#endif
