/// HTTP/2 heads that nghttp2 or libcurl do not read completely, frame by frame, without TLS.
#include "fixture.h"
#include "frames.h"

#include <string.h>

enum { FIELDS = 36, VALUE_BYTES = 4000, MAX_BLOCK_BYTES = FIELDS * (VALUE_BYTES + 8), PIECE_BYTES = 16000 };

static nc_error fail_with(const frame *row) {
    fixture f;
    frame_server server = {.rows = {row}};
    fixture_start(&f, NCT_PLAIN);
    frame_server_start(&server);
    nc_request request = {
        .url = nc_slice_of(fixture_text(&f, "http://127.0.0.1:%u/", server.port)),
        .http = NC_HTTP_2_PRIOR_KNOWLEDGE,
        .limits = {.max_head_bytes = 1 << 20},
    };
    nc_error err = fixture_send(&f, &request).error;
    frame_server_stop(&server);
    fixture_stop(&f);
    return err;
}

static void assert_head_too_large(nc_error err) {
    assert_status(err.status, NC_ERR_HEAD_TOO_LARGE);
    assert_false(nc_status_is_retryable(err.status));
    assert_non_null(strstr(err.message, "127.0.0.1"));
}

static void frames__a_head_in_more_than_eight_frames_is_too_large(void **state) {
    frame row[12] = {FRAME(FRAME_HEADERS, 0, OK_OF_2)};
    (void)state;
    for (size_t i = 1; i <= 10; i++) {
        row[i] = (frame)FRAME(FRAME_MORE_HEADERS, 0, "\x00\x01x\x01y");
    }
    assert_head_too_large(fail_with(row));
}

static void frames__a_head_that_libcurl_stops_reading_is_too_large(void **state) {
    static char block[MAX_BLOCK_BYTES] = OK_OPEN;
    static const char name[] = "\x00\x01x\x7f\xa1\x1e"; // x: a value of 4000 bytes
    size_t length = sizeof OK_OPEN - 1;
    frame row[12] = {{0}};
    (void)state;
    for (size_t i = 0; i < FIELDS; i++) {
        memcpy(block + length, name, sizeof name - 1);
        memset(block + length + sizeof name - 1, 'y', VALUE_BYTES);
        length += sizeof name - 1 + VALUE_BYTES;
    }
    for (size_t at = 0, i = 0; at < length; at += PIECE_BYTES, i++) {
        size_t count = length - at < PIECE_BYTES ? length - at : PIECE_BYTES;
        uint8_t flags = at + count == length ? FRAME_END_HEADERS : 0;
        row[i] = (frame){i == 0 ? FRAME_HEADERS : FRAME_MORE_HEADERS, flags, block + at, (uint16_t)count};
    }
    assert_head_too_large(fail_with(row));
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(frames__a_head_in_more_than_eight_frames_is_too_large),
        harness_case(frames__a_head_that_libcurl_stops_reading_is_too_large),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
