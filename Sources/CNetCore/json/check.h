/// The kinds of check: the grammar alone, duplicate names, a shape.
#ifndef NETCORE_PRIVATE_JSON_CHECK_H
#define NETCORE_PRIVATE_JSON_CHECK_H

#include "json/match.h"

/// Checks the next piece of a text; `is_last` marks the last one. Records a fault in the scan.
void nc_check_plain(nc_scan *scan, nc_slice piece, bool is_last);

/// Like nc_check_plain(), and rejects duplicate names. Returns NC_OK or NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_check_names(nc_scan *scan, nc_names *names, nc_slice piece, bool is_last);

/// Like nc_check_plain(), and matches a shape. Returns NC_OK or NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_check_shape(nc_scan *scan, nc_match *match, nc_slice piece, bool is_last);

/// Like nc_check_plain(), and does both.
NC_NODISCARD nc_status nc_check_shape_names(nc_scan *scan, nc_match *match, nc_names *names, nc_slice piece,
                                            bool is_last);

#endif
