/// HTTP/2 streams with unusual ends, frame by frame (RFC 9113), without TLS.
#include "fixture.h"
#include "frames.h"

#include <curl/curl.h>
#include <string.h>

enum { MAX_FRAMES = 8 };

/// The client's data after its head.
typedef enum upload {
    NOTHING,
    FEW_BYTES, // sent in one piece
    NO_END,    // the reply begins after some of it
    NO_ROOM,   // as NO_END, but the server's receive window is full by then
    BY_RATE,   // the reply begins after half of it
} upload;

static nc_pull pull_much(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    (void)ctx;
    (void)id;
    *filled = capacity;
    memset(bytes, 'x', capacity);
    return NC_PULL_MORE;
}

typedef struct row {
    frame frames[MAX_FRAMES];
    nc_status status;
    const char *body;
    size_t trailers;
    const char *later_body; // for libcurl 8.x, which delivers more of a malformed response; NULL: as above
    nc_status later_status; // for libcurl 8.x, which reports a stream's end differently; NC_OK: as above
} row;

static bool is_later(void) {
    return curl_version_info(CURLVERSION_NOW)->version_num >= 0x080000;
}

static answer send_request(fixture *f, const row *one, upload kind, bool *was_reset) {
    static const size_t upload_bytes[] = {[NO_END] = 20000, [NO_ROOM] = 65535, [BY_RATE] = 20000};
    static char body[40000];
    bool is_secure = frame_is_open(&one->frames[0]);
    frame_server server = {.rows = {one->frames}, .upload_bytes = upload_bytes[kind], .is_secure = is_secure};
    frame_server_start(&server);
    nc_request request = {
        .url = nc_slice_of(fixture_text(f, "http%s://127.0.0.1:%u/", is_secure ? "s" : "", server.port)),
        .http = NC_HTTP_2_PRIOR_KNOWLEDGE,
    };
    if (kind == FEW_BYTES) {
        request.method = nc_slice_of("POST");
        request.body = nc_slice_of("hello");
    } else if (kind == BY_RATE) {
        request.method = nc_slice_of("POST");
        request.body = nc_slice_make(body, sizeof body);
        request.limits.max_send_bytes_per_s = 200000;
    } else if (kind != NOTHING) {
        request.method = nc_slice_of("PUT");
        request.body_source = (nc_body_source){.pull = pull_much};
        request.body_length = (uint64_t)1 << 40;
    }
    answer got = fixture_send(f, &request);
    frame_server_stop(&server);
    if (was_reset != NULL) {
        *was_reset = atomic_load(&server.was_reset);
    }
    return got;
}

static void expect_row(fixture *f, const row *one, upload kind, size_t index) {
    answer got = send_request(f, one, kind, NULL);
    nc_status status = is_later() && one->later_status != NC_OK ? one->later_status : one->status;
    if (got.error.status != status) {
        fail_msg("row %zu: %s (%s)", index, nc_status_name(got.error.status), got.error.message);
    }
    assert_slice_equals(nc_response_body(got.response),
                        is_later() && one->later_body != NULL ? one->later_body : one->body);
    assert_int_equal(nc_response_trailer_count(got.response), one->trailers);
}

static void expect_rows(const row *rows, size_t count, upload kind) {
    fixture f;
    fixture_start_trusting_all(&f);
    for (size_t i = 0; i < count; i++) {
        expect_row(&f, &rows[i], kind, i);
    }
    fixture_stop(&f);
}

