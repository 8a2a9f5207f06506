#include "base/alloc.h"
#include "base/error.h"
#include "net/download_state.h"
#include "net/engine_state.h"
#include "net/orders.h"

#include <string.h>

/// A smaller segment is not worth its own connection.
enum { MIN_SEGMENT_BYTES = 256 * 1024, TELL_NS = 100 * 1000000 };

#define NS_PER_MS 1000000u

/* --- failing --- */

void nc_download_fail(nc_download *download, const nc_error *err) {
    if (!download->has_failed) {
        download->has_failed = true;
        download->error = *err;
    }
}

void nc_download_fail_with(nc_download *download, nc_status status, const char *what) {
    nc_error err;
    (void)nc_error_set(&err, status, 0, -1, "%s", what);
    nc_download_fail(download, &err);
}

static void fail_for_memory(nc_download *download) {
    nc_download_fail_with(download, NC_ERR_NO_MEMORY, "no memory for a download");
}

/* --- jobs --- */

void nc_download_work(nc_download *download, void (*run)(nc_work *work), void (*arrive)(nc_answer *answer)) {
    download->is_working = true;
    download->work.run = run;
    download->answer.arrive = arrive;
    (void)nc_error_clear(&download->job_error);
    if (nc_worker_submit(download->engine->worker, &download->work) != NC_OK) {
        run(&download->work); // No thread is available. A short wait is better than a download that never ends.
    }
}

static nc_download *arrived(nc_answer *answer) {
    nc_download *download = NC_CONTAINER_OF(answer, nc_download, answer);
    download->is_working = false;
    return download;
}

/* --- start --- */

static void ask_primary(nc_download *download, nc_segment *segment) {
    segment->is_primary = true;
    download->phase = NC_DOWNLOAD_ASKING;
    nc_download_ask(download, segment);
}

static nc_segment *first_unfinished(const nc_download *download) {
    for (size_t i = 0; i < download->segment_count; i++) {
        if (download->segments[i]->phase != NC_SEGMENT_DONE) {
            return download->segments[i];
        }
    }
    return download->segments[download->segment_count - 1]; // All bytes are present: ask whether the file is complete.
}

