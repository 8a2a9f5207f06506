/// Faults in words, and places as lines and columns.
#ifndef NETCORE_PRIVATE_JSON_FAILURE_H
#define NETCORE_PRIVATE_JSON_FAILURE_H

#include "json/scan.h"

/// A place in a text, counted on piece by piece; all zero is the first line's first column.
typedef struct nc_place {
    uint64_t line_feeds;
    uint64_t characters; // since the last of them
} nc_place;

/// Counts on over bytes.
void nc_place_pass(nc_place *place, nc_slice bytes);

/// Puts a scan's fault in words; `place` is where it is.
void nc_failure_fill(nc_json_failure *failure, const nc_scan *scan, nc_place place);
/// Fills `err` (which may be NULL) from a failure, and returns its status: NC_OK for none, else NC_ERR_BAD_JSON.
nc_status nc_failure_report(const nc_json_failure *failure, nc_error *err);

#endif
