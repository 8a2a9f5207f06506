/// Requests that share a TLS connection, concurrently or in sequence: each gets its own response.
#include "fixture.h"
#include "gate.h"
#include "tls_frames.h"
#include "tls_peer.h"

#include <string.h>
#include <sys/socket.h>

enum { BODY_BYTES = 61722, TRIES = 60 };

#define GOAWAY FRAME_HEAD("\x08", "\7", "\0", "\0") "\0\0\0\1\0\0\0\0"

/// Gates for the server's first response, and counters of the server.
typedef struct server_state {
    gate is_asked;
    gate may_answer;
    atomic_uint asked_of_first;
    atomic_uint lost;
} server_state;

/// Reads a head, and counts the body bytes that arrived with it. Returns 0 at the end of the connection.
static size_t read_head(SSL *ssl, char *head, size_t capacity, size_t *body_bytes) {
    size_t length = 0;
    while (length + 1 < capacity) {
        int got = SSL_read(ssl, head + length, (int)(capacity - 1 - length));
        if (got <= 0) {
            return 0;
        }
        length += (size_t)got;
        head[length] = '\0';
        const char *end = strstr(head, "\r\n\r\n");
        if (end != NULL) {
            *body_bytes = length - (size_t)(end + 4 - head);
            return length;
        }
    }
    return 0;
}

static void answer_with(SSL *ssl, const char *text) {
    char reply[200];
    int length = snprintf(reply, sizeof reply, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(text), text);
    (void)SSL_write(ssl, reply, length);
}

/// Serves HTTP/1.1: the body is the target.
static void serve_one(SSL *ssl, const tls_peer_connection *connection) {
    server_state *at = connection->peer->ctx;
    char head[4096];
    size_t body_bytes = 0;
    while (read_head(ssl, head, sizeof head, &body_bytes) > 0) {
        char target[16] = "";
        assert_int_equal(sscanf(head, "GET %15s ", target), 1);
        if (connection->index == 0) {
            atomic_fetch_add(&at->asked_of_first, 1);
            gate_open(&at->is_asked);
            gate_wait(&at->may_answer);
        }
        answer_with(ssl, target);
    }
}

/// Closes without a reset, which would destroy the response.
static void close_quietly(SSL *ssl) {
    char rest[256];
    (void)SSL_shutdown(ssl);
    (void)shutdown(SSL_get_fd(ssl), SHUT_WR);
    while (recv(SSL_get_fd(ssl), rest, sizeof rest, 0) > 0) {
    }
}

static void serve_member(SSL *ssl, const tls_peer_connection *connection) {
    tls_frames frames = TLS_FRAMES_INIT;
    if (connection->peer->members[connection->index] != '2') {
        serve_one(ssl, connection);
    } else if (connection->index == 2 && tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS) == 1) {
        (void)SSL_write(ssl, SETTINGS FIRST_CHALLENGE, sizeof(SETTINGS FIRST_CHALLENGE) - 1);
        if (tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS) == 3) { // libcurl 8.21 stays on the connection
            static const char proof[] = OK_HEAD("\3") FRAME_HEAD("\6", "\0", "\1", "\3") "/proof";
            (void)SSL_write(ssl, proof, sizeof proof - 1);
            close_quietly(ssl);
        }
    } else if (tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS) == 1) {
        (void)SSL_write(ssl, SETTINGS FIRST_ANSWER GOAWAY, sizeof(SETTINGS FIRST_ANSWER GOAWAY) - 1);
        close_quietly(ssl);
    }
}

static nc_request request_to(fixture *f, const tls_peer *peer, const char *path) {
    return (nc_request){
        .url = nc_slice_of(fixture_text(f, "https://127.0.0.1:%u%s", peer->port, path)),
        .limits = {.total_ms = 5000},
    };
}

