#include "reachability/path_monitor.h"

#include "reachability/route_table.h"

#if defined(__linux__)

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/// The largest errno of the kernel.
enum { MAX_ERRNO = 4095 };

/* --- messages --- */

static void record_loss(nc_path_feed *feed, nc_status status) {
    if (status != NC_OK) {
        feed->has_lost = true;
        feed->must_dump = true;
    }
}

/// Returns a link's kind. A kind that depends on a hint, which needs a file access, is taken from the table if the name
/// is the same.
static nc_path_kind kind_of_link(const nc_path_feed *feed, const nc_path_link *link, nc_path_lookups *lookups) {
    const nc_path_link *known = nc_path_table_find_link(&feed->table, link->index);
    if (feed->hint == NULL || !nc_path_kind_wants_hint(lookups)) {
        return nc_path_kind_of(lookups);
    }
    if (known != NULL && strcmp(known->name, link->name) == 0) {
        return known->kind;
    }
    lookups->hint = feed->hint(link->name, link->index);
    return nc_path_kind_of(lookups);
}

static bool take_link(nc_path_feed *feed, nc_slice payload, bool is_gone, nc_path_origin origin) {
    nc_path_link link;
    nc_path_lookups lookups;
    if (!nc_path_message_link(payload, &link, &lookups)) {
        return false;
    }
    if (is_gone) {
        nc_path_table_remove_link(&feed->table, link.index);
    } else {
        link.kind = kind_of_link(feed, &link, &lookups);
        record_loss(feed, nc_path_table_set_link(&feed->table, &link, origin));
    }
    return true;
}

static bool take_address(nc_path_feed *feed, nc_slice payload, bool is_gone, nc_path_origin origin) {
    nc_path_address address;
    if (!nc_path_message_address(payload, &address)) {
        return false;
    }
    if (is_gone) {
        nc_path_table_remove_address(&feed->table, &address);
    } else {
        record_loss(feed, nc_path_table_set_address(&feed->table, &address, origin));
    }
    return true;
}

static bool take_route(nc_path_feed *feed, nc_slice payload, const struct nlmsghdr *header, nc_path_origin origin) {
    nc_path_route_list list;
    if (!nc_path_message_route(payload, &list)) {
        return false;
    }
    bool is_gone = header->nlmsg_type == RTM_DELROUTE;
    if (!is_gone && origin == NC_PATH_FROM_NOTIFICATION && (header->nlmsg_flags & NLM_F_REPLACE) != 0) {
        // The kernel does not report which one of several routes was replaced.
        nc_path_table_replace_route(&feed->table, &list.routes[0]);
        feed->must_dump = true;
    }
    for (size_t i = 0; i < list.count; i++) {
        if (is_gone) {
            nc_path_table_remove_route(&feed->table, &list.routes[i]);
        } else {
            record_loss(feed, nc_path_table_set_route(&feed->table, &list.routes[i], origin));
        }
    }
    return true;
}

static bool take_record(nc_path_feed *feed, nc_slice payload, const struct nlmsghdr *header, nc_path_origin origin) {
    switch (header->nlmsg_type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
        return take_link(feed, payload, header->nlmsg_type == RTM_DELLINK, origin);
    case RTM_NEWADDR:
    case RTM_DELADDR:
        return take_address(feed, payload, header->nlmsg_type == RTM_DELADDR, origin);
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
        return take_route(feed, payload, header, origin);
    default:
        return false;
    }
}

/* --- dumps --- */

/// Ends one part of the dump. The next part is requested; after the last one the table is complete.
static bool take_end(nc_path_feed *feed) {
    if (feed->dump_part == RTM_GETLINK || feed->dump_part == RTM_GETADDR) {
        feed->dump_part = feed->dump_part == RTM_GETLINK ? RTM_GETADDR : RTM_GETROUTE;
        feed->is_awaited = false;
        feed->sequence++;
        return false;
    }
    feed->dump_part = 0;
    feed->is_awaited = false;
    feed->must_dump = feed->must_dump || feed->is_inconsistent;
    feed->is_paused_reading = feed->has_lost;
    nc_path_table_end_dump(&feed->table);
    feed->is_ready = feed->is_ready || !feed->has_lost;
    return true;
}

/// Handles a refused dump: the kernel is busy with another dump of this process, or does not support dumps.
static void take_refusal(nc_path_feed *feed, nc_slice payload) {
    struct nlmsgerr refusal;
    if (payload.length < sizeof refusal.error) {
        return;
    }
    memcpy(&refusal.error, payload.data, sizeof refusal.error);
    feed->dump_part = 0;
    feed->is_awaited = false;
    feed->must_dump = true;
    feed->is_paused_reading = true;
    bool is_temporary = refusal.error == -EBUSY || refusal.error == -EINTR || refusal.error == -EAGAIN;
    bool is_errno = refusal.error < 0 && refusal.error >= -MAX_ERRNO;
    feed->refusal = is_errno && !is_temporary ? -refusal.error : 0;
}

