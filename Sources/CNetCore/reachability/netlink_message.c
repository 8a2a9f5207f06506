#include "reachability/path_monitor.h"

#if defined(__linux__)
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <string.h>
#include <sys/socket.h>

/* --- lengths --- */

static nc_slice skip(nc_slice bytes, size_t count) {
    return nc_slice_make(bytes.data + count, bytes.length - count);
}

/// Takes a fixed head from the front. It is copied, because payloads may be unaligned.
static bool take_head(nc_slice *bytes, void *head, size_t size) {
    size_t padded = NLMSG_ALIGN(size);
    if (bytes->length < size) {
        return false;
    }
    memcpy(head, bytes->data, size);
    *bytes = skip(*bytes, padded < bytes->length ? padded : bytes->length);
    return true;
}

/// Takes the next attribute. Returns false at the end, and for an invalid length.
static bool next_attribute(nc_slice *bytes, uint16_t *type, nc_slice *value) {
    struct rtattr head;
    if (bytes->length < sizeof head) {
        return false;
    }
    memcpy(&head, bytes->data, sizeof head);
    if (head.rta_len < sizeof head || head.rta_len > bytes->length) {
        return false;
    }
    *type = (uint16_t)(head.rta_type & (uint16_t)NLA_TYPE_MASK);
    *value = nc_slice_make(bytes->data + sizeof head, head.rta_len - sizeof head);
    size_t padded = RTA_ALIGN((size_t)head.rta_len);
    *bytes = skip(*bytes, padded < bytes->length ? padded : bytes->length);
    return true;
}

static uint32_t number(nc_slice value) {
    uint32_t number = 0;
    if (value.length >= sizeof number) {
        memcpy(&number, value.data, sizeof number);
    }
    return number;
}

/// Returns the text of an attribute, which ends at its NUL.
static nc_slice text(nc_slice value) {
    const uint8_t *end = value.length == 0 ? NULL : memchr(value.data, 0, value.length);
    return nc_slice_make(value.data, end == NULL ? value.length : (size_t)(end - value.data));
}

bool nc_path_message_next(nc_slice *datagram, struct nlmsghdr *header, nc_slice *payload) {
    if (datagram->length < sizeof *header) {
        return false;
    }
    memcpy(header, datagram->data, sizeof *header);
    if (header->nlmsg_len < sizeof *header || header->nlmsg_len > datagram->length) {
        return false;
    }
    *payload = nc_slice_make(datagram->data + NLMSG_HDRLEN, header->nlmsg_len - NLMSG_HDRLEN);
    size_t padded = NLMSG_ALIGN((size_t)header->nlmsg_len);
    *datagram = skip(*datagram, padded < datagram->length ? padded : datagram->length);
    return true;
}

/* --- links and addresses --- */

static nc_slice driver_of(nc_slice information) {
    uint16_t type;
    nc_slice value;
    while (next_attribute(&information, &type, &value)) {
        if (type == IFLA_INFO_KIND) {
            return text(value);
        }
    }
    return nc_slice_make(NULL, 0);
}

bool nc_path_message_link(nc_slice payload, nc_path_link *link, nc_path_lookups *lookups) {
    struct ifinfomsg head;
    // Messages of another family are not about the link: a bridge reports its ports as AF_BRIDGE.
    if (!take_head(&payload, &head, sizeof head) || head.ifi_family != AF_UNSPEC || head.ifi_index <= 0) {
        return false;
    }
    *link = (nc_path_link){
        .index = (uint32_t)head.ifi_index,
        .is_up = (head.ifi_flags & IFF_UP) != 0,
        .is_running = (head.ifi_flags & IFF_RUNNING) != 0,
    };
    *lookups = (nc_path_lookups){.is_loopback = (head.ifi_flags & IFF_LOOPBACK) != 0, .hardware = head.ifi_type};
    uint16_t type;
    nc_slice value;
    while (next_attribute(&payload, &type, &value)) {
        if (type == IFLA_IFNAME) {
            lookups->name = text(value);
        } else if (type == IFLA_LINKINFO) {
            lookups->driver = driver_of(value);
        }
    }
    size_t length = lookups->name.length < sizeof link->name ? lookups->name.length : sizeof link->name - 1;
    if (length > 0) {
        memcpy(link->name, lookups->name.data, length);
    }
    lookups->name = nc_slice_make(lookups->name.data, length);
    // The results of wireless scans arrive as link messages without a name.
    return length > 0;
}

static uint8_t family_of(uint8_t family) {
    return family == AF_INET ? 4 : family == AF_INET6 ? 6 : 0;
}

static size_t bytes_of(uint8_t family) {
    return family == 4 ? 4 : NC_PATH_ADDRESS_BYTES;
}

bool nc_path_message_address(nc_slice payload, nc_path_address *address) {
    struct ifaddrmsg head;
    if (!take_head(&payload, &head, sizeof head) || family_of(head.ifa_family) == 0 || head.ifa_index == 0) {
        return false;
    }
    uint32_t flags = head.ifa_flags;
    *address = (nc_path_address){
        .index = head.ifa_index, .family = family_of(head.ifa_family), .prefix_bits = head.ifa_prefixlen};
    bool has_local = false;
    uint16_t type;
    nc_slice value;
    while (next_attribute(&payload, &type, &value)) {
        // If both are present, IFA_LOCAL is the own address, and IFA_ADDRESS the peer's.
        bool is_address = type == IFA_LOCAL || (type == IFA_ADDRESS && !has_local);
        if (is_address && value.length >= bytes_of(address->family)) {
            memcpy(address->bytes, value.data, bytes_of(address->family));
            has_local = has_local || type == IFA_LOCAL;
        } else if (type == IFA_FLAGS && value.length >= sizeof flags) {
            flags = number(value);
        }
    }
    bool may_have_buffered_data = (flags & IFA_F_TENTATIVE) != 0 && (flags & IFA_F_OPTIMISTIC) == 0;
    address->is_usable = head.ifa_scope < RT_SCOPE_LINK && !may_have_buffered_data && (flags & IFA_F_DADFAILED) == 0;
    return true;
}