static void engine__a_busy_connection_of_http_1_carries_no_other_request(void **state) {
    static const nc_http_choice choices[] = {NC_HTTP_AUTO, NC_HTTP_1_1};
    (void)state;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        fixture f;
        server_state at = {.is_asked = GATE_INIT, .may_answer = GATE_INIT};
        tls_peer peer = {.serve = serve_member, .members = "121", .ctx = &at};
        fixture_start_trusting_all(&f);
        tls_peer_start(&peer);
        nc_request first = request_to(&f, &peer, "/first");
        first.http = choices[i];
        nc_transfer_id waiting = fixture_submit(&f, &first);
        gate_wait(&at.is_asked);
        nc_request second = request_to(&f, &peer, "/second");
        assert_response(fixture_send(&f, &second), 200, "hi"); // the host has used HTTP/2
        nc_request third = request_to(&f, &peer, "/third");
        answer got = fixture_send(&f, &third);
        gate_open(&at.may_answer);
        assert_response(got, 200, "/third");
        assert_response(fixture_wait(&f, waiting), 200, "/first");
        tls_peer_stop(&peer);
        assert_int_equal(atomic_load(&at.asked_of_first), 1);
        fixture_stop(&f);
    }
}

/// Serves HTTP/1.1. The first connection responds when a request has arrived on another one.
static void serve_after_another(SSL *ssl, const tls_peer_connection *connection) {
    server_state *at = connection->peer->ctx;
    char head[4096];
    size_t body_bytes = 0;
    while (read_head(ssl, head, sizeof head, &body_bytes) > 0) {
        if (connection->index == 0) {
            gate_wait(&at->may_answer);
        } else {
            gate_open(&at->may_answer);
        }
        answer_with(ssl, "hi");
    }
}

static int wait_for_requests(SSL *ssl, int *alert, void *ctx) {
    (void)ssl;
    (void)alert;
    gate_wait(&((server_state *)ctx)->is_asked);
    return SSL_CLIENT_HELLO_SUCCESS;
}

/// Both requests are submitted before a handshake can have negotiated HTTP/1.1.
static void engine__a_request_does_not_wait_for_the_response_after_anothers_handshake(void **state) {
    fixture f;
    server_state at = {.is_asked = GATE_INIT, .may_answer = GATE_INIT};
    tls_peer peer = {.serve = serve_after_another, .members = "1", .ctx = &at};
    (void)state;
    fixture_start_trusting_all(&f);
    tls_peer_start(&peer);
    SSL_CTX_set_client_hello_cb(peer.context, wait_for_requests, &at);
    nc_request request = request_to(&f, &peer, "/");
    nc_transfer_id ids[] = {fixture_submit(&f, &request), fixture_submit(&f, &request)};
    gate_open(&at.is_asked);
    answer first = fixture_wait(&f, ids[0]);
    answer second = fixture_wait(&f, ids[1]);
    gate_open(&at.may_answer);
    tls_peer_stop(&peer);
    assert_response(first, 200, "hi");
    assert_response(second, 200, "hi");
    fixture_stop(&f);
}

/// libcurl sends the authorization response itself. It may choose any pooled connection, even a busy one.
static void engine__an_authorization_response_uses_no_busy_http_1_connection(void **state) {
    fixture f;
    server_state at = {.is_asked = GATE_INIT, .may_answer = GATE_INIT};
    tls_peer peer = {.serve = serve_member, .members = "1221", .ctx = &at};
    (void)state;
    fixture_start_trusting_all(&f);
    tls_peer_start(&peer);
    nc_request requests[] = {request_to(&f, &peer, "/first"), request_to(&f, &peer, "/second"),
                             request_to(&f, &peer, "/proof")};
    for (size_t i = 0; i < 3; i++) {
        requests[i].credentials =
            (nc_credentials){.schemes = NC_AUTH_DIGEST, .user = nc_slice_of("me"), .password = nc_slice_of("secret")};
    }
    nc_transfer_id waiting = fixture_submit(&f, &requests[0]);
    gate_wait(&at.is_asked);
    assert_response(fixture_send(&f, &requests[1]), 200, "hi"); // the host has used HTTP/2
    answer got = fixture_send(&f, &requests[2]);
    gate_open(&at.may_answer);
    assert_response(got, 200, "/proof");
    assert_response(fixture_wait(&f, waiting), 200, "/first");
    tls_peer_stop(&peer);
    assert_int_equal(atomic_load(&at.asked_of_first), 1);
    fixture_stop(&f);
}

