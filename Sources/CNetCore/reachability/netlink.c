#include "reachability/path_source.h"
#include "reachability/route_table.h"

#if defined(__linux__)
#include "base/alloc.h"
#include "base/error.h"
#include "reachability/path_monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// A datagram of a dump is at most 32 KiB long. One call reads at most MAX_DATAGRAMS_PER_READ of them. After a refused
/// dump or a loss, the next dump is requested after RETRY_MS.
enum {
    DATAGRAM_BYTES = 64 << 10,
    MAX_DATAGRAMS_PER_READ = 64,
    SOCKET_BUFFER_BYTES = 4 << 20,
    RETRY_MS = 1000,
    FIRST_DUMP_MS = 10000
};

struct nc_path_source {
    nc_path_feed feed;
    int fd;
    int question_fd;
    uint32_t question;
    uint8_t datagram[DATAGRAM_BYTES];
};

/* --- sockets --- */

static int open_socket(uint32_t groups, uint32_t *port) {
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    socklen_t length = sizeof address;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (fd < 0) {
        return -1;
    }
    if (bind(fd, (const struct sockaddr *)&address, length) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0) {
        int failure = errno;
        (void)close(fd);
        errno = failure;
        return -1;
    }
    *port = address.nl_pid;
    return fd;
}

/// Enlarges the socket's buffer, because a burst of notifications arrives faster than a thread wakes up. Unused buffer
/// space occupies no memory.
static void enlarge_buffer(int fd) {
    int bytes = SOCKET_BUFFER_BYTES;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0) {
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    }
}

typedef enum arrival { ARRIVED, NONE_PENDING, OVERRUN } arrival;

/// Reads one datagram of the kernel, and skips datagrams of other processes. OVERRUN means that messages were lost.
static arrival receive(nc_path_source *source, int fd, nc_slice *out) {
    for (;;) {
        struct sockaddr_nl sender = {.nl_pid = 0};
        struct iovec part = {.iov_base = source->datagram, .iov_len = sizeof source->datagram};
        struct msghdr message = {.msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &part, .msg_iovlen = 1};
        ssize_t count = recvmsg(fd, &message, MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return errno == ENOBUFS ? OVERRUN : NONE_PENDING;
        }
        if ((message.msg_flags & MSG_TRUNC) != 0) {
            return OVERRUN;
        }
        if (sender.nl_pid == 0 && message.msg_namelen >= sizeof sender) {
            *out = nc_slice_make(source->datagram, (size_t)count);
            return ARRIVED;
        }
    }
}

static bool send_all(int fd, const uint8_t *request, size_t length) {
    const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t sent;
    do {
        sent = sendto(fd, request, length, 0, (const struct sockaddr *)&kernel, sizeof kernel);
    } while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)length;
}

/// Sends the next request of the dump, if one is due.
static void send_due_request(nc_path_source *source) {
    uint8_t request[NC_PATH_REQUEST_BYTES];
    size_t length = nc_path_feed_request(&source->feed, request);
    if (length > 0 && !send_all(source->fd, request, length)) {
        source->feed.refusal = errno;
        nc_path_feed_overrun(&source->feed);
        source->feed.is_paused_reading = true;
    }
}

/// Reads the driver's hint about a link. If the index in the file differs, /sys belongs to another network namespace.
static nc_path_hint read_hint(const char *name, uint32_t index) {
    char path[64];
    char text[512] = {0};
    char line[32];
    if (strchr(name, '/') != NULL || name[0] == '.') {
        return NC_PATH_HINT_NONE;
    }
    (void)snprintf(path, sizeof path, "/sys/class/net/%s/uevent", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return NC_PATH_HINT_NONE;
    }
    ssize_t length = read(fd, text, sizeof text - 1);
    (void)close(fd);
    (void)snprintf(line, sizeof line, "IFINDEX=%u\n", index);
    if (length <= 0 || strstr(text, line) == NULL) {
        return NC_PATH_HINT_NONE;
    }
    if (strstr(text, "DEVTYPE=wwan\n") != NULL) {
        return NC_PATH_HINT_WWAN;
    }
    return strstr(text, "DEVTYPE=wlan\n") != NULL ? NC_PATH_HINT_WLAN : NC_PATH_HINT_NONE;
}

/* --- path_source.h --- */

static void ignore(void *ctx) {
    (void)ctx;
}

