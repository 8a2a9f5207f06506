/// Which transfers share their connection with no others at a time, and why.
#ifndef NETCORE_PRIVATE_APART_H
#define NETCORE_PRIVATE_APART_H

#include "net/transfer.h"

/// Whether the hop could be one of several streams, and is better alone.
bool nc_apart_is_better(const nc_transfer *transfer);
/// Whether it cannot be one of several, although others of its host may be: it needs other connections than they have.
bool nc_apart_is_all_there_is(const nc_transfer *transfer);
/// Whether some of those that stand for the hop's host, or for where its lane leads, speak HTTP/2 and some do not.
bool nc_apart_has_unlike_members(const nc_transfer *transfer, const nc_lane *lane);

#endif
