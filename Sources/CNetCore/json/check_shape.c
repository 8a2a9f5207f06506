#define SHAPE_HAS_NAMES false
#include "json/shape_hooks.h"

nc_status nc_check_shape(nc_scan *scan, nc_match *match, nc_slice piece, bool is_last) {
    return shape_feed(scan, match, NULL, piece, is_last);
}
