#include "netns.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/// A request message under construction.
typedef struct netlink_request {
    struct nlmsghdr header;
    uint8_t rest[512];
} netlink_request;

static void write_file(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (write(fd, text, strlen(text)) < 0) {
            perror(path);
        }
        close(fd);
    }
}

bool netns_enter(void) {
    if (unshare(CLONE_NEWNET) == 0) {
        return true;
    }
    char map[32];
    (void)snprintf(map, sizeof map, "0 %u 1", getuid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0) {
        write_file("/proc/self/setgroups", "deny");
        write_file("/proc/self/uid_map", map);
        return true;
    }
    fprintf(stderr, "LEFT OUT: this kernel gives no network namespace (%s): NOTHING OF THE PATH WAS TESTED\n",
            strerror(errno));
    return false;
}

/* --- requests --- */

static netlink_request netlink_request_make(uint16_t type, uint16_t flags, const void *head, size_t size) {
    netlink_request made = {
        .header = {.nlmsg_type = type, .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags)}};
    made.header.nlmsg_len = (uint32_t)NLMSG_LENGTH(size);
    memcpy(made.rest, head, size);
    return made;
}

static size_t add(netlink_request *made, uint16_t type, const void *value, size_t length) {
    size_t at = NLMSG_ALIGN(made->header.nlmsg_len);
    struct rtattr head = {.rta_type = type, .rta_len = (uint16_t)RTA_LENGTH(length)};
    assert_true(at + RTA_SPACE(length) <= sizeof *made);
    uint8_t *place = (uint8_t *)made + at;
    memcpy(place, &head, sizeof head);
    if (length > 0) {
        memcpy(place + sizeof head, value, length);
    }
    made->header.nlmsg_len = (uint32_t)(at + RTA_SPACE(length));
    return at;
}

/// Closes a nested attribute.
static void nest_end(netlink_request *made, size_t at) {
    uint16_t length = (uint16_t)(made->header.nlmsg_len - at);
    memcpy((uint8_t *)made + at, &length, sizeof length);
}

/// Sends a request and waits until the kernel has executed it.
static void send_and_wait(const netlink_request *made, const char *what) {
    // One socket for all requests, created in the test's own namespace.
    static int fd = -1;
    fd = fd >= 0 ? fd : socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    struct {
        struct nlmsghdr header;
        struct nlmsgerr body;
        uint8_t rest[1024];
    } answer = {.body = {.error = -EIO}};
    assert_true(fd >= 0);
    assert_int_equal(send(fd, made, made->header.nlmsg_len, 0), made->header.nlmsg_len);
    assert_true(recv(fd, &answer, sizeof answer, 0) > 0);
    if (answer.header.nlmsg_type != NLMSG_ERROR || answer.body.error != 0) {
        fail_msg("%s: %s", what, strerror(-answer.body.error));
    }
}

static int index_of(const char *name) {
    unsigned index = if_nametoindex(name);
    assert_true(index > 0);
    return (int)index;
}

/* --- links --- */

void netns_add_pair(const char *name, const char *peer) {
    const struct ifinfomsg head = {.ifi_family = AF_UNSPEC};
    netlink_request made = netlink_request_make(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof head);
    add(&made, IFLA_IFNAME, name, strlen(name) + 1);
    size_t information = add(&made, IFLA_LINKINFO, NULL, 0);
    add(&made, IFLA_INFO_KIND, "veth", 5);
    size_t data = add(&made, IFLA_INFO_DATA, NULL, 0);
    size_t other = add(&made, VETH_INFO_PEER, &head, sizeof head);
    add(&made, IFLA_IFNAME, peer, strlen(peer) + 1);
    nest_end(&made, other);
    nest_end(&made, data);
    nest_end(&made, information);
    send_and_wait(&made, "adding a pair");
}

int netns_add_tun(const char *name, bool is_tap) {
    int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    struct ifreq interface = {.ifr_flags = (short)((is_tap ? IFF_TAP : IFF_TUN) | IFF_NO_PI)};
    assert_true(fd >= 0);
    (void)snprintf(interface.ifr_name, sizeof interface.ifr_name, "%s", name);
    assert_int_equal(ioctl(fd, TUNSETIFF, &interface), 0);
    return fd;
}

void netns_delete(const char *name) {
    const struct ifinfomsg head = {.ifi_index = index_of(name)};
    netlink_request made = netlink_request_make(RTM_DELLINK, 0, &head, sizeof head);
    send_and_wait(&made, "deleting a link");
}

