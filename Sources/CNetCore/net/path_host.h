/// The target of a path monitor: none, an address, or a name that is resolved.
#ifndef NETCORE_PRIVATE_PATH_HOST_H
#define NETCORE_PRIVATE_PATH_HOST_H

#include "net/path_source.h"

enum { NC_PATH_HOST_BYTES = 256 };

/// Addresses of a host.
typedef struct nc_path_places {
    nc_path_place places[NC_PATH_MAX_PLACES];
    size_t count;
} nc_path_places;

/// Copies a host without the brackets of an IPv6 address. Returns false if it is too long or has a NUL.
NC_NODISCARD bool nc_path_host_copy(nc_slice host, char out[NC_PATH_HOST_BYTES]);
/// Parses a numeric address. Returns false for a name.
bool nc_path_host_parse(const char *host, nc_path_places *out);
/// Calls the system's resolver, which may take long. Returns false if it has no address.
bool nc_path_host_look_up(const char *host, nc_path_places *out);

/// Returns the state of the route to the first reachable address, or to the internet if there are none.
void nc_path_host_state(nc_path_source *source, const nc_path_places *places, nc_path_state *out);

#endif