static void engine_streams__end_with_their_last_frame_and_not_with_their_length(void **state) {
    static const row rows[] = {
        {{HEADERS(OK_OF_2), LAST_DATA("hi")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OPEN), LAST_DATA("hi")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OF_2), DATA("hi"), LAST_DATA("")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{LAST_HEADERS(OK_OPEN)}, NC_OK, "", 0, NULL, NC_OK},
        // Trailers with the body and after it.
        {{HEADERS(TOLD_OF_2), DATA("hi"), LAST_HEADERS(TRAILER)}, NC_OK, "hi", 1, NULL, NC_OK},
        {{HEADERS(OK_OPEN), DATA("hi"), LAST_HEADERS(TRAILER)}, NC_OK, "hi", 1, NULL, NC_OK},
        {{HEADERS(TOLD_OF_2), DATA("hi"), PING, LAST_HEADERS(TRAILER)}, NC_OK, "hi", 1, NULL, NC_OK},
        {{HEADERS(TOLD_OF_2), PING, DATA("h"), DATA("i"), PING, LAST_HEADERS(TRAILER)}, NC_OK, "hi", 1, NULL, NC_OK},
        // RFC 9113, section 8.1.1: a response with a wrong length is malformed.
        {{HEADERS(OK_OF_3), PING, LAST_DATA("hi")}, NC_ERR_HTTP2, "", 0, "hi", NC_OK},
        {{HEADERS(OK_OF_2), PING, LAST_DATA("hi!")}, NC_ERR_HTTP2, "", 0, NULL, NC_OK},
        {{HEADERS(TOLD_OF_3), PING, DATA("hi"), PING, LAST_HEADERS(TRAILER)}, NC_ERR_HTTP2, "hi", 0, NULL, NC_OK},
        {{LAST_HEADERS(OK_OF_2)}, NC_ERR_HTTP2, "", 0, NULL, NC_OK},
        // If the last frame is missing (or libcurl has dropped it), Content-Length determines the end.
        {{HEADERS(OK_OF_2), DATA("hi")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OF_3), PING, DATA("hi"), PING, RESET("\0")}, NC_ERR_CUT_SHORT, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OF_3), PING, DATA("hi"), PING, RESET("\2")}, NC_ERR_HTTP2, "hi", 0, NULL, NC_OK},
    };
    (void)state;
    expect_rows(rows, sizeof rows / sizeof *rows, NOTHING);
}

/// If the last frame is missing, the length determines the end, but the coding must be complete too.
static void engine_streams__a_full_length_body_can_still_end_within_its_coding(void **state) {
    static const frame frames[] = {
        // trailer: x-sum, content-encoding: gzip, content-length: 2
        HEADERS("\x88\x00\x07trailer\x05x-sum\x0f\x0b\x04gzip\x0f\x0d\x01\x32"),
        DATA("\x1f\x8b"),
        {0},
    };
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    frame_server server = {.rows = {frames}};
    frame_server_start(&server);
    const nc_request request = {
        .url = nc_slice_of(fixture_text(&f, "http://127.0.0.1:%u/", server.port)),
        .http = NC_HTTP_2_PRIOR_KNOWLEDGE,
        .accepts_codings = true,
    };
    assert_ended(fixture_send(&f, &request), NC_ERR_CUT_SHORT, CURLE_BAD_CONTENT_ENCODING,
                 "the gzip body is incomplete: it ends within the compressed stream");
    frame_server_stop(&server);
    fixture_stop(&f);
}

static void engine_streams__a_response_counts_although_the_upload_is_rejected(void **state) {
    static const row rows[] = {
        {{HEADERS(OK_OF_2), LAST_DATA("hi"), PING, RESET("\0")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OF_2), PING, LAST_DATA("hi"), PING, RESET("\0")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(TOLD_OF_2), DATA("hi"), LAST_HEADERS(TRAILER), PING, RESET("\0")}, NC_OK, "hi", 1, NULL, NC_OK},
        // A reset with NO_ERROR is accepted only if the response is complete.
        {{HEADERS(OK_OF_3), DATA("hi"), PING, RESET("\0")}, NC_ERR_HTTP2, "hi", 0, NULL, NC_ERR_CUT_SHORT},
        {{LAST_HEADERS(NO_CONTENT), PING, RESET("\0")}, NC_OK, "", 0, NULL, NC_OK},
        // At an error status libcurl stops sending, so the reset interrupts no upload.
        {{LAST_HEADERS(TOO_LARGE), PING, RESET("\0")}, NC_OK, "", 0, NULL, NC_OK},
        {{HEADERS(TOO_LARGE), LAST_DATA("hi"), PING, RESET("\0")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OPEN), DATA("hi"), PING, RESET("\2")}, NC_ERR_HTTP2, "hi", 0, NULL, NC_OK},
        // The length is reached, but the stream has not ended before its error. libcurl 8.x may not report the error.
        {{HEADERS(OK_OF_2), DATA("hi"), PING, RESET("\2")}, NC_ERR_HTTP2, "hi", 0, NULL, NC_OK},
    };
    (void)state;
    expect_rows(rows, sizeof rows / sizeof *rows - (is_later() ? 1 : 0), NO_END);
}