void netns_set(const char *name, bool is_up) {
    const struct ifinfomsg head = {.ifi_index = index_of(name), .ifi_flags = is_up ? IFF_UP : 0, .ifi_change = IFF_UP};
    netlink_request made = netlink_request_make(RTM_NEWLINK, 0, &head, sizeof head);
    send_and_wait(&made, is_up ? "setting a link up" : "setting a link down");
}

static bool is_running(const char *name) {
    struct ifreq interface = {.ifr_flags = 0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    (void)snprintf(interface.ifr_name, sizeof interface.ifr_name, "%s", name);
    assert_true(fd >= 0);
    assert_int_equal(ioctl(fd, SIOCGIFFLAGS, &interface), 0);
    close(fd);
    return (interface.ifr_flags & IFF_RUNNING) != 0;
}

void netns_await_running(const char *name) {
    const struct sockaddr_nl links = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};
    const struct timeval patience = {.tv_sec = 30};
    uint8_t news[4096];
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&links, sizeof links), 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    while (!is_running(name)) {
        assert_true(recv(fd, news, sizeof news, 0) > 0);
    }
    close(fd);
}

void netns_rename(const char *name, const char *to) {
    const struct ifinfomsg head = {.ifi_index = index_of(name)};
    netlink_request made = netlink_request_make(RTM_NEWLINK, 0, &head, sizeof head);
    add(&made, IFLA_IFNAME, to, strlen(to) + 1);
    send_and_wait(&made, "renaming a link");
}

/* --- addresses and routes --- */

static size_t parse(const char *text, uint8_t *family, uint8_t bytes[16]) {
    bool is_six = strchr(text, ':') != NULL;
    *family = is_six ? AF_INET6 : AF_INET;
    assert_int_equal(inet_pton(*family, text, bytes), 1);
    return is_six ? 16 : 4;
}

static void change_address(uint16_t type, const char *name, const char *address, uint8_t prefix_bits) {
    uint8_t bytes[16];
    struct ifaddrmsg head = {
        .ifa_prefixlen = prefix_bits, .ifa_index = (uint32_t)index_of(name), .ifa_flags = IFA_F_NODAD};
    size_t length = parse(address, &head.ifa_family, bytes);
    netlink_request made =
        netlink_request_make(type, type == RTM_NEWADDR ? NLM_F_CREATE | NLM_F_EXCL : 0, &head, sizeof head);
    add(&made, IFA_LOCAL, bytes, length);
    add(&made, IFA_ADDRESS, bytes, length);
    send_and_wait(&made, "an address");
}

void netns_add_address(const char *name, const char *address, uint8_t prefix_bits) {
    change_address(RTM_NEWADDR, name, address, prefix_bits);
}

void netns_remove_address(const char *name, const char *address, uint8_t prefix_bits) {
    change_address(RTM_DELADDR, name, address, prefix_bits);
}

static void change_route(uint16_t type, const netns_route *route) {
    uint8_t bytes[16];
    struct rtmsg head = {
        .rtm_dst_len = route->prefix_bits,
        .rtm_protocol = RTPROT_STATIC,
        .rtm_type = route->link == NULL ? RTN_UNREACHABLE : RTN_UNICAST,
        .rtm_scope = route->link != NULL && route->gateway == NULL ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE,
    };
    uint32_t table = route->table == 0 ? RT_TABLE_MAIN : route->table;
    size_t length = parse(route->destination == NULL ? "0.0.0.0" : route->destination, &head.rtm_family, bytes);
    uint16_t creates = (uint16_t)(NLM_F_CREATE | (route->replaces ? NLM_F_REPLACE : NLM_F_EXCL));
    netlink_request made = netlink_request_make(type, type == RTM_NEWROUTE ? creates : 0, &head, sizeof head);
    add(&made, RTA_TABLE, &table, sizeof table);
    if (route->prefix_bits > 0) {
        add(&made, RTA_DST, bytes, length);
    }
    if (route->gateway != NULL) {
        add(&made, RTA_GATEWAY, bytes, parse(route->gateway, &head.rtm_family, bytes));
    }
    if (route->link != NULL) {
        int index = index_of(route->link);
        add(&made, RTA_OIF, &index, sizeof index);
    }
    if (route->metric != 0) {
        add(&made, RTA_PRIORITY, &route->metric, sizeof route->metric);
    }
    send_and_wait(&made, "a route");
}

void netns_add_route(const netns_route *route) {
    change_route(RTM_NEWROUTE, route);
}

void netns_remove_route(const netns_route *route) {
    change_route(RTM_DELROUTE, route);
}
