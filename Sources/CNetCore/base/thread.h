/// Threads and timed waits.
#ifndef NETCORE_PRIVATE_THREAD_H
#define NETCORE_PRIVATE_THREAD_H

#include <netcore/base.h>
#include <pthread.h>

/// Starts a thread with every signal blocked, so that the program's signal handlers never run on it.
NC_NODISCARD bool nc_thread_start(pthread_t *out, const char *name, void *(*body)(void *), void *argument);

/// Creates a condition variable on the monotonic clock.
NC_NODISCARD bool nc_condition_init(pthread_cond_t *condition);

/// Waits until `*deadline_ns`; a deadline of 0 is first set to `timeout_ms` from now.
/// Returns false after the deadline. UINT32_MAX waits without a timeout.
NC_NODISCARD bool nc_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint32_t timeout_ms,
                                    uint64_t *deadline_ns);

#endif
