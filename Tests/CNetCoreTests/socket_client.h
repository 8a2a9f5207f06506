/// A WebSocket of the library whose callbacks record what happens.
///
///     socket_client client = SOCKET_CLIENT_INIT;
///     socket_client_open(&client, engine, "ws://127.0.0.1:1/", NULL);
///     gate_wait(&client.opened);
///     …
///     socket_client_finish(&client);      // waits for the end; the results are then in `client`
#ifndef NETCORE_TEST_SOCKET_CLIENT_H
#define NETCORE_TEST_SOCKET_CLIENT_H

#include "gate.h"
#include "harness.h"

typedef struct socket_client {
    nc_socket *socket;
    // Set before the start.
    nc_socket_options options;
    unsigned pause_at; // pauses after this message
    bool stops;        // stops at the first message
    bool drops_bytes;  // counts the bytes of messages without recording them
    // Recorded.
    gate opened;
    gate received; // once for each message
    gate paused;
    gate ponged;
    gate has_room;
    gate ended;
    nc_buf text; // messages as "T<hi>" and "B<…>", pongs as "o<…>"
    uint64_t bytes;
    unsigned messages;
    nc_error error;
    uint16_t http_status;
    uint16_t close_code;
    nc_buf reason;
    nc_buf refusal;
} socket_client;

#define SOCKET_CLIENT_INIT                                                                                             \
    {                                                                                                                  \
        .opened = GATE_INIT, .received = GATE_INIT, .paused = GATE_INIT, .ponged = GATE_INIT, .has_room = GATE_INIT,   \
        .ended = GATE_INIT, .text = {.max_bytes = SIZE_MAX}, .reason = {.max_bytes = SIZE_MAX}, .refusal = {           \
            .max_bytes = SIZE_MAX                                                                                      \
        }                                                                                                              \
    }

/// The sink of a client.
nc_socket_sink socket_client_sink(socket_client *client);
/// Opens a socket with this request. Fails the test on an error.
void socket_client_open_request(socket_client *client, nc_engine *engine, const nc_request *request);
/// Opens a socket with a URL and the system's trust policy, or `trust`.
void socket_client_open(socket_client *client, nc_engine *engine, const char *url, nc_trust *trust);
/// Sends a whole message. Fails the test on an error.
void socket_client_send(socket_client *client, nc_socket_kind kind, const char *text);
/// Waits for the end and releases the socket.
void socket_client_finish(socket_client *client);
/// Frees what was recorded.
void socket_client_deinit(socket_client *client);

/// Fails unless the recorded messages are this text.
#define assert_messages(client, expected) assert_slice_equals(nc_buf_slice(&(client)->text), (expected))

#endif
