/// A server, and a client with a cache whose clock the test advances.
///
///     caching c;
///     caching_start(&c, NULL);
///     caching_reply(&c, "/", "Cache-Control: max-age=60\r\n", "one");
///     caching_get(&c, "/", NULL);
///     caching_expect(&c, 200, "one", NC_CACHE_OUTCOME_NETWORK, NC_CACHE_REASON_ABSENT);
///     caching_stop(&c);
#ifndef NETCORE_TEST_CACHING_H
#define NETCORE_TEST_CACHING_H

#include "fixture.h"

#include <netcore/client.h>
#include <netcore/http_cache.h>
#include <stdatomic.h>

typedef struct caching {
    fixture f;
    nc_http_cache *cache;
    nc_client *client;
    nc_clock clock;
    atomic_int_fast64_t ahead_ms;
    // What the next request uses.
    nc_cache_policy policy;
    bool uses_policy;
    const char *method;
    bool has_scope;
    const char *scope;
    uint64_t max_body_bytes;
    const char *host; // NULL is the server's address
    // The result of the latest request.
    nc_response *response;
    nc_error error;
    nc_call_cache report;
    char field[1024];
} caching;

/// Starts all parts. `store` may be NULL.
void caching_start(caching *c, nc_store *store);
/// Starts all parts with these options of the engine.
void caching_start_with(caching *c, nc_store *store, const nc_engine_options *engine);
/// Starts all parts with these options of the cache.
void caching_start_with_cache(caching *c, const nc_http_cache_options *cache);
/// Replaces cache and client by new ones with this store, as a new process would.
void caching_restart(caching *c, nc_store *store);
void caching_restart_with_cache(caching *c, const nc_http_cache_options *cache);
void caching_stop(caching *c);

/// Scripts a reply with status 200, these header lines and this body.
void caching_reply(caching *c, const char *path, const char *headers, const char *body);
/// Scripts a reply with this status, these header lines, and no body.
void caching_status(caching *c, const char *path, uint16_t status, const char *headers);
void caching_script(caching *c, const char *path, nct_reply reply);
/// Advances the wall clock.
void caching_pass(caching *c, int64_t ms);

/// Starts a request with one field "Name: value", or NULL for none. Release the call.
nc_call *caching_begin(caching *c, const char *path, const char *field);
/// Waits for a call, releases it, and stores its result.
void caching_finish(caching *c, nc_call *call);
/// Sends a request and waits for it.
void caching_get(caching *c, const char *path, const char *field);
/// Fails unless the latest request had this result.
#define caching_expect(c, status, body, outcome, reason)                                                               \
    caching_assert((c), (status), (body), (outcome), (reason), __FILE__, __LINE__)
void caching_assert(caching *c, unsigned status, const char *body, int outcome, int reason, const char *file, int line);
/// Returns the value of a field of the latest response; NULL without one.
const char *caching_field(caching *c, const char *name);

#endif
