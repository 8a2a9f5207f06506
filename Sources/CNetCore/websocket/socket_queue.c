#include "websocket/internal.h"

#include "base/alloc.h"
#include "base/error.h"
#include "state/engine_record.h"

#include <netcore/transfers.h>
#include <string.h>

/// An empty queue keeps at most this much memory.
enum { KEPT_BYTES = 4096 };

/* --- the lifetime --- */

void nc_socket_destroy(nc_socket *socket) {
    nc_ws_reader_deinit(&socket->reader);
    nc_ws_deflater_free(socket->deflater);
    nc_buf_deinit(&socket->protocols);
    nc_buf_deinit(&socket->queue);
    nc_buf_deinit(&socket->message);
    nc_buf_deinit(&socket->unread);
    nc_buf_deinit(&socket->refusal);
    nc_buf_deinit(&socket->close_reason);
    pthread_mutex_destroy(&socket->send_mutex);
    pthread_mutex_destroy(&socket->mutex);
    nc_free(socket);
}

nc_socket *nc_socket_retain(nc_socket *socket) {
    atomic_fetch_add_explicit(&socket->references, 1, memory_order_relaxed);
    return socket;
}

void nc_socket_release(nc_socket *socket) {
    if (socket != NULL && atomic_fetch_sub_explicit(&socket->references, 1, memory_order_acq_rel) == 1) {
        nc_socket_destroy(socket);
    }
}

void nc_socket_record(nc_socket *socket, nc_status status, int32_t native_code, const char *text) {
    if (socket->error.status == NC_OK) {
        (void)nc_error_set(&socket->error, status, native_code, -1, "%s", text);
    }
}

void nc_socket_post(nc_socket *socket) {
    if (!socket->is_posted && !socket->is_ended) {
        socket->is_posted = true;
        (void)nc_socket_retain(socket);
        nc_mailbox_put_result(socket->engine, &socket->answer);
    }
}

/* --- frames to send --- */

static size_t queued(const nc_socket *socket) {
    return socket->queue.length - socket->queue_at;
}

/// Moves the queue to the start of its memory, when that costs less than what was sent.
static void compact(nc_socket *socket) {
    nc_buf *queue = &socket->queue;
    size_t left = queued(socket);
    if (socket->queue_at > left) {
        memmove(queue->data, queue->data + socket->queue_at, left);
        queue->length = left;
        socket->queue_at = 0;
    }
}

nc_status nc_socket_append(nc_socket *socket, nc_ws_frame frame, nc_slice payload) {
    compact(socket);
    if (!nc_ws_frame_append(&socket->queue, frame, payload, &socket->keys, &socket->random)) {
        return NC_ERR_UNSUPPORTED;
    }
    if (nc_buf_status(&socket->queue) != NC_OK) {
        return NC_ERR_NO_MEMORY;
    }
    if (socket->awaits_bytes && socket->is_open && !socket->is_ended) {
        socket->awaits_bytes = false;
        nc_engine_resume_from(socket->engine, socket->id, NC_PAUSE_SOURCE);
    }
    return NC_OK;
}

nc_status nc_socket_append_close(nc_socket *socket, uint16_t code, nc_slice reason) {
    uint8_t payload[NC_WS_MAX_CONTROL_BYTES] = {(uint8_t)(code >> 8), (uint8_t)code};
    if (socket->is_closing) {
        return NC_OK;
    }
    if (reason.length > 0) {
        memcpy(payload + 2, reason.data, reason.length);
    }
    nc_status status = nc_socket_append(socket, (nc_ws_frame){.opcode = NC_WS_CLOSE, .is_final = true},
                                        nc_slice_make(payload, code != 0 ? 2 + reason.length : 0));
    socket->is_closing = true;
    return status;
}

/// Takes bytes from the queue. Returns true if a refused sender must be notified.
static bool take(nc_socket *socket, uint8_t *bytes, size_t capacity, size_t *filled) {
    size_t left = queued(socket);
    size_t count = left < capacity ? left : capacity;
    if (count > 0) {
        memcpy(bytes, socket->queue.data + socket->queue_at, count);
    }
    socket->queue_at += count;
    *filled = count;
    if (queued(socket) == 0) {
        socket->queue_at = 0;
        socket->queue.length = 0;
        if (socket->queue.capacity > KEPT_BYTES) {
            nc_buf_deinit(&socket->queue);
        }
    }
    bool has_room = socket->wants_room && queued(socket) <= socket->options.max_queued_bytes / 2;
    socket->wants_room = socket->wants_room && !has_room;
    return has_room;
}

