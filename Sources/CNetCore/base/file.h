/// File access through an nc_file_ops table: whole files with error messages, and single system calls.
#ifndef NETCORE_PRIVATE_FILE_H
#define NETCORE_PRIVATE_FILE_H

#include <errno.h>
#include <netcore/bytes.h>
#include <netcore/hooks.h>
#include <netcore/state_file.h>
#include <sys/types.h>

struct stat;

/// Repeats `call` while it fails with EINTR. Do not use it for close(2): Linux closes the descriptor even then.
#define NC_FILE_RETRYING(result, call)                                                                                 \
    do {                                                                                                               \
        (result) = (call);                                                                                             \
    } while ((result) < 0 && errno == EINTR)

/// open(2) with O_CLOEXEC, and fstat(2). Both are repeated after EINTR. On failure they return -1 and set errno.
int nc_file_open(const nc_file_ops *ops, const char *path, int flags, mode_t mode);
int nc_file_status(const nc_file_ops *ops, int fd, struct stat *out);

/// Fills `err` with "'PATH' cannot be WHAT: REASON", the reason being the errno `code`. Returns nc_error_of_file(code).
nc_status nc_file_fail(nc_error *err, const char *path, const char *what, int code);
/// Does the same for a name in a directory.
nc_status nc_file_fail_in(nc_error *err, const char *folder, const char *name, const char *what, int code);

/// Returns true if a rename to `path` would replace a device, a pipe or a socket, or a symbolic link to one, such as
/// /dev/stdout. `named` is the result of lstat(2).
bool nc_file_is_special(const nc_file_ops *ops, const char *path, const struct stat *named);

/// Checks that `path` is a regular file that can be opened for reading. Does not block, even if `path` is a FIFO.
/// NC_ERR_FILE has errno as native_code.
NC_NODISCARD nc_status nc_file_check(const nc_file_ops *ops, const char *path, nc_error *err);

/// Appends the file at `path` (NUL-terminated) to `out`. A pipe is read until its last writer closes it, with a total
/// wait of at most ten seconds. NC_ERR_FILE has errno as native_code. A directory, and a file larger than the maximum
/// of `out`, are errors.
NC_NODISCARD nc_status nc_file_read_all(nc_buf *out, const nc_file_ops *ops, const char *path, nc_error *err);

/// Does the same for an open file, and always closes the descriptor. `path` is for error messages.
NC_NODISCARD nc_status nc_file_read_and_close(nc_buf *out, const nc_file_ops *ops, int fd, const char *path,
                                              nc_error *err);

/// The size of a temporary file's name without its directory: ".nk-", sixteen digits, ".part" and NUL.
enum { NC_FILE_BESIDE_BYTES = 26 };

/// Writes the path of a temporary file in the directory of `path`, so that the later rename stays within the file
/// system. The name does not contain that of `path`, which may already have the maximum length. Returns false if the
/// system provides no random bytes.
NC_NODISCARD bool nc_file_name_beside(char *out, const char *path);

/// Writes a temporary file with exactly this mode, syncs it, and renames it to `path`: the file is replaced completely
/// or not at all. On failure the temporary file is removed. NC_ERR_FILE has errno as native_code.
NC_NODISCARD nc_status nc_file_replace(const nc_file_ops *ops, const char *path, nc_slice bytes, mode_t mode,
                                       nc_error *err);

/* --- system calls with EINTR retried; failures are reported by errno --- */

int nc_files_open_at(const nc_file_ops *ops, int folder_fd, const char *name, int flags, mode_t mode);
int nc_files_sync(const nc_file_ops *ops, int fd);
int nc_files_status_at(const nc_file_ops *ops, int folder_fd, const char *name, struct stat *out);
/// Gives a file the permissions of the file `like`, and its owner and group if the system permits that. The set-user-ID
/// and set-group-ID bits are not copied: new bytes must not run as another user. A write(2) removes these bits too.
int nc_files_set_rights(const nc_file_ops *ops, int fd, const struct stat *like);
/// Reads until `length` bytes or the end. Returns -1 and sets errno on failure.
ssize_t nc_files_read_at(const nc_file_ops *ops, int fd, void *bytes, size_t length, uint64_t offset);
/// Writes all bytes. Returns false and sets errno on failure.
bool nc_files_write_at(const nc_file_ops *ops, int fd, nc_slice bytes, uint64_t offset);
int nc_files_truncate(const nc_file_ops *ops, int fd, uint64_t length);
/// Removes a name. It is not an error if the name is missing.
int nc_files_unlink_at(const nc_file_ops *ops, int folder_fd, const char *name);
void nc_files_close_fd(const nc_file_ops *ops, int *fd);
/// Unlocks the file and closes it. Closing alone is not enough: a child that is forked concurrently shares the lock
/// until it calls exec().
void nc_files_close_locked(const nc_file_ops *ops, int *fd);

/* --- state_file.c: opens state files, for callers that open many files or have their own messages --- */

/// Opens and checks a file like nc_state_file_open(). On failure returns an errno and sets `fd` to -1; otherwise
/// returns 0. `info` receives the result of fstat(2); it is unchanged if the file could not be opened.
int nc_state_file_try(int *fd, struct stat *info, const nc_state_folder *folder, const char *name, int flags);

/// Fills `err` for the errno `code` of a failed nc_state_file_try(). `info` must have been zeroed before that call.
nc_status nc_state_file_fail(nc_error *err, const struct stat *info, const char *folder, const char *name, int code);

#endif
