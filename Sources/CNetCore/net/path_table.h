/// What is known of links, addresses and default routes, and the state that follows from it. No effects but memory.
///
/// News comes in the order in which things happened; a dump comes in pieces between them, each of them as old as it
/// likes. So within a dump news of a thing beats what the dump says of it, a thing that went is remembered as gone
/// until the dump ends, and what neither named has gone unnoticed.
#ifndef NETCORE_PRIVATE_PATH_TABLE_H
#define NETCORE_PRIVATE_PATH_TABLE_H

#include <netcore/path.h>

enum { NC_PATH_ADDRESS_BYTES = 16, NC_PATH_MAIN_TABLE = 254, NC_PATH_LOCAL_TABLE = 255 };

/// How a record became known; kept by the table.
typedef struct nc_path_mark {
    uint32_t dump;
    bool is_told; // by news, since that dump began
    bool is_gone;
} nc_path_mark;

typedef struct nc_path_link {
    nc_path_mark mark;
    uint32_t index;
    nc_path_kind kind;
    bool is_up;
    bool is_running; // has a carrier
    char name[NC_PATH_NAME_BYTES];
} nc_path_link;

typedef struct nc_path_address {
    nc_path_mark mark;
    uint32_t index;
    uint8_t family; // 4 or 6
    uint8_t prefix_bits;
    bool is_usable; // beyond the link, and not being checked for doubles
    uint8_t bytes[NC_PATH_ADDRESS_BYTES];
} nc_path_address;

/// Which part of all addresses a route leads to: VPNs like to take two halves, which win over a whole.
typedef enum nc_path_reach {
    NC_PATH_REACH_ALL = 0,
    NC_PATH_REACH_LOW = 1,
    NC_PATH_REACH_HIGH = 2,
} nc_path_reach;

/// One way of a default route.
typedef struct nc_path_route {
    nc_path_mark mark;
    uint8_t family;
    uint8_t service; // TOS
    nc_path_reach reach;
    uint32_t table;
    uint32_t metric;
    bool refuses;   // unreachable, blackhole, prohibit
    bool is_shared; // one of several ways of one route
    uint32_t index;
    uint8_t gateway[NC_PATH_ADDRESS_BYTES];
} nc_path_route;

/// Where a record comes from.
typedef enum nc_path_origin { NC_PATH_FROM_NEWS, NC_PATH_FROM_DUMP } nc_path_origin;

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
    bool has_news;  // since the dump began
    bool must_dump; // something went of which the system says nothing
} nc_path_table;

/// Frees what it holds; harmless on a zeroed one, which is an empty table.
void nc_path_table_deinit(nc_path_table *table);

void nc_path_table_begin_dump(nc_path_table *table);
/// Forgets what the dump did not name. What news there was meanwhile asks for another dump.
void nc_path_table_end_dump(nc_path_table *table);

/// Adds, changes or takes away. NC_ERR_NO_MEMORY leaves the table as it was.
NC_NODISCARD nc_status nc_path_table_set_link(nc_path_table *table, const nc_path_link *link, nc_path_origin origin);
NC_NODISCARD nc_status nc_path_table_set_address(nc_path_table *table, const nc_path_address *address,
                                                 nc_path_origin origin);
NC_NODISCARD nc_status nc_path_table_set_route(nc_path_table *table, const nc_path_route *route, nc_path_origin origin);
void nc_path_table_remove_link(nc_path_table *table, uint32_t index);
void nc_path_table_remove_address(nc_path_table *table, const nc_path_address *address);
void nc_path_table_remove_route(nc_path_table *table, const nc_path_route *route);
/// Takes away every way of the same family, table, reach, service and metric.
void nc_path_table_replace_route(nc_path_table *table, const nc_path_route *route);

/// The link of this number; NULL when there is none.
const nc_path_link *nc_path_table_find_link(const nc_path_table *table, uint32_t index);

/// How the internet is reached.
void nc_path_table_state(const nc_path_table *table, nc_path_state *out);
/// How something is reached to which the way of `family` begins at this link.
void nc_path_table_state_over(const nc_path_table *table, uint32_t index, uint8_t family, nc_path_state *out);

#endif
