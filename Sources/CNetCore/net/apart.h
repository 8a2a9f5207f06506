/// Which transfers share their connection with no others at a time, and why.
#ifndef NETCORE_PRIVATE_APART_H
#define NETCORE_PRIVATE_APART_H

#include "net/transfer.h"

/// Whether the hop could be one of several streams, and is better alone.
bool nc_apart_is_better(const nc_transfer *transfer);
/// Whether it cannot be one of several, although others of its host may be: it needs other connections than they have.
bool nc_apart_is_all_there_is(const nc_transfer *transfer);

#endif