static bool take_texts(nc_download *download, const nc_validators *from) {
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

void nc_download_begin(nc_download *download) {
    const nc_record *record = &download->recorded.record;
    bool is_worth_it = download->recorded.is_good && nc_record_proven(record) > 0;
    download->tried_to_resume = is_worth_it;
    bool resumes = is_worth_it && !download->options.restarts &&
                   nc_download_may_resume(&record->validators, download->options.trusts_server);
    bool is_laid = resumes ? nc_download_lay_record(download) && take_texts(download, &record->validators)
                           : nc_download_lay_one(download, NC_LENGTH_UNKNOWN);
    if (!is_laid) {
        fail_for_memory(download);
        return;
    }
    download->total = resumes ? record->total : NC_LENGTH_UNKNOWN;
    download->digests = resumes ? record->digests : (nc_download_digests){0};
    ask_primary(download, first_unfinished(download));
}

void nc_download_prepared(nc_answer *answer) {
    nc_download *download = arrived(answer);
    if (download->job_error.status != NC_OK) {
        nc_download_fail(download, &download->job_error);
    }
    if (!download->has_failed) {
        nc_download_begin(download);
    } else if (download->recorded.is_good && !nc_download_lay_record(download)) {
        nc_download_free_segments(download); // They would only describe the stored bytes.
    }
    nc_download_step_on(download);
}

/* --- accepted head --- */

/// Names the file after the head or the URL.
static bool name_file(nc_download *download, const nc_response *response) {
    nc_buf name = nc_buf_init(NC_RECORD_MAX_BYTES);
    nc_slice field;
    bool has_name = !download->options.ignores_disposition &&
                    nc_response_find_header(response, nc_slice_of("Content-Disposition"), &field) &&
                    nc_disposition_name(&name, field);
    has_name = has_name || nc_url_last_component(&name, download->url) ||
               nc_url_last_component(&name, nc_response_url(response));
    nc_buf_reset(&download->head_name);
    nc_safe_name(&download->head_name, has_name ? nc_buf_slice(&name) : nc_slice_of(""));
    bool is_named = nc_buf_status(&name) == NC_OK && nc_buf_status(&download->head_name) == NC_OK;
    nc_buf_deinit(&name);
    return is_named;
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

static bool take_facts(nc_download *download, const nc_download_facts *facts) {
    if (!download->begins_anew) {
        merge_digests(&download->digests, &facts->digests);
        if (facts->status != 416) {
            download->total = facts->range.total;
            download->segments[download->segment_count - 1]->end = download->total;
        }
        download->resumed_bytes = nc_download_held(download);
        return true;
    }
    bool has_length = facts->has_length && facts->status != 204 && facts->status != 205;
    download->total = has_length ? facts->length : NC_LENGTH_UNKNOWN;
    download->digests = facts->digests;
    download->resumed_bytes = 0;
    download->is_coded = facts->is_coded;
    nc_download_lay_over(download, first_unfinished(download), download->total);
    download->may_split = has_length && !facts->is_coded && !facts->refuses_ranges &&
                          nc_download_may_resume(&facts->validators, download->options.trusts_server);
    return take_texts(download, &facts->validators);
}

void nc_download_accept(nc_download *download, const nc_response *response, const nc_download_facts *facts) {
    const nc_download_sink *sink = &download->sink;
    if (!take_facts(download, facts) || !name_file(download, response)) {
        fail_for_memory(download);
        return;
    }
    if (sink->on_head != NULL) {
        sink->on_head(sink->ctx, download->id, response);
    }
    if (download->tried_to_resume && sink->on_resumed != NULL) {
        sink->on_resumed(sink->ctx, download->id, download->resumed_bytes, download->total);
    }
    bool asks = download->options.asks_destination && sink->on_destination != NULL && download->placed_path == NULL;
    download->phase = NC_DOWNLOAD_PLACING;
    if (asks) {
        sink->on_destination(sink->ctx, download->id, response);
    } else {
        nc_download_place_known(download);
    }
}

static void resume_primary(nc_download *download) {
    for (size_t i = 0; i < download->segment_count; i++) {
        nc_segment *segment = download->segments[i];
        if (segment->is_primary && segment->transfer != 0) {
            nc_orders_read_on(download->engine, segment->transfer);
        }
    }
}

static void opened(nc_answer *answer) {
    nc_download *download = arrived(answer);
    if (download->job_error.status != NC_OK) {
        nc_download_fail(download, &download->job_error);
    } else if (!download->has_failed) {
        download->phase = NC_DOWNLOAD_RUNNING;
        download->proved_ns = nc_engine_now(download->engine);
        resume_primary(download);
    }
    nc_download_step_on(download);
}

void nc_download_place_known(nc_download *download) {
    uint32_t wanted = download->options.segments;
    uint64_t worth = download->total / MIN_SEGMENT_BYTES;
    // A download that began again because its ranges did not match would be split at the same offsets.
    bool splits = download->begins_anew && download->may_split && !download->has_restarted && wanted > 1 && worth > 1;
    bool is_laid = !splits || nc_download_split(download, worth < wanted ? (size_t)worth : wanted);
    download->allocated_bytes = splits ? download->total : 0;
    if (!is_laid || !nc_download_write_record(download)) {
        fail_for_memory(download);
        nc_download_step_on(download);
        return;
    }
    download->phase = NC_DOWNLOAD_OPENING;
    nc_download_work(download, nc_download_open, opened);
}

/* --- checkpoints and progress --- */

static void claimed(nc_answer *answer) {
    nc_download *download = arrived(answer);
    if (download->job_error.status != NC_OK) {
        nc_download_fail(download, &download->job_error);
    }
    nc_download_step_on(download);
}

static void claim(nc_download *download, uint64_t now_ns) {
    download->proved_ns = now_ns;
    if (!nc_download_write_record(download)) {
        return; // The previous record stays valid.
    }
    download->is_dirty = false;
    nc_download_work(download, nc_download_claim, claimed);
}

void nc_download_tell(nc_download *download, bool is_last) {
    nc_progress_state *state = &download->progress;
    uint64_t now_ns = nc_engine_now(download->engine);
    if (download->sink.on_progress == NULL || (!is_last && state->told_ns != 0 && now_ns - state->told_ns < TELL_NS)) {
        return;
    }
    nc_speed_note(&state->speed, download->fetched_bytes, now_ns);
    state->told_ns = now_ns;
    nc_download_progress progress = {
        .received_bytes = nc_download_held(download),
        .resumed_bytes = download->resumed_bytes,
        .total_bytes = download->total,
        .bytes_per_s = state->speed.bytes_per_s,
        .left_ms = UINT64_MAX,
        .active_segments = download->active_count,
    };
    if (progress.total_bytes != NC_LENGTH_UNKNOWN) {
        progress.left_ms = nc_speed_left_ms(&state->speed, (double)(progress.total_bytes - progress.received_bytes));
    }
    download->sink.on_progress(download->sink.ctx, download->id, &progress);
}

void nc_download_note_bytes(nc_download *download, uint64_t bytes) {
    uint64_t now_ns = nc_engine_now(download->engine);
    uint32_t proof_ms = download->options.proof_ms;
    uint64_t interval_ns = (uint64_t)(proof_ms == 0 ? NC_DOWNLOAD_DEFAULT_PROOF_MS : proof_ms) * NS_PER_MS;
    download->is_dirty = true;
    download->fetched_bytes += bytes;
    nc_download_tell(download, false);
    if (!download->is_working && !download->is_coded && now_ns - download->proved_ns >= interval_ns) {
        claim(download, now_ns);
    }
}

/* --- next steps --- */

static void cancel_active(nc_download *download) {
    for (size_t i = 0; i < download->segment_count; i++) {
        if (download->segments[i]->transfer != 0) {
            nc_engine_cancel(download->engine, download->segments[i]->transfer);
        }
    }
}

static void ended(nc_answer *answer) {
    nc_download *download = arrived(answer);
    if (download->is_whole && download->job_error.status != NC_OK) {
        download->error = download->job_error;
    }
    nc_download_finish(download);
}

static void end(nc_download *download, bool is_whole) {
    uint64_t held = nc_download_held(download);
    download->phase = NC_DOWNLOAD_ENDING;
    download->is_whole = is_whole;
    download->whole_bytes = held;
    download->is_kept = !download->has_begun || (held > 0 && !download->is_coded);
    bool has_news = is_whole || (download->is_dirty && download->is_kept);
    if (!has_news || !nc_download_write_record(download)) {
        nc_buf_reset(&download->job_text);
    }
    nc_download_work(download, nc_download_end, ended);
}

static void restart(nc_download *download) {
    download->wants_restart = false;
    if (download->has_restarted) {
        nc_download_fail_with(download, NC_ERR_BAD_RANGE, "the server's answers to ranges do not fit together");
    } else if (!nc_download_lay_one(download, NC_LENGTH_UNKNOWN)) {
        fail_for_memory(download);
    } else {
        download->has_restarted = true;
        download->total = NC_LENGTH_UNKNOWN;
        ask_primary(download, download->segments[0]);
    }
    if (download->has_failed) {
        nc_download_step_on(download);
    }
}

/// Retries a segment alone, a few times, that was refused while others were in flight.
static void retry_refused(nc_download *download) {
    for (size_t i = 0; i < download->segment_count && !download->has_failed; i++) {
        nc_segment *segment = download->segments[i];
        if (segment->phase != NC_SEGMENT_WAITING) {
            continue;
        }
        if (segment->refusals < NC_SEGMENT_MAX_REFUSALS) {
            nc_download_ask(download, segment);
            return;
        }
        if (download->refusal.status != NC_OK && download->refusal.status != NC_ERR_STOPPED_BY_CALLER) {
            nc_download_fail(download, &download->refusal);
        } else {
            download->wants_restart = true;
        }
        return;
    }
}

static void ask_waiting(nc_download *download) {
    uint32_t allowed = download->options.segments > 1 ? download->options.segments : 1;
    for (size_t i = 0; i < download->segment_count && !download->has_failed; i++) {
        nc_segment *segment = download->segments[i];
        if (segment->phase == NC_SEGMENT_WAITING && segment->refusals == 0 && download->active_count < allowed) {
            nc_download_ask(download, segment);
        }
    }
    if (download->active_count == 0) {
        retry_refused(download);
    }
}

static bool is_done(const nc_download *download) {
    for (size_t i = 0; i < download->segment_count; i++) {
        if (download->segments[i]->phase != NC_SEGMENT_DONE) {
            return false;
        }
    }
    return true;
}

void nc_download_step_on(nc_download *download) {
    if (download->phase == NC_DOWNLOAD_ENDING) {
        return;
    }
    bool is_running = download->phase == NC_DOWNLOAD_RUNNING;
    bool goes_on = !download->has_failed && !download->wants_restart;
    if (goes_on && is_running && !is_done(download) && !download->is_complete && !download->is_paused) {
        ask_waiting(download);
        goes_on = !download->has_failed && !download->wants_restart;
    }
    if (!goes_on) {
        cancel_active(download);
    }
    if (download->is_working || download->active_count > 0) {
        return;
    }
    if (download->has_failed) {
        end(download, false);
    } else if (download->wants_restart) {
        restart(download);
    } else if (is_running && (is_done(download) || download->is_complete)) {
        end(download, true);
    }
}