/// RFC 9113, section 8.1: the response is complete, so it counts whatever code the reset has. libcurl up to 8.14
/// reports an error.
static void engine_streams__a_complete_response_counts_although_an_error_follows(void **state) {
    const row one = {{HEADERS(OK_OF_2), LAST_DATA("hi"), PING, RESET("\2")}, NC_OK, "hi", 0, NULL, NC_OK};
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    answer got = send_request(&f, &one, NO_END, NULL);
    assert_true(got.error.status == NC_OK || got.error.status == NC_ERR_HTTP2);
    assert_slice_equals(nc_response_body(got.response), "hi");
    fixture_stop(&f);
}

/// If the server has ended its side first, the last piece of the request body closes the stream. libcurl 8.14 reports
/// that as a send failure.
static void engine_streams__a_response_before_the_end_of_the_upload_is_complete(void **state) {
    static const row rows[] = {
        {{HEADERS(OK_OF_2), LAST_DATA("hi")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OF_2), PING, LAST_DATA("hi")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{LAST_HEADERS(NO_CONTENT)}, NC_OK, "", 0, NULL, NC_OK},
    };
    (void)state;
    expect_rows(rows, sizeof rows / sizeof *rows, BY_RATE);
}

/// After an error status libcurl sends nothing more. If the server reads nothing either, libcurl cannot even send the
/// stream's end, and would wait.
static void engine_streams__a_full_length_error_response_counts_although_the_upload_stalls(void **state) {
    static const row rows[] = {
        {{HEADERS(TOO_LARGE_OF_2), LAST_DATA("hi")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(TOO_LARGE_OF_2), PING, DATA("hi")}, NC_OK, "hi", 0, NULL, NC_OK},
    };
    (void)state;
    expect_rows(rows, sizeof rows / sizeof *rows, NO_ROOM);
}

/// libcurl reports a body with END_STREAM and one without in the same way if a reset follows. The frames distinguish
/// them.
static void engine_streams__a_reset_body_without_length_is_complete_if_end_stream_arrived(void **state) {
    const row rows[] = {
        {{HEADERS(OK_OPEN), LAST_DATA("hi"), PING, RESET("\0")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OPEN), DATA("hi"), PING, RESET("\0")}, NC_ERR_HTTP2, "hi", 0, NULL, NC_OK},
        {{LAST_HEADERS(OK_OPEN), PING, RESET("\0")}, NC_OK, "", 0, NULL, NC_OK},
    };
    (void)state;
    expect_rows(rows, sizeof rows / sizeof *rows, NO_END);
    expect_rows(rows, sizeof rows / sizeof *rows, NOTHING);
}

/// Without TLS the engine does not see the frames, so it cannot know whether such a body is complete.
static void engine_streams__a_cleartext_body_without_length_or_end_stream_is_an_error(void **state) {
    static const frame frames[] = {HEADERS(OK_OPEN), LAST_DATA("hi"), {0}};
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    frame_server server = {.rows = {frames}};
    frame_server_start(&server);
    const nc_request request = {
        .url = nc_slice_of(fixture_text(&f, "http://127.0.0.1:%u/", server.port)),
        .http = NC_HTTP_2_PRIOR_KNOWLEDGE,
    };
    assert_ended(fixture_send(&f, &request), NC_ERR_CUT_SHORT, CURLE_PARTIAL_FILE, "without a length");
    frame_server_stop(&server);
    fixture_stop(&f);
}

