/// The events that libcurl wants of each descriptor, and those the poller is registered for. Each difference costs a
/// system call.
///
/// An idle connection changes between "wanted" and "not wanted" with every request. For sockets that the engine opened
/// (and closes), the poller is left as it is until an event shows that it matters. Descriptors that libcurl opens
/// itself are always synchronized. Event loop thread only.
#ifndef NETCORE_PRIVATE_SOCKETS_H
#define NETCORE_PRIVATE_SOCKETS_H

#include "net/poller.h"

enum { NC_KEPT_ROWS = 256 };

typedef struct nc_socket {
    void *owner;
    uint64_t connection_id; // of a socket opened by the engine, counted from 1
    uint32_t key;           // of an idle one; 0 if unknown
    int next_kept;          // next in the list of its key: descriptor + 1, or 0
    uint8_t wanted;
    uint8_t told;
    bool is_ours;
} nc_socket;

typedef struct nc_sockets {
    nc_poller *poller;
    nc_socket *entries;
    size_t capacity;
    int kept[NC_KEPT_ROWS]; // the first of each list, by key: descriptor + 1, or 0
} nc_sockets;

void nc_sockets_init(nc_sockets *sockets, nc_poller *poller);
void nc_sockets_deinit(nc_sockets *sockets);

/// Registers a socket that the engine opened.
NC_NODISCARD nc_status nc_sockets_opened(nc_sockets *sockets, int fd, uint64_t connection_id);
/// Returns the connection of a descriptor; 0 if the engine did not open it.
uint64_t nc_sockets_connection(const nc_sockets *sockets, int fd);
/// Returns a key of a connection's socket before libcurl reports which one it is: its local port, or the path of a Unix
/// socket, which all its connections share. Returns 0 if there is neither.
uint32_t nc_sockets_key(const char *unix_socket, int local_port);
/// Marks the socket as idle after a request.
void nc_sockets_kept(nc_sockets *sockets, int fd, uint32_t key);
/// Returns true if a socket has this local port.
bool nc_sockets_has_port(int fd, int local_port);
/// Returns the connection of the only idle socket with this key; 0 if there is none, or several.
uint64_t nc_sockets_kept_connection(const nc_sockets *sockets, uint32_t key);
/// Returns true if an idle socket with this key has unread bytes or has ended.
bool nc_sockets_has_unread(const nc_sockets *sockets, uint32_t key);
/// Returns true if a socket of the engine has unread bytes or has ended.
bool nc_sockets_is_unread(const nc_sockets *sockets, int fd);
/// Returns true if no idle socket with this key has received anything for this time; false if the system does not
/// report it.
bool nc_sockets_are_silent(const nc_sockets *sockets, uint32_t key, uint64_t for_ns);
/// Handles the imminent close of a socket that the engine opened.
void nc_sockets_closing(nc_sockets *sockets, int fd);
/// Sets the NC_WANT_* bits that `owner` wants from now on; 0 is none.
NC_NODISCARD nc_status nc_sockets_want(nc_sockets *sockets, int fd, int wanted, void *owner);
/// Returns true if any event of `fd` is wanted.
bool nc_sockets_is_wanted(const nc_sockets *sockets, int fd);
/// Returns true if bytes from `fd` are wanted.
bool nc_sockets_is_read(const nc_sockets *sockets, int fd);
/// Returns true if no event of an open socket of the engine is wanted.
bool nc_sockets_is_left_alone(const nc_sockets *sockets, int fd);
/// Returns the owner of an event on `fd`. If there is none, returns NULL and corrects the poller.
void *nc_sockets_owner(nc_sockets *sockets, int fd);
/// Delivers no event to `owner` any more.
void nc_sockets_forget_owner(nc_sockets *sockets, const void *owner);

#endif
