/// The source of a path monitor's changes: one interface, several systems. Confined: one thread at a time.
#ifndef NETCORE_PRIVATE_PATH_SOURCE_H
#define NETCORE_PRIVATE_PATH_SOURCE_H

#include <netcore/path.h>

enum { NC_PATH_MAX_PLACES = 16 };

/// A numeric address.
typedef struct nc_path_place {
    uint8_t family; // 4 or 6
    uint8_t bytes[16];
    uint32_t scope; // the interface of a link-local address; 0 is none
} nc_path_place;

typedef struct nc_path_source nc_path_source;

/// Opens a source. It knows links, addresses and routes when this returns.
NC_NODISCARD nc_status nc_path_source_open(nc_path_source **out, nc_error *err);
/// Closes a source. NULL is allowed.
void nc_path_source_close(nc_path_source *source);
/// Returns a descriptor that is readable when something has changed.
int nc_path_source_fd(const nc_path_source *source);
/// Returns how long to wait for it at most, in milliseconds; -1 means no limit.
int nc_path_source_patience_ms(const nc_path_source *source);
/// Processes the system's messages, and calls `changed` after each change, in order. Never blocks.
void nc_path_source_read(nc_path_source *source, void (*changed)(void *ctx), void *ctx);

/// Returns the state of the route to the internet.
void nc_path_source_state(nc_path_source *source, nc_path_state *out);
/// Returns the state of the route to an address, by the system's route lookup.
void nc_path_source_state_of(nc_path_source *source, const nc_path_place *place, nc_path_state *out);

#endif
