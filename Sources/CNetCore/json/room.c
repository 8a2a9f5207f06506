#include "json/room.h"

#include "base/alloc.h"
#include "base/error.h"

static nc_status run_out(nc_error *err) {
    return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "%s", nc_status_text(NC_ERR_NO_MEMORY));
}

nc_status nc_room_init(nc_room *room, const nc_json_options *options, nc_error *err) {
    uint32_t depth = nc_scan_max_depth(options);
    if (depth > NC_JSON_MAX_DEPTH) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "max_depth is above %u", NC_JSON_MAX_DEPTH);
    }
    room->names = NULL;
    room->kinds = room->usual;
    if (depth > sizeof room->usual) {
        room->kinds = nc_alloc(depth);
        if (room->kinds == NULL) {
            return run_out(err);
        }
    }
    if (options != NULL && options->refuses_duplicate_names) {
        room->names = nc_names_new(options->max_names);
        if (room->names == NULL) {
            nc_room_deinit(room);
            return run_out(err);
        }
    }
    return NC_OK;
}

void nc_room_deinit(nc_room *room) {
    nc_names_free(room->names);
    if (room->kinds != room->usual) {
        nc_free(room->kinds);
    }
    room->names = NULL;
    room->kinds = room->usual;
}
