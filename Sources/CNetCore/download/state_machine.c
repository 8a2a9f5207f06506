/// The phases of a download and the events that change them, on the event loop.
///
///     phase                  event                                                    next phase
///     PREPARING              the worker thread has looked for stored bytes            REQUESTING
///     REQUESTING             the head of the primary segment is accepted              AWAITING_DESTINATION
///     AWAITING_DESTINATION   the destination is known                                 OPENING
///     OPENING                the worker thread has opened the file                    RUNNING
///     RUNNING                all segments are done                                    ENDING
///     all except ENDING      a failure or a cancellation                              ENDING
///     REQUESTING to RUNNING  the response does not match the stored bytes (once)      REQUESTING
///     ENDING                 the worker thread has moved or left the file             on_done, freed
///
/// The handler of an event stores its result, and then calls nc_download_advance(), which continues the download. That
/// function starts ENDING or a new request only after all transfers and the task on the worker thread have ended.
#include "base/alloc.h"
#include "base/error.h"
#include "base/worker.h"
#include "download/internal.h"
#include "request/response.h"
#include "request/resume_rules.h"
#include "state/engine_record.h"

/// A smaller segment is not worth its own connection.
enum { MIN_SEGMENT_BYTES = 256 * 1024 };

/// How many times the server may refuse a segment before the download fails or starts over. The first request is sent
/// while other segments are in flight, and the retries are sent alone.
enum { MAX_REFUSALS = 3 };

#define NS_PER_MS 1000000u

/* --- worker tasks --- */

/// Submits a task to the worker thread. After the task, `arrive` is called on the event loop.
static void submit_task(nc_download *download, void (*run)(nc_work *work), void (*arrive)(nc_worker_result *result)) {
    download->is_working = true;
    download->work.run = run;
    download->result.arrive = arrive;
    (void)nc_error_clear(&download->task_error);
    if (nc_worker_submit(download->engine->worker, &download->work) != NC_OK) {
        run(&download->work); // No thread is available. A short wait is better than a download that never ends.
    }
}

/// Returns the download whose task has ended.
static nc_download *arrived(nc_worker_result *result) {
    nc_download *download = NC_CONTAINER_OF(result, nc_download, result);
    download->is_working = false;
    return download;
}

/* --- failure --- */

static void fail(nc_download *download, const nc_error *err) {
    if (!download->has_failed) {
        download->has_failed = true;
        download->error = *err;
    }
}

void nc_download_fail_with(nc_download *download, nc_status status, const char *what) {
    nc_error err;
    (void)nc_error_set(&err, status, 0, -1, "%s", what);
    fail(download, &err);
}

static void fail_for_memory(nc_download *download) {
    nc_download_fail_with(download, NC_ERR_NO_MEMORY, "no memory for a download");
}

/* --- destination --- */

static void opened(nc_worker_result *result) {
    nc_download *download = arrived(result);
    if (download->task_error.status != NC_OK) {
        fail(download, &download->task_error);
    } else if (!download->has_failed) {
        download->phase = NC_DOWNLOAD_RUNNING;
        download->checkpoint_ns = nc_engine_now(download->engine);
        nc_download_continue_primary(download);
    }
    nc_download_advance(download);
}

void nc_download_destination_known(nc_download *download) {
    uint32_t wanted = download->options.segments;
    uint64_t worthwhile = download->total / MIN_SEGMENT_BYTES;
    // If the download has started over because its ranges did not match, it is not split. It would be split at the same
    // offsets, and could fail again.
    bool splits =
        download->starts_over && download->may_split && !download->has_restarted && wanted > 1 && worthwhile > 1;
    bool is_created = !splits || nc_download_split(download, worthwhile < wanted ? (size_t)worthwhile : wanted);
    download->allocated_bytes = splits ? download->total : 0;
    if (!is_created || !nc_download_write_record(download)) {
        fail_for_memory(download);
        nc_download_advance(download);
        return;
    }
    download->phase = NC_DOWNLOAD_OPENING;
    submit_task(download, nc_download_open, opened);
}

