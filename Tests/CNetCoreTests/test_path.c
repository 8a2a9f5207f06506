/// A path monitor in a private network namespace reports each change once and in order, and misses none.
#include "netns.h"
#include "torture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_TOLD = 8192 };

/// The reports of a monitor, in order.
typedef struct diary {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    nc_path_state told[MAX_TOLD];
    size_t count;
    size_t read;
    bool is_ended;
} diary;

static void on_change(void *ctx, const nc_path_state *state) {
    diary *kept = ctx;
    pthread_mutex_lock(&kept->mutex);
    assert_true(!kept->is_ended && kept->count < MAX_TOLD);
    kept->told[kept->count++] = *state;
    pthread_cond_broadcast(&kept->condition);
    pthread_mutex_unlock(&kept->mutex);
}

static void on_end(void *ctx) {
    diary *kept = ctx;
    pthread_mutex_lock(&kept->mutex);
    assert_false(kept->is_ended);
    kept->is_ended = true;
    pthread_cond_broadcast(&kept->condition);
    pthread_mutex_unlock(&kept->mutex);
}

/// Waits for the end, or for one more state.
static bool diary_wait(diary *kept, bool for_end) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += TORTURE_PATIENCE_MS / 1000;
    pthread_mutex_lock(&kept->mutex);
    int failure = 0;
    while (failure == 0 && (for_end ? !kept->is_ended : kept->count == kept->read)) {
        failure = pthread_cond_timedwait(&kept->condition, &kept->mutex, &until);
    }
    pthread_mutex_unlock(&kept->mutex);
    return failure == 0;
}

static nc_path_state diary_next(diary *kept) {
    nc_path_state state = {.status = NC_PATH_UNKNOWN};
    if (!diary_wait(kept, false)) {
        fail_msg("no change after state %zu", kept->read);
    }
    pthread_mutex_lock(&kept->mutex);
    state = kept->told[kept->read++];
    pthread_mutex_unlock(&kept->mutex);
    return state;
}

static nc_path *watch(diary *kept, const char *host) {
    nc_path_options options = {.host = nc_slice_of(host), .ctx = kept, .on_change = on_change, .on_end = on_end};
    nc_path *path = NULL;
    nc_error err;
    memset(kept, 0, sizeof *kept);
    pthread_mutex_init(&kept->mutex, NULL);
    pthread_cond_init(&kept->condition, NULL);
    assert_status(nc_path_new(&path, &options, &err), NC_OK);
    return path;
}

/// Ends a monitor. Fails if it has an unexpected report.
static void unwatch(nc_path *path, diary *kept) {
    nc_path_state last;
    nc_path_current(path, &last);
    assert_true(nc_path_state_is_equal(&last, &kept->told[kept->count - 1]));
    nc_path_release(path);
    assert_true(diary_wait(kept, true));
    assert_int_equal(kept->read, kept->count);
}

#define expect_next(kept, wanted_status, wanted_kind, wanted_name)                                                     \
    do {                                                                                                               \
        nc_path_state next_state = diary_next(kept);                                                                   \
        assert_int_equal(next_state.status, wanted_status);                                                            \
        assert_string_equal(nc_path_kind_name(next_state.kind), nc_path_kind_name(wanted_kind));                       \
        assert_string_equal(next_state.interface_name, wanted_name);                                                   \
    } while (0)

#define expect_none(kept) expect_next(kept, NC_PATH_NOT_REACHABLE, NC_PATH_KIND_NONE, "")
#define expect_wired(kept, name) expect_next(kept, NC_PATH_VIA_WIFI_OR_WIRED, NC_PATH_KIND_WIRED, name)

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

static void path__knows_its_state_before_new_returns(void **state) {
    (void)state;
    static diary kept;
    nc_path_state now;
    nc_path *path = watch(&kept, "");
    nc_path_current(path, &now);
    assert_int_equal(now.status, NC_PATH_NOT_REACHABLE);
    expect_none(&kept);
    unwatch(path, &kept);
    begin();
    netns_add_route(&over_a);
    path = watch(&kept, "");
    nc_path_current(path, &now);
    assert_int_equal(now.status, NC_PATH_VIA_WIFI_OR_WIRED);
    assert_true(now.has_ipv4 && !now.has_ipv6 && now.interface_index > 0);
    expect_wired(&kept, "eth0");
    unwatch(path, &kept);
    end();
}

static void path__tells_a_link_that_goes_up_and_down_1000_times_each_time_once(void **state) {
    (void)state;
    static diary kept;
    uint64_t times = torture_number("NETCORE_TORTURE_FLAPS", 1000);
    begin();
    nc_path *path = watch(&kept, "");
    expect_none(&kept);
    for (uint64_t i = 0; i < times; i++) {
        netns_add_route(&over_a);
        expect_wired(&kept, "eth0");
        // The kernel drops the route without a notification.
        netns_set("eth0", false);
        expect_none(&kept);
        netns_set("eth0", true);
        kept.read = i % 1000 == 999 ? 0 : kept.read;
        kept.count = kept.read == 0 ? 0 : kept.count;
    }
    netns_add_route(&over_a);
    expect_wired(&kept, "eth0");
    unwatch(path, &kept);
    end();
}

