/// System calls of downloads, with EINTR retried. Each failure is one line that contains the name.
#ifndef NETCORE_PRIVATE_DOWNLOAD_FILES_H
#define NETCORE_PRIVATE_DOWNLOAD_FILES_H

#include "base/file.h" // nc_file_fail()

#include <netcore/bytes.h>
#include <netcore/hooks.h>
#include <sys/types.h>

struct stat;

int nc_files_open_at(const nc_file_ops *ops, int folder_fd, const char *name, int flags, mode_t mode);
int nc_files_sync(const nc_file_ops *ops, int fd);
int nc_files_status_at(const nc_file_ops *ops, int folder_fd, const char *name, struct stat *out);
/// Gives a file the permissions of another, and its owner and group if that is permitted. Set-user-ID and set-group-ID
/// are excluded: new bytes must not run as another user, and a write removes these bits too.
int nc_files_set_rights(const nc_file_ops *ops, int fd, const struct stat *like);
/// Reads until `length` bytes or the end. Returns -1 and sets errno on failure.
ssize_t nc_files_read_at(const nc_file_ops *ops, int fd, void *bytes, size_t length, uint64_t offset);
/// Writes all bytes. Returns false and sets errno on failure.
bool nc_files_write_at(const nc_file_ops *ops, int fd, nc_slice bytes, uint64_t offset);
int nc_files_truncate(const nc_file_ops *ops, int fd, uint64_t length);
/// Removes a name. A missing one counts as removed.
int nc_files_unlink_at(const nc_file_ops *ops, int folder_fd, const char *name);
void nc_files_close_fd(const nc_file_ops *ops, int *fd);
/// Unlocks first: a concurrently forked child shares the lock until it calls exec().
void nc_files_close_locked(const nc_file_ops *ops, int *fd);

#endif
