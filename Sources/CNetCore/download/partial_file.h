/// The files of an incomplete download: the partial file NAME.part, locked while in use, and its record NAME.part.nk.
///
/// The functions here may wait for the disk, so they run on a worker thread. The event loop only reads and writes `fd`.
/// A record is written under a temporary name and then renamed, so that the old record stays valid until the new one is
/// complete. A record consists of lines of text, and ends with a checksum:
///
///     netkit partial download 1
///     url http://example.com/film.mkv
///     path /data/film.mkv
///     etag "33a64df5"
///     strong yes
///     total 1048576
///     time 1766000000000
///     piece 0 1048576 524288 0123456789abcdef0123456789abcdef
///     check 0123456789abcdef0123456789abcdef
#ifndef NETCORE_PRIVATE_PARTIAL_FILE_H
#define NETCORE_PRIVATE_PARTIAL_FILE_H

#include "base/file.h"
#include "request/resume_rules.h"
#include "store/checksum.h"

#include <stdatomic.h>
#include <sys/types.h>

/* --- record.c --- */

enum { NC_RECORD_MAX_BYTES = 512 * 1024, NC_RECORD_MAX_PIECES = 64 };

/// A range of the file. Its first `stored_bytes` bytes are on disk.
typedef struct nc_record_piece {
    uint64_t start;
    uint64_t end; // NC_LENGTH_UNKNOWN: to the end of the file
    uint64_t stored_bytes;
    uint8_t sum[NC_CHECKSUM_BYTES]; // of the stored bytes
} nc_record_piece;

/// The contents of a record. In a record that was read, the texts point into a buffer (`nc_loaded_record.texts`). In a
/// record to be written, the writer owns them.
typedef struct nc_record {
    nc_slice url;
    nc_slice path; // of the destination
    nc_validators validators;
    nc_download_digests digests;
    uint64_t total; // NC_LENGTH_UNKNOWN
    int64_t time_ms;
    size_t piece_count;
    nc_record_piece pieces[NC_RECORD_MAX_PIECES];
} nc_record;

/// A record that was read from a file, with the storage of its texts.
typedef struct nc_loaded_record {
    nc_record record;
    nc_buf texts;    // storage of the texts; the owner initializes it before the read, and frees it
    bool is_good;    // false if the record is missing, damaged or useless
    bool is_refused; // the record exists, but another user could have written it
} nc_loaded_record;

/// Appends the text of a record. The status of `out` shows a failure.
void nc_record_write(nc_buf *out, const nc_record *record);
/// Parses a record. The slices of `out` point into `texts`, to which the texts are copied. Returns false if the record
/// is damaged, not a record of this format, or inconsistent. In a consistent record, the ranges cover the file from 0
/// to the end without gaps, and none has stored bytes beyond its end.
bool nc_record_read(nc_record *out, nc_buf *texts, nc_slice text);
uint64_t nc_record_stored_bytes(const nc_record *record);
/// Reads the record with this file name, and checks who can write to it and to its open directory. Returns NC_OK, also
/// for a missing or damaged record: then `loaded->is_good` is false. Returns NC_ERR_FILE with EPERM if another user
/// could have written the record, or could write to the directory.
NC_NODISCARD nc_status nc_record_load(nc_state_folder folder, const char *name, nc_loaded_record *loaded,
                                      nc_error *err);
/// Returns true if the result of nc_record_load() means that the record may belong to another user. A shared directory
/// may contain such records.
bool nc_record_is_foreign(nc_status status, const nc_error *err);
/// Returns true if a file name has the form of a record's name.
bool nc_record_is_file_name(const char *name);

/* --- partial_file.c --- */

enum { NC_PARTIAL_NAME_BYTES = 256 };

typedef struct nc_partial {
    nc_file_ops ops;
    const atomic_bool *is_cancelled; // reading a whole file stops when this becomes true
    bool skips_sync;
    mode_t mode; // mode of a new partial file; if the destination is private, so is the partial file from the start
    char *folder;
    int folder_fd;
    int fd;                                 // -1 if there is none
    char name[NC_PARTIAL_NAME_BYTES];       // of the complete file; empty while unknown
    char part[NC_PARTIAL_NAME_BYTES];       // of the partial file
    char record[NC_PARTIAL_NAME_BYTES];     // of the record
    char new_record[NC_PARTIAL_NAME_BYTES]; // of a record that is being written
} nc_partial;

void nc_partial_init(nc_partial *partial, const nc_file_ops *ops, bool skips_sync, const atomic_bool *is_cancelled);
/// Closes the partial file and the directory. The files stay on disk.
void nc_partial_deinit(nc_partial *partial);
/// Opens the directory. Returns NC_OK, NC_ERR_FILE with errno, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_partial_open_folder(nc_partial *partial, nc_slice path, nc_error *err);
/// Sets the name of the file. Returns NC_OK, NC_ERR_FILE (ENAMETOOLONG).
NC_NODISCARD nc_status nc_partial_set_name(nc_partial *partial, nc_slice name, nc_error *err);
/// Searches the records of the directory for a partial download of this URL, and sets the name to the one found. If
/// `path` is not empty, the record must also have this destination. Without a match the name does not change.
NC_NODISCARD nc_status nc_partial_find_url(nc_partial *partial, nc_slice url, nc_slice path, nc_error *err);
/// Returns true if a file with the record's name exists, or if that cannot be determined.
bool nc_partial_has_record(const nc_partial *partial);
/// Opens and locks the partial file, and verifies its bytes with its record, which must be for `url`. If no stored byte
/// can be used, `loaded->is_good` is false. Sets `sums` to the running checksum of each segment. Returns NC_OK,
/// NC_ERR_FILE (EBUSY: the file is in use; EPERM: another user could have written it), NC_ERR_NO_MEMORY,
/// NC_ERR_CANCELLED.
NC_NODISCARD nc_status nc_partial_open(nc_partial *partial, nc_slice url, nc_loaded_record *loaded, nc_checksum *sums,
                                       nc_error *err);
/// Writes the record, and creates or truncates the partial file. If `allocated_bytes` is not 0, allocates that many
/// bytes on disk. An empty record is not written.
NC_NODISCARD nc_status nc_partial_begin(nc_partial *partial, nc_slice record, uint64_t allocated_bytes, nc_error *err);
/// Syncs the written bytes, then replaces the record.
nc_status nc_partial_write_checkpoint(nc_partial *partial, nc_slice record, nc_error *err);
/// Truncates the partial file to `whole_bytes`. Returns NC_OK, NC_ERR_FILE. It is also an error if the file is shorter.
NC_NODISCARD nc_status nc_partial_trim(nc_partial *partial, uint64_t whole_bytes, nc_error *err);
/// Reads the whole file, and compares its digests with the given ones. Returns NC_OK, NC_ERR_DIGEST_MISMATCH,
/// NC_ERR_FILE, NC_ERR_NO_MEMORY, NC_ERR_CANCELLED.
NC_NODISCARD nc_status nc_partial_check(nc_partial *partial, const nc_download_digests *digests, nc_error *err);
/// Removes the partial file and its record, if the partial file is the one that is open.
void nc_partial_discard(nc_partial *partial);

#endif
