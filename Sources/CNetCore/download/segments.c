/// The segments of a download: the plan, their requests and their bytes.
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "download/internal.h"
#include "state/engine_record.h"
#include "transfer/transfer.h"

#include <errno.h>
#include <netcore/transfers.h>
#include <stdio.h>
#include <string.h>

/// The size of a Range value, the smallest overlap, and the shortest time between two reports of progress.
enum { RANGE_BYTES = 64, MIN_OVERLAP_BYTES = 16, PROGRESS_INTERVAL_NS = 100 * 1000000 };

/* --- plan --- */

void nc_download_free_segments(nc_download *download) {
    for (size_t i = 0; i < download->segment_count; i++) {
        nc_free(download->segments[i]);
    }
    nc_free(download->segments);
    download->segments = NULL;
    download->segment_count = 0;
}

static nc_segment *add(nc_download *download, uint64_t start, uint64_t end) {
    nc_segment *segment = nc_alloc_zeroed(1, sizeof *segment);
    if (segment != NULL) {
        segment->download = download;
        segment->start = start;
        segment->end = end;
        segment->sum = nc_checksum_init();
        download->segments[download->segment_count++] = segment;
    }
    return segment;
}

static bool make_room(nc_download *download, size_t count) {
    nc_download_free_segments(download);
    download->segments = nc_alloc_zeroed(count, sizeof *download->segments);
    return download->segments != NULL;
}

bool nc_download_create_segment(nc_download *download) {
    return make_room(download, 1) && add(download, 0, NC_LENGTH_UNKNOWN) != NULL;
}

/// Copies validators to the download, including their texts. Returns false if memory is exhausted.
static bool copy_validators(nc_download *download, const nc_validators *from) {
    nc_buf texts = nc_buf_init(SIZE_MAX / 2);
    size_t length = from->etag.length;
    nc_buf_append(&texts, from->etag);
    nc_buf_append(&texts, from->modified);
    if (nc_buf_status(&texts) != NC_OK) {
        nc_buf_deinit(&texts);
        return false;
    }
    nc_buf_deinit(&download->texts);
    download->texts = texts;
    download->validators.etag = nc_slice_make(texts.data, length);
    download->validators.modified =
        nc_slice_make(texts.data == NULL ? NULL : texts.data + length, texts.length - length);
    download->validators.is_strong = from->is_strong;
    return true;
}

bool nc_download_create_recorded_segments(nc_download *download) {
    const nc_record *record = &download->recorded.record;
    if (!make_room(download, record->piece_count)) {
        return false;
    }
    for (size_t i = 0; i < record->piece_count; i++) {
        const nc_record_piece *piece = &record->pieces[i];
        nc_segment *segment = add(download, piece->start, piece->end);
        if (segment == NULL) {
            return false;
        }
        segment->done = piece->stored_bytes;
        segment->sum = download->recorded_sums[i];
        bool is_done = piece->end != NC_LENGTH_UNKNOWN && piece->stored_bytes == piece->end - piece->start;
        segment->phase = is_done ? NC_SEGMENT_DONE : NC_SEGMENT_WAITING;
    }
    return copy_validators(download, &record->validators);
}

bool nc_download_split(nc_download *download, size_t count) {
    nc_segment *first = download->segments[0];
    uint64_t total = first->end;
    uint64_t share = total / count;
    nc_segment **room = nc_realloc(download->segments, count * sizeof *room);
    if (room == NULL) {
        return false;
    }
    download->segments = room;
    for (size_t i = 1; i < count; i++) {
        if (add(download, i * share, i + 1 == count ? total : (i + 1) * share) == NULL) {
            // Memory is exhausted. The last existing segment gets the remaining range, up to the end of the file.
            download->segments[download->segment_count - 1]->end = total;
            break;
        }
        first->end = share;
    }
    return true;
}

