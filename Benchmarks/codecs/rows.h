/// One line for each row and peer of the codecs' table: what one piece of work takes.
///
/// A program of this folder measures all peers of its rows once and ends; run.sh runs it round after round. The names
/// of rows and peers hold no space. Aims stand with the peer that has them, with commas between:
///
///     faster:40:curl_easy_escape   that peer takes at least 40 times as long
///     within:8:memcpy              at most 8 times as long as that peer
///     ns:12                        at most 12 ns
///     mib:12                       a peak of at most 12 MiB resident
///
///     rows_measure("escape-1-KiB-safe", "netkit", "faster:40:curl_easy_escape", escape, &text);
#ifndef CODECS_ROWS_H
#define CODECS_ROWS_H

#include <stddef.h>
#include <stdint.h>

/// Does the work `times` times.
typedef void (*rows_fn)(void *ctx, size_t times);

/// Reads the round and the time for a row and peer from the command line: "ROUND MILLISECONDS".
void rows_begin(int argc, char **argv);

/// Measures and prints a line: of several samples the least, in CPU time of this thread. `aims` is "" for none.
void rows_measure(const char *row, const char *peer, const char *aims, rows_fn work, void *ctx);

/// Prints the line of what the caller measured; `rss_kib` 0 is not shown.
void rows_print(const char *row, const char *peer, const char *aims, double ns, size_t rss_kib);

/// Keeps the compiler from leaving work out whose result lies at `memory`.
static inline void rows_keep(const void *memory) {
    __asm__ volatile("" : : "r"(memory) : "memory");
}

#endif
