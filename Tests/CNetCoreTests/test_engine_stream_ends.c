/// Completeness of an HTTP/2 body without a length (RFC 9113, section 8.1): only END_STREAM shows it. Responses and
/// connection ends arrive over TLS in one piece, in two, and frame by frame.
#include "fixture.h"
#include "tls_frames.h"
#include "tls_peer.h"

#include <curl/curl.h>
#include <string.h>
#include <sys/socket.h>

typedef enum connection_end { STAYS_OPEN, CLOSE_NOTIFY, FIN, RST } connection_end;

typedef struct piece {
    const char *bytes;
    size_t length;
} piece;

enum { MAX_PIECES = 7 };

/// The data after the response head.
typedef struct ending {
    const char *name;
    piece pieces[MAX_PIECES];
    connection_end end;
} ending;

#define PIECE(text)                                                                                                    \
    { (text), sizeof(text) - 1 }
#define SOME_DATA PIECE(FRAME_HEAD("\1", "\0", "\0", "\1") "h")
#define MORE_DATA PIECE(FRAME_HEAD("\1", "\0", "\0", "\1") "i")
#define LAST_DATA PIECE(FRAME_HEAD("\1", "\0", "\1", "\1") "i")
#define NO_DATA PIECE(FRAME_HEAD("\0", "\0", "\1", "\1"))
#define TRAILERS PIECE(FRAME_HEAD("\x09", "\1", "\5", "\1") "\x00\x05x-sum\x01\x31")
#define BAD_TRAILERS PIECE(FRAME_HEAD("\x0d", "\1", "\5", "\1") "\x00\x05x-sum\x01\x31\xff\xff\xff\x7f")
#define GOAWAY(last, code) PIECE(FRAME_HEAD("\x08", "\7", "\0", "\0") "\0\0\0" last "\0\0\0" code)
#define RESET(stream, code) PIECE(FRAME_HEAD("\4", "\3", "\0", stream) "\0\0\0" code)
#define PING PIECE(FRAME_HEAD("\x08", "\6", "\0", "\0") "12345678")
#define SHORT_PING PIECE(FRAME_HEAD("\7", "\6", "\0", "\0") "1234567")

static const ending whole[] = {
    {"END_STREAM on the last DATA", {SOME_DATA, LAST_DATA}, STAYS_OPEN},
    {"END_STREAM on an empty DATA", {SOME_DATA, MORE_DATA, NO_DATA}, STAYS_OPEN},
    {"END_STREAM on trailers", {SOME_DATA, MORE_DATA, TRAILERS}, STAYS_OPEN},
    {"trailers in two frames",
     {SOME_DATA, MORE_DATA,
      PIECE(FRAME_HEAD("\2", "\1", "\1", "\1") "\x00\x05" FRAME_HEAD("\7", "\x9", "\4", "\1") "x-sum\x01\x31")},
     STAYS_OPEN},
    {"GOAWAY before it, then close", {SOME_DATA, GOAWAY("\1", "\0"), LAST_DATA}, CLOSE_NOTIFY},
    {"GOAWAY before it", {SOME_DATA, GOAWAY("\1", "\0"), LAST_DATA}, STAYS_OPEN},
    {"GOAWAY and PING before it", {SOME_DATA, GOAWAY("\1", "\0"), PING, LAST_DATA}, CLOSE_NOTIFY},
    {"END_STREAM, then close_notify", {SOME_DATA, LAST_DATA}, CLOSE_NOTIFY},
    {"END_STREAM, then FIN", {SOME_DATA, LAST_DATA}, FIN},
    {"END_STREAM, then an invalid frame", {SOME_DATA, LAST_DATA, SHORT_PING}, STAYS_OPEN},
    {"END_STREAM, then an error of the stream", {SOME_DATA, LAST_DATA, RESET("\1", "\0")}, STAYS_OPEN},
    {"padding and unknown frames",
     {PIECE(FRAME_HEAD("\4", "\x42", "\0", "\1") "none"), PIECE(FRAME_HEAD("\5", "\0", "\x08", "\1") "\3h\0\0\0"),
      PIECE(FRAME_HEAD("\3", "\0", "\x09", "\1") "\1i\0")},
     STAYS_OPEN},
    {"END_STREAM, then GOAWAY", {SOME_DATA, LAST_DATA, GOAWAY("\1", "\0")}, STAYS_OPEN},
    {"END_STREAM, then GOAWAY with an error", {SOME_DATA, LAST_DATA, GOAWAY("\1", "\2")}, CLOSE_NOTIFY},
    {"END_STREAM, then GOAWAY and FIN", {SOME_DATA, LAST_DATA, GOAWAY("\1", "\0")}, FIN},
};