/// Processes a part of the requested dump.
static bool take_reply(nc_path_feed *feed, nc_slice payload, const struct nlmsghdr *header) {
    feed->is_inconsistent = feed->is_inconsistent || (header->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
    if (header->nlmsg_type == NLMSG_DONE) {
        return take_end(feed);
    }
    if (header->nlmsg_type == NLMSG_ERROR) {
        take_refusal(feed, payload);
        return false;
    }
    return take_record(feed, payload, header, NC_PATH_FROM_DUMP);
}

/* --- interface --- */

void nc_path_feed_init(nc_path_feed *feed, uint32_t port, nc_path_hint_fn hint) {
    *feed = (nc_path_feed){.port = port, .must_dump = true, .hint = hint};
}

void nc_path_feed_deinit(nc_path_feed *feed) {
    nc_path_table_deinit(&feed->table);
}

void nc_path_feed_take(nc_path_feed *feed, nc_slice datagram, nc_path_changed_fn changed, void *ctx) {
    struct nlmsghdr header;
    nc_slice payload;
    feed->is_paused_reading = false;
    while (nc_path_message_next(&datagram, &header, &payload)) {
        bool is_reply = header.nlmsg_pid == feed->port;
        if (is_reply && (!feed->is_awaited || header.nlmsg_seq != feed->sequence)) {
            continue; // The reply is part of an abandoned dump.
        }
        bool has_changed = is_reply ? take_reply(feed, payload, &header)
                                    : take_record(feed, payload, &header, NC_PATH_FROM_NOTIFICATION);
        if (has_changed && feed->is_ready) {
            changed(ctx);
        }
    }
}

void nc_path_feed_overrun(nc_path_feed *feed) {
    feed->must_dump = true;
    // The lost messages may include the end of the current dump.
    feed->dump_part = 0;
    feed->is_awaited = false;
}

void nc_path_feed_wake(nc_path_feed *feed) {
    feed->is_paused_reading = false;
}

bool nc_path_feed_is_due(const nc_path_feed *feed) {
    if (feed->dump_part != 0) {
        return !feed->is_awaited;
    }
    return !feed->is_paused_reading && (feed->must_dump || feed->table.must_dump);
}

size_t nc_path_feed_request(nc_path_feed *feed, uint8_t request[NC_PATH_REQUEST_BYTES]) {
    if (!nc_path_feed_is_due(feed)) {
        return 0;
    }
    if (feed->dump_part == 0) {
        feed->dump_part = RTM_GETLINK;
        feed->sequence++;
        feed->must_dump = false;
        feed->is_inconsistent = false;
        feed->has_lost = false;
        feed->refusal = 0;
        nc_path_table_begin_dump(&feed->table);
    }
    struct {
        struct nlmsghdr header;
        struct ifinfomsg link; // the longest of the three request heads; each begins with a family
        struct rtattr mask_head;
        uint32_t mask;
    } question = {
        .header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
                   .nlmsg_type = feed->dump_part,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                   .nlmsg_seq = feed->sequence,
                   .nlmsg_pid = feed->port},
        .link = {.ifi_family = AF_UNSPEC},
        .mask_head = {.rta_len = RTA_LENGTH(sizeof(uint32_t)), .rta_type = IFLA_EXT_MASK},
        .mask = RTEXT_FILTER_SKIP_STATS,
    };
    if (feed->dump_part == RTM_GETLINK) {
        question.header.nlmsg_len = sizeof question;
    }
    feed->is_awaited = true;
    memcpy(request, &question, question.header.nlmsg_len);
    return question.header.nlmsg_len;
}

size_t nc_path_route_request(uint8_t request[NC_PATH_REQUEST_BYTES], uint8_t family, const uint8_t *address,
                             uint32_t scope, uint32_t sequence) {
    size_t bytes = family == 4 ? 4 : NC_PATH_ADDRESS_BYTES;
    struct {
        struct nlmsghdr header;
        struct rtmsg route;
        struct rtattr destination;
    } question = {
        .header = {.nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST, .nlmsg_seq = sequence},
        .route = {.rtm_family = family == 4 ? AF_INET : AF_INET6, .rtm_dst_len = (uint8_t)(bytes * 8)},
        .destination = {.rta_len = (uint16_t)RTA_LENGTH(bytes), .rta_type = RTA_DST},
    };
    struct {
        struct rtattr head;
        uint32_t index;
    } link = {{.rta_len = RTA_LENGTH(sizeof(uint32_t)), .rta_type = RTA_OIF}, scope};
    size_t length = sizeof question + bytes + (scope != 0 ? sizeof link : 0);
    question.header.nlmsg_len = (uint32_t)length;
    memcpy(request, &question, sizeof question);
    memcpy(request + sizeof question, address, bytes);
    if (scope != 0) {
        memcpy(request + sizeof question + bytes, &link, sizeof link);
    }
    return length;
}

bool nc_path_route_reply(nc_slice datagram, uint32_t sequence, nc_path_outgoing_route *out) {
    struct nlmsghdr header;
    nc_slice payload;
    while (nc_path_message_next(&datagram, &header, &payload)) {
        if (header.nlmsg_seq != sequence) {
            continue;
        }
        if (header.nlmsg_type == NLMSG_ERROR) {
            *out = (nc_path_outgoing_route){.is_reached = false};
            return true;
        }
        if (header.nlmsg_type == RTM_NEWROUTE && nc_path_message_route_reply(payload, out)) {
            return true;
        }
    }
    return false;
}

#endif
