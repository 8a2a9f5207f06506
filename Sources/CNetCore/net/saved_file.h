/// A small file that follows what the engine remembers: replaced on a worker thread when that has changed, and a last
/// time, if it has to be, when the engine ends. Confined to the loop thread, but for reading it.
#ifndef NETCORE_PRIVATE_SAVED_FILE_H
#define NETCORE_PRIVATE_SAVED_FILE_H

#include "base/worker.h"
#include "net/mailbox.h"

#include <netcore/bytes.h>

/// Appends what is to be saved; on the loop thread.
typedef void (*nc_saved_file_write_fn)(nc_buf *out, const nc_engine *engine);
/// The same on a worker thread, for what may be read there. NC_OK, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
typedef nc_status (*nc_saved_file_write_elsewhere_fn)(nc_buf *out, nc_engine *engine);

/// Takes in what was saved: NC_OK, NC_ERR_NO_MEMORY, or NC_ERR_FILE with the number of the line at fault.
typedef nc_status (*nc_saved_file_read_fn)(nc_engine *engine, nc_slice text, size_t *line);

typedef struct nc_saved_file {
    nc_engine *engine;
    const char *path; // NULL: nothing is saved
    nc_saved_file_write_fn write;
    nc_saved_file_write_elsewhere_fn write_elsewhere; // instead of `write`
    bool is_saving;
    bool has_changed; // since it was last saved
    nc_error failure; // of the last time, or NC_OK; the worker's while it saves
    bool has_told;    // that it cannot be saved, and has not been saved since
    nc_work work;
    nc_answer answer;
    nc_buf text; // the worker's while it saves
} nc_saved_file;

/// Says what follows what; `path` and `engine` outlive the file.
void nc_saved_file_init(nc_saved_file *file, nc_engine *engine, const char *path, nc_saved_file_write_fn write);
void nc_saved_file_deinit(nc_saved_file *file);
/// Has the text written on the worker thread, so that a large one costs the loop nothing; at the end on the loop
/// thread.
void nc_saved_file_write_on_worker(nc_saved_file *file, nc_saved_file_write_elsewhere_fn write);

/// Reads it to file->text, before the loop begins. A missing file is empty; otherwise NC_ERR_FILE (also for a file or
/// folder of another user, as state_file.h says), NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_saved_file_read(nc_saved_file *file, nc_error *err);
/// Reads it by lines and lets `read` take them in. `kind` ("HSTS file") and `line` ("host and date") are for the error
/// of a file that is none. NC_OK, NC_ERR_FILE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_saved_file_take_in(nc_saved_file *file, nc_saved_file_read_fn read, const char *kind,
                                             const char *line, nc_error *err);
/// What is to be saved has changed.
void nc_saved_file_note_change(nc_saved_file *file);
/// Saves what is not saved yet, here and now: the loop ends, and no worker is left.
void nc_saved_file_save_at_end(nc_saved_file *file);

#endif
