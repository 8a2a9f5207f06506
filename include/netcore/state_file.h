/// Opens directories and files that hold state of the library: queues, caches, cookie jars, records of downloads.
///
/// Such a file determines what is sent and where. It is therefore refused if another user could have written it:
/// - A file must be a regular file of the effective user. Group and others must not have write permission.
/// - A directory must belong to the effective user or root. Group and others must not have write permission, unless the
///   sticky bit is set, as for /tmp.
///
/// The checks use open descriptors, so that a file cannot be replaced between check and use. Symbolic links are not
/// followed. The rules do not apply to files that the user names as input (a netrc file, certificates).
///
///     nc_state_folder folder;
///     status = nc_state_folder_open(&folder, "/var/lib/example/queue", NULL, &err);
///     status = nc_state_file_open(&fd, &folder, "1.json", O_RDONLY, &err);
#ifndef NETCORE_STATE_FILE_H
#define NETCORE_STATE_FILE_H

#include <netcore/hooks.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// An open state directory.
typedef struct nc_state_folder {
    /// Descriptor, owned and closed by the caller; -1 for none.
    int fd;
    /// Path of the directory, for error messages; borrowed.
    const char *path;
    /// File operations for the files in the directory.
    nc_file_ops files;
    /// True if other users can create files in the directory. Set by the check.
    bool is_shared;
} nc_state_folder;

/// Opens and checks a directory. The last component of the path must not be a symbolic link; links before it are
/// followed.
///
/// - files: NULL means the system's.
/// Returns NC_OK, NC_ERR_FILE with errno (EPERM: another user owns it or can write to it), NC_ERR_DESCRIPTORS.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_state_folder_open(nc_state_folder *out, const char *path,
                                                   const nc_file_ops *NC_NULLABLE files, nc_error *NC_NULLABLE err);

/// Checks an open directory. Returns the statuses of nc_state_folder_open().
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_state_folder_check(nc_state_folder *folder, nc_error *NC_NULLABLE err);

/// Opens and checks a file in a checked directory.
///
/// - flags: those of open(2). O_CREAT uses mode 0600.
/// A file with a second name (hard link) is refused if `flags` has O_WRONLY or O_RDWR, or if other users can create
/// files in the directory.
/// Returns NC_OK, NC_ERR_FILE with errno (EPERM: another user owns it or can write to it; ELOOP: a symbolic link;
/// EINVAL, EISDIR, ENXIO: no regular file; EMLINK: a second name), NC_ERR_DESCRIPTORS. The caller closes `fd`.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_state_file_open(int *fd, const nc_state_folder *folder, const char *name, int flags,
                                                 nc_error *NC_NULLABLE err);

/// Opens a file for reading, and checks the file and its directory. If the directory's path is a symbolic link, the
/// link is followed.
///
/// Returns the statuses of nc_state_folder_open() and nc_state_file_open(). If the file is missing and the directory is
/// valid, returns NC_OK and sets `fd` to -1. The caller closes `fd`.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_state_file_open_at(int *fd, const char *path, const nc_file_ops *NC_NULLABLE files,
                                                    nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
