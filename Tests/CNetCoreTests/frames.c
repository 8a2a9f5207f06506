#include "frames.h"

#include "listening.h"

#include "harness.h"
#include "tls_peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD_BYTES = 9 };

/// A connection, with TLS or without.
typedef struct wire {
    int fd;
    SSL *ssl;
} wire;

static bool read_exactly(wire on, uint8_t *bytes, size_t count) {
    for (size_t at = 0; at < count;) {
        ssize_t got =
            on.ssl != NULL ? SSL_read(on.ssl, bytes + at, (int)(count - at)) : recv(on.fd, bytes + at, count - at, 0);
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

/// Reads frames up to one of this type and these flags, and more than `bytes` of their payloads. Returns its stream,
/// or 0 at the end of the connection.
static uint32_t await_frame(wire on, uint8_t type, uint8_t flags, size_t bytes) {
    uint8_t payload[1 << 14];
    uint8_t head[HEAD_BYTES];
    size_t seen = 0;
    while (read_exactly(on, head, sizeof head)) {
        size_t length = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        if (length > sizeof payload || !read_exactly(on, payload, length)) {
            return 0;
        }
        seen += head[3] == type && (head[4] & flags) == flags ? length + 1 : 0;
        if (seen > bytes) {
            return type == FRAME_PING ? 1 : head[8];
        }
    }
    return 0;
}

static bool send_all(wire on, nc_buf *out) {
    ssize_t count = out->length == 0 ? 0
                    : on.ssl != NULL ? SSL_write(on.ssl, out->data, (int)out->length)
                                     : send(on.fd, out->data, out->length, MSG_NOSIGNAL);
    bool is_sent = count == (ssize_t)out->length;
    nc_buf_reset(out);
    return is_sent;
}

static bool send_row(wire on, const frame_server *server, const frame *row, uint32_t stream) {
    bool is_open = true;
    nc_buf out = nc_buf_init(1 << 18);
    for (const frame *one = row; is_open && one->payload != NULL; one++) {
        append_frame(&out, one, stream);
        if (server->ending != FRAME_WAITS && out.length > server->cut_after) {
            out.length = server->cut_after;
        }
        if (one->type == FRAME_PING) {
            is_open = send_all(on, &out) && await_frame(on, FRAME_PING, FRAME_ACK, 0) != 0;
        } else if (one[1].payload == NULL) {
            is_open = send_all(on, &out);
        }
    }
    nc_buf_deinit(&out);
    return is_open;
}

static void end(frame_server *server, size_t index) {
    static const struct linger sends_body_immediately = {.l_onoff = 1};
    int fd = atomic_load(&server->connections[index]);
    if (server->ending == FRAME_FIN) {
        (void)shutdown(fd, SHUT_WR);
    } else if (server->ending == FRAME_RST) {
        atomic_store(&server->connections[index], -1);
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &sends_body_immediately, sizeof sends_body_immediately);
        (void)close(fd);
    }
}

static void serve(wire on, frame_server *server, size_t index) {
    static const frame settings = {FRAME_SETTINGS, 0, "", 0};
    uint8_t preface[24];
    nc_buf out = nc_buf_init(HEAD_BYTES);
    append_frame(&out, &settings, 0);
    bool is_open = read_exactly(on, preface, sizeof preface) && send_all(on, &out);
    nc_buf_deinit(&out);
    uint32_t stream = is_open ? await_frame(on, FRAME_HEADERS, 0, 0) : 0;
    if (server->upload_bytes > 0 && stream != 0) {
        stream = await_frame(on, FRAME_DATA, 0, server->upload_bytes);
    }
    if (stream != 0 && send_row(on, server, server->rows[index], stream)) {
        end(server, index);
        atomic_fetch_add(&server->served, 1);
        if (server->ending == FRAME_RST) {
            return;
        }
        // until the client closes
        atomic_store(&server->was_reset, await_frame(on, FRAME_RESET, 0, 0) != 0);
    }
}

static int choose_http_2(SSL *ssl, const unsigned char **out, unsigned char *length, const unsigned char *offered,
                         unsigned offered_length, void *ctx) {
    (void)ssl;
    (void)offered;
    (void)offered_length;
    (void)ctx;
    *out = (const unsigned char *)"h2";
    *length = 2;
    return SSL_TLSEXT_ERR_OK;
}

bool frame_is_open(const frame *head) {
    static const char length_field[] = "\x0f\x0d";
    return head->type == FRAME_HEADERS && memmem(head->payload, head->length, length_field, 2) == NULL;
}

static void *run_server(void *ctx) {
    frame_server *server = ctx;
    sigset_t broken_pipe; // OpenSSL writes to a socket that the client may have closed
    (void)sigemptyset(&broken_pipe);
    (void)sigaddset(&broken_pipe, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &broken_pipe, NULL);
    for (size_t i = 0; i < FRAME_ROWS && server->rows[i] != NULL; i++) {
        int fd = accept(server->listener, NULL, NULL);
        if (fd < 0) {
            break;
        }
        const int is_prompt = 1; // sends immediately
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &is_prompt, sizeof is_prompt);
        atomic_store(&server->connections[i], fd);
        SSL *ssl = server->is_secure ? SSL_new(server->context) : NULL;
        if (ssl == NULL || (SSL_set_fd(ssl, fd) == 1 && SSL_accept(ssl) == 1)) {
            serve((wire){fd, ssl}, server, i);
        }
        SSL_free(ssl);
        ERR_clear_error();
    }
    return NULL;
}

void frame_server_start(frame_server *server) {
    for (size_t i = 0; i < FRAME_ROWS; i++) {
        atomic_init(&server->connections[i], -1);
    }
    if (server->is_secure) {
        server->context = SSL_CTX_new(TLS_server_method());
        tls_peer_present_certificate(server->context);
        SSL_CTX_set_alpn_select_cb(server->context, choose_http_2, NULL);
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
    SSL_CTX_free(server->context);
}