/// libcurl 7.88 reads and drops data that arrives together with the reset. Other versions deliver it as a response.
/// In no version is the response incomplete, and in none does the transfer wait.
static void engine_streams__a_response_in_one_read_with_its_reset_is_complete_or_an_error(void **state) {
    static const row rows[] = {
        {{HEADERS(OK_OF_2), LAST_DATA("hi"), RESET("\0")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OPEN), LAST_DATA("hi"), RESET("\0")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(TOO_LARGE), LAST_DATA("hi"), RESET("\0")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{LAST_HEADERS(OK_OPEN), RESET("\0")}, NC_OK, "", 0, NULL, NC_OK},
        {{HEADERS(TOLD_OF_2), DATA("hi"), LAST_HEADERS(TRAILER), RESET("\0")}, NC_OK, "hi", 1, NULL, NC_OK},
    };
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        answer got = send_request(&f, &rows[i], NO_END, NULL);
        if (got.error.status == NC_OK) {
            assert_int_not_equal(nc_response_status(got.response), 0);
            assert_slice_equals(nc_response_body(got.response), rows[i].body);
        } else if (got.error.status != NC_ERR_BAD_RESPONSE && got.error.status != NC_ERR_CUT_SHORT) {
            assert_status(got.error.status, NC_ERR_HTTP2);
        }
    }
    fixture_stop(&f);
}

/// A lost response is requested again if the request is idempotent.
static void engine_streams__a_stream_without_a_response_is_retried_if_allowed(void **state) {
    static const frame lost[] = {HEADERS(OK_OF_2), LAST_DATA("hi"), RESET("\0"), {0}};
    static const frame complete[] = {HEADERS(OK_OF_2), LAST_DATA("hi"), PING, RESET("\0"), {0}};
    static char body[200000]; // more than one write
    static const char *const methods[] = {"PUT", "POST"};
    fixture f;
    (void)state;
    memset(body, 'x', sizeof body);
    fixture_start_trusting_all(&f);
    for (size_t i = 0; i < 2; i++) {
        frame_server server = {.rows = {lost, complete}, .upload_bytes = 20000};
        frame_server_start(&server);
        nc_request request = {
            .url = nc_slice_of(fixture_text(&f, "http://127.0.0.1:%u/", server.port)),
            .method = nc_slice_of(methods[i]),
            .body = nc_slice_make(body, sizeof body),
            .http = NC_HTTP_2_PRIOR_KNOWLEDGE,
        };
        answer got = fixture_send(&f, &request);
        if (i == 0 || is_later()) {
            assert_response(got, 200, "hi");
        } else {
            assert_ended(got, NC_ERR_HTTP2, CURLE_HTTP2_STREAM, "this libcurl has lost the response");
        }
        frame_server_stop(&server);
        assert_int_equal(atomic_load(&server.served), i == 0 && !is_later() ? 2 : 1);
    }
    fixture_stop(&f);
}

/// If the receive buffer is full before the last frame, libcurl 7.88 reads that frame and drops it. It reports the
/// stream's end only when more data arrives on the connection.
static void engine_streams__a_stream_whose_frames_arrive_together_ends(void **state) {
    enum { HALF = 16000 };
    static char half[HALF + 1];
    (void)state;
    memset(half, 'x', HALF);
    static const frame frames[] = {
        HEADERS(OK_OPEN), {FRAME_DATA, 0, half, HALF}, {FRAME_DATA, FRAME_END_STREAM, half, HALF}, {0}};
    row one = {.status = NC_OK};
    memcpy(one.frames, frames, sizeof frames);
    fixture f;
    fixture_start_trusting_all(&f);
    for (upload kind = NOTHING; kind <= FEW_BYTES; kind++) {
        answer got = send_request(&f, &one, kind, NULL);
        assert_status(got.error.status, NC_OK);
        assert_int_equal(nc_response_body(got.response).length, 2 * HALF);
    }
    fixture_stop(&f);
}

