/// Memory of a scan besides its state: the kinds of open containers and, if duplicates are rejected, their names.
#ifndef NETCORE_PRIVATE_JSON_ROOM_H
#define NETCORE_PRIVATE_JSON_ROOM_H

#include "json/names.h"

typedef struct nc_room {
    nc_names *names; // NULL if duplicates are allowed
    uint8_t *kinds;  // `usual`, or an allocation for a larger depth
    uint8_t usual[NC_JSON_DEFAULT_MAX_DEPTH];
} nc_room;

/// Allocates the memory that the options need (NULL for the defaults). The struct must not be moved.
///
/// Returns NC_OK, NC_ERR_USAGE for a depth above NC_JSON_MAX_DEPTH, or NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_room_init(nc_room *room, const nc_json_options *options, nc_error *err);
void nc_room_deinit(nc_room *room);

#endif
