/// Servers of other projects in one temporary directory with the test, and an engine that trusts them.
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

/// Returns true if a program is installed.
bool server_is_installed(const char *program);
/// Prints that a test is skipped because a program is missing. Returns the exit code of main: a failure if CI is
/// "true".
int server_missing(const char *program);

/// Creates the test's directory with ca.pem, cert.pem and key.pem of a server at "localhost"; a group's setup.
void servers_begin(void);
/// Removes the directory.
void servers_end(void);
/// Returns the path of a file in the directory.
const char *server_path(const char *name);
/// Formats a text; valid until the test ends.
const char *server_text(const char *format, ...) NC_PRINTF(1, 2);
/// Writes a file into the directory: `text`, or if that is NULL `length` bytes with byte i = 'a' + i % 26.
void server_write_file(const char *name, const char *text, size_t length);

/// Returns a file's contents, at most 64 KiB; valid until the test ends.
const char *server_read_text(const char *path);

/// Chooses a port for a server that opens it itself.
void server_reserve(server *one);
/// Opens a port for a server that inherits it as descriptor 3.
void server_listen(server *one);
/// Runs a program on the chosen port and waits until it accepts connections. Shows its output if it does not.
/// `variable` is "NAME=value" for its environment, or NULL.
void server_run(server *one, const char *const *arguments, const char *variable);
/// Runs a program with `second`, opened by server_listen(), as descriptor 4.
void server_run_with(server *one, const server *second, const char *const *arguments, const char *variable);
/// Kills the program and keeps the port for another run.
void server_kill(server *one);
/// Kills the program if it runs, and releases the port.
void server_stop(server *one);

/// Starts an engine. It trusts the directory's authority if the options have no policy. End it with fixture_stop().
void ask_start(fixture *f, const nc_engine_options *options);
/// Returns a plain request: scheme, then "localhost", the server's port and the path.
nc_request ask_for(fixture *f, const server *one, const char *scheme, const char *path);
/// Sends a plain GET over http.
answer ask_get(fixture *f, const server *one, const char *path);
/// Returns the body, NUL-terminated.
const char *ask_body(fixture *f, answer one);
/// Fails unless the response's body contains this text.
#define assert_body_has(f, one, part) ask_assert_body((f), (one), (part), __FILE__, __LINE__)
/// Implements assert_body_has().
void ask_assert_body(fixture *f, answer one, const char *part, const char *file, int line);

#endif
