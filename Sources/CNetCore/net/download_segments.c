#include "base/alloc.h"
#include "net/download_state.h"
#include "net/engine_state.h"

#include <string.h>

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

bool nc_download_lay_one(nc_download *download, uint64_t end) {
    return make_room(download, 1) && add(download, 0, end) != NULL;
}

void nc_download_lay_over(nc_download *download, nc_segment *segment, uint64_t end) {
    for (size_t i = 0; i < download->segment_count; i++) {
        if (download->segments[i] != segment) {
            nc_free(download->segments[i]); // no other segment has a transfer yet
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

bool nc_download_lay_record(nc_download *download) {
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
        segment->done = piece->proven;
        segment->sum = download->recorded_sums[i];
        bool is_done = piece->end != NC_LENGTH_UNKNOWN && piece->proven == piece->end - piece->start;
        segment->phase = is_done ? NC_SEGMENT_DONE : NC_SEGMENT_WAITING;
    }
    return true;
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
            // The existing segments must reach the end.
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

void nc_download_absorb_next(nc_download *download, nc_segment *segment) {
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

uint64_t nc_download_held(const nc_download *download) {
    uint64_t held = 0;
    for (size_t i = 0; i < download->segment_count; i++) {
        held += download->segments[i]->done;
    }
    return held;
}

const char *nc_download_destination(const nc_download *download) {
    return download->target != NULL        ? download->target
           : download->placed_path != NULL ? download->placed_path
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
        *piece = (nc_record_piece){.start = segment->start, .end = segment->end, .proven = segment->done};
        nc_checksum sum = segment->sum;
        nc_checksum_finish(piece->sum, &sum);
    }
    nc_buf_reset(&download->job_text);
    nc_record_write(&download->job_text, record);
    return nc_buf_status(&download->job_text) == NC_OK;
}
