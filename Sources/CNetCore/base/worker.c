#include "base/worker.h"

#include "base/alloc.h"
#include "base/thread.h"
#include "base/trace.h"

#include <pthread.h>

enum { MAX_THREADS = 8 };

struct nc_worker {
    pthread_mutex_t mutex;
    pthread_cond_t has_work;
    nc_trace trace;
    nc_work *first;
    nc_work **last;
    uint32_t queued_count;
    pthread_t threads[MAX_THREADS];
    uint32_t thread_count;
    uint32_t max_threads;
    uint32_t idle_count;
    bool is_closing;
};

static nc_work *take(nc_worker *worker) {
    nc_work *work = worker->first;
    if (work != NULL) {
        worker->first = work->next;
        worker->queued_count--;
        if (worker->first == NULL) {
            worker->last = &worker->first;
        }
    }
    return work;
}

static void *thread_main(void *argument) {
    nc_worker *worker = argument;
    pthread_mutex_lock(&worker->mutex);
    for (;;) {
        nc_work *work = take(worker);
        if (work != NULL) {
            pthread_mutex_unlock(&worker->mutex);
            nc_trace_pass(&worker->trace, NC_TRACE_WORK_STARTED, 0);
            work->run(work);
            nc_trace_pass(&worker->trace, NC_TRACE_WORK_DONE, 0);
            pthread_mutex_lock(&worker->mutex);
        } else if (worker->is_closing) {
            break;
        } else {
            worker->idle_count++;
            pthread_cond_wait(&worker->has_work, &worker->mutex);
            worker->idle_count--;
        }
    }
    pthread_mutex_unlock(&worker->mutex);
    return NULL;
}

nc_worker *nc_worker_new(uint32_t max_threads, nc_trace trace) {
    nc_worker *worker = nc_alloc_zeroed(1, sizeof *worker);
    if (worker == NULL) {
        return NULL;
    }
    if (pthread_mutex_init(&worker->mutex, NULL) != 0) {
        nc_free(worker);
        return NULL;
    }
    if (pthread_cond_init(&worker->has_work, NULL) != 0) {
        pthread_mutex_destroy(&worker->mutex);
        nc_free(worker);
        return NULL;
    }
    worker->last = &worker->first;
    worker->trace = trace;
    worker->max_threads = max_threads < MAX_THREADS ? max_threads : MAX_THREADS;
    return worker;
}

nc_status nc_worker_submit(nc_worker *worker, nc_work *work) {
    nc_status status = NC_OK;
    pthread_mutex_lock(&worker->mutex);
    // The idle threads will take the jobs that are already queued. A new thread is needed only if no idle thread
    // remains for this job.
    if (worker->queued_count >= worker->idle_count && worker->thread_count < worker->max_threads) {
        if (nc_thread_start(&worker->threads[worker->thread_count], "netcore-worker", thread_main, worker)) {
            worker->thread_count++;
        } else if (worker->thread_count == 0) {
            status = NC_ERR_THREAD;
        }
    }
    if (status == NC_OK) {
        work->next = NULL;
        *worker->last = work;
        worker->last = &work->next;
        worker->queued_count++;
        pthread_cond_signal(&worker->has_work);
    }
    pthread_mutex_unlock(&worker->mutex);
    return status;
}

void nc_worker_free(nc_worker *worker) {
    if (worker == NULL) {
        return;
    }
    pthread_mutex_lock(&worker->mutex);
    worker->is_closing = true;
    pthread_cond_broadcast(&worker->has_work);
    pthread_mutex_unlock(&worker->mutex);
    for (uint32_t i = 0; i < worker->thread_count; i++) {
        pthread_join(worker->threads[i], NULL);
    }
    pthread_cond_destroy(&worker->has_work);
    pthread_mutex_destroy(&worker->mutex);
    nc_free(worker);
}
