/// Replayed rtnetlink messages: their meaning in every order of dumps and notifications, and malformed messages.
#include "harness.h"
#include "reachability/path_monitor.h"

#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { PORT = 4711, SOMEBODY = 99 };

/// Pending datagrams, and the resulting states.
typedef struct wire {
    nc_path_feed feed;
    uint8_t bytes[8192];
    size_t length;
    size_t last; // offset of the last message
    nc_path_state states[64];
    size_t count;
} wire;

/* --- writing messages --- */

static void begin(wire *to, uint16_t type, uint16_t flags, const void *head, size_t size) {
    struct nlmsghdr header = {
        .nlmsg_len = (uint32_t)NLMSG_LENGTH(size), .nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_pid = SOMEBODY};
    to->last = to->length;
    memset(to->bytes + to->length, 0, NLMSG_SPACE(size));
    memcpy(to->bytes + to->length, &header, sizeof header);
    memcpy(to->bytes + to->length + NLMSG_HDRLEN, head, size);
    to->length += NLMSG_SPACE(size);
}

static void grow(wire *to, size_t bytes) {
    uint32_t length;
    memcpy(&length, to->bytes + to->last, sizeof length);
    length = (uint32_t)(to->length + bytes - to->last);
    memcpy(to->bytes + to->last, &length, sizeof length);
    to->length += bytes;
}

static void add(wire *to, uint16_t type, const void *value, size_t length) {
    struct rtattr head = {.rta_type = type, .rta_len = (uint16_t)RTA_LENGTH(length)};
    memset(to->bytes + to->length, 0, RTA_SPACE(length));
    memcpy(to->bytes + to->length, &head, sizeof head);
    memcpy(to->bytes + to->length + sizeof head, value, length);
    grow(to, RTA_SPACE(length));
}

/// Marks the last message as a part of the dump that the feed has requested.
static void as_reply(wire *to) {
    struct nlmsghdr header;
    memcpy(&header, to->bytes + to->last, sizeof header);
    header.nlmsg_pid = PORT;
    header.nlmsg_seq = to->feed.sequence;
    header.nlmsg_flags |= NLM_F_MULTI;
    memcpy(to->bytes + to->last, &header, sizeof header);
}

static void put_link(wire *to, int index, const char *name, const char *driver, unsigned flags) {
    struct ifinfomsg head = {.ifi_type = strcmp(name, "lo") == 0 ? 772 : 1, .ifi_index = index, .ifi_flags = flags};
    uint8_t information[64] = {0};
    begin(to, RTM_NEWLINK, 0, &head, sizeof head);
    add(to, IFLA_IFNAME, name, strlen(name) + 1);
    if (driver != NULL) {
        struct rtattr kind = {.rta_type = IFLA_INFO_KIND, .rta_len = (uint16_t)RTA_LENGTH(strlen(driver) + 1)};
        memcpy(information, &kind, sizeof kind);
        memcpy(information + sizeof kind, driver, strlen(driver) + 1);
        add(to, IFLA_LINKINFO, information, RTA_SPACE(strlen(driver) + 1));
    }
}

static void put_address(wire *to, uint16_t type, uint32_t index, uint8_t last) {
    struct ifaddrmsg head = {.ifa_family = AF_INET, .ifa_prefixlen = 24, .ifa_index = index};
    const uint8_t address[4] = {10, 0, 0, last};
    begin(to, type, 0, &head, sizeof head);
    add(to, IFA_ADDRESS, address, sizeof address);
    add(to, IFA_LOCAL, address, sizeof address);
}

static void put_route(wire *to, uint16_t type, uint16_t flags, uint32_t index, uint32_t metric) {
    struct rtmsg head = {.rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN, .rtm_type = RTN_UNICAST};
    begin(to, type, flags, &head, sizeof head);
    add(to, RTA_OIF, &index, sizeof index);
    add(to, RTA_PRIORITY, &metric, sizeof metric);
}