void nc_socket_send_pong(nc_socket *socket) {
    nc_status status = NC_OK;
    pthread_mutex_lock(&socket->mutex);
    if (socket->has_pong && !socket->is_closing && !socket->is_ended) {
        status = nc_socket_append(socket, (nc_ws_frame){.opcode = NC_WS_PONG, .is_final = true},
                                  nc_slice_make(socket->pong, socket->pong_bytes));
    }
    socket->has_pong = false;
    pthread_mutex_unlock(&socket->mutex);
    if (status != NC_OK) {
        nc_socket_record(socket, NC_ERR_NO_MEMORY, 0, "no memory for a pong");
        nc_engine_cancel(socket->engine, socket->id);
    }
}

nc_pull nc_socket_pull(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    nc_socket *socket = ctx;
    (void)id;
    pthread_mutex_lock(&socket->mutex);
    bool is_empty = queued(socket) == 0;
    pthread_mutex_unlock(&socket->mutex);
    if (is_empty) {
        nc_socket_send_pong(socket);
    }
    pthread_mutex_lock(&socket->mutex);
    bool has_room = socket->is_open && take(socket, bytes, capacity, filled);
    socket->awaits_bytes = !socket->is_open || *filled == 0;
    bool is_later = socket->awaits_bytes;
    pthread_mutex_unlock(&socket->mutex);
    if (has_room && socket->sink.on_room != NULL) {
        socket->sink.on_room(socket->sink.ctx, socket);
    }
    return is_later ? NC_PULL_LATER : NC_PULL_MORE;
}

bool nc_socket_seek(void *ctx, nc_transfer_id id, uint64_t offset) {
    nc_socket *socket = ctx;
    (void)id;
    pthread_mutex_lock(&socket->mutex);
    bool is_unsent = !socket->is_open && offset == 0;
    pthread_mutex_unlock(&socket->mutex);
    return is_unsent;
}

/* --- from any thread --- */

static nc_status refuse(nc_error *err, nc_status status, const char *text) {
    return nc_error_set(err, status, 0, -1, "%s", text);
}

/// Cancels a socket whose queue may have a partial frame. The caller holds `mutex`.
static nc_status refuse_and_end(nc_socket *socket, nc_status status, nc_error *err) {
    nc_engine_cancel(socket->engine, socket->id);
    return refuse(err, status, nc_status_text(status));
}

/// Checks if `bytes` more may be queued. The caller holds `mutex`.
static nc_status check_room(nc_socket *socket, size_t bytes, nc_error *err) {
    size_t most = socket->options.max_queued_bytes;
    if (socket->is_ended || socket->is_closing) {
        return refuse(err, NC_ERR_CLOSED, "the WebSocket is closing or has ended");
    }
    if (bytes > most) {
        return refuse(err, NC_ERR_TOO_LARGE, "a piece of a message is larger than max_queued_bytes: send it in pieces");
    }
    if (queued(socket) > 0 && queued(socket) + bytes > most) {
        socket->wants_room = true;
        return refuse(err, NC_ERR_QUEUE_FULL, nc_status_text(NC_ERR_QUEUE_FULL));
    }
    return NC_OK;
}

/// Begins a message, or checks that the next piece continues it. The caller holds `send_mutex`.
static nc_status check_message(nc_socket *socket, nc_socket_kind kind, nc_slice bytes, bool is_last, nc_error *err) {
    bool begins = !socket->is_in_message;
    nc_utf8_check text = begins ? (nc_utf8_check){0} : socket->text;
    if ((kind != NC_SOCKET_TEXT && kind != NC_SOCKET_BINARY) || (!begins && kind != socket->kind)) {
        return refuse(err, NC_ERR_USAGE, "the kind of a message is unknown, or changes within the message");
    }
    if (kind == NC_SOCKET_TEXT && (!nc_utf8_check_piece(&text, bytes) || (is_last && text.needed > 0))) {
        return refuse(err, NC_ERR_BAD_TEXT, "the text to send is not valid UTF-8");
    }
    socket->text = text;
    socket->kind = kind;
    return NC_OK;
}

/// Compresses a piece into `out`. Returns the payload of the frame. The caller holds `send_mutex`.
static nc_slice compress(nc_socket *socket, const nc_ws_deflate_terms *terms, nc_slice bytes, bool is_last,
                         nc_buf *out) {
    if (!socket->is_in_message) {
        socket->is_begun = false;
        socket->is_compressed = terms->is_agreed && terms->client_bits > 8;
    }
    if (!socket->is_compressed) {
        return bytes;
    }
    if (socket->deflater == NULL) {
        socket->deflater = nc_ws_deflater_new(terms);
    }
    if (socket->deflater == NULL) {
        out->status = NC_ERR_NO_MEMORY;
        return bytes;
    }
    nc_ws_deflater_add(socket->deflater, bytes, is_last, out);
    return nc_buf_slice(out);
}