/* --- head --- */

/// Determines the segments and the destination before the body arrives.
static void accept_head(nc_download *download, const nc_response *response, const nc_download_facts *facts) {
    const nc_download_sink *sink = &download->sink;
    nc_buf_reset(&download->head_name);
    if (!nc_download_apply_facts(download, facts) ||
        !nc_response_file_name(&download->head_name, response, download->url, download->options.ignores_disposition)) {
        fail_for_memory(download);
        return;
    }
    if (sink->on_head != NULL) {
        sink->on_head(sink->ctx, download->id, response);
    }
    if (download->tried_to_resume && sink->on_resumed != NULL) {
        sink->on_resumed(sink->ctx, download->id, download->resumed_bytes, download->total);
    }
    bool needs_destination =
        download->options.requests_destination && sink->on_destination != NULL && download->chosen_path == NULL;
    download->phase = NC_DOWNLOAD_AWAITING_DESTINATION;
    if (needs_destination) {
        sink->on_destination(sink->ctx, download->id, response);
    } else {
        nc_download_destination_known(download);
    }
}

/// Handles the refusal of a range: the previous segment takes over its bytes, or it is requested again later.
static nc_action refuse(nc_segment *segment) {
    segment->refusals++;
    segment->phase = NC_SEGMENT_WAITING;
    return NC_ACTION_STOP;
}

/// Accepts the head of the primary segment. The body waits until the file is open.
static nc_action accept_primary(nc_segment *segment, const nc_response *response, const nc_resume_state *state,
                                const nc_download_facts *facts) {
    nc_download *download = segment->download;
    segment->phase = NC_SEGMENT_RUNNING;
    bool is_same = segment->is_whole_response && state->has_range && !facts->extent.is_coded &&
                   nc_download_is_same_version(state, facts);
    size_t start_bytes = is_same ? nc_segment_read_start(segment) : 0;
    accept_head(download, response, facts);
    if (is_same) {
        segment->same_total = state->total;
        segment->overlap_length = start_bytes;
    }
    return download->has_failed ? NC_ACTION_STOP : NC_ACTION_PAUSE;
}

static nc_action decide(nc_segment *segment, const nc_response *response) {
    nc_download *download = segment->download;
    nc_download_facts facts;
    nc_download_read_facts(&facts, response);
    nc_resume_state state = nc_segment_resume_state(segment);
    nc_download_step step = nc_download_decide(&state, &facts);
    if (!segment->is_primary && step == NC_DOWNLOAD_FAIL_STATUS && segment->refusals + 1 == MAX_REFUSALS) {
        segment->is_primary = true; // The last retry: report its error page, and keep the stored bytes.
    }
    if (!segment->is_primary && step != NC_DOWNLOAD_TAKE_PART) {
        return refuse(segment);
    }
    switch (step) {
    case NC_DOWNLOAD_TAKE_WHOLE:
        segment->is_whole_response = true;
        download->starts_over = true;
        break;
    case NC_DOWNLOAD_TAKE_PART:
        segment->phase = NC_SEGMENT_RUNNING;
        download->starts_over = false;
        break;
    case NC_DOWNLOAD_IS_COMPLETE:
        download->total = state.stored_bytes;
        download->segments[download->segment_count - 1]->end = state.stored_bytes;
        segment->phase = NC_SEGMENT_DONE;
        download->is_complete = true;
        download->starts_over = false;
        break;
    case NC_DOWNLOAD_REQUEST_WHOLE:
        download->wants_restart = true;
        return refuse(segment);
    case NC_DOWNLOAD_FAIL_RANGE:
        nc_download_fail_with(download, NC_ERR_BAD_RANGE,
                              "the server sent a partial response to a request without a Range header");
        return NC_ACTION_STOP;
    case NC_DOWNLOAD_FAIL_STATUS:
        return NC_ACTION_CONTINUE; // The error page is delivered with the error.
    }
    return segment->is_primary ? accept_primary(segment, response, &state, &facts) : NC_ACTION_CONTINUE;
}