static const ending cut[] = {
    {"PING of 7 bytes", {SOME_DATA, SHORT_PING}, STAYS_OPEN},
    {"SETTINGS of 5 bytes", {SOME_DATA, PIECE(FRAME_HEAD("\5", "\4", "\0", "\0") "12345")}, STAYS_OPEN},
    {"SETTINGS on a stream", {SOME_DATA, PIECE(FRAME_HEAD("\0", "\4", "\0", "\1"))}, STAYS_OPEN},
    {"WINDOW_UPDATE of 0", {SOME_DATA, PIECE(FRAME_HEAD("\4", "\x08", "\0", "\0") "\0\0\0\0")}, STAYS_OPEN},
    {"WINDOW_UPDATE that overflows",
     {SOME_DATA, PIECE(FRAME_HEAD("\4", "\x08", "\0", "\0") "\x7f\xff\xff\xff")},
     STAYS_OPEN},
    {"trailers that cannot be decoded", {SOME_DATA, BAD_TRAILERS}, STAYS_OPEN},
    {"trailers cut within their frame", {SOME_DATA, PIECE(FRAME_HEAD("\x09", "\1", "\5", "\1") "\x00\x05x-s")}, FIN},
    {"trailers without END_HEADERS",
     {SOME_DATA, PIECE(FRAME_HEAD("\x09", "\1", "\1", "\1") "\x00\x05x-sum\x01\x31")},
     FIN},
    {"DATA on stream 0", {SOME_DATA, PIECE(FRAME_HEAD("\1", "\0", "\1", "\0") "i")}, STAYS_OPEN},
    {"DATA that is too long", {SOME_DATA, PIECE("\0\x40\1\0\1\0\0\0\1i")}, STAYS_OPEN},
    {"DATA shorter than its padding", {SOME_DATA, PIECE(FRAME_HEAD("\2", "\0", "\x09", "\1") "\2i")}, STAYS_OPEN},
    {"RST_STREAM on an idle stream", {SOME_DATA, RESET("\x9", "\0")}, STAYS_OPEN},
    {"CONTINUATION alone", {SOME_DATA, PIECE(FRAME_HEAD("\1", "\x9", "\4", "\1") "\x88")}, STAYS_OPEN},
    {"PUSH_PROMISE", {SOME_DATA, PIECE(FRAME_HEAD("\5", "\5", "\4", "\1") "\0\0\0\2\x82")}, STAYS_OPEN},
    {"GOAWAY with a growing id", {SOME_DATA, GOAWAY("\1", "\0"), GOAWAY("\3", "\0")}, CLOSE_NOTIFY},
    {"GOAWAY with an error, then close", {SOME_DATA, GOAWAY("\1", "\2")}, CLOSE_NOTIFY},
    {"GOAWAY, then close", {SOME_DATA, GOAWAY("\1", "\0")}, CLOSE_NOTIFY},
    {"GOAWAY, then FIN", {SOME_DATA, GOAWAY("\1", "\0")}, FIN},
    {"GOAWAY, then PING of 7 bytes", {SOME_DATA, GOAWAY("\1", "\0"), SHORT_PING}, STAYS_OPEN},
    {"GOAWAY with last stream 0", {SOME_DATA, GOAWAY("\0", "\0")}, CLOSE_NOTIFY},
    {"RST_STREAM with INTERNAL_ERROR", {SOME_DATA, RESET("\1", "\2")}, STAYS_OPEN},
    {"RST_STREAM with NO_ERROR", {SOME_DATA, RESET("\1", "\0")}, STAYS_OPEN},
    {"RST_STREAM with NO_ERROR, then END_STREAM", {SOME_DATA, RESET("\1", "\0"), LAST_DATA}, STAYS_OPEN},
    {"RST_STREAM with CANCEL", {SOME_DATA, RESET("\1", "\x08")}, CLOSE_NOTIFY},
    {"an invalid frame, then END_STREAM", {SOME_DATA, SHORT_PING, LAST_DATA}, STAYS_OPEN},
    {"close_notify", {SOME_DATA}, CLOSE_NOTIFY},
    {"FIN", {SOME_DATA}, FIN},
    {"RST", {SOME_DATA}, RST},
    {"FIN within a frame", {SOME_DATA, PIECE(FRAME_HEAD("\2", "\0", "\1", "\1") "i")}, FIN},
    {"close_notify within the head of a frame", {SOME_DATA, PIECE("\0\0")}, CLOSE_NOTIFY},
    {"close_notify before any DATA", {{NULL, 0}}, CLOSE_NOTIFY},
};

