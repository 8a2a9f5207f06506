/// Replaceable services for tests and embedders: memory, time, randomness, files.
///
/// The allocator is one table for the whole process; set it before any other call. The other tables are options of an
/// engine or a store. The library copies each table. Its functions must be callable from any thread.
///
///     static const nc_allocator mine = {NULL, my_malloc, my_realloc, my_free};
///     nc_set_allocator(&mine);
#ifndef NETCORE_HOOKS_H
#define NETCORE_HOOKS_H

#include <netcore/base.h>
#include <netcore/status.h>
#include <sys/types.h>

struct flock;
struct stat;

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// A memory allocator. Its contracts are those of malloc, realloc and free.
typedef struct nc_allocator {
    /// Passed to each function.
    void *NC_NULLABLE ctx;
    /// Returns at least `bytes` (never 0) of memory aligned for any type, or NULL.
    void *NC_NULLABLE (*NC_NONNULL allocate)(void *NC_NULLABLE ctx, size_t bytes);
    /// Resizes a block; `block` may be NULL. If it returns NULL, the old block stays valid.
    void *NC_NULLABLE (*NC_NONNULL reallocate)(void *NC_NULLABLE ctx, void *NC_NULLABLE block, size_t bytes);
    /// Frees a block; `block` may be NULL.
    void (*NC_NONNULL release)(void *NC_NULLABLE ctx, void *NC_NULLABLE block);
} nc_allocator;

/// Sets the allocator of the process.
///
/// Call it before the first use of the library: a block is freed by the allocator that is set when it is freed. libcurl
/// and OpenSSL keep their own allocators.
/// - allocator: copied; NULL restores malloc.
/// Confined: one thread at a time, before all other calls.
NC_API void nc_set_allocator(const nc_allocator *NC_NULLABLE allocator);

/// A clock.
typedef struct nc_clock {
    /// Passed to each function.
    void *NC_NULLABLE ctx;
    /// Nanoseconds since an arbitrary start; never decreases. All limits and metrics use it.
    uint64_t (*NC_NONNULL monotonic_ns)(void *NC_NULLABLE ctx);
    /// Nanoseconds since 1970-01-01T00:00:00Z; may jump in both directions.
    int64_t (*NC_NONNULL realtime_ns)(void *NC_NULLABLE ctx);
} nc_clock;

/// Returns the system's clocks (CLOCK_MONOTONIC and CLOCK_REALTIME).
///
/// Pure; call from any thread.
NC_API nc_clock nc_clock_system(void);

/// A source of random bytes.
typedef struct nc_random {
    /// Passed to the function.
    void *NC_NULLABLE ctx;
    /// Fills `length` bytes; returns false on failure.
    bool (*NC_NONNULL fill)(void *NC_NULLABLE ctx, uint8_t *bytes, size_t length);
} nc_random;

/// Returns the system's cryptographic source (getrandom).
///
/// Pure; call from any thread.
NC_API nc_random nc_random_system(void);

/// Receives one name of a directory. Returning false ends the listing.
typedef bool (*nc_file_name_fn)(void *NC_NULLABLE ctx, const char *name);

