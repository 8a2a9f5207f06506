/// The state of a download, and the functions of the files that implement it. Each file calls only functions of the
/// files that are listed below it:
///
///     download.c       the public functions, the commands, the lifetime
///     state_machine.c  the phases and the events that change them
///     destination.c    the worker thread's tasks: the destination and the move to it
///     segments.c       the segments of the file, their requests and their bytes
///     partial_file.c   NAME.part: lock, verification, checkpoints
///     record.c         NAME.part.nk: its text, and the records of a directory
///     file_name.c      names from a response
#ifndef NETCORE_PRIVATE_DOWNLOAD_INTERNAL_H
#define NETCORE_PRIVATE_DOWNLOAD_INTERNAL_H

#include "base/list.h"
#include "base/worker.h"
#include "download/partial_file.h"
#include "http/rate_limit.h"
#include "request/request_template.h"
#include "request/resume_rules.h"
#include "state/mailbox.h"

#include <netcore/download.h>

/* --- file_name.c: pure --- */

enum { NC_SAFE_NAME_BYTES = 200 };

/// Appends the file name of a Content-Disposition field (RFC 6266, RFC 8187) as UTF-8, without making it safe. Returns
/// false if the field has none.
bool nc_disposition_name(nc_buf *out, nc_slice field);
/// Appends the last component of a URL's path, decoded. Returns false if there is none.
bool nc_url_last_component(nc_buf *out, nc_slice url);
/// Appends a safe file name: one path component on every system, not hidden, without control characters, at most
/// NC_SAFE_NAME_BYTES long. It is "download" if nothing is left.
void nc_safe_name(nc_buf *out, nc_slice name);
/// Appends the safe name of a response's file, from its field or the URL. Returns false if memory is exhausted.
NC_NODISCARD bool nc_response_file_name(nc_buf *out, const nc_response *response, nc_slice url,
                                        bool ignores_disposition);

typedef struct nc_download nc_download;

/// Bytes at the end of a segment that the server must send again, to prove that the resource is unchanged.
enum { NC_SEGMENT_OVERLAP_BYTES = 4096 };

typedef enum nc_segment_phase {
    NC_SEGMENT_WAITING,   // no transfer
    NC_SEGMENT_REQUESTED, // its transfer has no head yet
    NC_SEGMENT_RUNNING,   // its head was accepted
    NC_SEGMENT_DONE,
    NC_SEGMENT_DROPPED // merged into another segment; freed when its transfer ends
} nc_segment_phase;

/// A range of the file. A download has one or more segments, which cover the file without gaps. Each segment has its
/// own transfer. If the server refuses the range of a segment, the previous segment takes over its bytes, or the
/// segment is requested again later.
typedef struct nc_segment {
    nc_download *download;
    nc_segment_phase phase;
    uint64_t start;
    uint64_t end;  // NC_LENGTH_UNKNOWN: to the end of the file
    uint64_t done; // number of bytes written, counted from `start`
    nc_checksum sum;
    nc_transfer_id transfer; // 0 for none
    bool is_whole_response;  // the response is the whole file, and continues after the end of the segment
    uint32_t refusals;
    bool is_primary; // the first segment requested; its head determines the plan of the download
    bool has_range;  // the request has a Range field: from `first` to `last`
    uint64_t first;
    uint64_t last;
    size_t overlap_at; // number of bytes in `overlap` that were compared
    size_t overlap_length;
    uint64_t same_total; // total length of the version with the stored bytes; NC_LENGTH_UNKNOWN if unknown
    uint8_t overlap[NC_SEGMENT_OVERLAP_BYTES]; // stored bytes that the response must repeat
} nc_segment;

typedef enum nc_download_phase {
    NC_DOWNLOAD_PREPARING,            // the worker thread looks for stored bytes
    NC_DOWNLOAD_REQUESTING,           // no head was accepted yet
    NC_DOWNLOAD_AWAITING_DESTINATION, // a head was accepted; the destination is requested
    NC_DOWNLOAD_OPENING,              // the worker thread creates the file
    NC_DOWNLOAD_RUNNING,
    NC_DOWNLOAD_ENDING, // the worker thread moves the file to its destination, or writes a last checkpoint
} nc_download_phase;

/// A download. Only the event loop thread uses it, with two exceptions. The engine's mutex guards the commands. While a
/// task runs on the worker thread, that thread owns the fields of the task.
struct nc_download {
    nc_link link; // in the engine's list, guarded by its mutex
    nc_engine *engine;
    nc_download_id id;
    nc_download_sink sink;
    nc_request_template request_template;
    nc_slice url; // without credentials; in `url_text`
    nc_buf url_text;
    char *base;                           // base of relative paths; NULL if unknown
    char *path;                           // absolute
    size_t path_offset;                   // offset at which the caller's path begins in the absolute path
    char *folder;                         // directory of the partial file; NULL: the destination's directory
    nc_download_options options;          // the pointers and slices in it may be invalid, and are not used
    nc_download_digests expected_digests; // given by the caller

    // Commands, guarded by the engine's mutex.
    uint8_t commands;
    nc_priority commanded_priority;
    char *commanded_path;
    nc_worker_result command_result;
    bool is_command_listed;
    atomic_bool is_cancelled;

