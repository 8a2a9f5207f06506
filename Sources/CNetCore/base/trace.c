#include "base/trace.h"

const char *nc_trace_name(nc_trace_point point) {
    switch (point) {
#define NC_TRACE_NAME(name, sentence)                                                                                  \
    case name:                                                                                                         \
        return #name;
        NC_TRACE_MAP(NC_TRACE_NAME)
#undef NC_TRACE_NAME
    case NC_TRACE_COUNT:
    default:
        return "NC_TRACE_COUNT";
    }
}
