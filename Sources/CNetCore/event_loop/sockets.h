/// Keeps for each descriptor the events that libcurl wants (`wanted`) and those that the poller waits for (`polled`).
/// Each update of the poller is a system call.
///
/// libcurl stops and starts waiting for a kept connection with each request. For sockets that the engine opened (and
/// closes), the poller is therefore not updated when no event is wanted any more, but only if an unwanted event
/// arrives. For descriptors that libcurl opens itself it is always updated. Event loop thread only.
#ifndef NETCORE_PRIVATE_SOCKETS_H
#define NETCORE_PRIVATE_SOCKETS_H

#include "event_loop/poller.h"

enum { NC_SOCKET_BUCKETS = 256 };

typedef struct nc_socket_entry {
    void *owner;
    uint64_t connection_id; // number of the connection, from 1; 0 if the engine did not open the socket
    uint32_t key;           // nc_sockets_key() of an idle socket; 0 if unknown
    int next_idle;          // next socket in the same bucket of `idle_buckets`: descriptor + 1, or 0
    uint8_t wanted;
    uint8_t polled;
    bool is_opened_by_engine;
} nc_socket_entry;

typedef struct nc_sockets {
    nc_poller *poller;
    nc_socket_entry *entries;
    size_t capacity;
    int idle_buckets[NC_SOCKET_BUCKETS]; // hash table of idle sockets by key; a bucket is the first socket's descriptor
                                         // + 1, or 0
} nc_sockets;

void nc_sockets_init(nc_sockets *sockets, nc_poller *poller);
void nc_sockets_deinit(nc_sockets *sockets);

/// Registers a socket that the engine opened.
NC_NODISCARD nc_status nc_sockets_opened(nc_sockets *sockets, int fd, uint64_t connection_id);
/// Returns the connection of a descriptor; 0 if the engine did not open it.
uint64_t nc_sockets_connection(const nc_sockets *sockets, int fd);
/// Returns a key by which an idle socket can be found although libcurl does not report the descriptor that it reuses.
/// The key is the local port, or a hash of the path of a Unix socket, which all connections to it share. Returns 0 if
/// both are missing.
uint32_t nc_sockets_key(const char *unix_socket, int local_port);
/// Records the key of a socket that is idle after a request.
void nc_sockets_idle(nc_sockets *sockets, int fd, uint32_t key);
/// Returns true if a socket has this local port.
bool nc_sockets_has_port(int fd, int local_port);
/// Returns the connection of the only idle socket with this key; 0 if there is none, or several.
uint64_t nc_sockets_idle_connection(const nc_sockets *sockets, uint32_t key);
/// Returns true if an idle socket with this key has unread bytes or was closed by the peer.
bool nc_sockets_has_unread(const nc_sockets *sockets, uint32_t key);
/// Returns true if the engine opened `fd` and the socket has unread bytes or was closed by the peer.
bool nc_sockets_is_unread(const nc_sockets *sockets, int fd);
/// Returns true if there are idle sockets with this key and none has received anything for `for_ns`. Returns false if
/// the system does not report that.
bool nc_sockets_are_silent(const nc_sockets *sockets, uint32_t key, uint64_t for_ns);
/// Forgets a socket that the engine opened and is about to close.
void nc_sockets_closing(nc_sockets *sockets, int fd);
/// Sets the events (NC_WANT_* bits) that `owner` wants from now on; 0 means none.
NC_NODISCARD nc_status nc_sockets_want(nc_sockets *sockets, int fd, int wanted, void *owner);
/// Returns true if any event of `fd` is wanted.
bool nc_sockets_is_wanted(const nc_sockets *sockets, int fd);
/// Returns true if libcurl waits for bytes from `fd`.
bool nc_sockets_is_read(const nc_sockets *sockets, int fd);
/// Returns true if the engine opened `fd` and no event of it is wanted.
bool nc_sockets_is_unwanted(const nc_sockets *sockets, int fd);
/// Returns the owner to which an event on `fd` is delivered. If no event is wanted, returns NULL and updates the
/// poller.
void *nc_sockets_owner(nc_sockets *sockets, int fd);
/// Stops the delivery of events to `owner`, which is about to be freed.
void nc_sockets_forget_owner(nc_sockets *sockets, const void *owner);

#endif
