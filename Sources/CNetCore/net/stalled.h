/// Transfers that libcurl leaves waiting although nothing more will come for them, and what becomes of them.
///
/// Loop-confined; called from nc_lane_collect().
#ifndef NETCORE_PRIVATE_STALLED_H
#define NETCORE_PRIVATE_STALLED_H

#include "net/lane.h"

/// Ends the transfers whose response is whole, or cut short, while libcurl would wait for ever for a source that has
/// nothing to give. A source that goes on giving is sent to its end.
void nc_stalled_end_answered(nc_lane *lane);
/// Calls libcurl for what its streams may have left, which it does not report; see nc_exchange_on_body().
void nc_stalled_nudge(nc_lane *lane);
/// Returns whether there is such a stream, and libcurl does not come for it by itself.
bool nc_stalled_may_be_forgotten(const nc_lane *lane);
/// Ends the transfers of connections of HTTP/2 that are over. libcurl reports the end only to the transfer that has
/// read it; it leaves the others waiting until something more comes on the connection, which never happens.
void nc_stalled_end_over(nc_lane *lane);

#endif
