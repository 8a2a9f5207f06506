/// A download between start and on_done. It belongs to the loop thread, but for its orders, which are under the
/// engine's mutex, and for what a job works on while the worker has it.
///
/// It is a row of segments that cover the file without gaps. One is enough; with several each has a transfer of its
/// own, and one whose server says no is left to the one before it, or for later.
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
    NC_SEGMENT_DROPPED // another one has its bytes; it goes with the end of its transfer
} nc_segment_phase;

/// So often a segment is asked for: beside others at first, then alone.
enum { NC_SEGMENT_MAX_REFUSALS = 3 };

typedef struct nc_segment {
    nc_download *download;
    nc_segment_phase phase;
    uint64_t start;
    uint64_t end;  // NC_LENGTH_UNKNOWN: as far as it goes
    uint64_t done; // bytes in place, from the start
    nc_checksum sum;
    nc_transfer_id transfer; // 0: none
    bool gives_all;          // its transfer goes on behind its end
    uint32_t refusals;
    bool is_primary; // the first one that was asked: what its head says decides
    bool has_range;  // was asked for: first to last
    uint64_t first;
    uint64_t last;
    size_t overlap_at; // of the bytes that are compared
    size_t overlap_length;
    uint64_t
        same_total; // that the whole has, being of the version that is held; NC_LENGTH_UNKNOWN when nothing is known
    uint8_t overlap[NC_PARTIAL_OVERLAP_BYTES];
} nc_segment;

typedef enum nc_download_phase {
    NC_DOWNLOAD_PREPARING, // the worker looks what is there
    NC_DOWNLOAD_ASKING,    // no head was accepted
    NC_DOWNLOAD_PLACING,   // a head was; where the file goes is asked for
    NC_DOWNLOAD_OPENING,   // the worker makes the file
    NC_DOWNLOAD_RUNNING,
    NC_DOWNLOAD_ENDING, // the worker puts it in its place, or proves what there is
} nc_download_phase;

enum { NC_DOWNLOAD_ORDER_PAUSE = 1, NC_DOWNLOAD_ORDER_RESUME = 2, NC_DOWNLOAD_ORDER_PRIORITY = 4 };
enum { NC_DOWNLOAD_ORDER_PLACE = 8, NC_DOWNLOAD_ORDER_CANCEL = 16, NC_DOWNLOAD_ORDER_MISPLACE = 32 };

struct nc_download {
    nc_link link; // of the engine's, under its mutex
    nc_engine *engine;
    nc_download_id id;
    nc_download_sink sink;
    nc_kept_request kept;
    nc_slice url; // without credentials; in `url_text`
    nc_buf url_text;
    char *base;                  // where relative paths begin; NULL when nobody knows
    char *path;                  // with it in front
    size_t given_at;             // where in the destination begins what was given
    char *folder;                // for the partial; NULL: where the file goes
    nc_download_options options; // its pointers and slices are not used
    nc_download_digests wanted;  // by the caller

    // Orders, under the engine's mutex.
    uint8_t orders;
    nc_priority ordered_priority;
    char *ordered_path;
    nc_answer order_answer;
    bool is_order_listed;
    atomic_bool is_cancelled;

    // The worker's while `is_working`, but for the partial's descriptor.
    nc_work work;
    nc_answer answer;
    bool is_working;
    nc_error job_error;
    nc_buf job_text; // a record
    nc_partial partial;
    char *placed_path; // the answer to on_destination; NULL: the path given
    char *target;      // the file's path; NULL while its name is not known
    nc_buf head_name;  // what the head calls the file
    bool is_whole;     // the ending job is to put it in its place
    bool begins_anew;  // the opening job is to make an empty file
    bool has_begun;    // and did: what is there is of this download alone
    bool is_kept;      // something is left of it
    uint64_t allocated_bytes;
    uint64_t whole_bytes; // of the file that the ending job puts in its place
    nc_kept_record recorded;
    nc_checksum *recorded_sums;