typedef enum timing { IN_ONE_PIECE, IN_TWO, FRAME_BY_FRAME } timing;

typedef struct frame_case {
    const ending *row;
    timing pace;
} frame_case;

static void flush_frames(SSL *ssl, char *text, size_t *length) {
    if (*length > 0) {
        (void)SSL_write(ssl, text, (int)*length);
    }
    *length = 0;
}

/// Sends the collected frames, and waits until the client has read them: it acknowledges a PING.
static void flush_and_wait(SSL *ssl, tls_frames *frames, char *text, size_t *length) {
    static const char ping[] = FRAME_HEAD("\x08", "\6", "\0", "\0") "-synced-";
    memcpy(text + *length, ping, sizeof ping - 1);
    *length += sizeof ping - 1;
    flush_frames(ssl, text, length);
    (void)tls_frames_find(frames, ssl, TLS_FRAME_PING);
}

static void end_connection(SSL *ssl, connection_end end) {
    static const struct linger sends_body_immediately = {.l_onoff = 1};
    char rest[1024];
    if (end == RST) {
        (void)setsockopt(SSL_get_fd(ssl), SOL_SOCKET, SO_LINGER, &sends_body_immediately,
                         sizeof sends_body_immediately);
        SSL_set_quiet_shutdown(ssl, 1);
        return;
    }
    if (end == CLOSE_NOTIFY) {
        (void)SSL_shutdown(ssl);
    }
    if (end != STAYS_OPEN) {
        (void)shutdown(SSL_get_fd(ssl), SHUT_WR);
    }
    while (recv(SSL_get_fd(ssl), rest, sizeof rest, 0) > 0) {
    }
}

static void serve(SSL *ssl, const tls_peer_connection *connection) {
    static const char front[] = SETTINGS OK_HEAD("\1");
    const frame_case *at = connection->peer->ctx;
    tls_frames frames = TLS_FRAMES_INIT;
    char text[1024];
    size_t length = sizeof front - 1;
    if (tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS) < 0) {
        return;
    }
    memcpy(text, front, length);
    for (const piece *one = at->row->pieces; one < at->row->pieces + MAX_PIECES && one->bytes != NULL; one++) {
        if (at->pace == FRAME_BY_FRAME || (at->pace == IN_TWO && one == at->row->pieces + 1)) {
            flush_and_wait(ssl, &frames, text, &length);
        }
        memcpy(text + length, one->bytes, one->length);
        length += one->length;
    }
    flush_frames(ssl, text, &length);
    end_connection(ssl, at->row->end);
}

/// A version and a cipher of TLS.
typedef struct security {
    int version;
    const char *cipher;
} security;

static answer send_request(fixture *f, const frame_case *at, const security *tls) {
    tls_peer peer = {.serve = serve, .members = "2", .ctx = (void *)at};
    tls_peer_start(&peer);
    assert_int_equal(SSL_CTX_set_max_proto_version(peer.context, tls->version), 1);
    if (tls->version == TLS1_3_VERSION) {
        assert_int_equal(SSL_CTX_set_ciphersuites(peer.context, tls->cipher), 1);
    } else {
        assert_int_equal(SSL_CTX_set_cipher_list(peer.context, tls->cipher), 1);
    }
    nc_request request = {.url = nc_slice_of(fixture_text(f, "https://127.0.0.1:%u/", peer.port))};
    answer one = fixture_send(f, &request);
    tls_peer_stop(&peer);
    return one;
}