static size_t index_of(const nc_download *download, const nc_segment *segment) {
    size_t i = 0;
    while (i < download->segment_count && download->segments[i] != segment) {
        i++;
    }
    return i;
}

nc_segment *nc_download_next_segment(const nc_download *download, const nc_segment *segment) {
    size_t at = index_of(download, segment) + 1;
    return at < download->segment_count ? download->segments[at] : NULL;
}

/// Merges the next segment into this one.
static void merge_next(nc_download *download, nc_segment *segment) {
    size_t at = index_of(download, segment) + 1;
    nc_segment *next = download->segments[at];
    segment->end = next->end;
    memmove(download->segments + at, download->segments + at + 1,
            (download->segment_count - at - 1) * sizeof *download->segments);
    download->segment_count--;
    if (next->transfer != 0) {
        next->phase = NC_SEGMENT_DROPPED;
        nc_engine_cancel(download->engine, next->transfer);
    } else {
        nc_free(next);
    }
}

nc_segment *nc_download_first_unfinished(const nc_download *download) {
    for (size_t i = 0; i < download->segment_count; i++) {
        if (download->segments[i]->phase != NC_SEGMENT_DONE) {
            return download->segments[i];
        }
    }
    // All bytes are stored. A request for the last segment confirms that.
    return download->segments[download->segment_count - 1];
}

bool nc_download_has_all_segments(const nc_download *download) {
    for (size_t i = 0; i < download->segment_count; i++) {
        if (download->segments[i]->phase != NC_SEGMENT_DONE) {
            return false;
        }
    }
    return true;
}

uint64_t nc_download_stored_bytes(const nc_download *download) {
    uint64_t stored = 0;
    for (size_t i = 0; i < download->segment_count; i++) {
        stored += download->segments[i]->done;
    }
    return stored;
}

/* --- bytes --- */

bool nc_segment_matches_overlap(nc_segment *segment, nc_slice *bytes) {
    size_t left = segment->overlap_length - segment->overlap_at;
    size_t length = bytes->length < left ? bytes->length : left;
    if (length > 0 && memcmp(segment->overlap + segment->overlap_at, bytes->data, length) != 0) {
        return false;
    }
    segment->overlap_at += length;
    length = segment->is_whole_response ? 0 : length;
    *bytes = nc_slice_make(bytes->data + length, bytes->length - length);
    return true;
}

uint64_t nc_segment_room(nc_segment *segment, size_t wanted) {
    nc_download *download = segment->download;
    for (;;) {
        uint64_t room = segment->end == NC_LENGTH_UNKNOWN ? UINT64_MAX : segment->end - segment->start - segment->done;
        const nc_segment *next = room <= wanted ? nc_download_next_segment(download, segment) : NULL;
        bool may_absorb = segment->is_whole_response && next != NULL && next->done == 0 &&
                          (next->phase == NC_SEGMENT_WAITING || next->phase == NC_SEGMENT_REQUESTED);
        if (!may_absorb) {
            return room;
        }
        merge_next(download, segment);
    }
}

nc_status nc_segment_write(nc_segment *segment, nc_slice bytes, nc_error *err) {
    nc_download *download = segment->download;
    uint64_t at = segment->start + segment->done;
    if (!nc_files_write_at(&download->partial.ops, download->partial.fd, bytes, at)) {
        return nc_file_fail_in(err, download->partial.folder, download->partial.part, "written", errno);
    }
    nc_checksum_update(&segment->sum, bytes);
    segment->done += bytes.length;
    return NC_OK;
}

bool nc_segment_is_full(const nc_segment *segment) {
    return segment->end != NC_LENGTH_UNKNOWN && segment->start + segment->done == segment->end &&
           segment->overlap_at == segment->overlap_length;
}

bool nc_segment_has_wrong_length(const nc_segment *segment) {
    bool is_known = segment->is_whole_response && segment->same_total != NC_LENGTH_UNKNOWN;
    return (is_known && segment->start + segment->done != segment->same_total) ||
           (segment->is_whole_response && segment->overlap_at < segment->overlap_length);
}

