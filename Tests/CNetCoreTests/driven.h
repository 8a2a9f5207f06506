/// A clock that the test puts forward. It also goes by itself: libcurl's timers, which are set by it, are not the
/// test's.
///
///     driven time = driven_begin();
///     driven_start(&f, &time, (nc_engine_options){0});
///     driven_advance(&time, f.engine, 1000);
#ifndef NETCORE_TEST_DRIVEN_H
#define NETCORE_TEST_DRIVEN_H

#include "fixture.h"
#include "gate.h"

#include <stdatomic.h>

typedef struct driven {
    nc_clock clock;                // its ctx is this struct: it may not move
    atomic_uint_fast64_t ahead_ns; // of the system's clock
    uint64_t began_ns;
    gate seen; // by the loop
} driven;

/// A clock that begins now.
driven driven_begin(void);

/// The clock's time.
uint64_t driven_ns(void *ctx);
/// The options of an engine that goes by the clock.
nc_engine_options driven_options(driven *time, nc_engine_options options);
/// Starts a plain server and an engine that goes by the clock.
void driven_start(fixture *f, driven *time, nc_engine_options options);
/// The same with a server of another kind.
void driven_start_with(fixture *f, driven *time, const nct_server_options *server, nc_engine_options options);
/// Puts the clock forward, and waits until the engine has seen it.
void driven_advance(driven *time, nc_engine *engine, uint32_t passed_ms);
/// Milliseconds that have passed.
uint64_t driven_passed_ms(driven *time);

#endif
