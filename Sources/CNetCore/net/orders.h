/// What callers ask of transfers that are under way: pauses, priorities, lists.
#ifndef NETCORE_PRIVATE_ORDERS_H
#define NETCORE_PRIVATE_ORDERS_H

#include <netcore/transfers.h>

/// Does what was asked since it was last called; on the loop.
void nc_orders_carry_out(nc_engine *engine);
/// Changes the receiving rate of a transfer that has one, at once; on the loop.
void nc_orders_set_receive_rate(nc_engine *engine, nc_transfer_id id, uint64_t bytes_per_s);

#endif
