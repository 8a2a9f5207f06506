#include "base/alloc.h"
#include "base/error.h"
#include "net/download_files.h"
#include "net/download_state.h"
#include "net/engine_state.h"
#include "net/orders.h"
#include "net/response.h"

#include <errno.h>
#include <netcore/transfers.h>
#include <stdio.h>
#include <string.h>

/// Limit of an error page.
enum { MAX_ERROR_BODY_BYTES = 1024 * 1024, RANGE_BYTES = 64 };

/* --- asking --- */

/// Requests the last stored bytes again, to detect that the server has other ones.
static bool take_overlap(nc_segment *segment) {
    nc_download *download = segment->download;
    bool is_whole = segment->end != NC_LENGTH_UNKNOWN && segment->start + segment->done == segment->end;
    uint64_t wanted = segment->done / 8;
    wanted = wanted < NC_PARTIAL_MIN_OVERLAP_BYTES ? NC_PARTIAL_MIN_OVERLAP_BYTES : wanted;
    wanted = wanted > NC_PARTIAL_OVERLAP_BYTES ? NC_PARTIAL_OVERLAP_BYTES : wanted;
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

/// Before the whole file replaces stored bytes of the same version: keeps the first bytes, which must match.
static size_t take_start(nc_segment *segment) {
    nc_download *download = segment->download;
    const nc_segment *first = download->segments[0];
    uint64_t held = first->start == 0 ? first->done : 0;
    size_t wanted = held < sizeof segment->overlap ? (size_t)held : sizeof segment->overlap;
    ssize_t got =
        wanted == 0 ? 0 : nc_files_read_at(&download->partial.ops, download->partial.fd, segment->overlap, wanted, 0);
    return got > 0 ? (size_t)got : 0;
}

static void add_fields(nc_segment *segment, nc_request *request, char *range) {
    nc_download *download = segment->download;
    nc_header *fields = download->kept.headers;
    size_t count = download->kept.request.header_count;
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
    uint64_t rate = download->kept.request.limits.max_receive_bytes_per_s;
    return rate == 0 || rate >= sharers ? rate / sharers : 1;
}

/// Called when their number has changed.
static void share_rate(nc_download *download) {
    if (download->active_count == 0 || download->kept.request.limits.max_receive_bytes_per_s == 0) {
        return;
    }
    uint64_t share = share_of_rate(download, download->active_count);
    for (size_t i = 0; i < download->segment_count; i++) {
        if (download->segments[i]->transfer != 0) {
            nc_orders_set_receive_rate(download->engine, download->segments[i]->transfer, share);
        }
    }
}

static nc_verdict on_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last);
static nc_verdict on_body(void *ctx, nc_transfer_id id, nc_slice bytes);
static void on_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error);

void nc_download_ask(nc_download *download, nc_segment *segment) {
    char range[RANGE_BYTES];
    nc_error err;
    uint64_t held = segment->start + segment->done;
    segment->has_range = held > 0;
    segment->gives_all = false;
    segment->same_total = NC_LENGTH_UNKNOWN;
    segment->last =
        segment->end == NC_LENGTH_UNKNOWN || segment->end == download->total ? NC_LENGTH_UNKNOWN : segment->end - 1;
    if (!take_overlap(segment)) {
        (void)nc_file_fail_in(&err, download->partial.folder, download->partial.part, "read", errno);
        nc_download_fail(download, &err);
        return;
    }
    nc_request request = download->kept.request;
    add_fields(segment, &request, range);
    request.limits.max_receive_bytes_per_s = share_of_rate(download, download->active_count + 1);
    const nc_sink sink = {.ctx = segment, .on_head = on_head, .on_body = on_body, .on_done = on_done};
    nc_status status = nc_engine_submit_held(download->engine, &request, &sink, &segment->transfer, &err);
    if (status != NC_OK) {
        segment->transfer = 0;
        if (status == NC_ERR_CLOSED) {
            (void)nc_error_set(&err, NC_ERR_CANCELLED, 0, -1, "the engine was released");
        }
        nc_download_fail(download, &err);
        return;
    }
    segment->phase = NC_SEGMENT_ASKED;
    download->active_count++;
    share_rate(download);
    if (download->is_paused) {
        nc_engine_pause(download->engine, segment->transfer);
    }
}

/* --- responses --- */

static nc_download_question question_of(const nc_segment *segment) {
    const nc_download *download = segment->download;
    const nc_segment *last = download->segments[download->segment_count - 1];
    bool is_from_start = download->segment_count == 1 || nc_download_held(download) == download->total;
    return (nc_download_question){
        .has_part = download->has_restarted || (download->tried_to_resume && !download->options.restarts),
        .has_range = segment->has_range,
        .first = segment->first,
        .last = segment->last,
        .held = is_from_start ? last->start + last->done : 0,
        .total = download->total,
        .trusts_server = download->options.trusts_server,
        .validators = download->validators,
        .digests = download->digests,
    };
}

