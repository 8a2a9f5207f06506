/// The TCP connection below TLS, as NetKit's own callback on its BIO sees it. Pure.
///
/// libcurl reports a reset below TLS, and an end without close_notify, only in its English text.
#ifndef NETCORE_PRIVATE_TLS_WIRE_H
#define NETCORE_PRIVATE_TLS_WIRE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct nc_tls_wire {
    int error;         // errno of the last failed read or write; 0 after a successful read
    int failed_writes; // failed writes since the last successful read
    bool has_ended;    // the TCP connection, or its receiving side, has ended
    bool is_closed;    // the peer has closed it, without a reset
    bool has_close_notify;
} nc_tls_wire;

/// Records a read. `result` is that of the BIO: bytes, 0 at the end, negative on failure with `error`. Returns true if
/// the connection has ended now.
static inline bool nc_tls_wire_read(nc_tls_wire *wire, int result, int error) {
    bool ends = result <= 0 && !wire->has_ended;
    wire->failed_writes = result > 0 ? 0 : wire->failed_writes;
    if (result > 0 || ends) { // a read after a reset returns 0
        wire->error = result < 0 ? error : 0;
        wire->has_ended = wire->has_ended || ends;
        wire->is_closed = result == 0;
    }
    return ends;
}

/// Records a failed write. Returns true if it may be reported as "would block": for the first three in a row.
static inline bool nc_tls_wire_hides_failed_write(nc_tls_wire *wire, int error) {
    enum { MAX_FAILED_WRITES = 3 };
    wire->error = error;
    return ++wire->failed_writes <= MAX_FAILED_WRITES;
}

/// Returns true if the peer has closed the connection without close_notify; false for NULL.
static inline bool nc_tls_wire_is_cut(const nc_tls_wire *wire) {
    return wire != NULL && wire->is_closed && !wire->has_close_notify;
}

/// Returns the errno of the last failure; 0 for none, also for NULL.
static inline int nc_tls_wire_error(const nc_tls_wire *wire) {
    return wire != NULL ? wire->error : 0;
}

#endif
