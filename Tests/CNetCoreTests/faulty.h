/// A directory for one case, and file operations that fail, fall short or kill the process when they are told to.
///
///     faulty_files files = faulty_init();
///     faulty_arm(&files, 7, ENOSPC);           // the seventh operation from now on
///     options.file_ops = &files.ops;
#ifndef NETCORE_TEST_FAULTY_H
#define NETCORE_TEST_FAULTY_H

#include "harness.h"

/// Instead of an errno.
enum {
    /// Half of what was to be read or written; any other operation is as always.
    FAULTY_SHORT = -1,
    /// SIGKILL instead of the operation.
    FAULTY_KILL_BEFORE = -2,
    /// SIGKILL after the operation.
    FAULTY_KILL_AFTER = -3,
};

/// Counts every operation, from whichever thread; armed and read by one.
typedef struct faulty_files {
    nc_file_ops ops; // its ctx is this struct: it may not move
    nc_file_ops system;
    uint64_t calls;
    uint64_t fail_at; // 0: never
    int code;
    bool has_failed;
    const char *failed_op;
    uint64_t lists;
    uint64_t syncs;
    uint64_t set_times;
    uint64_t writes;
    /// What was done, a letter each: o(pen) w(rite) s(ync) d(irectory's sync) c(lose) r(ename) u(nlink).
    char log[64];
    size_t log_length;
    int directory_fd;
} faulty_files;

void faulty_init(faulty_files *files);
/// From now on the `nth` operation ends with `code`; 0 arms nothing.
void faulty_arm(faulty_files *files, uint64_t nth, int code);

/// A new directory under TMPDIR, or /tmp, that is removed with all it holds.
typedef struct place {
    char root[64];
    /// A path in it that does not exist yet.
    char store[80];
} place;

place place_make(void);
void place_remove(const place *at);
/// How many names there are in a directory.
size_t place_count(const char *directory);
/// Writes "directory/name", a path in static storage.
const char *place_path(const char *directory, const char *name);
/// The path of the first file whose name has an entry's form; NULL when there is none. In static storage.
const char *place_entry(const char *directory);
/// The names that begin like what is being written.
size_t place_parts(const char *directory);
/// Reads a file to a buffer that the caller gives up.
nc_buf place_read(const char *path);
/// Writes a file anew.
void place_write(const char *path, nc_slice bytes);

#endif