/* --- requests --- */

/// Extends the range of a request so that the server sends the last stored bytes again. A comparison with them shows
/// whether the resource has changed. Returns false if the stored bytes cannot be read.
static bool read_overlap(nc_segment *segment) {
    nc_download *download = segment->download;
    bool is_whole = segment->end != NC_LENGTH_UNKNOWN && segment->start + segment->done == segment->end;
    uint64_t wanted = segment->done / 8;
    wanted = wanted < MIN_OVERLAP_BYTES ? MIN_OVERLAP_BYTES : wanted;
    wanted = wanted > NC_SEGMENT_OVERLAP_BYTES ? NC_SEGMENT_OVERLAP_BYTES : wanted;
    wanted = wanted > segment->done ? segment->done : wanted;
    segment->overlap_at = 0;
    segment->overlap_length = is_whole ? 0 : (size_t)wanted;
    segment->first = segment->start + segment->done - segment->overlap_length;
    if (segment->overlap_length == 0) {
        return true;
    }
    ssize_t got = nc_files_read_at(&download->partial.ops, download->partial.fd, segment->overlap,
                                   segment->overlap_length, segment->first);
    return got == (ssize_t)segment->overlap_length;
}

size_t nc_segment_read_start(nc_segment *segment) {
    nc_download *download = segment->download;
    const nc_segment *first = download->segments[0];
    uint64_t stored = first->start == 0 ? first->done : 0;
    size_t wanted = stored < sizeof segment->overlap ? (size_t)stored : sizeof segment->overlap;
    ssize_t got =
        wanted == 0 ? 0 : nc_files_read_at(&download->partial.ops, download->partial.fd, segment->overlap, wanted, 0);
    return got > 0 ? (size_t)got : 0;
}

static void add_fields(nc_segment *segment, nc_request *request, char *range) {
    nc_download *download = segment->download;
    nc_header *fields = download->request_template.headers;
    size_t count = download->request_template.request.header_count;
    fields[count++] = (nc_header){nc_slice_of("Accept-Encoding"), nc_slice_of("identity")};
    if (segment->has_range) {
        if (segment->last == NC_LENGTH_UNKNOWN) {
            (void)snprintf(range, RANGE_BYTES, "bytes=%llu-", (unsigned long long)segment->first);
        } else {
            (void)snprintf(range, RANGE_BYTES, "bytes=%llu-%llu", (unsigned long long)segment->first,
                           (unsigned long long)segment->last);
        }
        fields[count++] = (nc_header){nc_slice_of("Range"), nc_slice_of(range)};
        nc_slice condition = nc_download_if_range(&download->validators);
        if (condition.length > 0) {
            fields[count++] = (nc_header){nc_slice_of("If-Range"), condition};
        }
    }
    request->headers = fields;
    request->header_count = count;
}

/// Returns a transfer's share of the download's rate. It is at least 1, because 0 means no limit.
static uint64_t share_of_rate(const nc_download *download, uint32_t sharers) {
    uint64_t rate = download->request_template.request.limits.max_receive_bytes_per_s;
    return rate == 0 || rate >= sharers ? rate / sharers : 1;
}

/// Shares the rate equally. Called when the number of transfers has changed.
static void share_rate(nc_download *download) {
    if (download->active_count == 0 || download->request_template.request.limits.max_receive_bytes_per_s == 0) {
        return;
    }
    uint64_t share = share_of_rate(download, download->active_count);
    for (size_t i = 0; i < download->segment_count; i++) {
        if (download->segments[i]->transfer != 0) {
            nc_commands_set_receive_rate(download->engine, download->segments[i]->transfer, share);
        }
    }
}

