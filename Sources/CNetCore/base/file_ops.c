#include <netcore/hooks.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NS_PER_S 1000000000

/* --- paths and open files --- */

static int system_open(void *ctx, const char *path, int flags, mode_t mode) {
    (void)ctx;
    return openat(AT_FDCWD, path, flags, mode);
}

static ssize_t system_read(void *ctx, int fd, void *bytes, size_t length) {
    (void)ctx;
    return read(fd, bytes, length);
}

static ssize_t system_read_at(void *ctx, int fd, void *bytes, size_t length, off_t offset) {
    (void)ctx;
    return pread(fd, bytes, length, offset);
}

static ssize_t system_write(void *ctx, int fd, const void *bytes, size_t length) {
    (void)ctx;
    return write(fd, bytes, length);
}

static int system_sync(void *ctx, int fd) {
    (void)ctx;
    return fsync(fd);
}

static int system_status(void *ctx, int fd, struct stat *out) {
    (void)ctx;
    return fstat(fd, out);
}

static int system_close(void *ctx, int fd) {
    (void)ctx;
    return close(fd);
}

static int system_rename(void *ctx, const char *from, const char *to) {
    (void)ctx;
    return rename(from, to);
}

static int system_unlink(void *ctx, const char *path) {
    (void)ctx;
    return unlink(path);
}

static ssize_t system_write_at(void *ctx, int fd, const void *bytes, size_t length, off_t offset) {
    (void)ctx;
    return pwrite(fd, bytes, length, offset);
}

static int system_set_mode(void *ctx, int fd, mode_t mode) {
    (void)ctx;
    return fchmod(fd, mode);
}

static int system_set_time(void *ctx, int fd, int64_t realtime_ns) {
    (void)ctx;
    int64_t s = realtime_ns / NS_PER_S;
    int64_t ns = realtime_ns % NS_PER_S;
    if (ns < 0) {
        s--;
        ns += NS_PER_S;
    }
    const struct timespec times[2] = {{0, UTIME_OMIT}, {(time_t)s, (long)ns}};
    return futimens(fd, times);
}

static int system_lock(void *ctx, int fd, struct flock *range, bool is_asking) {
    (void)ctx;
#if defined(F_OFD_SETLK) && defined(F_OFD_GETLK)
    return fcntl(fd, is_asking ? F_OFD_GETLK : F_OFD_SETLK, range);
#else
    (void)fd;
    (void)range;
    (void)is_asking;
    errno = ENOLCK;
    return -1;
#endif
}

static int system_make_directory(void *ctx, const char *path, mode_t mode) {
    (void)ctx;
    return mkdir(path, mode) == 0 ? chmod(path, mode) : -1;
}

/* --- open directories --- */

static int system_list(void *ctx, int directory_fd, nc_file_name_fn visit, void *visit_ctx) {
    (void)ctx;
    // A separate open file description is needed: a dup(2) would share its position with concurrent listings.
    int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    DIR *directory = fdopendir(fd);
    if (directory == NULL) {
        int code = errno;
        (void)close(fd);
        errno = code;
        return -1;
    }
    const struct dirent *next = NULL;
    bool is_listing = true;
    int code = 0;
    while (is_listing) {
        errno = 0;
        next = readdir(directory);
        if (next == NULL) {
            code = errno;
            is_listing = false;
        } else if (strcmp(next->d_name, ".") != 0 && strcmp(next->d_name, "..") != 0) {
            is_listing = visit(visit_ctx, next->d_name);
        }
    }
    (void)closedir(directory);
    errno = code;
    return code == 0 ? 0 : -1;
}

static int system_open_at(void *ctx, int directory_fd, const char *name, int flags, mode_t mode) {
    (void)ctx;
    return openat(directory_fd, name, flags, mode);
}

static int system_status_at(void *ctx, int directory_fd, const char *name, struct stat *out) {
    (void)ctx;
    return fstatat(directory_fd, name, out, AT_SYMLINK_NOFOLLOW);
}

static int system_rename_at(void *ctx, int directory_fd, const char *from, const char *to) {
    (void)ctx;
    return renameat(directory_fd, from, directory_fd, to);
}

static int system_unlink_at(void *ctx, int directory_fd, const char *name, bool is_directory) {
    (void)ctx;
    return unlinkat(directory_fd, name, is_directory ? AT_REMOVEDIR : 0);
}

/// Moves a file by link(2) and unlink(2), for systems whose rename always replaces an existing file.
static int move_by_link(int directory_fd, const char *name, const char *path) {
    if (linkat(directory_fd, name, AT_FDCWD, path, 0) != 0) {
        return -1;
    }
    return unlinkat(directory_fd, name, 0);
}

static int system_move_at(void *ctx, int directory_fd, const char *name, const char *path, bool replaces) {
    (void)ctx;
    if (replaces) {
        return renameat(directory_fd, name, AT_FDCWD, path);
    }
#if defined(__linux__) && defined(RENAME_NOREPLACE)
    int result = renameat2(directory_fd, name, AT_FDCWD, path, RENAME_NOREPLACE);
    if (result == 0 || (errno != EINVAL && errno != ENOSYS)) {
        return result;
    }
#endif
    return move_by_link(directory_fd, name, path);
}

static int system_truncate(void *ctx, int fd, off_t length) {
    (void)ctx;
    return ftruncate(fd, length);
}

static int system_allocate(void *ctx, int fd, off_t length) {
    (void)ctx;
#if defined(__linux__)
    return fallocate(fd, 0, 0, length);
#else
    (void)fd;
    (void)length;
    errno = EOPNOTSUPP;
    return -1;
#endif
}

static int system_set_owner(void *ctx, int fd, uid_t owner, gid_t group) {
    (void)ctx;
    return fchown(fd, owner, group);
}

nc_file_ops nc_file_ops_system(void) {
    return (nc_file_ops){
        .ctx = NULL,
        .open = system_open,
        .read = system_read,
        .read_at = system_read_at,
        .write = system_write,
        .sync = system_sync,
        .status = system_status,
        .close = system_close,
        .rename = system_rename,
        .unlink = system_unlink,
        .write_at = system_write_at,
        .set_mode = system_set_mode,
        .set_time = system_set_time,
        .lock = system_lock,
        .make_directory = system_make_directory,
        .list = system_list,
        .open_at = system_open_at,
        .status_at = system_status_at,
        .rename_at = system_rename_at,
        .unlink_at = system_unlink_at,
        .move_at = system_move_at,
        .truncate = system_truncate,
        .allocate = system_allocate,
        .set_owner = system_set_owner,
    };
}