static void expect_scene(const frame_case *at, const security *tls, bool is_whole) {
    fixture f;
    fixture_start_trusting_all(&f);
    answer one = send_request(&f, at, tls);
    bool is_right =
        is_whole ? one.error.status == NC_OK && nc_slice_is_equal(nc_response_body(one.response), nc_slice_of("hi"))
                 : one.error.status != NC_OK;
    if (!is_right) {
        fail_msg("%s, timing %d, %s: %s (%s)", at->row->name, (int)at->pace, tls->cipher,
                 nc_status_name(one.error.status), one.error.message);
    }
    fixture_stop(&f);
}

static void expect_all(const ending *rows, size_t count, bool is_whole) {
    static const security securities[] = {
        {TLS1_3_VERSION, "TLS_AES_128_GCM_SHA256"},
        {TLS1_2_VERSION, "ECDHE-ECDSA-AES256-GCM-SHA384"},
    };
    for (size_t i = 0; i < count * 3; i++) {
        const frame_case at = {&rows[i / 3], (timing)(i % 3)};
        for (size_t tls = 0; tls < sizeof securities / sizeof *securities; tls++) {
            expect_scene(&at, &securities[tls], is_whole);
        }
    }
}

static void streams__a_body_with_end_stream_is_complete_however_the_connection_ends(void **state) {
    (void)state;
    expect_all(whole, sizeof whole / sizeof *whole, true);
}

static void streams__a_body_without_end_stream_is_an_error_however_the_connection_ends(void **state) {
    (void)state;
    expect_all(cut, sizeof cut / sizeof *cut, false);
}

static void streams__end_stream_is_detected_with_each_cipher(void **state) {
    static const security securities[] = {
        {TLS1_3_VERSION, "TLS_AES_128_GCM_SHA256"},        {TLS1_3_VERSION, "TLS_AES_256_GCM_SHA384"},
        {TLS1_3_VERSION, "TLS_CHACHA20_POLY1305_SHA256"},  {TLS1_2_VERSION, "ECDHE-ECDSA-AES128-GCM-SHA256"},
        {TLS1_2_VERSION, "ECDHE-ECDSA-AES256-GCM-SHA384"}, {TLS1_2_VERSION, "ECDHE-ECDSA-CHACHA20-POLY1305"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof securities / sizeof *securities; i++) {
        for (size_t pace = 0; pace < 3; pace++) {
            expect_scene(&(frame_case){&whole[2], (timing)pace}, &securities[i], true);
            expect_scene(&(frame_case){&cut[0], (timing)pace}, &securities[i], false);
        }
    }
}

/// Sends bodies of many records with key updates (RFC 8446, section 4.6.3) and padded records.
static void serve_with_new_keys(SSL *ssl, const tls_peer_connection *connection) {
    static const char head[] = SETTINGS OK_HEAD("\1");
    static const char data[] = FRAME_HEAD("\x08", "\0", "\0", "\1") "eight is";
    static const char last[] = FRAME_HEAD("\0", "\0", "\1", "\1");
    bool is_cut = *(bool *)connection->peer->ctx;
    tls_frames frames = TLS_FRAMES_INIT;
    if (tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS) < 0) {
        return;
    }
    (void)SSL_write(ssl, head, sizeof head - 1);
    for (int i = 0; i < 400; i++) {
        int kind = i % 40 == 1 ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED;
        if (i % 20 == 1) {
            (void)SSL_key_update(ssl, kind);
            (void)SSL_do_handshake(ssl);
        }
        if (i == 9) {
            (void)SSL_new_session_ticket(ssl);
        }
        (void)SSL_write(ssl, data, sizeof data - 1);
    }
    if (!is_cut) {
        (void)SSL_write(ssl, last, sizeof last - 1);
    }
    end_connection(ssl, CLOSE_NOTIFY);
}

