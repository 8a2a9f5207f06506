/// What callers ask of transfers that are under way: pauses, priorities, lists.
#ifndef NETCORE_PRIVATE_ORDERS_H
#define NETCORE_PRIVATE_ORDERS_H

#include <netcore/transfers.h>

/// Does what was asked since it was last called; on the loop.
void nc_orders_carry_out(nc_engine *engine);

#endif
