/// A bounded pool of worker threads for jobs that may wait for the disk.
///
/// A thread is started when a job is queued and no idle thread remains for it. A job is a struct of the caller that
/// contains an nc_work. Queueing allocates nothing, so it cannot fail for lack of memory.
#ifndef NETCORE_PRIVATE_WORKER_H
#define NETCORE_PRIVATE_WORKER_H

#include <netcore/status.h>
#include <netcore/trace.h>

/// One job. `run` is called on a worker thread and posts its result to the engine's mailbox.
typedef struct nc_work {
    struct nc_work *next;
    void (*run)(struct nc_work *work);
} nc_work;

typedef struct nc_worker nc_worker;

/// Creates a pool of up to `max_threads` threads, which block every signal.
NC_NODISCARD nc_worker *nc_worker_new(uint32_t max_threads, nc_trace trace);
/// Runs the queued jobs, joins the threads and frees the pool. NULL is allowed.
void nc_worker_free(nc_worker *worker);
/// Queues a job. If there is no thread and none can be started, returns NC_ERR_THREAD and never calls `run`.
NC_NODISCARD nc_status nc_worker_submit(nc_worker *worker, nc_work *work);

#endif