/// Handles the refusal of a range. The previous segment takes it over, or it is retried later.
static nc_verdict refuse(nc_segment *segment) {
    segment->refusals++;
    segment->phase = NC_SEGMENT_WAITING;
    return NC_STOP;
}

static nc_verdict decide(nc_segment *segment, const nc_response *response) {
    nc_download *download = segment->download;
    nc_download_facts facts;
    nc_download_read_facts(&facts, response);
    nc_download_question question = question_of(segment);
    nc_download_step step = nc_download_decide(&question, &facts);
    if (!segment->is_primary && step == NC_DOWNLOAD_FAIL_STATUS && segment->refusals + 1 == NC_SEGMENT_MAX_REFUSALS) {
        segment->is_primary = true; // No other segment is left: report its error page, and keep the stored bytes.
    }
    if (!segment->is_primary && step != NC_DOWNLOAD_TAKE_PART) {
        return refuse(segment);
    }
    switch (step) {
    case NC_DOWNLOAD_TAKE_WHOLE:
        segment->gives_all = true;
        download->begins_anew = true;
        break;
    case NC_DOWNLOAD_TAKE_PART:
        segment->phase = NC_SEGMENT_RUNNING;
        download->begins_anew = false;
        break;
    case NC_DOWNLOAD_HAS_ALL:
        download->total = question.held;
        download->segments[download->segment_count - 1]->end = question.held;
        segment->phase = NC_SEGMENT_DONE;
        download->is_complete = true;
        download->begins_anew = false;
        break;
    case NC_DOWNLOAD_ASK_WHOLE:
        download->wants_restart = true;
        return refuse(segment);
    case NC_DOWNLOAD_FAIL_RANGE:
        nc_download_fail_with(download, NC_ERR_BAD_RANGE, "the server sends a part of the file, but all was asked for");
        return NC_STOP;
    case NC_DOWNLOAD_FAIL_STATUS:
        return NC_CONTINUE; // The error needs its body.
    }
    if (!segment->is_primary) {
        return NC_CONTINUE;
    }
    segment->phase = NC_SEGMENT_RUNNING;
    bool is_same =
        segment->gives_all && question.has_range && !facts.is_coded && nc_download_is_same_version(&question, &facts);
    size_t start_bytes = is_same ? take_start(segment) : 0;
    nc_download_accept(download, response, &facts);
    if (is_same) {
        segment->same_total = question.total;
        segment->overlap_length = start_bytes;
    }
    return download->has_failed ? NC_STOP : NC_PAUSE;
}

static nc_verdict on_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    nc_segment *segment = ctx;
    (void)id;
    if (!is_last) {
        return NC_CONTINUE;
    }
    bool is_wanted = segment->phase == NC_SEGMENT_ASKED && !segment->download->has_failed;
    return is_wanted ? decide(segment, response) : NC_STOP;
}

/// Keeps an error page.
static nc_verdict take_error_body(nc_download *download, nc_slice bytes) {
    size_t room = MAX_ERROR_BODY_BYTES - download->error_body.length;
    nc_buf_append(&download->error_body, nc_slice_make(bytes.data, bytes.length < room ? bytes.length : room));
    return bytes.length < room ? NC_CONTINUE : NC_STOP;
}

/// Compares the first bytes with stored ones and removes them from `bytes`; the start of a whole file is written again
/// all the same. Returns false if they differ.
static bool compare(nc_segment *segment, nc_slice *bytes) {
    size_t left = segment->overlap_length - segment->overlap_at;
    size_t length = bytes->length < left ? bytes->length : left;
    if (length > 0 && memcmp(segment->overlap + segment->overlap_at, bytes->data, length) != 0) {
        return false;
    }
    segment->overlap_at += length;
    length = segment->gives_all ? 0 : length;
    *bytes = nc_slice_make(bytes->data + length, bytes->length - length);
    return true;
}

/// Returns how many bytes may still go to this segment. Merges the next segments if its transfer has their bytes, also
/// if the bytes end exactly at the border. Otherwise the transfer would be stopped there, and a server without ranges
/// has no other.
static uint64_t room_of(nc_segment *segment, size_t wanted) {
    nc_download *download = segment->download;
    for (;;) {
        uint64_t room = segment->end == NC_LENGTH_UNKNOWN ? UINT64_MAX : segment->end - segment->start - segment->done;
        const nc_segment *next = room <= wanted ? nc_download_next_segment(download, segment) : NULL;
        bool may_absorb = segment->gives_all && next != NULL && next->done == 0 &&
                          (next->phase == NC_SEGMENT_WAITING || next->phase == NC_SEGMENT_ASKED);
        if (!may_absorb) {
            return room;
        }
        nc_download_absorb_next(download, segment);
    }
}

static bool write_bytes(nc_segment *segment, nc_slice bytes) {
    nc_download *download = segment->download;
    nc_error err;
    uint64_t at = segment->start + segment->done;
    if (!nc_files_write_at(&download->partial.ops, download->partial.fd, bytes, at)) {
        (void)nc_file_fail_in(&err, download->partial.folder, download->partial.part, "written", errno);
        nc_download_fail(download, &err);
        return false;
    }
    nc_checksum_update(&segment->sum, bytes);
    segment->done += bytes.length;
    return true;
}

