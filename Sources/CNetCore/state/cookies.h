/// The engine's cookie jar: the cookies that requests send and responses set, and its state file.
///
/// The jar has its own mutex, so that other threads can read and change it. The mutex is held only to change one cookie
/// or to copy a list of pointers.
#ifndef NETCORE_PRIVATE_COOKIES_H
#define NETCORE_PRIVATE_COOKIES_H

#include "http/cookie_jar.h"
#include "state/state_file_writer.h"

#include <pthread.h>

typedef struct nc_transfer nc_transfer;

typedef struct nc_cookies {
    pthread_mutex_t mutex;
    nc_cookie_jar jar; // guarded by the mutex
    bool is_sealed;    // guarded by the mutex; the jar was saved for the last time, and accepts no changes
    bool has_unsaved;  // guarded by the mutex; a caller changed the jar, and the event loop does not know it yet
    nc_state_file_writer file;
} nc_cookies;

/// Initializes the jar. Returns false if no mutex is available; then nothing has to be released.
NC_NODISCARD bool nc_cookies_init(nc_cookies *cookies);
void nc_cookies_deinit(nc_cookies *cookies);

/// Reads the jar's file, if one is configured, before the event loop begins. A missing file is empty. Returns NC_OK,
/// NC_ERR_FILE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_cookies_read(nc_engine *engine, nc_error *err);

/// Returns true if the transfer's hop is sent with cookies of the jar.
bool nc_cookies_are_sent(const nc_transfer *transfer);
/// Appends the jar's cookies for the hop. Returns NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_cookies_append_field(nc_buf *out, nc_transfer *transfer);
/// Stores the Set-Cookie fields of the hop's accepted head. Returns NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_cookies_store(nc_transfer *transfer);

/// Handles a caller's change of the jar. Called on the event loop.
void nc_cookies_mark_changed(nc_engine *engine);
/// Saves unsaved changes. Called on the event loop, after which the jar accepts no changes.
void nc_cookies_end(nc_engine *engine);

#endif
