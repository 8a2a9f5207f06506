/// Bodies that are not in memory: sources, files, pauses, rates, codings, trailers. For saved bodies see
/// test_engine_body_files.c.
#include "fixture.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <netcore/transfers.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* --- request bodies --- */

typedef struct text_source {
    const char *text;
    size_t length;
    size_t at;
    size_t step;
    bool fails;
    bool sleeps_once;
    atomic_bool has_slept;
    unsigned rewinds;
} text_source;

static nc_pull pull_text(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    text_source *source = ctx;
    (void)id;
    size_t left = source->length - source->at;
    size_t count = left < source->step ? left : source->step;
    count = count < capacity ? count : capacity;
    if (source->fails && source->at > 0) {
        return NC_PULL_FAIL;
    }
    if (source->sleeps_once && !source->has_slept && source->at > 0) {
        source->has_slept = true;
        return NC_PULL_LATER;
    }
    memcpy(bytes, source->text + source->at, count);
    source->at += count;
    *filled = count;
    return source->at == source->length ? NC_PULL_END : NC_PULL_MORE;
}

static bool rewind_text(void *ctx, nc_transfer_id id, uint64_t offset) {
    text_source *source = ctx;
    (void)id;
    source->at = offset;
    source->rewinds++;
    return true;
}

static nc_request upload_of(fixture *f, const char *path, text_source *source, uint64_t length) {
    nc_request request = fixture_request(f, path);
    request.method = nc_slice_of("PUT");
    request.body_source = (nc_body_source){source, pull_text, rewind_text};
    request.body_length = length;
    return request;
}

static void engine__a_source_of_known_length_is_sent_with_that_length(void **state) {
    fixture f;
    text_source source = {.text = "piece by piece", .length = 14, .step = 3};
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/echo", (nct_reply){.is_echo = true});
    nc_request request = upload_of(&f, "/echo", &source, 14);
    assert_response(fixture_send(&f, &request), 200, "piece by piece");
    assert_non_null(strstr(fixture_received(&f, 0), "Content-Length: 14\r\n"));
    assert_null(strstr(fixture_received(&f, 0), "Transfer-Encoding"));
    fixture_stop(&f);
}

static void engine__a_source_of_unknown_length_is_sent_chunked(void **state) {
    fixture f;
    text_source source = {.text = "piece by piece", .length = 14, .step = 3};
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/echo", (nct_reply){.is_echo = true});
    nc_request request = upload_of(&f, "/echo", &source, NC_LENGTH_UNKNOWN);
    assert_response(fixture_send(&f, &request), 200, "piece by piece");
    assert_non_null(strstr(fixture_received(&f, 0), "Transfer-Encoding: chunked\r\n"));
    assert_null(strstr(fixture_received(&f, 0), "Content-Length"));
    fixture_stop(&f);
}

static void engine__a_server_that_responded_with_http_1_0_receives_no_chunks(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    static const char old[] = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n";
    fixture_script(&f, "/old", (nct_reply){.is_raw = true, .body = old, .body_length = sizeof old - 1});
    fixture_script(&f, "/echo", (nct_reply){.is_echo = true});
    assert_response(fixture_get(&f, "/old"), 200, "");
    text_source source = {.text = "hello world", .length = 11, .step = 4};
    nc_request request = upload_of(&f, "/echo", &source, NC_LENGTH_UNKNOWN);
    request.body_source.seek = NULL;
    answer put = fixture_send(&f, &request);
    assert_response(put, 200, "hello world");
    assert_non_null(strstr(fixture_received(&f, 1), "PUT /echo HTTP/1.1\r\n"));
    // One hop, which opened a connection.
    assert_int_equal(nc_response_hop_count(put.response), 1);
    assert_false(nc_response_hop_at(put.response, 0).is_reused);
    fixture_stop(&f);
}

static void engine__a_source_with_another_length_than_declared_is_an_error(void **state) {
    static const uint64_t announced[] = {13, 15, 1, 0, 1000000};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/echo", (nct_reply){.is_echo = true});
    for (size_t i = 0; i < sizeof announced / sizeof *announced; i++) {
        text_source source = {.text = "piece by piece", .length = 14, .step = 3};
        nc_request request = upload_of(&f, "/echo", &source, announced[i]);
        assert_ended(fixture_send(&f, &request), NC_ERR_BODY_LENGTH, 0, "the body source returned");
    }
    assert_int_equal(nct_server_request_count(f.server), 0);
    fixture_stop(&f);
}

