/// Valid responses that nghttp2 rejects. The engine delivers them with its own parser, or resends the request over
/// HTTP/1.1 if that is safe.
#include "fixture.h"
#include "gate.h"
#include "tls_frames.h"
#include "tls_peer.h"

#include <string.h>
#include <strings.h>

/// How the server sends the head and the frames after it.
typedef enum timing { IN_ONE_PIECE, WITHOUT_THE_REST, AND_CLOSE } timing;

typedef struct row {
    const char *name;
    const char *head;
    size_t head_length;
    const char *rest; // frames of the body
    size_t rest_length;
    uint16_t status;
    const char *body;
    const char *method; // NULL for GET and POST
} row;

#define FRAMES(text) (text), sizeof(text) - 1
#define NOTHING "", 0
#define LENGTH(digit) "\x0f\x0d\1" digit // content-length, not indexed
#define OK_BODY FRAME_HEAD("\2", "\0", "\1", "\1") "ok"

static const row rows[] = {
    {"204 with a length", FRAMES(FRAME_HEAD("\6", "\1", "\5", "\1") "\x89\x0f\x0d\2\x32\x30"), NOTHING, 204, "", NULL},
    {"204 with the length 0 twice", FRAMES(FRAME_HEAD("\x09", "\1", "\5", "\1") "\x89" LENGTH("0") LENGTH("0")),
     NOTHING, 204, "", NULL},
    {"204 that ends with an empty DATA", FRAMES(FRAME_HEAD("\5", "\1", "\4", "\1") "\x89" LENGTH("7")),
     FRAMES(FRAME_HEAD("\0", "\0", "\1", "\1")), 204, "", NULL},
    {"204 in two frames",
     FRAMES(FRAME_HEAD("\2", "\1", "\1", "\1") "\x89\x0f" FRAME_HEAD("\4", "\x9", "\4", "\1") "\x0d\2\x32\x30"),
     NOTHING, 204, "", NULL},
    {"204 with padding and priority",
     FRAMES(FRAME_HEAD("\x0e", "\1", "\x2d", "\1") "\2-----\x89\x0f\x0d\2\x32\x30\0\0"), NOTHING, 204, "", NULL},
    {"204 behind an interim response",
     FRAMES(FRAME_HEAD("\5", "\1", "\4", "\1") "\x08\3"
                                               "103" FRAME_HEAD("\5", "\1", "\5", "\1") "\x89" LENGTH("7")),
     NOTHING, 204, "", NULL},
    {"304 with one length twice", FRAMES(FRAME_HEAD("\x09", "\1", "\5", "\1") "\x8b" LENGTH("5") LENGTH("5")), NOTHING,
     304, "", NULL},
    {"HEAD with one length twice", FRAMES(FRAME_HEAD("\x09", "\1", "\5", "\1") "\x88" LENGTH("5") LENGTH("5")), NOTHING,
     200, "", "HEAD"},
    {"HEAD with a list of lengths",
     FRAMES(FRAME_HEAD("\x08", "\1", "\5", "\1") "\x88\x0f\x0d\4"
                                                 "5, 5"),
     NOTHING, 200, "", "HEAD"},
    {"the length 0 twice", FRAMES(FRAME_HEAD("\x09", "\1", "\5", "\1") "\x88" LENGTH("0") LENGTH("0")), NOTHING, 200,
     "", NULL},
    {"one length twice", FRAMES(FRAME_HEAD("\x09", "\1", "\4", "\1") "\x88" LENGTH("2") LENGTH("2")), FRAMES(OK_BODY),
     200, "ok", NULL},
    {"one length three times", FRAMES(FRAME_HEAD("\x0d", "\1", "\4", "\1") "\x88" LENGTH("2") LENGTH("2") LENGTH("2")),
     FRAMES(OK_BODY), 200, "ok", NULL},
    {"a list of one length",
     FRAMES(FRAME_HEAD("\x08", "\1", "\4", "\1") "\x88\x0f\x0d\4"
                                                 "2, 2"),
     FRAMES(OK_BODY), 200, "ok", NULL},
    {"one length twice, an error", FRAMES(FRAME_HEAD("\x09", "\1", "\4", "\1") "\x8e" LENGTH("2") LENGTH("2")),
     FRAMES(OK_BODY), 500, "ok", NULL},
    {"one length twice, in the table", FRAMES(FRAME_HEAD("\5", "\1", "\4", "\1") "\x88\x5c\1\x32\xbe"), FRAMES(OK_BODY),
     200, "ok", NULL},
    {"one length twice, a body with padding",
     FRAMES(FRAME_HEAD("\x09", "\1", "\4", "\1") "\x88" LENGTH("2") LENGTH("2")),
     FRAMES(FRAME_HEAD("\4", "\0", "\x08", "\1") "\2o\0\0" FRAME_HEAD("\1", "\0", "\1", "\1") "k"), 200, "ok", NULL},
    {"an interim response with a length",
     FRAMES(FRAME_HEAD("\x09", "\1", "\4", "\1") "\x08\3"
                                                 "103" LENGTH("0") FRAME_HEAD("\1", "\1", "\4", "\1") "\x88"),
     FRAMES(OK_BODY), 200, "ok", NULL},
};

