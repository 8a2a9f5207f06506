/// Shared by the torture tests: numbers from the environment, seeded randomness, descriptors, and sinks that count.
///
///     torture_fetch fetch = {0};
///     torture_submit(engine, &request, &fetch);
///     torture_await(&fetch, 1, 10000);
#ifndef NETCORE_TEST_TORTURE_H
#define NETCORE_TEST_TORTURE_H

#include "harness.h"

#include <nettesting.h>
#include <pthread.h>
#include <stdatomic.h>

/// The time after which a test reports a hang.
enum { TORTURE_PATIENCE_MS = 20000, TORTURE_URL_BYTES = 256 };

/// Returns a number from the environment (script/torture sets them), or the default.
uint64_t torture_number(const char *name, uint64_t otherwise);

/// Returns NETCORE_TORTURE_SEED, or a seed from the clock. Prints it, so that a failure can be reproduced.
uint64_t torture_seed(void);

/// Returns the next number of a seeded sequence (splitmix64).
uint64_t torture_next(uint64_t *state);

/// Combines numbers deterministically: randomness that does not depend on the order of threads.
uint64_t torture_mix(uint64_t a, uint64_t b);

/// Returns the milliseconds of the monotonic clock.
uint64_t torture_now_ms(void);

/// Returns the number of open descriptors of this process.
size_t torture_open_descriptors(void);

/// Waits until at most `expected` descriptors are open. Returns false after TORTURE_PATIENCE_MS.
bool torture_wait_for_descriptors(size_t expected);

/// Writes "http(s)://127.0.0.1:port/path" to `url` and returns it.
nc_slice torture_url(char *url, const char *scheme, const nct_server *server, const char *path);

/// Starts a server of this kind. Fails the test on an error.
nct_server *torture_start(nct_identity identity);

/// Starts an engine. Fails the test on an error.
nc_engine *torture_engine(const nc_engine_options *options);

/// Returns a policy that trusts only this server's authority.
nc_trust *torture_trust(const nct_server *server);

/// Returns the full path of a program beside the tests, in static storage.
const char *torture_program(const char *name);

/// The result of one transfer, or of several that share it. All zero is valid.
typedef struct torture_fetch {
    /// Calls of on_done.
    atomic_size_t done_count;
    /// Calls with NC_OK.
    atomic_size_t ok_count;
    /// Calls with NC_ERR_CANCELLED.
    atomic_size_t cancelled_count;
    /// The last status.
    _Atomic nc_status status;
    /// The last error's message.
    char message[NC_ERROR_MESSAGE_BYTES];
    /// The last transfer's response if `keeps_response` is set. The test releases it.
    nc_response *response;
    /// Retains the response.
    bool keeps_response;
} torture_fetch;

/// Returns the sink that writes to `fetch`.
nc_sink torture_sink(torture_fetch *fetch);

/// Submits with torture_sink(). Fails the test on a rejection.
nc_transfer_id torture_submit(nc_engine *engine, const nc_request *request, torture_fetch *fetch);

/// Waits until on_done was called `count` times. Returns false after `timeout_ms`.
bool torture_await(torture_fetch *fetch, size_t count, uint32_t timeout_ms);

/// Waits until the loop has processed the earlier commands. Not on the loop thread.
void torture_let_loop_read(nc_engine *engine);

/// A gate that one thread opens while others wait for it.
typedef struct torture_gate {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    bool is_open;
} torture_gate;

#define TORTURE_GATE_INIT                                                                                              \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false }

/// Opens the gate permanently.
void torture_gate_open(torture_gate *gate);
/// Waits until the gate is open. Returns false after TORTURE_PATIENCE_MS.
bool torture_gate_wait(torture_gate *gate);

#endif
