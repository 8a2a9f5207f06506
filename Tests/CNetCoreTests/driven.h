/// A clock that the test can advance. It also runs by itself, because libcurl's timers depend on it.
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
    nc_clock clock;                // its ctx is this struct, which must not move
    atomic_uint_fast64_t ahead_ns; // relative to the system's clock
    uint64_t began_ns;
    gate seen; // opened by the loop
} driven;

/// Returns a clock that starts now.
driven driven_begin(void);

/// Returns the clock's time.
uint64_t driven_ns(void *ctx);
/// Returns the options with this clock.
nc_engine_options driven_options(driven *time, nc_engine_options options);
/// Starts a plain server and an engine with this clock.
void driven_start(fixture *f, driven *time, nc_engine_options options);
/// Starts a server with these options and an engine with this clock.
void driven_start_with(fixture *f, driven *time, const nct_server_options *server, nc_engine_options options);
/// Advances the clock, and waits until the engine has read it.
void driven_advance(driven *time, nc_engine *engine, uint32_t passed_ms);
/// Returns the milliseconds since the start.
uint64_t driven_passed_ms(driven *time);

#endif
