/// What libcurl wants of each descriptor, and what the poller has been told: the difference costs system calls.
///
/// A kept connection goes from "wanted" to "not wanted" and back with every request. For sockets that the engine
/// opened itself (and therefore sees closed) the poller is left as it is until an event shows that it matters;
/// descriptors that libcurl opens behind our back are followed to the letter. Confined to the loop thread.
#ifndef NETCORE_PRIVATE_SOCKETS_H
#define NETCORE_PRIVATE_SOCKETS_H

#include "net/poller.h"

enum { NC_KEPT_ROWS = 256 };

typedef struct nc_socket {
    void *owner;
    uint64_t connection_id; // of a socket of the engine's own, counted from 1
    uint32_t key;           // of one that is kept for another request; 0 when unknown
    int next_kept;          // in the row of its key: a descriptor and 1, or 0
    uint8_t wanted;
    uint8_t told;
    bool is_ours;
} nc_socket;

typedef struct nc_sockets {
    nc_poller *poller;
    nc_socket *entries;
    size_t capacity;
    int kept[NC_KEPT_ROWS]; // the first of each row, by key: a descriptor and 1, or 0
} nc_sockets;

void nc_sockets_init(nc_sockets *sockets, nc_poller *poller);
void nc_sockets_deinit(nc_sockets *sockets);

/// A socket of the engine's own was opened under this number.
NC_NODISCARD nc_status nc_sockets_opened(nc_sockets *sockets, int fd, uint64_t connection_id);
/// Which connection stands behind a number; 0 when it is not the engine's own.
uint64_t nc_sockets_connection(const nc_sockets *sockets, int fd);
/// What a connection's socket is known by before libcurl tells which it is: its local port, or the path of a Unix
/// socket, which all connections to it share. 0 when there is neither.
uint32_t nc_sockets_key(const char *unix_socket, int local_port);
/// A request over this socket is over; its connection may be used again.
void nc_sockets_kept(nc_sockets *sockets, int fd, uint32_t key);
/// Whether a socket has this port on our side.
bool nc_sockets_has_port(int fd, int local_port);
/// The connection behind the one kept socket of this key; 0 when there is none, or several.
uint64_t nc_sockets_kept_connection(const nc_sockets *sockets, uint32_t key);
/// Whether a kept socket of this key has something to read, be it its end.
bool nc_sockets_has_unread(const nc_sockets *sockets, uint32_t key);
/// Whether one of ours has something to read, be it its end.
bool nc_sockets_is_unread(const nc_sockets *sockets, int fd);
/// Whether no kept socket of this key has received anything for as long; false when the system does not tell.
bool nc_sockets_are_silent(const nc_sockets *sockets, uint32_t key, uint64_t for_ns);
/// A socket of the engine's own is about to be closed.
void nc_sockets_closing(nc_sockets *sockets, int fd);
/// `owner` wants these NC_WANT_ bits from now on; 0 is nothing.
NC_NODISCARD nc_status nc_sockets_want(nc_sockets *sockets, int fd, int wanted, void *owner);
/// Whether anything of `fd` is wanted.
bool nc_sockets_is_wanted(const nc_sockets *sockets, int fd);
/// Whether bytes from `fd` are wanted.
bool nc_sockets_is_read(const nc_sockets *sockets, int fd);
/// Whether nothing is wanted of a socket of the engine's own that is open.
bool nc_sockets_is_left_alone(const nc_sockets *sockets, int fd);
/// Who is to hear of an event on `fd`; NULL (and the poller mended) when nobody is.
void *nc_sockets_owner(nc_sockets *sockets, int fd);
/// No event is delivered to `owner` any more.
void nc_sockets_forget_owner(nc_sockets *sockets, const void *owner);

#endif
