#define SHAPE_HAS_NAMES true
#include "json/shape_hooks.h"

nc_status nc_check_shape_names(nc_scan *scan, nc_match *match, nc_names *names, nc_slice piece, bool is_last) {
    return shape_feed(scan, match, names, piece, is_last);
}
