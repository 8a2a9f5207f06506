/// A loopback server and an engine that sends requests to it, for the behaviour tests of the engine.
///
/// An error in a fixture function fails the test. Responses, policies and texts from a fixture live until
/// fixture_stop(), which closes the engine first.
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

/// Longer than any wait of a test.
#define FIXTURE_LIMIT_MS 20000u

/// The result of a transfer.
typedef struct answer {
    nc_error error;
    nc_response *response;
} answer;

typedef struct fixture {
    nct_server *server;
    nc_engine *engine;
    void **owned; // released by fixture_stop()
    size_t owned_count;
} fixture;

/// Starts a server and an engine that trusts it.
void fixture_start(fixture *f, nct_identity identity);
/// Starts both with these options. The engine trusts the server if the options have no policy.
void fixture_start_with(fixture *f, const nct_server_options *server, const nc_engine_options *engine);
/// Starts a plain server, and an engine that accepts every certificate. For tests with their own servers.
void fixture_start_trusting_all(fixture *f);
/// Closes the engine if there is one, stops the server, and releases what the fixture returned.
void fixture_stop(fixture *f);

/// Returns the absolute URL of a path.
const char *fixture_url(fixture *f, const char *path);
/// Returns the absolute URL of a path with another host.
const char *fixture_url_at(fixture *f, const char *host, const char *path);
/// Returns the absolute URL of a path on another server, at 127.0.0.1 or "localhost".
const char *fixture_url_of(fixture *f, const nct_server *server, const char *host, const char *path);
/// Formats a text.
const char *fixture_text(fixture *f, const char *format, ...) NC_PRINTF(2, 3);
/// Returns a policy that trusts only these authorities.
nc_trust *fixture_trust(fixture *f, const nc_trust_options *options);
/// Returns a policy that trusts only the server's authority.
nc_trust *fixture_trust_of(fixture *f, const nct_server *server);

/// Scripts the reply for a path.
void fixture_script(fixture *f, const char *path, nct_reply reply);
/// Scripts a raw reply. The server closes the connection after it.
void fixture_script_raw(fixture *f, const char *path, const char *bytes);
/// Returns a plain request for a path.
nc_request fixture_request(fixture *f, const char *path);

/// Submits a request without a sink.
nc_transfer_id fixture_submit(fixture *f, const nc_request *request);
/// Waits for a transfer that has no sink.
answer fixture_wait(fixture *f, nc_transfer_id id);
/// Submits a request and waits for it.
answer fixture_send(fixture *f, const nc_request *request);
/// Sends a plain GET.
answer fixture_get(fixture *f, const char *path);

/// Returns request `index` as the server received it: NUL-terminated, at most 64 KiB.
const char *fixture_received(fixture *f, size_t index);

/// Fails unless the transfer ended with this status, native code and part of the message.
#define assert_ended(one, status, native, part)                                                                        \
    fixture_assert_ended((one), (status), (native), (part), __FILE__, __LINE__)
/// Implements assert_ended().
void fixture_assert_ended(answer one, nc_status status, int native, const char *part, const char *file, int line);
/// Fails unless the transfer succeeded with this status code and body.
#define assert_response(one, code, body) fixture_assert_response((one), (code), (body), __FILE__, __LINE__)
/// Implements assert_response().
void fixture_assert_response(answer one, unsigned code, const char *body, const char *file, int line);
/// Fails unless this is the value of the response's first field of the name.
#define assert_field(one, name, value) fixture_assert_field((one), (name), (value), __FILE__, __LINE__)
/// Implements assert_field().
void fixture_assert_field(answer one, const char *name, const char *value, const char *file, int line);

#endif
