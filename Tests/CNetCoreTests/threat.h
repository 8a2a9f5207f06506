/// Shared by the threat matrices: concurrent transfers, a strict parser for recorded requests, and sampling of the
/// cases.
///
/// A matrix runs every case in a plain build. Under a sanitizer, which makes a transfer about ten times slower, it
/// runs every THREAT_STRIDE-th case. NETCORE_THREAT_STRIDE overrides that.
#ifndef NETCORE_TEST_THREAT_H
#define NETCORE_TEST_THREAT_H

#include "fixture.h"

#include <pthread.h>

/// The sampling step of a sanitized build. It is a prime, so that regularly spaced cases are not all skipped.
enum { THREAT_STRIDE = 23 };

/// Returns NETCORE_THREAT_STRIDE if set, THREAT_STRIDE under ASan or TSan, else `plain`: 1, or more for slow
/// matrices.
size_t threat_stride(size_t plain);
/// Returns true under a sanitizer. It keeps freed memory, so that memory growth cannot be measured.
bool threat_is_sanitized(void);

/// Returns a clock that runs like the system's and can be advanced.
nc_clock threat_clock(void);
/// Advances the clock. Wake the engines that use it then.
void threat_clock_skip_ms(uint64_t ms);

/// One transfer of a batch.
typedef struct threat_transfer {
    nc_error error;
    nc_response *response; // NULL if submit rejected it
    struct threat_batch *volley;
} threat_transfer;

/// Concurrent transfers. The last one wakes the waiting thread.
typedef struct threat_batch {
    nc_engine *engine;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t pending;
    size_t awaited;
} threat_batch;

#define THREAT_BATCH_INIT(of)                                                                                          \
    { (of), PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 }

/// Submits a request. If it is rejected, records and returns the status. `out` must not move until the batch has ended.
nc_status threat_submit(threat_batch *volley, const nc_request *request, threat_transfer *out);
/// Waits until at most `left` of the transfers are in flight.
void threat_await(threat_batch *volley, size_t left);
/// Releases the responses.
void threat_release(threat_transfer *shots, size_t count);

/// Returns all bytes of one request that a server received.
nc_buf threat_received(nct_server *server, size_t index);
/// Returns true if the bytes contain the text.
bool threat_holds(nc_slice bytes, const char *text);

enum { THREAT_MAX_FIELDS = 40 };

/// A request under strict parsing (RFC 9112, sections 3 and 5).
typedef struct threat_request {
    nc_slice method;
    nc_slice target;
    nc_header fields[THREAT_MAX_FIELDS];
    size_t field_count;
    nc_slice body;
} threat_request;

/// Parses recorded bytes. Returns false unless they are one request line, fields and a body of the declared length.
/// Each line must end with CR LF; other CR, LF, NUL and folding are not allowed. Tokens must be tokens.
bool threat_parse(threat_request *out, nc_slice bytes);
/// Returns the field's value if it occurs exactly once, or a slice without data.
nc_slice threat_field(const threat_request *request, const char *name);

#endif