nc_status nc_segment_request(nc_segment *segment, const nc_sink *sink, nc_error *err) {
    nc_download *download = segment->download;
    char range[RANGE_BYTES];
    segment->has_range = segment->start + segment->done > 0;
    segment->is_whole_response = false;
    segment->same_total = NC_LENGTH_UNKNOWN;
    segment->last =
        segment->end == NC_LENGTH_UNKNOWN || segment->end == download->total ? NC_LENGTH_UNKNOWN : segment->end - 1;
    if (!read_overlap(segment)) {
        return nc_file_fail_in(err, download->partial.folder, download->partial.part, "read", errno);
    }
    nc_request request = download->request_template.request;
    add_fields(segment, &request, range);
    request.limits.max_receive_bytes_per_s = share_of_rate(download, download->active_count + 1);
    nc_status status = nc_engine_submit_for_download(download->engine, &request, sink, &segment->transfer, err);
    if (status != NC_OK) {
        segment->transfer = 0;
        if (status == NC_ERR_CLOSED) {
            status = nc_error_set(err, NC_ERR_CANCELLED, 0, -1, "the engine was released");
        }
        return status;
    }
    segment->phase = NC_SEGMENT_REQUESTED;
    download->active_count++;
    share_rate(download);
    if (download->is_paused) {
        nc_engine_pause(download->engine, segment->transfer);
    }
    return NC_OK;
}

nc_resume_state nc_segment_resume_state(const nc_segment *segment) {
    const nc_download *download = segment->download;
    const nc_segment *last = download->segments[download->segment_count - 1];
    bool is_from_start = download->segment_count == 1 || nc_download_stored_bytes(download) == download->total;
    return (nc_resume_state){
        .has_stored_bytes = download->has_restarted || (download->tried_to_resume && !download->options.restarts),
        .has_range = segment->has_range,
        .first = segment->first,
        .last = segment->last,
        .stored_bytes = is_from_start ? last->start + last->done : 0,
        .total = download->total,
        .trusts_server = download->options.trusts_server,
        .validators = download->validators,
        .digests = download->digests,
    };
}

void nc_segment_remove_transfer(nc_segment *segment) {
    segment->transfer = 0;
    segment->download->active_count--;
    share_rate(segment->download);
}

/* --- all transfers --- */

void nc_download_pause_transfers(nc_download *download, bool is_paused) {
    download->is_paused = is_paused;
    for (size_t i = 0; i < download->segment_count; i++) {
        nc_transfer_id id = download->segments[i]->transfer;
        if (id != 0 && is_paused) {
            nc_engine_pause(download->engine, id);
        } else if (id != 0) {
            nc_engine_resume_from(download->engine, id, NC_PAUSE_EXPLICIT);
        }
    }
}

void nc_download_set_transfer_priority(nc_download *download, nc_priority priority) {
    download->request_template.request.priority = priority;
    for (size_t i = 0; i < download->segment_count; i++) {
        if (download->segments[i]->transfer != 0) {
            nc_engine_set_priority(download->engine, download->segments[i]->transfer, priority);
        }
    }
}

void nc_download_cancel_transfers(nc_download *download) {
    for (size_t i = 0; i < download->segment_count; i++) {
        if (download->segments[i]->transfer != 0) {
            nc_engine_cancel(download->engine, download->segments[i]->transfer);
        }
    }
}

void nc_download_continue_primary(nc_download *download) {
    for (size_t i = 0; i < download->segment_count; i++) {
        nc_segment *segment = download->segments[i];
        if (segment->is_primary && segment->transfer != 0) {
            nc_commands_continue_reading(download->engine, segment->transfer);
        }
    }
}

/* --- facts --- */

/// Makes a segment the only one of the download, and resets it to begin at the start of the file. Its transfer
/// continues.
static void reset_to_one(nc_download *download, nc_segment *segment, uint64_t end) {
    for (size_t i = 0; i < download->segment_count; i++) {
        if (download->segments[i] != segment) {
            nc_free(download->segments[i]); // The other segments have no transfer yet.
        }
    }
    download->segments[0] = segment;
    download->segment_count = 1;
    segment->start = 0;
    segment->end = end;
    segment->done = 0;
    segment->overlap_at = 0;
    segment->overlap_length = 0;
    segment->sum = nc_checksum_init();
}