static nc_action on_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    nc_segment *segment = ctx;
    (void)id;
    if (!is_last) {
        return NC_ACTION_CONTINUE;
    }
    bool is_wanted = segment->phase == NC_SEGMENT_REQUESTED && !segment->download->has_failed;
    return is_wanted ? decide(segment, response) : NC_ACTION_STOP;
}

/* --- body --- */

/// Appends bytes to the error page. Returns NC_ACTION_STOP when the page has its maximum length.
static nc_action append_error_body(nc_download *download, nc_slice bytes) {
    size_t room = download->error_body.max_bytes - download->error_body.length;
    nc_buf_append(&download->error_body, nc_slice_make(bytes.data, bytes.length < room ? bytes.length : room));
    return bytes.length < room ? NC_ACTION_CONTINUE : NC_ACTION_STOP;
}

/// Fails with the status of the response, and moves the error page into its body.
static void fail_with_status(nc_download *download, nc_response *response) {
    nc_error err;
    unsigned code = nc_response_status(response);
    // Only the event loop thread has used the response so far. The application may read it after on_done, so its body
    // must be complete before that.
    if (nc_response_append_body(response, nc_buf_slice(&download->error_body)) != NC_OK) {
        nc_download_fail_with(download, NC_ERR_NO_MEMORY, "no memory for a response body");
        return;
    }
    (void)nc_error_set(&err, NC_ERR_BAD_STATUS, (int32_t)code, -1, "status %u: no file was saved", code);
    fail(download, &err);
}

static void checkpoint_written(nc_worker_result *result) {
    nc_download *download = arrived(result);
    if (download->task_error.status != NC_OK) {
        fail(download, &download->task_error);
    }
    nc_download_advance(download);
}

static void write_checkpoint(nc_download *download, uint64_t now_ns) {
    download->checkpoint_ns = now_ns;
    if (!nc_download_write_record(download)) {
        return; // The previous record stays valid.
    }
    download->is_dirty = false;
    submit_task(download, nc_download_checkpoint, checkpoint_written);
}

/// Counts received bytes. Reports progress and writes a checkpoint when they are due.
static void record_bytes(nc_download *download, uint64_t bytes) {
    uint64_t now_ns = nc_engine_now(download->engine);
    uint32_t checkpoint_interval_ms = download->options.checkpoint_interval_ms;
    uint64_t interval_ns =
        (uint64_t)(checkpoint_interval_ms == 0 ? NC_DOWNLOAD_DEFAULT_CHECKPOINT_INTERVAL_MS : checkpoint_interval_ms) *
        NS_PER_MS;
    download->is_dirty = true;
    download->fetched_bytes += bytes;
    nc_download_report_progress(download, false);
    if (!download->is_working && !download->is_coded && now_ns - download->checkpoint_ns >= interval_ns) {
        write_checkpoint(download, now_ns);
    }
}

static nc_action on_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    nc_segment *segment = ctx;
    nc_download *download = segment->download;
    (void)id;
    if (segment->phase == NC_SEGMENT_REQUESTED && !download->has_failed) {
        return append_error_body(download, bytes);
    }
    if (segment->phase != NC_SEGMENT_RUNNING || download->has_failed || download->wants_restart ||
        download->is_complete) {
        return NC_ACTION_STOP;
    }
    if (!nc_segment_matches_overlap(segment, &bytes)) {
        download->wants_restart = true;
        return refuse(segment);
    }
    uint64_t room = nc_segment_room(segment, bytes.length);
    bool is_too_much = bytes.length > room;
    if (is_too_much && !segment->is_whole_response) {
        nc_download_fail_with(download, NC_ERR_BAD_RANGE, "the server sent more bytes than it announced");
        return NC_ACTION_STOP;
    }
    nc_error err;
    if (nc_segment_write(segment, nc_slice_make(bytes.data, is_too_much ? (size_t)room : bytes.length), &err) !=
        NC_OK) {
        fail(download, &err);
        return NC_ACTION_STOP;
    }
    record_bytes(download, bytes.length);
    bool is_last = nc_download_next_segment(download, segment) == NULL;
    if (segment->end != NC_LENGTH_UNKNOWN && segment->start + segment->done == segment->end && !is_last) {
        segment->phase = NC_SEGMENT_DONE;
        return segment->is_whole_response ? NC_ACTION_STOP : NC_ACTION_CONTINUE;
    }
    return NC_ACTION_CONTINUE;
}

