#include "reachability/path_source.h"

#if defined(__APPLE__)
// This file was never run: the project has no machine with macOS or a BSD.
#include "base/alloc.h"
#include "base/error.h"
#include "reachability/route_table.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_dl.h>
#include <net/if_types.h>
#include <net/route.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysctl.h>
#include <unistd.h>

/// A route socket is only used as a signal that something changed. All links, addresses and routes are then read again.
struct nc_path_source {
    nc_path_table table;
    int fd;
};

static uint16_t hardware_of(const struct if_data *data) {
    // interface_kind.c expects the numbers of Linux.
    return data == NULL || data->ifi_type == IFT_ETHER ? 1 : data->ifi_type == IFT_PPP ? 512 : 0;
}

static nc_status read_link(nc_path_table *table, const struct ifaddrs *entry) {
    nc_path_lookups lookups = {
        .is_loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0,
        .hardware = hardware_of(entry->ifa_data),
        .name = nc_slice_of(entry->ifa_name),
    };
    nc_path_link link = {
        .index = if_nametoindex(entry->ifa_name),
        .kind = nc_path_kind_of(&lookups),
        .is_up = (entry->ifa_flags & IFF_UP) != 0,
        .is_running = (entry->ifa_flags & IFF_RUNNING) != 0,
    };
    (void)strlcpy(link.name, entry->ifa_name, sizeof link.name);
    return nc_path_table_set_link(table, &link, NC_PATH_FROM_DUMP);
}

static nc_status read_address(nc_path_table *table, const struct ifaddrs *entry) {
    nc_path_address address = {.index = if_nametoindex(entry->ifa_name), .is_usable = true};
    if (entry->ifa_addr->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)entry->ifa_addr;
        uint32_t bits = ntohl(four->sin_addr.s_addr);
        address.family = 4;
        address.is_usable = bits >> 24 != 127 && bits >> 16 != 0xA9FE;
        memcpy(address.bytes, &four->sin_addr, 4);
    } else {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)entry->ifa_addr;
        address.family = 6;
        address.is_usable = !IN6_IS_ADDR_LOOPBACK(&six->sin6_addr) && !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr);
        memcpy(address.bytes, &six->sin6_addr, sizeof address.bytes);
    }
    return nc_path_table_set_address(table, &address, NC_PATH_FROM_DUMP);
}

static nc_status read_interfaces(nc_path_table *table) {
    struct ifaddrs *all;
    if (getifaddrs(&all) != 0) {
        return NC_ERR_UNSUPPORTED;
    }
    nc_status status = NC_OK;
    for (const struct ifaddrs *entry = all; entry != NULL && status == NC_OK; entry = entry->ifa_next) {
        int family = entry->ifa_addr == NULL ? AF_UNSPEC : entry->ifa_addr->sa_family;
        if (family == AF_LINK) {
            status = read_link(table, entry);
        } else if (family == AF_INET || family == AF_INET6) {
            status = read_address(table, entry);
        }
    }
    freeifaddrs(all);
    return status;
}

static nc_status read_route(nc_path_table *table, const struct rt_msghdr *message, uint32_t order) {
    const struct sockaddr *destination = (const struct sockaddr *)(const void *)(message + 1);
    bool is_whole = (message->rtm_addrs & RTA_DST) != 0 && (message->rtm_flags & RTF_UP) != 0;
    if (!is_whole || (message->rtm_flags & RTF_IFSCOPE) != 0) {
        return NC_OK;
    }
    // A destination of zero is taken as the default route, whose mask is empty.
    const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)destination;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)destination;
    bool is_four = destination->sa_family == AF_INET && four->sin_addr.s_addr == 0;
    bool is_six = destination->sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr);
    if (!is_four && !is_six) {
        return NC_OK;
    }
    nc_path_route route = {
        .family = is_four ? 4 : 6,
        .table = NC_PATH_MAIN_TABLE,
        .metric = order,
        .refuses = (message->rtm_flags & (RTF_REJECT | RTF_BLACKHOLE)) != 0,
        .index = message->rtm_index,
    };
    return nc_path_table_set_route(table, &route, NC_PATH_FROM_DUMP);
}

