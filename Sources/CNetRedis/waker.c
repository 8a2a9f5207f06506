#if defined(NETKIT_REDIS) || !defined(SWIFT_PACKAGE)
/// The pipe that wakes a loop.
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

nc_redis_waker *nc_redis_waker_new(void) {
    nc_redis_waker *waker = calloc(1, sizeof *waker);
    if (waker == NULL || pipe(waker->fds) != 0) {
        free(waker);
        return NULL;
    }
    atomic_init(&waker->references, 1);
    for (size_t i = 0; i < 2; i++) {
        (void)fcntl(waker->fds[i], F_SETFD, FD_CLOEXEC);
        (void)fcntl(waker->fds[i], F_SETFL, O_NONBLOCK);
    }
    return waker;
}

void nc_redis_waker_wake(nc_redis_waker *waker) {
    // A full pipe wakes the loop too.
    while (write(waker->fds[1], "", 1) < 0 && errno == EINTR) {
    }
}

void nc_redis_waker_release(nc_redis_waker *waker) {
    if (waker != NULL && atomic_fetch_sub_explicit(&waker->references, 1, memory_order_acq_rel) == 1) {
        (void)close(waker->fds[0]);
        (void)close(waker->fds[1]);
        free(waker);
    }
}

#endif
