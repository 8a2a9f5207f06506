/// Descriptions of JSON faults, and their line and column.
#ifndef NETCORE_PRIVATE_JSON_FAILURE_H
#define NETCORE_PRIVATE_JSON_FAILURE_H

#include "json/scan.h"

/// A line and column that is advanced piece by piece. A zeroed struct is line 1, column 1.
typedef struct nc_place {
    uint64_t line_feeds;
    uint64_t characters; // since the last line feed
} nc_place;

/// Advances over bytes.
void nc_place_pass(nc_place *place, nc_slice bytes);

/// Describes a scan's fault; `place` is its position.
void nc_failure_fill(nc_json_failure *failure, const nc_scan *scan, nc_place place);
/// Fills `err` (which may be NULL) from a failure, and returns its status: NC_OK for none, else NC_ERR_BAD_JSON.
nc_status nc_failure_report(const nc_json_failure *failure, nc_error *err);

#endif