static nc_status read_routes(nc_path_table *table) {
    int name[] = {CTL_NET, PF_ROUTE, 0, AF_UNSPEC, NET_RT_DUMP, 0};
    size_t bytes = 0;
    if (sysctl(name, 6, NULL, &bytes, NULL, 0) != 0) {
        return NC_ERR_UNSUPPORTED;
    }
    bytes += bytes / 4 + 4096; // reserve for routes that are added between the two calls
    uint8_t *text = nc_alloc(bytes);
    if (text == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    nc_status status = sysctl(name, 6, text, &bytes, NULL, 0) == 0 ? NC_OK : NC_ERR_UNSUPPORTED;
    struct rt_msghdr head;
    for (size_t at = 0; status == NC_OK && at + sizeof head <= bytes; at += head.rtm_msglen) {
        memcpy(&head, text + at, sizeof head);
        if (head.rtm_msglen < sizeof head || head.rtm_msglen > bytes - at) {
            break;
        }
        status = read_route(table, (const struct rt_msghdr *)(const void *)(text + at), (uint32_t)at);
    }
    nc_free(text);
    return status;
}

static nc_status read_everything(nc_path_source *source) {
    nc_path_table_begin_dump(&source->table);
    nc_status status = read_interfaces(&source->table);
    status = status == NC_OK ? read_routes(&source->table) : status;
    if (status == NC_OK) {
        nc_path_table_end_dump(&source->table);
    }
    return status;
}

nc_status nc_path_source_open(nc_path_source **out, nc_error *err) {
    nc_path_source *source = nc_alloc_zeroed(1, sizeof *source);
    if (source == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a path monitor");
    }
    source->fd = socket(PF_ROUTE, SOCK_RAW, AF_UNSPEC);
    nc_status status = source->fd >= 0 ? NC_OK : NC_ERR_UNSUPPORTED;
    if (status == NC_OK) {
        (void)fcntl(source->fd, F_SETFD, FD_CLOEXEC);
        (void)fcntl(source->fd, F_SETFL, O_NONBLOCK);
        status = read_everything(source);
    }
    if (status != NC_OK) {
        (void)nc_error_set(err, status, errno, -1, "cannot read the system's routes");
        nc_path_source_close(source);
        return status;
    }
    *out = source;
    return NC_OK;
}

void nc_path_source_close(nc_path_source *source) {
    if (source == NULL) {
        return;
    }
    if (source->fd >= 0) {
        (void)close(source->fd);
    }
    nc_path_table_deinit(&source->table);
    nc_free(source);
}

int nc_path_source_fd(const nc_path_source *source) {
    return source->fd;
}

int nc_path_source_timeout_ms(const nc_path_source *source) {
    (void)source;
    return -1;
}

void nc_path_source_read(nc_path_source *source, void (*changed)(void *ctx), void *ctx) {
    uint8_t message[2048];
    while (read(source->fd, message, sizeof message) > 0 || errno == EINTR) {
    }
    if (read_everything(source) == NC_OK) {
        changed(ctx);
    }
}

void nc_path_source_state(nc_path_source *source, nc_path_state *out) {
    nc_path_table_state(&source->table, out);
}

/// Connects a datagram socket, which looks up the route and sends nothing.
void nc_path_source_state_of(nc_path_source *source, const nc_path_destination *destination, nc_path_state *out) {
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } address;
    bool is_four = destination->family == 4;
    memset(&address, 0, sizeof address);
    if (is_four) {
        address.four = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(9)};
        memcpy(&address.four.sin_addr, destination->bytes, 4);
    } else {
        address.six = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(9)};
        address.six.sin6_scope_id = destination->scope;
        memcpy(&address.six.sin6_addr, destination->bytes, sizeof destination->bytes);
    }
    int fd = socket(is_four ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
    bool is_reached = fd >= 0 && connect(fd, &address.any, is_four ? sizeof address.four : sizeof address.six) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    nc_path_source_state(source, out);
    if (!is_reached) {
        *out = (nc_path_state){.status = NC_PATH_NOT_REACHABLE};
    } else if (out->status == NC_PATH_NOT_REACHABLE) {
        out->status = NC_PATH_VIA_WIFI_OR_WIRED;
        out->kind = NC_PATH_KIND_OTHER;
        out->carrier = NC_PATH_KIND_OTHER;
    }
}

#endif