static nc_status send_piece(nc_socket *socket, nc_socket_kind kind, nc_slice bytes, bool is_last, nc_error *err) {
    nc_buf compressed = nc_buf_init(SIZE_MAX);
    pthread_mutex_lock(&socket->mutex);
    nc_status status = check_room(socket, bytes.length, err);
    nc_ws_deflate_terms terms = socket->terms;
    pthread_mutex_unlock(&socket->mutex);
    status = status == NC_OK ? check_message(socket, kind, bytes, is_last, err) : status;
    if (status != NC_OK) {
        return status;
    }
    nc_slice payload = compress(socket, &terms, bytes, is_last, &compressed);
    bool is_first = !socket->is_begun;
    nc_ws_frame frame = {.opcode = is_first ? (uint8_t)kind : NC_WS_CONTINUATION,
                         .is_final = is_last,
                         .is_compressed = is_first && socket->is_compressed};
    status = nc_buf_status(&compressed);
    if (status == NC_OK && (payload.length > 0 || is_last)) {
        pthread_mutex_lock(&socket->mutex);
        bool is_late = socket->is_ended || socket->is_closing;
        status = is_late ? NC_ERR_CLOSED : nc_socket_append(socket, frame, payload);
        pthread_mutex_unlock(&socket->mutex);
        socket->is_begun = true;
    }
    socket->is_in_message = !is_last;
    nc_buf_deinit(&compressed);
    if (status != NC_OK && status != NC_ERR_CLOSED) {
        nc_socket_cancel(socket); // A part of the message may be missing.
    }
    return status == NC_OK ? nc_error_clear(err) : refuse(err, status, nc_status_text(status));
}

nc_status nc_socket_send(nc_socket *socket, nc_socket_kind kind, nc_slice bytes, bool is_last, nc_error *err) {
    pthread_mutex_lock(&socket->send_mutex);
    nc_status status = send_piece(socket, kind, bytes, is_last, err);
    pthread_mutex_unlock(&socket->send_mutex);
    return status;
}

nc_status nc_socket_ping(nc_socket *socket, nc_slice payload, nc_error *err) {
    if (payload.length > NC_SOCKET_MAX_PING_BYTES) {
        return refuse(err, NC_ERR_USAGE, "the payload of a ping has more than 125 bytes");
    }
    pthread_mutex_lock(&socket->mutex);
    nc_status status = check_room(socket, payload.length, err);
    if (status == NC_OK) {
        status = nc_socket_append(socket, (nc_ws_frame){.opcode = NC_WS_PING, .is_final = true}, payload);
        status = status == NC_OK ? nc_error_clear(err) : refuse_and_end(socket, status, err);
    }
    pthread_mutex_unlock(&socket->mutex);
    return status;
}

nc_status nc_socket_close(nc_socket *socket, uint16_t code, nc_slice reason, nc_error *err) {
    bool is_valid = code == 0 ? reason.length == 0 : nc_ws_close_code_is_valid(code);
    if (!is_valid || reason.length > NC_WS_MAX_CONTROL_BYTES - 2) {
        return refuse(err, NC_ERR_USAGE, "the close code cannot be sent, or the reason has more than 123 bytes");
    }
    if (nc_utf8_span(reason.data, reason.length) != reason.length) {
        return refuse(err, NC_ERR_BAD_TEXT, "the reason to close is not valid UTF-8");
    }
    pthread_mutex_lock(&socket->mutex);
    bool is_late = socket->is_ended || socket->is_closing;
    nc_status status = is_late ? NC_ERR_CLOSED : nc_socket_append_close(socket, code, reason);
    if (status == NC_OK) {
        nc_socket_post(socket);
        (void)nc_error_clear(err);
    } else {
        status = is_late ? refuse(err, status, nc_status_text(status)) : refuse_and_end(socket, status, err);
    }
    pthread_mutex_unlock(&socket->mutex);
    return status;
}

void nc_socket_cancel(nc_socket *socket) {
    pthread_mutex_lock(&socket->mutex);
    if (!socket->is_ended) {
        nc_engine_cancel(socket->engine, socket->id);
    }
    pthread_mutex_unlock(&socket->mutex);
}

void nc_socket_resume(nc_socket *socket) {
    pthread_mutex_lock(&socket->mutex);
    socket->wants_resume = true;
    nc_socket_post(socket);
    pthread_mutex_unlock(&socket->mutex);
}

size_t nc_socket_queued_bytes(nc_socket *socket) {
    pthread_mutex_lock(&socket->mutex);
    size_t bytes = queued(socket);
    pthread_mutex_unlock(&socket->mutex);
    return bytes;
}
