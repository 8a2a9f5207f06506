/// A scripted HTTP/1.1 server on a loopback address, and a proxy, for tests and demonstrations.
///
/// The server has one thread, is non-blocking, and uses plain TCP or TLS. The kernel chooses the port. Replies are
/// scripted by path, before or while it runs. Received requests are kept byte for byte. It uses malloc, not the
/// library's allocator hook, so that allocation tests count only the library. Nothing here sleeps: a test waits for an
/// event with a time limit.
///
///     nct_server *server;
///     nct_server_start(&server, NULL);
///     nct_reply reply = {.status = 200, .body = "hi", .body_length = 2};
///     nct_server_script(server, "/greeting", &reply);
///     … http://127.0.0.1:<nct_server_port(server)>/greeting …
///     nct_server_stop(server);
#ifndef NETTESTING_H
#define NETTESTING_H

#include "nettesting/base.h"
#include "nettesting/choice.h"
#include "nettesting/identity.h"
#include "nettesting/process.h"
#include "nettesting/proxy.h"
#include "nettesting/reply.h"
#include "nettesting/server.h"
#include "nettesting/socket.h"
#include "nettesting/test_certificate.h"
#include "nettesting/trust_fixture.h"

#endif