/// Closes a pooled connection after the first piece of an upload. A new one accepts all of it.
static void serve_upload(SSL *ssl, const tls_peer_connection *connection) {
    server_state *at = connection->peer->ctx;
    char head[32 * 1024];
    size_t got = 0;
    for (bool is_new = true; read_head(ssl, head, sizeof head, &got) > 0; is_new = false) {
        bool is_upload = strncmp(head, "PUT ", 4) == 0;
        if (is_upload && !is_new) {
            (void)SSL_shutdown(ssl);
            return;
        }
        while (is_upload && got < BODY_BYTES) {
            int count = SSL_read(ssl, head, sizeof head);
            if (count <= 0) {
                atomic_fetch_add(&at->lost, 1);
                return;
            }
            got += (size_t)count;
        }
        answer_with(ssl, "ok");
    }
}

/// If the first write of several records fails on a closed connection, libcurl has no count of bytes to rewind.
static void engine__an_upload_resent_over_tls_has_its_body(void **state) {
    static char body[BODY_BYTES];
    fixture f;
    server_state at = {.is_asked = GATE_INIT, .may_answer = GATE_INIT};
    tls_peer peer = {.serve = serve_upload, .members = "1", .ctx = &at};
    (void)state;
    memset(body, 'b', sizeof body);
    fixture_start_trusting_all(&f);
    tls_peer_start(&peer);
    for (int i = 0; i < TRIES; i++) {
        nc_request get = request_to(&f, &peer, "/");
        assert_response(fixture_send(&f, &get), 200, "ok");
        nc_request put = request_to(&f, &peer, "/");
        put.method = nc_slice_of("PUT");
        put.body = nc_slice_make((const uint8_t *)body, sizeof body);
        assert_response(fixture_send(&f, &put), 200, "ok");
    }
    tls_peer_stop(&peer);
    assert_int_equal(atomic_load(&at.lost), 0);
    fixture_stop(&f);
}

static int accept_none(int is_good, X509_STORE_CTX *context) {
    (void)is_good;
    (void)context;
    return 1;
}

/// TLS 1.3: requests a certificate before the second response (RFC 8446, section 4.6.2).
static void serve_asking(SSL *ssl, const tls_peer_connection *connection) {
    char head[4096];
    size_t body_bytes = 0;
    (void)connection;
    for (int number = 0; read_head(ssl, head, sizeof head, &body_bytes) > 0; number++) {
        if (number == 1) {
            SSL_set_verify(ssl, SSL_VERIFY_PEER, accept_none);
            assert_int_equal(SSL_verify_client_post_handshake(ssl), 1);
            assert_int_equal(SSL_do_handshake(ssl), 1);
        }
        answer_with(ssl, "ok");
    }
}

/// OpenSSL's callback for client certificates has data of the handle that opened the connection.
static void engine__a_certificate_request_is_served_after_the_connecting_handle_is_freed(void **state) {
    fixture f;
    tls_peer peer = {.serve = serve_asking, .members = "1"};
    (void)state;
    fixture_start_trusting_all(&f);
    tls_peer_start(&peer);
    nc_request first = request_to(&f, &peer, "/");
    first.keeps_dot_segments = true; // a handle with this option is freed after its transfer
    assert_response(fixture_send(&f, &first), 200, "ok");
    nc_request second = request_to(&f, &peer, "/");
    assert_response(fixture_send(&f, &second), 200, "ok");
    assert_int_equal(atomic_load(&peer.count), 1);
    tls_peer_stop(&peer);
    fixture_stop(&f);
}

/* --- state after a stream's end --- */

/// A request with an on_head that can pause.
typedef struct pausable_request {
    nc_action at_head;
    gate is_there;
    gate is_over;
    char body[64];
    size_t length;
    nc_status status;
} pausable_request;

static nc_action take_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    (void)id;
    (void)response;
    (void)is_last;
    gate_open(&((pausable_request *)ctx)->is_there);
    return ((pausable_request *)ctx)->at_head;
}

static nc_action take_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    pausable_request *at = ctx;
    (void)id;
    assert_true(bytes.length <= sizeof at->body - at->length);
    memcpy(at->body + at->length, bytes.data, bytes.length);
    at->length += bytes.length;
    return NC_ACTION_CONTINUE;
}

