/// A state file of an engine. A worker thread replaces it when the state has changed; unsaved changes are written when
/// the engine ends. Event loop thread only, except reading.
#ifndef NETCORE_PRIVATE_SAVED_FILE_H
#define NETCORE_PRIVATE_SAVED_FILE_H

#include "base/worker.h"
#include "net/mailbox.h"

#include <netcore/bytes.h>

/// Appends the contents, on the event loop thread.
typedef void (*nc_saved_file_write_fn)(nc_buf *out, const nc_engine *engine);
/// Appends the contents on a worker thread. Returns NC_OK, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
typedef nc_status (*nc_saved_file_write_elsewhere_fn)(nc_buf *out, nc_engine *engine);

/// Parses the contents. Returns NC_OK, NC_ERR_NO_MEMORY, or NC_ERR_FILE with the number of the line at fault.
typedef nc_status (*nc_saved_file_read_fn)(nc_engine *engine, nc_slice text, size_t *line);

typedef struct nc_saved_file {
    nc_engine *engine;
    const char *path; // NULL: nothing is saved
    nc_saved_file_write_fn write;
    nc_saved_file_write_elsewhere_fn write_elsewhere; // instead of `write`
    bool is_saving;
    bool has_changed; // since the last save
    nc_error failure; // of the last save, or NC_OK; the worker thread's while it saves
    bool has_told;    // the failure was reported, and no save has succeeded since
    nc_work work;
    nc_answer answer;
    nc_buf text; // the worker thread's while it saves
} nc_saved_file;

/// Initializes the file. `path` and `engine` must outlive it.
void nc_saved_file_init(nc_saved_file *file, nc_engine *engine, const char *path, nc_saved_file_write_fn write);
void nc_saved_file_deinit(nc_saved_file *file);
/// Writes the contents on the worker thread, so that large ones do not block the event loop; at the end on the event
/// loop thread.
void nc_saved_file_write_on_worker(nc_saved_file *file, nc_saved_file_write_elsewhere_fn write);

/// Reads it to file->text, before the event loop begins. A missing file is empty. Returns NC_OK, NC_ERR_FILE (also for
/// a file or directory of another user, as state_file.h describes), NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_saved_file_read(nc_saved_file *file, nc_error *err);
/// Reads it by lines and passes them to `read`. `kind` ("HSTS file") and `line` ("host and date") are for the error
/// about an invalid file. Returns NC_OK, NC_ERR_FILE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_saved_file_take_in(nc_saved_file *file, nc_saved_file_read_fn read, const char *kind,
                                             const char *line, nc_error *err);
/// Records that the contents have changed.
void nc_saved_file_note_change(nc_saved_file *file);
/// Saves unsaved changes synchronously, because the event loop ends and no worker thread is left.
void nc_saved_file_save_at_end(nc_saved_file *file);

#endif
