/// What happened: requests byte for byte, counts, and waits for them with a
/// time limit.
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
    /// Number of the connection.
    size_t connection;
} nct_record_row;

/// What is counted.
typedef enum nct_record_count {
    /// Requests received whole.
    NCT_COUNT_REQUESTS,
    /// Connections accepted.
    NCT_COUNT_CONNECTIONS,
    /// Body bytes received.
    NCT_COUNT_RECEIVED,
    /// Handshakes that resumed a session.
    NCT_COUNT_RESUMED,
    /// Client certificates shown and trusted.
    NCT_COUNT_CERTIFICATES,
    /// Tunnels made.
    NCT_COUNT_TUNNELS,
    /// Targets that came as a name.
    NCT_COUNT_NAMES,
    /// Replies stalled now; this and what follows is not forgotten.
    NCT_COUNT_STALLED,
    /// Connections open now.
    NCT_COUNT_OPEN,
    /// How many there are.
    NCT_COUNT_COUNT,
} nct_record_count;

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
    /// By nct_record_count.
    size_t counts[NCT_COUNT_COUNT];
    /// Number of the latest connection.
    size_t last_connection;
    /// Ticket of the latest stall.
    uint64_t last_stall;
    /// Stalls up to this ticket may go on.
    uint64_t released_stall;
    /// The space is used up.
    bool is_full;
    /// Requests are counted and not kept.
    bool is_forgetful;
} nct_record;

/// Makes an empty record.
void nct_record_init(nct_record *record);

/// Frees it.
void nct_record_deinit(nct_record *record);

/// A connection was accepted; returns its number, never 0.
size_t nct_record_opened(nct_record *record);

/// A connection was closed.
void nct_record_closed(nct_record *record);

/// Adds to a count.
void nct_record_add(nct_record *record, nct_record_count what, size_t count);

/// A request was received whole; `first` holds its first bytes.
void nct_record_request(nct_record *record, size_t connection, const nct_bytes *first, uint64_t full_length);

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

/// The number of the connection of a request; 0 when there is no such request.
size_t nct_record_connection(nct_record *record, size_t index);

/// Forgets requests and sets what is counted, but not what is open or stalled,
/// to 0.
void nct_record_forget(nct_record *record);

#endif
