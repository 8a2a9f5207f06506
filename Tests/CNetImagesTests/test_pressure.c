#include "made.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// The reports of the watch's thread.
typedef struct heard {
    sem_t told;
    sem_t ended;
    sem_t ready;
    nc_pressure *to_stop;
} heard;

static void on_pressure(void *ctx) {
    heard *what = ctx;
    // The gate stays open: unread urgent data is reported repeatedly.
    sem_wait(&what->ready);
    sem_post(&what->ready);
    if (what->to_stop != NULL) {
        nc_pressure_stop(what->to_stop);
        what->to_stop = NULL;
    }
    sem_post(&what->told);
}

static void on_end(void *ctx) {
    sem_post(&((heard *)ctx)->ended);
}

/// Connects two loopback sockets: urgent data raises POLLPRI, as the kernel's triggers do.
static void connect_pair(int ends[2]) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    assert_int_equal(bind(listener, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    ends[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(ends[1], (struct sockaddr *)&address, length), 0);
    ends[0] = accept(listener, NULL, NULL);
    assert_true(ends[0] >= 0);
    close(listener);
}

static void pressure__is_reported_until_it_is_stopped(void **state) {
    (void)state;
    heard said = {0};
    sem_init(&said.told, 0, 0);
    sem_init(&said.ended, 0, 0);
    sem_init(&said.ready, 0, 0);
    int ends[2];
    connect_pair(ends);
    nc_pressure *watch = NULL;
    assert_int_equal(nc_pressure_start(&watch, ends[0], on_pressure, on_end, &said, NULL), NC_IMAGE_OK);
    sem_post(&said.ready);
    assert_int_equal(send(ends[1], "!", 1, MSG_OOB), 1);
    assert_int_equal(sem_wait(&said.told), 0);
    nc_pressure_stop(watch);
    assert_int_equal(sem_wait(&said.ended), 0);
    close(ends[1]);
    nc_pressure_stop(NULL);
}

static void pressure__can_be_stopped_inside_its_callback(void **state) {
    (void)state;
    heard said = {0};
    sem_init(&said.told, 0, 0);
    sem_init(&said.ended, 0, 0);
    sem_init(&said.ready, 0, 0);
    int ends[2];
    connect_pair(ends);
    assert_int_equal(nc_pressure_start(&said.to_stop, ends[0], on_pressure, on_end, &said, NULL), NC_IMAGE_OK);
    sem_post(&said.ready);
    assert_int_equal(send(ends[1], "!", 1, MSG_OOB), 1);
    assert_int_equal(sem_wait(&said.ended), 0);
    close(ends[1]);
}

static void pressure__rejects_invalid_arguments_and_files(void **state) {
    (void)state;
    int descriptor = -1;
    nc_image_error err;
    nc_pressure *watch = NULL;
    assert_int_equal(nc_pressure_open(&descriptor, NULL, 0, &err), NC_IMAGE_USAGE);
    assert_int_equal(nc_pressure_open(&descriptor, NULL, 2001, &err), NC_IMAGE_USAGE);
    assert_int_equal(nc_pressure_open(&descriptor, "/nowhere", 100, &err), NC_IMAGE_NO_PRESSURE);
    assert_true(err.native_code != 0);
    assert_int_equal(nc_pressure_start(&watch, -1, on_pressure, on_end, NULL, &err), NC_IMAGE_USAGE);
    assert_int_equal(descriptor, -1);
    // An unsupported source is an error. A supported one can be watched and released.
    nc_image_status status = nc_pressure_open(&descriptor, NULL, 100, &err);
    assert_true(status == NC_IMAGE_OK || (status == NC_IMAGE_NO_PRESSURE && err.native_code != 0));
    if (status == NC_IMAGE_OK) {
        heard said = {0};
        sem_init(&said.told, 0, 0);
        sem_init(&said.ended, 0, 0);
        sem_init(&said.ready, 0, 0);
        assert_int_equal(nc_pressure_start(&watch, descriptor, on_pressure, on_end, &said, &err), NC_IMAGE_OK);
        nc_pressure_stop(watch);
        assert_int_equal(sem_wait(&said.ended), 0);
    }
}

static void pressure__closes_a_descriptor_that_it_cannot_watch(void **state) {
    (void)state;
    int ends[2];
    connect_pair(ends);
    assert_int_equal(nc_pressure_start(NULL, ends[0], on_pressure, on_end, NULL, NULL), NC_IMAGE_USAGE);
    // The other side detects the end. The descriptor's number may be reused by now.
    char byte;
    assert_int_equal(recv(ends[1], &byte, 1, 0), 0);
    close(ends[1]);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(pressure__is_reported_until_it_is_stopped),
        harness_case(pressure__can_be_stopped_inside_its_callback),
        harness_case(pressure__rejects_invalid_arguments_and_files),
        harness_case(pressure__closes_a_descriptor_that_it_cannot_watch),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