/* --- end of a transfer --- */

/// Processes the end of the transfer of a running segment, which is complete or truncated.
static void end_running(nc_segment *segment, const nc_error *error) {
    nc_download *download = segment->download;
    if (nc_segment_is_full(segment)) {
        segment->phase = NC_SEGMENT_DONE;
    } else if (error->status == NC_OK && segment->end == NC_LENGTH_UNKNOWN && nc_segment_has_wrong_length(segment)) {
        segment->phase = NC_SEGMENT_WAITING;
        download->wants_restart = true;
    } else if (error->status == NC_OK && segment->end == NC_LENGTH_UNKNOWN) {
        segment->end = segment->start + segment->done;
        download->total = segment->end;
        segment->phase = NC_SEGMENT_DONE;
    } else if (error->status == NC_OK) {
        segment->phase = NC_SEGMENT_WAITING;
        nc_download_fail_with(download, NC_ERR_CUT_SHORT,
                              "the body is incomplete: it ended before its announced length");
    } else {
        segment->phase = NC_SEGMENT_WAITING;
        fail(download, error);
    }
}

static void on_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    nc_segment *segment = ctx;
    nc_download *download = segment->download;
    (void)id;
    nc_segment_remove_transfer(segment);
    if (segment->is_primary && nc_response_status(response) != 0) {
        nc_response_release(download->response);
        download->response = nc_response_retain(response);
    }
    if (segment->phase == NC_SEGMENT_DROPPED) {
        nc_free(segment);
    } else if (download->has_failed || download->is_complete) {
        segment->phase = nc_segment_is_full(segment) ? NC_SEGMENT_DONE : NC_SEGMENT_WAITING;
    } else if (segment->phase == NC_SEGMENT_RUNNING && !download->wants_restart) {
        end_running(segment, error);
    } else if (segment->phase == NC_SEGMENT_REQUESTED && segment->is_primary) {
        bool has_error_page = error->status == NC_OK || error->status == NC_ERR_STOPPED_BY_CALLER;
        if (has_error_page) {
            fail_with_status(download, response);
        } else {
            fail(download, error);
        }
    } else if (segment->phase == NC_SEGMENT_REQUESTED) {
        download->refusal = *error;
        (void)refuse(segment);
    }
    nc_download_advance(download);
}

/* --- requests --- */

static void request_segment(nc_segment *segment) {
    const nc_sink sink = {.ctx = segment, .on_head = on_head, .on_body = on_body, .on_done = on_done};
    nc_error err;
    if (nc_segment_request(segment, &sink, &err) != NC_OK) {
        fail(segment->download, &err);
    }
}

static void request_primary(nc_download *download, nc_segment *segment) {
    segment->is_primary = true;
    download->phase = NC_DOWNLOAD_REQUESTING;
    request_segment(segment);
}

/// Creates the segments from the record, or one new segment, and sends the first request.
static void begin(nc_download *download) {
    const nc_record *record = &download->recorded.record;
    bool has_stored_bytes = download->recorded.is_good && nc_record_stored_bytes(record) > 0;
    download->tried_to_resume = has_stored_bytes;
    bool resumes = has_stored_bytes && !download->options.restarts &&
                   nc_download_may_resume(&record->validators, download->options.trusts_server);
    bool is_created = resumes ? nc_download_create_recorded_segments(download) : nc_download_create_segment(download);
    if (!is_created) {
        fail_for_memory(download);
        return;
    }
    download->total = resumes ? record->total : NC_LENGTH_UNKNOWN;
    download->digests = resumes ? record->digests : (nc_download_digests){0};
    request_primary(download, nc_download_first_unfinished(download));
}

