/// Runs another project's server as a child process, on a reserved port. The server also ends if the test crashes.
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
    /// The program and its arguments, followed by NULL. The program is searched like in nct_program_find().
    const char *NCT_NULLABLE const *NCT_NONNULL arguments;
    /// A variable "NAME=value" to add to the environment; NULL for none.
    const char *NCT_NULLABLE variable;
    /// The port of 127.0.0.1 on which the program listens. When it accepts a connection, the program is ready.
    uint16_t port;
    /// Descriptors that the program inherits as 3, 4, …. It inherits no others.
    const int *NCT_NULLABLE descriptors;
    /// Number of descriptors, at most 4.
    size_t descriptor_count;
    /// Path of the file for the program's output; NULL discards the output.
    const char *NCT_NULLABLE log_path;
} nct_process_options;

/// Finds a program in PATH and the directories of system servers. A name with a slash is used as it is.
///
/// Returns true and writes the path to `path` if the program exists. Returns false if it does not exist, or if the path
/// does not fit into `capacity`. Thread-safe.
bool nct_program_find(const char *name, char *path, size_t capacity);

/// Starts a program, and waits until its port accepts connections.
///
/// nct_process_stop() ends the program. If the caller's process ends or crashes before that, the program ends too.
/// Returns 0, ENOENT if the program is missing, ECHILD if it ended before it was ready, ETIMEDOUT after 30 s, ENOSYS if
/// the system is not Linux, or an errno.
int nct_process_start(nct_process *NCT_NULLABLE *NCT_NONNULL out, const nct_process_options *options);

/// Kills the program and its children, and waits until it has ended. NULL is allowed.
void nct_process_stop(nct_process *NCT_NULLABLE process);

/// Reserves a port of 127.0.0.1. The kernel then assigns it to no other socket. Only a socket with SO_REUSEADDR can be
/// bound to it.
///
/// Returns a descriptor that reserves the port until it is closed, or -1 and errno.
int nct_port_reserve(uint16_t *port);

/// Listens on a port of 127.0.0.1 that the kernel chooses, for a program that inherits the socket.
///
/// Connections wait in the socket's queue until the program accepts them. Returns a descriptor, or -1 and errno.
int nct_port_listen(uint16_t *port);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
