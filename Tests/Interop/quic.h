/// An HTTP/3 server of the tests (http3_server.py), and requests to it over QUIC alone.
///
///     QUIC_MAIN(cases)
///     quic_start(&q, (const char *[]){"loss=10", NULL});
///     answer one = quic_get(&q, "/hello");
///     quic_stop(&q);
#ifndef NETCORE_TEST_QUIC_H
#define NETCORE_TEST_QUIC_H

#include "servers.h"

typedef struct quic {
    server server;
    fixture f;
} quic;

/// Returns true, and prints why, if libcurl has no HTTP/3.
bool quic_is_impossible(void);
/// Returns the exit code of main for a program that cannot run with aioquic: a skip if that is missing, a success if
/// there is nothing to test. Returns -1 if it can run.
int quic_missing(void);

/// Starts the server with options of http3_server.py, up to NULL; `options` may be NULL. Starts an engine.
void quic_start(quic *q, const char *const *options);
/// The same, with options of the engine.
void quic_start_with(quic *q, const char *const *options, const nc_engine_options *engine);
/// Starts a server with another certificate and key (PEM), and no engine.
void quic_run_server(server *one, const char *certificate, const char *key, const char *const *options);
void quic_stop(quic *q);

/// Returns a request that uses HTTP/3 only.
nc_request quic_request(quic *q, const char *path);
/// Sends a GET over HTTP/3 only.
answer quic_get(quic *q, const char *path);
/// Sends a GET over TCP only: a command for the server.
void quic_command(quic *q, const char *path);
/// Returns the number of connections that the transfer opened over QUIC, and fails if it did not use HTTP/3.
unsigned quic_opened(answer one);

/// The main function of a program with these cases.
#define QUIC_MAIN(cases)                                                                                               \
    int main(void) {                                                                                                   \
        harness_begin();                                                                                               \
        int code = quic_missing();                                                                                     \
        return code >= 0 ? code : cmocka_run_group_tests(cases, quic_begin, quic_end);                                 \
    }
/// The setup function of QUIC_MAIN().
int quic_begin(void **state);
/// The teardown function of QUIC_MAIN().
int quic_end(void **state);

#endif
