/// Prints one line for each row and peer of the codecs' table: the time of one piece of work.
///
/// A program of this directory measures all peers of its rows once and exits. run.sh runs it in every round. Names of
/// rows and peers have no space. Aims belong to their peer and are separated by commas:
///
///     faster:40:curl_easy_escape   that peer takes at least 40 times the time
///     within:8:memcpy              at most 8 times the time of that peer
///     ns:12                        at most 12 ns
///     mib:12                       a peak of at most 12 MiB resident
///
///     rows_measure("escape-1-KiB-safe", "netkit", "faster:40:curl_easy_escape", escape, &text);
#ifndef CODECS_ROWS_H
#define CODECS_ROWS_H

#include <stddef.h>
#include <stdint.h>

/// Repeats the work `times` times.
typedef void (*rows_fn)(void *ctx, size_t times);

/// Reads the round and the time for a row and peer from the command line: "ROUND MILLISECONDS".
void rows_begin(int argc, char **argv);

/// Measures and prints a line: the smallest of several samples, in CPU time of this thread. `aims` is "" for none.
void rows_measure(const char *row, const char *peer, const char *aims, rows_fn work, void *ctx);

/// Prints the line of a time that the caller measured. An `rss_kib` of 0 is not shown.
void rows_print(const char *row, const char *peer, const char *aims, double ns, size_t rss_kib);

/// Prevents the compiler from removing work whose result is at `memory`.
static inline void rows_keep(const void *memory) {
    __asm__ volatile("" : : "r"(memory) : "memory");
}

#endif
