#include "json/check.h"

/// Checks the grammar, and rejects an object that has a name twice.
typedef struct scan_hooks {
    nc_scan *scan;
    nc_names *names;
    nc_status status;
} scan_hooks;

static inline bool scan_on_begin(scan_hooks *hooks, bool is_object, uint64_t offset) {
    (void)offset;
    if (is_object && !nc_names_begin(hooks->names)) {
        hooks->status = NC_ERR_NO_MEMORY;
        return false;
    }
    return true;
}

static inline bool scan_on_end(scan_hooks *hooks, bool is_object, uint64_t offset) {
    (void)offset;
    if (is_object) {
        nc_names_end(hooks->names);
    }
    return true;
}

static inline nc_scan_answer scan_on_scalar(scan_hooks *hooks, nc_json_kind kind, bool is_plain, uint64_t offset) {
    (void)hooks, (void)kind, (void)is_plain, (void)offset;
    return NC_SCAN_PASS;
}

static inline bool scan_reads_name(const scan_hooks *hooks) {
    (void)hooks;
    return true;
}

static inline bool scan_on_text(scan_hooks *hooks, nc_json_kind kind, nc_slice part, unsigned place, uint64_t offset) {
    (void)kind;
    hooks->status = nc_names_check(hooks->names, hooks->scan, part, place, offset);
    return hooks->status == NC_OK;
}

#include "json/scan_core.h"

nc_status nc_check_names(nc_scan *scan, nc_names *names, nc_slice piece, bool is_last) {
    scan_hooks hooks = {scan, names, NC_OK};
    core_feed(scan, &hooks, piece, is_last);
    return hooks.status == NC_ERR_NO_MEMORY ? NC_ERR_NO_MEMORY : NC_OK;
}
