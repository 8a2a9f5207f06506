/* Small tasks of run.sh that plain sh cannot do without curl(1):
 *
 *     probe free-port            a TCP port of 127.0.0.1 that is free at the moment
 *     probe accepts PORT PATH    the number of connections that nginx has accepted (stub_status), including this one
 *     probe versions             libcurl's and its TLS backend's */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static struct sockaddr_in loopback(uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int print_free_port(void) {
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_bound = fd >= 0 && bind(fd, (struct sockaddr *)&address, length) == 0 &&
                    getsockname(fd, (struct sockaddr *)&address, &length) == 0;
    if (fd >= 0) {
        close(fd);
    }
    if (is_bound) {
        printf("%u\n", (unsigned)ntohs(address.sin_port));
    }
    return is_bound ? 0 : 1;
}

static bool exchange(int fd, const char *path, char *reply, size_t capacity) {
    char request[256];
    int length = snprintf(request, sizeof request, "GET %s HTTP/1.0\r\n\r\n", path);
    if (length < 0 || (size_t)length >= sizeof request ||
        send(fd, request, (size_t)length, MSG_NOSIGNAL) != (ssize_t)length) {
        return false;
    }
    size_t filled = 0;
    ssize_t count = 0;
    while (filled + 1 < capacity && (count = recv(fd, reply + filled, capacity - 1 - filled, 0)) > 0) {
        filled += (size_t)count;
    }
    reply[filled] = '\0';
    return count == 0;
}

static int print_accepts(const char *port_text, const char *path) {
    char reply[4096];
    unsigned long port = strtoul(port_text, NULL, 10);
    struct sockaddr_in address = loopback((uint16_t)port);
    struct timeval patience = {.tv_sec = 5};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (port == 0 || port > UINT16_MAX || fd < 0) {
        return 1;
    }
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    bool is_read = connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
                   exchange(fd, path, reply, sizeof reply) && strncmp(reply, "HTTP/1.1 200", 12) == 0;
    close(fd);
    const char *label = "server accepts handled requests";
    const char *line = is_read ? strstr(reply, label) : NULL;
    if (line == NULL) {
        return 1;
    }
    printf("%lu\n", strtoul(line + strlen(label), NULL, 10));
    return 0;
}

int main(int argc, char *argv[]) {
    const char *verb = argc > 1 ? argv[1] : "";
    if (strcmp(verb, "free-port") == 0 && argc == 2) {
        return print_free_port();
    }
    if (strcmp(verb, "accepts") == 0 && argc == 4) {
        return print_accepts(argv[2], argv[3]);
    }
    if (strcmp(verb, "versions") == 0 && argc == 2) {
        const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
        printf("libcurl %s, %s\n", info->version, info->ssl_version == NULL ? "no TLS" : info->ssl_version);
        return 0;
    }
    fprintf(stderr, "usage: probe free-port | accepts PORT PATH | versions\n");
    return 2;
}