typedef struct head_case {
    const row *row;
    timing timing;
    bool has_http1; // the server also accepts HTTP/1.1
} head_case;

static void serve(SSL *ssl, const tls_peer_connection *connection) {
    const head_case *at = connection->peer->ctx;
    const unsigned char *protocol = NULL;
    unsigned length = 0;
    char text[4096] = SETTINGS;
    size_t count = sizeof SETTINGS - 1;
    tls_frames frames = TLS_FRAMES_INIT;
    SSL_get0_alpn_selected(ssl, &protocol, &length);
    if (length != 2 && at->has_http1 && tls_peer_read_to(ssl, text, sizeof text, "\r\n\r\n")) {
        static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nold";
        (void)SSL_write(ssl, reply, sizeof reply - 1);
        (void)SSL_read(ssl, text, sizeof text);
        return;
    }
    if (length != 2 || tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS) <= 0) {
        return;
    }
    memcpy(text + count, at->row->head, at->row->head_length);
    count += at->row->head_length;
    if (at->timing != WITHOUT_THE_REST) {
        memcpy(text + count, at->row->rest, at->row->rest_length);
        count += at->row->rest_length;
    }
    (void)SSL_write(ssl, text, (int)count);
    if (at->timing == AND_CLOSE) {
        (void)SSL_shutdown(ssl);
    }
    (void)tls_frames_find(&frames, ssl, TLS_FRAME_PING); // until the client has closed
}

typedef struct result {
    nc_status status;
    char message[NC_ERROR_MESSAGE_BYTES];
    unsigned code;
    char body[64];
    nc_http_version version;
    size_t connections;
} result;

static result send_request(const head_case *at, const char *method) {
    result out = {.status = NC_OK};
    fixture f;
    fixture_start_trusting_all(&f);
    tls_peer peer = {.serve = serve, .members = "2", .ctx = (void *)at};
    tls_peer_start(&peer);
    const nc_request request = {
        .url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", peer.port)),
        .method = nc_slice_of(method),
        .body = nc_slice_of(strcmp(method, "POST") == 0 ? "hello" : ""),
    };
    answer got = fixture_send(&f, &request);
    nc_slice body = nc_response_body(got.response);
    out.status = got.error.status;
    memcpy(out.message, got.error.message, sizeof out.message);
    out.code = nc_response_status(got.response);
    out.version = nc_response_http_version(got.response);
    assert_true(body.length < sizeof out.body);
    memcpy(out.body, body.length > 0 ? (const void *)body.data : "", body.length);
    assert_int_equal(nc_response_hop_count(got.response), 1);
    out.connections = atomic_load(&peer.count);
    fixture_stop(&f);
    tls_peer_stop(&peer);
    return out;
}

