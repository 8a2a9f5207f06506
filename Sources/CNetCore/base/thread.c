#include "base/thread.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

bool nc_thread_start(pthread_t *out, const char *name, void *(*body)(void *), void *argument) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    // The new thread inherits the mask, so it starts with every signal blocked.
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(out, NULL, body, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
#if defined(__linux__)
    if (failure == 0) {
        (void)pthread_setname_np(*out, name);
    }
#else
    (void)name;
#endif
    return failure == 0;
}

bool nc_condition_init(pthread_cond_t *condition) {
#if defined(__APPLE__)
    return pthread_cond_init(condition, NULL) == 0;
#else
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) {
        return false;
    }
    bool is_ready =
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 && pthread_cond_init(condition, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return is_ready;
#endif
}

static uint64_t now_ns(void) {
    struct timespec now;
#if defined(__APPLE__)
    clock_gettime(CLOCK_REALTIME, &now);
#else
    clock_gettime(CLOCK_MONOTONIC, &now);
#endif
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool nc_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint32_t timeout_ms, uint64_t *deadline_ns) {
    if (timeout_ms == UINT32_MAX) {
        return pthread_cond_wait(condition, mutex) == 0;
    }
    if (*deadline_ns == 0) {
        *deadline_ns = now_ns() + (uint64_t)timeout_ms * 1000000u;
    }
    struct timespec deadline = {
        .tv_sec = (time_t)(*deadline_ns / 1000000000u),
        .tv_nsec = (long)(*deadline_ns % 1000000000u),
    };
    return pthread_cond_timedwait(condition, mutex, &deadline) != ETIMEDOUT;
}
