/// Errors of an HTTP/2 connection (RFC 9113, section 5.4.1) at different points of a response. Each ends the request
/// with its own error, not with a time limit.
#include "fixture.h"
#include "tls_frames.h"
#include "tls_peer.h"

#include <string.h>

typedef struct text {
    const char *name;
    const char *bytes;
    size_t length;
} text;

#define TEXT(name, literal)                                                                                            \
    { (name), (literal), sizeof(literal) - 1 }
#define LENGTH_HEAD FRAME_HEAD("\5", "\1", "\4", "\1") "\x88\x0f\x0d\1\x35" // content-length: 5

/// The frames before the error.
static const text fronts[] = {
    TEXT("nothing", ""),
    TEXT("an interim response", FRAME_HEAD("\5", "\1", "\4", "\1") "\x08\3"
                                                                   "103"),
    TEXT("a head", OK_HEAD("\1")),
    TEXT("a head with a length", LENGTH_HEAD),
    TEXT("a part of a body", LENGTH_HEAD FRAME_HEAD("\2", "\0", "\0", "\1") "he"),
    TEXT("a part of a body without a length", OK_HEAD("\1") FRAME_HEAD("\2", "\0", "\0", "\1") "he"),
};

static const text errors[] = {
    TEXT("PING of 7 bytes", FRAME_HEAD("\7", "\6", "\0", "\0") "1234567"),
    TEXT("SETTINGS of 5 bytes", FRAME_HEAD("\5", "\4", "\0", "\0") "12345"),
    TEXT("a header block that cannot be decoded", FRAME_HEAD("\1", "\1", "\4", "\1") "\xff"),
    TEXT("DATA on stream 0", FRAME_HEAD("\1", "\0", "\0", "\0") "x"),
    TEXT("CONTINUATION alone", FRAME_HEAD("\1", "\x9", "\4", "\1") "\x88"),
    TEXT("WINDOW_UPDATE of 0", FRAME_HEAD("\4", "\x08", "\0", "\0") "\0\0\0\0"),
    TEXT("WINDOW_UPDATE that overflows", FRAME_HEAD("\4", "\x08", "\0", "\0") "\x7f\xff\xff\xff"),
    TEXT("PUSH_PROMISE", FRAME_HEAD("\5", "\5", "\4", "\1") "\0\0\0\2\x82"),
    TEXT("SETTINGS with a window that is too large", FRAME_HEAD("\6", "\4", "\0", "\0") "\0\4\x80\0\0\0"),
    TEXT("SETTINGS with a frame size that is too small", FRAME_HEAD("\6", "\4", "\0", "\0") "\0\5\0\0\0\1"),
    TEXT("SETTINGS that switch push on", FRAME_HEAD("\6", "\4", "\0", "\0") "\0\2\0\0\0\2"),
    TEXT("RST_STREAM on an idle stream", FRAME_HEAD("\4", "\3", "\0", "\x9") "\0\0\0\0"),
};

typedef struct error_case {
    const text *front;
    const text *error;
    bool is_exclusive; // on an exclusive connection, the error is sent when the client has read the front
} error_case;

static void serve(SSL *ssl, const tls_peer_connection *connection) {
    static const char ping[] = FRAME_HEAD("\x08", "\6", "\0", "\0") "-synced-";
    const error_case *at = connection->peer->ctx;
    tls_frames frames = TLS_FRAMES_INIT;
    char bytes[256] = SETTINGS;
    size_t length = sizeof SETTINGS - 1;
    if (tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS) < 0) {
        return;
    }
    memcpy(bytes + length, at->front->bytes, at->front->length);
    length += at->front->length;
    if (at->is_exclusive) {
        memcpy(bytes + length, ping, sizeof ping - 1);
        (void)SSL_write(ssl, bytes, (int)(length + sizeof ping - 1));
        (void)tls_frames_find(&frames, ssl, TLS_FRAME_PING);
        length = 0;
    }
    memcpy(bytes + length, at->error->bytes, at->error->length);
    (void)SSL_write(ssl, bytes, (int)(length + at->error->length));
    while (SSL_read(ssl, bytes, sizeof bytes) > 0) { // until the client has closed
    }
}

static bool is_timed_out(nc_status status) {
    return status == NC_ERR_TOTAL_TIMED_OUT || status == NC_ERR_IDLE_TIMED_OUT || status == NC_ERR_FIRST_BYTE_TIMED_OUT;
}

static void expect_error(const error_case *at, const char *method) {
    fixture f;
    tls_peer peer = {.serve = serve, .members = "2", .ctx = (void *)at};
    fixture_start_trusting_all(&f);
    tls_peer_start(&peer);
    const nc_request request = {
        .url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", peer.port)),
        .method = nc_slice_of(method),
        .limits = {.total_ms = 5000},
    };
    nc_error err = fixture_send(&f, &request).error;
    if (err.status == NC_OK || is_timed_out(err.status)) {
        fail_msg("%s, %s behind %s%s: %s (%s)", method, at->error->name, at->front->name,
                 at->is_exclusive ? ", apart" : "", nc_status_name(err.status), err.message);
    }
    fixture_stop(&f);
    tls_peer_stop(&peer);
}

static void streams__a_connection_error_ends_its_stream_immediately(void **state) {
    static const char *const methods[] = {"GET", "POST"};
    (void)state;
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++) {
        for (size_t k = 0; k < 2 * sizeof errors / sizeof *errors; k++) {
            expect_error(&(error_case){&fronts[i], &errors[k / 2], k % 2 != 0}, methods[(i + k / 2) % 2]);
        }
    }
}

enum { STREAMS = 3 };

/// Sends the first response, the heads of the others, and then the error. libcurl sends the other requests on this
/// connection only after the first response.
static void serve_several(SSL *ssl, const tls_peer_connection *connection) {
    const text *error = connection->peer->ctx;
    tls_frames frames = TLS_FRAMES_INIT;
    char rest[256];
    (void)SSL_write(ssl, SETTINGS, sizeof SETTINGS - 1);
    int first = tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS);
    if (first < 0 || connection->index > 0) {
        return;
    }
    tls_frames_respond(ssl, first);
    for (int i = 0; i < STREAMS; i++) {
        (void)tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS);
    }
    (void)SSL_write(ssl, error->bytes, (int)error->length);
    while (SSL_read(ssl, rest, sizeof rest) > 0) {
    }
}

static void streams__a_connection_error_ends_all_streams(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        fixture f;
        nc_transfer_id ids[STREAMS];
        tls_peer peer = {.serve = serve_several, .members = "2", .ctx = (void *)&errors[i]};
        fixture_start_trusting_all(&f);
        tls_peer_start(&peer);
        nc_request request = {
            .url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", peer.port)),
            .method = nc_slice_of("POST"),
            .limits = {.total_ms = 5000},
        };
        assert_response(fixture_send(&f, &request), 200, "hi");
        for (size_t k = 0; k < STREAMS; k++) {
            ids[k] = fixture_submit(&f, &request);
        }
        for (size_t k = 0; k < STREAMS; k++) {
            nc_error err = fixture_wait(&f, ids[k]).error;
            if (err.status == NC_OK || is_timed_out(err.status)) {
                fail_msg("%s, request %zu: %s (%s)", errors[i].name, k, nc_status_name(err.status), err.message);
            }
        }
        assert_int_equal(atomic_load(&peer.count), 1);
        fixture_stop(&f);
        tls_peer_stop(&peer);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(streams__a_connection_error_ends_its_stream_immediately),
        harness_case(streams__a_connection_error_ends_all_streams),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
