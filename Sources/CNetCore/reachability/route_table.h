/// The table of links, addresses and default routes, and the path state that follows from it. The functions allocate
/// memory, and have no other effects.
///
/// Notifications arrive in the order of events. A dump arrives in pieces between them, and each piece may be outdated.
/// So a notification overrides a dump in progress, and a removed record stays in the table, marked as gone, until the
/// dump ends. A record that neither the dump nor a notification mentioned was removed without a notification.
#ifndef NETCORE_PRIVATE_ROUTE_TABLE_H
#define NETCORE_PRIVATE_ROUTE_TABLE_H

#include <netcore/path.h>

enum { NC_PATH_ADDRESS_BYTES = 16, NC_PATH_MAIN_TABLE = 254, NC_PATH_LOCAL_TABLE = 255 };

/// How a record became known. Only the table changes it.
typedef struct nc_path_mark {
    uint32_t dump;
    bool is_notified; // a notification changed the record since the dump began
    bool is_gone;
} nc_path_mark;

typedef struct nc_path_link {
    nc_path_mark mark;
    uint32_t index;
    nc_path_kind kind;
    bool is_up;
    bool is_running; // has a signal (carrier)
    char name[NC_PATH_NAME_BYTES];
} nc_path_link;

typedef struct nc_path_address {
    nc_path_mark mark;
    uint32_t index;
    uint8_t family; // 4 or 6
    uint8_t prefix_bits;
    bool is_usable; // not link-local, and not tentative (duplicate check)
    uint8_t bytes[NC_PATH_ADDRESS_BYTES];
} nc_path_address;

/// The part of all addresses that a default route covers. VPNs often add two routes to the halves of all addresses,
/// which override one to all addresses.
typedef enum nc_path_reach {
    NC_PATH_REACH_ALL = 0,
    NC_PATH_REACH_LOW = 1,
    NC_PATH_REACH_HIGH = 2,
} nc_path_reach;

/// One next hop of a default route.
typedef struct nc_path_route {
    nc_path_mark mark;
    uint8_t family;
    uint8_t service; // TOS
    nc_path_reach reach;
    uint32_t table;
    uint32_t metric;
    bool refuses;   // of the type unreachable, blackhole or prohibit
    bool is_shared; // one of several next hops of a route
    uint32_t index;
    uint8_t gateway[NC_PATH_ADDRESS_BYTES];
} nc_path_route;

/// The source of a record.
typedef enum nc_path_origin { NC_PATH_FROM_NOTIFICATION, NC_PATH_FROM_DUMP } nc_path_origin;

typedef struct nc_path_rows {
    void *items;
    size_t count;
    size_t capacity;
} nc_path_rows;

typedef struct nc_path_table {
    nc_path_rows links;
    nc_path_rows addresses;
    nc_path_rows routes;
    uint32_t dump;
    bool is_dumping;
    bool has_notification; // a notification arrived since the dump began
    bool must_dump;        // the system may have removed something that it does not report
} nc_path_table;

/// Frees the records. A zeroed struct is an empty table, and allowed.
void nc_path_table_deinit(nc_path_table *table);

void nc_path_table_begin_dump(nc_path_table *table);
/// Removes the records that the dump did not contain. Notifications during the dump require another dump.
void nc_path_table_end_dump(nc_path_table *table);

/// Add, change or remove a record. NC_ERR_NO_MEMORY leaves the table unchanged.
NC_NODISCARD nc_status nc_path_table_set_link(nc_path_table *table, const nc_path_link *link, nc_path_origin origin);
NC_NODISCARD nc_status nc_path_table_set_address(nc_path_table *table, const nc_path_address *address,
                                                 nc_path_origin origin);
NC_NODISCARD nc_status nc_path_table_set_route(nc_path_table *table, const nc_path_route *route, nc_path_origin origin);
void nc_path_table_remove_link(nc_path_table *table, uint32_t index);
void nc_path_table_remove_address(nc_path_table *table, const nc_path_address *address);
void nc_path_table_remove_route(nc_path_table *table, const nc_path_route *route);
/// Removes every next hop of the same family, table, reach, service and metric.
void nc_path_table_replace_route(nc_path_table *table, const nc_path_route *route);

/// Returns the link with this index, or NULL.
const nc_path_link *nc_path_table_find_link(const nc_path_table *table, uint32_t index);

/// Returns the state of the route to the internet.
void nc_path_table_state(const nc_path_table *table, nc_path_state *out);
/// Returns the state of a route of `family` that leaves over this link.
void nc_path_table_state_over(const nc_path_table *table, uint32_t index, uint8_t family, nc_path_state *out);

/* --- interface_kind.c: the kind of an interface from the system's description. Pure --- */

/// A driver's additional hint (DEVTYPE in sysfs).
typedef enum nc_path_hint {
    NC_PATH_HINT_NONE = 0,
    NC_PATH_HINT_WLAN = 1,
    NC_PATH_HINT_WWAN = 2,
} nc_path_hint;

/// The properties of an interface. The texts may be empty.
typedef struct nc_path_lookups {
    bool is_loopback;
    /// The ARPHRD_ number.
    uint16_t hardware;
    /// IFLA_INFO_KIND, such as "veth" or "wireguard".
    nc_slice driver;
    nc_slice name;
    nc_path_hint hint;
} nc_path_lookups;

/// Returns the kind. The driver and the hardware type decide first, then the hint, then the name.
nc_path_kind nc_path_kind_of(const nc_path_lookups *lookups);
/// Returns true if a hint could change the result.
bool nc_path_kind_wants_hint(const nc_path_lookups *lookups);

#endif