static void expect_delivered(const head_case *at, const char *method) {
    result got = send_request(at, method);
    if (got.status != NC_OK || got.code != at->row->status || strcmp(got.body, at->row->body) != 0 ||
        got.version != NC_HTTP_VERSION_2 || got.connections != 1) {
        fail_msg("%s, %s, timing %d: %s (%s), %u \"%s\", %zu connections", at->row->name, method, (int)at->timing,
                 nc_status_name(got.status), got.message, got.code, got.body, got.connections);
    }
}

static void refused_heads__are_delivered_if_the_response_is_complete(void **state) {
    static const char *const methods[] = {"GET", "POST", "DELETE"};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t k = 0; k < 3; k++) {
            bool is_of_method = rows[i].method != NULL;
            if (!is_of_method || k == 0) {
                expect_delivered(&(head_case){&rows[i], IN_ONE_PIECE, false},
                                 is_of_method ? rows[i].method : methods[k]);
                expect_delivered(&(head_case){&rows[i], AND_CLOSE, false}, is_of_method ? rows[i].method : methods[k]);
            }
        }
    }
}

/// The rest of the body never arrives: the server receives a reset for the head.
static void refused_heads__with_a_missing_body_cause_a_resend_over_http_1_if_that_is_safe(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].body[0] == '\0') {
            continue;
        }
        result got = send_request(&(head_case){&rows[i], WITHOUT_THE_REST, true}, "GET");
        assert_status(got.status, NC_OK);
        assert_string_equal(got.body, "old");
        assert_int_equal(got.version, NC_HTTP_VERSION_1_1);
        assert_int_equal(got.connections, 2);
        got = send_request(&(head_case){&rows[i], WITHOUT_THE_REST, true}, "POST");
        assert_status(got.status, NC_ERR_HTTP2);
        assert_non_null(strstr(got.message, "Content-Length"));
        assert_int_equal(got.connections, 1);
        got = send_request(&(head_case){&rows[i], WITHOUT_THE_REST, false}, "GET");
        assert_status(got.status, NC_ERR_HTTP2);
        assert_non_null(strstr(got.message, "Content-Length"));
        assert_int_equal(got.connections, 2);
    }
}

static const row bad_rows[] = {
    {"two lengths", FRAMES(FRAME_HEAD("\x09", "\1", "\4", "\1") "\x88" LENGTH("2") LENGTH("3")), FRAMES(OK_BODY), 0, "",
     NULL},
    {"one length twice, beyond the body", FRAMES(FRAME_HEAD("\x09", "\1", "\4", "\1") "\x88" LENGTH("3") LENGTH("3")),
     FRAMES(OK_BODY), 0, "", NULL},
    {"one length twice, and no body", FRAMES(FRAME_HEAD("\x09", "\1", "\5", "\1") "\x88" LENGTH("3") LENGTH("3")),
     NOTHING, 0, "", NULL},
    {"one length twice, below the body", FRAMES(FRAME_HEAD("\x09", "\1", "\4", "\1") "\x88" LENGTH("1") LENGTH("1")),
     FRAMES(OK_BODY), 0, "", NULL},
    {"204 with a length and a body", FRAMES(FRAME_HEAD("\5", "\1", "\4", "\1") "\x89" LENGTH("2")), FRAMES(OK_BODY), 0,
     "", NULL},
    {"HEAD with one length twice and a body",
     FRAMES(FRAME_HEAD("\x09", "\1", "\4", "\1") "\x88" LENGTH("2") LENGTH("2")), FRAMES(OK_BODY), 0, "", "HEAD"},
    {"204 with a length that is no number", FRAMES(FRAME_HEAD("\5", "\1", "\5", "\1") "\x89" LENGTH("x")), NOTHING, 0,
     "", NULL},
    {"204 with two statuses", FRAMES(FRAME_HEAD("\6", "\1", "\5", "\1") "\x89\x88" LENGTH("2")), NOTHING, 0, "", NULL},
    {"no status", FRAMES(FRAME_HEAD("\x08", "\1", "\5", "\1") LENGTH("2") LENGTH("2")), NOTHING, 0, "", NULL},
    {"a field of the connection",
     FRAMES(FRAME_HEAD("\x14", "\1", "\5", "\1") "\x89" LENGTH("2") "\x00\x0a"
                                                                    "connection\2"
                                                                    "ok"),
     NOTHING, 0, "", NULL},
    {"a name in upper case", FRAMES(FRAME_HEAD("\x0a", "\1", "\5", "\1") "\x89" LENGTH("2") "\x00\1X\1y"), NOTHING, 0,
     "", NULL},
    {"a line end in a value", FRAMES(FRAME_HEAD("\x0b", "\1", "\5", "\1") "\x89" LENGTH("2") "\x00\1x\2y\n"), NOTHING,
     0, "", NULL},
    {"101",
     FRAMES(FRAME_HEAD("\x0d", "\1", "\5", "\1") "\x08\3"
                                                 "101" LENGTH("0") LENGTH("0")),
     NOTHING, 0, "", NULL},
    {"204 with a length, and RST_STREAM before it",
     FRAMES(FRAME_HEAD("\4", "\3", "\0", "\1") "\0\0\0\2" FRAME_HEAD("\5", "\1", "\5", "\1") "\x89" LENGTH("2")),
     NOTHING, 0, "", NULL},
};

