#include "base/file.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// The write bits of users other than the owner. An access control list shows in the group's bits.
enum { OTHERS_WRITE = S_IWGRP | S_IWOTH, NEW_FILE_MODE = 0600 };

/// O_PATH, because a state file's directory need not be readable.
#ifdef O_PATH
enum { FOLDER_FLAGS = O_PATH | O_DIRECTORY };
#else
enum { FOLDER_FLAGS = O_RDONLY | O_DIRECTORY };
#endif

static nc_status fail_owner(nc_error *err, const char *kind, const char *path, const struct stat *info) {
    return nc_error_set(err, NC_ERR_FILE, EPERM, -1,
                        "%s '%s' belongs to user %lu, not to user %lu: another user's file is not trusted; use one of "
                        "your own",
                        kind, path, (unsigned long)info->st_uid, (unsigned long)geteuid());
}

static nc_status fail_mode(nc_error *err, const char *kind, const char *path, const struct stat *info) {
    return nc_error_set(err, NC_ERR_FILE, EPERM, -1,
                        "other users can write to %s '%s' (mode %04o), so it is not trusted: check its content, then "
                        "run chmod go-w",
                        kind, path, (unsigned)info->st_mode & 07777U);
}

nc_status nc_state_folder_check(nc_state_folder *folder, nc_error *err) {
    struct stat info;
    if (nc_file_status(&folder->files, folder->fd, &info) != 0) {
        return nc_file_fail(err, folder->path, "examined", errno);
    }
    folder->is_shared = (info.st_mode & OTHERS_WRITE) != 0;
    if (info.st_uid != geteuid() && info.st_uid != 0) {
        return fail_owner(err, "folder", folder->path, &info);
    }
    bool is_open = folder->is_shared && (info.st_mode & S_ISVTX) == 0;
    return is_open ? fail_mode(err, "folder", folder->path, &info) : nc_error_clear(err);
}

static nc_status fail_opening(nc_error *err, const char *path) {
    if (errno == ENOTDIR || errno == ELOOP) {
        return nc_error_set(err, NC_ERR_FILE, errno, -1, "'%s' or its parent is not a directory, or is a symbolic link",
                            path);
    }
    return nc_file_fail(err, path, "opened", errno);
}

/// Closes the descriptor unless `status` is NC_OK. Returns `status`.
static nc_status close_on_error(nc_status status, int *fd, const nc_file_ops *files) {
    if (status != NC_OK) {
        (void)files->close(files->ctx, *fd);
        *fd = -1;
    }
    return status;
}

nc_status nc_state_folder_open(nc_state_folder *out, const char *path, const nc_file_ops *files, nc_error *err) {
    char name[PATH_MAX];
    size_t length = strlen(path);
    *out = (nc_state_folder){.fd = -1, .path = path, .files = files != NULL ? *files : nc_file_ops_system()};
    if (length >= sizeof name) {
        return nc_file_fail(err, path, "opened", ENAMETOOLONG);
    }
    // With a trailing slash open(2) would follow a symbolic link in spite of O_NOFOLLOW.
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    memcpy(name, path, length);
    name[length] = '\0';
    out->fd = nc_file_open(&out->files, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    return out->fd < 0 ? fail_opening(err, path)
                       : close_on_error(nc_state_folder_check(out, err), &out->fd, &out->files);
}

/* --- files --- */

/// Returns 0 if the file is trusted, otherwise the errno that describes the reason.
static int trust_error(const struct stat *info, const nc_state_folder *folder, int flags) {
    if (!S_ISREG(info->st_mode)) {
        return S_ISDIR(info->st_mode) ? EISDIR : EINVAL;
    }
    if (info->st_uid != geteuid() || (info->st_mode & OTHERS_WRITE) != 0) {
        return EPERM;
    }
    // A backup that uses hard links gives its files second names. They do no harm if the file is only read.
    bool is_harmless = !folder->is_shared && (flags & O_ACCMODE) == O_RDONLY;
    return info->st_nlink > 1 && !is_harmless ? EMLINK : 0;
}

int nc_state_file_try(int *fd, struct stat *info, const nc_state_folder *folder, const char *name, int flags) {
    const nc_file_ops *files = &folder->files;
    // O_NONBLOCK, because opening a FIFO without a writer would block.
    NC_FILE_RETRYING(*fd, files->open_at(files->ctx, folder->fd, name,
                                         flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, NEW_FILE_MODE));
    if (*fd < 0) {
        return errno;
    }
    int code = nc_file_status(files, *fd, info) == 0 ? trust_error(info, folder, flags) : errno;
    if (code != 0) {
        (void)files->close(files->ctx, *fd);
        *fd = -1;
    }
    return code;
}

static nc_status fail_file(nc_error *err, const struct stat *info, const char *path, int code) {
    switch (code) {
    case EISDIR:
    case EINVAL:
        return nc_error_set(err, NC_ERR_FILE, code, -1, "'%s' is not a regular file", path);
    case ELOOP:
        return nc_error_set(err, NC_ERR_FILE, code, -1, "'%s' is a symbolic link, which is not followed", path);
    case EMLINK:
        return nc_error_set(err, NC_ERR_FILE, code, -1, "file '%s' has more than one hard link, so it is not trusted",
                            path);
    case EPERM:
        if (info->st_nlink > 0) {
            return info->st_uid != geteuid() ? fail_owner(err, "file", path, info) : fail_mode(err, "file", path, info);
        }
        return nc_file_fail(err, path, "opened", code);
    default:
        return nc_file_fail(err, path, "opened", code);
    }
}

nc_status nc_state_file_fail(nc_error *err, const struct stat *info, const char *folder, const char *name, int code) {
    char path[PATH_MAX + NAME_MAX + 2];
    size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] != '/' ? "/" : "";
    (void)snprintf(path, sizeof path, "%s%s%s", folder, slash, name);
    return fail_file(err, info, path, code);
}

nc_status nc_state_file_open(int *fd, const nc_state_folder *folder, const char *name, int flags, nc_error *err) {
    struct stat info = {0};
    int code = nc_state_file_try(fd, &info, folder, name, flags);
    return code == 0 ? nc_error_clear(err) : nc_state_file_fail(err, &info, folder->path, name, code);
}

nc_status nc_state_file_open_at(int *fd, const char *path, const nc_file_ops *files, nc_error *err) {
    char name[PATH_MAX];
    const char *slash = strrchr(path, '/');
    nc_state_folder folder = {.fd = -1, .path = name, .files = files != NULL ? *files : nc_file_ops_system()};
    size_t length = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    *fd = -1;
    if (length >= sizeof name) {
        return nc_file_fail(err, path, "opened", ENAMETOOLONG);
    }
    memcpy(name, slash == NULL ? "." : path, length);
    name[length] = '\0';
    folder.fd = nc_file_open(&folder.files, name, FOLDER_FLAGS, 0);
    if (folder.fd < 0) {
        return nc_file_fail(err, path, "opened", errno);
    }
    nc_status status = nc_state_folder_check(&folder, err);
    if (status == NC_OK) {
        struct stat info = {0};
        int code = nc_state_file_try(fd, &info, &folder, slash != NULL ? slash + 1 : path, O_RDONLY);
        status = code == 0 || code == ENOENT ? nc_error_clear(err) : fail_file(err, &info, path, code);
    }
    (void)folder.files.close(folder.files.ctx, folder.fd);
    return status;
}
