/// A clock that the test can advance. It also runs by itself, because libcurl's timers depend on it.
///
///     driven time = manual_clock_make();
///     manual_clock_start_fixture(&f, &time, (nc_engine_options){0});
///     manual_clock_advance(&time, f.engine, 1000);
#ifndef NETCORE_TEST_DRIVEN_H
#define NETCORE_TEST_DRIVEN_H

#include "fixture.h"
#include "gate.h"

#include <stdatomic.h>

typedef struct manual_clock {
    nc_clock clock;                // its ctx is this struct, which must not move
    atomic_uint_fast64_t ahead_ns; // relative to the system's clock
    uint64_t began_ns;
    gate seen; // opened by the loop
} manual_clock;

/// Returns a clock that starts now.
manual_clock manual_clock_make(void);

/// Returns the clock's time.
uint64_t manual_clock_ns(void *ctx);
/// Returns the options with this clock.
nc_engine_options manual_clock_options(manual_clock *time, nc_engine_options options);
/// Starts a plain server and an engine with this clock.
void manual_clock_start_fixture(fixture *f, manual_clock *time, nc_engine_options options);
/// Starts a server with these options and an engine with this clock.
void manual_clock_start_fixture_with(fixture *f, manual_clock *time, const nct_server_options *server,
                                     nc_engine_options options);
/// Advances the clock, and waits until the engine has read it.
void manual_clock_advance(manual_clock *time, nc_engine *engine, uint32_t passed_ms);
/// Returns the milliseconds since the start.
uint64_t manual_clock_passed_ms(manual_clock *time);

#endif
