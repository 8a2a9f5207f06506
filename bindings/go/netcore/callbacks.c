/* What C calls, handed on to Go: cgo exports functions without const. */
#include "callbacks.h"

#include "_cgo_export.h"

static nc_action head_came(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    (void)id;
    (void)response;
    (void)is_last;
    return goHead((uintptr_t)ctx) ? NC_ACTION_CONTINUE : NC_ACTION_STOP;
}

static nc_action body_came(void *ctx, nc_transfer_id id, nc_slice bytes) {
    (void)id;
    return goChunk((uintptr_t)ctx, (void *)bytes.data, bytes.length) ? NC_ACTION_CONTINUE : NC_ACTION_STOP;
}

static void transfer_ended(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    (void)id;
    goDone((uintptr_t)ctx, nc_response_retain(response), (nc_error *)error);
}

static void download_ended(void *ctx, nc_download_id id, nc_response *response, const nc_download_result *result,
                           const nc_error *error) {
    (void)id;
    (void)response;
    goDownloaded((uintptr_t)ctx, result->byte_count, (nc_error *)error);
}

nc_status start_transfer(nc_engine *engine, const nc_request *request, bool wants_chunks, uintptr_t handle,
                         nc_transfer_id *id, nc_error *err) {
    const nc_sink sink = {.ctx = (void *)handle, /* a number: Go's own pointers never stay in C */
                          .on_head = head_came,
                          .on_body = wants_chunks ? body_came : NULL,
                          .on_done = transfer_ended};
    return nc_engine_submit(engine, request, &sink, id, err);
}

nc_status start_download(nc_engine *engine, const nc_download_options *options, uintptr_t handle, nc_download_id *id,
                         nc_error *err) {
    const nc_download_sink sink = {.ctx = (void *)handle, .on_done = download_ended};
    return nc_download_start(engine, options, &sink, id, err);
}

static void call_ended(void *ctx, nc_call *call, nc_response *response, const nc_error *error) {
    goCallDone((uintptr_t)ctx, call, response == NULL ? NULL : nc_response_retain(response), (nc_error *)error);
}

nc_status start_call(nc_client *client, const nc_request *request, const nc_call_options *options, uintptr_t handle,
                     nc_call **call, nc_error *err) {
    const nc_call_sink sink = {.ctx = (void *)handle, .on_done = call_ended};
    return nc_client_send(client, request, options, &sink, call, err);
}

static void socket_opened(void *ctx, nc_socket *socket, const nc_response *response) {
    (void)socket;
    goSocketOpen((uintptr_t)ctx, nc_response_retain((nc_response *)response));
}

static nc_action message_came(void *ctx, nc_socket *socket, nc_socket_kind kind, nc_slice bytes, bool is_last) {
    (void)socket;
    (void)is_last;
    bool pauses = goSocketMessage((uintptr_t)ctx, kind == NC_SOCKET_TEXT, (void *)bytes.data, bytes.length);
    return pauses ? NC_ACTION_PAUSE : NC_ACTION_CONTINUE;
}

static void pong_came(void *ctx, nc_socket *socket, nc_slice payload) {
    (void)socket;
    goSocketPong((uintptr_t)ctx, (void *)payload.data, payload.length);
}

static void room_came(void *ctx, nc_socket *socket) {
    (void)socket;
    goSocketRoom((uintptr_t)ctx);
}

static void socket_ended(void *ctx, nc_socket *socket, const nc_socket_end *end) {
    (void)socket;
    goSocketEnd((uintptr_t)ctx, (nc_socket_end *)end);
}

nc_status open_socket(nc_socket **socket, nc_engine *engine, const nc_request *request,
                      const nc_socket_options *options, uintptr_t handle, nc_error *err) {
    const nc_socket_sink sink = {.ctx = (void *)handle,
                                 .on_open = socket_opened,
                                 .on_message = message_came,
                                 .on_pong = pong_came,
                                 .on_room = room_came,
                                 .on_end = socket_ended};
    return nc_socket_open(socket, engine, request, options, &sink, err);
}
