/// Measures the memory of many concurrent transfers on one engine, with the servers in another process.
///
///     weigh open|tls|waiting|idle COUNT
///
/// open and tls: COUNT transfers in the middle of their bodies, which all complete. waiting: COUNT requests that wait
/// for the limit. idle: the CPU time of COUNT slow transfers during two seconds. Prints resident memory (or time) and
/// the target. Fails only if a transfer does.
#include "serving.h"

#include <netcore/transfers.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LONG_MS = 120000, IDLE_S = 2 };

typedef struct weighing {
    const char *what;
    size_t count;
    bool is_tls;
    bool is_waiting;
    double aim;
} weighing;

static const weighing kinds[] = {
    {.what = "open", .aim = 30},
    {.what = "tls", .is_tls = true, .aim = 85},
    {.what = "waiting", .is_waiting = true, .aim = 8},
    {.what = "idle", .aim = 10},
};

static double resident_kib(void) {
    unsigned long total = 0;
    unsigned long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &total, &resident), 2);
    (void)fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static double cpu_ms(void) {
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

/// Prints the result and the target.
static void report(const weighing *at, double value, const char *unit) {
    printf("%s %zu: %.1f %s (aim %.0f)\n", at->what, at->count, value, unit, at->aim);
}

/// Reports that all transfers have reached the point of the measurement.
typedef struct arrivals {
    nc_trace_point point;
    size_t expected;
    atomic_size_t count;
    torture_gate all_are_there;
} arrivals;

static void count_arrival(void *ctx, nc_trace_point point, nc_transfer_id id) {
    arrivals *seen = ctx;
    (void)id;
    if (point == seen->point && atomic_fetch_add(&seen->count, 1) + 1 == seen->expected) {
        torture_gate_open(&seen->all_are_there);
    }
}

static nc_engine *engine_of(const weighing *at, const serving *servers, arrivals *seen) {
    return torture_engine(&(nc_engine_options){.trust = servers->trust,
                                               .trace = {seen, count_arrival},
                                               .max_in_flight = (uint32_t)at->count,
                                               .max_per_host = (uint32_t)at->count,
                                               .max_waiting = (uint32_t)at->count + 1});
}

/// Runs one request of the kind to its end, so that one-time allocations are done.
static void warm_up(nc_engine *engine, const weighing *at, const serving *servers) {
    char url[TORTURE_URL_BYTES];
    torture_fetch fetch = {0};
    nc_request request = {.url = serving_url(url, servers, at->is_tls, "/page")};
    (void)torture_submit(engine, &request, &fetch);
    assert_true(torture_await(&fetch, 1, LONG_MS));
    assert_status(fetch.status, NC_OK);
}

static void weigh(const weighing *at, serving *servers) {
    char url[TORTURE_URL_BYTES];
    char order[64];
    torture_fetch fetch = {0};
    arrivals seen = {
        .point = at->is_waiting ? NC_TRACE_QUEUED : NC_TRACE_HEAD_DONE,
        .expected = at->count + 1, // the first one warms up
        .all_are_there = TORTURE_GATE_INIT,
    };
    nc_engine *engine = engine_of(at, servers, &seen);
    const nc_request request = {.url = serving_url(url, servers, at->is_tls, "/stalled"),
                                .limits = {.total_ms = NC_UNLIMITED, .connect_ms = LONG_MS, .slot_ms = LONG_MS}};
    warm_up(engine, at, servers);
    double before_kib = resident_kib();
    uint64_t began_ms = torture_now_ms();
    nc_engine_set_suspended(engine, at->is_waiting);
    for (size_t i = 0; i < at->count; i++) {
        (void)torture_submit(engine, &request, &fetch);
    }
    (void)snprintf(order, sizeof order, "stalled %zu %zu", at->is_tls ? 0 : at->count, at->is_tls ? at->count : 0);
    if (!at->is_waiting) {
        assert_true(serving_command(servers, order));
        printf("%zu at once after %llu ms\n", at->count, (unsigned long long)(torture_now_ms() - began_ms));
    }
    assert_true(torture_gate_wait(&seen.all_are_there));
    if (strcmp(at->what, "idle") == 0) {
        double before_ms = cpu_ms();
        sleep(IDLE_S);
        report(at, cpu_ms() - before_ms, "ms of CPU in 2 s");
    } else {
        report(at, (resident_kib() - before_kib) / (double)at->count, "KiB each");
    }
    if (at->is_waiting) {
        assert_status(nc_engine_close(engine, LONG_MS), NC_OK);
        assert_int_equal(fetch.cancelled_count, at->count);
        return;
    }
    assert_true(serving_command(servers, "release"));
    assert_true(torture_await(&fetch, at->count, LONG_MS));
    assert_int_equal(fetch.ok_count, at->count);
    printf("all %zu completed after %llu ms\n", at->count, (unsigned long long)(torture_now_ms() - began_ms));
    assert_status(nc_engine_close(engine, LONG_MS), NC_OK);
}

int main(int count, char **arguments) {
    serving servers;
    harness_allow_descriptors();
    for (size_t i = 0; count == 3 && i < sizeof kinds / sizeof kinds[0]; i++) {
        weighing at = kinds[i];
        at.count = strtoull(arguments[2], NULL, 10);
        if (strcmp(at.what, arguments[1]) == 0 && at.count > 0) {
            serving_start(&servers);
            weigh(&at, &servers);
            serving_stop(&servers);
            return 0;
        }
    }
    fprintf(stderr, "weigh open|tls|waiting|idle COUNT\n");
    return 2;
}