static void put_shared_route(wire *to, const int *indexes, size_t count) {
    struct rtmsg head = {.rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN, .rtm_type = RTN_UNICAST};
    struct rtnexthop hops[4] = {{0}};
    for (size_t i = 0; i < count; i++) {
        hops[i] = (struct rtnexthop){.rtnh_len = sizeof *hops, .rtnh_ifindex = indexes[i]};
    }
    begin(to, RTM_NEWROUTE, 0, &head, sizeof head);
    add(to, RTA_MULTIPATH, hops, count * sizeof *hops);
}

static void put_done(wire *to) {
    int nothing = 0;
    begin(to, NLMSG_DONE, 0, &nothing, sizeof nothing);
    as_reply(to);
}

static void put_error(wire *to, int error) {
    struct nlmsgerr body = {.error = error};
    begin(to, NLMSG_ERROR, 0, &body, sizeof body);
    as_reply(to);
}

/* --- reading them --- */

static void record_state(void *ctx) {
    wire *to = ctx;
    nc_path_state state;
    nc_path_table_state(&to->feed.table, &state);
    if (to->count == 0 || !nc_path_state_is_equal(&state, &to->states[to->count - 1])) {
        assert_true(to->count < 64);
        to->states[to->count++] = state;
    }
}

/// Delivers the written messages as one datagram.
static void deliver(wire *to) {
    guarded copy = guarded_copy(nc_slice_make(to->bytes, to->length));
    nc_path_feed_take(&to->feed, copy.slice, record_state, to);
    guarded_deinit(&copy);
    to->length = 0;
}

static void request(wire *to, uint16_t wanted) {
    uint8_t bytes[NC_PATH_REQUEST_BYTES];
    struct nlmsghdr header;
    assert_true(nc_path_feed_is_due(&to->feed));
    assert_true(nc_path_feed_request(&to->feed, bytes) >= sizeof header);
    memcpy(&header, bytes, sizeof header);
    assert_int_equal(header.nlmsg_type, wanted);
    assert_int_equal(header.nlmsg_seq, to->feed.sequence);
    assert_false(nc_path_feed_is_due(&to->feed));
}

static const unsigned carrying = IFF_UP | IFF_RUNNING;

/// Starts with eth0 (2), which has a route, and wwan0 (3), which has none.
static wire *start(void) {
    static wire made;
    memset(&made, 0, sizeof made);
    nc_path_feed_init(&made.feed, PORT, NULL);
    request(&made, RTM_GETLINK);
    put_link(&made, 2, "eth0", NULL, carrying);
    as_reply(&made);
    put_link(&made, 3, "wwan0", NULL, carrying);
    as_reply(&made);
    put_done(&made);
    deliver(&made);
    request(&made, RTM_GETADDR);
    put_address(&made, RTM_NEWADDR, 2, 1);
    as_reply(&made);
    put_address(&made, RTM_NEWADDR, 3, 2);
    as_reply(&made);
    put_done(&made);
    deliver(&made);
    request(&made, RTM_GETROUTE);
    assert_int_equal(made.count, 0);
    put_route(&made, RTM_NEWROUTE, 0, 2, 100);
    as_reply(&made);
    put_done(&made);
    deliver(&made);
    assert_int_equal(made.count, 1);
    assert_string_equal(made.states[0].interface_name, "eth0");
    assert_false(nc_path_feed_is_due(&made.feed));
    return &made;
}

static void finish(wire *made) {
    nc_path_feed_deinit(&made->feed);
}

static void expect_states(wire *made, size_t count, const char *const *names) {
    assert_int_equal(made->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(made->states[i].interface_name, names[i]);
    }
}

/* --- order --- */

static void path_monitor__reports_each_change_of_one_datagram(void **state) {
    (void)state;
    wire *made = start();
    put_route(made, RTM_NEWROUTE, 0, 3, 10);
    put_route(made, RTM_DELROUTE, 0, 2, 100);
    put_route(made, RTM_DELROUTE, 0, 3, 10);
    put_route(made, RTM_NEWROUTE, 0, 2, 100);
    put_route(made, RTM_NEWROUTE, 0, 2, 100); // the same again
    deliver(made);
    expect_states(made, 4, (const char *const[]){"eth0", "wwan0", "", "eth0"});
    assert_int_equal(made->states[1].status, NC_PATH_VIA_CELLULAR);
    finish(made);
}