static nc_verdict on_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    nc_segment *segment = ctx;
    nc_download *download = segment->download;
    (void)id;
    if (segment->phase == NC_SEGMENT_ASKED && !download->has_failed) {
        return take_error_body(download, bytes);
    }
    if (segment->phase != NC_SEGMENT_RUNNING || download->has_failed || download->wants_restart ||
        download->is_complete) {
        return NC_STOP;
    }
    if (!compare(segment, &bytes)) {
        download->wants_restart = true;
        return refuse(segment);
    }
    uint64_t room = room_of(segment, bytes.length);
    bool is_too_much = bytes.length > room;
    if (is_too_much && !segment->gives_all) {
        nc_download_fail_with(download, NC_ERR_BAD_RANGE, "the server sends more than it announced");
        return NC_STOP;
    }
    if (!write_bytes(segment, nc_slice_make(bytes.data, is_too_much ? (size_t)room : bytes.length))) {
        return NC_STOP;
    }
    nc_download_note_bytes(download, bytes.length);
    bool is_last = nc_download_next_segment(download, segment) == NULL;
    if (segment->end != NC_LENGTH_UNKNOWN && segment->start + segment->done == segment->end && !is_last) {
        segment->phase = NC_SEGMENT_DONE;
        return segment->gives_all ? NC_STOP : NC_CONTINUE;
    }
    return NC_CONTINUE;
}

/* --- end of a transfer --- */

static bool is_full(const nc_segment *segment) {
    return segment->end != NC_LENGTH_UNKNOWN && segment->start + segment->done == segment->end &&
           segment->overlap_at == segment->overlap_length;
}

static void fail_with_status(nc_download *download, nc_response *response) {
    nc_error err;
    unsigned code = nc_response_status(response);
    // Until here it belongs to the event loop, from here on to the caller.
    if (nc_response_append_body(response, nc_buf_slice(&download->error_body)) != NC_OK) {
        nc_download_fail_with(download, NC_ERR_NO_MEMORY, "no memory for a response body");
        return;
    }
    (void)nc_error_set(&err, NC_ERR_BAD_STATUS, (int32_t)code, -1, "status %u: nothing was saved", code);
    nc_download_fail(download, &err);
}

/// Returns true if a whole response is of the stored version but has another length.
static bool is_of_wrong_length(const nc_segment *segment) {
    bool is_known = segment->gives_all && segment->same_total != NC_LENGTH_UNKNOWN;
    return (is_known && segment->start + segment->done != segment->same_total) ||
           (segment->gives_all && segment->overlap_at < segment->overlap_length);
}

/// Ends a segment that ran: complete, or truncated.
static void end_running(nc_segment *segment, const nc_error *error) {
    nc_download *download = segment->download;
    if (is_full(segment)) {
        segment->phase = NC_SEGMENT_DONE;
    } else if (error->status == NC_OK && segment->end == NC_LENGTH_UNKNOWN && is_of_wrong_length(segment)) {
        segment->phase = NC_SEGMENT_WAITING;
        download->wants_restart = true;
    } else if (error->status == NC_OK && segment->end == NC_LENGTH_UNKNOWN) {
        segment->end = segment->start + segment->done;
        download->total = segment->end;
        segment->phase = NC_SEGMENT_DONE;
    } else if (error->status == NC_OK) {
        segment->phase = NC_SEGMENT_WAITING;
        nc_download_fail_with(download, NC_ERR_CUT_SHORT, "the body ended before its announced length");
    } else {
        segment->phase = NC_SEGMENT_WAITING;
        nc_download_fail(download, error);
    }
}

static void on_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    nc_segment *segment = ctx;
    nc_download *download = segment->download;
    (void)id;
    segment->transfer = 0;
    download->active_count--;
    share_rate(download);
    if (segment->is_primary && nc_response_status(response) != 0) {
        nc_response_release(download->response);
        download->response = nc_response_retain(response);
    }
    if (segment->phase == NC_SEGMENT_DROPPED) {
        nc_free(segment);
    } else if (download->has_failed || download->is_complete) {
        segment->phase = is_full(segment) ? NC_SEGMENT_DONE : NC_SEGMENT_WAITING;
    } else if (segment->phase == NC_SEGMENT_RUNNING && !download->wants_restart) {
        end_running(segment, error);
    } else if (segment->phase == NC_SEGMENT_ASKED && segment->is_primary) {
        bool is_page = error->status == NC_OK || error->status == NC_ERR_STOPPED_BY_CALLER;
        if (is_page) {
            fail_with_status(download, response);
        } else {
            nc_download_fail(download, error);
        }
    } else if (segment->phase == NC_SEGMENT_ASKED) {
        download->refusal = *error;
        (void)refuse(segment);
    }
    nc_download_step_on(download);
}
