/// Calls an engine's trace listener. Without a listener this costs one branch.
#ifndef NETCORE_PRIVATE_TRACE_H
#define NETCORE_PRIVATE_TRACE_H

#include <netcore/trace.h>

static inline void nc_trace_pass(const nc_trace *trace, nc_trace_point point, nc_transfer_id id) {
    if (__builtin_expect(trace->on_point != NULL, 0)) {
        trace->on_point(trace->ctx, point, id);
    }
}

#endif
