/// What callers ask of transfers that are under way: pauses, priorities, lists.
#ifndef NETCORE_PRIVATE_ORDERS_H
#define NETCORE_PRIVATE_ORDERS_H

#include "base/list.h"

#include <netcore/transfers.h>

/// Does what was asked of these (nc_transfer.order_link), all of which the loop has accepted; on the loop.
void nc_orders_carry_out(nc_engine *engine, nc_link *ordered);
/// Ends the rest of a download's transfer that its head began, which nobody else can; on the loop.
void nc_orders_read_on(nc_engine *engine, nc_transfer_id id);
/// Changes the receiving rate of a transfer that has one, at once; on the loop.
void nc_orders_set_receive_rate(nc_engine *engine, nc_transfer_id id, uint64_t bytes_per_s);

#endif
