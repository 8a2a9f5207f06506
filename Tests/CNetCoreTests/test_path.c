/// A path monitor in a private network namespace reports each change once and in order, and misses none.
#include "netns.h"
#include "torture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_REPORTS = 8192 };

/// The reports of a monitor, in order.
typedef struct report_log {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    nc_path_state states[MAX_REPORTS];
    size_t count;
    size_t read;
    bool is_ended;
} report_log;

static void on_change(void *ctx, const nc_path_state *state) {
    report_log *reports = ctx;
    pthread_mutex_lock(&reports->mutex);
    assert_true(!reports->is_ended && reports->count < MAX_REPORTS);
    reports->states[reports->count++] = *state;
    pthread_cond_broadcast(&reports->condition);
    pthread_mutex_unlock(&reports->mutex);
}

static void on_end(void *ctx) {
    report_log *reports = ctx;
    pthread_mutex_lock(&reports->mutex);
    assert_false(reports->is_ended);
    reports->is_ended = true;
    pthread_cond_broadcast(&reports->condition);
    pthread_mutex_unlock(&reports->mutex);
}

/// Waits for the end, or for one more state.
static bool report_log_wait(report_log *reports, bool for_end) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += TORTURE_PATIENCE_MS / 1000;
    pthread_mutex_lock(&reports->mutex);
    int failure = 0;
    while (failure == 0 && (for_end ? !reports->is_ended : reports->count == reports->read)) {
        failure = pthread_cond_timedwait(&reports->condition, &reports->mutex, &until);
    }
    pthread_mutex_unlock(&reports->mutex);
    return failure == 0;
}

static nc_path_state report_log_next(report_log *reports) {
    nc_path_state state = {.status = NC_PATH_UNKNOWN};
    if (!report_log_wait(reports, false)) {
        fail_msg("no change after state %zu", reports->read);
    }
    pthread_mutex_lock(&reports->mutex);
    state = reports->states[reports->read++];
    pthread_mutex_unlock(&reports->mutex);
    return state;
}

static nc_path *watch(report_log *reports, const char *host) {
    nc_path_options options = {.host = nc_slice_of(host), .ctx = reports, .on_change = on_change, .on_end = on_end};
    nc_path *path = NULL;
    nc_error err;
    memset(reports, 0, sizeof *reports);
    pthread_mutex_init(&reports->mutex, NULL);
    pthread_cond_init(&reports->condition, NULL);
    assert_status(nc_path_new(&path, &options, &err), NC_OK);
    return path;
}

/// Ends a monitor. Fails if it has an unexpected report.
static void unwatch(nc_path *path, report_log *reports) {
    nc_path_state last;
    nc_path_current(path, &last);
    assert_true(nc_path_state_is_equal(&last, &reports->states[reports->count - 1]));
    nc_path_release(path);
    assert_true(report_log_wait(reports, true));
    assert_int_equal(reports->read, reports->count);
}

#define expect_next(reports, wanted_status, wanted_kind, wanted_name)                                                  \
    do {                                                                                                               \
        nc_path_state next_state = report_log_next(reports);                                                           \
        assert_int_equal(next_state.status, wanted_status);                                                            \
        assert_string_equal(nc_path_kind_name(next_state.kind), nc_path_kind_name(wanted_kind));                       \
        assert_string_equal(next_state.interface_name, wanted_name);                                                   \
    } while (0)

#define expect_none(reports) expect_next(reports, NC_PATH_NOT_REACHABLE, NC_PATH_KIND_NONE, "")
#define expect_wired(reports, name) expect_next(reports, NC_PATH_VIA_WIFI_OR_WIRED, NC_PATH_KIND_WIRED, name)

static const netns_route over_a = {.gateway = "10.9.0.2", .link = "eth0"};
static const netns_route over_b = {.gateway = "10.8.0.2", .link = "eth1", .metric = 50};

/// Creates eth0, which is up and has an address, but no route.
static void begin(void) {
    netns_add_pair("eth0", "peer0");
    netns_set("peer0", true);
    netns_set("eth0", true);
    netns_await_running("eth0");
    netns_add_address("eth0", "10.9.0.1", 24);
}

