/// The files of an incomplete download: the partial file NAME.part, locked while in use, and its record.
///
/// Everything here may wait for the disk, and runs on a worker thread. The event loop only writes to `fd`. A record is
/// written under a temporary name and renamed, so that the old one stays valid until the new one is complete.
#ifndef NETCORE_PRIVATE_DOWNLOAD_PARTIAL_H
#define NETCORE_PRIVATE_DOWNLOAD_PARTIAL_H

#include "net/download_record.h"

#include <netcore/state_file.h>
#include <stdatomic.h>
#include <sys/types.h>

enum { NC_PARTIAL_NAME_BYTES = 256 };

/// Bytes at the end of a segment that the server must send again, to prove that the resource is unchanged.
enum { NC_PARTIAL_OVERLAP_BYTES = 4096, NC_PARTIAL_MIN_OVERLAP_BYTES = 16 };

/// The record of an earlier attempt.
typedef struct nc_kept_record {
    nc_record record;
    nc_buf texts;    // storage of the texts, empty before the read; freed by the owner
    bool is_good;    // false if the record is missing, damaged or useless
    bool is_refused; // it exists, but another user could have written it
} nc_kept_record;

typedef struct nc_partial {
    nc_file_ops ops;
    const atomic_bool *is_cancelled; // a long verification of a file ends when it becomes true
    bool skips_sync;
    mode_t mode; // mode of a new partial file: a private file is private from its first byte
    char *folder;
    int folder_fd;
    int fd;                           // -1 if there is none
    char name[NC_PARTIAL_NAME_BYTES]; // of the complete file; empty while unknown
    char part[NC_PARTIAL_NAME_BYTES];
    char record[NC_PARTIAL_NAME_BYTES];
    char fresh[NC_PARTIAL_NAME_BYTES];
} nc_partial;

void nc_partial_init(nc_partial *partial, const nc_file_ops *ops, bool skips_sync, const atomic_bool *is_cancelled);
/// Closes what is open. The files stay.
void nc_partial_deinit(nc_partial *partial);

/// Opens the directory. Returns NC_OK, NC_ERR_FILE with errno, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_partial_open_folder(nc_partial *partial, nc_slice path, nc_error *err);
/// Sets the name of the file. Returns NC_OK, NC_ERR_FILE (ENAMETOOLONG).
NC_NODISCARD nc_status nc_partial_set_name(nc_partial *partial, nc_slice name, nc_error *err);
/// Sets the name to that of an existing partial download of this URL, if there is one; for this path, unless it is
/// empty.
NC_NODISCARD nc_status nc_partial_find_url(nc_partial *partial, nc_slice url, nc_slice path, nc_error *err);
/// Returns true if anything has the record's name, or if that cannot be determined.
bool nc_partial_has_record(const nc_partial *partial);

/// Opens and locks the partial file of a URL, and verifies it. `kept` is not good if nothing can be used. `sums` gets
/// the running checksum of each segment. Returns NC_OK, NC_ERR_FILE (EBUSY: it is in use; EPERM: another user could
/// have written it), NC_ERR_NO_MEMORY, NC_ERR_CANCELLED.
NC_NODISCARD nc_status nc_partial_open(nc_partial *partial, nc_slice url, nc_kept_record *kept, nc_checksum *sums,
                                       nc_error *err);
/// Begins again with an empty file, or one of `allocated_bytes`, and this record. An empty record is not written.
NC_NODISCARD nc_status nc_partial_begin(nc_partial *partial, nc_slice record, uint64_t allocated_bytes, nc_error *err);
/// Syncs the written bytes, then replaces the record.
nc_status nc_partial_claim(nc_partial *partial, nc_slice record, nc_error *err);
/// Truncates the file after the end. Returns NC_ERR_FILE also if another process has truncated it further.
NC_NODISCARD nc_status nc_partial_trim(nc_partial *partial, uint64_t whole_bytes, nc_error *err);
/// Reads the whole file and compares its digests. Returns NC_OK, NC_ERR_DIGEST_MISMATCH, NC_ERR_FILE, NC_ERR_CANCELLED.
NC_NODISCARD nc_status nc_partial_check(nc_partial *partial, const nc_download_digests *digests, nc_error *err);
/// Moves the complete file to its destination, with the permissions of the file it replaces, and removes the record.
NC_NODISCARD nc_status nc_partial_place(nc_partial *partial, const char *path, bool replaces, nc_error *err);
/// Removes the files.
void nc_partial_discard(nc_partial *partial);

/// Returns true if a path names a directory; false if it cannot be examined.
bool nc_partial_is_directory(const nc_file_ops *ops, const char *path);
/// Checks what exists at a path; links are not followed. A new partial file becomes as private as a file there.
///
/// Returns NC_ERR_FILE for what must not be replaced: a directory, a device, a pipe or a link to one, a read-only file,
/// or anything unless `may_exist`.
NC_NODISCARD nc_status nc_partial_check_place(nc_partial *partial, const char *path, bool may_exist, nc_error *err);
/// Returns the directory for opening its files; not checked.
nc_state_folder nc_partial_folder(const nc_partial *partial);
/// Reads the record of this name in an open directory, which is checked. Returns NC_OK for a missing or damaged record,
/// which is not good. Returns NC_ERR_FILE with EPERM if another user could have written it, or could write to the
/// directory.
NC_NODISCARD nc_status nc_partial_read_record(nc_state_folder folder, const char *name, nc_kept_record *kept,
                                              nc_error *err);
/// Returns true if a record was not read because it is another user's. A shared directory may have some.
bool nc_partial_is_anothers(nc_status status, const nc_error *err);
/// Returns true if a name is that of a record.
bool nc_partial_is_record_name(const char *name);
/// Returns true if a process holds the partial file of this name.
bool nc_partial_is_locked(const nc_file_ops *ops, int folder_fd, const char *part);

#endif