static void path_monitor__drops_routes_of_a_downed_link_and_dumps_again_to_confirm(void **state) {
    (void)state;
    wire *made = start();
    put_link(made, 2, "eth0", NULL, 0);
    put_link(made, 2, "eth0", NULL, carrying);
    deliver(made);
    expect_states(made, 2, (const char *const[]){"eth0", ""});
    request(made, RTM_GETLINK);
    finish(made);
}

static void path_monitor__a_multipath_route_lasts_until_its_last_next_hop_is_down(void **state) {
    (void)state;
    wire *made = start();
    const int both[] = {2, 3};
    put_route(made, RTM_DELROUTE, 0, 2, 100);
    put_shared_route(made, both, 2);
    put_link(made, 2, "eth0", NULL, 0);
    put_link(made, 2, "eth0", NULL, carrying); // the kernel restores the next hop without a notification
    put_link(made, 2, "eth0", NULL, 0);
    put_link(made, 3, "wwan0", NULL, 0);
    put_link(made, 2, "eth0", NULL, carrying);
    deliver(made);
    // The last next hop removes the route: a link that comes up does not restore it.
    expect_states(made, 7, (const char *const[]){"eth0", "", "eth0", "wwan0", "eth0", "wwan0", ""});
    finish(made);
}

static void path_monitor__a_notification_overrides_older_dump_messages(void **state) {
    (void)state;
    wire *made = start();
    nc_path_feed_overrun(&made->feed);
    request(made, RTM_GETLINK);
    put_done(made);
    deliver(made);
    request(made, RTM_GETADDR);
    put_route(made, RTM_DELROUTE, 0, 2, 100); // a notification during the dump
    put_done(made);
    deliver(made);
    request(made, RTM_GETROUTE);
    put_route(made, RTM_NEWROUTE, 0, 2, 100); // the dump is older than the notification
    as_reply(made);
    deliver(made);
    expect_states(made, 2, (const char *const[]){"eth0", ""});
    put_done(made);
    deliver(made);
    // The dump lacks the links, so they are removed. A notification within it triggers another dump.
    expect_states(made, 2, (const char *const[]){"eth0", ""});
    request(made, RTM_GETLINK);
    finish(made);
}

static void path_monitor__dumps_again_after_an_overrun_and_reports_nothing_twice(void **state) {
    (void)state;
    wire *made = start();
    uint32_t before = made->feed.sequence;
    nc_path_feed_overrun(&made->feed);
    request(made, RTM_GETLINK);
    nc_path_feed_overrun(&made->feed); // in the middle of the dump
    request(made, RTM_GETLINK);
    assert_true(made->feed.sequence > before + 1);
    put_link(made, 2, "eth0", NULL, carrying);
    as_reply(made);
    put_done(made);
    deliver(made);
    request(made, RTM_GETADDR);
    put_address(made, RTM_NEWADDR, 2, 1);
    as_reply(made);
    put_done(made);
    deliver(made);
    request(made, RTM_GETROUTE);
    put_route(made, RTM_NEWROUTE, 0, 2, 100);
    as_reply(made);
    put_done(made);
    deliver(made);
    expect_states(made, 1, (const char *const[]){"eth0"});
    assert_null(nc_path_table_find_link(&made->feed.table, 3)); // removed while there was no listener
    assert_false(nc_path_feed_is_due(&made->feed));
    finish(made);
}

static void path_monitor__dumps_again_after_an_interrupted_dump(void **state) {
    (void)state;
    wire *made = start();
    nc_path_feed_overrun(&made->feed);
    const uint16_t steps[] = {RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE};
    for (size_t i = 0; i < 3; i++) {
        request(made, steps[i]);
        put_link(made, 2, "eth0", NULL, carrying);
        as_reply(made);
        struct nlmsghdr header;
        memcpy(&header, made->bytes + made->last, sizeof header);
        header.nlmsg_flags |= NLM_F_DUMP_INTR;
        memcpy(made->bytes + made->last, &header, sizeof header);
        put_done(made);
        deliver(made);
    }
    request(made, RTM_GETLINK);
    finish(made);
}

