/// Threads and timed waits as the core uses them.
#ifndef NETCORE_PRIVATE_THREAD_H
#define NETCORE_PRIVATE_THREAD_H

#include <netcore/base.h>
#include <pthread.h>

/// Starts a thread that blocks every signal, so that the host program's handlers never run on it.
NC_NODISCARD bool nc_thread_start(pthread_t *out, const char *name, void *(*body)(void *), void *argument);

/// Makes a condition variable that waits on the monotonic clock.
NC_NODISCARD bool nc_condition_init(pthread_cond_t *condition);

/// Waits for at most `timeout_ms` from the moment in `*deadline_ns`; a zero deadline is filled in first.
/// Returns false when the time is over. UINT32_MAX waits for ever.
NC_NODISCARD bool nc_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint32_t timeout_ms,
                                    uint64_t *deadline_ns);

#endif
