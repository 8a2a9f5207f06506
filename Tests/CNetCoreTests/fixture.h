/// A loopback server and an engine that asks it: what every behaviour test of the engine begins with.
///
/// Whatever fails here fails the test. Responses, policies and texts that a fixture hands out live until
/// fixture_stop(), which closes the engine before it lets them go.
///
///     fixture f;
///     fixture_start(&f, NCT_PLAIN);
///     fixture_script(&f, "/a", (nct_reply){.body = "hi", .body_length = 2});
///     answer a = fixture_get(&f, "/a");
///     assert_int_equal(nc_response_status(a.response), 200);
///     fixture_stop(&f);
#ifndef NETCORE_TEST_FIXTURE_H
#define NETCORE_TEST_FIXTURE_H

#include "harness.h"
#include "nettesting.h"

/// Longer than anything a test waits for.
#define FIXTURE_LIMIT_MS 20000u

/// How a transfer ended.
typedef struct answer {
    nc_error error;
    nc_response *response;
} answer;

typedef struct fixture {
    nct_server *server;
    nc_engine *engine;
    void **kept; // what fixture_stop() gives back
    size_t kept_count;
} fixture;

/// Starts a server and an engine that trusts it.
void fixture_start(fixture *f, nct_identity identity);
/// The same with options of one's own; without a policy among them the engine trusts the server.
void fixture_start_with(fixture *f, const nct_server_options *server, const nc_engine_options *engine);
/// The same with a plain server, and an engine that trusts everybody: for servers of a test's own.
void fixture_start_trusting_all(fixture *f);
/// Closes the engine if there is one, stops the server, gives back what was handed out.
void fixture_stop(fixture *f);

/// The absolute URL of a path.
const char *fixture_url(fixture *f, const char *path);
/// The same with another host in it.
const char *fixture_url_at(fixture *f, const char *host, const char *path);
/// The absolute URL of a path on another server, at 127.0.0.1 or "localhost".
const char *fixture_url_of(fixture *f, const nct_server *server, const char *host, const char *path);
/// A text, formatted.
const char *fixture_text(fixture *f, const char *format, ...) NC_PRINTF(2, 3);
/// A policy that trusts these authorities alone.
nc_trust *fixture_trust(fixture *f, const nc_trust_options *options);
/// A policy that trusts the server's authority alone.
nc_trust *fixture_trust_of(fixture *f, const nct_server *server);

/// Scripts the server.
void fixture_script(fixture *f, const char *path, nct_reply reply);
/// Scripts a whole reply, byte for byte, after which the connection is closed.
void fixture_script_raw(fixture *f, const char *path, const char *bytes);
/// A plain request for a path.
nc_request fixture_request(fixture *f, const char *path);

/// Submits without a sink.
nc_transfer_id fixture_submit(fixture *f, const nc_request *request);
/// Waits for a transfer without a sink.
answer fixture_wait(fixture *f, nc_transfer_id id);
/// Submits and waits.
answer fixture_send(fixture *f, const nc_request *request);
/// Sends a plain GET.
answer fixture_get(fixture *f, const char *path);

/// What the server received as request `index`, NUL-terminated, at most 64 KiB of it.
const char *fixture_received(fixture *f, size_t index);

/// Fails unless the transfer ended so: status, number underneath, and a part of its message.
#define assert_ended(one, status, native, part)                                                                        \
    fixture_assert_ended((one), (status), (native), (part), __FILE__, __LINE__)
/// What assert_ended() calls.
void fixture_assert_ended(answer one, nc_status status, int native, const char *part, const char *file, int line);
/// Fails unless the transfer worked and came back with this status code and body.
#define assert_answered(one, code, body) fixture_assert_answered((one), (code), (body), __FILE__, __LINE__)
/// What assert_answered() calls.
void fixture_assert_answered(answer one, unsigned code, const char *body, const char *file, int line);
/// Fails unless the response has this field first among those of the name.
#define assert_field(one, name, value) fixture_assert_field((one), (name), (value), __FILE__, __LINE__)
/// What assert_field() calls.
void fixture_assert_field(answer one, const char *name, const char *value, const char *file, int line);

#endif
