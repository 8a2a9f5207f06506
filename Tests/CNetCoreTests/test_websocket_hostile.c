/// WebSockets whose server violates the protocol or floods, and receivers and senders that have to wait.
#include "socket_client.h"
#include "socket_server.h"

#include "websocket/deflate.h"

#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

typedef struct case_of {
    socket_server server;
    socket_client client;
    nc_engine *engine;
    char url[64];
} case_of;

static void begin(case_of *one) {
    one->client = (socket_client)SOCKET_CLIENT_INIT;
    socket_server_start(&one->server);
    assert_status(nc_engine_new(&one->engine, NULL, NULL), NC_OK);
    (void)snprintf(one->url, sizeof one->url, "ws://127.0.0.1:%u/", one->server.port);
}

static void end(case_of *one) {
    socket_server_stop(&one->server);
    assert_status(nc_engine_close(one->engine, NC_UNLIMITED), NC_OK);
    socket_client_deinit(&one->client);
}

/* --- violations --- */

typedef struct violation {
    const char *bytes;
    size_t length;
    nc_status status;
    unsigned close_code; // that the client sends
    const char *text;    // in the error's message
} violation;

#define VIOLATION(bytes, status, code, text)                                                                           \
    { (bytes), sizeof(bytes) - 1, NC_ERR_##status, (code), (text) }

static const violation violations[] = {
    VIOLATION("\x81\x81\0\0\0\0x", BAD_FRAME, 1002, "masked"),
    VIOLATION("\xc1\x01x", BAD_FRAME, 1002, "reserved bit"),
    VIOLATION("\x91\x01x", BAD_FRAME, 1002, "reserved bit"),
    VIOLATION("\x83\x01x", BAD_FRAME, 1002, "reserved opcode"),
    VIOLATION("\x09\x01x", BAD_FRAME, 1002, "fragmented"),
    VIOLATION("\x89\x7e\x01\x00", BAD_FRAME, 1002, "125 bytes"),
    VIOLATION("\x80\x01x", BAD_FRAME, 1002, "continuation"),
    VIOLATION("\x01\x01x\x81\x01y", BAD_FRAME, 1002, "before the end"),
    VIOLATION("\x82\x7e\x00\x01x", BAD_FRAME, 1002, "shortest"),
    VIOLATION("\x88\x01\x03", BAD_FRAME, 1002, "one byte"),
    VIOLATION("\x88\x02\x03\xed", BAD_FRAME, 1002, "must not be sent"),
    VIOLATION("\x88\x03\x03\xe8\xff", BAD_TEXT, 1007, "reason"),
    VIOLATION("\x81\x02\xc3(", BAD_TEXT, 1007, "text message"),
    VIOLATION("\x82\x7f\x00\x00\x00\x00\x7f\xff\xff\xff", MESSAGE_TOO_LARGE, 1009, "max_frame_bytes"),
};

static void serve_violation(socket_peer *peer) {
    const violation *one = peer->server->ctx;
    assert_true(socket_peer_write(peer, one->bytes, one->length));
    (void)socket_peer_await_close(peer);
}

static void socket__each_violation_has_its_error_and_close_code(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(violations); i++) {
        violation row = violations[i];
        case_of one = {.server = {.serve = serve_violation, .ctx = &row}};
        begin(&one);
        socket_client_open(&one.client, one.engine, one.url, NULL);
        socket_client_finish(&one.client);
        assert_status(one.client.error.status, row.status);
        assert_int_equal(one.client.error.native_code, row.close_code);
        assert_non_null(strstr(one.client.error.message, row.text));
        end(&one);
        assert_int_equal(one.server.close_code, row.close_code);
    }
}

