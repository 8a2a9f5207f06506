/// The source of a path monitor's changes, with one implementation per operating system, and the monitor's target:
/// none, an address, or a name that is resolved. Only one thread at a time may use a source.
#ifndef NETCORE_PRIVATE_PATH_SOURCE_H
#define NETCORE_PRIVATE_PATH_SOURCE_H

#include <netcore/path.h>

enum { NC_PATH_MAX_DESTINATIONS = 16 };

/// A numeric address.
typedef struct nc_path_destination {
    uint8_t family; // 4 or 6
    uint8_t bytes[16];
    uint32_t scope; // the interface of a link-local address; 0 is none
} nc_path_destination;

typedef struct nc_path_source nc_path_source;

/// Opens a source. When this returns, the source has read the system's links, addresses and routes.
NC_NODISCARD nc_status nc_path_source_open(nc_path_source **out, nc_error *err);
/// Closes a source. NULL is allowed.
void nc_path_source_close(nc_path_source *source);
/// Returns a descriptor that is readable when something has changed.
int nc_path_source_fd(const nc_path_source *source);
/// Returns how long to wait at most until the next nc_path_source_read(), in milliseconds; -1 means no limit.
int nc_path_source_timeout_ms(const nc_path_source *source);
/// Processes the system's messages, and calls `changed` after each change, in order. Never blocks.
void nc_path_source_read(nc_path_source *source, void (*changed)(void *ctx), void *ctx);

/// Returns the state of the route to the internet.
void nc_path_source_state(nc_path_source *source, nc_path_state *out);
/// Asks the system for the route to an address, and returns its state.
void nc_path_source_state_of(nc_path_source *source, const nc_path_destination *destination, nc_path_state *out);

/* --- host_route.c --- */

enum { NC_PATH_HOST_BYTES = 256 };

/// The addresses of a host.
typedef struct nc_path_destinations {
    nc_path_destination destinations[NC_PATH_MAX_DESTINATIONS];
    size_t count;
} nc_path_destinations;

/// Copies a host without the brackets of an IPv6 address. Returns false if the host is too long or contains a NUL.
NC_NODISCARD bool nc_path_host_copy(nc_slice host, char out[NC_PATH_HOST_BYTES]);
/// Parses a numeric address. Returns false for a name.
bool nc_path_host_parse(const char *host, nc_path_destinations *out);
/// Calls the system's resolver, which may take long. Returns false if the resolver finds no address.
bool nc_path_host_lookup(const char *host, nc_path_destinations *out);

/// Returns the state of the route to the first reachable address of `destinations`, or of the route to the internet if
/// `destinations` is empty.
void nc_path_host_state(nc_path_source *source, const nc_path_destinations *destinations, nc_path_state *out);

#endif
