/// Folders and files that hold state of the library itself: queues, caches, cookie jars, records of downloads.
///
/// What such a file holds decides what is sent, and where. So another user may not have written it:
/// - a file belongs to the effective user, is a regular file, and neither its group nor others may write to it;
/// - a folder belongs to the effective user or to root, and neither its group nor others may write to it, unless its
///   sticky bit is set, as that of /tmp is.
/// Each check is of what is open already, so that nothing can change in between. A symbolic link is not followed. What
/// the user names as input (a netrc file, certificates) is no state, and no rule of this header applies to it.
///
///     nc_state_folder folder;
///     status = nc_state_folder_open(&folder, "/var/lib/example/queue", NULL, &err);
///     status = nc_state_file_open(&fd, &folder, "1.json", O_RDONLY, &err);
#ifndef NETCORE_STATE_FILE_H
#define NETCORE_STATE_FILE_H

#include <netcore/hooks.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// An open folder of state.
typedef struct nc_state_folder {
    /// The caller's, who closes it; -1 for none.
    int fd;
    /// Its path, for errors; borrowed.
    const char *path;
    /// How its files are opened.
    nc_file_ops files;
    /// Others can make names in it. Checking the folder sets this.
    bool is_shared;
} nc_state_folder;

/// Opens a folder and checks it. Its path may not end in a symbolic link; links on the way to it are followed.
///
/// - files: NULL means the system's.
/// Returns NC_OK, NC_ERR_FILE with errno (EPERM: other users can write to it or own it), NC_ERR_DESCRIPTORS.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_state_folder_open(nc_state_folder *out, const char *path,
                                                   const nc_file_ops *NC_NULLABLE files, nc_error *NC_NULLABLE err);

/// Checks a folder that is open. Returns as nc_state_folder_open(). Thread-safe.
NC_API NC_NODISCARD nc_status nc_state_folder_check(nc_state_folder *folder, nc_error *NC_NULLABLE err);

/// Opens a file in a folder that is open and checked, and checks the file.
///
/// - flags: as of open(2). O_CREAT makes a file with mode 0600. With O_WRONLY or O_RDWR the file may have no second
///   name. It may have none either in a folder where others can make one.
/// Returns NC_OK, NC_ERR_FILE with errno (EPERM: other users can write to it or own it; ELOOP: a symbolic link; EINVAL,
/// EISDIR, ENXIO: no regular file; EMLINK: a second name), NC_ERR_DESCRIPTORS. The caller closes `fd`. Thread-safe.
NC_API NC_NODISCARD nc_status nc_state_file_open(int *fd, const nc_state_folder *folder, const char *name, int flags,
                                                 nc_error *NC_NULLABLE err);

/// Opens a file for reading, and checks it and the folder that it is in. A link to that folder is followed.
///
/// Returns as the two above. A file that is missing from a good folder is NC_OK with -1 in `fd`. The caller closes
/// `fd`. Thread-safe.
NC_API NC_NODISCARD nc_status nc_state_file_open_at(int *fd, const char *path, const nc_file_ops *NC_NULLABLE files,
                                                    nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
