/* A WebSocket server over epoll that sends every frame back, on one thread. It keeps no message: it forwards payloads
 * as they arrive, and stops reading while the client does not read.
 *
 * usage: bench-echo-server      prints its port, and runs until it is killed */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_EVENTS = 256, MAX_HEAD = 14, MAX_REQUEST = 4096, READ_BYTES = 256 * 1024, OPCODE = 15, CLOSE = 8, PING = 9 };

typedef struct connection {
    int fd;
    bool is_open; // the handshake is complete
    bool is_ending;
    uint8_t head[MAX_HEAD];
    size_t head_length;
    uint64_t left; // of the payload
    uint8_t key[4];
    size_t key_at;
    uint8_t *pending; // bytes that the socket did not accept
    size_t pending_at;
    size_t pending_length;
    char *request; // until the handshake is complete
    size_t request_length;
} connection;

static int poll_fd;
static uint8_t in[READ_BYTES];
static uint8_t out[READ_BYTES + READ_BYTES / 2];
static size_t out_length;

static void drop(connection *at) {
    close(at->fd);
    free(at->pending);
    free(at->request);
    free(at);
}

static void watch(connection *at, int operation, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = at};
    if (epoll_ctl(poll_fd, operation, at->fd, &event) != 0) {
        perror("epoll_ctl");
        exit(1);
    }
}

static void put(const void *bytes, size_t length) {
    memcpy(out + out_length, bytes, length);
    out_length += length;
}

/* Sends what was put. The rest waits until the socket is writable. Returns false at the end of the connection. */
static bool flush(connection *at) {
    ssize_t sent = out_length > 0 ? send(at->fd, out, out_length, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
    size_t done = sent > 0 ? (size_t)sent : 0;
    if (done < out_length) {
        at->pending = malloc(out_length - done);
        memcpy(at->pending, out + done, out_length - done);
        at->pending_at = 0;
        at->pending_length = out_length - done;
        watch(at, EPOLL_CTL_MOD, EPOLLOUT);
        return true;
    }
    return !at->is_ending;
}

static bool flush_pending(connection *at) {
    size_t left = at->pending_length - at->pending_at;
    ssize_t sent = send(at->fd, at->pending + at->pending_at, left, MSG_NOSIGNAL | MSG_DONTWAIT);
    at->pending_at += sent > 0 ? (size_t)sent : 0;
    if (at->pending_at < at->pending_length) {
        return sent > 0;
    }
    free(at->pending);
    at->pending = NULL;
    watch(at, EPOLL_CTL_MOD, EPOLLIN);
    return !at->is_ending;
}

/* Reads a byte of a head. At its end, the head of the reply is put. */
static void take_head(connection *at, uint8_t byte) {
    at->head[at->head_length++] = byte;
    uint8_t length = at->head_length > 1 ? at->head[1] & 0x7f : 0;
    size_t more = length == 126 ? 2 : length == 127 ? 8 : 0;
    if (at->head_length < 2 + more + 4) {
        return;
    }
    at->left = more == 0 ? length : 0;
    for (size_t i = 0; i < more; i++) {
        at->left = at->left << 8 | at->head[2 + i];
    }
    memcpy(at->key, at->head + 2 + more, 4);
    at->key_at = 0;
    at->head_length = 0;
    uint8_t opcode = at->head[0] & OPCODE;
    at->is_ending = opcode == CLOSE;
    at->head[0] = (uint8_t)((at->head[0] & ~OPCODE) | (opcode == PING ? PING + 1 : opcode));
    at->head[1] &= 0x7f;
    put(at->head, 2 + more);
}

static void take_frames(connection *at, const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length;) {
        if (at->left == 0) {
            take_head(at, bytes[i++]);
            continue;
        }
        size_t count = length - i < at->left ? length - i : (size_t)at->left;
        for (size_t k = 0; k < count; k++) {
            out[out_length + k] = bytes[i + k] ^ at->key[(at->key_at + k) % 4];
        }
        out_length += count;
        at->key_at += count;
        at->left -= count;
        i += count;
    }
}

/* Collects the request, and puts the 101 at its end. */
static bool take_request(connection *at, size_t length) {
    static const char name[] = "Sec-WebSocket-Key: ";
    char text[128];
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned char accept[64];
    if (at->request == NULL) {
        at->request = calloc(1, MAX_REQUEST + 1);
    }
    if (at->request_length + length > MAX_REQUEST) {
        return false;
    }
    memcpy(at->request + at->request_length, in, length);
    at->request_length += length;
    const char *key = strstr(at->request, name);
    if (strstr(at->request, "\r\n\r\n") == NULL) {
        return true;
    }
    int count = snprintf(text, sizeof text, "%.24s258EAFA5-E914-47DA-95CA-C5AB0DC85B11",
                         key != NULL ? key + sizeof name - 1 : "");
    (void)EVP_Digest(text, (size_t)count, digest, NULL, EVP_sha1(), NULL);
    (void)EVP_EncodeBlock(accept, digest, 20);
    out_length = (size_t)sprintf((char *)out,
                                 "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                                 "Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
                                 accept);
    at->is_open = true;
    free(at->request);
    at->request = NULL;
    return true;
}

static bool serve(connection *at) {
    if (at->pending != NULL) {
        return flush_pending(at);
    }
    ssize_t got = recv(at->fd, in, sizeof in, MSG_DONTWAIT);
    out_length = 0;
    if (got <= 0 || (!at->is_open && !take_request(at, (size_t)got))) {
        return false;
    }
    if (at->is_open && out_length == 0) {
        take_frames(at, in, (size_t)got);
    }
    return flush(at);
}

static void accept_all(int listener) {
    const int yes = 1;
    for (int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK); fd >= 0;
         fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) {
        connection *at = calloc(1, sizeof *at);
        at->fd = fd;
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        watch(at, EPOLL_CTL_ADD, EPOLLIN);
    }
}

int main(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    struct epoll_event events[MAX_EVENTS];
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    connection self = {.fd = listener};
    poll_fd = epoll_create1(0);
    if (bind(listener, (const struct sockaddr *)&address, length) != 0 || listen(listener, 4096) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
        perror("bench-echo-server");
        return 1;
    }
    watch(&self, EPOLL_CTL_ADD, EPOLLIN);
    printf("%u\n", ntohs(address.sin_port));
    (void)fflush(stdout);
    for (;;) {
        int count = epoll_wait(poll_fd, events, MAX_EVENTS, -1);
        for (int i = 0; i < count; i++) {
            connection *at = events[i].data.ptr;
            if (at == &self) {
                accept_all(listener);
            } else if (!serve(at)) {
                drop(at);
            }
        }
    }
}
