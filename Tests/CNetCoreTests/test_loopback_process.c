/// Child processes that are other programs: they are found, receive their sockets, and never outlive their parent.
#include "harness.h"
#include "nettesting.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int connect_to(uint16_t port) {
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void program__is_found_by_name_and_by_path(void **state) {
    char path[256];
    (void)state;
    assert_true(nct_program_find("sh", path, sizeof path));
    assert_int_equal(path[0], '/');
    assert_true(nct_program_find("/bin/sh", path, sizeof path));
    assert_string_equal(path, "/bin/sh");
    assert_false(nct_program_find("there-is-no-such-program", path, sizeof path));
    assert_false(nct_program_find("/bin", path, sizeof path));
    assert_false(nct_program_find("sh", path, 4));
}

static void process__that_cannot_start_is_an_error(void **state) {
    nct_process *process = NULL;
    uint16_t port;
    int held = nct_port_reserve(&port);
    (void)state;
    const char *missing[] = {"there-is-no-such-program", NULL};
    assert_int_equal(nct_process_start(&process, &(nct_process_options){.arguments = missing, .port = port}), ENOENT);
    const char *ends[] = {"sh", "-c", "exit 0", NULL};
    assert_int_equal(nct_process_start(&process, &(nct_process_options){.arguments = ends, .port = port}), ECHILD);
    assert_null(process);
    nct_process_stop(NULL);
    close(held);
}

static void port__a_reserved_port_is_not_assigned_again(void **state) {
    uint16_t port;
    int held = nct_port_reserve(&port);
    (void)state;
    assert_true(held >= 0);
    assert_int_equal(connect_to(port), -1);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), -1);
    assert_int_equal(errno, EADDRINUSE);
    const int yes = 1;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 1), 0);
    int client = connect_to(port);
    assert_true(client >= 0);
    close(client);
    close(fd);
    close(held);
}

static void process__inherits_only_the_sockets_passed_to_it(void **state) {
    char path[] = "/tmp/netcore-process-XXXXXX";
    char text[64] = {0};
    nct_process *process;
    uint16_t port;
    int listener = nct_port_listen(&port);
    int log_fd = mkstemp(path);
    (void)state;
    // Lists its own descriptors, of which `ls` itself opens the last, then keeps the socket open.
    const char *arguments[] = {"sh", "-c", "echo $(ls /proc/self/fd) $GIVEN; exec sleep 1000", NULL};
    const nct_process_options options = {.arguments = arguments,
                                         .variable = "GIVEN=this",
                                         .port = port,
                                         .descriptors = &listener,
                                         .descriptor_count = 1,
                                         .log_path = path};
    assert_int_equal(nct_process_start(&process, &options), 0);
    close(listener);
    ssize_t length = 0;
    for (int tries = 0; tries < 5000 && strchr(text, '\n') == NULL; tries++) {
        (void)poll(NULL, 0, 2); // the growth of a file has no notification
        length = pread(log_fd, text, sizeof text - 1, 0);
    }
    assert_true(length > 0);
    assert_string_equal(text, "0 1 2 3 4 this\n");
    int client = connect_to(port);
    assert_true(client >= 0);
    close(client);
    nct_process_stop(process);
    assert_int_equal(connect_to(port), -1);
    close(log_fd);
    unlink(path);
}

static void process__and_its_children_end_with_their_starter(void **state) {
    uint16_t port;
    int listener = nct_port_listen(&port);
    int ready[2];
    char byte;
    (void)state;
    assert_int_equal(pipe(ready), 0);
    pid_t starter = fork();
    if (starter == 0) {
        nct_process *process;
        const char *arguments[] = {"sh", "-c", "sleep 1000 & sleep 1000", NULL};
        const nct_process_options options = {
            .arguments = arguments, .port = port, .descriptors = &listener, .descriptor_count = 1};
        if (nct_process_start(&process, &options) == 0 && write(ready[1], "x", 1) == 1) {
            pause();
        }
        _exit(1);
    }
    close(ready[1]);
    close(listener);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    int client = connect_to(port); // waits in the backlog of a socket that the children hold
    assert_true(client >= 0);
    kill(starter, SIGKILL);
    assert_int_equal(waitpid(starter, NULL, 0), starter);
    // The kernel resets it when the last of them is gone.
    struct pollfd event = {.fd = client, .events = POLLIN};
    assert_int_equal(poll(&event, 1, 20000), 1);
    assert_int_equal(connect_to(port), -1);
    close(client);
    close(ready[0]);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(program__is_found_by_name_and_by_path),
        harness_case(process__that_cannot_start_is_an_error),
        harness_case(port__a_reserved_port_is_not_assigned_again),
        harness_case(process__inherits_only_the_sockets_passed_to_it),
        harness_case(process__and_its_children_end_with_their_starter),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