/// File operations, with the contracts of the system calls of the same name: -1 and errno on failure.
///
/// The library retries after EINTR, so the functions need not. To build a table, copy nc_file_ops_system() and replace
/// single functions, because later versions may add functions.
typedef struct nc_file_ops {
    /// Passed to each function.
    void *NC_NULLABLE ctx;
    /// openat(2) relative to AT_FDCWD, with O_CLOEXEC already in `flags`.
    int (*NC_NONNULL open)(void *NC_NULLABLE ctx, const char *path, int flags, mode_t mode);
    /// read(2).
    ssize_t (*NC_NONNULL read)(void *NC_NULLABLE ctx, int fd, void *bytes, size_t length);
    /// pread(2).
    ssize_t (*NC_NONNULL read_at)(void *NC_NULLABLE ctx, int fd, void *bytes, size_t length, off_t offset);
    /// write(2).
    ssize_t (*NC_NONNULL write)(void *NC_NULLABLE ctx, int fd, const void *bytes, size_t length);
    /// fsync(2).
    int (*NC_NONNULL sync)(void *NC_NULLABLE ctx, int fd);
    /// fstat(2).
    int (*NC_NONNULL status)(void *NC_NULLABLE ctx, int fd, struct stat *out);
    /// close(2).
    int (*NC_NONNULL close)(void *NC_NULLABLE ctx, int fd);
    /// rename(2).
    int (*NC_NONNULL rename)(void *NC_NULLABLE ctx, const char *from, const char *to);
    /// unlink(2).
    int (*NC_NONNULL unlink)(void *NC_NULLABLE ctx, const char *path);
    /// pwrite(2).
    ssize_t (*NC_NONNULL write_at)(void *NC_NULLABLE ctx, int fd, const void *bytes, size_t length, off_t offset);
    /// fchmod(2).
    int (*NC_NONNULL set_mode)(void *NC_NULLABLE ctx, int fd, mode_t mode);
    /// futimens(2) of the modification time only: nanoseconds since 1970-01-01T00:00:00Z.
    int (*NC_NONNULL set_time)(void *NC_NULLABLE ctx, int fd, int64_t realtime_ns);
    /// fcntl(2) with F_OFD_SETLK, or with F_OFD_GETLK if `is_asking`. Fails with ENOLCK on systems without these locks.
    int (*NC_NONNULL lock)(void *NC_NULLABLE ctx, int fd, struct flock *range, bool is_asking);
    /// mkdir(2), then chmod(2) to exactly this mode, ignoring the process's umask.
    int (*NC_NONNULL make_directory)(void *NC_NULLABLE ctx, const char *path, mode_t mode);
    /// Calls `visit` for each name of an open directory except "." and "..", from the start. Fails with the errno of
    /// readdir(3).
    int (*NC_NONNULL list)(void *NC_NULLABLE ctx, int directory_fd, nc_file_name_fn visit, void *NC_NULLABLE visit_ctx);
    /// openat(2), with O_CLOEXEC already in `flags`.
    int (*NC_NONNULL open_at)(void *NC_NULLABLE ctx, int directory_fd, const char *name, int flags, mode_t mode);
    /// fstatat(2) with AT_SYMLINK_NOFOLLOW.
    int (*NC_NONNULL status_at)(void *NC_NULLABLE ctx, int directory_fd, const char *name, struct stat *out);
    /// renameat(2) within one directory.
    int (*NC_NONNULL rename_at)(void *NC_NULLABLE ctx, int directory_fd, const char *from, const char *to);
    /// unlinkat(2), with AT_REMOVEDIR if `is_directory`.
    int (*NC_NONNULL unlink_at)(void *NC_NULLABLE ctx, int directory_fd, const char *name, bool is_directory);
    /// renameat(2) from a name in a directory to a path. If the path exists and `replaces` is false, fails with EEXIST.
    int (*NC_NONNULL move_at)(void *NC_NULLABLE ctx, int directory_fd, const char *name, const char *path,
                              bool replaces);
    /// ftruncate(2).
    int (*NC_NONNULL truncate)(void *NC_NULLABLE ctx, int fd, off_t length);
    /// fallocate(2): extends the file to `length` bytes. Fails with EOPNOTSUPP if the file system does not support it.
    int (*NC_NONNULL allocate)(void *NC_NULLABLE ctx, int fd, off_t length);
    /// fchown(2); -1 keeps the value.
    int (*NC_NONNULL set_owner)(void *NC_NULLABLE ctx, int fd, uid_t owner, gid_t group);
} nc_file_ops;

/// Returns the system's file operations.
///
/// Pure; call from any thread.
NC_API nc_file_ops nc_file_ops_system(void);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
