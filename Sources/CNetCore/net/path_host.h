/// What a path monitor watches: nothing in particular, an address, or a name that is looked up.
#ifndef NETCORE_PRIVATE_PATH_HOST_H
#define NETCORE_PRIVATE_PATH_HOST_H

#include "net/path_source.h"

enum { NC_PATH_HOST_BYTES = 256 };

/// Addresses of a host.
typedef struct nc_path_places {
    nc_path_place places[NC_PATH_MAX_PLACES];
    size_t count;
} nc_path_places;

/// Copies a host without the brackets of an IPv6 address; false when it is too long or holds a NUL.
NC_NODISCARD bool nc_path_host_copy(nc_slice host, char out[NC_PATH_HOST_BYTES]);
/// Reads a numeric address; false for a name.
bool nc_path_host_parse(const char *host, nc_path_places *out);
/// Asks the system's resolver, which may take long; false when it has no answer.
bool nc_path_host_look_up(const char *host, nc_path_places *out);

/// The state of the way to these places, the first one that is reached; without places that to the internet.
void nc_path_host_state(nc_path_source *source, const nc_path_places *places, nc_path_state *out);

#endif
