/// Recorded requests with their exact bytes, and counts. A test can wait until a count has reached a value.
#ifndef NCT_RECORD_H
#define NCT_RECORD_H

#include "bytes.h"

#include <pthread.h>

/// Bytes kept of one request.
#define NCT_RECORD_REQUEST_BYTES ((size_t)64 * 1024)
/// Bytes kept in total, including the rows.
#define NCT_RECORD_TOTAL_BYTES ((size_t)64 * 1024 * 1024)

/// The location of one request.
typedef struct nct_record_row {
    /// Offset of its first byte in `kept`.
    size_t offset;
    /// Bytes kept.
    size_t kept_length;
    /// Bytes received.
    uint64_t full_length;
    /// Number of the connection.
    size_t connection;
} nct_record_row;

/// The counts.
typedef enum nct_record_count {
    /// Requests received completely.
    NCT_COUNT_REQUESTS,
    /// Connections accepted.
    NCT_COUNT_CONNECTIONS,
    /// Body bytes received.
    NCT_COUNT_RECEIVED,
    /// Handshakes that resumed a session.
    NCT_COUNT_RESUMED,
    /// Client certificates presented and trusted.
    NCT_COUNT_CERTIFICATES,
    /// Tunnels opened.
    NCT_COUNT_TUNNELS,
    /// Targets given as a name.
    NCT_COUNT_NAMES,
    /// Stalled replies. nct_record_forget() does not reset this count and the next.
    NCT_COUNT_STALLED,
    /// Open connections.
    NCT_COUNT_OPEN,
    /// Number of counts.
    NCT_COUNT_COUNT,
} nct_record_count;

/// The record. Every function locks it.
typedef struct nct_record {
    /// Guards all fields below.
    pthread_mutex_t mutex;
    /// Signalled at every change; measures time on CLOCK_MONOTONIC.
    pthread_cond_t changed;
    /// The requests' bytes, concatenated.
    nct_bytes kept;
    /// nct_record_row values.
    nct_bytes rows;
    /// Indexed by nct_record_count.
    size_t counts[NCT_COUNT_COUNT];
    /// Number of the latest connection.
    size_t last_connection;
    /// Ticket of the latest stall.
    uint64_t last_stall;
    /// Stalls up to this ticket may continue.
    uint64_t released_stall;
    /// A request was not recorded because the space is exhausted, so later ones are not recorded either.
    bool is_full;
    /// Requests are counted but not kept.
    bool is_forgetful;
} nct_record;

/// Initializes an empty record.
void nct_record_init(nct_record *record);

/// Frees it.
void nct_record_deinit(nct_record *record);

/// Counts an accepted connection. Returns its number, never 0.
size_t nct_record_opened(nct_record *record);

/// Counts a closed connection.
void nct_record_closed(nct_record *record);

/// Adds to a count.
void nct_record_add(nct_record *record, nct_record_count what, size_t count);

/// Records a complete request. `first` contains its first bytes.
void nct_record_request(nct_record *record, size_t connection, const nct_bytes *first, uint64_t full_length);

/// Counts a stalled reply. Returns its ticket, never 0.
uint64_t nct_record_stall(nct_record *record);

/// Removes a stalled reply from the count, because its connection ended before a release.
void nct_record_stall_ended(nct_record *record, uint64_t ticket);

/// Releases all replies that are stalled now. Their count becomes 0 immediately.
void nct_record_release_stalls(nct_record *record);

/// Returns the last released ticket.
uint64_t nct_record_released(nct_record *record);

/// Returns the current value of a count.
size_t nct_record_now(nct_record *record, nct_record_count what);

/// Waits until a count is at least `count`. Returns false after the timeout.
bool nct_record_wait(nct_record *record, nct_record_count what, size_t count, uint32_t timeout_ms);

/// Waits until no connection is open. Returns false after the timeout.
bool nct_record_wait_for_silence(nct_record *record, uint32_t timeout_ms);

/// Copies a request; see nct_server_copy_request().
size_t nct_record_copy(nct_record *record, size_t index, void *bytes, size_t capacity);

/// Returns the number of a request's connection, or 0 if there is no such request.
size_t nct_record_connection(nct_record *record, size_t index);

/// Deletes the requests and resets the counts, except those of open connections and stalled replies.
void nct_record_forget(nct_record *record);

#endif
