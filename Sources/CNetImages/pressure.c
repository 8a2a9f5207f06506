#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    // Without privileges the window must be a multiple of two seconds.
    WINDOW_MS = 2000,
};

/// The thread frees it after a stop, not before: until then the caller shares it.
struct nc_pressure {
    int descriptor;
    /// The thread reads one end; closing the other stops it.
    int ends[2];
    /// Set before the end is closed: orders the stopping thread's reads before the free.
    atomic_bool is_stopped;
    nc_pressure_fn on_pressure;
    nc_pressure_end_fn on_end;
    void *ctx;
};

nc_image_status nc_pressure_open(int *out, const char *path, uint32_t stall_ms, nc_image_error *err) {
    if (out == NULL || stall_ms == 0 || stall_ms > WINDOW_MS) {
        return image_fail(err, NC_IMAGE_USAGE, 0, "the stall time must be 1 to 2000 milliseconds");
    }
    int descriptor = open(path == NULL ? "/proc/pressure/memory" : path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) {
        return image_fail(err, NC_IMAGE_NO_PRESSURE, errno, "the system does not report memory pressure");
    }
    char trigger[64];
    int length = snprintf(trigger, sizeof trigger, "some %u %u", stall_ms * 1000, WINDOW_MS * 1000);
    // The kernel requires the NUL too.
    if (write(descriptor, trigger, (size_t)length + 1) < 0) {
        int number = errno;
        close(descriptor);
        return image_fail(err, NC_IMAGE_NO_PRESSURE, number, "the system rejected the trigger for memory pressure");
    }
    *out = descriptor;
    return NC_IMAGE_OK;
}

/// Returns true if the watch continues.
static bool wait_once(nc_pressure *pressure) {
    struct pollfd waiting[] = {{.fd = pressure->ends[0], .events = POLLIN},
                               {.fd = pressure->descriptor, .events = POLLPRI}};
    if (poll(waiting, 2, -1) < 0) {
        return errno == EINTR;
    }
    if (waiting[0].revents != 0) {
        return false;
    }
    if ((waiting[1].revents & (POLLERR | POLLNVAL)) != 0) {
        // The control group was removed. No more events come, and poll(2) skips negative descriptors.
        close(pressure->descriptor);
        pressure->descriptor = -1;
        return true;
    }
    if ((waiting[1].revents & POLLPRI) != 0) {
        pressure->on_pressure(pressure->ctx);
    }
    return true;
}

static void *watch(void *ctx) {
    nc_pressure *pressure = ctx;
    while (wait_once(pressure)) {
    }
    (void)atomic_load(&pressure->is_stopped);
    pressure->on_end(pressure->ctx);
    if (pressure->descriptor >= 0) {
        close(pressure->descriptor);
    }
    close(pressure->ends[0]);
    free(pressure);
    return NULL;
}

/// The thread blocks all signals; they belong to the application's threads.
static int start_thread(nc_pressure *pressure) {
    pthread_attr_t attributes;
    int number = pthread_attr_init(&attributes);
    if (number != 0) {
        return number;
    }
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    number = pthread_create(&thread, &attributes, watch, pressure);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return number;
}

/// On success the thread owns it.
static nc_image_status start(nc_pressure *pressure, nc_image_error *err) {
    int number = pipe2(pressure->ends, O_CLOEXEC) == 0 ? 0 : errno;
    number = number == 0 ? start_thread(pressure) : number;
    if (number == 0) {
        return NC_IMAGE_OK;
    }
    if (pressure->ends[0] >= 0) {
        close(pressure->ends[0]);
        close(pressure->ends[1]);
    }
    return image_fail(err, NC_IMAGE_NO_PRESSURE, number, "cannot start the thread that watches memory pressure");
}

nc_image_status nc_pressure_start(nc_pressure **out, int descriptor, nc_pressure_fn on_pressure,
                                  nc_pressure_end_fn on_end, void *ctx, nc_image_error *err) {
    nc_pressure *pressure = NULL;
    nc_image_status status = NC_IMAGE_OK;
    if (out == NULL || descriptor < 0 || on_pressure == NULL || on_end == NULL) {
        status = image_fail(err, NC_IMAGE_USAGE, 0, "an argument is missing");
        goto done;
    }
    pressure = malloc(sizeof *pressure);
    if (pressure == NULL) {
        status = image_fail(err, NC_IMAGE_NO_MEMORY, 0, "memory ran out");
        goto done;
    }
    *pressure = (nc_pressure){
        .descriptor = descriptor, .ends = {-1, -1}, .on_pressure = on_pressure, .on_end = on_end, .ctx = ctx};
    status = start(pressure, err);
done:
    if (status == NC_IMAGE_OK) {
        *out = pressure;
        return status;
    }
    free(pressure);
    if (descriptor >= 0) {
        close(descriptor);
    }
    return status;
}

void nc_pressure_stop(nc_pressure *pressure) {
    if (pressure != NULL) {
        int end = pressure->ends[1];
        atomic_store(&pressure->is_stopped, true);
        // From here on the thread may free it.
        close(end);
    }
}
