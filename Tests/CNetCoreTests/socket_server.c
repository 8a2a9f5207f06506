#include "socket_server.h"

#include "listening.h"
#include "tls_peer.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* --- bytes --- */

bool socket_peer_read(socket_peer *peer, void *bytes, size_t length) {
    uint8_t *at = bytes;
    while (length > 0) {
        size_t part = length < 1 << 30 ? length : 1 << 30;
        ssize_t got = peer->ssl != NULL ? SSL_read(peer->ssl, at, (int)part) : recv(peer->fd, at, part, 0);
        if (got <= 0) {
            return false;
        }
        at += got;
        length -= (size_t)got;
    }
    return true;
}

bool socket_peer_write(socket_peer *peer, const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    while (length > 0) {
        size_t part = length < 1 << 30 ? length : 1 << 30;
        ssize_t put = peer->ssl != NULL ? SSL_write(peer->ssl, at, (int)part) : send(peer->fd, at, part, MSG_NOSIGNAL);
        if (put <= 0) {
            return false;
        }
        at += put;
        length -= (size_t)put;
    }
    return true;
}

/* --- frames --- */

bool socket_peer_read_frame(socket_peer *peer, uint8_t *first, nc_buf *payload) {
    uint8_t head[2];
    uint8_t more[8];
    uint8_t key[4];
    nc_buf_reset(payload);
    if (!socket_peer_read(peer, head, 2)) {
        return false;
    }
    uint64_t length = head[1] & 0x7f;
    size_t count = length == 126 ? 2 : length == 127 ? 8 : 0;
    if (!socket_peer_read(peer, more, count)) {
        return false;
    }
    length = count > 0 ? 0 : length;
    for (size_t i = 0; i < count; i++) {
        length = length << 8 | more[i];
    }
    if ((head[1] & 0x80) == 0) {
        atomic_store(&peer->server->is_unmasked, true);
        return false;
    }
    if (!socket_peer_read(peer, key, 4) || nc_buf_reserve(payload, length + 1) != NC_OK ||
        !socket_peer_read(peer, payload->data, length)) {
        return false;
    }
    payload->length = length;
    for (size_t i = 0; i < length; i++) {
        payload->data[i] ^= key[i % 4];
    }
    *first = head[0];
    return true;
}

bool socket_peer_write_frame(socket_peer *peer, uint8_t first, nc_slice payload) {
    uint8_t head[10] = {first};
    size_t count = payload.length < 126 ? 0 : payload.length < 65536 ? 2 : 8;
    head[1] = count == 0 ? (uint8_t)payload.length : count == 2 ? 126 : 127;
    for (size_t i = 0; i < count; i++) {
        head[2 + i] = (uint8_t)((uint64_t)payload.length >> (8 * (count - 1 - i)));
    }
    return socket_peer_write(peer, head, 2 + count) && socket_peer_write(peer, payload.data, payload.length);
}

static void record_close(socket_peer *peer, const nc_buf *payload) {
    unsigned code = payload->length < 2 ? 1005u : (unsigned)(payload->data[0] << 8 | payload->data[1]);
    atomic_store(&peer->server->close_code, code);
}

bool socket_peer_await_close(socket_peer *peer) {
    nc_buf payload = nc_buf_init(SIZE_MAX);
    uint8_t first = 0;
    bool has_close = false;
    while (!has_close && socket_peer_read_frame(peer, &first, &payload)) {
        has_close = (first & 0x0f) == 8;
    }
    if (has_close) {
        record_close(peer, &payload);
    }
    nc_buf_deinit(&payload);
    return has_close;
}

void socket_peer_reset(const socket_peer *peer) {
    const struct linger now = {.l_onoff = 1, .l_linger = 0};
    assert_int_equal(setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now), 0);
}

void socket_peer_echo(socket_peer *peer) {
    nc_buf payload = nc_buf_init(SIZE_MAX);
    uint8_t first = 0;
    while (socket_peer_read_frame(peer, &first, &payload)) {
        bool is_close = (first & 0x0f) == 8;
        if (is_close) {
            record_close(peer, &payload);
        }
        first = (first & 0x0f) == 9 ? 0x8a : first;
        if (!socket_peer_write_frame(peer, first, nc_buf_slice(&payload))) {
            break;
        }
        if (is_close) {
            break;
        }
    }
    nc_buf_deinit(&payload);
}

/* --- connections --- */

