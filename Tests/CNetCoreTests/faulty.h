/// A temporary directory, and file operations that can be set to fail, be short or kill the process.
///
///     faulty_files files = faulty_init();
///     faulty_arm(&files, 7, ENOSPC);           // the seventh operation from now on
///     options.file_ops = &files.ops;
#ifndef NETCORE_TEST_FAULTY_H
#define NETCORE_TEST_FAULTY_H

#include "harness.h"

/// Codes for faulty_arm() beside errno values.
enum {
    /// Reads or writes half of the bytes. Other operations are unchanged.
    FAULTY_SHORT = -1,
    /// SIGKILL instead of the operation.
    FAULTY_KILL_BEFORE = -2,
    /// SIGKILL after the operation.
    FAULTY_KILL_AFTER = -3,
};

/// Counts operations on all threads. One thread arms and reads it.
typedef struct faulty_files {
    nc_file_ops ops; // its ctx is this struct, which must not move
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
    /// One letter for each operation: o(pen) w(rite) s(ync) d(irectory's sync) c(lose) r(ename) u(nlink).
    char log[64];
    size_t log_length;
    int directory_fd;
} faulty_files;

void faulty_init(faulty_files *files);
/// Makes the `nth` operation from now on end with `code`; 0 disarms.
void faulty_arm(faulty_files *files, uint64_t nth, int code);

/// A new directory under TMPDIR or /tmp. Its removal includes its contents.
typedef struct temp_directory {
    char root[64];
    /// A path in the directory that does not exist yet.
    char store[80];
} temp_directory;

temp_directory temp_directory_make(void);
void temp_directory_remove(const temp_directory *at);
/// Returns the number of names in a directory.
size_t temp_directory_count(const char *directory);
/// Returns the path "directory/name" in static storage.
const char *temp_directory_path(const char *directory, const char *name);
/// Returns the path of the first file with an entry's name, or NULL. In static storage.
const char *temp_directory_entry(const char *directory);
/// Returns the number of temporary files.
size_t temp_directory_count_temp_files(const char *directory);
/// Reads a file to a buffer that the caller frees.
nc_buf temp_file_read(const char *path);
/// Replaces the contents of a file.
void temp_file_write(const char *path, nc_slice bytes);

#endif
