/// The ways of checking: the grammar alone, with the names of objects, with a shape.
#ifndef NETCORE_PRIVATE_JSON_CHECK_H
#define NETCORE_PRIVATE_JSON_CHECK_H

#include "json/match.h"

/// Takes a piece, the last one if `is_last`; what is wrong is noted in the scan.
void nc_check_plain(nc_scan *scan, nc_slice piece, bool is_last);

/// As nc_check_plain(), with the names of objects compared. Returns NC_ERR_NO_MEMORY when that ran out, else NC_OK.
NC_NODISCARD nc_status nc_check_names(nc_scan *scan, nc_names *names, nc_slice piece, bool is_last);

/// As nc_check_plain(), matching a shape. Returns NC_ERR_NO_MEMORY when that ran out, else NC_OK.
NC_NODISCARD nc_status nc_check_shape(nc_scan *scan, nc_match *match, nc_slice piece, bool is_last);

/// Both at once.
NC_NODISCARD nc_status nc_check_shape_names(nc_scan *scan, nc_match *match, nc_names *names, nc_slice piece,
                                            bool is_last);

#endif
