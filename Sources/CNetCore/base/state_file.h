/// Opening files of state without words: for callers that open many, and for those with errors of their own.
#ifndef NETCORE_PRIVATE_STATE_FILE_H
#define NETCORE_PRIVATE_STATE_FILE_H

#include <netcore/state_file.h>

/// As nc_state_file_open(): 0, or errno and -1 in `fd`. `info` gets what fstat(2) reports of a file that was opened,
/// and is left as it is where none was.
int nc_state_file_try(int *fd, struct stat *info, const nc_state_folder *folder, const char *name, int flags);

/// The error for what nc_state_file_try() returned of a name in a folder; `info` was zero before.
nc_status nc_state_file_fail(nc_error *err, const struct stat *info, const char *folder, const char *name, int code);

#endif
