/// A file that is fetched: into its place when it is whole, resumed after whatever cut it short, never a mix.
///
/// What has come so far lies in NAME.part beside its place (or in a folder of choice), and NAME.part.nk says what is
/// proven of it: URL, validators, total, how much is on disk for certain and the check of those bytes. The next
/// download of the same URL goes on from there with Range and If-Range (RFC 9110, 13.1.5 and 14), and only when the
/// server's answer agrees in range, total and validator, and in the last bytes that are there already. Anything else
/// begins anew. docs/downloads.md has the whole story.
///
///     nc_download_options options = {.request = &request, .path = nc_slice_of("/data/film.mkv")};
///     nc_download_sink sink = {.ctx = me, .on_done = done};
///     status = nc_download_start(engine, &options, &sink, &id, &err);
#ifndef NETCORE_DOWNLOAD_H
#define NETCORE_DOWNLOAD_H

#include <netcore/engine.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Names one download of one engine; 0 names none, no number is used twice.
typedef uint64_t nc_download_id;

/// Segments at most.
#define NC_DOWNLOAD_MAX_SEGMENTS 16u
/// How often what was written is proven, in milliseconds, where 0 is said.
#define NC_DOWNLOAD_DEFAULT_PROOF_MS 1000u
/// The total limit of a download whose request has none: 7 days; idleness limits it.
#define NC_DOWNLOAD_DEFAULT_TOTAL_MS 604800000u

/// What becomes of a file that is there already.
typedef NC_ENUM(nc_existing){
    /// A file that was named is replaced; one in a directory, whose name came from elsewhere, is not.
    NC_EXISTING_DEFAULT = 0,
    /// It is replaced, by rename, when the download is whole; until then it stays. The new file has its permissions,
    /// and its owner and group where the system allows that; one that may not be written is NC_ERR_FILE (EACCES),
    /// before a byte of the body is fetched. A link is replaced itself.
    NC_EXISTING_REPLACE = 1,
    /// It stays: NC_ERR_FILE with EEXIST, before a byte of the body is fetched.
    NC_EXISTING_REFUSE = 2,
} nc_existing;

/// What to download, and how.
typedef struct nc_download_options {
    /// What to ask: a GET without body, save_path, expectation, Range and If-Range. Codings are not asked for. Its
    /// max_receive_bytes_per_s is the download's, its priority too. Borrowed for the call; NULL is NC_ERR_USAGE.
    const nc_request *NC_NULLABLE request;
    /// Where it goes: a file, or a directory when one is there, when it ends with '/' or is_directory says so. In a
    /// directory the name comes from Content-Disposition (RFC 6266) or the URL, made harmless. Relative paths are those
    /// of the directory where the process is when it starts the download. Copied.
    nc_slice path;
    /// True when `path` is a directory whatever is there.
    bool is_directory;
    /// True takes the name in a directory from the URL alone.
    bool ignores_disposition;
    /// What becomes of a file that is there already.
    nc_existing existing;
    /// Directory for what is not whole yet; empty: where the file will be. Of one file system it is renamed from
    /// there, else copied. Copied.
    nc_slice partial_folder;
    /// True begins anew whatever there is.
    bool restarts;
    /// True resumes although the server gave no strong validator: who says so trusts it not to change the resource.
    bool trusts_server;
    /// True asks on_destination where the file goes, and waits for nc_download_place().
    bool asks_destination;
    /// True leaves fsync(2) out: a kill does no harm even so, a power failure may.
    bool skips_sync;
    /// Ranges at once, 1 to NC_DOWNLOAD_MAX_SEGMENTS; 0 is 1. Fewer when the server or the size do not allow them.
    uint32_t segments;
    /// How often what was written is proven, in milliseconds; 0 is NC_DOWNLOAD_DEFAULT_PROOF_MS.
    uint32_t proof_ms;
    /// SHA-256 that the file must have, 32 bytes; NULL for none. Copied.
    const uint8_t *NC_NULLABLE sha256;
    /// MD5 that the file must have, 16 bytes; NULL for none. Copied.
    const uint8_t *NC_NULLABLE md5;
} nc_download_options;

/// How far a download is.
typedef struct nc_download_progress {
    /// Bytes of the file that are there, what was resumed included.
    uint64_t received_bytes;
    /// Of these, bytes that an earlier attempt had fetched.
    uint64_t resumed_bytes;
    /// Bytes of the whole file; NC_LENGTH_UNKNOWN when nobody knows.
    uint64_t total_bytes;
    /// Bytes a second over the last seconds, without what was resumed.
    uint64_t bytes_per_s;
    /// Time left at that rate, in milliseconds; UINT64_MAX when nobody knows.
    uint64_t left_ms;
    /// Ranges under way.
    uint32_t active_segments;
} nc_download_progress;