static void end(void) {
    netns_delete("eth0");
}

/* --- the default routes --- */

static void path__the_state_is_known_when_new_returns(void **state) {
    (void)state;
    static report_log reports;
    nc_path_state now;
    nc_path *path = watch(&reports, "");
    nc_path_current(path, &now);
    assert_int_equal(now.status, NC_PATH_NOT_REACHABLE);
    expect_none(&reports);
    unwatch(path, &reports);
    begin();
    netns_add_route(&over_a);
    path = watch(&reports, "");
    nc_path_current(path, &now);
    assert_int_equal(now.status, NC_PATH_VIA_WIFI_OR_WIRED);
    assert_true(now.has_ipv4 && !now.has_ipv6 && now.interface_index > 0);
    expect_wired(&reports, "eth0");
    unwatch(path, &reports);
    end();
}

static void path__reports_each_of_1000_link_changes_once(void **state) {
    (void)state;
    static report_log reports;
    uint64_t times = torture_number("NETCORE_TORTURE_FLAPS", 1000);
    begin();
    nc_path *path = watch(&reports, "");
    expect_none(&reports);
    for (uint64_t i = 0; i < times; i++) {
        netns_add_route(&over_a);
        expect_wired(&reports, "eth0");
        // When the link goes down, the kernel removes its route without a notification.
        netns_set("eth0", false);
        expect_none(&reports);
        netns_set("eth0", true);
        reports.read = i % 1000 == 999 ? 0 : reports.read;
        reports.count = reports.read == 0 ? 0 : reports.count;
    }
    netns_add_route(&over_a);
    expect_wired(&reports, "eth0");
    unwatch(path, &reports);
    end();
}

static void path__reports_every_change_of_a_burst(void **state) {
    (void)state;
    static report_log reports;
    begin();
    nc_path *path = watch(&reports, "");
    expect_none(&reports);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 10; i++) {
            netns_add_route(&over_a);
            netns_set("eth0", false);
            netns_set("eth0", true);
            netns_await_running("eth0"); // without a carrier its route would change nothing
        }
        for (int i = 0; i < 10; i++) {
            expect_wired(&reports, "eth0");
            expect_none(&reports);
        }
    }
    unwatch(path, &reports);
    end();
}

static void path__reports_a_carrier_that_is_lost_and_returns(void **state) {
    (void)state;
    static report_log reports;
    begin();
    netns_add_route(&over_a);
    nc_path *path = watch(&reports, "");
    expect_wired(&reports, "eth0");
    for (int i = 0; i < 20; i++) {
        netns_set("peer0", false);
        expect_none(&reports);
        netns_set("peer0", true);
        expect_wired(&reports, "eth0");
    }
    unwatch(path, &reports);
    end();
}

static void path__follows_a_default_route_that_moves(void **state) {
    (void)state;
    static report_log reports;
    begin();
    netns_add_pair("eth1", "peer1");
    netns_set("peer1", true);
    netns_set("eth1", true);
    netns_await_running("eth1");
    netns_add_address("eth1", "10.8.0.1", 24);
    netns_add_route(&over_a);
    nc_path *path = watch(&reports, "");
    expect_wired(&reports, "eth0");
    netns_route worse = over_b;
    worse.metric = 300;
    netns_route best = over_a;
    best.metric = 300;
    netns_remove_route(&over_a);
    expect_none(&reports);
    netns_add_route(&best);
    expect_wired(&reports, "eth0");
    netns_add_route(&over_b); // a smaller metric
    expect_wired(&reports, "eth1");
    netns_remove_route(&over_b);
    expect_wired(&reports, "eth0");
    worse.replaces = true; // ip route replace: no message reports the removal of the old one
    netns_add_route(&worse);
    expect_wired(&reports, "eth1");
    netns_remove_address("eth1", "10.8.0.1", 24); // the last address removes the routes too
    expect_none(&reports);
    unwatch(path, &reports);
    netns_delete("eth1");
    end();
}