    // The loop's.
    nc_download_phase phase;
    nc_segment **segments;
    size_t segment_count;
    uint32_t active_count; // transfers
    bool is_paused;
    bool is_dirty; // bytes came since the last record
    bool is_coded; // what comes has a content coding, and can never be gone on with
    bool may_split;
    bool has_failed;
    bool is_complete; // nothing needs to be fetched
    bool wants_restart;
    bool has_restarted;
    bool tried_to_resume;
    bool has_told_resumed;
    nc_error error;
    nc_error refusal; // the last one, of a transfer that was not alone
    nc_buf texts;     // of the validators
    nc_validators validators;
    nc_download_digests digests; // by the server
    uint64_t total;
    uint64_t resumed_bytes;
    uint64_t fetched_bytes;
    uint64_t proved_ns;
    nc_buf error_body;
    nc_response *response;
    nc_progress_state progress;
};

/// Cancels all downloads of an engine that closes; on the loop.
void nc_download_cancel_all(nc_engine *engine);

/* --- download_jobs.c: on the worker --- */

/// Looks what is there: folder, name, partial, record.
void nc_download_prepare(nc_work *work);
/// Makes the file, or finds out whether it may be made.
void nc_download_open(nc_work *work);
/// Proves what was written.
void nc_download_claim(nc_work *work);
/// Puts the whole file in its place, or leaves what there is so that it can be gone on with.
void nc_download_end(nc_work *work);

/* --- download_segments.c: on the loop --- */

/// Lays out one segment for the whole; none has a transfer. False without memory.
NC_NODISCARD bool nc_download_lay_one(nc_download *download, uint64_t end);
/// Makes a segment that has a transfer the only one, from the start.
void nc_download_lay_over(nc_download *download, nc_segment *segment, uint64_t end);
/// Lays out the record's pieces. False without memory.
NC_NODISCARD bool nc_download_lay_record(nc_download *download);
/// Cuts the one segment that runs into as many as are wanted. False without memory.
NC_NODISCARD bool nc_download_split(nc_download *download, size_t count);
/// The segment behind one; NULL for the last.
nc_segment *nc_download_next_segment(const nc_download *download, const nc_segment *segment);
/// Takes the segment behind into this one.
void nc_download_absorb_next(nc_download *download, nc_segment *segment);
void nc_download_free_segments(nc_download *download);
/// Bytes that are there.
uint64_t nc_download_held(const nc_download *download);
/// Where the file goes, as far as that is known: the file, or a directory.
const char *nc_download_destination(const nc_download *download);
/// Writes the record of how it stands to job_text; false without memory.
NC_NODISCARD bool nc_download_write_record(nc_download *download);

/* --- download_transfers.c: on the loop --- */

/// Sends a segment's request.
void nc_download_ask(nc_download *download, nc_segment *segment);

/* --- download_course.c: on the loop --- */

/// Sends the first request, or the first after all was found useless.
void nc_download_begin(nc_download *download);
/// Goes on with whatever is due after something has ended.
void nc_download_step_on(nc_download *download);
/// Ends it with the first reason; `err` is copied.
void nc_download_fail(nc_download *download, const nc_error *err);
void nc_download_fail_with(nc_download *download, nc_status status, const char *what);
/// A head was accepted: whose it is, and where the file goes, is settled before its body comes.
void nc_download_accept(nc_download *download, const nc_response *response, const nc_download_facts *facts);
/// Bytes came: proves and tells them when it is time.
void nc_download_note_bytes(nc_download *download, uint64_t bytes);
/// Tells how far it is.
void nc_download_tell(nc_download *download, bool is_last);
/// Gives a job to the worker; `arrive` follows on the loop.
void nc_download_work(nc_download *download, void (*run)(nc_work *work), void (*arrive)(nc_answer *answer));
/// The end of everything: tells the caller and frees it.
void nc_download_finish(nc_download *download);
/// Frees one that nobody knows.
void nc_download_free(nc_download *download);
/// What an order asks for.
void nc_download_obey(nc_answer *answer);
/// The answer to nc_download_prepare().
void nc_download_prepared(nc_answer *answer);
/// Where the file goes is known: it is made, or looked at.
void nc_download_place_known(nc_download *download);

#endif