/// How a download ended; texts are borrowed for the call.
typedef struct nc_download_result {
    /// Where the file is; after a failure where it would have been, as far as that was known.
    nc_slice path;
    /// Where what there is of it lies after a failure; empty when nothing is kept.
    nc_slice partial_path;
    /// Bytes of the file, or of what is kept.
    uint64_t byte_count;
    /// Bytes that came from an earlier attempt.
    uint64_t resumed_bytes;
} nc_download_result;

/// Where a download's events go; all on the loop thread, on_done once and last. Callbacks must not block.
typedef struct nc_download_sink {
    /// Handed to each callback; kept until on_done returns.
    void *NC_NULLABLE ctx;
    /// A head that is taken for the file's; may come again when it begins anew. May be NULL.
    void (*NC_NULLABLE on_head)(void *NC_NULLABLE ctx, nc_download_id id, const nc_response *response);
    /// It was tried to resume: it goes on from `offset`, or from 0 when it begins anew. `total` may be
    /// NC_LENGTH_UNKNOWN. May be NULL.
    void (*NC_NULLABLE on_resumed)(void *NC_NULLABLE ctx, nc_download_id id, uint64_t offset, uint64_t total);
    /// With asks_destination: nc_download_place() is waited for, from whichever thread. NULL takes the path given.
    void (*NC_NULLABLE on_destination)(void *NC_NULLABLE ctx, nc_download_id id, const nc_response *response);
    /// Something moved; at most ten times a second, and once at the end. May be NULL.
    void (*NC_NULLABLE on_progress)(void *NC_NULLABLE ctx, nc_download_id id, const nc_download_progress *progress);
    /// It is over: `error->status` is NC_OK and the file is in its place, or what went wrong. `response` is borrowed;
    /// of a status that is no success it has the body, up to 1 MiB of it; NULL when none came.
    void (*on_done)(void *NC_NULLABLE ctx, nc_download_id id, nc_response *NC_NULLABLE response,
                    const nc_download_result *result, const nc_error *error);
} nc_download_sink;

/// Starts a download and calls nothing back. It does not block, but for a short look at the disk where the system has
/// no thread left for it.
///
/// - options, sink: copied, with what they point to; the request's trust policy is retained.
/// - out: the download's id.
/// Returns NC_OK; NC_ERR_USAGE, NC_ERR_BAD_URL and what else nc_engine_submit() says of the request; NC_ERR_CLOSED,
/// NC_ERR_NO_MEMORY; on_done is then never called. on_done says: what a transfer may end with;
/// NC_ERR_FILE with errno (EEXIST also where a NAME.part without a record is in the way); NC_ERR_BAD_STATUS (the
/// server's status in native_code: no success, or where a part is there none but 200 and 206); NC_ERR_DIGEST_MISMATCH
/// (nothing is kept); NC_ERR_BAD_RANGE; NC_ERR_CANCELLED. Thread-safe.
NC_API NC_NODISCARD nc_status nc_download_start(nc_engine *engine, const nc_download_options *options,
                                                const nc_download_sink *sink, nc_download_id *out,
                                                nc_error *NC_NULLABLE err);

/// Ends a download; what there is of it is kept, and proven, before on_done comes with NC_ERR_CANCELLED.
///
/// Unknown and finished ids are ignored, here and below. Never blocks. Thread-safe.
NC_API void nc_download_cancel(nc_engine *engine, nc_download_id id);

/// Stops receiving until nc_download_resume(); idleness is then not counted. Never blocks. Thread-safe.
NC_API void nc_download_pause(nc_engine *engine, nc_download_id id);

/// Goes on after nc_download_pause(). Never blocks. Thread-safe.
NC_API void nc_download_resume(nc_engine *engine, nc_download_id id);

/// Changes its place among those that wait. Never blocks. Thread-safe.
NC_API void nc_download_set_priority(nc_engine *engine, nc_download_id id, nc_priority priority);

/// Answers on_destination.
///
/// - path: as nc_download_options.path; empty takes that one. Copied; with a NUL in it the download ends with
///         NC_ERR_USAGE, without memory for it with NC_ERR_NO_MEMORY.
/// Ignored where nothing was asked. Never blocks. Thread-safe.
NC_API void nc_download_place(nc_engine *engine, nc_download_id id, nc_slice path);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
