/// httpbin under gunicorn, from the environment in build/venv (script/bootstrap --tests).
#ifndef NETCORE_TEST_HTTPBIN_H
#define NETCORE_TEST_HTTPBIN_H

#include "servers.h"

/// The server of this test.
extern server httpbin;

/// Starts the server; a group's setup.
int httpbin_start(void **state);
/// Stops the server; a group's teardown.
int httpbin_stop(void **state);

/// Returns a plain request for a path.
nc_request httpbin_request(fixture *f, const char *path);
/// Returns a request with a method and a body from memory.
nc_request httpbin_upload(fixture *f, const char *method, const char *path, const char *body);
/// Sends a plain GET.
answer httpbin_get(fixture *f, const char *path);

#endif
