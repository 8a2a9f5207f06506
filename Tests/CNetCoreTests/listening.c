#include "listening.h"

#include "harness.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static int listen_at(struct sockaddr_in *address, int backlog) {
    socklen_t length = sizeof *address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(listener >= 0);
    // The port may be a fixed one that was in use a moment ago.
    assert_int_equal(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)), 0);
    assert_int_equal(bind(listener, (struct sockaddr *)address, length), 0);
    assert_int_equal(listen(listener, backlog), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)address, &length), 0);
    return listener;
}

int listen_anywhere(uint16_t *port, int backlog) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = listen_at(&address, backlog);
    *port = ntohs(address.sin_port);
    return listener;
}

full_listener full_listener_start(uint32_t address, uint16_t port) {
    full_listener full = {0};
    struct sockaddr_in address_in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(address), .sin_port = htons(port)};
    full.listener = listen_at(&address_in, 0);
    full.port = ntohs(address_in.sin_port);
    for (size_t i = 0; i < sizeof full.waiting / sizeof *full.waiting; i++) {
        full.waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        assert_true(full.waiting[i] >= 0);
        (void)connect(full.waiting[i], (struct sockaddr *)&address_in, sizeof address_in);
    }
    return full;
}

void full_listener_stop(full_listener *full) {
    for (size_t i = 0; i < sizeof full->waiting / sizeof *full->waiting; i++) {
        close(full->waiting[i]);
    }
    close(full->listener);
}
