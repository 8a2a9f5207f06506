/// What a scan takes beside its state: the kinds of the open containers, and their names while duplicates are refused.
#ifndef NETCORE_PRIVATE_JSON_ROOM_H
#define NETCORE_PRIVATE_JSON_ROOM_H

#include "json/names.h"

typedef struct nc_room {
    nc_names *names; // NULL while duplicates pass
    uint8_t *kinds;  // `usual`, unless the depth asks for more
    uint8_t usual[NC_JSON_DEFAULT_MAX_DEPTH];
} nc_room;

/// Makes the room that options (NULL for the defaults) ask for. The struct stays where it is while it is in use.
///
/// Returns NC_OK, NC_ERR_USAGE for a depth above NC_JSON_MAX_DEPTH, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_room_init(nc_room *room, const nc_json_options *options, nc_error *err);
void nc_room_deinit(nc_room *room);

#endif