static void refused_heads__are_errors_if_they_are_invalid(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad_rows / sizeof *bad_rows; i++) {
        const row *one = &bad_rows[i];
        result got = send_request(&(head_case){one, IN_ONE_PIECE, false}, one->method != NULL ? one->method : "POST");
        if (got.status == NC_OK) {
            fail_msg("%s: %u \"%s\"", one->name, got.code, got.body);
        }
    }
}

/* --- one connection --- */

enum { KEPT_REQUESTS = 60 };

/// The head of each response adds a field with its number to the HPACK table. The last head, which nghttp2 rejects,
/// refers to that table.
static void serve_many(SSL *ssl, const tls_peer_connection *connection) {
    tls_frames frames = TLS_FRAMES_INIT;
    int stream = 0;
    (void)connection;
    (void)SSL_write(ssl, SETTINGS, sizeof SETTINGS - 1);
    for (int i = 0; (stream = tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS)) > 0; i++) {
        char number[64 + 1];
        char text[128] = FRAME_HEAD("\x45", "\1", "\5", "\0") "\x89\x40\1n\x40";
        size_t length = 14 + 64;
        (void)snprintf(number, sizeof number, "%064d", i);
        memcpy(text + 14, number, 64);
        if (i == KEPT_REQUESTS) {
            static const char last[] = FRAME_HEAD("\7", "\1", "\5", "\0") "\x89\xbe\x0f\x0d\2\x32\x30";
            memcpy(text, last, sizeof last - 1);
            length = sizeof last - 1;
        }
        text[8] = (char)stream;
        (void)SSL_write(ssl, text, (int)length);
    }
}

static void refused_heads__on_a_reused_connection_use_its_hpack_table(void **state) {
    fixture f;
    tls_peer peer = {.serve = serve_many, .members = "2"};
    char number[64 + 1];
    (void)state;
    fixture_start_trusting_all(&f);
    tls_peer_start(&peer);
    const nc_request request = {
        .url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", peer.port)),
        .method = nc_slice_of("POST"),
    };
    for (int i = 0; i <= KEPT_REQUESTS; i++) {
        answer one = fixture_send(&f, &request);
        assert_response(one, 204, "");
        (void)snprintf(number, sizeof number, "%064d", i < KEPT_REQUESTS ? i : KEPT_REQUESTS - 1);
        assert_field(one, "n", number);
    }
    assert_int_equal(atomic_load(&peer.count), 1);
    fixture_stop(&f);
    tls_peer_stop(&peer);
}

