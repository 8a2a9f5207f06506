/// The files of a transfer: the one its body is read from, the one its response is saved to.
///
/// Opening, renaming and closing may block and are the worker's; reading and writing are the loop's. A response is
/// written under another name beside its place and renamed when it is whole, so that a failure leaves nothing behind.
#ifndef NETCORE_PRIVATE_FILES_H
#define NETCORE_PRIVATE_FILES_H

#include "base/worker.h"
#include "net/mailbox.h"

typedef struct nc_files {
    nc_work work;
    nc_answer answer;
    nc_transfer *transfer;
    bool is_working; // the worker has it: nothing here may be touched
    bool is_open;
    bool keeps; // what was saved, when it is closed
    int upload_fd;
    uint64_t upload_bytes;
    int save_fd;
    char *part_path; // NULL: written in place, as to a device
    nc_error error;
} nc_files;

/// Makes what a request with files needs; NULL in `*out` when it has none. NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_files_new(nc_files **out, nc_transfer *transfer, nc_error *err);
void nc_files_free(nc_files *files);

/// Asks the worker to open them; nc_transfer_files_opened() follows, never at once.
void nc_files_open(nc_files *files);
/// Asks the worker for the next file of a form; nc_transfer_part_opened() follows, never at once. Does nothing while
/// the worker is at it.
void nc_files_open_part(nc_files *files);
/// Asks the worker to close them and keep what was saved, or not; nc_transfer_files_closed() follows.
void nc_files_close(nc_files *files, bool keeps);
/// Writes a piece of the body that is saved.
NC_NODISCARD nc_status nc_files_write(nc_files *files, nc_slice bytes);

#endif
