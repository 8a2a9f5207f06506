#include "socket_client.h"

#include <string.h>

static void on_open(void *ctx, nc_socket *socket, const nc_response *response) {
    socket_client *client = ctx;
    (void)socket;
    assert_int_equal(nc_response_status(response), 101);
    gate_open(&client->opened);
}

static nc_action on_message(void *ctx, nc_socket *socket, nc_socket_kind kind, nc_slice bytes, bool is_last) {
    socket_client *client = ctx;
    bool is_piece = client->options.delivers_pieces;
    (void)socket;
    client->bytes += bytes.length;
    if (!client->drops_bytes) {
        nc_buf_append(&client->text, nc_slice_of(is_piece ? "" : kind == NC_SOCKET_TEXT ? "T<" : "B<"));
        nc_buf_append(&client->text, bytes);
        nc_buf_append(&client->text, nc_slice_of(is_last ? ">" : ""));
    }
    client->messages += is_last ? 1 : 0;
    bool is_pause = is_last && client->messages == client->pause_at;
    if (is_last) {
        gate_open(&client->received);
    }
    if (is_pause) {
        gate_open(&client->paused);
    }
    return client->stops ? NC_ACTION_STOP : is_pause ? NC_ACTION_PAUSE : NC_ACTION_CONTINUE;
}

static void on_pong(void *ctx, nc_socket *socket, nc_slice payload) {
    socket_client *client = ctx;
    (void)socket;
    nc_buf_append(&client->text, nc_slice_of("o<"));
    nc_buf_append(&client->text, payload);
    nc_buf_append_byte(&client->text, '>');
    gate_open(&client->ponged);
}

static void on_room(void *ctx, nc_socket *socket) {
    (void)socket;
    gate_open(&((socket_client *)ctx)->has_room);
}

static void on_end(void *ctx, nc_socket *socket, const nc_socket_end *end) {
    socket_client *client = ctx;
    nc_error err;
    assert_status(nc_socket_send(socket, NC_SOCKET_TEXT, nc_slice_of("x"), true, &err), NC_ERR_CLOSED);
    client->error = *end->error;
    client->http_status = nc_response_status(end->response);
    client->close_code = end->close_code;
    nc_buf_append(&client->reason, end->close_reason);
    nc_buf_append(&client->refusal, end->refusal);
    gate_open(&client->ended);
}

nc_socket_sink socket_client_sink(socket_client *client) {
    return (nc_socket_sink){.ctx = client,
                            .on_open = on_open,
                            .on_message = on_message,
                            .on_pong = on_pong,
                            .on_room = on_room,
                            .on_end = on_end};
}

void socket_client_open_request(socket_client *client, nc_engine *engine, const nc_request *request) {
    nc_socket_sink sink = socket_client_sink(client);
    nc_error err;
    nc_status status = nc_socket_open(&client->socket, engine, request, &client->options, &sink, &err);
    if (status != NC_OK) {
        fail_msg("%s: %s", nc_status_name(status), err.message);
    }
}

void socket_client_open(socket_client *client, nc_engine *engine, const char *url, nc_trust *trust) {
    nc_request request = {.url = nc_slice_of(url), .trust = trust};
    socket_client_open_request(client, engine, &request);
}

void socket_client_send(socket_client *client, nc_socket_kind kind, const char *text) {
    nc_error err;
    assert_status(nc_socket_send(client->socket, kind, nc_slice_of(text), true, &err), NC_OK);
}

void socket_client_finish(socket_client *client) {
    gate_wait(&client->ended);
    nc_socket_release(client->socket);
}

void socket_client_deinit(socket_client *client) {
    nc_buf_deinit(&client->text);
    nc_buf_deinit(&client->reason);
    nc_buf_deinit(&client->refusal);
}
