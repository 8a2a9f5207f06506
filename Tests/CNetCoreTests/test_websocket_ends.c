/// How a WebSocket ends: by close frames, by a server that disappears in every state or stays silent, by the caller.
#include "socket_client.h"
#include "socket_server.h"

#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

typedef struct case_of {
    socket_server server;
    socket_client client;
    nc_engine *engine;
    char url[64];
} case_of;

static nc_trust *trust_all(void) {
    nc_trust *trust = NULL;
    const nc_trust_options options = {.accepts_anything = true};
    assert_status(nc_trust_new(&trust, &options, NULL), NC_OK);
    return trust;
}

static void begin(case_of *one) {
    one->client = (socket_client)SOCKET_CLIENT_INIT;
    socket_server_start(&one->server);
    assert_status(nc_engine_new(&one->engine, NULL, NULL), NC_OK);
    (void)snprintf(one->url, sizeof one->url, "%s://127.0.0.1:%u/", one->server.has_tls ? "wss" : "ws",
                   one->server.port);
}

static void end(case_of *one) {
    socket_server_stop(&one->server);
    assert_status(nc_engine_close(one->engine, NC_UNLIMITED), NC_OK);
    socket_client_deinit(&one->client);
}

/* --- ends of the server --- */

static void serve_close_without_code(socket_peer *peer) {
    (void)socket_peer_write(peer, "\x88\x00", 2);
    (void)socket_peer_await_close(peer);
}

static void serve_close_without_reason(socket_peer *peer) {
    (void)socket_peer_write(peer, "\x88\x02\x03\xe9", 4);
    (void)socket_peer_await_close(peer);
}

static void serve_close_and_reset(socket_peer *peer) {
    serve_close_without_reason(peer);
    socket_peer_reset(peer);
}

static void serve_nothing(socket_peer *peer) {
    (void)peer;
}

static void serve_half_head(socket_peer *peer) {
    (void)socket_peer_write(peer, "\x81\x7e\x01", 3);
}

static void serve_half_message(socket_peer *peer) {
    (void)socket_peer_write(peer, "\x01\x02hi\x00\x02!", 7);
}

static void serve_end_instead_of_close(socket_peer *peer) {
    (void)socket_peer_await_close(peer);
}

/// Runs one server that ends the connection by itself.
static void check_end(const socket_server *server, nc_status status, uint16_t close_code) {
    nc_trust *trust = trust_all();
    case_of one = {.server = *server};
    begin(&one);
    socket_client_open(&one.client, one.engine, one.url, trust);
    if (server->ctx != NULL) {
        assert_status(nc_socket_close(one.client.socket, 1000, nc_slice_of("bye"), NULL), NC_OK);
    }
    socket_client_finish(&one.client);
    assert_status(one.client.error.status, status);
    assert_int_equal(one.client.close_code, close_code);
    assert_slice_equals(nc_buf_slice(&one.client.reason), "");
    assert_int_equal(one.client.messages, 0);
    end(&one);
    nc_trust_release(trust);
}

static void socket__every_end_of_the_server_is_reported(void **state) {
    static char closes_first[] = "the client closes first";
    static const struct {
        void (*serve)(socket_peer *peer);
        void *ctx;
        nc_status status;
        uint16_t close_code;
    } cases[] = {{serve_close_without_code, NULL, NC_OK, NC_SOCKET_NO_CLOSE_CODE},
                 {serve_close_without_reason, NULL, NC_OK, 1001},
                 {serve_close_and_reset, NULL, NC_OK, 1001},
                 {serve_nothing, NULL, NC_ERR_CUT_SHORT, NC_SOCKET_NO_CLOSE_FRAME},
                 {serve_half_head, NULL, NC_ERR_CUT_SHORT, NC_SOCKET_NO_CLOSE_FRAME},
                 {serve_half_message, NULL, NC_ERR_CUT_SHORT, NC_SOCKET_NO_CLOSE_FRAME},
                 {serve_end_instead_of_close, closes_first, NC_ERR_CUT_SHORT, NC_SOCKET_NO_CLOSE_FRAME}};
    (void)state;
    for (size_t i = 0; i < 2 * COUNT_OF(cases); i++) {
        const socket_server server = {.serve = cases[i / 2].serve, .ctx = cases[i / 2].ctx, .has_tls = i % 2 == 1};
        check_end(&server, cases[i / 2].status, cases[i / 2].close_code);
    }
}

/* --- resets --- */

static const char *reset_without_response(const socket_peer *peer) {
    socket_peer_reset(peer);
    return "";
}

