#if defined(NETKIT_REDIS) || !defined(SWIFT_PACKAGE)
/// Bytes over TCP, Unix sockets and TLS. Nothing here blocks.
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static nc_status status_of(int code) {
    switch (code) {
    case ECONNREFUSED:
        return NC_ERR_REFUSED;
    case ENETUNREACH:
    case EHOSTUNREACH:
        return NC_ERR_UNREACHABLE;
    case ETIMEDOUT:
        return NC_ERR_CONNECT_TIMED_OUT;
    case EMFILE:
    case ENFILE:
        return NC_ERR_DESCRIPTORS;
    default:
        return NC_ERR_CONNECT;
    }
}

static nc_status fail_connect(nc_redis_node *node, int code, nc_error *err) {
    if (node->client->settings.is_unix) {
        return nc_redis_fail(err, status_of(code), code, "cannot connect to %s: %s", node->host, strerror(code));
    }
    return nc_redis_fail(err, status_of(code), code, "cannot connect to %s:%u: %s", node->host, (unsigned)node->port,
                         strerror(code));
}

static int open_socket(int family) {
    int fd = socket(family, SOCK_STREAM, 0);
    if (fd >= 0) {
        int on = 1;
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
        (void)fcntl(fd, F_SETFL, O_NONBLOCK);
#ifdef SO_NOSIGPIPE
        (void)setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
        if (family != AF_UNIX) {
            (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        }
    }
    return fd;
}

static bool start(nc_redis_node *node, int family, const struct sockaddr *address, socklen_t length) {
    node->fd = open_socket(family);
    if (node->fd >= 0 && (connect(node->fd, address, length) == 0 || errno == EINPROGRESS)) {
        return true;
    }
    (void)fail_connect(node, errno, &node->failure);
    nc_redis_socket_close(node);
    return false;
}

bool nc_redis_socket_connect(nc_redis_node *node) {
    if (node->client->settings.is_unix) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        memcpy(address.sun_path, node->host, strlen(node->host));
        // A second attempt would have the same result.
        bool is_first = !node->has_tried;
        node->has_tried = true;
        return is_first && start(node, AF_UNIX, (const struct sockaddr *)(const void *)&address, sizeof address);
    }
    while (node->address != NULL) {
        const struct addrinfo *address = node->address;
        node->address = address->ai_next;
        if (start(node, address->ai_family, address->ai_addr, address->ai_addrlen)) {
            return true;
        }
    }
    return false;
}

nc_status nc_redis_socket_result(nc_redis_node *node, nc_error *err) {
    int code = 0;
    socklen_t length = sizeof code;
    if (getsockopt(node->fd, SOL_SOCKET, SO_ERROR, &code, &length) != 0) {
        code = errno;
    }
    return code == 0 ? NC_OK : fail_connect(node, code, err);
}

void nc_redis_socket_close(nc_redis_node *node) {
    nc_trust_session_free(node->tls);
    node->tls = NULL;
    if (node->fd >= 0) {
        (void)close(node->fd);
        node->fd = -1;
    }
}

/* --- TLS --- */

static nc_status start_tls(nc_redis_node *node, nc_error *err) {
    nc_status status = nc_trust_session_new(&node->tls, node->client->trust, nc_slice_of(node->host), node->port, err);
    if (status != NC_OK) {
        return status;
    }
    SSL *tls = nc_trust_session_tls(node->tls);
    SSL_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    return SSL_set_fd(tls, node->fd) == 1 ? NC_OK : nc_redis_fail(err, NC_ERR_NO_MEMORY, 0, "OpenSSL has no memory");
}

static nc_redis_io tls_result(nc_redis_node *node, int result, nc_status fallback, nc_error *err) {
    const SSL *tls = nc_trust_session_tls(node->tls);
    int system_error = errno;
    int code = SSL_get_error(tls, result);
    if (code == SSL_ERROR_WANT_READ || code == SSL_ERROR_WANT_WRITE) {
        node->wants_write = node->wants_write || code == SSL_ERROR_WANT_WRITE;
        return NC_REDIS_IO_AGAIN;
    }
    unsigned long reason = ERR_peek_last_error();
    ERR_clear_error();
    if (nc_trust_session_refusal(node->tls, err) != NC_OK) {
        return NC_REDIS_IO_FAILED;
    }
    const char *why = reason != 0 ? ERR_reason_error_string(reason) : NULL;
    if (code == SSL_ERROR_ZERO_RETURN || (why == NULL && system_error == 0)) {
        why = "the server closed the connection";
    }
    (void)nc_redis_fail(err, fallback, 0, "%s (TLS)", why != NULL ? why : strerror(system_error));
    return NC_REDIS_IO_FAILED;
}

nc_redis_io nc_redis_tls_shake_hands(nc_redis_node *node, nc_error *err) {
    if (node->tls == NULL && start_tls(node, err) != NC_OK) {
        return NC_REDIS_IO_FAILED;
    }
    node->wants_write = false;
    ERR_clear_error();
    errno = 0;
    int result = SSL_do_handshake(nc_trust_session_tls(node->tls));
    return result == 1 ? NC_REDIS_IO_DONE : tls_result(node, result, NC_ERR_TLS_HANDSHAKE, err);
}

/* --- bytes --- */

static nc_redis_io socket_result(ssize_t result, size_t *done, nc_error *err) {
    if (result > 0) {
        *done = (size_t)result;
        return NC_REDIS_IO_DONE;
    }
    if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
        return NC_REDIS_IO_AGAIN;
    }
    (void)nc_redis_fail(err, NC_ERR_RESET, result < 0 ? errno : 0, "%s",
                        result < 0 ? strerror(errno) : "the server closed the connection");
    return NC_REDIS_IO_FAILED;
}

nc_redis_io nc_redis_socket_write(nc_redis_node *node, const uint8_t *bytes, size_t length, size_t *done,
                                  nc_error *err) {
    if (node->tls == NULL) {
#ifdef MSG_NOSIGNAL
        return socket_result(send(node->fd, bytes, length, MSG_NOSIGNAL), done, err);
#else
        return socket_result(send(node->fd, bytes, length, 0), done, err);
#endif
    }
    ERR_clear_error();
    errno = 0;
    int result = SSL_write_ex(nc_trust_session_tls(node->tls), bytes, length, done);
    return result == 1 ? NC_REDIS_IO_DONE : tls_result(node, result, NC_ERR_RESET, err);
}

nc_redis_io nc_redis_socket_read(nc_redis_node *node, uint8_t *bytes, size_t length, size_t *done, nc_error *err) {
    if (node->tls == NULL) {
        return socket_result(recv(node->fd, bytes, length, 0), done, err);
    }
    ERR_clear_error();
    errno = 0;
    int result = SSL_read_ex(nc_trust_session_tls(node->tls), bytes, length, done);
    return result == 1 ? NC_REDIS_IO_DONE : tls_result(node, result, NC_ERR_RESET, err);
}

#endif
