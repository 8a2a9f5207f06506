#include "driven.h"

static uint64_t system_ns(void) {
    const nc_clock clock = nc_clock_system();
    return clock.monotonic_ns(clock.ctx);
}

manual_clock manual_clock_make(void) {
    return (manual_clock){.began_ns = system_ns(), .seen = GATE_INIT};
}

uint64_t manual_clock_ns(void *ctx) {
    return system_ns() + atomic_load(&((manual_clock *)ctx)->ahead_ns);
}

/// Returns a real date, because certificates are checked against it.
static int64_t realtime_ns(void *ctx) {
    const nc_clock clock = nc_clock_system();
    return clock.realtime_ns(clock.ctx) + (int64_t)atomic_load(&((manual_clock *)ctx)->ahead_ns);
}

static bool on_loop_round(void *ctx, uint32_t max_jobs) {
    (void)max_jobs;
    gate_open(&((manual_clock *)ctx)->seen);
    return false;
}

nc_engine_options manual_clock_options(manual_clock *time, nc_engine_options options) {
    time->clock = (nc_clock){time, manual_clock_ns, realtime_ns};
    options.clock = &time->clock;
    options.loop_client = (nc_loop_client){.ctx = time, .drain = on_loop_round};
    return options;
}

void manual_clock_start_fixture_with(fixture *f, manual_clock *time, const nct_server_options *server,
                                     nc_engine_options options) {
    options = manual_clock_options(time, options);
    fixture_start_with(f, server, &options);
}

void manual_clock_start_fixture(fixture *f, manual_clock *time, nc_engine_options options) {
    manual_clock_start_fixture_with(f, time, NULL, options);
}

void manual_clock_advance(manual_clock *time, nc_engine *engine, uint32_t passed_ms) {
    atomic_fetch_add(&time->ahead_ns, (uint64_t)passed_ms * 1000000u);
    pthread_mutex_lock(&time->seen.mutex);
    unsigned before = time->seen.count;
    pthread_mutex_unlock(&time->seen.mutex);
    assert_true(nc_engine_wake(engine));
    gate_wait_for(&time->seen, before + 1);
}

uint64_t manual_clock_passed_ms(manual_clock *time) {
    return (manual_clock_ns(time) - time->began_ns) / 1000000u;
}