static const char *reset_in_response(const socket_peer *peer) {
    socket_peer_reset(peer);
    return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: webso";
}

static void reset_when_open(socket_peer *peer) {
    socket_peer_reset(peer);
}

static void reset_in_head(socket_peer *peer) {
    serve_half_head(peer);
    socket_peer_reset(peer);
}

static void reset_in_message(socket_peer *peer) {
    serve_half_message(peer);
    socket_peer_reset(peer);
}

static void reset_instead_of_close(socket_peer *peer) {
    (void)socket_peer_await_close(peer);
    socket_peer_reset(peer);
}

static void socket__a_reset_is_reported_in_every_state(void **state) {
    static char closes_first[] = "the client closes first";
    static const socket_server servers[] = {
        {.refuse = reset_without_response}, {.refuse = reset_in_response},
        {.serve = reset_when_open},         {.serve = reset_in_head},
        {.serve = reset_in_message},        {.serve = reset_instead_of_close, .ctx = closes_first}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(servers); i++) {
        check_end(&servers[i], NC_ERR_RESET, NC_SOCKET_NO_CLOSE_FRAME);
    }
}

/* --- servers that do not end --- */

static void wait_for_end(socket_peer *peer) {
    uint8_t byte;
    while (socket_peer_read(peer, &byte, 1)) {
    }
}

static void send_until_end(socket_peer *peer) {
    while (socket_peer_write_frame(peer, 0x82, nc_slice_of("a message after the client's close frame"))) {
    }
}

static void socket__a_silent_server_ends_the_socket(void **state) {
    (void)state;
    for (int closes = 0; closes < 2; closes++) {
        case_of one = {.server = {.serve = wait_for_end}};
        begin(&one);
        one.client.options.ping_interval_ms = 5;
        one.client.options.peer_timeout_ms = closes != 0 ? NC_UNLIMITED : 50;
        one.client.options.close_timeout_ms = 50;
        socket_client_open(&one.client, one.engine, one.url, NULL);
        gate_wait(&one.client.opened);
        if (closes != 0) {
            assert_status(nc_socket_close(one.client.socket, 1001, nc_slice_of(""), NULL), NC_OK);
            assert_status(nc_socket_close(one.client.socket, 1001, nc_slice_of(""), NULL), NC_ERR_CLOSED);
        }
        socket_client_finish(&one.client);
        assert_status(one.client.error.status, NC_ERR_PEER_TIMED_OUT);
        end(&one);
    }
}

static void socket__a_server_that_only_sends_ends_it_within_the_close_limit(void **state) {
    (void)state;
    case_of one = {.server = {.serve = send_until_end}};
    begin(&one);
    one.client.options.close_timeout_ms = 50;
    one.client.drops_bytes = true;
    socket_client_open(&one.client, one.engine, one.url, NULL);
    gate_wait(&one.client.received);
    assert_status(nc_socket_close(one.client.socket, 1000, nc_slice_of(""), NULL), NC_OK);
    socket_client_finish(&one.client);
    assert_status(one.client.error.status, NC_ERR_PEER_TIMED_OUT);
    assert_int_equal(one.client.close_code, NC_SOCKET_NO_CLOSE_FRAME);
    end(&one);
}

/* --- the caller --- */

static void socket__cancel_stop_and_release_end_it(void **state) {
    (void)state;
    for (int way = 0; way < 4; way++) {
        case_of one = {.server = {.serve = socket_peer_echo}};
        begin(&one);
        one.client.stops = way == 2;
        socket_client_open(&one.client, one.engine, one.url, NULL);
        if (way == 0) {
            nc_socket_cancel(one.client.socket);
        } else {
            gate_wait(&one.client.opened);
            socket_client_send(&one.client, NC_SOCKET_TEXT, "x");
        }
        if (way == 1) {
            nc_socket_cancel(one.client.socket);
        } else if (way == 3) {
            assert_status(nc_engine_close(one.engine, NC_UNLIMITED), NC_OK);
            one.engine = NULL;
        }
        socket_client_finish(&one.client);
        assert_status(one.client.error.status, way == 2 ? NC_ERR_STOPPED_BY_CALLER : NC_ERR_CANCELLED);
        end(&one);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(socket__every_end_of_the_server_is_reported),
        harness_case(socket__a_reset_is_reported_in_every_state),
        harness_case(socket__a_silent_server_ends_the_socket),
        harness_case(socket__a_server_that_only_sends_ends_it_within_the_close_limit),
        harness_case(socket__cancel_stop_and_release_end_it),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
