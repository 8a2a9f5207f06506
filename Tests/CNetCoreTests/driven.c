#include "driven.h"

static uint64_t system_ns(void) {
    const nc_clock clock = nc_clock_system();
    return clock.monotonic_ns(clock.ctx);
}

driven driven_begin(void) {
    return (driven){.began_ns = system_ns(), .seen = GATE_INIT};
}

uint64_t driven_ns(void *ctx) {
    return system_ns() + atomic_load(&((driven *)ctx)->ahead_ns);
}

/// A real date: certificates are held against it.
static int64_t realtime_ns(void *ctx) {
    const nc_clock clock = nc_clock_system();
    return clock.realtime_ns(clock.ctx) + (int64_t)atomic_load(&((driven *)ctx)->ahead_ns);
}

static bool note_round(void *ctx, uint32_t max_jobs) {
    (void)max_jobs;
    gate_open(&((driven *)ctx)->seen);
    return false;
}

nc_engine_options driven_options(driven *time, nc_engine_options options) {
    time->clock = (nc_clock){time, driven_ns, realtime_ns};
    options.clock = &time->clock;
    options.loop_client = (nc_loop_client){.ctx = time, .drain = note_round};
    return options;
}

void driven_start_with(fixture *f, driven *time, const nct_server_options *server, nc_engine_options options) {
    options = driven_options(time, options);
    fixture_start_with(f, server, &options);
}

void driven_start(fixture *f, driven *time, nc_engine_options options) {
    driven_start_with(f, time, NULL, options);
}

void driven_advance(driven *time, nc_engine *engine, uint32_t passed_ms) {
    atomic_fetch_add(&time->ahead_ns, (uint64_t)passed_ms * 1000000u);
    pthread_mutex_lock(&time->seen.mutex);
    unsigned before = time->seen.count;
    pthread_mutex_unlock(&time->seen.mutex);
    assert_true(nc_engine_wake(engine));
    gate_wait_for(&time->seen, before + 1);
}

uint64_t driven_passed_ms(driven *time) {
    return (driven_ns(time) - time->began_ns) / 1000000u;
}
