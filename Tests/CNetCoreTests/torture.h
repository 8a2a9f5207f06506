/// What the torture tests share: numbers from the environment, seeded chance, descriptors, and sinks that count.
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

/// How long anything may take before the test calls it a hang.
enum { TORTURE_PATIENCE_MS = 20000, TORTURE_URL_BYTES = 256 };

/// A number from the environment (script/torture sets them), or the default.
uint64_t torture_number(const char *name, uint64_t otherwise);

/// NETCORE_TORTURE_SEED, or one from the clock; printed either way, so that a failure can be run again.
uint64_t torture_seed(void);

/// The next number of a seeded row (splitmix64).
uint64_t torture_next(uint64_t *state);

/// Mixes numbers into one, the same every time: chance that does not depend on the order of threads.
uint64_t torture_mix(uint64_t a, uint64_t b);

/// Milliseconds on the monotonic clock.
uint64_t torture_now_ms(void);

/// The descriptors that this process has open.
size_t torture_open_descriptors(void);

/// Waits until at most `expected` descriptors are open; false when it takes longer than TORTURE_PATIENCE_MS.
bool torture_wait_for_descriptors(size_t expected);

/// Writes "http(s)://127.0.0.1:port/path" and views it.
nc_slice torture_url(char *url, const char *scheme, const nct_server *server, const char *path);

/// Starts a server of this kind; fails the case when it cannot.
nct_server *torture_start(nct_identity identity);

/// Starts an engine; fails the case when it cannot.
nc_engine *torture_engine(const nc_engine_options *options);

/// The policy that trusts this server's authority alone.
nc_trust *torture_trust(const nct_server *server);

/// The full path of a program that lies beside the tests, in static storage.
const char *torture_program(const char *name);

/// What happened to one transfer, or to many that share it; all zero is ready for use.
typedef struct torture_fetch {
    /// Times on_done came.
    atomic_size_t done_count;
    /// How many of them were NC_OK.
    atomic_size_t ok_count;
    /// How many of them were NC_ERR_CANCELLED.
    atomic_size_t cancelled_count;
    /// The last status.
    _Atomic nc_status status;
    /// What was said about it.
    char message[NC_ERROR_MESSAGE_BYTES];
    /// The last transfer's response, when `keeps_response` is set; the test releases it.
    nc_response *response;
    /// Whether to retain the response.
    bool keeps_response;
} torture_fetch;

/// The sink that writes to `fetch`.
nc_sink torture_sink(torture_fetch *fetch);

/// Submits with torture_sink(); fails the case when it is refused.
nc_transfer_id torture_submit(nc_engine *engine, const nc_request *request, torture_fetch *fetch);

/// Waits until on_done came `count` times; false when it takes longer than `timeout_ms`.
bool torture_await(torture_fetch *fetch, size_t count, uint32_t timeout_ms);

/// Waits until the loop has done what was ordered before. Not from the loop's thread.
void torture_let_loop_read(nc_engine *engine);

/// A door that one thread opens and others wait at.
typedef struct torture_gate {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    bool is_open;
} torture_gate;

#define TORTURE_GATE_INIT                                                                                              \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false }

/// Opens the gate for good.
void torture_gate_open(torture_gate *gate);
/// Waits until the gate is open; false when it takes longer than TORTURE_PATIENCE_MS.
bool torture_gate_wait(torture_gate *gate);

#endif