static void path__tells_every_step_of_a_burst(void **state) {
    (void)state;
    static diary kept;
    begin();
    nc_path *path = watch(&kept, "");
    expect_none(&kept);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 10; i++) {
            netns_add_route(&over_a);
            netns_set("eth0", false);
            netns_set("eth0", true);
            netns_await_running("eth0"); // without a carrier its route would change nothing
        }
        for (int i = 0; i < 10; i++) {
            expect_wired(&kept, "eth0");
            expect_none(&kept);
        }
    }
    unwatch(path, &kept);
    end();
}

static void path__tells_a_carrier_that_is_lost_and_comes_back(void **state) {
    (void)state;
    static diary kept;
    begin();
    netns_add_route(&over_a);
    nc_path *path = watch(&kept, "");
    expect_wired(&kept, "eth0");
    for (int i = 0; i < 20; i++) {
        netns_set("peer0", false);
        expect_none(&kept);
        netns_set("peer0", true);
        expect_wired(&kept, "eth0");
    }
    unwatch(path, &kept);
    end();
}

static void path__follows_a_default_route_that_moves(void **state) {
    (void)state;
    static diary kept;
    begin();
    netns_add_pair("eth1", "peer1");
    netns_set("peer1", true);
    netns_set("eth1", true);
    netns_await_running("eth1");
    netns_add_address("eth1", "10.8.0.1", 24);
    netns_add_route(&over_a);
    nc_path *path = watch(&kept, "");
    expect_wired(&kept, "eth0");
    netns_route worse = over_b;
    worse.metric = 300;
    netns_route best = over_a;
    best.metric = 300;
    netns_remove_route(&over_a);
    expect_none(&kept);
    netns_add_route(&best);
    expect_wired(&kept, "eth0");
    netns_add_route(&over_b); // a smaller metric
    expect_wired(&kept, "eth1");
    netns_remove_route(&over_b);
    expect_wired(&kept, "eth0");
    worse.replaces = true; // ip route replace: no message reports the removal of the old one
    netns_add_route(&worse);
    expect_wired(&kept, "eth1");
    netns_remove_address("eth1", "10.8.0.1", 24); // the last address removes the routes too
    expect_none(&kept);
    unwatch(path, &kept);
    netns_delete("eth1");
    end();
}

static void path__finds_a_refusing_route_to_be_none(void **state) {
    (void)state;
    static diary kept;
    begin();
    netns_route refuses = {.metric = 5};
    netns_route six = {.destination = "::", .gateway = "2001:db8::2", .link = "eth0"};
    netns_route worse = over_a;
    worse.metric = 10;
    netns_add_route(&worse);
    nc_path *path = watch(&kept, "");
    expect_wired(&kept, "eth0");
    netns_add_route(&refuses);
    expect_none(&kept);
    netns_add_address("eth0", "2001:db8::1", 64);
    netns_add_route(&six);
    nc_path_state only_six = diary_next(&kept);
    assert_true(only_six.has_ipv6 && !only_six.has_ipv4);
    netns_remove_route(&refuses);
    nc_path_state both = diary_next(&kept);
    assert_true(both.has_ipv6 && both.has_ipv4);
    unwatch(path, &kept);
    end();
}

static void path__sees_a_vpn_and_what_carries_it(void **state) {
    (void)state;
    static diary kept;
    begin();
    netns_set("eth0", false);
    netns_rename("eth0", "wwan0");
    netns_set("wwan0", true);
    netns_await_running("wwan0");
    netns_route modem = {.gateway = "10.9.0.2", .link = "wwan0", .metric = 100};
    netns_add_route(&modem);
    nc_path *path = watch(&kept, "");
    expect_next(&kept, NC_PATH_VIA_CELLULAR, NC_PATH_KIND_CELLULAR, "wwan0");
    int tunnel = netns_add_tun("tun0", false);
    netns_set("tun0", true);
    netns_add_address("tun0", "10.7.0.1", 24);
    // As OpenVPN does, which captures all traffic without a change of the default route.
    netns_route low = {.destination = "0.0.0.0", .prefix_bits = 1, .gateway = "10.7.0.2", .link = "tun0"};
    netns_route high = {.destination = "128.0.0.0", .prefix_bits = 1, .gateway = "10.7.0.2", .link = "tun0"};
    netns_add_route(&low);
    netns_add_route(&high);
    expect_next(&kept, NC_PATH_VIA_CELLULAR, NC_PATH_KIND_VPN, "tun0");
    netns_remove_route(&high);
    expect_next(&kept, NC_PATH_VIA_CELLULAR, NC_PATH_KIND_CELLULAR, "wwan0");
    // As wg-quick does, in a separate table.
    netns_route apart = {.link = "tun0", .table = 51820};
    netns_add_route(&apart);
    expect_next(&kept, NC_PATH_VIA_CELLULAR, NC_PATH_KIND_VPN, "tun0");
    netns_set("wwan0", false);
    expect_next(&kept, NC_PATH_VIA_WIFI_OR_WIRED, NC_PATH_KIND_VPN, "tun0");
    close(tunnel); // the program that created it ends
    expect_none(&kept);
    unwatch(path, &kept);
    netns_delete("wwan0");
}

