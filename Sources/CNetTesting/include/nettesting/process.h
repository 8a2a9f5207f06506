/// Somebody else's server, run as a child: ports that nobody can take, an end
/// that comes whatever becomes of the test.
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

/// What is run.
typedef struct nct_process_options {
    /// The program, looked for as nct_program_find() does, and what it is told;
    /// ended by NULL.
    const char *NCT_NULLABLE const *NCT_NONNULL arguments;
    /// When not NULL, "NAME=value", added to the environment.
    const char *NCT_NULLABLE variable;
    /// The port of 127.0.0.1 that accepts connections once it is ready.
    uint16_t port;
    /// Descriptors that it inherits as 3, 4, …; no others are.
    const int *NCT_NULLABLE descriptors;
    /// Number of descriptors, at most 4.
    size_t descriptor_count;
    /// File that gets what it prints; NULL drops that.
    const char *NCT_NULLABLE log_path;
} nct_process_options;

/// Finds a program in PATH and where system servers lie; a name with a slash is
/// taken as it is.
///
/// Returns whether it is there; writes its path, when `capacity` is enough for
/// that, or it counts as missing. Thread-safe.
bool nct_program_find(const char *name, char *path, size_t capacity);

/// Starts a program and waits until its port accepts connections.
///
/// It ends with nct_process_stop(), and when the caller's process ends in any
/// way. Returns 0, ENOENT when the program is missing, ECHILD when it ended
/// before it was ready, ETIMEDOUT after 30 s, ENOSYS where there is no Linux
/// underneath, or an errno.
int nct_process_start(nct_process *NCT_NULLABLE *NCT_NONNULL out, const nct_process_options *options);

/// Kills the program and its children, and waits until it is gone. NULL is
/// harmless.
void nct_process_stop(nct_process *NCT_NULLABLE process);

/// Reserves a port of 127.0.0.1: the kernel gives it to nobody, and only who
/// binds it with SO_REUSEADDR gets it.
///
/// Returns a descriptor that holds the port until it is closed, or -1 and
/// errno.
int nct_port_reserve(uint16_t *port);

/// Listens on a port of 127.0.0.1 of the kernel's choice, for a program that
/// takes its socket over.
///
/// Connections wait in the socket's queue until then. Returns a descriptor, or
/// -1 and errno.
int nct_port_listen(uint16_t *port);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
