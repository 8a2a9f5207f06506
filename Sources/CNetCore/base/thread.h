/// Threads and timed waits.
#ifndef NETCORE_PRIVATE_THREAD_H
#define NETCORE_PRIVATE_THREAD_H

#include <netcore/base.h>
#include <pthread.h>

/// Starts a thread with every signal blocked, so that the program's signal handlers never run on it.
NC_NODISCARD bool nc_thread_start(pthread_t *out, const char *name, void *(*body)(void *), void *argument);

/// Creates a condition variable for nc_condition_wait(). It uses the monotonic clock where the system supports that.
NC_NODISCARD bool nc_condition_init(pthread_cond_t *condition);

/// Waits for the condition, and returns false when the deadline has passed. If `*deadline_ns` is 0, it is first set to
/// `timeout_ms` from now; later calls then use the same deadline. With UINT32_MAX as `timeout_ms` there is no deadline.
NC_NODISCARD bool nc_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint32_t timeout_ms,
                                    uint64_t *deadline_ns);

#endif
