/// The files of a download that is not whole: NAME.part, locked while somebody is at it, and its record.
///
/// Everything here may wait for the disk and runs on a worker; the loop writes to `fd` alone. A record is written under
/// another name and renamed, so that the old one counts until the new one is whole.
#ifndef NETCORE_PRIVATE_DOWNLOAD_PARTIAL_H
#define NETCORE_PRIVATE_DOWNLOAD_PARTIAL_H

#include "net/download_record.h"

#include <netcore/state_file.h>
#include <stdatomic.h>
#include <sys/types.h>

enum { NC_PARTIAL_NAME_BYTES = 256 };

/// The bytes at the end of a piece that the server has to send again, to show that it is the same resource still.
enum { NC_PARTIAL_OVERLAP_BYTES = 4096, NC_PARTIAL_MIN_OVERLAP_BYTES = 16 };

/// A record that an earlier try left.
typedef struct nc_kept_record {
    nc_record record;
    nc_buf texts;    // what it points into, empty before it is read; its holder frees it
    bool is_good;    // false where there is none, where it is damaged, or of no use
    bool is_refused; // it was opened, and another user could have written it
} nc_kept_record;

typedef struct nc_partial {
    nc_file_ops ops;
    const atomic_bool *is_cancelled; // a long look through a file ends when it becomes true
    bool skips_sync;
    mode_t mode; // of a part that is made: what will be private is so from its first byte
    char *folder;
    int folder_fd;
    int fd;                           // -1 while there is none
    char name[NC_PARTIAL_NAME_BYTES]; // of the file that it will be; empty while nobody knows
    char part[NC_PARTIAL_NAME_BYTES];
    char record[NC_PARTIAL_NAME_BYTES];
    char fresh[NC_PARTIAL_NAME_BYTES];
} nc_partial;

void nc_partial_init(nc_partial *partial, const nc_file_ops *ops, bool skips_sync, const atomic_bool *is_cancelled);
/// Closes what is open; the files stay.
void nc_partial_deinit(nc_partial *partial);

/// Opens the folder. NC_ERR_FILE with errno, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_partial_open_folder(nc_partial *partial, nc_slice path, nc_error *err);
/// Settles the name of the file. NC_ERR_FILE (ENAMETOOLONG).
NC_NODISCARD nc_status nc_partial_set_name(nc_partial *partial, nc_slice name, nc_error *err);
/// Settles the name as that of a partial download of this URL, if there is one; for this path, unless it is empty.
NC_NODISCARD nc_status nc_partial_find_url(nc_partial *partial, nc_slice url, nc_slice path, nc_error *err);
/// Whether there is anything under the name of the record; true as well where that cannot be told.
bool nc_partial_has_record(const nc_partial *partial);

/// Opens and locks what there is of a URL, and proves it. `kept` is not good when nothing of it can be used.
/// `sums` gets the running check of each piece. NC_ERR_FILE (EBUSY: somebody is at it; EPERM: another user could have
/// written it), NC_ERR_NO_MEMORY, NC_ERR_CANCELLED.
NC_NODISCARD nc_status nc_partial_open(nc_partial *partial, nc_slice url, nc_kept_record *kept, nc_checksum *sums,
                                       nc_error *err);
/// Begins anew: an empty file, or one of `allocated_bytes`, and this record; an empty one is not written.
NC_NODISCARD nc_status nc_partial_begin(nc_partial *partial, nc_slice record, uint64_t allocated_bytes, nc_error *err);
/// Syncs what was written, then puts this record in the old one's place.
nc_status nc_partial_claim(nc_partial *partial, nc_slice record, nc_error *err);
/// Cuts off what lies behind the end; NC_ERR_FILE too where somebody else has cut off more.
NC_NODISCARD nc_status nc_partial_trim(nc_partial *partial, uint64_t whole_bytes, nc_error *err);
/// Reads the file through and compares. NC_ERR_DIGEST_MISMATCH, NC_ERR_FILE, NC_ERR_CANCELLED.
NC_NODISCARD nc_status nc_partial_check(nc_partial *partial, const nc_download_digests *digests, nc_error *err);
/// Puts the whole file in its place, with the rights of what it replaces, and removes the record.
NC_NODISCARD nc_status nc_partial_place(nc_partial *partial, const char *path, bool replaces, nc_error *err);
/// Removes the files.
void nc_partial_discard(nc_partial *partial);

/// Whether a path names a directory; false for what cannot be looked at.
bool nc_partial_is_directory(const nc_file_ops *ops, const char *path);
/// Whether there is anything at a path, links not followed; a part that is made is as private as a file there.
/// NC_ERR_FILE for what may not be replaced: a directory, a device, a pipe or a link to one, a file that may not be
/// written, or anything unless `may_exist`.
NC_NODISCARD nc_status nc_partial_check_place(nc_partial *partial, const char *path, bool may_exist, nc_error *err);
/// The folder, for opening its files; not checked.
nc_state_folder nc_partial_folder(const nc_partial *partial);
/// Reads the record of this name in an open folder, which is checked. NC_OK for a missing or damaged one, which is not
/// good. One that another user could have written, or that lies in such a folder, is NC_ERR_FILE with EPERM.
NC_NODISCARD nc_status nc_partial_read_record(nc_state_folder folder, const char *name, nc_kept_record *kept,
                                              nc_error *err);
/// Whether a record was not read because it is another user's: a shared directory has some of those.
bool nc_partial_is_anothers(nc_status status, const nc_error *err);
/// Whether a name is that of a record.
bool nc_partial_is_record_name(const char *name);
/// Whether somebody holds the part of this name.
bool nc_partial_is_locked(const nc_file_ops *ops, int folder_fd, const char *part);

#endif
