#define _GNU_SOURCE 1
#include "listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 4096
#define LATE_BACKLOG 1

/// Parses a numeric address. Returns 0 or an errno.
static int parse_address(struct sockaddr_storage *out, socklen_t *length, const nct_server_options *options) {
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    char port[8];
    snprintf(port, sizeof port, "%u", (unsigned)options->port);
    struct addrinfo *found = NULL;
    if (getaddrinfo(options->host == NULL ? "127.0.0.1" : options->host, port, &hints, &found) != 0)
        return EINVAL;
    memcpy(out, found->ai_addr, found->ai_addrlen);
    *length = found->ai_addrlen;
    freeaddrinfo(found);
    return 0;
}

static int make_address(struct sockaddr_storage *out, socklen_t *length, const nct_server_options *options) {
    if (options->unix_path == NULL)
        return parse_address(out, length, options);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(options->unix_path) >= sizeof address.sun_path)
        return ENAMETOOLONG;
    memcpy(address.sun_path, options->unix_path, strlen(options->unix_path));
    memcpy(out, &address, sizeof address);
    *length = sizeof address;
    return 0;
}

int nct_listener_open(int *out, uint16_t *out_port, const nct_server_options *options) {
    struct sockaddr_storage address = {0};
    socklen_t length = 0;
    int failure = make_address(&address, &length, options);
    if (failure != 0)
        return failure;
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int receive_bytes = (int)options->receive_buffer_bytes;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) != 0 ||
        // Set on the listening socket: connections inherit the size, and the TCP handshake already announces a window
        // of this size.
        (receive_bytes != 0 && setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(int)) != 0) ||
        bind(fd, (struct sockaddr *)&address, length) != 0 ||
        listen(fd, options->is_accepting_late ? LATE_BACKLOG : BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0) {
        failure = errno;
        if (fd >= 0)
            close(fd);
        return failure;
    }
    *out = fd;
    if (address.ss_family == AF_INET)
        *out_port = ntohs(((struct sockaddr_in *)&address)->sin_port);
    if (address.ss_family == AF_INET6)
        *out_port = ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return 0;
}

void nct_listener_widen(int listener) {
    (void)listen(listener, BACKLOG);
}