static bool read_head(socket_peer *peer) {
    size_t length = 0;
    while (length + 1 < sizeof peer->head && socket_peer_read(peer, peer->head + length, 1)) {
        peer->head[++length] = '\0';
        if (length >= 4 && memcmp(peer->head + length - 4, "\r\n\r\n", 4) == 0) {
            return true;
        }
    }
    return false;
}

static bool accept_handshake(socket_peer *peer) {
    static const char name[] = "Sec-WebSocket-Key: ";
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned char accept[64];
    char text[256];
    const socket_server *server = peer->server;
    const char *key = strstr(peer->head, name);
    if (server->refuse != NULL) {
        const char *reply = server->refuse(peer);
        if (reply != NULL) {
            (void)socket_peer_write(peer, reply, strlen(reply));
            return false;
        }
    }
    if (key == NULL) {
        return false;
    }
    int length = snprintf(text, sizeof text, "%.24s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key + sizeof name - 1);
    (void)EVP_Digest(text, (size_t)length, digest, NULL, EVP_sha1(), NULL);
    (void)EVP_EncodeBlock(accept, digest, 20);
    char reply[1024];
    length = snprintf(reply, sizeof reply,
                      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                      "Sec-WebSocket-Accept: %s\r\n%s\r\n",
                      server->accept != NULL ? server->accept : (const char *)accept,
                      server->fields != NULL ? server->fields : "");
    return socket_peer_write(peer, reply, (size_t)length);
}

static void *run_connection(void *ctx) {
    socket_peer *peer = ctx;
    sigset_t broken_pipe;
    (void)sigemptyset(&broken_pipe);
    (void)sigaddset(&broken_pipe, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &broken_pipe, NULL);
    bool is_ready = true;
    if (peer->server->context != NULL) {
        peer->ssl = SSL_new(peer->server->context);
        is_ready = SSL_set_fd(peer->ssl, peer->fd) == 1 && SSL_accept(peer->ssl) == 1;
    }
    if (is_ready && read_head(peer) && accept_handshake(peer)) {
        peer->server->serve(peer);
    }
    if (peer->ssl != NULL) {
        (void)SSL_shutdown(peer->ssl);
        SSL_free(peer->ssl);
    }
    ERR_clear_error();
    (void)pthread_mutex_lock(&peer->server->mutex);
    (void)close(peer->fd);
    peer->fd = -1;
    (void)pthread_mutex_unlock(&peer->server->mutex);
    return NULL;
}

static void *run(void *ctx) {
    socket_server *server = ctx;
    for (size_t i = 0; i < SOCKET_SERVER_CONNECTIONS; i++) {
        int fd = accept(server->listener, NULL, NULL);
        if (fd < 0) {
            break;
        }
        socket_peer *peer = calloc(1, sizeof *peer);
        peer->server = server;
        peer->index = i;
        peer->fd = fd;
        server->peers[i] = peer;
        atomic_store(&server->count, i + 1); // before the client can have a response
        assert_int_equal(pthread_create(&peer->thread, NULL, run_connection, peer), 0);
    }
    return NULL;
}

static int listen_at_path(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 8), 0);
    return listener;
}

void socket_server_start(socket_server *server) {
    if (server->has_tls) {
        server->context = SSL_CTX_new(TLS_server_method());
        if (server->certificate != NULL) {
            tls_peer_present(server->context, server->certificate);
        } else {
            tls_peer_present_certificate(server->context);
        }
    }
    assert_int_equal(pthread_mutex_init(&server->mutex, NULL), 0);
    server->listener = server->unix_path != NULL ? listen_at_path(server->unix_path)
                                                 : listen_anywhere(&server->port, SOCKET_SERVER_CONNECTIONS);
    assert_int_equal(pthread_create(&server->thread, NULL, run, server), 0);
}

void socket_server_stop(socket_server *server) {
    (void)shutdown(server->listener, SHUT_RDWR);
    assert_int_equal(pthread_join(server->thread, NULL), 0);
    for (size_t i = 0; i < atomic_load(&server->count); i++) {
        (void)pthread_mutex_lock(&server->mutex);
        (void)shutdown(server->peers[i]->fd, SHUT_RDWR);
        (void)pthread_mutex_unlock(&server->mutex);
        assert_int_equal(pthread_join(server->peers[i]->thread, NULL), 0);
        free(server->peers[i]);
    }
    assert_int_equal(close(server->listener), 0);
    if (server->unix_path != NULL) {
        (void)unlink(server->unix_path);
    }
    (void)pthread_mutex_destroy(&server->mutex);
    SSL_CTX_free(server->context);
    assert_false(atomic_load(&server->is_unmasked));
}
