#include "reachability/route_table.h"

#include <string.h>

/// The precedence of default routes in the kernel, the first one being the strongest. Two routes to the halves of all
/// addresses override one to all addresses, and routing rules send traffic through a VPN's own table before the main
/// table.
typedef enum rank { RANK_HALVES, RANK_VPN_TABLE, RANK_MAIN, RANK_OTHER_TABLE, RANK_NEVER } rank;

typedef struct choice {
    const nc_path_route *route; // NULL if no route was found
    const nc_path_link *link;
    rank rank;
} choice;

static bool is_carrying(const nc_path_link *link) {
    return link != NULL && link->is_up && link->is_running;
}

/// Returns true if any link has a usable address of the family. The route's own link may have none (an unnumbered
/// link), and then uses another link's address.
static bool has_address(const nc_path_table *table, uint8_t family) {
    for (size_t i = 0; i < table->addresses.count; i++) {
        const nc_path_address *address = (const nc_path_address *)table->addresses.items + i;
        if (!address->mark.is_gone && address->family == family && address->is_usable) {
            return true;
        }
    }
    return false;
}

static bool has_other_half(const nc_path_table *table, const nc_path_route *half) {
    for (size_t i = 0; i < table->routes.count; i++) {
        const nc_path_route *other = (const nc_path_route *)table->routes.items + i;
        if (!other->mark.is_gone && other->reach == NC_PATH_REACH_HIGH && other->family == half->family &&
            other->table == half->table && !other->refuses &&
            is_carrying(nc_path_table_find_link(table, other->index))) {
            return true;
        }
    }
    return false;
}

static rank rank_of(const nc_path_table *table, const nc_path_route *route, const nc_path_link *link) {
    bool is_main = route->table == NC_PATH_MAIN_TABLE;
    if (route->mark.is_gone || route->table == NC_PATH_LOCAL_TABLE || route->reach == NC_PATH_REACH_HIGH) {
        return RANK_NEVER;
    }
    if (route->refuses) {
        return is_main && route->reach == NC_PATH_REACH_ALL ? RANK_MAIN : RANK_NEVER;
    }
    if (!is_carrying(link) || link->kind == NC_PATH_KIND_LOOPBACK) {
        return RANK_NEVER;
    }
    if (route->reach == NC_PATH_REACH_LOW) {
        return has_other_half(table, route) ? RANK_HALVES : RANK_NEVER;
    }
    if (is_main) {
        return RANK_MAIN;
    }
    return link->kind == NC_PATH_KIND_VPN ? RANK_VPN_TABLE : RANK_OTHER_TABLE;
}

static bool is_before(const choice *a, const choice *b) {
    if (b->route == NULL || a->rank != b->rank) {
        return b->route == NULL || a->rank < b->rank;
    }
    return a->route->metric < b->route->metric;
}

/// Chooses the strongest default route of a family, except routes over links of the kind `excluded_kind`.
static choice choose(const nc_path_table *table, uint8_t family, nc_path_kind excluded_kind) {
    choice best = {.rank = RANK_NEVER};
    for (size_t i = 0; i < table->routes.count; i++) {
        choice candidate = {.route = (const nc_path_route *)table->routes.items + i};
        candidate.link = nc_path_table_find_link(table, candidate.route->index);
        candidate.rank = rank_of(table, candidate.route, candidate.link);
        bool is_excluded = candidate.link != NULL && !candidate.route->refuses && candidate.link->kind == excluded_kind;
        if (candidate.route->family == family && candidate.rank != RANK_NEVER && !is_excluded &&
            is_before(&candidate, &best)) {
            best = candidate;
        }
    }
    return best.route == NULL || best.route->refuses || !has_address(table, family) ? (choice){.rank = RANK_NEVER}
                                                                                    : best;
}

static bool has_any_address(const nc_path_table *table, uint32_t index) {
    for (size_t i = 0; i < table->addresses.count; i++) {
        const nc_path_address *address = (const nc_path_address *)table->addresses.items + i;
        if (!address->mark.is_gone && address->index == index && address->is_usable) {
            return true;
        }
    }
    return false;
}

/// Returns the kind of the link that carries a VPN: that of another default route, otherwise that of a connected link,
/// with cellular links last.
static nc_path_kind carrier_of_vpn(const nc_path_table *table) {
    for (uint8_t family = 4; family <= 6; family += 2) {
        choice carrier = choose(table, family, NC_PATH_KIND_VPN);
        if (carrier.route != NULL) {
            return carrier.link->kind;
        }
    }
    nc_path_kind kind = NC_PATH_KIND_VPN;
    for (size_t i = 0; i < table->links.count; i++) {
        const nc_path_link *link = (const nc_path_link *)table->links.items + i;
        bool may_carry = !link->mark.is_gone && is_carrying(link) && link->kind != NC_PATH_KIND_VPN &&
                         link->kind != NC_PATH_KIND_LOOPBACK && has_any_address(table, link->index);
        if (may_carry && (kind == NC_PATH_KIND_VPN || kind == NC_PATH_KIND_CELLULAR)) {
            kind = link->kind;
        }
    }
    return kind;
}

static void fill(const nc_path_table *table, const nc_path_link *link, nc_path_state *out) {
    out->kind = link->kind;
    out->carrier = link->kind == NC_PATH_KIND_VPN ? carrier_of_vpn(table) : link->kind;
    out->status = out->carrier == NC_PATH_KIND_CELLULAR ? NC_PATH_VIA_CELLULAR : NC_PATH_VIA_WIFI_OR_WIRED;
    out->interface_index = link->index;
    memcpy(out->interface_name, link->name, sizeof out->interface_name);
}

void nc_path_table_state(const nc_path_table *table, nc_path_state *out) {
    *out = (nc_path_state){.status = NC_PATH_NOT_REACHABLE};
    choice ipv4 = choose(table, 4, NC_PATH_KIND_NONE);
    choice ipv6 = choose(table, 6, NC_PATH_KIND_NONE);
    const nc_path_link *link = ipv4.route != NULL ? ipv4.link : ipv6.link;
    out->has_ipv4 = ipv4.route != NULL;
    out->has_ipv6 = ipv6.route != NULL;
    if (link != NULL) {
        fill(table, link, out);
    }
}

void nc_path_table_state_over(const nc_path_table *table, uint32_t index, uint8_t family, nc_path_state *out) {
    *out = (nc_path_state){.status = NC_PATH_NOT_REACHABLE};
    const nc_path_link *link = nc_path_table_find_link(table, index);
    if (is_carrying(link)) {
        fill(table, link, out);
        out->has_ipv4 = family == 4;
        out->has_ipv6 = family == 6;
    }
}

bool nc_path_state_is_equal(const nc_path_state *a, const nc_path_state *b) {
    return a->status == b->status && a->kind == b->kind && a->carrier == b->carrier && a->has_ipv4 == b->has_ipv4 &&
           a->has_ipv6 == b->has_ipv6 && a->interface_index == b->interface_index &&
           strncmp(a->interface_name, b->interface_name, NC_PATH_NAME_BYTES) == 0;
}

const char *nc_path_kind_name(nc_path_kind kind) {
    static const char *const names[] = {"none", "wired", "wireless", "cellular", "vpn", "loopback", "other"};
    size_t count = sizeof names / sizeof *names;
    return (size_t)kind < count ? names[(size_t)kind] : names[count - 1];
}
