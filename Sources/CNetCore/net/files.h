/// The files of a transfer: the one its body is read from, and the one its response is saved to.
///
/// Opening, renaming and closing may block and run on the worker thread. The event loop reads and writes. A response is
/// written to a temporary file beside its destination, and renamed when it is complete, so a failure leaves nothing
/// behind.
#ifndef NETCORE_PRIVATE_FILES_H
#define NETCORE_PRIVATE_FILES_H

#include "base/worker.h"
#include "net/mailbox.h"

typedef struct nc_files {
    nc_work work;
    nc_answer answer;
    nc_transfer *transfer;
    bool is_working; // the worker thread has it: nothing here may be accessed
    bool is_open;
    bool keeps; // keep the saved file when it is closed
    int upload_fd;
    uint64_t upload_bytes;
    int save_fd;
    char *part_path; // NULL: written in place, such as a device
    nc_error error;
} nc_files;

/// Creates the state that a request with files needs; `*out` is NULL if it has none. Returns NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_files_new(nc_files **out, nc_transfer *transfer, nc_error *err);
void nc_files_free(nc_files *files);

/// Submits the opening to the worker thread. nc_transfer_files_opened() follows, never synchronously.
void nc_files_open(nc_files *files);
/// Submits the opening of a form's next file. nc_transfer_part_opened() follows, never synchronously. Does nothing
/// while the worker thread is busy with it.
void nc_files_open_part(nc_files *files);
/// Submits the closing; `keeps` is true to keep the saved file. nc_transfer_files_closed() follows.
void nc_files_close(nc_files *files, bool keeps);
/// Writes a piece of the saved body.
NC_NODISCARD nc_status nc_files_write(nc_files *files, nc_slice bytes);

#endif
