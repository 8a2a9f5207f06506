/// The records of a client, its calls and its flights, and the functions of the files that implement them. Each file
/// calls only functions of the files that are listed below it:
///
///     client.c           the public functions, the thread, the lifetime
///     cached_call.c      a call that uses the cache: decides, starts or joins a flight, handles its end
///     flight.c           a request with its attempts: sends it, decides about retries, ends its calls
///     call.c             the result of a call, for any thread
///     client_queue.c     messages to the client's thread
///     cache_use.c        lookup, storing and invalidation for one request
///     cached_response.c  responses from stored ones
///     cache_identity.c   keys and users
///     http_cache.c       both tiers and the changes of keys
///     checked_store.c    the store on disk or of the caller
///     cache_entry.c      metadata of entries;  memory_tier.c
///     retry_policy.c     retry_budget.c
#ifndef NETCORE_PRIVATE_CLIENT_INTERNAL_H
#define NETCORE_PRIVATE_CLIENT_INTERNAL_H

#include "base/list.h"
#include "base/pool.h"
#include "event_loop/timers.h"
#include "request/request_template.h"

#include <netcore/client.h>
#include <pthread.h>
#include <stdatomic.h>

/* --- client_queue.c --- */

typedef struct nc_flight nc_flight;

/// A message to the client's thread, which calls `arrive`.
typedef struct nc_message {
    nc_link link;
    void (*arrive)(struct nc_message *message);
} nc_message;

struct nc_client {
    // Constant.
    nc_engine *engine;
    nc_retry_policy retry;
    bool has_retry;
    nc_retry_budget *budget;
    nc_http_cache *cache;
    nc_pool *pool; // of responses from the cache
    nc_clock clock;
    nc_random random;
    pthread_t thread;

    // Guarded by the mutex.
    pthread_mutex_t mutex;
    pthread_cond_t has_mail;
    pthread_cond_t is_idle;
    nc_link inbox; // nc_message.link
    size_t busy;   // accepted calls and flights that have not ended
    bool is_closing;

    // The client's thread only.
    nc_timers timers;
    nc_link flights;
    bool has_cancelled; // all calls were cancelled, because the client is closing
};

/// Adds a message, from any thread.
void nc_client_post(nc_client *client, nc_message *message);
/// Counts a call or a flight. Returns false if the client is closing.
bool nc_client_enter(nc_client *client);
/// Counts a flight of a call that was counted.
void nc_client_enter_more(nc_client *client);
/// Counts the end of a call or a flight.
void nc_client_leave(nc_client *client);
/// Returns the time of the client's clock in milliseconds.
uint64_t nc_client_now_ms(const nc_client *client);

/* --- call.c --- */

struct nc_call {
    atomic_uint references;
    nc_client *client; // valid until the call has ended
    nc_call_sink sink; // on_done is NULL without a sink
    nc_message submitted;
    nc_message cancelled;

    // The client's thread only.
    nc_link link; // in nc_flight.calls
    nc_flight *flight;
    nc_request_template *request; // NULL when a flight has taken it
    nc_retry_policy retry;
    bool has_retry;
    bool has_own_retry;
    bool uses_cache;
    nc_cache_policy cache;
    bool has_scope;
    nc_buf scope;
    bool is_finished;

    // Guarded by the mutex.
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_cancel_posted;
    bool is_done;
    nc_response *response;
    nc_error error;
    size_t attempt_count;
    nc_call_attempt attempts[NC_CALL_MAX_ATTEMPTS];
    nc_call_cache cache_report;
};

/// Creates a call with one reference; NULL if memory is exhausted.
NC_NODISCARD nc_call *nc_call_new(nc_client *client);
/// Stores the attempt with this number, which is the last one so far.
void nc_call_record(nc_call *call, size_t index, const nc_call_attempt *attempt);
/// Sets what nc_call_cache_report() returns.
void nc_call_set_cache_report(nc_call *call, const nc_call_cache *report);
/// Stores the result, calls the sink, and wakes the waiting threads. Then drops the client's reference. Does nothing if
/// the call has ended before.
void nc_call_finish(nc_call *call, nc_response *response, const nc_error *error);

/* --- flight.c --- */

/// A request that is being sent, with the calls that wait for it. Only the client's thread uses it, with one exception:
/// the transfer's on_done writes the result and then posts `done`.
struct nc_flight {
    nc_link link; // in nc_client.flights
    nc_client *client;
    nc_link calls; // nc_call.link
    nc_request_template *request;
    nc_retry_policy retry;
    bool has_retry;
    bool is_background; // continues without calls
    bool is_cancelled;
    uint64_t began_ms;
    uint64_t total_ms; // for all attempts; NC_RETRY_NO_LIMIT without a limit
    uint32_t retries;
    size_t sent_count; // retries, and requests without conditions after a 304 for another response
    nc_call_attempt attempt;

    nc_timer timer; // of the delay before the next attempt
    bool is_sent;
    nc_transfer_id transfer;
    nc_message done;
    nc_response *response; // NULL before a transfer has ended
    nc_error error;

    // How the flight uses the cache; NULL if it does not.
    void *use;
    /// Called after the last attempt. May replace `response` and `error`. Returns true to send the request again.
    bool (*conclude)(nc_flight *flight);
    void (*free_use)(void *use);
    nc_call_cache cache_report;
    nc_buf shared_key; // equal for equal requests, which may join the flight; empty if none may
};

/// Creates a flight for a request, which it owns after a success. Returns NULL if memory is exhausted.
NC_NODISCARD nc_flight *nc_flight_new(nc_client *client, nc_request_template *request);
/// Lets a call wait for the flight.
void nc_flight_attach(nc_flight *flight, nc_call *call);
/// Sends the request. The flight may end within this call.
void nc_flight_send(nc_flight *flight);
/// Returns the flight with this shared key; NULL if there is none.
nc_flight *nc_flight_find(nc_client *client, nc_slice shared_key);
/// Starts a flight for a call, which ends with an error if that fails.
void nc_flight_begin(nc_call *call);
/// Ends a call with an error. A flight without calls is cancelled.
void nc_flight_leave(nc_call *call, const nc_error *error);
/// Ends all calls of all flights, because the client is closed.
void nc_flight_cancel_all(nc_client *client);

/* --- cached_call.c --- */

/// Begins a call that uses the cache: returns a stored response, or starts or joins a flight.
void nc_cached_call_begin(nc_call *call);

#endif
