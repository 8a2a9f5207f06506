/// Process-wide state: the initialization of libcurl and OpenSSL, and the event loops that run at exit.
#ifndef NETCORE_PRIVATE_PROCESS_H
#define NETCORE_PRIVATE_PROCESS_H

#include <netcore/status.h>

#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

/// A running event loop; embedded in the engine.
typedef struct nc_live_loop {
    struct nc_live_loop *next;
    struct nc_live_loop **link;
    /// Stops the event loop; called from exit().
    void (*stop)(struct nc_live_loop *loop);
    /// The locale of the event loop thread: the program's, with UTF-8. Zero if the system has none.
    locale_t letters;
} nc_live_loop;

/// Initializes libcurl and OpenSSL once per process, in the order that makes exit() safe.
NC_NODISCARD nc_status nc_process_start(nc_error *err);
/// Registers a new event loop. Returns false if the process is exiting: none may start then.
NC_NODISCARD bool nc_process_add_loop(nc_live_loop *loop);
/// Removes an event loop. The last call of its thread.
void nc_process_remove_loop(nc_live_loop *loop);

#endif
