#include "json/shape_match.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

/* --- memory of a scan --- */

static nc_status report_no_memory(nc_error *err) {
    return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "%s", nc_status_text(NC_ERR_NO_MEMORY));
}

nc_status nc_scan_memory_init(nc_scan_memory *memory, const nc_json_options *options, nc_error *err) {
    uint32_t depth = nc_scan_max_depth(options);
    if (depth > NC_JSON_MAX_DEPTH) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "max_depth is above %u", NC_JSON_MAX_DEPTH);
    }
    memory->names = NULL;
    memory->parents = memory->small;
    if (depth > sizeof memory->small) {
        memory->parents = nc_alloc(depth);
        if (memory->parents == NULL) {
            return report_no_memory(err);
        }
    }
    if (options != NULL && options->refuses_duplicate_names) {
        memory->names = nc_names_new(options->max_names);
        if (memory->names == NULL) {
            nc_scan_memory_deinit(memory);
            return report_no_memory(err);
        }
    }
    return NC_OK;
}

void nc_scan_memory_deinit(nc_scan_memory *memory) {
    nc_names_free(memory->names);
    if (memory->parents != memory->small) {
        nc_free(memory->parents);
    }
    memory->names = NULL;
    memory->parents = memory->small;
}

/* --- readers --- */

/// Hooks of a scan that delivers tokens (`on_token`), refuses duplicate names (`names`) and matches a shape (`match`).
/// Each of these may be NULL.
///
/// The hash of a name takes longer than the branches on NULL, so one compiled scanner serves all combinations. Checks
/// without `names` use other scanners: validator.c without a shape, shape_scanner.c with one.
typedef struct scan_hooks {
    nc_json_token_fn on_token;
    void *ctx;
    nc_names *names;
    nc_match *match;
    nc_scan *scan;
    uint64_t stop_offset;
    nc_status status; // NC_OK, or the status that stopped the scan
} scan_hooks;

#define HOOK_INLINE inline __attribute__((always_inline))

/// Not inlined, because checks for duplicate names, which have no token function, are faster without this code.
static __attribute__((noinline)) bool call_on_token(scan_hooks *hooks, nc_json_kind kind, nc_slice text,
                                                    uint64_t offset) {
    bool has_escapes = text.length > 0 && kind != NC_JSON_NUMBER && memchr(text.data, '\\', text.length) != NULL;
    nc_json_token token = {.kind = kind, .has_escapes = has_escapes, .text = text, .offset = offset};
    if (hooks->on_token(hooks->ctx, &token)) {
        return true;
    }
    hooks->status = NC_ERR_STOPPED_BY_CALLER;
    hooks->stop_offset = offset;
    return false;
}

static HOOK_INLINE bool deliver(scan_hooks *hooks, nc_json_kind kind, nc_slice text, uint64_t offset) {
    return hooks->on_token == NULL || call_on_token(hooks, kind, text, offset);
}

static HOOK_INLINE bool scan_on_begin(scan_hooks *hooks, bool is_object, uint64_t offset) {
    if (is_object && hooks->names != NULL && !nc_names_begin(hooks->names)) {
        hooks->status = NC_ERR_NO_MEMORY;
        return false;
    }
    return (hooks->match == NULL || nc_match_on_begin(hooks->match, is_object, offset)) &&
           deliver(hooks, is_object ? NC_JSON_OBJECT : NC_JSON_ARRAY, (nc_slice){0}, offset);
}

static HOOK_INLINE bool scan_on_end(scan_hooks *hooks, bool is_object, uint64_t offset) {
    if (is_object && hooks->names != NULL) {
        nc_names_end(hooks->names);
    }
    return (hooks->match == NULL || nc_match_on_end(hooks->match, is_object, offset)) &&
           deliver(hooks, is_object ? NC_JSON_OBJECT_END : NC_JSON_ARRAY_END, (nc_slice){0}, offset);
}

static nc_scan_action deliver_scalar(scan_hooks *hooks, nc_json_kind kind, uint64_t offset) {
    if (kind < NC_JSON_TRUE) {
        return NC_SCAN_DELIVER;
    }
    return deliver(hooks, kind, (nc_slice){0}, offset) ? NC_SCAN_SKIP : NC_SCAN_STOP;
}

static HOOK_INLINE nc_scan_action scan_on_scalar(scan_hooks *hooks, nc_json_kind kind, bool is_plain, uint64_t offset) {
    if (hooks->on_token != NULL) {
        return deliver_scalar(hooks, kind, offset);
    }
    return hooks->match == NULL ? NC_SCAN_SKIP : nc_match_on_scalar(hooks->match, kind, is_plain, offset);
}

static HOOK_INLINE bool scan_wants_name(const scan_hooks *hooks) {
    (void)hooks;
    return true;
}

/// If there is a token function, the text is one piece, so each part is a whole token.
static HOOK_INLINE bool scan_on_text(scan_hooks *hooks, nc_json_kind kind, nc_slice part, unsigned flags,
                                     uint64_t offset) {
    if (kind == NC_JSON_NAME && hooks->names != NULL) {
        hooks->status = nc_names_check(hooks->names, hooks->scan, part, flags, offset);
        if (hooks->status != NC_OK) {
            return false;
        }
    }
    return hooks->match != NULL ? nc_match_on_text(hooks->match, kind, part, flags, offset)
                                : deliver(hooks, kind, part, offset);
}

#include "json/scanner.inc"

nc_status nc_names_scan(nc_names *names, nc_match *match, nc_scan *scan, nc_slice piece, bool is_last) {
    scan_hooks hooks = {.names = names, .match = match, .scan = scan};
    scan_piece(scan, &hooks, piece, is_last);
    bool is_out_of_memory = hooks.status == NC_ERR_NO_MEMORY || (match != NULL && match->status == NC_ERR_NO_MEMORY);
    return is_out_of_memory ? NC_ERR_NO_MEMORY : NC_OK;
}

/// Fills `failure` and `err` for a text that was scanned in one piece, and returns the status.
static nc_status report(const scan_hooks *hooks, nc_slice text, nc_json_failure *failure, nc_error *err) {
    const nc_scan *scan = hooks->scan;
    nc_json_failure found = {0};
    if (scan->fault != NC_JSON_FAULT_NONE) {
        nc_position position = {0};
        nc_position_advance(&position, nc_slice_make(text.data, (size_t)scan->fault_offset));
        nc_scan_describe_fault(&found, scan, position);
    }
    if (failure != NULL) {
        *failure = found;
    }
    if (found.fault == NC_JSON_FAULT_NONE && hooks->status != NC_OK) {
        int64_t offset = hooks->status == NC_ERR_STOPPED_BY_CALLER ? (int64_t)hooks->stop_offset : -1;
        return nc_error_set(err, hooks->status, 0, offset, "%s", nc_status_text(hooks->status));
    }
    return nc_scan_report_failure(&found, err);
}

nc_status nc_json_read(nc_slice text, const nc_json_options *options, nc_json_token_fn on_token, void *ctx,
                       nc_json_failure *failure, nc_error *err) {
    nc_scan scan;
    scan_hooks hooks = {.on_token = on_token, .ctx = ctx, .scan = &scan};
    nc_scan_memory memory;
    nc_status status = nc_scan_memory_init(&memory, options, err);
    if (status != NC_OK) {
        return status;
    }
    hooks.names = memory.names;
    nc_scan_init(&scan, options, memory.parents);
    scan_piece(&scan, &hooks, text, true);
    status = report(&hooks, text, failure, err);
    nc_scan_memory_deinit(&memory);
    return status;
}