static void engine__a_failing_source_ends_the_transfer(void **state) {
    fixture f;
    text_source source = {.text = "piece by piece", .length = 14, .step = 3, .fails = true};
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/echo", (nct_reply){.is_echo = true});
    nc_request request = upload_of(&f, "/echo", &source, NC_LENGTH_UNKNOWN);
    assert_ended(fixture_send(&f, &request), NC_ERR_BODY_SOURCE, 0, "the source of the request body failed");
    fixture_stop(&f);
}

static void engine__a_source_without_data_is_called_again_after_resume(void **state) {
    fixture f;
    text_source source = {.text = "piece by piece", .length = 14, .step = 3, .sleeps_once = true};
    answer one = {0};
    nc_status status;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/echo", (nct_reply){.is_echo = true});
    nc_request request = upload_of(&f, "/echo", &source, NC_LENGTH_UNKNOWN);
    nc_transfer_id id = fixture_submit(&f, &request);
    do {
        // A resume is harmless if the source is not paused.
        nc_engine_resume(f.engine, id);
        status = nc_engine_wait(f.engine, id, 5, &one.response, &one.error);
    } while (status == NC_ERR_WAIT_TIMED_OUT);
    assert_true(source.has_slept);
    assert_response(one, 200, "piece by piece");
    nc_response_release(one.response);
    fixture_stop(&f);
}

static void engine__a_redirect_that_preserves_the_body_rewinds_it(void **state) {
    fixture f;
    text_source source = {.text = "piece by piece", .length = 14, .step = 5};
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/moved", (nct_reply){.status = 307, .location = "/echo"});
    fixture_script(&f, "/echo", (nct_reply){.is_echo = true});
    nc_request request = upload_of(&f, "/moved", &source, 14);
    assert_response(fixture_send(&f, &request), 200, "piece by piece");
    assert_int_equal(source.rewinds, 1);
    source.at = 0;
    request.body_source.seek = NULL;
    assert_ended(fixture_send(&f, &request), NC_ERR_NOT_REWINDABLE, 65, "cannot be sent again");
    fixture_stop(&f);
}

static void engine__a_redirect_resends_an_empty_source_regression_1(void **state) {
    fixture f;
    text_source source = {.text = "", .step = 5};
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/moved", (nct_reply){.status = 307, .location = "/echo"});
    fixture_script(&f, "/echo", (nct_reply){.is_echo = true});
    nc_request request = upload_of(&f, "/moved", &source, 0);
    request.body_source.seek = NULL;
    assert_response(fixture_send(&f, &request), 200, "");
    assert_non_null(strstr(fixture_received(&f, 1), "\r\nContent-Length: 0\r\n"));
    fixture_stop(&f);
}

/* --- files --- */

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void engine__a_file_is_sent_as_the_body(void **state) {
    fixture f;
    char folder[] = "/tmp/netcore-test.XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(folder));
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/echo", (nct_reply){.is_echo = true});
    const char *path = fixture_text(&f, "%s/upload", folder);
    write_file(path, "from a file");
    nc_request request = fixture_request(&f, "/echo");
    request.method = nc_slice_of("PUT");
    request.body_file = nc_slice_of(path);
    assert_response(fixture_send(&f, &request), 200, "from a file");
    assert_non_null(strstr(fixture_received(&f, 0), "Content-Length: 11\r\n"));
    request.body_file = nc_slice_of(folder);
    assert_ended(fixture_send(&f, &request), NC_ERR_FILE, 21, "not a regular file");
    request.body_file = nc_slice_of("/proc/self/status");
    assert_ended(fixture_send(&f, &request), NC_ERR_FILE, 29, "is unknown: send it with a body source");
    write_file(path, "");
    request.body_file = nc_slice_of(path);
    assert_response(fixture_send(&f, &request), 200, "");
    unlink(path);
    request.body_file = nc_slice_of(path);
    assert_ended(fixture_send(&f, &request), NC_ERR_FILE, 2, "cannot be opened");
    assert_int_equal(rmdir(folder), 0);
    fixture_stop(&f);
}

static nc_file_ops system_ops;
static const char *changing_path;
static off_t changed_bytes;

/// Truncates or extends the file while its first bytes are read, as another process could.
static ssize_t read_changing(void *ctx, int fd, void *bytes, size_t length, off_t offset) {
    if (offset == 0 && truncate(changing_path, changed_bytes) != 0) {
        return -1;
    }
    return system_ops.read_at(ctx, fd, bytes, length, offset);
}