    // Owned by the worker thread while `is_working`. Exception: the event loop may write to the partial file's `fd`.
    nc_work work;
    nc_worker_result result;
    bool is_working;
    nc_error task_error;
    nc_buf task_record; // the text of the record that the task writes
    nc_partial partial;
    char *chosen_path;       // result of on_destination; NULL: the given path
    char *target;            // the file's path; NULL while its name is unknown
    nc_buf head_name;        // the file name from the head
    bool is_whole;           // the ending task must move the file to its destination
    bool starts_over;        // the opening task must create an empty file
    bool has_begun;          // the opening task has created an empty file, so it has no bytes of an earlier download
    bool keeps_partial_file; // the partial file stays on disk
    uint64_t allocated_bytes;
    uint64_t whole_bytes;       // length of the complete file that the ending task moves
    nc_loaded_record recorded;  // the record of the partial file
    nc_checksum *recorded_sums; // the running checksum of each of its segments

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
    bool is_complete; // the server has confirmed that all bytes are stored
    bool wants_restart;
    bool has_restarted;
    bool tried_to_resume;
    nc_error error;
    nc_error refusal; // the last failure of a segment other than the primary one
    nc_buf texts;     // storage of the validators
    nc_validators validators;
    nc_download_digests digests; // given by the server
    uint64_t total;
    uint64_t resumed_bytes;
    uint64_t fetched_bytes;
    uint64_t checkpoint_ns;
    nc_buf error_body;
    nc_response *response;
    nc_speed speed;
    uint64_t progress_ns;                 // time of the last on_progress
    void (*ended)(nc_download *download); // called after the files were closed; calls on_done and frees the download
};

/* --- destination.c: on the worker thread --- */

/// Looks for stored bytes: opens the directory, determines the name, and opens and verifies the partial file.
void nc_download_prepare(nc_work *work);
/// Checks the destination, and creates an empty partial file if the download starts over.
void nc_download_open(nc_work *work);
void nc_download_checkpoint(nc_work *work);
/// Moves the complete file to its destination, or leaves a partial file that can be resumed. Closes the files.
void nc_download_end(nc_work *work);

/* --- segments.c: on the event loop --- */

/// Creates one segment, without a transfer, that covers the whole file. Returns false if memory is exhausted.
NC_NODISCARD bool nc_download_create_segment(nc_download *download);
/// Creates the segments of the record, with its validators. Returns false if memory is exhausted.
NC_NODISCARD bool nc_download_create_recorded_segments(nc_download *download);
/// Splits the only segment into `count` segments. Returns false if memory is exhausted.
NC_NODISCARD bool nc_download_split(nc_download *download, size_t count);
/// Stores the length, the digests and the validators of an accepted head. Returns false if memory is exhausted.
NC_NODISCARD bool nc_download_apply_facts(nc_download *download, const nc_download_facts *facts);
/// Returns the next segment; NULL after the last.
nc_segment *nc_download_next_segment(const nc_download *download, const nc_segment *segment);
/// Returns the first segment that is not done, or the last segment if all are done.
nc_segment *nc_download_first_unfinished(const nc_download *download);
bool nc_download_has_all_segments(const nc_download *download);
void nc_download_free_segments(nc_download *download);
uint64_t nc_download_stored_bytes(const nc_download *download);
/// Returns the path of the destination. It is a directory while the name of the file is unknown.
const char *nc_download_destination(const nc_download *download);
/// Writes the current record to task_record. Returns false if memory is exhausted.
NC_NODISCARD bool nc_download_write_record(nc_download *download);
/// Calls on_progress, at most once per interval unless `is_last`.
void nc_download_report_progress(nc_download *download, bool is_last);
/// Compares the first bytes of a response with the stored bytes in `overlap`. Returns false if they differ. If the
/// response is a part of the file, removes the compared bytes from `bytes`.
bool nc_segment_matches_overlap(nc_segment *segment, nc_slice *bytes);
/// Returns how many more bytes belong to this segment.
///
/// If the response is the whole file and `wanted` bytes reach the end of the segment, first merges the next segments
/// into this one. This is done even if the bytes end exactly at the end of the segment. Otherwise the transfer would be
/// stopped there, and a server without range support could not send the other segments.
uint64_t nc_segment_room(nc_segment *segment, size_t wanted);
/// Appends bytes to the segment. Returns NC_OK, NC_ERR_FILE.
NC_NODISCARD nc_status nc_segment_write(nc_segment *segment, nc_slice bytes, nc_error *err);
bool nc_segment_is_full(const nc_segment *segment);
/// Returns true if the response is the whole file of the stored version, but its length or its number of compared bytes
/// is wrong.
bool nc_segment_has_wrong_length(const nc_segment *segment);
/// Sends a segment's request. Returns NC_OK, or the status of the failure.
NC_NODISCARD nc_status nc_segment_request(nc_segment *segment, const nc_sink *sink, nc_error *err);
/// Removes a transfer that has ended.
void nc_segment_remove_transfer(nc_segment *segment);
/// Returns the conditions with which nc_download_decide() checks the head of the segment's response.
nc_resume_state nc_segment_resume_state(const nc_segment *segment);
/// Copies the first stored bytes to `overlap`, and returns their number. Call it before a response with the whole file
/// replaces stored bytes of the same version. The response must begin with the same bytes.
size_t nc_segment_read_start(nc_segment *segment);
void nc_download_pause_transfers(nc_download *download, bool is_paused);
void nc_download_set_transfer_priority(nc_download *download, nc_priority priority);
void nc_download_cancel_transfers(nc_download *download);
/// Continues the transfer of the primary segment, which was paused after its head.
void nc_download_continue_primary(nc_download *download);

/* --- state_machine.c: on the event loop --- */

void nc_download_fail_with(nc_download *download, nc_status status, const char *what);
/// Starts the first phase. Call it once, from any thread.
void nc_download_run(nc_download *download);
/// Does what the current phase requires next, after an event or a failure.
void nc_download_advance(nc_download *download);
/// Continues after the destination became known. Submits the task that checks the destination and opens the file.
void nc_download_destination_known(nc_download *download);

#endif
