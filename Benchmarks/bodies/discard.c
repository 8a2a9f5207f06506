/* A server that discards uploads without copying them out of the kernel:
 *
 *     discard PAUSE_EVERY_BYTES PAUSE_US
 *
 * prints its port of 127.0.0.1 and serves one connection after another until it is killed. It pauses after each
 * PAUSE_EVERY_BYTES of a body; 0 never pauses. A body must have a Content-Length; the response is 200 without a body.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_BYTES = 16 * 1024, PIECE_BYTES = 1024 * 1024 };

typedef struct pauses {
    uint64_t every_bytes;
    long us;
} pauses;

static bool send_text(int fd, const char *text) {
    size_t length = strlen(text);
    return send(fd, text, length, MSG_NOSIGNAL) == (ssize_t)length;
}

/* Reads to the end of the head. Returns the number of body bytes read with it. */
static char *read_head(int fd, char *head, size_t *extra) {
    size_t filled = 0;
    while (filled + 1 < HEAD_BYTES) {
        ssize_t count = recv(fd, head + filled, HEAD_BYTES - 1 - filled, 0);
        if (count <= 0) {
            return NULL;
        }
        filled += (size_t)count;
        head[filled] = '\0';
        char *end = strstr(head, "\r\n\r\n");
        if (end != NULL) {
            *extra = filled - (size_t)(end + 4 - head);
            end[2] = '\0';
            return head;
        }
    }
    return NULL;
}

static const char *field(const char *head, const char *name) {
    for (const char *line = strstr(head, "\r\n"); line != NULL; line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line + 2, name, strlen(name)) == 0) {
            return line + 2 + strlen(name);
        }
    }
    return NULL;
}

static bool discard(int fd, uint64_t left, const pauses *pauses) {
    uint64_t until_pause = pauses->every_bytes;
    const struct timespec pause = {.tv_nsec = pauses->us * 1000};
    while (left > 0) {
        size_t wanted = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        /* MSG_TRUNC: the bytes are counted and dropped. */
        ssize_t count = recv(fd, NULL, wanted, MSG_TRUNC);
        if (count <= 0) {
            return false;
        }
        left -= (uint64_t)count;
        if (pauses->every_bytes > 0 && (uint64_t)count >= until_pause) {
            nanosleep(&pause, NULL);
            until_pause = pauses->every_bytes;
        } else if (pauses->every_bytes > 0) {
            until_pause -= (uint64_t)count;
        }
    }
    return true;
}

static void serve(int fd, const pauses *pauses) {
    char head[HEAD_BYTES];
    size_t extra = 0;
    while (read_head(fd, head, &extra) != NULL) {
        const char *length_text = field(head, "Content-Length:");
        uint64_t length = length_text == NULL ? 0 : strtoull(length_text, NULL, 10);
        if (extra > length || (field(head, "Expect:") != NULL && !send_text(fd, "HTTP/1.1 100 Continue\r\n\r\n")) ||
            !discard(fd, length - extra, pauses) || !send_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) {
            return;
        }
    }
}

int main(int argc, char *argv[]) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (argc != 3 || fd < 0 || bind(fd, (struct sockaddr *)&address, length) != 0 || listen(fd, 64) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0) {
        fprintf(stderr, "usage: discard PAUSE_EVERY_BYTES PAUSE_US\n");
        return 2;
    }
    const pauses pauses = {.every_bytes = strtoull(argv[1], NULL, 10), .us = strtol(argv[2], NULL, 10)};
    printf("%u\n", (unsigned)ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        int client = accept(fd, NULL, NULL);
        if (client >= 0) {
            serve(client, &pauses);
            close(client);
        }
    }
}