static void path_monitor__waits_for_a_message_after_a_rejected_dump(void **state) {
    (void)state;
    wire *made = start();
    nc_path_feed_overrun(&made->feed);
    request(made, RTM_GETLINK);
    put_error(made, -16); // EBUSY: the kernel still sends the abandoned dump
    deliver(made);
    assert_false(nc_path_feed_is_due(&made->feed));
    assert_int_equal(made->feed.refusal, 0);
    put_link(made, 3, "wwan0", NULL, carrying);
    deliver(made);
    request(made, RTM_GETLINK);
    put_error(made, -1); // EPERM
    deliver(made);
    assert_int_equal(made->feed.refusal, 1);
    nc_path_feed_wake(&made->feed);
    request(made, RTM_GETLINK);
    finish(made);
}

static void path_monitor__ignores_the_rest_of_an_abandoned_dump(void **state) {
    (void)state;
    wire *made = start();
    nc_path_feed_overrun(&made->feed);
    request(made, RTM_GETLINK);
    put_done(made); // ends a dump that the next line makes outdated
    made->feed.sequence++;
    deliver(made);
    assert_int_equal(made->feed.dump_part, RTM_GETLINK);
    expect_states(made, 1, (const char *const[]){"eth0"});
    finish(made);
}

/* --- malformed messages --- */

static void path_monitor__ignores_truncated_messages(void **state) {
    (void)state;
    const int both[] = {2, 3};
    for (size_t cut = 0; cut < 400; cut++) {
        wire *made = start();
        put_link(made, 4, "wg0", "wireguard", carrying);
        put_address(made, RTM_NEWADDR, 4, 9);
        put_shared_route(made, both, 2);
        put_route(made, RTM_NEWROUTE, NLM_F_REPLACE, 3, 1);
        if (cut < made->length) {
            made->length = cut;
        }
        deliver(made);
        assert_true(made->count >= 1);
        finish(made);
    }
}

static void path_monitor__skips_attributes_with_invalid_lengths(void **state) {
    (void)state;
    for (uint16_t length = 0; length < 64; length++) {
        wire *made = start();
        struct rtmsg head = {.rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN, .rtm_type = RTN_UNICAST};
        struct rtattr attribute = {.rta_type = RTA_MULTIPATH, .rta_len = length};
        begin(made, RTM_NEWROUTE, 0, &head, sizeof head);
        memset(made->bytes + made->length, length, 16);
        memcpy(made->bytes + made->length, &attribute, sizeof attribute);
        grow(made, 16);
        deliver(made);
        finish(made);
    }
}

static void path_monitor__ignores_messages_other_than_default_routes_and_links(void **state) {
    (void)state;
    wire *made = start();
    struct rtmsg local = {
        .rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN, .rtm_type = RTN_UNICAST, .rtm_dst_len = 24};
    struct rtmsg cloned = {
        .rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN, .rtm_type = RTN_UNICAST, .rtm_flags = RTM_F_CLONED};
    struct ifinfomsg port = {.ifi_family = AF_BRIDGE, .ifi_index = 2};
    begin(made, RTM_DELROUTE, 0, &local, sizeof local);
    begin(made, RTM_DELROUTE, 0, &cloned, sizeof cloned);
    begin(made, RTM_DELLINK, 0, &port, sizeof port); // eth0 leaves a bridge
    deliver(made);
    expect_states(made, 1, (const char *const[]){"eth0"});
    finish(made);
}

/* --- kinds --- */