static void path__treats_an_unreachable_route_as_no_route(void **state) {
    (void)state;
    static report_log reports;
    begin();
    netns_route refuses = {.metric = 5};
    netns_route six = {.destination = "::", .gateway = "2001:db8::2", .link = "eth0"};
    netns_route worse = over_a;
    worse.metric = 10;
    netns_add_route(&worse);
    nc_path *path = watch(&reports, "");
    expect_wired(&reports, "eth0");
    netns_add_route(&refuses);
    expect_none(&reports);
    netns_add_address("eth0", "2001:db8::1", 64);
    netns_add_route(&six);
    nc_path_state only_six = report_log_next(&reports);
    assert_true(only_six.has_ipv6 && !only_six.has_ipv4);
    netns_remove_route(&refuses);
    nc_path_state both = report_log_next(&reports);
    assert_true(both.has_ipv6 && both.has_ipv4);
    unwatch(path, &reports);
    end();
}

static void path__reports_a_vpn_and_its_underlying_interface(void **state) {
    (void)state;
    static report_log reports;
    begin();
    netns_set("eth0", false);
    netns_rename("eth0", "wwan0");
    netns_set("wwan0", true);
    netns_await_running("wwan0");
    netns_route modem = {.gateway = "10.9.0.2", .link = "wwan0", .metric = 100};
    netns_add_route(&modem);
    nc_path *path = watch(&reports, "");
    expect_next(&reports, NC_PATH_VIA_CELLULAR, NC_PATH_KIND_CELLULAR, "wwan0");
    int tunnel = netns_add_tun("tun0", false);
    netns_set("tun0", true);
    netns_add_address("tun0", "10.7.0.1", 24);
    // Like OpenVPN: two routes capture all traffic, and the default route is unchanged.
    netns_route low = {.destination = "0.0.0.0", .prefix_bits = 1, .gateway = "10.7.0.2", .link = "tun0"};
    netns_route high = {.destination = "128.0.0.0", .prefix_bits = 1, .gateway = "10.7.0.2", .link = "tun0"};
    netns_add_route(&low);
    netns_add_route(&high);
    expect_next(&reports, NC_PATH_VIA_CELLULAR, NC_PATH_KIND_VPN, "tun0");
    netns_remove_route(&high);
    expect_next(&reports, NC_PATH_VIA_CELLULAR, NC_PATH_KIND_CELLULAR, "wwan0");
    // wg-quick adds its default route in a separate table.
    netns_route apart = {.link = "tun0", .table = 51820};
    netns_add_route(&apart);
    expect_next(&reports, NC_PATH_VIA_CELLULAR, NC_PATH_KIND_VPN, "tun0");
    netns_set("wwan0", false);
    expect_next(&reports, NC_PATH_VIA_WIFI_OR_WIRED, NC_PATH_KIND_VPN, "tun0");
    close(tunnel); // the program that created it ends
    expect_none(&reports);
    unwatch(path, &reports);
    netns_delete("wwan0");
}

static void path__classifies_links_by_name_without_kernel_information(void **state) {
    (void)state;
    static const struct {
        const char *name;
        nc_path_status status;
        nc_path_kind kind;
    } rows[] = {
        {"wlan0", NC_PATH_VIA_WIFI_OR_WIRED, NC_PATH_KIND_WIRELESS},
        {"rmnet_data0", NC_PATH_VIA_CELLULAR, NC_PATH_KIND_CELLULAR},
        {"ppp0", NC_PATH_VIA_CELLULAR, NC_PATH_KIND_CELLULAR},
        {"wg0", NC_PATH_VIA_WIFI_OR_WIRED, NC_PATH_KIND_VPN},
        {"enp3s0", NC_PATH_VIA_WIFI_OR_WIRED, NC_PATH_KIND_WIRED},
    };
    static report_log reports;
    begin();
    netns_add_route(&over_a);
    nc_path *path = watch(&reports, "");
    expect_wired(&reports, "eth0");
    const char *name = "eth0";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        netns_set(name, false);
        expect_none(&reports);
        netns_rename(name, rows[i].name);
        name = rows[i].name;
        netns_set(name, true);
        netns_route route = {.gateway = "10.9.0.2", .link = name};
        netns_add_route(&route);
        expect_next(&reports, rows[i].status, rows[i].kind, name);
    }
    unwatch(path, &reports);
    netns_delete(name);
}

