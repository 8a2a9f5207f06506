/// Transfers that libcurl leaves waiting although nothing more will arrive for them.
///
/// Event loop thread only; called from nc_lane_collect().
#ifndef NETCORE_PRIVATE_STALLED_H
#define NETCORE_PRIVATE_STALLED_H

#include "net/lane.h"

/// Ends the transfers whose response is complete, or truncated, while libcurl would wait without limit for a source
/// that has no bytes. A source that continues is sent to its end.
void nc_stalled_end_answered(nc_lane *lane);
/// Calls libcurl for streams that may have pending bytes, which it does not report; see nc_exchange_on_body().
void nc_stalled_nudge(nc_lane *lane);
/// Returns true if there is such a stream, and libcurl does not schedule it.
bool nc_stalled_may_be_forgotten(const nc_lane *lane);
/// Ends the transfers of HTTP/2 connections that are over. libcurl reports the end only to the transfer that has read
/// it. The others would wait for more bytes on the connection, which never arrive.
void nc_stalled_end_over(nc_lane *lane);

#endif