static void interface_kind__follows_kernel_driver_and_name(void **state) {
    (void)state;
    static const struct {
        const char *name;
        const char *driver;
        uint16_t hardware;
        nc_path_hint hint;
        const char *kind;
    } rows[] = {
        {"eth0", "", 1, NC_PATH_HINT_NONE, "wired"},
        {"enp0s31f6", "", 1, NC_PATH_HINT_NONE, "wired"},
        {"br0", "bridge", 1, NC_PATH_HINT_NONE, "wired"},
        {"bond0.7", "vlan", 1, NC_PATH_HINT_NONE, "wired"},
        {"eth0", "veth", 1, NC_PATH_HINT_NONE, "wired"},
        {"ib0", "", 32, NC_PATH_HINT_NONE, "wired"},
        {"wlan0", "", 1, NC_PATH_HINT_NONE, "wireless"},
        {"wlp3s0", "", 1, NC_PATH_HINT_NONE, "wireless"},
        {"wlx00c0ca", "", 1, NC_PATH_HINT_NONE, "wireless"},
        {"eth1", "", 1, NC_PATH_HINT_WLAN, "wireless"},
        {"mon0", "", 803, NC_PATH_HINT_NONE, "wireless"},
        {"wwan0", "", 1, NC_PATH_HINT_NONE, "cellular"},
        {"wwp0s20u4i6", "", 1, NC_PATH_HINT_NONE, "cellular"},
        {"rmnet_data3", "", 519, NC_PATH_HINT_NONE, "cellular"},
        {"rmnet0", "rmnet", 519, NC_PATH_HINT_NONE, "cellular"},
        {"net0", "wwan", 65534, NC_PATH_HINT_NONE, "cellular"},
        {"ppp0", "", 512, NC_PATH_HINT_NONE, "cellular"},
        {"usb0", "", 1, NC_PATH_HINT_WWAN, "cellular"},
        {"v4-rmnet0", "tun", 65534, NC_PATH_HINT_NONE, "cellular"},
        {"v4-wlan0", "tun", 65534, NC_PATH_HINT_NONE, "wireless"},
        {"tun0", "tun", 65534, NC_PATH_HINT_NONE, "vpn"},
        {"wwan0", "tun", 65534, NC_PATH_HINT_NONE, "vpn"},
        {"tap0", "tun", 1, NC_PATH_HINT_NONE, "vpn"},
        {"wg0", "wireguard", 65534, NC_PATH_HINT_NONE, "vpn"},
        {"office", "wireguard", 65534, NC_PATH_HINT_NONE, "vpn"},
        {"sit0", "sit", 776, NC_PATH_HINT_NONE, "vpn"},
        {"x", "", 65534, NC_PATH_HINT_NONE, "vpn"},
        {"tunnel", "", 1, NC_PATH_HINT_NONE, "wired"},
        {"weth0", "", 1, NC_PATH_HINT_NONE, "wired"},
        {"can0", "can", 280, NC_PATH_HINT_NONE, "other"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nc_path_lookups lookups = {
            .hardware = rows[i].hardware,
            .driver = nc_slice_of(rows[i].driver),
            .name = nc_slice_of(rows[i].name),
            .hint = rows[i].hint,
        };
        assert_string_equal(nc_path_kind_name(nc_path_kind_of(&lookups)), rows[i].kind);
        lookups.is_loopback = true;
        assert_string_equal(nc_path_kind_name(nc_path_kind_of(&lookups)), "loopback");
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(path_monitor__reports_each_change_of_one_datagram),
        harness_case(path_monitor__drops_routes_of_a_downed_link_and_dumps_again_to_confirm),
        harness_case(path_monitor__a_multipath_route_lasts_until_its_last_next_hop_is_down),
        harness_case(path_monitor__a_notification_overrides_older_dump_messages),
        harness_case(path_monitor__dumps_again_after_an_overrun_and_reports_nothing_twice),
        harness_case(path_monitor__dumps_again_after_an_interrupted_dump),
        harness_case(path_monitor__waits_for_a_message_after_a_rejected_dump),
        harness_case(path_monitor__ignores_the_rest_of_an_abandoned_dump),
        harness_case(path_monitor__ignores_truncated_messages),
        harness_case(path_monitor__skips_attributes_with_invalid_lengths),
        harness_case(path_monitor__ignores_messages_other_than_default_routes_and_links),
        harness_case(interface_kind__follows_kernel_driver_and_name),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