/* --- one host --- */

static void path__asks_the_kernel_for_the_route_to_an_address(void **state) {
    (void)state;
    static report_log reports;
    nc_path_state look;
    begin();
    netns_set("lo", true);
    nc_path *path = watch(&reports, "10.9.0.77");
    expect_wired(&reports, "eth0"); // on the link: no default route is needed
    assert_status(nc_path_lookup(&look, nc_slice_of("192.0.2.1"), NULL), NC_OK);
    assert_int_equal(look.status, NC_PATH_NOT_REACHABLE);
    assert_status(nc_path_lookup(&look, nc_slice_of("127.0.0.1"), NULL), NC_OK);
    assert_int_equal(look.kind, NC_PATH_KIND_LOOPBACK);
    assert_status(nc_path_lookup(&look, nc_slice_of("[::1]"), NULL), NC_OK);
    assert_true(look.kind == NC_PATH_KIND_LOOPBACK && look.has_ipv6);
    netns_route refuses = {.destination = "10.9.0.77", .prefix_bits = 32};
    netns_add_route(&refuses);
    netns_set("lo", false); // any change of a link makes the monitor query the host's route again
    expect_none(&reports);
    netns_set("lo", true);
    netns_remove_route(&refuses);
    netns_add_route(&over_a);
    expect_wired(&reports, "eth0");
    unwatch(path, &reports);
    netns_set("lo", false);
    end();
}

static void path__uses_the_default_routes_for_an_unknown_host(void **state) {
    (void)state;
    static report_log reports;
    begin();
    nc_path *path = watch(&reports, "no.such.host.invalid");
    expect_none(&reports);
    netns_add_route(&over_a);
    expect_wired(&reports, "eth0");
    unwatch(path, &reports);
    end();
}

static void path__resolves_a_host_name_itself(void **state) {
    (void)state;
    static report_log reports;
    netns_set("lo", true);
    nc_path *path = watch(&reports, "localhost");
    expect_none(&reports);
    expect_next(&reports, NC_PATH_VIA_WIFI_OR_WIRED, NC_PATH_KIND_LOOPBACK, "lo");
    unwatch(path, &reports);
    netns_set("lo", false);
}

/* --- memory --- */

static void path__dumps_again_after_an_allocation_failure_for_a_notification(void **state) {
    (void)state;
    static report_log reports;
    nc_path *path = watch(&reports, "");
    expect_none(&reports);
    for (int i = 0; i < 6; i++) {
        harness_fail_allocation(1);
        begin();
        netns_add_route(&over_a);
        expect_wired(&reports, "eth0");
        assert_true(i > 0 || harness_has_failed_allocation());
        harness_fail_allocation(0);
        end();
        expect_none(&reports);
    }
    unwatch(path, &reports);
}

int main(void) {
    harness_begin();
    // A query to a name server on this host, without a network, would otherwise block up to the test's limit.
    assert_int_equal(setenv("RES_OPTIONS", "timeout:1 attempts:1", 1), 0);
    if (!netns_enter()) {
        return getenv("CI") == NULL ? 0 : 1;
    }
    const struct CMUnitTest cases[] = {
        harness_case(path__the_state_is_known_when_new_returns),
        harness_case(path__reports_each_of_1000_link_changes_once),
        harness_case(path__reports_every_change_of_a_burst),
        harness_case(path__reports_a_carrier_that_is_lost_and_returns),
        harness_case(path__follows_a_default_route_that_moves),
        harness_case(path__treats_an_unreachable_route_as_no_route),
        harness_case(path__reports_a_vpn_and_its_underlying_interface),
        harness_case(path__classifies_links_by_name_without_kernel_information),
        harness_case(path__asks_the_kernel_for_the_route_to_an_address),
        harness_case(path__uses_the_default_routes_for_an_unknown_host),
        harness_case(path__resolves_a_host_name_itself),
        harness_case(path__dumps_again_after_an_allocation_failure_for_a_notification),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
