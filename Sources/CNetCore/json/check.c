#include "json/check.h"

/// Checks the grammar only.
typedef struct scan_hooks {
    char nothing;
} scan_hooks;

static inline bool scan_on_begin(scan_hooks *hooks, bool is_object, uint64_t offset) {
    (void)hooks, (void)is_object, (void)offset;
    return true;
}

static inline bool scan_on_end(scan_hooks *hooks, bool is_object, uint64_t offset) {
    (void)hooks, (void)is_object, (void)offset;
    return true;
}

static inline nc_scan_answer scan_on_scalar(scan_hooks *hooks, nc_json_kind kind, bool is_plain, uint64_t offset) {
    (void)hooks, (void)kind, (void)is_plain, (void)offset;
    return NC_SCAN_PASS;
}

static inline bool scan_reads_name(const scan_hooks *hooks) {
    (void)hooks;
    return false;
}

static inline bool scan_on_text(scan_hooks *hooks, nc_json_kind kind, nc_slice part, unsigned place, uint64_t offset) {
    (void)hooks, (void)kind, (void)part, (void)place, (void)offset;
    return true;
}

#include "json/scan_core.h"

void nc_check_plain(nc_scan *scan, nc_slice piece, bool is_last) {
    scan_hooks hooks = {0};
    core_feed(scan, &hooks, piece, is_last);
}
