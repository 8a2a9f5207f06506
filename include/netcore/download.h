/// Downloads to a file, with resumption after any interruption.
///
/// The file appears at its destination when it is complete. Until then its bytes are in the partial file NAME.part,
/// beside the destination or in `partial_folder`. Beside the partial file is the record NAME.part.nk. It contains the
/// URL, the validators, the total length, the number of bytes that are safely on disk, and their checksum.
///
/// The next download of the same URL to the same destination resumes with Range and If-Range (RFC 9110, 13.1.5 and 14).
/// Range, total length and validator of the response must match the record, and the overlapping bytes the end of the
/// partial file. Otherwise the download restarts. docs/downloads.md has the details.
///
///     nc_download_options options = {.request = &request, .path = nc_slice_of("/data/film.mkv")};
///     nc_download_sink sink = {.ctx = me, .on_done = done};
///     status = nc_download_start(engine, &options, &sink, &id, &err);
#ifndef NETCORE_DOWNLOAD_H
#define NETCORE_DOWNLOAD_H

#include <netcore/engine.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The id of a download within its engine. 0 means no download. An id is never reused.
typedef uint64_t nc_download_id;

/// The largest number of segments.
#define NC_DOWNLOAD_MAX_SEGMENTS 16u
/// The default of nc_download_options.checkpoint_interval_ms.
#define NC_DOWNLOAD_DEFAULT_CHECKPOINT_INTERVAL_MS 1000u
/// The default of nc_limits.total_ms for a download: 7 days. The idle limit applies too.
#define NC_DOWNLOAD_DEFAULT_TOTAL_MS 604800000u

/// What to do if the file exists.
typedef NC_ENUM(nc_existing){
    /// If `path` names a file, replaces it. If `path` names a directory, refuses to replace a file in it, because the
    /// name comes from the server or the URL.
    NC_EXISTING_DEFAULT = 0,
    /// Replaces the file by rename when the download is complete. The new file gets its permissions, and its owner and
    /// group if the system allows that. A read-only file fails with NC_ERR_FILE (EACCES) before the body is fetched. A
    /// symbolic link itself is replaced.
    NC_EXISTING_REPLACE = 1,
    /// Fails with NC_ERR_FILE (EEXIST) before the body is fetched.
    NC_EXISTING_REFUSE = 2,
} nc_existing;

/// Options of a download.
typedef struct nc_download_options {
    /// The request. It must be a GET without a body, save_path, expectation, Range and If-Range. Content codings are
    /// not requested. Its max_receive_bytes_per_s and priority apply to all segments together. Borrowed for the call.
    /// NULL is NC_ERR_USAGE.
    const nc_request *NC_NULLABLE request;
    /// The destination. It is a directory if a directory exists there, the path ends with '/' or `is_directory` is set;
    /// otherwise it is a file. In a directory the file's name is taken from Content-Disposition (RFC 6266) or the URL,
    /// and sanitized. A relative path is resolved against the working directory at nc_download_start(). Copied.
    nc_slice path;
    /// True if `path` is a directory, even if it does not exist.
    bool is_directory;
    /// If the destination is a directory: true takes the file's name from the URL and ignores Content-Disposition.
    bool ignores_disposition;
    /// What to do if the file exists.
    nc_existing existing;
    /// Directory of the partial file; empty means the destination's. The complete file is renamed to its destination,
    /// or copied if the destination is on another file system. The text is copied.
    nc_slice partial_folder;
    /// True ignores an existing partial file and starts at the first byte.
    bool restarts;
    /// True resumes even if the server sent no strong validator. The caller then relies on the server not to change the
    /// resource.
    bool trusts_server;
    /// True calls on_destination when the response head has arrived, and waits until nc_download_set_destination() is
    /// called.
    bool requests_destination;
    /// True omits fsync(2). The partial file survives a killed process, but a power failure may damage it.
    bool skips_sync;
    /// Largest number of concurrent range requests, 1 to NC_DOWNLOAD_MAX_SEGMENTS; 0 means 1. Fewer are used if the
    /// server does not support ranges or the file is small.
    uint32_t segments;
    /// Interval between checkpoints, which write the partial file and its record to the disk, in milliseconds. 0 means
    /// NC_DOWNLOAD_DEFAULT_CHECKPOINT_INTERVAL_MS.
    uint32_t checkpoint_interval_ms;
    /// Required SHA-256 of the file, 32 bytes; NULL for none. Copied.
    const uint8_t *NC_NULLABLE sha256;
    /// Required MD5 of the file, 16 bytes; NULL for none. Copied.
    const uint8_t *NC_NULLABLE md5;
} nc_download_options;