/// A redirect, then a response, both with one length twice.
static void serve_redirect(SSL *ssl, const tls_peer_connection *connection) {
    static const char redirect[] =
        FRAME_HEAD("\x12", "\1", "\4", "\1") "\x08\3"
                                             "303" LENGTH("2") LENGTH("2") "\x0f\x1f\2/b" OK_BODY;
    static const char end[] =
        FRAME_HEAD("\x09", "\1", "\4", "\3") "\x88" LENGTH("2") LENGTH("2") FRAME_HEAD("\2", "\0", "\1", "\3") "hi";
    tls_frames frames = TLS_FRAMES_INIT;
    (void)connection;
    (void)SSL_write(ssl, SETTINGS, sizeof SETTINGS - 1);
    if (tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS) == 1) {
        (void)SSL_write(ssl, redirect, sizeof redirect - 1);
    }
    if (tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS) == 3) {
        (void)SSL_write(ssl, end, sizeof end - 1);
        (void)tls_frames_find(&frames, ssl, TLS_FRAME_PING);
    }
}

static void refused_heads__follow_redirects_and_obey_limits(void **state) {
    fixture f;
    tls_peer peer = {.serve = serve_redirect, .members = "2"};
    (void)state;
    fixture_start_trusting_all(&f);
    tls_peer_start(&peer);
    nc_request request = {
        .url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", peer.port)),
        .method = nc_slice_of("POST"),
        .body = nc_slice_of("hello"),
    };
    answer one = fixture_send(&f, &request);
    assert_response(one, 200, "hi");
    assert_int_equal(nc_response_hop_count(one.response), 2);
    tls_peer_stop(&peer);
    peer = (tls_peer){.serve = serve_redirect, .members = "2"};
    tls_peer_start(&peer);
    request.url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", peer.port));
    request.limits = (nc_limits){.max_body_bytes = 1};
    assert_status(fixture_send(&f, &request).error.status, NC_ERR_BODY_TOO_LARGE);
    tls_peer_stop(&peer);
    fixture_stop(&f);
}

/* --- a reader that pauses --- */

typedef struct reader {
    gate paused;
    gate done;
    char body[16];
    size_t length;
    nc_status status;
} reader;

static nc_action pause_at_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_final) {
    reader *self = ctx;
    (void)id;
    (void)response;
    (void)is_final;
    gate_open(&self->paused);
    return NC_ACTION_PAUSE;
}

static nc_action read_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    reader *self = ctx;
    (void)id;
    assert_true(bytes.length <= sizeof self->body - self->length);
    memcpy(self->body + self->length, bytes.data, bytes.length);
    self->length += bytes.length;
    return NC_ACTION_CONTINUE;
}

static void read_end(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    reader *self = ctx;
    (void)id;
    (void)response;
    self->status = error->status;
    gate_open(&self->done);
}

static void refused_heads__hold_the_body_for_a_paused_reader(void **state) {
    const head_case at = {&rows[10], IN_ONE_PIECE, false};
    reader self = {.paused = GATE_INIT, .done = GATE_INIT, .status = NC_ERR_INTERNAL};
    const nc_sink sink = {.ctx = &self, .on_head = pause_at_head, .on_body = read_body, .on_done = read_end};
    fixture f;
    nc_transfer_id id = 0;
    tls_peer peer = {.serve = serve, .members = "2", .ctx = (void *)&at};
    (void)state;
    fixture_start_trusting_all(&f);
    tls_peer_start(&peer);
    const nc_request request = {.url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", peer.port))};
    assert_status(nc_engine_submit(f.engine, &request, &sink, &id, NULL), NC_OK);
    gate_wait(&self.paused);
    nc_engine_resume(f.engine, id);
    gate_wait(&self.done);
    assert_status(self.status, NC_OK);
    assert_int_equal(self.length, 2);
    assert_memory_equal(self.body, "ok", 2);
    fixture_stop(&f);
    tls_peer_stop(&peer);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(refused_heads__are_delivered_if_the_response_is_complete),
        harness_case(refused_heads__with_a_missing_body_cause_a_resend_over_http_1_if_that_is_safe),
        harness_case(refused_heads__are_errors_if_they_are_invalid),
        harness_case(refused_heads__on_a_reused_connection_use_its_hpack_table),
        harness_case(refused_heads__follow_redirects_and_obey_limits),
        harness_case(refused_heads__hold_the_body_for_a_paused_reader),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
