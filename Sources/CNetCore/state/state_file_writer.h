/// Saves a part of an engine's state to a file. The worker thread replaces the file when the state has changed. Unsaved
/// changes are written when the engine ends. Event loop thread only, except reading.
#ifndef NETCORE_PRIVATE_STATE_FILE_WRITER_H
#define NETCORE_PRIVATE_STATE_FILE_WRITER_H

#include "base/worker.h"
#include "state/mailbox.h"

#include <netcore/bytes.h>

/// Appends the contents, on the event loop thread.
typedef void (*nc_state_file_writer_write_fn)(nc_buf *out, const nc_engine *engine);
/// Appends the contents on a worker thread. Returns NC_OK, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
typedef nc_status (*nc_state_file_writer_write_async_fn)(nc_buf *out, nc_engine *engine);

/// Parses the contents. Returns NC_OK, NC_ERR_NO_MEMORY, or NC_ERR_FILE with the number of the invalid line.
typedef nc_status (*nc_state_file_writer_read_fn)(nc_engine *engine, nc_slice text, size_t *line);

/// A file with a list of the engine, one entry a line.
typedef struct nc_state_file_kind {
    const char *name; // for messages: "HSTS file"
    const char *line; // what a line contains: "host and date"
    nc_state_file_writer_read_fn read;
    nc_state_file_writer_write_fn write;
} nc_state_file_kind;

typedef struct nc_state_file_writer {
    nc_engine *engine;
    const char *path; // NULL: nothing is saved
    nc_state_file_writer_write_fn write;
    nc_state_file_writer_write_async_fn write_async; // used instead of `write`; NULL for none
    bool is_saving;
    bool has_changed;  // the state changed since the last save began
    nc_error failure;  // of the last save, or NC_OK; only the worker thread uses it while it saves
    bool has_notified; // the failure was reported, and no save has succeeded since
    nc_work work;
    nc_worker_result result;
    nc_buf text; // only the worker thread uses it while it saves
} nc_state_file_writer;

/// Initializes the file. `path` and `engine` must outlive it.
void nc_state_file_writer_init(nc_state_file_writer *file, nc_engine *engine, const char *path,
                               nc_state_file_writer_write_fn write);
void nc_state_file_writer_deinit(nc_state_file_writer *file);
/// Makes the worker thread write the contents with `write`, so that large contents do not block the event loop. When
/// the engine ends, `write` is called on the event loop thread.
void nc_state_file_writer_write_on_worker(nc_state_file_writer *file, nc_state_file_writer_write_async_fn write);

/// Reads the file into file->text, before the event loop begins. A missing file is empty. Returns NC_OK, NC_ERR_FILE
/// (also for a file or directory of another user, as state_file.h describes), NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_state_file_writer_read(nc_state_file_writer *file, nc_error *err);
/// Initializes the file, reads it, and parses its text. Returns NC_OK, NC_ERR_FILE (also for an invalid line),
/// NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_state_file_writer_load(nc_state_file_writer *file, nc_engine *engine, const char *path,
                                                 const nc_state_file_kind *kind, nc_error *err);
/// Records that the contents have changed.
void nc_state_file_writer_mark_changed(nc_state_file_writer *file);
/// Saves unsaved changes synchronously, because the event loop ends and no worker thread is left.
void nc_state_file_writer_save_at_end(nc_state_file_writer *file);

#endif