/// HTTP_1_1_REQUIRED (RFC 9113, section 7) within a response: libcurl 7.88 would resend the request over HTTP/1.1 and
/// append that response to this half.
static void engine_streams__http_1_1_required_after_a_partial_response_is_not_retried(void **state) {
    static const row rows[] = {
        {{HEADERS(OK_OPEN), DATA("hi"), PING, RESET("\x0d")}, NC_ERR_HTTP2, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OF_3), PING, DATA("h"), DATA("i"), PING, RESET("\x0d")}, NC_ERR_HTTP2, "hi", 0, NULL, NC_OK},
    };
    (void)state;
    for (upload kind = NOTHING; kind <= FEW_BYTES; kind++) {
        expect_rows(rows, sizeof rows / sizeof *rows, kind);
    }
}

/// Content-Length is not the end of a stream, even if the request had a body.
static void engine_streams__a_stream_with_a_complete_body_waits_for_trailers(void **state) {
    static const row rows[] = {
        {{HEADERS(OK_OF_2), LAST_DATA("hi")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OF_2), PING, DATA("hi"), PING, LAST_DATA("")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OPEN), PING, DATA("hi"), PING, LAST_DATA("")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{LAST_HEADERS(OK_OPEN)}, NC_OK, "", 0, NULL, NC_OK},
        {{HEADERS(TOLD_OF_2), DATA("hi"), PING, LAST_HEADERS(TRAILER)}, NC_OK, "hi", 1, NULL, NC_OK},
        {{HEADERS(TOLD_OF_2), PING, DATA("hi"), PING, PING, LAST_HEADERS(TRAILER)}, NC_OK, "hi", 1, NULL, NC_OK},
        {{HEADERS(OK_OPEN), DATA("hi"), PING, LAST_HEADERS(TRAILER)}, NC_OK, "hi", 1, NULL, NC_OK},
        {{HEADERS(TOLD_OF_3), PING, DATA("hi"), PING, LAST_HEADERS(TRAILER)}, NC_ERR_HTTP2, "hi", 0, NULL, NC_OK},
    };
    (void)state;
    expect_rows(rows, sizeof rows / sizeof *rows, FEW_BYTES);
}

/// libcurl 7.88 resets a stream that it has read to its length before its last frame. Servers treat many resets as an
/// attack.
static void engine_streams__a_stream_read_to_its_length_is_not_reset(void **state) {
    static const row one = {{HEADERS(OK_OF_2), LAST_DATA("hi")}, NC_OK, "hi", 0, NULL, NC_OK};
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    for (upload kind = NOTHING; kind <= FEW_BYTES; kind++) {
        bool was_reset = true;
        answer got = send_request(&f, &one, kind, &was_reset);
        assert_status(got.error.status, NC_OK);
        assert_slice_equals(nc_response_body(got.response), "hi");
        assert_false(was_reset);
    }
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine_streams__end_with_their_last_frame_and_not_with_their_length),
        harness_case(engine_streams__a_full_length_body_can_still_end_within_its_coding),
        harness_case(engine_streams__a_response_counts_although_the_upload_is_rejected),
        harness_case(engine_streams__a_complete_response_counts_although_an_error_follows),
        harness_case(engine_streams__a_response_before_the_end_of_the_upload_is_complete),
        harness_case(engine_streams__a_full_length_error_response_counts_although_the_upload_stalls),
        harness_case(engine_streams__a_reset_body_without_length_is_complete_if_end_stream_arrived),
        harness_case(engine_streams__a_cleartext_body_without_length_or_end_stream_is_an_error),
        harness_case(engine_streams__a_response_in_one_read_with_its_reset_is_complete_or_an_error),
        harness_case(engine_streams__a_stream_without_a_response_is_retried_if_allowed),
        harness_case(engine_streams__a_stream_whose_frames_arrive_together_ends),
        harness_case(engine_streams__http_1_1_required_after_a_partial_response_is_not_retried),
        harness_case(engine_streams__a_stream_with_a_complete_body_waits_for_trailers),
        harness_case(engine_streams__a_stream_read_to_its_length_is_not_reset),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