static void engine__a_file_that_changes_its_length_while_it_is_sent_is_an_error(void **state) {
    static const struct {
        off_t bytes;
        const char *message;
    } rows[] = {{12, "/upload' became longer"}, {3, "/upload' became shorter"}, {0, "/upload' became shorter"}};
    fixture f;
    char folder[] = "/tmp/netcore-test.XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(folder));
    system_ops = nc_file_ops_system();
    nc_file_ops ops = system_ops;
    ops.read_at = read_changing;
    fixture_start_with(&f, NULL, &(nc_engine_options){.file_ops = &ops});
    fixture_script(&f, "/echo", (nct_reply){.is_echo = true});
    changing_path = fixture_text(&f, "%s/upload", folder);
    nc_request request = fixture_request(&f, "/echo");
    request.method = nc_slice_of("PUT");
    request.body_file = nc_slice_of(changing_path);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_file(changing_path, "from a file");
        changed_bytes = rows[i].bytes;
        assert_ended(fixture_send(&f, &request), NC_ERR_BODY_LENGTH, 0, rows[i].message);
    }
    assert_int_equal(nct_server_request_count(f.server), 0);
    write_file(changing_path, "from a file");
    changed_bytes = 11;
    assert_response(fixture_send(&f, &request), 200, "from a file");
    unlink(changing_path);
    assert_int_equal(rmdir(folder), 0);
    fixture_stop(&f);
}

/* --- pauses and rates --- */

typedef struct reader {
    nc_engine *engine;
    size_t received;
    bool is_wrong;
    size_t pauses;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    nc_transfer_id paused;
    bool is_done;
    nc_error error;
} reader;

static nc_action read_and_pause(void *ctx, nc_transfer_id id, nc_slice bytes) {
    reader *self = ctx;
    for (size_t i = 0; i < bytes.length; i++) {
        self->is_wrong = self->is_wrong || bytes.data[i] != 'a' + (self->received + i) % 26;
    }
    self->received += bytes.length;
    self->pauses++;
    pthread_mutex_lock(&self->mutex);
    self->paused = id;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->mutex);
    return NC_ACTION_PAUSE;
}

static void read_end(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    reader *self = ctx;
    (void)id;
    (void)response;
    pthread_mutex_lock(&self->mutex);
    self->is_done = true;
    self->error = *error;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

/// Reads a body whose reader pauses after each piece, until this thread resumes it.
static void read_with_pauses(fixture *f, const nc_request *request, reader *self) {
    nc_sink sink = {.ctx = self, .on_body = read_and_pause, .on_done = read_end};
    nc_transfer_id id = 0;
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->changed, NULL);
    assert_status(nc_engine_submit(f->engine, request, &sink, &id, NULL), NC_OK);
    pthread_mutex_lock(&self->mutex);
    while (!self->is_done) {
        nc_transfer_id paused = self->paused;
        self->paused = 0;
        if (paused != 0) {
            pthread_mutex_unlock(&self->mutex);
            nc_engine_resume(f->engine, paused);
            pthread_mutex_lock(&self->mutex);
        } else {
            pthread_cond_wait(&self->changed, &self->mutex);
        }
    }
    pthread_mutex_unlock(&self->mutex);
    pthread_mutex_destroy(&self->mutex);
    pthread_cond_destroy(&self->changed);
}

static void engine__pausing_after_each_piece_loses_or_repeats_no_bytes(void **state) {
    static const nct_identity identities[] = {NCT_PLAIN, NCT_TLS_VALID};
    enum { LENGTH = 3000003 };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        static const size_t chunks[] = {0, 7, 5000};
        fixture f;
        fixture_start(&f, identities[i]);
        for (size_t c = 0; c < 3; c++) {
            size_t length = chunks[c] == 7 ? 10007 : LENGTH;
            reader self = {0};
            fixture_script(&f, "/p", (nct_reply){.pattern_length = length, .chunk_bytes = chunks[c]});
            nc_request request = fixture_request(&f, "/p");
            read_with_pauses(&f, &request, &self);
            assert_status(self.error.status, NC_OK);
            assert_int_equal(self.received, length);
            assert_false(self.is_wrong);
            assert_true(self.pauses > 1);
        }
        fixture_stop(&f);
    }
}

/// A gzip body whose bytes are the server's pattern.
static size_t make_gzip(uint8_t *out, size_t capacity, size_t length) {
    uint8_t *plain = malloc(length);
    assert_non_null(plain);
    for (size_t i = 0; i < length; i++) {
        plain[i] = (uint8_t)('a' + i % 26);
    }
    z_stream stream = {.next_in = plain, .avail_in = (uInt)length, .next_out = out, .avail_out = (uInt)capacity};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t used = stream.total_out;
    deflateEnd(&stream);
    free(plain);
    return used;
}

