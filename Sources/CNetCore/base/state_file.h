/// Opening state files without error messages, for callers that open many or have their own messages.
#ifndef NETCORE_PRIVATE_STATE_FILE_H
#define NETCORE_PRIVATE_STATE_FILE_H

#include <netcore/state_file.h>

/// Opens as nc_state_file_open(). Returns 0, or errno and -1 in `fd`. `info` is the result of fstat(2), and unchanged
/// if no file was opened.
int nc_state_file_try(int *fd, struct stat *info, const nc_state_folder *folder, const char *name, int flags);

/// Fills `err` for an errno of nc_state_file_try(), with the `info` that was zero before that call.
nc_status nc_state_file_fail(nc_error *err, const struct stat *info, const char *folder, const char *name, int code);

#endif
