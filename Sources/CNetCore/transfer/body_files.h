/// The files of a transfer: the one its body is read from, and the one its response is saved to.
///
/// Opening, renaming and closing may block, so they run on the worker thread. The event loop reads and writes the open
/// files. A response is written to a temporary file beside its destination. When the response is complete, the file is
/// renamed, so a failure leaves nothing behind.
#ifndef NETCORE_PRIVATE_BODY_FILES_H
#define NETCORE_PRIVATE_BODY_FILES_H

#include "base/worker.h"
#include "state/mailbox.h"

typedef struct nc_files {
    nc_work work;
    nc_worker_result result;
    nc_transfer *transfer;
    bool is_working; // a task of the worker thread was submitted, and its result has not arrived
    bool is_open;
    bool keeps; // keep the saved file when it is closed
    int upload_fd;
    uint64_t upload_bytes; // number of bytes to send, from body_offset on
    int save_fd;
    char *temp_path; // the temporary file; NULL if nothing is saved, or if a device is written in place
    nc_error error;
} nc_files;

/// Creates the record of a request's files; `*out` is NULL if the request has none. Returns NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_files_new(nc_files **out, nc_transfer *transfer, nc_error *err);
void nc_files_free(nc_files *files);

/// Submits the opening to the worker thread. events->files_opened follows, never synchronously.
void nc_files_open(nc_files *files);
/// Submits the opening of a form's next file. events->part_opened follows, never synchronously. Does nothing if the
/// form needs no file, or while another task of `files` runs on the worker thread.
void nc_files_open_part(nc_files *files);
/// Submits the closing; `keeps` is true to keep the saved file. events->files_closed follows.
void nc_files_close(nc_files *files, bool keeps);
/// Writes a piece of the saved body.
NC_NODISCARD nc_status nc_files_write(nc_files *files, nc_slice bytes);

#endif