static void path__knows_links_by_name_where_the_kernel_says_nothing(void **state) {
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
    static diary kept;
    begin();
    netns_add_route(&over_a);
    nc_path *path = watch(&kept, "");
    expect_wired(&kept, "eth0");
    const char *name = "eth0";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        netns_set(name, false);
        expect_none(&kept);
        netns_rename(name, rows[i].name);
        name = rows[i].name;
        netns_set(name, true);
        netns_route route = {.gateway = "10.9.0.2", .link = name};
        netns_add_route(&route);
        expect_next(&kept, rows[i].status, rows[i].kind, name);
    }
    unwatch(path, &kept);
    netns_delete(name);
}

/* --- one host --- */

static void path__asks_the_kernel_for_the_way_to_an_address(void **state) {
    (void)state;
    static diary kept;
    nc_path_state look;
    begin();
    netns_set("lo", true);
    nc_path *path = watch(&kept, "10.9.0.77");
    expect_wired(&kept, "eth0"); // on the link: no default route is needed
    assert_status(nc_path_look(&look, nc_slice_of("192.0.2.1"), NULL), NC_OK);
    assert_int_equal(look.status, NC_PATH_NOT_REACHABLE);
    assert_status(nc_path_look(&look, nc_slice_of("127.0.0.1"), NULL), NC_OK);
    assert_int_equal(look.kind, NC_PATH_KIND_LOOPBACK);
    assert_status(nc_path_look(&look, nc_slice_of("[::1]"), NULL), NC_OK);
    assert_true(look.kind == NC_PATH_KIND_LOOPBACK && look.has_ipv6);
    netns_route refuses = {.destination = "10.9.0.77", .prefix_bits = 32};
    netns_add_route(&refuses);
    netns_set("peer0", false); // any relevant change triggers a new query
    expect_none(&kept);
    netns_set("peer0", true);
    netns_remove_route(&refuses);
    netns_add_route(&over_a);
    expect_wired(&kept, "eth0");
    unwatch(path, &kept);
    netns_set("lo", false);
    end();
}

static void path__goes_by_the_default_routes_for_a_name_that_nobody_knows(void **state) {
    (void)state;
    static diary kept;
    begin();
    nc_path *path = watch(&kept, "no.such.host.invalid");
    expect_none(&kept);
    netns_add_route(&over_a);
    expect_wired(&kept, "eth0");
    unwatch(path, &kept);
    end();
}

static void path__looks_a_name_up_by_itself(void **state) {
    (void)state;
    static diary kept;
    netns_set("lo", true);
    nc_path *path = watch(&kept, "localhost");
    expect_none(&kept);
    expect_next(&kept, NC_PATH_VIA_WIFI_OR_WIRED, NC_PATH_KIND_LOOPBACK, "lo");
    unwatch(path, &kept);
    netns_set("lo", false);
}

/* --- memory --- */

static void path__dumps_again_when_memory_ran_out_for_news(void **state) {
    (void)state;
    static diary kept;
    nc_path *path = watch(&kept, "");
    expect_none(&kept);
    for (int i = 0; i < 6; i++) {
        harness_fail_allocation(1);
        begin();
        netns_add_route(&over_a);
        expect_wired(&kept, "eth0");
        assert_true(i > 0 || harness_has_failed_allocation());
        harness_fail_allocation(0);
        end();
        expect_none(&kept);
    }
    unwatch(path, &kept);
}

int main(void) {
    harness_begin();
    // A query to a name server on this host, without a network, would otherwise block up to the test's limit.
    assert_int_equal(setenv("RES_OPTIONS", "timeout:1 attempts:1", 1), 0);
    if (!netns_enter()) {
        return getenv("CI") == NULL ? 0 : 1;
    }
    const struct CMUnitTest cases[] = {
        harness_case(path__knows_its_state_before_new_returns),
        harness_case(path__tells_a_link_that_goes_up_and_down_1000_times_each_time_once),
        harness_case(path__tells_every_step_of_a_burst),
        harness_case(path__tells_a_carrier_that_is_lost_and_comes_back),
        harness_case(path__follows_a_default_route_that_moves),
        harness_case(path__finds_a_refusing_route_to_be_none),
        harness_case(path__sees_a_vpn_and_what_carries_it),
        harness_case(path__knows_links_by_name_where_the_kernel_says_nothing),
        harness_case(path__asks_the_kernel_for_the_way_to_an_address),
        harness_case(path__goes_by_the_default_routes_for_a_name_that_nobody_knows),
        harness_case(path__looks_a_name_up_by_itself),
        harness_case(path__dumps_again_when_memory_ran_out_for_news),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