/// Reads until the first dump is complete. The kernel replies within the system calls, so this does not wait long.
static nc_status dump_first(nc_path_source *source, nc_error *err) {
    while (!source->feed.is_ready) {
        if (source->feed.has_lost) {
            return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for the routes");
        }
        send_due_request(source);
        struct pollfd poll_fd = {.fd = source->fd, .events = POLLIN};
        int ready = source->feed.refusal == 0 ? poll(&poll_fd, 1, FIRST_DUMP_MS) : 0;
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        if (ready <= 0) {
            return nc_error_set(err, NC_ERR_UNSUPPORTED, source->feed.refusal, -1, "cannot read the system's routes");
        }
        nc_path_source_read(source, ignore, NULL);
    }
    return NC_OK;
}

nc_status nc_path_source_open(nc_path_source **out, nc_error *err) {
    nc_path_source *source = nc_alloc(sizeof *source);
    if (source == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a path monitor");
    }
    uint32_t port = 0;
    uint32_t question_port;
    source->question = 0;
    source->fd = open_socket(
        RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE, &port);
    source->question_fd = source->fd < 0 ? -1 : open_socket(0, &question_port);
    nc_path_feed_init(&source->feed, port, read_hint);
    nc_status status;
    if (source->question_fd < 0) {
        status = nc_error_of_system(err, "cannot open a netlink socket to read the system's routes");
    } else {
        enlarge_buffer(source->fd);
        status = dump_first(source, err);
    }
    if (status != NC_OK) {
        nc_path_source_close(source);
        return status;
    }
    *out = source;
    return NC_OK;
}

void nc_path_source_close(nc_path_source *source) {
    if (source == NULL) {
        return;
    }
    if (source->fd >= 0) {
        (void)close(source->fd);
    }
    if (source->question_fd >= 0) {
        (void)close(source->question_fd);
    }
    nc_path_feed_deinit(&source->feed);
    nc_free(source);
}

int nc_path_source_fd(const nc_path_source *source) {
    return source->fd;
}

int nc_path_source_timeout_ms(const nc_path_source *source) {
    return source->feed.is_paused_reading ? RETRY_MS : -1;
}

void nc_path_source_read(nc_path_source *source, void (*changed)(void *ctx), void *ctx) {
    nc_slice datagram;
    arrival arrived = NONE_PENDING;
    for (int i = 0; i < MAX_DATAGRAMS_PER_READ; i++) {
        arrived = receive(source, source->fd, &datagram);
        if (arrived == NONE_PENDING) {
            break;
        }
        if (arrived == OVERRUN) {
            nc_path_feed_overrun(&source->feed);
        } else {
            nc_path_feed_take(&source->feed, datagram, changed, ctx);
        }
    }
    // After an overrun, the kernel drops further messages without another error until the pending datagrams are read. A
    // dump that begins before they are read would miss the dropped messages.
    if (arrived == NONE_PENDING) {
        if (source->feed.is_paused_reading && source->feed.is_ready) {
            nc_path_feed_wake(&source->feed);
        }
        send_due_request(source);
    }
}

void nc_path_source_state(nc_path_source *source, nc_path_state *out) {
    nc_path_table_state(&source->feed.table, out);
}

/// Requests a route and reads the reply, which the kernel queues before sendto() returns.
static bool query_route(nc_path_source *source, const nc_path_destination *destination, nc_path_outgoing_route *route) {
    uint8_t request[NC_PATH_REQUEST_BYTES];
    nc_slice datagram;
    uint32_t question = ++source->question;
    size_t length =
        nc_path_route_request(request, destination->family, destination->bytes, destination->scope, question);
    if (!send_all(source->question_fd, request, length)) {
        return false;
    }
    arrival arrived;
    while ((arrived = receive(source, source->question_fd, &datagram)) != NONE_PENDING) {
        if (arrived == ARRIVED && nc_path_route_reply(datagram, question, route)) {
            return true;
        }
    }
    return false;
}

void nc_path_source_state_of(nc_path_source *source, const nc_path_destination *destination, nc_path_state *out) {
    nc_path_outgoing_route route = {.is_reached = false};
    *out = (nc_path_state){.status = NC_PATH_NOT_REACHABLE};
    if (!query_route(source, destination, &route)) {
        // A failed query does not prove that the destination has no route.
        nc_path_source_state(source, out);
    } else if (route.is_reached) {
        nc_path_table_state_over(&source->feed.table, route.index, destination->family, out);
    }
}

#endif