static void engine__an_encoded_body_can_be_paused(void **state) {
    enum { LENGTH = 2000000 };
    static uint8_t packed[64 * 1024];
    fixture f;
    reader self = {0};
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    size_t length = make_gzip(packed, sizeof packed, LENGTH);
    fixture_script(&f, "/z",
                   (nct_reply){.headers = "Content-Encoding: gzip\r\n", .body = packed, .body_length = length});
    nc_request request = fixture_request(&f, "/z");
    request.accepts_codings = true;
    read_with_pauses(&f, &request, &self);
    assert_status(self.error.status, NC_OK);
    assert_int_equal(self.received, LENGTH);
    assert_false(self.is_wrong);
    assert_true(self.pauses > 100);
    fixture_stop(&f);
}

static void engine__an_encoded_body_truncated_within_valid_framing_is_an_error(void **state) {
    static uint8_t packed[4096];
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    size_t length = make_gzip(packed, sizeof packed, 3000);
    for (size_t cut = 1; cut < length; cut++) {
        fixture_script(&f, "/z",
                       (nct_reply){.headers = "Content-Encoding: gzip\r\n", .body = packed, .body_length = cut});
        nc_request request = fixture_request(&f, "/z");
        request.accepts_codings = true;
        assert_ended(fixture_send(&f, &request), NC_ERR_CUT_SHORT, CURLE_BAD_CONTENT_ENCODING, "gzip");
    }
    fixture_stop(&f);
}

static void engine__a_rate_limit_slows_a_body(void **state) {
    fixture f;
    nc_clock clock = nc_clock_system();
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/p", (nct_reply){.pattern_length = 60000});
    fixture_script(&f, "/sink", (nct_reply){.body = "ok", .body_length = 2});
    nc_request request = fixture_request(&f, "/p");
    request.limits.max_receive_bytes_per_s = 200000;
    uint64_t began_ns = clock.monotonic_ns(NULL);
    answer one = fixture_send(&f, &request);
    assert_int_equal(nc_response_body(one.response).length, 60000);
    assert_true(clock.monotonic_ns(NULL) - began_ns > 100000000u);
    static uint8_t upload[60000];
    request = fixture_request(&f, "/sink");
    request.body = nc_slice_make(upload, sizeof upload);
    request.method = nc_slice_of("POST");
    request.limits.max_send_bytes_per_s = 200000;
    began_ns = clock.monotonic_ns(NULL);
    assert_response(fixture_send(&f, &request), 200, "ok");
    assert_true(clock.monotonic_ns(NULL) - began_ns > 100000000u);
    fixture_stop(&f);
}

/* --- trailers --- */

static void engine__trailers_are_separate_from_the_head(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/t",
                   (nct_reply){.headers = "X-Head: 1\r\n",
                               .body = "body",
                               .body_length = 4,
                               .chunk_bytes = 2,
                               .trailers = "X-Sum: abc\r\nX-Head: 2\r\n"});
    answer one = fixture_get(&f, "/t");
    assert_response(one, 200, "body");
    assert_field(one, "X-Head", "1");
    assert_int_equal(nc_response_trailer_count(one.response), 2);
    nc_header trailer = nc_response_trailer_at(one.response, 0);
    assert_true(nc_slice_is_equal(trailer.name, nc_slice_of("X-Sum")));
    assert_true(nc_slice_is_equal(trailer.value, nc_slice_of("abc")));
    assert_int_equal(nc_response_trailer_at(one.response, 2).name.length, 0);
    assert_false(nc_response_is_close_delimited(one.response));
    fixture_script_raw(&f, "/c", "HTTP/1.1 200 OK\r\n\r\nbody");
    one = fixture_get(&f, "/c");
    assert_response(one, 200, "body");
    assert_true(nc_response_is_close_delimited(one.response));
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_source_of_known_length_is_sent_with_that_length),
        harness_case(engine__a_source_of_unknown_length_is_sent_chunked),
        harness_case(engine__a_server_that_responded_with_http_1_0_receives_no_chunks),
        harness_case(engine__a_source_with_another_length_than_declared_is_an_error),
        harness_case(engine__a_failing_source_ends_the_transfer),
        harness_case(engine__a_source_without_data_is_called_again_after_resume),
        harness_case(engine__a_redirect_that_preserves_the_body_rewinds_it),
        harness_case(engine__a_redirect_resends_an_empty_source_regression_1),
        harness_case(engine__a_file_is_sent_as_the_body),
        harness_case(engine__a_file_that_changes_its_length_while_it_is_sent_is_an_error),
        harness_case(engine__pausing_after_each_piece_loses_or_repeats_no_bytes),
        harness_case(engine__an_encoded_body_can_be_paused),
        harness_case(engine__an_encoded_body_truncated_within_valid_framing_is_an_error),
        harness_case(engine__a_rate_limit_slows_a_body),
        harness_case(engine__trailers_are_separate_from_the_head),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
