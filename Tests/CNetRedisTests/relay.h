/// Forwards connections to a server's port, and cuts or holds them.
#ifndef NETCORE_TEST_REDIS_RELAY_H
#define NETCORE_TEST_REDIS_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct relay relay;

relay *relay_start(uint16_t port);
uint16_t relay_port(const relay *between);
/// Returns the number of connections that were accepted.
unsigned relay_connections(relay *between);
/// Cuts the current connection once after `bytes` more bytes of the server or of the client.
void relay_cut(relay *between, bool is_of_server, size_t bytes);
/// Stops forwarding on all connections that exist. They stay open.
void relay_hold(relay *between);
void relay_stop(relay *between);

#endif