static void streams__end_stream_is_detected_after_a_key_update_and_in_padded_records(void **state) {
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    for (int i = 0; i < 4; i++) {
        bool is_cut = i % 2 == 1;
        tls_peer peer = {.serve = serve_with_new_keys, .members = "2", .ctx = &is_cut};
        tls_peer_start(&peer);
        assert_int_equal(SSL_CTX_set_block_padding(peer.context, i < 2 ? 64 : 1), 1);
        nc_request request = {.url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", peer.port))};
        answer one = fixture_send(&f, &request);
        tls_peer_stop(&peer);
        assert_status(one.error.status, is_cut ? NC_ERR_CUT_SHORT : NC_OK);
        assert_int_equal(nc_response_body(one.response).length, 400 * 8);
    }
    fixture_stop(&f);
}

/// The server's first frames may arrive together with the handshake, before the client has the keys.
static void streams__end_stream_is_detected_if_the_server_sends_first(void **state) {
    static const char early[] = FRAME_HEAD("\0", "\4", "\0", "\0");
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        fixture_start_trusting_all(&f);
        const frame_case at = {i == 0 ? &whole[0] : &cut[0], FRAME_BY_FRAME};
        tls_peer peer = {
            .serve = serve, .members = "2", .ctx = (void *)&at, .early = early, .early_length = sizeof early - 1};
        tls_peer_start(&peer);
        nc_request request = {.url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", peer.port))};
        answer one = fixture_send(&f, &request);
        tls_peer_stop(&peer);
        assert_int_equal(one.error.status == NC_OK, i == 0);
        fixture_stop(&f);
    }
}

/// A cipher without frame inspection. HTTP/2 forbids it (RFC 9113, section 9.2.2), and libcurl accepts it.
static void streams__a_body_without_length_over_an_unsupported_cipher_is_an_error(void **state) {
    static const security tls = {TLS1_2_VERSION, "ECDHE-ECDSA-AES128-SHA256"};
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    assert_ended(send_request(&f, &(frame_case){&whole[0], IN_ONE_PIECE}, &tls), NC_ERR_CUT_SHORT, CURLE_PARTIAL_FILE,
                 "without a length");
    fixture_stop(&f);
}

/// Serves all requests of a connection. Every second response is reset before its END_STREAM.
static void serve_many(SSL *ssl, const tls_peer_connection *connection) {
    tls_frames frames = TLS_FRAMES_INIT;
    (void)connection;
    (void)SSL_write(ssl, SETTINGS, sizeof SETTINGS - 1);
    for (int stream = tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS); stream > 0;
         stream = tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS)) {
        char text[] = OK_HEAD("\1") FRAME_HEAD("\2", "\0", "\0", "\1") "hi" FRAME_HEAD("\0", "\0", "\1", "\1");
        char reset[] = FRAME_HEAD("\4", "\3", "\0", "\1") "\0\0\0\0";
        bool is_cut = stream % 4 == 3;
        text[8] = text[18] = text[29] = reset[8] = (char)stream;
        memcpy(text + 19, is_cut ? "no" : "ok", 2);
        (void)SSL_write(ssl, text, (int)sizeof text - 1 - (is_cut ? 9 : 0));
        if (is_cut) {
            (void)SSL_write(ssl, reset, sizeof reset - 1);
        }
    }
}

static void streams__each_stream_of_a_connection_has_its_own_end(void **state) {
    enum { REQUESTS = 40 };
    nc_transfer_id ids[REQUESTS];
    fixture f;
    (void)state;
    fixture_start_trusting_all(&f);
    tls_peer peer = {.serve = serve_many, .members = "2"};
    tls_peer_start(&peer);
    nc_request request = {.url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", peer.port))};
    assert_response(fixture_send(&f, &request), 200, "ok");               // stream 1
    assert_int_not_equal(fixture_send(&f, &request).error.status, NC_OK); // stream 3 of the same connection
    for (size_t i = 0; i < REQUESTS; i++) {
        ids[i] = fixture_submit(&f, &request);
    }
    for (size_t i = 0; i < REQUESTS; i++) {
        answer one = fixture_wait(&f, ids[i]);
        bool is_whole = nc_slice_is_equal(nc_response_body(one.response), nc_slice_of("ok"));
        assert_int_equal(one.error.status == NC_OK, is_whole);
    }
    fixture_stop(&f);
    tls_peer_stop(&peer);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(streams__a_body_with_end_stream_is_complete_however_the_connection_ends),
        harness_case(streams__a_body_without_end_stream_is_an_error_however_the_connection_ends),
        harness_case(streams__end_stream_is_detected_with_each_cipher),
        harness_case(streams__end_stream_is_detected_after_a_key_update_and_in_padded_records),
        harness_case(streams__end_stream_is_detected_if_the_server_sends_first),
        harness_case(streams__a_body_without_length_over_an_unsupported_cipher_is_an_error),
        harness_case(streams__each_stream_of_a_connection_has_its_own_end),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
