#include "base/error.h"
#include "json/failure.h"
#include "json/room.h"

#include <string.h>

/// Passes every token to the caller's function.
typedef struct scan_hooks {
    nc_json_token_fn on_token;
    void *ctx;
    nc_names *names; // NULL if duplicates are allowed
    nc_scan *scan;
    uint64_t stop_offset;
    nc_status status; // NC_OK, or the status that stopped the scan
} scan_hooks;

static bool give(scan_hooks *hooks, nc_json_kind kind, nc_slice text, uint64_t offset) {
    bool has_escapes = text.length > 0 && kind != NC_JSON_NUMBER && memchr(text.data, '\\', text.length) != NULL;
    nc_json_token token = {.kind = kind, .has_escapes = has_escapes, .text = text, .offset = offset};
    if (hooks->on_token(hooks->ctx, &token)) {
        return true;
    }
    hooks->status = NC_ERR_STOPPED_BY_CALLER;
    hooks->stop_offset = offset;
    return false;
}

static bool scan_on_begin(scan_hooks *hooks, bool is_object, uint64_t offset) {
    if (is_object && hooks->names != NULL && !nc_names_begin(hooks->names)) {
        hooks->status = NC_ERR_NO_MEMORY;
        return false;
    }
    return give(hooks, is_object ? NC_JSON_OBJECT : NC_JSON_ARRAY, (nc_slice){0}, offset);
}

static bool scan_on_end(scan_hooks *hooks, bool is_object, uint64_t offset) {
    if (is_object && hooks->names != NULL) {
        nc_names_end(hooks->names);
    }
    return give(hooks, is_object ? NC_JSON_OBJECT_END : NC_JSON_ARRAY_END, (nc_slice){0}, offset);
}

static nc_scan_answer scan_on_scalar(scan_hooks *hooks, nc_json_kind kind, bool is_plain, uint64_t offset) {
    (void)is_plain;
    if (kind < NC_JSON_TRUE) {
        return NC_SCAN_READ;
    }
    return give(hooks, kind, (nc_slice){0}, offset) ? NC_SCAN_PASS : NC_SCAN_STOP;
}

static bool scan_reads_name(const scan_hooks *hooks) {
    (void)hooks;
    return true;
}

/// The text is one piece, so every part is a whole token.
static bool scan_on_text(scan_hooks *hooks, nc_json_kind kind, nc_slice part, unsigned place, uint64_t offset) {
    if (kind == NC_JSON_NAME && hooks->names != NULL) {
        hooks->status = nc_names_check(hooks->names, hooks->scan, part, place, offset);
        if (hooks->status != NC_OK) {
            return false;
        }
    }
    return give(hooks, kind, part, offset);
}

#include "json/scan_core.h"

/// Returns the result for a text that was scanned in one piece.
static nc_status conclude(const scan_hooks *hooks, nc_slice text, nc_json_failure *failure, nc_error *err) {
    const nc_scan *scan = hooks->scan;
    nc_json_failure found = {0};
    if (scan->fault != NC_JSON_FAULT_NONE) {
        nc_place place = {0};
        nc_place_pass(&place, nc_slice_make(text.data, (size_t)scan->fault_offset));
        nc_failure_fill(&found, scan, place);
    }
    if (failure != NULL) {
        *failure = found;
    }
    if (found.fault == NC_JSON_FAULT_NONE && hooks->status != NC_OK) {
        int64_t offset = hooks->status == NC_ERR_STOPPED_BY_CALLER ? (int64_t)hooks->stop_offset : -1;
        return nc_error_set(err, hooks->status, 0, offset, "%s", nc_status_text(hooks->status));
    }
    return nc_failure_report(&found, err);
}

nc_status nc_json_read(nc_slice text, const nc_json_options *options, nc_json_token_fn on_token, void *ctx,
                       nc_json_failure *failure, nc_error *err) {
    nc_scan scan;
    scan_hooks hooks = {.on_token = on_token, .ctx = ctx, .scan = &scan};
    nc_room room;
    nc_status status = nc_room_init(&room, options, err);
    if (status != NC_OK) {
        return status;
    }
    hooks.names = room.names;
    nc_scan_init(&scan, options, room.kinds);
    core_feed(&scan, &hooks, text, true);
    status = conclude(&hooks, text, failure, err);
    nc_room_deinit(&room);
    return status;
}
