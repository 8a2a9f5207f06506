#include "reachability/route_table.h"

#include "base/alloc.h"

#include <string.h>

/// MAX_ROWS is more than any system has of one kind. Further rows fail as if memory were exhausted.
enum { MAX_ROWS = 1 << 16, FIRST_CAPACITY = 8 };

/* --- rows, which all begin with an nc_path_mark --- */

static nc_path_mark *row_at(const nc_path_rows *rows, size_t size, size_t i) {
    return (nc_path_mark *)(void *)((uint8_t *)rows->items + i * size);
}

static void remove_at(nc_path_rows *rows, size_t size, size_t i) {
    rows->count--;
    memmove(row_at(rows, size, i), row_at(rows, size, i + 1), (rows->count - i) * size);
}

static nc_status append(nc_path_rows *rows, size_t size, const void *item) {
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity == 0 ? FIRST_CAPACITY : rows->capacity * 2;
        void *items = capacity > MAX_ROWS ? NULL : nc_realloc(rows->items, capacity * size);
        if (items == NULL) {
            return NC_ERR_NO_MEMORY;
        }
        rows->items = items;
        rows->capacity = capacity;
    }
    memcpy(row_at(rows, size, rows->count++), item, size);
    return NC_OK;
}

static bool is_same_link(const void *a, const void *b) {
    return ((const nc_path_link *)a)->index == ((const nc_path_link *)b)->index;
}

static bool is_same_address(const void *a, const void *b) {
    const nc_path_address *one = a;
    const nc_path_address *other = b;
    return one->index == other->index && one->family == other->family && one->prefix_bits == other->prefix_bits &&
           memcmp(one->bytes, other->bytes, sizeof one->bytes) == 0;
}

static bool has_same_destination(const nc_path_route *one, const nc_path_route *other) {
    return one->family == other->family && one->table == other->table && one->reach == other->reach &&
           one->service == other->service && one->metric == other->metric;
}

static bool is_same_route(const void *a, const void *b) {
    const nc_path_route *one = a;
    const nc_path_route *other = b;
    return has_same_destination(one, other) && one->index == other->index && one->refuses == other->refuses &&
           memcmp(one->gateway, other->gateway, sizeof one->gateway) == 0;
}

typedef bool (*is_same_fn)(const void *a, const void *b);

static nc_path_mark *find(const nc_path_rows *rows, size_t size, const void *item, is_same_fn is_same) {
    for (size_t i = 0; i < rows->count; i++) {
        if (is_same(row_at(rows, size, i), item)) {
            return row_at(rows, size, i);
        }
    }
    return NULL;
}

/// Adds or replaces a row. `item` is the caller's copy, whose mark is filled in here.
static nc_status set(nc_path_table *table, nc_path_rows *rows, size_t size, void *item, is_same_fn is_same,
                     nc_path_origin origin) {
    bool is_news = origin == NC_PATH_FROM_NOTIFICATION;
    nc_path_mark *found = find(rows, size, item, is_same);
    table->has_notification = table->has_notification || is_news;
    if (!is_news && found != NULL && found->dump == table->dump && found->is_notified) {
        return NC_OK;
    }
    *(nc_path_mark *)item = (nc_path_mark){.dump = table->dump, .is_notified = is_news && table->is_dumping};
    if (found == NULL) {
        return append(rows, size, item);
    }
    memcpy(found, item, size);
    return NC_OK;
}

/// Removes a row after a notification. While a dump runs, the row stays and is marked as gone, because a late part of
/// the dump may still contain it.
static void remove_row(nc_path_table *table, nc_path_rows *rows, size_t size, void *item, is_same_fn is_same) {
    nc_path_mark *found = find(rows, size, item, is_same);
    table->has_notification = true;
    nc_path_mark gone = {.dump = table->dump, .is_notified = true, .is_gone = true};
    if (!table->is_dumping) {
        if (found != NULL) {
            remove_at(rows, size, (size_t)((uint8_t *)found - (uint8_t *)rows->items) / size);
        }
    } else if (found != NULL) {
        *found = gone;
    } else {
        *(nc_path_mark *)item = gone;
        // Without memory for the mark, a late part of the dump restores the row until the next dump.
        (void)append(rows, size, item);
    }
}

static void sweep(nc_path_rows *rows, size_t size, uint32_t dump) {
    for (size_t i = rows->count; i-- > 0;) {
        const nc_path_mark *mark = row_at(rows, size, i);
        if (mark->dump != dump || mark->is_gone) {
            remove_at(rows, size, i);
        }
    }
}

/* --- routes that are removed without a message --- */

static nc_path_route *route_at(const nc_path_table *table, size_t i) {
    return (nc_path_route *)table->routes.items + i;
}

static bool is_up(const nc_path_table *table, uint32_t index) {
    const nc_path_link *link = nc_path_table_find_link(table, index);
    return link != NULL && link->is_up;
}

