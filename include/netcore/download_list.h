/// Lists and removes the partial downloads of a directory.
///
/// A partial download consists of the partial file NAME.part and its record NAME.part.nk. Both functions read the disk
/// and may block.
///
/// - Partial files without a record are ignored. So are records of other users that this process may not read.
/// - If another user could have written a record, the entry is listed with a `refusal` and is never removed.
/// - A directory where other users can create files is refused (state_file.h).
///
///     status = nc_download_list(print_entry, ctx, nc_slice_of("/data"), NULL, &err);
///     status = nc_download_purge(&removed, nc_slice_of("/data"), a_week_ago_ms, NULL, &err);
#ifndef NETCORE_DOWNLOAD_LIST_H
#define NETCORE_DOWNLOAD_LIST_H

#include <netcore/bytes.h>
#include <netcore/hooks.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// A partial download. Texts are borrowed for the call.
typedef struct nc_download_entry {
    /// The original URL, without credentials.
    nc_slice url;
    /// The destination; only its directory if the file's name is not known yet.
    nc_slice path;
    /// The partial file.
    nc_slice partial_path;
    /// Bytes up to the last checkpoint.
    uint64_t received_bytes;
    /// Bytes of the whole file; NC_LENGTH_UNKNOWN if unknown.
    uint64_t total_bytes;
    /// Time of the last checkpoint, in milliseconds since 1970.
    int64_t changed_at_ms;
    /// True if the server sent a strong validator. The download can then resume without the option trusts_server.
    bool has_validator;
    /// True if a running download uses the partial file.
    bool is_active;
    /// The reason why the record is not trusted: another user owns it or can write to it. NULL if it is trusted. With a
    /// refusal only `partial_path` is set; the record's contents are not reported.
    const nc_error *NC_NULLABLE refusal;
} nc_download_entry;

/// Receives one entry. Returning false ends the listing.
typedef bool (*nc_download_entry_fn)(void *NC_NULLABLE ctx, const nc_download_entry *entry);

/// Lists the partial downloads of a directory, in no order. Subdirectories are not searched.
///
/// A record without a partial file is not listed: its download is complete, but the process was killed before it
/// removed the record.
/// - files: the file functions; NULL means the system's.
/// Returns NC_OK, NC_ERR_FILE with errno, NC_ERR_NO_MEMORY.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_download_list(nc_download_entry_fn visit, void *NC_NULLABLE ctx, nc_slice folder,
                                               const nc_file_ops *NC_NULLABLE files, nc_error *NC_NULLABLE err);

/// Removes the partial downloads whose last checkpoint is older than `before_ms`, except those in use.
///
/// - removed: receives the number of removed partial downloads; may be NULL.
/// - before_ms: milliseconds since 1970; INT64_MAX removes all. If a record is damaged, its modification time is
///   compared.
/// Returns the statuses of nc_download_list().
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_download_purge(uint64_t *NC_NULLABLE removed, nc_slice folder, int64_t before_ms,
                                                const nc_file_ops *NC_NULLABLE files, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
