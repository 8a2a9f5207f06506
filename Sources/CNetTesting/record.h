/// What happened: requests byte for byte, counts, and waits for them with a time limit.
#ifndef NCT_RECORD_H
#define NCT_RECORD_H

#include "bytes.h"

#include <pthread.h>

/// Bytes kept of one request.
#define NCT_RECORD_REQUEST_BYTES ((size_t)64 * 1024)
/// Bytes kept in all, the rows included.
#define NCT_RECORD_TOTAL_BYTES ((size_t)64 * 1024 * 1024)

/// Where one request lies.
typedef struct nct_record_row {
    /// Place of its first byte in `kept`.
    size_t offset;
    /// Bytes kept.
    size_t kept_length;
    /// Bytes received.
    uint64_t full_length;
} nct_record_row;

/// The record; every function locks it.
typedef struct nct_record {
    /// Guards everything below.
    pthread_mutex_t mutex;
    /// Signalled at every change; measures time on CLOCK_MONOTONIC.
    pthread_cond_t changed;
    /// The requests' bytes, one after another.
    nct_bytes kept;
    /// nct_record_row values.
    nct_bytes rows;
    /// Requests received whole.
    size_t requests;
    /// Connections accepted.
    size_t connections;
    /// Connections open now.
    size_t open;
    /// Replies stalled now.
    size_t stalled;
    /// Ticket of the latest stall.
    uint64_t last_stall;
    /// Stalls up to this ticket may go on.
    uint64_t released_stall;
    /// The space is used up.
    bool is_full;
} nct_record;

/// What a wait looks at.
typedef enum nct_record_count {
    /// Requests received whole.
    NCT_COUNT_REQUESTS,
    /// Connections accepted.
    NCT_COUNT_CONNECTIONS,
    /// Replies stalled now.
    NCT_COUNT_STALLED,
} nct_record_count;

/// Makes an empty record.
void nct_record_init(nct_record *record);

/// Frees it.
void nct_record_deinit(nct_record *record);

/// A connection was accepted.
void nct_record_opened(nct_record *record);

/// A connection was closed.
void nct_record_closed(nct_record *record);

/// A request was received whole; `first` holds its first bytes.
void nct_record_request(nct_record *record, const nct_bytes *first, uint64_t full_length);

/// A reply stalled; returns its ticket, never 0.
uint64_t nct_record_stall(nct_record *record);

/// A stalled reply's connection ended before a release.
void nct_record_stall_ended(nct_record *record, uint64_t ticket);

/// Releases what is stalled now: the count falls to 0 at once.
void nct_record_release_stalls(nct_record *record);

/// The last ticket that was released.
uint64_t nct_record_released(nct_record *record);

/// A count as it is now.
size_t nct_record_now(nct_record *record, nct_record_count what);

/// Waits until a count is at least `count`; false when the time passed first.
bool nct_record_wait(nct_record *record, nct_record_count what, size_t count, uint32_t timeout_ms);

/// Waits until no connection is open; false when the time passed first.
bool nct_record_wait_for_silence(nct_record *record, uint32_t timeout_ms);

/// Copies a request; see nct_server_copy_request().
size_t nct_record_copy(nct_record *record, size_t index, void *bytes, size_t capacity);

/// Forgets requests and sets the counts of requests and connections to 0.
void nct_record_forget(nct_record *record);

#endif
