#include "fetched.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void fetching_start_at(fetching *on, const nct_server_options *server, const nc_engine_options *options) {
    *on = (fetching){
        .at = temp_directory_make(), .path = "/file", .done = GATE_INIT, .head = GATE_INIT, .moved = GATE_INIT};
    fixture_start_with(&on->f, server, options);
    snprintf(on->file, sizeof on->file, "%s/file", on->at.root);
    snprintf(on->partial, sizeof on->partial, "%s/file.part", on->at.root);
    snprintf(on->record, sizeof on->record, "%s/file.part.nk", on->at.root);
}

void fetching_start_with(fetching *on, const nc_engine_options *options) {
    const nct_server_options plain = {0};
    fetching_start_at(on, &plain, options);
}

void fetching_start(fetching *on) {
    const nc_engine_options options = {0};
    fetching_start_with(on, &options);
}

void fetching_stop(fetching *on) {
    fixture_stop(&on->f);
    temp_directory_remove(&on->at);
}

void fetching_script(fetching *on, nct_reply reply) {
    fixture_script(&on->f, "/file", reply);
}

void fetching_script_row(fetching *on, const nct_reply *replies, size_t count) {
    assert_int_equal(nct_server_script_sequence(on->f.server, "/file", replies, count), 0);
}

/* --- events --- */

static void on_head(void *ctx, nc_download_id id, const nc_response *response) {
    fetching *on = ctx;
    (void)id;
    (void)response;
    on->now.heads++;
    gate_open(&on->head);
}

static void on_resumed(void *ctx, nc_download_id id, uint64_t offset, uint64_t total) {
    fetching *on = ctx;
    (void)id;
    on->now.was_resumed = true;
    on->now.offset = offset;
    on->now.total = total;
}

static void on_destination(void *ctx, nc_download_id id, const nc_response *response) {
    fetching *on = ctx;
    (void)response;
    if (on->placed != NULL) {
        nc_download_set_destination(on->f.engine, id, nc_slice_of(on->placed));
    }
}

static void on_progress(void *ctx, nc_download_id id, const nc_download_progress *progress) {
    fetching *on = ctx;
    (void)id;
    on->now.tellings++;
    on->now.last = *progress;
    gate_open(&on->moved);
}

static void copy_text(char *out, size_t capacity, nc_slice text) {
    size_t length = text.length < capacity ? text.length : capacity - 1;
    if (length > 0) {
        memcpy(out, text.data, length);
    }
    out[length] = '\0';
}

static void on_done(void *ctx, nc_download_id id, nc_response *response, const nc_download_result *result,
                    const nc_error *error) {
    fetching *on = ctx;
    (void)id;
    on->now.error = *error;
    on->now.byte_count = result->byte_count;
    on->now.resumed_bytes = result->resumed_bytes;
    copy_text(on->now.path, sizeof on->now.path, result->path);
    copy_text(on->now.partial, sizeof on->now.partial, result->partial_path);
    if (response != NULL) {
        on->now.status = nc_response_status(response);
        copy_text(on->now.body, sizeof on->now.body, nc_response_body(response));
    }
    gate_open(&on->done);
}

/* --- downloads --- */

nc_download_sink fetch_sink(fetching *on) {
    return (nc_download_sink){.ctx = on,
                              .on_head = on_head,
                              .on_resumed = on_resumed,
                              .on_destination = on_destination,
                              .on_progress = on_progress,
                              .on_done = on_done};
}

void fetch_begin(fetching *on, const nc_download_options *options) {
    const nc_download_sink sink = fetch_sink(on);
    nc_request plain = fixture_request(&on->f, on->path);
    nc_download_options asked = *options;
    nc_error err;
    asked.request = asked.request != NULL ? asked.request : &plain;
    asked.path = asked.path.length > 0 ? asked.path : nc_slice_of(on->file);
    on->now = (fetched){0};
    on->done = (gate)GATE_INIT;
    on->head = (gate)GATE_INIT;
    on->moved = (gate)GATE_INIT;
    nc_status status = nc_download_start(on->f.engine, &asked, &sink, &on->id, &err);
    if (status != NC_OK) {
        fail_msg("%s: %s", nc_status_name(status), err.message);
    }
}

void fetch_begin_stalled(fetching *on, nct_reply whole, const nc_download_options *options) {
    whole.is_cut = true;
    whole.cut_after = 9000;
    whole.ending = NCT_STALL;
    fetching_script(on, whole);
    fetch_begin(on, options);
    assert_true(nct_server_wait_for_stalled(on->f.server, 1, FIXTURE_LIMIT_MS));
    gate_wait(&on->moved);
}

fetched fetch_end(fetching *on) {
    gate_wait(&on->done);
    return on->now;
}

fetched fetch(fetching *on, const nc_download_options *options) {
    fetch_begin(on, options);
    return fetch_end(on);
}

/* --- files --- */

bool fetch_exists(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0;
}

void assert_pattern(const char *path, size_t length) {
    nc_buf bytes = temp_file_read(path);
    if (!harness_is_pattern(nc_buf_slice(&bytes), length)) {
        fail_msg("'%s' has %zu bytes, and not the %zu of the pattern", path, bytes.length, length);
    }
    nc_buf_deinit(&bytes);
}

void assert_file(const char *path, nc_slice wanted) {
    nc_buf bytes = temp_file_read(path);
    if (!nc_slice_is_equal(nc_buf_slice(&bytes), wanted)) {
        fail_msg("'%s' has %zu bytes, and not those that were wanted", path, bytes.length);
    }
    nc_buf_deinit(&bytes);
}
