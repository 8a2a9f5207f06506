/// A download between start and on_done. It belongs to the event loop thread, with two exceptions. The engine's mutex
/// guards its commands, and the worker thread owns the fields of a job while it runs.
///
/// It is a row of segments that cover the file without gaps. One is enough. With several, each has its own transfer. If
/// the server refuses a segment, the previous segment takes it over, or it is retried later.
#ifndef NETCORE_PRIVATE_DOWNLOAD_STATE_H
#define NETCORE_PRIVATE_DOWNLOAD_STATE_H

#include "base/list.h"
#include "base/worker.h"
#include "net/download_partial.h"
#include "net/download_request.h"
#include "net/mailbox.h"
#include "net/progress.h"

#include <netcore/download.h>

typedef struct nc_download nc_download;

typedef enum nc_segment_phase {
    NC_SEGMENT_WAITING, // no transfer
    NC_SEGMENT_ASKED,   // its transfer has no head yet
    NC_SEGMENT_RUNNING, // its head was accepted
    NC_SEGMENT_DONE,
    NC_SEGMENT_DROPPED // another segment has its bytes; it is freed when its transfer ends
} nc_segment_phase;

/// How often a segment is requested: first concurrently with others, then alone.
enum { NC_SEGMENT_MAX_REFUSALS = 3 };

typedef struct nc_segment {
    nc_download *download;
    nc_segment_phase phase;
    uint64_t start;
    uint64_t end;  // NC_LENGTH_UNKNOWN: to the end of the file
    uint64_t done; // bytes written, from the start
    nc_checksum sum;
    nc_transfer_id transfer; // 0 for none
    bool gives_all;          // its transfer continues after its end
    uint32_t refusals;
    bool is_primary; // the first one requested: its head decides
    bool has_range;  // a range was requested: first to last
    uint64_t first;
    uint64_t last;
    size_t overlap_at; // offset of the bytes to compare
    size_t overlap_length;
    uint64_t same_total; // total of the stored version; NC_LENGTH_UNKNOWN if unknown
    uint8_t overlap[NC_PARTIAL_OVERLAP_BYTES];
} nc_segment;

typedef enum nc_download_phase {
    NC_DOWNLOAD_PREPARING, // the worker thread looks for stored bytes
    NC_DOWNLOAD_ASKING,    // no head was accepted
    NC_DOWNLOAD_PLACING,   // a head was accepted; the destination is requested
    NC_DOWNLOAD_OPENING,   // the worker thread creates the file
    NC_DOWNLOAD_RUNNING,
    NC_DOWNLOAD_ENDING, // the worker thread moves it to its destination, or writes a checkpoint
} nc_download_phase;

enum { NC_DOWNLOAD_ORDER_PAUSE = 1, NC_DOWNLOAD_ORDER_RESUME = 2, NC_DOWNLOAD_ORDER_PRIORITY = 4 };
enum { NC_DOWNLOAD_ORDER_PLACE = 8, NC_DOWNLOAD_ORDER_CANCEL = 16, NC_DOWNLOAD_ORDER_MISPLACE = 32 };

struct nc_download {
    nc_link link; // in the engine's list, guarded by its mutex
    nc_engine *engine;
    nc_download_id id;
    nc_download_sink sink;
    nc_kept_request kept;
    nc_slice url; // without credentials; in `url_text`
    nc_buf url_text;
    char *base;                  // base of relative paths; NULL if unknown
    char *path;                  // absolute
    size_t given_at;             // offset of the given path in the destination
    char *folder;                // for the partial file; NULL: the destination's directory
    nc_download_options options; // its pointers and slices are not used
    nc_download_digests wanted;  // given by the caller

    // Commands, guarded by the engine's mutex.
    uint8_t orders;
    nc_priority ordered_priority;
    char *ordered_path;
    nc_answer order_answer;
    bool is_order_listed;
    atomic_bool is_cancelled;

    // The worker thread's while `is_working`, except the partial file's descriptor.
    nc_work work;
    nc_answer answer;
    bool is_working;
    nc_error job_error;
    nc_buf job_text; // a record
    nc_partial partial;
    char *placed_path; // result of on_destination; NULL: the given path
    char *target;      // the file's path; NULL while its name is unknown
    nc_buf head_name;  // the file name from the head
    bool is_whole;     // the ending job must move it to its destination
    bool begins_anew;  // the opening job must create an empty file
    bool has_begun;    // and did so: all bytes are of this download
    bool is_kept;      // some of it is left on disk
    uint64_t allocated_bytes;
    uint64_t whole_bytes; // length of the file that the ending job moves
    nc_kept_record recorded;
    nc_checksum *recorded_sums;

