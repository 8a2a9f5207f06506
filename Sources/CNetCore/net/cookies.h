/// The engine's cookie jar: what its requests are sent with and its answers set, and the file that follows it.
///
/// The jar is under a mutex of its own, so that callers of other threads read and fill it directly. No call holds the
/// mutex for longer than one cookie's change or a list of pointers takes.
#ifndef NETCORE_PRIVATE_COOKIES_H
#define NETCORE_PRIVATE_COOKIES_H

#include "http/cookie_jar.h"
#include "net/saved_file.h"

#include <pthread.h>

typedef struct nc_transfer nc_transfer;

typedef struct nc_cookies {
    pthread_mutex_t mutex;
    nc_cookie_jar jar; // under the mutex
    bool is_sealed;    // under the mutex: the jar is saved for the last time, and takes nothing more
    bool has_unsaved;  // under the mutex: a caller has changed the jar, and the loop does not know
    nc_saved_file file;
} nc_cookies;

/// False if the system has no mutex to give; there is nothing to undo then.
NC_NODISCARD bool nc_cookies_init(nc_cookies *cookies);
void nc_cookies_deinit(nc_cookies *cookies);

/// Reads the jar's file, if there is to be one; before the loop begins. A file that is missing is empty. NC_OK,
/// NC_ERR_FILE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_cookies_read(nc_engine *engine, nc_error *err);

/// Whether the transfer's hop is sent with cookies of the jar.
bool nc_cookies_are_sent(const nc_transfer *transfer);
/// Appends what the hop is sent with from the jar. NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_cookies_append_field(nc_buf *out, nc_transfer *transfer);
/// Takes in the Set-Cookie fields of the hop's head, which was accepted. NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_cookies_store(nc_transfer *transfer);

/// A caller has changed the jar: on the loop.
void nc_cookies_note_change(nc_engine *engine);
/// Saves what is not saved yet, on the loop; the jar takes nothing more.
void nc_cookies_end(nc_engine *engine);

#endif
