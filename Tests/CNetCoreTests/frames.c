#include "frames.h"

#include "listening.h"

#include "harness.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD_BYTES = 9 };

static bool read_exactly(int fd, uint8_t *bytes, size_t count) {
    for (size_t at = 0; at < count;) {
        ssize_t got = recv(fd, bytes + at, count - at, 0);
        if (got <= 0) {
            return false;
        }
        at += (size_t)got;
    }
    return true;
}

static void append_frame(nc_buf *out, const frame *one, uint32_t stream) {
    bool is_streams = one->type != FRAME_PING && one->type != FRAME_GOAWAY && one->type != FRAME_SETTINGS;
    const uint8_t head[HEAD_BYTES] = {
        0, (uint8_t)(one->length >> 8),        (uint8_t)one->length, one->type, one->flags, 0, 0,
        0, (uint8_t)(is_streams ? stream : 0),
    };
    nc_buf_append(out, nc_slice_make(head, sizeof head));
    nc_buf_append(out, nc_slice_make((const uint8_t *)one->payload, one->length));
}

/// Reads frames up to one of this type and these flags and, of their payloads, more than `bytes`; gives the number of
/// its stream, 0 at the end of everything.
static uint32_t await_frame(int fd, uint8_t type, uint8_t flags, size_t bytes) {
    uint8_t payload[1 << 14];
    uint8_t head[HEAD_BYTES];
    size_t seen = 0;
    while (read_exactly(fd, head, sizeof head)) {
        size_t length = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        if (length > sizeof payload || !read_exactly(fd, payload, length)) {
            return 0;
        }
        seen += head[3] == type && (head[4] & flags) == flags ? length + 1 : 0;
        if (seen > bytes) {
            return type == FRAME_PING ? 1 : head[8];
        }
    }
    return 0;
}

static bool send_all(int fd, nc_buf *out) {
    bool is_sent = send(fd, out->data, out->length, MSG_NOSIGNAL) == (ssize_t)out->length;
    nc_buf_reset(out);
    return is_sent;
}

static bool send_row(int fd, const frame_server *server, const frame *row, uint32_t stream) {
    bool goes_on = true;
    nc_buf out = nc_buf_init(1 << 18);
    for (const frame *one = row; goes_on && one->payload != NULL; one++) {
        append_frame(&out, one, stream);
        if (server->ending != FRAME_WAITS && out.length > server->cut_after) {
            out.length = server->cut_after;
        }
        if (one->type == FRAME_PING) {
            goes_on = send_all(fd, &out) && await_frame(fd, FRAME_PING, FRAME_ACK, 0) != 0;
        } else if (one[1].payload == NULL) {
            goes_on = send_all(fd, &out);
        }
    }
    nc_buf_deinit(&out);
    return goes_on;
}

static void end(frame_server *server, size_t index) {
    static const struct linger at_once = {.l_onoff = 1};
    int fd = atomic_load(&server->connections[index]);
    if (server->ending == FRAME_FIN) {
        (void)shutdown(fd, SHUT_WR);
    } else if (server->ending == FRAME_RST) {
        atomic_store(&server->connections[index], -1);
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        (void)close(fd);
    }
}

static void serve(int fd, frame_server *server, size_t index) {
    static const frame settings = {FRAME_SETTINGS, 0, "", 0};
    uint8_t preface[24];
    nc_buf out = nc_buf_init(HEAD_BYTES);
    append_frame(&out, &settings, 0);
    bool goes_on = read_exactly(fd, preface, sizeof preface) && send_all(fd, &out);
    nc_buf_deinit(&out);
    uint32_t stream = goes_on ? await_frame(fd, FRAME_HEADERS, 0, 0) : 0;
    if (server->upload_bytes > 0 && stream != 0) {
        stream = await_frame(fd, FRAME_DATA, 0, server->upload_bytes);
    }
    if (stream != 0 && send_row(fd, server, server->rows[index], stream)) {
        end(server, index);
        atomic_fetch_add(&server->served, 1);
        if (server->ending == FRAME_RST) {
            return;
        }
        // until the client has had enough
        atomic_store(&server->was_reset, await_frame(fd, FRAME_RESET, 0, 0) != 0);
    }
}

static void *run_server(void *ctx) {
    frame_server *server = ctx;
    for (size_t i = 0; i < FRAME_ROWS && server->rows[i] != NULL; i++) {
        int fd = accept(server->listener, NULL, NULL);
        if (fd < 0) {
            break;
        }
        atomic_store(&server->connections[i], fd);
        serve(fd, server, i);
    }
    return NULL;
}

void frame_server_start(frame_server *server) {
    for (size_t i = 0; i < FRAME_ROWS; i++) {
        atomic_init(&server->connections[i], -1);
    }
    server->listener = listen_anywhere(&server->port, FRAME_ROWS);
    assert_int_equal(pthread_create(&server->thread, NULL, run_server, server), 0);
}

void frame_server_stop(frame_server *server) {
    (void)shutdown(server->listener, SHUT_RDWR);
    for (size_t i = 0; i < FRAME_ROWS; i++) {
        (void)shutdown(atomic_load(&server->connections[i]), SHUT_RDWR);
    }
    assert_int_equal(pthread_join(server->thread, NULL), 0);
    for (size_t i = 0; i < FRAME_ROWS && atomic_load(&server->connections[i]) >= 0; i++) {
        assert_int_equal(close(atomic_load(&server->connections[i])), 0);
    }
    assert_int_equal(close(server->listener), 0);
}