static void record_end(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    pausable_request *at = ctx;
    (void)id;
    (void)response;
    at->status = error->status;
    gate_open(&at->is_over);
}

/// Submits a request and waits for its response head.
static nc_transfer_id begin(fixture *f, const nc_request *request, pausable_request *at, nc_action at_head) {
    const nc_sink sink = {.ctx = at, .on_head = take_head, .on_body = take_body, .on_done = record_end};
    nc_transfer_id id = 0;
    nc_error err;
    *at = (pausable_request){.at_head = at_head, .is_there = GATE_INIT, .is_over = GATE_INIT};
    assert_status(nc_engine_submit(f->engine, request, &sink, &id, &err), NC_OK);
    gate_wait(&at->is_there);
    return id;
}

enum { CANCELLED = 20 };

#define DATA FRAME_HEAD("\4", "\0", "\0", "\1")
#define LAST_DATA FRAME_HEAD("\4", "\0", "\1", "\1")

/// Leaves the first stream open. Sends a part of each following body. At the last request, completes all of them.
static void serve_streams(SSL *ssl, const tls_peer_connection *connection) {
    tls_frames frames = TLS_FRAMES_INIT;
    (void)connection;
    (void)SSL_write(ssl, SETTINGS, sizeof(SETTINGS) - 1);
    for (size_t i = 0; i < CANCELLED + 2; i++) {
        char reply[] = OK_HEAD("\1") LAST_DATA "of b";
        const size_t data_at = sizeof(OK_HEAD("\1")) - 1;
        int stream = tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS);
        if (stream < 0) {
            return;
        }
        reply[TLS_FRAME_HEAD_BYTES - 1] = (char)stream;
        reply[data_at + TLS_FRAME_HEAD_BYTES - 1] = (char)stream;
        if (i <= CANCELLED) {
            memcpy(reply + data_at, DATA, TLS_FRAME_HEAD_BYTES - 1);
            reply[sizeof reply - 2] = 'a';
        }
        (void)SSL_write(ssl, reply, (int)(i == 0 ? data_at : sizeof reply - 1));
    }
    (void)tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS);
}

/// The leak sanitizer also checks that the bytes that libcurl had kept are freed.
static void engine__bytes_of_a_paused_stream_do_not_reach_the_next_body(void **state) {
    fixture f;
    pausable_request open_one;
    pausable_request a;
    pausable_request b;
    tls_peer peer = {.serve = serve_streams, .members = "2"};
    (void)state;
    fixture_start_trusting_all(&f);
    fixture_script(&f, "/", (nct_reply){.body = "hi", .body_length = 2});
    tls_peer_start(&peer);
    nc_request request = request_to(&f, &peer, "/");
    (void)begin(&f, &request, &open_one, NC_ACTION_CONTINUE); // keeps the connection
    for (int i = 0; i < CANCELLED; i++) {
        nc_transfer_id id = begin(&f, &request, &a, NC_ACTION_PAUSE);
        assert_response(fixture_get(&f, "/"), 200, "hi"); // the loop has read the bytes after the head
        nc_engine_cancel(f.engine, id);
        gate_wait(&a.is_over);
        assert_status(a.status, NC_ERR_CANCELLED);
        assert_int_equal(a.length, 0);
    }
    nc_transfer_id id = begin(&f, &request, &b, NC_ACTION_PAUSE);
    nc_engine_resume(f.engine, id);
    gate_wait(&b.is_over);
    assert_status(b.status, NC_OK);
    assert_true(nc_slice_is_equal(nc_slice_make((const uint8_t *)b.body, b.length), nc_slice_of("of b")));
    tls_peer_stop(&peer);
    gate_wait(&open_one.is_over);
    fixture_stop(&f);
}

/* --- several streams and one buffer --- */

enum { LONG_FRAME = 4096, LONG_FRAMES = 16 };

/// The number of frames of the long body, and whether its stream is the first one.
typedef struct long_answer {
    size_t frames;
    bool is_first;
} long_answer;

