/// Which transfers need an exclusive connection, and why.
#ifndef NETCORE_PRIVATE_APART_H
#define NETCORE_PRIVATE_APART_H

#include "net/transfer.h"

/// Returns true if the hop could share an HTTP/2 connection, but should not.
bool nc_apart_is_better(const nc_transfer *transfer);
/// Returns true if the hop cannot be multiplexed although its host supports HTTP/2: it needs another kind of
/// connection.
bool nc_apart_is_all_there_is(const nc_transfer *transfer);
/// Returns true if only some of the servers behind the hop's host, or behind the route of its pool, support HTTP/2.
bool nc_apart_has_unlike_members(const nc_transfer *transfer, const nc_lane *lane);

#endif