/// Returns true if every next hop of a route is down. Only then does the kernel drop the route.
static bool has_no_next_hop(const nc_path_table *table, const nc_path_route *route) {
    for (size_t i = 0; i < table->routes.count; i++) {
        const nc_path_route *other = route_at(table, i);
        if (!other->mark.is_gone && has_same_destination(other, route) && is_up(table, other->index)) {
            return false;
        }
    }
    return true;
}

/// Drops the routes over a link that goes down, as the kernel does, which does not report each dropped IPv4 route.
static void drop_routes_over(nc_path_table *table, uint32_t index, uint8_t family) {
    for (size_t i = table->routes.count; i-- > 0;) {
        nc_path_route route = *route_at(table, i);
        bool is_over_link = route.index == index && (family == 0 || route.family == family) && !route.mark.is_gone;
        if (is_over_link && (!route.is_shared || has_no_next_hop(table, &route))) {
            table->must_dump = true;
            if (route.is_shared) {
                nc_path_table_replace_route(table, &route);
                i = i < table->routes.count ? i : table->routes.count;
            } else {
                nc_path_table_remove_route(table, &route);
            }
        }
    }
}

static bool has_address(const nc_path_table *table, uint32_t index, uint8_t family) {
    for (size_t i = 0; i < table->addresses.count; i++) {
        const nc_path_address *address = (const nc_path_address *)table->addresses.items + i;
        if (!address->mark.is_gone && address->index == index && address->family == family) {
            return true;
        }
    }
    return false;
}

static bool has_route_over(const nc_path_table *table, uint32_t index) {
    for (size_t i = 0; i < table->routes.count; i++) {
        if (route_at(table, i)->index == index && !route_at(table, i)->mark.is_gone) {
            return true;
        }
    }
    return false;
}

/* --- interface --- */

void nc_path_table_deinit(nc_path_table *table) {
    nc_free(table->links.items);
    nc_free(table->addresses.items);
    nc_free(table->routes.items);
    *table = (nc_path_table){.dump = 0};
}

void nc_path_table_begin_dump(nc_path_table *table) {
    table->dump++;
    table->is_dumping = true;
    table->has_notification = false;
    table->must_dump = false;
}

void nc_path_table_end_dump(nc_path_table *table) {
    sweep(&table->links, sizeof(nc_path_link), table->dump);
    sweep(&table->addresses, sizeof(nc_path_address), table->dump);
    sweep(&table->routes, sizeof(nc_path_route), table->dump);
    table->is_dumping = false;
    table->must_dump = table->must_dump || table->has_notification;
}

nc_status nc_path_table_set_link(nc_path_table *table, const nc_path_link *link, nc_path_origin origin) {
    nc_path_link copy = *link;
    nc_status status = set(table, &table->links, sizeof copy, &copy, is_same_link, origin);
    // Only a notification drops routes. A dump contains no route over a link that is down, and drops because of a dump
    // could require dumps endlessly.
    if (status == NC_OK && origin == NC_PATH_FROM_NOTIFICATION && !is_up(table, link->index)) {
        drop_routes_over(table, link->index, 0);
    }
    return status;
}

nc_status nc_path_table_set_address(nc_path_table *table, const nc_path_address *address, nc_path_origin origin) {
    nc_path_address copy = *address;
    return set(table, &table->addresses, sizeof copy, &copy, is_same_address, origin);
}

nc_status nc_path_table_set_route(nc_path_table *table, const nc_path_route *route, nc_path_origin origin) {
    nc_path_route copy = *route;
    return set(table, &table->routes, sizeof copy, &copy, is_same_route, origin);
}

void nc_path_table_remove_link(nc_path_table *table, uint32_t index) {
    nc_path_link link = {.index = index};
    remove_row(table, &table->links, sizeof link, &link, is_same_link);
    drop_routes_over(table, index, 0);
}

void nc_path_table_remove_address(nc_path_table *table, const nc_path_address *address) {
    nc_path_address copy = *address;
    remove_row(table, &table->addresses, sizeof copy, &copy, is_same_address);
    if (address->family == 4) {
        // The kernel drops the routes whose preferred source is this address, and all routes over the link with its
        // last address.
        table->must_dump = table->must_dump || has_route_over(table, address->index);
        if (!has_address(table, address->index, 4)) {
            drop_routes_over(table, address->index, 4);
        }
    }
}

void nc_path_table_remove_route(nc_path_table *table, const nc_path_route *route) {
    nc_path_route copy = *route;
    remove_row(table, &table->routes, sizeof copy, &copy, is_same_route);
}

void nc_path_table_replace_route(nc_path_table *table, const nc_path_route *route) {
    for (size_t i = table->routes.count; i-- > 0;) {
        nc_path_route other = *route_at(table, i);
        if (has_same_destination(&other, route) && !other.mark.is_gone) {
            nc_path_table_remove_route(table, &other);
        }
    }
}

const nc_path_link *nc_path_table_find_link(const nc_path_table *table, uint32_t index) {
    for (size_t i = 0; i < table->links.count; i++) {
        const nc_path_link *link = (const nc_path_link *)table->links.items + i;
        if (link->index == index && !link->mark.is_gone) {
            return link;
        }
    }
    return NULL;
}