static size_t put_frame(uint8_t *out, uint8_t type, uint8_t flags, int stream, const void *bytes, size_t length) {
    const uint8_t head[TLS_FRAME_HEAD_BYTES] = {0, (uint8_t)(length >> 8), (uint8_t)length, type, flags, 0, 0,
                                                0, (uint8_t)stream};
    memcpy(out, head, sizeof head);
    memcpy(out + sizeof head, bytes, length);
    return sizeof head + length;
}

/// One stream is open and silent. The other stream's response is sent immediately, in records of several frames.
static void serve_long(SSL *ssl, const tls_peer_connection *connection) {
    static uint8_t bytes[(LONG_FRAMES + 1) * (LONG_FRAME + TLS_FRAME_HEAD_BYTES)];
    static char frame[LONG_FRAME];
    const long_answer *at = connection->peer->ctx;
    tls_frames frames = TLS_FRAMES_INIT;
    // From here libcurl 8 knows that the connection is multiplexed.
    if (tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS) == 1) {
        (void)SSL_write(ssl, SETTINGS FIRST_ANSWER, sizeof(SETTINGS FIRST_ANSWER) - 1);
    }
    int streams[2] = {0};
    for (size_t i = 0; i < 2; i++) {
        streams[i] = tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS);
        if (streams[i] < 0) {
            return;
        }
    }
    int stream = streams[at->is_first ? 0 : 1];
    memset(frame, 'x', sizeof frame);
    size_t length = put_frame(bytes, TLS_FRAME_HEADERS, 4, streams[at->is_first ? 1 : 0], "\x88", 1);
    length += put_frame(bytes + length, TLS_FRAME_HEADERS, 4, stream, "\x88", 1);
    for (size_t i = 0; i < at->frames; i++) {
        bool is_last = i + 1 == at->frames;
        length += put_frame(bytes + length, TLS_FRAME_DATA, is_last, stream, frame, is_last ? 100 : LONG_FRAME);
    }
    (void)SSL_write(ssl, bytes, (int)length);
    (void)tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS);
}

/// While libcurl read for other streams, it filled this stream's buffer. The rest of its body arrived with their data.
static void engine__a_stream_receives_all_bytes_that_arrived_for_it(void **state) {
    (void)state;
    for (size_t i = 0; i < 2 * (LONG_FRAMES - 5); i++) {
        fixture f;
        pausable_request quiet;
        nc_transfer_id id = 0;
        long_answer at = {.frames = 6 + i / 2, .is_first = i % 2 == 0};
        tls_peer peer = {.serve = serve_long, .members = "2", .ctx = &at};
        fixture_start_trusting_all(&f);
        tls_peer_start(&peer);
        nc_request request = request_to(&f, &peer, "/");
        assert_response(fixture_send(&f, &request), 200, "hi");
        quiet = (pausable_request){.is_there = GATE_INIT, .is_over = GATE_INIT};
        const nc_sink sink = {.ctx = &quiet, .on_head = take_head, .on_body = take_body, .on_done = record_end};
        nc_error err;
        for (size_t j = 0; j < 2; j++) {
            if ((j == 0) == at.is_first) {
                id = fixture_submit(&f, &request);
            } else {
                nc_transfer_id other = 0;
                assert_status(nc_engine_submit(f.engine, &request, &sink, &other, &err), NC_OK);
            }
        }
        answer got = fixture_wait(&f, id);
        assert_ended(got, NC_OK, 0, "");
        assert_int_equal(nc_response_body(got.response).length, (at.frames - 1) * LONG_FRAME + 100);
        tls_peer_stop(&peer);
        gate_wait(&quiet.is_over);
        fixture_stop(&f);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_busy_connection_of_http_1_carries_no_other_request),
        harness_case(engine__a_request_does_not_wait_for_the_response_after_anothers_handshake),
        harness_case(engine__an_authorization_response_uses_no_busy_http_1_connection),
        harness_case(engine__bytes_of_a_paused_stream_do_not_reach_the_next_body),
        harness_case(engine__a_stream_receives_all_bytes_that_arrived_for_it),
        harness_case(engine__an_upload_resent_over_tls_has_its_body),
        harness_case(engine__a_certificate_request_is_served_after_the_connecting_handle_is_freed),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