/* --- routes --- */

/// Returns true, with the reach, if a destination is all addresses of its family or one of the two halves that replace
/// them.
static bool find_reach(const struct rtmsg *head, nc_slice destination, nc_path_reach *reach) {
    uint8_t first = destination.length > 0 ? destination.data[0] : 0;
    if (head->rtm_dst_len == 0) {
        *reach = NC_PATH_REACH_ALL;
        return true;
    }
    // All global unicast addresses of IPv6 are in 2000::/3.
    if (head->rtm_family == AF_INET6 && head->rtm_dst_len == 3 && first == 0x20) {
        *reach = NC_PATH_REACH_ALL;
        return true;
    }
    *reach = first == 0 ? NC_PATH_REACH_LOW : NC_PATH_REACH_HIGH;
    return head->rtm_dst_len == 1 && (first & 0x7F) == 0;
}

static void copy_gateway(nc_path_route *route, nc_slice value) {
    size_t length = value.length < sizeof route->gateway ? value.length : sizeof route->gateway;
    if (length > 0) {
        memcpy(route->gateway, value.data, length);
    }
}

static void add_route(nc_path_route_list *list, const nc_path_route *route) {
    if (list->count < NC_PATH_MAX_NEXT_HOPS) {
        list->routes[list->count++] = *route;
    }
}

static void add_next_hops(nc_path_route_list *list, const nc_path_route *route, nc_slice hops) {
    struct rtnexthop hop;
    while (hops.length >= sizeof hop) {
        memcpy(&hop, hops.data, sizeof hop);
        if (hop.rtnh_len < sizeof hop || hop.rtnh_len > hops.length) {
            return;
        }
        nc_path_route next_hop = *route;
        next_hop.index = (uint32_t)hop.rtnh_ifindex;
        next_hop.is_shared = true;
        nc_slice rest = nc_slice_make(hops.data + sizeof hop, hop.rtnh_len - sizeof hop);
        uint16_t type;
        nc_slice value;
        while (next_attribute(&rest, &type, &value)) {
            if (type == RTA_GATEWAY || type == RTA_VIA) {
                copy_gateway(&next_hop, value);
            }
        }
        add_route(list, &next_hop);
        size_t padded = RTA_ALIGN((size_t)hop.rtnh_len); // RTNH_ALIGN, but with the type size_t
        hops = skip(hops, padded < hops.length ? padded : hops.length);
    }
}

bool nc_path_message_route(nc_slice payload, nc_path_route_list *list) {
    struct rtmsg head;
    list->count = 0;
    if (!take_head(&payload, &head, sizeof head) || family_of(head.rtm_family) == 0 ||
        (head.rtm_flags & RTM_F_CLONED) != 0) {
        return false;
    }
    nc_path_route route = {.family = family_of(head.rtm_family), .service = head.rtm_tos, .table = head.rtm_table};
    route.refuses = head.rtm_type == RTN_UNREACHABLE || head.rtm_type == RTN_BLACKHOLE || head.rtm_type == RTN_PROHIBIT;
    nc_slice destination = {NULL, 0};
    nc_slice hops = {NULL, 0};
    uint16_t type;
    nc_slice value;
    while (next_attribute(&payload, &type, &value)) {
        switch (type) {
        case RTA_DST:
            destination = value;
            break;
        case RTA_OIF:
            route.index = number(value);
            break;
        case RTA_PRIORITY:
            route.metric = number(value);
            break;
        case RTA_TABLE:
            route.table = number(value);
            break;
        case RTA_MULTIPATH:
            hops = value;
            break;
        case RTA_GATEWAY:
        case RTA_VIA:
            copy_gateway(&route, value);
            break;
        default:
            break;
        }
    }
    bool leads_out = head.rtm_type == RTN_UNICAST || route.refuses;
    if (!leads_out || route.table == NC_PATH_LOCAL_TABLE || !find_reach(&head, destination, &route.reach)) {
        return false;
    }
    if (hops.length > 0) {
        add_next_hops(list, &route, hops);
    } else {
        add_route(list, &route);
    }
    return list->count > 0;
}

bool nc_path_message_route_reply(nc_slice payload, nc_path_outgoing_route *route) {
    struct rtmsg head;
    if (!take_head(&payload, &head, sizeof head) || family_of(head.rtm_family) == 0) {
        return false;
    }
    *route = (nc_path_outgoing_route){
        .family = family_of(head.rtm_family),
        .is_reached = head.rtm_type == RTN_UNICAST || head.rtm_type == RTN_LOCAL,
    };
    uint16_t type;
    nc_slice value;
    while (next_attribute(&payload, &type, &value)) {
        if (type == RTA_OIF) {
            route->index = number(value);
        }
    }
    return true;
}

#endif
