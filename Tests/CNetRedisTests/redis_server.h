/// A real Redis or Valkey server in a temporary directory, and a client's calls in one line each.
#ifndef NETCORE_TEST_REDIS_SERVER_H
#define NETCORE_TEST_REDIS_SERVER_H

#include "harness.h"

#include <netcore/redis.h>
#include <netcore/redis_subscription.h>
#include <nettesting.h>

/// A server on 127.0.0.1 and on a Unix socket.
typedef struct redis_server {
    nct_process *process;
    int held; // reserves the port
    uint16_t port;
    char directory[64];
    char arguments[24][128];
    size_t argument_count;
} redis_server;

/// Chooses the program that redis_server_start() runs: the first argument of main().
///
/// Returns 0. If the program is missing, returns what main() returns: 77, which CTest reports as skipped, or 1 with CI.
int redis_server_choose(int count, char **arguments);

/// Starts a server with more options: "--name", "value", …, NULL.
void redis_server_start(redis_server *server, const char *const *options);
/// Kills the server (SIGKILL), and starts it again on the same port.
void redis_server_kill(redis_server *server);
void redis_server_start_again(redis_server *server);
void redis_server_stop(redis_server *server);
/// Sends the server a signal.
void redis_server_signal(const redis_server *server, int signal);

/// The server of a group of tests, which these functions of cmocka start and stop.
extern redis_server redis_group_server;
int redis_group_setup(void **state);
int redis_group_teardown(void **state);

/// Writes a certificate of an authority in ca.pem for localhost into the server's directory, and starts it with TLS
/// only.
void redis_server_start_tls(redis_server *server);

/// Opens a client for a URL; a null URL is that of the server. `config` may be NULL.
nc_redis *redis_open(const redis_server *server, const char *url, const nc_redis_config *config);

/// Sends a command whose words are separated by spaces, with a limit of 10 s, and writes its reply as text: "(nil)",
/// ":1", "text", "-ERR …", "[a,b]", or the name of a status.
const char *redis_ask(nc_redis *client, const char *words);
/// The same with a time limit.
const char *redis_ask_within(nc_redis *client, const char *words, uint32_t timeout_ms);
/// Asks until the reply is the expected one. Fails after 20 s.
void redis_ask_until(nc_redis *client, const char *words, const char *expected);

#endif