/// Progress of a download.
typedef struct nc_download_progress {
    /// Bytes of the file so far, including those of an earlier attempt.
    uint64_t received_bytes;
    /// Bytes that an earlier attempt fetched.
    uint64_t resumed_bytes;
    /// Bytes of the whole file; NC_LENGTH_UNKNOWN if unknown.
    uint64_t total_bytes;
    /// Bytes per second over the last seconds, not counting `resumed_bytes`.
    uint64_t bytes_per_s;
    /// Remaining time at that rate, in milliseconds; UINT64_MAX if unknown.
    uint64_t left_ms;
    /// Segments in flight.
    uint32_t active_segments;
} nc_download_progress;

/// Result of a download. Texts are borrowed for the call.
typedef struct nc_download_result {
    /// Path of the file; after a failure, the path that it would have had, or empty if that was not known yet.
    nc_slice path;
    /// Path of the partial file after a failure; empty if none is kept.
    nc_slice partial_path;
    /// Bytes of the file or the partial file.
    uint64_t byte_count;
    /// Bytes that an earlier attempt fetched.
    uint64_t resumed_bytes;
} nc_download_result;

/// Callbacks of a download, on the loop thread. on_done is called exactly once, last. Callbacks must not block.
typedef struct nc_download_sink {
    /// Passed to each callback. Kept until on_done returns.
    void *NC_NULLABLE ctx;
    /// Receives the head of the response that carries the file. Called again after each restart. May be NULL.
    void (*NC_NULLABLE on_head)(void *NC_NULLABLE ctx, nc_download_id id, const nc_response *response);
    /// Reports the result of resuming: the download continues at `offset`, or restarts if it is 0. `total` may be
    /// NC_LENGTH_UNKNOWN. May be NULL.
    void (*NC_NULLABLE on_resumed)(void *NC_NULLABLE ctx, nc_download_id id, uint64_t offset, uint64_t total);
    /// Called if `requests_destination` is set: choose the destination and call nc_download_set_destination(), from any
    /// thread. If it is NULL, the options' path is used.
    void (*NC_NULLABLE on_destination)(void *NC_NULLABLE ctx, nc_download_id id, const nc_response *response);
    /// Reports progress, at most ten times per second and once at the end. May be NULL.
    void (*NC_NULLABLE on_progress)(void *NC_NULLABLE ctx, nc_download_id id, const nc_download_progress *progress);
    /// Reports the end. If `error->status` is NC_OK, the file is at its destination; otherwise it is the reason of the
    /// failure. `response` is borrowed, and NULL if no response arrived. If its HTTP status is not a success, it
    /// contains the body, up to 1 MiB.
    void (*on_done)(void *NC_NULLABLE ctx, nc_download_id id, nc_response *NC_NULLABLE response,
                    const nc_download_result *result, const nc_error *error);
} nc_download_sink;

/// Starts a download. This function itself never calls back. It does not block, except for a short disk access if the
/// system cannot start another thread.
///
/// - options, sink: copied, with the memory that they point to. The request's trust policy is retained.
/// - out: the download's id.
/// Returns NC_OK, NC_ERR_USAGE, NC_ERR_BAD_URL, the other errors of nc_engine_submit(), NC_ERR_CLOSED,
/// NC_ERR_NO_MEMORY. After an error on_done is never called.
/// on_done receives an error of a transfer, or one of these:
///
/// - NC_ERR_FILE: native_code is the errno. EEXIST can also mean that a file NAME.part without a record exists
/// - NC_ERR_BAD_STATUS: native_code is the HTTP status. It is not a success; while resuming, it is neither 200 nor 206
/// - NC_ERR_DIGEST_MISMATCH: the partial file is removed
/// - NC_ERR_BAD_RANGE
/// - NC_ERR_CANCELLED
///
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_download_start(nc_engine *engine, const nc_download_options *options,
                                                const nc_download_sink *sink, nc_download_id *out,
                                                nc_error *NC_NULLABLE err);

/// Cancels a download. The download writes a last checkpoint, keeps the partial file, and ends with NC_ERR_CANCELLED.
///
/// This function and those below ignore unknown ids and finished downloads. Never blocks.
/// Thread-safe.
NC_API void nc_download_cancel(nc_engine *engine, nc_download_id id);

/// Pauses receiving until nc_download_resume(). The idle limit does not apply during the pause. Never blocks.
/// Thread-safe.
NC_API void nc_download_pause(nc_engine *engine, nc_download_id id);

/// Resumes after nc_download_pause(). Never blocks.
/// Thread-safe.
NC_API void nc_download_resume(nc_engine *engine, nc_download_id id);

/// Changes the priority among waiting transfers. Never blocks.
/// Thread-safe.
NC_API void nc_download_set_priority(nc_engine *engine, nc_download_id id, nc_priority priority);

/// Sets the destination that on_destination asked for. Ignored if none was asked for. Never blocks.
///
/// - path: as nc_download_options.path; empty means that path. Copied. If it contains a NUL, the download ends with
///   NC_ERR_USAGE; if memory runs out, with NC_ERR_NO_MEMORY.
/// Thread-safe.
NC_API void nc_download_set_destination(nc_engine *engine, nc_download_id id, nc_slice path);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