static void socket__a_wrong_accept_key_is_refused(void **state) {
    (void)state;
    case_of one = {.server = {.serve = socket_peer_echo, .accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="}};
    begin(&one);
    socket_client_open(&one.client, one.engine, one.url, NULL);
    socket_client_finish(&one.client);
    assert_status(one.client.error.status, NC_ERR_BAD_UPGRADE);
    assert_int_equal(one.client.http_status, 101);
    end(&one);
}

/* --- floods --- */

static void serve_bomb(socket_peer *peer) {
    enum { BOMB_BYTES = 4 << 20 };
    const nc_ws_deflate_terms terms = {.is_agreed = true, .client_bits = 15};
    nc_ws_deflater *deflater = nc_ws_deflater_new(&terms);
    nc_buf bomb = nc_buf_init(SIZE_MAX);
    uint8_t *zeros = calloc(1, BOMB_BYTES);
    nc_ws_deflater_add(deflater, nc_slice_make(zeros, BOMB_BYTES), true, &bomb);
    (void)socket_peer_write_frame(peer, 0xc2, nc_buf_slice(&bomb));
    (void)socket_peer_await_close(peer);
    free(zeros);
    nc_buf_deinit(&bomb);
    nc_ws_deflater_free(deflater);
}

static void socket__a_deflate_bomb_ends_at_the_limit(void **state) {
    (void)state;
    case_of one = {.server = {.serve = serve_bomb, .fields = "Sec-WebSocket-Extensions: permessage-deflate\r\n"}};
    begin(&one);
    one.client.options.offers_compression = true;
    one.client.options.max_message_bytes = 20000;
    socket_client_open(&one.client, one.engine, one.url, NULL);
    socket_client_finish(&one.client);
    assert_status(one.client.error.status, NC_ERR_MESSAGE_TOO_LARGE);
    assert_int_equal(one.client.messages, 0);
    end(&one);
}

static void serve_fragments(socket_peer *peer) {
    bool is_open = socket_peer_write(peer, "\x02\x01x", 3);
    while (is_open) {
        is_open = socket_peer_write(peer, "\x00\x04xxxx", 6);
    }
}

static void serve_empty_fragments(socket_peer *peer) {
    bool is_open = socket_peer_write(peer, "\x02\x00", 2);
    while (is_open) {
        is_open = socket_peer_write(peer, "\x00\x00", 2);
    }
}

static void serve_endless_pings(socket_peer *peer) {
    while (socket_peer_write(peer, "\x89\x01x\x89\x01x\x89\x01x\x89\x01x", 12)) {
    }
}

static void socket__endless_frames_end_at_a_limit(void **state) {
    static const struct {
        void (*serve)(socket_peer *peer);
        nc_status status;
    } cases[] = {{serve_fragments, NC_ERR_MESSAGE_TOO_LARGE},
                 {serve_empty_fragments, NC_ERR_FRAME_FLOOD},
                 {serve_endless_pings, NC_ERR_FRAME_FLOOD}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        case_of one = {.server = {.serve = cases[i].serve}};
        begin(&one);
        one.client.options.max_message_bytes = 100000;
        socket_client_open(&one.client, one.engine, one.url, NULL);
        socket_client_finish(&one.client);
        assert_status(one.client.error.status, cases[i].status);
        end(&one);
    }
}

/* --- backpressure --- */

enum { SENT_MESSAGES = 200, SENT_BYTES = 16384 };

static void serve_messages(socket_peer *peer) {
    uint8_t bytes[SENT_BYTES];
    memset(bytes, 'x', sizeof bytes);
    for (size_t i = 0; i < SENT_MESSAGES; i++) {
        (void)socket_peer_write_frame(peer, 0x82, nc_slice_make(bytes, sizeof bytes));
    }
    (void)socket_peer_write(peer, "\x88\x00", 2);
    (void)socket_peer_await_close(peer);
}

static void socket__a_paused_receiver_loses_nothing(void **state) {
    (void)state;
    for (int pieces = 0; pieces < 2; pieces++) {
        case_of one = {.server = {.serve = serve_messages}};
        begin(&one);
        one.client.options.delivers_pieces = pieces != 0;
        one.client.drops_bytes = true;
        one.client.pause_at = 3;
        socket_client_open(&one.client, one.engine, one.url, NULL);
        gate_wait(&one.client.paused);
        assert_int_equal(one.client.messages, 3);
        nc_socket_resume(one.client.socket);
        nc_socket_resume(one.client.socket);
        socket_client_finish(&one.client);
        assert_status(one.client.error.status, NC_OK);
        assert_int_equal(one.client.messages, SENT_MESSAGES);
        assert_int_equal(one.client.bytes, (uint64_t)SENT_MESSAGES * SENT_BYTES);
        end(&one);
    }
}

static void socket__a_full_queue_refuses_until_there_is_room(void **state) {
    enum { QUEUE_BYTES = 100000 };
    uint8_t *bytes = calloc(1, QUEUE_BYTES + 1);
    unsigned sent = 0;
    unsigned refusals = 0;
    (void)state;
    case_of one = {.server = {.serve = socket_peer_echo}};
    begin(&one);
    one.client.options.max_queued_bytes = QUEUE_BYTES;
    one.client.drops_bytes = true;
    socket_client_open(&one.client, one.engine, one.url, NULL);
    gate_wait(&one.client.opened);
    assert_status(
        nc_socket_send(one.client.socket, NC_SOCKET_BINARY, nc_slice_make(bytes, QUEUE_BYTES + 1), true, NULL),
        NC_ERR_TOO_LARGE);
    while (sent < 50) {
        nc_status status =
            nc_socket_send(one.client.socket, NC_SOCKET_BINARY, nc_slice_make(bytes, QUEUE_BYTES), true, NULL);
        if (status == NC_OK) {
            sent++;
            continue;
        }
        assert_status(status, NC_ERR_QUEUE_FULL);
        gate_wait_for(&one.client.has_room, ++refusals);
    }
    gate_wait_for(&one.client.received, sent);
    assert_int_equal(one.client.bytes, (uint64_t)sent * QUEUE_BYTES);
    assert_status(nc_socket_close(one.client.socket, 0, nc_slice_of(""), NULL), NC_OK);
    socket_client_finish(&one.client);
    assert_status(one.client.error.status, NC_OK);
    end(&one);
    free(bytes);
}

static void socket__sending_checks_its_arguments(void **state) {
    nc_error err;
    char text[130] = {0};
    (void)state;
    case_of one = {.server = {.serve = socket_peer_echo}};
    begin(&one);
    socket_client_open(&one.client, one.engine, one.url, NULL);
    nc_socket *socket = one.client.socket;
    assert_status(nc_socket_send(socket, NC_SOCKET_TEXT, nc_slice_of("\xff"), true, &err), NC_ERR_BAD_TEXT);
    assert_status(nc_socket_send(socket, NC_SOCKET_TEXT, nc_slice_of("\xc3"), true, &err), NC_ERR_BAD_TEXT);
    assert_status(nc_socket_send(socket, (nc_socket_kind)7, nc_slice_of("x"), true, &err), NC_ERR_USAGE);
    assert_status(nc_socket_send(socket, NC_SOCKET_TEXT, nc_slice_of("a"), false, &err), NC_OK);
    assert_status(nc_socket_send(socket, NC_SOCKET_BINARY, nc_slice_of("b"), true, &err), NC_ERR_USAGE);
    assert_status(nc_socket_send(socket, NC_SOCKET_TEXT, nc_slice_of("b"), true, &err), NC_OK);
    assert_status(nc_socket_ping(socket, nc_slice_make(text, 126), &err), NC_ERR_USAGE);
    assert_status(nc_socket_close(socket, 1005, nc_slice_of(""), &err), NC_ERR_USAGE);
    assert_status(nc_socket_close(socket, 999, nc_slice_of(""), &err), NC_ERR_USAGE);
    assert_status(nc_socket_close(socket, 0, nc_slice_of("x"), &err), NC_ERR_USAGE);
    assert_status(nc_socket_close(socket, 1000, nc_slice_make(text, 124), &err), NC_ERR_USAGE);
    assert_status(nc_socket_close(socket, 1000, nc_slice_of("\xff"), &err), NC_ERR_BAD_TEXT);
    gate_wait(&one.client.received);
    assert_messages(&one.client, "T<ab>");
    assert_status(nc_socket_close(socket, 4999, nc_slice_of("done"), &err), NC_OK);
    socket_client_finish(&one.client);
    assert_status(one.client.error.status, NC_OK);
    assert_int_equal(one.client.close_code, 4999);
    end(&one);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(socket__each_violation_has_its_error_and_close_code),
        harness_case(socket__a_wrong_accept_key_is_refused),
        harness_case(socket__a_deflate_bomb_ends_at_the_limit),
        harness_case(socket__endless_frames_end_at_a_limit),
        harness_case(socket__a_paused_receiver_loses_nothing),
        harness_case(socket__a_full_queue_refuses_until_there_is_room),
        harness_case(socket__sending_checks_its_arguments),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
