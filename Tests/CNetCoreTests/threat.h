/// What the threat matrices share: many transfers at once, the strict reading of a recorded request, strides.
///
/// A matrix runs every case in a plain build. Under a sanitizer, where each transfer costs ten times as much, it takes
/// every THREAT_STRIDE-th; NETCORE_THREAT_STRIDE overrides that.
#ifndef NETCORE_TEST_THREAT_H
#define NETCORE_TEST_THREAT_H

#include "fixture.h"

#include <pthread.h>

/// Which cases a sanitized build takes of a row of thousands: a prime, so that no row of equal steps hides behind it.
enum { THREAT_STRIDE = 23 };

/// What NETCORE_THREAT_STRIDE says, else THREAT_STRIDE under ASan or TSan, else `plain`: 1, or more for what is slow.
size_t threat_stride(size_t plain);
/// Tells whether a sanitizer is in the process: it keeps memory that was freed, so nothing can be said of its growth.
bool threat_is_sanitized(void);

/// A clock that runs as the system's does, and is put forward by hand.
nc_clock threat_clock(void);
/// Puts it forward; engines that use it must then be woken.
void threat_clock_skip_ms(uint64_t ms);

/// One transfer of a volley.
typedef struct threat_shot {
    nc_error error;
    nc_response *response; // NULL when submit refused it
    struct threat_volley *volley;
} threat_shot;

/// Transfers that are under way together; whoever waits is woken once, by the last of them.
typedef struct threat_volley {
    nc_engine *engine;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t pending;
    size_t awaited;
} threat_volley;

#define THREAT_VOLLEY_INIT(of)                                                                                         \
    { (of), PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 }

/// Submits a request, or returns and notes why it was refused; the shot stays where it is until the volley is over.
nc_status threat_submit(threat_volley *volley, const nc_request *request, threat_shot *out);
/// Waits until at most `left` of what was submitted is under way.
void threat_await(threat_volley *volley, size_t left);
/// Lets the responses go.
void threat_release(threat_shot *shots, size_t count);

/// What a server received as one request, in full.
nc_buf threat_received(nct_server *server, size_t index);
/// Tells whether bytes are found in bytes.
bool threat_holds(nc_slice bytes, const char *text);

enum { THREAT_MAX_FIELDS = 40 };

/// A request as strict eyes read it (RFC 9112, 3 and 5).
typedef struct threat_request {
    nc_slice method;
    nc_slice target;
    nc_header fields[THREAT_MAX_FIELDS];
    size_t field_count;
    nc_slice body;
} threat_request;

/// Reads recorded bytes; false unless they are one request line, fields and a body of the announced length, with CR LF
/// at the end of each line, no other CR, LF or NUL, no folds, and tokens where there must be tokens.
bool threat_parse(threat_request *out, nc_slice bytes);
/// The field's value when it is there exactly once; a slice without data otherwise.
nc_slice threat_field(const threat_request *request, const char *name);

#endif
