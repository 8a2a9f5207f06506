/// Servers in another process (programs/serve), for tests that count descriptors and memory.
///
///     serving servers;
///     serving_start(&servers);
///     … torture_url is serving_url(url, &servers, false, "/page") …
///     serving_stop(&servers);
#ifndef NETCORE_TEST_SERVING_H
#define NETCORE_TEST_SERVING_H

#include "torture.h"

#include <stdio.h>
#include <sys/types.h>

typedef struct serving {
    pid_t process;
    FILE *commands;
    FILE *results;
    unsigned plain_port;
    unsigned tls_port;
    nc_trust *trust;
    char authority_path[64];
} serving;

/// Starts the process. Fails the test on an error. Call it before the first engine, because it forks.
void serving_start(serving *servers);
/// Sends a command, such as "release", and waits until it is done. See programs/serve.c.
bool serving_command(serving *servers, const char *order);
/// Ends the process.
void serving_stop(serving *servers);

/// Writes the URL of a path to `url` and returns it.
nc_slice serving_url(char *url, const serving *servers, bool is_tls, const char *path);

#endif
