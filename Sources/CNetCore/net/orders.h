/// Commands of callers for transfers in flight: pauses, priorities, lists.
#ifndef NETCORE_PRIVATE_ORDERS_H
#define NETCORE_PRIVATE_ORDERS_H

#include "base/list.h"

#include <netcore/transfers.h>

/// Executes the commands of these transfers (nc_transfer.order_link) on the event loop; all were accepted.
void nc_orders_carry_out(nc_engine *engine, nc_link *ordered);
/// Resumes a download's transfer that was paused after its head, on the event loop. Only the download may do that.
void nc_orders_read_on(nc_engine *engine, nc_transfer_id id);
/// Changes the receive rate of a transfer that has one, immediately, on the event loop.
void nc_orders_set_receive_rate(nc_engine *engine, nc_transfer_id id, uint64_t bytes_per_s);

#endif
