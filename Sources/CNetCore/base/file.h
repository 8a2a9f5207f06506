/// Reading and writing of whole files by the file operations, with error messages.
#ifndef NETCORE_PRIVATE_FILE_H
#define NETCORE_PRIVATE_FILE_H

#include <errno.h>
#include <netcore/bytes.h>
#include <netcore/hooks.h>

/// Repeats `call` after EINTR. Not for close(2), which closes on Linux even with EINTR.
#define NC_FILE_RETRYING(result, call)                                                                                 \
    do {                                                                                                               \
        (result) = (call);                                                                                             \
    } while ((result) < 0 && errno == EINTR)

/// open(2) with O_CLOEXEC, and fstat(2). Both repeat after EINTR. They return -1 and errno on failure.
int nc_file_open(const nc_file_ops *ops, const char *path, int flags, mode_t mode);
int nc_file_status(const nc_file_ops *ops, int fd, struct stat *out);

/// Fills `err` with "'PATH' cannot be WHAT: REASON" by errno. Returns nc_error_of_file().
nc_status nc_file_fail(nc_error *err, const char *path, const char *what, int code);
/// Fills `err` likewise for a name in a directory.
nc_status nc_file_fail_in(nc_error *err, const char *folder, const char *name, const char *what, int code);

/// Returns true if a rename to `path` would destroy a device, a pipe or a socket, also behind a link, because
/// /dev/stdout is one. `named` is the result of lstat(2).
bool nc_file_is_special(const nc_file_ops *ops, const char *path, const struct stat *named);

/// Checks that `path` is a regular file that can be opened for reading. Never blocks, unlike opening a FIFO.
/// NC_ERR_FILE has errno as native_code.
NC_NODISCARD nc_status nc_file_check(const nc_file_ops *ops, const char *path, nc_error *err);

/// Appends the file at `path` (NUL-terminated) to `out`. A pipe is read until its last writer closes it, with a total
/// wait of at most ten seconds. NC_ERR_FILE has errno as native_code. A directory or a file above out's maximum is an
/// error too.
NC_NODISCARD nc_status nc_file_read_all(nc_buf *out, const nc_file_ops *ops, const char *path, nc_error *err);

/// Reads an open file likewise, and always closes the descriptor. `path` is for errors.
NC_NODISCARD nc_status nc_file_read_and_close(nc_buf *out, const nc_file_ops *ops, int fd, const char *path,
                                              nc_error *err);

/// The size of a temporary name in addition to its path: ".nk-", sixteen digits, ".part" and NUL.
enum { NC_FILE_BESIDE_BYTES = 26 };

/// Writes the name of a temporary file in the directory of `path`, so that the later rename stays within the file
/// system. It is short, so that any name fits. Returns false without random bytes.
NC_NODISCARD bool nc_file_name_beside(char *out, const char *path);

/// Replaces a file by a synced temporary file with exactly this mode: completely or not at all. NC_ERR_FILE has errno
/// as native_code. No temporary file is left behind.
NC_NODISCARD nc_status nc_file_replace(const nc_file_ops *ops, const char *path, nc_slice bytes, mode_t mode,
                                       nc_error *err);

#endif
