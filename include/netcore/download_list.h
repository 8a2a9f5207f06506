/// Lists and removes the partial downloads of a directory.
///
/// A partial download is NAME.part with its record NAME.part.nk. Both functions may wait for the disk.
///
/// - Files without a record are ignored, and so are other users' records that cannot be read.
/// - A readable record that another user could have written is listed with a refusal and not removed.
/// - A directory where other users can create files is refused (state_file.h).
///
///     status = nc_download_list(show, me, nc_slice_of("/data"), NULL, &err);
///     status = nc_download_purge(&gone, nc_slice_of("/data"), a_week_ago_ms, NULL, &err);
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
    /// The destination; a directory if the name is not known yet.
    nc_slice path;
    /// The partial file.
    nc_slice partial_path;
    /// Bytes up to the last checkpoint.
    uint64_t received_bytes;
    /// Bytes of the whole file; NC_LENGTH_UNKNOWN if unknown.
    uint64_t total_bytes;
    /// Time of the last checkpoint, in milliseconds since 1970.
    int64_t changed_at_ms;
    /// The server sent a strong validator, so that the download can resume without trusts_server.
    bool has_validator;
    /// A download is using it now.
    bool is_active;
    /// The reason why the record is not trusted: another user owns it or can write to it. NULL if it is trusted. With a
    /// refusal only `partial_path` is set; the record's contents are not reported.
    const nc_error *NC_NULLABLE refusal;
} nc_download_entry;

/// Receives one entry. Returning false ends the listing.
typedef bool (*nc_download_entry_fn)(void *NC_NULLABLE ctx, const nc_download_entry *entry);

/// Lists the partial downloads of a directory, in no order. Subdirectories are not searched.
///
/// A record without a partial file is not listed. Its file is complete; a killed process left the record.
/// - files: NULL means the system's.
/// Returns NC_OK, NC_ERR_FILE with errno, NC_ERR_NO_MEMORY.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_download_list(nc_download_entry_fn visit, void *NC_NULLABLE ctx, nc_slice folder,
                                               const nc_file_ops *NC_NULLABLE files, nc_error *NC_NULLABLE err);

/// Removes the partial downloads whose last checkpoint is older than a given time. Keeps those in use.
///
/// - removed: the number removed; may be NULL.
/// - before_ms: milliseconds since 1970; INT64_MAX removes all. The modification time counts for a damaged record.
/// Returns as nc_download_list().
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_download_purge(uint64_t *NC_NULLABLE removed, nc_slice folder, int64_t before_ms,
                                                const nc_file_ops *NC_NULLABLE files, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
