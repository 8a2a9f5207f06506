/// Process-wide state: initializes libcurl and OpenSSL, and stops the running event loops at exit().
#ifndef NETCORE_PRIVATE_PROCESS_H
#define NETCORE_PRIVATE_PROCESS_H

#include <netcore/status.h>

#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

/// An entry of the list of running event loops. The engine contains one.
typedef struct nc_live_loop {
    struct nc_live_loop *next;
    struct nc_live_loop **link;
    /// Stops the event loop. Called from exit().
    void (*stop)(struct nc_live_loop *loop);
    /// Locale of the event loop thread: the program's locale with the character set UTF-8. Zero if the system does not
    /// have it.
    locale_t locale;
} nc_live_loop;

/// Initializes libcurl and OpenSSL once per process, in the order that makes exit() safe.
NC_NODISCARD nc_status nc_process_start(nc_error *err);
/// Registers a new event loop. Returns false if the process is exiting; the event loop must then not start.
NC_NODISCARD bool nc_process_add_loop(nc_live_loop *loop);
/// Unregisters an event loop. Must be the last call on its thread.
void nc_process_remove_loop(nc_live_loop *loop);

#endif
