/// The inventory of downloads that are not whole: what lies in a directory, and what of it may go.
///
/// A partial download is NAME.part with NAME.part.nk beside it. Files without such a record belong to somebody else
/// and are neither listed nor removed, nor are those of other users, whose records cannot be read. A record that can be
/// read, but that another user could have written, is listed with a refusal and not removed; a directory where others
/// can make names is refused whole (state_file.h). Both calls may wait for the disk: they belong on a thread that may.
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

/// One partial download; texts are borrowed for the call.
typedef struct nc_download_entry {
    /// The URL that was asked first, without credentials.
    nc_slice url;
    /// Where the file is to be; a directory when its name is not settled.
    nc_slice path;
    /// The partial file.
    nc_slice partial_path;
    /// Bytes that are proven.
    uint64_t received_bytes;
    /// Bytes of the whole; NC_LENGTH_UNKNOWN when nobody knows.
    uint64_t total_bytes;
    /// When something was last proven, in milliseconds since 1970.
    int64_t changed_at_ms;
    /// The server gave a strong validator, so that it can be resumed without trust.
    bool has_validator;
    /// Somebody is at it now.
    bool is_active;
    /// Why the record is not trusted: another user owns it or can write to it. NULL for one that is. With it only
    /// `partial_path` is set: nothing that the record says is passed on.
    const nc_error *NC_NULLABLE refusal;
} nc_download_entry;

/// Receives one entry; false ends the listing.
typedef bool (*nc_download_entry_fn)(void *NC_NULLABLE ctx, const nc_download_entry *entry);

/// Lists the partial downloads of a directory, in no order; its subdirectories are not looked into.
///
/// A record whose part is gone is not listed: its file is whole, and only a kill kept the record from going.
/// - files: NULL means the system's.
/// Returns NC_OK, NC_ERR_FILE with errno, NC_ERR_NO_MEMORY. Thread-safe.
NC_API NC_NODISCARD nc_status nc_download_list(nc_download_entry_fn visit, void *NC_NULLABLE ctx, nc_slice folder,
                                               const nc_file_ops *NC_NULLABLE files, nc_error *NC_NULLABLE err);

/// Removes the partial downloads that were last proven before a moment; those that somebody is at stay.
///
/// - removed: how many went; may be NULL.
/// - before_ms: milliseconds since 1970; INT64_MAX removes all. A damaged record goes by its file's time of change.
/// Returns as nc_download_list(). Thread-safe.
NC_API NC_NODISCARD nc_status nc_download_purge(uint64_t *NC_NULLABLE removed, nc_slice folder, int64_t before_ms,
                                                const nc_file_ops *NC_NULLABLE files, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
