/// Trace points of a running engine, for tests that cancel a transfer, kill the process or count events at a point.
///
/// Without a listener, a point costs one branch. A listener receives the point and the id of the transfer.
///
///     static void on_point(void *ctx, nc_trace_point p, nc_transfer_id id) { puts(nc_trace_name(p)); }
///     options.trace = (nc_trace){NULL, on_point};
#ifndef NETCORE_TRACE_H
#define NETCORE_TRACE_H

#include <netcore/base.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The id of a transfer. 0 means no transfer. An id is never reused within a process.
typedef uint64_t nc_transfer_id;

/// The table of all trace points: X(name, event).
#define NC_TRACE_MAP(X)                                                                                                \
    X(NC_TRACE_ENGINE_STARTED, "the event loop thread started")                                                        \
    X(NC_TRACE_ENGINE_WOKEN, "another thread woke the event loop")                                                     \
    X(NC_TRACE_ENGINE_CLOSING, "the event loop received release or close")                                             \
    X(NC_TRACE_ENGINE_STOPPED, "the event loop thread is about to end")                                                \
    X(NC_TRACE_SUBMITTED, "submit accepted a transfer")                                                                \
    X(NC_TRACE_REFUSED, "submit rejected a request")                                                                   \
    X(NC_TRACE_QUEUED, "a transfer waits for a slot")                                                                  \
    X(NC_TRACE_SLOT_GRANTED, "a transfer got its slot")                                                                \
    X(NC_TRACE_POOL_CREATED, "a connection pool was created for a trust policy")                                       \
    X(NC_TRACE_ROOTS_REQUESTED, "a worker thread was asked to load the trusted authorities")                           \
    X(NC_TRACE_ROOTS_READY, "the trusted authorities are loaded")                                                      \
    X(NC_TRACE_POOL_CLOSED, "a connection pool and its connections were released")                                     \
    X(NC_TRACE_HANDLE_CREATED, "an easy handle was created")                                                           \
    X(NC_TRACE_HANDLE_REUSED, "an easy handle was reused from the pool")                                               \
    X(NC_TRACE_TRANSFER_STARTED, "libcurl accepted a transfer")                                                        \
    X(NC_TRACE_SOCKET_OPENED, "a socket was opened")                                                                   \
    X(NC_TRACE_SOCKET_CLOSED, "a socket was closed")                                                                   \
    X(NC_TRACE_TLS_CONFIGURED, "the trusted authorities were set in a TLS context")                                    \
    X(NC_TRACE_CONNECTED, "a connection is ready for the request")                                                     \
    X(NC_TRACE_UPLOAD_READ, "a piece of the request body was passed to libcurl")                                       \
    X(NC_TRACE_HEAD_LINE, "a line of a response head arrived")                                                         \
    X(NC_TRACE_HEAD_DONE, "a response head is complete")                                                               \
    X(NC_TRACE_BODY_CHUNK, "a piece of a response body arrived")                                                       \
    X(NC_TRACE_TRAILER, "a trailer field arrived")                                                                     \
    X(NC_TRACE_CHALLENGED, "a response head requires credentials that libcurl may still send")                         \
    X(NC_TRACE_PAUSED, "a transfer was paused")                                                                        \
    X(NC_TRACE_RESUMED, "a transfer was resumed")                                                                      \
    X(NC_TRACE_FILES_OPENED, "the files of a transfer are open")                                                       \
    X(NC_TRACE_FILES_CLOSED, "the files of a transfer are closed")                                                     \
    X(NC_TRACE_COOKIES_CHANGED, "the cookie jar changed")                                                              \
    X(NC_TRACE_REDIRECT_FOLLOWED, "a redirect is followed")                                                            \
    X(NC_TRACE_REDIRECT_REFUSED, "a redirect was refused")                                                             \
    X(NC_TRACE_LIMIT_HIT, "a time limit ended a transfer")                                                             \
    X(NC_TRACE_CANCEL_REQUESTED, "cancel was called")                                                                  \
    X(NC_TRACE_CANCEL_APPLIED, "a cancellation was applied to its transfer")                                           \
    X(NC_TRACE_DONE, "on_done is about to be called")                                                                  \
    X(NC_TRACE_BURST_DONE, "an iteration of the event loop that ended transfers is complete")                          \
    X(NC_TRACE_JOBS_RUN, "jobs of the event loop's executor ran")                                                      \
    X(NC_TRACE_WORK_STARTED, "a worker thread started a job")                                                          \
    X(NC_TRACE_WORK_DONE, "a worker thread finished a job")

/// A trace point of an engine.
typedef NC_ENUM(nc_trace_point){
#define NC_TRACE_ENUM(name, sentence) name,
    NC_TRACE_MAP(NC_TRACE_ENUM)
#undef NC_TRACE_ENUM
    /// The number of trace points.
    NC_TRACE_COUNT} nc_trace_point;

/// Receives each trace point, on the thread that reached it. Of this library's functions it may call only
/// nc_engine_cancel().
typedef void (*nc_trace_fn)(void *NC_NULLABLE ctx, nc_trace_point point, nc_transfer_id id);

/// A trace listener. A NULL function disables it.
typedef struct nc_trace {
    /// Passed to the function.
    void *NC_NULLABLE ctx;
    /// Called at each point, on the loop thread, a worker thread or the submitting thread.
    nc_trace_fn NC_NULLABLE on_point;
} nc_trace;

/// Returns the C name of a point, such as "NC_TRACE_SUBMITTED".
///
/// Returns a static string; "NC_TRACE_COUNT" for a number outside the table.
/// Pure; call from any thread.
NC_API const char *nc_trace_name(nc_trace_point point);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
