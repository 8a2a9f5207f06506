/// A WebSocket over a transfer of the engine. The body of the request carries the frames to send, and the body of the
/// 101 response the frames of the server.
#ifndef NETCORE_PRIVATE_WEBSOCKET_INTERNAL_H
#define NETCORE_PRIVATE_WEBSOCKET_INTERNAL_H

#include "event_loop/timers.h"
#include "state/mailbox.h"
#include "websocket/handshake.h"
#include "websocket/reader.h"

#include <netcore/websocket.h>
#include <pthread.h>
#include <stdatomic.h>

struct nc_socket {
    atomic_uint references;
    // Constant after nc_socket_open().
    nc_engine *engine;
    nc_transfer_id id;
    nc_socket_sink sink;
    nc_socket_options options; // with the defaults; its pointers are not used
    nc_random random;
    char key[NC_WS_KEY_BYTES];
    nc_buf protocols; // value of Sec-WebSocket-Protocol

    /// Orders the senders of messages. Locked before `mutex`.
    pthread_mutex_t send_mutex;
    nc_ws_deflater *deflater;
    bool is_in_message;
    bool is_begun; // its first frame is queued
    bool is_compressed;
    nc_socket_kind kind;
    nc_utf8_check text;

    /// Guards what follows. Locked before the engine's mutex.
    pthread_mutex_t mutex;
    nc_buf queue; // frames to send
    size_t queue_at;
    nc_ws_keys keys;
    nc_ws_deflate_terms terms;
    bool is_open;
    bool is_closing;   // the close frame is queued
    bool is_ended;     // the transfer is over
    bool awaits_bytes; // the engine waits for the queue
    bool wants_room;   // a sender was refused
    bool is_posted;    // `answer` is in the engine's mailbox, and has a reference
    bool wants_resume;
    nc_worker_result answer;

    // Event loop thread only.
    nc_ws_reader reader;
    nc_buf message;
    nc_buf unread; // bytes that arrived before a pause
    size_t unread_at;
    bool is_paused;
    bool is_refused; // the handshake was answered without a 101
    bool has_timer;
    bool has_close; // a close frame has arrived
    nc_timer timer;
    uint64_t received_ns;
    uint64_t pinged_ns;
    uint64_t close_by_ns; // 0: not closing
    uint64_t window_ns;   // start of a second in which control frames are counted
    uint32_t control_frames;
    uint8_t pong[NC_WS_MAX_CONTROL_BYTES]; // payload of a ping that is still to be answered
    uint8_t pong_bytes;
    bool has_pong;
    nc_buf refusal;
    uint16_t close_code;
    nc_buf close_reason;
    nc_error error; // the socket's own failure
};

/* --- socket_queue.c: the lifetime, and frames to send --- */

/// Frees a socket that has no references.
void nc_socket_destroy(nc_socket *socket);
/// Records the socket's own error, unless it has one.
void nc_socket_record(nc_socket *socket, nc_status status, int32_t native_code, const char *text);
/// Makes the event loop call nc_socket_arrive(). The caller holds `mutex`.
void nc_socket_post(nc_socket *socket);
/// Answers the last ping, if it was not answered yet.
void nc_socket_send_pong(nc_socket *socket);
/// Appends a frame and wakes the engine. The caller holds `mutex`. Returns NC_OK, NC_ERR_NO_MEMORY, NC_ERR_UNSUPPORTED
/// (the random source fails).
NC_NODISCARD nc_status nc_socket_append(nc_socket *socket, nc_ws_frame frame, nc_slice payload);
/// Appends the close frame, unless one is queued. Then nothing more is sent. The caller holds `mutex`.
NC_NODISCARD nc_status nc_socket_append_close(nc_socket *socket, uint16_t code, nc_slice reason);
/// The nc_pull_fn of the request's body.
nc_pull nc_socket_pull(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled);

/// The nc_seek_fn of the request's body: nothing is sent before the 101.
bool nc_socket_seek(void *ctx, nc_transfer_id id, uint64_t offset);

/* --- socket_events.c: what happens on the event loop thread --- */

nc_action nc_socket_on_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last);
nc_action nc_socket_on_body(void *ctx, nc_transfer_id id, nc_slice bytes);
void nc_socket_on_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error);
/// The nc_worker_result.arrive of `answer`: does what another thread has asked for.
void nc_socket_arrive(nc_worker_result *answer);

#endif
