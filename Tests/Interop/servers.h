/// Other people's servers, each in one temporary folder with its test, and an engine that trusts them.
///
///     int main(void) {
///         harness_begin();
///         if (!server_is_installed("microsocks")) return server_missing("microsocks");
///         …
///     }
///     server_reserve(&one);
///     server_run(&one, (const char *[]){"microsocks", "-p", server_text("%u", one.port), NULL}, NULL);
#ifndef NETCORE_TEST_SERVERS_H
#define NETCORE_TEST_SERVERS_H

#include "fixture.h"

/// One server.
typedef struct server {
    nct_process *process;
    int held_fd;
    uint16_t port;
} server;

/// Tells whether a program is there.
bool server_is_installed(const char *program);
/// Says that a test is skipped for want of a program; returns what main returns: a failure where CI is "true".
int server_missing(const char *program);

/// Makes the test's folder, and in it ca.pem, cert.pem and key.pem of a server at "localhost"; a group's set-up.
void servers_begin(void);
/// Removes the folder.
void servers_end(void);
/// The path of a file in the folder.
const char *server_path(const char *name);
/// A text, formatted; lives until the test ends.
const char *server_text(const char *format, ...) NC_PRINTF(1, 2);
/// Writes a file into the folder: `text`, or when that is NULL `length` bytes, byte i being 'a' + i % 26.
void server_write_file(const char *name, const char *text, size_t length);

/// What a file holds, at most 64 KiB of it; lives until the test ends.
const char *server_read_text(const char *path);

/// Chooses a port for a server that opens it by itself.
void server_reserve(server *one);
/// Opens a port for a server that inherits it as descriptor 3.
void server_listen(server *one);
/// Runs a program at the port chosen and waits until it accepts; what it prints is shown when it does not.
/// `variable` is "NAME=value" for its environment, or NULL.
void server_run(server *one, const char *const *arguments, const char *variable);
/// The same with `second`, opened by server_listen(), as descriptor 4.
void server_run_with(server *one, const server *second, const char *const *arguments, const char *variable);
/// Kills the program and keeps the port, so that it can be run again.
void server_kill(server *one);
/// Kills the program, if it runs, and gives the port up.
void server_stop(server *one);

/// Starts an engine; without a policy in the options it trusts the folder's authority. End it with fixture_stop().
void ask_start(fixture *f, const nc_engine_options *options);
/// A plain request: scheme, then "localhost", the server's port and the path.
nc_request ask_for(fixture *f, const server *one, const char *scheme, const char *path);
/// Sends a plain GET over http.
answer ask_get(fixture *f, const server *one, const char *path);
/// The body as a text, NUL-terminated.
const char *ask_body(fixture *f, answer one);
/// Fails unless the response's body holds this text.
#define assert_body_has(f, one, part) ask_assert_body((f), (one), (part), __FILE__, __LINE__)
/// What assert_body_has() calls.
void ask_assert_body(fixture *f, answer one, const char *part, const char *file, int line);

#endif
