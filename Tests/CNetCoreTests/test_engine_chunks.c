/// Chunked responses through the engine: the delivered body, and the reuse of the connection.
#include "fixture.h"

#include <curl/curl.h>
#include <semaphore.h>
#include <string.h>

#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/// Reads a body piece by piece with a pause after each. It can stop at a piece.
typedef struct pausing_reader {
    nc_engine *engine;
    char body[256];
    size_t length;
    size_t pieces;
    size_t stop_at; // 0: never
    size_t trailers;
    nc_error error;
    sem_t is_over;
} pausing_reader;

static nc_action take_and_pause(void *ctx, nc_transfer_id id, nc_slice bytes) {
    pausing_reader *self = ctx;
    assert_true(bytes.length <= sizeof self->body - self->length);
    memcpy(self->body + self->length, bytes.data, bytes.length);
    self->length += bytes.length;
    self->pieces++;
    nc_engine_resume(self->engine, id); // read after the loop has recorded the pause
    return self->pieces == self->stop_at ? NC_ACTION_STOP : NC_ACTION_PAUSE;
}

static void end(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    pausing_reader *self = ctx;
    (void)id;
    self->error = *error;
    self->trailers = nc_response_trailer_count(response);
    sem_post(&self->is_over);
}

static void run(fixture *f, const char *path, pausing_reader *self) {
    nc_transfer_id id;
    nc_error err;
    nc_request request = fixture_request(f, path);
    request.accepts_codings = true;
    nc_sink sink = {.ctx = self, .on_body = take_and_pause, .on_done = end};
    self->engine = f->engine;
    assert_int_equal(sem_init(&self->is_over, 0, 0), 0);
    assert_status(nc_engine_submit(f->engine, &request, &sink, &id, &err), NC_OK);
    assert_int_equal(sem_wait(&self->is_over), 0);
    assert_int_equal(sem_destroy(&self->is_over), 0);
}

static void engine_chunks__a_reader_can_pause_after_each_chunk_of_one_read(void **state) {
    fixture f;
    pausing_reader self = {0};
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script_raw(&f, "/c", CHUNKED "1\r\na\r\n2;x=y\r\nbc\r\n3\r\ndef\r\n0\r\nX-A: 1\r\nX-B: 2\r\n\r\n");
    run(&f, "/c", &self);
    assert_status(self.error.status, NC_OK);
    assert_slice_equals(nc_slice_make(self.body, self.length), "abcdef");
    assert_int_equal(self.pieces, 3);
    assert_int_equal(self.trailers, 2);
    fixture_stop(&f);
}

static void engine_chunks__a_paused_reader_receives_an_error_after_the_bytes_before_it(void **state) {
    fixture f;
    pausing_reader self = {0};
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script_raw(&f, "/c", CHUNKED "1\r\na\r\n2\r\nbc\r\n3\r\ndef!!");
    run(&f, "/c", &self);
    assert_status(self.error.status, NC_ERR_BAD_RESPONSE);
    assert_non_null(strstr(self.error.message, "CR LF is missing after a chunk's content at byte 19"));
    assert_slice_equals(nc_slice_make(self.body, self.length), "abcdef");
    fixture_stop(&f);
}

static void engine_chunks__no_chunk_is_delivered_after_a_stop(void **state) {
    (void)state;
    for (size_t stop_at = 1; stop_at <= 3; stop_at++) {
        fixture f;
        pausing_reader self = {.stop_at = stop_at};
        fixture_start(&f, NCT_PLAIN);
        fixture_script_raw(&f, "/c", CHUNKED "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n");
        run(&f, "/c", &self);
        assert_status(self.error.status, NC_ERR_STOPPED_BY_CALLER);
        assert_int_equal(self.pieces, stop_at);
        fixture_stop(&f);
    }
}

static void engine_chunks__an_encoded_chunked_body_can_be_paused(void **state) {
    nc_gzip *gzip = NULL;
    nc_buf body = nc_buf_init(1000);
    fixture f;
    (void)state;
    assert_status(nc_gzip_new(&gzip, 0, NULL), NC_OK);
    assert_status(nc_gzip_add(&body, gzip, nc_slice_of("hello, hello, hello"), NULL), NC_OK);
    assert_status(nc_gzip_finish(&body, gzip, NULL), NC_OK);
    fixture_start(&f, NCT_PLAIN);
    for (size_t chunk = 1; chunk < 8; chunk += 3) {
        pausing_reader self = {0};
        fixture_script(&f, "/z",
                       (nct_reply){.headers = "Content-Encoding: gzip\r\n",
                                   .body = (const char *)body.data,
                                   .body_length = body.length,
                                   .chunk_bytes = chunk,
                                   .trailers = "X-Sum: 1\r\n"});
        run(&f, "/z", &self);
        assert_status(self.error.status, NC_OK);
        assert_slice_equals(nc_slice_make(self.body, self.length), "hello, hello, hello");
        assert_int_equal(self.trailers, 1);
    }
    fixture_stop(&f);
    nc_gzip_free(gzip);
    nc_buf_deinit(&body);
}

