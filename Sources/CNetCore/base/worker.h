/// A bounded pool of threads for whatever may block on disk; the loop thread never does.
///
/// A thread starts with a job that no other is free for. A job is a struct of the caller's with an nc_work in it;
/// nothing is allocated for queueing, so a job is never refused for want of memory.
#ifndef NETCORE_PRIVATE_WORKER_H
#define NETCORE_PRIVATE_WORKER_H

#include <netcore/status.h>
#include <netcore/trace.h>

/// One job. `run` is called on a worker thread; it hands its result back by itself (through the mailbox).
typedef struct nc_work {
    struct nc_work *next;
    void (*run)(struct nc_work *work);
} nc_work;

typedef struct nc_worker nc_worker;

/// Makes a pool that will start up to `max_threads` threads, each blocking every signal.
NC_NODISCARD nc_worker *nc_worker_new(uint32_t max_threads, nc_trace trace);
/// Runs what is queued, joins the threads and frees the pool. NULL is harmless.
void nc_worker_free(nc_worker *worker);
/// Queues a job; NC_ERR_THREAD when there is no thread to run it and none can be started: `run` is then never called.
NC_NODISCARD nc_status nc_worker_submit(nc_worker *worker, nc_work *work);

#endif
