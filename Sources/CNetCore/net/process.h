/// What concerns the whole process: the one start of libcurl and OpenSSL, and the loops that live when it ends.
#ifndef NETCORE_PRIVATE_PROCESS_H
#define NETCORE_PRIVATE_PROCESS_H

#include <netcore/status.h>

#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

/// A loop that lives; embedded in the engine.
typedef struct nc_live_loop {
    struct nc_live_loop *next;
    struct nc_live_loop **link;
    /// Asks the loop to end; called from exit().
    void (*stop)(struct nc_live_loop *loop);
    /// What the loop's thread uses: the program's, with the characters of UTF-8. Zero where the system has none such.
    locale_t letters;
} nc_live_loop;

/// Starts libcurl and OpenSSL once for the process, in the order that makes exit() safe.
NC_NODISCARD nc_status nc_process_start(nc_error *err);
/// A loop begins. False when the process is ending: no loop may start any more.
NC_NODISCARD bool nc_process_add_loop(nc_live_loop *loop);
/// The last thing that a loop thread does before it returns.
void nc_process_remove_loop(nc_live_loop *loop);

#endif