static void prepared(nc_worker_result *result) {
    nc_download *download = arrived(result);
    if (download->task_error.status != NC_OK) {
        fail(download, &download->task_error);
    }
    if (!download->has_failed) {
        begin(download);
    } else if (download->recorded.is_good && !nc_download_create_recorded_segments(download)) {
        nc_download_free_segments(download); // They are only needed for the number of stored bytes in the result.
    }
    nc_download_advance(download);
}

void nc_download_run(nc_download *download) {
    submit_task(download, nc_download_prepare, prepared);
}

/// Discards all stored bytes, and requests the whole file. If the download has already been restarted, it fails.
static void restart(nc_download *download) {
    download->wants_restart = false;
    if (download->has_restarted) {
        nc_download_fail_with(download, NC_ERR_BAD_RANGE,
                              "the server's responses to range requests are inconsistent, even after a restart");
    } else if (!nc_download_create_segment(download)) {
        fail_for_memory(download);
    } else {
        download->has_restarted = true;
        download->total = NC_LENGTH_UNKNOWN;
        request_primary(download, download->segments[0]);
    }
    if (download->has_failed) {
        nc_download_advance(download);
    }
}

/// Requests a refused segment again, while no other transfer is in flight. After MAX_REFUSALS refusals, the download
/// fails or starts over.
static void retry_refused(nc_download *download) {
    for (size_t i = 0; i < download->segment_count && !download->has_failed; i++) {
        nc_segment *segment = download->segments[i];
        if (segment->phase != NC_SEGMENT_WAITING) {
            continue;
        }
        if (segment->refusals < MAX_REFUSALS) {
            request_segment(segment);
            return;
        }
        if (download->refusal.status != NC_OK && download->refusal.status != NC_ERR_STOPPED_BY_CALLER) {
            fail(download, &download->refusal);
        } else {
            download->wants_restart = true;
        }
        return;
    }
}

static void request_waiting(nc_download *download) {
    uint32_t allowed = download->options.segments > 1 ? download->options.segments : 1;
    for (size_t i = 0; i < download->segment_count && !download->has_failed; i++) {
        nc_segment *segment = download->segments[i];
        if (segment->phase == NC_SEGMENT_WAITING && segment->refusals == 0 && download->active_count < allowed) {
            request_segment(segment);
        }
    }
    if (download->active_count == 0) {
        retry_refused(download);
    }
}

/* --- end --- */

static void ended(nc_worker_result *result) {
    nc_download *download = arrived(result);
    if (download->is_whole && download->task_error.status != NC_OK) {
        download->error = download->task_error;
    }
    download->ended(download);
}

/// Moves the complete file to its destination, or leaves a partial file.
static void end(nc_download *download, bool is_whole) {
    uint64_t stored = nc_download_stored_bytes(download);
    download->phase = NC_DOWNLOAD_ENDING;
    download->is_whole = is_whole;
    download->whole_bytes = stored;
    download->keeps_partial_file = !download->has_begun || (stored > 0 && !download->is_coded);
    bool needs_record = is_whole || (download->is_dirty && download->keeps_partial_file);
    if (!needs_record || !nc_download_write_record(download)) {
        nc_buf_reset(&download->task_record);
    }
    submit_task(download, nc_download_end, ended);
}

/* --- next step --- */

void nc_download_advance(nc_download *download) {
    if (download->phase == NC_DOWNLOAD_ENDING) {
        return;
    }
    bool is_running = download->phase == NC_DOWNLOAD_RUNNING;
    bool continues = !download->has_failed && !download->wants_restart;
    if (continues && is_running && !nc_download_has_all_segments(download) && !download->is_complete &&
        !download->is_paused) {
        request_waiting(download);
        continues = !download->has_failed && !download->wants_restart;
    }
    if (!continues) {
        nc_download_cancel_transfers(download);
    }
    if (download->is_working || download->active_count > 0) {
        return;
    }
    if (download->has_failed) {
        end(download, false);
    } else if (download->wants_restart) {
        restart(download);
    } else if (is_running && (nc_download_has_all_segments(download) || download->is_complete)) {
        end(download, true);
    }
}