static void engine_chunks__a_connection_is_reused_after_the_last_chunk(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/a", (nct_reply){.body = "chunks", .body_length = 6, .chunk_bytes = 4});
    fixture_script(&f, "/b",
                   (nct_reply){.body = "trailers", .body_length = 8, .chunk_bytes = 4, .trailers = "X-Sum: 1\r\n"});
    fixture_script(&f, "/c", (nct_reply){.body = "", .body_length = 0, .chunk_bytes = 4});
    for (size_t i = 0; i < 12; i++) {
        static const char *const paths[] = {"/a", "/b", "/c"};
        static const char *const bodies[] = {"chunks", "trailers", ""};
        answer one = fixture_get(&f, paths[i % 3]);
        assert_response(one, 200, bodies[i % 3]);
        assert_int_equal(nc_response_trailer_count(one.response), i % 3 == 1);
        assert_int_equal(nc_response_hop_at(one.response, 0).is_reused, i > 0);
        assert_int_equal(nc_response_hop_at(one.response, 0).decoded_bytes, strlen(bodies[i % 3]));
    }
    fixture_stop(&f);
}

static void engine_chunks__a_redirects_chunked_body_is_validated(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/end", (nct_reply){.body = "end", .body_length = 3});
    fixture_script(&f, "/good",
                   (nct_reply){.status = 302, .location = "/end", .body = "moved", .body_length = 5, .chunk_bytes = 2});
    fixture_script_raw(&f, "/bad",
                       "HTTP/1.1 302 Found\r\nLocation: /end\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\n0\r\n\r\n");
    assert_response(fixture_get(&f, "/good"), 200, "end");
    assert_ended(fixture_get(&f, "/bad"), NC_ERR_BAD_RESPONSE, CURLE_RECV_ERROR, "at byte 5");
    fixture_stop(&f);
}

static void engine_chunks__a_long_trailer_line_is_rejected_by_name(void **state) {
    enum { LONG = 5000 };
    static const char begin[] = CHUNKED "1\r\nx\r\n0\r\nX-Long: ";
    static char reply[sizeof begin + LONG];
    fixture f;
    (void)state;
    memset(reply, 'y', sizeof reply - 1);
    memcpy(reply, begin, sizeof begin - 1);
    fixture_start(&f, NCT_PLAIN);
    fixture_script_raw(&f, "/t", reply);
    assert_ended(fixture_get(&f, "/t"), NC_ERR_HEAD_TOO_LARGE, CURLE_RECV_ERROR, "a line of the trailer is too long");
    fixture_stop(&f);
}

static void engine_chunks__trailers_count_toward_the_head_limits(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(
        &f, "/t", (nct_reply){.body = "x", .body_length = 1, .chunk_bytes = 1, .trailers = "A: 1\r\nB: 2\r\nC: 3\r\n"});
    nc_request request = fixture_request(&f, "/t");
    answer whole = fixture_send(&f, &request);
    assert_response(whole, 200, "x");
    nc_hop_metrics hop = nc_response_hop_at(whole.response, 0);
    request.limits.max_head_fields = (uint32_t)nc_response_header_count(whole.response) + 3;
    request.limits.max_head_bytes = (uint32_t)hop.head_bytes;
    assert_response(fixture_send(&f, &request), 200, "x");
    request.limits.max_head_bytes--;
    assert_ended(fixture_send(&f, &request), NC_ERR_HEAD_TOO_LARGE, CURLE_RECV_ERROR, "larger than the limit");
    request.limits.max_head_bytes++;
    request.limits.max_head_fields--;
    assert_ended(fixture_send(&f, &request), NC_ERR_HEAD_TOO_LARGE, CURLE_RECV_ERROR, "more than");
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine_chunks__a_reader_can_pause_after_each_chunk_of_one_read),
        harness_case(engine_chunks__a_paused_reader_receives_an_error_after_the_bytes_before_it),
        harness_case(engine_chunks__no_chunk_is_delivered_after_a_stop),
        harness_case(engine_chunks__an_encoded_chunked_body_can_be_paused),
        harness_case(engine_chunks__a_connection_is_reused_after_the_last_chunk),
        harness_case(engine_chunks__a_redirects_chunked_body_is_validated),
        harness_case(engine_chunks__a_long_trailer_line_is_rejected_by_name),
        harness_case(engine_chunks__trailers_count_toward_the_head_limits),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