static void merge_digests(nc_download_digests *into, const nc_download_digests *from) {
    if (from->has_sha256) {
        into->has_sha256 = true;
        memcpy(into->sha256, from->sha256, sizeof into->sha256);
    }
    if (from->has_md5) {
        into->has_md5 = true;
        memcpy(into->md5, from->md5, sizeof into->md5);
    }
}

bool nc_download_apply_facts(nc_download *download, const nc_download_facts *facts) {
    if (!download->starts_over) {
        merge_digests(&download->digests, &facts->digests);
        if (facts->status != 416) {
            download->total = facts->extent.range.total;
            download->segments[download->segment_count - 1]->end = download->total;
        }
        download->resumed_bytes = nc_download_stored_bytes(download);
        return true;
    }
    bool has_length = facts->extent.has_length && facts->status != 204 && facts->status != 205;
    download->total = has_length ? facts->extent.length : NC_LENGTH_UNKNOWN;
    download->digests = facts->digests;
    download->resumed_bytes = 0;
    download->is_coded = facts->extent.is_coded;
    reset_to_one(download, nc_download_first_unfinished(download), download->total);
    download->may_split = has_length && !facts->extent.is_coded && !facts->refuses_ranges &&
                          nc_download_may_resume(&facts->validators, download->options.trusts_server);
    return copy_validators(download, &facts->validators);
}

const char *nc_download_destination(const nc_download *download) {
    return download->target != NULL        ? download->target
           : download->chosen_path != NULL ? download->chosen_path
                                           : download->path;
}

bool nc_download_write_record(nc_download *download) {
    nc_engine *engine = download->engine;
    nc_record *record = &download->recorded.record;
    record->url = download->url;
    record->path = nc_slice_of(nc_download_destination(download));
    record->validators = download->validators;
    record->digests = download->digests;
    record->total = download->total;
    record->time_ms = engine->clock.realtime_ns(engine->clock.ctx) / 1000000;
    record->piece_count = download->segment_count;
    for (size_t i = 0; i < download->segment_count && i < NC_RECORD_MAX_PIECES; i++) {
        const nc_segment *segment = download->segments[i];
        nc_record_piece *piece = &record->pieces[i];
        *piece = (nc_record_piece){.start = segment->start, .end = segment->end, .stored_bytes = segment->done};
        nc_checksum sum = segment->sum;
        nc_checksum_finish(piece->sum, &sum);
    }
    nc_buf_reset(&download->task_record);
    nc_record_write(&download->task_record, record);
    return nc_buf_status(&download->task_record) == NC_OK;
}

void nc_download_report_progress(nc_download *download, bool is_last) {
    uint64_t now_ns = nc_engine_now(download->engine);
    if (download->sink.on_progress == NULL ||
        (!is_last && download->progress_ns != 0 && now_ns - download->progress_ns < PROGRESS_INTERVAL_NS)) {
        return;
    }
    nc_speed_record(&download->speed, download->fetched_bytes, now_ns);
    download->progress_ns = now_ns;
    nc_download_progress progress = {
        .received_bytes = nc_download_stored_bytes(download),
        .resumed_bytes = download->resumed_bytes,
        .total_bytes = download->total,
        .bytes_per_s = download->speed.bytes_per_s,
        .left_ms = UINT64_MAX,
        .active_segments = download->active_count,
    };
    if (progress.total_bytes != NC_LENGTH_UNKNOWN) {
        progress.left_ms = nc_speed_left_ms(&download->speed, (double)(progress.total_bytes - progress.received_bytes));
    }
    download->sink.on_progress(download->sink.ctx, download->id, &progress);
}