    // Event loop thread only.
    nc_download_phase phase;
    nc_segment **segments;
    size_t segment_count;
    uint32_t active_count; // number of transfers
    bool is_paused;
    bool is_dirty; // bytes arrived since the last record
    bool is_coded; // the response has a content coding, so it can never be resumed
    bool may_split;
    bool has_failed;
    bool is_complete; // nothing has to be fetched
    bool wants_restart;
    bool has_restarted;
    bool tried_to_resume;
    bool has_told_resumed;
    nc_error error;
    nc_error refusal; // the last failure of a segment that was requested concurrently
    nc_buf texts;     // storage of the validators
    nc_validators validators;
    nc_download_digests digests; // given by the server
    uint64_t total;
    uint64_t resumed_bytes;
    uint64_t fetched_bytes;
    uint64_t proved_ns;
    nc_buf error_body;
    nc_response *response;
    nc_progress_state progress;
};

/// Cancels all downloads of a closing engine, on the event loop.
void nc_download_cancel_all(nc_engine *engine);

/* --- download_jobs.c: on the worker --- */

/// Looks for stored bytes: directory, name, partial file, record.
void nc_download_prepare(nc_work *work);
/// Creates the file, or checks that it can be created.
void nc_download_open(nc_work *work);
/// Writes a checkpoint.
void nc_download_claim(nc_work *work);
/// Moves the complete file to its destination, or leaves a partial file that can be resumed.
void nc_download_end(nc_work *work);

/* --- download_segments.c: on the loop --- */

/// Creates one segment for everything, without a transfer. Returns false if memory is exhausted.
NC_NODISCARD bool nc_download_lay_one(nc_download *download, uint64_t end);
/// Makes a segment with a transfer the only one, from the start of the file.
void nc_download_lay_over(nc_download *download, nc_segment *segment, uint64_t end);
/// Creates the segments of the record. Returns false if memory is exhausted.
NC_NODISCARD bool nc_download_lay_record(nc_download *download);
/// Splits the only running segment into the wanted number. Returns false if memory is exhausted.
NC_NODISCARD bool nc_download_split(nc_download *download, size_t count);
/// Returns the next segment; NULL after the last.
nc_segment *nc_download_next_segment(const nc_download *download, const nc_segment *segment);
/// Merges the next segment into this one.
void nc_download_absorb_next(nc_download *download, nc_segment *segment);
void nc_download_free_segments(nc_download *download);
/// Returns the number of stored bytes.
uint64_t nc_download_held(const nc_download *download);
/// Returns the destination as far as it is known: the file, or a directory.
const char *nc_download_destination(const nc_download *download);
/// Writes the current record to job_text. Returns false if memory is exhausted.
NC_NODISCARD bool nc_download_write_record(nc_download *download);

/* --- download_transfers.c: on the loop --- */

/// Sends a segment's request.
void nc_download_ask(nc_download *download, nc_segment *segment);

/* --- download_course.c: on the loop --- */

/// Sends the first request, or the first one after all stored bytes were discarded.
void nc_download_begin(nc_download *download);
/// Continues with the next steps after something has ended.
void nc_download_step_on(nc_download *download);
/// Ends the download with its first error; `err` is copied.
void nc_download_fail(nc_download *download, const nc_error *err);
void nc_download_fail_with(nc_download *download, nc_status status, const char *what);
/// Handles an accepted head: its segment and the destination are determined before its body arrives.
void nc_download_accept(nc_download *download, const nc_response *response, const nc_download_facts *facts);
/// Counts received bytes. Writes a checkpoint and reports progress when they are due.
void nc_download_note_bytes(nc_download *download, uint64_t bytes);
/// Reports progress.
void nc_download_tell(nc_download *download, bool is_last);
/// Submits a job to the worker thread. `arrive` is called on the event loop after it.
void nc_download_work(nc_download *download, void (*run)(nc_work *work), void (*arrive)(nc_answer *answer));
/// Ends the download: calls on_done and frees it.
void nc_download_finish(nc_download *download);
/// Frees a download that is not in the engine's list.
void nc_download_free(nc_download *download);
/// Executes the commands.
void nc_download_obey(nc_answer *answer);
/// Continues after nc_download_prepare().
void nc_download_prepared(nc_answer *answer);
/// Continues when the destination is known: creates the file, or checks it.
void nc_download_place_known(nc_download *download);

#endif
