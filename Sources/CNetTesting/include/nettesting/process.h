/// Runs another project's server as a child process, on a reserved port. It ends with the test in every case.
///
///     uint16_t port;
///     int held = nct_port_reserve(&port);
///     … const char *arguments[] = {"microsocks", "-p", text_of(port), NULL};
///     nct_process *process;
///     int error = nct_process_start(&process, &(nct_process_options){
///         .arguments = arguments, .port = port, .log_path = "/tmp/x/log"});
///     … nct_process_stop(process); close(held);
#ifndef NETTESTING_PROCESS_H
#define NETTESTING_PROCESS_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif
NCT_ASSUME_NONNULL_BEGIN

/// A running server.
typedef struct nct_process nct_process;

/// How to start a server.
typedef struct nct_process_options {
    /// The program, found like nct_program_find() does, and its arguments; ended by NULL.
    const char *NCT_NULLABLE const *NCT_NONNULL arguments;
    /// If not NULL, "NAME=value", added to the environment.
    const char *NCT_NULLABLE variable;
    /// The port of 127.0.0.1 that accepts connections when the program is ready.
    uint16_t port;
    /// Descriptors that it inherits as 3, 4, …. It inherits no others.
    const int *NCT_NULLABLE descriptors;
    /// Number of descriptors, at most 4.
    size_t descriptor_count;
    /// File for its output; NULL discards it.
    const char *NCT_NULLABLE log_path;
} nct_process_options;

/// Finds a program in PATH and the directories of system servers. A name with a slash is used as it is.
///
/// Returns true if it exists, and writes its path. Returns false if the path does not fit into `capacity`. Thread-safe.
bool nct_program_find(const char *name, char *path, size_t capacity);

/// Starts a program, and waits until its port accepts connections.
///
/// It ends with nct_process_stop(), or with the caller's process in any way. Returns 0, ENOENT if the program is
/// missing, ECHILD if it ended before it was ready, ETIMEDOUT after 30 s, ENOSYS if the system is not Linux, or
/// an errno.
int nct_process_start(nct_process *NCT_NULLABLE *NCT_NONNULL out, const nct_process_options *options);

/// Kills the program and its children, and waits until it has ended. NULL is allowed.
void nct_process_stop(nct_process *NCT_NULLABLE process);

/// Reserves a port of 127.0.0.1. The kernel assigns it to no other socket; only a bind with SO_REUSEADDR can use it.
///
/// Returns a descriptor that reserves the port until it is closed, or -1 and errno.
int nct_port_reserve(uint16_t *port);

/// Listens on a port of 127.0.0.1 that the kernel chooses, for a program that inherits the socket.
///
/// Connections wait in the socket's queue until then. Returns a descriptor, or -1 and errno.
int nct_port_listen(uint16_t *port);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
