/// Whole-file reading and writing through the file operations table, and what is said where a file fails.
#ifndef NETCORE_PRIVATE_FILE_H
#define NETCORE_PRIVATE_FILE_H

#include <errno.h>
#include <netcore/bytes.h>
#include <netcore/hooks.h>

/// `call` until no signal interrupts it: the callers of the table of file operations do this, not the table. Not for
/// close(2), which has closed on Linux whatever it says.
#define NC_FILE_RETRYING(result, call)                                                                                 \
    do {                                                                                                               \
        (result) = (call);                                                                                             \
    } while ((result) < 0 && errno == EINTR)

/// open(2), for a descriptor that no child keeps, and fstat(2), both tried again after EINTR; -1 and errno.
int nc_file_open(const nc_file_ops *ops, const char *path, int flags, mode_t mode);
int nc_file_status(const nc_file_ops *ops, int fd, struct stat *out);

/// "'PATH' cannot be WHAT: REASON" by errno, with what nc_error_of_file() makes of it.
nc_status nc_file_fail(nc_error *err, const char *path, const char *what, int code);
/// The same of a name in a folder.
nc_status nc_file_fail_in(nc_error *err, const char *folder, const char *name, const char *what, int code);

/// Whether a rename to a path would destroy what is no file: a device, a pipe, a socket, behind a link as well, since
/// /dev/stdout is one. `named` is what lstat(2) says of it.
bool nc_file_is_special(const nc_file_ops *ops, const char *path, const struct stat *named);

/// Whether a regular file at `path` can be opened for reading; never waits, as opening a named pipe does.
/// NC_ERR_FILE carries errno as native_code.
NC_NODISCARD nc_status nc_file_check(const nc_file_ops *ops, const char *path, nc_error *err);

/// Appends the file at `path` (NUL-terminated) to `out`; EINTR is retried, the descriptor always closed. A pipe is read
/// until nobody writes to it, and waited for at most ten seconds in all. NC_ERR_FILE carries errno as native_code; a
/// directory or a file over out's maximum is an error too.
NC_NODISCARD nc_status nc_file_read_all(nc_buf *out, const nc_file_ops *ops, const char *path, nc_error *err);

/// The same of a file that is open; the descriptor is closed in any case. `path` is for errors.
NC_NODISCARD nc_status nc_file_read_and_close(nc_buf *out, const nc_file_ops *ops, int fd, const char *path,
                                              nc_error *err);

/// Room for nc_file_name_beside() beyond its path: ".nk-", sixteen digits, ".part" and a NUL.
enum { NC_FILE_BESIDE_BYTES = 26 };

/// Writes the name of a file that is not whole yet: in the folder of `path`, so that the rename stays within a file
/// system, and short, so that any name leaves room. False without random bytes.
NC_NODISCARD bool nc_file_name_beside(char *out, const char *path);

/// Writes a file anew under another name beside it and puts it in its place, synced: whole or not at all, with just
/// this mode. NC_ERR_FILE carries errno as native_code; nothing is left behind.
NC_NODISCARD nc_status nc_file_replace(const nc_file_ops *ops, const char *path, nc_slice bytes, mode_t mode,
                                       nc_error *err);

#endif
